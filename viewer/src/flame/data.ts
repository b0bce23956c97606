/* An answer made ready to draw: its layout, and by place what the painter asks of each box. */

import { type Flame, type Label, NO_LABEL } from '../engine/answers.ts';
import { isRough } from '../numbers.ts';
import { Layout, NOWHERE, type Place } from './layout.ts';

/** Between the labels of a path, as in the request's `focus`. */
export const PATH_SEPARATOR = '\u001f';
export type Path = string[];

/** Formats of numbers, given by the page so that all its parts write them alike. */
export interface Words {
  /** "188 MB", or a number of calls. */
  amount(value: number, unit: Flame['unit'] | 'blocks'): string;
  /** "±2 %"; empty if there is nothing to say. */
  error(value: number, low: number, high: number): string;
  /** "23 %" of 0.23. */
  share(part: number): string;
  /** "1,234" */
  count(value: number): string;
  /** "+2.2 MB" */
  change(value: number): string;
}

/** A box as the page sees it. */
export interface FlameBox {
  /** The node's index in the answer. */
  node: number;
  name: string;
  label: Label | null;
  /** Texts of labels from the outermost function down to this one: what `focus` of a request takes. */
  path: Path;
  /** What its width stands for: bytes or blocks. */
  size: number;
  bytes: number;
  low: number;
  high: number;
  self: number;
  blocks: number;
  samples: number;
  /** How many nodes this one stands for; 0: it is one itself. */
  merged: number;
  uncertain: boolean;
  /** Its part of the whole of the query, or of the answer's focus if the whole is not known. */
  share: number;
  shareOf: 'whole' | 'focus';
  /** 1 for the whole. */
  level: number;
  /** Of a comparison; `low` to `high` is the interval of `change` then. */
  compared?: { before: number; after: number; change: number; sure: boolean };
}

/** Tones of a comparison's boxes: from −TONES, all is gone, over 0, not sure, to TONES, all is new. */
export const TONES = 4;

function toneOf(before: number, after: number, sure: boolean): number {
  if (!sure || before + after <= 0) return 0;
  const part = (after - before) / (after + before);
  return Math.sign(part) * Math.max(1, Math.round(TONES * Math.abs(part)));
}

/** What the widths of boxes are. */
export type Width = 'bytes' | 'blocks';

const WHOLE = 'all';
const NO_NAME = '?';

export class FlameData {
  readonly layout: Layout;
  /** Bytes or blocks of which shares are taken. */
  readonly whole: number;
  readonly shareOf: 'whole' | 'focus';
  /** By place: the label (or NO_LABEL), and whether the box is uncertain. */
  readonly label: Uint32Array;
  readonly uncertain: Uint8Array;
  /** By place: the tone of a comparison; null: nothing is compared. */
  readonly tone: Int8Array | null;
  /** Names of the rows above the root: the whole, then the callers that the answer's focus has. */
  readonly above: string[];

  constructor(
    readonly flame: Flame,
    /** Of the whole query, in what widths are. An answer without a focus has it itself. */
    whole?: number,
    readonly width: Width = 'bytes',
    /** Records are missing: of a comparison, nothing is sure. */
    private readonly partial = false,
  ) {
    const sizes = flame.columns[width];
    this.whole = whole ?? sizes[0] ?? 0;
    this.shareOf = whole === undefined && flame.trail.length > 0 ? 'focus' : 'whole';
    const { columns } = flame;
    this.layout = new Layout({ next: columns.next, bytes: sizes });
    const { count, node } = this.layout;
    this.label = new Uint32Array(count);
    this.uncertain = new Uint8Array(count);
    for (let place = 0; place < count; place++) {
      const at = node[place]!;
      this.label[place] = columns.label[at]!;
      if (!columns.change && isRough({ low: columns.low[at]!, high: columns.high[at]!, samples: columns.samples[at]! })) {
        this.uncertain[place] = 1;
      }
    }
    this.tone = columns.change ? this.tones() : null;
    const callers = flame.trail.map((label) => flame.labels[label]?.text ?? NO_NAME);
    this.above = callers.length > 0 ? [WHOLE, ...callers.slice(0, -1)] : [];
  }

  private tones(): Int8Array {
    const { before, after } = this.flame.columns;
    return Int8Array.from(this.layout.node, (node) => toneOf(before![node]!, after![node]!, this.isSure(node)));
  }

  private isSure(node: number): boolean {
    const { low, high } = this.flame.columns;
    return !this.partial && (low[node]! > 0 || high[node]! < 0);
  }

  /** The change of a box; undefined: nothing is compared. */
  change(place: Place): number | undefined {
    return this.flame.columns.change?.[this.layout.node[place]!];
  }

  private compared(node: number): FlameBox['compared'] {
    const { before, after, change } = this.flame.columns;
    return change && { before: before![node]!, after: after![node]!, change: change[node]!, sure: this.isSure(node) };
  }

  /** The path of the answer's root. */
  get rootPath(): Path {
    return this.flame.trail.map((label) => this.flame.labels[label]?.text ?? NO_NAME);
  }

  merged(place: Place): number {
    return this.flame.columns.merged[this.layout.node[place]!]!;
  }

  size(place: Place): number {
    return this.flame.columns[this.width][this.layout.node[place]!]!;
  }

  /** Its part of what shares are taken of. */
  share(place: Place): number {
    return this.whole > 0 ? this.size(place) / this.whole : 0;
  }

  /** Of what the sizes are. */
  get unit(): Flame['unit'] | 'blocks' {
    return this.width === 'blocks' ? 'blocks' : this.flame.unit;
  }

  labelOf(place: Place): Label | null {
    const label = this.label[place]!;
    return label === NO_LABEL ? null : (this.flame.labels[label] ?? null);
  }

  /** The name as it is known; the root of everything is "all". */
  nameOf(place: Place): string {
    if (place === 0) return this.rootPath.at(-1) ?? this.labelOf(0)?.text ?? WHOLE;
    return this.labelOf(place)?.text ?? NO_NAME;
  }

  pathOf(place: Place): Path {
    if (place === 0) return this.rootPath;
    const own = [...this.layout.ancestors(place), place].filter((at) => at !== 0 && this.merged(at) === 0);
    return [...this.rootPath, ...own.map((at) => this.nameOf(at))];
  }

  /** The box of a path, or NOWHERE if this answer does not have it. */
  find(path: Path): Place {
    const root = this.rootPath;
    if (path.length < root.length || root.some((name, index) => name !== path[index])) return NOWHERE;
    const { firstChild } = this.layout;
    let place: Place = 0;
    for (const name of path.slice(root.length)) {
      let child = firstChild[place]!;
      const end = firstChild[place + 1]!;
      while (child < end && (this.merged(child) > 0 || this.nameOf(child) !== name)) child++;
      if (child === end) return NOWHERE;
      place = child;
    }
    return place;
  }

  describe(place: Place): FlameBox {
    const node = this.layout.node[place]!;
    const { bytes, low, high, self, blocks, samples, merged } = this.flame.columns;
    return {
      node,
      name: this.nameOf(place),
      label: this.labelOf(place),
      path: this.pathOf(place),
      size: this.size(place),
      bytes: bytes[node]!,
      low: low[node]!,
      high: high[node]!,
      self: self[node]!,
      blocks: blocks[node]!,
      samples: samples[node]!,
      merged: merged[node]!,
      uncertain: this.uncertain[place] === 1,
      share: this.share(place),
      shareOf: this.shareOf,
      level: this.above.length + this.layout.row(place) + 1,
      compared: this.compared(node),
    };
  }
}

/* SPDX-License-Identifier: MIT */
