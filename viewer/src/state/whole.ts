/* The whole of a query: what shares are parts of, and what the sentence above the views tells.
 *
 * The root of the flame graph is the whole while nothing is focused. It is remembered for its query
 * and measure, so that a focus does not lose it. A page that was opened with a focus has only the
 * totals, which do not have every measure. */
import { computed } from '@preact/signals-core';
import type { Flame, Request, Totals } from '../engine/answers.ts';
import { flame, totals } from './asking.ts';
import { measureOf, type Whole } from './questions.ts';
import { head, view } from './store.ts';

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

function fromTotals(answer: Totals): Whole | null {
  const all = answer.totals;
  const pairs = {
    held: [answer.held_bytes, answer.held_blocks],
    allocated: [all.allocated_bytes, all.allocated_blocks],
    alive: [all.alive_bytes, all.alive_blocks],
  } as const;
  const measure = measureOf(view.value, head.value);
  if (!(measure in pairs)) return null;
  const [bytes, blocks] = pairs[measure as keyof typeof pairs];
  const unit = measure === 'allocated' ? 'calls' : 'bytes';
  return { bytes: bytes.estimate, low: bytes.low, high: bytes.high, blocks: blocks.estimate, counted: blocks, samples: bytes.samples, unit };
}

/** The part that goes through the one function of which the callers or callees are shown; null: all are shown. */
export const through = computed<Whole | null>(() => {
  const { answer, of } = flame.value;
  return answer && of?.of && !of.against ? rootOf(answer) : null;
});

let remembered: Whole | null = null;
let rememberedFor = '';

export const whole = computed<Whole | null>(() => {
  const { answer, of } = flame.value;
  if (!answer || !of) return null;
  if (!of.focus && !of.of) {
    remembered = rootOf(answer);
    rememberedFor = keyOf(of);
  }
  if (rememberedFor === keyOf(of)) return remembered;
  if (of.against) return null;
  const { answer: sums, of: summed } = totals.value;
  return sums && summed?.where === of.where ? fromTotals(sums) : null;
});
/* SPDX-License-Identifier: MIT */
