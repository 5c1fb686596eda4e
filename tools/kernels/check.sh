#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel matrix: boots each kernel in each posture, one at a time, and prints what held as one
# table, then "N passed, N failed, N skipped". The consoles stay in $BUILD/kernels.
# In posture btf-file the type data are made from the kernel's own package of headers (btf.sh).
# Usage: [POSTURES="btf btf-file no-btf no-bpf no-root no-tracefs memlock"] tools/kernels/check.sh KERNEL...
set -eu

export LC_ALL=C
here=$(dirname "$0")
build=${BUILD:-build}
read -r -a postures <<<"${POSTURES:-btf btf-file no-btf no-bpf no-root no-tracefs memlock}"
logs=$build/kernels
columns=(doctor verifier-btf verifier-raw verifier-tracepoint timeline-btf timeline-raw timeline-tracepoint counts hog hog-tracepoint
	hog-perf sleepers sleepers-classes pingpong churn exec_thread stopped faults cuda demo beside attach-20-btf attach-20-raw
	attach-20-tracepoint memlock-refused kernel-log)
heads=(doctor verif/b verif/r verif/t timel/b timel/r timel/t counts hog hog/t perf sleep classes pingp churn exec stop faults cuda demo
	beside att20/b att20/r att20/t
	memlock klog)
passed=0 failed=0 skipped=0
rows=() failures=() skips=()

# Memory that maps use counts against RLIMIT_MEMLOCK until 5.11.
has_posture() { # KERNEL POSTURE
	[ "$2" != memlock ] || [[ $1 == 5.10* ]]
}

cell() { # LOG CHECK
	sed -n "s/^CHECK $2 \(ok\|FAIL\) .*/\1/p" "$1" | tail -n 1
}

arch_of() { # KERNEL
	case $1 in
	*-amd64) echo amd64 ;;
	*) echo arm64 ;;
	esac
}

# What the verifier looked at, beside the table; COUNTS=record takes it into the table instead.
count() { # LOG
	local series machine line
	grep -q '^NOTE verifier' "$1" || return 0
	series=$(sed -n 's/^NOTE kernel \([0-9]*\.[0-9]*\).*/\1/p' "$1" | head -n 1)
	machine=$(sed -n 's/^NOTE machine //p' "$1" | head -n 1)
	sed -n 's/^NOTE verifier\t//p' "$1" >"$1.counts"
	if line=$("$here/../verifier-counts.sh" "${COUNTS:-compare}" "$series/$machine" "$1.counts"); then
		echo "CHECK counts ok $line" >>"$1"
	else
		echo "CHECK counts FAIL ${line//$'\n'/; }" >>"$1"
	fi
}

# Counts and remembers what one console says.
judge() { # KERNEL POSTURE LOG
	local i row state line
	printf -v row '%-11s %-11s' "$1" "$2"
	for i in "${!columns[@]}"; do
		state=$(cell "$3" "${columns[$i]}")
		printf -v row '%s %-7s' "$row" "${state:--}"
	done
	rows+=("$row")
	passed=$((passed + $(grep -c '^CHECK [^ ]* ok' "$3" || true)))
	while read -r line; do
		failed=$((failed + 1))
		failures+=("$1 $2: ${line#CHECK }")
	done < <(grep '^CHECK [^ ]* FAIL' "$3")
	if ! grep -qx DONE "$3"; then
		failed=$((failed + 1))
		line=$(grep -m1 -E 'Kernel panic|BUG:|qemu' "$3" || tail -n 1 "$3")
		failures+=("$1 $2: the boot did not end: $line")
	fi
}

run() { # KERNEL POSTURE FOLDER
	local log=$logs/$1-$2.log seconds=$SECONDS why initramfs
	initramfs=$logs/initramfs-$(arch_of "$1").cpio
	if [ "$2" = btf-file ]; then
		if ! why=$("$here/btf.sh" "$1" "$3" "$logs/$1.btf.cpio" 2>&1); then
			skipped=$((skipped + 1))
			skips+=("$1 $2: ${why##*$'\n'}")
			return 0
		fi
		# The kernel unpacks one archive behind the other.
		cat "$initramfs" "$logs/$1.btf.cpio" >"$logs/initramfs-btf.cpio"
		initramfs=$logs/initramfs-btf.cpio
	fi
	"$here/boot.sh" "$(arch_of "$1")" "$3/vmlinuz" "$initramfs" "$2" 2>&1 |
		tr -d '\r' >"$log" || true
	count "$log"
	judge "$1" "$2" "$log"
	echo "$1 $2: $(grep -c '^CHECK [^ ]* ok' "$log" || true) ok," \
		"$(grep -c '^CHECK [^ ]* FAIL' "$log" || true) failed, $((SECONDS - seconds)) s"
}

skip() { # KERNEL REASON
	local posture
	for posture in "${postures[@]}"; do
		has_posture "$1" "$posture" || continue
		skipped=$((skipped + 1))
		skips+=("$1 $posture: $2")
	done
}

mkdir -p "$logs"
busybox_of() { # ARCH
	[ "$1" = arm64 ] && echo busybox || echo "busybox-$1"
}
arches=$(for kernel in "$@"; do arch_of "$kernel"; done | sort -u)
declare -A folder reason
while IFS=$'\t' read -r kernel where why; do
	folder[$kernel]=$where reason[$kernel]=${why:-}
done < <(for arch in $arches; do busybox_of "$arch"; done | xargs "$here/fetch.sh" "$@")
for arch in $arches; do
	box=$(busybox_of "$arch")
	if [ "${folder[$box]:--}" != - ]; then
		"$here/initramfs.sh" "$arch" "${folder[$box]}/busybox" "$logs/initramfs-$arch.cpio"
		continue
	fi
	for kernel in "$@"; do
		[ "$(arch_of "$kernel")" = "$arch" ] || continue
		folder[$kernel]=- reason[$kernel]="no busybox: ${reason[$box]:-not fetched}"
	done
done
for kernel in "$@"; do
	if [ "${folder[$kernel]:--}" = - ]; then
		skip "$kernel" "${reason[$kernel]:-not fetched}"
		continue
	fi
	for posture in "${postures[@]}"; do
		has_posture "$kernel" "$posture" && run "$kernel" "$posture" "${folder[$kernel]}"
	done
done

echo
for kernel in "$@"; do
	[ "${folder[$kernel]:--}" = - ] || echo "$kernel: $(cat "${folder[$kernel]}/package")"
done
printf '%-11s %-11s' kernel posture
printf ' %-7s' "${heads[@]}"
echo
[ ${#rows[@]} = 0 ] || printf '%s\n' "${rows[@]}"
[ ${#failures[@]} = 0 ] || printf 'FAILED   %s\n' "${failures[@]}"
[ ${#skips[@]} = 0 ] || printf 'skipped  %s\n' "${skips[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
