/* The colours and the font of the flame graph, read from the page once for each theme.
 *
 * The page may set these custom properties on the host or above it:
 *   --flame-background   behind the boxes; else the background that the host stands on
 *   --flame-text         text on boxes, and the frame of the selected box; else `color`
 *   --flame-font-size    in px; else 12
 * Everything else follows from the two colours. With forced colours, boxes have no fill but lines. */

import type { Flame } from '../engine/answers.ts';
import { TONES } from './data.ts';
import { changeFill, hueFill, mix, oklch, paletteIn, pixelOf, type Rgb, type Scheme, schemeOf } from './colours.ts';

export interface Theme {
  scheme: Scheme;
  /** The person's own colours are to be used, and nothing else. */
  forced: boolean;
  /** Each box has a frame: with forced colours, and for people who want more contrast. */
  lined: boolean;
  family: string;
  fontSize: number;
  background: Rgb;
  text: Rgb;
  /** Of numbers, and of text on dimmed boxes. */
  muted: Rgb;
  /** Of text on boxes that a search does not match. */
  faded: Rgb;
  /** Of merged rests, and of runs of boxes that are too narrow to draw. */
  rest: Rgb;
  run: Rgb;
  hatch: string;
  /** The frame of a match. */
  match: Rgb;
  selected: Rgb;
  selectedText: Rgb;
}

const FADED = 0.68;
const DIMMED = 0.5;
const HOVERED = 0.1;

/** Turns any colour that CSS knows into numbers, by drawing it. */
function resolver(): (colour: string) => Rgb {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  return (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
    return [red!, green!, blue!];
  };
}

function backgroundOf(host: HTMLElement): string {
  for (let element: Element | null = host; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    if (!/^(transparent|rgba\(.*, 0\))$/.test(colour)) return colour;
  }
  return 'Canvas';
}

/** A system colour has a value only in a computed style. */
function computed(host: HTMLElement, colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  probe.style.setProperty('forced-color-adjust', 'none');
  host.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export function readTheme(host: HTMLElement): Theme {
  const style = getComputedStyle(host);
  const rgb = resolver();
  const forced = matchMedia('(forced-colors: active)').matches;
  const system = (colour: string) => rgb(computed(host, colour));
  const own = (name: string) => style.getPropertyValue(name).trim();
  const behind = forced ? 'Canvas' : own('--flame-background') || backgroundOf(host);
  const background = rgb(computed(host, behind));
  const text = forced ? system('CanvasText') : rgb(computed(host, own('--flame-text') || style.color));
  const fontSize = Number.parseFloat(own('--flame-font-size')) || 12;
  const lined = forced || matchMedia('(prefers-contrast: more)').matches;
  const family = style.fontFamily;
  const theme: Theme = { ...paletteOf(background, text), forced, lined, family, fontSize };
  if (!forced) return theme;
  const [grey, highlight] = [system('GrayText'), system('Highlight')];
  return {
    ...theme,
    muted: text,
    faded: grey,
    rest: background,
    run: grey,
    match: highlight,
    selected: highlight,
    selectedText: system('HighlightText'),
  };
}

/** What follows from the two colours of the page. */
export function paletteOf(background: Rgb, text: Rgb): Theme {
  const scheme = schemeOf(background);
  const light = scheme === 'light';
  const muted = mix(background, text, light ? 0.82 : 0.86);
  return {
    scheme,
    forced: false,
    lined: false,
    family: 'sans-serif',
    fontSize: 12,
    background,
    text,
    muted,
    faded: muted,
    rest: oklch(light ? 0.925 : 0.31, 0.004, 260),
    run: oklch(light ? 0.9 : 0.34, 0.005, 260),
    hatch: `rgb(${background.join(' ')} / ${light ? 0.55 : 0.42})`,
    match: mix(background, text, 0.74),
    selected: text,
    selectedText: text,
  };
}

/** The fills of a box's states. All of them carry `text` or, the pale ones, `muted`. */
export const fadedFill = (fill: Rgb, theme: Theme): Rgb => mix(fill, theme.background, FADED);
export const dimmedFill = (fill: Rgb, theme: Theme): Rgb => mix(fill, theme.background, DIMMED);
export const hoveredFill = (fill: Rgb, theme: Theme): Rgb =>
  theme.forced ? fill : mix(fill, theme.scheme === 'light' ? theme.text : [255, 255, 255], HOVERED);

/** The fills of a set of colours as pixels: the usual, faded and dimmed ones. */
export interface Shades {
  usual: Uint32Array;
  faded: Uint32Array;
  dimmed: Uint32Array;
}

/** The fills of the tones of a comparison, from −TONES to TONES. */
export function toneShades(theme: Theme): Shades {
  const tones = Array.from({ length: 2 * TONES + 1 }, (_, index) =>
    theme.forced ? theme.background : changeFill((index - TONES) / TONES, theme.scheme),
  );
  return {
    usual: Uint32Array.from(tones, pixelOf),
    faded: Uint32Array.from(tones, (fill) => pixelOf(fadedFill(fill, theme))),
    dimmed: Uint32Array.from(tones, (fill) => pixelOf(dimmedFill(fill, theme))),
  };
}

/** The fills of the labels of an answer as pixels: the usual, faded and dimmed ones. */
export class Fills implements Shades {
  /** Of a comparison. */
  readonly tones: Shades;
  readonly usual: Uint32Array;
  readonly faded: Uint32Array;
  readonly dimmed: Uint32Array;

  constructor(flame: Flame, theme: Theme) {
    this.tones = toneShades(theme);
    /* There are far fewer shades than labels. */
    const known = new Map<string, [usual: number, faded: number, dimmed: number]>();
    const palette = paletteIn(flame);
    const pixels = palette.byLabel.map((hue, label) => {
      const shade = palette.shades[label];
      const key = `${shade} ${hue}`;
      let shades = known.get(key);
      if (shades === undefined) {
        const fill = theme.forced ? theme.background : hueFill(hue, theme.scheme, shade);
        shades = [pixelOf(fill), pixelOf(fadedFill(fill, theme)), pixelOf(dimmedFill(fill, theme))];
        known.set(key, shades);
      }
      return shades;
    });
    this.usual = Uint32Array.from(pixels, ([usual]) => usual);
    this.faded = Uint32Array.from(pixels, ([, faded]) => faded);
    this.dimmed = Uint32Array.from(pixels, ([, , dimmed]) => dimmed);
  }
}

/* SPDX-License-Identifier: MIT */
