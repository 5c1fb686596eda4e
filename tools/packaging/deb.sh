#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes the Debian package of one architecture from its static binary.
# Usage: VERSION=V SOURCE_DATE_EPOCH=S MAINTAINER=M tools/packaging/deb.sh ARCH PROGRAM OUT
# beside PROGRAM lies the map of its link, PROGRAM.map
set -euo pipefail
umask 022

arch=$1 program=$2 out=$3
package=$out/tegratrace_${VERSION}_$arch.deb
mkdir -p "$out"
stage=$(mktemp -d "$out/deb.XXXXXX")
trap 'rm -rf "$stage"' EXIT INT TERM
chmod 755 "$stage"

# The packages whose archives the linker took from, for Built-Using: "libbpf (= 1:1.1.2-0+deb12u1)"
libraries() {
	# shellcheck disable=SC2016
	sed -n 's/^\(\/.*\.a\)(.*/\1/p' "$program.map" | sort -u | xargs -r realpath |
		xargs -r dpkg-query -S | sed 's/: .*//' | sort -u |
		xargs -r dpkg-query -W -f '${source:Package} (= ${source:Version})\n' | sort -u |
		paste -sd, | sed 's/,/, /g'
}

doc=$stage/usr/share/doc/tegratrace
${MAKE:-make} -s install-files DESTDIR="$stage" PREFIX=/usr PROGRAM="$program" >/dev/null
rm "$doc/LICENSE"
install -m 644 tools/packaging/copyright "$doc/copyright"
install -D -m 644 tools/packaging/lintian-overrides "$stage/usr/share/lintian/overrides/tegratrace"
{
	printf 'tegratrace (%s) unstable; urgency=medium\n\n' "$VERSION"
	printf '  * Built from source of that version; its history is in git.\n\n'
	printf ' -- %s  %s\n' "$MAINTAINER" "$(LC_ALL=C date -Ru -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$doc/changelog.gz"

mkdir "$stage/DEBIAN"
built_using=$(libraries)
{
	echo "Package: tegratrace"
	echo "Version: $VERSION"
	echo "Architecture: $arch"
	echo "Maintainer: $MAINTAINER"
	echo "Installed-Size: $(find "$stage/usr" -type f -printf '%s\n' | awk '{n += int(($1 + 1023) / 1024)} END {print n}')"
	[ -z "$built_using" ] || echo "Built-Using: $built_using"
	cat <<-'CONTROL'
		Section: utils
		Priority: optional
		Description: what limits an inference process on an NVIDIA Jetson
		 Attaches to a running process, accounts every thread by eBPF programs on
		 the scheduler, reads GPU, memory, temperature and power as tegrastats does,
		 and says which one thing limits it, by how much, how sure that is and what
		 to do next.
		 .
		 The program is one static binary that needs no kernel type data (BTF),
		 which stock Jetson kernels lack. "tegratrace doctor" says what a board can
		 measure.
	CONTROL
} >"$stage/DEBIAN/control"
(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"

find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# xz: what dpkg understands on every JetPack and Debian.
dpkg-deb --root-owner-group -Zxz --build "$stage" "$package" >/dev/null
echo "$package"
