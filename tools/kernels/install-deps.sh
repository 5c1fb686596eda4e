#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs what the static binaries and the kernel matrix need, from Debian's own packages, and
# nothing that is there already: the cross compiler, the libraries of the other architecture, QEMU.
# Usage: tools/kernels/install-deps.sh [jetson]     (with what a kernel is built with)
set -eu

case $(dpkg --print-architecture) in
arm64) cross='' foreign=amd64 triplet=x86-64-linux-gnu ;;
*) cross='libc6-dev-arm64-cross' foreign=arm64 triplet=aarch64-linux-gnu ;;
esac
wanted="gcc-$triplet $cross cpio dwarves kmod e2fsprogs xz-utils qemu-system-arm qemu-system-x86 seabios"
[ "${1:-}" != jetson ] || wanted="$wanted flex bison bc libssl-dev"
for library in libbpf-dev libdw-dev libiberty-dev libbz2-dev liblzma-dev libelf-dev zlib1g-dev \
	libjansson-dev libsqlite3-dev libmicrohttpd-dev libprotobuf-c-dev; do
	wanted="$wanted $library $library:$foreign"
done

installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'
}

missing=
for package in $wanted; do
	installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "kernels: not root; run: sudo dpkg --add-architecture $foreign && sudo apt-get update &&" \
		"sudo apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# Ubuntu has its architectures on different mirrors: with one added, apt finds none of its packages, and no
# update works any more.
if ! dpkg --print-foreign-architectures | grep -qx "$foreign"; then
	if grep -qx 'ID=ubuntu' /etc/os-release 2>/dev/null; then
		echo "kernels: Ubuntu's mirrors have no $foreign beside $(dpkg --print-architecture): use a container of" \
			"debian:12, or add $foreign and its mirror to apt yourself" >&2
		exit 1
	fi
	dpkg --add-architecture "$foreign"
	if ! apt-get -qq update; then
		dpkg --remove-architecture "$foreign"
		echo "kernels: apt's mirrors have no $foreign: apt is left as it was" >&2
		exit 1
	fi
fi
apt-get -qq update
# shellcheck disable=SC2086
apt-get -qq install -y --no-install-recommends $missing >/dev/null
