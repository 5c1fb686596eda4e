#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What tracing costs, side by side with peers from Debian in one run. Nothing here is a test: the
# machine's speed drifts, so read the ratios and not the single times.
set -eu

build=${BUILD:-build}
workloads=$build/tests/workloads
dir=$(mktemp -d)
target=
cleanup() {
	[ -z "$target" ] || kill "$target" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT

field() { # FILE KEY of the overhead object
	/usr/bin/python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["overhead"][sys.argv[2]])' "$@"
}

start() { # PROGRAM ARGS...: a workload that is up
	rm -f "$dir/ready"
	"$@" "ready=$dir/ready" >/dev/null &
	target=$!
	while [ ! -e "$dir/ready" ]; do
		if ! kill -0 "$target" 2>/dev/null; then
			echo "bench: $1 did not start" >&2
			exit 1
		fi
		sleep 0.05
	done
}

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo "== added cost of a context switch =="
"$build/tests/bench/bench_switch" "${ROUNDS:-9}" "${MS:-300}"

echo
echo "== from start to attached, ms, median of 7 =="
start "$workloads/sleepers" secs=600
for rung in btf tracepoint; do
	for _ in 1 2 3 4 5 6 7; do
		"$build/tegratrace" -q --rung $rung --json="$dir/json" -p "$target" -d 0.1 >/dev/null
		echo $(($(field "$dir/json" attach_ns) / 1000000))
	done | median | sed "s/^/tegratrace $rung  /"
done
if command -v bpftrace >/dev/null; then
	for _ in 1 2 3 4 5 6 7; do
		begin=$(date +%s%N)
		bpftrace -e 'tracepoint:sched:sched_switch { @n = count(); } BEGIN { exit(); }' >/dev/null 2>&1
		echo $((($(date +%s%N) - begin) / 1000000))
	done | median | sed "s/^/bpftrace, one probe, start to end  /"
fi
kill "$target"

echo
echo "== resident memory, 101 threads, ${MEMORY_SECONDS:-10} s =="
start "$workloads/sleepers" n=101 us=$(seq -s, 10007 10107) secs=600
for rung in btf tracepoint; do
	"$build/tegratrace" -q --rung $rung --json="$dir/json" --tegrastats \
		"$workloads/fake_tegrastats" -p "$target" -d "${MEMORY_SECONDS:-10}" >/dev/null
	echo "tegratrace $rung  $(($(field "$dir/json" rss_bytes) / 1024)) KiB"
done

echo
echo "== CPU time of a CUDA call (stand-in library), ns, median of 5 =="
# Waits for a GPU that is done, so that a call is short. The stand-in's cuStreamSynchronize begins with
# a push, which x86 kernels emulate; its cuLaunchKernel does not, and through that they step.
app() { # KEY... of what the first thread says of itself, COMMAND...
	local over=$1 under=$2
	shift 2
	FAKE_GPU_STATE=$dir/gpu FAKE_CUDA_WAIT=spinning LD_LIBRARY_PATH=$workloads "$@" events=0 ctx=0 \
		polls=0 htod=0 dtoh=0 copies=0 graphs=0 waits=0 | /usr/bin/python3 -c "
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
	local entries returns
	entries=$(printf "uprobe:$workloads/libcuda.so.1:%s," cuStreamSynchronize cuLaunchKernel \
		cuLaunchKernelEx)
	returns=${entries//uprobe/uretprobe}
	bpftrace -e "${entries%,} { @begin[tid] = nsecs; } ${returns%,} {
		@ns[tid] = sum(nsecs - @begin[tid]); }" >/dev/null 2>&1 &
	local peer=$!
	sleep 2
	calls env
	kill -INT $peer
	wait $peer || true
}
for _ in 1 2 3 4 5; do
	calls env >>"$dir/calls-none"
	calls "$build/tegratrace" -q --json=/dev/null --cuda all --timeline -- >>"$dir/calls-timeline"
	calls "$build/tegratrace" -q --json=/dev/null --cuda sync -- >>"$dir/calls-sync"
	calls "$build/tegratrace" -q --json=/dev/null --cuda all -- >>"$dir/calls-all"
	! command -v bpftrace >/dev/null || bpftrace_calls >>"$dir/calls-bpftrace"
done
for what in none sync all timeline bpftrace; do
	[ -s "$dir/calls-$what" ] || continue
	for column in 1 2; do
		cut -d ' ' -f $column "$dir/calls-$what" | median
	done | xargs printf "%-10s  cuStreamSynchronize %7.0f   cuLaunchKernel %7.0f\n" "$what"
done

echo
echo "== slowdown of whole programs, traced against alone, median of ${PAIRS:-7} pairs =="
/usr/bin/python3 tests/bench/slowdown.py "$build/tegratrace" "$workloads" "${PAIRS:-7}" 1.5

timed() { # COMMAND...: how long, and its largest size
	/usr/bin/python3 -c '
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
took = time.monotonic() - begin
print(f"{took:.2f} s, {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")' "$@"
}

# Of a synthetic recording, so that the number of events is the same everywhere.
long_reports() {
	local events=${EVENTS:-1000000} form aim
	echo
	echo "== reports of an hour at 100 ms with $events timeline events =="
	"$build/tests/bench/make_recording" "$dir/long.ttr" "$events"
	echo "recording  $(($(stat -c %s "$dir/long.ttr") / 1000000)) MB"
	for form in perfetto html chrome; do
		case $form in
		perfetto) aim=", aim 3 s" ;;
		html) aim=", aims 2 s and 5 MB" ;;
		*) aim= ;;
		esac
		echo "--$form  $(timed "$build/tegratrace" report "$dir/long.ttr" "--$form=$dir/long"),$(
			stat -c %s "$dir/long" | awk '{printf " %.1f MB", $1 / 1e6}')$aim"
		rm "$dir/long"
	done
	rm "$dir/long.ttr"
}
long_reports

corpus=${TEGRATRACE_CORPUS:-../shared/corpus}/tegrastats/logs
if [ -d "$corpus" ]; then
	echo
	echo "== tegrastats lines a second, one core, all logs of the corpus =="
	echo "tegratrace, every field                    $("$build/tests/bench/bench_lines" "$corpus"/*.log)"
	echo "Python, five fields by regular expression  $(/usr/bin/python3 tests/bench/regex_lines.py "$corpus"/*.log)"
	# Thirteen greps a line, as capture scripts do it: a few lines are enough to see the rate.
	begin=$(date +%s%N)
	head -n 100 "$corpus/orin-nano-super_r36_root_resnet18-fp16-maxn.log" | while read -r line; do
		for field in 'RAM \K[0-9]+' 'RAM [0-9]+/\K[0-9]+' 'SWAP \K[0-9]+' 'SWAP [0-9]+/\K[0-9]+' \
			'EMC_FREQ \K[0-9]+' 'EMC_FREQ [0-9]+%@\K[0-9]+' 'GR3D_FREQ \K[0-9]+' \
			'GR3D_FREQ [0-9]+%@\[\K[0-9]+' 'CPU \[[^]]*' 'tj@\K[0-9.]+' 'VDD_IN \K[0-9]+'; do
			echo "$line" | grep -oP "$field" >/dev/null || true
		done
	done
	echo "grep, eleven fields                        $((100 * 1000000000 / ($(date +%s%N) - begin)))"
fi
