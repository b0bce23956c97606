/* Which box lies at a point, and which box an arrow key goes to. */

import { type Layout, NOWHERE, type Place } from './layout.ts';

/** How the graph is seen: its horizontal part in units of the layout, and how it lies on the canvas. */
export interface Lens {
  low: number;
  high: number;
  /** Width of the canvas, and how far the rows are scrolled up, in CSS pixels. */
  width: number;
  top: number;
  rowHeight: number;
  /** How many lines are above that of the root. */
  above: number;
}

export const valueAt = (lens: Lens, x: number): number => lens.low + (x / lens.width) * (lens.high - lens.low);
export const pixelAt = (lens: Lens, value: number): number =>
  ((value - lens.low) / (lens.high - lens.low)) * lens.width;
/** The line at a height; those above the root are negative. */
export const lineAt = (lens: Lens, y: number): number => Math.floor((y + lens.top) / lens.rowHeight) - lens.above;

/** The place at a point of the canvas. A box is hit if it is drawn or lies in a grey run, which is so if
 *  its parent is wide enough. */
export function hitTest(layout: Layout, lens: Lens, x: number, y: number, least = 0.7): Place {
  if (layout.count === 0 || x < 0 || x >= lens.width || lens.high <= lens.low) return NOWHERE;
  const place = layout.at(layout.rowOn(lineAt(lens, y)), valueAt(lens, x));
  if (place <= 0) return place;
  const parentWidth = (layout.width(layout.parent[place]!) / (lens.high - lens.low)) * lens.width;
  return parentWidth >= least ? place : NOWHERE;
}

/** The next box of the same row on that side, however narrow; NOWHERE at the end. */
export function besides(layout: Layout, place: Place, side: -1 | 1): Place {
  const row = layout.row(place);
  const other = place + side;
  return other >= layout.rowBegin[row]! && other < layout.rowBegin[row + 1]! ? other : NOWHERE;
}

/** Whether a line is not of the focus: between it and the root, or in the other half. */
export const isOutside = (line: number, focus: number): boolean => (focus > 0 ? line < focus : focus < 0 && line > focus);

/** The child that covers the value, so that one way leads back where the other came from; else the largest child. `up`: the
 *  caller of the root. */
export function below(layout: Layout, place: Place, value: number, up = false): Place {
  const [begin, end] = layout.children(place, up);
  if (begin === end) return NOWHERE;
  const found = layout.firstAfter(begin, end, value);
  return found < end && layout.left[found]! <= value ? found : begin;
}

/* SPDX-License-Identifier: MIT */
