// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rest of the report in tables, and how all of it was measured.
import {el, name, section} from './dom.js';
import {bytes, count, digits, duration, known, percent} from './format.js';
import {table} from './table.js';
import {byTid, traced} from './data.js';

export function holders(report) {
  if (!report.cpu_holders || !report.cpu_holders.length)
    return null;
  const waiter = byTid(report, 'comm');
  const kinds = {own: 'of the target', kernel: 'kernel', idle: 'the CPU was idle', ended: 'ended', others: 'all others'};
  const holder = ({holder: h}) => h.name ?? kinds[h.kind] ?? '–';
  return section('holders', ['Who had the CPU meanwhile', 'CPU holders'], 'While a thread waited in the run queue: what ran on that CPU before it.',
    table(report.cpu_holders, [
      {title: 'Waited', value: (row) => waiter.get(row.waiter) ?? row.group, cell: (row) => [name(waiter.get(row.waiter) ?? row.group), el('small', null, row.waiter ?? 'ended')]},
      {title: 'Had the CPU', value: holder, cell: (row) => [name(holder(row)),
        el('small', null, row.holder.process ? [name(row.holder.process), ` ${row.holder.pid}`] : kinds[row.holder.kind] ?? '')]},
      {title: 'Policy', minor: true, value: (row) => row.holder.policy, cell: (row) => row.holder.policy ? `${row.holder.policy}${row.holder.rt_priority ? ` ${row.holder.rt_priority}` : ''}` : '–'},
      {title: 'Time', number: true, value: (row) => row.ns, cell: (row) => duration(row.ns)},
      {title: 'Share', number: true, value: (row) => row.share, cell: (row) => percent(row.share)},
      {title: 'Count', number: true, minor: true, value: (row) => row.count, cell: (row) => count(row.count)},
    ], {sort: 3, caption: 'Who had the CPU', text: (row) => `${waiter.get(row.waiter) ?? row.group} ${holder(row)} ${row.holder.process ?? ''}`}));
}

export function cuda(report) {
  const calls = report.cuda ? Object.entries(report.cuda.calls).filter(([, call]) => call && call.calls > 0) : [];
  const it = report.cuda ? report.cuda.iterations : {};
  if (!calls.length && !known(it.count))
    return null;
  const times = it.count > 1 ? `, median ${duration(it.p50_ns)}, 99th percentile ${duration(it.p99_ns)}` : '';
  const notes = [it.note, report.cuda.note].filter(Boolean).map((note) => el('p', null, name(note)));
  return section('cuda', ['CUDA calls', 'CUDA'], known(it.count) ? `${count(it.count)} iterations${times}.` : null, notes,
    calls.length ? table(calls, [
      {title: 'Call', value: ([key]) => key, cell: ([key]) => key.replaceAll('_', ' ')},
      {title: 'Calls', number: true, value: ([, call]) => call.calls, cell: ([, call]) => count(call.calls)},
      {title: 'Time inside', number: true, value: ([, call]) => call.ns, cell: ([, call]) => duration(call.ns)},
      {title: 'Of it on a CPU', number: true, value: ([, call]) => call.oncpu_ns, cell: ([, call]) => duration(call.oncpu_ns)},
      {title: 'Copied', number: true, minor: true, value: ([, call]) => call.bytes, cell: ([, call]) => bytes(call.bytes)},
    ], {sort: 2, caption: 'CUDA calls'}) : null);
}

export function faults(report) {
  const sites = report.faults ? report.faults.sites : [];
  if (!sites.length)
    return null;
  return section('faults', ['Page faults by mapping', 'Faults'], `${count(report.faults.minor)} minor, ${count(report.faults.major)} major, of them ${count(report.faults.swap_ins)} swap-ins.`,
    table(sites, [
      {title: 'Mapping', value: (site) => site.mapping, cell: (site) => [name(site.mapping), el('small', null, site.kind)]},
      {title: 'Threads', value: (site) => site.group, cell: (site) => [name(site.group), el('small', null, site.tid ?? '')]},
      {title: 'Major', number: true, value: (site) => site.major, cell: (site) => count(site.major)},
      {title: 'Minor', number: true, value: (site) => site.minor, cell: (site) => count(site.minor)},
    ], {sort: 2, caption: 'Page faults', text: (site) => `${site.mapping} ${site.group} ${site.kind}`}));
}

export function sensors({tegra}) {
  const temps = Object.entries(tegra.temps), power = Object.entries(tegra.power);
  if (!temps.length && !power.length)
    return null;
  const one = (title, rows, columns) => rows.length ? el('div', {class: 'card'}, table(rows, [
    {title, value: ([key]) => key, cell: ([key]) => name(key)},
    {title: 'Mean', number: true, value: ([, v]) => v.mean, cell: ([, v]) => columns(v.mean)},
    {title: 'Highest', number: true, value: ([, v]) => v.max, cell: ([, v]) => columns(v.max)}], {sort: 2, caption: title})) : null;
  return section('sensors', ['Temperatures and rails', 'Sensors'], null, el('div', {class: 'cards'},
    one('Zone', temps, (c) => known(c) ? `${digits(c)} °C` : '–'), one('Rail', power, (mw) => known(mw) ? `${digits(mw / 1000)} W` : '–')));
}

export function processes(report) {
  if (!report.top_processes || !report.top_processes.length)
    return null;
  return section('processes', ['Other processes', 'Processes'], 'Outside the target, those that used most CPU time; 100 % is one CPU.',
    table(report.top_processes, [
      {title: 'Process', value: (row) => row.comm, cell: (row) => [name(row.comm), el('small', null, row.pid)]},
      {title: 'CPU', number: true, value: (row) => row.cpu_share, cell: (row) => percent(row.cpu_share)}], {sort: 1, caption: 'Other processes'}));
}

function losses(report) {
  const lost = Object.entries(report.losses).filter(([, n]) => n);
  return [el('h3', null, 'Losses'), lost.length ?
    el('ul', null, lost.map(([key, n]) => el('li', null, `${key.replaceAll('_', ' ')}: ${count(n)}`))) :
    el('p', null, 'Nothing that was measured got lost.')];
}

function missing({capability: {missing: list}}) {
  return list.length ? [el('h3', null, 'Not measured here'), el('dl', {class: 'missing'}, list.map(({what, why}) =>
    [el('dt', null, name(what)), el('dd', null, name(why))]))] : null;
}

function cost({overhead: o}) {
  const parts = [known(o.cpu_share) && `${percent(o.cpu_share)} of one CPU`, known(o.ns_per_switch) && `${digits(o.ns_per_switch)} ns a context switch`,
    known(o.rss_bytes) && `${bytes(o.rss_bytes)} of memory`].filter(Boolean);
  return parts.length ? [el('h3', null, 'What measuring cost'), el('p', null, `${parts.join(', ')}.`)] : null;
}

const HOW = {
  btf: 'Context switches and wake-ups were counted in the kernel, each one, by BPF programs with the kernel\'s type data; nothing of it is sampled.',
  raw: 'Context switches and wake-ups were counted in the kernel, each one, by BPF programs with type data from a file; nothing of it is sampled.',
  tracepoint: 'Context switches and wake-ups were counted in the kernel, each one, by BPF programs on classic tracepoints; nothing of it is sampled.',
  perf: 'Context switches and wake-ups were read from the kernel\'s event rings, each one; nothing of it is sampled.',
  proc: 'Threads were polled in /proc: times are sampled, and short waits are missed.',
};

function how(report) {
  const {rung} = report.capability, {tegra, waits} = report;
  const sentences = [traced(report) ? HOW[rung] : 'This is a verdict from a log alone: threads were not traced.',
    tegra.state !== 'none' && known(tegra.samples) && `GPU, memory controller, clocks, temperatures and power are ${count(tegra.samples)} samples${known(tegra.interval_ms) ? ` about ${digits(tegra.interval_ms)} ms apart` : ''}.`,
    waits && waits.ns > 0 && `${percent(waits.with_stack_ns / waits.ns)} of the sleep has a kernel stack; ${percent(waits.estimated_ns / waits.ns)} was judged by other sleeps of the same kind.`,
    'GPU load is of the whole GPU: a Jetson does not say whose it is.',
    tegra.note].filter(Boolean);
  return el('p', null, name(sentences.join(' ')));
}

function rules({verdict: {rules: list}}) {
  const figure = (value) => known(value) ? digits(value) : '–';
  return list.length ? el('details', null, el('summary', null, `Rules of the diagnosis (${list.filter((rule) => rule.fired).length} of ${list.length} fired)`),
    table(list, [
      {title: 'Rule', value: (rule) => rule.name, cell: (rule) => name(rule.name ?? '')},
      {title: 'Fired', value: (rule) => rule.fired ? 1 : 0, cell: (rule) => rule.fired ? 'yes' : 'no'},
      {title: 'Value', number: true, value: (rule) => rule.value, cell: (rule) => figure(rule.value)},
      {title: 'Threshold', number: true, value: (rule) => rule.threshold, cell: (rule) => `${rule.at_least ? '≥' : '<'} ${figure(rule.threshold)}`},
      {title: 'Why', minor: true, cell: (rule) => name(rule.reason ?? '')}], {sort: 1, caption: 'Rules', text: (rule) => `${rule.name} ${rule.reason}`})) : null;
}

export function method(report) {
  return section('method', ['How this was measured', 'Method'], null, how(report), missing(report), losses(report), cost(report), rules(report));
}

export function foot() {
  const licences = el('pre');
  licences.textContent = document.getElementById('licences').textContent;
  return [el('p', null, 'Made by tegratrace. This file holds all of its data and asks for nothing else; it may be kept and passed on.'),
    el('details', null, el('summary', null, 'Licences of the libraries inside'), licences)];
}
