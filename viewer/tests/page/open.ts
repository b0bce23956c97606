/* Opens a page of tests/page/make_shop.c in Chromium, and notes what it must not do. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { program, without } from '../engine/page.ts';

export { launch } from '../browser.ts';

export interface Look {
  /** Words for make_shop: "few collected"; or "family": three processes. */
  of?: string;
  /** Options for `winnow html`. Its current folder has src/server.cc, and no other source file. */
  html?: string[];
  /** What follows the file's name: "#churn". */
  at?: string;
  width?: number;
  height?: number;
  dark?: boolean;
  forced?: boolean;
  /** Movements are shown. */
  moving?: boolean;
  /** For axe, which is injected. */
  bypassCSP?: boolean;
}

export interface Opened {
  page: Page;
  /** Errors of the console and of scripts, dialogs, and requests beyond the document itself. */
  faults: string[];
  /** Gives the page back for another test. */
  close(): Promise<void>;
}

/* Lines that are no markup, and long ones. */
const LINES = Array.from({ length: 1000 }, (_, line) => (line % 2 ? '\tif (a < b && c) // <b>no markup</b> \u202e' : `\treturn g(${'x'.repeat(300)});`));

/** The page of a shop, which is made once for all tests. The name of its trace is run.trace. */
export function shopPage(words = '', options: string[] = []): string {
  const name = ['shop', ...words.split(' '), ...options].join(' ').replace(/[^\w]+/g, '-');
  const file = `${process.cwd()}/build/pages/${name}.html`;
  if (existsSync(file)) return file;
  const folder = `${file}.${process.pid}`; // another process may make it, too
  mkdirSync(`${folder}/src`, { recursive: true });
  writeFileSync(`${folder}/src/server.cc`, LINES.join('\n'));
  const make = (trace: string, ...given: string[]) => execFileSync(program('tests/page/make_shop'), [`${folder}/${trace}`, ...given]);
  if (words === 'family') mkdirSync(`${folder}/run.trace`);
  if (words === 'family') for (const process of ['0', '1', '2']) make(`run.trace/${process}`, process);
  else make('run.trace', ...words.split(' ').filter(Boolean));
  execFileSync(program('src/cli/winnow'), ['html', ...options, '-o', 'page.html', 'run.trace'], { cwd: folder, stdio: 'pipe' });
  renameSync(`${folder}/page.html`, file);
  rmSync(folder, { recursive: true });
  return file;
}

/** How long is waited for anything: a machine may be busy with much else. */
export const PATIENCE = 30_000; // ms

/** Waits until the page has an answer to everything that it asked. Where there was none before, a text that ends with
 *  dots stands for it; kinds of block are asked for only in sight. */
export const settled = (page: Page): Promise<void> =>
  page.evaluate(async (patience) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const isSettled = () =>
      !document.querySelector('.stale') &&
      (document.querySelector('[role=alert]') ?? (document.querySelector('.population')?.textContent ?? '\u00a0') !== '\u00a0') &&
      ![...document.querySelectorAll(':is(#flame, #table, #time) .empty, #details dd')].some((one) => /^(…|\w[^:]*…)$/.test(one.textContent!));
    for (const began = performance.now(); !isSettled(); await frame())
      if (performance.now() - began > patience) throw new Error('the page has no answer to what it asked');
    for (let times = 0; times < 2; times++) await frame();
  }, PATIENCE);

/** Waits until what was done last is seen at rest and in the address: a movement ends, the next frame tells it, and it is
 *  written some time later. The page's own clock waits, which is late where the page is. */
export const rested = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let times = 0; times < 2; times++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
  });

/* Pages that tests gave back, by browser and by whether they obey the policy. In a page that was there, a file opens with
 * half of the work. */
const idle = new Map<Browser, Idle[][]>();

interface Idle {
  page: Page;
  /** Calls with each complaint of the document that is open. */
  heard: { complain(fault: string): void; url: string };
}

async function newPage(browser: Browser, bypassCSP: boolean): Promise<Idle> {
  const context = await browser.newContext({ bypassCSP });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const heard: Idle['heard'] = { complain: () => {}, url: '' };
  page.on('pageerror', (error) => heard.complain(`thrown: ${error}`));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && heard.complain(message.text()));
  page.on('dialog', (dialog) => heard.complain(`dialog: ${dialog.message()}`));
  page.on('request', (request) => !request.url().startsWith(heard.url) && !/^(data|blob):/.test(request.url()) && heard.complain(`request: ${request.url()}`));
  return { page, heard };
}

/** Opens a document at an address in a page as if nothing had been opened in it, and does not wait for an answer. */
export async function openUrl(browser: Browser, url: string, look: Look = {}): Promise<Opened> {
  const pools = idle.get(browser) ?? [[], []];
  idle.set(browser, pools);
  const pool = pools[+(look.bypassCSP ?? false)]!;
  const one = pool.pop() ?? (await newPage(browser, look.bypassCSP ?? false));
  const { page, heard } = one;
  const faults: string[] = [];
  await page.setViewportSize({ width: look.width ?? 1280, height: look.height ?? 900 });
  await page.emulateMedia({ media: null, colorScheme: look.dark ? 'dark' : 'light', forcedColors: look.forced ? 'active' : 'none', reducedMotion: look.moving ? 'no-preference' : 'reduce' });
  heard.complain = (fault) => void faults.push(fault);
  heard.url = url.replace(/[?#].*/, '');
  await page.goto(url);
  const close = async () => {
    await page.evaluate(() => localStorage.clear());
    heard.complain = () => {};
    await page.goto('about:blank');
    await page.mouse.move(-10, -10);
    const driver = await page.context().newCDPSession(page);
    await driver.send('Page.resetNavigationHistory');
    await driver.detach();
    pool.push(one);
  };
  return { page, faults, close };
}

/** Opens a file with a view, and waits for its answers. */
export async function openFile(browser: Browser, file: string, look: Look = {}): Promise<Opened> {
  const opened = await openUrl(browser, pathToFileURL(file).href + (look.at ?? ''), look);
  await settled(opened.page);
  return opened;
}

export const open = (browser: Browser, look: Look = {}): Promise<Opened> => openFile(browser, shopPage(look.of, look.html), look);

/** Opens the address of a view, of the document that is open, as a link from elsewhere would. */
export async function followLink(page: Page, address: string): Promise<void> {
  const url = page.url().replace(/#.*/, '');
  await page.goto('about:blank');
  await page.goto(url + address);
  await settled(page);
}

export const population = (page: Page): Promise<string> =>
  page.locator('.population').innerText().then((text) => text.replace(/\u202f/g, ' '));
export const chips = (page: Page): Promise<string[]> => page.locator('.chip .clause').allInnerTexts();
export const hash = (page: Page): Promise<string> => page.evaluate(() => location.hash);
/** Makes tests on an open page, which must not complain nor ask anything of a network. */
export const onPageOf =
  (browser: () => Browser) =>
  (name: string, look: Look, check: (page: Page) => Promise<void>): void => {
    test(name, { skip: without }, async () => {
      const { page, faults, close } = await open(browser(), look);
      await check(page);
      assert.deepEqual(faults, []);
      await close();
    });
  };
/* SPDX-License-Identifier: MIT */
