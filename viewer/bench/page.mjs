/* Measures a page in the browser: its first view, when it answers everything, and how long after a step, or after
 * the key of a question, the flame graph and all views show the new answer. Prints medians of some rounds, and the longest task of the
 * main thread. Run in viewer/: node bench/page.mjs PAGE.html|http://ADDRESS/ [ROUNDS] */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , file, rounds = '5'] = process.argv;
const url = file.startsWith('http') ? file : pathToFileURL(resolve(file)).href;
const KEYS = ['2', '3', '4', '5', '6', '8', '1'];
const STEPS = ['#end', '#peak&where=size+%3E+100', '#peak&where=size+%3E+100+and+life+%3E+1ms', '#churn', '#churn&where=size+%3C+1K', '#alive', '#allocated&by=line', '#peak'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** In the page: notes the tasks that are longer than 50 ms, and tells when something is shown. */
function prepare() {
  window.longest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (window.longest = Math.max(window.longest, duration)))).observe({ type: 'longtask', buffered: true });
  const shown = (selector) => [...document.querySelectorAll(selector)].every((part) => !part.classList.contains('stale') && !part.querySelector('.stale'));
  window.flameShown = () => document.querySelector('#flame canvas') !== null && !document.querySelector('#flame.unanswered') && shown('#flame') && document.querySelector('.verdict') !== null;
  window.allShown = () => window.flameShown() && shown('#main');
  window.until = (test) =>
    new Promise((done) => {
      const look = () => (test() ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look));
      look();
    });
  addEventListener('DOMContentLoaded', () => {}, { once: true });
  window.firstView = new Promise((done) => {
    const look = () => (document.querySelector('#flame') && window.flameShown() ? done(performance.now()) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  });
}

/** In the page: goes to an address, or presses a key, and tells how long the graph and all views took. */
async function step(to) {
  const began = performance.now();
  if (to.length > 1) location.hash = to;
  else document.body.dispatchEvent(new KeyboardEvent('keydown', { key: to, bubbles: true }));
  await new Promise((done) => setTimeout(done));
  const flame = (await window.until(window.flameShown)) - began;
  return { flame, all: (await window.until(window.allShown)) - began };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const times = { first: [], ready: [] };
const steps = new Map([...KEYS, ...STEPS].map((name) => [name, { flame: [], all: [] }]));
let longest = 0;
for (let round = 0; round < Number(rounds); round++) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.addInitScript(prepare);
  await page.goto(url);
  times.first.push(await page.evaluate(() => window.firstView));
  await page.evaluate(step, '#end&where=size+%3E+1');
  times.ready.push(await page.evaluate(() => performance.now()));
  await page.evaluate(step, '#peak');
  for (const name of steps.keys()) {
    const took = await page.evaluate(step, name);
    steps.get(name).flame.push(took.flame);
    steps.get(name).all.push(took.all);
  }
  longest = Math.max(longest, await page.evaluate(() => window.longest));
  await page.close();
}
await browser.close();
const ms = (value) => `${value.toFixed(0)} ms`;
console.log(`first view ${ms(median(times.first))}, first answer of the engine ${ms(median(times.ready))}, longest task ${ms(longest)}`);
for (const [name, { flame, all }] of steps) console.log(`${name.length === 1 ? `key ${name}` : name}: flame graph ${ms(median(flame))}, all views ${ms(median(all))}`);
/* SPDX-License-Identifier: MIT */
