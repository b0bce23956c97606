/* Short forms of long names. A name gets forms from the whole down to its last segment, once. The
 * widest form that fits is shown: parameters and the return type go first, then template arguments,
 * the long ones before those by which instances differ, then segments from the left. At last the name itself is cut in its middle.
 *
 * Names come from traces and may be anything: 28 kB long, of control characters, right to left. */

import type { Glyphs } from './glyphs.ts';

const LONGEST = 65536; // of what is parsed
const LONGEST_FORM = 1024; // of what is measured and drawn
const ELLIPSIS = '…';
const NO_BREAK = '\u00a0';

/* Control characters, marks that turn the writing direction, and what has no width but is there. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The name without characters that are not seen or that change how others are seen, and not too long. */
export function cleanName(name: string, longest = LONGEST): string {
  const cut = name.length > longest ? name.slice(0, longest) + ELLIPSIS : name;
  return cut.replace(INVISIBLE, ' ').replace(LONE_SURROGATE, '\ufffd');
}

/** The clean name as text for the DOM: its writing direction ends where it ends. */
export function isolated(name: string, longest = LONGEST_FORM): string {
  return `\u2068${cleanName(name, longest)}\u2069`;
}

/** A name is cut into plain text and whole groups in brackets. */
interface Piece {
  text: string;
  kind: 'plain' | 'template' | 'parameters' | 'tag';
}

const OPERATOR = /operator(\(\)|\[\]|<=>|->\*?|<<=?|>>=?|[-+*/%^&|~!=<>,]=?|&&|\|\||\+\+|--)/y;
const KINDS: Record<string, Piece['kind']> = { '<': 'template', '(': 'parameters', '[': 'tag' };
const CLOSING: Record<string, string> = { '<': '>', '(': ')', '[': ']' };

/** The end of the group that opens at `start`: after its closing bracket, or the end of the text. */
function groupEnd(text: string, start: number): number {
  const expected: string[] = [];
  for (let index = start; index < text.length; index++) {
    const character = text[index]!;
    const close = CLOSING[character];
    if (close !== undefined) expected.push(close);
    else if (character === '>' && text[index - 1] === '-') continue;
    else if (character === ')' || character === ']' || character === '>') {
      /* A `<` inside parentheses may be a comparison: the parenthesis closes it too. */
      while (expected.length > 0 && expected.pop() !== character);
      if (expected.length === 0) return index + 1;
    }
  }
  return text.length;
}

const LONGEST_PLAIN = 4096;
const VERSION = /(?<=(?<![\w:])std::)__(?:cxx11|1|ndk1|cxx1998|debug)::|\[abi:\w+\]/g;
const DEFAULT = /^std::(?:allocator|char_traits|less|hash|equal_to|default_delete|regex_traits)</;

/** What stands between brackets, without the last arguments that C++'s library takes if there are none: they are made of the first. */
function argumentsOf(list: string): string[] {
  const found: string[] = [];
  for (let begin = 0, index = 0; index <= list.length; ) {
    if (index < list.length && list[index] !== ',') {
      index = CLOSING[list[index]!] ? groupEnd(list, index) : index + 1;
      continue;
    }
    found.push(list.slice(begin, index).replace(/^ |(?<=>) $/g, ''));
    begin = ++index;
  }
  while (found.length > 1 && DEFAULT.test(found.at(-1)!) && found.at(-1)!.includes(found[0]!)) found.pop();
  return found;
}

function withoutDefaults(text: string): string {
  let plain = '';
  for (let index = 0; index < text.length; ) {
    OPERATOR.lastIndex = index;
    const operator = text[index] === 'o' ? OPERATOR.exec(text) : null;
    const end = text[index] === '<' ? groupEnd(text, index) : 0;
    if (!end || text[end - 1] !== '>') {
      const whole = operator?.[0] ?? text[index]!;
      plain += whole;
      index += whole.length;
      continue;
    }
    const list = argumentsOf(text.slice(index + 1, end - 1)).map(withoutDefaults).join(', ');
    const usual = plain.replace(/(?<![\w:])std::basic_(\w+)$/, list === 'wchar_t' ? 'std::w$1' : 'std::$1');
    plain = /^(char|wchar_t)$/.test(list) && usual !== plain ? usual : `${plain}<${list}>`;
    index = end;
  }
  return plain;
}

/** The lambda of "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(…)", and of what a thread runs; or the name. */
function lambdaOf(name: string): string {
  const called = /^(std::(?:_Function_handler|thread::_State_impl)<).*\}>+::_M_(?:invoke|run)\(/.exec(name);
  if (!called) return name;
  let lambda = argumentsOf(name.slice(called[1]!.length, groupEnd(name, called[1]!.length - 1) - 1)).at(-1)!;
  while (lambda.endsWith('>')) lambda = argumentsOf(lambda.slice(lambda.indexOf('<') + 1, -1))[0]!;
  return lambda.endsWith('}') ? `${lambda}::operator()` : name;
}

/** The name as programmers of C++ write it: std::vector<std::string>. The engine finds functions by it, too. */
export function plainOf(name: string): string {
  const clean = cleanName(name).trim();
  return clean.length > LONGEST_PLAIN ? clean : withoutDefaults(lambdaOf(clean).replace(VERSION, ''));
}

/** "<Vec>" of Rust's "<alloc::vec::Vec<T> as core::clone::Clone>". */
function implementing(group: string): string {
  const type = group.slice(1, group.indexOf(' as ')).replace(/<.*/, '');
  return `<${type.slice(type.lastIndexOf(':') + 1)}>`;
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  const flush = () => {
    if (plain !== '') pieces.push({ text: plain, kind: 'plain' });
    plain = '';
  };
  for (let index = 0; index < text.length; ) {
    if (text[index] === 'o') {
      OPERATOR.lastIndex = index;
      const operator = OPERATOR.exec(text);
      if (operator) {
        plain += operator[0];
        index += operator[0].length;
        continue;
      }
    }
    if (text[index] === '{') {
      /* "{lambda(int)#1}" */
      const end = text.indexOf('}', index) + 1 || text.length;
      plain += text.slice(index, end).replace(/\(.*\)/, '(…)').replaceAll(' ', NO_BREAK);
      index = end;
      continue;
    }
    const kind = KINDS[text[index]!];
    if (kind === undefined) {
      plain += text[index++];
      continue;
    }
    const end = groupEnd(text, index);
    const group = text.slice(index, end);
    index = end;
    /* "(anonymous namespace)::f" and "(no callstack)": a parenthesis that begins a segment is a name. */
    const begins = plain === '' ? pieces.length === 0 : plain.endsWith('::');
    if (kind === 'parameters' && begins) {
      plain += group.replaceAll(' ', NO_BREAK); // not the end of a return type
      continue;
    }
    if (kind === 'template' && begins && group.includes(' as ')) {
      plain += implementing(group);
      continue;
    }
    if (plain.endsWith('.')) {
      plain += group; // "f.<locals>.<lambda>" of Python
      continue;
    }
    if (begins && group.startsWith('<lambda')) {
      plain += group.replace(/\(.*\)/s, '(…)').replaceAll(' ', NO_BREAK);
      continue;
    }
    flush();
    pieces.push({ text: group, kind });
  }
  flush();
  return pieces;
}

const SEPARATOR = /::|\/|(?<=[A-Z]\w*)\.(?=[A-Za-z_])/g;

/** Where the segments of a name begin. `::`, `/`, and the dot after a module of OCaml separate them. */
function segmentsOf(text: string): string[] {
  const segments: string[] = [];
  let begin = 0;
  for (const found of text.matchAll(SEPARATOR)) {
    if (found.index === 0) continue;
    segments.push(text.slice(begin, found.index + found[0].length));
    begin = found.index + found[0].length;
  }
  segments.push(text.slice(begin));
  return segments.filter((segment) => segment !== '');
}

/** A function without a name: the module and the address. A part of an address would say nothing. */
const ADDRESS = /\+0x[0-9a-f]+(?: \[before\])?$/;
export const withoutRun = (name: string) => name.replace(/ \[before\]$/, '');
export const isAddress = (name: string): boolean => ADDRESS.test(name);

/** The forms of a name, from the plain one to the shortest. There is at least one. */
export function formsOf(name: string): string[] {
  const clean = plainOf(name);
  if (clean === '') return ['?'];
  const address = ADDRESS.exec(clean);
  if (address !== null) return [...new Set([clean, address[0], withoutRun(address[0])])];
  const pieces = piecesOf(clean);
  const named = partsBefore(pieces);
  const bare = textOf(named, '<…>').replace(/\.<locals>(?=\.)/g, '');
  /* Nothing but brackets: they are the name. */
  if (bare.replace(/<…>/g, '') === '') return [clean.length > LONGEST_FORM ? clean.slice(0, LONGEST_FORM) + ELLIPSIS : clean];
  const segments = segmentsOf(bare);
  const last = segments.at(-1) ?? bare;
  const forms = [clean, textOf(named), ...formsWithArguments(named, bare), bare];
  if (segments.length > 2) forms.push(segments.at(-2)! + last);
  if (segments.length > 1) forms.push(segments.at(-2)! + last.replace(/<…>/g, ''));
  forms.push(last, last.replace(/<…>/g, ''));
  const cut = forms.map((form) => (form.length > LONGEST_FORM ? form.slice(0, LONGEST_FORM) + ELLIPSIS : form));
  const shorter = (form: string, index: number) => cut.slice(0, index).every(({ length }) => length > form.length);
  return cut.filter((form, index) => form !== '' && shorter(form, index));
}

const SHORT = 16; // characters

/** The arguments of a template without their namespaces, if they are short: they tell instances apart. */
function shortArguments(group: string): string {
  const text = group.slice(1, -1).slice(0, 100).replace(/\w+::/g, '').trim();
  return text.length <= SHORT && !/[(<./:]/.test(text) ? `<${text}>` : '<…>';
}

/** The forms that keep short arguments of templates. */
function formsWithArguments(named: Piece[], bare: string): string[] {
  const text = named.map((piece) => (piece.kind === 'template' ? shortArguments(piece.text) : piece.text)).join('').trim();
  if (text === bare) return [];
  const segments = segmentsOf(text);
  const last = segments.at(-1)!;
  return [text, (segments.at(-2) ?? '') + last, ...(bare.endsWith(last) ? [] : [last])];
}

/** What stands before the parameters, without tags and return type; everything if there are no parameters. */
function partsBefore(pieces: Piece[]): Piece[] {
  const parameters = pieces.findIndex((piece, index) => index > 0 && piece.kind === 'parameters');
  const before = (parameters < 0 ? pieces : pieces.slice(0, parameters)).filter(({ kind }) => kind !== 'tag');
  if (parameters < 0) return before.length > 0 ? before : pieces;
  /* Function templates are named with their return type, which ends at the last space outside of brackets. */
  for (let index = before.length - 1; index >= 0; index--) {
    const piece = before[index]!;
    if (piece.kind !== 'plain') continue;
    const operator = piece.text.indexOf('operator');
    const space = piece.text.lastIndexOf(' ', operator < 0 ? undefined : operator);
    if (space < 0) continue;
    const text = piece.text.slice(space + 1);
    const after = before.slice(index + 1);
    if (text !== '' || after.length > 0) return [{ ...piece, text }, ...after];
  }
  return before;
}

const textOf = (pieces: Piece[], template?: string): string =>
  pieces.map(({ text, kind }) => (kind === 'template' ? (template ?? text) : text)).join('').trim();

const LEAST_SHOWN = 4; // characters
const LEAST_WITH_TAIL = 8;

/** The text with a part left out so that it is at most `room` wide: the middle or, if few characters fit,
 *  the end. Empty if next to nothing fits. */
export function cutMiddle(text: string, room: number, glyphs: Glyphs): string {
  const characters = Array.from(text);
  const widths = characters.map((character) => glyphs.width(character));
  const most = room - glyphs.width(ELLIPSIS);
  /* How many characters fit if of each `period` one is taken from the end. */
  const fitting = (period: number): [head: number, tail: number] => {
    let [head, tail, left] = [0, 0, most];
    while (head + tail < characters.length) {
      const fromTail = (head + tail) % period === period - 1;
      left -= widths[fromTail ? characters.length - 1 - tail : head]!;
      if (left < 0) break;
      if (fromTail) tail++;
      else head++;
    }
    return [head, tail];
  };
  let [head, tail] = fitting(3);
  if (head + tail === characters.length) return text;
  if (head + tail < LEAST_WITH_TAIL) [head, tail] = fitting(Infinity);
  if (head + tail < LEAST_SHOWN) return '';
  return characters.slice(0, head).join('') + ELLIPSIS + characters.slice(characters.length - tail).join('');
}

/** The end of the text that is at most `room` wide. */
export function cutLeft(text: string, room: number, glyphs: Glyphs): string {
  if (glyphs.width(text, room) <= room) return text;
  const characters = Array.from(text);
  let left = room - glyphs.width(ELLIPSIS);
  let from = characters.length;
  while (from > 0 && (left -= glyphs.width(characters[from - 1]!)) >= 0) from--;
  return from > 0 ? ELLIPSIS + characters.slice(from).join('') : text;
}

const WORD = /^[\s,]*((?:\w+::)*)(\w+)/;

/** The first word, or sign, in which a name differs from another, and where it is. */
function differing(name: string, other: string): [from: number, text: string] {
  let from = 0;
  while (from < name.length && name[from] === other[from]) from++;
  while (from > 0 && /^\w\w/.test(name.slice(from - 1))) from--;
  const found = WORD.exec(name.slice(from));
  if (found) return [from, found[2] === WORD.exec(other.slice(from))?.[2] ? found[1]! + found[2]! : found[2]!];
  const [sign = ''] = /^[^\w\s,]+/.exec(name.slice(from)) ?? [];
  if (!/^[)>]/.test(sign)) return [from, sign];
  const [before] = /\w*$/.exec(name.slice(0, from))!; // the other goes on here
  return [from - before.length, before + sign[0]];
}

/** The shortest form of a name with the words that tell it from its twins. Empty: there is no room for one. */
function apart(name: string, short: string, twins: string[], room: number, glyphs: Glyphs): string {
  /* The closest twin first: what tells the name from it often tells it from others. */
  const words: [number, string][] = [];
  for (const { word, twin } of twins.map((twin) => ({ word: differing(name, twin), twin })).sort((a, b) => b.word[0] - a.word[0]))
    if (words.every(([from, text]) => from !== word[0] && twin.includes(text))) words.unshift(word);
  const at = name.indexOf(short);
  for (const some of [words, words.slice(-1)]) {
    const [before, after] = [true, false].map((isBefore) => some.filter(([from, text]) => text && from < at === isBefore).map(([, text]) => text));
    const put = (shown: string) => [...before!, shown, ...after!, ...(after!.length ? [''] : [])].join(ELLIPSIS);
    const over = glyphs.width(put(short)) - room;
    const shown = over > 0 ? cutMiddle(short, glyphs.width(short) - over, glyphs) : short;
    if (shown) return put(shown).replace(/…+/g, ELLIPSIS);
  }
  return '';
}

let shortest = new Map<string, string>();

function shortestOf(name: string): string {
  let form = shortest.get(name);
  if (form === undefined) {
    if (shortest.size > 5000) shortest = new Map();
    shortest.set(name, (form = formsOf(name).at(-1)!));
  }
  return form;
}

/** The shortest form of a name; empty of a function that has none. */
export const knownName = (name: string): string => (isAddress(name) ? '' : shortestOf(name));

/** The names nearby that may look like this one. */
export const twinsOf = (name: string, nearby: string[]): string[] =>
  isAddress(name) ? [] : nearby.filter((other) => other !== name && shortestOf(other) === shortestOf(name));

/** Characters more than a number has, of a name that is cut to stand in its place. */
const LEAST_OF_NAME = 3;

/** A name with the widths of its forms. It is told from its twins, other names nearby, where both have the same form. */
export class Name {
  readonly forms: string[];
  private readonly widths: number[];
  private readonly shared: Set<string>;
  private readonly twins: string[];
  private readonly isList: boolean;

  /** `name`: or its forms; the last one but one is cut before the last one is shown. */
  constructor(name: string | string[], glyphs: Glyphs, twins: string[] = []) {
    this.twins = twins.map(plainOf);
    this.isList = typeof name !== 'string';
    this.forms = typeof name === 'string' ? formsOf(name) : name;
    this.widths = this.forms.map((form) => glyphs.width(form, 4000));
    this.shared = new Set(twins.flatMap(formsOf));
  }

  /** The width of the whole name, or Infinity if it is far wider than a screen. */
  get width(): number {
    return this.widths[0]!;
  }

  /** The name for so many pixels; empty if nothing of use fits. */
  fit(room: number, glyphs: Glyphs): string {
    const text = this.fitAlone(room, glyphs);
    if (!this.twins.length || (this.forms.includes(text) && !this.shared.has(text))) return text;
    return apart(plainOf(this.forms[0]!), this.forms.at(-1)!, this.twins, room, glyphs) || text;
  }

  private fitAlone(room: number, glyphs: Glyphs): string {
    for (let index = 0; index < this.forms.length; index++) {
      if (this.widths[index]! > room) continue;
      const form = this.forms[index]!;
      if (this.isList && index > 1 && index === this.forms.length - 1) {
        const cut = cutMiddle(this.forms[index - 1]!, room, glyphs);
        return cut.length > form.length + LEAST_OF_NAME ? cut : form;
      }
      if (index === 0 || !isAddress(form)) return form;
      /* What differs is the address: as much of the module stays before it as there is room for. */
      const whole = this.forms[0]!;
      const cut = cutLeft(form.endsWith(']') ? whole : withoutRun(whole), room, glyphs);
      return cut.length > form.length + 1 ? cut : form;
    }
    return isAddress(this.forms[0]!) ? '' : cutMiddle(this.forms.at(-1)!, room, glyphs);
  }
}

/* SPDX-License-Identifier: MIT */
