/* Colours of boxes: the hue says where the code is from. Functions of the program are grouped by their namespace, or by
 * their file, and those of libraries by their module. A group's hue is a hash of its name, so that it is the same in each
 * view and run, but for a step aside where a larger group has that hue. At most HUES groups have one, which are evenly
 * apart; smaller ones, the C runtime and what is not known are grey. Functions of a group differ by a shade: one of
 * three of its lightness, other than those of the first box above it and of the box before it.
 *
 * Colours are made in OKLCH, whose lightness is what the eye sees: two hues of equal lightness
 * carry the same text equally well. A colour that sRGB cannot show loses chroma, never lightness. */

import { type Flame, type Label, NO_LABEL } from '../engine/answers.ts';

export type Rgb = readonly [red: number, green: number, blue: number];
export type Scheme = 'light' | 'dark';

interface Linear {
  red: number;
  green: number;
  blue: number;
}

function linearOf(lightness: number, chroma: number, hue: number): Linear {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return {
    red: 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    green: -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    blue: -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  };
}

function inGamut({ red, green, blue }: Linear): boolean {
  const slack = 1e-4;
  return [red, green, blue].every((part) => part >= -slack && part <= 1 + slack);
}

function encoded(part: number): number {
  const clipped = Math.min(1, Math.max(0, part));
  const value = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
  return Math.round(value * 255);
}

/** The sRGB colour of this OKLCH colour, with the most chroma up to `chroma` that sRGB can show. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  let linear = linearOf(lightness, chroma, hue);
  if (!inGamut(linear)) {
    let shown = 0;
    let lost = chroma;
    for (let step = 0; step < 16; step++) {
      const middle = (shown + lost) / 2;
      if (inGamut(linearOf(lightness, middle, hue))) shown = middle;
      else lost = middle;
    }
    linear = linearOf(lightness, shown, hue);
  }
  return [encoded(linear.red), encoded(linear.green), encoded(linear.blue)];
}

/** `share` of `over` laid on `under`. */
export function mix(under: Rgb, over: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(under[index] * (1 - share) + over[index] * share);
  return [part(0), part(1), part(2)];
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours by WCAG: 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [bright, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

export function schemeOf(background: Rgb): Scheme {
  return luminance(background) < 0.2 ? 'dark' : 'light';
}

export const cssColour = (colour: Rgb): string => `rgb(${colour[0]} ${colour[1]} ${colour[2]})`;

/** The colour as a pixel of ImageData read as little-endian 32-bit numbers. */
export const pixelOf = (colour: Rgb): number =>
  ((255 << 24) | (colour[2] << 16) | (colour[1] << 8) | colour[0]) >>> 0;

const RUNTIME = /^(libc|ld-linux|ld-musl|ld64|libstdc\+\+|libc\+\+|libgcc_s|libpthread|libm|libdl|librt)([.\-_]|$)/;
const KERNEL = /^(\[vdso\]|\[vsyscall\]|\[kernel.*|kernel|vmlinux.*|\?+)$/;

/** The name that the hue is made of: no folder and no version, which differ between machines. */
function stem(module: string): string {
  const file = module.slice(module.lastIndexOf('/') + 1);
  return file.replace(/\.so(\.[0-9.]+)?$/, '').replace(/-[0-9.]+$/, '');
}

function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  }
  /* FNV alone leaves names that differ in their last letter with neighbouring hues. */
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

const isRuntime = (file: string): boolean => file === '' || RUNTIME.test(file) || KERNEL.test(file);

/* ---- groups ---- */

/** Code of one origin: what has one hue. */
export interface Group {
  kind: 'module' | 'file' | 'namespace';
  /** As queries compare it; of a module without its version. */
  name: string;
}

/** What brackets enclose says nothing of where a function is from; nor does the type that it returns. */
const BRACKETS = /<[^<>]*>|\([^()]*\)/g;

/** "Http" of "Http::Parser::parse(char const*)", "alloc" of "<alloc::vec::Vec<T> as core::clone::Clone>::clone". */
function namespaceOf(name: string): string {
  let rest = name.slice(0, 1000).replace(/^</, '').replace(/ as .*/, '');
  for (let before = ''; before !== rest; ) rest = (before = rest).replace(BRACKETS, '');
  const path = rest.replace(/^.* (?=\S)/, '').replace(/^::/, '');
  const end = path.indexOf('::');
  return end > 0 ? path.slice(0, end) : '';
}

/** The group of a label; null: the C runtime, the kernel or nothing known. */
export function groupOf({ function: name, module, file }: Label): Group | null {
  const binary = module.slice(module.lastIndexOf('/') + 1);
  if (binary === '') return file ? { kind: 'file', name: file } : null;
  if (isRuntime(binary)) return null;
  if (/\.so($|[.-])/.test(binary)) return { kind: 'module', name: stem(binary) };
  const namespace = namespaceOf(name);
  if (namespace) return { kind: 'namespace', name: namespace };
  return file ? { kind: 'file', name: file } : { kind: 'module', name: stem(binary) };
}

/* ---- hues ---- */

export const HUES = 8;
const APART = 360 / HUES;

/** The hue of a name, in degrees: one of HUES. */
const usualHue = (name: string): number => (hash(name) % HUES) * APART;

/** The next hue from the wanted one on that is not taken. */
function freeHue(wanted: number, taken: number[]): number {
  return taken.includes(wanted) ? freeHue((wanted + APART) % 360, taken) : wanted;
}

export interface Hued {
  group: Group;
  hue: number;
  /** A label of it. */
  label: Label;
  /** Of the area of the graph. */
  part: number;
}

const keyOf = ({ kind, name }: Group): string => `${kind} ${name}`;
const nameOf = ({ kind, name }: Group): string => (kind === 'file' ? name.slice(name.lastIndexOf('/') + 1) : name);

interface Palette {
  /** The groups that have a hue, the largest first. */
  hued: Hued[];
  byKey: Map<string, number>;
  byLabel: (number | null)[];
  /** Of each label. */
  shades: number[];
}
let palettes = new WeakMap<Flame, Palette>();
/** Hues that groups have in every view: those of the view that a recording opens with. */
let usual = new Map<string, number>();

/** The shades of labels. Where a label stands for the first time, it differs from what is above it and before it. */
function shadesIn({ labels, columns: { next, label } }: Flame): number[] {
  const shades: number[] = [];
  const above: number[] = [];
  label.forEach((of, node) => {
    let before = NO_LABEL;
    while (above.length && next[above.at(-1)!]! <= node) before = label[above.pop()!]!;
    if (of !== NO_LABEL && shades[of] === undefined) {
      let shade = hash(labels[of]!.text) % SHADES;
      while (shade === shades[before] || shade === shades[label[above.at(-1)!]!]) shade = (shade + 1) % SHADES;
      shades[of] = shade;
    }
    above.push(node);
  });
  return shades;
}

/** Which group has which hue in a graph: its groups by the area that they have in it. */
function makePalette(flame: Flame): Palette {
  const { labels, columns, trail } = flame;
  const groups = labels.map(groupOf);
  const found = new Map<string, { group: Group; label: Label; area: number }>();
  let whole = 0;
  columns.label.forEach((label, node) => {
    if ((!node && !trail.length) || label === NO_LABEL) return; // the root of a focus is a function
    const bytes = columns.bytes[node]!;
    const group = groups[label];
    whole += bytes;
    if (!group) return;
    const known = found.get(keyOf(group));
    if (known) known.area += bytes;
    else found.set(keyOf(group), { group, label: labels[label]!, area: bytes });
  });
  const largest = [...found.values()].sort((one, other) => other.area - one.area).slice(0, HUES);
  const byKey = new Map(largest.map(({ group }) => keyOf(group)).filter((key) => usual.has(key)).map((key) => [key, usual.get(key)!]));
  for (const { group } of largest) if (!byKey.has(keyOf(group))) byKey.set(keyOf(group), freeHue(usualHue(nameOf(group)), [...byKey.values()]));
  const hued = largest.map(({ group, label, area }) => ({ group, label, part: area / whole, hue: byKey.get(keyOf(group))! }));
  return { hued, byKey, byLabel: groups.map((group) => (group ? (byKey.get(keyOf(group)) ?? null) : null)), shades: shadesIn(flame) };
}

/** From now on the groups of this graph have their hues in all graphs. */
export function keepHues(flame: Flame): void {
  usual = new Map();
  usual = makePalette(flame).byKey;
  palettes = new WeakMap();
}

export function paletteIn(flame: Flame): Palette {
  let palette = palettes.get(flame);
  if (!palette) palettes.set(flame, (palette = makePalette(flame)));
  return palette;
}

/** The hue of a label beside a graph; null: grey. Where the graph has no such group, it has its usual one. */
export function hueIn(flame: Flame | null, label: Label): number | null {
  const group = groupOf(label);
  if (!group) return null;
  return (flame && paletteIn(flame).byKey.get(keyOf(group))) ?? usual.get(keyOf(group)) ?? usualHue(nameOf(group));
}

export const groupName = nameOf;

/* ---- fills ---- */

const FILL = { light: { lightness: 0.878, chroma: 0.064 }, dark: { lightness: 0.33, chroma: 0.075 } } as const;
const GREY_CHROMA = 0.006;
const GREY_HUE = 260;

const SHADES = 3;
const LIGHTER = 0.036; // as far as text keeps its contrast

/** The fill of a function's boxes, or without a shade the one that stands for its group. */
export function hueFill(hue: number | null, scheme: Scheme, shade = 1): Rgb {
  const { lightness, chroma } = FILL[scheme];
  return oklch(lightness + (shade - 1) * LIGHTER, hue === null ? GREY_CHROMA : chroma, hue ?? GREY_HUE);
}

/** Of a layer of the chart over time. The first of a hue is the strongest. */
export function layerColours(hue: number | null, nth: number, scheme: Scheme): { fill: Rgb; stroke: Rgb } {
  const { lightness, chroma } = FILL[scheme];
  const away = (scheme === 'light' ? -1 : 1) * (0.17 - 0.055 * (nth % 5) - (nth < 5 ? 0 : 0.0275));
  const [strength, angle] = hue === null ? [GREY_CHROMA, GREY_HUE] : [1.6 * chroma, hue];
  const line = scheme === 'light' ? 0.6 : 0.72;
  return { fill: oklch(lightness + away, strength, angle), stroke: oklch(line, strength, angle) };
}

/** The least strength of a change that is sure: it is never pale. */
const LEAST_CHANGE = 0.45;

/** The fill of a box of a comparison. `change` is from -1, all is gone: blue, over 0, not sure: grey, to 1, all is
 *  new: orange. */
export function changeFill(change: number, scheme: Scheme): Rgb {
  const strength = change === 0 ? 0 : LEAST_CHANGE + (1 - LEAST_CHANGE) * Math.min(1, Math.abs(change));
  const { lightness, chroma } = FILL[scheme];
  const hue = change < 0 ? 250 : 55;
  return oklch(lightness, GREY_CHROMA + (1.5 * chroma - GREY_CHROMA) * strength, strength === 0 ? GREY_HUE : hue);
}

/* SPDX-License-Identifier: MIT */
