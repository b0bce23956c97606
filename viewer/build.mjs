/* Writes the viewer as one file.
 *
 *   node build.mjs                  page.html: what `winnow html` and `winnow view` give to browsers
 *   node build.mjs --check          fails unless page.html is what the sources make
 *
 * Equal sources give equal bytes. Scripts and styles are allowed by their hashes and nothing else is. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(here, ...parts);
const MOST_BYTES = 294_000; // without the engine

/* Long names of members that classes here have for themselves: no answer, element or library has them. */
const OWN_MEMBERS =
  /^(wanted(Focus|Selected|View)|viewChanged|goPosition|hoveredAbove|invalidate|firstAfter|frontier|takeFocus|refreshTheme|selectMatch|pathOfNode|linesAbove|focusLine|childBegin|isUpward|openedAt|setContentHeight|measureNow|rootPath|selectedNode|movingUntil|focusOrOpen|zoomBack|fingers|runRight|firstRow|rowBegin|movement|navigation|callbacks|supersede|draw(Range|Marks|Names|Limit|Peak|Collections)|takeRange|selectedBox|toggleChain|lineOfAbove|findMatches|placeAt|homeTop|hatched|uncertain|siblings|generation|describe|dragged|keyboard|handlers)$/;

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  mangleProps: OWN_MEMBERS,
  charset: 'utf8',
  format: 'iife',
  target: ['es2022'],
  legalComments: 'none',
  write: false,
  jsx: 'automatic',
  jsxImportSource: 'preact',
};

/* `winnow:worker` is the text of the worker's program. */
const chosen = {
  name: 'winnow',
  setup(plugin) {
    plugin.onResolve({ filter: /^winnow:worker$/ }, () => ({ path: 'worker', namespace: 'winnow' }));
    /* The charts have no titles and no legends of uPlot's. */
    plugin.onLoad({ filter: /uPlot\.min\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/\.u-(title|legend|inline|series)[^{}]*\{[^{}]*\}/g, ''),
      loader: 'css',
    }));
    plugin.onLoad({ filter: /.*/, namespace: 'winnow' }, async () => {
      const worker = await build({ ...common, entryPoints: ['src/engine/worker.ts'] });
      return { contents: worker.outputFiles[0].text, loader: 'text' };
    });
  },
};

const bundle = await build({ ...common, entryPoints: ['src/main.tsx'], outdir: 'out', plugins: [chosen] });
const output = (end) => bundle.outputFiles.find((file) => file.path.endsWith(end)).text.trim();
/* Nothing in a script element may look like its end, or like the beginning of a comment in it. */
const app = output('.js').replace(/<(\/script|!--)/gi, '\\x3C$1');
const style = output('.css');

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(app)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  'worker-src blob:',
  'img-src data: blob:',
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = { policy, style, app };
let page = readFileSync(at('src/skeleton.html'), 'utf8').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
const size = Buffer.byteLength(page);
if (size > MOST_BYTES) {
  console.error(`the page has ${size} bytes; at most ${MOST_BYTES} are allowed`);
  process.exit(1);
}

/* The engine, deflated; its bytes depend on the compiler, whose version stands beside it. */
const ENGINE = /<script type="application\/octet-stream" id="engine" data-compiler="([^"]*)">([^<]*)<\/script>/;
const compilerNow = spawnSync('clang', ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0].replace(/[^\w .:+~-]/g, '');
const deflated = deflateRawSync(readFileSync(at('build/engine.wasm')), { level: 9 }).toString('base64');
const element = `<script type="application/octet-stream" id="engine" data-compiler="${compilerNow}">${deflated}</script>`;
page = page.replace('<!--winnow:engine-->', () => element);

/* Whether page.html is what the sources make. Deflated bytes may differ between versions of zlib, and
 * the engine between compilers. */
function isCurrent() {
  const found = readFileSync(at('page.html'), 'utf8');
  const [, compiler, engine] = page.match(ENGINE);
  const [, foundCompiler, foundEngine] = found.match(ENGINE) ?? [];
  if (found.replace(ENGINE, '') !== page.replace(ENGINE, '')) return 'its scripts or styles are of other sources';
  if (compiler !== foundCompiler) return console.log(`the engine is by ${foundCompiler}; not compared with ${compiler}`), '';
  const inflated = (text) => inflateRawSync(Buffer.from(text, 'base64'));
  return inflated(engine).equals(inflated(foundEngine)) ? '' : 'its engine is of other sources';
}

if (process.argv.includes('--check')) {
  const wrong = isCurrent();
  if (!wrong) console.log('page.html is what the sources make');
  else console.error(`page.html is out of date: ${wrong}; run viewer/make`);
  process.exit(wrong ? 1 : 0);
}
writeFileSync(at('page.html'), page);
console.log(`page.html: ${Buffer.byteLength(page)} bytes, ${size} without the engine (at most ${MOST_BYTES})`);
/* SPDX-License-Identifier: MIT */
