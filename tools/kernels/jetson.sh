#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds kernels that give a tracer what the stock kernels of JetPack give it, from Debian's own source:
# 5.10-jp5 without kprobes and uprobes, and so without tracing programs; 6.1-jp6 with uprobes alone; both
# without type data. They lie where fetch.sh keeps the others. Slow: half an hour each on two CPUs.
# Usage: tools/kernels/jetson.sh [5.10-jp5] [6.1-jp6]
set -eu

export LC_ALL=C
here=$(dirname "$0")
build=$(realpath -m "${BUILD:-build}")/kernels
cache=${TEGRATRACE_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/tegratrace/kernels}

# A wish that is not granted depends on one that is missing here.
granted() { # CONFIG FRAGMENT...
	local config=$1 line refused=
	shift
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$config" || refused+=" $line" ;;
		'# CONFIG_'*' is not set')
			line=${line#\# }
			! grep -q "^${line% is not set}=" "$config" || refused+=" no ${line% is not set}"
			;;
		esac
	done < <(cat "$@")
	[ -z "$refused" ] || echo "kernels: the kernel's own rules refuse:$refused" >&2
	[ -z "$refused" ]
}

build_one() { # NAME
	local series=${1%-jp*} posture=${1##*-} tree=$build/$1 source why fragments make
	IFS=$'\t' read -r _ source why < <("$here/fetch.sh" "$series-source")
	if [ "$source" = - ]; then
		echo "kernels: no source of $series: $why" >&2
		return 1
	fi
	if [ ! -e "$tree/Makefile" ]; then
		rm -rf "$tree" "$tree.part"
		mkdir -p "$tree.part"
		tar -xf "$source/linux.tar.xz" -C "$tree.part" --strip-components=1
		mv "$tree.part" "$tree"
	fi
	fragments=("$here/jetson/common.config" "$here/jetson/$posture.config")
	cat "${fragments[@]}" >"$tree/posture.config"
	make=(make -s -C "$tree" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
	"${make[@]}" KCONFIG_ALLCONFIG=posture.config allnoconfig >/dev/null
	granted "$tree/.config" "${fragments[@]}"
	"${make[@]}" -j"$(nproc)" Image.gz
	rm -rf "$cache/$1.part"
	mkdir -p "$cache/$1.part"
	cp "$tree/arch/arm64/boot/Image.gz" "$cache/$1.part/vmlinuz"
	cp "$tree/.config" "$cache/$1.part/config"
	echo "$(cat "$source/package"), posture $posture" >"$cache/$1.part/package"
	rm -rf "${cache:?}/$1"
	mv "$cache/$1.part" "$cache/$1"
}

[ $# != 0 ] || set -- 5.10-jp5 6.1-jp6
for name; do
	build_one "$name"
	echo "$name: $(cat "$cache/$name/package")"
done
