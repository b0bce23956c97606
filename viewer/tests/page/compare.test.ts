/* The comparison of two runs, and of two moments of one, in a browser: pages of the command. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { cleanName } from '../../src/flame/names.ts';
import type { Totals } from '../../src/engine/answers.ts';
import { inFolder, makeComparison, makePage, openPage as enginePage, program, without } from '../engine/page.ts';
import { hash, launch, openFile, openUrl, population, settled } from './open.ts';
import { answerOf, goTo } from './views.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const openPage = (file: string, at = '') => openFile(browser, file, { at, height: 1200, moving: true });

const rowsOf = (page: Page) => page.locator('.sites.compared tbody tr:not(.parting, .gap)');

test('a page of two runs opens with what changed, and every measure can be compared', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makeComparison(folder, ['plain'], ['named']));
    assert.match(await page.locator('[role=tab][aria-selected=true]').innerText(), /Compare/);
    assert.match(await page.locator('#header').innerText(), /compared with/);
    assert.match(await population(page), /^Held at the peak: .* before, .* after: [+−0]/);
    assert.ok((await rowsOf(page).count()) > 0);
    const scales = page.getByLabel('Scale');
    for (const measure of ['alive', 'lasting', 'allocated', 'churn']) {
      await page.locator('.compared select').first().selectOption(measure);
      await settled(page);
      assert.match(await hash(page), new RegExp(`measure=${measure}`));
      assert.equal(await scales.count(), /allocated|churn/.test(measure) ? 1 : 0, measure);
    }
    await scales.selectOption('second');
    await page.getByRole('button', { name: 'with callees', exact: true }).click();
    await settled(page);
    assert.equal(await hash(page), '#compare&measure=churn&per=second&extent=total');
    const said = await population(page);
    await page.reload();
    await settled(page);
    assert.equal(await population(page), said);
    assert.deepEqual(faults, []);
    await close();
  }));

for (const [before, after, title] of [
  ['level', 'four', 'REGRESSION'],
  ['four_peak', 'four', 'IMPROVED'],
  ['plain', 'named', 'NO CHANGE BEYOND NOISE'],
  ['plain', 'killed_none', 'IMPROVED'],
] as const)
  test(`a page of ${before} and ${after} begins with the verdict of the comparison, as winnow diff does`, { skip: without }, () =>
    inFolder(async (folder) => {
      const file = makeComparison(folder, [before], [after]);
      const diff = (...options: string[]) => execFileSync(program('src/cli/winnow'), ['diff', ...options, join(folder, '0.trace'), join(folder, '1.trace')], { encoding: 'utf8', env: { ...process.env, COLUMNS: '160' } });
      const changesIn = (text: string) => text.replace(/\u202f/g, ' ').replace(/−/g, '-').match(/[+-][\d.]+ .?B\b/g) ?? [];
      const printed = diff().split('\n').find((line) => line.startsWith(`  ${title}`))!;
      const { verdict } = JSON.parse(diff('--json'));
      const { compared, next } = answerOf<Totals>(await enginePage(file), { view: 'totals' });
      assert.deepEqual([compared!.kind, compared!.title], [verdict.kind, verdict.title]);
      assert.deepEqual(compared!.labels?.map(({ text }) => text.replace(/ \[before\]$/, '')), verdict.rows?.map(({ name }: { name: string }) => name));
      assert.deepEqual(compared!.changes, verdict.rows?.map(({ bytes }: { bytes: { difference: { estimate: number } } }) => bytes.difference.estimate));
      const { page, faults, close } = await openPage(file);
      const said = (await page.locator('.said').innerText()).replace(/\s+/gu, ' ');
      assert.ok(said.startsWith(title), said);
      assert.deepEqual(changesIn(said), changesIn(printed));
      assert.equal(changesIn(printed).length, verdict.rows ? 1 + verdict.rows.length : 0);
      assert.equal(compared!.next !== undefined, title === 'REGRESSION');
      const step = compared!.next ?? next;
      assert.deepEqual(await page.locator('.next').allInnerTexts().then((all) => all.map((text) => text.slice('Next: '.length))), step ? [cleanName(step, 600)] : []);
      const notes = (await page.locator('.figure .note').allInnerTexts()).map((text) => text.replace(/\u202f/g, ' '));
      const had = diff().match(/^ {2}Held at the peak +([\d.]+ .?B)/m)![1];
      if (after !== 'killed_none') assert.equal(notes[0], `${had} before`);
      assert.deepEqual(faults, []);
      await close();
    }));

test('a number that the run before does not tell is not said to be of it', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace } = makePage(folder, ['plain']);
    const [profile, file] = [join(folder, 'before.pb.gz'), join(folder, 'compared.html')];
    execFileSync(program('src/cli/winnow'), ['export', '-f', 'pprof', '-o', profile, trace], { stdio: 'pipe' });
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, profile, trace], { stdio: 'pipe' });
    const { page, faults, close } = await openPage(file);
    const notes = (await page.locator('.figure .note').allInnerTexts()).map((text) => text.replace(/\u202f/g, ' '));
    assert.match(notes[0]!, /^(at|around) .* blocks$/);
    assert.match(notes[1]!, /^[\d.]+ .?B before$/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('what is wrong with a comparison is said once', { skip: without }, () =>
  inFolder(async (folder) => {
    const file = makePage(folder, ['plain']).page;
    for (const [address, wrong] of [['#compare&where=size+%3E+moon', /found: moon/g], ['#compare&against=99h', /after the end/g]] as const) {
      const { page, faults, close } = await openPage(file, address);
      const text = await page.locator('body').innerText();
      assert.equal(text.match(wrong)?.length, 1, text);
      assert.deepEqual(faults, []);
      await close();
    }
  }));

test('what is shown of an older question is dimmed where the new one fails, until an answer comes', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makePage(folder, ['named']).page, '#end');
    const said = await population(page);
    const old = (part: string) => page.locator(`${part}.old`).count();
    const enter = async (label: string, text: string) => {
      const field = page.getByRole('textbox', { name: label, exact: true });
      await field.fill(text);
      await field.press('Enter');
      await settled(page);
    };
    await enter('Moment', '99h');
    assert.match(await page.locator('#query-error').innerText(), /after the end/);
    assert.equal(await population(page), said);
    assert.deepEqual([await old('.population'), await old('#flame'), await old('#table *')], [1, 1, 1]);
    await enter('Moment', 'soon');
    assert.match(await page.locator('#query-error').innerText(), /^“soon” cannot be read: expected a time/);
    await page.getByRole('button', { name: 'At the peak', exact: true }).click();
    await settled(page);
    assert.equal(await page.locator('.error, .old').count(), 0);
    assert.equal(await population(page), '');
    await page.keyboard.press('4');
    await settled(page);
    const compared = await population(page);
    await enter('From', '99h');
    assert.match(await page.locator('#population .error').innerText(), /after the end/);
    assert.equal(await population(page), compared);
    assert.deepEqual([await old('.population'), await old('#flame'), await old('#table *')], [1, 1, 1]);
    assert.deepEqual(faults, []);
    await close();
  }));

test('the chosen function of a comparison has its numbers before and after', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makeComparison(folder, ['plain'], ['named']), '#compare&measure=allocated');
    await rowsOf(page).first().click();
    const told = await page.locator('#details').innerText();
    for (const fact of ['change', 'before', 'after', 'Callers and callees']) assert.ok(told.includes(fact), told);
    await page.locator('#table-region').press('ArrowDown');
    assert.notEqual(await page.locator('#details h2').innerText(), told.split('\n')[0]);
    assert.deepEqual(faults, []);
    await close();
  }));

test('two moments of one run are compared, those of the fields and of a range of the chart', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makePage(folder, ['named']).page);
    await page.keyboard.press('4');
    await settled(page);
    assert.match(await population(page), /^From .* to .*: .* freed, .* new: /);
    await page.getByLabel('From', { exact: true }).fill('peak');
    await page.getByLabel('From', { exact: true }).press('Enter');
    await settled(page);
    assert.equal(await hash(page), '#compare&against=peak');
    const chart = (await page.locator('#time-chart').boundingBox())!;
    await page.mouse.move(chart.x + 0.4 * chart.width, chart.y + 40);
    await page.mouse.down();
    await page.mouse.move(chart.x + 0.7 * chart.width, chart.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes('where=at'));
    await settled(page);
    assert.match(await hash(page), /^#compare&where=at\+=\+[\d.]+\w+&against=[\d.]+\w+$/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('blocks that were resized between two moments are told', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makePage(folder, ['exact_shrunk']).page, '#compare&where=at+=+100015ns&against=100005ns');
    assert.match(await population(page), /: 800.B freed or resized, 80.B new or resized: −720.B.*\. A block that was resized in between counts on both sides/);
    const heads = page.locator('.sites.compared thead .side');
    assert.deepEqual(await heads.allInnerTexts(), ['freed or resized', 'new or resized']);
    assert.ok(await heads.evaluateAll((all) => all.every((one) => one.scrollWidth <= one.clientWidth)), 'a head is cut off');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');
    await rowsOf(page).first().click();
    assert.match(await page.locator('#details').innerText(), /freed or resized\s+800.B, 1 sample\s+new or resized\s+80.B, 1 sample/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('a run has not changed against itself', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makeComparison(folder, ['named'], ['named']), '#compare&measure=allocated');
    assert.match(await population(page), /: 0 B.*(unchanged|within noise)\.$/);
    assert.equal(await page.locator('.sites.compared .more, .sites.compared .less').count(), 0);
    assert.deepEqual(faults, []);
    await close();
  }));

test('code without names of two builds is gone or moved, and new or moved', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makeComparison(folder, ['build_1'], ['build_2']), '#compare&measure=allocated');
    assert.match(await population(page), /The runs do not have the same build of libprog\.so and prog, so code without a name there is not matched/);
    const fates = await page.locator('.sites.compared .fate').allInnerTexts();
    assert.deepEqual([...new Set(fates)].sort(), ['gone or moved', 'new or moved']);
    assert.equal(fates.length, await rowsOf(page).count());
    const gone = rowsOf(page).filter({ hasText: 'gone or moved' }).first();
    const name = (await gone.locator('bdi').innerText()).replace(' [before]', '');
    assert.match(name, /\+0x[0-9a-f]+$/);
    assert.match((await gone.locator('bdi').getAttribute('title'))!, /prog(\.so)?\+0x[0-9a-f]+ \[before\]$/);
    await gone.click();
    assert.match(await page.locator('#details h2').innerText(), / \[before\]/);
    assert.match(await page.locator('#details').innerText(), /after\s+less than/);
    assert.deepEqual(faults, []);
    await close();
    const { page: one, close: closeOne } = await openPage(makeComparison(folder, ['build_1'], ['build_1']), '#compare&measure=allocated');
    assert.doesNotMatch(await population(one), /same build/);
    assert.equal(await one.locator('.sites.compared .fate').count(), 0);
    await closeOne();
  }));

test('a damaged run before is named', { skip: without }, () =>
  inFolder(async (folder) => {
    const { readFileSync, writeFileSync } = await import('node:fs');
    const html = readFileSync(makeComparison(folder, ['plain'], ['named']), 'utf8');
    const damaged = html.replace(/(data-section="ROWS"[^>]*data-run="before">)[^<]*/, '$1AAAA').replace(/(data-section="ANSW"[^>]*>)[^<]*/g, '$1AAAA');
    assert.notEqual(damaged, html);
    writeFileSync(join(folder, 'damaged.html'), damaged);
    const { page, close } = await openUrl(browser, pathToFileURL(join(folder, 'damaged.html')).href);
    await page.locator('[role=alert]').first().waitFor();
    assert.match(await page.locator('[role=alert]').first().innerText(), /damaged/);
    await close();
  }));

test('a damaged table is named, and the first view is there', { skip: without }, () =>
  inFolder(async (folder) => {
    const { readFileSync, writeFileSync } = await import('node:fs');
    const html = readFileSync(makePage(folder, ['named']).page, 'utf8');
    const damaged = html.replace(/(data-section="MORE"[^>]*>)[^<]*/, '$1AAAA');
    assert.notEqual(damaged, html);
    writeFileSync(join(folder, 'damaged.html'), damaged);
    const { page, close } = await openUrl(browser, pathToFileURL(join(folder, 'damaged.html')).href);
    await page.locator('#table .empty', { hasText: 'damaged: block 0 of section MORE' }).waitFor();
    await page.locator('#flame:not(.unanswered) canvas').waitFor();
    await close();
  }));

test('what is held is not scaled, even if a link asks for it', { skip: without }, () =>
  inFolder(async (folder) => {
    const file = makeComparison(folder, ['plain'], ['named']);
    const { page, faults, close } = await openPage(file, '#compare&measure=held&per=second');
    for (const measure of ['held', 'alive', 'lasting', 'allocated']) {
      await goTo(page, `#compare&measure=${measure}&per=second`);
      assert.equal(/is multiplied by/.test(await population(page)), measure === 'allocated', measure);
    }
    assert.deepEqual(faults, []);
    await close();
  }));

test('a click earlier than the moment before makes that the moment before', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openPage(makePage(folder, ['named']).page, '#compare');
    const plot = (await page.locator('#time-chart .u-over').first().boundingBox())!;
    const click = async (part: number) => {
      await page.mouse.click(plot.x + part * plot.width, plot.y + 40);
      await settled(page);
      assert.equal(await page.locator('.error').count(), 0);
      return hash(page);
    };
    assert.match(await click(0.2), /^#compare&against=[\d.]+\w+$/);
    assert.match(await click(0.6), /^#compare&where=at\+=\+[\d.]+\w+&against=[\d.]+\w+$/);
    const to = /at\+=\+[\d.]+\w+/.exec(await hash(page))![0];
    assert.ok((await click(0.1)).includes(to), 'the moment after stays');
    await page.locator('#verdict').getByRole('button', { name: 'Held at the peak' }).click();
    await settled(page);
    assert.match(await hash(page), /^#compare.*peak/);
    await page.locator('#verdict').getByRole('button', { name: 'At the end' }).click();
    await settled(page);
    assert.match(await hash(page), /^#compare&where=at\+=\+end/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('of a function without blocks it is said that it has none', { skip: without }, () =>
  inFolder(async (folder) => {
    for (const direction of ['callers', 'callees']) {
      const { page, faults, close } = await openPage(makePage(folder, ['named']).page, `#allocated&direction=${direction}&of=nobody`);
      assert.match(await population(page), /^Blocks allocated .* None of these through nobody was sampled, so less than [\d.]+ .?B\.$/);
      assert.match(await page.locator('#flame-empty').innerText(), /No sampled block/);
      assert.equal(await page.locator('.error, .old').count(), 0);
      assert.deepEqual(faults, []);
      await close();
    }
  }));

/* SPDX-License-Identifier: MIT */
