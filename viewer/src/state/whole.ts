/* The whole of a query: what shares are parts of, and what the sentence above the views tells.
 *
 * The root of the flame graph is the whole while the graph shows all of it. Else the whole is asked for, after the graph
 * itself; until then the last one counts, if it is of the same query and state. */
import { computed } from '@preact/signals-core';
import type { Flame, Request } from '../engine/answers.ts';
import { all, type Asked, flame } from './asking.ts';
import type { Whole } from './questions.ts';

const keyOf = (request: Request) => [request.measure, request.against, request.per, request.where].join('\n');

function rootOf({ columns, unit, blocks }: Flame): Whole | null {
  if (!columns.bytes.length) return null;
  return {
    bytes: columns.bytes[0]!,
    low: columns.low[0]!,
    high: columns.high[0]!,
    blocks: columns.blocks[0]!,
    counted: blocks,
    samples: columns.samples[0]!,
    unit,
  };
}

/** The part that goes through the one function of which the callers and callees are shown; null: all are shown. */
export const through = computed<Whole | null>(() => {
  const { answer, of } = flame.value;
  return answer && of?.of && !of.against ? rootOf(answer) : null;
});

let last: Asked<Flame> | undefined;

export const whole = computed<Whole | null>(() => {
  const { of } = flame.value;
  if (!of) return null;
  const isWhole = ({ of: asked, state }: Asked<Flame>) => asked && !asked.focus && !asked.of && keyOf(asked) === keyOf(of) && state === flame.value.state;
  last = [flame.value, all.value, last].find((known) => known && isWhole(known));
  return last?.answer ? rootOf(last.answer) : null;
});
/* SPDX-License-Identifier: MIT */
