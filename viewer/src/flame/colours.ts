/* Colours of boxes: the hue says the module, by a hash of its name, at one lightness and one chroma
 * for each theme. So a module has the same colour in each run, view and export, and lightness is
 * free to show states: hover, selection, match. Frames of the C runtime are grey.
 *
 * Colours are made in OKLCH, whose lightness is what the eye sees: two hues of equal lightness
 * carry the same text equally well. A colour that sRGB cannot show loses chroma, never lightness. */

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

/** The hue of a module in degrees, or null: the C runtime, the kernel or nothing known, which are grey. */
export function hueOf(module: string): number | null {
  const file = module.slice(module.lastIndexOf('/') + 1);
  if (file === '' || RUNTIME.test(file) || KERNEL.test(file)) return null;
  return (hash(stem(module)) / 2 ** 32) * 360;
}

const FILL = { light: { lightness: 0.865, chroma: 0.064 }, dark: { lightness: 0.375, chroma: 0.062 } } as const;
const GREY_CHROMA = 0.006;
const GREY_HUE = 260;

/* Functions of one module differ by a shade of its hue, so that neighbours are told apart. */
const SHADES = 5;
const SHADE = 3; // degrees

/** The shade of a function: a number around 0. */
export const shadeOf = (functionName: string): number =>
  functionName === '' ? 0 : (hash(functionName) % SHADES) - (SHADES - 1) / 2;

/** The fill of a function's boxes, or without a function the one that stands for the module. */
export function moduleFill(module: string, scheme: Scheme, functionName = ''): Rgb {
  const hue = hueOf(module);
  const { lightness, chroma } = FILL[scheme];
  if (hue === null) return oklch(lightness, GREY_CHROMA, GREY_HUE);
  return oklch(lightness, chroma, hue + shadeOf(functionName) * SHADE);
}

/** The fill of a box of a comparison. `change` is from -1, all is gone: blue, over 0: grey, to 1, all is
 *  new: orange. */
export function changeFill(change: number, scheme: Scheme): Rgb {
  const strength = Math.min(1, Math.abs(change));
  const { lightness, chroma } = FILL[scheme];
  const hue = change < 0 ? 250 : 55;
  return oklch(lightness, GREY_CHROMA + (1.5 * chroma - GREY_CHROMA) * strength, strength === 0 ? GREY_HUE : hue);
}

/* SPDX-License-Identifier: MIT */
