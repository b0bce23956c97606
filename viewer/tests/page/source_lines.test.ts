/* Source lines below the selection: text and nothing else, and only in a page that has them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { codeOf } from '../../src/views/source.tsx';
import { without } from '../engine/page.ts';
import { launch, open, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test('tabs stay in code, and what turns or hides others is a mark', () => {
  assert.equal(codeOf('\tif (a)\t/* é 動 */'), '\tif (a)\t/* é 動 */');
  assert.equal(codeOf('a\u202eb\u0000c\u200b'), 'a\ufffdb\ufffdc\ufffd');
});

test('the lines around the places of a selected function are shown as text, with the bytes of each place', { skip: without }, async () => {
  const { page, faults, close } = await open(browser, { html: ['--source'] });
  assert.match((await page.locator('#foot').textContent())!, /has source lines, of 1 file/);
  await page.getByRole('row', { name: /pcache1Alloc/ }).click();
  await page.getByText('sqlite3.c is not where the page was written').waitFor();
  await page.getByRole('row', { name: /Session::create/ }).click();
  await page.locator('.lines').waitFor();
  await settled(page);
  assert.equal(await page.locator('#details b').count(), 0);
  const lines = await page.locator('.lines .code').allInnerTexts();
  assert.ok(lines.some((line) => /if \(a < b && c\) \/\/ <b>no markup<\/b> \ufffd/.test(line)), lines.join('\n'));
  const marked = page.locator('.lines .marked');
  assert.equal(await marked.count(), 1);
  assert.match(await marked.locator('th').innerText(), /^197$/);
  assert.match(await marked.locator('.bytes').innerText(), /24\.\d\sMB/);
  assert.match((await marked.locator('.code').getAttribute('title'))!, /x{300}/);
  assert.match(await page.locator('.source').innerText(), /changed after the recording/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.selectOption('select[aria-label="Group by"]', 'module');
  await settled(page);
  await page.locator('.sites tbody tr').first().click();
  await settled(page);
  assert.equal(await page.locator('.source').count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test('a page without source lines says nothing of them', { skip: without }, async () => {
  const { page, close } = await open(browser);
  await page.locator('.sites tbody tr').nth(1).click();
  await settled(page);
  assert.doesNotMatch(await page.locator('#header').innerText(), /source/);
  assert.equal(await page.locator('.source').count(), 0);
  await close();
});
/* SPDX-License-Identifier: MIT */
