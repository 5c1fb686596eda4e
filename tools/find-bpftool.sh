#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints a bpftool that works. On Ubuntu the one on PATH is a wrapper that wants the tools of the
# running kernel, and the real one lies beside it.
for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
	if "$tool" version >/dev/null 2>&1; then
		echo "$tool"
		exit 0
	fi
done
echo "bpftool not found: apt-get install bpftool (Debian) or linux-tools-generic (Ubuntu)" >&2
exit 1
