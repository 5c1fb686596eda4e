#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Bundles the page of the HTML report into one file: OUT. Without npm, or without a network where its
# cache lacks the packages, OUT is empty and the binary is built without the page; the reason is
# printed. Usage: tools/build-page.sh OUT
set -eu

sources=$(dirname "$0")/../src/report/page
out=$1
work=$out.d

# The same bytes leave the file and its date alone, so that nothing is built again.
keep() {
	if [ -f "$out" ] && cmp -s "$1" "$out"; then
		rm -f "$1"
	else
		mv "$1" "$out"
	fi
}

without() {
	echo "  note     no HTML report in this build: $1" >&2
	: >"$work/empty"
	keep "$work/empty"
	exit 0
}

mkdir -p "$work"
# A source archive brings the page.
if [ -f "$sources/page.html" ]; then
	cp "$sources/page.html" "$work/page.html"
	keep "$work/page.html"
	exit 0
fi
command -v npm >/dev/null || without 'npm is missing; sudo tools/install-deps.sh page'
cp "$sources"/*.js "$sources"/*.mjs "$sources"/*.css "$sources"/*.html "$sources"/*.json "$work/"
cd "$work"
stamp=node_modules/.tegratrace
if ! cmp -s package-lock.json "$stamp"; then
	npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --fetch-retries=1 \
		--fetch-timeout=20000 >npm.log 2>&1 ||
		without "npm ci failed: $(grep -m 1 'npm error' npm.log || tail -n 1 npm.log)"
	cp package-lock.json "$stamp"
fi
cd - >/dev/null
node "$work/bundle.mjs" "$work" "$work/page.bundled" ||
	without 'the bundler failed'
keep "$work/page.bundled"
