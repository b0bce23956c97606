/* The flame graph in a browser: what is drawn, and what mouse, keys and speech do. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { closePage, drawn, launch, type Look, openPage, rested } from './browser.ts';
import type { Tree } from './examples.ts';

const TREE: Tree = {
  name: 'all',
  children: [
    {
      name: 'main',
      module: 'server',
      self: 100e6,
      children: [
        { name: 'parse', module: 'server', self: 100e6, children: [{ name: 'lex', module: 'libjson.so', self: 500e6 }] },
        {
          name: 'Hashtbl.resize',
          module: 'ocaml',
          children: [
            { name: 'malloc', module: 'libc.so.6', self: 150e6, samples: 4, error: 0.9 },
            { name: '', merged: 7, self: 50e6 },
          ],
        },
        { name: 'load<std::vector<int> >(int)', module: 'server', self: 100e6 },
      ],
    },
  ],
};

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

async function opened(look: Look = {}, tree: Tree | null = TREE): Promise<Page> {
  const page = await openPage(browser, { width: 1000, height: 400, ...look });
  /* As text: the driver takes long to hand over deep objects. */
  if (tree !== null) await page.evaluate(`window.showTree(${JSON.stringify(tree)})`);
  await drawn(page);
  return page;
}

type Pixel = [number, number, number];

/** The colour of a pixel of the canvas. */
const pixel = (page: Page, x: number, y: number): Promise<Pixel> =>
  page.evaluate(
    ([left, top]) => [...window.flame.canvas.getContext('2d')!.getImageData(left!, top!, 1, 1).data.slice(0, 3)] as Pixel,
    [x, y],
  );
const grey = ([red, green, blue]: Pixel) => Math.max(red, green, blue) - Math.min(red, green, blue) <= 8;

/** How many different colours a rectangle of the canvas has. */
const colours = (page: Page, x: number, y: number, width: number, height: number): Promise<number> =>
  page.evaluate(
    ([left, top, wide, high]) => {
      const { data } = window.flame.canvas.getContext('2d')!.getImageData(left!, top!, wide!, high!);
      return new Set(new Uint32Array(data.buffer)).size;
    },
    [x, y, width, height],
  );

const events = (page: Page, name: string) =>
  page.evaluate((wanted) => window.flameEvents.filter((event) => event.name === wanted).map(({ value }) => value), name);
const selectedName = (page: Page) => page.evaluate(() => window.flame.selectedBox?.name ?? null);
const spokenName = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '');

test('boxes have the colour of their module, gaps that of the page, and the runtime is grey', async () => {
  const page = await opened();
  const main = await pixel(page, 400, 23);
  assert.ok(!grey(main));
  assert.deepEqual(await pixel(page, 400, 39), [255, 255, 255], 'one pixel between rows');
  assert.deepEqual(await pixel(page, 599, 45), [255, 255, 255], 'one pixel between boxes');
  assert.ok(!grey(await pixel(page, 598, 43)));
  assert.ok(grey(await pixel(page, 760, 63)), 'malloc is of the runtime and hatched in grey');
  assert.ok(grey(await pixel(page, 790, 63)), 'the merged rest');
  assert.deepEqual(await pixel(page, 950, 50), [255, 255, 255], "main's own bytes");
  await closePage(page);
});

test('uncertain boxes are hatched, others not', async () => {
  const page = await opened();
  assert.ok((await colours(page, 700, 62, 40, 16)) > 2, 'malloc rests on four samples');
  assert.equal(await colours(page, 300, 62, 40, 16), 1, 'lex does not');
  await closePage(page);
});

test('the canvas is as large as the window for 5,000 rows, and scrolls to the last', async () => {
  const page = await opened({}, null);
  await page.evaluate(() => {
    let tree: Tree = { name: 'walk', self: 1e6 };
    for (let depth = 0; depth < 5000; depth++) tree = { name: 'walk', self: 10, children: [tree] };
    window.showTree(tree);
  });
  await drawn(page);
  assert.equal(await page.evaluate(() => window.flame.canvas.height), 400);
  await page.mouse.move(500, 200);
  await page.mouse.wheel(0, 1e6);
  await page.waitForFunction(() => window.flame.view.top > 90_000);
  await drawn(page);
  assert.equal((await page.evaluate(() => window.flame.hit(5, 395)))?.level, 5001);
  assert.ok((await page.evaluate(() => window.flame.drawn.boxes)) <= 22);
  await closePage(page);
});

test('a click selects, a double click focuses, and the dimmed caller leads back out', async () => {
  const page = await opened();
  await page.mouse.click(650, 50);
  assert.equal(await selectedName(page), 'Hashtbl.resize');
  await page.mouse.dblclick(650, 50);
  await drawn(page);
  assert.deepEqual(await events(page, 'focus'), [['main', 'Hashtbl.resize']]);
  assert.equal(await page.evaluate(() => document.activeElement!.getAttribute('role')), 'treeitem', 'keys still reach the graph');
  assert.equal((await page.evaluate(() => window.flame.hit(5, 50)))?.name, 'Hashtbl.resize');
  await page.waitForTimeout(450);
  await page.mouse.click(500, 30);
  assert.deepEqual((await events(page, 'focus')).at(-1), ['main']);
  await closePage(page);
});

test('an answer of a focus keeps the rows where they are, with its callers above', async () => {
  const page = await opened();
  await page.mouse.dblclick(650, 50);
  await page.evaluate((tree) => window.showTree(tree, ['main', 'Hashtbl.resize'], 1e9), TREE.children![0]!.children![1]!);
  await drawn(page);
  const box = await page.evaluate(() => window.flame.hit(500, 50));
  assert.equal(box?.name, 'Hashtbl.resize');
  assert.equal(box?.level, 3);
  assert.equal(box?.share, 0.2);
  assert.ok(!grey(await pixel(page, 600, 43)));
  await page.mouse.click(500, 10);
  assert.deepEqual((await events(page, 'focus')).at(-1), []);
  await closePage(page);
});

test('the keyboard walks through the tree, and each box is spoken', async () => {
  const page = await opened();
  await page.keyboard.press('Tab');
  assert.match(await spokenName(page), /all.*, 1\.0 GB .*100 percent of the whole/);
  const walk = ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowUp'];
  const heard: string[] = [];
  for (const key of walk) {
    await page.keyboard.press(key);
    heard.push((await spokenName(page)).replace(/[\u2068\u2069]|,.*/g, ''));
  }
  assert.deepEqual(heard, ['main', 'parse', 'Hashtbl.resize', 'malloc', 'Hashtbl.resize']);
  const item = await page.evaluate(() => {
    const of = (name: string) => document.activeElement!.getAttribute(name);
    return [of('role'), of('aria-level'), of('aria-posinset'), of('aria-setsize'), of('aria-selected'), of('aria-expanded')];
  });
  assert.deepEqual(item, ['treeitem', '3', '2', '3', 'true', 'true']);
  assert.match(await spokenName(page), /200 MB plus or minus 2 percent, 20 percent of the whole/);
  assert.equal(await selectedName(page), 'Hashtbl.resize');
  await page.keyboard.press('Enter');
  assert.deepEqual(await events(page, 'focus'), [['main', 'Hashtbl.resize']]);
  await page.keyboard.press('Escape');
  assert.deepEqual((await events(page, 'focus')).at(-1), []);
  await closePage(page);
});

test('the tree has at most 60 items however large the answer', async () => {
  const page = await opened({}, null);
  await page.evaluate(() => window.flame.setData(window.largeFlame(20_000), { mode: 'icicle' }));
  await page.keyboard.press('Tab');
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press(step % 3 === 2 ? 'ArrowRight' : 'ArrowDown');
    assert.ok((await page.locator('[role=treeitem]').count()) <= 60);
    assert.equal(await page.locator('[role=treeitem][tabindex="0"]').count(), 1);
  }
  await closePage(page);
});

test('keys zoom, and wheel with control zooms at the pointer; dragging pans', async () => {
  const page = await opened();
  await page.keyboard.press('Tab');
  await page.keyboard.press('+');
  const zoomed = await page.evaluate(() => window.flame.view);
  assert.ok(zoomed.high - zoomed.low < 0.7);
  await page.keyboard.press('0');
  assert.equal(await page.evaluate(() => window.flame.view.high - window.flame.view.low), 1);
  await page.mouse.move(650, 50);
  const under = () => page.evaluate(() => window.flame.hit(650, 50)?.name);
  await page.keyboard.down('Control');
  for (let step = 0; step < 5; step++) await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await page.waitForFunction(() => window.flame.view.high - window.flame.view.low < 0.2);
  assert.equal(await under(), 'Hashtbl.resize');
  const { low } = await page.evaluate(() => window.flame.view);
  await page.mouse.down();
  await page.mouse.move(550, 50, { steps: 4 });
  await page.mouse.up();
  assert.ok((await page.evaluate(() => window.flame.view.low)) > low);
  assert.equal(await selectedName(page), null, 'dragging selects nothing');
  await closePage(page);
});

test('a tap selects, two taps focus once', async () => {
  const page = await opened({ touch: true });
  await page.touchscreen.tap(650, 50);
  assert.equal(await selectedName(page), 'Hashtbl.resize');
  assert.deepEqual(await events(page, 'focus'), []);
  await page.waitForTimeout(500);
  const driver = await page.context().newCDPSession(page);
  const now = Date.now() / 1000;
  for (const [step, type] of (['touchStart', 'touchEnd', 'touchStart', 'touchEnd'] as const).entries())
    await driver.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchStart' ? [{ x: 650, y: 50 }] : [], timestamp: now + step / 20 });
  await drawn(page);
  assert.deepEqual(await events(page, 'focus'), [['main', 'Hashtbl.resize']]);
  await closePage(page, { touch: true });
});

test('two fingers zoom, one finger then pans and selects nothing', async () => {
  const page = await opened({ touch: true });
  const driver = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...xs: number[]) =>
    driver.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x, y: 50, id })) });
  await touch('touchStart', 450);
  await touch('touchStart', 450, 550);
  for (let step = 1; step <= 10; step++) await touch('touchMove', 450 - 15 * step, 550 + 15 * step);
  await touch('touchEnd');
  const zoomed = await page.evaluate(() => window.flame.view);
  assert.ok(Math.abs(zoomed.high - zoomed.low - 0.25) < 0.03, `${zoomed.high - zoomed.low}`);
  assert.ok(Math.abs((zoomed.high + zoomed.low) / 2 - 0.5) < 0.05);
  await touch('touchStart', 500);
  for (let step = 1; step <= 10; step++) await touch('touchMove', 500 - 20 * step);
  await touch('touchEnd');
  const panned = await page.evaluate(() => window.flame.view);
  assert.ok(Math.abs(panned.low - zoomed.low - 0.05) < 0.01, `${panned.low - zoomed.low}`);
  assert.equal(await selectedName(page), null);
  await closePage(page, { touch: true });
});

test('a reader of the screen can go to callers above the answer', async () => {
  const page = await opened({}, null);
  await page.evaluate((tree) => window.showTree(tree, ['main', 'load', 'read']), { name: 'read', self: 5 });
  const callers = page.locator('[role=treeitem][aria-level="2"]');
  assert.match((await callers.textContent())!, /main/);
  await callers.evaluate((item: HTMLElement) => item.click());
  assert.deepEqual(await events(page, 'focus'), [['main']]);
  await closePage(page);
});

test('a search frames its matches and fades the others', async () => {
  const page = await opened();
  const before = await pixel(page, 300, 63);
  const other = await pixel(page, 300, 43);
  await page.evaluate(() => window.flame.setSearch(/^LEX$/i));
  await drawn(page);
  assert.deepEqual(await pixel(page, 300, 66), before, 'a match keeps its fill');
  assert.notDeepEqual(await pixel(page, 300, 60), before, 'and has a frame');
  const faded = await pixel(page, 300, 43);
  assert.ok(faded.every((part, index) => part >= other[index]!), 'others are paler');
  assert.ok(await page.evaluate(() => window.flame.selectMatch(1)));
  assert.equal(await selectedName(page), 'lex');
  await page.evaluate(() => window.flame.setSearch(null));
  await page.evaluate(() => window.flame.select(-1));
  await drawn(page);
  assert.deepEqual(await pixel(page, 300, 43), other);
  await closePage(page);
});

test('hover tells the box, and the menu its box and point', async () => {
  const page = await opened();
  await page.mouse.move(650, 50);
  const [hovered] = (await events(page, 'hover')).slice(-1) as [{ name: string; samples: number }];
  assert.equal(hovered.name, 'Hashtbl.resize');
  await page.mouse.click(650, 70, { button: 'right' });
  const [menu] = (await events(page, 'menu')) as [{ box: { name: string; uncertain: boolean }; point: { x: number; y: number } }];
  assert.equal(menu.box.name, 'malloc');
  assert.equal(menu.box.uncertain, true);
  assert.deepEqual(menu.point, { x: 650, y: 70 });
  await closePage(page);
});

test('a new size of the window is drawn, and sharp on fine screens', async () => {
  const page = await opened({ ratio: 3 });
  await page.setViewportSize({ width: 320, height: 300 });
  await drawn(page);
  await page.waitForFunction(() => window.flame.canvas.width === 640 && window.flame.canvas.height === 600);
  assert.equal((await page.evaluate(() => window.flame.hit(180, 50)))?.name, 'parse');
  await closePage(page, { ratio: 3 });
});

test('a height that lasts less than a frame, and was measured in it, does not stay', async () => {
  const page = await opened();
  await page.evaluate((tree) => {
    const { style } = document.getElementById('host')!;
    style.height = '340px';
    window.showTree(tree);
    style.height = '';
  }, TREE);
  await drawn(page);
  assert.equal(await page.evaluate(() => window.flame.canvas.clientHeight), 400);
  await closePage(page);
});

test('the theme follows the page', async () => {
  const page = await opened();
  const light = await pixel(page, 400, 23);
  await page.emulateMedia({ colorScheme: 'dark' });
  await drawn(page);
  const dark = await pixel(page, 400, 23);
  assert.ok(dark.every((part, index) => part < light[index]!));
  assert.deepEqual(await pixel(page, 950, 300), [21, 23, 26]);
  await page.emulateMedia({ colorScheme: 'light', contrast: 'more' });
  await drawn(page);
  const edge = await pixel(page, 400, 20);
  assert.ok(edge.every((part) => part < 100), 'boxes have frames for people who want more contrast');
  assert.deepEqual(await pixel(page, 400, 23), light);
  await page.emulateMedia({ forcedColors: 'active', contrast: 'no-preference' });
  await drawn(page);
  assert.deepEqual(await pixel(page, 400, 33), [255, 255, 255], 'boxes are lines with forced colours');
  assert.deepEqual(await pixel(page, 400, 20), [0, 0, 0]);
  await closePage(page);
});

test('a focus moves there in frames, and at once if the person wants no movement', async () => {
  for (const still of [true, false]) {
    const page = await opened({ still });
    const seen = await page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const lefts = new Set<number>();
      window.flame.focus(4);
      for (const began = performance.now(); performance.now() - began < 600; await frame()) {
        lefts.add(window.flame.rectOf(4)!.x);
      }
      return [...lefts];
    });
    assert.equal(seen.at(-1), 0);
    if (still) assert.equal(seen.length, 1);
    else assert.ok(seen.length > 1);
    await closePage(page);
  }
});

test('what is drawn at a point is what is hit there, for random answers and views', async () => {
  const page = await opened({}, null);
  const wrong = await page.evaluate(async () => {
    const wrong: string[] = [];
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let round = 0; round < 40; round++) {
      window.flame.setData(window.largeFlame(5 + 30 * round, round), { mode: 'icicle' });
      const low = Math.random() * 0.9;
      const view = { focus: [], low, high: low + Math.random() * (1 - low), top: Math.random() * 300, selected: null };
      window.flame.view = view;
      await frame();
      const { top } = window.flame.view;
      const { width, height } = window.flame.canvas;
      const { data } = window.flame.canvas.getContext('2d')!.getImageData(0, 0, width, height);
      for (let point = 0; point < 300; point++) {
        const x = Math.floor(Math.random() * width);
        const row = Math.floor(Math.random() * 15);
        const y = row * 20 - (Math.round(top) % 20) + 4;
        if (y < 0 || y >= height) continue;
        const at = 4 * (y * width + x);
        const empty = data[at] === 255 && data[at + 1] === 255 && data[at + 2] === 255;
        const box = window.flame.hit(x + 0.5, y);
        if (box === null ? empty : !empty) continue;
        /* At the edges of boxes a pixel belongs to a gap or to a neighbour. */
        const rects = [x - 2, x + 2].map((near) => window.flame.hit(near, y)?.node ?? -1);
        if (rects.every((node) => node === (box?.node ?? -1))) wrong.push(`${round}: ${x},${y} ${box?.name} ${JSON.stringify(view)}`);
      }
    }
    return wrong;
  });
  assert.deepEqual(wrong, []);
  await closePage(page);
});

test('names from a trace are text, never markup', async () => {
  const name = '</script><img src=x onerror="window.hurt=1">\u202e';
  const page = await opened({}, { name: 'all', children: [{ name, self: 5 }] });
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  assert.match(await spokenName(page), /<img src=x/);
  assert.equal(await page.locator('img:not(canvas)[src]').count(), 0);
  assert.equal(await page.evaluate(() => 'hurt' in window), false);
  await closePage(page);
});

test('a view is the same picture again', async () => {
  const page = await opened();
  const picture = () => page.evaluate(() => window.flame.canvas.toDataURL());
  await page.mouse.dblclick(650, 50);
  await page.keyboard.press('+');
  await page.mouse.move(0, 399);
  await rested(page);
  const view = await page.evaluate(() => JSON.stringify(window.flame.view));
  const before = await picture();
  await page.evaluate(() => window.flame.focusOn([]));
  await rested(page);
  assert.notEqual(await picture(), before);
  await page.evaluate((text) => (window.flame.view = JSON.parse(text)), view);
  await rested(page);
  assert.equal(await picture(), before);
  await closePage(page);
});

test('an automatic check finds nothing wrong for assistive technology', async () => {
  const page = await opened();
  const { createRequire } = await import('node:module');
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } };
    return (await axe.run()).violations.map(({ id }) => id);
  });
  assert.deepEqual(violations.filter((id) => id !== 'page-has-heading-one'), []);
  await closePage(page);
});

/* SPDX-License-Identifier: MIT */
