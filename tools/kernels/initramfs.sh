#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Packs what runs in the virtual machine: the static binary, the workloads and an init.
# Usage: tools/kernels/initramfs.sh arm64|amd64 BUSYBOX OUTPUT.cpio
set -eu

build=${BUILD:-build}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/load"
cp "$2" "$root/bin/busybox"
cp "$build/static/tegratrace-$1" "$root/bin/tegratrace"
cp "$build/static/$1/tegratrace-counts" "$root/bin/"
cp "$build/static/$1/load/"* "$root/load/"
cp tests/kernels/init "$root/init"
chmod 755 "$root" "$root/bin" "$root/load" "$root/init" "$root"/bin/* "$root"/load/*
out=$(realpath -m "$3")
(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet >"$out.part")
mv "$out.part" "$out"
