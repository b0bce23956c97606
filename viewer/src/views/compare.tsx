/* The comparison: what was chosen to compare, the sentence that says what changed, and its rows. */
import { computed } from '@preact/signals-core';
import type { Change, Compare } from '../engine/answers.ts';
import { bytes, changeOf, count, changeRange, duration, error, numberOf, queryTime, range, readTime, shortCount } from '../numbers.ts';
import { ageOf, chosen, compare, comparing, missing } from '../state/asking.ts';
import { MEASURES, type Scale } from '../state/address.ts';
import { moment, withMoment } from '../state/clauses.ts';
import { againstOf, canScale, lastOf, sidesOf } from '../state/questions.ts';
import { change, head, say, timed, view, worded } from '../state/store.ts';
import { isSnapshot } from '../state/words.ts';
import { cleanName, withoutRun } from '../flame/names.ts';
import { accepts } from './entry.ts';
import { searched, selectLabel } from './flame.tsx';
import { nameFor } from './fitted.ts';
import { Gap, shownRows } from './gap.tsx';
import { Name } from './island.tsx';
import { menuOf } from './menu.tsx';

/* ---- what is compared ---- */

const MEASURE_NAMES: Record<string, string> = {
  held: 'what is held',
  allocated: 'all allocated',
  churn: 'what was freed within 1\u202f% of the run',
  promoted: 'what was promoted',
  alive: 'what was alive at the end',
  lasting: 'what lives long',
};
const SCALE_NAMES: Record<Scale, string> = {
  run: 'none',
  second: 'as if both took as long',
  allocation: 'as if both allocated as much',
};

const exact = (ns: number) => queryTime(ns, 5);

function Moment({ label, value, set }: { label: string; value: string; set: (at: string) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        size={7}
        value={value}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => {
          const input = event.currentTarget;
          const text = input.value.trim();
          if (accepts(input, text === 'peak' || text === 'end' || readTime(text) !== null, 'peak, end, or a time with its unit, such as 1.5s')) set(text);
        }}
      />
    </label>
  );
}

/** Both moments, in nanoseconds, of a comparison within one run; null: there are two runs, or no answer yet. */
export const moments = computed<[number, number] | null>(() => {
  const { answer } = compare.value;
  return comparing.value && answer?.moments ? [answer.before_ns, answer.after_ns] : null;
});

/** Compares the ends of a range. */
export function compareEnds(from: number, to: number): void {
  change({ against: exact(from), where: withMoment(view.value.where, exact(to)), focus: [], selected: null, row: '', zoom: null });
}

function Select<T extends string>({ label, value, names, set }: { label: string; value: T; names: Record<string, string>; set: (to: T) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value as T)}>
        {Object.entries(names).map(([key, name]) => (
          <option value={key} selected={key === value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function CompareControls() {
  const shown = view.value;
  const known = head.value;
  if (!known || !comparing.value) return null;
  const counted = Object.fromEntries(MEASURES.filter((one) => one !== 'promoted' || known.collected).map((one) => [one, MEASURE_NAMES[one]!]));
  return (
    <div class="controls compared">
      {known.before ? (
        !isSnapshot(known) && <>
          <Select label="Compare" value={shown.counted} names={counted} set={(to) => change({ counted: to, focus: [], zoom: null })} />
          {canScale(shown) && <Select label="Scale" value={shown.per} names={SCALE_NAMES} set={(to) => change({ per: to })} />}
        </>
      ) : (
        <>
          <Moment label="From" value={againstOf(shown, known) ?? ''} set={(at) => change({ against: at })} />
          <Moment label="to" value={moment(shown.where).at ?? lastOf(shown, known)} set={(at) => change({ where: withMoment(shown.where, at) })} />
          <span class="quiet">or drag over the chart</span>
        </>
      )}
      <div class="switch" role="group" aria-label={say('whichBytes')}>
        <button type="button" aria-pressed={!shown.withCalls} title={say('ownAll')} onClick={() => change({ withCalls: false })}>
          own
        </button>
        <button type="button" aria-pressed={shown.withCalls} title={say('totalAll')} onClick={() => change({ withCalls: true })}>
          {say('withCallees')}
        </button>
      </div>
      <span class="legend">
        <span class="key">
          <span class="swatch less" aria-hidden="true" />
          less
        </span>
        <span class="key">
          <span class="swatch noise" aria-hidden="true" />
          {say('noise')}
        </span>
        <span class="key">
          <span class="swatch more" aria-hidden="true" />
          more
        </span>
      </span>
    </div>
  );
}

/* ---- the sentence ---- */

const WITHIN = { partial: ', as far as was recorded', exact: ', unchanged', noise: ', which is within noise' };

/** "+22.3 MB (+17.1 to +27.5 MB), +30 %", or that it is within noise. */
export function changeText({ before, difference }: Change, isSure: boolean, of: { partial: boolean; exact: boolean; moments: boolean }): string {
  const text = changeOf(difference.estimate);
  const between = difference.low < difference.high ? ` (${changeRange(difference.low, difference.high)})` : '';
  if (!isSure) return `${text}${between}${of.partial ? WITHIN.partial : of.exact ? WITHIN.exact : WITHIN.noise}`;
  const part = !of.moments && before.samples && before.estimate > 0 ? difference.estimate / before.estimate : NaN;
  return `${text}${between}${Number.isFinite(part) ? `, ${part < 0 ? '−' : '+'}${Math.abs(100 * part).toFixed(0)}\u202f%` : ''}`;
}

const amountOf = ({ estimate, low, high, samples }: Change['before']) =>
  samples ? `${bytes(estimate)}${low < high ? ` (${range(low, high)})` : ''}` : high > 0 ? `less than ${bytes(high)}` : 'nothing';

/** What is held, and at which moment of both runs. */
function heldWhen(): string {
  const { at } = moment(view.value.where);
  if (head.value?.limits.no_peak) return 'held';
  return at === null || at === 'peak' ? 'held at the peak' : at === 'end' ? 'held at the end' : `held ${at} after the start`;
}

export function comparedText(): string {
  const { answer } = compare.value;
  const known = head.value;
  if (!answer || !known) return '\u00a0';
  const sum = changeText(answer.bytes, answer.sure, answer);
  const scaled = answer.scale ? ` What is before is multiplied by ${answer.scale.estimate.toPrecision(3)}.` : '';
  const resized = answer.resized ? ' A block that was resized in between counts on both sides: with its old size, and with its new one.' : '';
  const [before, after] = sidesOf(answer);
  const unsure = answer.partial ? ' A part of a run is missing in its trace, so it is not known which differences are real.' : '';
  if (answer.moments)
    return `From ${duration(answer.before_ns)} to ${duration(answer.after_ns)}: ${amountOf(answer.bytes.before)} ${before}, ${amountOf(answer.bytes.after)} ${after}: ${sum}.${resized}${unsure}`;
  const { counted } = view.value;
  const what = counted === 'held' ? heldWhen() : MEASURE_NAMES[counted]!;
  const lived = answer.life_ns ? ` (${counted === 'churn' ? 'less than' : 'at least'} ${duration(answer.life_ns)})` : '';
  const note = answer.note && ` ${answer.note}`;
  return `${what[0]!.toUpperCase()}${what.slice(1)}${lived}: ${amountOf(answer.bytes.before)} ${before}, ${amountOf(answer.bytes.after)} ${after}: ${sum}.${scaled}${unsure}${note}`;
}

/* ---- rows ---- */


/** The rows whose names match the search: the engine's order, sure changes first. */
export const comparedRows = computed(() => {
  const { answer } = compare.value;
  const search = searched.value;
  if (!answer) return new Uint32Array();
  return Uint32Array.from(answer.labels.keys()).filter((row) => !search || search.test(answer.labels[row]!.text));
});

/** What a row had before or has after; if it is not there, what became of it. */
function Side({ value, low, high, samples, fate }: { value: number; low: number; high: number; samples: number; fate: string }) {
  if (!samples && value === 0) return fate ? <td class="fate side">{fate}</td> : <td class="amount side"><span class="value quiet">–</span></td>;
  return (
    <td class="amount side">
      <span class="value">{bytes(value)}</span>
      <span class="off">{error(value, low, high)}</span>
    </td>
  );
}

function Line({ of, row, place, nearby }: { of: Compare; row: number; place: number; nearby: string[] }) {
  const { columns } = of;
  const label = of.labels[row]!;
  const isSure = columns.sure[row] === 1;
  const [value, low, high] = [columns.change[row]!, columns.low[row]!, columns.high[row]!];
  const fate = of.fates[row]!;
  return (
    <tr
      class={isSure ? (value < 0 ? 'less' : 'more') : 'noise'}
      aria-rowindex={place + 2}
      aria-current={label.text === chosen.value ? 'true' : undefined}
      onClick={() => selectLabel(label.text)}
      onContextMenu={menuOf(label)}
    >
      <th scope="row" class="name">
        <Name text={nameFor({ ...label, text: withoutRun(label.text) }, nearby)} title={cleanName(label.text, 2000)} />
      </th>
      <td class="amount change">
        <span class="value">
          {isSure && <span aria-hidden="true">{value < 0 ? '▼' : '▲'}</span>}
          {changeOf(value)}
        </span>
        <span class="off">{low < high ? changeRange(low, high) : ''}</span>
      </td>
      <Side value={columns.before[row]!} low={columns.before_low[row]!} high={columns.before_high[row]!} samples={columns.before_samples[row]!} fate={fate} />
      <Side value={columns.after[row]!} low={columns.after_low[row]!} high={columns.after_high[row]!} samples={columns.after_samples[row]!} fate={fate} />
      {timed('samples') && <td class="samples">{shortCount(columns.before_samples[row]! + columns.after_samples[row]!)}</td>}
    </tr>
  );
}

/** The line that parts what is sure from what is not. */
function Parting({ of }: { of: Compare }) {
  const left = of.rows_count - of.sure_count;
  const text = of.partial ? 'changed or not' : of.exact ? 'unchanged' : 'within noise';
  return (
    <tr class="parting">
      <td colSpan={2}>
        {text}: {`${count(left)} ${worded(left === 1 ? view.value.by : `${view.value.by}s`)}`}
      </td>
      <td class="side" />
      <td class="side" />
      {timed('samples') && <td class="samples" />}
    </tr>
  );
}

function Head({ of }: { of: Compare }) {
  const { by } = view.value;
  const [before, after] = sidesOf(of);
  return (
    <thead>
      <tr>
        <th scope="col" class="name">
          {worded(by)}
        </th>
        <th scope="col" class="change">
          change
        </th>
        <th scope="col" class="side">
          {before}
        </th>
        <th scope="col" class="side">
          {after}
        </th>
        {timed('samples') && <th scope="col" class="samples">
          samples
        </th>}
      </tr>
    </thead>
  );
}

export function ComparedTable({ height, top }: { height: number; top: number }) {
  const { answer } = compare.value;
  if (!answer) return <p class="empty">{missing(compare.value, 'Comparing…')}</p>;
  const order = comparedRows.value;
  const [from, to] = shownRows(order.length, height, top);
  const shown = order.subarray(from, to);
  const nearby = Array.from(shown, (row) => withoutRun(answer.labels[row]!.text));
  if (!order.length) return <p class={`empty${ageOf(compare.value)}`}>{answer.labels.length ? 'No name matches the search.' : 'Nothing differs: both have the same blocks.'}</p>;
  return (
    <table class={`sites compared${ageOf(compare.value)}`} aria-rowcount={order.length + 1}>
      <Head of={answer} />
      <tbody>
        <Gap rows={from} />
        {Array.from(shown, (row, step) => (
          <>
            {row === answer.sure_count && <Parting of={answer} />}
            <Line key={row} of={answer} row={row} place={from + step} nearby={nearby} />
          </>
        ))}
        <Gap rows={order.length - to} />
      </tbody>
    </table>
  );
}

/* ---- the selection ---- */

/** What is known of a row: pairs of a term and its description. */
export function comparedFacts(text: string): [string, string][] {
  const { answer } = compare.value;
  const row = answer ? answer.labels.findIndex((label) => label.text === text) : -1;
  if (!answer || row < 0) return [];
  const { columns } = answer;
  const [before, after] = sidesOf(answer);
  const estimate = { estimate: columns.change[row]!, low: columns.low[row]!, high: columns.high[row]!, samples: columns.before_samples[row]! + columns.after_samples[row]! };
  const had = { estimate: columns.before[row]!, low: columns.before_low[row]!, high: columns.before_high[row]!, samples: columns.before_samples[row]! };
  const has = { estimate: columns.after[row]!, low: columns.after_low[row]!, high: columns.after_high[row]!, samples: columns.after_samples[row]! };
  return [
    ['change', changeText({ before: had, after: has, difference: estimate }, columns.sure[row] === 1, answer)],
    [before, `${amountOf(had)}${timed(`, ${numberOf(had.samples, 'sample')}`)}`],
    [after, `${amountOf(has)}${timed(`, ${numberOf(has.samples, 'sample')}`)}`],
  ];
}

/** The label with this text, of either run. */
export const comparedLabel = (text: string) => compare.value.answer?.labels.find((label) => label.text === text) ?? null;
/* SPDX-License-Identifier: MIT */
