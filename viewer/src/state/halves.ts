/* The focus picture: the callers and the callees of one function in one graph.
 *
 * The engine answers for one direction. Two answers are joined to one, so that one canvas, one layout, one walk by keys and
 * one tree for screen readers have both halves, on one scale, and the answer is shown, or is old, as one.
 *
 * ONE STATE   Both answers are of one state of the trace, or neither is shown.
 * ROOT        Node 0 is the function: its bytes are the width of both halves. If several functions have the name, they are
 *             the first boxes of both halves.
 * ORDER       The callees in pre-order, then the callers in pre-order.
 * PATHS       The path of a callee begins with the function, that of a caller with CALLERS and the function.
 * FOCUS       A focus is within one half, and that half is shown alone. */
import { CALLERS, type Direction, type Flame, NO_LABEL, type Request } from '../engine/answers.ts';
import { type Answered, type Source, Superseded } from '../engine/source.ts';
import { pathText } from './address.ts';

/** What of a request follows from the function and the focus. Without a direction both halves are asked for. */
export const halfOf = (of: string, focus: string[]): Pick<Request, 'of' | 'focus' | 'direction'> => {
  const isCallers = focus[0] === CALLERS;
  return { of, focus: pathText(focus.slice(+isCallers)) || undefined, direction: focus.length ? (isCallers ? 'callers' : 'callees') : undefined };
};

type Columns = Flame['columns'];

export function joined(callees: Flame, callers: Flame): Flame {
  const { next, label } = callees.columns;
  /* The one function has all: it is the root itself. */
  const root = next.length > 1 && next[1] === next[0] ? 1 : 0;
  const count = next.length - root;
  const columns = { ...callees.columns } as Record<keyof Columns, Uint32Array | Float64Array>;
  for (const key of Object.keys(columns) as (keyof Columns)[]) {
    const own = callees.columns[key]!.subarray(root);
    const others = callers.columns[key]!.subarray(root + 1);
    const both = new (own.constructor as Uint32ArrayConstructor)(own.length + others.length);
    both.set(own);
    both.set(others, own.length);
    columns[key] = both;
  }
  columns.next.forEach((end, node) => (columns.next[node] = node < count ? end - root : end + count - root - 1));
  for (let node = count; node < columns.label.length; node++) if (columns.label[node] !== NO_LABEL) columns.label[node]! += callees.labels.length;
  if (label.length > 1) columns.label[0] = label[1]!;
  return {
    ...callees,
    labels: [...callees.labels, ...callers.labels],
    trail: root ? [label[1]!] : [],
    columns: columns as unknown as Columns,
    halves: { of: 'both', callers: count },
  };
}

/** Asks for a graph. That of all functions is handed on as it is, so that it is shown in its turn: the first. */
export const askFlame = (from: Source, request: Request, slot: string): Promise<Answered<Flame>> =>
  request.of ? askHalves(from, request, slot) : from.ask<Flame>(request, slot);

/** Where a focus is not found, the whole picture is the answer. */
async function askHalves(from: Source, request: Request, slot: string): Promise<Answered<Flame>> {
  const { direction } = request;
  if (direction) {
    const { answer, state } = await from.ask<Flame>(request, slot);
    const callers = direction === 'callers' ? 1 : answer.columns.next.length;
    if (answer.trail.length > 1) return { answer: { ...answer, halves: { of: direction, callers } }, state };
  }
  const half = (direction: Direction, slot: string) => from.ask<Flame>({ ...request, direction, focus: undefined }, slot);
  const [callees, callers] = await Promise.all([half('callees', slot), half('callers', `${slot} callers`)]);
  /* Both are asked for again then. */
  if (callees.state !== callers.state) throw new Superseded('the trace has grown');
  return { answer: joined(callees.answer, callers.answer), state: callees.state };
}
/* SPDX-License-Identifier: MIT */
