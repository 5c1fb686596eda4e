#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel matrix: boots each kernel in each posture, one at a time, and prints what held as one
# table, then "N passed, N failed, N skipped". The consoles stay in $BUILD/kernels.
# Usage: [POSTURES="btf no-btf no-tracefs memlock no-bpf"] tools/kernels/check.sh KERNEL...
set -eu

export LC_ALL=C
here=$(dirname "$0")
build=${BUILD:-build}
read -r -a postures <<<"${POSTURES:-btf no-btf no-tracefs memlock no-bpf}"
logs=$build/kernels
initramfs=$logs/initramfs.cpio
columns=(doctor verifier-btf verifier-tracepoint hog hog-tracepoint hog-perf sleepers pingpong churn
	exec_thread stopped cuda demo demo-proc beside attach-20-btf attach-20-tracepoint attach-20-perf
	memlock-refused kernel-log)
heads=(doctor verif/b verif/t hog hog/t perf sleep pingp churn exec stop cuda demo demo/p beside att20/b att20/t
	att20/p memlock klog)
passed=0 failed=0 skipped=0
rows=() failures=() skips=()

# Memory that maps use counts against RLIMIT_MEMLOCK until 5.11.
has_posture() { # KERNEL POSTURE
	[ "$2" != memlock ] || [[ $1 == 5.10* ]]
}

cell() { # LOG CHECK
	sed -n "s/^CHECK $2 \(ok\|FAIL\) .*/\1/p" "$1" | tail -n 1
}

# Counts and remembers what one console says.
judge() { # KERNEL POSTURE LOG
	local i row state line
	printf -v row '%-9s %-11s' "$1" "$2"
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
	local log=$logs/$1-$2.log seconds=$SECONDS
	"$here/boot.sh" "$3/vmlinuz" "$initramfs" "$2" 2>&1 | tr -d '\r' >"$log" || true
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
declare -A folder reason
while IFS=$'\t' read -r kernel where why; do
	folder[$kernel]=$where reason[$kernel]=${why:-}
done < <("$here/fetch.sh" busybox "$@")
if [ "${folder[busybox]:--}" = - ]; then
	for kernel in "$@"; do
		skip "$kernel" "no busybox: ${reason[busybox]:-not fetched}"
	done
	set --
else
	"$here/initramfs.sh" "${folder[busybox]}/busybox" "$initramfs"
fi
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
printf '%-9s %-11s' kernel posture
printf ' %-7s' "${heads[@]}"
echo
[ ${#rows[@]} = 0 ] || printf '%s\n' "${rows[@]}"
[ ${#failures[@]} = 0 ] || printf 'FAILED   %s\n' "${failures[@]}"
[ ${#skips[@]} = 0 ] || printf 'skipped  %s\n' "${skips[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
