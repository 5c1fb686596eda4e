#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How many instructions and states the kernel's verifier looked at for each program, beside those of
# tests/kernels/verifier_counts.tsv. More than a fifth more fails: kernels stop at a million, and a
# program that grows unseen is the one that an older kernel refuses.
# Usage: tools/verifier-counts.sh check            this kernel's, root only; $BUILD has the programs
#        tools/verifier-counts.sh write            the same, into the table
#        tools/verifier-counts.sh compare|record SERIES/MACHINE FILE     of a machine that was booted
set -eu

export LC_ALL=C
build=$(realpath "${BUILD:-build}")
table=$(dirname "$0")/../tests/kernels/verifier_counts.tsv
table=${VERIFIER_COUNTS:-$table}

# Every program with its largest counts, from what load_stats.c wrote.
largest() { # FILE...
	sort -t$'\t' -k1,1 -k2,2nr "$@" | awk -F'\t' '!seen[$1]++'
}

# A process that has the library whose calls are probed, so that no object is left out.
measure() {
	local dir=$1 rung load
	"$build/tests/workloads/cuda_linked" ready="$dir/ready" go="$dir/go" >/dev/null &
	load=$!
	while [ ! -e "$dir/ready" ]; do
		kill -0 $load
		sleep 0.05
	done
	for rung in btf raw tracepoint; do
		LD_PRELOAD=$build/tests/load_stats.so LOAD_STATS=$dir/raw "$build/tegratrace" -q \
			--rung $rung --cuda all --user-stacks -p $load -d 0.1 >/dev/null 2>"$dir/errors" ||
			echo "rung $rung: $(head -n 1 "$dir/errors")" >&2
	done
	kill $load
	wait $load 2>/dev/null || true
	[ -s "$dir/raw" ] || {
		echo "verifier counts: nothing loads here" >&2
		exit 1
	}
	largest "$dir/raw" >"$dir/counts"
}

compare() { # KERNEL COUNTS
	awk -F'\t' -v kernel="$1" '
		FNR == NR {
			if ($1 == kernel) {
				insns[$2] = $3
				states[$2] = $4
				known++
			}
			next
		}
		{
			programs++
			total += $2
			if ($2 > most) { most = $2; name = $1 }
			if (!known)
				next
			if (!($1 in insns)) {
				printf "%s: %s is not in the table: make verifier-counts\n", kernel, $1
				wrong = 1
			} else if ($2 > 1.2 * insns[$1] || $3 > 1.2 * states[$1]) {
				printf "%s: %s grew from %d instructions and %d states to %d and %d\n",
					kernel, $1, insns[$1], states[$1], $2, $3
				wrong = 1
			}
		}
		END {
			printf "%s: %d programs, %d instructions verified, most for %s (%d)%s\n", kernel,
				programs, total, name, most,
				known ? "" : "; this kernel is not in the table, so nothing is compared"
			exit wrong
		}' "$table" "$2"
}

# A boot may load only some: the rows of others stay.
record() { # KERNEL COUNTS
	local new
	new=$(mktemp)
	grep '^#' "$table" >"$new"
	sed "s|^|$1\t|" "$2" | cat - "$table" | grep -v '^#' |
		awk -F'\t' '!seen[$1, $2]++' | sort -t$'\t' -k1,1V -k2,2 >>"$new"
	cat "$new" >"$table"
	rm "$new"
}

forget() { # KERNEL
	local rest
	rest=$(awk -F'\t' -v kernel="$1" '$1 != kernel' "$table")
	echo "$rest" >"$table"
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
here=$(uname -r | cut -d. -f1,2)/$(uname -m)
case ${1:-} in
check | write)
	measure "$dir"
	if [ "$1" = check ]; then
		compare "$here" "$dir/counts"
	else
		forget "$here"
		record "$here" "$dir/counts"
		compare "$here" "$dir/counts"
	fi
	;;
compare | record)
	largest "$3" >"$dir/counts"
	"$1" "$2" "$dir/counts"
	[ "$1" = compare ] || compare "$2" "$dir/counts"
	;;
*)
	echo "usage: $0 check|write, or compare|record KERNEL FILE" >&2
	exit 2
	;;
esac
