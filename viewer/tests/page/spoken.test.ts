/* What screen readers are told of the flame graph, and what the tables of a comparison say, is what
 * the engine answers for the view that is shown. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Compare, type Flame, NO_LABEL, type Request } from '../../src/engine/answers.ts';
import { cleanName } from '../../src/flame/names.ts';
import { bytes, changeOf, changeRange, count, error, isRough, range, share, shortCount } from '../../src/numbers.ts';
import { inFolder, makeComparison, makePage, openPage, program, without } from '../engine/page.ts';
import { launch, openFile, settled } from './open.ts';
import { answerOf, goTo, openHigh, WALK } from './views.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

function planted(folder: string, heap: string, seed = '1'): string {
  const [trace, page] = [join(folder, `${heap}${seed}.trace`), join(folder, `${heap}${seed}.html`)];
  execFileSync(program('tests/page/make_planted'), [heap, trace, seed]);
  execFileSync(program('src/cli/winnow'), ['html', '-o', page, trace], { stdio: 'pipe' });
  return page;
}

/* ---- the flame graph's tree ---- */

interface Item {
  level: number;
  position: number;
  siblings: number;
  text: string;
  isCurrent: boolean;
}

const itemsIn = (page: Page): Promise<Item[]> =>
  page.locator('#flame [role=treeitem]').evaluateAll((all) =>
    all.map((item) => ({
      level: Number(item.ariaLevel),
      position: Number(item.ariaPosInSet),
      siblings: Number(item.ariaSetSize),
      text: item.textContent!.replace(/[\u2068\u2069]/g, ''),
      isCurrent: item.ariaSelected === 'true',
    })),
  );

function childrenOf({ columns: { next } }: Flame, node: number): number[] {
  const children = [];
  for (let child = node + 1; child < next[node]!; child = next[child]!) children.push(child);
  return children;
}

/** The nodes from the whole down to the current box, by their places among their siblings. */
function wayTo(flame: Flame, items: Item[]): number[] {
  const current = items.find(({ isCurrent }) => isCurrent)!;
  const above = items.filter(({ level }) => level > 1 && level < current.level);
  const way = [0];
  for (const { position } of current.level > 1 ? [...above, current] : above) way.push(childrenOf(flame, way.at(-1)!)[position - 1]!);
  assert.equal(way.length, current.level);
  return way;
}

type Spoken = (flame: Flame, node: number) => string;

function nameOf({ columns, labels }: Flame, node: number): string {
  if (node === 0) return 'all';
  return columns.label[node] === NO_LABEL ? `${count(columns.merged[node]!)} more` : cleanName(labels[columns.label[node]!]!.text);
}

const inWords = (text: string) => text.replace(/±\s*/g, 'plus or minus ').replace(/\s*%/g, ' percent');

const asBytes: Spoken = (flame, node) => {
  const { bytes: all, low, high, samples } = flame.columns;
  const [value, least, most] = [all[node]!, low[node]!, high[node]!];
  const off = error(value, least, most);
  const about = isRough({ samples: samples[node]!, low: least, high: most }) ? 'about ' : '';
  return `${nameOf(flame, node)}, ${inWords(`${about}${bytes(value)}${off && ` ${off}`}, ${share(value / all[0]!)} of the whole`)}`;
};

const asBlocks =
  (unit: string): Spoken =>
  (flame, node) => {
    const { blocks, low, high, samples } = flame.columns;
    const about = isRough({ samples: samples[node]!, low: low[node]!, high: high[node]! }) ? 'about ' : '';
    return `${nameOf(flame, node)}, ${inWords(`${about}${shortCount(blocks[node]!)}\u202f${unit}, ${share(blocks[node]! / blocks[0]!)} of the whole`)}`;
  };

const asChange: Spoken = (flame, node) => {
  const { change, low, high } = flame.columns;
  const isSure = low[node]! > 0 || high[node]! < 0;
  return `${nameOf(flame, node)}, ${changeOf(change![node]!).replace('−', 'minus ').replace('+', 'plus ')}${isSure ? '' : ', not sure'}`;
};

/** Compares the tree around the current box with the answer: each item is an ancestor, a sibling or
 *  a child of it. */
async function assertTree(page: Page, flame: Flame, spoken: Spoken, where: string): Promise<string[]> {
  const items = await itemsIn(page);
  const way = wayTo(flame, items);
  const node = way.at(-1)!;
  const siblings = way.length > 1 ? childrenOf(flame, way.at(-2)!) : [0];
  const children = childrenOf(flame, node);
  for (const { level, position, siblings: of, text, isCurrent } of items) {
    if (level < way.length) {
      assert.equal(text, spoken(flame, way[level - 1]!), where);
      continue;
    }
    const family = level === way.length ? siblings : children;
    assert.equal(text, spoken(flame, family[position - 1]!), `${where}, level ${level}`);
    assert.deepEqual([of, isCurrent], [family.length, family[position - 1] === node], where);
  }
  if (flame.columns.label[node] !== NO_LABEL) assert.equal(await page.locator('#flame-line bdi').first().getAttribute('title'), nameOf(flame, node), where);
  const levels = (wanted: (level: number) => boolean) => items.filter(({ level }) => wanted(level)).length;
  assert.equal(levels((level) => level < way.length), Math.min(16, way.length - 1), where);
  assert.equal(levels((level) => level === way.length), Math.min(20, siblings.length), where);
  assert.equal(levels((level) => level > way.length), Math.min(23, children.length), where);
  return items.map(({ text }) => text);
}

/** Walks through the graph, and compares its tree after each step. */
async function walkTree(page: Page, flame: Flame, spoken: Spoken, where: string): Promise<string> {
  const tree: string[] = [];
  await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowUp', 'ArrowUp']) {
    await page.keyboard.press(key);
    await settled(page);
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-selected') === 'true');
    tree.push(...(await assertTree(page, flame, spoken, `${where}, ${key}`)));
  }
  return tree.join('\n');
}

for (const kind of ['planted', 'plain'])
  test(`the tree of the flame graph says what the engine answers for each view, of a ${kind} trace`, { skip: without }, () =>
    inFolder(async (folder) => {
      const file = kind === 'planted' ? planted(folder, 'collected') : makePage(folder, [kind]).page;
      const engine = await openPage(file);
      const { page, faults, close } = await openFile(browser, file);
      const trees = new Set<string>();
      /* Each view is walked in bytes of one trace, and in blocks of the other. */
      for (const [index, { address, where, measure, by, direction }] of WALK.entries()) {
        const flame = answerOf<Flame>(engine, { view: 'flame', where, measure, by: by ?? 'function', direction, stacks: 'whole' });
        if (!flame.columns.samples[0]) continue;
        const unit = (index % 2 === 0) === (kind === 'planted') ? 'bytes' : flame.unit === 'calls' ? 'calls' : 'blocks';
        await goTo(page, `${address}&stacks=whole${unit === 'bytes' ? '' : '&width=blocks'}`);
        trees.add(await walkTree(page, flame, unit === 'bytes' ? asBytes : asBlocks(unit), `${address}, ${unit}`));
      }
      assert.ok(trees.size >= 4, `${trees.size} different trees`);
      assert.deepEqual(faults, []);
      await close();
    }));

/* ---- the comparison ---- */

interface Compared {
  address: string;
  request: Omit<Request, 'view' | 'direction'>;
}

const RUNS: Compared[] = [
  { address: '#compare', request: { measure: 'held', by: 'function', against: 'before' } },
  { address: '#compare&measure=allocated&per=second&by=line', request: { measure: 'allocated', by: 'line', against: 'before', per: 'second' } },
  { address: '#compare&measure=alive&extent=total', request: { measure: 'alive', by: 'function', against: 'before', extent: 'total' } },
  { address: '#compare&where=size+%3C+1K', request: { where: 'size < 1K', measure: 'held', by: 'function', against: 'before' } },
];
const MOMENTS: Compared[] = [
  { address: '#compare&against=10s', request: { where: 'at = end', measure: 'held', by: 'function', against: '10s' } },
  { address: '#compare&where=at+=+90s&against=51s', request: { where: 'at = 90s', measure: 'held', by: 'function', against: '51s' } },
];

function sideOf(columns: Compare['columns'], side: 'before' | 'after', row: number, fate: string): string {
  const [value, low, high, samples] = [columns[side][row]!, columns[`${side}_low`][row]!, columns[`${side}_high`][row]!, columns[`${side}_samples`][row]!];
  if (!samples && value === 0) return fate || '–';
  return `${bytes(value)}${error(value, low, high)}`;
}

/** The rows as they should be: the engine's, parted where those begin that are not sure. */
function comparedRows({ columns, labels, fates, sure_count, rows_count, exact, partial }: Compare, by: string): string[][] {
  const rows = labels.map((label, row) => {
    const [value, low, high] = [columns.change[row]!, columns.low[row]!, columns.high[row]!];
    const mark = columns.sure[row] ? (value < 0 ? '▼' : '▲') : '';
    return [
      cleanName(label.text, 2000),
      `${mark}${changeOf(value)}${low < high ? changeRange(low, high) : ''}`,
      sideOf(columns, 'before', row, fates[row]!),
      sideOf(columns, 'after', row, fates[row]!),
      shortCount(columns.before_samples[row]! + columns.after_samples[row]!),
    ];
  });
  const left = rows_count - sure_count;
  const parting = `${partial ? 'changed or not' : exact ? 'unchanged' : 'within noise'}: ${count(left)} ${by}${left === 1 ? '' : 's'}`;
  if (rows.length > sure_count) rows.splice(sure_count, 0, [parting, '', '', '']);
  return rows;
}

const shownRows = (page: Page) =>
  page.locator('.sites.compared tbody tr:not(.gap)').evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.querySelector<HTMLElement>('bdi')?.title ?? cell.textContent!)),
  );

for (const [what, views, make] of [
  ['two runs', RUNS, (folder: string) => makeComparison(folder, ['plain'], ['named'])],
  ['two moments', MOMENTS, (folder: string) => planted(folder, 'malloc')],
] as const)
  test(`the table and the tree of a comparison of ${what} say what the engine answers for each view`, { skip: without }, () =>
    inFolder(async (folder) => {
      const file = make(folder);
      const engine = await openPage(file);
      const { page, faults, close } = await openHigh(browser, file);
      const seen = new Set<string>();
      for (const { address, request } of views) {
        await goTo(page, `${address}&stacks=whole`);
        const compare = answerOf<Compare>(engine, { view: 'compare', ...request });
        const rows = await shownRows(page);
        assert.ok(rows.length > 4, `${address}: ${rows.length} rows`);
        assert.deepEqual(rows, comparedRows(compare, request.by!).slice(0, rows.length), address);
        const { estimate, low, high } = compare.bytes.difference;
        const said = (await page.locator('.population').textContent())!;
        assert.ok(said.includes(`: ${changeOf(estimate)}${low < high ? ` (${changeRange(low, high)})` : ''}`), said);
        const [had, has] = [compare.bytes.before, compare.bytes.after];
        for (const side of [had, has]) if (side.samples) assert.ok(said.includes(`${bytes(side.estimate)}${side.low < side.high ? ` (${range(side.low, side.high)})` : ''}`), said);
        const { extent: _, ...asked } = request;
        const flame = answerOf<Flame>(engine, { view: 'flame', direction: 'callees', ...asked, stacks: 'whole' });
        const tree = await walkTree(page, flame, asChange, address);
        seen.add(said + JSON.stringify(rows) + tree);
      }
      assert.equal(seen.size, views.length);
      assert.deepEqual(faults, []);
      await close();
    }));
/* SPDX-License-Identifier: MIT */
