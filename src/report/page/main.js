// SPDX-License-Identifier: GPL-2.0-only OR MIT
import {block} from './block.js';
import {embedded, normal} from './data.js';
import {el} from './dom.js';
import {Flames} from './flames.js';
import {checklist, evidence, headline, measuring, nextSteps} from './headline.js';
import {follow} from './live.js';
import {cuda, faults, foot, holders, method, processes, sensors} from './method.js';
import {roofline} from './roofline.js';
import {threads} from './threads.js';
import {Timeline} from './timeline.js';
import {edges, waitGraph} from './waits.js';

const timeline = new Timeline(), flames = new Flames();

function fill(data) {
  const {report} = data;
  const sections = [evidence(report), nextSteps(report), timeline.section(data), roofline(data), threads(report), waitGraph(report),
    edges(report), ...flames.sections(report), holders(report), cuda(report), block(report), faults(report), sensors(report),
    processes(report), checklist(report), method(report)].filter(Boolean);
  document.getElementById('top').replaceChildren(...headline(report).filter(Boolean));
  document.getElementById('main').replaceChildren(...sections);
  document.getElementById('contents').replaceChildren(el('ul', null, sections.map((section) =>
    el('li', null, el('a', {href: `#${section.id}`}, section.dataset.short)))));
  document.getElementById('foot').replaceChildren(...foot());
}

function draw() {
  timeline.draw();
  flames.draw();
}

// Canvases and flame graphs have their size and colours drawn in.
function redrawOn() {
  let width = innerWidth, due = 0;
  addEventListener('resize', () => {
    clearTimeout(due);
    due = setTimeout(() => {
      if (innerWidth !== width) {
        width = innerWidth;
        draw();
      }
    }, 120);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  const paper = (on) => () => {
    document.documentElement.toggleAttribute('data-paper', on);
    draw();
  };
  addEventListener('beforeprint', paper(true));
  addEventListener('afterprint', paper(false));
}

// While the run goes on there are its curves alone.
function live() {
  let last = null;
  const top = (lost) => document.getElementById('top').replaceChildren(...measuring(last.report, timeline.end(), lost));
  const section = () => {
    const drawn = timeline.section(last);
    document.getElementById('main').replaceChildren(...[drawn].filter(Boolean));
    timeline.draw();
  };
  document.getElementById('foot').replaceChildren(...foot());
  follow({
    begin: (data) => {
      last = data;
      section();
      top(false);
    },
    series: (data) => {
      last = data;
      if (!timeline.update(data))
        section();
      top(false);
    },
    report: (data) => {
      last = null;
      fill(data);
      draw();
    },
    lost: () => last && top(true),
  });
}

const data = embedded();
if (data.live) {
  live();
} else {
  fill(normal(data));
  draw();
}
redrawOn();
