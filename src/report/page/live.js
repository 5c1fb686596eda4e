// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The page of a run that goes on: the server sends its curves, and at the end the report.
import {normal} from './data.js';

const unknown = (n) => new Array(n).fill(null);
const points = (series) => (series?.t_ms || []).length;

/*
 * Lists that share an axis grow together, by `added` points: one that comes later was unknown until
 * then, and one that is left out, as of a CPU that was off, is unknown in these points.
 */
function append(into, more, length, added) {
  for (const key of new Set([...Object.keys(into), ...Object.keys(more)])) {
    const old = into[key], value = more[key], kind = value ?? old;
    if (key === 'phases')
      continue;
    if (Array.isArray(kind))
      into[key] = (old || unknown(length)).concat(value || unknown(added));
    else if (kind && typeof kind === 'object')
      into[key] = key === 'host' ? append(old || {}, value || {}, points(old), points(value))
        : append(old || {}, value || {}, length, added);
    else if (value !== undefined)
      into[key] = value;
  }
  return into;
}

export const grown = (series, more) => append(series, more, points(series), points(more));

/*
 * on.begin(data), on.series(data) about once a second, on.report(data) at the end, on.lost() when the
 * server is gone before. After an interruption the browser asks again, and the server begins anew.
 */
export function follow(on) {
  const source = new EventSource('events');
  let data = null;
  const receive = (event, act) => source.addEventListener(event, (message) => act(JSON.parse(message.data)));
  receive('begin', (sent) => {
    data = normal(sent);
    data.report.verdict.class = 'no verdict yet';
    on.begin(data);
  });
  receive('points', (sent) => {
    data = {...data, series: grown(data.series, sent)};
    on.series(data);
  });
  receive('series', (sent) => {
    data = {...data, series: normal({series: sent}).series};
    on.series(data);
  });
  receive('report', (sent) => {
    source.close();
    on.report(normal(sent));
  });
  source.addEventListener('error', () => on.lost());
}
