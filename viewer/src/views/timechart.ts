/* The chart over time: what was held, in layers, or how fast was allocated. */
import uPlot from 'uplot';
import type { Time } from '../engine/answers.ts';
import { cssColour, type Rgb } from '../flame/colours.ts';
import { axisBytes, axisMoment, bytes } from '../numbers.ts';

export interface Marks {
  /** The moment that is shown, the peak, and the range that the query sets; all in seconds. */
  moment: number | null;
  peak: number;
  range: [from: number, to: number] | null;
}

export interface ChartHandlers {
  onMoment(seconds: number): void;
  onRange(from: number, to: number): void;
  onHover(at: { index: number; layer: number | null } | null): void;
}

export type Curve = Float32Array | Float64Array;

/** A part of what was held; the first one lies at the bottom. */
export interface Layer {
  values: Curve;
  fill: Rgb | string;
  stroke: Rgb | string;
  /** Is written on it where it has the room. */
  name?: string;
}

/** What is drawn. */
export interface Picture {
  answer: Time;
  isOfRate: boolean;
  layers: Layer[];
  /** A curve of its own over the layers. */
  chosen: Curve | null;
  resident: boolean;
  /** The limit of what is resident, where it is drawn; else 0. */
  limit: number;
}

const HEIGHT = 112; // with the moments below it
const LEFT = 58;
/** Distances of the labels of time, in seconds. */
const STEPS = [
  ...Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** (power - 9))).flat(),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 864000],
];
/** Distances of the labels of bytes: whole numbers. */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 2.5, 5].map((step) => step * 10 ** power)).flat().filter(Number.isInteger);
const CLICK = 4; // px that a click may move
const HEADROOM = 1.06;
/** Of a name on a layer, and beside it, in px. */
const NAME_HEIGHT = 14;
const MARGIN = 4;

/** The colours of the page as it is now. */
function colours(host: HTMLElement) {
  const style = getComputedStyle(host);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: read('--ink'),
    muted: read('--muted'),
    rule: read('--rule'),
    accent: read('--accent'),
    rest: [read('--strong-rule'), read('--same-fill')] as const,
    band: read('--band'),
    minor: read('--minor'),
    major: read('--major'),
    wash: read('--wash'),
    font: (ratio: number) => `${11 * ratio}px ${style.fontFamily}`,
  };
}
type Colours = ReturnType<typeof colours>;

/** Moves measurements of the process to the moments of the chart: the largest since the moment before. They are made
 *  where the program allocates; a fortieth of the chart after the last one, nothing is known. */
export function atMoments(moments: ArrayLike<number>, times: ArrayLike<number>, values: ArrayLike<number>): (number | null)[] {
  const result: (number | null)[] = [];
  let next = 0;
  let last: number | null = null;
  let since = 0;
  for (let index = 0; index < moments.length; index++) {
    let most: number | null = null;
    for (; next < times.length && times[next]! <= moments[index]!; next++) {
      last = values[next]!;
      most = most === null ? last : Math.max(most, last);
      since = index;
    }
    result.push(most ?? (index - since > Math.max(1, moments.length / 40) ? null : last));
  }
  return result;
}

const most = (values: Curve): number => Math.max(0, ...values);

/** Whether a layer is a pixel high anywhere: one that is not is of the rest, and has no name beside the chart. */
export const isSeen = (layer: Curve, held: Curve): boolean => most(layer) * HEIGHT >= most(held);

const seconds = (values: Float64Array) => Array.from(values, (value) => value / 1e9);
const css = (colour: Rgb | string): string => (typeof colour === 'string' ? colour : cssColour(colour));
const line = (stroke: string | undefined, fill?: string, width = 1): uPlot.Series => ({ stroke, fill, width, points: { show: false } });

/** Which series a picture has, and how they look. */
const looksOf = ({ isOfRate, layers, chosen, resident }: Picture): string => JSON.stringify([isOfRate, resident, chosen !== null, layers.map(({ fill, stroke }) => [fill, stroke])]);

/** For each layer the sum of it and of those below it, but not more than all. */
function sumsOf(layers: Layer[], held: Float64Array): number[][] {
  const sum = new Float64Array(held.length);
  return layers.map(({ values }) => Array.from(held, (all, index) => Math.min(all, (sum[index]! += values[index]!))));
}

/** Where a layer between two curves is highest for so many moments: the first of them, and how low and how high it is
 *  throughout. */
export function roomIn(lower: ArrayLike<number | null> | undefined, upper: ArrayLike<number | null>, moments: number): { from: number; low: number; high: number } {
  let best = { from: 0, low: 0, high: 0 };
  for (let from = 0; from + moments < upper.length; from++) {
    let [low, high] = [0, Infinity];
    for (let at = from; at <= from + moments; at++) {
      low = Math.max(low, lower?.[at] ?? 0);
      high = Math.min(high, upper[at]!);
    }
    if (high - low > best.high - best.low) best = { from, low, high };
  }
  return best;
}

export class TimeChart {
  private chart: uPlot | null = null;
  private colours: Colours;
  private picture: Picture | null = null;
  private sums: (number | null)[][] = [];
  private marks: Marks = { moment: null, peak: 0, range: null };
  private fixed = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly handlers: ChartHandlers,
  ) {
    this.colours = colours(host);
    new ResizeObserver(() => this.resize()).observe(host);
  }

  /** A trace that grows changes the numbers alone: a drag that is on its way goes on. */
  show(picture: Picture): void {
    const isSame = this.chart !== null && looksOf(picture) === looksOf(this.picture!);
    this.picture = picture;
    if (isSame) this.chart!.setData(this.data(this.series(picture)));
    else this.build();
  }

  mark(marks: Marks): void {
    this.marks = marks;
    this.chart?.redraw(false);
  }

  /** Reads the colours again. A fixed width is that of paper; 0: as wide as the page. */
  refresh(fixed = this.fixed): void {
    this.fixed = fixed;
    this.colours = colours(this.host);
    if (this.picture) this.build();
  }

  private get width(): number {
    return this.fixed || this.host.clientWidth;
  }

  private resize(): void {
    const { width } = this;
    if (width) this.chart?.setSize({ width, height: HEIGHT });
  }

  /** Series and their data, those that lie behind first: all that was held, then the layers from the topmost down. What comes
   *  from samples has gaps where nothing was sampled; the curve of the resident size goes from measurement to measurement. */
  private series({ answer: { columns }, isOfRate, layers, chosen, resident }: Picture): [uPlot.Series, (number | null)[]][] {
    const { muted, wash, rest, accent } = this.colours;
    const sampled = (values: ArrayLike<number>) => Array.from(values, (value, index) => (columns.asleep[index] ? null : value));
    if (isOfRate) return [[line(muted, wash), sampled(columns.rate)]];
    this.sums = sumsOf(layers, columns.held).map(sampled);
    const rss = resident ? atMoments(columns.time, columns.memory_time, columns.rss) : [];
    return [
      [line(...rest), sampled(columns.held)],
      ...layers.map(({ fill, stroke }, index): [uPlot.Series, (number | null)[]] => [line(css(stroke), css(fill)), this.sums[index]!]).reverse(),
      [line(undefined), sampled(columns.low)],
      [line(undefined), sampled(columns.high)],
      ...(resident ? [[{ ...line(muted, undefined, 1.25), dash: [4, 3], spanGaps: true }, rss] as [uPlot.Series, (number | null)[]]] : []),
      ...(chosen ? [[line(accent, undefined, 2), sampled(chosen)] as [uPlot.Series, (number | null)[]]] : []),
    ];
  }

  private build(): void {
    this.chart?.destroy();
    const all = this.series(this.picture!);
    this.chart = new uPlot(this.options(this.picture!, all.map(([series]) => series)), this.data(all), this.host);
    this.listen(this.chart);
  }

  private data(all: [uPlot.Series, (number | null)[]][]): uPlot.AlignedData {
    return [seconds(this.picture!.answer.columns.time), ...all.map(([, values]) => values)];
  }

  private axis(values: (value: number) => string): uPlot.Axis {
    return {
      stroke: this.colours.muted,
      font: this.colours.font(1),
      grid: { stroke: this.colours.rule, width: 1 },
      ticks: { show: false },
      values: (_, splits) => splits.map((value) => values(value)),
    };
  }

  private options({ isOfRate, layers }: Picture, series: uPlot.Series[]): uPlot.Options {
    const end = () => (this.picture!.answer.columns.time.at(-1) ?? 0) / 1e9;
    const low = 2 + layers.length;
    const perSecond = isOfRate ? '/s' : '';
    return {
      width: Math.max(200, this.width),
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: CLICK },
      },
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most || 1, this.picture!.limit) * HEADROOM] } },
      series: [{}, ...series],
      bands: isOfRate ? [] : [{ series: [low + 1, low], fill: this.colours.band }],
      axes: [
        { ...this.axis((value) => axisMoment(value, end())), size: 20, gap: 4, space: 70, incrs: STEPS, grid: { show: false } },
        { ...this.axis((value) => (value ? `${axisBytes(value)}${perSecond}` : '')), size: LEFT, gap: 6, space: 20, incrs: WHOLE },
      ],
      hooks: {
        drawClear: [(chart) => this.drawRange(chart)],
        draw: [(chart) => this.drawMarks(chart)],
        setSelect: [(chart) => this.takeRange(chart)],
        setCursor: [(chart) => this.hover(chart)],
      },
    };
  }

  /* ---- pointer ---- */

  private listen(chart: uPlot): void {
    let from = 0;
    chart.over.addEventListener('mousedown', (event) => (from = event.clientX));
    chart.over.addEventListener('mouseup', (event) => {
      if (event.button !== 0 || Math.abs(event.clientX - from) >= CLICK) return;
      const at = chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, 'x');
      this.handlers.onMoment(Math.max(0, at));
    });
    chart.over.addEventListener('mouseleave', () => this.handlers.onHover(null));
  }

  private hover(chart: uPlot): void {
    const { idx, top = -1 } = chart.cursor;
    if (idx == null || top < 0) return this.handlers.onHover(null);
    const value = chart.posToVal(top, 'y');
    const layer = this.picture!.isOfRate ? -1 : this.sums.findIndex((sum) => value <= (sum[idx] ?? -1));
    this.handlers.onHover({ index: idx, layer: layer < 0 ? null : layer });
  }

  private takeRange(chart: uPlot): void {
    const { left, width } = chart.select;
    if (width < CLICK) return;
    const [from, to] = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.handlers.onRange(Math.max(0, from), to);
  }

  /* ---- drawing on the charts ---- */

  private drawRange(chart: uPlot): void {
    const { range } = this.marks;
    if (!range) return;
    const { ctx, bbox } = chart;
    const [from, to] = range.map((end) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, chart.valToPos(end, 'x', true)))) as [number, number];
    ctx.save();
    ctx.fillStyle = this.colours.wash;
    ctx.fillRect(from, bbox.top, Math.max(1, to - from), bbox.height);
    ctx.restore();
  }

  private drawMarks(chart: uPlot): void {
    const { ctx, bbox } = chart;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.textAlign = 'left'; // the axes leave another one
    if (!this.picture!.isOfRate) {
      this.drawLimit(chart, ratio);
      this.drawNames(chart, ratio);
      this.drawPeak(chart, ratio);
    }
    this.drawCollections(chart, ratio);
    const { moment } = this.marks;
    if (moment !== null) {
      const x = Math.round(chart.valToPos(moment, 'x', true));
      ctx.fillStyle = this.colours.ink;
      ctx.fillRect(x - ratio / 2, bbox.top, ratio, bbox.height);
    }
    ctx.restore();
  }

  private drawNames(chart: uPlot, ratio: number): void {
    const { ctx, bbox } = chart;
    ctx.font = this.colours.font(ratio);
    ctx.fillStyle = this.colours.ink;
    ctx.textBaseline = 'middle';
    this.picture!.layers.forEach(({ name }, index) => {
      const upper = this.sums[index]!;
      const part = name ? (ctx.measureText(name).width + 2 * MARGIN * ratio) / bbox.width : 1;
      const { from, low, high } = roomIn(this.sums[index - 1], upper, Math.ceil(part * (upper.length - 1)));
      const [bottom, top] = [low, high].map((value) => chart.valToPos(value, 'y', true)) as [number, number];
      if (name && bottom - top >= NAME_HEIGHT * ratio) ctx.fillText(name, chart.valToPos(chart.data[0][from]!, 'x', true) + MARGIN * ratio, (bottom + top) / 2);
    });
  }

  private drawLimit(chart: uPlot, ratio: number): void {
    const { limit } = this.picture!;
    if (!limit) return;
    const { ctx, bbox } = chart;
    const y = Math.round(chart.valToPos(limit, 'y', true));
    ctx.fillStyle = this.colours.rest[0];
    ctx.fillRect(bbox.left, y, bbox.width, ratio);
    ctx.font = this.colours.font(ratio);
    ctx.fillStyle = this.colours.muted;
    ctx.textBaseline = 'top';
    ctx.fillText(`limit ${bytes(limit)}`, bbox.left + MARGIN * ratio, y + 3 * ratio);
  }

  private drawPeak(chart: uPlot, ratio: number): void {
    const { ctx, bbox } = chart;
    const x = chart.valToPos(this.marks.peak, 'x', true);
    const size = 4 * ratio;
    ctx.fillStyle = this.colours.accent;
    ctx.beginPath();
    ctx.moveTo(x - size, bbox.top - size * 1.6);
    ctx.lineTo(x + size, bbox.top - size * 1.6);
    ctx.lineTo(x, bbox.top);
    ctx.fill();
  }

  /** Ticks at the foot: long ones where a major cycle ended. */
  private drawCollections(chart: uPlot, ratio: number): void {
    const { columns } = this.picture!.answer;
    const { ctx, bbox } = chart;
    const bottom = bbox.top + bbox.height;
    columns.collection_time.forEach((time, index) => {
      const isMajor = columns.collection_major[index] === 1;
      const x = chart.valToPos(time / 1e9, 'x', true);
      ctx.fillStyle = isMajor ? this.colours.major : this.colours.minor;
      const height = (isMajor ? 9 : 4) * ratio;
      ctx.fillRect(x, bottom - height, ratio, height);
    });
  }
}
/* SPDX-License-Identifier: MIT */
