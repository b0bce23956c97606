/* The address of a view: the part of the URL behind #. Every view is a link.
 *
 * The form is `#TAB&key=value&…`, with only what differs from the usual. An address has at most
 * ADDRESS_MOST characters. Parts that do not fit are left out, the least important first; `encode`
 * says whether it had to.
 */
import { digestOf, hashOf } from '../digest.ts';
import { CALLERS, type Direction, focusIn, type Grouping, type Measure } from '../engine/answers.ts';

export const ADDRESS_MOST = 2048;

export const TABS = ['peak', 'end', 'churn', 'alive', 'lasting', 'promoted', 'large', 'compare', 'allocated'] as const;
export type Tab = (typeof TABS)[number];
export const GROUPINGS: readonly Grouping[] = ['function', 'line', 'file', 'module', 'process', 'host', 'release', 'thread', 'type'];
export const SORTS = ['name', 'self', 'total', 'blocks', 'samples', 'life', 'growth'] as const;
export type Sort = (typeof SORTS)[number];
export const MEASURES: readonly Measure[] = ['held', 'allocated', 'churn', 'promoted', 'alive', 'lasting'];
export const SCALES = ['run', 'second', 'allocation'] as const;
export type Scale = (typeof SCALES)[number];

export interface View {
  tab: Tab;
  /** The query, docs/queries.md, with `at = …` if a moment was chosen. */
  where: string;
  by: Grouping;
  /** Null: the one that the tab's question asks for. */
  direction: Direction | null;
  /** Only this label's frames: its callers and callees. */
  of: string;
  fold: boolean;
  /** Each frame has a box: chains of frames are not folded, and each level of a recursion is shown. */
  wholeStacks: boolean;
  /** The chains that are open, src/flame/chains.ts. */
  open: string;
  /** What the widths of boxes are. */
  width: 'bytes' | 'blocks';
  /** Labels from the outermost function down; of one function, see halves.ts. */
  focus: string[];
  /** Digests of a focus that was too long for the address, until the call tree has told its labels. */
  shortFocus: string;
  /** The path of the selected box: [] is the whole. Null: none. */
  selected: string[] | null;
  search: string;
  sort: Sort;
  descending: boolean;
  /** In the order of own bytes, functions that only call have rows, too. */
  allRows: boolean;
  /** The function of the table that was chosen. Empty: none, or that of the selected box. */
  row: string;
  /** What is seen of the flame graph: the part of the focus, and how far it is scrolled from where it opens, with the digits that an
   *  address has: the same pixels are then drawn from it. Null: as it opens. */
  zoom: [low: number, high: number, top: number] | null;
  /** Of the tab `compare`. The moment before; empty: the usual one, or that of the run before. */
  against: string;
  /** What of two runs is compared, to what they are scaled, and whether with what functions call. */
  counted: Measure;
  per: Scale;
  withCalls: boolean;
}

export const START: View = {
  tab: 'peak',
  where: '',
  by: 'function',
  direction: null,
  of: '',
  fold: false,
  wholeStacks: false,
  open: '',
  width: 'bytes',
  focus: [],
  shortFocus: '',
  selected: null,
  row: '',
  search: '',
  sort: 'self',
  descending: true,
  allRows: false,
  zoom: null,
  against: '',
  counted: 'held',
  per: 'run',
  withCalls: false,
};

/** By what the table of a tab is sorted unless the person chooses. */
export const usualSort = (tab: Tab): Sort => (tab === 'alive' ? 'growth' : START.sort);

const SEPARATOR = '\u001f';

/** Escapes what would end a value or what a browser would change. Most of a query stays readable. */
function escape(text: string): string {
  return text.replace(/[^A-Za-z0-9_.:,/=!~*()[\]|$@-]/gu, (character) =>
    character === ' ' ? '+' : encodeURIComponent(/\p{Surrogate}/u.test(character) ? '\ufffd' : character),
  );
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return '';
  }
}

/** Four characters that tell a label from its few neighbours in a call tree. */
export const digest = (label: string): string => digestOf(hashOf(label));

const LONG_PATH = 1000;

/** A path as text, or its digests. */
function shortPath(labels: string[]): string {
  const whole = path(labels);
  return whole.length > LONG_PATH ? `~${labels.map(digest).join('')}` : whole;
}

const path = (labels: string[]) => labels.map(escape).join(';').replace(/^~/, '%7E');
const readPath = (text: string) => (text ? text.split(';').map(unescape) : []);

/** The path of the selected box; that below the focus begins with a semicolon. */
function selection(focus: string[], selected: string[]): string {
  const isBelow = focus.length > 0 && selected.length > focus.length && focus.every((label, index) => label === selected[index]);
  return isBelow ? `;${path(selected.slice(focus.length))}` : path(selected);
}

/** The parts of an address, the most important first. */
function parts(view: View): [string, string][] {
  const all: [string, string][] = [];
  if (view.where) all.push(['where', escape(view.where)]);
  if (view.against) all.push(['against', escape(view.against)]);
  if (view.counted !== START.counted) all.push(['measure', view.counted]);
  if (view.per !== START.per) all.push(['per', view.per]);
  if (view.withCalls) all.push(['extent', 'total']);
  if (view.by !== START.by) all.push(['by', view.by]);
  if (view.direction) all.push(['direction', view.direction]);
  if (view.of) all.push(['of', escape(view.of)]);
  if (view.fold) all.push(['fold', 'yes']);
  if (view.wholeStacks) all.push(['stacks', 'whole']);
  if (view.width !== START.width) all.push(['width', view.width]);
  if (view.sort !== usualSort(view.tab) || view.descending !== START.descending)
    all.push(['sort', (view.descending ? '' : '-') + view.sort]);
  if (view.allRows) all.push(['rows', 'all']);
  if (view.search) all.push(['search', escape(view.search)]);
  if (view.focus.length) all.push(['focus', shortPath(view.focus)]);
  else if (view.shortFocus) all.push(['focus', `~${view.shortFocus}`]);
  if (view.open) all.push(['open', view.open]);
  if (view.zoom) all.push(['zoom', view.zoom.join(',')]);
  if (view.row) all.push(['row', escape(view.row)]);
  if (view.selected) all.push(['selected', selection(view.focus, view.selected)]);
  return all;
}

export function encode(view: View): { address: string; whole: boolean } {
  let address = `#${view.tab}`;
  let whole = true;
  for (const [key, value] of parts(view)) {
    const longer = `${address}&${key}=${value}`;
    if (longer.length <= ADDRESS_MOST) address = longer;
    else whole = false;
  }
  return { address, whole };
}

const oneOf = <T extends string>(values: readonly T[], text: string | undefined, usual: T): T =>
  values.includes(text as T) ? (text as T) : usual;

function readZoom(text: string | undefined): View['zoom'] {
  const [low = NaN, high = NaN, top = NaN] = (text ?? '').split(',').map(Number);
  return low >= 0 && low < high && high <= 1 && Math.abs(top) < 1e9 ? [low, high, top] : null;
}

/** Reads an address. What is unknown or wrong in it is as usual. */
export function decode(address: string): View {
  const [tab = '', ...rest] = address.replace(/^#/, '').split('&');
  const values = new Map(
    rest.map((part) => {
      const equals = part.indexOf('=');
      return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    }),
  );
  const text = (key: string) => unescape(values.get(key) ?? '').replace(/[\r\n]+/g, ' ');
  const sort = values.get('sort') ?? '';
  const of = text('of');
  const direction = values.get('direction');
  const focus = values.get('focus') ?? '';
  const selected = focus.startsWith('~') ? undefined : values.get('selected');
  const shown = oneOf(TABS, tab, START.tab);
  /* Older addresses have one direction of a function: the half in which they look at something. */
  const half = of && direction === 'callers' ? [CALLERS] : [];
  const inHalf = (path: string[]) => (path.length ? [...half, ...path] : path);
  const focused = focus.startsWith('~') ? [] : inHalf(readPath(focus));
  return {
    tab: shown,
    where: text('where'),
    by: oneOf(GROUPINGS, values.get('by'), START.by),
    direction: !of && (direction === 'callers' || direction === 'callees') ? direction : null,
    of,
    fold: values.get('fold') === 'yes',
    wholeStacks: values.get('stacks') === 'whole',
    open: /^[\w-]*$/.exec(values.get('open') ?? '')?.[0] ?? '',
    width: values.get('width') === 'blocks' ? 'blocks' : 'bytes',
    focus: of ? focusIn(focused) : focused,
    shortFocus: focus.startsWith('~') ? half.map(digest).join('') + focus.slice(1) : '',
    selected: selected === undefined ? null : selected.startsWith(';') ? [...focused, ...readPath(selected.slice(1))] : inHalf(readPath(selected)),
    row: text('row'),
    search: text('search'),
    sort: oneOf(SORTS, sort.replace(/^-/, ''), usualSort(shown)),
    descending: sort ? !sort.startsWith('-') : START.descending,
    allRows: values.get('rows') === 'all',
    zoom: readZoom(values.get('zoom')),
    against: text('against'),
    counted: oneOf(MEASURES, values.get('measure'), START.counted),
    per: oneOf(SCALES, values.get('per'), START.per),
    withCalls: values.get('extent') === 'total',
  };
}

/** A path as the engine takes it. */
export const pathText = (labels: string[]): string => labels.join(SEPARATOR);
/* SPDX-License-Identifier: MIT */
