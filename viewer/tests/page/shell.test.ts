import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { without } from '../engine/page.ts';
import { chips, followLink, hash, launch, onPageOf, open, population, rested, settled } from './open.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const onPage = onPageOf(() => browser);

const noOverflow = async (page: Page) => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');

onPage('the first view answers who held the memory at the peak', {}, async (page) => {
  assert.match(await page.locator('h1').innerText(), /^shopserver --port/);
  assert.match(await page.locator('.said').innerText(), /^STILL GROWING\s*Session::create \(server.cc:197\) 22.% of the peak, grows 65\.2.kB\/s · Cache::insert \(server.cc:823\) 16.%, grows 35\.6.kB\/s, and 1 more, to the end, while old ones are freed: a leak, or a queue or cache that is not full yet · also held at the peak: Segment::load.41.% \(replaced, server.cc:41\) · pcache1Alloc.16.% \(grows, sqlite3.c:275\)$/u);
  assert.equal(await population(page), ''); // it would repeat the figure
  assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText().then((text) => text.replace(/\s+/g, ' ')), '1Held');
  assert.equal(await page.locator('#population [aria-pressed=true]').innerText(), 'At the peak');
  assert.match(await page.locator('.verdict').innerText(), /Held at the peak\s+107\sMB ±4.%\s+at 6.min 2\d.s, in 30,400 blocks/u);
  assert.equal(await page.title(), 'shopserver – Winnow');
  await noOverflow(page);
});

onPage('each question has a key, a sentence and a place in the address', { of: 'collected' }, async (page) => {
  const expected = {
    e: ['#end', /at the end/],
    2: ['#alive', /not been found dead/],
    3: ['#churn', /lived less than/],
    4: ['#compare', /freed, .* new: \+/],
    5: ['#lasting', /half of the run/],
    6: ['#promoted', /moved from the minor/],
    7: ['#allocated', /over the whole run/],
    p: ['#peak', /^$/],
  } as const;
  for (const key of ['e', '1', '2', '3', '4', '5', '6', '7', 'p'] as const) {
    const [address, said] = expected[key === '1' ? 'e' : key]; // the tab that is open stays as it is
    await page.keyboard.press(key);
    await settled(page);
    assert.match(await population(page), said);
    assert.equal(await hash(page), address);
    assert.ok((await page.locator('.sites tbody tr').count()) > 3);
  }
});

onPage('the widths are called as the answer that is shown counts them', {}, async (page) => {
  for (const [key, unit] of [['7', 'calls'], ['1', 'blocks']] as const) {
    await page.keyboard.press(key);
    await settled(page);
    assert.equal(await page.locator('.widths button').last().innerText(), unit);
  }
});

onPage('a resident size above the peak is taken apart, with the functions that mapped memory', {}, async (page) => {
  assert.match(await page.locator('.why summary').innerText(), /^at 6.min 21.s: [\d.]+\s[kM]B [a-z ]+ \+ [\d.]+\s[kM]B [a-z ]+ …$/u);
  await page.locator('.why summary').click();
  assert.match(await page.locator('.why').innerText(), /malloc blocks[^]*headers\s+481.kB[^]*kept free[^]*data and small mappings/);
  const mappers = await page.locator('.mappers tr').allInnerTexts();
  assert.deepEqual(mappers.map((text) => text.replace(/\s+/gu, ' ')), ['arena_map < arena_new < pool_grow < main 15.0 MB']);
});

onPage('of a resident size below the peak the blocks are what was written of them', { of: 'unwritten' }, async (page) => {
  assert.match(await page.locator('.why summary').innerText(), /: 47\.8\sMB malloc blocks \+ 9\.40\sMB code and files$/u);
  await page.locator('.why summary').click();
  const parts = await page.locator('.why').innerText();
  assert.doesNotMatch(parts, /data and small mappings/);
});

onPage('the command for churn has the limit that the sentence names', { at: '#churn&where=size+%3E%3D+100' }, async (page) => {
  const [limit] = /(?<=less than )[\d.]+ s/.exec(await population(page))!;
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'Copy the command for this view' }).click();
  await page.getByText(`Copied: winnow report --where 'size >= 100 and life < ${limit.replace(' ', '')}' run.trace`).waitFor();
});

onPage('no change and no name of a comparison is cut by the window', { at: '#compare', width: 320 }, async (page) => {
  for (const width of [320, 400, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const key of width === 320 ? ['4', '1', '4'] : ['4']) {
      await page.keyboard.press(key);
      await settled(page);
      const cut = await page.locator('.sites tbody tr:not(.gap) :is(th, .change)').evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
      );
      assert.deepEqual(cut, [], `${key}, ${width} px`);
    }
    const unused = await page.locator('.sites tbody tr').first().evaluate((line) => {
      const ends = [...line.children].map((cell) => cell.getBoundingClientRect().right);
      return line.getBoundingClientRect().right - Math.max(...ends);
    });
    assert.ok(unused < 2, `${unused} px on the right are not used, ${width} px`);
  }
});

onPage('a dark page is printed dark on white, with its charts', { dark: true }, async (page) => {
  const lightness = (event: string) =>
    page.evaluate(async (name) => {
      window.dispatchEvent(new Event(name));
      await Promise.resolve(); /* before the next frame */
      const paper = getComputedStyle(document.body).backgroundColor;
      const pixels = [...document.querySelectorAll('canvas')].map((canvas) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })!;
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        const seen = data.filter((_, index) => index % 4 === 0 && data[index + 3]! > 200);
        return seen.reduce((sum, red) => sum + red, 0) / seen.length;
      });
      return [Number(/\d+/.exec(paper)![0]), pixels.at(-1)!, pixels[0]!] as const;
    }, event);
  const [paper, boxes, chart] = await lightness('beforeprint');
  assert.ok(paper > 240 && boxes > 180, `${paper} ${boxes}`);
  const [dark, darkBoxes, darkChart] = await lightness('afterprint');
  assert.ok(dark < 40 && darkBoxes < 120 && darkChart < chart - 25, `${dark} ${darkBoxes} ${darkChart} ${chart}`);
});

onPage('malloc has no promotion', {}, async (page) => {
  assert.deepEqual(await page.locator('[role=tab]').allInnerTexts().then((all) => all.map((text) => text.replace(/[\s\d]+/g, ''))), ['Held', 'Growing', 'Churn', 'Compare']);
  await page.getByRole('button', { name: 'More' }).click();
  assert.equal(await page.getByRole('menuitem', { name: 'Lives long' }).count(), 1);
  assert.equal(await page.getByRole('menuitem', { name: 'Promoted' }).count(), 0);
});

onPage('a clause that is typed becomes a chip, changes the numbers, and is undone by Back', {}, async (page) => {
  const before = await population(page);
  await page.keyboard.press('f');
  await page.keyboard.type('fn ~ Cache and size >= 1K');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 2);
  await settled(page);
  assert.deepEqual(await chips(page), ['fn ~ Cache', 'size >= 1K']);
  const filtered = await population(page);
  assert.match(filtered, /^Matching blocks/);
  await page.getByRole('button', { name: 'Remove size >= 1K' }).click();
  await settled(page);
  assert.deepEqual(await chips(page), ['fn ~ Cache']);
  await page.goBack();
  await settled(page);
  assert.equal(await population(page), filtered);
  await page.goBack();
  await settled(page);
  assert.equal(await population(page), before);
  await page.goForward();
  await settled(page);
  assert.equal(await population(page), filtered);
});

onPage('a wrong clause is complained of in place, and the last good numbers stay', {}, async (page) => {
  const before = await population(page);
  await page.locator('#query-box').fill('size >= many');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#query-error');
  assert.match(await page.locator('#query-error').innerText(), /a size, such as 10K/);
  assert.equal(await page.locator('#query-box').inputValue(), 'size >= many');
  assert.equal(await population(page), before);
  assert.equal(await hash(page), '');
});

onPage('a wrong query of a link is complained of, and can be removed', { at: '#peak&where=size+%3E%3D+many' }, async (page) => {
  assert.match(await page.locator('#query-error').innerText(), /a size/);
  await page.getByRole('button', { name: 'Remove size >= many' }).click();
  await settled(page);
  assert.equal(await page.locator('#query-error').count(), 0);
  assert.match(await page.locator('.sites tbody tr').first().innerText(), /Segment::load/);
});

onPage('a query that nothing matches says so and offers the way back', {}, async (page) => {
  await page.locator('#query-box').fill('fn = nobody');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#query .empty');
  assert.match(await page.locator('#query .empty').innerText(), /No sampled block matches/);
  await page.locator('#query-box').fill('size >= 100');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Without fn = nobody' }).waitFor();
  assert.match((await page.locator('#query .empty').innerText()), /Without fn = nobody [\d,]+ samples/);
  await page.getByRole('button', { name: 'Undo the last step' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 1);
  await page.getByRole('button', { name: 'Undo the last step' }).click();
  await page.waitForFunction(() => !document.querySelector('.chip'));
});

onPage('completion is a list that arrows walk', {}, async (page) => {
  await page.locator('#query-box').focus();
  await page.keyboard.type('mod');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#query-box').inputValue(), 'module ');
  await page.keyboard.type('= libjson');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#query-box').inputValue(), 'module = libjson.so.5');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chip');
  assert.deepEqual(await chips(page), ['module = libjson.so.5']);
});

onPage('every view is a link: the address of a view gives the view', {}, async (page) => {
  await page.keyboard.press('3');
  await page.locator('#query-box').fill('size < 64K');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chip');
  await page.selectOption('select[aria-label="Group by"]', 'module');
  await page.getByRole('button', { name: 'with callees' }).click();
  await page.getByRole('button', { name: 'callees', exact: true }).click();
  await settled(page);
  await page.locator('.sites tbody tr').nth(1).click();
  await settled(page);
  const graph = (await page.locator('#flame-host').boundingBox())!;
  await page.mouse.move(graph.x + 300, graph.y + 40);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await page.mouse.move(5, 5);
  await page.waitForFunction(() => location.hash.includes('zoom='));
  await rested(page);
  const picture = () =>
    page.evaluate(() => ({
      population: document.querySelector('.population')!.textContent,
      table: document.querySelector('.sites')!.textContent,
      chips: document.querySelector('.box')!.textContent,
      chosen: document.querySelector('[aria-current]')?.textContent,
      details: document.querySelector('#details')!.textContent,
      canvas: document.querySelector<HTMLCanvasElement>('#flame-host canvas')!.toDataURL(),
    }));
  const seen = await picture();
  assert.ok(seen.chosen);
  await followLink(page, await hash(page));
  await rested(page);
  assert.deepEqual(await picture(), seen);
});

onPage('a click on the chart sets the moment, a drag the time of birth', {}, async (page) => {
  const plot = (await page.locator('#time-chart .u-over').first().boundingBox())!;
  await page.mouse.click(plot.x + plot.width / 2, plot.y + 40);
  await settled(page);
  assert.match(await population(page), /^Blocks held 3 min 2\d s after the start/);
  assert.match((await chips(page)).join(), /^at = 2\d\d(\.\d+)?s$/);
  await page.mouse.move(plot.x + plot.width * 0.25, plot.y + 40);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 3);
  assert.match((await chips(page)).join(' '), /born >= 1\d\d.* born < 2\d\d/);
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 1);
  await page.keyboard.press('p');
  await settled(page);
  assert.deepEqual(await page.locator('#population [aria-pressed=true]').allInnerTexts(), ['At the peak']);
});

onPage('fields do what drags do', {}, async (page) => {
  await page.getByLabel('Moment', { exact: true }).last().fill('100s');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(await population(page), /held 100 s after the start/);
  await page.keyboard.press('Escape');
  await page.getByText('Sizes and lives of the blocks').click();
  await page.getByLabel('size from').fill('1K');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.deepEqual(await chips(page), ['at = 100s', 'size >= 1K']);
});

onPage('widths of boxes are bytes or blocks, by a key and in the address', {}, async (page) => {
  const canvas = () => page.evaluate(() => document.querySelector<HTMLCanvasElement>('#flame-host canvas')!.toDataURL());
  const before = await canvas();
  await page.keyboard.press('m');
  await settled(page);
  assert.equal(await hash(page), '#peak&width=blocks');
  assert.equal(await page.locator('.widths [aria-pressed=true]').innerText(), 'blocks');
  assert.ok((await canvas()) !== before);
  await page.locator('.sites tbody tr').first().click();
  assert.match(await page.locator('#flame-line').innerText(), /of all blocks/);
  assert.match(await page.locator('[role=treeitem][aria-current]').first().innerText(), /blocks, 100 percent of the whole/);
  await page.keyboard.press('m');
  await page.keyboard.press('Home');
  assert.doesNotMatch(await hash(page), /width/);
});

onPage('keys step from collection to collection', { of: 'collected' }, async (page) => {
  await page.keyboard.press('[');
  await settled(page);
  const first = (await chips(page)).join();
  assert.match(first, /^at = /);
  await page.keyboard.press('[');
  await settled(page);
  assert.notEqual((await chips(page)).join(), first);
  await page.keyboard.press(']');
  await settled(page);
  assert.equal((await chips(page)).join(), first);
});

onPage('without collections the keys say so, and with Shift the range of births grows', {}, async (page) => {
  await page.keyboard.press(']');
  assert.match(await page.locator('.notice').innerText(), /no collections/);
  await page.keyboard.press('Shift+Period');
  await settled(page);
  assert.match((await chips(page)).join(' and '), /^born >= 38\d(\.\d+)?s and born < 3[89]\d(\.\d+)?s$/);
  const width = async () => {
    const [from, to] = (await chips(page)).map((chip) => parseFloat(/[\d.]+/.exec(chip)![0]));
    return to! - from!;
  };
  const before = await width();
  await page.keyboard.press('Shift+Comma');
  await settled(page);
  assert.ok(Math.abs((await width()) - 2 * before) < 0.2);
});

onPage('the map outlines the sizes and lives that the query selects', { height: 1500 }, async (page) => {
  await page.keyboard.press('8');
  await page.locator('.heat').waitFor();
  assert.equal(await page.locator('.bounds').count(), 0);
  await page.goto(page.url().replace(/#.*/, '') + '#peak&where=size+%3E%3D+1K+and+life+%3C+1s');
  await page.waitForSelector('.bounds');
  const outline = (await page.locator('.bounds').boundingBox())!;
  const map = (await page.locator('.heat').boundingBox())!;
  assert.ok(outline.height < map.height - 10 && outline.width < map.width - 10 && outline.x - map.x < 5 && outline.y - map.y < 5);
});

onPage('a drag over the map selects sizes and lives', { height: 1500 }, async (page) => {
  await page.keyboard.press('8');
  await page.locator('.heat').waitFor();
  await rested(page); // it comes into sight
  const map = (await page.locator('.heat').boundingBox())!;
  await page.mouse.move(map.x + map.width * 0.6, map.y + map.height * 0.6);
  await page.mouse.down();
  await page.mouse.move(map.x + map.width * 0.9, map.y + map.height * 0.3, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelectorAll('.chip').length >= 2);
  assert.match((await chips(page)).join(' and '), /size >= \S+ and size < \S+ and life >= /);
});

onPage('a row selects its largest box, and the menu of a row adds clauses', {}, async (page) => {
  await page.getByRole('row', { name: /Session::create/ }).click();
  assert.match(await page.locator('#details').innerText(), /Session::create[\s\S]*this box/);
  assert.match(await page.locator('#flame-line').innerText(), /Session::create/);
  await page.getByRole('row', { name: /Session::create/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Drop stacks with it' }).click();
  await page.waitForSelector('.chip');
  assert.deepEqual(await chips(page), ['fn != Session::create']);
  await page.goBack();
  await settled(page);
  await page.getByRole('row', { name: /Session::create/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Callers and callees' }).click();
  await settled(page);
  assert.match(await page.locator('.chip').first().innerText(), /callers and callees of\s+Session::create/);
  assert.match(await population(page), / Of these [\d.]+ .B.* through Session::create, as the graph shows\.$/);
});

onPage('the address of a part tells the whole too', {}, async (page) => {
  await page.keyboard.press('3');
  await settled(page);
  const all = (await population(page)).replace(/\.$/, '');
  await page.getByRole('row', { name: /Session::create/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Callers and callees' }).click();
  await settled(page);
  const said = await population(page);
  assert.ok(said.startsWith(`${all}. Of these `), said);
  await page.reload();
  await page.waitForFunction((text) => document.querySelector('.population')?.textContent!.replace(/\u202f/g, ' ') === text, said);
});

onPage('the whole walk by keyboard alone', {}, async (page) => {
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement!.textContent), 'Skip to the flame graph');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement!.getAttribute('role')), 'treeitem');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.querySelector('#details h2'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('.trail');
  await settled(page);
  assert.match(await hash(page), /focus=/);
  await page.keyboard.press('k');
  await page.waitForSelector('.chip');
  await settled(page);
  await page.keyboard.press('u');
  await page.waitForFunction(() => !document.querySelector('.chip'));
  for (const key of ['g', 'i', 'c', 't', 'l']) await page.keyboard.press(key);
  await settled(page);
  assert.match(await hash(page), /by=line.*direction=callers.*fold=yes/);
  assert.ok(await page.locator('#time-foot table').isVisible());
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.keyboard.press('?');
  assert.ok(await page.locator('#help').isVisible());
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#help').count(), 0);
  await page.locator('#table-region').focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('tr[aria-current]');
});

onPage('a row that is chosen far down stays in sight', { at: '#allocated&rows=all' }, async (page) => {
  await page.locator('#table-region').evaluate((region) => (region.scrollTop = 300));
  await rested(page);
  await page.locator('.sites tbody tr[aria-rowindex="19"]').click();
  await settled(page);
  assert.ok((await page.locator('#table-region').evaluate((region) => region.scrollTop)) >= 250);
});

onPage('a function is hidden, and stacks begin at another, by clauses', {}, async (page) => {
  await page.getByRole('row', { name: /Session::create/ }).click();
  await page.getByRole('button', { name: 'Begin all stacks at it' }).click();
  await page.waitForSelector('.chip');
  assert.deepEqual(await chips(page), ['from = Session::create']);
});

onPage('the table is saved as CSV, and the command for the view is told', { at: '#end&where=size+%3E%3D+100&by=module' }, async (page) => {
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Table as CSV' }).click()]);
  assert.equal(download.suggestedFilename(), 'run-end.csv');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'Copy the command' }).click();
  await page.waitForFunction(() => document.querySelector('.notice')!.textContent !== '');
  assert.match(await page.locator('.notice').innerText(), /winnow report --at end --where 'size >= 100' --by module run\.trace/);
});

onPage('single letters can be switched off', {}, async (page) => {
  await page.keyboard.press('?');
  await page.getByLabel('Single letters are keys').click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('3');
  assert.equal(await hash(page), '');
});

onPage('names from the trace are only ever text', { of: 'hostile', at: '#allocated&rows=all' }, async (page) => {
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('b').count(), 0);
  await page.keyboard.press('7');
  await settled(page);
  const titles = await page.locator('.sites .name').evaluateAll((names) => names.map((name) => (name as HTMLElement).title));
  assert.match(titles.join('\n'), /<\/script><img src=x onerror=alert\(1\)>/);
  await page.locator('.sites tbody tr', { has: page.locator('[title*=onerror]') }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Keep only stacks with it' }).click();
  await page.waitForSelector('.chip');
  await settled(page);
  assert.match((await chips(page)).join(), /onerror/);
  assert.ok(!/[\u202e\u2066\u0000]/.test(await page.locator('.sites').innerText()), 'characters that turn the writing direction are shown');
  await noOverflow(page);
});

onPage('few samples and a cut trace are said', { of: 'few partial' }, async (page) => {
  const lines = await page.locator('.warning').allInnerTexts();
  assert.match(lines.join('\n'), /A part of the run is missing[\s\S]*Only 40 samples/);
});

onPage('thinning is said', { html: ['--max-size', '520K'] }, async (page) => {
  assert.match((await page.locator('.warning').allInnerTexts()).join('\n'), /1 of [\d.]+ samples/);
});

onPage('a row that is a place in a line keeps its line and columns, and its file where it has room', { at: '#alive&by=line', width: 1280 }, async (page) => {
  for (const { width, whole } of [{ width: 1280, whole: false }, { width: 2600, whole: true }]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    const rows = await page.locator('.sites tbody .name bdi').evaluateAll((all) =>
      all.map((name) => ({ text: (name as HTMLElement).title, shown: name.textContent!, cut: name.parentElement!.scrollWidth > name.parentElement!.clientWidth })),
    );
    const places = rows.filter(({ text }) => text.endsWith(':5-39)'));
    assert.ok(places.length > 3, `${places.length}`);
    for (const { text, shown } of places) assert.ok(shown.replace(/\)$/, '').endsWith(/:\d+:5-39/.exec(text)![0]), `${text}: ${shown}`);
    assert.ok(places.some(({ text, shown }) => (shown === text) === whole), JSON.stringify(places));
    assert.deepEqual(rows.filter(({ cut }) => cut), [], `${width} px`);
  }
});

onPage('1,000 levels draw, and links stay short', { of: 'few deep', at: '#peak&stacks=whole' }, async (page) => {
  for (let number = 1; number <= 7; number++) {
    await page.keyboard.press(String(number));
    await settled(page);
    const box = await page.locator('#flame-host canvas').boundingBox();
    if (!box) {
      assert.match(await population(page), /none was sampled/);
      continue;
    }
    const { height } = box;
    assert.ok(height > 100 && height <= 900, `a canvas of ${height} px`);
  }
  await page.locator('.sites tbody tr', { hasText: 'insert' }).first().click();
  await settled(page);
  await page.waitForFunction(() => document.querySelector('#flame-host > div')!.scrollTop > 15_000);
  assert.ok((await hash(page)).length <= 2048);
  await page.keyboard.press('c');
  await settled(page);
  await page.keyboard.press('i');
  await settled(page);
  await noOverflow(page);
});

for (const { width, dark } of [{ width: 320, dark: false }, { width: 320, dark: true }, { width: 768, dark: false }])
  onPage(`${width} px are enough, ${dark ? 'dark' : 'light'}, with all tabs in sight`, { width, height: 640, dark }, async (page) => {
    await noOverflow(page);
    assert.ok(await page.locator('.sites tbody tr').first().isVisible());
    for (const tab of await page.getByRole('tab').all()) {
      const { x, width: wide } = (await tab.boundingBox())!;
      assert.ok(x >= 0 && x + wide <= width);
    }
  });

onPage('forced colours are obeyed', { forced: true }, async (page) => {
  await page.keyboard.press('3');
  await settled(page);
  assert.match(await population(page), /lived less/);
});

/* The first width is one with which the page opens. */
for (const [at, sorted, ...widths] of [
  ['#allocated', 'self', 320, 400, 768, 1280],
  ['#allocated&sort=total', 'total', 400, 320, 768, 1280],
  ['#alive', 'growth', 1280, 768, 400, 320],
  ['#alive&sort=self', 'self', 768, 1280, 320, 400],
  ['#compare', 'change', 1280, 320, 400, 768],
] as const)
  onPage(`the column by which rows are sorted has its ranges, ${at}`, { at, width: widths[0] }, async (page) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
      const seen = await page.evaluate((sorted) => {
        const cells = [...document.querySelectorAll(`.sites tbody td.${sorted}`)].filter((cell) => cell.querySelector('.off:not(:empty)'));
        const amounts = [...document.querySelector('.sites tbody tr:not(.gap)')!.querySelectorAll<HTMLElement>('.amount')];
        const isShown = (cell: Element) => cell.querySelector<HTMLElement>('.off')!.offsetWidth > 0 && cell.scrollWidth <= cell.clientWidth;
        return {
          cells: cells.length,
          unseen: cells.filter((cell) => !isShown(cell)).length,
          bare: amounts.filter((cell) => cell.offsetWidth > 0 && (cell.querySelector<HTMLElement>('.off')?.offsetWidth ?? 1) === 0).length,
        };
      }, sorted);
      assert.ok(seen.cells > 1, `${width} px`);
      assert.deepEqual([seen.unseen, seen.bare], [0, 0], `ranges that are not seen, and amounts without theirs, ${width} px`);
      if (width === 1280) for (const column of at === '#compare' ? ['side', 'samples'] : ['samples']) assert.ok(await page.locator(`.sites th.${column}`).first().isVisible());
    }
  });

onPage('a narrow table is sorted by the columns for which it has no room', { at: '#allocated', width: 320 }, async (page) => {
  await page.locator('.sites th.self').getByRole('button', { name: 'with callees' }).click();
  await settled(page);
  assert.match(await hash(page), /sort=total/);
  assert.ok(await page.locator('.sites th.total').isVisible());
  assert.ok(!(await page.locator('.sites th.self').isVisible()));
});

onPage('a head offers the orders whose columns are left out, and no others', { at: '#alive', width: 1280 }, async (page) => {
  assert.deepEqual(await page.locator('.sites thead button:visible').allInnerTexts(), ['function', 'with callees', 'own', 'samples', 'growth▾']);
});

onPage('samples are of the sum by which the rows are sorted', { at: '#allocated&rows=all' }, async (page) => {
  const row = page.locator('.sites tbody tr').filter({ has: page.locator('.self .quiet') }).first();
  await page.locator('.sites th.total button').last().click();
  await settled(page);
  const ofTotal = await row.locator('.samples').innerText();
  await page.locator('.sites th.self button').last().click();
  await page.locator('#table-region').evaluate((region) => (region.scrollTop = region.scrollHeight));
  await row.waitFor();
  assert.deepEqual([ofTotal !== '0', await row.locator('.samples').innerText()], [true, '0']);
});

onPage('the legend has both kinds of collection', { of: 'collected' }, async (page) => {
  assert.match(await page.locator('#time .legend').innerText(), /minor collection\s+end of a major cycle/);
});

onPage('after a double click the keys of the graph work on', {}, async (page) => {
  const graph = (await page.locator('#flame-host').boundingBox())!;
  await page.mouse.dblclick(graph.x + 60, graph.y + 60);
  await page.waitForFunction(() => location.hash.includes('focus='));
  await settled(page);
  await page.keyboard.press('Backspace');
  await page.waitForFunction(() => !location.hash.includes('focus='));
});

/* SPDX-License-Identifier: MIT */
