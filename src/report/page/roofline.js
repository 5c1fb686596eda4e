// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The roofline: every ceiling of the board, and where the workload stands below them.
import {el, name, section, svg} from './dom.js';
import {digits, known, percent, si} from './format.js';

const WIDTH = 760, HEIGHT = 400, LEFT = 62, RIGHT = 132, TOP = 14, BOTTOM = 44;

const log = Math.log10;

function ceilings({report, board}) {
  const {roofline} = report;
  const list = (board.ceilings || []).filter((entry) => known(entry.value));
  const flops = list.filter((entry) => entry.unit === 'FLOP/s');
  const dram = list.filter((entry) => entry.unit === 'B/s');
  if (!flops.length && known(roofline.peak_flops))
    flops.push({name: roofline.precision, value: roofline.peak_flops});
  if (!dram.length && known(roofline.peak_bw))
    dram.push({name: 'dram-theoretical', value: roofline.peak_bw});
  return {flops, dram};
}

const dramLabel = (entry) => entry.name === 'dram-practical' ? 'DRAM, practical' : 'DRAM';

function scales({flops, dram}, point) {
  const peak = Math.max(...flops.map((entry) => entry.value));
  const low = Math.min(...flops.map((entry) => entry.value));
  const bw = Math.max(...dram.map((entry) => entry.value));
  const placed = known(point.intensity) && known(point.flops) && point.intensity > 0 && point.flops > 0;
  let x0 = low / bw / 30, x1 = peak / bw * 12;
  let y0 = low / 60, y1 = peak * 2.2;
  if (placed) {
    x0 = Math.min(x0, point.intensity / 3);
    x1 = Math.max(x1, point.intensity * 3);
    y0 = Math.min(y0, point.flops / 3);
    y1 = Math.max(y1, point.flops * 2);
  }
  return {x0, x1, y0, y1, peak, bw, placed,
    x: (v) => LEFT + (log(v) - log(x0)) / (log(x1) - log(x0)) * (WIDTH - LEFT - RIGHT),
    y: (v) => HEIGHT - BOTTOM - (log(v) - log(y0)) / (log(y1) - log(y0)) * (HEIGHT - TOP - BOTTOM)};
}

const decades = (from, to) => {
  const list = [];
  for (let e = Math.ceil(log(from)); e <= Math.floor(log(to)); e++)
    list.push(10 ** e);
  return list;
};

function frame(s) {
  return [
    decades(s.x0, s.x1).map((v) => [svg('line', {class: 'grid', x1: s.x(v), x2: s.x(v), y1: TOP, y2: HEIGHT - BOTTOM}),
      svg('text', {x: s.x(v), y: HEIGHT - BOTTOM + 17, 'text-anchor': 'middle'}, digits(v))]),
    decades(s.y0, s.y1).map((v) => [svg('line', {class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: s.y(v), y2: s.y(v)}),
      svg('text', {x: LEFT - 7, y: s.y(v) + 4, 'text-anchor': 'end'}, si(v, ''))]),
    svg('text', {x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, 'text-anchor': 'middle'}, 'Arithmetic intensity, FLOP/byte'),
    svg('text', {x: 14, y: (TOP + HEIGHT - BOTTOM) / 2, 'text-anchor': 'middle',
      transform: `rotate(-90 14 ${(TOP + HEIGHT - BOTTOM) / 2})`}, 'FLOP/s'),
  ];
}

// Labels at the right end of the flat roofs, kept a line of text apart.
function roofs(s, flops, chosen) {
  let last = -Infinity;
  return flops.slice().sort((a, b) => b.value - a.value).map((entry) => {
    const y = s.y(entry.value), from = Math.max(s.x0, entry.value / s.bw), own = entry.name === chosen;
    const at = Math.max(y + 4, last + 14);
    last = at;
    return [svg('line', {class: own ? 'roof own' : 'roof', x1: s.x(from), x2: WIDTH - RIGHT, y1: y, y2: y}),
      known(entry.largest_mode) && entry.largest_mode > entry.value * 1.01 && entry.largest_mode < s.y1 &&
        own ? [svg('line', {class: 'roof largest', x1: LEFT, x2: WIDTH - RIGHT, y1: s.y(entry.largest_mode), y2: s.y(entry.largest_mode)}),
          svg('text', {class: 'largest', x: LEFT + 8, y: s.y(entry.largest_mode) - 5}, `${entry.name} in the largest power mode ${si(entry.largest_mode, '')}`)] : null,
      svg('text', {class: own ? 'own' : null, x: WIDTH - RIGHT + 6, y: at}, `${entry.name || 'peak'} ${si(entry.value, '')}`)];
  });
}

function slopes(s, dram) {
  return dram.map((entry) => {
    const end = Math.min(s.x1, s.peak / entry.value), from = Math.max(s.x0, s.y0 / entry.value);
    const practical = entry.name === 'dram-practical';
    const angle = Math.atan2(s.y(end * entry.value) - s.y(from * entry.value), s.x(end) - s.x(from)) * 180 / Math.PI;
    const at = 10 ** (log(from) + (log(end) - log(from)) * (practical ? 0.36 : 0.3));
    const x = s.x(at), y = s.y(at * entry.value) + (practical ? 15 : -6);
    return [svg('line', {class: practical ? 'dram practical' : 'dram', x1: s.x(from), y1: s.y(from * entry.value),
      x2: s.x(end), y2: s.y(end * entry.value)}),
    svg('text', {class: 'dram', x, y, transform: `rotate(${angle} ${x} ${y})`}, `${dramLabel(entry)} ${si(entry.value, 'B/s')}`)];
  });
}

function place(s, point) {
  if (!s.placed)
    return null;
  const x = s.x(point.intensity), y = s.y(point.flops), right = x < WIDTH * 0.55;
  const roof = Math.min(s.peak, point.intensity * s.bw);
  return [svg('line', {class: 'drop', x1: x, x2: x, y1: y, y2: s.y(roof)}),
    svg('circle', {class: 'point', cx: x, cy: y, r: 7}),
    svg('text', {class: 'point', x: x + (right ? 13 : -13), y: y + 5, 'text-anchor': right ? 'start' : 'end'},
      known(point.share_of_roof) ? `${percent(point.share_of_roof)} of the roof` : 'this workload')];
}

export function roofline(data) {
  const {report} = data;
  if (!report.roofline)
    return report.roofline_notes.length ? section('roofline', 'Roofline', null,
      el('ul', null, report.roofline_notes.map((note) => el('li', null, name(note))))) : null;
  const {point, precision, ridge} = report.roofline, roof = ceilings(data);
  const notes = el('ul', {class: 'notes'}, report.roofline_notes.map((note) => el('li', null, name(note))));
  if (!roof.flops.length || !roof.dram.length)
    return section('roofline', 'Roofline', 'The ceilings of this board are not known, so there is no picture.', notes);
  const s = scales(roof, point || {});
  const words = [precision && `Precision ${precision}`, known(ridge) && `ridge at ${digits(ridge)} FLOP/byte`,
    s.placed && `this workload: ${digits(point.intensity)} FLOP/byte, ${si(point.flops, 'FLOP/s')}`,
    point && known(point.share_of_roof) && `${percent(point.share_of_roof)} of the roof above it`,
    point && point.bound].filter(Boolean).join('; ');
  return section('roofline', 'Roofline', `${words}.`,
    el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Roofline'},
      svg('svg', {class: 'roofline', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `Roofline. ${words}`},
        frame(s), slopes(s, roof.dram), roofs(s, roof.flops, precision), place(s, point || {}))),
    s.placed ? null : el('p', {class: 'note'}, 'Without the work and the time of an item there is no point: --model or --gflop, with --fps or --latency.'),
    notes);
}
