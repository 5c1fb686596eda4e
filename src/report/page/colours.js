// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One colour a meaning on the whole page, after the set of Okabe and Ito, which people with any
// colour vision tell apart; beyond its eight, lightness tells. The style sheet has them for light
// and dark.
import {css} from './dom.js';

export const WAITS = ['gpu', 'disk', 'fault', 'lock', 'thread', 'process', 'net', 'device', 'timer',
  'child', 'event', 'other'];

export const WAIT_LABELS = {
  gpu: 'GPU', disk: 'disk', fault: 'page fault', lock: 'lock', thread: 'own thread',
  process: 'other process', net: 'network', device: 'device', timer: 'timer', child: 'child process',
  event: 'event', other: 'other',
};

// Parts of a thread's time in the order in which bars stack them.
export const PARTS = ['work', 'spin', 'runq', ...WAITS, 'stopped', 'unknown'];

export const PART_LABELS = {
  work: 'on CPU', spin: 'on CPU, spinning', runq: 'run queue', ...WAIT_LABELS, stopped: 'stopped',
  unknown: 'unknown',
};

export const colour = (part) => css(`--c-${part}`);

// Lines of one chart.
export const line = (i) => css(`--l-${i % 8}`);
