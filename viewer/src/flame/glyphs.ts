/* Widths of texts as sums of widths of characters, each measured once for a font. Measuring texts
 * themselves would cost more than drawing them. Texts must be drawn without kerning, so that the
 * sums hold. */

const TABLE = 0x250; // Latin: looked up by index

export class Glyphs {
  private readonly table = new Float32Array(TABLE).fill(-1);
  private readonly others = new Map<number, number>();

  constructor(private readonly measure: (character: string) => number) {}

  private of(code: number): number {
    if (code < TABLE) {
      let width = this.table[code]!;
      if (width < 0) {
        width = this.measure(String.fromCharCode(code));
        this.table[code] = width;
      }
      return width;
    }
    let width = this.others.get(code);
    if (width === undefined) {
      width = this.measure(String.fromCodePoint(code));
      this.others.set(code, width);
    }
    return width;
  }

  /** The width of the text, or Infinity as soon as it is above `most`. So long texts cost nothing. */
  width(text: string, most = Infinity): number {
    let sum = 0;
    for (let index = 0; index < text.length; index++) {
      let code = text.charCodeAt(index);
      if (code >= 0xd800 && code < 0xdc00 && index + 1 < text.length) {
        code = text.codePointAt(index)!;
        index++;
      }
      sum += this.of(code);
      if (sum > most) return Infinity;
    }
    return sum;
  }
}

/* SPDX-License-Identifier: MIT */
