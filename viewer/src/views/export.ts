/* What can be taken away from the page: a table, a picture, a command, a link. */
import type { Compare, Table } from '../engine/answers.ts';
import { compare, comparing, table, totals } from '../state/asking.ts';
import { encode } from '../state/address.ts';
import { moment, split, withClauses } from '../state/clauses.ts';
import { given, head, notice, say as worded, view } from '../state/store.ts';
import { isSnapshot } from '../state/words.ts';
import { queryTime } from '../numbers.ts';
import { againstOf, filterOf, perOf } from '../state/questions.ts';
import { growthWord } from './growth.tsx';
import { labelOf } from './rows.ts';

let fades = 0;
export function say(text: string): void {
  notice.value = text;
  window.clearTimeout(fades);
  fades = window.setTimeout(() => (notice.value = ''), 4000);
}

function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* A page from file:// may have no clipboard of its own. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

export async function copyText(text: string, done: string): Promise<void> {
  say((await toClipboard(text)) ? done : 'The browser did not let the page copy.');
}

export function copyLink(): void {
  const { address, whole } = encode(view.value);
  const link = location.href.replace(/#.*$/, '') + address;
  void copyText(link, whole ? 'The link to this view is copied.' : 'The link is copied, without what is too long for a link.');
}

/* ---- CSV ---- */

/** A value for a spreadsheet: quoted, and never read as a formula. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replace(/"/g, '""')}"`;
}

const NUMBERS = ['self', 'self_low', 'self_high', 'total', 'total_low', 'total_high', 'self_blocks', 'blocks', 'self_samples', 'samples'] as const;

/* What a heap snapshot does not have, and numbers that are of ranges. */
const NOT_OF_SNAPSHOTS = /^(file|line)$|samples|life|low_|high_|_low|_high/;

/** Lines of cells, the first of names. */
function csvOfLines(lines: (string | number)[][]): string {
  const names = lines[0]!;
  const isKept = names.map((name) => !isSnapshot(head.peek()) || !NOT_OF_SNAPSHOTS.test(String(name)));
  return lines.map((line) => `${line.filter((_, column) => isKept[column]).join(',')}\r\n`).join('');
}

export function csvOf(of: Table, order: Iterable<number>): string {
  const lines: (string | number)[][] = [['name', worded('module'), 'file', 'line', ...NUMBERS.map((name) => (/blocks|samples/.test(name) ? name : `${name}_bytes`)), 'life_median_ns', ...(of.columns.growth ? ['growth', 'growth_bytes_per_second'] : [])]];
  for (const index of order) {
    const label = labelOf(of, index);
    const life = of.columns.life[index]!;
    lines.push(
      [
        ...[label.text, label.module, label.file].map(csvText),
        label.line || '',
        ...NUMBERS.map((name) => Math.round(of.columns[name][index]!)),
        Number.isNaN(life) ? '' : Math.round(life),
        ...(of.columns.growth ? [csvText(growthWord(of, index)), Math.round(of.columns.growth[index]!)] : []),
      ],
    );
  }
  return csvOfLines(lines);
}

const CHANGES = ['change', 'low', 'high', 'before', 'before_low', 'before_high', 'after', 'after_low', 'after_high'] as const;

export function comparedCsv({ columns, labels }: Compare): string {
  const lines: (string | number)[][] = [['name', worded('module'), 'file', 'line', 'sure', ...CHANGES.map((name) => `${name}_bytes`), 'before_samples', 'after_samples']];
  labels.forEach((label, row) => {
    const numbers = CHANGES.map((name) => Math.round(columns[name][row]!));
    lines.push([...[label.text, label.module, label.file].map(csvText), label.line || '', columns.sure[row]!, ...numbers, columns.before_samples[row]!, columns.after_samples[row]!]);
  });
  return csvOfLines(lines);
}

/** A name for what is taken from this view: that of the trace, and the tab. */
const nameOf = (ending: string) => `${given('file').replace(/^.*\/|\.trace$/g, '').replace(/[^\w.-]+/g, '-') || 'winnow'}-${view.value.tab}.${ending}`;

export function saveTable(order: Iterable<number>): void {
  const { answer } = table.value;
  const text = comparing.value ? compare.value.answer && comparedCsv(compare.value.answer) : answer && csvOf(answer, order);
  if (text) download(nameOf('csv'), new Blob(['\ufeff', text], { type: 'text/csv' }));
}

export function savePicture(canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => blob && download(nameOf('png'), blob));
}

/* ---- the command ---- */

const shellWord = (text: string) => (/^[\w./+,:@%=-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

function compareCommand(file: string): string {
  const { where, by, withCalls } = view.value;
  const per = perOf(view.value);
  const { at, rest } = moment(where);
  const words = ['winnow', 'diff'];
  if (!head.value?.before) words.push('--at', `${againstOf(view.value, head.value)},${at ?? 'end'}`);
  else if (at) words.push('--at', at);
  if (split(rest).length) words.push('--where', rest);
  if (by !== 'function') words.push('--by', by);
  if (per !== 'run') words.push('--per', per);
  if (withCalls) words.push('--sort', 'total');
  return [...words, ...(head.value?.before ? [given('before') || 'before.trace'] : []), file].map(shellWord).join(' ');
}

/** The command that prints this view. */
export function commandOf(): string {
  const file = given('file') || 'run.trace';
  if (isSnapshot(head.value)) return ['winnow', 'heap', ...(head.value?.before ? [given('before')] : []), file].map(shellWord).join(' ');
  const { where, tab, by, sort } = view.value;
  const { at } = moment(where);
  const asked = filterOf(view.value);
  if (tab === 'compare') return compareCommand(file);
  const brief = (tab === 'churn' || tab === 'large') && totals.value.answer?.totals.brief_ns;
  const rest = brief ? withClauses(asked, [`life < ${queryTime(brief)}`]) : asked;
  const words = ['winnow', 'report'];
  if (tab === 'end') words.push('--at', at ?? 'end');
  if (split(rest).length) words.push('--where', rest);
  if (by !== 'function') words.push('--by', by);
  if (sort === 'total' || sort === 'blocks' || sort === 'samples') words.push('--sort', sort);
  return [...words, file].map(shellWord).join(' ');
}

export const copyCommand = (): void => void copyText(commandOf(), `Copied: ${commandOf()}`);
/* SPDX-License-Identifier: MIT */
