/* The callers and callees of one function in one picture, on pages of real recordings: numbers, keys, clicks, addresses,
 * paper. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Flame, Request, Table } from '../../src/engine/answers.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Source } from '../../src/engine/source.ts';
import { FlameData, type Path } from '../../src/flame/data.ts';
import type { Place } from '../../src/flame/layout.ts';
import { ROW_HEIGHT } from '../../src/flame/navigation.ts';
import { askFlame, halfOf } from '../../src/state/halves.ts';
import { inFolder, makeComparison, makePage, openPage, without } from '../engine/page.ts';
import { followLink, hash, launch, onPageOf, rested, settled, shopPage } from './open.ts';
import { answerOf, openHigh } from './views.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());
const onPage = onPageOf(() => browser);

const sourceIn = (engine: Engine) => ({ ask: async (request: Request) => ({ answer: answerOf(engine, request), state: 0 }) }) as unknown as Source;

async function pictureOf(engine: Engine, of: string, asked: Partial<Request> = {}, ...focus: Path): Promise<Flame> {
  const request: Request = { view: 'flame', measure: 'held', by: 'function', stacks: 'whole', ...asked, ...halfOf(of, focus) };
  return (await askFlame(sourceIn(engine), request, 'flame')).answer;
}

const near = (one: number, other: number) => Math.abs(one - other) <= 1e-9 * Math.abs(other) + 1e-6;

/** That of no box, children and own bytes are more than the box has; of the callees they are as much. */
function assertSums({ columns: { next, bytes, self }, halves }: Flame, name: string): void {
  const sums = Float64Array.from(self);
  const rootOf = { callees: self[0]!, callers: 0 };
  const inside: number[] = [];
  for (let node = 1; node < next.length; node++) {
    while (inside.length && next[inside.at(-1)!]! <= node) inside.pop();
    if (inside.length) sums[inside.at(-1)!]! += bytes[node]!;
    else rootOf[node < halves!.callers ? 'callees' : 'callers'] += bytes[node]!;
    inside.push(node);
  }
  for (let node = 1; node < next.length; node++) assert.ok(near(sums[node]!, bytes[node]!), `${name}, box ${node}`);
  assert.ok(near(rootOf.callees, bytes[0]!), `${name}: callees and own bytes are the function's`);
  assert.ok(rootOf.callers <= bytes[0]! * (1 + 1e-9), `${name}: callers have no more than the function`);
}

for (const kind of ['', 'collected'])
  test(`both halves have what the table has of each function, of a ${kind || 'plain'} recording`, { skip: without }, async () => {
    const engine = await openPage(shopPage(kind));
    let branched = 0;
    for (const asked of [{ measure: 'held' }, { measure: 'churn', stacks: undefined }, { measure: 'allocated', where: 'size >= 500', by: 'line' }] as Partial<Request>[]) {
      const { labels, columns } = answerOf<Table>(engine, { view: 'table', by: 'function', ...asked, stacks: undefined } as Request);
      for (const [row, total] of columns.total.entries()) {
        const { text } = labels[columns.label[row]!]!;
        const flame = await pictureOf(engine, text, asked);
        const { layout } = new FlameData(flame);
        assert.ok(near(layout.total, total), `${text}: ${layout.total} and ${total}`);
        assertSums(flame, text);
        const { bytes } = answerOf<Flame>(engine, { view: 'flame', by: 'function', stacks: 'whole', ...asked, of: text, direction: 'callers' } as Request).columns;
        const callers = flame.columns.bytes.slice(flame.halves!.callers);
        assert.deepEqual(callers, bytes.slice(bytes.length - callers.length));
        if ([false, true].every((up) => layout.children(0, up)[1] > layout.children(0, up)[0])) branched++;
      }
    }
    assert.ok(branched > 10, `${branched} functions with callers and callees`);
  });

/* ---- on the page ---- */

/** The function that branches most in both halves. */
async function mostCalled(engine: Engine): Promise<string> {
  const { labels, columns } = answerOf<Table>(engine, { view: 'table', measure: 'held', by: 'function' });
  let best = { text: '', branches: 0 };
  for (const label of columns.label) {
    const { text } = labels[label]!;
    const { layout } = new FlameData(await pictureOf(engine, text));
    const [one, other] = [false, true].map((up) => layout.children(0, up)[1] - layout.children(0, up)[0]) as [number, number];
    if (layout.rows < 13 && Math.min(one, 4) * Math.min(other, 4) > best.branches) best = { text, branches: Math.min(one, 4) * Math.min(other, 4) };
  }
  return best.text;
}

interface Picture {
  data: FlameData;
  of: string;
}

/** That function's picture, which is sought once for all tests of a kind. */
const sought = new Map<string, Promise<Picture>>();
function pictureOfShop(kind: string): Promise<Picture> {
  const find = async () => {
    const engine = await openPage(shopPage(kind));
    const of = await mostCalled(engine);
    return { of, data: new FlameData(await pictureOf(engine, of)) };
  };
  if (!sought.has(kind)) sought.set(kind, find());
  return sought.get(kind)!;
}

interface Shown extends Picture {
  page: Page;
  /** The middle of a box on the page. */
  middle(place: Place): Promise<{ x: number; y: number }>;
}

for (const kind of ['', 'collected']) {
  /* The longest need only one of the kinds. */
  const on = (name: string, address: string, check: (shown: Shown) => Promise<void>, only = kind) => {
    if (only !== kind) return;
    onPage(`${name}, ${kind || 'plain'}`, { of: kind, at: '#peak&stacks=whole', height: 1400 }, async (page) => {
      const { of, data } = await pictureOfShop(kind);
      await page.evaluate((to) => (location.hash = to), `#peak&of=${encodeURIComponent(of)}&stacks=whole${address}`);
      await page.waitForSelector('.trail .of');
      await settled(page);
      const middle = async (place: Place) => {
        const { x, y, width } = (await page.locator('#flame-host canvas').boundingBox())!;
        const { left, right, total } = data.layout;
        return { x: x + (width * (left[place]! + right[place]!)) / 2 / total, y: y + (data.layout.line(place) + data.linesAbove + 0.5) * ROW_HEIGHT };
      };
      await check({ page, data, of, middle });
    });
  };

  const current = (page: Page) => page.locator('#flame [role=treeitem][aria-selected=true]').innerText();
  const nameOf = (data: FlameData, place: Place) => data.labelOf(place)!.text;
  const firsts = (data: FlameData) => [true, false].map((up) => data.layout.children(0, up)[0]) as [Place, Place];

  on('keys lead from a caller through the function to a callee', '', async ({ page, data, of }) => {
    const [caller, callee] = firsts(data);
    await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
    const press = async (key: string) => {
      await page.keyboard.press(key);
      await settled(page);
      return (await current(page)).replace(/[\u2068\u2069]/g, '');
    };
    assert.ok((await press('ArrowUp')).startsWith(`${nameOf(data, caller)}, caller, `));
    const said = await press('ArrowDown');
    assert.ok(said.startsWith(`${of}, `) && !/callers?,|callee,/.test(said), said);
    assert.ok((await press('ArrowDown')).startsWith(`${nameOf(data, callee)}, callee, `));
    const label = await page.locator('#flame [role=tree]').getAttribute('aria-label');
    assert.match(label!, /callers of the function above it, callees below it/);
  });

  on('the number of the function is that of its row', '&rows=all&sort=total', async ({ page, of }) => {
    const cell = (await page.locator('.sites tbody tr').evaluateAll((rows, name) => rows.find((row) => row.querySelector('th')!.textContent!.startsWith(name))!.children[2]!.textContent, of))!;
    const amount = /[\d.]+\s\S?B/u.exec(cell)![0];
    assert.ok((await page.locator('#flame [role=treeitem][aria-level="1"]').innerText()).includes(amount), amount);
  });

  on('a click selects in each half, and the menu opens there', '', async ({ page, data, middle }) => {
    for (const place of firsts(data)) {
      const { x, y } = await middle(place);
      await page.mouse.click(x, y);
      await settled(page);
      assert.equal(await page.locator('#details h2').innerText(), nameOf(data, place));
      assert.ok((await page.locator('#flame-line').innerText()).includes(nameOf(data, place)));
      await page.mouse.click(x, y, { button: 'right' });
      assert.equal(await page.locator('.menu').getAttribute('aria-label'), nameOf(data, place));
      await page.keyboard.press('Escape');
      assert.match(await hash(page), /of=/, 'Escape closes the menu alone');
    }
  });

  on('the address brings the picture back: a selection, a zoom, a focus in either half', '', async ({ page, data, middle }) => {
    const seen = async () => {
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
      await rested(page);
      return await page.evaluate(() => ({ canvas: document.querySelector<HTMLCanvasElement>('#flame-host canvas')!.toDataURL(), trail: document.querySelector('#flame-head')!.textContent, line: document.querySelector('#flame-line')!.textContent }));
    };
    const pictures = new Set<string>();
    for (const place of firsts(data)) {
      for (const keys of [['+', '+'], ['0', 'Enter']]) {
        const { x, y } = await middle(place);
        if (keys[0] === '+') await page.mouse.click(x, y);
        else await page.locator('#flame [role=treeitem][tabindex="0"]').focus();
        for (const key of keys) {
          await page.keyboard.press(key);
          await settled(page);
        }
        await page.mouse.move(0, 0);
        const before = await seen();
        await followLink(page, await hash(page));
        const again = await seen();
        assert.deepEqual([again.trail, again.line], [before.trail, before.line]);
        assert.ok(again.canvas === before.canvas, await hash(page));
        pictures.add(before.canvas);
      }
      assert.match(await page.locator('.trail').innerText(), place === firsts(data)[0] ? /callers of/ : /callees of/);
      await page.locator('.trail button').nth(1).click();
      await settled(page);
      assert.match(await page.locator('.trail').innerText(), /callers and callees of/);
    }
    assert.equal(pictures.size, 4);
  }, 'collected');

  on('a focus is left by Escape, then the function; or by what is to be seen', '', async ({ page, data, middle }) => {
    const isOf = async () => {
      await settled(page);
      return /of=/.test(await hash(page));
    };
    for (const place of firsts(data)) {
      const { x, y } = await middle(place);
      await page.mouse.click(x, y);
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => location.hash.includes('focus='));
      assert.ok(await isOf());
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !location.hash.includes('focus='));
      assert.ok(await isOf());
    }
    await page.keyboard.press('Escape');
    assert.ok(!(await isOf()));
    assert.equal(await page.getByRole('group', { name: 'Direction' }).count(), 1);
    for (const leave of [() => page.getByRole('button', { name: 'Show the whole tree again' }).click(), () => page.locator('.trail').getByRole('button', { name: 'all' }).click()]) {
      const row = page.locator('.sites tbody tr').first();
      await row.click();
      await page.keyboard.press('s');
      assert.ok(await isOf());
      assert.equal(await page.getByRole('group', { name: 'Direction' }).count(), 0);
      await page.keyboard.press('?');
      assert.match(await page.locator('#help').innerText(), /its callers and callees/);
      await page.keyboard.press('Escape');
      await page.locator('#help').waitFor({ state: 'detached' });
      assert.ok(await isOf(), 'Escape closes the help alone');
      await leave();
      assert.ok(!(await isOf()));
    }
  }, '');

  on('a search marks boxes of both halves, and n goes to them', '', async ({ page, data }) => {
    const names = firsts(data).map((place) => nameOf(data, place));
    await page.evaluate((to) => (location.hash = to), `${await hash(page)}&search=${encodeURIComponent(names.map((name) => `^${name.replace(/[^\w]/g, '.')}`).join('|'))}`);
    await settled(page);
    const found = new Set<string>();
    for (let times = 0; times < 12; times++) {
      await page.keyboard.press('n');
      await settled(page);
      found.add((await current(page)).replace(/[\u2068\u2069]/g, ''));
    }
    assert.ok([...found].some((text) => text.startsWith(`${names[0]}, caller`)) && [...found].some((text) => text.startsWith(`${names[1]}, callee`)), [...found].join('\n'));
  }, 'collected');

  on('paper and the picture that is saved have both halves', '', async ({ page, data, middle }) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click().then(() => page.getByRole('menuitem', { name: 'Flame graph as PNG' }).click())]);
    const saved = [...readFileSync((await download.path())!)];
    /** Whether there are boxes in the picture, that of a file or the one on the page, where they should be. */
    const areFilled = async (file?: number[]) => {
      const canvas = (await page.locator('#flame-host canvas').boundingBox())!;
      const points = [];
      for (const place of [0, ...firsts(data)]) {
        const { x, y } = await middle(place);
        points.push([Math.round(x - canvas.x), Math.round(y - canvas.y - 7)] as const);
      }
      return await page.locator('#flame-host canvas').evaluate(
        async (canvas: HTMLCanvasElement, { points, file }) => {
          const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })!;
          pen.drawImage(file ? await createImageBitmap(new Blob([new Uint8Array(file)])) : canvas, 0, 0);
          const ground = getComputedStyle(document.body).backgroundColor;
          return points.every(([x, y]) => `rgb(${[...pen.getImageData(x, y, 1, 1).data].slice(0, 3).join(', ')})` !== ground);
        },
        { points, file },
      );
    };
    assert.ok((await areFilled()) && (await areFilled(saved)));
    await page.setViewportSize({ width: 718, height: 1400 });
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    assert.ok(await areFilled(), 'on paper');
  }, '');
}

for (const [what, view] of [['two runs', '#compare&measure=allocated'], ['two moments', '#compare&against=500us']] as const)
  test(`${what} are compared in both halves`, { skip: without }, () =>
    inFolder(async (folder) => {
      const file = what === 'two runs' ? makeComparison(folder, ['plain'], ['named']) : makePage(folder, ['named']).page;
      const { page, faults, close } = await openHigh(browser, file, view);
      await page.locator('#table tbody tr', { hasText: /^short_/ }).first().click();
      await page.keyboard.press('s');
      await page.waitForSelector('.trail .of');
      await settled(page);
      const items = await page.locator('#flame [role=treeitem]').allInnerTexts();
      for (const half of ['caller', 'callee']) assert.ok(items.some((text) => new RegExp(`, ${half}, (plus|minus) `).test(text)), items.join('\n'));
      assert.deepEqual(faults, []);
      await close();
    }));
/* SPDX-License-Identifier: MIT */
