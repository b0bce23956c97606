/* What of a layout is to be seen through a view: boxes of some width, and grey runs for the rest.
 *
 * The rows are walked from the root on. The children of a box are looked at only if the box is wide enough
 * to be drawn, so what lies beyond a narrow box never costs anything. */

import type { Layout, Place } from './layout.ts';

/** A part of the graph: the ends in units of the layout, lines from `first` up to `end`. */
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
  boxLine = new Int32Array(4096);
  runs = 0;
  runLine = new Int32Array(1024);
  runLeft = new Float64Array(1024);
  runRight = new Float64Array(1024);

  private frontier: Place[] = [];
  private above: Place[] = [];

  /** Fills the lists with what the window shows. Boxes narrower than `least` become runs. */
  look(layout: Layout, window: Window, least: number): void {
    this.boxes = 0;
    this.runs = 0;
    if (layout.total <= 0) return;
    const { down, up, gap } = layout;
    const { first, end } = window;
    if (first <= 0 && end > 0) this.addBox(0, 0);
    this.walk(layout, window, least, Math.max(1, first - gap), Math.min(down, end - gap));
    this.walk(layout, window, least, down + Math.max(0, -end - gap), down + Math.min(up, -first - gap));
  }

  /** Adds what is seen of these rows, which are callees, or callers, of the root. */
  private walk(layout: Layout, { low, high }: Window, least: number, first: number, end: number): void {
    if (first >= end) return;
    this.frontier.length = 0;
    const isCallers = first >= layout.down;
    if (first === 1 || first === layout.down) this.frontier.push(0);
    else layout.wide(first - 1, low, high, least, this.frontier);
    for (let row = first; row < end && this.frontier.length > 0; row++) {
      [this.above, this.frontier] = [this.frontier, this.above];
      this.frontier.length = 0;
      for (const parent of this.above) this.addChildren(layout, parent, isCallers, layout.lineOf(row), low, high, least);
    }
  }

  private addChildren(layout: Layout, parent: Place, up: boolean, line: number, low: number, high: number, least: number): void {
    const { left, right } = layout;
    const end = layout.childEnd(parent, up);
    let place = layout.childBegin(parent, up);
    if (place < end && right[place]! <= low) place = layout.firstAfter(place, end, low);
    while (place < end && left[place]! < high) {
      const begin = left[place]!;
      if (right[place]! - begin >= least) {
        this.addBox(place, line);
        this.frontier.push(place++);
      } else {
        place = layout.firstAfter(place + 1, end, begin + least * 0.999);
        this.addRun(line, begin, right[place - 1]!);
      }
    }
  }

  private addBox(place: Place, line: number): void {
    if (this.boxes === this.boxPlace.length) {
      this.boxPlace = grown(this.boxPlace);
      this.boxLine = grown(this.boxLine);
    }
    this.boxPlace[this.boxes] = place;
    this.boxLine[this.boxes++] = line;
  }

  private addRun(line: number, left: number, right: number): void {
    const last = this.runs - 1;
    if (last >= 0 && this.runLine[last] === line && this.runRight[last] === left) {
      this.runRight[last] = right;
      return;
    }
    if (this.runs === this.runLine.length) {
      this.runLine = grown(this.runLine);
      this.runLeft = grown(this.runLeft);
      this.runRight = grown(this.runRight);
    }
    this.runLine[this.runs] = line;
    this.runLeft[this.runs] = left;
    this.runRight[this.runs++] = right;
  }
}

/* SPDX-License-Identifier: MIT */
