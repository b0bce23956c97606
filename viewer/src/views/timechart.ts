/* The two charts over time: what was held, and below it how fast was allocated. */
import uPlot from 'uplot';
import type { Time } from '../engine/answers.ts';
import { axisBytes, axisMoment } from '../numbers.ts';

export interface Marks {
  /** The moment that is shown, the peak, and the range that the query sets; all in seconds. */
  moment: number | null;
  peak: number;
  range: [from: number, to: number] | null;
}

export interface ChartHandlers {
  onMoment(seconds: number): void;
  onRange(from: number, to: number): void;
  onHover(index: number | null): void;
}

const HELD_HEIGHT = 120;
const RATE_HEIGHT = 56;
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

/** The largest of 1, 2, 5, 10, 20, ... that is not above the value. */
function roundBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (value >= 5 * power ? 5 : value >= 2 * power ? 2 : 1);
}

/** The colours of the page as it is now. */
function colours(host: HTMLElement) {
  const style = getComputedStyle(host);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: read('--ink'),
    muted: read('--muted'),
    rule: read('--rule'),
    accent: read('--accent'),
    area: read('--area'),
    band: read('--band'),
    minor: [read('--minor'), read('--minor-fill')] as const,
    major: [read('--major'), read('--major-fill')] as const,
    outside: [read('--outside'), read('--outside-fill')] as const,
    wash: read('--wash'),
    font: `11px ${style.fontFamily}`,
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

const seconds = (values: Float64Array) => Array.from(values, (value) => value / 1e9);

export class TimeChart {
  private held: uPlot | null = null;
  private rate: uPlot | null = null;
  private colours: Colours;
  private answer: Time | null = null;
  private marks: Marks = { moment: null, peak: 0, range: null };
  private stacked = false;
  private resident = true;
  private fixed = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly handlers: ChartHandlers,
  ) {
    this.colours = colours(host);
    new ResizeObserver(() => this.resize()).observe(host);
  }

  show(answer: Time, collected: boolean): void {
    const rebuild = !this.held || collected !== this.stacked;
    this.answer = answer;
    this.stacked = collected;
    if (rebuild) this.build();
    else {
      this.held!.setData(this.heldData());
      this.rate!.setData(this.rateData());
    }
  }

  /** Whether the resident size is drawn: it may be so large that nothing else is seen. */
  showResident(shown: boolean): void {
    if (shown === this.resident) return;
    this.resident = shown;
    if (this.answer) this.build();
  }

  mark(marks: Marks): void {
    this.marks = marks;
    this.held?.redraw(false);
    this.rate?.redraw(false);
  }

  /** Reads the colours again. A fixed width is that of paper; 0: as wide as the page. */
  refresh(fixed = this.fixed): void {
    this.fixed = fixed;
    this.colours = colours(this.host);
    if (this.answer) this.build();
  }

  private get width(): number {
    return this.fixed || this.host.clientWidth;
  }

  private resize(): void {
    const width = this.width;
    if (!width) return;
    this.held?.setSize({ width, height: HELD_HEIGHT });
    this.rate?.setSize({ width, height: RATE_HEIGHT });
  }

  private heldData(): uPlot.AlignedData {
    const { columns } = this.answer!;
    const time = seconds(columns.time);
    const rss = atMoments(columns.time, columns.memory_time, columns.rss);
    const held = Array.from(columns.held);
    const both = Array.from(columns.minor, (minor, index) => minor + columns.major[index]!);
    const parts = this.stacked ? [held, both, Array.from(columns.minor)] : [held];
    return [time, ...parts, Array.from(columns.low), Array.from(columns.high), rss] as uPlot.AlignedData;
  }

  private rateData(): uPlot.AlignedData {
    const { columns } = this.answer!;
    return [seconds(columns.time), Array.from(columns.rate)];
  }

  private build(): void {
    this.held?.destroy();
    this.rate?.destroy();
    const width = Math.max(200, this.width);
    this.held = new uPlot(this.heldOptions(width), this.heldData(), this.host);
    this.rate = new uPlot(this.rateOptions(width), this.rateData(), this.host);
    for (const chart of [this.held, this.rate]) this.listen(chart);
  }

  private common(width: number, height: number): Omit<uPlot.Options, 'series'> {
    return {
      width,
      height,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: CLICK },
        sync: { key: 'time', setSeries: false },
      },
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, (most || 1) * HEADROOM] } },
      hooks: {
        drawClear: [(chart) => this.drawRange(chart)],
        setSelect: [(chart) => this.takeRange(chart)],
        setCursor: [(chart) => this.handlers.onHover(chart.cursor.idx ?? null)],
      },
    };
  }

  private axis(values: (value: number) => string): uPlot.Axis {
    return {
      stroke: this.colours.muted,
      font: this.colours.font,
      grid: { stroke: this.colours.rule, width: 1 },
      ticks: { show: false },
      values: (_, splits) => splits.map((value) => values(value)),
    };
  }

  private heldOptions(width: number): uPlot.Options {
    const { accent, area, band, minor, major, outside, muted } = this.colours;
    const plain = (stroke: string | undefined, fill: string | undefined, width = 1): uPlot.Series => ({ stroke, fill, width, points: { show: false } });
    const parts = this.stacked
      ? [plain(...outside), plain(...major), plain(...minor)]
      : [plain(accent, area, 1.5)];
    const low = 1 + parts.length;
    const options = this.common(width, HELD_HEIGHT);
    return {
      ...options,
      series: [{}, ...parts, plain(undefined, undefined, 0), plain(undefined, undefined, 0), { ...plain(muted, undefined, 1.25), dash: [4, 3], show: this.resident }],
      bands: [{ series: [low + 1, low], fill: band }],
      axes: [
        { show: false },
        { ...this.axis((value) => (value ? axisBytes(value) : '')), size: LEFT, gap: 6, space: 24, incrs: WHOLE },
      ],
      hooks: { ...options.hooks, draw: [(chart) => this.drawMarks(chart, true)] },
    };
  }

  private rateOptions(width: number): uPlot.Options {
    const { muted, wash } = this.colours;
    const end = (this.answer?.columns.time.at(-1) ?? 0) / 1e9;
    const options = this.common(width, RATE_HEIGHT);
    return {
      ...options,
      padding: [4, 18, 0, 0],
      series: [{}, { stroke: muted, fill: wash, width: 1, points: { show: false } }],
      axes: [
        { ...this.axis((value) => axisMoment(value, end)), size: 20, gap: 4, space: 70, incrs: STEPS, grid: { show: false } },
        { ...this.axis((value) => (value > 1 ? `${axisBytes(value)}/s` : '')), size: LEFT, gap: 6, splits: (_, __, ___, most) => [roundBelow(most / HEADROOM)] },
      ],
      hooks: { ...options.hooks, draw: [(chart) => this.drawMarks(chart, false)] },
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

  private takeRange(chart: uPlot): void {
    const { left, width } = chart.select;
    if (width < CLICK) return;
    const [from, to] = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
    const none = { left: 0, top: 0, width: 0, height: 0 };
    this.held?.setSelect(none, false);
    this.rate?.setSelect(none, false);
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

  private drawMarks(chart: uPlot, isHeld: boolean): void {
    const { ctx, bbox } = chart;
    const ratio = devicePixelRatio;
    ctx.save();
    if (isHeld) this.drawPeak(chart, ratio);
    else this.drawCollections(chart, ratio);
    const { moment } = this.marks;
    if (moment !== null) {
      const x = Math.round(chart.valToPos(moment, 'x', true));
      ctx.fillStyle = this.colours.ink;
      ctx.fillRect(x - ratio / 2, bbox.top, ratio, bbox.height);
    }
    ctx.restore();
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
    const { columns } = this.answer!;
    const { ctx, bbox } = chart;
    const bottom = bbox.top + bbox.height;
    columns.collection_time.forEach((time, index) => {
      const isMajor = columns.collection_major[index] === 1;
      const x = chart.valToPos(time / 1e9, 'x', true);
      ctx.fillStyle = isMajor ? this.colours.major[0] : this.colours.minor[0];
      const height = (isMajor ? 12 : 5) * ratio;
      ctx.fillRect(x, bottom - height, ratio, height);
    });
  }
}
/* SPDX-License-Identifier: MIT */
