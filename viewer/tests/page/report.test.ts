/* The page that `winnow html` writes, in a browser, from a file. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { inFolder, makePage, program, without } from '../engine/page.ts';
import { launch, openFile, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const openPage = (file: string, at = '') => openFile(browser, file, { at, height: 1400, moving: true });

const textOf = (page: Page, selector: string) => page.locator(selector).innerText().then((text) => text.replace(/\u202f/g, ' '));

for (const kind of ['plain', 'named', 'collected', 'killed', 'none', 'one'])
  test(`a page of a ${kind} trace shows every question without a request or an error`, { skip: without }, () =>
    inFolder(async (folder) => {
      const { page, faults, close } = await openPage(makePage(folder, [kind]).page);
      for (const key of ['1', 'e', '2', '3', '4', '5', '6', '7']) {
        await page.keyboard.press(key);
        await settled(page);
        if (key !== '1') assert.notEqual(await textOf(page, '.population'), '');
      }
      assert.deepEqual(faults, []);
      await close();
    }));

test('a peak of which no block was sampled is its upper bound, as in the report', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace, page: file } = makePage(folder, ['collected_one']);
    const report = execFileSync(program('src/cli/winnow'), ['report', trace], { encoding: 'utf8' });
    const [, bound] = /Held at the peak\s+(< \S+ \S+)/.exec(report)!;
    const { page, faults, close } = await openPage(file);
    assert.match(await textOf(page, '.verdict'), new RegExp(`^Held at the peak\\s+${bound}\\s`));
    assert.doesNotMatch(await textOf(page, '.figure:first-child'), /–/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('a page of which every block was recorded speaks of no sample and of no range', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makePage(folder, ['exact']).page);
    assert.match(await textOf(page, '.facts'), / · 1,000 blocks$/);
    assert.doesNotMatch(await textOf(page, '#time .legend'), /95 %/);
    assert.deepEqual(faults, []);
    await close();
  }));

for (const kind of ['killed', 'emptied'])
  test(`what is not decided of a ${kind} trace has the amounts of the report`, { skip: without }, () =>
    inFolder(async (folder) => {
      const { trace, page: file } = makePage(folder, [kind]);
      const report = execFileSync(program('src/cli/winnow'), ['report', '--no-symbols', trace], { encoding: 'utf8' }).replace(/\s+/g, ' ');
      const [, words] = /NOT DECIDED ((?:it (?:grew|shrank) by|no growth is seen, but up to) .*?(?: is open| in the ±)) /u.exec(report)!;
      const { page, faults, close } = await openPage(file);
      assert.ok((await textOf(page, '.said')).startsWith(`NOT DECIDED ${words}`), `${words}: ${await textOf(page, '.said')}`);
      assert.deepEqual(faults, []);
      await close();
    }));

for (const [kind, words, limit] of [['killed_for_memory', 'killed for memory (limit 64.0 MB)', '61.0 MB of 64.0 MB'], ['killed_at_no_limit', 'killed for memory', '']] as const)
  test(`a page of a ${kind} trace says so in the words of the report, and draws the limit`, { skip: without }, () =>
    inFolder(async (folder) => {
      const { trace, page: file } = makePage(folder, [kind]);
      const report = execFileSync(program('src/cli/winnow'), ['report', '--no-symbols', trace], { encoding: 'utf8' });
      assert.ok(report.includes(words) && (limit ? report.includes(limit) : !report.includes(' MB of ')), report);
      const { page, faults, close } = await openPage(file);
      assert.ok((await textOf(page, '.facts')).split(' · ').includes(words), await textOf(page, '.facts'));
      const drawn = () => page.locator('#time-chart').getAttribute('aria-label').then((said) => said!.replace(/\u202f/g, ' '));
      assert.doesNotMatch(await drawn(), / of /); // of what is not drawn there is no limit
      await page.getByRole('button', { name: 'Show the resident size' }).click();
      assert.equal(/; resident at most (.*)$/.exec(await drawn())?.[1] ?? '', limit);
      assert.deepEqual(faults, []);
      await close();
    }));

test('where nothing was sampled the chart has a gap, and the page says so in the words of the report', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace, page: file } = makePage(folder, ['slept']);
    const report = execFileSync(program('src/cli/winnow'), ['report', '--no-symbols', trace], { encoding: 'utf8' });
    const said = /NOT SAMPLED\s+(for [^]*?)\n\n/.exec(report)![1]!.replace(/\s+/g, ' ');
    const { page, faults, close } = await openPage(file);
    assert.ok((await textOf(page, '#header')).includes(`Not sampled ${said}.`), await textOf(page, '#header'));
    /* A little above the foot of the chart what was held is painted, and nothing else. */
    const painted = await page.locator('#time-chart canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { x, y, width, height } = document.querySelector('#time-chart .u-over')!.getBoundingClientRect();
      const host = canvas.getBoundingClientRect();
      const { data } = canvas.getContext('2d')!.getImageData(x - host.x, y - host.y + height - 3, width, 1);
      return [0.1, 0.15, 0.3, 0.6, 0.9].map((part) => data[4 * Math.round(part * width) + 3]! > 0);
    });
    assert.deepEqual(painted, [true, true, false, false, false]);
    await page.locator('#time-chart .u-over').hover({ position: { x: 800, y: 40 } });
    assert.match(await textOf(page, '#time .readout'), /^\S+ ms: not sampled/);
    await page.getByRole('button', { name: 'show as table' }).first().click();
    const rows = await page.locator('#time table tr').allInnerTexts().then((texts) => texts.map((text) => text.replace(/\u202f/g, ' ').split('\t')));
    const of = (name: string) => rows[0]!.indexOf(name);
    const last = rows.at(-1)!;
    assert.deepEqual(['held', '95 % range', 'allocated a second'].map((name) => last[of(name)]), ['–', '–', '–']);
    assert.ok(rows.some((row) => row[of('held')] === '–' && row[of('resident')] === '40.0 MB'));
    assert.notEqual(rows[20]![of('held')], '–');
    assert.deepEqual(faults, []);
    await close();
  }));

for (const [kind, words] of [['killed_for_memory', 'killed for memory (limit 64.0 MB)'], ['killed_probably', 'probably killed for memory (limit 64.0 MB)']] as const)
  test(`a page of a ${kind} trace opens at the end, unless another moment is asked for`, { skip: without }, () =>
    inFolder(async (folder) => {
      const moment = (page: Page) => page.locator('#population [aria-pressed=true]').innerText();
      const { trace, page: file } = makePage(folder, [kind]);
      const usual = await openPage(file);
      assert.ok((await textOf(usual.page, '.facts')).split(' · ').includes(words), await textOf(usual.page, '.facts'));
      assert.equal(await moment(usual.page), 'At the end');
      const other = await openPage(file, '#peak');
      assert.equal(await moment(other.page), 'At the peak');
      execFileSync(program('src/cli/winnow'), ['html', '--at', 'peak', '-o', file, trace], { stdio: 'pipe' });
      const asked = await openPage(file);
      assert.equal(await moment(asked.page), 'At the peak');
      for (const { faults, close } of [usual, other, asked]) {
        assert.deepEqual(faults, []);
        await close();
      }
    }));

for (const kind of ['named', 'killed_for_memory'])
  test(`the first view of a ${kind} trace needs no engine: its answers are in the file, letter by letter as the page asks`, { skip: without }, () =>
    inFolder(async (folder) => {
      const { page: file } = makePage(folder, [kind]);
      const html = readFileSync(file, 'utf8');
      const without = html.replace(/(<script[^>]*data-section="ROWS"[^>]*>)[^<]*/g, '$1AAAA');
      assert.notEqual(without, html);
      const broken = join(folder, 'broken.html');
      writeFileSync(broken, without);
      const whole = await openPage(file);
      const first = await openPage(broken);
      assert.equal(await textOf(first.page, '#population'), await textOf(whole.page, '#population'));
      assert.equal(await textOf(first.page, '#table'), await textOf(whole.page, '#table'));
      assert.equal(await first.page.locator('[role=alert]').count(), 0);
      await first.page.keyboard.press('4');
      await first.page.locator('[role=alert]').first().waitFor();
      assert.match(await first.page.locator('[role=alert]').first().innerText(), /ROWS/);
      await whole.close();
      await first.close();
    }));

test('a page opens with the view that the command was asked for, and an address comes first', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page: file } = makePage(folder, ['plain'], ['--where', 'size > 1K', '--at', 'end', '--by', 'module']);
    const given = await openPage(file);
    assert.match(await textOf(given.page, '#query'), /size > 1K/);
    assert.equal(await given.page.locator('#tabs [aria-selected=true], #tabs [aria-current]').first().innerText().then((text) => text.trim().slice(0, 1)), '1');
    assert.equal(await given.page.locator('#population [aria-pressed=true]').innerText(), 'At the end');
    const other = await openPage(file, '#churn');
    assert.doesNotMatch(await textOf(other.page, '#query'), /size > 1K/);
    await given.close();
    await other.close();
  }));

test('of malloc, churn has large blocks that live briefly, by the key 6', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, close } = await openPage(makePage(folder, ['plain']).page);
    await page.keyboard.press('6');
    await settled(page);
    assert.match(await textOf(page, '.population'), /^Blocks of 128 KiB or more that lived less than [\d.]+ .?s, a hundredth of the run: /);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Copy the command' }).click();
    await page.getByText(/Copied: winnow report --where 'size >= 128Ki and life < [\d.]+.?s' a\.trace/).waitFor();
    await close();
  }));

test('what is taken from a page has the name of its trace, without folders', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace, page: file } = makePage(folder, ['plain']);
    const named = join(folder, `it's "<b>" & more.trace`);
    renameSync(trace, named);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, named], { stdio: 'pipe' });
    assert.ok(!readFileSync(file, 'utf8').includes(folder));
    const { page, faults, close } = await openPage(file, '#churn');
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Table as CSV' }).click()]);
    assert.equal(download.suggestedFilename(), 'it-s-b-more-churn.csv');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Copy the command' }).click();
    await page.getByText(`'it'\\''s "<b>" & more.trace'`).waitFor();
    assert.deepEqual(faults, []);
    await close();
  }));
/* SPDX-License-Identifier: MIT */
