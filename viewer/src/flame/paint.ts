/* Draws what is to be seen of a flame graph into a canvas as large as its window.
 *
 * In this order: fills (see strips.ts), hatching of uncertain boxes, the frame of the selected box,
 * texts. All positions are whole pixels of the device, so that the gaps between boxes are sharp. */

import { cssColour, pixelOf } from './colours.ts';
import { type FlameData, TONES } from './data.ts';
import { isOutside, type Lens } from './hit.ts';
import { type Labels, LEAST_LABEL, type Text } from './labels.ts';
import { NOWHERE, type Place } from './layout.ts';
import { LEAST_BOX, ROW_HEIGHT } from './navigation.ts';
import { Scene } from './scene.ts';
import { Strips } from './strips.ts';
import { dimmedFill, fadedFill, type Fills, hoveredFill, type Theme } from './theme.ts';

const HATCH_TILE = 7;
const LEAST_HATCH = 4;
const CAPTION = 5; // px from the left

export interface Picture {
  data: FlameData;
  labels: Labels;
  fills: Fills;
  theme: Theme;
  lens: Lens;
  height: number;
  /** Pixels of the device for a CSS pixel. */
  ratio: number;
  /** The line of the focus: what is outside of it is dimmed. */
  focusLine: number;
  selected: Place;
  hovered: Place;
  /** Which of the rows outside of the answer is hovered, or NOWHERE. */
  hoveredAbove: number;
  /** Whether the selected box is what keys act upon. */
  keyboard: boolean;
  /** By place: 1 if the search matches it; null: there is no search. */
  matches: Uint8Array | null;
}

/** A box on the screen, in pixels of the device. */
interface Shape {
  left: number;
  right: number;
  /** The row of the window. */
  row: number;
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly scene = new Scene();
  private readonly strips = new Strips();
  private hatch: CanvasPattern | null = null;
  private hatchKey = '';
  /* Of the picture that is drawn now: */
  private picture!: Picture;
  private firstRow = 0;
  private rows = 0;
  private scale = 1;
  private gap = 1;
  private hatched: number[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }

  /** How many boxes and runs the last picture had. */
  get drawn(): { boxes: number; runs: number } {
    return { boxes: this.scene.boxes, runs: this.scene.runs };
  }

  paint(picture: Picture): void {
    this.picture = picture;
    const { lens, ratio, height, theme, data } = picture;
    const width = Math.max(1, Math.round(lens.width * ratio));
    const tall = Math.max(1, Math.round(height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== tall) {
      this.canvas.width = width;
      this.canvas.height = tall;
    }
    this.gap = Math.max(1, Math.round(ratio));
    this.scale = width / (lens.high - lens.low);
    this.firstRow = Math.floor(lens.top / ROW_HEIGHT);
    this.rows = Math.ceil((lens.top + height) / ROW_HEIGHT) - this.firstRow;
    const first = this.firstRow - lens.above;
    const end = first + this.rows;
    this.scene.look(data.layout, { low: lens.low, high: lens.high, first, end }, (LEAST_BOX * ratio) / this.scale);

    this.context.fillStyle = cssColour(theme.background);
    this.context.fillRect(0, 0, width, tall);
    this.fillRows(width);
    this.drawHatching();
    this.drawSelected();
    this.drawTexts();
  }

  /* Where things are. */

  private top(row: number): number {
    return Math.round(((this.firstRow + row) * ROW_HEIGHT - this.picture.lens.top) * this.picture.ratio);
  }

  private bottom(row: number): number {
    return this.top(row + 1) - this.gap;
  }

  private pixel(value: number): number {
    const x = Math.round((value - this.picture.lens.low) * this.scale);
    return x < 0 ? 0 : x > this.canvas.width ? this.canvas.width : x;
  }

  private shape(place: Place, line: number, into: Shape): Shape {
    const { layout } = this.picture.data;
    into.left = this.pixel(layout.left[place]!);
    into.right = this.pixel(layout.right[place]!);
    /* The gap is taken from the box, unless little would remain of it. */
    if (into.right < this.canvas.width) {
      const width = into.right - into.left;
      if (width > 3 * this.gap) into.right -= this.gap;
      else if (width === 0) into.right++;
    }
    into.row = this.rowOf(line);
    return into;
  }

  private shown(place: Place): boolean {
    return this.isShown(this.rowOf(this.picture.data.layout.line(place)));
  }

  private isShown(row: number): boolean {
    return row >= 0 && row < this.rows;
  }

  /** The row of the window that a line is. */
  private rowOf(line: number): number {
    return line + this.picture.lens.above - this.firstRow;
  }

  /* Fills. */

  private fillRows(width: number): void {
    const { scene, strips, picture } = this;
    strips.begin(width, this.rows);
    this.hatched.length = 0;
    this.fillAbove(width);
    const run = pixelOf(picture.theme.run);
    for (let index = 0; index < scene.runs; index++) {
      const row = this.rowOf(scene.runLine[index]!);
      strips.fill(row, this.pixel(scene.runLeft[index]!), this.pixel(scene.runRight[index]!), run);
    }
    const shape: Shape = { left: 0, right: 0, row: 0 };
    for (let index = 0; index < scene.boxes; index++) {
      const place = scene.boxPlace[index]!;
      this.shape(place, scene.boxLine[index]!, shape);
      this.fillBox(place, scene.boxLine[index]!, shape);
      if (picture.data.uncertain[place] === 1 && !picture.theme.forced) this.addHatched(shape);
    }
    strips.draw(
      this.context,
      (row) => this.top(row),
      (row) => this.bottom(row),
      this.gap,
    );
  }

  /** The rows of names without boxes. */
  private fillAbove(width: number): void {
    const { theme, data, hoveredAbove } = this.picture;
    const fill = dimmedFill(theme.rest, theme);
    for (let index = 0; index < data.above.length; index++) {
      const row = this.rowOf(data.lineOfAbove(index));
      if (!this.isShown(row)) continue;
      const hovered = index === hoveredAbove;
      const pixel = pixelOf(hovered ? hoveredFill(fill, theme) : fill);
      if (theme.lined) this.strips.frame(row, 0, width, pixel, pixelOf(theme.muted), this.gap);
      else this.strips.fill(row, 0, width, pixel);
    }
  }

  private fillBox(place: Place, line: number, { left, right, row }: Shape): void {
    const { data, fills, theme, matches, focusLine, hovered, selected } = this.picture;
    const label = data.label[place]!;
    const rest = label >= fills.usual.length;
    const matched = matches !== null && matches[place] === 1;
    const pale = matches !== null && !matched ? 'faded' : isOutside(line, focusLine) ? 'dimmed' : 'usual';
    let pixel = data.tone ? fills.tones[pale][data.tone[place]! + TONES]! : rest ? this.restPixel(pale) : fills[pale][label]!;
    if (place === hovered) pixel = this.hoveredPixel(pixel);
    if (theme.forced && place === selected) pixel = pixelOf(theme.selected);
    if ((matched || theme.lined) && right - left > 2 * this.gap) {
      this.strips.frame(row, left, right, pixel, pixelOf(matched ? theme.match : theme.muted), this.gap);
    } else {
      this.strips.fill(row, left, right, matched && theme.forced ? pixelOf(theme.match) : pixel);
    }
  }

  private restPixel(pale: 'usual' | 'faded' | 'dimmed'): number {
    const { theme } = this.picture;
    if (pale === 'faded') return pixelOf(fadedFill(theme.rest, theme));
    return pixelOf(pale === 'dimmed' ? dimmedFill(theme.rest, theme) : theme.rest);
  }

  private hoveredPixel(pixel: number): number {
    return pixelOf(hoveredFill([pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255], this.picture.theme));
  }

  /* Hatching. Neighbours share one rectangle: filling with a pattern is dear. */

  private addHatched({ left, right, row }: Shape): void {
    const { hatched } = this;
    const last = hatched.length - 3;
    if (last >= 0 && hatched[last] === row && left - hatched[last + 2]! <= this.gap && left >= hatched[last + 1]!) {
      hatched[last + 2] = right;
    } else hatched.push(row, left, right);
  }

  private drawHatching(): void {
    if (this.hatched.length === 0) return;
    const { theme, ratio, lens } = this.picture;
    const key = `${theme.hatch} ${ratio}`;
    if (key !== this.hatchKey || this.hatch === null) {
      this.hatch = hatchPattern(this.context, theme.hatch, ratio);
      this.hatchKey = key;
    }
    /* The hatching moves with the boxes. */
    const tile = HATCH_TILE * this.gap;
    const x = -((lens.low * this.scale) % tile);
    const y = -((lens.top * ratio) % tile);
    this.hatch?.setTransform(new DOMMatrix([1, 0, 0, 1, Math.round(x), Math.round(y)]));
    this.context.fillStyle = this.hatch ?? 'transparent';
    for (let index = 0; index < this.hatched.length; index += 3) {
      const row = this.hatched[index]!;
      const left = this.hatched[index + 1]!;
      const width = this.hatched[index + 2]! - left;
      if (width < LEAST_HATCH * ratio) continue;
      const top = this.top(row);
      this.context.fillRect(left, top, width, this.bottom(row) - top);
    }
  }

  /* The selected box: a frame, which a light line keeps apart from the fill if keys act upon it. */

  private drawSelected(): void {
    const { selected, theme, data, keyboard, lens } = this.picture;
    if (selected === NOWHERE || !this.shown(selected)) return;
    const { layout } = data;
    if (layout.right[selected]! <= lens.low || layout.left[selected]! >= lens.high) return;
    const { left, right, row } = this.shape(selected, layout.line(selected), { left: 0, right: 0, row: 0 });
    const top = this.top(row);
    const height = this.bottom(row) - top;
    const width = Math.max(right - left, 2 * this.gap);
    this.outline(left, top, width, height, cssColour(theme.selected), 2 * this.gap);
    if (!keyboard || width < 8 * this.gap) return;
    const inset = 2 * this.gap;
    const inner = cssColour(theme.background);
    this.outline(left + inset, top + inset, width - 2 * inset, height - 2 * inset, inner, this.gap);
  }

  private outline(left: number, top: number, width: number, height: number, colour: string, thick: number): void {
    const { context } = this;
    context.fillStyle = colour;
    context.fillRect(left, top, width, thick);
    context.fillRect(left, top + height - thick, width, thick);
    context.fillRect(left, top + thick, thick, height - 2 * thick);
    context.fillRect(left + width - thick, top + thick, thick, height - 2 * thick);
  }

  /* Texts. */

  private drawTexts(): void {
    const { context, scene, picture } = this;
    const { theme, ratio, labels, lens, data } = picture;
    context.font = fontOf(theme, ratio);
    context.fontKerning = 'none';
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
    context.direction = 'ltr';
    const text = cssColour(theme.text);
    const muted = cssColour(theme.muted);
    const faded = cssColour(theme.faded);
    data.above.forEach((above, index) => {
      const row = this.rowOf(data.lineOfAbove(index));
      const put = this.isShown(row) ? labels.above(above, 0, lens.width) : null;
      if (put !== null) this.drawText(put, row, muted, muted);
    });
    for (const [line, name] of data.captions) this.drawText({ name, nameX: CAPTION, most: 0, amount: '', amountX: 0 }, this.rowOf(line), muted, muted);
    const shape: Shape = { left: 0, right: 0, row: 0 };
    const least = LEAST_LABEL * ratio;
    const rests = picture.fills.usual.length;
    for (let index = 0; index < scene.boxes; index++) {
      const place = scene.boxPlace[index]!;
      const line = scene.boxLine[index]!;
      this.shape(place, line, shape);
      if (shape.right - shape.left < least) continue;
      const put = labels.text(place, shape.left / ratio, shape.right / ratio);
      if (put === null) continue;
      const label = data.label[place]!;
      let [name, amount] = [label >= rests || isOutside(line, picture.focusLine) ? muted : text, muted];
      if (theme.forced && place === picture.selected) name = amount = cssColour(theme.selectedText);
      else if (picture.matches !== null && picture.matches[place] !== 1) name = amount = faded;
      this.drawText(put, shape.row, name, amount);
    }
  }

  private drawText(text: Text, row: number, colour: string, amountColour: string): void {
    const { context } = this;
    const { ratio, theme } = this.picture;
    const baseline = this.top(row) + Math.round(((ROW_HEIGHT - 1 + theme.fontSize * 0.7) / 2) * ratio);
    context.fillStyle = colour;
    if (text.most > 0) context.fillText(text.name, text.nameX * ratio, baseline, text.most * ratio);
    else context.fillText(text.name, text.nameX * ratio, baseline);
    if (text.amount === '') return;
    context.fillStyle = amountColour;
    context.fillText(text.amount, text.amountX * ratio, baseline);
  }
}

export const fontOf = (theme: Theme, ratio: number): string => `${theme.fontSize * ratio}px ${theme.family}`;

function hatchPattern(context: CanvasRenderingContext2D, colour: string, ratio: number): CanvasPattern | null {
  const size = HATCH_TILE * Math.max(1, Math.round(ratio));
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const pen = tile.getContext('2d')!;
  pen.strokeStyle = colour;
  pen.lineWidth = size * 0.26;
  for (const shift of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
    pen.stroke();
  }
  return context.createPattern(tile, 'repeat');
}

/* SPDX-License-Identifier: MIT */
