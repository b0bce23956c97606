/* Opens the page with its fixture in Chromium, and notes what it must not do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export interface Look {
  /** What follows the file's name: "?collected#churn". */
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

const FILE = pathToFileURL(`${process.cwd()}/build/fixture.html`).href;

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** How long is waited for anything: a machine may be busy with much else. */
const PATIENCE = 30_000; // ms

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
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => !request.url().startsWith(FILE) && !/^(data|blob):/.test(request.url()) && faults.push(`request: ${request.url()}`));
  await page.goto(FILE + (look.at ?? ''));
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
    test(name, async () => {
      const { page, context, faults } = await open(browser(), look);
      await check(page);
      assert.deepEqual(faults, []);
      await context.close();
    });
  };
/* SPDX-License-Identifier: MIT */
