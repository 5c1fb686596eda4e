#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs every test and ends with one counted line: N passed, N failed, N skipped.
# Usage: tools/check.sh [format|build|bpf|unit|asan|fuzz|integration|packages|kernels]...   (default: all)
set -u

export LC_ALL=C
build=${BUILD:-build} jobs=-j$(nproc)
passed=0 failed=0 skipped=0
failures=() notes=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
mkdir "$logs/examples"

# One check that passes or fails as a whole: NAME COMMAND...
check() {
	local name=$1
	shift
	if "$@" >"$logs/out" 2>&1; then
		passed=$((passed + 1))
		echo "ok      $name"
	else
		failed=$((failed + 1))
		failures+=("$name")
		sed 's/^/        /' "$logs/out"
		echo "FAILED  $name"
	fi
}

# A cmocka program, one count a test: NAME PROGRAM
cmocka() {
	local name=$1 program=$2 status p f s
	CMOCKA_MESSAGE_OUTPUT=TAP TEGRATRACE_EXAMPLES=$logs/examples "$program" \
		</dev/null >"$logs/out" 2>&1
	status=$?
	# cmocka writes a skipped test as "not ok N # SKIP".
	p=$(grep -cE '^ok ' "$logs/out")
	f=$(grep -E '^not ok ' "$logs/out" | grep -cv '# SKIP')
	s=$(grep -cE '^not ok .*# SKIP' "$logs/out")
	# Ended without saying so test by test: a crash, or a sanitizer at exit.
	[ "$status" = 0 ] || [ "$f" -gt 0 ] || f=1
	[ "$((p + f + s))" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$f" -gt 0 ]; then
		failures+=("$name")
		sed 's/^/        /' "$logs/out" | tail -n 60
		echo "FAILED  $name: $f of $((p + f + s))"
	else
		echo "ok      $name: $p passed, $s skipped"
		[ "$s" = 0 ] || grep -vE '^(ok|1\.\.|# ok)' "$logs/out" | sed 's/^/        /'
	fi
}

unit_tests() { # LABEL BUILD
	local program
	for program in "$2"/tests/unit/test_*; do
		case $program in *.d | *.o) continue ;; esac
		cmocka "$1 $(basename "$program")" "$program"
	done
}

count_of() { # ATTRIBUTE, summed over the suites of the junit file
	grep -o "<testsuite [^>]*" "$logs/junit.xml" | grep -o " $1=\"[0-9]*\"" | grep -o '[0-9]*' |
		awk '{n += $1} END {print n + 0}'
}

# What is measured while others use the machine is off now and then: a test that failed is run once more,
# and said to have been. More than one in a hundred is a failure, of the tests or of what they test.
python_tests() { # NAME FOLDER
	local tests f e s again
	rm -f "$logs/junit.xml"
	BUILD=$build /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider --reruns 1 \
		-o junit_family=xunit1 --durations=20 --durations-min=5 \
		--junitxml="$logs/junit.xml" "$2" | tee "$logs/out" | sed 's/^/        /'
	if [ ! -s "$logs/junit.xml" ]; then
		failed=$((failed + 1))
		failures+=("$1: pytest did not run")
		return
	fi
	tests=$(count_of tests) f=$(count_of failures) e=$(count_of errors) s=$(count_of skipped)
	passed=$((passed + tests - f - e - s)) failed=$((failed + f + e)) skipped=$((skipped + s))
	if [ "$((f + e))" -gt 0 ] || [ "$tests" = 0 ]; then
		failures+=("$1: $((f + e)) of $tests")
		[ "$tests" -gt 0 ] || failed=$((failed + 1))
	fi
	mapfile -t -O "${#notes[@]}" notes < <(grep -E '^(AGAIN|FAILED) ' "$logs/out")
	again=$(grep -c '^AGAIN ' "$logs/out")
	if [ "$((again * 100))" -gt "$((tests + 100))" ]; then
		failed=$((failed + 1))
		failures+=("$1: $again tests had to be repeated, of $tests")
	fi
	echo "        $1: $tests tests, $((f + e)) failed, $s skipped"
}

sanitized=(SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined" BUILD="$build/asan" PAGE="$build/page.html")
for part in "${@:-all}"; do
	case $part in all | format | build | bpf | unit | asan | fuzz | integration | packages | kernels) ;;
	*)
		echo "check: unknown part '$part'" >&2
		exit 2
		;;
	esac
done
wants() {
	local part
	for part in "${parts[@]}"; do
		[ "$part" = all ] || [ "$part" = "$1" ] && return 0
	done
	return 1
}
parts=("${@:-all}")

format() { check "clang-format" make -s check-format; }
build() { check "build with clang, no warnings" make -s "$jobs" CC=clang BUILD="$build/clang" PAGE="$build/page.html"; }

# A kernel that the table does not have is reported, and passes.
verifier_counts() {
	if [ "$(id -u)" != 0 ]; then
		skipped=$((skipped + 1))
		echo "skipped verifier counts: programs are loaded by root alone"
		return
	fi
	check "verifier counts" sh -c "make -s BUILD='$build' '$build/tests/load_stats.so' workloads &&
		BUILD='$build' tools/verifier-counts.sh check"
	tail -n 1 "$logs/out" | sed 's/^/        /'
}

bpf() {
	check "BPF objects suit stock Jetson kernels" tools/check-bpf.sh "$build"/sched_*.bpf.o \
		"$build"/block_*.bpf.o "$build"/sampler.bpf.o "$build"/fault_events.bpf.o \
		"$build"/cuda.bpf.o "$build"/user_regs.bpf.o
	verifier_counts
}

unit() {
	check "unit tests build" make -s "$jobs" unit
	unit_tests unit "$build"
}

asan() {
	check "ASan+UBSan build" make -s "$jobs" "${sanitized[@]}" unit
	export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
	unit_tests asan "$build/asan"
}

# 60 s here; make fuzz takes 20 minutes.
fuzz() {
	FUZZ_SECONDS=${FUZZ_SECONDS:-60} BUILD=$build tools/fuzz.sh >"$logs/fuzz" 2>&1
	case $? in
	0) passed=$((passed + 1)) && echo "ok      fuzz" ;;
	77) skipped=$((skipped + 1)) && echo "skipped fuzz: $(cat "$logs/fuzz")" ;;
	*)
		failed=$((failed + 1)) failures+=(fuzz)
		sed 's/^/        /' "$logs/fuzz"
		;;
	esac
}

integration() { python_tests integration tests/integration; }

# The archive and this architecture's package; make check-packages makes both, and each twice.
packages() {
	if ! tools/install-deps.sh packages >"$logs/packages" 2>&1; then
		skipped=$((skipped + 1))
		echo "skipped packages: $(tail -n 1 "$logs/packages")"
		return
	fi
	python_tests packages tests/packages
}
# An arm64 kernel under emulation, without type data; make check-kernels boots them all.
kernels() {
	local p f s
	if ! tools/kernels/install-deps.sh >"$logs/kernels" 2>&1; then
		skipped=$((skipped + 1))
		echo "skipped kernels: no cross compiler or libraries: $(tail -n 1 "$logs/kernels")"
		return
	fi
	make -s BUILD="$build" check-kernels-short >"$logs/kernels" 2>&1
	sed 's/^/        /' "$logs/kernels" | tail -n 30
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$logs/kernels" | tail -n 1)
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
	[ "${f:-1}" = 0 ] || failures+=("kernels: ${f:-1}")
}

# Fuzzing and packing measure nothing: they run beside the unit tests, in a process of their own.
beside=()
start_beside() {
	local part
	wants unit || return
	for part in fuzz packages; do
		if wants "$part"; then beside+=("$part"); fi
	done
	[ "${#beside[@]}" = 0 ] || "$0" "${beside[@]}" >"$logs/beside" 2>&1 &
}

join_beside() {
	local p f s
	[ -z "$joined" ] && [ "${#beside[@]}" -gt 0 ] || return 0
	wait
	head -n -1 "$logs/beside"
	mapfile -t -O "${#failures[@]}" failures < <(sed -n 's/^FAILED  //p' "$logs/beside")
	read -r p f s < <(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$logs/beside")
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
	joined=1
}

took=() joined=
start_beside
for part in format build bpf unit asan fuzz packages integration kernels; do
	wants "$part" || continue
	[[ " ${beside[*]} " != *" $part "* ]] || continue
	if [ "$part" = integration ]; then join_beside; fi
	before=$SECONDS
	"$part"
	took+=("$(printf '%5d s  %s' "$((SECONDS - before))" "$part")")
done
join_beside
printf '%s\n' "${took[@]}"
[ "${#notes[@]}" = 0 ] || printf '%s\n' "${notes[@]}"
for name in "${failures[@]}"; do
	echo "FAILED  $name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
