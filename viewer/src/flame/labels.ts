/* The texts on boxes: the name, shortened to the box, and where there is room its amount and its share. */

import type { AboveRow, FlameData, Words } from './data.ts';
import { Glyphs } from './glyphs.ts';
import type { Place } from './layout.ts';
import { Name, twinsOf } from './names.ts';

const APPROXIMATELY = '≈\u2009';
/* Before a folded chain, and before the first frame of one that is open: a click folds it. */
const FOLDED = '▸ ';
const OPEN = '▾ ';
const PADDING = 5;
/** The part of an open chain's first box that folds it, from the left. */
export const FOLD_HANDLE = 20;
const BEFORE_AMOUNT = 14;
/** Below this width a box shows the name alone. */
const ROOM_FOR_AMOUNT = 90;
/** Boxes narrower than this have no text. */
export const LEAST_LABEL = 30;

/** So many boxes to the left and right may be taken for a box. */
const BESIDE = 3;

const JOINED = /[^\u0000-\u024f\u2000-\u206f]/; // scripts whose letters may join: sums of widths do not hold

export interface Text {
  name: string;
  nameX: number;
  /** The text must be squeezed into this width; 0: it is known to fit. */
  most: number;
  amount: string;
  amountX: number;
}

/** Of "11 frames: clone3 … handle_request", the last name stays longest: of callees and callers it is the nearest to what is
 *  behind the chain. */
function chainForms(text: string): string[] {
  const [, count, last] = /^(\d+)[^:]*(?:: (?:.* … )?(.*))?$/s.exec(text)!;
  return [FOLDED + text, ...(last ? [`${FOLDED}${count} … ${last}`, FOLDED + last] : []), FOLDED + count];
}

export class Labels {
  private readonly names: (Name | undefined)[] = [];
  private readonly told = new Map<Place, Name>();
  private readonly others = new Map<string, Name>();
  private readonly amounts = new Map<Place, string[]>();

  constructor(
    private readonly data: FlameData,
    private readonly words: Words,
    private readonly glyphs: Glyphs,
  ) {}

  private nameFor(place: Place): Name {
    const label = this.data.label[place]!;
    if (place === 0 || label >= this.data.flame.labels.length) {
      const merged = this.data.merged(place);
      return this.named(merged > 0 ? `${this.words.count(merged)} more` : this.data.nameOf(place), this.data.chainOf(place)?.open === false);
    }
    const twins = this.twinsOf(place);
    if (!twins.length) return (this.names[label] ??= new Name(this.data.labelOf(place)!.text, this.glyphs));
    let name = this.told.get(place);
    if (name === undefined) this.told.set(place, (name = new Name(this.data.labelOf(place)!.text, this.glyphs, twins)));
    return name;
  }

  /** The names of the boxes beside this one, of the same caller, that may look like it. */
  private twinsOf(place: Place): string[] {
    const [first, end] = this.data.layout.siblings(place);
    const from = Math.max(place - BESIDE, first);
    const to = Math.min(place + BESIDE + 1, end);
    const nearby = Array.from({ length: to - from }, (_, step) => this.data.labelOf(from + step)?.text ?? '');
    return twinsOf(this.data.labelOf(place)!.text, nearby);
  }

  private named(text: string, isChain = false): Name {
    const key = isChain ? FOLDED + text : text;
    let name = this.others.get(key);
    if (name === undefined) this.others.set(key, (name = new Name(isChain ? chainForms(text) : text, this.glyphs)));
    return name;
  }

  /** The amount, the longer form first: "44.5 MB · 70 %", "44.5 MB". */
  private amount(place: Place): string[] {
    let forms = this.amounts.get(place);
    if (forms === undefined) {
      const change = this.data.change(place);
      const amount = change === undefined ? this.words.amount(this.data.size(place), this.data.unit) : this.words.change(change);
      forms = change === undefined ? [`${amount} · ${this.words.share(this.data.share(place))}`, amount] : [amount];
      this.amounts.set(place, forms);
    }
    return forms;
  }

  /** The texts of the box from left to right (the visible part of it), or null if there is no room. */
  text(place: Place, left: number, right: number): Text | null {
    const prefix = (this.data.begins(place) ? OPEN : '') + (this.data.uncertain[place] === 1 ? APPROXIMATELY : '');
    return this.put(this.nameFor(place), prefix, left, right, () => this.amount(place));
  }

  /** The text of a row above the root. */
  above({ name, key }: AboveRow, left: number, right: number): Text | null {
    return this.put(this.named(name, key !== undefined), '', left, right);
  }

  private put(name: Name, prefix: string, left: number, right: number, amount?: () => string[]): Text | null {
    const room = right - left - 2 * PADDING;
    const prefixWidth = this.glyphs.width(prefix);
    const shown = name.fit(room - prefixWidth, this.glyphs);
    if (shown === '') return null;
    const text: Text = { name: prefix + shown, nameX: left + PADDING, most: 0, amount: '', amountX: 0 };
    if (JOINED.test(shown)) text.most = room;
    if (amount === undefined || room < ROOM_FOR_AMOUNT || shown !== name.forms[0]) return text;
    const rest = room - prefixWidth - name.width - BEFORE_AMOUNT;
    text.amount = amount().find((form) => this.glyphs.width(form) <= rest) ?? '';
    text.amountX = right - PADDING - this.glyphs.width(text.amount);
    return text;
  }
}

/* SPDX-License-Identifier: MIT */
