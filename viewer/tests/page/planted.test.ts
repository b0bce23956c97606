/* What was planted in a program (tests/page/planted.h) is the first row under its question, one key away. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { inFolder, program, without } from '../engine/page.ts';
import { launch, openFile, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const LOOK = { height: 1400, moving: true };
const PLANTED = { 1: 'spikes', e: 'caches', 2: 'leaks', 3: 'churns', 5: 'caches' };
const TABS: Record<string, RegExp> = { 1: /Held/, e: /Held/, 2: /Growing/, 3: /Churn/, 5: /Lives long/, 6: /Promoted|Churn/ };

for (const [heap, sixth] of [['malloc', 'copies'], ['collected', 'dies_promoted']] as const)
  test(`from opening, one key leads to what was planted for its question, of a ${heap} heap`, { skip: without }, () =>
    inFolder(async (folder) => {
      const [trace, file] = [join(folder, 'a.trace'), join(folder, 'a.html')];
      execFileSync(program('tests/page/make_planted'), [heap, trace]);
      execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
      for (const [key, name] of Object.entries({ ...PLANTED, 6: sixth })) {
        const { page, close } = await openFile(browser, file, LOOK);
        await page.keyboard.press(key);
        await settled(page);
        assert.match(await page.locator('#tabs [aria-selected=true], #tabs [aria-current]').innerText(), TABS[key]!);
        assert.equal(await page.locator('.sites tbody tr:not(.gap) th').first().innerText(), name, `key ${key}`);
        await close();
      }
    }));

test('the planted leak, churner, cache and early promotion stay first from question to question', { skip: without }, () =>
  inFolder(async (folder) => {
    const [trace, file] = [join(folder, 'a.trace'), join(folder, 'a.html')];
    execFileSync(program('tests/page/make_planted'), ['collected', trace]);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
    const { page, close } = await openFile(browser, file, LOOK);
    for (const [key, name] of Object.entries({ ...PLANTED, 6: 'dies_promoted' })) {
      await page.keyboard.press(key);
      await settled(page);
      assert.equal(await page.locator('.sites tbody tr:not(.gap) th').first().innerText(), name, `key ${key}`);
    }
    await page.keyboard.press('2');
    await settled(page);
    const rows = await page.locator('.sites tbody tr').allInnerTexts();
    assert.match(rows[0]!, /kB\/s[\s\S]*grows steadily[\s\S]*After a quarter/);
    assert.match(rows[1]!, /caches[\s\S]*filled once/);
    assert.match(await page.evaluate(() => location.hash), /^#alive$/);
    await page.keyboard.press('6');
    await settled(page);
    const text = () => page.locator('#heap').innerText().then((said) => said.replace(/\u202f/g, ' '));
    assert.match(await text(), /1.26 MB are allocated[\s\S]*twice as large\s+[\d.]+–\d+ %[\s\S]*999 pauses took 999 ms[\s\S]*the longest 8.30 ms, after 25.0 s/);
    await page.locator('#heap button').click();
    assert.match(await text(), /8.30 ms\s+25.0 s\s+minor collections/);
    await close();
  }));

const records = existsSync(program('src/preload/libwinnow-malloc.so'));

test('a buffer that realloc grows all the time grows steadily, in the page as in the report', { skip: without || (!records && 'nothing can be recorded in this build') }, () =>
  inFolder(async (folder) => {
    const [trace, file] = [join(folder, 'a.trace'), join(folder, 'a.html')];
    const run = (...args: string[]) => execFileSync(program('src/cli/winnow'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    /* By a clock that steps with each reading. */
    const env = { ...process.env, LD_PRELOAD: program('tests/cli/programs/libsteps.so') };
    const recording = ['record', '-q', '--rate', '0.001', '--seed', '1', '-o', trace, '--', program('tests/cli/programs/appends')];
    execFileSync(program('src/cli/winnow'), recording, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = run('report', '--all', trace).replace(/\s+/g, ' ');
    assert.match(said, /Growing steadily: appends_history/);
    run('html', '-o', file, trace);
    const { page, close } = await openFile(browser, file, { ...LOOK, at: '#alive' });
    await page.locator('.sites .growth.steady').first().waitFor();
    const rows = await page.locator('.sites tbody tr').allInnerTexts();
    assert.match(rows[0]!, /^appends_history[\s\S]*[kM]B\/s[\s\S]*grows steadily/);
    for (const name of ['writes_log', 'doubles_index']) assert.match(rows.find((row) => row.startsWith(name))!, /uneven/);
    const facts = await page.locator('#foot').textContent();
    assert.equal(/([\d,]+) growths by realloc/.exec(facts!)![1], /Growths by realloc ([\d,]+)/.exec(said)![1]);
    await close();
  }));
/* SPDX-License-Identifier: MIT */
