/* Runs all tests of the viewer: types, then modules, then the page in a browser.
 *
 *   node tests/run.mjs [WORD...]           only the test files whose names contain one of the words
 *   node tests/run.mjs --build             builds all, and runs none
 *   node tests/run.mjs --built [WORD...]   runs what was built
 *
 * WINNOW_BUILD names the build of Winnow with the programs that many tests need; default: build/dev, if it is there. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const viewer = fileURLToPath(new URL('..', import.meta.url));
process.chdir(viewer);
process.env.DEBUGINFOD_URLS = ''; // of which commands ask the servers
const how = process.argv.slice(2).filter((word) => word.startsWith('--'))[0];
const words = process.argv.slice(2).filter((word) => word !== how);
const usual = join(viewer, '../build/dev');
if (!process.env.WINNOW_BUILD && existsSync(join(usual, 'src/cli/winnow'))) process.env.WINNOW_BUILD = usual;
if (!process.env.WINNOW_BUILD) console.log('Without a build of Winnow many tests are skipped: scripts/build dev makes it, or set WINNOW_BUILD');

function run(command, ...given) {
  const { status } = spawnSync(command, given, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function testsIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testsIn(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

const tests = testsIn('tests').filter((path) => !words.length || words.some((word) => path.includes(word)));
const out = 'build/tests';
const program = (path) => join(out, relative('tests', path).replace(/\.ts$/, '.mjs'));

async function buildTests() {
  const { build } = await import('esbuild');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await build({
    entryPoints: tests,
    outdir: out,
    outbase: 'tests',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.css': 'empty' },
  });
  if (!words.length) run('node_modules/.bin/tsc', '--noEmit');
  rmSync('build/pages', { recursive: true, force: true }); // tests/page/open.ts makes them
}

if (how !== '--built') await buildTests();
else if (!tests.every((path) => existsSync(program(path)))) {
  console.log('skipped: the tests of the page were not built');
  process.exit(77);
}
/* One file needs no process beside this one. */
if (how === '--built' && tests.length === 1) await import(pathToFileURL(program(tests[0])).href);
else if (how !== '--build') run('node', '--test', '--test-concurrency=2', ...tests.map(program));
/* SPDX-License-Identifier: MIT */
