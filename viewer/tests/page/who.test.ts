/* The verdict with its functions, the shares of rows and boxes, and what is left where nothing was sampled. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { Flame, Table, Totals } from '../../src/engine/answers.ts';
import { bytes, duration, share } from '../../src/numbers.ts';
import { literally } from '../../src/state/clauses.ts';
import { inFolder, makePage, openPage, program, without } from '../engine/page.ts';
import { launch, onPageOf, population, settled, shopPage } from './open.ts';
import { answerOf, openHigh } from './views.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const onPage = onPageOf(() => browser);

for (const heap of ['malloc', 'collected'])
  test(`the verdict and its functions are those of the report and of the table, of a ${heap} heap`, { skip: without }, () =>
    inFolder(async (folder) => {
      const [trace, file] = [join(folder, 'a.trace'), join(folder, 'a.html')];
      execFileSync(program('tests/page/make_planted'), [heap, trace]);
      execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
      const report = execFileSync(program('src/cli/winnow'), ['report', trace], { encoding: 'utf8' }).replace(/\s+/g, ' ');
      const engine = await openPage(file);
      const { verdict, holders, places, totals } = answerOf<Totals>(engine, { view: 'totals' });
      const { labels, columns } = answerOf<Table>(engine, { view: 'table', measure: 'held' });
      const order = Array.from(columns.label.keys()).sort((one, other) => columns.self[other]! - columns.self[one]!);
      assert.deepEqual(holders!.map(({ text, bytes: { estimate } }) => [text, bytes(estimate)]), order.slice(0, 3).map((row) => [labels[columns.label[row]!]!.text, bytes(columns.self[row]!)]));
      /* The report has the trend before the function. */
      for (const { text, trend } of holders!) if (report.includes(` ${text} `)) assert.match(report, new RegExp(` ${literally(trend!)} ${literally(text)} `));
      const flame = answerOf<Flame>(engine, { view: 'flame', measure: 'held', direction: 'callees' });
      const { page, faults, close } = await openHigh(browser, file);
      const said = (await page.locator('.said').innerText()).replace(/\s+/gu, ' ');
      assert.ok(verdict!.title && said.startsWith(verdict!.title) && report.includes(verdict!.title), said);
      const culprits = verdict!.culprits.slice(0, 2);
      for (const [at, { function: name, bytes_per_second: rate }] of culprits.entries()) {
        const held = columns.self[order.find((row) => labels[columns.label[row]!]!.function === name)!]!;
        const named = `${name}${places![at] ? ` (${places![at]})` : ''}`;
        assert.ok(said.includes(named) && report.includes(named), named);
        for (const text of [share(held / totals.peak_bytes.estimate), `grows ${bytes(rate.estimate)}/s`]) assert.ok(said.includes(text.replace(/\s/gu, ' ')), `${text}: ${said}`);
      }
      const shares = await page.locator('.sites td.share').allInnerTexts();
      assert.deepEqual(shares.slice(0, 3), order.slice(0, 3).map((row) => share(columns.self[row]! / flame.columns.bytes[0]!)));
      const others = holders!.filter(({ text, bytes: held }) => culprits.every(({ function: name }) => name !== text) && held.estimate >= 0.1 * totals.peak_bytes.estimate);
      const list = others.map(({ text, bytes: held, trend, place }) => `${text} ${share(held.estimate / totals.peak_bytes.estimate)} (${[trend === '?' ? '' : trend, place].filter(Boolean).join(', ')})`.replace(' ()', '')).join(' · ');
      assert.ok(!list || said.endsWith(`${verdict!.culprits.length ? 'also held' : 'held'} at the peak: ${list}`.replace(/\s+/gu, ' ')), `${list}: ${said}`);
      if (verdict!.at_ns) assert.ok(said.includes(`since ${duration(verdict!.at_ns)}`.replace(/\s/gu, ' ')));
      assert.deepEqual(faults, []);
      await close();
    }));

test('of four functions that grow the verdict has two by name, and counts the others', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openHigh(browser, makePage(folder, ['four']).page);
    assert.match((await page.locator('.said').innerText()).replace(/\s+/gu, ' '), /x40 26 % of the peak, grows 2.32 GB\/s · \S+x30 25 %, grows 2.25 GB\/s, and 2 more, to the end of a run of less than a second: .* · also held at the peak: .*x20 25 % \(grows\)/);
    assert.deepEqual(faults, []);
    await close();
  }));

test('where the peak is in the middle, what grows to the end has its share of the peak in the verdict, as in the table', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openHigh(browser, makePage(folder, ['four_peak']).page);
    const [said, shares] = [await page.locator('.said').innerText(), await page.locator('.sites td.share').allInnerTexts()];
    const named = [...said.matchAll(/[\d.]+\s%(?=( of the peak)?, grows)/g)].map(([text]) => text);
    assert.equal(named.length, 2, said);
    assert.deepEqual(shares.slice(1, 3), named); // below what made the peak
    assert.deepEqual(faults, []);
    await close();
  }));

test('the verdict has the line of each function that it names, as the report has', { skip: without }, () =>
  inFolder(async (folder) => {
    const [trace, file] = [join(folder, 'a.trace'), join(folder, 'a.html')];
    execFileSync(program('tests/page/make_shop'), [trace]);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
    const report = execFileSync(program('src/cli/winnow'), ['report', trace], { encoding: 'utf8' }).replace(/\s+/g, ' ');
    const { verdict, holders, places } = answerOf<Totals>(await openPage(file), { view: 'totals' });
    const { page, faults, close } = await openHigh(browser, file);
    const said = (await page.locator('.said').innerText()).replace(/\s+/gu, ' ');
    assert.equal(places!.length, verdict!.culprits.length);
    assert.ok(holders!.length > 1 && holders!.every(({ place }) => /^\w+\.\w+:\d+$/.test(place)), JSON.stringify(holders));
    for (const { text, place } of holders!) assert.ok(report.includes(`${text} ${place}`) || report.includes(`${text} (${place})`), `${text} ${place}: ${report}`);
    assert.ok(said.includes(holders![0]!.place), said);
    assert.equal(await page.locator('.next').innerText(), `Next: look at ${places![0]}: is all of this still needed? A longer run tells`);
    assert.deepEqual(faults, []);
    await close();
  }));

for (const [kind, next] of [
  ['killed', /^Next: record a longer run, or with ten times the samples: winnow record --rate 0\.01$/],
  ['shrunk', /^Next: record it again with --rate 0\.01$/],
  ['python', /^Next: to use less memory, begin at worker\.py:7$/],
] as const)
  test(`the page of a ${kind} trace says what to do next, and the report says it where it is how to record`, { skip: without }, () =>
    inFolder(async (folder) => {
      const { trace, page: file } = makePage(folder, [kind]);
      const report = execFileSync(program('src/cli/winnow'), ['report', trace], { encoding: 'utf8' }).replace(/\s+/g, ' ');
      const { page, faults, close } = await openHigh(browser, file);
      const said = await page.locator('.next').innerText();
      assert.match(said, next);
      if (/record|run it/.test(said)) assert.ok(report.includes(said.slice('Next: '.length)), `${said}: ${report}`);
      assert.deepEqual(faults, []);
      await close();
    }));

onPage('where nothing was sampled one sentence has the most that was allocated, and nothing is drawn', { of: 'none' }, async (page) => {
  const said = await page.locator('#main').innerText();
  assert.equal(said.replace(/\u202f/g, ' ').trim(), 'Less than 201 kB was allocated: no block was sampled.');
  assert.equal(await page.locator('canvas:visible').count(), 0);
});

test('where no block can be sampled, no bound of what was allocated is told', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page, faults, close } = await openHigh(browser, makePage(folder, ['zero_none']).page);
    assert.equal((await page.locator('#verdict').innerText()).trim(), 'No block was sampled.');
    assert.deepEqual(faults, []);
    await close();
  }));

test('what is freed as a program ends stands beside what is left, as in the report', { skip: without }, () =>
  inFolder(async (folder) => {
    const [source, binary, trace, file] = ['late.c', 'late', 'a.trace', 'a.html'].map((name) => join(folder, name)) as [string, string, string, string];
    writeFileSync(source, ['#include <stdlib.h>', 'char *kept[400];', 'int main(void) {', 'for (int i = 0; i < 400; i++) {', 'kept[i] = malloc(20000);', 'for (int turn = 0; turn < 100; turn++) for (volatile char *at = kept[i]; at < kept[i] + 20000; at++) *at = 1;', '}', 'for (int i = 0; i < 400; i++) free(kept[i]);', '}'].join('\n'));
    execFileSync('cc', ['-g', '-O1', '-o', binary, source]);
    execFileSync(program('src/cli/winnow'), ['record', '-q', '--rate', '1', '-o', trace, '--', binary]);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
    const report = execFileSync(program('src/cli/winnow'), ['report', trace], { encoding: 'utf8' });
    const [, late, when] = /([\d.]+ \wB) was (freed in the last [\d.]+ \ws)/.exec(report.replace(/\s+/g, ' '))!;
    const { page, faults, close } = await openHigh(browser, file);
    assert.equal((await page.locator('.figure:nth-child(2) .note').innerText()).replace(/\u202f/g, ' '), `${late} ${when}`);
    assert.deepEqual(faults, []);
    await close();
  }));

test('of a function with several lines the verdict has the one that held the most', { skip: without }, () =>
  inFolder(async (folder) => {
    const [source, binary, trace, file] = ['two.c', 'two', 'a.trace', 'a.html'].map((name) => join(folder, name)) as [string, string, string, string];
    writeFileSync(source, ['#include <stdlib.h>', 'void *kept[90];', '__attribute__((noinline)) static void keep(int i) {', 'kept[i] = malloc(1000);', 'kept[i + 30] = malloc(50000);', 'kept[i + 60] = malloc(2000);', '}', 'int main(void) {', 'for (int i = 0; i < 30; i++) keep(i);', 'return kept[89] == NULL;', '}'].join('\n'));
    execFileSync('cc', ['-g', '-O1', '-fno-builtin', '-o', binary, source]);
    execFileSync(program('src/cli/winnow'), ['record', '-q', '--rate', '1', '-o', trace, '--', binary]);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
    const { holders } = answerOf<Totals>(await openPage(file), { view: 'totals' });
    assert.deepEqual([holders![0]!.text, holders![0]!.place], ['keep', 'two.c:5']);
  }));

test('a function has its name on its layer of the chart', { skip: without }, async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.addInitScript(() => {
    const drawn: string[] = ((window as unknown as { drawn: string[] }).drawn = []);
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      if (this.canvas.closest('#time')) drawn.push(text);
      fillText.call(this, text, x, y);
    };
  });
  await page.goto(pathToFileURL(shopPage()).href);
  await settled(page);
  const [drawn, legend] = [await page.evaluate(() => (window as unknown as { drawn: string[] }).drawn), await page.locator('.legend button.key').allInnerTexts()];
  assert.ok(legend.some((name) => drawn.includes(name)), `${legend.join()}: ${drawn.join()}`);
  await page.close();
});

test('the legend tells functions of two modules apart, and no line of the verdict begins with a colon', { skip: without }, () =>
  inFolder(async (folder) => {
    const [trace, file, library] = ['a.trace', 'a.html', 'libother.so'].map((name) => join(folder, name)) as [string, string, string];
    const keep = '#include <stdlib.h>\n#include <unistd.h>\nstatic void *kept[300]; __attribute__((noinline)) static void keep(int i) { kept[i] = malloc(20000); }\n';
    writeFileSync(join(folder, 'other.c'), `${keep}void fill(void) { for (int i = 0; i < 200; i++) keep(i); }`);
    writeFileSync(join(folder, 'two.c'), `${keep}void fill(void); int main(void) { fill(); for (int i = 0; i < 300; i++) usleep(1000), keep(i); return !kept[0]; }`);
    execFileSync('cc', ['-g', '-O1', '-fPIC', '-shared', '-fno-builtin', '-o', library, join(folder, 'other.c')]);
    execFileSync('cc', ['-g', '-O1', '-fno-builtin', '-o', join(folder, 'two'), join(folder, 'two.c'), library, `-Wl,-rpath,${folder}`]);
    execFileSync(program('src/cli/winnow'), ['record', '-q', '--rate', '1', '-o', trace, '--', join(folder, 'two')]);
    execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
    const { page, faults, close } = await openHigh(browser, file);
    assert.deepEqual((await page.locator('.legend button.key').allInnerTexts()).slice(0, 2).sort(), ['keep [libother.so]', 'keep [two]']);
    for (let width = 320; width < 500; width += 4) {
      await page.setViewportSize({ width, height: 900 });
      const [name, colon] = await page.locator('.tied').evaluate((tied) => {
        const range = document.createRange();
        range.selectNode(tied.lastChild!);
        return [tied.firstElementChild!.getBoundingClientRect().bottom, range.getBoundingClientRect().top];
      });
      assert.ok(colon! < name!, `${width} px: ${name}, ${colon}`);
    }
    assert.deepEqual(faults, []);
    await close();
  }));

test('by thread the chart has the eight largest, each in a colour of its own', { skip: without }, () =>
  inFolder(async (folder) => {
    const [source, binary, trace, file] = ['nine.c', 'nine', 'a.trace', 'a.html'].map((name) => join(folder, name)) as [string, string, string, string];
    writeFileSync(source, ['#include <pthread.h>', '#include <stdlib.h>', 'static void *kept[9];', 'static void *run(void *at) { *(void **)at = malloc(100000); return NULL; }', 'int main(void) {', 'pthread_t threads[9];', 'for (int i = 0; i < 9; i++) pthread_create(&threads[i], NULL, run, &kept[i]);', 'for (int i = 0; i < 9; i++) pthread_join(threads[i], NULL);', '}'].join('\n'));
    execFileSync('cc', ['-O1', '-fno-builtin', '-pthread', '-o', binary, source]);
    execFileSync(program('src/cli/winnow'), ['record', '-q', '--rate', '1', '-o', trace, '--', binary]);
    execFileSync(program('src/cli/winnow'), ['html', '--by', 'thread', '-o', file, trace], { stdio: 'pipe' });
    const { page, faults, close } = await openHigh(browser, file);
    const fills = await page.locator('.legend button.key .swatch').evaluateAll((swatches) => swatches.map((swatch) => getComputedStyle(swatch).backgroundColor));
    assert.deepEqual([fills.length, new Set(fills).size], [8, 8]);
    assert.deepEqual(faults, []);
    await close();
  }));

onPage('a view without a sample has a sentence, no graph and no chart, and the next one has all again', { at: '#peak&where=fn+=+nobody' }, async (page) => {
  assert.match(await population(page), /^Matching blocks held at the peak: none was sampled, so less than [\d.]+ kB\.$/);
  assert.deepEqual([await page.locator('canvas:visible').count(), await page.locator('#table').isVisible()], [0, false]);
  assert.equal(await page.getByLabel('Moment', { exact: true }).inputValue(), ''); // no peak
  const [tab, box] = [await page.locator('#tabs [role=tab]').first().boundingBox(), await page.locator('#query .box').boundingBox()];
  assert.ok(Math.abs(tab!.y - box!.y) < 8, 'the tabs stand beside the query');
  await page.getByRole('button', { name: 'Remove fn = nobody' }).click();
  await settled(page);
  assert.equal(await page.locator('canvas:visible').count(), 2);
  assert.ok((await page.locator('#flame-host').boundingBox())!.height > 100);
});

onPage('the verdict names functions, and each name selects its function', { of: 'family' }, async (page) => {
  const said = (await page.locator('.said').innerText()).replace(/[\u202f\u00a0]/g, ' ');
  const where = String.raw`in shopserver \(4711\) and 2 other processes`;
  assert.equal(await page.locator('h1').innerText(), 'shopserver and 2 other processes');
  assert.match(said, new RegExp(`^STILL GROWING\\s*Session::create \\(server.cc:197\\), ${where}: 22 % of the peak, grows 196 kB/s · Cache::insert \\(server.cc:823\\), ${where}: 16 %, grows 107 kB/s, and 1 more, `));
  await page.locator('.said').getByRole('button', { name: 'pcache1Alloc' }).click();
  await settled(page);
  assert.match(await page.locator('.sites tr[aria-current]').innerText(), /^pcache1Alloc/);
  assert.match(await page.locator('#flame-line').innerText(), /^pcache1Alloc/);
  await page.selectOption('select[aria-label="Group by"]', 'module');
  await settled(page);
  await page.locator('.said').getByRole('button', { name: 'Session::create' }).click();
  await settled(page);
  assert.match(await page.locator('.sites tr[aria-current]').innerText(), /^Session::create/);
});

onPage('the share of a row is its part of all, by the sum by which the rows are sorted', { at: '#allocated', height: 3000 }, async (page) => {
  const shares = async () => (await page.locator('.sites td.share').allInnerTexts()).map((text) => Number.parseFloat(text) || 0);
  const own = await shares();
  assert.ok(Math.abs(own.reduce((sum, one) => sum + one, 0) - 100) < 3, `${own}`);
  await page.locator('.sites th.total button').last().click();
  await settled(page);
  assert.ok((await shares()).some((part) => part > Math.max(...own)));
});

test('a telephone is told what a finger does', { skip: without }, async () => {
  const page = await browser.newPage({ viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  await page.goto(pathToFileURL(shopPage()).href);
  await settled(page);
  assert.equal(await page.locator('#flame .line').innerText(), 'Tap a box to select it, tap twice to fill the width with it. Hold: more.');
  await page.close();
});

onPage('a box that has no room for a name shows it where it is pointed at', {}, async (page) => {
  const host = (await page.locator('#flame-host').boundingBox())!;
  await page.mouse.move(host.x + 200, host.y + 30);
  assert.equal(await page.locator('.tip').count(), 0);
  for (let x = 5; x < host.width && !(await page.locator('.tip').count()); x += 3) await page.mouse.move(host.x + x, host.y + 50);
  assert.match(await page.locator('.tip').innerText(), /\S+ [\d.]+\s.?B · [\d.]+\s%$/u);
});
/* SPDX-License-Identifier: MIT */
