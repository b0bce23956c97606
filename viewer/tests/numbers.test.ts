import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  amount, axisBytes, axisMoment, between, bytes, changeRange, count, duration, error, estimatedCount, estimatedOf, querySize, queryTime, range, readSize, readTime, share, shortCount, withError, roundMoments } from '../src/numbers.ts';

const plain = (text: string) => text.replace(/\u202f/g, ' ');
const of = (estimate: number, low: number, high: number, samples = 100) => ({ estimate, low, high, samples });

test('bytes have three significant digits and powers of 1000, as the command prints them', () => {
  const expected: [number, string][] = [
    [0, '0 B'], [7, '7 B'], [999, '999 B'], [999.5, '1.00 kB'], [1000, '1.00 kB'], [1234, '1.23 kB'], [9994, '9.99 kB'], [9995, '10.0 kB'],
    [99950, '100 kB'], [172000, '172 kB'], [999499, '999 kB'], [999500, '1.00 MB'], [73.9e6, '73.9 MB'], [1.88e8, '188 MB'], [41e9, '41.0 GB'], [2e15, '2.00 PB'],
  ];
  for (const [value, text] of expected) assert.equal(plain(bytes(value)), text);
});

test('an end of a change that rounds to 0 keeps its sign', () => {
  assert.equal(plain(changeRange(-3.2e6, 1.8e6)), '−3.20 to +1.80 MB');
  assert.equal(plain(changeRange(-2.5e6, 30)), '−2.50 to +0 MB');
  assert.equal(plain(changeRange(-30, 2.5e6)), '−0 to +2.50 MB');
  assert.equal(plain(changeRange(-0.2, 310)), '−0 to +310 B');
});

test('counts are whole up to a million', () => {
  assert.equal(count(0), '0');
  assert.equal(count(999), '999');
  assert.equal(count(4493), '4,493');
  assert.equal(count(999999), '999,999');
  assert.equal(plain(count(4130000)), '4.13 million');
  assert.equal(plain(count(2.5e9)), '2.50 billion');
});

test('an estimated count claims three digits at most', () => {
  assert.equal(estimatedCount(of(36712, 33800, 40100)), '36,700');
  assert.equal(estimatedCount(of(36712, 36712, 36712)), '36,712');
  assert.equal(estimatedOf(of(36712, 35500, 38000), 'blocks'), `36,700 blocks ±4\u202f%`);
  assert.equal(estimatedOf(of(843, 557, 3884), 'calls'), '843 calls (557–3,880)');
  assert.equal(plain(estimatedOf(of(1.06e6, 0.7e6, 1.9e6), 'calls')), '1.06 million calls (0.70–1.90 million)');
  assert.equal(estimatedOf(of(1, 1, 1), 'blocks'), '1 block');
});

test('durations', () => {
  const expected: [number, string][] = [
    [0, '0 s'], [1230, '1.23 µs'], [1.5e6, '1.50 ms'], [21.9e6, '21.9 ms'], [2.19e9, '2.19 s'], [119e9, '119 s'], [401e9, '6 min 41 s'], [3600e9, '60 min 0 s'], [7200e9, '2.0 h'],
  ];
  for (const [value, text] of expected) assert.equal(plain(duration(value)), text);
});

test('shares have at least two significant digits', () => {
  assert.equal(plain(share(0.66)), '66 %');
  assert.equal(plain(share(0.002)), '0.2 %');
  assert.equal(plain(share(1)), '100 %');
});

test('a narrow interval is said as ±, a wide or lopsided one by its ends', () => {
  assert.equal(plain(withError(of(188e6, 184.2e6, 191.8e6))), '188 MB ±2 %');
  assert.equal(plain(withError(of(812e6, 806.3e6, 817.7e6))), '812 MB ±0.7 %');
  assert.equal(plain(withError(of(188e6, 100e6, 290e6))), '188 MB (100–290 MB)');
  assert.equal(plain(withError(of(188e6, 180e6, 230e6))), '188 MB (180–230 MB)');
  assert.equal(plain(withError(of(62.915e6, 62.9145e6, 62.924e6))), '62.9 MB ±0.1 %'); // not 62.9–62.9
  assert.equal(plain(withError(of(172e3, 131e3, 335e3, 1))), '172 kB (131–335 kB)');
  assert.equal(plain(withError(of(172e3, 31e3, 335e3, 4))), '≈172 kB (31.0–335 kB)');
});

test('an exact number has no interval', () => {
  assert.equal(plain(withError(of(5000, 5000, 5000))), '5.00 kB');
  assert.equal(error(5000, 5000, 5000), '');
  assert.equal(range(5, 5), 'exact');
});

test('what was not sampled is less than the most that sampling may have missed', () => {
  assert.equal(plain(amount(of(0, 0, 240000, 0))), '< 240 kB');
});

test('a range has its unit, once where both ends have it', () => {
  assert.equal(plain(between(0.9e9, 1.5e9, duration)), '900 ms–1.50 s');
  assert.equal(plain(between(1.1e9, 1.5e9, duration)), '1.10–1.50 s');
  assert.equal(plain(between(0.024, 0.31, share)), '2.4–31 %');
  assert.equal(between(1200, 3400, shortCount), '1.20–3.40k');
  assert.equal(between(999, 3400, shortCount), '999–3.40k');
  assert.equal(between(3, 3, String), '3');
});

test('counts for narrow columns', () => {
  assert.equal(shortCount(999), '999');
  assert.equal(shortCount(30800), '30.8k');
  assert.equal(shortCount(4.13e6), '4.13M');
});

test('what is written for a query is read back', () => {
  for (const ns of [1, 12, 1500, 1e6, 2.5e9, 401e9]) assert.equal(readTime(queryTime(ns)), ns);
  for (const size of [0, 8, 100, 1000, 65536, 4e6, 1.5e9]) assert.equal(readSize(querySize(size, 6)), size);
  assert.equal(readSize('4Ki'), 4096);
  assert.equal(readTime('1.5'), null);
  assert.equal(readTime('2m'), 120e9);
  assert.equal(readSize('x'), null);
});

test('numbers at axes are short', () => {
  assert.equal(plain(axisBytes(50e6)), '50 MB');
  assert.equal(plain(axisBytes(1024)), '1 kB');
  assert.equal(plain(axisBytes(150e6)), '150 MB');
  assert.equal(plain(axisMoment(1.5, 3)), '1.5 s');
  assert.equal(plain(axisMoment(20, 100)), '20 s');
  assert.equal(axisMoment(125, 400), '2:05');
  assert.equal(axisMoment(3725, 9000), '1:02:05');
});
test('moments at an axis are round and few', () => {
  assert.deepEqual(roundMoments(1.17e9), [0, 2e8, 4e8, 6e8, 8e8, 1e9]);
  assert.deepEqual(roundMoments(6.02e11), [0, 1.2e11, 2.4e11, 3.6e11, 4.8e11, 6e11]);
  for (const end of [1, 7, 1e3, 3.3e5, 9e9, 4e13, 1e17]) {
    const marks = roundMoments(end);
    assert.ok(marks.length >= 1 && marks.length <= 6 && marks.at(-1)! <= end);
  }
});
/* SPDX-License-Identifier: MIT */
