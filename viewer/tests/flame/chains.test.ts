/* Which frames have a box: chains of frames fold, open and fold again, and nothing is lost. Without a page. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Flame } from '../../src/engine/answers.ts';
import { boxesOf, endFrom, keyOf, LEAST_CHAIN, PASSED, toggled } from '../../src/flame/chains.ts';
import { FlameData, type Path } from '../../src/flame/data.ts';
import { NOWHERE } from '../../src/flame/layout.ts';
import { Navigation } from '../../src/flame/navigation.ts';
import { flameOf, total, type Tree } from './examples.ts';

/** A chain of these names above a tree. */
const below = (names: string[], tree: Tree): Tree => names.reduceRight<Tree>((child, name) => ({ name, children: [child] }), tree);
const TRUNK = ['clone3', 'start_thread', 'run', 'loop'];
const HANDLE: Tree = { name: 'handle', children: [{ name: 'parse', self: 600 }, { name: 'load', self: 300 }, { name: '', merged: 7, self: 100 }] };
const TREE: Tree = { name: 'all', children: [below(TRUNK, HANDLE)] };

const dataOf = (flame: Flame, open: string | null) => new FlameData(flame, undefined, 'bytes', false, open);
const namesOf = (data: FlameData) => Array.from({ length: data.layout.count }, (_, place) => data.nameOf(place));

/** A chain of these names, of which each has this child too, of so many bytes. */
const besides = (names: string[], sides: number[], tree: Tree): Tree =>
  names.reduceRight<Tree>((child, name, index) => ({ name, children: [child, ...(sides[index] ? [{ name: 'side', self: sides[index] }] : [])] }), tree);

/* Trees of few names and many chains; a node with `self` 0 passes if its first child has nearly all. */
const tree: fc.Arbitrary<Tree> = fc.letrec<{ node: Tree }>((tie) => ({
  node: fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    self: fc.constantFrom(0, 0, 0, 1, 5, 5000),
    children: fc.oneof(
      { depthSize: 'large', withCrossShrink: true },
      fc.constant([]),
      fc.array(tie('node'), { minLength: 1, maxLength: 1 }),
      fc.array(tie('node'), { minLength: 1, maxLength: 1 }),
      fc.uniqueArray(tie('node'), { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
    ),
  }),
})).node;
const sides = fc.array(fc.constantFrom(0, 0, 0, 1, 3, 100), { minLength: 9, maxLength: 9 });
const chained = fc.tuple(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 }), tree, fc.array(fc.constantFrom('a', 'b'), { maxLength: 9 }), sides, sides).map(
  ([above, top, beneath, ofAbove, ofBeneath]): Tree => {
    const children = (top.children ?? []).map((child) => besides(beneath, ofBeneath, child)).filter((child, index, all) => all.findIndex(({ name }) => name === child.name) === index);
    return inOrder({ name: 'all', children: [besides(above, ofAbove, { ...top, children })] });
  },
);
/** Children as the engine orders them: by bytes. */
function inOrder(one: Tree): Tree {
  return { ...one, children: one.children?.map(inOrder).sort((left, right) => total(right) - total(left)) };
}
/** How many chains are folded, and how many of them have other children than their ends: a run tells little of an empty case. */
let folded = 0;
let branched = 0;

function checkBoxes(flame: Flame, open: string): void {
  const whole = dataOf(flame, null);
  const data = dataOf(flame, open);
  const { layout } = data;
  const seen = new Uint8Array(flame.columns.next.length);
  for (let place = 0; place < layout.count; place++) {
    const [first, last] = [layout.node[place]!, layout.last[place]!];
    assert.ok(place === 0 || last === first || last - first >= LEAST_CHAIN - 1, 'a short chain is not folded');
    if (place === 0) assert.equal(last, 0, 'the root has its box');
    const { bytes, blocks } = flame.columns;
    for (let node = first; node <= last; node++) {
      assert.equal(seen[node]++, 0, 'a frame is in one box');
      assert.equal(layout.place[node], place);
      const own = whole.layout.place[node]!;
      assert.equal(layout.left[place], whole.layout.left[own], 'a box is where its frames are');
      if (node === first || flame.columns.next[node] === flame.columns.next[first]) assert.equal(layout.right[place], whole.layout.right[own]);
      assert.ok(bytes[node]! >= PASSED * bytes[first]! && blocks[node]! >= PASSED * blocks[first]!, 'a chain has little else');
      assert.equal(data.describe(place, node).size, bytes[node], 'a frame has its own amount');
      const path = whole.pathOf(own);
      assert.equal(data.nodeOf(path), whole.nodeOf(path), 'each frame is found by its path');
      assert.deepEqual(data.describe(place, node).path, path);
    }
    const box = data.describe(place);
    assert.deepEqual(data.pathOf(place), whole.pathOf(whole.layout.place[box.node]!));
    assert.equal(box.size, data.size(place), 'what is said of a box is what is drawn');
    if (last === first) continue;
    folded++;
    const [child, end] = layout.children(place);
    assert.equal(layout.node[child], last + 1, 'the end is its first child');
    if (end > child + 1) branched++;
  }
  assert.ok(seen.every((times) => times === 1), 'no frame is missing');
}

test('each frame is in one box, where it would be alone, and is found by its path', () => {
  folded = branched = 0;
  fc.assert(fc.property(chained, (one) => checkBoxes(flameOf(one), '')), { numRuns: 300 });
  assert.ok(folded > 100 && branched > 50, `${folded} were folded, ${branched} branched`);
});

test('a chain that is opened has a box for each frame, others stay, and folded again all is as before', () => {
  let opened = 0;
  fc.assert(
    fc.property(chained, fc.nat(), (one, choice) => {
      const flame = flameOf(one);
      const before = dataOf(flame, '');
      const chains = [...before.layout.node.keys()].filter((place) => before.chainOf(place));
      if (chains.length === 0) return;
      const place = chains[choice % chains.length]!;
      const chain = before.chainOf(place)!;
      const key = before.keyOf(chain);
      if (chains.filter((other) => before.keyOf(before.chainOf(other)!) === key).length > 1) return; // two of one path
      const open = toggled('', key);
      checkBoxes(flame, open);
      const after = dataOf(flame, open);
      assert.equal(after.layout.count, before.layout.count + chain.count - 1);
      for (let node = chain.first; node < chain.first + chain.count; node++) {
        const found = after.chainOf(after.layout.place[node]!)!;
        assert.deepEqual(found, { ...chain, open: true });
        assert.equal(after.keyOf(found), key);
        assert.equal(after.begins(after.layout.place[node]!), node === chain.first);
      }
      assert.equal(toggled(open, key), '');
      opened++;
    }),
    { numRuns: 300 },
  );
  assert.ok(opened > 100, `${opened} were opened`);
});

test('the trunk is one box; the frame that branches and the root keep theirs', () => {
  const data = dataOf(flameOf(TREE), '');
  assert.deepEqual(namesOf(data), ['all', '4 frames: clone3 … loop', 'handle', 'parse', 'load', '?']);
  assert.deepEqual(namesOf(dataOf(flameOf(TREE), null)).slice(0, 5), ['all', ...TRUNK]);
  const two: Tree = { name: 'all', children: [below(['main', 'run'], HANDLE)] };
  assert.deepEqual(namesOf(dataOf(flameOf(two), '')).slice(0, 4), ['all', 'main', 'run', 'handle'], 'two frames stay');
});

test('a frame that allocates, or whose only callees were merged, ends a chain', () => {
  const own: Tree = { name: 'all', children: [below(['a', 'b', 'c'], { name: 'd', self: 1, children: [below(['e', 'f', 'g'], { name: 'h', self: 9 })] })] };
  assert.deepEqual(namesOf(dataOf(flameOf(own), '')), ['all', '3 frames: a … c', 'd', '3 frames: e … g', 'h']);
  const rest: Tree = { name: 'all', children: [below(['a', 'b', 'c', 'd'], { name: '', merged: 3, self: 9 })] };
  assert.deepEqual(namesOf(dataOf(flameOf(rest), '')), ['all', '3 frames: a … c', 'd', '?']);
  const sampled: Tree = { name: 'all', children: [below(['a', 'b'], { name: 'c', samples: 900, children: [{ name: 'd', self: 1, samples: 899 }] })] };
  assert.deepEqual(namesOf(dataOf(flameOf(sampled), '')), ['all', 'a', 'b', 'c', 'd'], 'blocks of no bytes are its own');
});

const SIDES: Tree = { name: 'all', children: [besides(['a', 'b', 'c', 'd', 'e'], [0, 3, 0, 7, 0], { name: 'end', self: 990 })] };

test('children that have little are beside the end of a chain, under their own callers', () => {
  const data = dataOf(flameOf(SIDES), '');
  assert.deepEqual(namesOf(data), ['all', '5 frames: a … e', 'end', 'side', 'side']);
  assert.deepEqual([2, 3, 4].map((place) => [data.layout.parent[place], data.size(place), data.pathOf(place).join('/')]), [
    [1, 990, 'a/b/c/d/e/end'],
    [1, 7, 'a/b/c/d/side'],
    [1, 3, 'a/b/side'],
  ]);
  const chain = data.describe(1);
  assert.deepEqual([chain.size, chain.bytes, chain.path.join('/')], [1000, 1000, 'a/b'], 'it is the innermost frame that has all');
  assert.deepEqual([data.describe(1, 5).size, data.describe(1, 5).path.join('/')], [990, 'a/b/c/d/e']);
});

test('a chain ends where less than its part of the first frame is left, of bytes or of blocks', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const flame = flameOf({ name: 'all', children: [besides(names, [10, 10, 10, 10, 10, 10, 10, 10], { name: 'end', self: 920 })] });
  assert.deepEqual(namesOf(dataOf(flame, '')), ['all', '5 frames: a … e', 'f', 'side', 'side', 'side', 'side', 'side', 'g', 'side', 'h', 'side', 'end', 'side']);
  flame.columns.blocks[4] = 0.94 * flame.columns.blocks[1]!;
  assert.equal(namesOf(dataOf(flame, ''))[1], 'a');
  assert.equal(dataOf(flame, '').chainOf(1), null, 'two frames stay');
});

test('the callers of a focus are folded as they were, and open with the same key', () => {
  const path: Path = [...TRUNK, 'handle', 'parse'];
  const flame = flameOf({ name: 'parse', self: 600 }, path);
  flame.columns.passing = Uint32Array.of(1, 1, 1, 1, 0);
  const data = dataOf(flame, '');
  assert.deepEqual(data.above.map(({ name, depth }) => [name, depth]), [['all', 0], ['4 frames: clone3 … loop', 4], ['handle', 5]]);
  const whole = dataOf(flameOf(TREE), '');
  assert.equal(data.above[1]!.key, whole.keyOf(whole.chainOf(1)!));
  assert.deepEqual(dataOf(flame, keyOf([...TRUNK, 'handle'])).above.map(({ name }) => name), ['all', ...TRUNK, 'handle']);
});

test('a focus on a frame of a chain leaves the chain open below it, and above it', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const end: Tree = { name: 'end', self: 1 };
  const whole = dataOf(flameOf({ name: 'all', children: [below(names, end)] }), '');
  const key = whole.keyOf(whole.chainOf(1)!);
  const flame = flameOf(below(names.slice(3), end), names.slice(0, 4));
  flame.columns.passing = Uint32Array.of(1, 1, 1);
  const folded = dataOf(flame, '');
  assert.deepEqual([...folded.above.map(({ name }) => name), ...namesOf(folded)], ['all', '3 frames: a … c', 'd', '3 frames: e … g', 'end']);
  const open = dataOf(flame, key);
  assert.deepEqual([...open.above.map(({ name }) => name), ...namesOf(open)], ['all', ...names, 'end']);
});

function opened(open: string | null) {
  const navigation = new Navigation(
    { width: 1000, height: 200, top: 0, animated: false, invalidate: () => {}, setContentHeight: () => {} },
    { onFocused: () => {}, onSelected: () => {}, onChanged: () => {} },
  );
  navigation.setData(dataOf(flameOf(TREE), open));
  return navigation;
}

test('a focus on a frame of a chain, or on what is beside it, changes neither its end nor what is open', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const end: Tree = { name: 'end', self: 900 };
  const whole = flameOf({ name: 'all', children: [besides(names, [20, 20, 0, 0, 0, 0, 20, 20], end)] });
  assert.equal(endFrom(whole, 1), 7, 'of 980 bytes, g has 920 and its first child 900');
  const key = dataOf(whole, '').keyOf(dataOf(whole, '').chainOf(1)!);
  const flame = flameOf(besides(names.slice(2), [0, 0, 0, 0, 20, 20], end), names.slice(0, 3));
  flame.columns.passing = Uint32Array.of(1, 1);
  flame.columns.chain = Float64Array.of(whole.columns.bytes[1]!, whole.columns.blocks[1]!);
  assert.deepEqual(namesOf(dataOf(flame, '')), ['c', '3 frames: d … f', 'g', 'h', 'side', 'end', 'side']);
  assert.deepEqual(namesOf(dataOf(flame, key)).slice(0, 4), ['c', 'd', 'e', 'f']);
  const side = flameOf({ name: 'side', self: 20 }, [...names.slice(0, 7), 'side']);
  side.columns.passing = Uint32Array.of(1, 1, 1, 1, 1, 1, 0);
  assert.deepEqual(dataOf(side, '').above.map(({ name, depth }) => [name, depth]), [['all', 0], ['6 frames: a … f', 6], ['g', 7]]);
});

test('the selected frame of a folded chain is the same one once the chain is open', () => {
  const navigation = opened('');
  const run = ['clone3', 'start_thread', 'run'];
  navigation.view = { ...navigation.view, selected: run };
  assert.equal(navigation.data!.nameOf(navigation.selected), '4 frames: clone3 … loop');
  assert.deepEqual(navigation.view.selected, run);
  navigation.setData(dataOf(flameOf(TREE), null));
  assert.equal(navigation.data!.nameOf(navigation.selected), 'run');
  navigation.setData(dataOf(flameOf(TREE), ''));
  assert.deepEqual(navigation.view.selected, run);
});

test('keys walk over a folded chain as over one box', () => {
  const navigation = opened('');
  for (const path of [TRUNK, [...TRUNK, 'handle'], [...TRUNK, 'handle', 'parse']]) {
    navigation.walk('down');
    assert.deepEqual(navigation.view.selected, path);
  }
  navigation.walk('up');
  navigation.walk('up');
  assert.deepEqual(navigation.view.selected, TRUNK);
});

test('a search finds what is in a folded chain', () => {
  const navigation = opened('');
  const { data } = navigation;
  const marks = Uint8Array.from(data!.flame.labels, ({ text }) => (text === 'run' ? 1 : 0));
  assert.equal(navigation.selectMarked(marks, 1), true);
  assert.deepEqual(navigation.view.selected, ['clone3', 'start_thread', 'run']);
  assert.equal(data!.marked(navigation.selected, marks) === NOWHERE, false);
  assert.equal(data!.marked(0, marks), NOWHERE);
});

test('a key that no chain has opens nothing, and damaged ones are no keys', () => {
  const flame = flameOf(TREE);
  for (const open of ['AAAA', 'AAA', 'AAAABBB']) assert.deepEqual(boxesOf(flame, [], open), boxesOf(flame, [], ''));
});

/* SPDX-License-Identifier: MIT */
