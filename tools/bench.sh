#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What tracing costs, side by side with peers from Debian in one run, and at the end each figure
# beside its target. Nothing here is a test: the machine's speed drifts, so read the ratios and not
# the single times. Usage: tools/bench.sh [PART...]; ROUNDS= and MS= shorten every part.
set -eu

# Names of the functions part_NAME, in the order in which they run.
parts=(switch programs attach memory cuda slowdown recording live reports lines)

build=${BUILD:-build}
workloads=$build/tests/workloads
dir=$(mktemp -d)
export BENCH_SUMMARY=$dir/summary
target=
# shellcheck disable=SC2317 # by the trap
cleanup() {
	[ -z "$target" ] || kill "$target" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT

python() {
	/usr/bin/python3 "$@"
}

field() { # FILE KEY of the overhead object
	python -c 'import json,sys; print(json.load(open(sys.argv[1]))["overhead"][sys.argv[2]])' "$@"
}

start() { # PROGRAM ARGS...: a workload that is up
	rm -f "$dir/ready"
	"$@" "ready=$dir/ready" >/dev/null &
	target=$!
	while [ ! -e "$dir/ready" ]; do
		if ! kill -0 "$target" 2>/dev/null; then
			echo "bench: $1 did not start" >&2
			return 1
		fi
		sleep 0.05
	done
}

stop() {
	kill "$target"
	wait "$target" 2>/dev/null || true
	target=
}

# PROGRAM: a missing peer is said and not fatal.
have() {
	command -v "$1" >/dev/null && return
	echo "$1: not installed"
	return 1
}

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

rounds() { echo "${ROUNDS:-$1}"; }

# WHAT VALUE UNIT [at-most|at-least TARGET [PEER]]: a line of the table at the end
result() {
	printf '%s\t%s\t%s\t%s\t%s\t%s\t\n' "$1" "$2" "$3" "${4:-}" "${5:-}" "${6:-}" >>"$BENCH_SUMMARY"
}

part_switch() {
	echo "== added cost of a context switch =="
	"$build/tests/bench/bench_switch" "$(rounds 9)" "${MS:-300}" | tee "$dir/switch"
	local rung
	for rung in btf tracepoint; do
		switch_result "tegratrace $rung, traced" 1.5
		switch_result "tegratrace $rung, untraced" 1.15
	done
}

# NAME TARGET: of the last column, the multiple of the empty programs
switch_result() {
	local times
	times=$(awk -v name="$1 " 'index($0, name) == 1 && NF > 5 {print $NF}' "$dir/switch")
	[ -z "$times" ] || result "switch: $1, times the empty programs" "$times" x at-most "$2"
}

part_programs() {
	echo "== programs of single probes beside peers: ns by the kernel's own books =="
	python tests/bench/programs.py "$build/tegratrace" "$workloads" "$(rounds 3)" "${MS:-1000}"
}

attach_of() { # RUNG
	"$build/tegratrace" -q --rung "$1" --json="$dir/json" -p "$target" -d 0.1 >/dev/null
	echo $(($(field "$dir/json" attach_ns) / 1000000))
}

ended() { # COMMAND...: ms from its start to its end
	local begin
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1 || return
	echo $((($(date +%s%N) - begin) / 1000000))
}

times() { # N COMMAND...
	local i n=$1
	shift
	for ((i = 0; i < n; i++)); do
		"$@"
	done
}

part_attach() {
	echo "== from start to attached, ms, median of $(rounds 7) =="
	local rung ms peer=''
	start "$workloads/sleepers" secs=600
	if have bpftrace; then
		ms=$(times "$(rounds 7)" ended bpftrace -e \
			'tracepoint:sched:sched_switch { @n = count(); } BEGIN { exit(); }' | median)
		echo "bpftrace, one probe, start to end  $ms"
		peer="bpftrace $ms ms"
	fi
	for rung in btf tracepoint perf; do
		ms=$(times "$(rounds 7)" attach_of $rung | median)
		echo "tegratrace $rung  $ms"
		result "attach: $rung" "$ms" ms at-most 150 "$peer"
	done
	if have perf; then
		echo "perf record of its switches, start to end  $(times "$(rounds 7)" ended perf record \
			-o /dev/null -e sched:sched_switch -p "$target" true | median)"
	fi
	stop
}

# SECONDS COMMAND...: the peak of its memory in KiB after so long
peak_of() {
	local seconds=$1 pid kib
	shift
	"$@" >/dev/null 2>&1 &
	pid=$!
	sleep "$seconds"
	kib=$(awk '/^VmHWM/ {print $2}' /proc/$pid/status 2>/dev/null || true)
	kill -INT $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	echo "${kib:-?}"
}

mib() { awk -v kib="$1" 'BEGIN {printf "%.1f", kib / 1024}'; }

part_memory() {
	local rung kib peer='' seconds=$((${MS:-5000} / 1000))
	[ "$seconds" -gt 0 ] || seconds=1
	echo "== resident memory, 101 threads, $seconds s, KiB =="
	start "$workloads/sleepers" n=101 us="$(seq -s, 10007 10107)" secs=600
	if have offcputime; then
		kib=$(peak_of "$seconds" offcputime -p "$target" 1000)
		echo "offcputime  $kib"
		peer="offcputime $(mib "$kib") MiB"
	fi
	for rung in btf tracepoint perf; do
		"$build/tegratrace" -q --rung $rung --json="$dir/json" --tegrastats \
			"$workloads/fake_tegrastats" -p "$target" -d "$seconds" >/dev/null
		kib=$(($(field "$dir/json" rss_bytes) / 1024))
		echo "tegratrace $rung  $kib"
		result "memory: $rung, 101 threads" "$(mib "$kib")" MiB at-most 24 "$peer"
	done
	! have bpftrace || echo "bpftrace, off-CPU time by thread  $(peak_of "$seconds" bpftrace -e '
		tracepoint:sched:sched_switch { @begin[args->prev_pid] = nsecs;
			@ns[args->next_pid, kstack] = sum(nsecs - @begin[args->next_pid]); }')"
	! have perf || echo "perf sched record  $(peak_of "$seconds" perf sched record -o /dev/null)"
	stop
}

# Waits for a GPU that is done, so that a call is short. The stand-in's cuStreamSynchronize begins with
# a push, which x86 kernels emulate; its cuLaunchKernel does not, and through that they step.
app() { # KEY... of what the first thread says of itself, COMMAND...
	local over=$1 under=$2
	shift 2
	FAKE_GPU_STATE=$dir/gpu FAKE_CUDA_WAIT=spinning LD_LIBRARY_PATH=$workloads "$@" events=0 ctx=0 \
		polls=0 htod=0 dtoh=0 copies=0 graphs=0 waits=0 | python -c "
import json, sys
t = json.loads(sys.stdin.read().splitlines()[0])['threads'][1]
t['cpu_ns'] = t['end']['cpu_ns'] - t['begin']['cpu_ns']
print(t['$over'] / t['$under'])"
}

calls() { # COMMAND...: "a wait, a launch" of a cuda_app run by it
	echo "$(app sync_cpu_ns sync_calls "$@" "$workloads/cuda_app" iters=20011 kernel_us=0 \
		launches=0) $(app cpu_ns launches "$@" "$workloads/cuda_app" iters=0 launches=20011)"
}

bpftrace_calls() {
	local entries returns peer
	entries=$(printf "uprobe:$workloads/libcuda.so.1:%s," cuStreamSynchronize cuLaunchKernel \
		cuLaunchKernelEx)
	returns=${entries//uprobe/uretprobe}
	bpftrace -e "${entries%,} { @begin[tid] = nsecs; } ${returns%,} {
		@ns[tid] = sum(nsecs - @begin[tid]); }" >/dev/null 2>&1 &
	peer=$!
	sleep 2
	calls env
	kill -INT $peer
	wait $peer || true
}

part_cuda() {
	local i what column peer=true
	echo "== CPU time of a CUDA call (stand-in library), ns, median of $(rounds 5) =="
	have bpftrace || peer=false
	for ((i = 0; i < $(rounds 5); i++)); do
		calls env >>"$dir/calls-none"
		calls "$build/tegratrace" -q --json=/dev/null --cuda sync -- >>"$dir/calls-sync"
		calls "$build/tegratrace" -q --json=/dev/null --cuda all -- >>"$dir/calls-all"
		calls "$build/tegratrace" -q --json=/dev/null --cuda all --timeline -- >>"$dir/calls-timeline"
		! $peer || bpftrace_calls >>"$dir/calls-bpftrace"
	done
	for what in none sync all timeline bpftrace; do
		[ -s "$dir/calls-$what" ] || continue
		for column in 1 2; do
			cut -d ' ' -f $column "$dir/calls-$what" | median
		done | xargs printf "%-10s  cuStreamSynchronize %7.0f   cuLaunchKernel %7.0f\n" "$what"
	done | tee "$dir/calls"
	! $peer || awk '{ns[$1] = $3} END {printf "%.2f\n", (ns["all"] - ns["none"]) / (ns["bpftrace"] - ns["none"])}' \
		"$dir/calls" | while read -r ratio; do
		result "cuda: added to a probed wait, times bpftrace's" "$ratio" x at-most 1
	done
}

part_slowdown() {
	echo "== slowdown of whole programs, traced against alone, median of $(rounds 5) rounds =="
	python tests/bench/slowdown.py "$build/tegratrace" "$workloads" "$(rounds 5)" "${MS:-1000}"
}

part_recording() {
	echo "== recording: CPU time of tegratrace itself, median of $(rounds 3) =="
	python tests/bench/own_cpu.py recording "$build/tegratrace" "$workloads" "$(rounds 3)" "${MS:-5000}"
}

part_live() {
	echo "== serving the live page: CPU time of tegratrace, and the target's speed, median of $(rounds 3) =="
	python tests/bench/own_cpu.py live "$build/tegratrace" "$workloads" "$(rounds 3)" "${MS:-5000}"
}

timed() { # COMMAND...: seconds, and its largest size in MiB
	python -c '
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
took = time.monotonic() - begin
print(f"{took:.2f} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}")' "$@"
}

# FORM [SECONDS [MB]]: time, memory and size of one, and its targets
long_report() {
	local form=$1 seconds mib mb
	read -r seconds mib <<<"$(timed "$build/tegratrace" report "$dir/long.ttr" "--$form=$dir/long")"
	mb=$(stat -c %s "$dir/long" | awk '{printf "%.1f", $1 / 1e6}')
	rm "$dir/long"
	echo "--$form  $seconds s, $mib MiB of memory, $mb MB"
	[ -z "${2:-}" ] || result "reports: --$form" "$seconds" s at-most "$2"
	[ -z "${3:-}" ] || result "reports: --$form, size" "$mb" MB at-most "$3"
}

# Of a synthetic recording, so that the number of events is the same everywhere.
part_reports() {
	local events=${EVENTS:-1000000}
	echo "== reports of an hour at 100 ms with $events timeline events =="
	"$build/tests/bench/make_recording" "$dir/long.ttr" "$events"
	echo "recording  $(($(stat -c %s "$dir/long.ttr") / 1000000)) MB"
	long_report perfetto 3
	long_report html 2 5
	long_report chrome
	rm "$dir/long.ttr"
}

grep_lines() { # FILE: thirteen greps a line, as capture scripts do it
	local line pattern
	while read -r line; do
		for pattern in 'RAM \K[0-9]+' 'RAM [0-9]+/\K[0-9]+' 'SWAP \K[0-9]+' 'SWAP [0-9]+/\K[0-9]+' \
			'EMC_FREQ \K[0-9]+' 'EMC_FREQ [0-9]+%@\K[0-9]+' 'GR3D_FREQ \K[0-9]+' \
			'GR3D_FREQ [0-9]+%@\[\K[0-9]+' 'CPU \[[^]]*' 'tj@\K[0-9.]+' 'VDD_IN \K[0-9]+'; do
			echo "$line" | grep -oP "$pattern" >/dev/null || true
		done
	done <"$1"
}

part_lines() {
	local corpus=${TEGRATRACE_CORPUS:-../shared/corpus}/tegrastats/logs rate peer begin
	echo "== tegrastats lines a second, one core, all logs of the corpus =="
	if [ ! -d "$corpus" ]; then
		echo "no corpus at $corpus: name its folder in TEGRATRACE_CORPUS"
		return
	fi
	rate=$("$build/tests/bench/bench_lines" "$corpus"/*.log)
	peer=$(python tests/bench/regex_lines.py "$corpus"/*.log)
	echo "tegratrace, every field                    $rate"
	echo "Python, five fields by regular expression  $peer"
	result "lines: tegrastats lines a second" "$rate" "" at-least 1000000 "Python $peer"
	# A few lines are enough to see the rate.
	head -n 100 "$corpus/orin-nano-super_r36_root_resnet18-fp16-maxn.log" >"$dir/log"
	begin=$(date +%s%N)
	grep_lines "$dir/log"
	echo "grep, eleven fields                        $((100 * 1000000000 / ($(date +%s%N) - begin)))"
}

summary() {
	echo "== against the targets =="
	awk -F '\t' '
	function verdict() {
		if ($7 != "")
			return $7
		if ($4 == "at-most")
			return $2 + 0 <= $5 + 0 ? "met" : "missed"
		return $4 == "at-least" ? ($2 + 0 >= $5 + 0 ? "met" : "missed") : ""
	}
	{
		target = $4 == "" ? "" : ($4 == "at-most" ? "<= " : ">= ") $5
		printf "%-60s %9s %-3s %10s  %-7s %s\n", $1, $2, $3, target, verdict(), $6
	}' "$BENCH_SUMMARY"
}

main() {
	local name
	[ $# -gt 0 ] || set -- "${parts[@]}"
	for name in "$@"; do
		if ! declare -F "part_$name" >/dev/null; then
			echo "bench: no part '$name': ${parts[*]}" >&2
			exit 2
		fi
	done
	: >"$BENCH_SUMMARY"
	for name in "$@"; do
		"part_$name"
		echo
	done
	summary
}

main "$@"
