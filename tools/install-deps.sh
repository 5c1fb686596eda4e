#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs what building and testing needs, from Debian's or Ubuntu's own packages, and nothing that
# is there already. Usage: tools/install-deps.sh [build|test|bench|packages|page]...
set -eu

test='libcmocka-dev clang-format python3-pytest python3-pytest-rerunfailures python3-jsonschema procps util-linux e2fsprogs fio dwarves mandoc gnuplot-nox protobuf-compiler'
build='gcc make clang llvm pkg-config libbpf-dev libdw-dev libiberty-dev libelf-dev zlib1g-dev libjansson-dev libsqlite3-dev libmicrohttpd-dev libprotobuf-c-dev protobuf-c-compiler'
# None is a must: a peer that is not there is said.
bench='libbpf-tools bpftrace fio'
page='nodejs npm'
# What a static binary of this architecture wants more, and what packs.
packages='libbz2-dev liblzma-dev xz-utils'

wanted=
peers=
for set in "${@:-build}"; do
	case $set in
	build) wanted="$wanted $build" ;;
	test) wanted="$wanted $test" ;;
	bench) peers=$bench ;;
	packages) wanted="$wanted $packages" ;;
	page) wanted="$wanted $page" ;;
	*)
		echo "install-deps: unknown set '$set': build, test, bench, packages or page" >&2
		exit 2
		;;
	esac
done

installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'
}

missing=
for package in $wanted; do
	# Node.js often comes from elsewhere.
	case $package in
	nodejs | npm) command -v npm >/dev/null && continue ;;
	esac
	installed "$package" || missing="$missing $package"
done
# Debian has a package bpftool; Ubuntu keeps it in its linux-tools.
if ! "$(dirname "$0")/find-bpftool.sh" >/dev/null 2>&1; then
	if grep -q '^ID=ubuntu' /etc/os-release; then
		missing="$missing linux-tools-common linux-tools-generic"
	else
		missing="$missing bpftool"
	fi
fi
# perf serves one test of living beside other tools, libclang-rt the fuzzers, man-db and lintian
# look at documents and packages, npm bundles the page of the HTML report, chromium tests it: none is
# a must.
case " $wanted " in
*" libcmocka-dev "*)
	command -v perf >/dev/null || optional=linux-perf
	installed libclang-rt-dev || optional="${optional:-} libclang-rt-dev"
	command -v npm >/dev/null || optional="${optional:-} nodejs npm"
	# Ubuntu's package is a wrapper around a snap.
	command -v chromium >/dev/null || grep -q '^ID=ubuntu' /etc/os-release ||
		optional="${optional:-} chromium fonts-dejavu-core"
	installed man-db || optional="${optional:-} man-db"
	;;
esac
for package in $peers; do
	installed "$package" || optional="${optional:-} $package"
done
if [ -n "$peers" ] && ! command -v perf >/dev/null; then
	optional="${optional:-} linux-perf"
fi
case " $wanted " in
*" xz-utils "*) command -v lintian >/dev/null || optional="${optional:-} lintian" ;;
esac

[ -n "$missing${optional:-}" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	[ -n "$missing" ] || exit 0
	echo "install-deps: not root; run: sudo apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086
[ -z "$missing" ] || apt-get -qq install -y --no-install-recommends $missing >/dev/null
for package in ${optional:-}; do
	apt-get -qq install -y --no-install-recommends "$package" >/dev/null 2>&1 || true
done
