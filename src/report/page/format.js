// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Numbers as people read them. Unknown is a dash, never 0.
export const UNKNOWN = '\u2013';

export const known = (value) => typeof value === 'number' && Number.isFinite(value);

export function digits(value, n = 3) {
  if (!known(value))
    return UNKNOWN;
  if (value === 0)
    return '0';
  const size = Math.abs(value);
  if (size >= 10 ** n)
    return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(n)));
}

export const count = (value) => known(value) ? Math.round(value).toLocaleString('en') : UNKNOWN;

export function percent(share) {
  if (!known(share))
    return UNKNOWN;
  if (share !== 0 && Math.abs(share) < 0.0005)
    return '<0.1 %';
  return `${digits(share * 100, Math.abs(share) >= 0.1 ? 3 : 2)} %`;
}

export function duration(ns) {
  if (!known(ns))
    return UNKNOWN;
  const size = Math.abs(ns);
  if (size < 1e3)
    return `${digits(ns)} ns`;
  if (size < 1e6)
    return `${digits(ns / 1e3)} µs`;
  if (size < 1e9)
    return `${digits(ns / 1e6)} ms`;
  if (size < 600e9)
    return `${digits(ns / 1e9)} s`;
  return `${digits(ns / 60e9)} min`;
}

const PREFIXES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];

export function si(value, unit) {
  if (!known(value))
    return UNKNOWN;
  const [factor, prefix] = PREFIXES.find(([size]) => Math.abs(value) >= size) || [1, ''];
  return `${digits(value / factor)} ${prefix}${unit}`;
}

export function bytes(value) {
  if (!known(value))
    return UNKNOWN;
  for (const [size, unit] of [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']])
    if (Math.abs(value) >= size)
      return `${digits(value / size)} ${unit}`;
  return `${digits(value)} B`;
}
