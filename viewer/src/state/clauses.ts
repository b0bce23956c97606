/* Takes a query apart at its topmost `and` and puts it together again.
 *
 * The engine alone judges queries. Here only the bounds of the clauses matter, so that a clause can
 * be a chip. A text with a topmost `or`, or one that cannot be cut, is one clause. The moment,
 * `at = …`, is a clause too, but at most one.
 */

/** Where the token at `from` ends: a quoted text, in which two quotes stand for one, or everything up to a blank or a parenthesis. */
function valueEnd(text: string, from: number): number {
  const quote = text[from];
  if (quote === '"' || quote === "'") {
    let close = text.indexOf(quote, from + 1);
    while (close >= 0 && text[close + 1] === quote) close = text.indexOf(quote, close + 2);
    return close < 0 ? text.length : close + 1;
  }
  let at = from;
  while (at < text.length && !/[\s()]/.test(text[at]!)) at++;
  return at;
}

interface Word {
  word: string;
  from: number;
  to: number;
}

/** The words `and` and `or` outside parentheses and values. */
function joints(text: string): Word[] {
  const found: Word[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const character = text[at]!;
    if (/\s/.test(character)) at++;
    else if (character === '(') depth++, at++;
    else if (character === ')') depth--, at++;
    else if (/[=!~<>]/.test(character)) {
      while (/[=!~<>]/.test(text[at] ?? '')) at++;
      while (/\s/.test(text[at] ?? '')) at++;
      at = valueEnd(text, at);
    } else {
      let to = at;
      while (to < text.length && !/[\s()=!~<>]/.test(text[to]!)) to++;
      const word = text.slice(at, to);
      if (depth === 0 && (word === 'and' || word === 'or')) found.push({ word, from: at, to });
      at = to;
    }
  }
  return found;
}

export function split(where: string): string[] {
  const words = joints(where);
  if (words.some((word) => word.word === 'or')) return where.trim() ? [where.trim()] : [];
  const clauses: string[] = [];
  let from = 0;
  for (const { from: to, to: next } of words) {
    clauses.push(where.slice(from, to).trim());
    from = next;
  }
  clauses.push(where.slice(from).trim());
  if (clauses.some((clause) => clause === '')) return where.trim() ? [where.trim()] : [];
  return clauses;
}

const hasOr = (clause: string) => joints(clause).some((word) => word.word === 'or');

export function join(clauses: string[]): string {
  if (clauses.length < 2) return clauses[0] ?? '';
  return clauses.map((clause) => (hasOr(clause) ? `(${clause})` : clause)).join(' and ');
}

/** The regular expression, of POSIX and of JavaScript alike, that finds a text itself. */
export const literally = (text: string): string => text.replace(/[.*+?^${}()|[\\]/g, '\\$&');

/** A value as the language reads it, quoted if need be. */
export function quote(value: string): string {
  if (value !== '' && !/[\s()"']/.test(value)) return value;
  if (value.includes('"') && !value.includes("'")) return `'${value}'`;
  return `"${value.replaceAll('"', '""')}"`;
}

const COMPARISON = /^([a-z_]+)\s*(=|!=|~|!~|<=|<|>=|>)\s*(.*)$/s;

export interface Comparison {
  field: string;
  operator: string;
  value: string;
}

export function comparison(clause: string): Comparison | null {
  const found = COMPARISON.exec(clause);
  if (!found) return null;
  const written = found[3]!;
  if (valueEnd(written, 0) !== written.length) return null;
  const quoted = /^(["'])(.*)\1$/s.exec(written);
  return { field: found[1]!, operator: found[2]!, value: quoted ? quoted[2]!.replaceAll(quoted[1]! + quoted[1]!, quoted[1]!) : written };
}

/** The moment that a query names, and the query without it. */
export function moment(where: string): { at: string | null; rest: string } {
  const clauses = split(where);
  const isMoment = (clause: string) => {
    const { field, operator } = comparison(clause) ?? {};
    return field === 'at' && operator === '=';
  };
  const found = clauses.filter(isMoment);
  const at = found.length ? comparison(found[found.length - 1]!)!.value : null;
  return { at, rest: join(clauses.filter((clause) => !isMoment(clause))) };
}

export function withMoment(where: string, at: string | null): string {
  const { rest } = moment(where);
  if (at === null) return rest;
  return rest === '' ? `at = ${at}` : join([`at = ${at}`, ...split(rest)]);
}

/** The query with more clauses. A clause that is there already is not added again. */
export function withClauses(where: string, more: string[]): string {
  const clauses = split(where);
  for (const clause of more) if (!clauses.includes(clause)) clauses.push(clause);
  return join(clauses);
}

/** The query whose bounds of these fields (`born >= …`, `born < …`) are replaced. */
export function withBounds(where: string, fields: string[], bounds: string[]): string {
  const kept = split(where).filter((clause) => {
    const found = comparison(clause);
    return !(found && fields.includes(found.field) && /^[<>]/.test(found.operator));
  });
  return join([...kept, ...bounds]);
}

/** The bounds that a query sets on a field. */
export function bounds(where: string, field: string): { from: string | null; to: string | null } {
  const found: { from: string | null; to: string | null } = { from: null, to: null };
  for (const clause of split(where)) {
    const parts = comparison(clause);
    if (parts?.field !== field) continue;
    if (parts.operator.startsWith('>')) found.from = parts.value;
    if (parts.operator.startsWith('<')) found.to = parts.value;
  }
  return found;
}
/* SPDX-License-Identifier: MIT */
