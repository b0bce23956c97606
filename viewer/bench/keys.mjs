/* Measures the questions of a page from opening: how long after its key the answer of each is
 * shown, in all views. Each time is that of a page that was opened anew and shows its first view.
 * Prints the median and the worst of some rounds. Run in viewer/:
 *
 *   node bench/keys.mjs PAGE.html|http://ADDRESS/ [ROUNDS] */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , file, rounds = '20'] = process.argv;
const url = file.startsWith('http') ? file : pathToFileURL(resolve(file)).href;
const KEYS = ['1', '2', '3', '4', '5', '6'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** In the page: presses a key, and tells how long it took until its tab and all that belongs to it
 *  are there. */
async function press(key) {
  const began = performance.now();
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  const chosen = () => document.querySelector('[role=tab][aria-selected=true]').textContent.trim();
  const shown = () => chosen().startsWith(key) && !document.querySelector('#main .stale') && document.querySelector('.sites tbody tr') !== null;
  await new Promise((done) => setTimeout(done)); // what is awaited is marked by then
  await new Promise((done) => {
    const look = () => (shown() ? requestAnimationFrame(done) : requestAnimationFrame(look));
    look();
  });
  return { name: chosen().slice(1).trim(), took: performance.now() - began };
}

const times = new Map(KEYS.map((key) => [key, []]));
const names = new Map();
for (let round = 0; round < Number(rounds); round++)
  for (const key of KEYS) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(url);
    await page.waitForFunction(() => !document.querySelector('.stale') && document.querySelector('.verdict') !== null && document.querySelector('.sites tbody tr') !== null);
    const { name, took } = await page.evaluate(press, key);
    names.set(key, name);
    times.get(key).push(took);
    await page.close();
  }
await browser.close();
for (const [key, all] of times) {
  const sorted = [...all].sort((a, b) => a - b);
  console.log(`key ${key}, ${names.get(key)}: median ${sorted[sorted.length >> 1].toFixed(0)} ms, worst ${sorted.at(-1).toFixed(0)} ms`);
}
/* SPDX-License-Identifier: MIT */
