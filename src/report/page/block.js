// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Latencies of block requests.
import {el, name, section, svg} from './dom.js';
import {bytes, count, duration} from './format.js';

const WIDTH = 300, HEIGHT = 96, BASE = 78;

const bound = (i) => i ? 256 * 2 ** i : 0;

// Both histograms on the same buckets, from the first to the last that holds a request.
function histogram(row) {
  const {queue: {hist: queue}, device_lat: {hist: device}} = row;
  const used = device.map((n, i) => n + (queue[i] || 0) > 0 ? i : -1).filter((i) => i >= 0);
  if (!used.length)
    return null;
  const first = used[0], n = used[used.length - 1] - first + 1, most = Math.max(...device, ...queue);
  const step = Math.min(26, WIDTH / n), width = Math.max(2, step / 2 - 1.5);
  const bars = (hist, cls, shift) => hist.slice(first, first + n).map((value, i) => {
    const h = value ? Math.max(2, value / most * (BASE - 8)) : 0;
    return value ? svg('rect', {class: cls, x: i * step + shift, y: BASE - h, width, height: h},
      svg('title', null, `${duration(bound(first + i))} to ${duration(bound(first + i + 1))}: ${count(value)}`)) : null;
  });
  const labels = [0, n].map((i) => svg('text', {x: Math.min(i * step, WIDTH), y: HEIGHT - 3,
    'text-anchor': i && n * step > WIDTH - 60 ? 'end' : i ? 'middle' : 'start'}, duration(bound(first + i))));
  return svg('svg', {class: 'hist', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'Histogram of latencies'},
    svg('line', {class: 'axis', x1: 0, x2: WIDTH, y1: BASE, y2: BASE}), bars(queue, 'queue', 0), bars(device, 'device', step / 2), n * step > 90 ? labels : labels[0]);
}

export function block(report) {
  if (!report.block || !report.block.length)
    return null;
  const cards = report.block.filter((row) => row.count || row.device_lat.count).map((row) => el('div', {class: 'card'},
    el('h3', null, name(row.device), ` ${row.op}`, el('small', null, row.submitter === 'target' ? 'of the target' : 'of others')),
    histogram(row),
    el('p', null, `${count(row.count)} requests, ${bytes(row.bytes)}`),
    el('table', null, el('thead', null, el('tr', null, ['', 'p50', 'p99', 'longest'].map((title) => el('th', {scope: 'col'}, title)))),
      el('tbody', null, [['queue', 'queued', row.queue], ['device', 'device', row.device_lat]].map(([cls, title, latency]) =>
        el('tr', null, el('th', {scope: 'row'}, el('span', {class: `swatch ${cls}`}), title),
          ['p50_ns', 'p99_ns', 'max_ns'].map((key) => el('td', {class: 'number'}, duration(latency[key])))))))));
  return cards.length ? section('block', ['Block I/O latency', 'Block I/O'], 'Requests by latency, every bar twice as long as the one before it.',
    el('div', {class: 'cards'}, cards)) : null;
}
