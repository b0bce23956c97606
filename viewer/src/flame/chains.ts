/* Which frames of an answer have a box of their own.
 *
 * PASSING  A node passes if it allocated nothing itself and its first child, which is not merged, has bytes, and at least PASSED
 *          of the bytes and of the blocks of the chain's first node. That child stands next in pre-order.
 * CHAIN    A longest run of passing nodes, each the first child of the one before, if there are at least LEAST_CHAIN. Node 0
 *          is in none. The END of the chain is the first child of its last node: it branches or allocates.
 * SIDES    Other children of a chain's nodes have little. They are children of its box, after the end: where they are in the
 *          whole tree, a few rows higher. Their paths have the chain's nodes down to their parent alone.
 * FOLDED   A chain is one box unless it is open. All other nodes, the end and the sides too, are boxes.
 * ORDER    The nodes of a chain are neighbours in pre-order. So the boxes cut the nodes in pre-order into ranges: each node
 *          is in exactly one box, and a list of the first nodes says everything.
 * KEY      A chain is known by the path of its end. So it is the same chain while the focus is on one of its frames, and in
 *          the next answer, which therefore has the amount of the chain's first node (`chain`). What is open is a text: the
 *          keys one after the other. */

import { CALLERS, type Flame } from '../engine/answers.ts';
import { digestOf, digestsIn, hashOf } from '../digest.ts';

export const LEAST_CHAIN = 3; // frames
export const PASSED = 0.95; // as in src/page/view_flame.c

/** Some frames one below the other: nodes from `first` on. */
export interface Chain {
  first: number;
  count: number;
  open: boolean;
}

export interface Boxes {
  /** The first node of each box, in pre-order. */
  first: Uint32Array;
  /** The chains that are open, in pre-order. */
  open: Chain[];
}

/** Keys of chains; null: all are open, as if there were none. */
export type Open = string | null;

const NO_NAME = '?';
export const textOf = ({ labels, columns }: Flame, node: number): string => labels[columns.label[node]!]?.text ?? NO_NAME;

const below = (hash: number, name: string): number => hashOf(`\u001f${name}`, hash);
const hashOfPath = (path: string[]): number => path.reduce(below, hashOf(''));

export const keyOf = (end: string[]): string => digestOf(hashOfPath(end));
export const isOpen = (open: Open, end: string[]): boolean => open === null || (open !== '' && digestsIn(open).includes(keyOf(end)));

/** What is open if this chain becomes so, or is so no longer. */
export const toggled = (open: string, key: string): string => {
  const keys = digestsIn(open);
  return (keys.includes(key) ? keys.filter((other) => other !== key) : [...keys, key]).join('');
};

/** What the first node of a chain has. */
export type Amount = ArrayLike<number>; // bytes, blocks

const amountOf = ({ columns: { bytes, blocks } }: Flame, node: number): Amount => [bytes[node]!, blocks[node]!];

export function passes({ columns: { next, bytes, blocks, self, samples, merged } }: Flame, node: number, first: Amount): boolean {
  const end = next[node]!;
  const child = node + 1;
  if (child >= end || merged[child]! > 0 || self[node]! > 0 || !(bytes[child]! > 0) || bytes[child]! < PASSED * first[0]! || blocks[child]! < PASSED * first[1]!) return false;
  /* Blocks of no bytes may be its own. */
  let own = samples[node]!;
  for (let at = child; at < end; at = next[at]!) own -= samples[at]!;
  return own === 0;
}

/** The end of the chain that a node is in; the node itself if it does not pass. */
export function endFrom(flame: Flame, node: number, first: Amount = amountOf(flame, node)): number {
  while (passes(flame, node, first)) node++;
  return node;
}

export function everyNode(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, node) => node);
}

/** The boxes of an answer whose root has this path. */
export function boxesOf(flame: Flame, root: string[], open: Open): Boxes {
  const count = flame.columns.next.length;
  if (open === null) return { first: everyNode(count), open: [] };
  const hashes = open === '' ? null : pathHashes(flame, root);
  const keys = new Set(digestsIn(open));
  const first = new Uint32Array(count);
  const opened: Chain[] = [];
  let boxes = 0;
  /* The chain that the root of a focus is in goes on below it. */
  const { chain } = flame.columns;
  const above = root.length > 0 && flame.halves?.of !== 'both' && passes(flame, 0, chain) ? chain : undefined;
  for (let node = 0; node < count; ) {
    const end = node > 0 ? endFrom(flame, node, node === 1 ? above : undefined) : 0;
    const length = end - node;
    const isChain = length >= LEAST_CHAIN;
    const isShown = isChain && hashes !== null && keys.has(digestOf(hashes[end]!));
    if (isShown) opened.push({ first: node, count: length, open: true });
    if (isChain && !isShown) first[boxes++] = node;
    else for (let frame = node; frame < end; frame++) first[boxes++] = frame;
    if (end < count) first[boxes++] = end;
    node = end + 1;
  }
  return { first: first.slice(0, boxes), open: opened };
}

/** By node: the hash of its path. */
function pathHashes(flame: Flame, root: string[]): Int32Array {
  const { next } = flame.columns;
  const hashes = new Int32Array(next.length);
  hashes[0] = hashOfPath(root);
  const callers = flame.halves?.of === 'both' ? flame.halves.callers : next.length;
  const ofCallers = hashOfPath([CALLERS, ...root]);
  const above = [0];
  for (let node = 1; node < next.length; node++) {
    while (above.length > 1 && next[above.at(-1)!]! <= node) above.pop();
    hashes[node] = below(node >= callers && above.length === 1 ? ofCallers : hashes[above.at(-1)!]!, textOf(flame, node));
    above.push(node);
  }
  return hashes;
}
/* SPDX-License-Identifier: MIT */
