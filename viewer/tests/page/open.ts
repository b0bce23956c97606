/* Opens a page of tests/page/make_shop.c in Chromium, and notes what it must not do. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
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
  /** For axe, which is injected. */
  bypassCSP?: boolean;
}

export interface Opened {
  page: Page;
  context: BrowserContext;
  /** Errors of the console and of scripts, and requests beyond the file itself. */
  faults: string[];
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
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      !document.querySelector('.stale') &&
      (document.querySelector('[role=alert]') ?? (document.querySelector('.population')?.textContent ?? '\u00a0') !== '\u00a0') &&
      ![...document.querySelectorAll(':is(#flame, #table, #time) .empty, #details dd')].some((one) => /^(…|\w[^:]*…)$/.test(one.textContent!)),
    null,
    { timeout: PATIENCE },
  );
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Waits until what was done last is seen at rest and in the address: a movement ends, the next frame tells it, and it is
 *  written some time later. The page's own clock waits, which is late where the page is. */
export const rested = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let times = 0; times < 2; times++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
  });

export async function open(browser: Browser, look: Look = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    colorScheme: look.dark ? 'dark' : 'light',
    forcedColors: look.forced ? 'active' : 'none',
    reducedMotion: 'reduce',
    bypassCSP: look.bypassCSP ?? false,
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const file = pathToFileURL(shopPage(look.of, look.html)).href;
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => !request.url().startsWith(file) && !/^(data|blob):/.test(request.url()) && faults.push(`request: ${request.url()}`));
  await page.goto(file + (look.at ?? ''));
  await settled(page);
  return { page, context, faults };
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
      const { page, context, faults } = await open(browser(), look);
      await check(page);
      assert.deepEqual(faults, []);
      await context.close();
    });
  };
/* SPDX-License-Identifier: MIT */
