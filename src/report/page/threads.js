// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Where each thread's time went.
import {PARTS, PART_LABELS} from './colours.js';
import {parts, traced} from './data.js';
import {el, name, section} from './dom.js';
import {count, duration, known, percent} from './format.js';
import {table} from './table.js';

// A bar of the whole: every part as wide as its share. The text says the same.
export function bar(shares, labels = PART_LABELS) {
  const total = Object.values(shares).reduce((sum, ns) => sum + ns, 0);
  const present = PARTS.filter((part) => shares[part] > 0);
  const text = present.map((part) => `${labels[part]} ${percent(shares[part] / total)}`).join(', ');
  return el('span', {class: 'bar', role: 'img', 'aria-label': text || 'nothing', title: text},
    total ? present.map((part) => el('span', {class: `p-${part}`, style: {width: `${shares[part] / total * 100}%`}})) : null);
}

export function legend(present) {
  return el('ul', {class: 'legend'}, PARTS.filter((part) => present.has(part)).map((part) =>
    el('li', null, el('span', {class: `swatch p-${part}`}), PART_LABELS[part])));
}

const share = (value, wall) => known(value) && known(wall) && wall > 0 ? value / wall : null;

export function threads(report) {
  if (!traced(report))
    return null;
  const limiting = new Set(report.verdict.threads), present = new Set();
  const rows = report.threads.map((thread) => {
    const own = parts(thread);
    Object.keys(own).forEach((part) => present.add(part));
    const runq = known(thread.runq_wake_ns) ? thread.runq_wake_ns + (thread.runq_preempt_ns || 0) : null;
    return {...thread, own, runq_ns: runq, limits: thread.tid !== null && limiting.has(thread.tid)};
  });
  if (!rows.length)
    return section('threads', 'Threads', 'No thread of the target was seen in the window.');
  const label = (row) => row.folded > 1 ? [name(row.group), el('small', null, `${row.folded} that ended`)] :
    [name(row.comm), row.limits ? el('small', {class: 'limits'}, 'limits') : row.exited ? el('small', null, 'ended') : null];
  const columns = [
    {title: 'Thread', value: (row) => row.comm, cell: label},
    {title: 'TID', number: true, minor: true, value: (row) => row.tid, cell: (row) => row.tid ?? '–'},
    {title: 'Where its time went', wide: true, cell: (row) => bar(row.own)},
    {title: 'On CPU', number: true, value: (row) => row.oncpu_ns, cell: (row) => percent(share(row.oncpu_ns, row.wall_ns))},
    {title: 'Run queue', number: true, value: (row) => row.runq_ns, cell: (row) => percent(share(row.runq_ns, row.wall_ns))},
    {title: 'Asleep', number: true, value: (row) => row.offcpu_ns, cell: (row) => percent(share(row.offcpu_ns, row.wall_ns))},
    {title: 'Delay p99', number: true, minor: true, value: (row) => row.runq.p99_ns, cell: (row) => duration(row.runq.p99_ns)},
    {title: 'Switches', number: true, minor: true, value: (row) => total(row.switches), cell: (row) => count(total(row.switches))},
    {title: 'Major faults', number: true, minor: true, value: (row) => row.faults.major, cell: (row) => count(row.faults.major)},
    {title: 'Wall', number: true, minor: true, value: (row) => row.wall_ns, cell: (row) => duration(row.wall_ns)},
  ];
  return section('threads', 'Threads', 'Every nanosecond of a thread in the window is in exactly one part of its bar.',
    legend(present), table(rows, columns, {sort: 3, caption: 'Threads',
      text: (row) => `${row.comm} ${row.group} ${row.tid ?? ''} ${row.pid}`}));
}

const total = ({voluntary, involuntary}) => known(voluntary) ? voluntary + (involuntary || 0) : null;
