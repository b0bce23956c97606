/* The state of the page: one view, which the address tells, and what is passing.
 *
 * Each committed step is an entry of the browser's history, so Back is undo. A passing state (a drag,
 * the pointer) is in signals of its own and leaves no trace.
 */
import { batch, computed, effect, signal } from '@preact/signals-core';
import { focusIn, type Head } from '../engine/answers.ts';
import { decode, encode, START, type Sort, type Tab, usualSort, type View } from './address.ts';
import { moment, withClauses, withMoment } from './clauses.ts';
import { isSnapshot, type Word, wordedIn, wordIn } from './words.ts';
import { directionOf, firstOf, hasQuestion, mainOf, mainsOf, moreOf, whereOf } from './questions.ts';

export type Theme = 'light' | 'dark' | 'system';

export const view = signal<View>(START);
/** What the engine is asked for; the moment included. */
export const head = signal<Head | null>(null);
export const where = computed(() => whereOf(view.value, head.value));
export const direction = computed(() => directionOf(view.value));

/** The word for what the recording has; and what may be one, as a grouping. */
export const say = (word: Word): string => wordIn(head.value, word);
/** The same within a sentence. */
export const sayInside = (word: Word): string => say(word).replace(/^./, (first) => first.toLowerCase());
export const worded = (text: string): string => wordedIn(head.value, text);
/** A text on times, lives or samples: a heap snapshot has none, and no text on them. */
export const timed = (text: string): string => (isSnapshot(head.value) ? '' : text);

/** A short message for the person: a link was copied, there is no earlier step. */
export const notice = signal('');

/* ---- history ---- */

interface Shell {
  location: { hash: string };
  history: Pick<History, 'pushState' | 'replaceState' | 'back' | 'forward' | 'state'>;
}
let shell: Shell | null = null;

/* What an entry of the history keeps: the whole view, since an address may be too short for it, and how many
 * steps of this page are before it, so that undo never leaves the page. */
interface Entry {
  view: View;
  step: number;
}
let step = 0;
let last = 0;

/** Sets parts of the view. `replace`: the step is no entry of its own, as when a search is typed. */
export function change(parts: Partial<View>, replace = false): void {
  const next = { ...view.value, ...parts };
  if (next.of) next.focus = focusIn(next.focus);
  if (same(next, view.value)) return;
  if (!replace) settle();
  view.value = next;
  if (replace) waiting ||= setTimeout(settle, SETTLED);
  else {
    last = ++step;
    write('pushState');
  }
}

/* A step that is no entry of its own (a zoom, a search that is typed) is written once it has come to rest:
 * browsers refuse more than some changes of the address a second. */
const SETTLED = 200; // ms
let waiting: ReturnType<typeof setTimeout> | 0 = 0;

function write(how: 'pushState' | 'replaceState'): void {
  const entry: Entry = { view: view.peek(), step };
  try {
    shell?.history[how](entry, '', encode(entry.view).address);
  } catch {
    /* The browser refuses: the view is as it is, its address is old. */
  }
}

function settle(): void {
  if (!waiting) return;
  clearTimeout(waiting);
  waiting = 0;
  write('replaceState');
}

/** Of views and their parts. */
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What the command wrote into the head of the page: the `view` that it was asked for, as an address; the names of
 *  the traces, `file` and `before`. Empty: not given. */
export const given = (what: string): string => document.querySelector<HTMLMetaElement>(`meta[name="winnow-${what}"]`)?.content ?? '';

/** Starts from the address, and follows Back and Forward. */
export function followAddress(window: Window): void {
  shell = window;
  const read = (state: unknown): View => {
    const address = decode(window.location.hash || `#${given('view')}`);
    const kept = state as Entry | null;
    step = kept?.step ?? 0;
    last = Math.max(last, step);
    return kept?.view && encode(kept.view).address === encode(address).address ? kept.view : address;
  };
  view.value = read(window.history.state);
  window.addEventListener('pagehide', settle);
  window.addEventListener('popstate', (event) => {
    clearTimeout(waiting);
    waiting = 0;
    view.value = read(event.state);
  });
}

export function undo(): void {
  settle();
  if (step > 0) shell?.history.back();
}
export function redo(): void {
  settle();
  if (step < last) shell?.history.forward();
}

/* ---- steps ---- */

export const NO_PLACE = { focus: [], open: '', shortFocus: '', selected: null, row: '', zoom: null } satisfies Partial<View>;

/** Goes to a question. What was looked at (the query) stays; where it was looked at does not. */
export function openTab(tab: Tab): void {
  if (!hasQuestion(tab, head.value)) return;
  const parts: Partial<View> = { tab, direction: null, ...NO_PLACE };
  if (tab === 'peak') parts.where = withMoment(view.value.where, null);
  change({ ...parts, ...sortOn(tab) });
}

/** Goes from a question that the recording does not answer, which an address may name, to one that it does. */
export function followLimits(): void {
  effect(() => {
    const shown = head.value;
    if (!shown || hasQuestion(view.value.tab, shown)) return;
    change({ tab: firstOf(shown) }, true);
    settle();
  });
}

/** The usual order of a tab stays usual on another; an order by a column that a table lacks does not stay. */
export function sortOn(tab: Tab): Partial<View> {
  const { sort, descending, tab: from } = view.value;
  const isUsual = sort === usualSort(from) && descending;
  const lacks = tab === 'alive' ? sort === 'life' || sort === 'blocks' : sort === 'growth';
  return isUsual || lacks ? { sort: usualSort(tab), descending: true } : {};
}

/** Goes to a tab of the page. The first one shows the moment that the query names; the tab that is open stays as it is. */
export function openMain(main: Tab): void {
  const { tab, where } = view.value;
  if (mainOf(tab) === main) return;
  const isEnd = main === 'peak' && (moment(where).at !== null || !hasQuestion('peak', head.value));
  openTab(isEnd ? 'end' : main);
}

/** The tabs, then what More has: the keys 1 to 7. */
export function openNumber(number: number): void {
  const mains = mainsOf(head.value);
  const more = moreOf(head.value)[number - mains.length - 1];
  if (more) openTab(more);
  else if (mains[number - 1]) openMain(mains[number - 1]!);
}

export function setQuery(text: string): void {
  const next: Partial<View> = { where: text, zoom: null };
  const { at } = moment(text);
  if (at !== null && at !== moment(view.value.where).at && view.value.tab !== 'compare') Object.assign(next, { tab: 'end' }, sortOn('end'));
  change(next);
}

export const addClauses = (...clauses: string[]): void => setQuery(withClauses(view.value.where, clauses));

export function sortBy(sort: Sort): void {
  const descending = view.value.sort === sort ? !view.value.descending : sort !== 'name';
  change({ sort, descending });
}

/** Shows the callers and callees of one function; of none: the whole tree again. */
export const showFunction = (of: string): void => change({ of, direction: null, ...NO_PLACE });
export const leaveFunction = (): void => showFunction('');

export function setDirection(to: 'callers' | 'callees'): void {
  if (!view.value.of) change({ direction: to, ...NO_PLACE });
}

/* ---- theme and keys: of the person, not of the view ---- */

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    /* Storage is refused: the choice holds for this visit. */
  }
}

const THEME = 'winnow-theme';
export const theme = signal<Theme>('system');
/** Whether single letters are keys (WCAG 2.1.4: they can be switched off). */
export const letters = signal(true);
export const isDark = signal(false);
/** While the page is laid out for paper, which is light and has this width in CSS pixels. */
export const printing = signal(false);
export const PAPER = 700;

export function followTheme(): void {
  const kept = remembered(THEME);
  if (kept === 'light' || kept === 'dark') theme.value = kept;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    const dark = !printing.value && (theme.value === 'system' ? system.matches : theme.value === 'dark');
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    isDark.value = dark;
  };
  const print = ({ type }: Event) =>
    batch(() => {
      printing.value = type === 'beforeprint';
      show();
    });
  window.addEventListener('beforeprint', print);
  window.addEventListener('afterprint', print);
  system.addEventListener('change', show);
  theme.subscribe(show);
}

export function toggleTheme(): void {
  theme.value = isDark.value ? 'light' : 'dark';
  remember(THEME, theme.value);
}

/* ---- panels ---- */

export type Panel = 'help' | 'export' | 'more' | null;
export const panel = signal<Panel>(null);
/** Charts that are shown as tables. */
export const asTable = signal<Record<string, boolean>>({});
export const toggleTable = (chart: string): void => {
  asTable.value = { ...asTable.value, [chart]: !asTable.value[chart] };
};

export { batch };
/* SPDX-License-Identifier: MIT */
