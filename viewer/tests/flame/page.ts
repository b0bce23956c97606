/* The page of the browser's tests: a flame graph alone, which the test drives by `window.flame`. */

import type { FlameBox, FlameView } from '../../src/flame/flame.ts';
import { FlameGraph } from '../../src/flame/flame.ts';
import { flameOf, largeFlame, type Tree, words } from './examples.ts';

declare global {
  interface Window {
    flame: FlameGraph;
    flameEvents: { name: string; value: unknown }[];
    drawTimes: number[];
    flameOf: typeof flameOf;
    largeFlame: typeof largeFlame;
    showTree(tree: Tree, trail?: string[], whole?: number): void;
  }
}

const host = document.getElementById('host')!;
window.flameEvents = [];
window.drawTimes = [];
window.flameOf = flameOf;
window.largeFlame = largeFlame;
const tell = (name: string) => (value: unknown) => void window.flameEvents.push({ name, value });
window.flame = new FlameGraph(
  host,
  {
    onSelect: tell('select') as (box: FlameBox | null) => void,
    onFocus: tell('focus'),
    onHover: tell('hover'),
    onMenu: (box, point) => void window.flameEvents.push({ name: 'menu', value: { box, point } }),
    onView: tell('view') as (view: FlameView) => void,
    onDraw: (milliseconds) => void window.drawTimes.push(milliseconds),
  },
  words,
);
window.showTree = (tree, trail = [], whole) =>
  window.flame.setData(flameOf(tree, trail), { mode: 'icicle', ...(whole === undefined ? {} : { whole }) });

/* SPDX-License-Identifier: MIT */
