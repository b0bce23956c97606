/* What of a layout is to be seen through a view: boxes of some width, and grey runs for the rest.
 *
 * The rows are walked downwards. The children of a box are looked at only if the box is wide enough
 * to be drawn, so what lies below a narrow box never costs anything. */

import type { Layout, Place } from './layout.ts';

/** A part of the graph: the ends in units of the layout, rows from `first` up to `end`. */
export interface Window {
  low: number;
  high: number;
  first: number;
  end: number;
}

function grown<T extends Float64Array | Int32Array>(array: T): T {
  const larger = new (array.constructor as { new (length: number): T })(array.length * 2);
  larger.set(array as never);
  return larger;
}

/** The lists are kept from one drawing to the next, so that drawing leaves no garbage. */
export class Scene {
  boxes = 0;
  boxPlace = new Int32Array(4096);
  boxRow = new Int32Array(4096);
  runs = 0;
  runRow = new Int32Array(1024);
  runLeft = new Float64Array(1024);
  runRight = new Float64Array(1024);

  private frontier: Place[] = [];
  private above: Place[] = [];

  /** Fills the lists with what the window shows. Boxes narrower than `least` become runs. */
  look(layout: Layout, window: Window, least: number): void {
    this.boxes = 0;
    this.runs = 0;
    const { low, high, first } = window;
    const end = Math.min(window.end, layout.rows);
    if (first >= end || layout.total <= 0) return;
    this.frontier.length = 0;
    if (first === 0) {
      this.addBox(0, 0);
      this.frontier.push(0);
    } else {
      layout.wide(first - 1, low, high, least, this.frontier);
    }
    for (let row = Math.max(1, first); row < end && this.frontier.length > 0; row++) {
      [this.above, this.frontier] = [this.frontier, this.above];
      this.frontier.length = 0;
      for (const parent of this.above) this.addChildren(layout, parent, row, low, high, least);
    }
  }

  private addChildren(layout: Layout, parent: Place, row: number, low: number, high: number, least: number): void {
    const { left, right, firstChild } = layout;
    const end = firstChild[parent + 1]!;
    let place = firstChild[parent]!;
    if (place < end && right[place]! <= low) place = layout.firstAfter(place, end, low);
    while (place < end && left[place]! < high) {
      const begin = left[place]!;
      if (right[place]! - begin >= least) {
        this.addBox(place, row);
        this.frontier.push(place++);
      } else {
        place = layout.firstAfter(place + 1, end, begin + least * 0.999);
        this.addRun(row, begin, right[place - 1]!);
      }
    }
  }

  private addBox(place: Place, row: number): void {
    if (this.boxes === this.boxPlace.length) {
      this.boxPlace = grown(this.boxPlace);
      this.boxRow = grown(this.boxRow);
    }
    this.boxPlace[this.boxes] = place;
    this.boxRow[this.boxes++] = row;
  }

  private addRun(row: number, left: number, right: number): void {
    const last = this.runs - 1;
    if (last >= 0 && this.runRow[last] === row && this.runRight[last] === left) {
      this.runRight[last] = right;
      return;
    }
    if (this.runs === this.runRow.length) {
      this.runRow = grown(this.runRow);
      this.runLeft = grown(this.runLeft);
      this.runRight = grown(this.runRight);
    }
    this.runRow[this.runs] = row;
    this.runLeft[this.runs] = left;
    this.runRight[this.runs++] = right;
  }
}

/* SPDX-License-Identifier: MIT */
