#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What must hold for every BPF object so that it loads on a stock arm64 5.15 Jetson kernel.
# Usage: tools/check-bpf.sh OBJECT.bpf.o...
set -eu

status=0
fail() {
	echo "$1: $2" >&2
	status=1
}
core_relocations() {
	llvm-objcopy --dump-section ".BTF.ext=$dir/ext" "$1" "$dir/copy"
	# struct btf_ext_header: core_relo_len is the u32 at offset 28
	od -An -tu4 -j28 -N4 "$dir/ext" | tr -d ' '
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for object in "$@"; do
	code=$(llvm-objdump -d "$object")
	if echo "$code" | grep -E 'atomic_fetch|xchg|cmpxchg'; then
		fail "$object" "an atomic with a result: the arm64 JIT has none before 5.18"
	fi
	sections=$(llvm-readelf -S "$object")
	if echo "$sections" | grep -E ' (kprobe|kretprobe|fentry|fexit|lsm|ksyscall|iter)[ /.]'; then
		fail "$object" "a program type that stock Jetson kernels lack"
	fi
	case ${object##*/} in
	user_regs*)
		if [ "$(core_relocations "$object")" != 0 ]; then
			fail "$object" "CO-RE relocations: libbpf would ask for kernel BTF"
		fi
		;;
	*tracepoint* | sampler* | fault_events* | cuda*)
		if echo "$sections" | grep -E ' (tp_btf|raw_tp)[ /]'; then
			fail "$object" "a program that needs type data"
		fi
		if [ "$(core_relocations "$object")" != 0 ]; then
			fail "$object" "CO-RE relocations: libbpf would ask for kernel BTF"
		fi
		;;
	esac
done
exit $status
