/* Which kinds of block: how long they live and how large they are, in one map; the sizes beside it; and how many survive. */
import { computed, effect, signal } from '@preact/signals-core';
import type { Kinds } from '../engine/answers.ts';
import { axisBytes, axisDuration, between, bytes, duration, querySize, queryTime, readSize, readTime, share, shortCount } from '../numbers.ts';
import { ageOf, comparing, kinds, kindsOpen, missing } from '../state/asking.ts';
import { bounds, withBounds } from '../state/clauses.ts';
import { asTable, head, setQuery, toggleTable, view } from '../state/store.ts';
import { DataTable } from './data.tsx';
import { accepts } from './entry.ts';
import { island } from './island.tsx';

/* ---- sums ---- */

interface Sums {
  lives: number;
  sizes: number;
  /** Of a cell, dead and alive blocks together. */
  cells: Float64Array;
  samples: Float64Array;
  most: number;
  bySize: { dead: number; alive: number; samples: number }[];
}

function sum(answer: Kinds): Sums {
  const lives = answer.life_ns.length;
  const sizes = answer.size_bytes.length;
  const { columns } = answer;
  const cells = new Float64Array(lives * sizes);
  const samples = new Float64Array(lives * sizes);
  const bySize = answer.size_bytes.map(() => ({ dead: 0, alive: 0, samples: 0 }));
  for (let cell = 0; cell < cells.length; cell++) {
    cells[cell] = columns.bytes[cell]! + columns.alive_bytes[cell]!;
    samples[cell] = columns.samples[cell]! + columns.alive_samples[cell]!;
    const size = bySize[cell % sizes]!;
    size.dead += columns.bytes[cell]!;
    size.alive += columns.alive_bytes[cell]!;
    size.samples += samples[cell]!;
  }
  return { lives, sizes, cells, samples, bySize, most: cells.reduce((most, cell) => Math.max(most, cell), 0) };
}

const sums = computed(() => (kinds.value.answer ? sum(kinds.value.answer) : null));

/* ---- brush ---- */

interface Corner {
  life: number;
  size: number;
}
const brush = signal<{ from: Corner; to: Corner } | null>(null);
const under = signal<Corner | null>(null);

const ordered = (one: number, other: number): [number, number] => (one < other ? [one, other] : [other, one]);

/** The bounds that select the classes from..to of a scale. The last class is open. */
function bound(field: string, scale: number[], from: number, to: number, write: (value: number) => string): string[] {
  const clauses = [];
  if (from > 0) clauses.push(`${field} >= ${write(scale[from]!)}`);
  if (to + 1 < scale.length) clauses.push(`${field} < ${write(scale[to + 1]!)}`);
  return clauses;
}

function commit(): void {
  const { answer } = kinds.value;
  const area = brush.value;
  brush.value = null;
  if (!answer || !area) return;
  const [fromLife, toLife] = ordered(area.from.life, area.to.life);
  const [fromSize, toSize] = ordered(area.from.size, area.to.size);
  setQuery(
    withBounds(view.value.where, ['size', 'life'], [
      ...bound('size', answer.size_bytes, fromSize, toSize, querySize),
      ...bound('life', answer.life_ns, fromLife, toLife, queryTime),
    ]),
  );
}

function cornerAt(event: PointerEvent, of: Sums): Corner {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const clamp = (part: number, most: number) => Math.min(most - 1, Math.max(0, Math.floor(part * most)));
  return {
    life: clamp((event.clientX - box.left) / box.width, of.lives),
    size: clamp(1 - (event.clientY - box.top) / box.height, of.sizes),
  };
}

/* ---- the map ---- */

function ticks(scale: number[], most: number): number[] {
  const step = Math.max(1, Math.ceil(scale.length / most));
  return scale.map((_, index) => index).filter((index) => index % step === 0);
}

function Ticks({ scale, write, vertical }: { scale: number[]; write: (value: number) => string; vertical?: boolean }) {
  return (
    <div class={vertical ? 'ticks vertical' : 'ticks'} aria-hidden="true">
      {ticks(scale, vertical ? 7 : 6).map((index) => (
        <span style={{ [vertical ? 'bottom' : 'left']: `${(100 * index) / scale.length}%` }}>{write(scale[index]!)}</span>
      ))}
    </div>
  );
}

/** Of the cell with the least. */
const FAINT = 0.1;

function Cells({ of }: { of: Sums }) {
  const cells = [];
  for (let cell = 0; cell < of.cells.length; cell++) {
    const value = of.cells[cell]!;
    const [life, size] = [Math.floor(cell / of.sizes), cell % of.sizes];
    if (value <= 0) continue;
    cells.push(
      <rect
        class="cell"
        x={life + 0.03}
        y={of.sizes - 1 - size + 0.03}
        width={0.94}
        height={0.94}
        fill-opacity={(FAINT + (1 - FAINT) * Math.sqrt(value / of.most)).toFixed(3)}
      />,
    );
  }
  return <>{cells}</>;
}

function Brush({ of }: { of: Sums }) {
  const area = brush.value;
  if (!area) return null;
  const [fromLife, toLife] = ordered(area.from.life, area.to.life);
  const [fromSize, toSize] = ordered(area.from.size, area.to.size);
  return <rect class="brush" x={fromLife} y={of.sizes - 1 - toSize} width={toLife - fromLife + 1} height={toSize - fromSize + 1} />;
}

/** Where a value lies among classes: those between lower ends are as wide as any other. */
function placeIn(scale: number[], value: number): number {
  const after = scale.findIndex((low) => low > value);
  const index = after < 0 ? scale.length - 1 : after - 1;
  if (index < 0) return 0;
  if (after < 0) return value > scale[index]! ? scale.length : index;
  return index + (value - scale[index]!) / (scale[after]! - scale[index]!);
}

/** The bounds of the query on a field, as places; null: it has none. */
function boundsIn(scale: number[], field: 'size' | 'life', read: (text: string) => number | null): [number, number] | null {
  const { from, to } = bounds(view.value.where, field);
  if (from === null && to === null) return null;
  return [from === null ? 0 : placeIn(scale, read(from) ?? 0), to === null ? scale.length : placeIn(scale, read(to) ?? Infinity)];
}

/** The outline of the sizes and lives that the query selects. */
function Bounds({ answer, of }: { answer: Kinds; of: Sums }) {
  const life = boundsIn(answer.life_ns, 'life', readTime);
  const size = boundsIn(answer.size_bytes, 'size', readSize);
  if (!life && !size) return null;
  const [left, right] = life ?? [0, of.lives];
  const [bottom, top] = size ?? [0, of.sizes];
  return <rect class="bounds" x={left} y={of.sizes - top} width={Math.max(0, right - left)} height={Math.max(0, top - bottom)} />;
}

function HeatMap({ answer, of }: { answer: Kinds; of: Sums }) {
  return (
    <div class="map">
      <Ticks scale={answer.size_bytes} write={axisBytes} vertical />
      <svg
        class="heat"
        role="img"
        aria-label="Bytes by life and size of the blocks"
        viewBox={`0 0 ${of.lives} ${of.sizes}`}
        preserveAspectRatio="none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const corner = cornerAt(event, of);
          brush.value = { from: corner, to: corner };
        }}
        onPointerMove={(event) => {
          const corner = cornerAt(event, of);
          if (under.value?.life !== corner.life || under.value.size !== corner.size) under.value = corner;
          if (brush.value && (brush.value.to.life !== corner.life || brush.value.to.size !== corner.size)) brush.value = { from: brush.value.from, to: corner };
        }}
        onPointerUp={commit}
        onPointerCancel={() => (brush.value = null)}
        onPointerLeave={() => (under.value = null)}
      >
        <Cells of={of} />
        <Bounds answer={answer} of={of} />
        <Brush of={of} />
      </svg>
      <svg class="sizes" role="img" aria-label="Bytes by size of the blocks" viewBox={`0 0 100 ${of.sizes}`} preserveAspectRatio="none">
        {of.bySize.map((size, index) => {
          const most = of.bySize.reduce((sofar, { dead, alive }) => Math.max(sofar, dead + alive), 0) || 1;
          const y = of.sizes - 1 - index + 0.12;
          return (
            <>
              <rect class="dead" x={0} y={y} width={(100 * size.dead) / most} height={0.76} />
              <rect class="alive" x={(100 * size.dead) / most} y={y} width={(100 * size.alive) / most} height={0.76} />
            </>
          );
        })}
      </svg>
      <Ticks scale={answer.life_ns} write={axisDuration} />
      <p class="axis">
        <span>life →</span>
        <Scale most={of.most} />
        <span class="quiet">
          <span class="swatch dead" aria-hidden="true" /> died <span class="swatch alive" aria-hidden="true" /> alive at the end
        </span>
      </p>
    </div>
  );
}

const classText = (scale: number[], index: number, write: (value: number) => string) =>
  index + 1 < scale.length ? between(scale[index]!, scale[index + 1]!, write) : `${write(scale[index]!)} and more`;

function Readout({ answer, of }: { answer: Kinds; of: Sums }) {
  const at = under.value;
  if (!at) return <span class="quiet">Drag over the map: blocks of these sizes and lives.</span>;
  const cell = at.life * of.sizes + at.size;
  return (
    <span>
      {classText(answer.size_bytes, at.size, bytes)}, lived {classText(answer.life_ns, at.life, duration)}: {bytes(of.cells[cell]!)} ({shortCount(of.samples[cell]!)} samples)
    </span>
  );
}

/* ---- fields: the brush for those who do not drag ---- */

function Field({ label, field, end, read, write }: { label: string; field: 'size' | 'life'; end: 'from' | 'to'; read: (text: string) => number | null; write: (value: number) => string }) {
  const now = bounds(view.value.where, field);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        size={6}
        value={now[end] ?? ''}
        placeholder="–"
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => {
          const text = event.currentTarget.value.trim();
          const value = text === '' ? null : read(text);
          if (!accepts(event.currentTarget, text === '' || value !== null, field === 'size' ? 'a size, such as 10K' : 'a time with its unit, such as 10ms')) return;
          const next = { ...now, [end]: value === null ? null : write(value) };
          const clauses = [];
          if (next.from !== null) clauses.push(`${field} >= ${next.from}`);
          if (next.to !== null) clauses.push(`${field} < ${next.to}`);
          setQuery(withBounds(view.value.where, [field], clauses));
        }}
      />
    </label>
  );
}

function Fields() {
  const size = { field: 'size', read: readSize, write: querySize } as const;
  const life = { field: 'life', read: readTime, write: queryTime } as const;
  return (
    <div class="controls">
      <Field label="size from" end="from" {...size} />
      <Field label="to" end="to" {...size} />
      <Field label="life from" end="from" {...life} />
      <Field label="to" end="to" {...life} />
    </div>
  );
}

/* ---- survival ---- */

/** Round lives between the first and the last: powers of ten, or 1, 2 and 5 times these if they are few. */
export function roundLives(first: number, last: number, most: number): number[] {
  const powers = Array.from({ length: 20 }, (_, power) => 10 ** power);
  const within = (values: number[]) => values.filter((value) => value >= first && value <= last);
  const fine = within(powers.flatMap((power) => [power, 2 * power, 5 * power]));
  if (fine.length <= most) return fine;
  const decades = within(powers);
  const step = Math.ceil(decades.length / most);
  return decades.filter((_, index) => index % step === 0);
}

/** Where a life stands in a curve, 0 to 1: by its logarithm. */
function scaleOfLives(times: ArrayLike<number>): { first: number; last: number; at: (life: number) => number } {
  const first = Math.max(1, times[0] ?? 1);
  const last = Math.max(2, times[times.length - 1] ?? 2);
  const length = Math.max(1e-9, Math.log(last) - Math.log(first));
  return { first, last, at: (life) => (Math.log(Math.max(1, life)) - Math.log(first)) / length };
}

/** Points of a line: x by the logarithm of the life, y by the share. */
function line(times: ArrayLike<number>, values: ArrayLike<number>): string[] {
  const { at } = scaleOfLives(times);
  return Array.from(times, (time, index) => `${(100 * at(time)).toFixed(2)},${(100 * (1 - values[index]!)).toFixed(2)}`);
}

function Survival({ answer }: { answer: Kinds }) {
  const { survival_ns, survival, survival_low, survival_high, survival_all } = answer.columns;
  if (!survival_ns.length) return <p class="empty">No life is known well enough.</p>;
  const band = [...line(survival_ns, survival_high), ...line(survival_ns, survival_low).reverse()].join(' ');
  const scale = scaleOfLives(survival_ns);
  const marks = roundLives(scale.first, scale.last, 7);
  return (
    <div class="curve">
      <div class="ticks vertical" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span style={{ bottom: `${100 * part}%` }}>{share(part).replace('.0', '')}</span>
        ))}
      </div>
      <svg role="img" aria-label="Share of the blocks that live longer than a time" viewBox="0 0 100 100" preserveAspectRatio="none">
        {[25, 50, 75].map((y) => (
          <line class="grid" x1={0} x2={100} y1={y} y2={y} />
        ))}
        {marks.map((life) => (
          <line class="grid" x1={100 * scale.at(life)} x2={100 * scale.at(life)} y1={0} y2={100} />
        ))}
        <polygon class="band" points={band} />
        <polyline class="all" points={line(survival_ns, survival_all).join(' ')} />
        <polyline class="these" points={line(survival_ns, survival).join(' ')} />
      </svg>
      <div class="ticks" aria-hidden="true">
        {marks.map((life) => (
          <span class={scale.at(life) > 0.03 ? 'centred' : ''} style={{ left: `${100 * scale.at(life)}%` }}>{axisDuration(life)}</span>
        ))}
      </div>
      <p class="axis">
        <span>life →</span>
        <span class="quiet">
          <span class="swatch these" aria-hidden="true" /> these blocks <span class="swatch all" aria-hidden="true" /> all blocks
        </span>
      </p>
    </div>
  );
}

/* ---- as tables ---- */

function MapTable({ answer, of }: { answer: Kinds; of: Sums }) {
  const rows = Array.from(of.cells.keys())
    .filter((cell) => of.cells[cell]! > 0)
    .map((cell) => [
      classText(answer.size_bytes, cell % of.sizes, bytes),
      classText(answer.life_ns, Math.floor(cell / of.sizes), duration),
      bytes(of.cells[cell]!),
      shortCount(of.samples[cell]!),
    ]);
  return <DataTable label="Life and size as a table" heads={['size', 'life', 'bytes', 'samples']} rows={rows} />;
}

function SizesTable({ answer, of }: { answer: Kinds; of: Sums }) {
  const rows = of.bySize.flatMap(({ dead, alive, samples }, index) =>
    dead + alive > 0 ? [[classText(answer.size_bytes, index, bytes), bytes(dead), bytes(alive), shortCount(samples)]] : [],
  );
  return <DataTable label="Sizes as a table" heads={['size', 'died', 'alive at the end', 'samples']} rows={rows} />;
}

function SurvivalTable({ answer }: { answer: Kinds }) {
  const { survival_ns, survival, survival_low, survival_high, survival_all } = answer.columns;
  const rows = Array.from(survival_ns, (time, index) => [
    duration(time),
    share(survival[index]!),
    between(survival_low[index]!, survival_high[index]!, share),
    share(survival_all[index]!),
  ]);
  return <DataTable label="Survival as a table" heads={['life', 'these blocks', '95 % range', 'all blocks']} rows={rows} />;
}

const Toggle = ({ chart }: { chart: string }) => (
  <button type="button" class="link" aria-expanded={asTable.value[chart] === true} onClick={() => toggleTable(chart)}>
    {asTable.value[chart] ? 'show as chart' : 'show as table'}
  </button>
);

const scaleOf = (strength: number, most: number) => bytes(most * ((strength - FAINT) / (1 - FAINT)) ** 2);

/** What the strength of a cell says. */
const Scale = ({ most }: { most: number }) => (
  <span class="scale" role="img" aria-label={`From little, over ${scaleOf(0.55, most)} in the middle, to ${bytes(most)} at most in one cell`}>
    {scaleOf(FAINT, most)}
    <span class="steps" aria-hidden="true">
      {[FAINT, 0.325, 0.55, 0.775, 1].map((strength) => (
        <span style={{ opacity: strength }} />
      ))}
    </span>
    {bytes(most)}
  </span>
);

function Charts({ answer, of }: { answer: Kinds; of: Sums }) {
  return (
    <div class={`kinds${ageOf(kinds.value)}`}>
      <div>
        <div class="heading">
          <h2>Size and life of the blocks, by bytes</h2>
          <Toggle chart="map" />
        </div>
        {asTable.value.map ? (
          <>
            <SizesTable answer={answer} of={of} />
            <MapTable answer={answer} of={of} />
          </>
        ) : (
          <HeatMap answer={answer} of={of} />
        )}
        <p class="line">
          <Readout answer={answer} of={of} />
        </p>
        <Fields />
      </div>
      <div>
        <div class="heading">
          <h2>Share of the blocks that live longer</h2>
          <Toggle chart="survival" />
        </div>
        {asTable.value.survival ? <SurvivalTable answer={answer} /> : <Survival answer={answer} />}
      </div>
    </div>
  );
}

function Content() {
  const { answer } = kinds.value;
  const of = sums.value;
  if (!answer || !of) return <p class="empty">{missing(kinds.value, 'Sorting blocks by size and life…')}</p>;
  if (of.most === 0) return <p class="empty">No sampled block is in this view, so there are no kinds of block.</p>;
  return <Charts answer={answer} of={of} />;
}

export function followKinds(): void {
  effect(() => {
    document.getElementById('kinds')!.hidden = comparing.value || head.value?.limits.no_lives === true;
  });
  island('kinds', () => (
    <details open={kindsOpen.value} onToggle={(event) => (kindsOpen.value = event.currentTarget.open)}>
      <summary>Sizes and lives of the blocks</summary>
      {kindsOpen.value && <Content />}
    </details>
  ));
}
/* SPDX-License-Identifier: MIT */
