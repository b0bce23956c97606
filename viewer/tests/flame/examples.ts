/* Answers to test with: made from trees, from random numbers, and from a file of a real report. */

import { type Flame, type Label, NO_LABEL } from '../../src/engine/answers.ts';
import type { Words } from '../../src/flame/data.ts';

export interface Tree {
  name: string;
  module?: string;
  /** Bytes that the node allocated itself. */
  self?: number;
  /** Half the width of the interval, as a part of the value; 0.02 if undefined. */
  error?: number;
  samples?: number;
  /** It stands for so many merged nodes. */
  merged?: number;
  children?: Tree[];
}

export const total = (tree: Tree): number => (tree.self ?? 0) + (tree.children ?? []).reduce((sum, child) => sum + total(child), 0);

/** The answer that the engine would give for the tree. Not recursive over depth: trees may be deep. */
export function flameOf(tree: Tree, trail: string[] = []): Flame {
  const labels: Label[] = [];
  const known = new Map<string, number>();
  const labelOf = (text: string, module = 'app') => {
    const key = `${module} ${text}`;
    let label = known.get(key);
    if (label === undefined) {
      known.set(key, (label = labels.length));
      labels.push({ text, function: text, module, file: '', line: 0 });
    }
    return label;
  };
  const rows: { tree: Tree; parent: number }[] = [];
  const open: { tree: Tree; parent: number }[] = [{ tree, parent: -1 }];
  while (open.length > 0) {
    const item = open.pop()!;
    const at = rows.push(item) - 1;
    for (const child of [...(item.tree.children ?? [])].reverse()) open.push({ tree: child, parent: at });
  }
  const count = rows.length;
  const bytes = Float64Array.from(rows, ({ tree: { self } }) => self ?? 0);
  const next = new Uint32Array(count);
  const samples = new Uint32Array(count);
  for (let at = count - 1; at >= 0; at--) {
    const { parent, tree: node } = rows[at]!;
    samples[at] = node.samples ?? samples[at]! + (node.self || next[at] === 0 ? 1000 : 0);
    next[at] = Math.max(next[at]!, at + 1);
    if (parent < 0) continue;
    samples[parent]! += samples[at]!;
    bytes[parent]! += bytes[at]!;
    next[parent] = Math.max(next[parent]!, next[at]!);
  }
  const half = (at: number) => bytes[at]! * (rows[at]!.tree.error ?? 0.02);
  return {
    unit: 'bytes',
    labels,
    trail: trail.map((name) => labelOf(name)),
    columns: {
      next,
      bytes,
      label: Uint32Array.from(rows, ({ tree: node }, at) =>
        node.merged || (at === 0 && trail.length === 0) ? NO_LABEL : labelOf(node.name, node.module),
      ),
      low: Float64Array.from(rows, (_, at) => bytes[at]! - half(at)),
      high: Float64Array.from(rows, (_, at) => bytes[at]! + half(at)),
      self: Float64Array.from(rows, ({ tree: { self } }) => self ?? 0),
      blocks: Float64Array.from(rows, (_, at) => Math.ceil(bytes[at]! / 100)),
      samples,
      merged: Uint32Array.from(rows, ({ tree: { merged } }) => merged ?? 0),
      passing: new Uint32Array(Math.max(0, trail.length - 1)),
      chain: Float64Array.of(bytes[0]!, Math.ceil(bytes[0]! / 100)),
    },
  };
}

/** A sequence of numbers from 0 up to 1 that is the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

const MODULES = ['server', 'libquery.so.3', 'libhttp.so.1', 'libjson.so.0', 'libcache.so', 'libc.so.6', 'libstdc++.so.6'];
const VERBS = ['parse', 'resize', 'insert', 'read', 'make', 'load', 'grow', 'build', 'copy', 'format', 'decode', 'open'];
const NOUNS = ['table', 'row', 'header', 'cache', 'buffer', 'index', 'query', 'string', 'node', 'page', 'session', 'key'];

function manyLabels(count: number, next: () => number): Label[] {
  const pick = (list: string[]) => list[Math.floor(next() * list.length)]!;
  return Array.from({ length: count }, (_, index) => {
    const module = pick(MODULES);
    const text =
      index % 3 === 0 ? `${pick(NOUNS)}_${pick(VERBS)}_${index}` : `query::${pick(NOUNS)}<std::pair<int, char> >::${pick(VERBS)}(int)`;
    return { text, function: text, module, file: '', line: 0 };
  });
}

/** An answer of exactly so many nodes, as dense as a picture can be: rows of chains that branch now and
 *  then, so that most rows of a screen are full of boxes of a few pixels. */
export function largeFlame(count: number, seed = 1, functions = 8000): Flame {
  const roll = random(seed);
  const bytes = new Float64Array(count);
  const self = new Float64Array(count);
  const children: number[][] = Array.from({ length: count }, () => []);
  bytes[0] = 2 ** 40;
  let made = 1;
  for (let node = 0; node < count; node++) {
    const luck = roll();
    const wanted = Math.min(count - made, luck < 0.76 ? 1 : luck < 0.95 ? 2 : 3 + Math.floor(2 * roll()));
    let left = bytes[node]!;
    const own = Math.floor(left * 0.008 * roll() ** 2);
    left -= own;
    for (let child = 0; child < wanted; child++) {
      const part = child === wanted - 1 ? left : Math.floor(left * (0.35 + 0.3 * roll()));
      bytes[made] = part;
      children[node]!.push(made++);
      left -= part;
    }
    self[node] = own + left;
  }
  return inOrder(children, bytes, self, manyLabels(functions, roll), roll);
}

function inOrder(children: number[][], bytes: Float64Array, self: Float64Array, labels: Label[], roll: () => number): Flame {
  const order: number[] = [];
  const open = [0];
  while (open.length > 0) {
    const node = open.pop()!;
    order.push(node);
    open.push(...children[node]!.sort((a, b) => bytes[a]! - bytes[b]!));
  }
  const count = order.length;
  const next = new Uint32Array(count);
  const size = new Uint32Array(count).fill(1);
  for (let at = count - 1; at >= 0; at--) {
    for (const child of children[order[at]!]!) size[order[at]!]! += size[child]!;
    next[at] = at + size[order[at]!]!;
  }
  const of = (column: Float64Array) => Float64Array.from(order, (node) => column[node]!);
  const ordered = of(bytes);
  /* Five samples for each node. */
  const samples = Uint32Array.from(ordered, (value) => Math.ceil((value / ordered[0]!) * 5 * count));
  const error = Float64Array.from(samples, (value) => 2 / Math.sqrt(value));
  return {
    unit: 'bytes',
    labels,
    trail: [],
    columns: {
      next,
      bytes: ordered,
      self: of(self),
      label: Uint32Array.from(order, (_, at) => (at === 0 ? NO_LABEL : Math.floor(roll() ** 2 * labels.length))),
      low: ordered.map((value, at) => value * Math.max(0, 1 - error[at]!)),
      high: ordered.map((value, at) => value * (1 + error[at]!)),
      blocks: ordered.map((value) => Math.ceil(value / 100)),
      samples,
      merged: new Uint32Array(count),
      passing: new Uint32Array(),
      chain: new Float64Array(2),
    },
  };
}

/** Formats for tests. The page has its own. */
export const words: Words = {
  amount(value, unit) {
    if (unit === 'calls') return `${Math.round(value)}`;
    const step = value < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3));
    const scaled = value / 1000 ** step;
    return `${scaled >= 100 || step === 0 ? Math.round(scaled) : scaled.toPrecision(2)} ${['bytes', 'kB', 'MB', 'GB', 'TB'][step]}`;
  },
  error: (value, low, high) => (value > 0 ? `±${Math.round((50 * (high - low)) / value)} %` : ''),
  share: (part) => `${Math.round(1000 * part) / 10} %`,
  count: (value) => value.toLocaleString('en'),
};

/* SPDX-License-Identifier: MIT */
