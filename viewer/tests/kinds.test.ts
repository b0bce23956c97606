import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { roundLives } from '../src/views/kinds.tsx';

test('lives at an axis are round, within it, and not too many', () => {
  assert.deepEqual(roundLives(1000, 30e6, 7), [1e3, 1e4, 1e5, 1e6, 1e7]);
  assert.deepEqual(roundLives(18e3, 316e3, 7), [2e4, 5e4, 1e5, 2e5]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 17, noNaN: true }), fc.double({ min: 0.1, max: 10, noNaN: true }), (begin, length) => {
      const [first, last] = [10 ** begin, 10 ** (begin + length)];
      const lives = roundLives(first, last, 7);
      assert.ok(lives.length <= 7);
      for (const life of lives) assert.ok(life >= first && life <= last && /^[125]0*$/.test(String(BigInt(life))));
    }),
  );
});
/* SPDX-License-Identifier: MIT */
