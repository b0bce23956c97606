/* The layout of the page, its tabs and their controls, the box for words and queries, and its hues. */
import assert from 'node:assert/strict';
import { cssColour, hueFill, HUES, pixelOf } from '../../src/flame/colours.ts';
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { chips, hash, launch, onPageOf, population, rested, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const onPage = onPageOf(() => browser);

onPage('More is a menu with the questions that have no tab, and says which of them is open', { of: 'collected' }, async (page) => {
  await page.getByRole('button', { name: 'More' }).click();
  assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Lives long\n5', 'Promoted\n6', 'All allocated\n7', 'Sizes and lives of the blocks\n8']);
  await page.getByRole('menuitem', { name: 'Promoted' }).click();
  await settled(page);
  assert.equal(await hash(page), '#promoted');
  assert.equal(await page.locator('#tabs [aria-current=true]').innerText().then((text) => text.trim()), 'Promoted ▾');
  assert.equal(await page.locator('[role=tab][aria-selected=true]').count(), 0);
  assert.match(await page.locator('#heap').innerText(), /minor heap/);
});

onPage('a tab has one control for its questions', {}, async (page) => {
  const pressed = () => page.locator('#population [aria-pressed=true]').allInnerTexts();
  for (const [key, button, address] of [['1', 'At the end', '#end'], ['1', 'At the peak', '#peak'], ['3', '128 KiB and larger', '#large'], ['3', 'All sizes', '#churn']] as const) {
    await page.keyboard.press(key);
    await page.locator('#population').getByRole('button', { name: button }).click();
    await settled(page);
    assert.equal(await hash(page), address);
    assert.deepEqual(await pressed(), [button]);
  }
});

onPage('a query that is typed marks nothing', {}, async (page) => {
  const rows = await page.locator('.sites tbody tr').count();
  await page.locator('#query-box').fill('size');
  await page.getByText('No name matches the search.').waitFor();
  await page.locator('#query-box').fill('size >');
  await page.waitForFunction((count) => document.querySelectorAll('.sites tbody tr').length === count, rows);
  assert.equal(await page.locator('#query .hint').innerText(), 'Enter filters');
  assert.equal(await page.locator('#query-box').inputValue(), 'size >');
  await rested(page);
  assert.equal(await hash(page), '#peak');
});

onPage('each hue that is named is one that a box on the screen has', { of: '' }, async (page) => {
  const swatches = await page.locator('.hues .swatch').evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  const pixels = new Set(
    await page.locator('#flame-host canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return [...new Set(new Uint32Array(data.buffer))];
    }),
  );
  assert.ok(swatches.length > 1);
  const hues = Array.from({ length: HUES }, (_, step) => (step * 360) / HUES);
  for (const swatch of swatches) {
    const hue = hues.find((one) => cssColour(hueFill(one, 'light')).replace(/\D+/g, ' ') === swatch.replace(/\D+/g, ' '));
    assert.ok(hue !== undefined && [0, 1, 2].some((shade) => pixels.has(pixelOf(hueFill(hue, 'light', shade)))), `${swatch}: ${hue}`);
  }
});

onPage('the hues are named below the head of the graph, and each is a filter', {}, async (page) => {
  const named = await page.locator('.hues button').allInnerTexts();
  assert.ok(named.length === 7 && ['Server', 'libsqlite3', 'server.cc'].every((name) => named.includes(name)) && !named.includes('Indexer'), named.join());
  for (const [name, clause] of [['libsqlite3', 'module = libsqlite3.so.0'], ['Cache', 'fn ~ ^<?Cache::'], ['server.cc', 'file = src/server.cc']] as const) {
    await page.locator('.hues button', { hasText: name }).click();
    await page.waitForSelector('.chip');
    await settled(page);
    assert.deepEqual(await chips(page), [clause]);
    assert.ok(await page.locator('.hues button', { hasText: name }).isDisabled());
    await page.goBack();
    await settled(page);
  }
});

onPage('a group has its hue in every view', {}, async (page) => {
  const hues = () => page.locator('.hues li').evaluateAll((all) => all.map((one) => [one.textContent, one.querySelector<HTMLElement>('.swatch')!.style.background] as const));
  const first = new Map(await hues());
  for (const key of ['2', '3', '5', '7']) {
    await page.keyboard.press(key);
    await settled(page);
    const common = (await hues()).filter(([name]) => first.has(name));
    assert.ok(common.length > 0, `${key}: ${await hues()} and ${[...first.keys()]}`);
    for (const [name, colour] of common) assert.equal(colour, first.get(name), `${key}: ${name}`);
  }
});

onPage('graph and table fill the window', { width: 1440, height: 900 }, async (page) => {
  for (const at of ['#peak', '#churn', '#compare', '#allocated&by=line']) {
    await page.evaluate((to) => (location.hash = to), at);
    await settled(page);
    const tall = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(tall <= 900, `${at}: ${tall} px`);
    const [graph, table] = [(await page.locator('#flame').boundingBox())!, (await page.locator('#table').boundingBox())!];
    assert.ok(graph.y + graph.height > 780 && graph.height >= 440, `${at}: ${JSON.stringify(graph)}`);
    assert.ok(table.x > graph.x + graph.width, at);
    assert.ok(at === '#compare' || Math.abs(graph.width / 1400 - 0.55) < 0.02, `${at}: ${graph.width}`);
  }
});

onPage('in a window of 700 to 1100 px the table is below the graph, with its rows in sight', { width: 700, height: 1024 }, async (page) => {
  for (const width of [700, 768, 1024, 1100]) {
    await page.setViewportSize({ width, height: 1024 });
    await settled(page);
    const [graph, table] = [(await page.locator('#flame').boundingBox())!, (await page.locator('#table').boundingBox())!];
    assert.ok(table.y >= graph.y + graph.height && table.height > 120, `${width} px: ${JSON.stringify(table)}`);
    const row = (await page.locator('.sites tbody tr').first().boundingBox())!;
    assert.ok(row.y + row.height < table.y + table.height, `${width} px: ${JSON.stringify(row)}`);
    assert.ok((await page.locator('#population').boundingBox())!.height < 40, 'a sentence that has nothing to say takes no line');
  }
});

onPage('arguments of the program give way to what is known of the run', { width: 1280 }, async (page) => {
  const cut = await page.evaluate(() => {
    document.querySelector('.masthead h1')!.append(' --option'.repeat(60));
    return ['.masthead h1', '.masthead .facts'].map((part) => document.querySelector(part)!).map((part) => part.scrollWidth > part.clientWidth);
  });
  assert.deepEqual(cut, [true, false]);
});

onPage('a number and its range have room in every window', { of: 'few', width: 375, at: '#peak&rows=all' }, async (page) => {
  for (const width of [375, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    /* The widest that there are. */
    const isCut = await page.evaluate(() => {
      const cell = document.querySelector('.sites td.self.amount')!;
      cell.querySelector('.value')!.textContent = '≈8.88\u202fMB';
      cell.querySelector('.off')!.textContent = '0.88–8.88\u202fMB';
      return cell.scrollWidth > cell.clientWidth;
    });
    assert.ok(!isCut, `${width} px`);
  }
});

onPage('a telephone has the verdict, the table, the chart and the graph in this order', { width: 375, height: 812 }, async (page) => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');
  const tops = await page.evaluate(() => ['#verdict', '#tabs', '#table', '#time', '#flame'].map((part) => document.querySelector(part)!.getBoundingClientRect().top));
  assert.deepEqual(tops, [...tops].sort((one, other) => one - other));
});

onPage('a word that is typed marks names, as it is or as a regular expression, and filters by Enter', {}, async (page) => {
  const before = await population(page);
  const names = () => page.locator('.sites tbody th').allInnerTexts();
  await page.keyboard.press('/');
  await page.keyboard.type('^sqlite3');
  await page.waitForFunction(() => [...document.querySelectorAll('.sites tbody tr')].every((row) => row.textContent!.startsWith('sqlite3')));
  assert.equal(await population(page), before);
  assert.match(await page.locator('#query .hint').innerText(), /marked · Enter keeps only these/);
  assert.match(await hash(page), /^(#peak&search=.*)?$/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chip');
  await settled(page);
  assert.deepEqual(await chips(page), ['fn ~ ^sqlite3']);
  assert.match(await population(page), /^Matching blocks/);
  assert.equal(await page.locator('#query-box').inputValue(), '');
  assert.ok((await names()).length > 1); // nothing is marked any more
  await page.locator('#query-box').fill('sorterw(');
  await page.getByText('No name matches the search.').waitFor();
  await page.locator('#query-box').fill('sorterw');
  await page.waitForFunction(() => document.querySelectorAll('.sites tbody th').length === 1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('.sites tbody th').length > 1);
});

onPage('a name alone that is typed is a filter by function', {}, async (page) => {
  await page.keyboard.press('f');
  await page.keyboard.type('Cache');
  assert.deepEqual(await page.locator('#query-offers li').allInnerTexts(), ['fn ~ Cache\nfunctions whose names have this']);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chip');
  assert.deepEqual(await chips(page), ['fn ~ Cache']);
});
/* SPDX-License-Identifier: MIT */
