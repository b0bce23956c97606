/* The keys of the page. Those of the flame graph are its own. */
import { groupingsOf } from '../state/questions.ts';
import { openMoment } from '../state/moments.ts';
import { change, direction, head, leaveFunction, letters, openNumber, panel, redo, say, sayInside, setDirection, showFunction, timed, toggleTable, toggleTheme, undo, view } from '../state/store.ts';
import { isSnapshot } from '../state/words.ts';
import { copyLink } from './export.ts';
import { graph, selectedBox, showWholeStacks } from './flame.tsx';
import { drop, hide, keepOnly, menu } from './menu.tsx';
import { showKinds } from './tabs.tsx';
import { growRange, stepCollection, stepPeak } from './time.tsx';

interface Key {
  shown: string[];
  does: string;
}

/** What keys do for this recording. */
export const keysShown = (): { title: string; keys: Key[] }[] =>
  ALL().map(({ title, keys }) => ({ title, keys: keys.filter(({ does }) => does) }));

const ALL = (): { title: string; keys: Key[] }[] => [
  {
    title: 'Questions',
    keys: [
      isSnapshot(head.value) ? { shown: ['1', '2'], does: 'held, compare' } : { shown: ['1', '–', '4'], does: 'held, growing, churn, compare' },
      { shown: ['5', '6', '7'], does: timed('lives long; promoted, or large blocks that are freed soon; all allocated') },
      { shown: ['8'], does: timed('sizes and lives of the blocks') },
      { shown: ['p'], does: timed('the peak') },
      { shown: ['e'], does: timed('the end') },
      { shown: [',', '.'], does: timed('the local peak before, after') },
      { shown: ['[', ']'], does: timed('the collection before, after') },
      { shown: ['Shift', ',', '.'], does: timed('blocks born in a range that grows to the left, right') },
    ],
  },
  {
    title: 'Query and view',
    keys: [
      { shown: ['/', 'f'], does: 'search names, or filter by a query' },
      { shown: ['n', 'N'], does: 'next, previous match' },
      { shown: ['g'], does: isSnapshot(head.value) ? 'group by type or root, or by type' : 'group by the next of function, line, file, module' },
      { shown: ['i'], does: say('either') },
      { shown: ['m'], does: 'widths of boxes: bytes or blocks' },
      { shown: ['c'], does: say('recursion') },
      { shown: ['w'], does: `${say('stacks')}, or ${say('frames')} that pass on at least 95 % in one box` },
      { shown: ['u', 'U'], does: 'undo, redo (as Back and Forward)' },
      { shown: ['y'], does: 'copy the link' },
      { shown: ['t'], does: timed('the chart over time as a table') },
      { shown: ['l'], does: 'light or dark' },
      { shown: ['?'], does: 'this help' },
    ],
  },
  {
    title: 'Selected box',
    keys: [
      { shown: ['←', '→', '↑', '↓'], does: say('neighbours') },
      { shown: ['Enter'], does: 'fill the width with it' },
      { shown: ['o'], does: `show the ${say('frames')} of a folded box, or fold them` },
      { shown: ['Backspace'], does: 'the focus before' },
      { shown: ['Home'], does: 'the whole' },
      { shown: ['+', '−', '0'], does: 'zoom in, out, all' },
      { shown: ['k'], does: sayInside('keep') },
      { shown: ['d'], does: sayInside('drop') },
      { shown: ['x'], does: sayInside('hide') },
      { shown: ['s'], does: say('itsBoth') },
      { shown: ['Esc'], does: `all ${say('functions')} again` },
    ],
  },
];

function focusOn(id: string): void {
  const input = document.getElementById(id) as HTMLInputElement | null;
  input?.focus();
  input?.select();
}

function groupByNext(): void {
  const all = groupingsOf(head.value);
  const next = all[(all.indexOf(view.value.by) + 1) % all.length]!;
  change({ by: next, focus: [], selected: null, row: '', zoom: null, of: '' });
}

const label = () => selectedBox.value?.label ?? null;

const ACTIONS: Record<string, () => void> = {
  p: () => openMoment('peak'),
  e: () => openMoment('end'),
  ',': () => stepPeak(-1),
  '.': () => stepPeak(1),
  f: () => focusOn('query-box'),
  '/': () => focusOn('query-box'),
  n: () => void graph?.selectMatch(1),
  N: () => void graph?.selectMatch(-1),
  g: groupByNext,
  m: () => change({ width: view.value.width === 'blocks' ? 'bytes' : 'blocks', zoom: null }),
  '[': () => stepCollection(-1),
  ']': () => stepCollection(1),
  i: () => setDirection(direction.value === 'callers' ? 'callees' : 'callers'),
  c: () => change({ fold: !view.value.fold, focus: [], selected: null, zoom: null }),
  w: () => showWholeStacks(!view.value.wholeStacks),
  o: () => void graph?.toggleChain(),
  u: undo,
  U: redo,
  y: copyLink,
  t: () => toggleTable('time'),
  l: toggleTheme,
  k: () => {
    const chosen = label();
    if (chosen) keepOnly(chosen);
  },
  d: () => {
    const chosen = label();
    if (chosen) drop(chosen);
  },
  x: () => {
    const chosen = label();
    if (chosen) hide(chosen);
  },
  s: () => {
    const chosen = label();
    if (chosen) showFunction(chosen.text);
  },
  Escape: () => {
    if (view.value.of) leaveFunction();
  },
  '8': showKinds,
  '?': () => (panel.value = 'help'),
};
for (let number = 1; number <= 7; number++) ACTIONS[number] = () => openNumber(number);

/** With Shift, by their places: what a comma becomes with Shift differs between keyboards. */
const GROWING: Record<string, () => void> = { Comma: () => growRange(-1), Period: () => growRange(1) };

const TYPED_INTO = 'input:not([type=checkbox]), textarea, select, [contenteditable]';

export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((!letters.value && event.key !== 'Escape') || panel.value || menu.value) return;
    if ((event.target as Element | null)?.closest?.(TYPED_INTO)) return;
    if (event.key.startsWith('Arrow') && event.target === document.body) {
      event.preventDefault();
      graph?.takeFocus();
      return;
    }
    const act = (event.shiftKey && GROWING[event.code]) || ACTIONS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.querySelector('[data-skip]')?.addEventListener('click', (event) => {
    event.preventDefault();
    graph?.takeFocus();
  });
}
/* SPDX-License-Identifier: MIT */
