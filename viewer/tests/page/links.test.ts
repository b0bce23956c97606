/* Every view is a link: wherever a walk through the page leads, its address shows the same picture again. And whatever
 * file is opened, the page is never blank. WINNOW_SOAK=1 walks longer, WINNOW_WALK_SEED=NUMBER elsewhere. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { inFolder, makePage, without } from '../engine/page.ts';
import { followLink, hash, launch, open, openUrl, rested, settled } from './open.ts';

const WALKS = process.env['WINNOW_SOAK'] ? 100 : 3;
const ROUNDS = process.env['WINNOW_SOAK'] ? 300 : 8;
const SEED = Number(process.env['WINNOW_WALK_SEED'] ?? 5);
const STEPS = 8;

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48271) % 2147483647) % below;
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', 'e', 'g', 'i', 'c', 'm', 'k', 'd', 'x', 's', 'w', 'o', 'Escape', 'u', ',', '.', '[', 'Shift+Period'];
const GRAPH_KEYS = ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'Enter', 'Backspace', '+', '+', '-', '0'];

async function takeStep(page: Page, draw: (below: number) => number): Promise<void> {
  switch (draw(5)) {
    case 0: {
      const rows = page.locator('.sites tbody tr:not(.gap)');
      const count = await rows.count();
      if (count) await rows.nth(draw(Math.min(count, 5))).click();
      break;
    }
    case 1: {
      const titles = page.locator('.sites thead button:visible'); // which they are depends on the tab and on the room
      const count = await titles.count();
      if (count) await titles.nth(draw(count)).click();
      break;
    }
    case 2: {
      const box = await page.locator('#flame-host canvas').boundingBox();
      if (!box) {
        assert.match(await page.locator('.population').innerText(), /none was sampled/, 'a view with samples has a graph');
        break;
      }
      await page.mouse.move(box.x + (draw(1000) / 1000) * box.width, box.y + draw(200));
      await page.mouse.wheel(0, draw(200) - 100);
      if (draw(2)) await page.mouse.down();
      await page.mouse.up();
      await page.locator('[role=treeitem][tabindex="0"]').focus();
      for (let times = 1 + draw(4); times > 0; times--) await page.keyboard.press(GRAPH_KEYS[draw(GRAPH_KEYS.length)]!);
      break;
    }
    default:
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press(KEYS[draw(KEYS.length)]!);
  }
  await settled(page);
}

async function picture(page: Page) {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.mouse.move(2, 2);
  await settled(page);
  await rested(page);
  return await page.evaluate(() => ({
    population: document.querySelector('.population')!.textContent,
    tab: document.querySelector('#tabs [aria-selected=true], #tabs [aria-current]')!.textContent,
    chips: document.querySelector('.box')!.textContent,
    details: document.querySelector('#details')!.textContent,
    trail: document.querySelector('#flame-head')!.textContent,
    line: document.querySelector('#flame-line')!.textContent,
    canvas: [...document.querySelectorAll<HTMLCanvasElement>('#flame-host canvas')].filter((one) => one.checkVisibility()).map((one) => one.toDataURL()).join(),
  }));
}

async function walk(number: number): Promise<void> {
  const draw = drawing(SEED * 1000 + number + 1);
  const { page, faults, close } = await open(browser, { of: number % 2 ? '' : 'collected', ...(number % 3 === 1 && { at: '#peak&of=Server::loop', height: 640 }) });
  for (let step = 0; step < STEPS; step++) await takeStep(page, draw);
  const seen = await picture(page);
  const address = await hash(page);
  assert.ok(address.length <= 2048, `${address.length} characters`);
  await followLink(page, address);
  const again = await picture(page);
  for (const part of Object.keys(seen) as (keyof typeof seen)[])
    assert.ok(again[part] === seen[part], `${part} is another after ${address}\n${part === 'canvas' ? '' : `${seen[part]}\n${again[part]}`}`);
  assert.deepEqual(faults, []);
  await close();
}

/** Tries each number, and tells all that failed, with the seed that brings them again. */
async function each(what: string, count: number, attempt: (number: number) => Promise<void>): Promise<void> {
  const failed: string[] = [];
  for (let number = 0; number < count; number++)
    await attempt(number).catch((error: Error) => failed.push(`${what} ${number}: ${error.message}`));
  assert.ok(!failed.length, `WINNOW_WALK_SEED=${SEED}\n${failed.join('\n')}`);
}

test(`the address after each of ${WALKS} random walks shows the same picture`, { skip: without }, () => each('walk', WALKS, walk));

test('a file that was cut or changed is never a blank page', { skip: without }, () =>
  inFolder(async (folder) => {
    const html = readFileSync(makePage(folder, ['named']).page, 'utf8');
    const begin = html.indexOf('<script type="application/octet-stream" data-section=');
    await each('round', ROUNDS, async (round) => {
      const draw = drawing(SEED * 1000 + round + 1);
      const place = begin + draw(html.length - begin);
      const file = join(folder, `damaged${round}.html`);
      writeFileSync(file, round % 2 ? html.slice(0, place) : `${html.slice(0, place)}#${html.slice(place + 1)}`);
      const { page, faults, close } = await openUrl(browser, pathToFileURL(file).href);
      await page.keyboard.press('7');
      await page.waitForFunction(() => {
        const alert = document.querySelector('[role=alert]')?.textContent ?? '';
        const numbers = document.querySelector('.sites tbody tr');
        return /damaged|section [A-Z]{4}|no recording/.test(alert) || (numbers && !document.querySelector('.stale'));
      });
      assert.deepEqual(faults.filter((fault) => fault.startsWith('thrown: ')), []);
      await close();
    });
  }));
/* SPDX-License-Identifier: MIT */
