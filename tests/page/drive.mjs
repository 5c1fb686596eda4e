// SPDX-License-Identifier: GPL-2.0-only
// Opens pages in Chromium and prints what it sees as JSON. It judges nothing: test_html.py does.
// node drive.mjs JOBS.json   [{"name", "file" or "url", "width", "scheme", "steps": [[what, argument]..]}..]
import {readFileSync} from 'node:fs';

import {chromium} from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const box = async (page, selector) => page.locator(selector).first().boundingBox();

const steps = {
  // Where in the plot area the pixels of a colour are: at `at` of its width, as shares of its height.
  line: (page, {chart, colour, at}) => page.evaluate(([id, variable, share]) => {
    const figure = document.querySelector(`[data-chart=${id}]`);
    const canvas = figure.querySelector('canvas'), over = figure.querySelector('.u-over').getBoundingClientRect();
    const frame = canvas.getBoundingClientRect(), ratio = canvas.width / frame.width;
    const hex = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
    const want = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    const x = Math.round((over.left - frame.left + over.width * share) * ratio);
    const top = Math.round((over.top - frame.top) * ratio), height = Math.round(over.height * ratio);
    const {data} = canvas.getContext('2d').getImageData(x, top, 1, height);
    const rows = [];
    for (let y = 0; y < height; y++)
      if (want.every((v, i) => Math.abs(data[4 * y + i] - v) < 24) && data[4 * y + 3] > 200)
        rows.push(1 - (y + 0.5) / height);
    return rows;
  }, [chart, colour, at]),

  // Colours drawn in each chart's plot area.
  drawn: (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.chart')].map((figure) => {
    const canvas = figure.querySelector('canvas');
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] === 255)
        seen.set(`${data[i]},${data[i + 1]},${data[i + 2]}`, (seen.get(`${data[i]},${data[i + 1]},${data[i + 2]}`) || 0) + 1);
    return [figure.dataset.chart, Object.fromEntries([...seen].filter(([, n]) => n > 30))];
  }))),

  hover: async (page, {chart, at}) => {
    await page.locator(`[data-chart=${chart}]`).scrollIntoViewIfNeeded();
    const over = await box(page, `[data-chart=${chart}] .u-over`);
    await page.mouse.move(over.x + over.width * at, over.y + over.height / 2);
    await page.waitForTimeout(60);
    return steps.legends(page);
  },

  legends: (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.chart')].map((figure) =>
    [figure.dataset.chart, Object.fromEntries([...figure.querySelectorAll('.u-series')].map((row) =>
      [row.querySelector('.u-label').textContent, row.querySelector('.u-value').textContent]))]))),

  drag: async (page, {chart, from, to}) => {
    await page.locator(`[data-chart=${chart}]`).scrollIntoViewIfNeeded();
    const over = await box(page, `[data-chart=${chart}] .u-over`), y = over.y + over.height / 2;
    await page.mouse.move(over.x + over.width * from, y);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * (from + to) / 2, y, {steps: 4});
    await page.mouse.move(over.x + over.width * to, y, {steps: 4});
    await page.mouse.up();
    // A cursor in a chart dims the other curves.
    await page.mouse.move(1, 1);
    await page.waitForTimeout(100);
    return page.locator('.position').textContent();
  },

  dblclick: async (page, {chart}) => {
    const over = await box(page, `[data-chart=${chart}] .u-over`);
    await page.mouse.dblclick(over.x + over.width / 2, over.y + over.height / 2);
    await page.waitForTimeout(60);
    return page.locator('.position').textContent();
  },

  keys: async (page, {on, keys}) => {
    await page.locator(on).first().focus();
    for (const key of keys)
      await page.keyboard.press(key);
    await page.waitForTimeout(60);
    return page.evaluate(() => ({position: document.querySelector('.position')?.textContent,
      focus: document.activeElement.getAttribute('name') ?? document.activeElement.className}));
  },

  // Tab from the top of the page: what can be reached.
  tabs: async (page, {n}) => {
    const seen = [];
    for (let i = 0; i < n; i++) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate(() => {
        const {tagName, className} = document.activeElement;
        const section = document.activeElement.closest('section');
        return `${section ? section.id : 'page'} ${tagName.toLowerCase()} ${className.baseVal ?? className}`;
      }));
    }
    return seen;
  },

  tap: async (page, {chart}) => {
    const session = await page.context().newCDPSession(page);
    await page.locator(`[data-chart=${chart}]`).scrollIntoViewIfNeeded();
    const over = await box(page, `[data-chart=${chart}] .u-over`);
    const points = (spread) => [-1, 1].map((side, id) => ({id, x: over.x + over.width / 2 + side * spread, y: over.y + over.height / 2}));
    await session.send('Input.dispatchTouchEvent', {type: 'touchStart', touchPoints: points(20)});
    for (let spread = 20; spread <= 80; spread += 10)
      await session.send('Input.dispatchTouchEvent', {type: 'touchMove', touchPoints: points(spread)});
    await session.send('Input.dispatchTouchEvent', {type: 'touchEnd', touchPoints: []});
    await page.waitForTimeout(60);
    return page.locator('.position').textContent();
  },

  search: async (page, {section, text}) => {
    await page.locator(`#${section} input`).fill(text);
    await page.waitForTimeout(60);
    return page.evaluate((id) => {
      const found = getComputedStyle(document.documentElement).getPropertyValue('--found').trim();
      const frames = [...document.querySelectorAll(`#${id} g.frame`)];
      return {status: document.querySelector(`#${id} [role=status]`).textContent, frames: frames.length,
        marked: frames.filter((frame) => frame.querySelector('rect').getAttribute('fill') === found).map((frame) => frame.getAttribute('name'))};
    }, section);
  },

  // Once they stand still.
  frames: async (page, {section}) => {
    const read = () => page.evaluate((id) => [...document.querySelectorAll(`#${id} g.frame`)].map((frame) =>
      ({name: frame.getAttribute('name'), text: frame.querySelector('title').textContent,
        width: Number(frame.querySelector('rect').getAttribute('width'))})), section);
    for (let before = null, now = await read(); ; before = now, now = await read()) {
      if (JSON.stringify(now) === JSON.stringify(before) && now.some(({width}) => width > 0))
        return now;
      await page.waitForTimeout(400);
    }
  },

  click: async (page, {on, text}) => {
    const target = text ? page.locator(on, {hasText: text}) : page.locator(on);
    await target.first().click();
    await page.waitForTimeout(60);
    return null;
  },

  fill: async (page, {on, text}) => {
    await page.locator(on).first().fill(text);
    return null;
  },

  rows: (page, {section}) => page.evaluate((id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) =>
    [...row.cells].map((cell) => cell.textContent)), section),

  sections: (page) => page.evaluate(() => [...document.querySelectorAll('main > section')].map((section) => section.id)),

  text: (page, {on}) => page.evaluate((selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent), on),

  inert: (page) => page.evaluate(() => ({
    pwned: String(window.pwned), scripts: document.querySelectorAll('script').length,
    foreign: document.querySelectorAll('img, iframe, object, embed, link, base, form').length,
    handlers: [...document.querySelectorAll('*')].flatMap((node) => [...node.attributes]).filter(({name}) => name.startsWith('on')).length,
    text: document.body.innerText, all: [...document.querySelectorAll('main, header')].map((node) => node.textContent).join(' '),
    attributes: [...document.querySelectorAll('main *, header *')].flatMap((node) => [...node.attributes].map(({value}) => value)).join(' '),
  })),

  layout: (page) => page.evaluate(() => ({
    width: innerWidth, scroll: document.documentElement.scrollWidth,
    wider: [...document.querySelectorAll('section')].filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.id),
    background: getComputedStyle(document.body).backgroundColor,
  })),

  // Contrast of each text with the background painted behind it.
  contrast: (page) => page.evaluate(() => {
    const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (colour.length === 3 || colour[3] === 1)
          return colour;
      }
      return [255, 255, 255];
    };
    const low = [];
    let texts = 0;
    for (const node of document.querySelectorAll('body *')) {
      const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
      const paint = getComputedStyle(node);
      if (!own || node.closest('svg, script, style, noscript, .hidden, .skip, .u-legend, details') || paint.visibility === 'hidden' || !node.getClientRects().length)
        continue;
      texts++;
      const [a, b] = [light(parse(paint.color)), light(behind(node))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5)
        low.push(`${node.tagName} ${node.className} ${ratio.toFixed(2)} ${node.textContent.slice(0, 30)}`);
    }
    return {texts, low};
  }),

  print: async (page) => {
    await page.emulateMedia({media: 'print'});
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const pdf = await page.pdf({format: 'A4'});
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.emulateMedia({media: 'screen'});
    return pdf.length;
  },

  // A live page: what it says now, and again once its end is there.
  waitFor: async (page, {on}) => {
    await page.waitForSelector(on, {timeout: 60000});
    return page.evaluate(() => ({title: document.title, position: document.querySelector('.position')?.textContent,
      charts: document.querySelectorAll('.chart').length, sections: document.querySelectorAll('section').length}));
  },

  pause: (page, {ms}) => page.waitForTimeout(ms),

  viewer: async (page, {steps: list}) => {
    const other = await page.context().newPage();
    await other.goto(page.url());
    const seen = [];
    for (const [what, argument] of list)
      seen.push(await steps[what](other, argument ?? {}));
    await other.close();
    return seen;
  },

  screenshot: async (page, {path}) => {
    await page.screenshot({path, fullPage: true});
    return path;
  },
};

async function run(browser, job) {
  const context = await browser.newContext({viewport: {width: job.width ?? 1280, height: 900}, colorScheme: job.scheme ?? 'light', hasTouch: Boolean(job.touch)});
  const page = await context.newPage();
  const result = {console: [], requests: [], dialogs: 0, steps: []};
  page.on('console', (message) => {
    // Of the reading of pixels in here.
    if (!message.text().includes('willReadFrequently'))
      result.console.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => result.console.push(`error: ${error.stack}`));
  page.on('request', (request) => result.requests.push(request.url()));
  page.on('dialog', (dialog) => {
    result.dialogs++;
    dialog.dismiss();
  });
  await page.goto(job.url ?? `file://${job.file}`);
  await page.waitForFunction(() => document.querySelector('h1'));
  await page.waitForTimeout(100);
  for (const [what, argument] of job.steps)
    result.steps.push(await steps[what](page, argument ?? {}));
  await context.close();
  return result;
}

const jobs = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: FLAGS});
const results = {};
try {
  for (const job of jobs)
    results[job.name] = await run(browser, job);
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(results));
