/* Asks the source whenever what is shown needs another answer, and keeps the last good answer until
 * the new one is there. An error of a query leaves the last good answer, too.
 *
 * ONE STATE. All answers that are shown are of one state of the trace. An answer of another state is held back until
 * all that are awaited have come; then all change at once. Since they are asked for together, the old picture stays
 * as long as the slowest of them takes. If one does not come, as the server is gone, the old picture stays. */
import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals-core';
import {
  type Compare,
  type Details,
  type Flame,
  type Head,
  type Kinds,
  type Request,
  requestText,
  samplesIn,
  type Source as SourceLines,
  type Table,
  type Time,
  type TimeOfRow,
  type Totals,
} from '../engine/answers.ts';
import { type Answered, Refusal, type Source, Superseded } from '../engine/source.ts';
import { pathText } from './address.ts';
import { moment, withMoment } from './clauses.ts';
import { direction, head, view, where } from './store.ts';
import { askFlame, halfOf } from './halves.ts';
import { againstOf, measureOf, perOf } from './questions.ts';
import { running, server } from './server.ts';

export interface Asked<T> {
  answer: T | null;
  /** The request of `answer`. */
  of: Request | null;
  /** That of `answer`. */
  state: number;
  pending: boolean;
  error: string;
  /** Whether another request has failed since. */
  old: boolean;
}

const nothing = { answer: null, of: null, state: 0, pending: true, error: '', old: false };
export const POINTS = 600;
const CURVE_POINTS = 120;

export const source = signal<Source | null>(null);
/** Counts the changes of a growing trace: each makes all answers old. */
const growth = signal(0);
/** Why there is no source at all. */
export const trouble = signal('');

const measure = computed(() => measureOf(view.value, head.value));
const against = computed(() => againstOf(view.value, head.value));
/** Whether two runs or two moments are compared. */
export const comparing = computed(() => view.value.tab === 'compare');
const per = computed(() => {
  const chosen = perOf(view.value);
  return against.value === 'before' && chosen !== 'run' ? chosen : undefined;
});
const givenWhere = computed(() => where.value || undefined);

const isSame = (one: Request | null, other: Request) => one !== null && requestText(one) === requestText(other);

/* Each request is compared as text, so that a change of the view that does not matter to it asks nothing. */
const stable = (make: () => Request): ReadonlySignal<Request> => {
  let last: Request | null = null;
  return computed(() => {
    const next = make();
    if (!isSame(last, next)) last = next;
    return last!;
  });
};

const requests = {
  totals: stable(() => ({ view: 'totals', where: givenWhere.value })),
  time: stable(() => ({ view: 'time', where: moment(view.value.where).rest || undefined, by: view.value.by, points: POINTS })),
  flame: stable(() => ({
    view: 'flame',
    where: givenWhere.value,
    measure: measure.value,
    by: view.value.by,
    ...(view.value.of ? halfOf(view.value.of, view.value.focus) : { direction: direction.value, focus: pathText(view.value.focus) || undefined }),
    fold: view.value.fold ? 'yes' : undefined,
    stacks: view.value.wholeStacks ? 'whole' : undefined,
    against: against.value,
    per: per.value,
  })),
  table: stable(() => ({ view: 'table', where: givenWhere.value, measure: measure.value, by: view.value.by })),
  compare: stable(() => ({
    view: 'compare',
    where: givenWhere.value,
    measure: measure.value,
    by: view.value.by,
    against: against.value,
    per: per.value,
    extent: view.value.withCalls ? 'total' : undefined,
  })),
  kinds: stable(() => ({ view: 'kinds', where: givenWhere.value, measure: measure.value })),
} satisfies Record<string, ReadonlySignal<Request>>;

/** Whether the graph shows a part of what the query has: that whole is asked for then, too. */
const isPart = computed(() => view.value.focus.length > 0 || view.value.of !== '');
const allRequest = stable(() => ({ ...requests.flame.value, direction: direction.value, focus: undefined, of: undefined }));

/** The label that is selected, in the flame graph or in the table. */
export const chosen = computed(() => view.value.row || view.value.selected?.at(-1) || '');
const requestOfChosen = (view: 'details' | 'source', by: Request['by']): Request => ({
  view,
  where: givenWhere.value,
  measure: measure.value,
  by,
  of: chosen.value || undefined,
});
const detailsRequest = stable(() => requestOfChosen('details', view.value.by));
const sourceRequest = stable(() => requestOfChosen('source', view.value.by));
/** What the chosen row held over time, unless the chart has it among the largest. */
const rowRequest = stable(() => ({ ...requests.time.value, of: chosen.value || undefined }));
/** What it held with all that it calls, for a small curve. */
const curveRequest = stable(() => ({ ...rowRequest.value, points: CURVE_POINTS, extent: 'total' }));
const isDrawn = computed(() => time.value.answer?.labels.some(({ text }) => text === chosen.value));
const hasSource = computed(() => head.value?.source_files != null);

export const details = signal<Asked<Details>>(nothing);
export const sourceLines = signal<Asked<SourceLines>>(nothing);
export const totals = signal<Asked<Totals>>(nothing);
export const time = signal<Asked<Time>>(nothing);
export const timeOfRow = signal<Asked<TimeOfRow>>(nothing);
export const curveOfRow = signal<Asked<TimeOfRow>>(nothing);
export const flame = signal<Asked<Flame>>(nothing);
export const all = signal<Asked<Flame>>(nothing);
/** The graph that a recording opens with: its hues are those of all. */
export const opening = signal<Asked<Flame>>(nothing);
export const table = signal<Asked<Table>>(nothing);
export const compare = signal<Asked<Compare>>(nothing);
export const kinds = signal<Asked<Kinds>>(nothing);
/** Kinds of block are folded until a person unfolds them: they are not asked for before, and an older answer does not
 *  stay there. */
export const kindsOpen = signal(false);
/** Totals of the whole trace: the verdict, which no query changes. */
export const verdict = signal<Asked<Totals>>(nothing);

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/* One answer is shown in one task, so that the page stays responsive: those that the page brings along are known at once. */
let shown: Promise<void> | undefined;
async function ownTask(): Promise<void> {
  while (shown) await shown;
  shown = new Promise<void>((done) => setTimeout(done)).then(() => (shown = undefined));
}

/* ---- ONE STATE ---- */

/** What came of a question. */
interface Arrival {
  /** Undefined: nothing answered. */
  state: number | undefined;
  show(): void;
  fail(message: string): void;
  message: string;
}

/** Of all that is shown; null: nothing is yet. */
let shownState: number | null = null;
/** By slot, the question whose answer is awaited; and what is held back. */
const awaited = new Map<string, object>();
const held = new Map<string, Arrival>();

/** Whether a program still runs is told with the numbers that say so. */
const showRunning = (): void => {
  if (!awaited.size) running.value = server.peek()?.growing === true;
};

/** Shows what was held back, once nothing is awaited; nothing of it if a part did not come. */
function showHeld(): void {
  if (awaited.size) return;
  const arrivals = [...held.values()];
  const lost = arrivals.find(({ state }) => state === undefined);
  held.clear();
  if (!lost) shownState = arrivals[0]?.state ?? shownState;
  batch(() => {
    for (const one of arrivals) lost ? one.fail(lost.message) : one.show();
    showRunning();
  });
}

/** Has an answer shown with the others of its state. A newer question of the slot takes its place. */
async function receive<T>(slot: string, asked: Promise<Answered<T>>, show: (answered: Answered<T>) => void, fail: (message: string, state?: number) => void): Promise<void> {
  const mine = {};
  const isMine = () => awaited.get(slot) === mine;
  held.delete(slot);
  awaited.set(slot, mine);
  const arrival = await asked.then(
    (answered): Arrival => ({ state: answered.state, show: () => show(answered), fail, message: '' }),
    (error): Arrival => {
      const message = messageOf(error);
      const state = error instanceof Refusal ? error.state : undefined;
      return { state, show: () => fail(message, state), fail, message };
    },
  );
  if (!isMine()) return;
  const isShown = arrival.state === undefined ? !held.size : arrival.state === (shownState ??= arrival.state);
  if (isShown) await ownTask();
  if (!isMine()) return;
  awaited.delete(slot);
  if (isShown) arrival.show();
  else held.set(slot, arrival);
  showHeld();
}

/* ---- questions ---- */

interface Shown<T> {
  value: Asked<T>;
  peek(): Asked<T>;
}

type How<T> = (from: Source, request: Request, slot: string) => Promise<Answered<T>>;

/** What came back into sight with an answer of an earlier state has none. */
function ask<T>(from: Source, slot: string, request: Request, into: Shown<T>, how: How<T>): void {
  const last = into.peek();
  into.value = { ...(last.answer !== null && last.state !== shownState ? nothing : last), pending: true };
  void receive<T>(
    slot,
    how(from, request, slot),
    (answered) => (into.value = { ...answered, of: request, pending: false, error: '', old: false }),
    (error, state) => {
      const { answer, of, state: its } = into.peek();
      const isOld = answer !== null && (!isSame(of, request) || (state !== undefined && state !== its));
      into.value = { ...into.peek(), pending: false, error, old: isOld };
    },
  );
}

const askHead = (from: Source): Promise<void> => receive<Head>('head', from.ask({ view: 'head' }, 'head'), ({ answer }) => (head.value = answer), () => {});

/** What was asked does not matter any more. */
function dismiss(slot: string, into: Shown<unknown>): void {
  held.delete(slot);
  if (!awaited.delete(slot)) return;
  into.value = { ...into.peek(), pending: false };
  showHeld();
}

function follow<T>(
  slot: string,
  request: ReadonlySignal<Request>,
  into: Shown<T>,
  isWanted?: ReadonlySignal<boolean>,
  how: How<T> = (from, request, slot) => from.ask(request, slot),
): void {
  effect(() => {
    const from = source.value;
    const wanted = request.value;
    void growth.value;
    if (from && (isWanted?.value ?? true)) ask(from, slot, wanted, into, how);
    else dismiss(slot, into as Shown<unknown>);
  });
}

/** Whether an older answer is shown until the one that was asked for comes. */
const isStale = (asked: Asked<unknown>): boolean => asked.pending && asked.answer !== null;

/** The class of what shows these answers: `stale` while an older one waits for the one that was asked for, `old` where
 * that failed. Both are dimmed. */
export const ageOf = (...shown: Asked<unknown>[]): string => (shown.some(isStale) ? ' stale' : shown.some(({ old }) => old) ? ' old' : '');

/** The answers from which the sentence is made, each with what the view asks for. */
const told = computed((): [Asked<unknown>, Request][] =>
  comparing.value
    ? [[compare.value, requests.compare.value]]
    : [[totals.value, requests.totals.value], [flame.value, requests.flame.value], ...(isPart.value ? [[all.value, allRequest.value] as [Asked<unknown>, Request]] : [])],
);
/** Whether these are the answers to that; and whether some are still to come. */
export const isAnswered = computed(() => told.value.every(([{ of }, wanted]) => isSame(of, wanted)));
export const isAwaited = computed(() => told.value.some(([{ pending }]) => pending));

/** What is wrong with what was typed last into a field; the next step takes it back. */
export const entryError = signal('');

/** The error of the query, if it has one: the answer over time has the query alone. Of a server that is gone the
 * header speaks. */
const isGone = () => server.value?.answers === false;
export const queryError = computed(
  () => entryError.value || (isGone() ? '' : time.value.error || totals.value.error || (comparing.value ? '' : flame.value.error)),
);
/** That of a comparison, beside it. */
export const compareError = computed(() => (queryError.value || isGone() ? '' : compare.value.error));

/** What is said where an answer is missing. What is said elsewhere already is not said again. */
export function missing(asked: Asked<unknown>, waiting: string): string {
  if (asked.answer) return '';
  if (trouble.value || (asked.error && (queryError.value || compareError.value))) return 'There is nothing to show.';
  return asked.error || waiting;
}

/** Whether the engine takes a clause; else its message. Nothing is summed for that, but a moment has to be in the trace. */
export async function complaintOf(clause: string): Promise<string> {
  try {
    await source.peek()?.ask({ view: moment(clause).at === null ? 'query' : 'totals', where: clause }, 'check');
    return '';
  } catch (error) {
    return error instanceof Superseded ? '' : messageOf(error);
  }
}

/** How many samples a query has in all; 0 also if it cannot be asked. */
export async function samplesOf(query: string, slot: string): Promise<number> {
  try {
    const asked = await source.peek()?.ask<Totals>({ view: 'totals', where: query || undefined }, slot);
    return asked ? samplesIn(asked.answer) : 0;
  } catch {
    return 0;
  }
}

/** Takes the source and begins to ask. */
export async function begin(opened: Promise<Source>): Promise<void> {
  try {
    const from = await opened;
    server.value = from.state ?? null;
    from.onState = (state) => {
      server.value = state;
      showRunning();
    };
    from.onChange = () => {
      growth.value++;
      if (!kindsOpen.peek()) kinds.value = nothing;
      void askHead(from);
    };
    const { answer, state } = await from.ask<Head>({ view: 'head' }, 'head');
    head.value = answer;
    shownState = state;
    source.value = from;
  } catch (error) {
    trouble.value = messageOf(error);
  }
}

export function followRequests(): void {
  effect(() => {
    void view.value;
    entryError.value = '';
  });
  follow('verdict', computed(() => VERDICT), verdict);
  /* In this order they are answered: the graph is what most people look at. */
  follow('opening', computed(() => OPENING), opening, computed(() => opening.value.answer === null && !comparing.value));
  follow('flame', requests.flame, flame, undefined, askFlame);
  follow('totals', requests.totals, totals);
  follow('all', allRequest, all, isPart);
  const single = computed(() => !comparing.value);
  follow('table', requests.table, table, single);
  follow('compare', requests.compare, compare, comparing);
  follow('time', requests.time, time);
  const isChosen = computed(() => chosen.value !== '');
  follow('row', rowRequest, timeOfRow, computed(() => isChosen.value && time.value.answer !== null && !isDrawn.value));
  follow('details', detailsRequest, details, computed(() => isChosen.value && single.value));
  follow('curve', curveRequest, curveOfRow, computed(() => isChosen.value && single.value && !head.value?.trace.totals));
  follow('source', sourceRequest, sourceLines, computed(() => isChosen.value && hasSource.value));
  follow('kinds', requests.kinds, kinds, computed(() => kindsOpen.value && single.value));
  effect(() => {
    const { of } = kinds.value;
    if (of && !kindsOpen.value && !isSame(of, requests.kinds.value)) kinds.value = nothing;
  });
}
const VERDICT: Request = { view: 'totals' };
const OPENING: Request = { view: 'flame', measure: 'held', by: 'function', direction: 'callees' };

/** The query without its moment, for the command line and for messages. */
export const filter = computed(() => withMoment(view.value.where, null));
/* SPDX-License-Identifier: MIT */
