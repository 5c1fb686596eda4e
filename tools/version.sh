#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints the version of this source: what the VERSION file of an archive says, else what git says
# since the last tag vX.Y.Z, as X.Y.Z+commits.gHASH. With --date: the time of that source, in
# seconds since 1970, which stands for the time of the build in whatever is built from it.
set -eu

base=0.1.0
cd "$(dirname "$0")/.."

if [ -s VERSION ]; then
	case ${1:-} in
	--date) stat -c %Y VERSION ;;
	*) cat VERSION ;;
	esac
	exit
fi

# Not the repository that this folder happens to lie in. Under sudo it belongs to somebody else.
git_here() {
	GIT_OPTIONAL_LOCKS=0 git -c safe.directory='*' "$@" 2>/dev/null
}
if [ "$(git_here rev-parse --show-toplevel)" != "$(pwd -P)" ]; then
	case ${1:-} in
	--date) stat -c %Y README.md ;;
	*) echo "$base+unknown" ;;
	esac
	exit
fi
if [ "${1:-}" = --date ]; then
	git_here log -1 --format=%ct
	exit
fi
if ! described=$(git_here describe --tags --match 'v[0-9]*' --abbrev=10 --dirty); then
	described=v$base-$(git_here rev-list --count HEAD)-$(git_here describe --always --abbrev=10 --dirty |
		sed 's/^/g/')
fi
# No hyphen: in a Debian version it would begin the revision.
echo "$described" | sed -e 's/^v//' -e 's/-rc/~rc/' -e 's/-/+/' -e 's/-/./g'
