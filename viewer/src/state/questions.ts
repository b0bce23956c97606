/* The questions of the page: what each asks for, how its population is called, and the tabs that have them.
 *
 * A question is named `tab` in the address and in `View`. Some share a tab of the page, which has a control for them: what
 * was held at the peak and at another moment; what was freed soon, of all sizes and of large ones. The tab *More* has the
 * questions that are asked less often. */
import type { Compare, Direction, Estimate, Grouping, Head, Measure, Totals } from '../engine/answers.ts';
import { bytes, duration, estimatedOf, queryTime, withError } from '../numbers.ts';
import { moment, withClauses } from './clauses.ts';
import { running } from './server.ts';
import { isSnapshot, wordIn } from './words.ts';
import { GROUPINGS, type Scale, type Tab, type View } from './address.ts';

export interface Question {
  tab: Tab;
  measure: Measure;
  title: string;
  /** The usual direction. */
  direction: Direction;
  /** The question that the tab answers; or the word for it, state/words.ts. */
  asks: string;
}

const QUESTIONS: Record<Tab, Omit<Question, 'tab'>> = {
  peak: { measure: 'held', title: 'Held', direction: 'callees', asks: 'asksHeld' },
  end: { measure: 'held', title: 'Held', direction: 'callees', asks: 'asksHeld' },
  alive: { measure: 'alive', title: 'Growing', direction: 'callees', asks: 'What is still alive, and what of it grows?' },
  churn: { measure: 'churn', title: 'Churn', direction: 'callers', asks: 'Which functions allocate blocks that die at once?' },
  lasting: { measure: 'lasting', title: 'Lives long', direction: 'callees', asks: 'What lives for half of the run or longer?' },
  promoted: { measure: 'promoted', title: 'Promoted', direction: 'callers', asks: 'What did the minor collections keep?' },
  large: { measure: 'churn', title: 'Churn', direction: 'callers', asks: 'Which functions get large blocks again and again?' },
  compare: { measure: 'held', title: 'Compare', direction: 'callees', asks: 'asksChange' },
  allocated: { measure: 'allocated', title: 'All allocated', direction: 'callees', asks: 'Which functions allocated, over the whole run?' },
};

export const questionOf = (tab: Tab): Question => ({ tab, ...QUESTIONS[tab] });

/** The tabs of the page, each by its first question, and the questions of the tab More. */
const MAIN: readonly Tab[] = ['peak', 'alive', 'churn', 'compare'];
export const mainsOf = (head: Head | null): Tab[] => MAIN.filter((tab) => hasQuestion(tab, head) || (tab === 'peak' && hasQuestion('end', head)));
export const moreOf = (head: Head | null): Tab[] =>
  (['lasting', head?.collected ? 'promoted' : 'large', 'allocated'] as const).filter((tab) => hasQuestion(tab, head));

/** Whether the recording tells what a question asks. Promotion is a thing of collected heaps; large blocks, which the system
 *  gives and takes, are one of malloc. */
export function hasQuestion(tab: Tab, head: Head | null): boolean {
  if (tab === (head?.collected ? 'large' : 'promoted')) return false;
  if (!head) return true;
  const { trace, limits, before } = head;
  switch (tab) {
    case 'peak':
      return !limits.no_peak;
    case 'end':
      return !limits.no_end;
    case 'allocated':
      return !limits.no_total;
    case 'compare':
      return !trace.totals || before !== undefined;
    default:
      return !limits.no_lives;
  }
}

/** The first question that the recording answers. */
export const firstOf = (head: Head): Tab => (['peak', 'end', 'allocated'] as const).find((tab) => hasQuestion(tab, head)) ?? 'peak';

/** The tab of the page in which a question is. */
export const mainOf = (tab: Tab): Tab => (tab === 'end' ? 'peak' : tab === 'large' ? 'churn' : tab);

/** Such a block usually gets memory of its own from the system, which it gives back when it is freed: that is the
 *  default of glibc's M_MMAP_THRESHOLD. */
const LARGE = 'size >= 128Ki';
/** The query of a view, without its moment and with what its tab adds. */
export const filterOf = ({ tab, where }: View): string => {
  const { rest } = moment(where);
  return tab === 'large' ? withClauses(rest, [LARGE]) : rest;
};

/** By what blocks can be grouped. */
export const groupingsOf = (head: Head | null): Grouping[] =>
  isSnapshot(head) ? ['function', 'module'] : GROUPINGS.filter((by) => (by === 'thread' ? !head?.limits.no_threads : by === 'type' ? head?.types : by === 'host' || by === 'release' ? head?.trace.processes : true));

/** What a view counts. In a comparison of two runs that is chosen. */
export const measureOf = (view: View, head: Head | null): Measure =>
  view.tab === 'compare' && head?.before ? view.counted : QUESTIONS[view.tab].measure;

/** Of two runs only what adds up over the run can be scaled: what is held at a moment, or lives long, is no rate. */
export const canScale = ({ counted }: View): boolean => ['allocated', 'churn', 'promoted'].includes(counted);
export const perOf = (view: View): Scale => (canScale(view) ? view.per : 'run');

/** What is before in a comparison: the run before, or a moment: that of the view, else the middle of the run. */
export const againstOf = (view: View, head: Head | null): string | undefined =>
  view.tab !== 'compare' || !head ? undefined : head.before ? 'before' : view.against || queryTime(head.trace.duration_ns / 2);

export const directionOf = (view: View): Direction => view.direction ?? QUESTIONS[view.tab].direction;

/** Where two moments are compared, the later one is not the end if the program freed what it had as it ended. */
export const lastOf = (view: View, head: Head | null): string =>
  view.tab === 'compare' && head && !head.before && head.closing_ns < head.trace.duration_ns ? queryTime(head.closing_ns, 15) : 'end';

/** The query that the engine is asked: the moment counts only where something is held. */
export function whereOf(view: View, head: Head | null): string {
  const { at } = moment(view.where);
  const rest = filterOf(view);
  if (measureOf(view, head) !== 'held') return rest;
  const isPeak = view.tab === 'peak' || (head?.before && view.tab === 'compare' && (at === null || at === 'peak'));
  const when = isPeak ? null : (at ?? lastOf(view, head));
  if (when === null) return rest;
  return rest === '' ? `at = ${when}` : `at = ${when} and ${/(^|[\s)])or($|[\s(])/.test(rest) ? `(${rest})` : rest}`;
}

/** What a sum of bytes is called under this question. */
export function whatOf(view: View, head: Head, totals: Totals): string {
  const blocks = moment(view.where).rest === '' ? 'Blocks' : 'Matching blocks';
  switch (measureOf(view, head)) {
    case 'held':
      if (head.trace.totals) return `${blocks} held at the ${view.tab === 'peak' ? 'peak' : head.limits.no_peak ? wordIn(head, 'moment') : 'end'}`;
      if (view.tab === 'peak')
        return totals.peak_is_one
          ? `${blocks} held at ${duration(totals.at_ns)}, the moment of highest use`
          : `${blocks} held around ${duration(totals.at_ns)}, on average of the moments of highest use`;
      return totals.question === 'at:end'
        ? `${blocks} held ${running.value ? 'now' : 'at the end'}, ${duration(totals.at_ns)} after the start`
        : `${blocks} held ${duration(totals.at_ns)} after the start`;
    case 'churn':
      return `${blocks}${view.tab === 'large' ? ' of 128 KiB or more' : ''} that lived less than ${duration(totals.totals.brief_ns ?? 0)}, a hundredth of the run`;
    case 'alive':
      if (head.trace.partial) return `${blocks} whose end was not recorded`;
      if (head.closing_ns < head.trace.duration_ns)
        return `${blocks} alive after ${duration(head.closing_ns)}, before the program freed most as it ended`;
      return head.collected
        ? `${blocks} that had not been found dead ${running.value ? 'so far' : 'when the trace ended'}`
        : `${blocks} that were ${running.value ? 'not freed so far' : 'never freed'}${head.trace.processes ? ' by their process' : ''}`;
    case 'lasting':
      return `${blocks} that lived for half of the run or longer`;
    case 'promoted':
      return `${blocks} that moved from the minor heap to the major heap`;
    case 'allocated':
      return `${blocks} allocated ${running.value ? 'so far' : 'over the whole run'}`;
  }
}

/** The root of the flame graph. */
export interface Whole {
  bytes: number;
  low: number;
  high: number;
  blocks: number;
  /** The same with its interval; not of a comparison. */
  counted?: Estimate;
  samples: number;
  unit: 'bytes' | 'calls';
}

/** The population in words: which blocks the view is about, and how much they are. */
export function populationOf(
  view: View,
  head: Head,
  totals: Totals,
  flame: Whole | null,
): string {
  const what = whatOf(view, head, totals);
  if (!flame) return `${what}.`;
  const estimate = { estimate: flame.bytes, low: flame.low, high: flame.high, samples: flame.samples };
  if (flame.samples === 0 && view.tab === 'peak') return `${what.split(' held ')[0]} held at the peak: none was sampled${flame.high > 0 ? `, so less than ${bytes(flame.high)}` : ''}.`;
  if (flame.samples === 0)
    return flame.high > 0 ? `${what}: none was sampled, so less than ${bytes(flame.high)}.` : `${what}: none.`;
  return `${what}: ${withError(estimate)}${flame.counted ? ` in ${estimatedOf(flame.counted, flame.unit === 'calls' ? 'calls' : 'blocks')}` : ''}.`;
}
/** What the two sides of a comparison are. */
export const sidesOf = ({ moments, resized }: Compare): [string, string] =>
  !moments ? ['before', 'after'] : resized ? ['freed or resized', 'new or resized'] : ['freed', 'new'];
/* SPDX-License-Identifier: MIT */
