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
  /** Rows above the layout's first: names without boxes. */
  above: number;
}

export const valueAt = (lens: Lens, x: number): number => lens.low + (x / lens.width) * (lens.high - lens.low);
export const pixelAt = (lens: Lens, value: number): number =>
  ((value - lens.low) / (lens.high - lens.low)) * lens.width;
/** The row at a height, counted from the layout's first; rows above it are negative. */
export const rowAt = (lens: Lens, y: number): number => Math.floor((y + lens.top) / lens.rowHeight) - lens.above;

/** The place at a point of the canvas. A box is hit if it is drawn or lies in a grey run, which is so if
 *  its parent is wide enough. */
export function hitTest(layout: Layout, lens: Lens, x: number, y: number, least = 0.7): Place {
  if (layout.count === 0 || x < 0 || x >= lens.width || lens.high <= lens.low) return NOWHERE;
  const row = rowAt(lens, y);
  const place = layout.at(row, valueAt(lens, x));
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

/** The child that covers the value, so that down leads back where up came from; else the largest child. */
export function below(layout: Layout, place: Place, value: number): Place {
  const begin = layout.firstChild[place]!;
  const end = layout.firstChild[place + 1]!;
  if (begin === end) return NOWHERE;
  const found = layout.firstAfter(begin, end, value);
  return found < end && layout.left[found]! <= value ? found : begin;
}

/* SPDX-License-Identifier: MIT */
