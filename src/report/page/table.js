// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A table that sorts by its headings and filters by words; long ones grow on demand.
import {el, newId} from './dom.js';

const FIRST_ROWS = 40;

const compare = (a, b) => {
  const missing = (value) => value === null || value === undefined;
  if (missing(a) || missing(b))
    return missing(a) - missing(b);
  return typeof a === 'string' ? a.localeCompare(b) : b - a;
};

/*
 * columns: {title, value(row): what it sorts by, cell(row): node or text, number, minor: left out on
 * narrow screens}. Options: sort: index of the first order, text(row): what the filter searches,
 * caption.
 */
export function table(rows, columns, {sort = 0, text = null, caption = ''} = {}) {
  const state = {sort, reverse: false, filter: '', all: false};
  const body = el('tbody');
  const more = el('button', {type: 'button', class: 'more', onclick: () => {
    state.all = true;
    draw();
  }});
  const shown = el('span', {class: 'shown', role: 'status'});

  const headings = columns.map((column, i) => {
    const button = el('button', {type: 'button', onclick: () => {
      state.reverse = state.sort === i && !state.reverse;
      state.sort = i;
      draw();
    }}, column.title);
    return el('th', {scope: 'col', class: classes(column)}, column.value ? button : column.title);
  });

  function draw() {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = words.length && text ?
      rows.filter((row) => words.every((word) => text(row).toLowerCase().includes(word))) : rows.slice();
    const {value} = columns[state.sort];
    kept.sort((a, b) => (state.reverse ? -1 : 1) * compare(value(a), value(b)));
    const visible = state.all ? kept : kept.slice(0, FIRST_ROWS);
    body.replaceChildren(...visible.map((row) => el('tr', null, columns.map((column) =>
      el('td', {class: classes(column)}, column.cell(row))))));
    headings.forEach((heading, i) => {
      if (i === state.sort)
        heading.setAttribute('aria-sort', state.reverse ? 'ascending' : 'descending');
      else
        heading.removeAttribute('aria-sort');
    });
    more.hidden = visible.length === kept.length;
    more.textContent = `Show all ${kept.length}`;
    shown.textContent = words.length ? `${kept.length} of ${rows.length}` : '';
  }

  const id = newId();
  const filter = text && rows.length > 5 ? el('p', {class: 'filter'},
    el('label', {for: id}, 'Filter '), el('input', {type: 'search', id, autocomplete: 'off', spellcheck: 'false',
      oninput: (event) => {
        state.filter = event.target.value;
        draw();
      }}), ' ', shown) : null;
  draw();
  return el('div', {class: 'table'}, filter,
    el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
      el('table', null, el('caption', {class: 'hidden'}, caption),
        el('thead', null, el('tr', null, headings)), body)), more);
}

const classes = (column) =>
  [column.number && 'number', column.minor && 'minor', column.wide && 'wide'].filter(Boolean).join(' ') || null;
