/* The engine in the page answers as the command does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeAnswer, type Request, requestText, type Table } from '../../src/engine/answers.ts';
import { answersOf, FIRST } from '../../src/engine/container.ts';
import { completions } from '../../src/state/fields.ts';
import { inFolder, makeComparison, makePage, nativeAnswers, openPage, sectionsIn, without } from './page.ts';

const functions = ['main', 'short_6', 'short_13', 'od"d\u0001', "it's", '.', 'zoo'];
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const named = fc
  .tuple(fc.constantFrom('fn', 'file', 'module', 'thread'), fc.constantFrom('=', '!=', '~', '!~'), fc.constantFrom(...functions))
  .map(([field, relation, name]) => `${field} ${relation} ${quoted(name)}`);
const sized = fc
  .tuple(fc.constantFrom('<', '<=', '>', '>=', '=', '!='), fc.constantFrom('16', '100', '1K', '4Ki', '1M'))
  .map(([relation, size]) => `size ${relation} ${size}`);
const timed = fc
  .tuple(fc.constantFrom('life', 'born', 'died'), fc.constantFrom('<', '>='), fc.constantFrom('10us', '3ms', '0.5s', '2s'))
  .map(([field, relation, time]) => `${field} ${relation} ${time}`);
const other = fc.constantFrom('alive = yes', 'alive = no', 'live = 1ms', 'promoted = yes', 'area = major', 'life_bytes > 1M');
const factor = fc.oneof(named, sized, timed, other);
const term = fc.oneof(
  factor,
  fc.tuple(factor, factor).map(([one, two]) => `(${one} or ${two})`),
  factor.map((one) => `not ${one}`),
);
const setting = fc.constantFrom('at = end', 'at = peak', 'at = 1ms', 'hide ~ short', 'from = main', 'hide = "main"');
const where = fc
  .tuple(fc.array(term, { maxLength: 3 }), fc.option(setting, { nil: undefined }))
  .map(([terms, last]) => [...terms, ...(last === undefined ? [] : [last])].join(' and ') || undefined);

const request: fc.Arbitrary<Request> = fc.record({
  view: fc.constantFrom('totals', 'time', 'flame', 'flame', 'table', 'kinds'),
  where,
  measure: fc.constantFrom('held', 'allocated', 'churn', 'promoted', 'alive', 'lasting'),
  by: fc.constantFrom('function', 'line', 'file', 'module'),
  direction: fc.constantFrom('callees', 'callers'),
  fold: fc.constantFrom(undefined, 'yes' as const),
});

/** Equal, but for the last digits of what logarithms and exponentials give. */
function assertSame(one: unknown, other: unknown, where: string): void {
  if (typeof one === 'number' && typeof other === 'number') {
    const close = Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));
    const whole = Number.isInteger(one) && Math.abs(one) < 2 ** 53;
    if (Number.isNaN(one) ? !Number.isNaN(other) : !close || (whole && Number.isInteger(other) && one !== other))
      assert.fail(`${where}: ${one} and ${other}`);
  } else if (ArrayBuffer.isView(one) && ArrayBuffer.isView(other)) {
    const left = one as unknown as ArrayLike<number>;
    const right = other as unknown as ArrayLike<number>;
    assert.equal(left.length, right.length, where);
    for (let i = 0; i < left.length; i++) assertSame(left[i], right[i], `${where}[${i}]`);
  } else if (one && other && typeof one === 'object' && typeof other === 'object') {
    assert.deepEqual(Object.keys(one), Object.keys(other), where);
    for (const key of Object.keys(one))
      assertSame((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], `${where}.${key}`);
  } else assert.equal(one, other, where);
}

const KINDS = [['plain'], ['named'], ['collected'], ['exact'], ['none'], ['python'], ['level_freed'], ['shrunk']];

test('500 random queries have the same answers from the command and from the engine in the page', { skip: without }, async () => {
  let answered = 0;
  for (const [seed, kind] of KINDS.entries())
    await inFolder(async (folder) => {
      const { trace, page } = makePage(folder, kind);
      const engine = await openPage(page);
      const requests = fc.sample(request, { numRuns: 75, seed }).map(requestText);
      const native = nativeAnswers(trace, requests);
      assert.equal(native.length, requests.length);
      for (const [i, text] of requests.entries()) {
        const mine = decodeAnswer<Record<string, unknown>>(engine.ask(text)) as Record<string, unknown>;
        const theirs = decodeAnswer<Record<string, unknown>>(native[i]!) as Record<string, unknown>;
        assertSame(mine, theirs, `${kind}: ${text.replaceAll('\n', ' ')}`);
        answered += mine['error'] === undefined ? 1 : 0;
      }
    });
  assert.ok(answered > 500, `${answered} were answered`);
});

const comparison: fc.Arbitrary<Request> = fc.record({
  view: fc.constantFrom('compare', 'flame'),
  where,
  measure: fc.constantFrom('held', 'held', 'allocated', 'alive'),
  by: fc.constantFrom('function', 'line', 'file', 'module'),
  direction: fc.constantFrom('callees', 'callers'),
  against: fc.constantFrom('before', 'before', 'peak', 'end', '1ms'),
  per: fc.constantFrom(undefined, 'second' as const, 'allocation' as const),
});

test('comparisons have the same answers from the command and from the engine in the page', { skip: without }, async () => {
  let answered = 0;
  for (const [seed, [one, other]] of [['plain', 'named'], ['named', 'exact'], ['collected', 'collected'], ['none', 'plain'], ['build_1', 'build_2'], ['build_1', 'build_1']].entries())
    await inFolder(async (folder) => {
      const engine = await openPage(makeComparison(folder, [one!], [other!]));
      const requests = fc.sample(comparison, { numRuns: 50, seed }).map(requestText);
      const native = nativeAnswers(join(folder, '1.trace'), requests, join(folder, '0.trace'));
      for (const [i, text] of requests.entries()) {
        const mine = decodeAnswer<Record<string, unknown>>(engine.ask(text)) as Record<string, unknown>;
        assertSame(mine, decodeAnswer(native[i]!), `${one}, ${other}: ${text.replaceAll('\n', ' ')}`);
        answered += mine['error'] === undefined ? 1 : 0;
      }
    });
  assert.ok(answered > 120, `${answered} were answered`);
});

test('a page brings the answers of its first view along', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page } = makePage(folder, ['named']);
    const engine = await openPage(page);
    const first = sectionsIn(readFileSync(page, 'utf8')).filter((section) => FIRST.includes(section.name));
    assert.deepEqual(first.map(({ name }) => name), FIRST);
    const answers = answersOf(first);
    assert.ok(answers.size >= 5);
    for (const [text, bytes] of answers)
      assertSame(decodeAnswer(bytes), decodeAnswer(engine.ask(text)), text.replaceAll('\n', ' '));
  }));

test('a completed name selects the function that has it, in the engine', { skip: without }, () =>
  inFolder(async (folder) => {
    const engine = await openPage(makePage(folder, ['named']).page);
    const tableOf = (where?: string) => decodeAnswer<Table>(engine.ask(requestText({ view: 'table', where, measure: 'allocated', by: 'function' })));
    const names = tableOf().labels.map((label) => label.function).filter((name) => name && !name.includes('\ufffd'));
    assert.ok(names.some((name) => /[()]/.test(name)));
    for (const name of names)
      for (const operator of ['=', '~']) {
        const [offer] = completions(`fn ${operator} `, false, () => [name]);
        assert.ok(tableOf(offer!.text).labels.some((label) => label.function === name), offer!.text);
      }
  }));

test('a function that no block has is answered with nothing', { skip: without }, () =>
  inFolder(async (folder) => {
    const { trace, page } = makePage(folder, ['collected']);
    const engine = await openPage(page);
    const requests = (['flame', 'details', 'source'] as const).map((view) => requestText({ view, measure: 'held', by: 'function', of: 'nobody' }));
    const native = nativeAnswers(trace, requests);
    requests.forEach((text, index) => {
      const answer = decodeAnswer<Record<string, unknown>>(engine.ask(text));
      assert.equal(answer['error'], undefined);
      assertSame(answer, decodeAnswer(native[index]!), text);
    });
  }));

/* SPDX-License-Identifier: MIT */
