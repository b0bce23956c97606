/* Where the boxes of a flame graph lie: the row of each box and its two ends. A box is a node of the answer, or some nodes
 * that follow one another in pre-order (chains.ts): it is as wide as the first of them.
 *
 * Boxes are renumbered by rows: a PLACE is the position of a box when the rows are read one after
 * the other from left to right. Two things follow, and the painter and the hit test rest on them:
 *   ROW ORDER  in a row, both ends of the boxes only grow with the place, so a search is binary;
 *   CHILDREN   the children of a place are neighbours, and those of the next place follow them.
 * So the cost of a question depends on the pixels that are asked for, not on the number of nodes.
 *
 * LINES. On the screen a row is a line. The root is on line 0, and its callees on the lines below it. Of one function
 * (state/halves.ts) the callers follow the callees: their rows come after those of the callees, and their lines are above
 * the root, with negative numbers. `gap` lines without boxes are then on both sides of the root. A parent stands before its
 * children in every order.
 *
 * Ends are in the unit of the data, from 0 to `total`. A child begins where its elder sibling ends;
 * what the node allocated itself is left free at its right end. Integers stay exact up to 2^53.
 *
 * Nothing here is recursive: stacks are thousands of frames deep. */

import type { Flame } from '../engine/answers.ts';
import { everyNode } from './chains.ts';

/** A position in row order. */
export type Place = number;
export const NOWHERE = -1;

export class Layout {
  readonly count: number;
  readonly total: number;
  /** The number of rows, and how many of them are callers of the root; the first place of those. */
  readonly rows: number;
  readonly up: number;
  readonly split: Place;
  /** By place: its first and its last node, its ends, its parent's place (of place 0: NOWHERE), its first child's place. */
  readonly node: Uint32Array;
  readonly last: Uint32Array;
  readonly left: Float64Array;
  readonly right: Float64Array;
  readonly parent: Int32Array;
  private readonly firstChild: Uint32Array;
  /** The first place of each row, and the number of places at the end. */
  readonly rowBegin: Uint32Array;
  /** By node: the place of its box. */
  readonly place: Uint32Array;

  /** `first`: the first nodes of the boxes, in pre-order; `callers`: the first node of the callers. */
  constructor(
    columns: Pick<Flame['columns'], 'next' | 'bytes'>,
    first = everyNode(columns.next.length),
    callers = columns.next.length,
    readonly gap = 0,
  ) {
    const { next, bytes } = columns;
    const count = first.length;
    this.count = count;
    const depth = new Uint32Array(count);
    const parentNode = new Int32Array(next.length).fill(NOWHERE);
    const turn = first.findIndex((node) => node >= callers);
    this.split = turn < 0 ? count : turn;
    const down = depthsOf(next, first, depth, parentNode, 0, this.split);
    this.up = Math.max(0, depthsOf(next, first, depth, parentNode, this.split, count) - 1);
    for (let box = this.split; box < count; box++) depth[box]! += down - 1;
    this.rows = down + this.up;
    this.rowBegin = rowsOf(depth, this.rows);
    this.node = new Uint32Array(count);
    this.last = new Uint32Array(count);
    this.place = new Uint32Array(next.length);
    const free = this.rowBegin.slice();
    for (let box = 0; box < count; box++) {
      const place = free[depth[box]!]!++;
      const end = first[box + 1] ?? next.length;
      this.node[place] = first[box]!;
      this.last[place] = end - 1;
      this.place.fill(place, first[box]!, end);
    }
    this.left = new Float64Array(count);
    this.right = new Float64Array(count);
    this.parent = new Int32Array(count);
    this.firstChild = new Uint32Array(count + 1);
    this.total = count > 0 ? Math.max(0, bytes[0]!) || 0 : 0;
    this.putRows(parentNode, bytes);
  }

  /** Fills the ends and the family of each place. A parent stands before its children in both orders. */
  private putRows(parentNode: Int32Array, bytes: Float64Array): void {
    const { count, split, node, place, left, right, parent, firstChild } = this;
    /* The end of the last child that has been put below each place. */
    const filled = new Float64Array(count);
    const children = new Uint32Array(count);
    if (count > 0) {
      parent[0] = NOWHERE;
      right[0] = this.total;
    }
    for (let at = 1; at < count; at++) {
      const above = place[parentNode[node[at]!]!]!;
      parent[at] = above;
      if (at === split) filled[0] = 0;
      if (at < split || above > 0) children[above]!++;
      const begin = filled[above]!;
      const size = Math.max(0, bytes[node[at]!]!) || 0;
      /* Sums of fractions may exceed the parent by a rounding error. */
      const end = Math.min(begin + size, right[above]!);
      left[at] = begin;
      right[at] = end;
      filled[at] = begin;
      filled[above] = end;
    }
    let child = count > 0 ? 1 : 0;
    for (let at = 0; at < count; at++) {
      if (at === split) child = this.rowBegin[this.down + 1]!;
      firstChild[at] = child;
      child += children[at]!;
    }
    firstChild[count] = count;
  }

  width(place: Place): number {
    return this.right[place]! - this.left[place]!;
  }

  /** The line of a row. */
  lineOf(row: number): number {
    const { down, gap } = this;
    return row === 0 ? 0 : row < down ? row + gap : down - 1 - row - gap;
  }

  /** The row on a line, or NOWHERE. */
  rowOn(line: number): number {
    const { down, up, gap } = this;
    const depth = Math.abs(line) - gap;
    if (line === 0) return 0;
    return depth < 1 || (line > 0 ? depth >= down : depth > up) ? NOWHERE : line > 0 ? depth : down - 1 + depth;
  }

  line(place: Place): number {
    return this.lineOf(this.row(place));
  }

  /** How many boxes are between it and the root, and one. */
  depth(place: Place): number {
    const line = Math.abs(this.line(place));
    return line && line - this.gap;
  }

  /** The number of rows from the root downwards. */
  get down(): number {
    return this.rows - this.up;
  }

  /** The range of the children of a place; `up`: of the callers of the root. */
  children(place: Place, up = false): [begin: Place, end: Place] {
    return [this.childBegin(place, up), this.childEnd(place, up)];
  }

  childBegin(place: Place, up = false): Place {
    return up && place === 0 ? this.split : this.firstChild[place]!;
  }

  childEnd(place: Place, up = false): Place {
    const { split } = this;
    if (up && place === 0) return this.up ? this.rowBegin[this.down + 1]! : split;
    return place + 1 === split ? split : this.firstChild[place + 1]!;
  }

  /** The range of the places that have the same parent, in the same half. */
  siblings(place: Place): [begin: Place, end: Place] {
    const parent = this.parent[place]!;
    return parent === NOWHERE ? [place, place + 1] : this.children(parent, this.isCaller(place));
  }

  /** Whether it is a caller of the root. */
  isCaller(place: Place): boolean {
    return place >= this.split;
  }

  row(place: Place): number {
    let low = 0;
    let high = this.rows;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.rowBegin[middle]! <= place) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The first of the places from `begin` to `end`, all of one row, whose box ends after `at`; else `end`. */
  firstAfter(begin: Place, end: Place, at: number): Place {
    /* Galloping: what is asked for is mostly near the beginning. */
    let step = 1;
    let low = begin;
    while (low + step < end && this.right[low + step]! <= at) {
      low += step;
      step *= 2;
    }
    let high = Math.min(end, low + step + 1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.right[middle]! > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The box of the row that covers `at`, or NOWHERE. */
  at(row: number, at: number): Place {
    if (row < 0 || row >= this.rows) return NOWHERE;
    const end = this.rowBegin[row + 1]!;
    const found = this.firstAfter(this.rowBegin[row]!, end, at);
    return found < end && this.left[found]! <= at ? found : NOWHERE;
  }

  /** Adds to `into` the places of the row that reach into [low, high) and are at least `least` wide. */
  wide(row: number, low: number, high: number, least: number, into: Place[]): void {
    if (row < 0 || row >= this.rows) return;
    const end = this.rowBegin[row + 1]!;
    let place = this.firstAfter(this.rowBegin[row]!, end, low);
    while (place < end && this.left[place]! < high) {
      if (this.width(place) >= least) into.push(place++);
      /* Boxes that end before this point are narrower than `least`. The search takes place + 1 at least. */
      else place = this.firstAfter(place + 1, end, this.left[place]! + least * 0.999);
    }
  }

  /** The ancestors of a place, from the root to its parent. */
  ancestors(place: Place): Place[] {
    const above: Place[] = [];
    for (let at = this.parent[place]!; at !== NOWHERE; at = this.parent[at]!) above.push(at);
    return above.reverse();
  }

  isWithin(place: Place, ancestor: Place): boolean {
    if (ancestor === 0) return true;
    let at = place;
    while (at > ancestor) at = this.parent[at]!;
    return at === ancestor;
  }
}

/** Fills depths by box, and by the first node of a box that of its parent, from the pre-order of the boxes from `begin` to
 *  `end`; returns the number of rows with that of the root. */
function depthsOf(next: Uint32Array, first: Uint32Array, depth: Uint32Array, parent: Int32Array, begin: number, end: number): number {
  const open: number[] = [];
  let rows = 0;
  for (let box = begin; box < end; box++) {
    const node = first[box]!;
    while (open.length > 0 && next[open[open.length - 1]!]! <= node) open.pop();
    /* The callers of the root begin so. A broken answer could have a second root: it counts as a child of the first. */
    if (open.length === 0 && node > 0) open.push(0);
    if (open.length > 0) parent[node] = open[open.length - 1]!;
    depth[box] = open.length;
    open.push(node);
    rows = Math.max(rows, open.length);
  }
  return rows;
}

function rowsOf(depth: Uint32Array, rows: number): Uint32Array {
  const begin = new Uint32Array(rows + 1);
  for (let node = 0; node < depth.length; node++) begin[depth[node]! + 1]!++;
  for (let row = 0; row < rows; row++) begin[row + 1]! += begin[row]!;
  return begin;
}

/* SPDX-License-Identifier: MIT */
