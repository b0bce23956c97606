/* Moments of the run: when they are, and the step that shows one. */
import { readTime } from '../numbers.ts';
import { time } from './asking.ts';
import { withMoment } from './clauses.ts';
import { againstOf } from './questions.ts';
import { change, head, NO_PLACE, openTab, sortOn, view } from './store.ts';

/** When a moment is that a query names, in nanoseconds. Null: it is none, or that is not known yet. */
export function timeOf(at: string): number | null {
  if (at === 'peak') return time.value.answer?.peak_ns ?? null;
  return at === 'end' ? (head.value?.trace.duration_ns ?? null) : readTime(at);
}

/** Shows what was held at a moment. In a comparison it is the moment after, unless it is earlier than the one before. */
export function openMoment(at: string): void {
  const { tab, where } = view.value;
  if (tab === 'compare') {
    const isBefore = (timeOf(at) ?? NaN) < (timeOf(againstOf(view.value, head.value) ?? '') ?? NaN);
    change({ ...(isBefore ? { against: at } : { where: withMoment(where, at) }), ...NO_PLACE });
  } else if (at === 'peak') openTab('peak');
  else change({ tab: 'end', ...sortOn('end'), where: withMoment(where, at === 'end' ? null : at), zoom: null });
}
/* SPDX-License-Identifier: MIT */
