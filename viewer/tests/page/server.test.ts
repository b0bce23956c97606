/* The page that `winnow view` serves, in a browser: of a finished trace, of one that grows, and of a
 * server that goes away. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { inFolder, makePage, program, without } from '../engine/page.ts';
import { decodeAnswer, type Flame, type Head, stateOf, type Table, type Totals } from '../../src/engine/answers.ts';
import { amount, bytes, duration, numberOf, shortCount, withError } from '../../src/numbers.ts';
import { PATIENCE, launch, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const ended = (process: ChildProcess) => new Promise<void>((resolve) => (process.exitCode ?? process.signalCode) === null ? process.once('exit', () => resolve()) : resolve());

async function stop(process: ChildProcess): Promise<void> {
  process.kill('SIGKILL');
  await ended(process);
}

/** Starts `winnow view`, and calls with its process and the page's address. */
async function serve(options: string[], use: (url: string, server: ChildProcess) => Promise<void>): Promise<void> {
  const server = spawn(program('src/cli/winnow'), ['view', '--no-open', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const line = await new Promise<string>((resolve, reject) => {
      server.stdout!.once('data', (bytes) => resolve(String(bytes)));
      server.once('exit', (code) => reject(new Error(`winnow view ended with code ${code}`)));
    });
    await use(line.split(' ')[0]!, server);
  } finally {
    await stop(server);
  }
}

/** Opens an address, and notes what the console complains of. `prepare` is called before anything is asked. */
async function openAt(url: string, prepare: (page: Page) => unknown = () => {}): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1400 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  await prepare(page);
  await page.goto(url);
  await settled(page);
  await page.waitForSelector('.sites tbody tr');
  return { page, faults };
}

const textOf = (page: Page, selector: string) => page.locator(selector).innerText().then((text) => text.replace(/\u202f/g, ' '));
const factOf = (page: Page) => textOf(page, '#header .facts');

test('the served page says what the page in a file says, and takes queries', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace, page: file } = makePage(folder, ['collected']);
    await serve([trace], async (url) => {
      const served = await openAt(url);
      const whole = await openAt(pathToFileURL(file).href);
      for (const key of ['1', 'e', '2', '3', '5', '6', '7']) {
        await served.page.keyboard.press(key);
        await whole.page.keyboard.press(key);
        await settled(served.page);
        await settled(whole.page);
        for (const part of ['#verdict', '#population', '#table']) assert.equal(await textOf(served.page, part), await textOf(whole.page, part));
      }
      await served.page.keyboard.press('f');
      await served.page.keyboard.type('size > 1K');
      await served.page.keyboard.press('Enter');
      await served.page.waitForSelector('.chip');
      await settled(served.page);
      assert.match(await textOf(served.page, '#population'), /^Matching blocks/);
      assert.equal(await served.page.getByRole('button', { name: 'Pause' }).count(), 0);
      assert.deepEqual(served.faults, []);
      await served.page.context().close();
      await whole.page.context().close();
    });
  }));

test('a part of a large trace is said to be one', { skip: without }, () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'many.trace');
    execFileSync(program('tests/cli/make_trace'), ['many', trace, '20000']);
    await serve(['--samples', '2000', trace], async (url) => {
      const { page, faults } = await openAt(url);
      assert.match(await textOf(page, '#header'), /1 of (9|10|11)\S* samples is shown/);
      assert.deepEqual(faults, []);
      await page.context().close();
    });
  }));

test('a server that is killed is missed, and what it answered stays', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace } = makePage(folder, ['plain']);
    await serve([trace], async (url, server) => {
      const { page, faults } = await openAt(url);
      const before = await textOf(page, '#table');
      const said = await textOf(page, '.population');
      assert.deepEqual(faults, []);
      await stop(server);
      await page.keyboard.press('3'); /* an unanswered question */
      await page.getByRole('alert').waitFor();
      await page.locator('.population.old').waitFor();
      assert.equal(await textOf(page, '.population'), said);
      for (const part of ['#flame.old', '.sites.old']) await page.locator(part).waitFor();
      assert.match(await textOf(page, '[role=alert]'), /does not answer any more/);
      assert.match((await page.locator('#main').getAttribute('class')) ?? '', /gone/);
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.keyboard.press('1');
      await settled(page);
      assert.equal(await textOf(page, '#table'), before);
      assert.equal(await page.locator('.old').count(), 0);
      await page.context().close();
    });
  }));

test('a server that answers again is taken up again', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace } = makePage(folder, ['plain']);
    await serve([trace], async (url) => {
      const { page } = await openAt(url);
      await page.context().setOffline(true);
      await page.keyboard.press('3');
      await page.getByRole('alert').waitFor();
      await page.context().setOffline(false);
      await page.getByRole('alert').waitFor({ state: 'detached' }); /* by itself */
      await settled(page);
      assert.match(await textOf(page, '#population'), /lived less/);
      assert.doesNotMatch((await page.locator('#main').getAttribute('class')) ?? '', /gone/);
      await page.context().close();
    });
  }));

/* A program that allocates until there is a file, or for a minute. */
const records = !without && existsSync(program('src/preload/libwinnow-malloc.so'));
const PROGRAM = '$| = 1; for (1 .. 600) { last if -e $ARGV[0]; push @kept, "x" x 2000 for 1 .. 300; select undef, undef, undef, 0.1 }';

/** Ends a program that is recorded: killed, its child would allocate on. */
async function endRecording(trace: string, recorded: ChildProcess): Promise<void> {
  writeFileSync(`${trace}.stop`, '');
  await ended(recorded);
}

async function record(trace: string, rate = '1e-3'): Promise<ChildProcess> {
  const recorded = spawn(program('src/cli/winnow'), ['record', '--rate', rate, '-o', trace, '--', 'perl', '-e', PROGRAM, `${trace}.stop`], { stdio: 'ignore' });
  for (let tries = 0; tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    try {
      execFileSync(program('src/cli/winnow'), ['info', trace], { stdio: 'ignore' });
      break;
    } catch {
      /* it has not begun */
    }
  }
  return recorded;
}

/** Waits until the facts are others. */
const changed = (page: Page, old: string) =>
  page.waitForFunction((before) => document.querySelector<HTMLElement>('#header .facts')!.innerText.replace(/\u202f/g, ' ') !== before, old);

test('a growing trace is followed, pauses, and ends', { skip: without || (!records && 'nothing can be recorded in this build') }, () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'growing.trace');
    const recorded = await record(trace);
    try {
      await serve([trace], async (url) => {
        const { page, faults } = await openAt(url);
        await page.getByRole('button', { name: 'Pause' }).waitFor();
        assert.match(await factOf(page), /still running/);
        await page.locator('#population').getByRole('button', { name: 'Now' }).waitFor();
        for (let times = 0; times < 2; times++) await changed(page, await factOf(page));
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByText('the program has allocated since').waitFor();
        const shown = await factOf(page);
        await page.waitForTimeout(700);
        assert.equal(await factOf(page), shown);
        await page.getByRole('button', { name: 'Resume' }).click();
        await changed(page, shown);
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByRole('button', { name: 'What changed since?' }).waitFor(); /* no older answer is on its way then */
        const from = Number(/([\d.]+) s/.exec(await factOf(page))![1]); /* three digits of it */
        await page.getByRole('button', { name: 'What changed since?' }).click();
        await page.getByRole('tab', { name: 'Compare', selected: true }).waitFor();
        await page.getByRole('button', { name: 'Pause' }).waitFor();
        const against = Number(/against=([\d.]+)s/.exec(page.url())![1]);
        assert.ok(Math.abs(against - from) <= 0.01 * from, `${against} s instead of ${from} s`);
        await settled(page);
        assert.match(await textOf(page, '#population'), /new/);
        await page.getByRole('tab', { name: 'Held' }).click();
        await page.locator('#population').getByRole('button', { name: 'Now' }).click();
        await endRecording(trace, recorded);
        await page.getByText('The program has ended').waitFor();
        await settled(page);
        assert.doesNotMatch(await factOf(page), /still running/);
        await page.locator('#population').getByRole('button', { name: 'At the end' }).waitFor();
        assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0);
        assert.deepEqual(faults, []);
        await page.context().close();
      });
    } finally {
      await endRecording(trace, recorded);
    }
  }));

/* ---- one state ---- */

/** What was answered, by state. */
interface Answers {
  head: Head[];
  totals: Totals[];
  flame: Flame[];
  table: Table[];
}
type States = Map<number, Answers>;

/** Reads along what the server answers. */
function overhear(page: Page, states: States, read: Promise<void>[]): void {
  page.on('response', (response) => {
    if (!response.url().endsWith('/answer')) return;
    const keep = async () => {
      const body = await response.body();
      let at = 0;
      for (const request of response.request().postData()!.split('\n\n')) {
        const end = at + 4 + body.readUInt32LE(at);
        const answer = body.buffer.slice(body.byteOffset + at + 4, body.byteOffset + end) as ArrayBuffer;
        at = end;
        const state = states.get(stateOf(answer)) ?? { head: [], totals: [], flame: [], table: [] };
        states.set(stateOf(answer), state);
        const kind = /^view=(head|totals|flame|table)\b/.exec(request)?.[1] as keyof typeof state | undefined;
        if (kind) (state[kind] as unknown[]).push(decodeAnswer(answer));
      }
    };
    read.push(keep().catch(() => {})); /* of a page that was closed meanwhile */
  });
}

/** What is seen in one frame: numbers in words, which each come from answers to other questions. */
interface Picture {
  facts: string;
  verdict: string;
  population: string;
  graph: string;
  row: string[];
}

/** Has the page keep each picture that differs from the one before. */
const watch = (page: Page): Promise<void> =>
  page.addInitScript(() => {
    const pictures: Picture[] = [];
    Object.assign(window, { pictures });
    let last = '';
    const textOf = (selector: string) => document.querySelector(selector)?.textContent ?? '';
    const look = () => {
      const row = [...document.querySelectorAll('.sites tbody tr[aria-rowindex="2"] :is(.self .value, .total .value, .blocks)')].map((cell) => cell.textContent ?? '');
      const picture = { facts: textOf('#header .facts'), verdict: textOf('dl.verdict'), population: textOf('p.population'), graph: textOf('#flame [role=treeitem]'), row };
      const text = JSON.stringify(picture);
      if (text !== last && picture.facts && picture.verdict && row.length) pictures.push(picture);
      last = text;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

/** The states whose answers say what a picture says, for each of its parts. */
function statesOf(picture: Picture, states: States): Record<string, number[]> {
  const has = (text: string, ...parts: string[]) => parts.every((part) => text.includes(part));
  /* At the peak there is no sentence. */
  const sentence = (test: (state: Answers) => boolean) => (picture.population.trim() ? among(test) : [...states.keys()]);
  const among = (test: (state: Answers) => boolean) => [...states].filter(([, state]) => test(state)).map(([number]) => number);
  return {
    facts: among(({ head }) => head.some(({ trace }) => has(picture.facts, ` ${duration(trace.duration_ns)} `, ` ${numberOf(trace.samples, 'sampled block')}`))),
    verdict: among(({ totals }) => totals.some(({ totals: all }) => has(picture.verdict, amount(all.peak_bytes), amount(all.live_at_end_bytes), amount(all.allocated_bytes)))),
    moment: sentence(({ totals }) => totals.some(({ at_ns }) => has(picture.population, ` ${duration(at_ns)}`))),
    whole: sentence(({ flame }) => flame.some(({ columns: { bytes: all, low, high, samples } }) => has(picture.population, withError({ estimate: all[0]!, low: low[0]!, high: high[0]!, samples: samples[0]! })))),
    graph: among(({ flame }) => flame.some(({ columns }) => has(picture.graph, bytes(columns.bytes[0]!)))),
    table: among(({ table }) =>
      table.some(({ columns: { self, self_low, self_high, self_samples, total, total_low, total_high, samples, blocks } }) => {
        const of = (value: Float64Array, low: Float64Array, high: Float64Array, samples: Uint32Array, at: number) =>
          amount({ estimate: value[at]!, low: low[at]!, high: high[at]!, samples: samples[at]! });
        return Array.from(self).some((_, at) => [of(self, self_low, self_high, self_samples, at), of(total, total_low, total_high, samples, at), shortCount(blocks[at]!)].join() === picture.row.join());
      }),
    ),
  };
}

for (const isOfOne of [false, true])
  test(`all that is shown of a growing trace is of one state, also while others ask${isOfOne ? ', of a function too' : ''}`, { skip: without || (!records && 'nothing can be recorded in this build') }, () =>
    inFolder(async (folder) => {
      const trace = join(folder, 'growing.trace');
      const recorded = await record(trace, '0.1');
      try {
        await serve([trace], async (url) => {
          const states: States = new Map();
          const read: Promise<void>[] = [];
          let isOver = false;
          const load = async () => {
            for (let times = 0; !isOver; times++) {
              await fetch(`${url}answer`, { method: 'POST', body: `view=flame\nwhere=size > ${times % 50}\nby=line\n` }).then((response) => response.arrayBuffer());
              await new Promise((resolve) => setTimeout(resolve, 20)); /* the page has a processor, too */
            }
          };
          const others = [load(), load(), load()];
          const { page, faults } = await openAt(url, (page) => (overhear(page, states, read), watch(page)));
          if (isOfOne) {
            await page.locator('.sites tbody tr').first().click();
            await page.keyboard.press('s');
            await page.waitForSelector('.trail .of');
          }
          const seen = (count: number) =>
            page.waitForFunction((wanted) => new Set((window as unknown as { pictures: Picture[] }).pictures.map(({ facts }) => facts)).size >= wanted, count, { timeout: 60_000 });
          for (let count = 3; count <= 8; count++) {
            await page.keyboard.press(count % 2 ? 'e' : 'p'); /* other questions, in the middle of the answers to the last */
            await seen(count);
          }
          const pictures = await page.evaluate(() => (window as unknown as { pictures: Picture[] }).pictures);
          isOver = true;
          await Promise.all(others);
          await page.context().close();
          await Promise.all(read);
          for (const picture of pictures) {
            const parts = Object.entries(statesOf(picture, states));
            const common = parts.map(([, its]) => its).reduce((some, its) => some.filter((state) => its.includes(state)));
            assert.ok(common.length, `two states in one picture: ${JSON.stringify(picture)}: ${JSON.stringify(parts)}`);
          }
          assert.deepEqual(faults, []);
        });
      } finally {
        await endRecording(trace, recorded);
      }
    }));
/* SPDX-License-Identifier: MIT */
