/* An answer made ready to draw: its layout, and by place what the painter asks of each box. */

import { CALLERS, focusIn, type Flame, type Label, NO_LABEL } from '../engine/answers.ts';
import { isRough } from '../numbers.ts';
import { paletteIn } from './colours.ts';
import { boxesOf, type Chain, endFrom, isOpen, keyOf, LEAST_CHAIN, type Open, textOf } from './chains.ts';
import { Layout, NOWHERE, type Place } from './layout.ts';
import { knownName } from './names.ts';

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

/** What boxes are to each other. */
export type Terms = Record<'caller' | 'callee' | 'callers' | 'callees' | 'noCallers' | 'noCallees' | 'frames' | 'unsure' | 'icicle' | 'inverted' | 'both' | 'upward', string>;

const CALLING: Terms = {
  caller: 'caller',
  callee: 'callee',
  callers: 'callers',
  callees: 'callees',
  noCallers: 'no callers',
  noCallees: 'no callees',
  frames: 'frames',
  unsure: ', not sure',
  icicle: 'callees below their callers',
  inverted: 'callers below their callees',
  both: 'callers of the function above it, callees below it',
  upward: 'callers above their callees',
};

/** A box as the page sees it. */
export interface FlameBox {
  /** The node's index in the answer. Of a folded chain the frame that is meant. */
  node: number;
  /** Of a folded chain: "11 frames: clone3 … handle_request". */
  name: string;
  /** The names of the frames of its chain, and whether that is open. */
  chain?: { frames: string[]; open: boolean };
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

/** A row outside of the answer: a caller that the answer's focus has, or a folded chain of them; of callers, a callee. */
export interface AboveRow {
  name: string;
  /** How long the path is that ends in it. */
  depth: number;
  /** Of a folded chain: its key. */
  key?: string;
}

const WHOLE = 'all';
const NO_NAME = '?';

/** "11 frames: clone3 … handle_request", of names in the order of their rows. */
function chainName(names: string[], frames: string): string {
  const known = names.map(knownName).filter((name) => name !== '');
  const ends = known.length > 1 ? `: ${known[0]} … ${known.at(-1)}` : known.length === 1 ? `: ${known[0]}` : '';
  return `${names.length} ${frames}${ends}`;
}

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
  /** The whole, then the callers that the answer's focus has. Of callers they are below the root. */
  readonly above: AboveRow[];
  /** The chains that are open. */
  private readonly open: Chain[];

  constructor(
    readonly flame: Flame,
    /** Of the whole query, in what widths are. An answer without a focus has it itself. */
    whole?: number,
    readonly width: Width = 'bytes',
    /** Records are missing: of a comparison, nothing is sure. */
    private readonly partial = false,
    private readonly opened: Open = null,
    readonly terms = CALLING,
  ) {
    const sizes = flame.columns[width];
    this.whole = whole ?? sizes[0] ?? 0;
    this.shareOf = whole === undefined && flame.trail.length > 0 ? 'focus' : 'whole';
    const { columns } = flame;
    const boxes = boxesOf(flame, this.rootPath, opened);
    this.open = boxes.open;
    this.layout = new Layout({ next: columns.next, bytes: sizes }, boxes.first, flame.halves?.callers, +(flame.halves?.of === 'both'));
    const { count, node, last } = this.layout;
    this.label = new Uint32Array(count);
    this.uncertain = new Uint8Array(count);
    for (let place = 0; place < count; place++) {
      const at = node[place]!;
      this.label[place] = last[place]! > at ? NO_LABEL : columns.label[at]!;
      if (!columns.change && isRough({ low: columns.low[at]!, high: columns.high[at]!, samples: columns.samples[at]! })) {
        this.uncertain[place] = 1;
      }
    }
    this.tone = columns.change ? this.tones() : null;
    this.above = this.rowsAbove();
  }

  /** Callers are folded as they are in the answer that has them as boxes. */
  private rowsAbove(): AboveRow[] {
    const path = this.trail;
    const { halves } = this.flame;
    if (path.length === 0 || halves?.of === 'both') return [];
    const { passing } = this.flame.columns;
    /* The one function is the whole, and in no chain. */
    const rows: AboveRow[] = halves ? [{ name: path[0]!, depth: 1 }] : [{ name: WHOLE, depth: 0 }];
    for (let depth = 1 + +!!halves; depth < path.length; ) {
      let end = depth;
      while (end < path.length && passing[end - 1] === 1) end++;
      const chain = end - depth >= LEAST_CHAIN ? this.endOf(end) : null;
      if (chain !== null && !isOpen(this.opened, chain)) {
        rows.push({ name: chainName(this.inRows(path.slice(depth - 1, end - 1), this.isUpward), this.terms.frames), depth: end - 1, key: keyOf(chain) });
        depth = end;
      } else for (end = Math.max(end, depth + 1); depth < end; depth++) rows.push({ name: path[depth - 1]!, depth });
    }
    return rows;
  }

  /** The path of the row, by its depth. */
  outer(depth: number): Path {
    return this.rootPath.slice(0, depth + this.rootPath.length - this.trail.length);
  }

  /** The end of the chain that ends at the caller of this depth, or goes on below the root. */
  private endOf(depth: number): Path {
    if (depth < this.trail.length) return this.outer(depth);
    return this.pathOfNode(endFrom(this.flame, 0, this.flame.columns.chain));
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

  /* Where things are on the screen. */

  /** The number of lines, and how many of them are above the root. */
  get lines(): number {
    return this.above.length + this.layout.rows + 2 * this.layout.gap;
  }

  get linesAbove(): number {
    const { up, gap } = this.layout;
    return up + gap + (this.isUpward ? 0 : this.above.length);
  }

  lineOfAbove(index: number): number {
    return this.isUpward ? this.above.length - index : index - this.above.length;
  }

  /** The index of the row outside of the answer that is on a line, or NOWHERE. */
  aboveOn(line: number): number {
    const index = this.above.length + (this.isUpward ? -line : line);
    return index >= 0 && index < this.above.length ? index : NOWHERE;
  }

  /** What is written beside the root, by line. */
  get captions(): [line: number, text: string][] {
    const { up, down, gap } = this.layout;
    const { terms } = this;
    return gap && this.layout.total > 0 ? [[-1, up ? `↑ ${terms.callers}` : terms.noCallers], [1, down > 1 ? `↓ ${terms.callees}` : terms.noCallees]] : [];
  }

  /** Whether all boxes are callers of the root, which is a caller of the one function itself. */
  private get isUpward(): boolean {
    return this.flame.halves?.of === 'callers';
  }

  /** Whether the box is a caller, or a callee, of the one function that is shown. */
  sideOf(place: Place): '' | 'caller' | 'callee' {
    const { halves } = this.flame;
    if (!halves || (halves.of === 'both' && place === 0)) return '';
    return this.isUpward || this.layout.isCaller(place) ? 'caller' : 'callee';
  }

  /** The one function that is shown; undefined: all are. */
  get function(): string | undefined {
    return this.flame.halves && (this.trail[0] ?? this.labelOf(0)?.text);
  }

  /** The path without its half. */
  private get trail(): Path {
    return this.flame.trail.map((label) => this.flame.labels[label]?.text ?? NO_NAME);
  }

  /** The path of the answer's root. */
  get rootPath(): Path {
    return this.isUpward ? [CALLERS, ...this.trail] : this.trail;
  }

  /** The focus that a path is. */
  focusOf(path: Path): Path {
    return this.flame.halves ? focusIn(path) : path;
  }

  /** The chain that the box is, or a frame of which it is. */
  chainOf(place: Place): Chain | null {
    const { node, last } = this.layout;
    const first = node[place]!;
    if (last[place]! > first) return { first, count: last[place]! - first + 1, open: false };
    return this.open.find((chain) => chain.first <= first && first < chain.first + chain.count) ?? null;
  }

  /** Whether the box is the first frame of a chain that is open. */
  begins(place: Place): boolean {
    return this.open.some(({ first }) => first === this.layout.node[place]);
  }

  keyOf({ first, count }: Chain): string {
    return keyOf(this.pathOfNode(first + count));
  }

  /** Names of frames from the one function outwards, in the order of their rows: those of callers go up. */
  private inRows(names: string[], isUp: boolean): string[] {
    return isUp ? names.reverse() : names;
  }

  private framesOf({ first, count }: Chain): string[] {
    const names = Array.from({ length: count }, (_, step) => textOf(this.flame, first + step));
    return this.inRows(names, this.sideOf(this.layout.place[first]!) === 'caller');
  }

  /** The innermost frame that has all that the chain has. */
  meant({ first, count }: Pick<Chain, 'first' | 'count'>): number {
    const { next } = this.flame.columns;
    let frame = first + count - 1;
    while (next[frame] !== next[first]) frame--;
    return frame;
  }

  /** The node of a box; of a folded chain, the frame that is meant where nothing else is said. */
  frameOf(place: Place): number {
    const { node, last } = this.layout;
    const first = node[place]!;
    return this.meant({ first, count: last[place]! - first + 1 });
  }

  merged(place: Place): number {
    return this.flame.columns.merged[this.layout.node[place]!]!;
  }

  size(place: Place): number {
    return this.flame.columns[this.width][this.layout.node[place]!]!;
  }

  /** Its part of what shares are taken of. */
  share(place: Place): number {
    return this.partOf(this.size(place));
  }

  private partOf(size: number): number {
    return this.whole > 0 ? size / this.whole : 0;
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
    const chain = this.chainOf(place);
    if (chain !== null && !chain.open) return chainName(this.framesOf(chain), this.terms.frames);
    return this.labelOf(place)?.text ?? NO_NAME;
  }

  pathOf(place: Place): Path {
    return this.pathOfNode(this.frameOf(place));
  }

  private pathOfNode(node: number): Path {
    const { layout, flame } = this;
    const place = layout.place[node]!;
    const path = this.layout.isCaller(place) ? [CALLERS, ...this.trail] : this.rootPath;
    const { next, merged } = flame.columns;
    for (const at of [...layout.ancestors(place), place]) {
      const end = Math.min(node, layout.last[at]!);
      for (let frame = layout.node[at]!; frame <= end; frame++) if (frame > 0 && next[frame]! > node && merged[frame] === 0) path.push(textOf(flame, frame));
    }
    return path;
  }

  /** The node of a path, or NOWHERE if this answer does not have it. */
  nodeOf(path: Path): number {
    const { halves, columns } = this.flame;
    const isBoth = halves?.of === 'both';
    const up = isBoth && path[0] === CALLERS;
    const root = up ? [CALLERS, ...this.trail] : this.rootPath;
    if (root.slice(0, path.length).some((name, index) => name !== path[index])) return NOWHERE;
    if (path.length < root.length) return isBoth ? 0 : NOWHERE;
    const { next, merged } = columns;
    let node = 0;
    for (const name of path.slice(root.length)) {
      let child = up && node === 0 ? halves!.callers : node + 1;
      const end = up && node === 0 ? next.length : next[node]!;
      while (child < end && (merged[child]! > 0 || textOf(this.flame, child) !== name)) child = next[child]!;
      if (child >= end) return NOWHERE;
      node = child;
    }
    return node;
  }

  /** The box of a path, or NOWHERE: that of the chain if the frame is in a folded one. */
  find(path: Path): Place {
    return this.layout.place[this.nodeOf(path)] ?? NOWHERE;
  }

  /** The hues of the boxes that have at least this width between two ends. */
  hues(low: number, high: number, least: number): Set<number | null> {
    const { left, right } = this.layout;
    const { byLabel } = paletteIn(this.flame);
    const labels = this.label.filter((_, place) => Math.min(right[place]!, high) - Math.max(left[place]!, low) >= least);
    return new Set(Array.from(labels, (label) => byLabel[label] ?? null));
  }

  /** The first frame of the box whose label has a mark; NOWHERE: none has. `marks`: by label. */
  marked(place: Place, marks: Uint8Array): number {
    const { node, last } = this.layout;
    for (let frame = node[place]!; frame <= last[place]!; frame++) if (marks[this.flame.columns.label[frame]!] === 1) return frame;
    return NOWHERE;
  }

  /** `node`: of a folded chain, the frame that is meant. */
  describe(place: Place, node = this.frameOf(place)): FlameBox {
    const chain = this.chainOf(place);
    const size = this.flame.columns[this.width][node]!;
    const { bytes, low, high, self, blocks, samples, merged } = this.flame.columns;
    return {
      node,
      name: this.nameOf(place),
      ...(chain && { chain: { frames: this.framesOf(chain), open: chain.open } }),
      label: this.flame.labels[this.flame.columns.label[node]!] ?? null,
      path: this.pathOfNode(node),
      size,
      bytes: bytes[node]!,
      low: low[node]!,
      high: high[node]!,
      self: self[node]!,
      blocks: blocks[node]!,
      samples: samples[node]!,
      merged: merged[node]!,
      uncertain: this.uncertain[place] === 1,
      share: this.partOf(size),
      shareOf: this.shareOf,
      level: this.above.length + this.layout.depth(place) + 1,
      compared: this.compared(node),
    };
  }
}

/* SPDX-License-Identifier: MIT */
