#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes a BTF file for tegratrace --btf from a kernel's headers, for kernels that were built without.
# Nothing is built or loaded in the kernel. Needs gcc or clang, and pahole (package dwarves or pahole).
# Usage: tegratrace-make-btf OUTPUT [HEADERS]
# HEADERS: a folder of kernel headers, /lib/modules/RELEASE/build of the running kernel by default.
# CC: the compiler, where the usual ones will not do.
#
# kbuild is not used: its flags would reduce the debug info where the kernel's own was reduced, load
# compiler plugins that a board does not have, and run tools that are of another machine where headers
# for a board lie on a PC. What a struct looks like follows from the configuration alone.
set -eu

me=${0##*/}
fail() {
	echo "$me: $*" >&2
	exit 1
}
usage() {
	sed -n 's/^# //; /^Makes/,/^CC/p' "$0"
}

case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
'' | -*)
	usage >&2
	exit 2
	;;
esac
[ $# -le 2 ] || {
	usage >&2
	exit 2
}
out=$1
running=$(uname -r)
build=${2:-/lib/modules/$running/build}

case $running in
*-rt-tegra) headers=nvidia-l4t-rt-kernel-headers ;;
*-tegra) headers=nvidia-l4t-kernel-headers ;;
*) headers=linux-headers-$running ;;
esac
[ -d "$build" ] || fail "no headers at $build: install the package $headers, or name their folder"
config=$build/include/generated/autoconf.h
[ -r "$config" ] || fail "$build holds no configured headers (include/generated/autoconf.h): sources of a" \
	"kernel need 'make prepare' with its configuration first"

is_set() { # OPTION
	grep -q "^#define CONFIG_$1 1\$" "$config"
}

# Where the headers that are the same for every configuration lie: here, or in a folder beside.
find_source() {
	local at named
	for at in "$build" "$build/source"; do
		[ -e "$at/include/linux/sched.h" ] && { echo "$at"; return; }
	done
	# Debian: a Makefile that includes that of linux-headers-VERSION-common
	named=$(grep -m1 -oE '[^ =]*linux-headers-[^ /]*-common[^ /]*' "$build/Makefile" 2>/dev/null) || return 1
	for at in "$(dirname "$(realpath "$build")")/${named##*/}" "$named"; do
		[ -e "$at/include/linux/sched.h" ] && { echo "$at"; return; }
	done
	return 1
}
source=$(find_source) || fail "$build lacks include/linux/sched.h, and so do the folders that its Makefile" \
	"names: install the package of the common headers too"

if is_set ARM64; then
	arch=arm64 machine=aarch64 triplet=aarch64-linux-gnu
	flags=(-mgeneral-regs-only -mlittle-endian -DKASAN_SHADOW_SCALE_SHIFT=3)
elif is_set X86_64; then
	arch=x86 machine=x86_64 triplet=x86_64-linux-gnu
	flags=(-m64 -mno-sse -mno-red-zone -mcmodel=kernel -fno-pic)
else
	fail "$build is of an architecture that tegratrace does not know: arm64 or x86-64 is wanted"
fi
! is_set CPU_BIG_ENDIAN || fail "$build is of a big-endian kernel, which tegratrace does not know"
for option in RANDSTRUCT GCC_PLUGIN_RANDSTRUCT RANDSTRUCT_FULL RANDSTRUCT_PERFORMANCE; do
	! is_set $option || fail "this kernel shuffles its structs (CONFIG_$option): headers do not tell where" \
		"a field lies; use tegratrace without --btf"
done

release=$(sed -n 's/^#define UTS_RELEASE "\(.*\)".*/\1/p' "$build/include/generated/utsrelease.h" 2>/dev/null)
[ -n "$release" ] || release=$(cat "$build/include/config/kernel.release" 2>/dev/null) ||
	fail "$build does not say of which kernel it is (include/generated/utsrelease.h)"
if [ "$release" != "$running" ]; then
	[ $# = 2 ] || fail "$build is of kernel $release, $running runs: install the headers of $running"
	echo "$me: for kernel $release; the one that runs here is $running" >&2
fi

command -v pahole >/dev/null || fail "no pahole: sudo apt install dwarves (or pahole)"

# The machine's own compiler, or one for the other architecture.
choose_compiler() {
	local cc
	[ -z "${CC:-}" ] || { echo "$CC"; return; }
	if [ "$machine" = "$(uname -m)" ]; then
		set -- gcc cc
	else
		set -- $triplet-gcc
	fi
	for cc in "$@"; do
		command -v "$cc" >/dev/null && { echo "$cc"; return; }
	done
	command -v clang >/dev/null && echo clang
}
compiler=$(choose_compiler) || fail "no compiler for $arch: sudo apt install gcc, or clang"
# Words may follow its name.
# shellcheck disable=SC2086
if $compiler --version 2>/dev/null | grep -q clang; then
	flags+=("--target=$triplet" -fstandalone-debug)
else
	flags+=(-femit-struct-debug-detailed=any)
fi

dir=$(mktemp -d)
part=$out.part.$$
trap 'rm -rf "$dir" "$part"' EXIT
trap 'exit 1' INT TERM

# tegratrace refuses the file on another release or machine: these names tell it.
cat >"$dir/types.c" <<-TYPES
	#include <linux/sched.h>
	#include <linux/ptrace.h>

	enum tegratrace_release { tegratrace_release_$(printf %s "$release" | od -An -v -tx1 | tr -d ' \n') };
	enum tegratrace_machine { tegratrace_machine_$machine };

	struct task_struct tegratrace_task;
	struct pt_regs tegratrace_regs;
	enum tegratrace_release tegratrace_release;
	enum tegratrace_machine tegratrace_machine;
TYPES

# Relative to both folders, in the order in which kbuild looks.
includes=()
for place in arch/$arch/include arch/$arch/include/generated include arch/$arch/include/uapi \
	arch/$arch/include/generated/uapi include/uapi include/generated/uapi; do
	includes+=("-I$source/$place")
	[ "$source" = "$build" ] || includes+=("-I$build/$place")
done
for header in compiler-version.h kconfig.h compiler_types.h; do
	[ ! -e "$source/include/linux/$header" ] || includes+=(-include "$source/include/linux/$header")
done
# DWARF 4: pahole reads 5 only since 1.21. Headers before 5.16 take stdarg.h from the compiler.
# shellcheck disable=SC2086
if ! $compiler -c -g -gdwarf-4 -O2 -std=gnu11 -fms-extensions -fshort-wchar \
	-fno-strict-aliasing -fno-stack-protector -w "${flags[@]}" -nostdinc "${includes[@]}" \
	-isystem "$($compiler -print-file-name=include)" -D__KERNEL__ -DMODULE -DKBUILD_MODNAME='"types"' \
	-DKBUILD_BASENAME='"types"' -DKBUILD_MODFILE='"types"' -o "$dir/types.o" "$dir/types.c" 2>"$dir/errors"; then
	fail "the headers of $release do not compile with $compiler:" \
		"$(grep -m1 -E 'error|cannot' "$dir/errors" || head -n 1 "$dir/errors")"
fi

struct=$(pahole -C task_struct "$dir/types.o" 2>/dev/null) || true
for field in pid on_rq in_iowait stack; do
	echo "$struct" | grep -qE "[ *]$field(:1)?;|[ *]$field +:" ||
		fail "task_struct lacks $field in the debug info: pahole $(pahole --version) or $compiler is not" \
			"suitable"
done

if pahole --help 2>&1 | grep -q btf_encode_detached; then
	pahole --btf_encode_detached="$dir/btf" "$dir/types.o" || fail "pahole fails"
else
	pahole -J "$dir/types.o" || fail "pahole fails"
	"$(command -v llvm-objcopy || command -v $triplet-objcopy || echo objcopy)" -O binary \
		--only-section=.BTF --set-section-flags .BTF=alloc "$dir/types.o" "$dir/btf" ||
		fail "objcopy takes no type data from an object for $arch"
fi
grep -q tegratrace_release_ "$dir/btf" || fail "pahole $(pahole --version) wrote no type data"
cat "$dir/btf" >"$part"
mv "$part" "$out"
echo "$out: $(($(wc -c <"$out") / 1024)) KiB of type data of kernel $release ($machine); use it there with" \
	"tegratrace --btf $out"
