/* Files of other profilers: the page asks what they tell, and nothing else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { inFolder, program, without } from '../engine/page.ts';
import { launch, settled } from './open.ts';
import { goTo, openHigh } from './views.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const DHAT = {
  dhatFileVersion: 2,
  mode: 'heap',
  bklt: true,
  tu: 'instrs',
  cmd: './a',
  pps: [
    { tb: 8000, tbk: 8, gb: 7000, gbk: 7, eb: 1000, ebk: 1, fs: [1, 2] },
    { tb: 3000, tbk: 3, gb: 1000, gbk: 1, eb: 2000, ebk: 2, fs: [3, 2] },
  ],
  ftbl: ['[root]', '0x1: parse (one.c:1)', '0x2: main (one.c:9)', '0x3: index_of (two.c:7)'],
};

const html = (page: string, ...traces: string[]) => execFileSync(program('src/cli/winnow'), ['html', '-o', page, ...traces], { stdio: 'pipe' });
const tabs = (page: Page) => page.locator('[role=tab]').allInnerTexts().then((all) => all.map((text) => text.replace(/\s/g, '')));
const words = (page: Page, of: string) => page.locator(of).innerText().then((text) => text.replace(/\s+/gu, ' '));
const rows = (page: Page) => page.locator('.sites tbody tr:not(.gap) th').allInnerTexts();

test('a profile of totals has its sums, its moments and its functions, and no times and lives', { skip: without }, () =>
  inFolder(async (folder) => {
    const [profile, file] = [join(folder, 'a.dhat'), join(folder, 'a.html')];
    writeFileSync(profile, JSON.stringify(DHAT));
    html(file, profile);
    const { page, faults, close } = await openHigh(browser, file);
    assert.deepEqual(await tabs(page), ['1Held']);
    assert.match(await words(page, '.verdict'), /^Held at the peak 8\.00 kB in 8 blocks At the end 3\.00 kB 38 % of the peak Allocated 11\.0 kB in 11 blocks$/);
    assert.deepEqual([await page.locator('#time').isVisible(), await page.locator('#kinds').isVisible()], [false, false]);
    assert.deepEqual((await rows(page)).slice(0, 2), ['parse', 'index_of']);
    await page.getByRole('button', { name: 'At the end' }).last().click();
    await settled(page);
    assert.match(await words(page, '.population'), /^Blocks held at the end: 3\.00 kB in 3 blocks\.$/);
    assert.deepEqual((await rows(page)).slice(0, 2), ['index_of', 'parse']);
    assert.ok(!(await page.locator('.sites thead').innerText()).includes('life'));
    assert.ok(!(await page.locator('select[aria-label="Group by"]').innerText()).includes('thread'));
    await page.locator('.sites tbody tr').filter({ hasText: 'parse' }).click();
    await settled(page);
    assert.match(await words(page, '#details'), /1 sample source one\.c callers bytes share main 1\.00 kB 100 % lines bytes share one\.c:1 1\.00 kB 100 % at = end and fn = parse Copy this query/);
    assert.equal(await page.locator('#details .spark').count(), 0);
    await goTo(page, '#churn'); // it cannot be answered
    assert.match(await words(page, '.verdict'), /^Held at the peak/);
    assert.equal(await page.evaluate(() => location.hash), '#peak');
    assert.match((await page.locator('#foot').textContent())!, /a profile by DHAT: totals of each stack/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('a profile of one moment opens with that moment; two of them are compared', { skip: without }, () =>
  inFolder(async (folder) => {
    const [trace, profile, other] = [join(folder, 'a.trace'), join(folder, 'a.pb.gz'), join(folder, 'b.pb.gz')];
    for (const [kind, made] of [['plain', profile], ['named', other]] as const) {
      execFileSync(program('tests/cli/make_trace'), [kind, trace]);
      execFileSync(program('src/cli/winnow'), ['export', '-f', 'pprof', '-o', made, trace], { stdio: 'pipe' });
    }
    html(join(folder, 'a.html'), profile);
    html(join(folder, 'b.html'), profile, other);
    const { page, faults, close } = await openHigh(browser, join(folder, 'a.html'));
    assert.equal(await page.locator('#population [aria-pressed=true]').innerText(), 'At the moment of the profile');
    assert.ok((await rows(page)).length > 3);
    await close();
    const compared = await openHigh(browser, join(folder, 'b.html'));
    assert.deepEqual(await tabs(compared.page), ['1Held', '2Compare']);
    assert.ok((await compared.page.locator('.sites td.change').count()) > 3);
    await compared.close();
    assert.deepEqual([...faults, ...compared.faults], []);
  }));
/* SPDX-License-Identifier: MIT */
