/* The menu of a box or a row: each entry is a clause of the query, or another look at the same blocks. */
import { signal } from '@preact/signals-core';
import type { Label } from '../engine/answers.ts';
import type { FlameBox } from '../flame/flame.ts';
import { quote, withClauses } from '../state/clauses.ts';
import { addClauses, change, say, showFunction, view } from '../state/store.ts';
import { copyText } from './export.ts';

export interface Item {
  text: string;
  key?: string;
  act: () => void;
}

interface Menu {
  name: string;
  items: Item[];
  x: number;
  y: number;
  /** What had the keyboard's focus. */
  from: HTMLElement | null;
}

export const menu = signal<Menu | null>(null);

/** The comparison that selects the stacks with this label, or those of this thread, process or type. */
export function selects(label: Label, operator: '=' | '!='): string | null {
  const { by } = view.value;
  const [field, value] = label.function
    ? [by === 'thread' || by === 'process' || by === 'type' ? by : 'fn', label.function]
    : label.file && by === 'file'
      ? ['file', label.file]
      : ['module', label.module];
  return value ? `${field} ${operator} ${quote(value)}` : null;
}

export const keepOnly = (label: Label): void => {
  const clause = selects(label, '=');
  if (clause) addClauses(clause);
};
export const drop = (label: Label): void => {
  const clause = selects(label, '!=');
  if (clause) addClauses(clause);
};

/** Takes a function out of all stacks: its callers get its blocks. */
export const hide = (label: Label): void => {
  if (label.function) change({ where: withClauses(view.value.where, [`hide = ${quote(label.function)}`]), focus: [], selected: null, row: '', zoom: null });
};

export function itemsOf(label: Label, path: string[] | null): Item[] {
  const items: Item[] = [];
  if (path?.length) items.push({ text: 'Show from here', key: 'Enter', act: () => change({ focus: path, zoom: null }) });
  items.push({ text: say('both'), key: 's', act: () => showFunction(label.text) });
  if (selects(label, '=')) {
    items.push({ text: say('keep'), key: 'k', act: () => keepOnly(label) });
    items.push({ text: say('drop'), key: 'd', act: () => drop(label) });
  }
  if (label.function) {
    items.push({ text: say('hide'), key: 'x', act: () => hide(label) });
    items.push({ text: say('begin'), act: () => change({ where: withClauses(view.value.where, [`from = ${quote(label.function)}`]), focus: [], selected: null, zoom: null }) });
  }
  if (label.module && label.function)
    items.push({ text: say('keepModule'), act: () => addClauses(`module = ${quote(label.module)}`) });
  items.push({ text: 'Copy its name', act: () => void copyText(label.text, 'The name is copied.') });
  return items;
}

/** The menu of a folded chain has only `first`: what else there is is of one function. */
export function openMenu(box: FlameBox, point: { x: number; y: number }, first: Item[]): void {
  if (!box.label) return;
  openItems(box.name, box.chain?.open === false ? first : [...first, ...itemsOf(box.label, box.path)], point);
}

export function openItems(name: string, items: Item[], { x, y }: { x: number; y: number }): void {
  const from = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  menu.value = { name, items, x, y, from };
}

/** What a row of a table does with a right click. */
export const menuOf = (label: Label) => (event: MouseEvent): void => {
  event.preventDefault();
  openItems(label.text, itemsOf(label, null), { x: event.clientX, y: event.clientY });
};

export function closeMenu(): void {
  const from = menu.value?.from;
  menu.value = null;
  from?.focus({ preventScroll: true });
}
/* SPDX-License-Identifier: MIT */
