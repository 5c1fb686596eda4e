#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Packs what git tracks, as it lies here, with the VERSION, the BPF skeletons of every architecture and
# the page of the HTML report, so that neither clang nor npm is needed to build it.
# Usage: VERSION=V SOURCE_DATE_EPOCH=S BUILD=B PAGE=P tools/packaging/dist.sh OUT SKELETON...
# with the skeletons as they lie below B.
set -eu

out=$1
shift
name=tegratrace-$VERSION
if [ ! -e .git ]; then
	echo "dist: needs a clone of the repository: what belongs to the source, git tells" >&2
	exit 1
fi
mkdir -p "$out"
stage=$(mktemp -d "$(realpath "$out")/dist.XXXXXX")
trap 'rm -rf "$stage"' EXIT INT TERM

mkdir "$stage/$name"
git -c safe.directory='*' ls-files -z | grep -zv '^\.ci/' | xargs -0 cp -P --parents -t "$stage/$name"
echo "$VERSION" >"$stage/$name/VERSION"
(cd "$BUILD" && cp --parents -t "$stage/$name/bpf" "$@")
[ ! -s "$PAGE" ] || cp "$PAGE" "$stage/$name/src/report/page/page.html"
# The same bytes from the same source, whoever packs it, when and under which umask.
tar -C "$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
	--mode=u=rwX,go=rX --format=gnu -cf - "$name" | xz -9 -T1 >"$stage/archive"
mv "$stage/archive" "$out/$name.tar.xz"
echo "$out/$name.tar.xz"
