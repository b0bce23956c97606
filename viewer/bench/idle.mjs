/* Measures what an open page costs while nobody touches it: the processor time of its process and of its main thread,
 * and, of `winnow view`, how often it took over a change of the trace. Run in viewer/:
 *
 *   node bench/idle.mjs PAGE.html|http://ADDRESS/ [SECONDS] */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , file, seconds = '10'] = process.argv;
const url = file.startsWith('http') ? file : pathToFileURL(resolve(file)).href;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const system = await browser.newBrowserCDPSession();
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
const own = await page.context().newCDPSession(page);
await own.send('Performance.enable');

/** Seconds of processor time: of all processes that show pages, and of the main thread of this one. */
async function costs() {
  const { processInfo } = await system.send('SystemInfo.getProcessInfo');
  const { metrics } = await own.send('Performance.getMetrics');
  return {
    process: processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0),
    tasks: metrics.find(({ name }) => name === 'TaskDuration').value,
  };
}

let changes = 0;
page.on('request', (request) => (changes += (request.postData() ?? '').includes('view=head') ? 1 : 0));
await page.goto(url);
await page.waitForFunction(() => !document.querySelector('.stale') && document.querySelector('.verdict, .empty') !== null);
await new Promise((done) => setTimeout(done, 3000)); // the engine is ready, and what is far down the page is there
changes = 0;
const before = await costs();
const began = performance.now();
await new Promise((done) => setTimeout(done, Number(seconds) * 1000));
const after = await costs();
const took = (performance.now() - began) / 1000;
const part = (what) => `${((100 * (after[what] - before[what])) / took).toFixed(2)} %`;
console.log(`process ${part('process')} of a processor, main thread ${part('tasks')}, ${(changes / took).toFixed(1)} changes a second`);
await browser.close();
/* SPDX-License-Identifier: MIT */
