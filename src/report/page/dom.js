// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Elements. All text goes in as text nodes and attributes, with visible() over it: names of threads,
// files and devices are hostile.
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false)
      continue;
    if (name === 'style')
      Object.assign(node.style, value);
    else if (name.startsWith('on'))
      node.addEventListener(name.slice(2), value);
    else
      node.setAttribute(name, value === true ? '' : visible(value));
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : visible(child));
  return node;
}

export const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Bidirectional text is kept inside its own box, so that it cannot turn the words around it.
export const name = (text) => el('bdi', null, String(text ?? ''));

// Controls and marks of direction as the picture of themselves.
export function visible(text) {
  return String(text ?? '').replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export const css = (variable) =>
  getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

let ids = 0;
export const newId = () => `t${++ids}`;

// `short` is its name in the list of contents, when the title is too long for it.
export function section(id, titles, lead, ...children) {
  const [title, short = title] = [titles].flat();
  return el('section', {id, 'data-short': short, 'aria-labelledby': `${id}-title`},
    el('h2', {id: `${id}-title`}, title), lead && el('p', {class: 'lead'}, lead), ...children);
}
