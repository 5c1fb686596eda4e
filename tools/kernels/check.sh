#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel matrix: boots each kernel in each posture, one at a time, and prints what held as one
# table, then "N passed, N failed, N skipped". The consoles stay in $BUILD/kernels.
# In posture btf-file the type data are made from the kernel's own package of headers (btf.sh).
# With COUNTS=record only the verifier is asked, and its counts replace those of the table.
# Usage: [BRIEF=1] [COUNTS=record] [POSTURES="btf btf-file no-btf no-bpf no-root no-tracefs memlock jp5 jp6 cpus"] tools/kernels/check.sh KERNEL...
set -eu

export LC_ALL=C
here=$(dirname "$0")
build=${BUILD:-build}
read -r -a postures <<<"${POSTURES:-jp5 jp6 btf btf-file no-btf no-bpf no-root no-tracefs memlock cpus}"
logs=$build/kernels
# check=head; the table has those that were made
columns=(stock=stock doctor=doctor verifier-btf=verif/b verifier-raw=verif/r verifier-tracepoint=verif/t
	timeline-btf=timel/b timeline-raw=timel/r timeline-tracepoint=timel/t counts=counts hog=hog
	hog-tracepoint=hog/t hog-rings=hog/p hog-perf=perf sleepers=sleep sleepers-classes=classes pingpong=pingp
	churn=churn churn-busy=busy exec_thread=exec stopped=stop waits-sync=w/sync waits-ipc=w/ipc disk=disk block=block
	faults=faults cuda=cuda demo=demo demo-lock=d/lock
	demo-input=d/in demo-io=d/io live=live beside=beside attach-20-btf=att20/b attach-20-raw=att20/r attach-20-tracepoint=att20/t
	memlock-refused=memlock cpus=cpus plug=plug plug-tracepoint=plug/t plug-rings=plug/p return=return
	return-tracepoint=ret/t return-rings=ret/p blink=blink blink-tracepoint=bln/t blink-rings=bln/p return-faults=ret/f return-faults-tracepoint=ret/ft memory=mem
	memory-tracepoint=mem/t memory-rings=mem/p kernel-log=klog)
passed=0 failed=0 skipped=0
rows=() failures=() skips=()

# Memory that maps use counts against RLIMIT_MEMLOCK until 5.11. More than 64 CPUs are slow to emulate.
has_posture() { # KERNEL POSTURE
	case $1:$2 in
	*-jp5:jp5 | *-jp5:no-root | *-jp6:jp6 | *-jp6:no-bpf | *-jp6:no-root) ;;
	*-jp?:* | *:jp?) return 1 ;;
	*:memlock) [[ $1 == 5.10* ]] ;;
	*:cpus) [ "$1" = 6.1 ] ;;
	esac
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
	local line
	rows+=("$1 $2 $3")
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

table() {
	local row kernel posture log column state shown=()
	for column in "${columns[@]}"; do
		for row in "${rows[@]}"; do
			read -r _ _ log <<<"$row"
			[ -z "$(cell "$log" "${column%=*}")" ] || {
				shown+=("$column")
				break
			}
		done
	done
	printf '%-11s %-11s' kernel posture
	printf ' %-7s' "${shown[@]#*=}"
	echo
	for row in "${rows[@]}"; do
		read -r kernel posture log <<<"$row"
		printf '%-11s %-11s' "$kernel" "$posture"
		for column in "${shown[@]}"; do
			state=$(cell "$log" "${column%=*}")
			printf ' %-7s' "${state:--}"
		done
		echo
	done
}

run() { # KERNEL POSTURE FOLDER
	local log=$logs/$1-$2.log seconds=$SECONDS why initramfs
	initramfs=$logs/initramfs.cpio
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
	"$here/boot.sh" "$(arch_of "$1")" "$3/vmlinuz" "$initramfs" "$logs/disk" "$2" \
		"${BRIEF:+brief=1} ${COUNTS:+counts=1}" 2>&1 |
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
	[ "${folder[$box]:--}" = - ] || continue
	for kernel in "$@"; do
		[ "$(arch_of "$kernel")" = "$arch" ] || continue
		folder[$kernel]=- reason[$kernel]="no busybox: ${reason[$box]:-not fetched}"
	done
done
# Sparse: what a machine does not write takes no room.
rm -f "$logs/disk"
truncate -s 256M "$logs/disk"
PATH=$PATH:/sbin:/usr/sbin mke2fs -q -F -t ext4 -b 4096 -O '^has_journal,^metadata_csum' "$logs/disk"
for kernel in "$@"; do
	if [ "${folder[$kernel]:--}" = - ]; then
		skip "$kernel" "${reason[$kernel]:-not fetched}"
		continue
	fi
	arch=$(arch_of "$kernel")
	"$here/initramfs.sh" "$arch" "${folder[$(busybox_of "$arch")]}/busybox" "$logs/initramfs.cpio" \
		"${folder[$kernel]}/modules"
	for posture in "${postures[@]}"; do
		has_posture "$kernel" "$posture" && run "$kernel" "$posture" "${folder[$kernel]}"
	done
done

echo
for kernel in "$@"; do
	[ "${folder[$kernel]:--}" = - ] || echo "$kernel: $(cat "${folder[$kernel]}/package")"
done
table
[ ${#failures[@]} = 0 ] || printf 'FAILED   %s\n' "${failures[@]}"
[ ${#skips[@]} = 0 ] || printf 'skipped  %s\n' "${skips[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
