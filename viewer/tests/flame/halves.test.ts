/* The callers and callees of one function in one graph: widths, lines, paths, and walks from one half to the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CALLERS, type Flame, type Request } from '../../src/engine/answers.ts';
import type { Answered, Source } from '../../src/engine/source.ts';
import type { Chain } from '../../src/flame/chains.ts';
import { FlameData, type Path } from '../../src/flame/data.ts';
import { hitTest, type Lens, pixelAt } from '../../src/flame/hit.ts';
import { NOWHERE } from '../../src/flame/layout.ts';
import { Navigation, ROW_HEIGHT, type Screen } from '../../src/flame/navigation.ts';
import { Scene } from '../../src/flame/scene.ts';
import { askFlame, halfOf, joined } from '../../src/state/halves.ts';
import { flameOf, type Tree } from './examples.ts';

/** A callstack from the outermost function down, and its bytes. */
type Stack = [functions: string[], bytes: number];

/** What the engine answers for `f`: one tree of what its stacks have below their first `f`, or above it. */
function treeOf(stacks: Stack[], half: 'callees' | 'callers'): Tree {
  const root: Tree = { name: 'all', children: [] };
  for (const [functions, bytes] of stacks) {
    const at = functions.indexOf('f');
    if (at < 0) continue;
    let node = root;
    for (const name of ['f', ...(half === 'callees' ? functions.slice(at + 1) : functions.slice(0, at).reverse())]) {
      let child = (node.children ??= []).find((one) => one.name === name);
      if (!child) node.children.push((child = { name }));
      node = child;
    }
    node.self = (node.self ?? 0) + bytes;
  }
  return root;
}
const pictureOf = (stacks: Stack[]): Flame => joined(flameOf(treeOf(stacks, 'callees')), flameOf(treeOf(stacks, 'callers')));
const sumOf = (stacks: Stack[]): number => stacks.reduce((sum, [functions, bytes]) => sum + (functions.includes('f') ? bytes : 0), 0);

const STACKS: Stack[] = [
  [['main', 'serve', 'f', 'parse', 'node'], 300],
  [['main', 'serve', 'f', 'parse', 'f', 'lex'], 200],
  [['main', 'load', 'f', 'read'], 100],
  [['main', 'load', 'f'], 50],
  [['main', 'other'], 1000],
];
const someStacks: fc.Arbitrary<Stack[]> = fc.array(
  fc.tuple(fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'f'), { maxLength: 7 }), fc.integer({ min: 1, max: 1e6 })),
  { minLength: 1, maxLength: 60 },
).filter((stacks) => sumOf(stacks) > 0);

function opened(flame: Flame, height = 200) {
  const foci: Path[] = [];
  const screen: Screen & { content: number } = { width: 1000, height, top: 0, content: 0, animated: false, invalidate: () => {}, setContentHeight: (pixels) => void (screen.content = pixels) };
  const navigation = new Navigation(screen, { onFocused: (path) => foci.push(path), onSelected: () => {}, onChanged: () => {} });
  const data = new FlameData(flame);
  navigation.setData(data);
  const place = (...path: Path) => {
    const found = data.find(path);
    assert.notEqual(found, NOWHERE, path.join());
    return found;
  };
  return { navigation, screen, data, foci, place };
}

/** The answer for a focus on a caller of the function: its tree, and the labels from the function to it. */
const upward = (tree: Tree, ...trail: string[]): Flame => ({ ...flameOf(tree, trail), halves: { of: 'callers', callers: 1 } });

test('both halves are as wide as the function, which is counted once where it calls itself', () => {
  fc.assert(
    fc.property(someStacks, (stacks) => {
      const { layout } = new FlameData(pictureOf(stacks));
      assert.equal(layout.total, sumOf(stacks));
      for (const [half, up] of [['callees', false], ['callers', true]] as const) {
        const [begin, end] = layout.children(0, up);
        const own = treeOf(stacks, half).children![0]!.self ?? 0;
        const sum = Array.from({ length: end - begin }, (_, child) => layout.width(begin + child)).reduce((one, other) => one + other, 0);
        assert.equal(sum + own, layout.total, half);
      }
    }),
  );
});

test('the boxes of each half are within their parents, without gaps, a line further out', () => {
  fc.assert(
    fc.property(someStacks, (stacks) => {
      const { layout } = new FlameData(pictureOf(stacks));
      let seen = 1;
      for (let place = 0; place < layout.count; place++) {
        for (const up of place ? [false] : [false, true]) {
          const [begin, end] = layout.children(place, up);
          let at = layout.left[place]!;
          for (let child = begin; child < end; child++, seen++) {
            const isCaller = layout.isCaller(child);
            assert.equal(isCaller, up || layout.isCaller(place));
            assert.equal(layout.parent[child], place);
            assert.deepEqual(layout.siblings(child), [begin, end]);
            assert.equal(layout.left[child], at);
            assert.equal(layout.line(child) - layout.line(place), (isCaller ? -1 : 1) * (place ? 1 : 2), 'a line is free beside the root');
            assert.equal(layout.rowOn(layout.line(child)), layout.row(child));
            assert.equal(layout.depth(child), layout.depth(place) + 1);
            at = layout.right[child]!;
          }
          assert.ok(at <= layout.right[place]!);
        }
      }
      assert.equal(seen, layout.count, 'each box is the child of one');
      for (const line of [-1, 1, -layout.up - 2, layout.down + 1]) assert.equal(layout.rowOn(line), NOWHERE);
    }),
  );
});

test('a point hits the box that is drawn there', () => {
  fc.assert(
    fc.property(someStacks, (stacks) => {
      const data = new FlameData(pictureOf(stacks));
      const { layout, linesAbove: above } = data;
      const lens: Lens = { low: 0, high: layout.total, width: 1e9, top: 0, rowHeight: 20, above };
      for (let place = 0; place < layout.count; place++) {
        const middle = pixelAt(lens, (layout.left[place]! + layout.right[place]!) / 2);
        const y = (layout.line(place) + above) * 20 + 10;
        assert.ok(y > 0 && y < data.lines * 20);
        assert.equal(hitTest(layout, lens, middle, y), place);
      }
      for (const line of [-1, 1]) assert.equal(hitTest(layout, lens, 1, (above + line) * 20 + 10), NOWHERE, 'captions are no boxes');
    }),
  );
});

test('a window shows the boxes of both halves that reach into it', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(someStacks, part, part, fc.integer({ min: -9, max: 9 }), fc.nat(9), (stacks, from, size, first, lines) => {
      const { layout } = new FlameData(pictureOf(stacks));
      const low = from * layout.total * 0.99;
      const high = low + Math.max(1e-3, size) * (layout.total - low);
      const scene = new Scene();
      scene.look(layout, { low, high, first, end: first + lines }, 0);
      const expected: string[] = [];
      for (let place = 0; place < layout.count; place++) {
        const line = layout.line(place);
        const isSeen = place === 0 || (layout.right[place]! > low && layout.left[place]! < high);
        if (isSeen && line >= first && line < first + lines) expected.push(`${place} on ${line}`);
      }
      const shown = Array.from({ length: scene.boxes }, (_, box) => `${scene.boxPlace[box]} on ${scene.boxLine[box]}`);
      assert.deepEqual(shown.sort(), expected.sort());
    }),
  );
});

test('a path leads to its box, in its half, folded or not', () => {
  fc.assert(
    fc.property(someStacks, fc.constantFrom('', null), (stacks, open) => {
      const flame = pictureOf(stacks);
      const data = new FlameData(flame, undefined, 'bytes', false, open);
      for (let node = 0; node < flame.columns.next.length; node++) {
        const place = data.layout.place[node]!;
        const { path, name } = data.describe(place, node);
        assert.equal(data.nodeOf(path), node);
        assert.equal(path[0] === CALLERS, data.layout.isCaller(place));
        assert.equal(path[+(path[0] === CALLERS)], 'f');
        if (!data.chainOf(place)) assert.equal(name, path.at(-1));
      }
      assert.deepEqual([[], ['f'], [CALLERS], [CALLERS, 'f']].map((path) => data.nodeOf(path)), [0, 0, 0, 0]);
      assert.equal(data.nodeOf(['g']), NOWHERE);
    }),
  );
});

test('a chain opens in its half alone, and with the same key below a focus on a caller', () => {
  const stack = ['out', 'd', 'c', 'b', 'f', 'b', 'c', 'd', 'out'];
  const flame = pictureOf([[stack, 7]]);
  const folded = new FlameData(flame, undefined, 'bytes', false, '');
  const [callees, callers] = [false, true].map((up) => folded.chainOf(folded.layout.children(0, up)[0])!) as [Chain, Chain];
  assert.deepEqual([callees, callers].map(({ count, open }) => [count, open]), [[3, false], [3, false]]);
  assert.deepEqual([callees, callers].map(({ first }) => folded.nameOf(folded.layout.place[first]!)), ['3 frames: b … d', '3 frames: d … b'], 'names are in the order of the rows');
  assert.deepEqual(folded.describe(folded.layout.place[callers.first]!).chain?.frames, ['d', 'c', 'b']);
  const key = folded.keyOf(callers);
  const opened = new FlameData(flame, undefined, 'bytes', false, key);
  assert.deepEqual([opened.layout.down, opened.layout.up], [3, 4]);
  const alone = (open: string) => new FlameData({ ...upward({ name: 'out', self: 7 }, 'f', 'b', 'c', 'd', 'out'), columns: { ...upward({ name: 'out', self: 7 }).columns, passing: Uint32Array.of(1, 1, 1, 1) } }, undefined, 'bytes', false, open);
  assert.deepEqual(alone('').above.map(({ name, key }) => [name, key]), [['f', undefined], ['3 frames: d … b', key]]);
  assert.deepEqual(alone(key).above.map(({ name }) => name), ['f', 'b', 'c', 'd']);
});

test('keys lead from a caller through the function to a callee, and back', () => {
  fc.assert(
    fc.property(someStacks, fc.nat(), (stacks, any) => {
      const { navigation, data, screen } = opened(pictureOf(stacks));
      const { layout } = data;
      const from = any % layout.count;
      const [home, away] = layout.isCaller(from) ? (['down', 'up'] as const) : (['up', 'down'] as const);
      navigation.select(from);
      for (let step = layout.depth(from); step > 0; step--) navigation.walk(home);
      assert.equal(navigation.selected, 0);
      for (let step = layout.depth(from); step > 0; step--) navigation.walk(away);
      assert.equal(navigation.selected, from);
      for (let step = layout.depth(from); step > 0; step--) navigation.walk(home);
      navigation.walk(home);
      const [first, end] = layout.children(0, home === 'up');
      assert.equal(navigation.selected >= first && navigation.selected < end, first < end, 'on the other side');
      const y = (layout.line(navigation.selected) + data.linesAbove) * ROW_HEIGHT - screen.top;
      assert.ok(y >= 0 && y <= screen.height - ROW_HEIGHT, 'in sight');
    }),
  );
});

test('left and right stay in the half', () => {
  const { navigation, place } = opened(pictureOf(STACKS));
  navigation.select(place(CALLERS, 'f', 'serve'));
  navigation.walk('right');
  assert.equal(navigation.selected, place(CALLERS, 'f', 'load'));
  navigation.walk('right');
  assert.equal(navigation.selected, place(CALLERS, 'f', 'load'));
  navigation.select(place('f', 'parse'));
  navigation.walk('right');
  assert.equal(navigation.selected, place('f', 'read'));
});

test('the function opens in sight, and a view is told from there', () => {
  const deep: Stack[] = [[[...Array.from({ length: 50 }, (_, depth) => `c${depth}`), 'f', ...Array.from({ length: 40 }, (_, depth) => `d${depth}`)], 5]];
  const { navigation, screen, data } = opened(pictureOf(deep));
  assert.equal(screen.content, (50 + 1 + 40 + 2) * ROW_HEIGHT);
  const y = () => data.linesAbove * ROW_HEIGHT - screen.top;
  assert.equal(y(), 100, 'in the middle');
  assert.equal(navigation.view.top, 0);
  (screen as { height: number }).height = 300;
  navigation.advance(0);
  assert.equal(y(), 140, 'also if the window changes, with whole rows above');
  navigation.pan(0, -40);
  assert.equal(navigation.view.top, -40);
  const { view } = navigation;
  navigation.home();
  assert.equal(y(), 140);
  navigation.view = view;
  assert.equal(y(), 180);
  const short = opened(pictureOf(STACKS), 400);
  assert.equal(short.screen.top, 0, 'what has room is not scrolled');
  const few = opened(pictureOf([[deep[0]![0].slice(0, 52), 5]]));
  assert.equal(few.data.linesAbove * ROW_HEIGHT - few.screen.top, 200 - 3 * ROW_HEIGHT, 'few callees leave their room to callers');
});

test('a focus on a caller is drawn upward from it, and keys lead back to the function', () => {
  const { navigation, data, foci, place } = opened(pictureOf(STACKS));
  const serve = place(CALLERS, 'f', 'serve');
  navigation.focus(serve);
  assert.deepEqual(foci, [[CALLERS, 'f', 'serve']]);
  assert.deepEqual([navigation.focusLine, data.layout.line(serve)], [-2, -2]);
  navigation.setData(new FlameData(upward({ name: 'serve', children: [{ name: 'main', self: 500 }] }, 'f', 'serve')));
  const alone = navigation.data!;
  assert.deepEqual(alone.rootPath, [CALLERS, 'f', 'serve']);
  assert.deepEqual(alone.above.map(({ name }, index) => [name, alone.lineOfAbove(index)]), [['f', 1]]);
  assert.deepEqual([alone.linesAbove, alone.lines, alone.layout.line(1)], [1, 3, -1]);
  assert.equal(navigation.placeAt(5, 5), 1);
  assert.deepEqual([navigation.aboveAt(25), navigation.aboveAt(45), navigation.aboveAt(65)], [NOWHERE, 0, NOWHERE]);
  assert.deepEqual(alone.describe(1).path, [CALLERS, 'f', 'serve', 'main']);
  navigation.select(1);
  navigation.walk('down');
  assert.equal(navigation.selected, 0);
  navigation.walk('down');
  assert.deepEqual(foci.at(-1), [], 'the function is the whole');
});

test('a focus is left to the function, and what was looked at before does not come back', () => {
  const { navigation, foci, place } = opened(flameOf({ name: 'all', children: [{ name: 'f', self: 3 }] }));
  navigation.focus(place('f'));
  navigation.view = { ...navigation.view, focus: [] };
  navigation.setData(new FlameData(pictureOf(STACKS)));
  assert.equal(navigation.back(), false);
  const callee = navigation.data!.find(['f', 'parse']);
  navigation.focus(callee);
  assert.ok(navigation.back());
  assert.deepEqual(foci.at(-1), []);
  navigation.view = { ...navigation.view, focus: ['f', 'parse'] };
  navigation.home();
  assert.deepEqual(foci.at(-1), []);
});

test('several functions of one name are the first boxes of both halves', () => {
  const tree = (below: string): Tree => ({ name: 'all', children: [{ name: 'f', module: 'a', children: [{ name: below, self: 20 }] }, { name: 'f', module: 'b', self: 10 }] });
  const data = new FlameData(joined(flameOf(tree('callee')), flameOf(tree('caller'))));
  assert.deepEqual([data.layout.total, data.nameOf(0)], [30, 'f']);
  const names = (up: boolean) => data.layout.children(0, up).map((_, at) => data.labelOf(data.layout.children(0, up)[0] + at)!.module);
  assert.deepEqual([names(false), names(true)], [['a', 'b'], ['a', 'b']]);
  for (let node = 1; node < 3; node++) assert.equal(data.nodeOf(data.describe(data.layout.place[node]!).path), 1 + (node - 1));
});

/* ---- the questions ---- */

/** A source that notes what it is asked, and whose state is of the direction. */
function sourceOf(states: Record<string, number>, trail = ['f', 'parse']): { source: Source; asked: Request[] } {
  const asked: Request[] = [];
  const ask = (request: Request): Promise<Answered<unknown>> => {
    asked.push(request);
    const tree = treeOf(STACKS, request.direction ?? 'callees');
    return Promise.resolve({ answer: request.focus ? flameOf({ name: trail.at(-1)!, self: 5 }, trail) : flameOf(tree), state: states[request.direction!]! });
  };
  return { source: { ask } as unknown as Source, asked };
}
const request = (...focus: string[]): Request => ({ view: 'flame', ...halfOf('f', focus) });

test('both halves are of one state, or there is no answer', async () => {
  const { source, asked } = sourceOf({ callees: 3, callers: 3 });
  const { answer, state } = await askFlame(source, request(), 'flame');
  assert.deepEqual([state, answer.halves!.of, answer.columns.bytes[0]], [3, 'both', sumOf(STACKS)]);
  assert.deepEqual(asked.map(({ direction, of }) => [direction, of]), [['callees', 'f'], ['callers', 'f']]);
  await assert.rejects(askFlame(sourceOf({ callees: 3, callers: 4 }).source, request(), 'flame'));
});

test('a focus is asked for in its half; the whole picture is the answer where it is not found', async () => {
  const states = { callees: 1, callers: 1 };
  for (const [focus, half, first] of [[['f', 'parse'], 'callees', 1], [[CALLERS, 'f', 'parse'], 'callers', 1]] as const) {
    const { source, asked } = sourceOf(states);
    const { answer } = await askFlame(source, request(...focus), 'flame');
    assert.deepEqual(asked.map(({ direction, focus }) => [direction, focus]), [[half, 'f\u001fparse']]);
    assert.deepEqual(answer.halves, { of: half, callers: first });
  }
  const { source, asked } = sourceOf(states, ['f']);
  assert.equal((await askFlame(source, request('f', 'gone'), 'flame')).answer.halves!.of, 'both');
  assert.equal(asked.length, 3);
});
/* SPDX-License-Identifier: MIT */
