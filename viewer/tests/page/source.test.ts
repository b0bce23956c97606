import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

test('no source writes markup as text', () => {
  for (const path of filesIn('src').filter((name) => /\.tsx?$/.test(name)))
    assert.doesNotMatch(readFileSync(path, 'utf8'), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/, path);
});

test('each source file has its licence at its foot and at most 600 lines', () => {
  for (const path of [...filesIn('src'), ...filesIn('tests')].filter((name) => !name.startsWith('src/engine') && /\.(tsx?|mjs|css)$/.test(name))) {
    const text = readFileSync(path, 'utf8').trimEnd();
    assert.match(text.slice(text.lastIndexOf('\n')), /SPDX-License-Identifier: MIT/, path);
    if (!path.endsWith('style.css')) assert.ok(text.split('\n').length <= 600, path);
  }
});

test('the page has its markers once and in order, and allows its own script alone', { skip: !existsSync('page.html') }, () => {
  const page = readFileSync('page.html', 'utf8');
  const places = ['<!--winnow:head-->', 'Content-Security-Policy', '<style>', '<!--winnow:text-->', '<script>', '<!--winnow:engine-->', '<!--winnow:data-->', '</body>'].map((mark) => {
    assert.equal(page.split(mark).length, 2, mark);
    return page.indexOf(mark);
  });
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  assert.match(page, /connect-src 'none'/);
  assert.doesNotMatch(page, /unsafe-inline|https?:\/\/(?!www\.w3\.org)/);
});
/* SPDX-License-Identifier: MIT */
