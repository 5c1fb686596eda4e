// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What limits, how sure that is, why, and what to do.
import {el, name, section, visible} from './dom.js';
import {count, digits, duration, known, percent} from './format.js';
import {traced} from './data.js';

const CALM = ['balanced', 'insufficient-data'];

function facts(report) {
  const {window, host, targets, tegra} = report;
  const list = [];
  if (targets.length) {
    const more = report.targets_seen - 3;
    list.push(['Target', [targets.slice(0, 3).map((target, i) => [i ? ', ' : '', name(target.comm), ` (PID ${target.pid})`]),
      more > 0 ? ` and ${more} more` : '']]);
  }
  if (known(window.duration_ns))
    list.push(['Window', duration(window.duration_ns)]);
  if (traced(report) && known(report.threads_seen))
    list.push(['Threads', count(report.threads_seen)]);
  if (known(window.started_unix_ns))
    list.push(['Start', new Date(window.started_unix_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19) + ' UTC']);
  if (host.module)
    list.push(['Module', name(host.module)]);
  if (host.power_mode)
    list.push(['Power mode', name(host.power_mode)]);
  if (host.kernel)
    list.push(['Kernel', name(`${host.kernel} ${host.arch || ''}`.trim())]);
  if (tegra.source)
    list.push(['GPU samples', [name(tegra.source), known(tegra.samples) ? `, ${count(tegra.samples)}` : '']]);
  return el('dl', {class: 'facts'}, list.map(([key, value]) => el('div', null, el('dt', null, key), el('dd', null, value))));
}

function confidence(verdict) {
  if (!known(verdict.confidence))
    return null;
  const meter = el('span', {class: 'meter', 'aria-hidden': 'true'},
    el('span', {style: {width: `${Math.round(verdict.confidence * 100)}%`}}));
  return el('p', {class: 'confidence'}, `Confidence ${percent(verdict.confidence)}`, meter);
}

function gain(verdict) {
  const tiles = [];
  if (known(verdict.share))
    tiles.push([percent(verdict.share), 'of the time is on the limiting path']);
  if (known(verdict.gain_bound))
    tiles.push([`at most ${digits(verdict.gain_bound)}×`, 'faster without it']);
  if (verdict.gain_limit)
    tiles.push([name(verdict.gain_limit), 'would limit then']);
  return tiles.length ? el('div', {class: 'tiles'}, tiles.map(([value, label]) =>
    el('div', null, el('strong', null, value), el('span', null, label)))) : null;
}

// Of a run that goes on; `seconds` of it are there.
export function measuring(report, seconds, lost) {
  document.title = visible(lost ? 'connection lost: tegratrace' : 'measuring: tegratrace');
  return [
    el('p', {class: 'brand'}, 'tegratrace'),
    el('p', {class: 'class calm'}, lost ? 'connection lost' : 'measuring'),
    el('h1', null, lost ? 'tegratrace ended or cannot be reached; the report was not received' : 'The verdict comes at the end of the run'),
    el('p', {class: 'confidence', role: 'status'}, `${duration(seconds * 1e9)} so far`),
    facts(report),
  ];
}

export function headline(report) {
  const {verdict} = report;
  document.title = visible(`${verdict.class}: tegratrace report`);
  return [
    el('p', {class: 'brand'}, 'tegratrace'),
    el('p', {class: `class ${CALM.includes(verdict.class) ? 'calm' : ''}`}, verdict.class),
    el('h1', null, name(verdict.headline)),
    confidence(verdict),
    facts(report),
  ];
}


export function evidence(report) {
  const {verdict} = report;
  const also = verdict.contributing.length ?
    el('p', null, 'Limits as well, but less: ', verdict.contributing.join(', ')) : null;
  return section('evidence', 'Evidence', null,
    verdict.evidence.length ? el('ul', {class: 'evidence'}, verdict.evidence.map(({text, source}) =>
      el('li', null, name(text), source ? el('small', null, name(source)) : null))) :
      el('p', null, 'No figures stand behind this verdict.'),
    gain(verdict), also,
    verdict.raise ? el('p', {class: 'note'}, 'To be surer: ', name(verdict.raise)) : null);
}

export function nextSteps(report) {
  const {next_steps: steps} = report.verdict;
  return steps.length ? section('next', ['What to do next', 'Next steps'], null,
    el('ol', {class: 'steps'}, steps.map((step) => el('li', null, name(step))))) : null;
}

export function checklist(report) {
  const marks = {pass: '✓', fail: '✗', unknown: '?'};
  if (!report.checklist.length)
    return null;
  return section('checklist', 'Checklist', 'What the samples show, point by point.',
    el('ul', {class: 'checks'}, report.checklist.map(({name: what, result, text}) =>
      el('li', {class: result}, el('span', {class: 'mark', role: 'img', 'aria-label': result}, marks[result] || '?'),
        el('span', null, name(what), text ? el('small', null, name(text)) : null)))));
}

