// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Who waits for whom: as a graph of thread groups, and each edge in a table.
import {WAIT_LABELS} from './colours.js';
import {byTid} from './data.js';
import {el, name, section, svg, visible} from './dom.js';
import {count, duration, percent} from './format.js';
import {table} from './table.js';

const EDGES = 22, NODE_W = 168, NODE_H = 34, GAP_X = 112, GAP_Y = 14, PAD = 8;

const KINDS = {none: 'not seen', kernel: 'kernel', irq: 'interrupt', softirq: 'softirq', timer: 'timer', process: 'other process'};

function wakerNode(edge, groups) {
  const {waker} = edge;
  if (waker.kind === 'thread')
    return {key: `g ${waker.pid} ${groups.get(waker.tid) || waker.name}`, label: groups.get(waker.tid) || waker.name || '?', kind: ''};
  if (waker.kind === 'timer' || waker.kind === 'none')
    return {key: waker.kind, label: KINDS[waker.kind], kind: ''};
  return {key: `${waker.kind} ${waker.name}`, label: waker.name || '?', kind: KINDS[waker.kind]};
}

// Edges between groups, largest first; those of a group with itself are its node's loop.
function collect(report) {
  const groups = byTid(report, 'group');
  const nodes = new Map(), links = new Map();
  for (const edge of report.edges) {
    const from = {key: `g ${edge.pid} ${edge.group}`, label: edge.group, kind: ''}, to = wakerNode(edge, groups);
    const key = `${from.key}\n${to.key}\n${edge.class}`;
    const link = links.get(key) || {from, to, cls: edge.class, ns: 0, count: 0};
    link.ns += edge.ns;
    link.count += edge.count;
    links.set(key, link);
  }
  const kept = [...links.values()].filter((link) => link.ns > 0).sort((a, b) => b.ns - a.ns).slice(0, EDGES);
  for (const link of kept)
    for (const node of [link.from, link.to])
      if (!nodes.has(node.key))
        nodes.set(node.key, {...node, ns: 0});
  for (const link of kept)
    nodes.get(link.from.key).ns += link.ns;
  return {nodes, links: kept};
}

// A column a step of waiting: the heaviest edges lead right, those that would close a cycle go back.
function layer(nodes, links) {
  const next = new Map([...nodes.keys()].map((key) => [key, new Set()]));
  const reaches = (from, to) => {
    const seen = new Set(), stack = [from];
    while (stack.length) {
      const key = stack.pop();
      if (key === to)
        return true;
      if (seen.has(key))
        continue;
      seen.add(key);
      stack.push(...next.get(key));
    }
    return false;
  };
  for (const link of links) {
    link.back = reaches(link.to.key, link.from.key);
    if (!link.back)
      next.get(link.from.key).add(link.to.key);
  }
  const column = new Map([...nodes.keys()].map((key) => [key, 0]));
  for (let changed = true; changed;) {
    changed = false;
    for (const [key, targets] of next)
      for (const target of targets)
        if (column.get(target) <= column.get(key)) {
          column.set(target, column.get(key) + 1);
          changed = true;
        }
  }
  return column;
}

function layout(nodes, links) {
  const column = layer(nodes, links), columns = [];
  for (const [key, at] of column)
    (columns[at] = columns[at] || []).push(key);
  const row = new Map();
  for (const [i, keys] of columns.entries()) {
    const weight = (key) => {
      const before = links.filter((link) => link.to.key === key && row.has(link.from.key) && !link.back);
      return i && before.length ? before.reduce((sum, link) => sum + row.get(link.from.key), 0) / before.length : -nodes.get(key).ns / 1e15;
    };
    keys.map((key) => [weight(key), key]).sort((a, b) => a[0] - b[0]).forEach(([, key], y) => row.set(key, y));
  }
  const tallest = Math.max(...columns.map((keys) => keys.length));
  const place = new Map();
  for (const [key, at] of column) {
    const shift = (tallest - columns[at].length) * (NODE_H + GAP_Y) / 2;
    place.set(key, {x: PAD + at * (NODE_W + GAP_X), y: PAD + 18 + shift + row.get(key) * (NODE_H + GAP_Y)});
  }
  return {place, width: columns.length * (NODE_W + GAP_X) - GAP_X + 2 * PAD + 26, height: tallest * (NODE_H + GAP_Y) + 2 * PAD + 26};
}

// Where edges meet a box they are spread over its side, in the order of their other ends.
function ports(links, place) {
  const sides = [['out', (link) => link.from.key, (link) => link.to.key], ['in', (link) => link.to.key, (link) => link.from.key]];
  for (const [side, own, other] of sides) {
    const boxes = new Map();
    for (const link of links)
      if (!link.back)
        boxes.set(own(link), [...boxes.get(own(link)) || [], link]);
    for (const list of boxes.values()) {
      list.sort((a, b) => place.get(other(a)).y - place.get(other(b)).y);
      list.forEach((link, i) => {
        link[side] = NODE_H * (i + 1) / (list.length + 1);
      });
    }
  }
}

function path(link, a, b) {
  const x1 = a.x + NODE_W, y1 = a.y + (link.out ?? NODE_H / 2), y2 = b.y + (link.in ?? NODE_H / 2);
  if (link.from.key === link.to.key)
    return `M${x1} ${y1 - 8}c26 -14 26 30 0 16`;
  if (link.back) {
    const lift = Math.min(a.y, b.y) - 20;
    return `M${a.x + NODE_W / 2} ${a.y}C${a.x + NODE_W / 2} ${lift} ${b.x + NODE_W / 2} ${lift} ${b.x + NODE_W / 2} ${b.y}`;
  }
  return `M${x1} ${y1}C${x1 + GAP_X / 2} ${y1} ${b.x - GAP_X / 2} ${y2} ${b.x} ${y2}`;
}

const small = ({tid, kind, name: who}) => tid || (who && KINDS[kind]) ? el('small', null, tid ?? KINDS[kind]) : null;

const cut = (text, n) => {
  const shown = [...visible(text)];
  return shown.length > n ? `${shown.slice(0, n - 1).join('')}…` : shown.join('');
};

function graph(report) {
  const {nodes, links} = collect(report);
  if (!links.length)
    return null;
  const {place, width, height} = layout(nodes, links), most = links[0].ns;
  ports(links, place);
  const lines = links.slice().reverse().map((link) => {
    const text = `${link.from.label} waits for ${link.to.label}: ${WAIT_LABELS[link.cls]}, ${duration(link.ns)}, ${count(link.count)} times`;
    return svg('path', {class: `edge e-${link.cls}${link.back ? ' back' : ''}`, d: path(link, place.get(link.from.key), place.get(link.to.key)),
      'stroke-width': 1.5 + 9 * Math.sqrt(link.ns / most)}, svg('title', null, text));
  });
  const boxes = [...nodes].map(([key, node]) => {
    const {x, y} = place.get(key);
    return svg('g', {class: 'node', transform: `translate(${x} ${y})`}, svg('title', null, node.label),
      svg('rect', {width: NODE_W, height: NODE_H, rx: 6}),
      svg('text', {x: 9, y: node.ns || node.kind ? 15 : 21, direction: 'ltr', 'unicode-bidi': 'isolate'}, cut(node.label, 23)),
      node.ns || node.kind ? svg('text', {class: 'small', x: 9, y: 28}, node.ns ? `waits ${duration(node.ns)}` : node.kind) : null);
  });
  const classes = [...new Set(links.map((link) => link.cls))];
  return [el('ul', {class: 'legend'}, classes.map((cls) => el('li', null, el('span', {class: `swatch p-${cls}`}), WAIT_LABELS[cls]))),
    el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Wait graph'},
      svg('svg', {class: 'graph', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
        'aria-label': `Wait graph of ${nodes.size} thread groups; the table of wake-ups says the same`}, lines, boxes))];
}

export function waitGraph(report) {
  const drawn = report.edges && report.edges.length ? graph(report) : null;
  return drawn ? section('graph', ['Who waits for whom', 'Wait graph'],
    `Left waits, right ends the wait; the wider, the longer. The ${EDGES} largest edges between groups of threads; times of several threads add up. Dashed edges close a circle.`, drawn) : null;
}

export function edges(report) {
  if (!report.edges || !report.edges.length)
    return null;
  const all = report.edges.reduce((sum, edge) => sum + edge.ns, 0);
  const names = byTid(report, 'comm');
  const waiter = (edge) => names.get(edge.waiter) ?? edge.group;
  const waker = (edge) => edge.waker.name ?? KINDS[edge.waker.kind] ?? '?';
  const columns = [
    {title: 'Waits', value: waiter, cell: (edge) => [name(waiter(edge)), el('small', null, edge.waiter ?? 'ended')]},
    {title: 'Woken by', value: waker, cell: (edge) => [name(waker(edge)), small(edge.waker)]},
    {title: 'For', value: (edge) => edge.class, cell: (edge) => [el('span', {class: `swatch p-${edge.class}`}), WAIT_LABELS[edge.class] ?? edge.class]},
    {title: 'Where', minor: true, value: (edge) => edge.site, cell: (edge) => edge.site ? [name(edge.site), edge.via ? el('small', null, 'via ', name(edge.via)) : null] : '–'},
    {title: 'Time', number: true, value: (edge) => edge.ns, cell: (edge) => duration(edge.ns)},
    {title: 'Share', number: true, minor: true, value: (edge) => edge.ns, cell: (edge) => percent(edge.ns / all)},
    {title: 'Count', number: true, value: (edge) => edge.count, cell: (edge) => count(edge.count)},
    {title: 'Longest', number: true, minor: true, value: (edge) => edge.max_ns, cell: (edge) => duration(edge.max_ns)},
  ];
  return section('edges', 'Wake-ups', 'Each kind of wait: which thread, what ended it, and why it waited.',
    table(report.edges, columns, {sort: 4, caption: 'Wake-ups',
      text: (edge) => `${waiter(edge)} ${waker(edge)} ${edge.class} ${edge.site ?? ''} ${edge.waiter ?? ''} ${edge.waker.tid ?? ''}`}));
}
