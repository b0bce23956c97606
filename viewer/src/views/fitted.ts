/* Names as the first column of the table has room for them. */
import { signal } from '@preact/signals-core';
import type { Label } from '../engine/answers.ts';
import { Glyphs } from '../flame/glyphs.ts';
import { cutLeft, isAddress, Name, twinsOf, withoutRun } from '../flame/names.ts';
import { compactName } from './island.tsx';

const PADDING = 14; // px beside a name; that of a chosen row is bold
const room = signal(0); // px; 0: not yet measured
let glyphs: Glyphs | null = null;
let fitted = new Map<string, Name>();

function fit(text: string, width: number, nearby: string[] = []): string {
  const twins = twinsOf(text, nearby);
  const key = [text, ...twins].join('\n');
  let name = fitted.get(key);
  if (!name) fitted.set(key, (name = new Name(text, glyphs!, twins)));
  return name.fit(width, glyphs!) || (isAddress(text) ? cutLeft(withoutRun(text), width, glyphs!) : compactName(text, 20));
}

/** Its last segment stays, what stands in brackets goes first, but not what tells it from others nearby. The place of a
 *  row that is a line stays, whole or, where it has no room, without the file. */
export function nameFor({ text, line }: Label, nearby: string[] = []): string {
  const width = room.value;
  if (!glyphs || !width) return compactName(text, 40);
  const place = (line && / \([^()]*?(:[\d:-]+)\)/.exec(text)) || [];
  for (const shown of place) {
    const name = text.replace(place[0]!, '');
    const rest = width - glyphs.width(shown);
    if (rest >= Math.min(width / 2, glyphs.width(name))) return fit(name, rest) + shown;
  }
  return fit(text, width, nearby);
}

export function measureNames(region: HTMLElement): void {
  const column = region.querySelector('th.name');
  if (!column) return;
  const width = column.clientWidth - PADDING;
  if (!glyphs) {
    const pen = document.createElement('canvas').getContext('2d')!;
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(region);
    pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    glyphs = new Glyphs((character) => pen.measureText(character).width);
  }
  if (fitted.size > 5000) fitted = new Map();
  if (width > 0) room.value = width;
}
/* SPDX-License-Identifier: MIT */
