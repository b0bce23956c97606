/* The details of a selected function: its parts are those of the engine, and lead to what they name; its query selects it. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { chips, hash, launch, onPageOf, population, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const onPage = onPageOf(() => browser);

const plain = (text: string) => text.replace(/[\u202f\u00a0]/g, ' ');
const select = async (page: Page, name: string) => {
  await page.locator('.sites tbody tr').filter({ has: page.getByRole('rowheader', { name, exact: true }) }).click();
  await settled(page);
};
const parts = (page: Page, title: string) => page.locator('.parts').filter({ has: page.getByRole('columnheader', { name: title, exact: true }) });
/** Name, bytes and share of each row, and what the last row says of more. */
const rowsOf = async (page: Page, title: string): Promise<string[][]> =>
  (await parts(page, title).locator('tbody tr').allInnerTexts()).map((row) => plain(row).split('\t').map((cell) => cell.trim()));
const fact = (page: Page, name: string) => page.locator('#details .facts div').filter({ has: page.getByText(name, { exact: true }) }).locator('dd').innerText().then(plain);
const shares = (rows: string[][]) => rows.reduce((sum, [, , share]) => sum + (Number.parseFloat(share ?? '') || 0), 0);

onPage('a function has its callers with their shares, and a click selects one', { at: '#allocated&rows=all', height: 1600 }, async (page) => {
  await select(page, 'Buffer::append');
  const callers = await rowsOf(page, 'callers');
  assert.deepEqual(callers.map(([name]) => name), ['Http::Parser::parse_headers', 'Template::render']);
  assert.ok(callers.every(([, size]) => /^\d[\d.]* MB$/.test(size!)), `${callers}`);
  assert.equal(shares(callers), 100);
  assert.equal(await parts(page, 'callees').count(), 0); // it calls nothing that allocates
  await parts(page, 'callers').getByRole('button', { name: 'Template::render' }).click();
  await settled(page);
  assert.equal(await page.locator('#details h2').innerText(), 'Template::render');
  assert.match(await page.locator('.sites tr[aria-current]').innerText(), /^Template::render/);
});

onPage('a recursion counts once, and what a function allocated itself is one of its parts', { at: '#allocated&rows=all', height: 1600 }, async (page) => {
  await select(page, 'Template::render');
  assert.deepEqual((await rowsOf(page, 'callers')).map(([name, , share]) => [name, share]), [['Http::Connection::handle', '100 %']]);
  const callees = await rowsOf(page, 'callees');
  assert.deepEqual(callees.map(([name]) => name), ['Buffer::append', 'regexec']);
  assert.equal(shares(callees), 100);
  await select(page, 'Cache::insert');
  const [first, second] = await rowsOf(page, 'callees');
  assert.deepEqual([first![0], second![0]], ['itself', 'Session::create']);
  assert.ok((await fact(page, 'own')).startsWith(first![1]!));
  assert.equal(await parts(page, 'callees').getByRole('button', { name: 'itself' }).count(), 0);
});

onPage('of many threads the largest three are shown, and the number of the others leads to all', { at: '#allocated&rows=all', height: 1600 }, async (page) => {
  await select(page, 'main');
  assert.equal(await parts(page, 'callers').count(), 0);
  const threads = await rowsOf(page, 'threads');
  assert.equal(threads.length, 4);
  assert.match(threads[3]!.join(), /^\d more$/);
  await parts(page, 'threads').getByRole('button', { name: 'more' }).click();
  await settled(page);
  assert.deepEqual(await chips(page), ['fn = main']);
  assert.match(await hash(page), /by=thread/);
});

onPage('lines and threads lead to their rows of the table', { at: '#end&where=size+%3E+100', height: 1600 }, async (page) => {
  await select(page, 'Cache::insert');
  const [line] = await rowsOf(page, 'lines');
  assert.match(line![0]!, /^server\.cc:\d+/);
  assert.equal(line![2], '100 %');
  const [thread] = await rowsOf(page, 'threads');
  await parts(page, 'threads').getByRole('button').first().click();
  await settled(page);
  assert.deepEqual(await chips(page), ['size > 100', 'fn = Cache::insert']);
  const row = plain(await page.locator('.sites tr[aria-current]').innerText());
  assert.ok(row.startsWith(thread![0]!) && row.includes(thread![1]!), `${row}: ${thread}`);
  await page.goBack();
  await settled(page);
  await parts(page, 'lines').getByRole('button').first().click();
  await settled(page);
  assert.ok(plain(await page.locator('.sites tr[aria-current]').innerText()).includes(line![1]!));
  assert.equal(await parts(page, 'lines').count(), 0);
});

for (const [of, at, query] of [['', '#allocated', 'fn = Cache::insert'], ['collected', '#end&where=size+%3E+100', 'at = end and size > 100 and fn = Cache::insert']] as const)
  onPage(`the query that is copied has the sum of its function: ${query}`, { of, at, height: 1600 }, async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text: string) => void (document.body.dataset['copied'] = text) } }));
    await select(page, 'Cache::insert');
    const sum = /^.*?B( ±\S+ %)?/.exec(await fact(page, 'with callees'))![0];
    await page.getByRole('button', { name: 'Copy this query' }).click();
    await page.getByText('The query is copied.').waitFor();
    assert.equal(await page.evaluate(() => document.body.dataset['copied']), query);
    await page.evaluate((to) => (location.hash = to), `${at.split('&')[0]}&where=${encodeURIComponent(query)}`);
    await settled(page);
    assert.ok((await population(page)).includes(sum), `${await population(page)}: ${sum}`);
  });

onPage('the query of a thread selects that thread', { at: '#allocated&by=thread', height: 1600 }, async (page) => {
  await page.locator('.sites tbody tr').first().click();
  await settled(page);
  const sum = /^.*?B/.exec(await fact(page, 'with callees'))![0];
  assert.equal(await page.locator('.parts').count(), 0);
  await page.getByRole('button', { name: 'Keep only stacks with it' }).click();
  await settled(page);
  assert.match((await chips(page)).join(), /^thread = "[\w ]+ \(thread \d\)"$/);
  assert.ok((await population(page)).includes(sum), `${await population(page)}: ${sum}`);
});

onPage('what a function held over time is a small curve, which a comparison lacks', { at: '#peak&rows=all', height: 1600 }, async (page) => {
  await select(page, 'Cache::get_or_fill'); // it allocates nothing itself
  assert.match(await fact(page, 'over time'), /^\d+\.?\d* [kM]B ±?[\d.–]+.* at the end$/);
  const heights = await page.locator('#details .spark polyline').evaluate((line) => line.getAttribute('points')!.split(' ').map((point) => Number(point.split(',')[1])));
  assert.ok(heights.length === 120 && heights[0]! > 14 && Math.min(...heights) === 1, `${heights}`);
  await page.keyboard.press('4');
  await settled(page);
  await page.locator('.sites tbody tr').first().click();
  await settled(page);
  assert.deepEqual([await page.locator('#details .spark').count(), await page.locator('.parts').count(), await page.locator('.selects').count()], [0, 0, 0]);
});

onPage('on a telephone a selection makes the page no wider', { of: 'hostile', at: '#allocated&rows=all', width: 375, height: 812 }, async (page) => {
  const rows = page.locator('.sites tbody tr:has(th)');
  for (let index = 0; index < (await rows.count()); index++) {
    await rows.nth(index).click();
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), await page.locator('#details h2').innerText());
  }
});
/* SPDX-License-Identifier: MIT */
