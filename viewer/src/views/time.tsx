/* Over time: the chart, its legend, the moment as a field, and the way from peak to peak. */
import { computed, effect, signal } from '@preact/signals-core';
import type { Label, Time } from '../engine/answers.ts';
import { cssColour, hueIn, layerColours, type Rgb } from '../flame/colours.ts';
import { cleanName } from '../flame/names.ts';
import { bytes, duration, queryTime, range, readTime } from '../numbers.ts';
import { ageOf, chosen, comparing, flame, missing, time, timeOfRow } from '../state/asking.ts';
import { bounds, moment, withBounds } from '../state/clauses.ts';
import { openMoment, timeOf } from '../state/moments.ts';
import { asTable, head, isDark, PAPER, printing, setQuery, toggleTable, view } from '../state/store.ts';
import { measureOf } from '../state/questions.ts';
import { compareEnds, moments } from './compare.tsx';
import { DataTable } from './data.tsx';
import { accepts } from './entry.ts';
import { say } from './export.ts';
import { huesAre, selectLabel } from './flame.tsx';
import { compactName, island, Name } from './island.tsx';
import { atMoments, type Curve, isSeen, type Layer, TimeChart } from './timechart.ts';

/** What the pointer is over: a moment, and a layer if it is on one. */
const under = signal<{ index: number; layer: number | null } | null>(null);

/** The moment that is shown, in nanoseconds; null: the question is about no moment. */
const shownMoment = computed<number | null>(() => {
  const { answer } = time.value;
  const shown = view.value;
  if (moments.value) return moments.value[1];
  if (!answer || measureOf(shown, head.value) !== 'held') return null;
  if (shown.tab === 'peak') return answer.peaks_ns.length ? answer.peak_ns : null;
  const { at } = moment(shown.where);
  if (comparing.value && at === null) return answer.peak_ns;
  return timeOf(at ?? 'end');
});

/** Enough digits that two moments of the chart differ. */
const exact = (ns: number) => queryTime(ns, 5);

function setRange(from: number | null, to: number | null): void {
  if (moments.value && from !== null && to !== null) return compareEnds(from, to);
  const clauses = [];
  const end = head.value?.trace.duration_ns ?? Infinity;
  if (from !== null && from > 0) clauses.push(`born >= ${exact(from)}`);
  if (to !== null && to < end) clauses.push(`born < ${exact(to)}`);
  setQuery(withBounds(view.value.where, ['born', 'time'], clauses));
}

export function stepPeak(direction: -1 | 1): void {
  const { answer } = time.value;
  if (!answer) return;
  const now = shownMoment.value ?? answer.peak_ns;
  const close = (head.value?.trace.duration_ns ?? 0) / 1e4;
  const peaks = direction > 0 ? answer.peaks_ns : [...answer.peaks_ns].reverse();
  const next = peaks.find((peak) => direction * (peak - now) > close);
  if (next === undefined) return;
  openMoment(Math.abs(next - answer.peak_ns) <= close ? 'peak' : exact(next));
}

/** Shows the moment of the collection before or after the one that is shown. */
export function stepCollection(direction: -1 | 1): void {
  const { answer } = time.value;
  const end = head.value?.trace.duration_ns ?? 0;
  if (!answer) return;
  const times = Array.from(answer.columns.collection_time);
  if (!times.length) return say(head.value?.collected ? 'Single collections are not in this trace.' : 'The malloc heap has no collections.');
  const now = shownMoment.value ?? (direction > 0 ? 0 : end);
  const close = end / 1e5;
  const next = (direction > 0 ? times : times.reverse()).find((one) => direction * (one - now) > close);
  if (next !== undefined) openMoment(exact(next));
}

const GROWTH = 1 / 50; // of the run

/** Moves one end of the range of births outwards. Without a range, it begins at the moment that is shown. */
export function growRange(direction: -1 | 1): void {
  const end = head.value?.trace.duration_ns ?? 0;
  const born = bounds(view.value.where, 'born');
  const now = shownMoment.value ?? end / 2;
  const none = born.from === null && born.to === null;
  const from = none ? now : readTime(born.from ?? '0')!;
  const to = none ? now : born.to === null ? end : readTime(born.to)!;
  if (direction < 0) setRange(Math.max(0, from - GROWTH * end), to);
  else setRange(from, Math.min(end, to + GROWTH * end));
}

/* ---- controls ---- */

function TimeField({ label, value, set }: { label: string; value: string; set: (ns: number | null) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        size={7}
        value={value}
        placeholder="–"
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => {
          const text = event.currentTarget.value.trim();
          const ns = readTime(text);
          if (accepts(event.currentTarget, text === '' || ns !== null, 'a time with its unit, such as 1.5s or 200ms')) set(ns);
        }}
      />
    </label>
  );
}

/** The moment that is shown, or that is to be. */
export const MomentField = () => (
  <TimeField label="Moment" value={shownMoment.value === null ? '' : queryTime(shownMoment.value)} set={(ns) => openMoment(ns === null ? 'peak' : exact(ns))} />
);

export const PeakSteps = () => (
  <div class="switch" role="group" aria-label="Local peaks">
    <button type="button" aria-label="Local peak before" title="Local peak before (,)" onClick={() => stepPeak(-1)}>
      ◂
    </button>
    <button type="button" aria-label="Local peak after" title="Local peak after (.)" onClick={() => stepPeak(1)}>
      ▸
    </button>
  </div>
);

/** When the blocks were born: what a drag over the chart sets. */
function Births() {
  const born = bounds(view.value.where, 'born');
  const from = born.from === null ? null : readTime(born.from);
  const to = born.to === null ? null : readTime(born.to);
  if (comparing.value || (born.from === null && born.to === null && !asTable.value.time)) return null;
  return (
    <span class="controls">
      <TimeField label="Born from" value={born.from ?? ''} set={(ns) => setRange(ns, to)} />
      <TimeField label="to" value={born.to ?? ''} set={(ns) => setRange(from, ns)} />
      {(from !== null || to !== null) && (
        <button type="button" onClick={() => setRange(null, null)}>
          All
        </button>
      )}
    </span>
  );
}

/* ---- layers ---- */

/** What the chart is of: what was held, or where the question is what was allocated, how fast that was. */
const isOfRate = computed(() => ['allocated', 'churn'].includes(measureOf(view.value, head.value)) && !comparing.value);

const byArea = signal(false);
const AREAS = { minor: 'minor heap', major: 'major heap', outside: 'outside' } as const;
const areaNames = Object.keys(AREAS) as (keyof typeof AREAS)[];
const isByArea = computed(() => byArea.value && head.value?.collected === true);

interface Drawn extends Layer {
  /** Of a row of the table. */
  label?: Label;
  low?: Float32Array;
  high?: Float32Array;
  /** The colours of a heap's area are those of the style sheet. */
  area?: string;
}

/** Rows of the table, in the colours of the graph; those of one hue differ by their lightness. */
const topLayers = computed((): Drawn[] => {
  const { answer } = time.value;
  if (!answer) return [];
  void huesAre.value;
  const points = answer.columns.time.length;
  const part = (column: Float32Array, index: number) => column.subarray(index * points, (index + 1) * points);
  const seen = new Map<number | null, number>();
  return answer.labels.map((label, index): Drawn => {
    const hue = hueIn(flame.value.answer, label);
    const nth = seen.get(hue) ?? 0;
    seen.set(hue, nth + 1);
    const { top_held, top_low, top_high } = answer.columns;
    const colours = layerColours(hue, nth, isDark.value ? 'dark' : 'light');
    return { label, name: cleanName(compactName(label.text, 30)), values: part(top_held, index), low: part(top_low, index), high: part(top_high, index), ...colours };
  });
});

const layers = computed((): Drawn[] => {
  const { answer } = time.value;
  if (!answer || isOfRate.value) return [];
  if (!isByArea.value) return topLayers.value.filter(({ values }) => isSeen(values, answer.columns.held));
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  void isDark.value;
  return areaNames.map((area) => ({ area, values: answer.columns[area], fill: read(`--${area}-fill`), stroke: read(`--${area}`) }));
});

/** What the chosen row of the table held itself. */
const chosenCurve = computed<{ text: string; values: Curve } | null>(() => {
  const text = chosen.value;
  if (!text || isOfRate.value) return null;
  const values = topLayers.value.find(({ label }) => label?.text === text)?.values ?? (timeOfRow.value.of?.of === text ? timeOfRow.value.answer?.columns.held : undefined);
  return values?.length === time.value.answer?.columns.time.length && values?.some((value) => value > 0) ? { text, values } : null;
});

/* ---- legend ---- */

const swatchOf = (fill: Rgb | string, stroke: Rgb | string) => {
  const css = (colour: Rgb | string) => (typeof colour === 'string' ? colour : cssColour(colour));
  return { background: css(fill), borderTopColor: css(stroke) };
};

function Key({ kind, text, style }: { kind: string; text: string; style?: Record<string, string> }) {
  return (
    <span class="key">
      <span class={`swatch ${kind}`} style={style} aria-hidden="true" />
      {text}
    </span>
  );
}

/** One function of two modules has both names. */
const legendName = ({ text }: Label) => {
  const short = compactName(text, 18);
  return topLayers.value.some(({ label }) => label!.text !== text && compactName(label!.text, 18) === short) ? compactName(text, 60) : short;
};

const Row = ({ layer }: { layer: Drawn & { label: Label } }) => (
  <button type="button" class="plain key" title={cleanName(layer.label.text, 2000)} onClick={() => selectLabel(layer.label.text)}>
    <span class="swatch layer" style={swatchOf(layer.fill, layer.stroke)} aria-hidden="true" />
    <Name text={legendName(layer.label)} title="" />
  </button>
);

/* The resident size has other things than blocks in it. Where it is many times what was held, it is
 * not drawn unless a person wants it: nothing else would be seen. */
const DWARFING = 5;
const wantsResident = signal<boolean | null>(null);
const largestResident = computed(() => Math.max(0, ...(time.value.answer?.columns.rss ?? [])));
const isDwarfing = computed(() => {
  const held = Math.max(0, ...(time.value.answer?.columns.high ?? []));
  return held > 0 && largestResident.value > DWARFING * held;
});
const residentShown = computed(() => wantsResident.value ?? !isDwarfing.value);
/** The limit of the control group, if the resident size came near to it. */
const NEAR = 2;
const limitShown = computed(() => {
  const limit = head.value?.limit_bytes ?? 0;
  return residentShown.value && hasResident.value && limit <= NEAR * largestResident.value ? limit : 0;
});
const hasResident = computed(() => !isOfRate.value && (time.value.answer?.columns.memory_time.length ?? 0) > 0);

function Resident() {
  const shown = residentShown.value;
  const key = <Key kind="resident" text={shown ? 'resident' : `resident, up to ${bytes(largestResident.value)}`} />;
  if (!isDwarfing.value) return key;
  return (
    <span class="key">
      {key}{' '}
      <button type="button" class="link" aria-label={`${shown ? 'Hide' : 'Show'} the resident size`} onClick={() => (wantsResident.value = !shown)}>
        {shown ? 'hide' : 'show'}
      </button>
    </span>
  );
}

const hasRanges = computed(() => time.value.answer?.columns.low.some((low, index) => low < time.value.answer!.columns.high[index]!));

function Held() {
  const rest = layers.value.length > 0 && !isByArea.value;
  return (
    <>
      {layers.value.map((layer) => (layer.label ? <Row layer={layer as Drawn & { label: Label }} /> : <Key kind="layer" style={swatchOf(layer.fill, layer.stroke)} text={AREAS[layer.area as keyof typeof AREAS]} />))}
      {(rest || !layers.value.length) && <Key kind="rest" text={rest ? 'the rest' : 'held'} />}
      {hasRanges.value && <Key kind="band" text="95 %" />}
      {chosenCurve.value && <Key kind="these" text={compactName(chosenCurve.value.text, 22)} />}
      {hasResident.value && <Resident />}
      {head.value?.collected && (
        <button type="button" class="link" onClick={() => (byArea.value = !byArea.value)}>
          {byArea.value ? `by ${view.value.by}` : 'by heap'}
        </button>
      )}
    </>
  );
}

function Legend() {
  const ends = time.value.answer?.columns.collection_major;
  return (
    <>
      {isOfRate.value ? <Key kind="rate" text="allocated a second" /> : <Held />}
      {ends?.includes(0) && <Key kind="collection small" text="minor collection" />}
      {ends?.includes(1) && <Key kind="collection" text="end of a major cycle" />}
    </>
  );
}

function Readout() {
  const { answer } = time.value;
  const at = under.value;
  if (!answer || at === null || at.index >= answer.columns.time.length)
    return null;
  const { columns } = answer;
  const { index } = at;
  const layer = at.layer === null ? null : layers.value[at.layer];
  const rss = hasResident.value && atMoments(columns.time, columns.memory_time, columns.rss)[index];
  const isSampled = !columns.asleep[index];
  return (
    <span>
      {duration(columns.time[index]!)}: {isSampled ? `held ${bytes(columns.held[index]!)} (${range(columns.low[index]!, columns.high[index]!)})` : 'not sampled'}
      {rss ? `, resident ${bytes(rss)}` : ''}{isSampled && `, ${bytes(columns.rate[index]!)}/s`}
      {layer && (
        <>
          {' · '}
          {layer.label ? <Name text={compactName(layer.label.text, 30)} /> : AREAS[layer.area as keyof typeof AREAS]} {bytes(layer.values[index]!)}
          {layer.low && layer.high ? ` (${range(layer.low[index]!, layer.high[index]!)})` : ''}
        </>
      )}
    </span>
  );
}

/** How many collections ended since the moment before, and how many of them a major cycle. */
function collectionsOf({ time, collection_time, collection_major }: Time['columns']): [number, number][] {
  let next = 0;
  return Array.from(time, (at) => {
    let [all, major] = [0, 0];
    for (; next < collection_time.length && collection_time[next]! <= at; next++) {
      all++;
      major += collection_major[next]!;
    }
    return [all, major];
  });
}

function AsTable() {
  const { answer } = time.value;
  if (!answer) return null;
  const { columns } = answer;
  const rss = atMoments(columns.time, columns.memory_time, columns.rss);
  const areas = head.value?.collected ? areaNames : [];
  const collections = columns.collection_time.length ? collectionsOf(columns) : null;
  const heads = ['time', 'held', '95 % range', ...areas, 'resident', 'allocated a second', ...(collections ? ['collections', 'ends of major cycles'] : []), ...topLayers.value.map(({ label }) => compactName(label!.text, 30))];
  const rows = Array.from(columns.time, (at, index) => {
    const sampled = (text: string) => (columns.asleep[index] ? '–' : text);
    const bytesOf = (values: Curve) => sampled(bytes(values[index]!));
    return [
      duration(at),
      bytesOf(columns.held),
      sampled(range(columns.low[index]!, columns.high[index]!)),
      ...areas.map((area) => bytesOf(columns[area])),
      rss[index] === null ? '–' : bytes(rss[index]!),
      bytesOf(columns.rate),
      ...(collections?.[index] ?? []),
      ...topLayers.value.map(({ values }) => bytesOf(values)),
    ];
  });
  return <DataTable label="The chart over time as a table" heads={heads} rows={rows} />;
}

const description = computed(() => {
  const { answer } = time.value;
  if (!answer) return 'What was held over time';
  const most = answer.columns.held.reduce((sofar, value) => Math.max(sofar, value), 0);
  return `What was held over ${duration(head.value?.trace.duration_ns ?? 0)}: at most ${bytes(most)}, after ${duration(answer.peak_ns)}${limitShown.value ? `; resident at most ${bytes(largestResident.value)} of ${bytes(limitShown.value)}` : ''}`;
});

function rangeInSeconds(): [number, number] | null {
  if (moments.value) return [Math.min(...moments.value) / 1e9, Math.max(...moments.value) / 1e9];
  const born = bounds(view.value.where, 'born');
  if (born.from === null && born.to === null) return null;
  const end = (head.value?.trace.duration_ns ?? 0) / 1e9;
  return [(readTime(born.from ?? '0') ?? 0) / 1e9, born.to === null ? end : (readTime(born.to) ?? 0) / 1e9];
}

export function followTime(): void {
  const section = document.getElementById('time')!;
  const parts = ['time-chart', 'time-foot'].map((id) => {
    const part = document.createElement('div');
    part.id = id;
    return part;
  });
  section.replaceChildren(...parts);
  const host = parts[0]!;
  host.setAttribute('role', 'img');
  island('time-foot', () => (
    <>
      {!time.value.answer && <p class="empty">{missing(time.value, 'Following the blocks over time…')}</p>}
      <div class="legend" hidden={!time.value.answer}>
        <Legend />
        <Births />
        <button type="button" class="link" aria-expanded={asTable.value.time === true} onClick={() => toggleTable('time')}>
          {asTable.value.time ? 'hide the table' : 'show as table'}
        </button>
      </div>
      <p class="readout">
        <Readout />
      </p>
      {asTable.value.time && <AsTable />}
    </>
  ));
  effect(() => {
    host.title = moments.value ? 'Click: a moment before or after. Drag: both.' : 'Click: the moment. Drag: blocks that were born then.';
  });
  const chart = new TimeChart(host, {
    onMoment: (at) => openMoment(exact(at * 1e9)),
    onRange: (from, to) => setRange(from * 1e9, to * 1e9),
    onHover: (at) => (under.value = at),
  });
  followChart(chart, host, section);
}

function followChart(chart: TimeChart, host: HTMLElement, section: HTMLElement): void {
  effect(() => {
    const { answer } = time.value;
    if (!answer?.columns.time.length) return;
    chart.show({ answer, layers: layers.value, isOfRate: isOfRate.value, chosen: chosenCurve.value?.values ?? null, resident: hasResident.value && residentShown.value, limit: limitShown.value });
  });
  effect(() => {
    const { answer } = time.value;
    const at = shownMoment.value;
    if (answer) chart.mark({ moment: at === null ? null : at / 1e9, peak: answer.peak_ns / 1e9, range: rangeInSeconds() });
  });
  effect(() => {
    void isDark.value;
    chart.refresh(printing.value ? PAPER : 0);
  });
  effect(() => host.setAttribute('aria-label', description.value));
  effect(() => {
    const held = time.value.answer?.columns.held;
    section.className = ageOf(time.value) + (held && !held.some((value) => value > 0) ? ' nothing' : '');
  });
  matchMedia('(forced-colors: active)').addEventListener('change', () => chart.refresh());
}
/* SPDX-License-Identifier: MIT */
