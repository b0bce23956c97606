/* The page of a heap snapshot speaks of types and roots, and of what holds what. That of a trace speaks of functions, as ever. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { program, without } from '../engine/page.ts';
import { launch, settled, shopPage } from './open.ts';
import { goTo, openHigh } from './views.ts';

let browser: Browser;
let folder: string;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'winnow-'));
  if (!without) execFileSync(program('tests/retention/write_snapshots'), { cwd: folder });
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

function pageOf(...snapshots: string[]): string {
  const file = join(folder, `${snapshots.join('-')}.html`);
  execFileSync(program('src/cli/winnow'), ['html', '-o', file, ...snapshots.map((name) => `${name}.heap`)], { cwd: folder, stdio: 'pipe' });
  return file;
}

/** All that is seen, and what is said of it by tips and labels, but for the note of the file. */
const textOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const seen = [...document.querySelectorAll<HTMLElement>('body :not(#foot, #foot *)')].filter((one) => one.checkVisibility());
    const said = seen.flatMap((one) => ['title', 'aria-label', 'placeholder'].map((name) => one.getAttribute(name) ?? ''));
    const own = seen.filter((one) => one.matches('option, [role=treeitem]')).map((one) => one.textContent!);
    const shown = [...document.querySelectorAll<HTMLElement>('#header, #main')].map((one) => one.innerText);
    return [...said, ...own, ...shown].filter(Boolean).join('\n').replace(/[^\S\n]+/gu, ' ');
  });

/** The texts of a page in the states that have words of their own. */
async function walk(page: Page): Promise<string> {
  const texts: string[] = [];
  const look = async () => {
    await settled(page);
    texts.push(await textOf(page));
  };
  const row = page.locator('.sites tbody tr:not(.gap)').first();
  await page.setViewportSize({ width: 2200, height: 3000 }); // no column is left out
  await look();
  await row.click();
  await look();
  await page.keyboard.press('s');
  await look();
  await page.keyboard.press('Escape');
  await page.keyboard.press('i');
  await look();
  await page.keyboard.press('i');
  await row.click({ button: 'right' });
  await look();
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await look();
  await page.locator('#help button').click();
  await page.locator('#query-box').focus();
  await look();
  await page.locator('#query-box').fill('zzz');
  await look();
  await page.locator('#query-box').fill('fn = nothere');
  await page.keyboard.press('Enter');
  await look();
  return texts.join('\n');
}

/** What the page of a trace says, and that of a snapshot does not. */
const OF_TRACES = [
  'Which functions held the memory, at the peak or at another moment?', 'function', 'with callees', 'callees', 'callers', 'fold recursion', 'whole stacks',
  'From the outermost function down (i)', 'From the allocating function up (i)', 'One box for a function that calls itself (c)',
  'What it allocated itself. Click to sort.', 'With what the functions that it calls allocated. Click to sort.',
  'About how many blocks, with those of the functions that it calls; the range is in the tip of each number. Click to sort.',
  'Its part of all bytes of this question: of what it allocated itself; in the order of those with callees, with these',
  'Its part of the bytes with callees', 'Frames that pass on at least 95 % are one box, a recursion two (w)', 'Each frame has a box (w)',
  'Colours: namespaces and files of the program, and libraries', 'Flame graph, callees below their callers', 'Flame graph, callers below their callees',
  'Flame graph, callers of the function above it, callees below it', 'Select a box or a row: its numbers, its place and its callers are shown here.',
  'Keep only stacks with it', 'Drop stacks with it', 'Hide it: its callers get its blocks', 'Begin all stacks at it', 'All functions (Esc)',
  'held, growing, churn, compare', 'group by the next of function, line, file, module', 'callees or callers', 'neighbours, caller, callee',
  'whole stacks, or frames that pass on at least 95 % in one box', 'show the frames of a folded box, or fold them', 'keep only stacks with it', 'drop stacks with it',
  'hide it: its callers get its blocks', 'its callers and callees', 'all functions again', 'the collection before, after', 'sizes and lives of the blocks',
  'a function on the callstack', 'functions that are taken out of all stacks', 'stacks begin at this function', 'functions whose names have this',
  'All of the view; the graph is of one function.', 'No sampled block matches the query.', 'callers and callees of', 'Stacks', 'Search names, or filter: size >= 1K',
];
/** And the other way round. */
const OF_SNAPSHOTS = [
  'Which types and roots hold the memory?', 'type or root', 'with what it holds', 'holds', 'held by', 'heap snapshot', 'whole paths', 'What holds it, and what it holds',
  'With all that would be freed without it. Click to sort.', 'Keep only it and what it holds', 'Each block counts, so numbers are exact.', 'Colours: types', 'No block matches the query.',
];
const FALSE = /\b(functions?|calle[er]s?|calls?|callstacks?|allocat\w*|sampl\w+|peak|profile|recursion|frames?|stacks?|grow\w*|churn|lives|libraries|trace)\b/i;

/** The first line of the table as CSV. */
async function columnsOf(page: Page): Promise<string> {
  await page.locator('#export-button').click();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Table as CSV' }).click()]);
  return readFileSync(await saved.path(), 'utf8').replace('\ufeff', '').split('\r\n')[0]!;
}

const has = (text: string, word: string) => text.split('\n').some((line) => line.trim() === word || (word.length > 12 && line.includes(word)));

test('the page of a heap snapshot has no word of functions, samples and times', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, pageOf('shared'));
  assert.equal(await columnsOf(page), 'name,type,self_bytes,total_bytes,self_blocks,blocks');
  const text = await walk(page);
  assert.equal(FALSE.exec(text), null, text.split('\n').filter((line) => FALSE.test(line)).join('\n'));
  assert.deepEqual(OF_TRACES.filter((word) => has(text, word)), []);
  assert.deepEqual(OF_SNAPSHOTS.filter((word) => !has(text, word)), []);
  assert.deepEqual(await page.locator('[role=tab]').allInnerTexts(), ['1Held']);
  assert.deepEqual(await page.locator('#tab-more, .sites .samples, .sites .life').count(), 0);
  assert.deepEqual(await page.locator('select[aria-label="Group by"] option').allInnerTexts(), ['type or root', 'type']);
  assert.deepEqual(faults, []);
  await close();
});

test('the page of a trace says what it said before there were others', { skip: without }, async () => {
  const { page, faults, close } = await openHigh(browser, shopPage());
  assert.equal(
    await columnsOf(page),
    'name,module,file,line,self_bytes,self_low_bytes,self_high_bytes,total_bytes,total_low_bytes,total_high_bytes,self_blocks,blocks,self_samples,samples,life_median_ns',
  );
  const text = await walk(page);
  assert.deepEqual(OF_TRACES.filter((word) => !has(text, word)), []);
  assert.deepEqual(OF_SNAPSHOTS.filter((word) => has(text, word)), []);
  assert.deepEqual(faults, []);
  await close();
});

test('a page that compares heap snapshots has no such word, and says once what makes that doubtful', { skip: without }, async () => {
  const doubts: Record<string, string[]> = {
    small: [],
    mixed: ['The snapshots are of different runs.'],
    other: ['The snapshots are of different commands.'],
  };
  for (const [later, said] of Object.entries(doubts)) {
    const { page, faults, close } = await openHigh(browser, pageOf('large', later));
    assert.deepEqual(await page.locator('.warning').allInnerTexts(), said);
    const text = (await textOf(page)).replaceAll('large', '');
    assert.equal(FALSE.exec(text), null, text);
    assert.ok(has(text, 'unchanged') && !has(text, 'no sure change'));
    assert.equal(await columnsOf(page), 'name,type,sure,change_bytes,before_bytes,after_bytes');
    await goTo(page, '#end');
    assert.equal(await page.locator('#kinds').isVisible(), false);
    assert.deepEqual(faults, []);
    await close();
  }
  const { page, close } = await openHigh(browser, pageOf('mixed', 'small'));
  assert.deepEqual(await page.locator('.warning').allInnerTexts(), ['The snapshots are of different runs.', 'A snapshot is earlier than the one before it.']);
  await close();
});
/* SPDX-License-Identifier: MIT */
