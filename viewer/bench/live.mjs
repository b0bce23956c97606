/* Measures how often the page of `winnow view` takes over a trace that grows: records a program
 * that allocates 3,000 blocks a second, opens the page while it runs, and counts how often the
 * numbers that are shown change. Prints the changes a second, the longest time without one, and the
 * processor time of the page's process. Run in viewer/:
 *
 *   node bench/live.mjs BUILD [SECONDS]    BUILD: a build of Winnow, such as ../build/release */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';

const [, , build, seconds = '20'] = process.argv;
const winnow = resolve(build, 'src/cli/winnow');
const folder = mkdtempSync(join(tmpdir(), 'winnow-'));
const trace = join(folder, 'growing.trace');
const LONGER = 20; // s that the program runs before and after what is measured
const program = `$| = 1; for (1 .. ${10 * (Number(seconds) + LONGER)}) { push @kept, "x" x 2000 for 1 .. 300; select undef, undef, undef, 0.1 }`;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const started = [];
function start(args, output) {
  /* A group of its own, for the program that is recorded is a child of it. */
  const child = spawn(winnow, args, { stdio: ['ignore', output, 'inherit'], detached: true });
  started.push(child);
  return child;
}

async function untilReadable() {
  for (let tries = 0; tries < 200; tries++) {
    await sleep(50);
    try {
      return void execFileSync(winnow, ['info', trace], { stdio: 'ignore' });
    } catch {
      /* it has not begun */
    }
  }
  throw new Error('nothing is recorded');
}

/** In the page: notes when what is shown of the trace changes. */
function changesIn(ms) {
  const facts = document.querySelector('#header .facts');
  const times = [performance.now()];
  let last = facts.textContent;
  const observer = new MutationObserver(() => {
    if (facts.textContent !== last) times.push(performance.now());
    last = facts.textContent;
  });
  observer.observe(facts, { childList: true, characterData: true, subtree: true });
  return new Promise((done) => setTimeout(() => (observer.disconnect(), done([...times, performance.now()])), ms));
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  start(['record', '--rate', '1e-3', '-o', trace, '--', 'perl', '-e', program], 'ignore');
  await untilReadable();
  const server = start(['view', '--no-open', trace], 'pipe');
  const [line] = await new Promise((done) => server.stdout.once('data', (bytes) => done(String(bytes).split(' '))));
  const system = await browser.newBrowserCDPSession();
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(line);
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await sleep(3000);
  const spent = async () => (await system.send('SystemInfo.getProcessInfo')).processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  const before = await spent();
  const times = await page.evaluate(changesIn, 1000 * Number(seconds));
  const used = (await spent()) - before;
  const longest = Math.max(...times.slice(1).map((at, index) => at - times[index]));
  console.log(`${((times.length - 2) / Number(seconds)).toFixed(1)} changes a second, at most ${(longest / 1000).toFixed(1)} s without one, page's process ${((100 * used) / Number(seconds)).toFixed(0)} % of a processor`);
} finally {
  await browser.close();
  for (const { pid, exitCode } of started) if (exitCode === null) process.kill(-pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
}
/* SPDX-License-Identifier: MIT */
