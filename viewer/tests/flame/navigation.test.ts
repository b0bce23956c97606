/* Where points and keys lead, and how focus, zoom and view go together. Without a page. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FlameData, type Path } from '../../src/flame/data.ts';
import { below, besides, hitTest, type Lens, pixelAt, valueAt } from '../../src/flame/hit.ts';
import { Layout, NOWHERE } from '../../src/flame/layout.ts';
import { clamped, Movement, panned, type Span, zoomed } from '../../src/flame/motion.ts';
import { Navigation, type Screen } from '../../src/flame/navigation.ts';
import { windowAround } from '../../src/flame/tree.ts';
import { flameOf, largeFlame, type Tree } from './examples.ts';

/* main: parse 600 (lex 200, node 300, self 100), load 300 (read 250, rest 50), self 100 */
const TREE: Tree = {
  name: 'all',
  children: [
    {
      name: 'main',
      self: 100,
      children: [
        { name: 'parse', self: 100, children: [{ name: 'node', self: 300 }, { name: 'lex', self: 200 }] },
        { name: 'load', children: [{ name: 'read', self: 250 }, { name: '', merged: 7, self: 50 }] },
      ],
    },
  ],
};

function opened(tree: Tree = TREE, trail: string[] = [], animated = false) {
  const foci: Path[] = [];
  const selected: number[] = [];
  const screen: Screen & { content: number } = {
    width: 1000,
    height: 200,
    top: 0,
    content: 0,
    animated,
    invalidate: () => {},
    setContentHeight(pixels) {
      this.content = pixels;
    },
  };
  const navigation = new Navigation(screen, {
    onFocused: (path) => foci.push(path),
    onSelected: (place) => selected.push(place),
    onChanged: () => {},
  });
  const data = new FlameData(flameOf(tree, trail));
  navigation.setData(data);
  const place = (...path: Path) => {
    const found = data.find([...trail, ...path]);
    assert.notEqual(found, NOWHERE, path.join());
    return found;
  };
  return { navigation, screen, data, foci, selected, place };
}

const lens: Lens = { low: 0, high: 1000, width: 500, top: 0, rowHeight: 20, above: 0 };

test('a point hits the box that is drawn there, and nothing beside boxes', () => {
  const { data, place } = opened();
  assert.equal(hitTest(data.layout, lens, 10, 5), 0);
  assert.equal(hitTest(data.layout, lens, 10, 25), place('main'));
  assert.equal(hitTest(data.layout, lens, 299, 45), place('main', 'parse'));
  assert.equal(hitTest(data.layout, lens, 301, 45), place('main', 'load'));
  assert.equal(hitTest(data.layout, lens, 499, 45), NOWHERE, "main's own bytes");
  assert.equal(hitTest(data.layout, lens, 10, 500), NOWHERE);
  assert.equal(hitTest(data.layout, lens, -1, 5), NOWHERE);
  assert.equal(hitTest(data.layout, { ...lens, above: 2 }, 10, 45), 0, 'rows above have no box');
  assert.equal(hitTest(data.layout, { ...lens, top: 20 }, 10, 5), place('main'));
});

test('the middle of each box of at least a pixel hits the box', () => {
  const flame = largeFlame(3000, 5);
  const layout = new Layout(flame.columns);
  const seen: Lens = { ...lens, high: layout.total, width: 4000 };
  for (let place = 0; place < layout.count; place++) {
    const left = pixelAt(seen, layout.left[place]!);
    const right = pixelAt(seen, layout.right[place]!);
    if (right - left < 1) continue;
    assert.equal(hitTest(layout, seen, (left + right) / 2, layout.row(place) * 20 + 10), place);
  }
});

test('pixels and values are inverse', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 500, noNaN: true }), fc.nat(900), fc.integer({ min: 1, max: 100 }), (x, low, size) => {
      const seen = { ...lens, low, high: low + size };
      assert.ok(Math.abs(pixelAt(seen, valueAt(seen, x)) - x) < 1e-6);
    }),
  );
});

test('left and right go along the row, down to the child under the column, else to the largest', () => {
  const { data, place } = opened();
  const { layout } = data;
  assert.equal(besides(layout, place('main', 'parse'), 1), place('main', 'load'));
  assert.equal(besides(layout, place('main', 'parse'), -1), NOWHERE);
  assert.equal(besides(layout, place('main', 'parse', 'lex'), 1), place('main', 'load', 'read'));
  assert.equal(below(layout, place('main'), 700), place('main', 'load'));
  assert.equal(below(layout, place('main'), 950), place('main', 'parse'), 'self: the largest child');
  assert.equal(below(layout, place('main', 'parse', 'lex'), 0), NOWHERE);
});

test('up and down again lead back', () => {
  const { navigation, place } = opened();
  navigation.select(place('main', 'load', 'read'));
  navigation.walk('up');
  navigation.walk('up');
  assert.equal(navigation.selected, place('main'));
  navigation.walk('down');
  navigation.walk('down');
  assert.equal(navigation.selected, place('main', 'load', 'read'));
});

test('a focus fills the width at once, and tells its path', () => {
  const { navigation, foci, place, data } = opened();
  navigation.focus(place('main', 'load'));
  assert.deepEqual(foci, [['main', 'load']]);
  assert.deepEqual(navigation.span, { low: 600, high: 900 });
  assert.equal(navigation.placeAt(500, 5), 0, 'callers fill the width too');
  navigation.setData(new FlameData(flameOf(TREE.children![0]!.children![1]!, ['main', 'load']), data.whole));
  assert.deepEqual(navigation.span, { low: 0, high: 300 });
  assert.equal(navigation.data!.above.map(({ name }) => name).join(), 'all,main');
  assert.equal(navigation.aboveAt(25), 1);
  assert.equal(navigation.placeAt(500, 45), 0);
});

test('arrows do not leave the focus but for its callers', () => {
  const { navigation, place } = opened();
  navigation.focus(place('main', 'load'));
  navigation.select(place('main', 'load'));
  navigation.walk('left');
  assert.equal(navigation.selected, place('main', 'load'));
  navigation.walk('up');
  assert.equal(navigation.selected, place('main'));
  assert.equal(navigation.focused, place('main', 'load'));
});

test('a movement goes on in the answer of its focus', () => {
  const { navigation, place, data } = opened(TREE, [], true);
  const began = performance.now();
  navigation.focus(place('main', 'load'));
  navigation.advance(began + 30);
  const shown = (600 - navigation.span.low) / (navigation.span.high - navigation.span.low);
  navigation.view = { ...navigation.view };
  navigation.setData(new FlameData(flameOf(TREE.children![0]!.children![1]!, ['main', 'load']), data.whole));
  navigation.advance(began + 30);
  assert.ok(navigation.moving);
  const after = (0 - navigation.span.low) / (navigation.span.high - navigation.span.low);
  assert.ok(Math.abs(shown - after) < 1e-9, 'the box is where it was');
  navigation.advance(began + 60_000);
  assert.deepEqual(navigation.span, { low: 0, high: 300 });
  assert.ok(!navigation.moving);
});

test('a merged rest opens by a focus on its parent', () => {
  const { navigation, foci, data, place } = opened();
  navigation.focus(data.layout.children(place('main', 'load'))[1] - 1);
  assert.deepEqual(foci, [['main', 'load']]);
});

test('back undoes the zoom, then the focus, then goes to callers', () => {
  const { navigation, foci, place } = opened();
  navigation.focus(place('main'));
  navigation.focus(place('main', 'load'));
  navigation.zoom(0.5, 2);
  assert.deepEqual(navigation.span, { low: 675, high: 825 });
  assert.ok(navigation.back());
  assert.deepEqual(navigation.span, { low: 600, high: 900 });
  navigation.back();
  assert.deepEqual(foci.at(-1), ['main']);
  navigation.back();
  assert.deepEqual(foci.at(-1), []);
  assert.equal(navigation.back(), false);
});

test('a focus further out than the answer waits for the next answer', () => {
  const { navigation, foci } = opened({ name: 'load', self: 5 }, ['main', 'load']);
  navigation.goTo(['main'], true);
  assert.deepEqual(foci, [['main']]);
  assert.deepEqual(navigation.view.focus, ['main']);
  navigation.setData(new FlameData(flameOf(TREE.children![0]!, ['main'])));
  assert.deepEqual(navigation.view, { focus: ['main'], low: 0, high: 1, top: 0, selected: null });
});

test('focus and selection survive an answer to another question, if it has them', () => {
  const { navigation, place } = opened();
  navigation.focus(place('main', 'load'));
  navigation.select(place('main', 'load', 'read'));
  navigation.setData(new FlameData(flameOf(TREE)));
  assert.deepEqual(navigation.view.focus, ['main', 'load']);
  assert.equal(navigation.selected, place('main', 'load', 'read'));
  navigation.setData(new FlameData(flameOf({ name: 'all', children: [{ name: 'other', self: 1 }] })));
  assert.deepEqual(navigation.view.focus, []);
  assert.equal(navigation.selected, NOWHERE);
});

test('a view set again is the same view', () => {
  const part = fc.double({ min: 0, max: 0.9, noNaN: true });
  fc.assert(
    fc.property(part, part, fc.nat(50), (low, size, top) => {
      const { navigation } = opened();
      const view = { focus: ['main', 'parse'], low, high: Math.min(1, low + size + 0.01), top, selected: ['main', 'load'] };
      navigation.view = view;
      const again = navigation.view;
      assert.ok(Math.abs(again.low - view.low) < 1e-9 && Math.abs(again.high - view.high) < 1e-9);
      assert.deepEqual({ ...again, low, high: view.high }, view);
      const link = JSON.parse(JSON.stringify(again));
      navigation.view = link;
      assert.ok(Math.abs(navigation.view.low - again.low) < 1e-12);
    }),
  );
});

test('a view of another focus waits for its answer', () => {
  const { navigation } = opened({ name: 'load', self: 5 }, ['main', 'load']);
  navigation.view = { focus: ['main'], low: 0.25, high: 0.5, top: 0, selected: ['main', 'parse'] };
  navigation.setData(new FlameData(flameOf(TREE.children![0]!, ['main'])));
  assert.equal(navigation.view.low, 0.25);
  assert.equal(navigation.data!.nameOf(navigation.selected), 'parse');
});

test('spans stay within their bounds, and the zoomed point stays where it is', () => {
  const bounds: Span = { low: 100, high: 200 };
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, share, fc.double({ min: 0.01, max: 100, noNaN: true }), (from, size, at, factor) => {
      const span = clamped({ low: 100 + 100 * from, high: 100 + 100 * (from + size) }, bounds);
      for (const next of [zoomed(span, bounds, at, factor), panned(span, bounds, at * factor - 1)]) {
        assert.ok(next.low >= 100 && next.high <= 200 + 1e-9 && next.high > next.low);
      }
      if (factor < 1) return;
      const next = zoomed(span, bounds, at, factor);
      const before = span.low + at * (span.high - span.low);
      assert.ok(Math.abs(next.low + at * (next.high - next.low) - before) < 1e-6);
    }),
  );
});

test('a movement ends after 120 ms where it should', () => {
  const to = { span: { low: 5, high: 6 }, top: 40 };
  const movement = new Movement({ span: { low: 0, high: 10 }, top: 0 }, to, 1000);
  assert.ok(!movement.at(1119).ended);
  assert.deepEqual(movement.at(1120), { position: to, ended: true });
});

test('a key to a box out of sight brings it into sight', () => {
  let tree: Tree = { name: 'f', self: 1 };
  for (let depth = 0; depth < 300; depth++) tree = { name: 'f', self: 1, children: [tree] };
  const { navigation, screen } = opened(tree);
  for (let step = 0; step < 300; step++) {
    navigation.walk('down');
    const row = navigation.data!.layout.row(navigation.selected) * 20;
    assert.ok(row >= screen.top && row + 20 <= screen.top + screen.height);
  }
});

test('the next match is selected, round and round, within the focus', () => {
  const { navigation, data, place } = opened();
  const marks = Uint8Array.from(data.flame.labels, ({ text }) => +/a/.test(text));
  const names = [1, 2, 3, 4, 5].map(() => {
    navigation.selectMarked(marks, 1);
    return data.nameOf(navigation.selected);
  });
  assert.deepEqual(names, ['main', 'parse', 'load', 'read', 'main']);
  navigation.focus(place('main', 'load'));
  navigation.selectMarked(marks, 1);
  navigation.selectMarked(marks, 1);
  navigation.selectMarked(marks, 1);
  assert.equal(data.nameOf(navigation.selected), 'load');
});

test('a window around an item holds it', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.integer({ min: 1, max: 100 }), fc.nat(99), fc.integer({ min: 1, max: 30 }), (begin, count, at, most) => {
      const wanted = begin + (at % count);
      const [from, to] = windowAround(begin, begin + count, wanted, most);
      assert.ok(from <= wanted && wanted < to && to - from === Math.min(count, most) && from >= begin && to <= begin + count);
    }),
  );
});

/* SPDX-License-Identifier: MIT */
