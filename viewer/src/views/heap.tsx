/* Under "Promoted": what another size of the minor heap would have kept from promotion, and the pauses. */
import { computed } from '@preact/signals-core';
import type { Heap, Time } from '../engine/answers.ts';
import { axisDuration, axisMoment, between, bytes, count, duration, numberOf, roundMoments, share } from '../numbers.ts';
import { ageOf, time, totals } from '../state/asking.ts';
import { asTable, head, toggleTable, view } from '../state/store.ts';
import { DataTable } from './data.tsx';
import { island } from './island.tsx';

const KINDS = ['minor collections', 'marking or sweeping', 'waiting for another domain'];
const LONG_NS = 1e5; // shorter pauses have no record of their own

const heap = computed<Heap | null>(() => (view.value.tab === 'promoted' ? (totals.value.answer?.heap ?? null) : null));

const sharesBetween = (low: number, high: number): string => between(Math.max(0, low), Math.max(0, high), share);

/* ---- other minor heaps ---- */

const SIZES = [
  ['kept_half', 'half as large'],
  ['kept_2', 'twice as large'],
  ['kept_4', '4 times as large'],
  ['kept_8', '8 times as large'],
] as const;

function Sizes({ of }: { of: NonNullable<Heap['what_if']> }) {
  const words = head.value?.trace.word_bytes ?? 8;
  return (
    <>
      <p class="line">
        Between two minor collections {bytes(of.interval_words * words)} are allocated. With a minor heap of another size, of the bytes that were promoted so much would not have been:
      </p>
      <table class="data ranges">
        <thead>
          <tr>
            <th scope="col">minor heap</th>
            <th scope="col">not promoted</th>
            <th scope="col" aria-hidden="true" class="bar" />
          </tr>
        </thead>
        <tbody>
          {SIZES.map(([size, text]) => {
            const { low, high } = of[size];
            return (
              <tr>
                <th scope="row">{text}</th>
                <td>{size === 'kept_half' ? `${sharesBetween(-high, -low)} more promoted` : sharesBetween(low, high)}</td>
                <td class="bar" aria-hidden="true">
                  {size !== 'kept_half' && <span style={{ left: `${100 * low}%`, width: `${Math.max(0.5, 100 * (high - low))}%` }} />}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="line quiet">
        The truth is somewhere in each range, with no best number in it: a death is known only when a collection finds it, and {numberOf(of.samples, 'promoted block')} {of.samples === 1 ? 'was' : 'were'} sampled.
      </p>
    </>
  );
}

/* ---- pauses ---- */

function pausesText(of: Heap['pauses']): string {
  if (!of.count) return 'The heap never paused the program.';
  const part = of.share === null ? '' : `, ${share(of.share)} of the time of its domains`;
  const sum = `${numberOf(of.count, 'pause')} took ${duration(of.total_ns)}${part}`;
  if (of.longest_ns === undefined) return `${sum}; each less than ${duration(LONG_NS)}.`;
  const most = (ns: number | undefined) => ((ns ?? 0) <= LONG_NS ? `less than ${duration(LONG_NS)}` : `at most ${duration(ns!)}`);
  return `${sum}. Half of them took ${most(of.median_ns)}, 99 of 100 ${most(of.below_99_ns)}, the longest ${duration(of.longest_ns)}, after ${duration(of.longest_at_ns ?? 0)}.`;
}

const HEIGHT = 100;
const WIDTH = 1000;

/** A dot for each pause: where it was in the run, and as high as the logarithm of its length. */
function dots(columns: Time['columns'], end: number, most: number): string {
  const [low, high] = [Math.log(LONG_NS / 2), Math.log(most)];
  const parts: string[] = [];
  columns.pause_time.forEach((at, index) => {
    const height = (HEIGHT * (Math.log(Math.max(LONG_NS / 2, columns.pause_ns[index]!)) - low)) / (high - low);
    parts.push(`M${((WIDTH * at) / end).toFixed(1)} ${(HEIGHT - height).toFixed(1)}h0`);
  });
  return parts.join('');
}

function ticksOf(most: number): number[] {
  const ticks: number[] = [];
  for (let ns = LONG_NS; ns <= most; ns *= 10) ticks.push(ns);
  return ticks;
}

function Chart({ columns, longest }: { columns: Time['columns']; longest: number }) {
  const end = head.value?.trace.duration_ns || 1;
  const most = Math.max(longest, 10 * LONG_NS) * 1.2;
  const bottom = (ns: number) => (100 * Math.log(ns / (LONG_NS / 2))) / Math.log(most / (LONG_NS / 2));
  return (
    <div class="curve">
      <div class="ticks vertical" aria-hidden="true">
        {ticksOf(most).map((ns) => (
          <span style={{ bottom: `${bottom(ns)}%` }}>{axisDuration(ns)}</span>
        ))}
      </div>
      <svg role="img" aria-label="Pauses over the run: when, and how long" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
        {ticksOf(most).map((ns) => (
          <line class="grid" x1={0} x2={WIDTH} y1={HEIGHT - bottom(ns)} y2={HEIGHT - bottom(ns)} />
        ))}
        <path class="dots" d={dots(columns, end, most)} />
      </svg>
      <div class="ticks" aria-hidden="true">
        {roundMoments(end).map((at) => (
          <span style={{ left: `${(100 * at) / end}%` }}>{axisMoment(at / 1e9, end / 1e9)}</span>
        ))}
      </div>
      <p class="axis">
        <span>when →</span>
      </p>
    </div>
  );
}

const TABLE_MOST = 100;

function Longest({ columns }: { columns: Time['columns'] }) {
  const order = Array.from(columns.pause_ns.keys()).sort((a, b) => columns.pause_ns[b]! - columns.pause_ns[a]!);
  const rows = order
    .slice(0, TABLE_MOST)
    .map((index) => [duration(columns.pause_ns[index]!), duration(columns.pause_time[index]!), KINDS[columns.pause_kind[index]!] ?? '']);
  return <DataTable label="The longest pauses" heads={['length', 'after', 'for']} rows={rows} />;
}

function shownPauses(long: number): string {
  if (!asTable.value.pauses) return 'The chart has those of 0.1 ms and longer.';
  if (long <= TABLE_MOST) return 'The table has those of 0.1 ms and longer.';
  return `The table has the ${TABLE_MOST} longest of the ${count(long)} that took 0.1\u202fms or longer.`;
}

function Pauses({ of }: { of: Heap['pauses'] }) {
  const columns = time.value.answer?.columns;
  const some = columns && columns.pause_time.length > 0;
  return (
    <>
      <div class="heading">
        <h2>Pauses</h2>
        {some && (
          <button type="button" class="link" aria-expanded={asTable.value.pauses === true} onClick={() => toggleTable('pauses')}>
            {asTable.value.pauses ? 'show as chart' : 'show as table'}
          </button>
        )}
      </div>
      <p class="line">{pausesText(of)}</p>
      {some && (asTable.value.pauses ? <Longest columns={columns} /> : <Chart columns={columns} longest={of.longest_ns ?? 0} />)}
      <p class="line quiet">
        {(['minor', 'slice', 'stop'] as const)
          .map((kind, index) => (of[`${kind}_count`] ? `${count(of[`${kind}_count`])} for ${KINDS[index]} (${duration(of[`${kind}_ns`])})` : ''))
          .filter(Boolean)
          .join(', ')}
        {some && `. ${shownPauses(columns.pause_time.length)}`}
      </p>
    </>
  );
}

export function followHeap(): void {
  island('heap', () => {
    const of = heap.value;
    if (!of) return null;
    return (
      <div class={`kinds${ageOf(totals.value)}`}>
        <div>
          <div class="heading">
            <h2>Other sizes of the minor heap</h2>
          </div>
          {of.what_if ? <Sizes of={of.what_if} /> : <p class="empty">Too few promoted blocks were sampled to tell.</p>}
        </div>
        <div>
          <Pauses of={of.pauses} />
        </div>
      </div>
    );
  });
}
/* SPDX-License-Identifier: MIT */
