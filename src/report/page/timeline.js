// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Curves over one shared time axis: the cursor and the zoom of one are those of all.
import uPlot from 'uplot';

import {css, el, section} from './dom.js';
import {digits, duration, known} from './format.js';
import {phases} from './data.js';
import {charts} from './curves.js';

const AXIS_PX = 58, RIGHT_PX = 14;

export class Timeline {
  constructor() {
    this.plots = [];
    this.range = null;
    this.full = [0, 1];
    this.grid = el('div', {class: 'charts'});
    this.strip = el('div', {class: 'strip', role: 'list', 'aria-label': 'Phases'});
    this.position = el('output', {class: 'position'});
  }

  section(data) {
    this.data = data;
    this.specs = charts(data);
    if (!this.specs.length)
      return null;
    const button = (label, title, action) => el('button', {type: 'button', title, 'aria-label': title, onclick: action}, label);
    const tools = el('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Time axis'},
      button('−', 'Zoom out', () => this.zoom(2)), button('+', 'Zoom in', () => this.zoom(0.5)),
      button('◀', 'Earlier', () => this.pan(-0.5)), button('▶', 'Later', () => this.pan(0.5)),
      button('Whole run', 'Show the whole run', () => this.show(...this.full)), this.position);
    this.grid.replaceChildren();
    this.cards = this.specs.map((spec) => {
      const host = el('div', {class: 'plot', tabindex: 0, role: 'img', 'aria-label': spec.title});
      this.grid.append(el('figure', {class: 'chart', 'data-chart': spec.id}, el('figcaption', null, spec.title,
        spec.unit ? el('small', null, spec.unit) : null), host, spec.note ? el('p', {class: 'note'}, spec.note) : null));
      return host;
    });
    return section('time', 'Over time', 'Drag across a chart to zoom all of them, double-click for the whole run; ' +
      'with the keyboard + − ← → and 0. On a touch screen pinch and drag.', tools, this.strip, this.grid);
  }

  // Once the section is in the document, and again when its width or the colours change.
  draw() {
    if (!this.specs || !this.specs.length)
      return;
    for (const plot of this.plots)
      plot.destroy();
    this.full = extent(this.specs);
    this.bands = phases(this.data.report, this.full[1]);
    const [from, to] = this.range || this.full;
    this.plots = this.specs.map((spec, i) => this.plot(spec, this.cards[i], from, to));
    this.drawStrip();
  }

  // Seconds that there are curves for.
  end() {
    return this.specs && this.specs.length ? extent(this.specs)[1] : 0;
  }

  // New points on the same curves; false: there are others to draw.
  update(data) {
    const specs = charts(data);
    this.data = data;
    if (!this.specs || specs.map((spec) => spec.shape).join() !== this.specs.map((spec) => spec.shape).join())
      return false;
    this.specs = specs;
    this.full = extent(specs);
    this.bands = phases(data.report, this.full[1]);
    specs.forEach((spec, i) => {
      this.plots[i].spec = spec;
      this.plots[i].setData(spec.data, false);
    });
    if (!this.range)
      this.apply(...this.full);
    this.drawStrip();
    return true;
  }

  plot(spec, host, from, to) {
    const text = css('--muted'), grid = css('--grid');
    const axis = (more) => ({stroke: text, grid: {stroke: grid, width: 1}, ticks: {stroke: grid, width: 1, size: 4},
      font: '12px system-ui, sans-serif', ...more});
    const plot = new uPlot({
      width: host.clientWidth || 320,
      height: spec.height || 170,
      padding: [10, spec.right ? 0 : RIGHT_PX, 0, 0],
      scales: {
        x: {time: false, range: () => this.wanted || this.range || this.full},
        y: {range: spec.range},
        ...(spec.right ? {right: {range: spec.right.range}} : {}),
      },
      axes: [
        axis({size: 28, values: (_, ticks) => ticks.map((s) => spec.undated ? `#${s}` : `${seconds(s)} s`)}),
        axis({size: AXIS_PX, values: (_, ticks) => ticks.map((v) => v === null ? '' : spec.tick(v))}),
        ...(spec.right ? [axis({scale: 'right', side: 1, size: 48, grid: {show: false},
          values: (_, ticks) => ticks.map((v) => v === null ? '' : spec.right.tick(v))})] : []),
      ],
      series: [{label: 'time', value: (u, v) => v === null ? '' : spec.undated ? `sample ${v}` : duration(v * 1e9)},
        ...spec.series],
      bands: spec.bands || [],
      legend: {live: true, markers: {width: 0, fill: (u, i) => spec.series[i - 1].stroke}},
      focus: {alpha: 0.35},
      cursor: {
        focus: {prox: 16},
        points: {size: 7},
        drag: {x: true, y: false, setScale: false},
        sync: {key: 'time', setSeries: false, scales: ['x', null],
          filters: {pub: (type) => type === 'mousemove' || type === 'mouseleave'}},
        bind: {dblclick: () => () => {
          this.show(...this.full);
          return null;
        }},
      },
      hooks: {
        drawClear: [(u) => this.drawBands(u)],
        // Below the curves: no label hides data.
        drawAxes: [(u) => drawLevels(u, u.spec || spec)],
        setSelect: [(u) => {
          if (u.select.width < 4)
            return;
          this.show(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
          u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
        }],
      },
    }, spec.data, host);
    plot.spec = spec;
    plot.setScale('x', {min: from, max: to});
    this.touch(plot);
    host.onkeydown = (event) => this.key(event, plot);
    return plot;
  }

  drawBands(u) {
    const {ctx} = u, {top, height} = u.bbox;
    ctx.save();
    for (const [i, band] of this.bands.entries()) {
      const left = Math.max(u.valToPos(band.from, 'x', true), u.bbox.left);
      const right = Math.min(u.valToPos(band.to, 'x', true), u.bbox.left + u.bbox.width);
      if (right <= left)
        continue;
      ctx.fillStyle = css(this.bands.length > 1 && band.name !== 'steady' && i % 2 === 0 ? '--band-b' : '--band-a');
      if (this.bands.length > 1)
        ctx.fillRect(left, top, right - left, height);
    }
    ctx.restore();
  }

  drawStrip() {
    const [from, to] = this.range || this.full, span = to - from || 1;
    const shown = this.bands.filter((band) => band.to > from && band.from < to);
    this.strip.replaceChildren(...shown.map((band) => {
      const left = Math.max(0, (band.from - from) / span), right = Math.min(1, (band.to - from) / span);
      const label = `${band.name}: ${band.verdict}`;
      return el('span', {role: 'listitem', class: band.name === 'steady' || this.bands.length === 1 ? 'main' : null,
        title: `${label}, ${seconds(band.from)} to ${seconds(band.to)} s`,
        style: {left: `${left * 100}%`, width: `${(right - left) * 100}%`}}, label);
    }));
    const undated = this.specs[0].undated;
    this.position.textContent = undated ? `samples ${Math.round(from)} to ${Math.round(to)}` : `${seconds(from)} to ${seconds(to)} s`;
  }

  apply(from, to) {
    this.wanted = [from, to];
    for (const plot of this.plots)
      plot.setScale('x', {min: from, max: to});
    this.wanted = null;
  }

  show(from, to) {
    const [first, last] = this.full, least = (last - first) / 1e5;
    from = Math.max(first, from);
    to = Math.min(last, to);
    if (to - from < least)
      return;
    this.range = from <= first && to >= last ? null : [from, to];
    this.apply(from, to);
    this.drawStrip();
  }

  zoom(factor, at = 0.5) {
    const [from, to] = this.range || this.full, centre = from + (to - from) * at, span = (to - from) * factor;
    this.show(centre - span * at, centre + span * (1 - at));
  }

  pan(share) {
    const [from, to] = this.range || this.full, [first, last] = this.full;
    const step = Math.max(first - from, Math.min(last - to, (to - from) * share));
    this.show(from + step, to + step);
  }

  key(event, plot) {
    const actions = {
      '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
      0: () => this.show(...this.full),
      ArrowLeft: () => step(plot, -1), ArrowRight: () => step(plot, 1),
      PageUp: () => this.pan(-0.5), PageDown: () => this.pan(0.5),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key])
      return;
    actions[event.key]();
    event.preventDefault();
  }

  // uPlot knows the mouse only. Up and down stay the page's.
  touch(plot) {
    const {over} = plot, fingers = new Map();
    let last = null;
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return {centre: (a + b) / 2, width: Math.max(20, Math.abs(a - b))};
    };
    over.style.touchAction = 'pan-y';
    over.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'touch')
        return;
      fingers.set(event.pointerId, event.offsetX);
      last = fingers.size === 2 ? spread() : null;
    });
    over.addEventListener('pointermove', (event) => {
      if (!fingers.has(event.pointerId))
        return;
      const moved = fingers.get(event.pointerId) - event.offsetX;
      fingers.set(event.pointerId, event.offsetX);
      if (fingers.size === 2) {
        const now = spread();
        if (last)
          this.zoom(last.width / now.width, now.centre / over.clientWidth);
        last = now;
      } else if (this.range) {
        this.pan(moved / over.clientWidth);
      }
    });
    for (const type of ['pointerup', 'pointercancel', 'pointerleave'])
      over.addEventListener(type, (event) => {
        fingers.delete(event.pointerId);
        last = null;
      });
  }
}

const seconds = (s) => Math.abs(s) >= 1e4 ? Math.round(s).toLocaleString('en') : digits(s, 4);

function extent(specs) {
  let last = 0;
  for (const {data: [x]} of specs)
    if (x.length)
      last = Math.max(last, x[x.length - 1]);
  return [0, last || 1];
}

// The cursor one point on.
function step(plot, by) {
  const [x] = plot.data;
  const {min, max} = plot.scales.x;
  let i = plot.cursor.idx ?? (by > 0 ? -1 : x.length);
  i = Math.max(0, Math.min(x.length - 1, i + by));
  if (x[i] < min)
    i = x.findIndex((value) => value >= min);
  if (i < 0 || x[i] > max)
    return;
  plot.setCursor({left: plot.valToPos(x[i], 'x'), top: plot.over.clientHeight / 2}, true, true);
}

// Dashed lines at thresholds, caps and trips, with what they are.
function drawLevels(u, spec) {
  const {ctx} = u, ratio = devicePixelRatio || 1, {left, top, width, height} = u.bbox;
  let lowest = -Infinity;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  for (const level of (spec.levels || []).slice().sort((a, b) => b.value - a.value)) {
    if (!known(level.value) || level.value < u.scales.y.min || level.value > u.scales.y.max)
      continue;
    const y = Math.round(u.valToPos(level.value, 'y', true));
    ctx.strokeStyle = ctx.fillStyle = level.colour;
    ctx.lineWidth = ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
    // Two labels closer than a line of text: the lower one goes to the left.
    const crowded = y - lowest < 14 * ratio;
    const at = y - top < 13 * ratio ? y + 13 * ratio : y - 5 * ratio;
    const x = crowded ? left + 4 * ratio : left + width - 4 * ratio;
    ctx.textAlign = crowded ? 'left' : 'right';
    if (at < top + height) {
      ctx.lineWidth = 3 * ratio;
      ctx.setLineDash([]);
      ctx.strokeStyle = css('--card');
      ctx.strokeText(level.label, x, at);
      ctx.fillText(level.label, x, at);
    }
    lowest = crowded ? -Infinity : y;
  }
  ctx.restore();
}

