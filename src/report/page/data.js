// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The object that came with the page, and what several sections ask of it.
import {known} from './format.js';

export function embedded() {
  return JSON.parse(document.getElementById('data').textContent);
}

export function normal(data) {
  const series = data.series || {};
  return {
    report: data.report,
    board: data.board || {},
    series: {...series, t_ms: series.t_ms || [], temps: series.temps || {}, host: series.host || null},
  };
}

export const traced = (report) => report.capability.rung !== null;

// Parts of a thread's wall time in ns; what is not known has no part.
export function parts(thread) {
  const result = {};
  const put = (key, ns) => {
    if (known(ns) && ns > 0)
      result[key] = ns;
  };
  const samples = thread.oncpu_samples;
  const spin = known(thread.gpu_spin_ns) ? thread.gpu_spin_ns : 0;
  const otherSpin = samples && samples.total && known(samples.spin) ?
    (thread.oncpu_ns || 0) * samples.spin / samples.total : 0;
  const spinning = Math.min(thread.oncpu_ns || 0, spin + otherSpin);
  put('work', (thread.oncpu_ns || 0) - spinning);
  put('spin', spinning);
  put('runq', (thread.runq_wake_ns || 0) + (thread.runq_preempt_ns || 0));
  let classified = 0;
  for (const [cls, ns] of Object.entries(thread.wait || {})) {
    put(cls, ns);
    classified += known(ns) ? ns : 0;
  }
  if (known(thread.offcpu_ns) && thread.offcpu_ns > classified)
    result.other = (result.other || 0) + thread.offcpu_ns - classified;
  put('stopped', thread.stopped_ns);
  put('unknown', thread.unknown_ns);
  return result;
}

// What threads are called. A row of several ended ones has no TID and is nobody's: its group is its name.
export const byTid = (report, key) =>
  new Map(report.threads.filter(({tid}) => tid !== null).map((thread) => [thread.tid, thread[key]]));

// The phases in seconds since the window's begin, or the whole window as one.
export function phases(report, end_s) {
  const dated = (report.phases || []).filter((phase) => known(phase.start_ns) && known(phase.end_ns));
  if (dated.length)
    return dated.map((phase) => ({name: phase.name, verdict: phase.verdict,
      from: phase.start_ns / 1e9, to: phase.end_ns / 1e9}));
  return [{name: 'whole run', verdict: report.verdict.class, from: 0, to: end_s}];
}
