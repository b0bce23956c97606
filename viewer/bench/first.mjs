/* Compares the first views of pages: opens them in turn, so that what else the machine does meets all of them. Prints
 * the medians, and the median of the ratios to the first page of the same round.
 * Run in viewer/: node bench/first.mjs ROUNDS PAGE.html PAGE.html... */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , rounds, ...files] = process.argv;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** In the page: when it shows the graph and the sentence above it, and the longest task. */
function prepare() {
  window.longest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (window.longest = Math.max(window.longest, duration)))).observe({ type: 'longtask', buffered: true });
  window.firstView = new Promise((done) => {
    const isShown = () => document.querySelector('#flame:not(.unanswered):not(.stale) canvas') && document.querySelector('.verdict');
    const look = () => (isShown() ? done(performance.now()) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  });
}

async function open(file) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.addInitScript(prepare);
  await page.goto(pathToFileURL(resolve(file)).href);
  const first = await page.evaluate(() => window.firstView);
  await page.waitForTimeout(2500); // until the recording is open
  const longest = await page.evaluate(() => window.longest);
  await page.close();
  return { first, longest };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const views = files.map(() => []);
for (let round = -1; round < Number(rounds); round++)
  for (const [step] of files.entries()) {
    const at = (step + round + files.length) % files.length; // another page is the first of each round
    const view = await open(files[at]);
    if (round >= 0) views[at].push(view); // the round before warms up
  }
await browser.close();
for (const [at, file] of files.entries()) {
  const ratio = median(views[at].map(({ first }, round) => first / views[0][round].first));
  console.log(`${file}: first view ${median(views[at].map(({ first }) => first)).toFixed(0)} ms, ratio ${ratio.toFixed(2)}; longest task ${median(views[at].map(({ longest }) => longest)).toFixed(0)} ms`);
}
/* SPDX-License-Identifier: MIT */
