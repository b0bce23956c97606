/* The header: what was run, when and how long; the verdict with its numbers; and at the foot of the page what else is known
 * of the recording. */
import { effect } from '@preact/signals-core';
import type { Estimate, Head, Totals } from '../engine/answers.ts';
import { amount, axisBytes, bytes, duration, error, estimatedCount, isExact, numberOf, share, shareWithError } from '../numbers.ts';
import { trouble, verdict } from '../state/asking.ts';
import { openMoment } from '../state/moments.ts';
import { running, server } from '../state/server.ts';
import { head, isDark, letters, notice, openTab, panel, say, toggleTheme } from '../state/store.ts';
import { isSnapshot } from '../state/words.ts';
import { copyLink } from './export.ts';
import { island, Name } from './island.tsx';
import { Live, PauseButton } from './live.tsx';
import { Resident } from './resident.tsx';
import { VerdictLine } from './verdict.tsx';

const FEW = 100;
/** Of a run that is judged, as in the report. */
const ASLEEP_MOST = 0.05;

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1) || path;

/** A process may be several programs, by exec. */
const othersOf = (processes: { pid: number }[]) => `and ${numberOf(new Set(processes.map(({ pid }) => pid)).size - 1, 'other process')}`;

function Program({ head: { trace } }: { head: Head }) {
  const [program = 'The program', ...rest] = trace.command;
  if (trace.title)
    return (
      <h1>
        <Name text={trace.title} />
      </h1>
    );
  return (
    <h1>
      <Name text={baseName(program)} title={program} />
      {rest.length > 0 && (
        <span class="arguments">
          {' '}
          <Name text={trace.processes ? othersOf(trace.processes) : rest.join(' ')} />
        </span>
      )}
    </h1>
  );
}

/** How densely the shown samples lie, in words: of a part, the rate is that of the part. */
function rateInWords({ trace: { rate, word_bytes: word, partial, asleep_share } }: Head): string {
  return rate >= 1 && !partial && !asleep_share ? 'every block recorded' : `1 sample every ${axisBytes(word / rate)}`;
}

function warningsOf({ trace, kept, became, limits }: Head): string[] {
  const lines: string[] = [];
  if (became !== undefined)
    lines.push(`Then it became another program${became ? ` (${became})` : ''} by exec, which is not in this trace: winnow record writes that one into a trace of its own.`);
  const lost = [
    trace.lost > 0 && `${numberOf(trace.lost, 'record')} lost${trace.lost_because ? `, since ${causes[trace.lost_because] ?? trace.lost_because}` : ''}`,
    trace.damaged_chunks > 0 && `${numberOf(trace.damaged_chunks, 'piece')} damaged, ${bytes(trace.damaged_bytes)} left out`,
    trace.stacks_lost > 0 && `${numberOf(trace.stacks_lost, 'callstack')} lost`,
  ].filter(Boolean);
  if (trace.partial && limits.no_callers) lines.push(say('incomplete'));
  else if (trace.partial)
    lines.push(
      `A part of the run is missing (${lost.join('; ') || 'records are lost'}): more was allocated than is shown, and more or less was held. The ranges hold for the recorded part.`,
    );
  else if (lost.length) lines.push(`${lost.join('; ')}.`);
  const { asleep_share: asleep } = trace;
  if (asleep)
    lines.push(
      `Not sampled${trace.processes ? ` processes for ${share(asleep)} of their time: what they` : ` for ${duration(trace.asleep_ns!)} of ${duration(trace.duration_ns)}: what was`} allocated then is in resident memory alone${asleep > ASLEEP_MOST ? '; whether it grows is not known' : ''}.`,
    );
  if (trace.stacks_cut > 0)
    lines.push(`The callstacks of ${numberOf(trace.stacks_cut, 'block')} were cut. Record with a larger --stack-depth.`);
  if (!trace.complete && !running.value && !trace.writer)
    lines.push(`The end ${trace.processes ? 'of a process ' : ''}was not recorded: the program was killed, left by _exit, or still runs. Its last moments may be missing.`);
  if (trace.samples > 0 && trace.samples < FEW && trace.rate < 1)
    lines.push(`Only ${numberOf(trace.samples, 'sample')}: a kind of block that matters may have none. Record with a higher --rate for more.`);
  if (kept < 1)
    lines.push(`1 of ${Number((1 / kept).toPrecision(2))} samples is ${server.value ? 'shown (winnow view --samples N)' : 'in this page, to keep it small'}; ranges are wider for that.`);
  return lines;
}
const causes: Record<string, string> = {
  disk: 'the disk was full',
  quota: 'the quota was used up',
  'file size': 'the file reached the limit of its size',
  'address space': 'no address space was left',
  file: 'the file was no longer writable',
};

/** A text in which options such as --rate are not broken. */
const Words = ({ text }: { text: string }) => (
  <>{text.split(/(--[\w-]+)/).map((part) => (part.startsWith('--') ? <span class="whole">{part}</span> : part))}</>
);

/** A message of the engine as a sentence. */
const sentence = (message: string) => `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;

/** A page with source is not for everyone who may see one without. */
function sourceFact({ source_files: files }: Head): string {
  if (files === null) return '';
  return files ? `has source lines, of ${numberOf(files, 'file')}` : 'no source file was found';
}

function growthsIn({ trace: { growths } }: Head): string {
  return growths ? `; ${numberOf(growths, 'growth')} by realloc, each of which counts as allocating the whole block` : '';
}

/** "2026-11-27 19:54", where the reader is. */
function dateOf(ns: number): string {
  const at = new Date(ns / 1e6);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

const blocksIn = ({ trace: { samples, rate } }: Pick<Head, 'trace'>) => numberOf(samples, rate < 1 ? 'sampled block' : 'block');

function Facts({ head }: { head: Head }) {
  const { trace, before, limit_bytes: limit } = head;
  const facts = [
    trace.started_ns > 0 && dateOf(trace.started_ns),
    !trace.totals && `ran ${trace.complete || running.value ? '' : 'at least '}${duration(trace.duration_ns)}`,
    (trace.killed_for_memory || trace.probably_killed_for_memory) && `${trace.killed_for_memory ? '' : 'probably '}killed for memory${limit ? ` (limit ${bytes(limit)})` : ''}`,
    !trace.totals && blocksIn(head),
    trace.writer && (isSnapshot(head) ? 'heap snapshot' : `by ${trace.writer}`),
    running.value && 'still running',
  ].filter(Boolean);
  return (
    <p class="facts">
      {facts.join(' · ')}
      {before && (
        <>
          , compared with <Name text={[baseName(before.trace.command[0] ?? 'trace'), ...before.trace.command.slice(1)].join(' ')} />
          {isSnapshot(head) && ` of ${dateOf(before.trace.started_ns)}`}
          {!before.trace.totals && `, which ran ${duration(before.trace.duration_ns)} · ${blocksIn(before)}`}
        </>
      )}
    </p>
  );
}

/** What else is known of the recording. */
function aboutOf(head: Head): string {
  const { trace } = head;
  return [trace.totals ? trace.note : `${rateInWords(head)}${growthsIn(head)}`, `heap: ${trace.heap}`, !trace.processes && trace.pid > 0 && `pid ${trace.pid}`, trace.host && `on ${trace.host}`, sourceFact(head)].filter(Boolean).join(' · ');
}

function Tools() {
  return (
    <div class="tools" role="group" aria-label="Page">
      <PauseButton state={server.value} />
      <button
        type="button"
        id="export-button"
        aria-haspopup="menu"
        aria-expanded={panel.value === 'export'}
        onClick={() => (panel.value = panel.value === 'export' ? null : 'export')}
      >
        Export
      </button>
      <button type="button" onClick={copyLink} title="Copy the link to this view (y)">
        Link
      </button>
      <button type="button" onClick={toggleTheme} title="Light or dark (l)">
        {isDark.value ? 'Light' : 'Dark'}
      </button>
      <button type="button" onClick={() => (panel.value = 'help')} title="Keys and explanations (?)">
        Help
      </button>
    </div>
  );
}

export function followHeader(): void {
  island('header', () => {
    letters.value;
    const shown = head.value;
    if (shown) document.title = `${shown.trace.title || baseName(shown.trace.command[0] ?? 'trace')} – Winnow`;
    return (
      <>
        <div class="masthead">
          {shown ? <Program head={shown} /> : <h1>Winnow</h1>}
          {shown ? <Facts head={shown} /> : <p class="facts">{trouble.value ? 'No trace' : 'Reading the trace…'}</p>}
          <Tools />
        </div>
        <Live state={server.value} />
        {trouble.value && (
          <div role="alert">
            <p class="warning">{sentence(trouble.value)}</p>
            <p class="hint">
              Nothing can be shown. Write the page again with <code>winnow html</code>; <code>winnow report</code> prints the same numbers in a terminal.
            </p>
          </div>
        )}
        {shown?.before?.doubts.map((doubt) => <p class="warning">{sentence(doubt)}</p>)}
        {shown?.before && warningsOf({ ...shown, ...shown.before, became: undefined }).map((line) => <p class="warning">Of the run before: <Words text={line} /></p>)}
        {shown && warningsOf(shown).map((line) => <p class="warning"><Words text={line} /></p>)}
        <p class="notice" role="status" aria-live="polite">
          {notice.value}
        </p>
      </>
    );
  });
  effect(() => {
    const main = document.getElementById('main')!;
    main.hidden = trouble.value !== '';
    main.classList.toggle('snapshot', isSnapshot(head.value));
    main.classList.toggle('nothing', head.value?.trace.samples === 0);
    main.classList.toggle('gone', server.value?.answers === false);
    document.getElementById('time')!.hidden = head.value?.trace.totals === true;
    document.getElementById('kinds')!.hidden = head.value?.limits.no_lives === true;
  });
  island('foot', () => {
    const shown = head.value;
    if (!shown) return null;
    return (
      <>
        <details>
          <summary>About this recording</summary>
          <p class="hint">{aboutOf(shown)}</p>
        </details>
        {shown.hint && (
          <details>
            <summary>Some names are missing</summary>
            <p class="hint"><Words text={shown.hint} /></p>
          </details>
        )}
      </>
    );
  });
  island('verdict', () => {
    const { answer } = verdict.value;
    const shown = head.value;
    if (!shown) return null;
    if (answer && shown.trace.samples === 0) return <>{answer.compared && <VerdictLine head={shown} totals={answer} />}<NothingSampled head={shown} totals={answer} /></>;
    return answer ? <Verdict head={shown} totals={answer} /> : <p class="quiet">Adding up…</p>;
  });
}

function NothingSampled({ head: { trace }, totals }: { head: Head; totals: Totals }) {
  const most = totals.totals.allocated_bytes?.high;
  return (
    <p class="empty">
      {trace.partial
        ? 'What can be read of this trace has no sampled block.'
        : trace.rate >= 1
        ? say('empty')
        : `${most ? `Less than ${bytes(most)} was allocated${trace.heap === 'malloc' ? '' : ' in its heap'}: no` : 'No'} block was sampled.`}
    </p>
  );
}

interface FigureParts {
  label: string;
  value: string;
  off?: string;
  note?: string;
  go?: () => void;
}

function Figure({ label, value, off, note, go }: FigureParts) {
  return (
    <div class="figure">
      <dt>{go ? <button type="button" class="plain" onClick={go}>{label}</button> : label}</dt>
      <dd>
        <span class="value">{value}</span> {off && <span class="off">{off}</span>}
        {note && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** The peak is an average of moments, so a heap that is as large at its end may have a larger number there. */
function noteAtEnd(head: Head, { totals }: Totals): string {
  const { live_at_end_bytes: end, peak_bytes: peak, alive_bytes: before } = totals;
  if (head.trace.partial) return 'whose end was not recorded';
  const late = totals.alive_at_ns < head.trace.duration_ns ? Math.min(before.estimate, peak.estimate) - end.estimate : 0;
  if (late > 0) return `${bytes(late)} freed in the last ${duration(head.trace.duration_ns - totals.alive_at_ns)}`;
  if (end.samples === 0) return 'no sampled block is left';
  if (head.trace.processes) return 'when processes ended';
  const part = `${share(Math.min(1, end.estimate / peak.estimate))} of the peak`;
  return head.collected ? `not found dead, ${part}` : part;
}

function figuresOf(head: Head, all: Totals): FigureParts[] {
  const { totals } = all;
  /* Of what no block was sampled the upper bound alone is known. */
  const isBound = (estimate: Estimate) => estimate.samples === 0 && !isExact(estimate);
  const valueOf = (estimate: Estimate) => amount(isBound(estimate) ? { ...estimate, estimate: 0 } : estimate);
  const off = (estimate: Estimate) => (isExact(estimate) || isBound(estimate) ? '' : error(estimate.estimate, estimate.low, estimate.high));
  const { limits, trace } = head;
  const { brief_share: brief, brief_ns: soon } = totals;
  const figures: FigureParts[] = [];
  /* Of two runs, as notes, where the run before tells it. */
  const had = (name: 'peak_bytes' | 'live_at_end_bytes' | 'allocated_bytes') => {
    const before = all.compared?.totals[name];
    return before && `${bytes(before.estimate)} before`;
  };
  if (!limits.no_peak)
    figures.push({
      label: 'Held at the peak',
      value: valueOf(totals.peak_bytes),
      off: off(totals.peak_bytes),
      note: had('peak_bytes') ?? [!trace.totals && `${all.peak_is_one ? 'at' : 'around'} ${duration(totals.peak_at_ns)}`, totals.peak_blocks.samples && `in ${estimatedCount(totals.peak_blocks)} blocks`].filter(Boolean).join(', '),
      go: () => openMoment('peak'),
    });
  if (!limits.no_end)
    figures.push({
      label: trace.processes ? 'Not freed' : running.value ? 'Now' : limits.no_peak ? 'Held' : 'At the end',
      value: valueOf(totals.live_at_end_bytes),
      off: off(totals.live_at_end_bytes),
      note: had('live_at_end_bytes') ?? (isSnapshot(head) ? `in ${estimatedCount(totals.live_at_end_blocks)} blocks` : limits.no_peak ? 'at the moment of the profile' : noteAtEnd(head, all)),
      go: () => (trace.processes ? openTab('alive') : openMoment('end')),
    });
  if (totals.allocated_bytes)
    figures.push({
      label: 'Allocated',
      value: valueOf(totals.allocated_bytes),
      off: off(totals.allocated_bytes),
      note: had('allocated_bytes') ?? (trace.totals ? `in ${estimatedCount(totals.allocated_blocks)} blocks` : `${bytes(totals.allocated_bytes_per_second.estimate)} a second${head.collected ? ', without headers' : ''}`),
      go: () => openTab('allocated'),
    });
  if (brief && soon !== undefined)
    figures.push({
      label: 'Freed within 1\u202f% of the run',
      value: share(brief.estimate),
      off: shareWithError(brief).replace(/^[^(]*/, '').replace(/[()]/g, ''),
      note: `lived less than ${duration(soon)}`,
      go: () => openTab('churn'),
    });
  const promoted = all.heap?.promoted_share;
  if (head.collected && promoted)
    figures.push({
      label: 'Promoted',
      value: share(promoted.estimate),
      off: shareWithError(promoted).replace(/^[^(]*/, '').replace(/[()]/g, ''),
      note: 'of what the minor heap had',
      go: () => openTab('promoted'),
    });
  return figures;
}

function Verdict({ head, totals }: { head: Head; totals: Totals }) {
  const rss = totals.totals.peak_rss_bytes;
  return (
    <>
    <VerdictLine head={head} totals={totals} />
    <dl class="verdict">
      {figuresOf(head, totals).map((figure) => (
        <Figure {...figure} />
      ))}
      {rss > 0 && (
        <div class="figure">
          <dt>Resident at most</dt>
          <dd>
            <span class="value">{bytes(rss)}</span>
            <Resident totals={totals} />
          </dd>
        </div>
      )}
    </dl>
    </>
  );
}

/* SPDX-License-Identifier: MIT */
