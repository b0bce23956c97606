/* Zooming and panning: which part of the graph's width is seen, and how one such part becomes
 * another in a few frames. */

/** A part of the width, in units of the layout. */
export interface Span {
  readonly low: number;
  readonly high: number;
}

/** So much can be zoomed in: beyond, sums of fractions would show their rounding. */
const LEAST_SHARE = 1e-9;
/** No movement takes longer, in milliseconds. */
export const MOVEMENT = 120;

export const sameSpan = (one: Span, other: Span): boolean => one.low === other.low && one.high === other.high;

/** The span moved and, if it is too large or too small, resized, so that it lies within the bounds. */
export function clamped(span: Span, bounds: Span): Span {
  const whole = bounds.high - bounds.low;
  const size = Math.min(whole, Math.max(span.high - span.low, whole * LEAST_SHARE));
  if (size >= whole) return bounds;
  const low = Math.min(Math.max(span.low, bounds.low), bounds.high - size);
  return { low, high: low + size };
}

/** The span with `factor` times as many pixels for a unit; the value at `at` (0 to 1) stays where it is. */
export function zoomed(span: Span, bounds: Span, at: number, factor: number): Span {
  const size = (span.high - span.low) / factor;
  const fixed = span.low + at * (span.high - span.low);
  return clamped({ low: fixed - at * size, high: fixed + (1 - at) * size }, bounds);
}

/** The span moved by a part of its size. */
export function panned(span: Span, bounds: Span, by: number): Span {
  const shift = by * (span.high - span.low);
  return clamped({ low: span.low + shift, high: span.high + shift }, bounds);
}

/** The span moved so that [left, right) is seen. If the box were narrower than `least` of the span, the
 *  span is zoomed in until the box takes `share` of it. */
export function revealing(span: Span, bounds: Span, box: Span, least: number, share: number): Span {
  const size = span.high - span.low;
  const width = box.high - box.low;
  const wanted = width > 0 && width < size * least ? width / share : size;
  if (wanted === size && box.high > span.low && box.low < span.high) return span;
  const middle = (box.low + box.high) / 2;
  return clamped({ low: middle - wanted / 2, high: middle + wanted / 2 }, bounds);
}

export interface Position {
  span: Span;
  top: number;
}

/** A movement from one position to another, fast at first. */
export class Movement {
  constructor(
    private readonly from: Position,
    readonly to: Position,
    private readonly began: number,
  ) {}

  /** The same movement over boxes whose values are these. Rows do not move if there is a `still` top. */
  mapped(value: (old: number) => number, still?: number): Movement {
    const map = ({ span, top }: Position) => ({ span: { low: value(span.low), high: value(span.high) }, top: still ?? top });
    return new Movement(map(this.from), map(this.to), this.began);
  }

  /** The position at this time, and whether it is the last one. */
  at(now: number): { position: Position; ended: boolean } {
    const progress = (now - this.began) / MOVEMENT;
    if (progress >= 1) return { position: this.to, ended: true };
    const share = 1 - (1 - Math.max(0, progress)) ** 3;
    const between = (one: number, other: number) => one + (other - one) * share;
    const span = {
      low: between(this.from.span.low, this.to.span.low),
      high: between(this.from.span.high, this.to.span.high),
    };
    return { position: { span, top: between(this.from.top, this.to.top) }, ended: false };
  }
}

/* SPDX-License-Identifier: MIT */
