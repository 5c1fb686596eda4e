// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Flame graphs: where threads slept, and what they ran.
import {select} from 'd3-selection';
import flamegraph from 'd3-flame-graph';

import {WAIT_LABELS, colour} from './colours.js';
import {css, el, newId, section, visible} from './dom.js';
import {duration, percent} from './format.js';

const CELL = 20, LEAST_PX = 1;

// Adds a path of [name, class] to the tree; every node holds what is below it.
function add(root, path, value) {
  let node = root;
  node.value += value;
  for (const [label, cls] of path) {
    node.index = node.index || new Map();
    let child = node.index.get(label);
    if (!child) {
      child = {name: visible(label), value: 0, cls};
      node.index.set(label, child);
      (node.children = node.children || []).push(child);
    }
    child.value += value;
    node = child;
  }
}

function offCpu(stacks) {
  const root = {name: 'all sleep with a stack', value: 0};
  for (const {group, class: cls, frames, ns} of stacks)
    if (ns > 0)
      add(root, [[group], [WAIT_LABELS[cls] ?? cls, cls], ...frames.map((frame) => [frame, cls])], ns);
  return root;
}

// A sample stands for 1/99 s.
function onCpu(samples) {
  const root = {name: 'all samples', value: 0};
  for (const {group, library, function: fn, kernel, kind, samples: n} of samples) {
    const cls = kind === 'work' ? 'work' : 'spin';
    const path = [[group]];
    if (kind !== 'work')
      path.push([kind === 'gpu-spin' ? 'spins for the GPU' : 'spins', cls]);
    path.push([library || '[unknown]', cls]);
    if (fn)
      path.push([fn, cls]);
    if (kernel)
      path.push([`${kernel}_[k]`, cls]);
    if (n > 0)
      add(root, path, n * 1e9 / 99);
  }
  return root;
}

// A tint of the class's colour, so light (or dark) that the text on it can be read.
function tint(d) {
  if (d.highlight)
    return css('--found');
  const {cls, name} = d.data;
  if (!cls)
    return css('--frame');
  const mix = 38 + [...name].reduce((sum, char) => (sum * 31 + char.codePointAt(0)) % 5, 0) * 4;
  const [a, b] = [rgb(colour(cls)), rgb(css('--card'))];
  return `rgb(${a.map((v, i) => Math.round((v * mix + b[i] * (100 - mix)) / 100)).join()})`;
}

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

class Flame {
  constructor(tree, label) {
    this.tree = tree;
    this.host = el('div', {class: 'flame'});
    this.details = el('output', {class: 'details'});
    this.found = el('span', {class: 'shown', role: 'status'});
    const id = newId();
    this.input = el('input', {type: 'search', id, autocomplete: 'off', spellcheck: 'false', oninput: () => this.search()});
    this.node = el('div', {class: 'flames'}, el('p', {class: 'filter'}, el('label', {for: id}, 'Search '), this.input, ' ',
      el('button', {type: 'button', onclick: () => this.reset()}, 'Reset'), ' ', this.found), this.host, this.details);
    this.host.setAttribute('aria-label', label);
    this.host.setAttribute('role', 'group');
    this.host.addEventListener('keydown', (event) => this.key(event));
  }

  describe(d) {
    return `${d.data.name}: ${duration(d.data.value)}, ${percent(d.data.value / this.tree.value)}`;
  }

  draw() {
    this.host.replaceChildren();
    strip(this.tree);
    this.chart = flamegraph().width(this.host.clientWidth || 320).cellHeight(CELL).minFrameSize(LEAST_PX).inverted(true)
      .transitionDuration(0).sort(true).selfValue(false)
      .setColorMapper(tint).setLabelHandler((d) => this.describe(d))
      .setSearchMatch((d, term) => Boolean(term) && d.data.name.toLowerCase().includes(term.toLowerCase()))
      .setSearchHandler((results, sum, total) => {
        this.found.textContent = results.length ? `${results.length} frames, ${duration(sum)}, ${percent(sum / total)}` : 'not found';
      })
      .setDetailsHandler((text) => {
        this.details.textContent = text || '\u00a0';
      });
    this.details.textContent = '\u00a0';
    select(this.host).datum(this.tree).call(this.chart);
    // The two rows that the library leaves for its title.
    const picture = this.host.querySelector('svg');
    picture.setAttribute('height', Math.max(CELL, picture.getAttribute('height') - 2 * CELL));
    this.chart.onClick(() => this.focusable());
    this.focusable();
    if (this.input.value)
      this.search();
  }

  search() {
    const term = this.input.value.trim();
    if (term) {
      this.chart.search(term);
    } else {
      this.chart.clear();
      this.found.textContent = '';
    }
  }

  reset() {
    this.input.value = '';
    this.found.textContent = '';
    this.chart.clear();
    this.chart.resetZoom();
  }

  // One frame is in the order of the Tab key; the arrows go on from there.
  focusable() {
    const frames = [...this.host.querySelectorAll('g.frame')];
    frames.forEach((frame) => frame.setAttribute('tabindex', frame === frames[0] ? 0 : -1));
  }

  key(event) {
    const frame = event.target.closest('g.frame'), d = frame && select(frame).datum();
    if (!d)
      return;
    const siblings = d.parent ? d.parent.children : [d];
    const next = {ArrowDown: d.children && d.children[0], ArrowUp: d.parent,
      ArrowLeft: siblings[siblings.indexOf(d) - 1], ArrowRight: siblings[siblings.indexOf(d) + 1]}[event.key];
    if (event.key === 'Enter')
      frame.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    else if (!next)
      return;
    else
      this.focus(next);
    event.preventDefault();
  }

  focus(d) {
    for (const frame of this.host.querySelectorAll('g.frame'))
      if (select(frame).datum() === d) {
        frame.focus();
        this.details.textContent = this.describe(d);
      }
  }
}

// What the last drawing left on the nodes.
function strip(node) {
  delete node.hide;
  delete node.fade;
  delete node.index;
  for (const child of node.children || [])
    strip(child);
}

export class Flames {
  constructor() {
    this.list = [];
  }

  sections(report) {
    this.list = [];
    return [
      this.section('offcpu', ['Off-CPU flame graph', 'Off-CPU'], 'Where threads slept, for sleeps whose stack was taken: the wider, the longer. ' +
        'Group, what it waited for, then the calls. Click a frame to zoom.', report.stacks && offCpu(report.stacks)),
      this.section('oncpu', ['On-CPU flame graph', 'On-CPU'], 'What threads ran, from samples at 99 Hz. Group, library, function, and the kernel function below it (_[k]).',
        report.samples && onCpu(report.samples)),
    ];
  }

  section(id, titles, lead, tree) {
    if (!tree || !(tree.value > 0))
      return null;
    const flame = new Flame(tree, titles[0]);
    this.list.push(flame);
    return section(id, titles, lead, flame.node);
  }

  draw() {
    for (const flame of this.list)
      flame.draw();
  }
}
