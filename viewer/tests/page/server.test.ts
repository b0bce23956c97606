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
import { launch, settled } from './open.ts';

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

/** Opens an address, and notes what the console complains of. */
async function openAt(url: string): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1400 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(10000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
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
      for (const key of ['1', '2', '3', '5', '6', '8']) {
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

async function record(trace: string): Promise<ChildProcess> {
  const recorded = spawn(program('src/cli/winnow'), ['record', '--rate', '1e-3', '-o', trace, '--', 'perl', '-e', PROGRAM, `${trace}.stop`], { stdio: 'ignore' });
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
        await page.getByRole('tab', { name: 'Now' }).waitFor();
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
        await page.getByRole('tab', { name: 'Now' }).click();
        writeFileSync(`${trace}.stop`, '');
        await ended(recorded);
        await page.getByText('The program has ended').waitFor();
        await settled(page);
        assert.doesNotMatch(await factOf(page), /still running/);
        await page.getByRole('tab', { name: 'At the end' }).waitFor();
        assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0);
        assert.deepEqual(faults, []);
        await page.context().close();
      });
    } finally {
      await stop(recorded);
    }
  }));
/* SPDX-License-Identifier: MIT */
