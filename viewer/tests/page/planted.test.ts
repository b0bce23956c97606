/* What was planted in a program (tests/page/planted.h) is the first row under its question, one key away. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { inFolder, program, without } from '../engine/page.ts';
import { launch, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const PLANTED = { 1: 'spikes', 2: 'caches', 3: 'churns', 4: 'leaks', 5: 'caches', 6: 'dies_promoted' };

test('the planted leak, churner, cache and early promotion are first under their questions', { skip: without }, () =>
  inFolder(async (folder) => {
    const [trace, file] = [join(folder, 'a.trace'), join(folder, 'a.html')];
    execFileSync(program('tests/page/make_planted'), ['collected', trace]);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
    const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
    await page.goto(pathToFileURL(file).href);
    await settled(page);
    for (const [key, name] of Object.entries(PLANTED)) {
      await page.keyboard.press(key);
      await settled(page);
      assert.equal(await page.locator('.sites tbody tr:not(.gap) th').first().innerText(), name, `key ${key}`);
    }
    await page.keyboard.press('4');
    await settled(page);
    const rows = await page.locator('.sites tbody tr').allInnerTexts();
    assert.match(rows[0]!, /kB\/s[\s\S]*grows steadily[\s\S]*first quarter/);
    assert.match(rows[1]!, /caches[\s\S]*filled once/);
    assert.match(await page.evaluate(() => location.hash), /^#alive$/);
    await page.keyboard.press('6');
    await settled(page);
    const text = () => page.locator('#heap').innerText().then((said) => said.replace(/\u202f/g, ' '));
    assert.match(await text(), /1.26 MB are allocated[\s\S]*twice as large\s+[\d.]+–\d+ %[\s\S]*999 pauses took 999 ms[\s\S]*the longest 8.30 ms, after 25.0 s/);
    await page.locator('#heap button').click();
    assert.match(await text(), /8.30 ms\s+25.0 s\s+minor collections/);
    await page.close();
  }));
/* SPDX-License-Identifier: MIT */
