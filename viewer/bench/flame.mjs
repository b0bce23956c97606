/* Measures how fast the flame graph draws: graphs of 20 k, 200 k and 1 M nodes at 1600 by 900, each
 * panned, zoomed and scrolled for five seconds by a script. Prints frames a second and the times of
 * the drawing calls. Run in viewer/: node bench/flame.mjs [NODES...] */

import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const SECONDS = 5;
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [20_000, 200_000, 1_000_000];
const bundled = await build({
  entryPoints: [new URL('../tests/flame/page.ts', import.meta.url).pathname],
  bundle: true,
  write: false,
  format: 'iife',
  target: 'es2022',
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--headless'],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
await page.setContent('<!doctype html><style>body { margin: 0 } main { height: 100vh }</style><main id="host"></main>');
await page.addScriptTag({ content: bundled.outputFiles[0].text });

/** In the page: moves the view for a while, one step a frame, as a person with wheel and mouse does. */
async function drive([nodes, seconds]) {
  const flame = window.largeFlame(nodes);
  const began = performance.now();
  window.flame.setData(flame, { mode: 'icicle' });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const ready = performance.now() - began;
  window.drawTimes.length = 0;
  const intervals = [];
  let most = 0;
  let boxes = 0;
  const start = await frame();
  let last = start;
  while (last - start < seconds * 1000) {
    const time = (last - start) / 1000;
    /* Zooms between the whole and a hundredth of it, pans across, and scrolls down and up. */
    const size = 0.01 ** ((1 - Math.cos(time * 2.5)) / 2);
    const low = (1 - size) * (0.5 + 0.5 * Math.sin(time * 1.3));
    const top = 200 * (1 - Math.cos(time * 1.9));
    window.flame.view = { focus: [], low, high: low + size, top, selected: null };
    const now = await frame();
    intervals.push(now - last);
    last = now;
    most = Math.max(most, window.flame.drawn.boxes);
    boxes += window.flame.drawn.boxes;
  }
  const sorted = (values) => [...values].sort((a, b) => a - b);
  const at = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];
  const draws = window.drawTimes;
  return {
    ready,
    fps: intervals.length / ((last - start) / 1000),
    median: at(draws, 0.5),
    p99: at(draws, 0.99),
    worst: Math.max(...intervals),
    boxes: boxes / intervals.length,
    most,
  };
}

for (const nodes of sizes) {
  const { ready, fps, median, p99, worst, boxes, most } = await page.evaluate(drive, [nodes, SECONDS]);
  console.log(
    `${nodes.toLocaleString('en')} nodes: ready ${ready.toFixed(0)} ms, ${fps.toFixed(1)} fps, draw median ` +
      `${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest frame ${worst.toFixed(0)} ms, ` +
      `${Math.round(boxes)} boxes (at most ${most})`,
  );
}
await browser.close();

/* SPDX-License-Identifier: MIT */
