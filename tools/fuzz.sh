#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzzes the parsers of hostile text with libFuzzer, ASan and UBSan.
# Usage: FUZZ_SECONDS=60 tools/fuzz.sh
set -euo pipefail

seconds=${FUZZ_SECONDS:-60}
out=${BUILD:-build}/fuzz
mkdir -p "$out/corpus"
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n); int LLVMFuzzerTestOneInput(const char *d, long n) {return d && n < 0;}' |
	clang -fsanitize=fuzzer -x c - -o "$out/probe" 2>/dev/null; then
	echo "fuzz: clang has no libFuzzer here: install libclang-rt-dev" >&2
	exit 77
fi
sources=$(ls src/tegra/line*.c src/tegra/reader.c src/tegra/rows.c src/tegra/writers.c \
	src/tegra/sample_json.c src/tegra/summary.c src/tegra/clock_state.c src/tegra/board_conf.c \
	src/report/csv/csv.c src/report/csv/csv_values.c src/session/[!r]*.c src/base/text.c src/base/text_file.c src/probe/tracefs.c)
for target in fuzz_reader fuzz_text; do
	# shellcheck disable=SC2086
	clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Isrc -I. -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined "tests/fuzz/$target.c" $sources -ljansson -lm \
		-o "$out/$target"
done
# shellcheck disable=SC2046
clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Isrc -I. -Itests -Ibpf -DSCHEMA_PATH='"src/report/json/schema.json"' \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined tests/fuzz/fuzz_recording.c \
	$(ls src/session/*.c src/diagnose/*.c $(ls src/report/*.c src/report/*/*.c src/base/*.c | grep -v -e perfetto -e html -e hash_table) src/tegra/modules*.c src/tegra/guess.c src/tegra/lag.c src/tegra/line*.c) \
	-ljansson -lsqlite3 -lm -lpthread -o "$out/fuzz_recording"
lines=${TEGRATRACE_CORPUS:-../shared/corpus}/tegrastats
if [ -d "$lines" ]; then
	cp "$lines"/corrupt/*.log "$out/corpus/" 2>/dev/null || true
	cut -f5 "$lines/lines.tsv" | split -l 7 - "$out/corpus/line-"
fi
"$out/fuzz_reader" -max_total_time=$((seconds * 3 / 4)) -max_len=4096 -timeout=10 \
	-artifact_prefix="$out/" "$out/corpus" 2>&1 | tail -n 3
"$out/fuzz_recording" -max_total_time=$((seconds / 8)) -max_len=256 -len_control=0 -timeout=10 -detect_leaks=0 \
	-artifact_prefix="$out/" 2>&1 | tail -n 3
"$out/fuzz_text" -max_total_time=$((seconds / 8)) -max_len=1024 -timeout=10 \
	-artifact_prefix="$out/" 2>&1 | tail -n 3
