import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { without } from '../engine/page.ts';
import { launch, open, settled } from './open.ts';

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** What axe complains of. The dark page has the elements of the light one, in other colours; of the hundreds of rows of a
 *  chart's table the first are as the others. */
async function violations(page: Page, colours = false): Promise<string[]> {
  return await page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: { run(context: object, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
    const result = await axe.run({ exclude: ['.data tbody tr:nth-child(n + 20)'] }, { resultTypes: ['violations'], elementRef: false, ...rules });
    return result.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`));
  }, colours ? { runOnly: { type: 'rule', values: ['color-contrast'] } } : {});
}

for (const dark of [false, true])
  test(`no complaint of axe on any tab, ${dark ? 'dark' : 'light'}`, { skip: without }, async () => {
    const { page, close } = await open(browser, { of: 'collected', dark, bypassCSP: true });
    await page.evaluate(axe);
    for (const key of ['1', 'e', '2', '3', '4', '5', '6', '7', '8']) {
      await page.keyboard.press(key);
      await settled(page);
      assert.deepEqual(await violations(page, dark), [], `key ${key}`);
    }
    await close();
  });

for (const dark of [false, true])
  test(`no complaint of axe about the callers and callees of a function, ${dark ? 'dark' : 'light'}`, { skip: without }, async () => {
    const { page, close } = await open(browser, { dark, bypassCSP: true, at: '#peak&of=Cache%3A%3Ainsert' });
    await page.evaluate(axe);
    assert.deepEqual(await violations(page, dark), []);
    await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
    for (const key of ['ArrowUp', 'Enter', 'Escape', 'ArrowDown', 'ArrowDown', 'Enter']) {
      await page.keyboard.press(key);
      await settled(page);
      assert.deepEqual(await violations(page, dark), [], key);
    }
    await close();
  });

test('no complaint of axe with source lines', { skip: without }, async () => {
  for (const dark of [false, true]) {
    const { page, close } = await open(browser, { html: ['--source'], bypassCSP: true, dark });
    await page.evaluate(axe);
    await page.locator('.sites tbody tr').first().click();
    await page.locator('.lines').waitFor();
    assert.deepEqual(await violations(page, dark), []);
    await close();
  }
});

test('no complaint of axe with a query, a selection, tables and the help', { skip: without }, async () => {
  const { page, close } = await open(browser, { of: 'partial', at: '#end&where=size+%3E%3D+100&search=a', bypassCSP: true });
  await page.evaluate(axe);
  await page.locator('.sites tbody tr').first().click();
  await page.keyboard.press('8');
  await page.locator('.heat').waitFor();
  for (const chart of ['#time', '#kinds', '#kinds']) await page.locator(chart).getByRole('button', { name: 'show as table' }).first().click();
  assert.deepEqual(await violations(page), []);
  /* With them each further check would take seconds. */
  await page.locator('#time').getByRole('button', { name: 'hide the table' }).click();
  await page.getByText('Sizes and lives of the blocks').click();
  await page.locator('#query-box').fill('s');
  assert.deepEqual(await violations(page), []);
  await page.locator('#query-box').fill('');
  await page.locator('#query-box').blur();
  for (const name of ['Export', 'More']) {
    await page.getByRole('button', { name }).click();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
  }
  await page.keyboard.press('?');
  assert.deepEqual(await violations(page), []);
  await close();
});
/* SPDX-License-Identifier: MIT */
