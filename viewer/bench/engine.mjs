/* Measures the processor time that the engine of a page takes for the answers to a new filter, in the order in which the
 * page asks: other processes on the machine do not change it much. Pages are asked in turn, each round with a filter that
 * no round had before. Prints medians, and the median of the ratios to the first page of the same round.
 * Run in viewer/: node bench/engine.mjs ROUNDS PAGE.html... */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

const [, , rounds, ...files] = process.argv;
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('../tests/engine/page.ts', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const { openPage } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);

const FILTERS = {
  'half of the blocks by size': (round) => `size > ${100 + round}`,
  'by size and life': (round) => `size > ${100 + round} and life > 1ms`,
  'by a name': (round) => `fn ~ "^libdb.*[^${String.fromCharCode(0x4e00 + round)}]*"`,
  'all blocks': (round) => `size > ${round / 1000}`,
};
const QUESTIONS = {
  graph: ['view=flame', 'measure=held', 'by=function', 'direction=callees'],
  totals: ['view=totals'],
  table: ['view=table', 'measure=held', 'by=function'],
  chart: ['view=time', 'by=function', 'points=600'],
};

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const engines = [];
for (const file of files) engines.push(await openPage(file));

/** Processor time in ms. */
function costOf(engine, lines) {
  const before = process.cpuUsage();
  engine.ask(lines.join('\n'));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

for (const [name, filter] of Object.entries(FILTERS)) {
  const costs = files.map(() => []);
  for (let round = -1; round < Number(rounds); round++)
    for (const step of files.keys()) {
      const at = (step + round + files.length) % files.length;
      const cost = Object.fromEntries(Object.entries(QUESTIONS).map(([question, lines]) => [question, costOf(engines[at], [...lines, `where=${filter(round + 2)}`])]));
      cost.all = Object.values(cost).reduce((sum, one) => sum + one, 0);
      if (round >= 0) costs[at].push(cost); // the round before warms up
    }
  for (const [at, file] of files.entries()) {
    const parts = [...Object.keys(QUESTIONS), 'all'].map((part) => `${part} ${median(costs[at].map((cost) => cost[part])).toFixed(0)} ms`);
    const ratio = median(costs[at].map(({ all }, round) => all / costs[0][round].all));
    console.log(`${name}, ${file}: ${parts.join(', ')}${files.length > 1 ? `, ratio ${ratio.toFixed(2)}` : ''}`);
  }
}
/* SPDX-License-Identifier: MIT */
