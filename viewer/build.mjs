/* Writes the viewer as one file, and its engine as another, which `winnow html` puts into it. git keeps of a new version of either
 * what is new; of an engine that stood in the page, deflated, it kept all.
 *
 *   node build.mjs                  page.html and engine.wasm: what `winnow html` and `winnow view` give to browsers
 *   node build.mjs --check          fails unless they are what the sources make
 *
 * Equal sources give equal bytes. Scripts and styles are allowed by their hashes and nothing else is. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/* The bytes of the engine depend on the compiler, whose version stands beside it in the page. */
const compiler = spawnSync('clang', ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0].replace(/[^\w .:+~-]/g, '');
const engine = readFileSync(at('build/engine.wasm'));
const parts = { policy, style, app, compiler };
const page = readFileSync(at('src/skeleton.html'), 'utf8').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
const size = Buffer.byteLength(page);
if (size > MOST_BYTES) {
  console.error(`the page has ${size} bytes; at most ${MOST_BYTES} are allowed`);
  process.exit(1);
}

/* What is out of date; the engine is not compared with that of another compiler. */
function outOfDate() {
  const COMPILER = / data-compiler="([^"]*)"/;
  const found = readFileSync(at('page.html'), 'utf8');
  const [, by] = found.match(COMPILER) ?? [];
  if (found.replace(COMPILER, '') !== page.replace(COMPILER, '')) return 'page.html';
  if (by !== compiler) return console.log(`the engine is by ${by}; not compared with ${compiler}`), '';
  return engine.equals(readFileSync(at('engine.wasm'))) ? '' : 'engine.wasm';
}

if (process.argv.includes('--check')) {
  const wrong = outOfDate();
  if (!wrong) console.log('page.html and engine.wasm are what the sources make');
  else console.error(`${wrong} is of other sources; run viewer/make`);
  process.exit(wrong ? 1 : 0);
}
writeFileSync(at('page.html'), page);
writeFileSync(at('engine.wasm'), engine);
console.log(`page.html: ${size} bytes (at most ${MOST_BYTES}); engine.wasm: ${engine.length}`);
/* SPDX-License-Identifier: MIT */
