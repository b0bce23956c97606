/* The rows of the table: searched, sorted, and how many of them are in sight. */
import type { Label, Table } from '../engine/answers.ts';
import type { Sort } from '../state/address.ts';
import { growthKey } from './growth.tsx';

export interface Row {
  index: number;
  label: Label;
}

const NONE: Label = { text: '(no callstack)', function: '', module: '', file: '', line: 0 };

export const labelOf = (table: Table, index: number): Label => table.labels[table.columns.label[index]!] ?? NONE;

/** The sampled blocks on which a row rests: those of the total where that is the order, else its own. */
export const samplesOf = ({ columns }: Table, sort: Sort): Table['columns']['samples'] => (sort === 'total' ? columns.samples : columns.self_samples);

const LEAST_CALLERS = 3;

/** The rows without those that allocated nothing themselves, but for the chosen one; all, if these are few. */
export function withoutCallers(table: Table, rows: Uint32Array, chosen: string): Uint32Array {
  const { self, self_samples } = table.columns;
  const kept = rows.filter((index) => self[index]! > 0 || self_samples[index]! > 0 || labelOf(table, index).text === chosen);
  return rows.length - kept.length < LEAST_CALLERS ? rows : kept;
}

/** The numbers by which a column sorts. A life that is unknown is longer than all others. */
function keyOf(table: Table, sort: Exclude<Sort, 'name'>): (index: number) => number {
  const { columns } = table;
  switch (sort) {
    case 'self':
      return (index) => columns.self[index]!;
    case 'total':
      return (index) => columns.total[index]!;
    case 'blocks':
      return (index) => columns.blocks[index]!;
    case 'samples':
      return (index) => columns.self_samples[index]!;
    case 'growth':
      return (index) => growthKey(table, index);
    case 'life':
      return (index) => (Number.isNaN(columns.life[index]!) ? Infinity : columns.life[index]!);
  }
}

export function rowsOf(table: Table, search: RegExp | null, sort: Sort, descending: boolean): Uint32Array {
  const kept: number[] = [];
  for (let index = 0; index < table.columns.label.length; index++)
    if (!search || search.test(labelOf(table, index).text)) kept.push(index);
  const sign = descending ? -1 : 1;
  if (sort === 'name') {
    kept.sort((a, b) => sign * labelOf(table, a).text.localeCompare(labelOf(table, b).text, 'en'));
  } else {
    const key = keyOf(table, sort);
    kept.sort((a, b) => {
      const [one, other] = [key(a), key(b)];
      return one === other ? a - b : sign * (one < other ? -1 : 1);
    });
  }
  return Uint32Array.from(kept);
}

/** The rows in sight and some around them: a page is scrolled before rows are missing. */
export function inSight(rows: number, height: number, top: number, rowHeight: number): [from: number, to: number] {
  const around = 8;
  const from = Math.max(0, Math.floor(top / rowHeight) - around);
  const to = Math.min(rows, Math.ceil((top + height) / rowHeight) + around);
  return [Math.min(from, to), to];
}
/* SPDX-License-Identifier: MIT */
