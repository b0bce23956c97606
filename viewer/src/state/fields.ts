/* The fields of the query language, for completion. */
import { literally, quote } from './clauses.ts';

export interface Field {
  name: string;
  operators: string[];
  /** What a value looks like. */
  values: string[];
  help: string;
  collectedOnly?: boolean;
}

const NAMES = ['=', '!=', '~', '!~'];
const NUMBERS = ['>=', '<', '<=', '>', '=', '!='];
const YES_NO = ['yes', 'no'];

export const FIELDS: Field[] = [
  { name: 'fn', operators: NAMES, values: [], help: 'a function on the callstack' },
  { name: 'file', operators: NAMES, values: [], help: 'a source file on the callstack' },
  { name: 'module', operators: NAMES, values: [], help: 'a program or library on the callstack' },
  { name: 'thread', operators: NAMES, values: [], help: 'the allocating thread, by name or number' },
  { name: 'type', operators: NAMES, values: [], help: 'what the block is', collectedOnly: true },
  { name: 'process', operators: NAMES, values: [], help: 'the process, by name or number' },
  { name: 'host', operators: NAMES, values: [], help: 'the machine of the process' },
  { name: 'release', operators: NAMES, values: [], help: 'the first digits of its program\'s build-id' },
  { name: 'size', operators: NUMBERS, values: ['100', '1K', '64K', '1M'], help: 'bytes asked for' },
  { name: 'life', operators: NUMBERS, values: ['10us', '1ms', '100ms', '1s'], help: 'time from birth to death' },
  { name: 'born', operators: NUMBERS, values: ['1s', '10s'], help: 'time of birth since the start' },
  { name: 'died', operators: NUMBERS, values: ['1s', '10s'], help: 'time of death since the start' },
  { name: 'alive', operators: ['=', '!='], values: YES_NO, help: 'still alive at the end of the trace' },
  { name: 'life_bytes', operators: NUMBERS, values: ['1M', '100M'], help: 'bytes allocated by all during the life' },
  {
    name: 'area',
    operators: ['=', '!='],
    values: ['minor', 'major', 'outside'],
    help: 'where in the collected heap it was born',
    collectedOnly: true,
  },
  {
    name: 'source',
    operators: ['=', '!='],
    values: ['normal', 'marshal', 'custom', 'external', 'python'],
    help: 'who allocated it; python: CPython, for a small object',
  },
  { name: 'promoted', operators: ['=', '!='], values: YES_NO, help: 'moved to the major heap', collectedOnly: true },
  { name: 'live', operators: ['=', '!='], values: ['1.5s'], help: 'live at that time' },
  { name: 'hide', operators: ['=', '~'], values: [], help: 'functions that are taken out of all stacks' },
  { name: 'from', operators: ['=', '~'], values: [], help: 'stacks begin at this function' },
  { name: 'at', operators: ['='], values: ['peak', 'end', '1.5s'], help: 'the moment at which memory is held' },
];

export interface Completion {
  text: string;
  help: string;
}

/** The clause that was typed: a name alone stands for the functions whose names have it, whatever its characters. */
export function clauseOf(typed: string): string {
  const text = typed.trim();
  return text === '' || /[=!~<>]/.test(text) ? text : `fn ~ ${quote(literally(text))}`;
}

/** Whether a text is a query, or on its way to one: it begins with a field, or has an operator between blanks. Any other is a
 *  word that names have. */
export function isQuery(typed: string): boolean {
  const begin = /^\s*(?:not\s+|\(\s*)*([a-z_]+)\s*(\s|[=!~<>])/.exec(typed)?.[1];
  return ['function', 'time', ...FIELDS.map(({ name }) => name)].includes(begin ?? '') || /\s([=~<>]|!=|!~|<=|>=)\s/.test(typed);
}

/** The clause that keeps what a word marks: the word as it is, or where its marks say so, as a regular expression. */
export function clauseOfWord(word: string): string {
  const text = word.trim();
  if (!/^\^|\$$|\||\.[*+]/.test(text)) return `fn ~ ${quote(literally(text))}`;
  return `fn ~ ${quote(text)}`;
}

/** What may stand next in a clause that was typed so far; `names`: those of a field as they are. `helps`: of the fields, if
 *  these are not all; `named`: what a name alone stands for. */
export function completions(typed: string, collected: boolean, names: (field: string) => string[], helps?: Record<string, string>, named = 'functions whose names have this'): Completion[] {
  const fields = FIELDS.filter(({ name, collectedOnly }) => (helps ? name in helps : collected || !collectedOnly));
  const start = typed.trimStart();
  const prefix = /^not\s+/.exec(start)?.[0] ?? '';
  const rest = start.slice(prefix.length);
  if (!/[=!~<>]/.test(rest)) {
    const name = rest.trimEnd();
    const exact = fields.find((field) => field.name === name);
    return [
      ...fields.filter((field) => field !== exact && field.name.startsWith(rest)).map((field) => ({ text: `${prefix}${field.name} `, help: (helps ?? {})[field.name] ?? field.help })),
      ...(exact ? exact.operators.map((operator) => ({ text: `${prefix}${name} ${operator} `, help: '' })) : []),
      ...(name && !exact ? [{ text: prefix + clauseOf(name), help: named }] : []),
    ];
  }
  const found = /^([a-z_]+)\s*(=|!=|~|!~|<=|<|>=|>)\s*(.*)$/s.exec(rest);
  const field = fields.find((one) => one.name === found?.[1]);
  if (!found || !field) return [];
  const [, , operator, written] = found as unknown as string[];
  const isSearch = operator!.endsWith('~');
  const begun = written!.replace(/^["']|["']$/g, '').toLowerCase();
  const wanted = isSearch ? begun.replace(/\\(.)/g, '$1') : begun;
  const values = field.values.length ? field.values : names(field.name);
  return values
    .filter((value) => value.toLowerCase().includes(wanted))
    .map((value) => quote(isSearch ? literally(value) : value))
    .filter((value) => value !== written)
    .slice(0, 12)
    .map((value) => ({ text: `${prefix}${field.name} ${operator} ${value}`, help: '' }));
}
/* SPDX-License-Identifier: MIT */
