/* The layout of the flame graph: every box in its parent, sums exact, questions by row right. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Flame } from '../../src/engine/answers.ts';
import { Layout, NOWHERE } from '../../src/flame/layout.ts';
import { Scene } from '../../src/flame/scene.ts';
import { flameOf, largeFlame, type Tree } from './examples.ts';

/** A tree from a list of numbers: each says which earlier node is the parent, and what the node allocated itself. */
function treeFrom(numbers: [parent: number, self: number][]): Tree {
  const nodes: Tree[] = [{ name: 'all', self: 1, children: [] }];
  for (const [parent, self] of numbers) {
    const node: Tree = { name: `f${nodes.length % 7}`, self, children: [] };
    nodes[parent % nodes.length]!.children!.push(node);
    nodes.push(node);
  }
  return nodes[0]!;
}

const flames = fc
  .array(fc.tuple(fc.nat(), fc.nat(1e9)), { maxLength: 120 })
  .map((numbers) => flameOf(treeFrom(numbers)));

function checkBoxes(layout: Layout, { columns }: Flame): void {
  for (let place = 0; place < layout.count; place++) {
    const node = layout.node[place]!;
    assert.equal(layout.place[node], place);
    assert.equal(layout.width(place), columns.bytes[node], 'the width is the bytes');
    let at = layout.left[place]!;
    const [first, end] = layout.children(place);
    for (let child = first; child < end; child++) {
      assert.equal(layout.parent[child], place);
      assert.equal(layout.row(child), layout.row(place) + 1);
      assert.equal(layout.left[child], at, 'a child begins where its elder sibling ends');
      at = layout.right[child]!;
    }
    assert.equal(at + columns.self[node]!, layout.right[place], 'children and self fill the box');
  }
}

test('children fill their parents without gaps, in order, and the rest is self', () => {
  fc.assert(
    fc.property(flames, (flame) => {
      checkBoxes(new Layout(flame.columns), flame);
    }),
  );
});

test('children keep the order of the answer', () => {
  fc.assert(
    fc.property(flames, (flame) => {
      const layout = new Layout(flame.columns);
      for (let place = 0; place < layout.count; place++) {
        const [first, end] = layout.children(place);
        for (let child = first + 1; child < end; child++) {
          assert.ok(layout.node[child]! > layout.node[child - 1]!);
        }
      }
    }),
  );
});

test('the box at a value is the one that a search of the whole row finds', () => {
  fc.assert(
    fc.property(flames, fc.nat(130), fc.double({ min: 0, max: 1, noNaN: true }), (flame, row, share) => {
      const layout = new Layout(flame.columns);
      const value = share * layout.total;
      let expected = NOWHERE;
      for (let place = layout.count - 1; place >= 0; place--) {
        const inside = layout.left[place]! <= value && value < layout.right[place]!;
        if (inside && layout.row(place) === row) expected = place;
      }
      assert.equal(layout.at(row, value), expected);
    }),
  );
});

test('wide boxes of a part of a row are those that a search of the whole row finds', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(flames, fc.nat(12), share, share, share, (flame, row, one, other, part) => {
      const layout = new Layout(flame.columns);
      const [low, high] = [Math.min(one, other) * layout.total, Math.max(one, other) * layout.total];
      const least = (part ** 3 + 1e-6) * layout.total;
      const expected = [];
      for (let place = 0; place < layout.count; place++) {
        const seen = layout.right[place]! > low && layout.left[place]! < high;
        if (seen && layout.row(place) === row && layout.width(place) >= least) expected.push(place);
      }
      const found: number[] = [];
      layout.wide(row, low, high, least, found);
      assert.deepEqual(found, expected);
    }),
  );
});

test('a scene has each wide box of its window once, and runs cover the narrow children of wide boxes', () => {
  fc.assert(
    fc.property(flames, fc.nat(4), fc.nat(8), fc.double({ min: 1e-6, max: 0.2, noNaN: true }), (flame, first, rows, part) => {
      const layout = new Layout(flame.columns);
      const least = part * layout.total;
      const scene = new Scene();
      scene.look(layout, { low: 0, high: layout.total, first, end: first + rows }, least);
      const found = [...scene.boxPlace.subarray(0, scene.boxes)].sort((a, b) => a - b);
      const expected: number[] = [];
      const covered = (row: number, value: number) => {
        for (let run = 0; run < scene.runs; run++) {
          if (scene.runLine[run] === row && scene.runLeft[run]! <= value && value < scene.runRight[run]!) return true;
        }
        return false;
      };
      for (let place = 0; place < layout.count; place++) {
        const row = layout.row(place);
        if (row < first || row >= first + rows) continue;
        const width = layout.width(place);
        if (width >= least || place === 0) expected.push(place);
        else if (width > 0 && (layout.width(layout.parent[place]!) >= least || layout.parent[place] === 0)) {
          assert.ok(covered(row, layout.left[place]! + width / 2), 'a narrow box lies in a run');
        }
      }
      assert.deepEqual(found, expected);
    }),
  );
});

test('a stack of 5,000 frames is laid out', () => {
  let tree: Tree = { name: 'walk', self: 10 };
  for (let depth = 1; depth < 5000; depth++) tree = { name: 'walk', self: 1, children: [tree] };
  const flame = flameOf(tree);
  const layout = new Layout(flame.columns);
  assert.equal(layout.rows, 5000);
  assert.equal(layout.width(4999), 10);
  assert.equal(layout.row(4321), 4321);
  assert.equal(layout.ancestors(4999).length, 4999);
  checkBoxes(layout, flame);
});

test('200,000 nodes are laid out within a second, and their sums are exact', () => {
  const flame = largeFlame(200_000);
  const before = process.cpuUsage();
  const layout = new Layout(flame.columns);
  assert.ok(process.cpuUsage(before).user < 1e6, 'microseconds of the processor');
  checkBoxes(layout, flame);
});

test('fractions whose sum exceeds the parent by a rounding error stay inside', () => {
  const flame = flameOf({ name: 'all', children: [0.1, 0.2, 0.3, 0.4].map((self) => ({ name: 'f', self })) });
  flame.columns.bytes[0] = 0.9999999999999999;
  const layout = new Layout(flame.columns);
  for (let place = 1; place < layout.count; place++) assert.ok(layout.right[place]! <= layout.right[0]!);
});

test('answers without nodes, with zeros and with a broken order have a layout', () => {
  const none = new Layout({ next: new Uint32Array(0), bytes: new Float64Array(0) });
  assert.equal(none.rows, 0);
  assert.equal(none.at(0, 0), NOWHERE);
  const zero = new Layout(flameOf({ name: 'all', children: [{ name: 'f' }] }).columns);
  assert.equal(zero.at(1, 0), NOWHERE);
  const broken = new Layout({ next: Uint32Array.of(1, 2, 3), bytes: Float64Array.of(1, NaN, -5) });
  assert.equal(broken.rows, 2);
  for (let place = 0; place < 3; place++) assert.ok(broken.width(place) >= 0);
});

/* SPDX-License-Identifier: MIT */
