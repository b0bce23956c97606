/* Colours: one hue for a group of code everywhere, and text that can be read on all of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Flame, type Label, NO_LABEL } from '../../src/engine/answers.ts';
import { changeFill, contrast, groupName, groupOf, hueFill, hueIn, HUES, keepHues, mix, oklch, paletteIn, pixelOf, type Rgb, schemeOf } from '../../src/flame/colours.ts';
import { dimmedFill, fadedFill, hoveredFill, paletteOf } from '../../src/flame/theme.ts';

const PAGES: { background: Rgb; text: Rgb }[] = [
  { background: [255, 255, 255], text: [27, 31, 36] },
  { background: [250, 249, 246], text: [0, 0, 0] },
  { background: [21, 23, 26], text: [230, 232, 235] },
  { background: [0, 0, 0], text: [255, 255, 255] },
];

test('text has a contrast of 4.5 on all fills and states of both themes', () => {
  for (const { background, text } of PAGES) {
    const theme = paletteOf(background, text);
    const scheme = schemeOf(background);
    for (let index = 0; index < 2000; index++) {
      const fill = hueFill((index * 7) % 360, scheme, index % 3);
      const states: [string, Rgb, Rgb][] = [
        ['fill', fill, text],
        ['number', fill, theme.muted],
        ['hovered', hoveredFill(fill, theme), text],
        ['number, hovered', hoveredFill(fill, theme), theme.muted],
        ['faded', fadedFill(fill, theme), theme.faded],
        ['dimmed', dimmedFill(fill, theme), theme.muted],
        ['faded and hovered', hoveredFill(fadedFill(fill, theme), theme), theme.muted],
        ['hatched', mix(fill, background, 0.55), theme.muted],
        ['change', changeFill((index - 1000) / 1000, scheme), text],
        ['rest', theme.rest, theme.muted],
      ];
      for (const [state, under, over] of states) {
        assert.ok(contrast(under, over) >= 4.5, `${scheme}, ${state}, ${index}: ${contrast(under, over)}`);
      }
    }
  }
});

/** How far apart two colours are in OKLab: from 0.02 on an eye tells them apart beside each other. */
function difference(one: Rgb, other: Rgb): number {
  const lab = (colour: Rgb): number[] => {
    const [red, green, blue] = colour.map((part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    const [long, medium, short] = [
      Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue),
      Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue),
      Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue),
    ] as [number, number, number];
    return [
      0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
      1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
      0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
    ];
  };
  const [from, to] = [lab(one), lab(other)];
  return Math.hypot(...from.map((part, index) => part - to[index]!));
}

test('any two fills of a graph are told apart, of one group and of two, in light and dark', () => {
  const names = 'abcdefgh'.split('');
  const hues = [...paletteIn(graphOf(names.map((name, index) => [name, 100 - index]))).hued.map(({ hue }) => hue), null];
  assert.equal(new Set(hues).size, HUES + 1);
  for (const scheme of ['light', 'dark'] as const) {
    const fills = hues.flatMap((hue) => [0, 1, 2].map((shade) => ({ name: `${hue}, ${shade}`, fill: hueFill(hue, scheme, shade) })));
    for (const [place, one] of fills.entries())
      for (const other of fills.slice(0, place)) assert.ok(difference(one.fill, other.fill) >= 0.03, `${scheme}: ${one.name} and ${other.name}: ${difference(one.fill, other.fill)}`);
  }
});

test('a function has another shade than what calls it and what stands before it, where it stands first', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.nat(4)), { minLength: 1, maxLength: 60 }), (boxes) => {
      /* Depths grow by one at most. */
      const depths: number[] = [0];
      for (const [, depth] of boxes) depths.push(Math.min(depth + 1, depths.at(-1)! + 1));
      const next = depths.map((depth, node) => {
        const end = depths.findIndex((other, at) => at > node && other <= depth);
        return end < 0 ? depths.length : end;
      });
      const labelled = [NO_LABEL, ...boxes.map(([of]) => of)];
      const labels = [0, 1, 2, 3, 4, 5].map((of) => label(`f${of}`, 'server', 'a.c'));
      const { shades } = paletteIn({ labels, trail: [], columns: { next: Uint32Array.from(next), label: Uint32Array.from(labelled), bytes: new Float64Array(depths.length).fill(1) } } as unknown as Flame);
      for (let node = 1; node < depths.length; node++) {
        const of = labelled[node]!;
        if (labelled.indexOf(of) < node) continue;
        const above = depths.findLastIndex((depth, at) => at < node && depth < depths[node]!);
        const before = depths.findLastIndex((depth, at) => at > above && at < node && depth === depths[node]!);
        for (const beside of [above, before]) if (beside > 0) assert.notEqual(shades[of], shades[labelled[beside]!], JSON.stringify(boxes));
      }
    }),
  );
});

test('the frames of selected boxes and of matches have a contrast of 3 to their fills', () => {
  for (const { background, text } of PAGES) {
    const theme = paletteOf(background, text);
    for (let index = 0; index < 500; index++) {
      const fill = hueFill(index, schemeOf(background));
      assert.ok(contrast(fill, theme.selected) >= 3);
      assert.ok(contrast(fill, theme.match) >= 3);
    }
  }
});

const label = (name: string, module: string, file = ''): Label => ({ text: name, function: name, module, file, line: 0 });
const groupText = (one: Label) => {
  const group = groupOf(one);
  return group && `${group.kind} ${group.name}`;
};

test('code of a library is of its module, without its folder and version', () => {
  for (const module of ['/usr/lib/x86_64-linux-gnu/libxml2.so.2.9.14', 'libxml2.so.2']) assert.equal(groupText(label('xml::parse', module, 'parser.c')), 'module libxml2');
  assert.equal(groupText(label('f', '[anon]')), 'module [anon]');
});

test('code of the program is of its namespace, else of its file', () => {
  for (const [name, group] of [
    ['Http::Parser::parse(char const*)', 'Http'],
    ['std::vector<Http::Row, std::allocator<Http::Row> >::push_back', 'std'],
    ['void Store::fill<std::map<int, a::b> >(std::string const&)', 'Store'],
    ['<alloc::vec::Vec<T> as core::clone::Clone>::clone', 'alloc'],
    ['::top::f', 'top'],
  ] as const)
    assert.equal(groupText(label(name, 'server', 'server.cc')), `namespace ${group}`, name);
  for (const name of ['main', 'f(std::string)', 'g<a::b>', 'std'.repeat(1000)]) assert.equal(groupText(label(name, 'server', 'src/main.c')), 'file src/main.c', name.slice(0, 20));
  assert.equal(groupText(label('main', '/opt/server-1.2')), 'module server');
  for (const module of ['', '[ocaml]']) assert.equal(groupText(label('Eval.run', module, 'lib/eval.ml')), 'file lib/eval.ml');
});

test('frames of the runtime and of the kernel are grey', () => {
  for (const module of ['libc.so.6', '/lib/libc.so.6', 'ld-linux-x86-64.so.2', 'libstdc++.so.6.0.30', '[vdso]', '[kernel.kallsyms]', '']) assert.equal(groupOf(label('f', module)), null, module);
  for (const module of ['libcache.so', 'libmath.so', 'libcurl.so.4', 'libdlib.so']) assert.notEqual(groupOf(label('f', module)), null, module);
  const [red, green, blue] = hueFill(null, 'light');
  assert.ok(Math.max(red, green, blue) - Math.min(red, green, blue) <= 8);
});

/** A graph with one box for each of these groups, one below the whole for each. */
function graphOf(boxes: [name: string, bytes: number][]): Flame {
  const labels = boxes.map(([name]) => label('f', `libq${name}.so.1`));
  const sizes = [boxes.reduce((sum, [, bytes]) => sum + bytes, 0), ...boxes.map(([, bytes]) => bytes)];
  return { labels, trail: [], columns: { next: Uint32Array.from(sizes, (_, node) => (node ? node + 1 : sizes.length)), label: Uint32Array.from([NO_LABEL, ...labels.keys()]), bytes: Float64Array.from(sizes) } } as unknown as Flame;
}

const apart = (one: number, other: number) => Math.abs(((one - other + 540) % 360) - 180);

test('the eight largest groups of a graph have hues that are told apart; the others are grey', () => {
  const boxes = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), fc.integer({ min: 1, max: 1000 })), { selector: ([name]) => name, minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(boxes, (all) => {
      const { hued, byLabel } = paletteIn(graphOf(all));
      const sizes = all.map(([, bytes]) => bytes).sort((one, other) => other - one);
      assert.deepEqual(hued.map(({ part }) => Math.round(part * sizes.reduce((sum, size) => sum + size))), sizes.slice(0, HUES));
      for (const [place, { hue }] of hued.entries()) for (const { hue: other } of hued.slice(0, place)) assert.ok(apart(hue, other) >= 360 / HUES, `${hue} ${other}`);
      assert.equal(byLabel.filter((hue) => hue !== null).length, Math.min(HUES, all.length));
    }),
  );
});

test('the groups of the graph that a recording opens with have their hues in every graph', () => {
  const names = 'abcdefghijkl'.split('');
  const first = graphOf(names.map((name, index) => [name, 100 - index]));
  keepHues(first);
  const hues = new Map(paletteIn(first).hued.map(({ group, hue }) => [groupName(group), hue]));
  for (let turn = 0; turn < names.length; turn++) {
    const graph = graphOf([...names.slice(turn), 'new', ...names.slice(0, turn)].map((name, index) => [name, 100 - index]));
    for (const { group, hue, label } of paletteIn(graph).hued) {
      assert.equal(hue, hues.get(groupName(group)) ?? hue);
      assert.equal(hueIn(graph, label), hue);
    }
  }
  assert.equal(hueIn(null, first.labels[2]!), hues.get('libqc'));
  keepHues(graphOf([]));
});

test('a change that is sure is never pale', () => {
  const saturation = (colour: Rgb) => Math.max(...colour) - Math.min(...colour);
  for (const scheme of ['light', 'dark'] as const)
    for (const change of [-1, -0.5, -0.01, 0.01, 0.5, 1]) assert.ok(saturation(changeFill(change, scheme)) > 3 * saturation(changeFill(0, scheme)) + 15, `${scheme} ${change}`);
});

test('a colour that sRGB cannot show loses chroma, not lightness', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.2, max: 0.95, noNaN: true }), fc.double({ min: 0, max: 360, noNaN: true }), (lightness, hue) => {
      const grey = oklch(lightness, 0, 0);
      const colour = oklch(lightness, 0.4, hue);
      /* Equal lightness in OKLCH is near to equal luminance. */
      assert.ok(contrast(grey, colour) < 1.9);
      assert.ok(colour.every((part) => part >= 0 && part <= 255));
    }),
  );
  assert.deepEqual(oklch(1, 0, 0), [255, 255, 255]);
  assert.deepEqual(oklch(0, 0, 0), [0, 0, 0]);
  assert.deepEqual(oklch(0.627955, 0.257683, 29.2339), [255, 0, 0]);
});

test('less is blue, more is orange, and no change is grey', () => {
  const [red, , blue] = changeFill(-1, 'light');
  assert.ok(blue > red);
  const [more, , less] = changeFill(1, 'light');
  assert.ok(more > less);
  const [a, b, c] = changeFill(0, 'light');
  assert.ok(Math.max(a, b, c) - Math.min(a, b, c) <= 8);
});

test('pixels are in the order of ImageData', () => {
  const bytes = new Uint8Array(Uint32Array.of(pixelOf([1, 2, 3])).buffer);
  assert.deepEqual([...bytes], [1, 2, 3, 255]);
});

/* SPDX-License-Identifier: MIT */
