#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes type data for a kernel that fetch.sh fetched, from Debian's package of its headers, as an archive to
# put behind an initramfs. Usage: tools/kernels/btf.sh KERNEL FOLDER OUTPUT.cpio
# Fails with a line that says why.
set -eu

here=$(dirname "$0")
name=$1 folder=$2 out=$(realpath -m "$3")
IFS=$'\t' read -r _ headers why < <("$here/fetch.sh" "$name-headers")
[ "$headers" != - ] || {
	echo "no headers: $why"
	exit 1
}
# Those of an older kernel of that name may lie there.
if [ "$(cut -d' ' -f2 "$headers/package")" != "$(cut -d' ' -f2 "$folder/package")" ]; then
	IFS=$'\t' read -r _ headers why < <(REFRESH=1 "$here/fetch.sh" "$name-headers")
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
"$here/../make-btf.sh" "$root/kernel.btf" "$(find "$headers" -mindepth 1 -maxdepth 1 -type d ! -name '*-common*')"
(cd "$root" && echo kernel.btf | cpio -o -H newc -R 0:0 --quiet >"$out.part")
mv "$out.part" "$out"
