/* Chains of frames in one box: opened, folded and found, by mouse and by keys, and in the address. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Flame } from '../../src/engine/answers.ts';
import { FlameData } from '../../src/flame/data.ts';
import { openPage } from '../engine/page.ts';
import { followLink, hash, launch, onPageOf, rested, settled, shopPage } from './open.ts';
import { answerOf } from './views.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const onPage = onPageOf(() => browser);

/* One way leads to it: main, Server::run, Server::loop, Cache::get_or_fill, Cache::insert. */
const ONE_WAY = '#allocated&where=fn+=+Session::create';
const FOLDED = '5 frames: main … insert';
const ROW = 20;

const current = (page: Page) => page.locator('#flame [role=treeitem][aria-selected=true]');
const spoken = (page: Page): Promise<string> => current(page).innerText().then((text) => text.replace(/[\u2068\u2069]/g, '').replace(/, .*/s, ''));
const canvas = (page: Page) => page.locator('#flame canvas');
/** Clicks on a row, so many pixels from the left. */
const clickRow = async (page: Page, row: number, x: number) => {
  await canvas(page).click({ position: { x, y: row * ROW + ROW / 2 } });
  await settled(page);
};

onPage('a chain of frames is spoken as one, and Enter shows its frames', { at: ONE_WAY }, async (page) => {
  await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await spoken(page), FOLDED);
  assert.equal(await current(page).getAttribute('aria-expanded'), 'false');
  assert.equal(await page.locator('#flame [role=treeitem]').count(), 2, 'what is below a folded box is not told');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.equal(await spoken(page), 'main');
  assert.equal(await current(page).getAttribute('aria-expanded'), 'true');
  for (const name of ['Server::run', 'Server::loop', 'Cache::get_or_fill', 'Cache::insert', 'Session::create']) {
    await page.keyboard.press('ArrowDown');
    assert.equal(await spoken(page), name);
  }
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('o');
  await settled(page);
  assert.equal(await spoken(page), FOLDED);
  await page.keyboard.press('ArrowDown');
  assert.equal(await spoken(page), 'Session::create', 'the end of a chain keeps its box');
});

onPage('a click on a folded box shows its frames, one on the mark of the first folds them, and each is a step of its own', { at: ONE_WAY }, async (page) => {
  await clickRow(page, 1, 300);
  assert.match(await hash(page), /&open=[\w-]{4}&/);
  assert.equal(await spoken(page), 'main');
  await clickRow(page, 4, 300);
  assert.equal(await spoken(page), 'Cache::get_or_fill');
  await clickRow(page, 1, 300);
  assert.match(await hash(page), /&open=/, 'beside the mark, a click selects');
  await clickRow(page, 1, 8);
  assert.doesNotMatch(await hash(page), /open=/);
  assert.equal(await spoken(page), FOLDED);
  await page.keyboard.press('u');
  await page.waitForFunction(() => /open=/.test(location.hash));
  await settled(page);
  assert.equal(await spoken(page), 'Cache::insert', 'open again, the frame stays selected that stood for the chain');
});

onPage('a double click on a folded box opens it, and no more', { at: ONE_WAY }, async (page) => {
  await canvas(page).dblclick({ position: { x: 300, y: 1.5 * ROW } });
  await settled(page);
  assert.match(await hash(page), /open=/);
  assert.doesNotMatch(await hash(page), /focus=/);
});

onPage('the link to an open chain shows its frames, under another query too', { at: ONE_WAY }, async (page) => {
  await clickRow(page, 1, 300);
  await rested(page);
  await followLink(page, await hash(page));
  await clickRow(page, 5, 300);
  assert.equal(await spoken(page), 'Cache::insert');
  await page.keyboard.press('8');
});

onPage('a focus below a chain has it above in one row, which opens', { at: `${ONE_WAY}&focus=main;Server::run;Server::loop;Cache::get_or_fill;Cache::insert;Session::create` }, async (page) => {
  const levels = () => page.locator('#flame [role=treeitem]').allInnerTexts().then((all) => all.map((text) => text.replace(/[\u2068\u2069]/g, '').replace(/, .*/s, '')));
  await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
  assert.deepEqual(await levels(), ['all', FOLDED, 'Session::create']);
  await clickRow(page, 1, 300);
  assert.deepEqual(await levels(), ['all', 'main', 'Server::run', 'Server::loop', 'Cache::get_or_fill', 'Cache::insert', 'Session::create']);
  await clickRow(page, 5, 300);
  assert.match(await hash(page), /focus=main;Server::run;Server::loop;Cache::get_or_fill;Cache::insert(&|$)/);
});

onPage('a search marks a folded box, and selects the frame that it finds', { at: ONE_WAY }, async (page) => {
  await page.locator('#query-box').fill('get_or');
  await page.locator('#query-box').blur();
  await page.keyboard.press('n');
  await settled(page);
  assert.equal(await spoken(page), FOLDED);
  assert.equal(await page.locator('#details h2').innerText(), 'Cache::get_or_fill');
  await page.locator('#query-box').fill('');
  await page.locator('#query-box').blur();
  await page.keyboard.press('o');
  await settled(page);
  assert.equal(await spoken(page), 'main');
});

onPage('a row of the table selects the folded box that has its function', { at: ONE_WAY }, async (page) => {
  await page.locator('.sites .callers button').click();
  await page.getByRole('row', { name: /loop/ }).click();
  await settled(page);
  assert.equal(await page.locator('#details h2').innerText(), 'Server::loop');
  await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
  assert.equal(await spoken(page), FOLDED);
});

onPage('the menu of a folded box shows its frames, that of a frame folds them', { at: ONE_WAY }, async (page) => {
  await canvas(page).click({ button: 'right', position: { x: 300, y: 1.5 * ROW } });
  assert.deepEqual(await page.locator('[role=menuitem]').allInnerTexts(), ['Show the 5 frames\no']);
  await page.locator('[role=menuitem]').click();
  await settled(page);
  await canvas(page).click({ button: 'right', position: { x: 300, y: 3.5 * ROW } });
  await page.getByRole('menuitem', { name: /Fold its 5 frames/ }).click();
  await settled(page);
  assert.doesNotMatch(await hash(page), /open=/);
});

onPage('whole stacks are shown at a switch, and by a key', { at: ONE_WAY }, async (page) => {
  await page.getByRole('button', { name: 'whole stacks' }).click();
  await settled(page);
  assert.match(await hash(page), /stacks=whole/);
  await clickRow(page, 3, 300);
  assert.equal(await spoken(page), 'Server::loop');
  await page.keyboard.press('w');
  await settled(page);
  assert.doesNotMatch(await hash(page), /stacks=whole/);
});

onPage('what is said of a folded box has all names in its tip', { at: ONE_WAY }, async (page) => {
  await canvas(page).hover({ position: { x: 300, y: 1.5 * ROW } });
  const line = page.locator('#flame-line');
  assert.match(await line.innerText(), /^5 frames: main … insert/);
  assert.equal(await line.locator('[title]').first().getAttribute('title'), 'main › Server::run › Server::loop › Cache::get_or_fill › Cache::insert');
});

onPage('what is beside the end of a folded box is shown, clicked and focused under its own caller', { at: '#churn&direction=callees&where=size+>%3D+500' }, async (page) => {
  const engine = await openPage(shopPage());
  const data = new FlameData(answerOf<Flame>(engine, { view: 'flame', measure: 'churn', by: 'function', direction: 'callees', where: 'size >= 500' }), undefined, 'bytes', false, '');
  const { layout } = data;
  const chain = layout.children(0)[0];
  assert.equal(data.nameOf(chain), '3 frames: main … loop');
  const [end, last] = layout.children(chain);
  const width = (await canvas(page).boundingBox())!.width;
  const middle = (place: number) => (width * (layout.left[place]! + layout.right[place]!)) / 2 / layout.total;
  const side = end + 1;
  assert.ok(side < last && (width * layout.width(side)) / layout.total > 5);
  await canvas(page).hover({ position: { x: middle(side), y: 2.5 * ROW } });
  assert.match(await page.locator('#flame-line').innerText(), /^Cache::get_or_fill/);
  await clickRow(page, 2, middle(side));
  assert.equal(await page.locator('#details h2').innerText(), 'Cache::get_or_fill');
  await rested(page);
  const path = 'main;Server::run;Server::loop;Cache::get_or_fill';
  assert.ok(decodeURIComponent(await hash(page)).includes(`selected=${path}`), await hash(page));
  await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
  await page.keyboard.press('ArrowUp');
  assert.equal(await spoken(page), '3 frames: main … loop');
  await page.keyboard.press('ArrowDown');
  await clickRow(page, 2, middle(side));
  await page.keyboard.press('Enter');
  await settled(page);
  await rested(page);
  assert.ok(decodeURIComponent(await hash(page)).includes(`focus=${path}&`), await hash(page));
  assert.deepEqual((await page.locator('#flame [role=treeitem]').allInnerTexts()).slice(0, 4).map((text) => text.replace(/[\u2068\u2069]/g, '').replace(/, .*/s, '')), ['all', 'main', 'Server::run', 'Server::loop']);
});

onPage('functions that only call are one row at the end, which opens', { at: '#allocated' }, async (page) => {
  const rows = page.locator('.sites tbody tr:not(.gap)');
  const button = page.locator('.sites .callers button');
  await page.locator('#table-region').evaluate((region) => (region.scrollTop = 1e6));
  await rested(page);
  const [number] = /\d+/.exec(await button.innerText())!;
  assert.match(await button.innerText(), /^\d+ functions that only call ▸$/);
  const before = Number(await rows.last().getAttribute('aria-rowindex'));
  await button.click();
  await settled(page);
  assert.match(await hash(page), /rows=all/);
  await page.locator('#table-region').evaluate((region) => (region.scrollTop = 1e6));
  await rested(page);
  assert.equal(Number(await rows.last().getAttribute('aria-rowindex')), before + Number(number));
  await page.getByRole('button', { name: /^with callees/ }).click();
  await settled(page);
  assert.equal(await button.count(), 0, 'in another order all have rows');
});
/* SPDX-License-Identifier: MIT */
