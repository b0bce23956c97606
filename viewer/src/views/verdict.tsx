/* The verdict, in the words of `winnow report`, with the functions that it is about and those that held the most. */
import type { ComponentChildren } from 'preact';
import type { Compared, Culprit, Estimate, Head, Mapper, Totals, Verdict } from '../engine/answers.ts';
import { bytes, changeOf, duration, share } from '../numbers.ts';
import { table } from '../state/asking.ts';
import { change, say } from '../state/store.ts';
import { selectLabel } from './flame.tsx';
import { compactName, Name } from './island.tsx';

const LONGEST = 60;

/** Selects a function; where the table has none, it shows functions first. */
function select(text: string): void {
  if (table.peek().of?.by === 'function') selectLabel(text);
  else change({ by: 'function', focus: [], of: '', row: text, selected: null, zoom: null });
}

/** The text of the label: with its module, where several modules have the function. */
function textOf({ function: name, module }: { function: string; module?: string }): string {
  const found = table.value.answer?.labels.find((label) => label.function === name && (!module || label.module === module) && !label.line);
  return found?.text ?? name;
}

const Function = ({ text }: { text: string }) => (
  <button type="button" class="plain" onClick={() => select(text)}>
    <Name text={compactName(text, LONGEST)} title={text} />
  </button>
);

function CulpritName({ of, place }: { of: Culprit; place: string | undefined }) {
  const others = (of.processes ?? 1) - 1;
  return (
    <>
      <Function text={textOf(of)} />
      {place && <> (<Name text={place} />)</>}
      {of.caller && <>, called by <span class="tied"><Function text={textOf({ function: of.caller })} />{of.process ? ',' : ':'}</span></>}
      {of.process && <>{of.caller ? '' : ','} in <Name text={of.process} />{others > 0 && ` and ${others} other process${others > 1 ? 'es' : ''}`}:</>}
    </>
  );
}

/** The verdict on the blocks, which a verdict on resident memory has beside it. */
const growthOf = ({ kind, blocks }: Verdict) => blocks ?? kind;

function sinceText(verdict: Verdict): string {
  const leaks = growthOf(verdict) === 'leak_likely';
  const at = verdict.culprits[0]!.since_ns;
  const { begun, replaced, freed_at_exit: freed } = verdict;
  const toEnd = `to the end${begun ? ' of a run of less than a second' : replaced ? ', while old ones are freed' : freed ? ', and freed as it ended' : ''}`;
  const since = at ? `since ${duration(at)}` : leaks ? 'from start to end' : toEnd;
  return `${since}: a leak, or ${leaks ? 'a cache that is not full yet' : replaced ? 'a queue or cache that is not full yet' : 'data that it collects'}`;
}

const BLOCKS: Record<string, string> = { leak_likely: 'leak likely', still_growing: 'still growing', no_leak_seen: 'no leak seen' };

export const sizeOf = (mapper: Mapper) => mapper.resident_bytes ?? mapper.mapped_bytes;

/** Which function mapped the most, which is the first, and for which caller. */
function mapperIn([first]: Mapper[], all: number): string {
  if (!first) return '';
  const [name, caller] = [first.name, first.callers[0]].map((text) => text && compactName(text, 40));
  return `, ${sizeOf(first) > 0.95 * all ? '' : `${bytes(sizeOf(first))} `}by ${name}${caller ? `, called by ${caller}` : ''}`;
}

/** By how much all blocks became more or less after the warm-up. */
function grownText({ low, high }: Pick<Estimate, 'low' | 'high'> = { low: 0, high: 0 }): string {
  const since = 'after the first fifth of the run';
  const [least, most] = high < 0 ? [bytes(-high), bytes(-low)] : [bytes(low), bytes(high)];
  if (low > 0 || high < 0)
    return `it ${low > 0 ? 'grew' : 'shrank'} by ${least === most ? '' : `between ${least} and `}${most} ${since}; whether ${low > 0 ? 'it goes on' : 'a part of it grows'} is open`;
  return high > 0 ? `no growth is seen, but less than ${most} ${since} would not show` : 'growth is neither sure nor ruled out';
}

/** Why it is so, where no function is to blame. */
function reasonOf({ kind, bytes: amount, at_ns, grown_bytes: grown }: Verdict, { totals, mapped }: Totals, { trace }: Head): string {
  switch (kind) {
    case 'not_decided':
      return grownText(grown);
    case 'no_leak_seen':
      return `${at_ns < 0.95 * trace.duration_ns ? `level, within 10 %, since ${duration(at_ns)}` : 'no function grows'}; a leak of a tenth of the peak would show`;
    case 'mostly_short_lived':
      return `${share(totals.brief_share?.estimate ?? 0)} of what it allocated lived less than ${duration(totals.brief_ns ?? 0)}, and the peak is small beside that`;
    case 'freed_not_given_back':
      return `malloc keeps about ${bytes(amount)} that is free, among blocks that live on`;
    case 'reserved_never_written':
      return `at least ${bytes(amount)} of what is held was never written, and takes no memory`;
    case 'mapped_not_malloc':
      return `${bytes(amount)} of what was resident at ${duration(at_ns)} is memory that the program mapped itself${mapperIn(mapped ?? [], amount)}`;
    default:
      return '';
  }
}

/** The verdict of a comparison: what changed, and in which functions. */
const Between = ({ of: { kind, title, reason, fact, change: all, labels, changes }, alone }: { of: Compared; alone: string }) => (
  <p class={`said ${kind}`}>
    <strong>{title}</strong> {reason}
    {fact && `${fact} ${changeOf(all!)}`}
    {labels?.map(({ text }, index) => (
      <>
        {index ? ' · ' : ': '}
        <Function text={text} /> {changeOf(changes![index]!)}
      </>
    ))}
    {alone && `${fact || reason ? ' · ' : ''}the run after by itself: ${alone.toLowerCase()}`}
  </p>
);

/** Too few samples to say how it grew. */
const NO_TREND = '?';

/** A function with a smaller part of the peak is not named. */
const LEAST = 0.1;
/** So many functions that grow are. */
const NAMED = 2;

export function VerdictLine({ head, totals }: { head: Head; totals: Totals }) {
  const { verdict, compared } = totals;
  if (!verdict) return null;
  const mapper = verdict.kind === 'mapped_not_malloc' && totals.mapped?.[0];
  const next = compared?.next || totals.next || (mapper && `look at ${compactName(mapper.name, LONGEST)}, which maps the most`);
  const { no_peak } = head.limits;
  const peak = totals.totals[no_peak ? 'live_at_end_bytes' : 'peak_bytes']?.estimate ?? 0;
  const part = (of: number) => Math.min(1, of / peak);
  const isGrowing = verdict.culprits.length > 0;
  const more = Math.max(0, verdict.culprits.length - NAMED);
  /* Where there are more, the line has no room for callers, which the table has. */
  const culprits = verdict.culprits.slice(0, NAMED).map((one) => (more ? { ...one, caller: '' } : one));
  const named = new Set(culprits.map(textOf));
  const holders = (totals.holders ?? []).filter(({ text, bytes: { estimate } }) => !named.has(text) && part(estimate) >= LEAST);
  const parts: ComponentChildren[] = culprits.map((culprit, index) => (
    <>
      <CulpritName of={culprit} place={totals.places?.[index]} />
      {` ${share(part((totals.held?.[index] ?? culprit.bytes).estimate))}${index ? '' : ' of the peak'}, grows ${bytes(culprit.bytes_per_second.estimate)}/s`}
      {index === culprits.length - 1 && `${more ? `, and ${more} more,` : ''} ${sinceText(verdict)}`}
    </>
  ));
  const reason = reasonOf(verdict, totals, head);
  const ofBlocks = BLOCKS[verdict.blocks ?? ''];
  if (ofBlocks) parts.unshift(`${head.collected ? "the heap's" : "malloc's"} blocks: ${ofBlocks}`);
  if (reason) parts.unshift(reason);
  holders.forEach(({ text, bytes: { estimate }, trend = NO_TREND, place }, index) => {
    const notes = [trend !== NO_TREND && trend, place].filter(Boolean);
    parts.push(
      <>
        {!index && `${mapper ? "of malloc's blocks " : ''}${isGrowing ? 'also held' : parts.length ? 'held' : 'Held'} at the ${no_peak ? say('moment') : 'peak'}: `}
        <span class="holder">
          <Function text={text} /> {share(part(estimate))}
          {notes.length > 0 && <> (<Name text={notes.join(', ')} />)</>}
        </span>
      </>,
    );
  });
  return (
    <>
    {compared ? <Between of={compared} alone={verdict.title} /> : parts.length > 0 &&
    <p class={`said ${verdict.kind}`}>
      {verdict.title && <strong>{verdict.title}</strong>}
      {parts.map((one, index) => (
        <>
          {index ? ' · ' : ' '}
          {one}
        </>
      ))}
    </p>}
    {next && <p class="next"><strong>Next:</strong> <Name text={next} /></p>}
    </>
  );
}
/* SPDX-License-Identifier: MIT */
