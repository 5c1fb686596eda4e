#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches Debian's kernels for arm64 and amd64, and a static busybox for them, through apt: from the mirror that
# this machine's own sources name, checked with Debian's keys, with lists of its own so that the
# machine's are left alone. No root. Kept in $TEGRATRACE_KERNELS, else in the user's cache.
# Usage: tools/kernels/fetch.sh NAME...     (5.10, 6.1, 6.12, sid, 5.10-rt, 6.12-16k, busybox; -amd64; -headers)
# NAME-headers are those of the kernel NAME that is there already, in folders as /usr/src has them.
# NAME-source is Debian's source of that series; 5.10-jp5 and 6.1-jp6 are only there once jetson.sh
# has built them.
# Prints a line each: "NAME<TAB>FOLDER" with vmlinuz (and in modules/ what a disk needs, in the order
# of loading), busybox, headers or linux.tar.xz in it, or "NAME<TAB>-<TAB>why not". REFRESH=1 looks for newer ones.
set -eu

export PATH=$PATH:/sbin:/usr/sbin
cache=${TEGRATRACE_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/tegratrace/kernels}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
limit=${FETCH_SECONDS:-300}
apt=$cache/apt arch=arm64
problem=

# name -> suite, package
kernel_suite() {
	case $1 in
	5.10*) echo bullseye ;;
	6.1 | 6.1-*) echo bookworm ;;
	6.12*) echo trixie ;;
	sid*) echo sid ;;
	busybox*) echo bookworm ;;
	*) return 1 ;;
	esac
}
kernel_package() {
	case $1 in
	*-rt) echo "linux-image-rt-$arch" ;;
	*-16k) echo linux-image-arm64-16k ;;
	*-source) echo "linux-source-${1%-source}" ;;
	busybox*) echo busybox-static ;;
	*) echo "linux-image-cloud-$arch" ;;
	esac
}

# What this machine's sources say of Debian itself, or of its security archive.
mirror_of() { # LABEL
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
		sed -n "s/^$1|//p" | head -n 1
}

write_sources() {
	local main security suite
	main=$(mirror_of Debian)
	security=$(mirror_of Debian-Security)
	if [ -z "$main" ]; then
		problem="apt's sources name no mirror of Debian (apt-get update done?)"
		return 1
	fi
	if [ ! -r $keys ]; then
		problem="no keys of Debian: apt-get install debian-archive-keyring"
		return 1
	fi
	for suite in bullseye bookworm trixie sid; do
		echo "deb [signed-by=$keys arch=$arch] $main $suite main"
		case $suite in
		bullseye | bookworm | trixie)
			[ -z "$security" ] ||
				echo "deb [signed-by=$keys arch=$arch] $security $suite-security main"
			;;
		esac
	done >"$apt/sources.list"
}

set_up_apt() {
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	cat >"$apt/apt.conf" <<-CONF
		Dir::State "$apt/state";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "-";
		APT::Architecture "$arch";
		APT::Architectures "$arch";
		Acquire::Languages "none";
		Acquire::Retries "2";
		APT::Sandbox::User "";
	CONF
	write_sources || return 1
	# An old list names packages that the mirror no longer has. A suite that is gone is no error
	# here: its kernels are then not found.
	if [ -n "$(find "$apt/updated" -mmin -1440 2>/dev/null)" ]; then
		return 0
	fi
	if ! APT_CONFIG=$apt/apt.conf timeout "$limit" apt-get -qq update >"$apt/log" 2>&1; then
		problem="apt-get update: $(grep -m1 -E '^[EW]:' "$apt/log" || echo 'no answer in time')"
		ls "$apt"/state/lists/*_Packages >/dev/null 2>&1 || return 1
	fi
	touch "$apt/updated"
}

# The versions of a package in a suite and its security updates, newest first.
versions_in() { # PACKAGE SUITE
	APT_CONFIG=$apt/apt.conf apt-cache madison "$1" 2>/dev/null |
		awk -F' *[|] *' -v suite="$2" '{
			split($3, source, " ")
			split(source[2], of, "/")
			if (of[1] == suite || of[1] == suite "-security") print $2
		}'
}

# From the package that only depends on the present kernel to the one that has the image.
image_package() { # PACKAGE VERSION
	local next
	next=$(APT_CONFIG=$apt/apt.conf apt-cache depends "$1=$2" |
		sed -n 's/^ *Depends: \(linux-\(image\|binary\)-[0-9].*\)/\1/p' | sort | head -n 1)
	if [ -z "$next" ] || [ "$next" = "$1" ]; then
		echo "$1"
	else
		image_package "$next" "$2"
	fi
}

# Newer kernels have their modules in a package of their own.
modules_package() { # IMAGE VERSION
	local modules=${1/linux-binary-/linux-modules-}
	[ "$modules" = "$1" ] || ! APT_CONFIG=$apt/apt.conf apt-cache show "$modules=$2" >/dev/null 2>&1 ||
		echo "$modules=$2"
}

# The modules that a disk of an emulated machine needs, numbered in the order of loading.
pack_modules() { # ROOT FOLDER
	local lib module path n=100
	lib=$(find "$1" -type d -path '*/lib/modules/*' -prune | head -n 1)
	[ -n "$lib" ] || return 0
	mkdir -p "$2"
	depmod -b "${lib%/lib/modules/*}" "${lib##*/}" 2>/dev/null
	for module in virtio_pci virtio_blk ext4; do
		modprobe -d "${lib%/lib/modules/*}" -S "${lib##*/}" --show-depends "$module" 2>/dev/null
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r path; do
		n=$((n + 1)) module=${path##*/}
		case $path in
		*.xz) xz -dc "$path" >"$2/$n-${module%.xz}" ;;
		*) cp "$path" "$2/$n-$module" ;;
		esac
	done
}

# Into FOLDER, all or nothing.
download() { # PACKAGE VERSION FOLDER
	local image deb tmp=$cache/tmp.$$
	image=$(image_package "$1" "$2")
	rm -rf "$tmp"
	mkdir -p "$tmp/root" "$tmp/out"
	# shellcheck disable=SC2046
	if ! (cd "$tmp" && APT_CONFIG=$apt/apt.conf timeout "$limit" \
		apt-get -qq download "$image=$2" $(modules_package "$image" "$2")) >"$apt/log" 2>&1; then
		problem="$image $2: $(sed -n 's/^E: //p' "$apt/log" | grep . || echo 'no answer in time')"
		problem=${problem%%$'\n'*}
		rm -rf "$tmp"
		return 1
	fi
	for deb in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$tmp/root" --wildcards './boot/vmlinu*' './usr/lib/modules/*/vmlinu*' \
				'./bin/busybox' './usr/bin/busybox' './usr/src/linux-source-*.tar.xz' \
				'*/modules.builtin' '*/modules.builtin.modinfo' '*/modules.order' \
				'*/kernel/drivers/virtio/*' '*/kernel/drivers/block/virtio_blk*' \
				'*/kernel/fs/ext4/*' '*/kernel/fs/jbd2/*' '*/kernel/fs/mbcache*' \
				'*/kernel/lib/crc*' '*/kernel/lib/crc/*' '*/kernel/crypto/crc*' 2>/dev/null || true
	done
	find "$tmp/root" -type f -name 'vmlinu*' -exec cp {} "$tmp/out/vmlinuz" \;
	find "$tmp/root" -type f -name busybox -exec cp {} "$tmp/out/busybox" \;
	find "$tmp/root" -type f -name 'linux-source-*.tar.xz' -exec mv {} "$tmp/out/linux.tar.xz" \;
	pack_modules "$tmp/root" "$tmp/out/modules"
	if ! find "$tmp/out" -maxdepth 1 -type f -size +0 | grep -q .; then
		problem="$image $2 holds no kernel"
		rm -rf "$tmp"
		return 1
	fi
	echo "$image $2" >"$tmp/out/package"
	rm -rf "$3"
	mv "$tmp/out" "$3"
	rm -rf "$tmp"
}

# Of the very kernel that was fetched: a folder for its configuration and one for all of the version.
download_headers() { # NAME-headers FOLDER
	local image version headers common package tmp=$cache/tmp.$$
	if ! read -r image version <"$cache/${1%-headers}/package"; then
		problem="${1%-headers} is not there"
		return 1
	fi
	headers=linux-headers-${image#linux-*-}
	common=$(APT_CONFIG=$apt/apt.conf apt-cache depends "$headers=$version" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-headers-.*-common.*\)/\1/p' | head -n 1)
	if [ -z "$common" ]; then
		problem="the mirror has no $headers $version any more: REFRESH=1 fetches a newer kernel"
		return 1
	fi
	rm -rf "$tmp"
	mkdir -p "$tmp/out"
	if ! (cd "$tmp" && APT_CONFIG=$apt/apt.conf timeout "$limit" \
		apt-get -qq download "$headers=$version" "$common=$version") >"$apt/log" 2>&1; then
		problem="$headers $version: $(sed -n 's/^E: //p' "$apt/log" | grep . || echo 'no answer in time')"
		problem=${problem%%$'\n'*}
		rm -rf "$tmp"
		return 1
	fi
	for package in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$tmp/out" --strip-components=3 ./usr/src
	done
	echo "$headers $version" >"$tmp/out/package"
	rm -rf "$2"
	mv "$tmp/out" "$2"
	rm -rf "$tmp"
}

# The newest that the mirror has: a list may name one that is gone from there.
fetch() { # NAME FOLDER
	local package suite version versions
	if [[ $1 == *-headers ]]; then
		download_headers "$1" "$2"
		return
	fi
	suite=$(kernel_suite "$1") package=$(kernel_package "$1")
	versions=$(versions_in "$package" "$suite")
	[ -n "$versions" ] || problem="the mirror has no $package in $suite"
	for version in $versions; do
		download "$package" "$version" "$2" && return 0
	done
	return 1
}

# What an earlier version of this script left there has no modules.
complete() { # NAME FOLDER
	[ -e "$2/package" ] || return 1
	case $1 in
	busybox* | *-source | *-headers | *-jp*) ;;
	*) [ -d "$2/modules" ] ;;
	esac
}

declare -A ready
mkdir -p "$cache"
for name in "$@"; do
	if ! kernel_suite "$name" >/dev/null; then
		printf '%s\t-\tno kernel of that name is known\n' "$name"
		continue
	fi
	folder=$cache/$name
	if complete "$name" "$folder" && { [ -z "${REFRESH:-}" ] || [[ $name == *-jp* ]]; }; then
		printf '%s\t%s\n' "$name" "$folder"
		continue
	fi
	if [[ $name == *-jp* ]]; then
		printf '%s\t-\tnot built: make jetson-kernels\n' "$name"
		continue
	fi
	# Each architecture has lists of its own.
	case $name in
	*-amd64*) arch=amd64 apt=$cache/apt-amd64 ;;
	*) arch=arm64 apt=$cache/apt ;;
	esac
	if [ -z "${ready[$arch]:-}" ]; then
		set_up_apt && ready[$arch]=yes || ready[$arch]=no
	fi
	if [ "${ready[$arch]}" = yes ] && fetch "$name" "$folder"; then
		printf '%s\t%s\n' "$name" "$folder"
	elif [ -e "$folder/package" ]; then
		echo "kernels: $name stays as it is: $problem" >&2
		printf '%s\t%s\n' "$name" "$folder"
	else
		printf '%s\t-\t%s\n' "$name" "$problem"
	fi
done
