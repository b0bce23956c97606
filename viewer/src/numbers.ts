/* Writes numbers as the command prints them: three significant digits, powers of 1000. */
import type { Estimate } from './engine/answers.ts';

const NARROW = '\u202f'; // between a number and its unit, where no line may break
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const COUNT_NAMES = ['', '', 'million', 'billion', 'trillion', 'quadrillion'];

/** The power of 1000 by which a number is scaled. */
function scaleOf(value: number): number {
  let scale = 0;
  for (let rest = value; rest >= 999.5 && scale < 5; rest /= 1000) scale++;
  return scale;
}

/** Three significant digits, no exponent. */
function threeDigits(value: number): string {
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

function scaled(value: number, scale: number): string {
  return scale === 0 ? value.toFixed(0) : threeDigits(value / 1000 ** scale);
}

export function bytes(value: number): string {
  const scale = scaleOf(Math.abs(value));
  const sign = value < 0 ? '−' : '';
  return `${sign}${scaled(Math.abs(value), scale)}${NARROW}${BYTE_UNITS[scale]}`;
}

const signOf = (value: number) => (value < 0 ? '' : '+');

/** A change: "+2.2 MB", "−310 kB", "0 B". */
export const changeOf = (value: number): string => (Math.abs(value) < 0.5 ? `0${NARROW}B` : `${signOf(value)}${bytes(value)}`);

function signedRange(low: number, high: number, scale: number): string {
  const part = (value: number) => {
    const size = scaled(Math.abs(value), scale);
    return `${value < 0 ? '−' : value > 0 ? '+' : ''}${/[1-9]/.test(size) ? size : '0'}`;
  };
  return `${part(low)} to ${part(high)}`;
}

/** The interval of a change, in one unit: "+1.7 to +2.8 MB". */
export function changeRange(low: number, high: number): string {
  const scale = scaleOf(Math.max(Math.abs(low), Math.abs(high)));
  return `${signedRange(low, high, scale)}${NARROW}${BYTE_UNITS[scale]}`;
}

export function count(value: number): string {
  if (value >= 999999.5) {
    const scale = scaleOf(value);
    return `${threeDigits(value / 1000 ** scale)}${NARROW}${COUNT_NAMES[scale]}`;
  }
  const whole = Math.round(value).toString();
  return whole.length > 3 ? `${whole.slice(0, -3)},${whole.slice(-3)}` : whole;
}

/** "4,493 samples", "1 block". */
export function numberOf(value: number, what: string): string {
  const number = count(value);
  return `${number} ${what}${number === '1' ? '' : /[sx]$/.test(what) ? 'es' : 's'}`;
}

const COUNT_UNITS = ['', 'k', 'M', 'G', 'T', 'P'];

/** A count for a narrow column: "36.7k". */
export function shortCount(value: number): string {
  const scale = scaleOf(value);
  return scale === 0 ? Math.round(value).toString() : `${threeDigits(value / 1000 ** scale)}${COUNT_UNITS[scale]}`;
}

/** A duration. As the command, with one exception: minutes and seconds where the command has "6.7 min". */
export function duration(ns: number): string {
  const s = ns / 1e9;
  if (ns === 0) return `0${NARROW}s`;
  if (s >= 7200) return `${(s / 3600).toFixed(1)}${NARROW}h`;
  if (s >= 119.5) {
    const whole = Math.round(s);
    return `${Math.floor(whole / 60)}${NARROW}min ${whole % 60}${NARROW}s`;
  }
  if (s >= 1) return `${threeDigits(s)}${NARROW}s`;
  if (s >= 1e-3) return `${threeDigits(s * 1e3)}${NARROW}ms`;
  return `${threeDigits(s * 1e6)}${NARROW}µs`;
}

/** A duration for a narrow column, as the command prints it: "6.7 min". */
export function shortDuration(ns: number): string {
  return ns >= 119.5e9 && ns < 7200e9 ? `${(ns / 6e10).toFixed(1)}${NARROW}min` : duration(ns);
}

/** A duration as the query language reads it, exact to the digits given: "1.5s", "12ms". */
export function queryTime(ns: number, digits = 4): string {
  const units: [string, number][] = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
  const [name, factor] = units.find(([, least]) => ns >= least) ?? ['s', 1e9];
  return `${Number((ns / factor).toPrecision(digits))}${name}`;
}

/** A size as the query language reads it: "4K", "1.5M". */
export function querySize(value: number, digits = 4): string {
  const rounded = Number(value.toPrecision(digits));
  const scale = Math.min(4, Math.floor(Math.log10(Math.max(1, rounded)) / 3));
  return `${Number((rounded / 1000 ** scale).toPrecision(digits))}${['', 'K', 'M', 'G', 'T'][scale]}`;
}

/** At least two significant digits, and all digits before the point: "66 %", "0.2 %". */
export function share(part: number): string {
  return `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)}${NARROW}%`;
}

export const isExact = (estimate: Estimate): boolean => estimate.low === estimate.high;
/** As estimate_is_rough in the engine: the interval spans more than a factor of five. */
export const isRough = ({ samples, low, high }: Pick<Estimate, 'samples' | 'low' | 'high'>): boolean => samples > 0 && high > 5 * low;

/** A range of anything, as ranges are written everywhere: "0.9–1.5 s", "800 ms–1.5 s". A unit that both ends have stands
 *  once. Only of changes, whose ends have signs, "to" is between them. */
export function between(low: number, high: number, write: (value: number) => string): string {
  const [from, to] = [write(low), write(high)];
  const unit = /[^\d.,]*$/.exec(to)![0];
  if (from === to) return to;
  return `${from.endsWith(unit) ? from.slice(0, from.length - unit.length) : from}–${to}`;
}

/** The interval of bytes, in one unit: "180–196 MB", "exact". */
export function range(low: number, high: number): string {
  if (low === high) return 'exact';
  const scale = scaleOf(high);
  return `${scaled(low, scale)}–${scaled(high, scale)}${NARROW}${BYTE_UNITS[scale]}`;
}

/** Half of an interval's width that says as much as its ends: both sides are alike, or its ends have the same digits, and it is narrow. */
function symmetricError(value: number, low: number, high: number): number | null {
  const below = value - low;
  const above = high - value;
  const half = Math.max(below, above);
  const scale = scaleOf(high);
  const isLopsided = Math.abs(above - below) > 0.2 * half && scaled(low, scale) !== scaled(high, scale);
  if (value <= 0 || half > 0.25 * value || isLopsided) return null;
  return half / value;
}

function relative(error: number): string {
  return `±${Math.max(0.1, 100 * error).toFixed(error < 0.00995 ? 1 : 0)}${NARROW}%`;
}

/** What stands behind a number: "±2 %", or "180–196" if the interval is wide or lopsided; empty: exact. */
export function error(value: number, low: number, high: number): string {
  if (low === high) return '';
  const half = symmetricError(value, low, high);
  if (half !== null) return relative(half);
  return range(low, high);
}

/** A number at an axis: two significant digits, no zeros behind the point. */
function atAxis(text: string): string {
  return text.replace(/^([\d.]+)/, (number) => String(Number(Number(number).toPrecision(Number(number) >= 100 ? 3 : 2))));
}
export const axisBytes = (value: number): string => (value === 0 ? '0' : atAxis(bytes(value)));
export const axisDuration = (ns: number): string => (ns >= 119.5e9 && ns < 7200e9 ? `${Number((ns / 6e10).toPrecision(2))}${NARROW}min` : atAxis(duration(ns)));

const ROUND_STEPS = [
  ...Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat(),
  ...[10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400, 864000].map((seconds) => seconds * 1e9),
];

/** Round moments of a run that ends at `end`, from 0 on, at most so many. */
export function roundMoments(end: number, most = 6): number[] {
  const step = ROUND_STEPS.find((ns) => end / ns < most) ?? end;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}

/** A moment at the axis of a run: as a clock if the run is long, "2:05", else "1.5 s". */
export function axisMoment(seconds: number, end: number): string {
  if (end < 120) return seconds === 0 ? '0' : duration(seconds * 1e9).replace(/(\.\d*?)0+(?=\D)/, '$1').replace(/\.(?=\D)/, '');
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return end < 3600 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/** The number alone, marked if it rests on few samples: "188 MB", "≈172 kB", "< 8 kB". */
export function amount(estimate: Estimate, write: (value: number) => string = bytes): string {
  if (estimate.estimate === 0 && estimate.samples === 0 && estimate.high > 0) return `< ${write(estimate.high)}`;
  return `${isRough(estimate) ? '≈' : ''}${write(estimate.estimate)}`;
}

/** The number with what sampling leaves open: "188 MB ±2 %", "≈172 kB (131–335 kB)". */
export function withError(estimate: Estimate): string {
  const number = amount(estimate);
  if (isExact(estimate) || number.startsWith('<')) return number;
  const half = symmetricError(estimate.estimate, estimate.low, estimate.high);
  return half === null ? `${number} (${range(estimate.low, estimate.high)})` : `${number} ${relative(half)}`;
}

/** A share with its interval: "66 % (64–67 %)". */
export function shareWithError(estimate: Estimate): string {
  const text = share(estimate.estimate);
  const ends = between(estimate.low, estimate.high, share);
  return ends.includes('–') ? `${text} (${ends})` : text;
}

/** Three significant digits also of large counts: an estimated count claims no more. */
export function estimatedCount(estimate: Estimate): string {
  if (isExact(estimate)) return count(estimate.estimate);
  const unit = estimate.estimate >= 1000 ? 10 ** (Math.floor(Math.log10(estimate.estimate)) - 2) : 1;
  return count(Math.round(estimate.estimate / unit) * unit);
}

/** "378 blocks ±4 %", "1 block", "843 blocks (557–3,880)": a count as `withError` writes bytes. */
export function estimatedOf(estimate: Estimate, units: string): string {
  const number = estimatedCount(estimate);
  const text = `${number} ${number === '1' ? units.replace(/s$/, '') : units}`;
  if (isExact(estimate)) return text;
  const { estimate: value, low, high } = estimate;
  const half = symmetricError(value, low, high);
  const end = (to: number) => estimatedCount({ ...estimate, estimate: to });
  const least = high >= 999999.5 ? scaled(low, scaleOf(high)) : end(low); // in the unit of the other end
  return half === null ? `${text} (${least}–${end(high)})` : `${text} ${relative(half)}`;
}

/** Reads a time as the query language writes it. Null: it is none. */
export function readTime(text: string): number | null {
  const found = /^(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|min|h)$/i.exec(text.trim());
  if (text.trim() === '0') return 0;
  const factors: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10, h: 3.6e12 };
  return found ? Number(found[1]) * factors[found[2]!.toLowerCase()]! : null;
}

/** Reads a size as the query language writes it. Null: it is none. */
export function readSize(text: string): number | null {
  const found = /^(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt])(i?))?b?$/i.exec(text.trim());
  if (!found) return null;
  const power = found[2] ? 'kmgt'.indexOf(found[2].toLowerCase()) + 1 : 0;
  return Number(found[1]) * (found[3] ? 1024 : 1000) ** power;
}
/* SPDX-License-Identifier: MIT */
