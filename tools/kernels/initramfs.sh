#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Packs what runs in the virtual machine: the static binary, the workloads and an init, and the modules
# of a kernel that has its disk in modules.
# Usage: tools/kernels/initramfs.sh arm64|amd64 BUSYBOX OUTPUT.cpio [MODULES]
set -eu

build=${BUILD:-build}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/load"
cp "$2" "$root/bin/busybox"
cp "$build/static/tegratrace-$1" "$root/bin/tegratrace"
cp "$build/static/$1/tegratrace-counts" "$root/bin/"
cp -r "$build/static/$1/load/"* "$root/load/"
cp tests/kernels/init "$root/init"
if [ -d "${4:-}" ]; then
	cp -r "$4" "$root/modules"
fi
chmod -R 755 "$root"
out=$(realpath -m "$3")
(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet >"$out.part")
mv "$out.part" "$out"
