// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which curves there are to draw: each a title, its points, its scale and its lines.
import {WAITS, WAIT_LABELS, colour, line} from './colours.js';
import {css, visible} from './dom.js';
import {digits, known, percent, si} from './format.js';

// Thresholds of the diagnosis: a GPU above the first is saturated, a memory controller above the other.
const GPU_SATURATED = 0.9, EMC_SATURATED = 0.75;

const has = (values) => Array.isArray(values) && values.some((value) => known(value));

const fromZero = (least) => (u, min, max) => [0, Math.max(least, known(max) ? max * 1.08 : least)];

const shares = () => [0, 1.02];

function curve(label, i, values, show, more) {
  return {label, values, opts: {label: visible(label), stroke: typeof i === 'number' ? line(i) : i, width: 1.5, points: {size: 4},
    value: (u, v) => v === null || v === undefined ? '–' : show(v), ...more}};
}

function chart(id, title, x, curves, more) {
  const kept = curves.filter((entry) => has(entry.values));
  return kept.length && x.s.length ? {id, title, undated: x.undated, data: [x.s, ...kept.map((entry) => entry.values)],
    series: kept.map((entry) => entry.opts), shape: id + kept.map((entry) => entry.label).join(), ...more} : null;
}

// Areas one on the other; the legend shows each one's own value.
function stacked(id, title, x, layers, show, more) {
  const kept = layers.filter((layer) => has(layer.values) && layer.values.some((value) => value > 0));
  if (!kept.length || !x.s.length)
    return null;
  const sums = [];
  const total = new Array(x.s.length).fill(0);
  for (const layer of kept)
    sums.push(layer.values.map((value, i) => {
      total[i] += value || 0;
      return total[i];
    }));
  const top = kept.length - 1;
  const opts = kept.map((layer, i) => ({label: layer.label, stroke: layer.colour, fill: i ? null : layer.colour, width: 1,
    points: {show: false}, value: (u, v, si, idx) => idx === null || idx === undefined ? '–' : show(layer.values[idx])}));
  return {id, title, undated: x.undated, data: [x.s, ...sums], series: opts,
    bands: kept.slice(1).map((layer, i) => ({series: [i + 2, i + 1], fill: layer.colour})),
    shape: id + top + kept.map((layer) => layer.label).join(), ...more};
}

// Seconds of the points, or their numbers where nothing dates them.
function axis(t_ms, length) {
  if (t_ms.length && t_ms.every((t) => known(t)))
    return {s: t_ms.map((t) => t / 1000), undated: false};
  return {s: Array.from({length: length || t_ms.length}, (_, i) => i), undated: true};
}

const level = (value, label, name) => ({value, label, colour: css(name)});

function gpuUse(x, series) {
  return chart('use', 'GPU and memory controller', x, [
    curve('GPU', 0, series.gpu_busy, percent), curve('EMC', 1, series.emc_busy, percent)], {
    unit: 'share of time busy', range: shares, tick: (v) => `${Math.round(v * 100)} %`,
    levels: [has(series.gpu_busy) && level(GPU_SATURATED, 'GPU saturated 90 %', '--l-0'),
      has(series.emc_busy) && level(EMC_SATURATED, 'EMC saturated 75 %', '--l-1')].filter(Boolean)});
}

function clocks(x, series, tegra) {
  const mhz = (v) => `${Math.round(v)} MHz`;
  const caps = [
    has(series.gpu_mhz) && level(tegra.gpu.cap_mhz, `GPU cap ${digits(tegra.gpu.cap_mhz, 4)}`, '--l-0'),
    has(series.emc_mhz) && level(tegra.emc.cap_mhz, `EMC cap ${digits(tegra.emc.cap_mhz, 4)}`, '--l-1')].filter(Boolean);
  const least = Math.max(1, ...caps.map(({value}) => known(value) ? value * 1.12 : 0));
  return chart('clocks', 'Clocks', x, [curve('GPU', 0, series.gpu_mhz, mhz), curve('EMC', 1, series.emc_mhz, mhz)], {
    unit: 'MHz', range: fromZero(least), tick: (v) => String(v), levels: caps});
}

function temperature(x, series, board) {
  const trips = board.trips || {}, levels = [];
  const degrees = (v) => `${digits(v)} °C`;
  const add = (value, what) => {
    if (known(value) && value > 0 && !levels.some((other) => other.value === value))
      levels.push(level(value, `${what} ${digits(value)} °C`, what === 'shut-down' ? '--bad' : '--warn'));
  };
  add(trips.throttle_c, 'throttles at');
  add(trips.sw_gpu_c, 'throttles at');
  add(trips.sw_cpu_c, 'CPU throttles at');
  add(trips.shutdown_c, 'shut-down');
  const curves = Object.entries(series.temps).map(([zone, values], i) =>
    curve(zone === 'hottest' ? 'hottest zone' : zone, i === 0 ? 3 : i + 3, values, degrees));
  // The trips are shown when they are near enough to leave the curve its detail.
  const high = Math.max(...(levels.length ? levels.map(({value}) => value) : [0]));
  return chart('temperature', 'Temperature', x, curves, {unit: '°C',
    range: (u, min, max) => known(max) ? [Math.floor(Math.min(min, 90) / 10) * 10 - 5, Math.max(max + 5, high + 9)] : [0, 100],
    tick: (v) => String(v), levels});
}

const power = (x, series) => chart('power', 'Power', x, [
  curve('input', 2, (series.power_mw || []).map((v) => known(v) ? v / 1000 : null), (v) => `${digits(v)} W`)], {
  unit: 'W', range: fromZero(1), tick: (v) => String(v)});

function memory(x, series) {
  const show = (v) => `${digits(v)} GiB`;
  const gib = (values) => (values || []).map((v) => known(v) ? v / 1024 : null);
  return chart('memory', 'Memory', x, [curve('RAM', 4, gib(series.ram_mb), show), curve('swap', 5, gib(series.swap_mb), show)], {
    unit: 'GiB used', range: fromZero(0.1), tick: (v) => digits(v)});
}

function cpuLoad(x, host, fallback) {
  const cpus = host ? Object.entries(host.cpus || {}) : [];
  if (cpus.length)
    return chart('cpus', 'CPU load per core', x, cpus.map(([id, values], i) =>
      curve(`CPU ${id}`, i, values, percent, i > 7 ? {dash: i > 15 ? [2, 2] : [5, 3]} : {})), {
      unit: 'share of time busy', range: shares, tick: (v) => `${Math.round(v * 100)} %`});
  return chart('cpus', 'Busiest CPU core', fallback.x, [curve('busiest core', 5, fallback.series.core_max, percent)], {
    unit: 'share of time busy', range: shares, tick: (v) => `${Math.round(v * 100)} %`});
}

const threadsNow = (v) => `${digits(v)} threads`;

const running = (x, host) => chart('running', 'Threads that run or want to', x, [
  curve('on CPU', colour('work'), host.oncpu, threadsNow), curve('in the run queue', colour('runq'), host.runq, threadsNow),
  curve('stopped', colour('stopped'), host.stopped, threadsNow)], {
  unit: 'of the target, on average', range: fromZero(1), tick: (v) => digits(v)});

function asleep(x, host) {
  const classes = Object.keys(host.offcpu || {});
  const ordered = [...WAITS.filter((cls) => classes.includes(cls)), ...classes.filter((cls) => !WAITS.includes(cls))];
  // Where only the disk is told apart.
  const rest = classes.every((cls) => cls === 'disk' || cls === 'other') ? 'anything but the disk' : WAIT_LABELS.other;
  return stacked('asleep', 'Threads asleep, by what they wait for', x, ordered.map((cls) => ({
    label: cls === 'other' ? rest : WAIT_LABELS[cls] || cls, colour: colour(WAITS.includes(cls) ? cls : 'other'), values: host.offcpu[cls]})), threadsNow, {
    unit: 'of the target, on average', range: fromZero(1), tick: (v) => digits(v)});
}

const io = (x, host) => chart('io', 'Block I/O', x, [
  curve('read', 1, host.read_bytes, (v) => si(v, 'B/s')), curve('written', 4, host.write_bytes, (v) => si(v, 'B/s'))], {
  unit: 'bytes a second', range: fromZero(4000), tick: (v) => si(v, 'B')});

const faults = (x, host) => chart('faults', 'Page faults', x, [
  curve('minor', 2, host.minor_faults, (v) => `${digits(v)}/s`),
  curve('major', 3, host.major_faults, (v) => `${digits(v)}/s`, {scale: 'right'})], {
  unit: 'a second; major ones, with I/O, on the right', range: fromZero(10), tick: (v) => v >= 1e4 ? `${digits(v / 1e3)} k` : digits(v),
  right: {range: fromZero(5), tick: (v) => digits(v)}});

// The faults of the report stand in where the series has no host part.
function faultHost(report) {
  const points = report.faults && report.faults.series;
  if (!points)
    return null;
  const s = points.interval_ns / 1e9;
  return {t_ms: points.minor.map((_, i) => i * s * 1e3), minor_faults: points.minor.map((n) => n / s),
    major_faults: points.major.map((n) => n / s)};
}

function faultChart(report, host, x) {
  if (host && (has(host.minor_faults) || has(host.major_faults)))
    return faults(x, host);
  const instead = faultHost(report);
  return instead && faults(axis(instead.t_ms), instead);
}

export function charts({report, series, board}) {
  const x = axis(series.t_ms, (series.gpu_busy || []).length), {host} = series;
  const hx = host ? axis(host.t_ms || []) : {s: [], undated: false};
  const list = [
    gpuUse(x, series), clocks(x, series, report.tegra), temperature(x, series, board), power(x, series),
    cpuLoad(hx, host, {x, series}), host && running(hx, host), host && asleep(hx, host), host && io(hx, host),
    faultChart(report, host, hx), memory(x, series)].filter(Boolean);
  // One axis for all: samples without dates cannot stand beside seconds.
  return list.every((spec) => spec.undated) ? list : list.filter((spec) => !spec.undated);
}

