/* Colours: one hue for a module everywhere, and text that can be read on all of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changeFill, contrast, hueOf, mix, moduleFill, oklch, pixelOf, type Rgb, schemeOf } from '../../src/flame/colours.ts';
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
      const fill = moduleFill(`lib${index}.so`, scheme, `f${index}`);
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
        assert.ok(contrast(under, over) >= 4.5, `${scheme}, ${state}, lib${index}: ${contrast(under, over)}`);
      }
    }
  }
});

test('the frames of selected boxes and of matches have a contrast of 3 to their fills', () => {
  for (const { background, text } of PAGES) {
    const theme = paletteOf(background, text);
    for (let index = 0; index < 500; index++) {
      const fill = moduleFill(`lib${index}.so`, schemeOf(background));
      assert.ok(contrast(fill, theme.selected) >= 3);
      assert.ok(contrast(fill, theme.match) >= 3);
    }
  }
});

test('the hue is of the file alone: not of its folder, not of its version', () => {
  assert.equal(hueOf('/usr/lib/x86_64-linux-gnu/libxml2.so.2.9.14'), hueOf('libxml2.so.2'));
  assert.equal(hueOf('/opt/app/server'), hueOf('server'));
  assert.notEqual(hueOf('libxml2.so.2'), hueOf('libxslt.so.1'));
});

test('frames of the runtime and of the kernel are grey', () => {
  for (const module of ['libc.so.6', '/lib/libc.so.6', 'ld-linux-x86-64.so.2', 'libstdc++.so.6.0.30', '[vdso]', '[kernel.kallsyms]', '']) {
    assert.equal(hueOf(module), null, module);
    const [red, green, blue] = moduleFill(module, 'light');
    assert.ok(Math.max(red, green, blue) - Math.min(red, green, blue) <= 8, module);
  }
  for (const module of ['libcache.so', 'libmath.so', 'libcurl.so.4', 'libdlib.so']) assert.notEqual(hueOf(module), null, module);
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
