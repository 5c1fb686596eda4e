// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The page of a run that goes on: the server sends its curves, and at the end the report.
import {normal} from './data.js';

// Lists that share an axis grow together; one that comes later was unknown until then.
function append(into, more, length) {
  for (const [key, value] of Object.entries(more)) {
    if (key === 'phases')
      continue;
    if (Array.isArray(value))
      into[key] = (into[key] || new Array(length).fill(null)).concat(value);
    else if (value && typeof value === 'object')
      into[key] = append(into[key] || {}, value, key === 'host' ? (into.host?.t_ms || []).length : length);
    else
      into[key] = value;
  }
  return into;
}

const grown = (series, more) => append(series, more, (series.t_ms || []).length);

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
