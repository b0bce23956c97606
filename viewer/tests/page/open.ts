/* Opens the page with its fixture in Chromium, and notes what it must not do. */
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

/** Waits until the page has an answer to everything that it asked. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('.stale') && (document.querySelector('.population, [role=alert]')?.textContent ?? '').trim() !== '');
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

export async function open(browser: Browser, look: Look = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    colorScheme: look.dark ? 'dark' : 'light',
    forcedColors: look.forced ? 'active' : 'none',
    reducedMotion: 'reduce',
    bypassCSP: look.bypassCSP ?? false,
  });
  context.setDefaultTimeout(6000);
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
/* SPDX-License-Identifier: MIT */
