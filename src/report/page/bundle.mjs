// SPDX-License-Identifier: GPL-2.0-only OR MIT
// node bundle.mjs FOLDER OUT: one HTML file of the page in FOLDER, all scripts and styles inside.
import {createHash} from 'node:crypto';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';

import {build} from 'esbuild';

const [folder, out] = process.argv.slice(2);

const options = {
  absWorkingDir: resolve(folder),
  bundle: true,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  minify: true,
  target: 'es2020',
  write: false,
};

// keepNames: d3-flame-graph tells its own nodes by the name of their constructor. The styles that it
// brings are replaced by those of style.css.
const script = await build({...options, entryPoints: ['main.js'], format: 'iife', keepNames: true, loader: {'.css': 'empty'}});
const style = await build({...options, entryPoints: ['style.css']});

// Every package in the bundle, with the licence that must go along.
function licences(...metafiles) {
  const packages = new Set();
  for (const metafile of metafiles)
    for (const input of Object.keys(metafile.inputs)) {
      const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
      if (match)
        packages.add(match[1]);
    }
  return [...packages].sort().map((name) => {
    const at = join(folder, 'node_modules', name);
    const {version, license} = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
    const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(at, file), 'utf8') : license;
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }).join('\n----\n\n').replaceAll('<', '(').replaceAll('>', ')');
}

const inline = (text) => text.trim().replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');
const code = inline(script.outputFiles[0].text);
const css = style.outputFiles[0].text.trim();
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// Nothing may be fetched, but by the live page from the server that it came from. Elements are
// placed by their style properties, which needs no permission for styles in attributes.
const csp = [
  "default-src 'none'",
  `script-src ${hash(code)}`,
  `style-src ${hash(css)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = {
  CSP: csp,
  STYLE: css,
  SCRIPT: code,
  LICENCES: licences(script.metafile, style.metafile),
};
const page = readFileSync(join(folder, 'index.html'), 'utf8')
  .replace(/@@(CSP|STYLE|SCRIPT|LICENCES)@@/g, (_, name) => parts[name]);
if (page.split('@@TEGRATRACE-DATA@@').length !== 2)
  throw new Error('the mark of the data must stand exactly once');
writeFileSync(out, page);
