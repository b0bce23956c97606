/* Measures filters that follow one another faster than they are answered: three within 100 ms, as a held key gives them. Takes pages in
 * turn; prints how long after the last filter the graph and all views show it, by the median of some rounds, and the median of
 * the ratios of the graph's time to that of the first page in the same round. Run in viewer/:
 *
 *   node bench/filters.mjs ROUNDS PAGE.html PAGE.html... */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , rounds, ...files] = process.argv;
const APART = 50; // ms
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** In the page: filters by sizes, and tells how long the last of them took. */
async function filter([tab, first, apart]) {
  const until = (selector) =>
    new Promise((done) => {
      const look = () => (document.querySelector(selector) ? requestAnimationFrame(look) : done(performance.now()));
      setTimeout(look);
    });
  for (const size of [first, first + 1, first + 2]) {
    await new Promise((done) => setTimeout(done, apart));
    location.hash = `${tab}&where=size+%3E+${size}`;
  }
  await new Promise((done) => addEventListener('hashchange', done, { once: true }));
  const began = performance.now();
  const graph = await until('#flame.stale, #flame .stale');
  return { graph: graph - began, all: (await until('#main .stale')) - began };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const pages = [];
for (const file of files) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(pathToFileURL(resolve(file)).href);
  pages.push(page);
  await page.evaluate(filter, ['#peak', 10, APART]); // until the recording is open
}
for (const tab of ['#peak', '#churn']) {
  const times = files.map(() => []);
  for (let round = 0; round < Number(rounds); round++)
    for (const step of files.keys()) {
      const at = (step + round) % files.length;
      await pages[at].bringToFront();
      times[at].push(await pages[at].evaluate(filter, [tab, 100 + 3 * round, APART]));
    }
  for (const [at, file] of files.entries()) {
    const ratio = median(times[at].map(({ graph }, round) => graph / times[0][round].graph));
    console.log(`${tab}, ${file}: graph ${median(times[at].map(({ graph }) => graph)).toFixed(0)} ms, ratio ${ratio.toFixed(2)}; all views ${median(times[at].map(({ all }) => all)).toFixed(0)} ms`);
  }
}
await browser.close();
/* SPDX-License-Identifier: MIT */
