/* Opens the test page in Chromium. */

import assert from 'node:assert/strict';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';

export { launch } from '../browser.ts';

const HERE = process.cwd().endsWith('viewer') ? process.cwd() : `${process.cwd()}/viewer`;

export interface Look {
  width?: number;
  height?: number;
  ratio?: number;
  dark?: boolean;
  forced?: boolean;
  still?: boolean;
  touch?: boolean;
}

let script: string | null = null;

/** The page's script as text. */
async function bundle(): Promise<string> {
  if (script !== null) return script;
  const built = await build({
    entryPoints: [`${HERE}/tests/flame/page.ts`],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
  });
  script = built.outputFiles[0]!.text;
  return script;
}

const STYLE = `
  html { color-scheme: light dark; font: 13px system-ui, sans-serif; }
  body { margin: 0; background: light-dark(#fff, #15171a); color: light-dark(#1b1f24, #e6e8eb); }
  #host { height: 100vh; }
`;

/* Pages that tests gave back, by what a page has for its life. */
const idle = new Map<string, Page[]>();
const errorsOf = new WeakMap<Page, string[]>();

async function newPage(browser: Browser, { ratio = 1, touch = false }: Look): Promise<Page> {
  const context = await browser.newContext({ deviceScaleFactor: ratio, hasTouch: touch });
  const page = await context.newPage();
  const complain = (error: string) => void errorsOf.get(page)!.push(error);
  page.on('pageerror', (error) => complain(String(error)));
  page.on('console', (message) => message.type() === 'error' && complain(message.text()));
  return page;
}

const kindOf = ({ ratio = 1, touch = false }: Look) => `${ratio} ${touch}`;

export async function openPage(browser: Browser, look: Look = {}): Promise<Page> {
  const page = idle.get(kindOf(look))?.pop() ?? (await newPage(browser, look));
  errorsOf.set(page, []);
  await page.setViewportSize({ width: look.width ?? 1280, height: look.height ?? 600 });
  await page.emulateMedia({
    colorScheme: look.dark ? 'dark' : 'light',
    contrast: 'no-preference',
    forcedColors: look.forced ? 'active' : 'none',
    reducedMotion: look.still === false ? 'no-preference' : 'reduce',
  });
  await page.setContent(`<!doctype html><html lang="en"><title>Flame graph</title><style>${STYLE}</style><main id="host"></main></html>`);
  await page.addScriptTag({ content: await bundle() });
  return page;
}

/** Gives back a page that had no errors, for another test. */
export async function closePage(page: Page, look: Look = {}): Promise<void> {
  assert.deepEqual(errorsOf.get(page), []);
  await page.goto('about:blank');
  await page.mouse.move(-10, -10);
  idle.set(kindOf(look), [...(idle.get(kindOf(look)) ?? []), page]);
}

/** Until what was asked for is drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

/** Until what moves is at rest, and drawn. The page's own clock waits, which is late where the page is. */
export async function rested(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
  await drawn(page);
}

/* SPDX-License-Identifier: MIT */
