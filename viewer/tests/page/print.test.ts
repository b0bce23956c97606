/* What is printed: a PDF of the page, whatever the theme and the window, on few sheets, and with
 * all that the page shows. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inflateSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { makePage, without } from '../engine/page.ts';
import { launch, openFile, settled } from './open.ts';

let browser: Browser;
let folder: string;
let file: string; // of 400 functions
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'winnow-'));
  if (!without) file = makePage(folder, ['many']).page;
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

const openAt = (at: string, width: number) => openFile(browser, file, { at, width, dark: true });

async function printed(page: Page): Promise<Buffer> {
  return await page.pdf({ format: 'A4', printBackground: true, margin: { top: '1cm', bottom: '1cm', left: '1cm', right: '1cm' } });
}

/** The drawing of each sheet. */
function sheetsOf(pdf: Buffer): string[] {
  const text = pdf.toString('latin1');
  return [...text.matchAll(/\/Contents (\d+) 0 R/g)].map(([, number]) => {
    const begin = text.indexOf('stream', text.indexOf(`\n${number} 0 obj`));
    return inflateSync(pdf.subarray(text.indexOf('\n', begin) + 1, text.indexOf('endstream', begin))).toString('latin1');
  });
}

/** How light the colours are in which something is drawn: 0 to 1. */
const lightOf = (sheet: string, drawn: RegExp): number[] =>
  [...sheet.matchAll(drawn)].map(([, red, green, blue]) => 0.21 * Number(red) + 0.72 * Number(green) + 0.07 * Number(blue));

/** The colour of a text is the last one before it; a sheet begins with its ground, but for the
 *  first, which begins with a chart. */
const TEXT = /([\d.]+) ([\d.]+) ([\d.]+) rg(?:(?! rg\n)[^])*?\nBT\n/g;
const FIRST = /^(?:(?! re\n)[^])*?([\d.]+) ([\d.]+) ([\d.]+) rg(?:(?! rg\n)[^])*? re\nf\n/g;

for (const width of [600, 1280, 1920])
  test(`a dark page of many functions is printed dark on white, on few sheets, from a window of ${width} px`, { skip: without }, async () => {
    const { page, close } = await openAt('#allocated', width);
    const pdf = await printed(page);
    const sheets = sheetsOf(pdf);
    assert.ok(sheets.length >= 2 && sheets.length <= 4, `${sheets.length} sheets`);
    for (const [number, sheet] of sheets.entries()) {
      assert.ok(number === 0 || lightOf(sheet, FIRST)[0]! > 0.99, `sheet ${number} is not white`);
      const texts = lightOf(sheet, TEXT);
      assert.ok(texts.length > 5, `sheet ${number} has ${texts.length} texts`);
      assert.ok(Math.max(...texts) < 0.45, `a text on sheet ${number} is as light as ${Math.max(...texts)}`);
    }
    await close();
  });

/** The page as it is laid out for paper, asked from within. */
async function onPaper<T>(page: Page, look: () => T): Promise<T> {
  await page.setViewportSize({ width: 718, height: 1000 }); // A4 with the usual margins
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  return await page.evaluate(look);
}

test('paper has the verdict, all of the charts, the first rows of the table and a count of the others', { skip: without }, async () => {
  const { page, close } = await openAt('#allocated', 1600);
  await page.locator('#table-region').evaluate((region) => (region.scrollTop = 3000));
  await settled(page);
  const seen = await onPaper(page, () => {
    const rows = [...document.querySelectorAll('.sites tbody tr')].map((row) => row.textContent!);
    const isSeen = (part: string) => document.querySelector<HTMLElement>(part)!.getClientRects().length > 0;
    return {
      verdict: document.querySelector<HTMLElement>('.verdict')!.innerText,
      canvases: [...document.querySelectorAll('canvas')].map((canvas) => canvas.getBoundingClientRect()).map(({ left, right }) => [left, right]),
      all: Number(document.querySelector('.sites')!.getAttribute('aria-rowcount')) - 1,
      rows: rows.length,
      last: rows.at(-1),
      gaps: document.querySelectorAll('.gap').length,
      first: document.querySelector('.sites tbody tr')!.getAttribute('aria-rowindex'),
      seen: ['.population', '#flame-host', '#time-chart', '.sites', '#tabs [aria-current]'].filter(isSeen),
      unseen: ['.tools', '.controls', '.switch', '.hues', '.entry', 'button.link'].filter((part) => !isSeen(part)),
    };
  });
  assert.match(seen.verdict, /Held at the peak[^]*Allocated\s+[\d.]+\s.B/u);
  assert.equal(seen.canvases.length, 2);
  for (const [left, right] of seen.canvases) assert.ok(left! >= 0 && right! > 600 && right! <= 718, `${left} to ${right}`);
  assert.deepEqual([seen.rows, seen.last, seen.gaps, seen.first], [51, `and ${seen.all - 50} more`, 0, '2']);
  assert.ok(seen.all > 100);
  assert.equal(seen.seen.length, 5);
  assert.equal(seen.unseen.length, 6);
  await close();
});

test('after printing the page is as it was', { skip: without }, async () => {
  const { page, close } = await openAt('#allocated', 1280);
  const widths = () => page.locator('canvas').evaluateAll((all) => all.map((canvas) => canvas.getBoundingClientRect().width));
  const before = await widths();
  const rows = await page.locator('.sites tbody').innerText();
  await printed(page);
  await settled(page);
  assert.deepEqual(await widths(), before);
  assert.equal(await page.locator('.sites tbody').innerText(), rows);
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await close();
});

const reader = spawnSync('pdftotext', ['-v']).error && 'pdftotext is not installed';

test('the words of the PDF are those of the page', { skip: without || reader }, async () => {
  const { page, close } = await openAt('#allocated', 1280);
  const path = join(folder, 'words.pdf');
  writeFileSync(path, await printed(page));
  const words = spawnSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' }).stdout.replace(/\s+/gu, ' ');
  for (const part of ['.verdict dt', '.population', '.sites tbody tr:first-child th'])
    for (const text of await page.locator(part).allInnerTexts()) assert.ok(words.includes(text.replace(/\s+/gu, ' ')), `${text} is not in ${words}`);
  assert.match(words, /and \d+ more/);
  await close();
});
/* SPDX-License-Identifier: MIT */
