#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Traces a stand-in inference pipeline for about 10 s with the real BPF programs. The GPU and the
# tegrastats are stand-ins too, and share one state, so the GPU load shown is true by construction.
#   SCENARIO=cpu-bound|cpu-starved|io-bound|memory-pressure|lock|gpu-blocking|gpu-spinning|launch|
#            input-limited|compute|balanced|idle     what each is: README.md
#   DURATION=10   ARGS=options of tegratrace   LOAD=arguments of the pipeline, key=value
# io-bound and memory-pressure limit the pipeline, and it alone, by a cgroup of its own, which goes
# with it however it ends.
set -eu

build=${BUILD:-build}
scenario=${SCENARIO:-cpu-bound}
duration=${DURATION:-10}
dir=$(mktemp -d)
pipeline=
cleanup() {
	[ -z "$pipeline" ] || kill "$pipeline" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT INT TERM

FAKE_GPU_STATE=$dir/gpu
export FAKE_GPU_STATE
# shellcheck disable=SC2086
"$build/tests/workloads/demo_pipeline" "scenario=$scenario" "secs=$((duration + 60))" \
	${LOAD:-} "ready=$dir/ready" >"$dir/truth.json" 2>"$dir/errors" &
pipeline=$!
tries=0
while [ ! -e "$dir/ready" ]; do
	tries=$((tries + 1))
	if [ $tries -gt 100 ] || ! kill -0 "$pipeline" 2>/dev/null; then
		cat "$dir/errors" >&2
		echo "demo: the pipeline did not start" >&2
		exit 1
	fi
	sleep 0.1
done
echo "+ tegratrace -p $pipeline -d $duration   (stand-in pipeline, scenario $scenario)" >&2
# shellcheck disable=SC2086
"$build/tegratrace" --tegrastats "$build/tests/workloads/fake_tegrastats" \
	-p "$pipeline" -d "$duration" ${ARGS:-}
