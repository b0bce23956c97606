/* What a chart draws is said in words, too: its table, its label and its curve have the numbers
 * that the engine answers for the view that is shown, and not those of the view before. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { AGES, type Heap, type Kinds, type Table, type Time, TOP, type Totals } from '../../src/engine/answers.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { between, bytes, count, duration, range, share, shortCount, shortDuration } from '../../src/numbers.ts';
import { inFolder, makePage, openPage, program, without } from '../engine/page.ts';
import { launch } from './open.ts';
import { answerOf, attributesOf, cellsOf, goTo, isDrawn, openHigh, WALK } from './views.ts';

let browser: Browser;
let folder: string;
let engine: Engine;
let file: string;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'winnow-'));
  if (without) return;
  const trace = join(folder, 'a.trace');
  file = join(folder, 'a.html');
  execFileSync(program('tests/page/make_planted'), ['collected', trace]);
  execFileSync(program('src/cli/winnow'), ['html', '-o', file, trace], { stdio: 'pipe' });
  engine = await openPage(file);
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

const toggle = (page: Page, part: string) => page.locator(part).getByRole('button', { name: /^(show|hide).*(table|chart)$/ }).click();

/* ---- the table ---- */

test('counts of blocks and lives have their range in a tip', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, file);
  for (const [address, measure] of [['#peak', 'held'], ['#churn', 'churn']] as const) {
    await goTo(page, address);
    const { labels, columns } = answerOf<Table>(engine, { view: 'table', measure, by: 'function' });
    const rows = await page.locator('.sites tbody tr:not(.gap)').evaluateAll((all) =>
      all.map((row) => ({
        name: row.querySelector<HTMLElement>('.name bdi')!.title,
        blocks: row.querySelector<HTMLElement>('.blocks')!.title,
        life: row.querySelector<HTMLElement>('.life')!.title,
      })),
    );
    assert.ok(rows.some(({ blocks, life }) => blocks && life), address);
    for (const { name, blocks, life } of rows) {
      const index = Array.from(columns.label).findIndex((label) => labels[label]!.text === name);
      const [low, high, shortest, longest] = (['blocks_low', 'blocks_high', 'life_low', 'life_high'] as const).map((column) => columns[column][index]!);
      assert.ok(low! <= columns.blocks[index]! * 1.0001 && columns.blocks[index]! <= high! * 1.0001, name);
      assert.equal(blocks, between(low!, high!, shortCount));
      assert.equal(life, shortest! < longest! ? between(shortest!, longest!, shortDuration) : '');
    }
  }
  assert.deepEqual(faults, []);
  await close();
});

/* ---- over time ---- */

function timeRows({ columns, labels }: Time): string[][] {
  const { time, held, low, high, minor, major, outside, rate, collection_time, collection_major } = columns;
  return Array.from(time, (at, row) => {
    const since = row ? time[row - 1]! : -1;
    const collections = Array.from(collection_time.keys()).filter((index) => collection_time[index]! > since && collection_time[index]! <= at);
    const cycles = collections.filter((index) => collection_major[index] === 1);
    return [
      duration(at), bytes(held[row]!), range(low[row]!, high[row]!), bytes(minor[row]!), bytes(major[row]!), bytes(outside[row]!),
      bytes(rate[row]!), String(collections.length), String(cycles.length),
      ...labels.map((_, layer) => bytes(columns.top_held[layer * time.length + row]!)),
    ];
  });
}

test('the chart over time has a label and a table with the numbers of the engine', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, file);
  await toggle(page, '#time-foot');
  const labels = new Set<string>();
  for (const { address, filter, by } of WALK) {
    await goTo(page, address);
    const answer = answerOf<Time>(engine, { view: 'time', where: filter, by: by ?? 'function', points: 600 });
    assert.ok(answer.labels.length > 3 && answer.labels.length <= TOP, address);
    const rows = await cellsOf(page, '#time-foot');
    assert.deepEqual(rows.map((row) => row.filter((_, column) => column !== 6)), timeRows(answer), address);
    const label = (await page.locator('#time-chart').getAttribute('aria-label'))!;
    const most = Math.max(...answer.columns.held);
    assert.equal(label, `What was held over ${duration(100e9)}: at most ${bytes(most)}, after ${duration(answer.peak_ns)}`, address);
    labels.add(label);
    const plot = (await page.locator('#time-chart .u-over').first().boundingBox())!;
    await page.mouse.move(plot.x + 0.6 * plot.width, plot.y + 20);
    const [, at, held, between, rate] = /^(.+): held (.+) \(([^()]+)\)(?:, resident [^,]+)?, ([^/]+)\/s(?: · .+)?$/.exec(await page.locator('.readout').innerText())!;
    assert.ok(rows.some((row) => row[0] === at && row[1] === held && row[2] === between && row[7] === rate), `${address}: ${at}`);
    await page.mouse.move(2, 2);
  }
  assert.equal(labels.size, 3);
  assert.deepEqual(faults, []);
  await close();
});

test('the table over time has the resident size where it was measured, and no resident size long after', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page: file } = makePage(folder, ['plain']);
    const { columns } = answerOf<Time>(await openPage(file), { view: 'time', points: 600 });
    const { page, faults, close } = await openHigh(browser, file);
    await toggle(page, '#time-foot');
    const resident = (await cellsOf(page, '#time-foot')).map((row) => row[3]);
    const measured = Array.from(columns.memory_time, (at) => columns.time.findIndex((moment) => moment >= at));
    assert.ok(measured.length > 0);
    for (const [index, row] of measured.entries()) assert.equal(resident[row], bytes(columns.rss[index]!));
    assert.deepEqual([...new Set(resident.slice(0, measured[0]))], ['–']);
    assert.equal(resident.at(-1), '–');
    assert.deepEqual(faults, []);
    await close();
  }));

/* ---- kinds of block ---- */

const classOf = (scale: number[], index: number, write: (value: number) => string) =>
  index + 1 < scale.length ? between(scale[index]!, scale[index + 1]!, write) : `${write(scale[index]!)} and more`;

interface Cell {
  life: number;
  size: number;
  bytes: number;
  alive: number;
  samples: number;
}

function filledCells({ life_ns, size_bytes, columns }: Kinds): Cell[] {
  const all = life_ns.flatMap((_, life) =>
    size_bytes.map((_, size) => {
      const cell = life * size_bytes.length + size;
      const alive = columns.alive_bytes[cell]!;
      return { life, size, alive, bytes: columns.bytes[cell]! + alive, samples: columns.samples[cell]! + columns.alive_samples[cell]! };
    }),
  );
  return all.filter((cell) => cell.bytes > 0);
}

const sumOf = (cells: Cell[], part: 'bytes' | 'alive' | 'samples') => cells.reduce((sum, cell) => sum + cell[part], 0);

async function assertDrawnKinds(page: Page, { life_ns, size_bytes, columns }: Kinds, cells: Cell[], where: string): Promise<void> {
  const most = Math.max(...cells.map((cell) => cell.bytes));
  const squares = await attributesOf(page, '.heat .cell', 'x', 'y', 'fill-opacity');
  for (const [index, { life, size, bytes: value }] of cells.entries())
    assert.ok(isDrawn(squares[index]!.map(Number), [life + 0.03, size_bytes.length - 1 - size + 0.03, 0.1 + 0.9 * Math.sqrt(value / most)]), `${where}: cell ${index}`);
  assert.equal(squares.length, cells.length, where);
  const bySize = size_bytes.map((_, size) => cells.filter((cell) => cell.size === size));
  const longest = Math.max(...bySize.map((of) => sumOf(of, 'bytes')));
  const widths = async (kind: string) => (await attributesOf(page, `.sizes .${kind}`, 'width')).map(Number);
  assert.ok(isDrawn(await widths('alive'), bySize.map((of) => (100 * sumOf(of, 'alive')) / longest)), where);
  assert.ok(isDrawn(await widths('dead'), bySize.map((of) => (100 * (sumOf(of, 'bytes') - sumOf(of, 'alive'))) / longest)), where);
  const drawn = async (line: string) => (await attributesOf(page, `.curve ${line}`, 'points'))[0]![0]!.split(' ').map((point) => Number(point.split(',')[1]));
  const height = (values: Float64Array) => Array.from(values, (value) => 100 * (1 - value));
  assert.ok(isDrawn(await drawn('.these'), height(columns.survival)), where);
  assert.ok(isDrawn(await drawn('.all'), height(columns.survival_all)), where);
  assert.ok(isDrawn(await drawn('.band'), [...height(columns.survival_high), ...height(columns.survival_low).reverse()]), where);
  assert.ok(life_ns.length > 4);
}

test('the map of kinds, the sizes and the survival have tables with what they draw and the engine answers', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, file);
  await page.keyboard.press('8');
  await page.locator('.heat').waitFor();
  const [map, survival] = ['#kinds .kinds > div:first-child', '#kinds .kinds > div:last-child'];
  const tables = new Set<string>();
  for (const { address, where, measure } of WALK) {
    await goTo(page, address);
    const answer = answerOf<Kinds>(engine, { view: 'kinds', where, measure });
    const { life_ns, size_bytes, columns } = answer;
    const cells = filledCells(answer);
    await page.waitForFunction((count) => document.querySelectorAll('.heat .cell').length === count, cells.length);
    await assertDrawnKinds(page, answer, cells, address);
    await toggle(page, map);
    await toggle(page, survival);
    const shown = await cellsOf(page, '[aria-label="Life and size as a table"]');
    assert.deepEqual(shown, cells.map((cell) => [classOf(size_bytes, cell.size, bytes), classOf(life_ns, cell.life, duration), bytes(cell.bytes), shortCount(cell.samples)]), address);
    const sizes = size_bytes.flatMap((_, size) => {
      const of = cells.filter((cell) => cell.size === size);
      const [all, alive] = [sumOf(of, 'bytes'), sumOf(of, 'alive')];
      return of.length ? [[classOf(size_bytes, size, bytes), bytes(all - alive), bytes(alive), shortCount(sumOf(of, 'samples'))]] : [];
    });
    assert.deepEqual(await cellsOf(page, '[aria-label="Sizes as a table"]'), sizes, address);
    const lives = Array.from(columns.survival_ns, (life, index) => [
      duration(life), share(columns.survival[index]!), between(columns.survival_low[index]!, columns.survival_high[index]!, share), share(columns.survival_all[index]!),
    ]);
    assert.deepEqual(await cellsOf(page, '[aria-label="Survival as a table"]'), lives, address);
    tables.add(JSON.stringify(shown));
    await toggle(page, map);
    await toggle(page, survival);
  }
  assert.equal(tables.size, WALK.length);
  assert.deepEqual(faults, []);
  await close();
});

test('kinds of block that were folded are not those of the view before', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, file, '#allocated');
  const summary = page.getByText('Sizes and lives of the blocks');
  assert.equal(await page.locator('#kinds svg').count(), 0);
  await summary.click();
  await page.locator('.heat .cell').first().waitFor();
  await summary.click();
  await page.locator('.heat').waitFor({ state: 'detached' });
  await goTo(page, '#churn');
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() => seen.push(document.querySelectorAll('.heat .cell').length)).observe(document.getElementById('kinds')!, { childList: true, subtree: true });
  });
  await summary.click();
  await page.locator('.heat .cell').first().waitFor();
  const cells = filledCells(answerOf<Kinds>(engine, { view: 'kinds', measure: 'churn' })).length;
  const seen = await page.evaluate(() => (window as unknown as { seen: number[] }).seen);
  assert.deepEqual([...new Set(seen.filter((count) => count > 0))], [cells]);
  assert.deepEqual(faults, []);
  await close();
});

/* ---- growth ---- */

test('each curve of growth is drawn and said as the engine answers', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, file);
  for (const [address, request] of [['#alive', {}], ['#alive&where=born+%3C+50s', { where: 'born < 50s' }], ['#alive&by=module', { by: 'module' }]] as const) {
    await goTo(page, address);
    const { labels, columns, growth_kinds } = answerOf<Table>(engine, { view: 'table', measure: 'alive', by: 'function', ...request });
    let steady = 0;
    const rows = await page.locator('.sites tbody tr:not(.gap)').evaluateAll((all) =>
      all.map((row) => ({
        name: row.querySelector<HTMLElement>('.name bdi')!.title,
        points: row.querySelector('polyline')?.getAttribute('points') ?? '',
        said: row.querySelector('.growth')!.textContent!,
      })),
    );
    assert.equal(rows.length, columns.label.length, address);
    for (const { name, points, said } of rows) {
      const index = Array.from(columns.label).findIndex((label) => labels[label]!.text === name);
      const ages = Array.from(columns.ages!.subarray(index * AGES, (index + 1) * AGES));
      const word = columns.self_samples[index] ? growth_kinds![columns.growth_kind![index]!]! : '';
      if (!word) {
        assert.equal(said, '–', name);
        continue;
      }
      const whole = ages.reduce((sum, age) => sum + age, 0);
      const upTo = (classes: number) => Math.max(0, ages.slice(0, classes).reduce((sum, age) => sum + age, 0)) / whole;
      assert.ok(said.endsWith(`. After a quarter, half and three quarters of the run what is alive had ${[4, 8, 12].map((n) => share(upTo(n))).join(', ')} of its bytes.`), `${name}: ${said}`);
      assert.ok(said.includes(word), said);
      if (columns.growth_kind![index] === 1) assert.ok(said.startsWith(`${bytes(columns.growth![index]!)}/s`), `${steady++} ${said}`);
      const rise = Array.from({ length: AGES + 1 }, (_, n) => upTo(n));
      const most = Math.max(1, ...rise);
      assert.ok(isDrawn(points.split(' ').map((point) => Number(point.split(',')[1])), rise.map((part) => 15 - (14 * part) / most), 1), `${name}: ${points}`);
    }
    assert.ok(steady > 0 || address !== '#alive');
  }
  assert.deepEqual(faults, []);
  await close();
});

/* ---- the collected heap ---- */

const KINDS = ['minor collections', 'marking or sweeping', 'waiting for another domain'];

function sizeRows({ what_if }: Heap): string[][] {
  const percent = (part: number) => share(Math.max(0, part));
  const between = (low: number, high: number) => (percent(low) === percent(high) ? percent(low) : `${percent(low).replace(/\s%$/u, '')}–${percent(high)}`);
  const { kept_half: half, kept_2, kept_4, kept_8 } = what_if!;
  return [
    ['half as large', `${between(-half.high, -half.low)} more promoted`],
    ['twice as large', between(kept_2.low, kept_2.high)],
    ['4 times as large', between(kept_4.low, kept_4.high)],
    ['8 times as large', between(kept_8.low, kept_8.high)],
  ];
}

test('other minor heaps and the pauses are said and drawn as the engine answers', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, file);
  const pauses = '#heap .kinds > div:last-child';
  const said = new Set<string>();
  for (const [address, where] of [['#promoted', undefined], ['#promoted&where=fn+%3D+dies_promoted', 'fn = dies_promoted'], ['#promoted&where=fn+%3D+refills', 'fn = refills']] as const) {
    await goTo(page, address);
    const { heap } = answerOf<Totals>(engine, { view: 'totals', where });
    const { columns } = answerOf<Time>(engine, { view: 'time', where, points: 600 });
    const rows = await cellsOf(page, '#heap .ranges');
    assert.deepEqual(rows.map((row) => row.slice(0, 2)), sizeRows(heap!), address);
    const bars = (await attributesOf(page, '#heap .bar span', 'style')).map(([style]) => style!.match(/[\d.]+/g)!.map(Number));
    const { kept_2, kept_4, kept_8 } = heap!.what_if!;
    for (const [index, { low, high }] of [kept_2, kept_4, kept_8].entries()) assert.ok(isDrawn(bars[index]!, [100 * low, Math.max(0.5, 100 * (high - low))]), address);
    said.add(JSON.stringify(rows));

    const { count: all, total_ns, longest_ns } = heap!.pauses;
    const kinds = (['minor', 'slice', 'stop'] as const).map((kind) => ({ count: heap!.pauses[`${kind}_count`], total_ns: heap!.pauses[`${kind}_ns`] }));
    const text = (await page.locator(pauses).innerText()).replace(/\u202f/g, ' ');
    for (const fact of [`${count(all)} pauses took ${duration(total_ns)}`, `the longest ${duration(longest_ns!)}`, ...kinds.flatMap((kind, index) => (kind.count ? [`${count(kind.count)} for ${KINDS[index]} (${duration(kind.total_ns)})`] : []))])
      assert.ok(text.includes(fact.replace(/\u202f/g, ' ')), `${fact}: ${text}`);
    const dots = (await attributesOf(page, '#heap .dots', 'd'))[0]![0]!.match(/M[\d.]+ [\d.]+h0/g)!.map((dot) => Number(/[\d.]+/.exec(dot)![0]));
    assert.ok(isDrawn(dots, Array.from(columns.pause_time, (at) => (1000 * at) / 100e9), 1), address);
    await toggle(page, pauses);
    const order = Array.from(columns.pause_ns.keys()).sort((a, b) => columns.pause_ns[b]! - columns.pause_ns[a]!);
    const longest = order.slice(0, 100).map((index) => [duration(columns.pause_ns[index]!), duration(columns.pause_time[index]!), KINDS[columns.pause_kind[index]!]!]);
    assert.deepEqual(await cellsOf(page, '[aria-label="The longest pauses"]'), longest, address);
    assert.match(await page.locator(pauses).innerText(), /The table has the 100 longest of the 999 that took 0\.1.ms or longer/);
    await toggle(page, pauses);
  }
  assert.equal(said.size, 3);
  assert.deepEqual(faults, []);
  await close();
});
/* SPDX-License-Identifier: MIT */
