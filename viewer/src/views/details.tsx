/* What is known of the selection: its numbers under this question, its place, its parts, and where to go from it. */
import type { Details, Estimate, Label, Life, Parts } from '../engine/answers.ts';
import { cleanName } from '../flame/names.ts';
import { amount, between, count, duration, estimatedOf, numberOf, share, shareWithError, withError } from '../numbers.ts';
import { ageOf, chosen, compare, comparing, curveOfRow, details, flame, missing, table } from '../state/asking.ts';
import { withClauses } from '../state/clauses.ts';
import { change, head, NO_PLACE, say, showFunction, timed, view, where } from '../state/store.ts';
import { comparedFacts, comparedLabel } from './compare.tsx';
import { copyText } from './export.ts';
import { comparedNumbers, moduleOf, placeOf, selectedBox, selectLabel, shareOf } from './flame.tsx';
import { Spark } from './growth.tsx';
import { compactName, island, Name } from './island.tsx';
import { itemsOf, selects } from './menu.tsx';
import { sourceOf } from './source.tsx';

/** The label with this text: the table has all of them. */
function labelWith(text: string): Label | null {
  return table.value.answer?.labels.find((label) => label.text === text) ?? selectedBox.value?.label ?? null;
}

function amountIn(bytes: Estimate, blocks: Estimate): string {
  if (!bytes.samples && !bytes.estimate) return bytes.high ? `none sampled, so ${withError(bytes)}` : 'nothing';
  const unit = flame.value.answer?.unit === 'calls' ? 'calls' : 'blocks';
  return `${withError(bytes)} in ${estimatedOf(blocks, unit)}${timed(`, ${numberOf(bytes.samples, 'sample')}`)}`;
}

/** "1.2 s (0.9–1.5 s)": the median life with its interval. */
function lifeText(life: Life): string {
  if (!life.samples) return '';
  if (!life.known) return 'to the end: more than half were never freed';
  const { low, high } = life;
  const ends = low !== null && high !== null ? between(low, high, duration) : low !== null ? `at least ${duration(low)}` : high !== null ? `at most ${duration(high)}` : '';
  return `${duration(life.median)}${ends && ` (${ends})`}`;
}

function factsOf(of: Details): [string, string][] {
  const facts: [string, string][] = [
    ['own', amountIn(of.self_bytes, of.self_blocks)],
    [say('withCallees'), amountIn(of.total_bytes, of.blocks)],
  ];
  const add = (name: string, text: string) => text && facts.push([name, text]);
  if (!head.value?.limits.no_lives) add('median life', lifeText(of.self_life_ns.samples ? of.self_life_ns : of.total_life_ns));
  if (of.promoted_share?.samples) add('promoted', shareWithError(of.promoted_share));
  if (of.dead_next_share?.samples) add('of that, dead', `${shareWithError(of.dead_next_share)} by the next cycle`);
  return facts;
}

function placesOf(label: Label): [string, string][] {
  const place = [moduleOf(label), placeOf(label)].filter(Boolean).join(' · ');
  return place ? [[label.file ? 'source' : say('module'), place]] : [];
}

/* ---- over time ---- */

/** What it held with its callees, from the start of the run to its end. Null: nothing, or nothing is known of times. */
function curveFor(text: string) {
  const { answer, of, pending } = curveOfRow.value;
  if (head.value?.trace.totals) return null;
  if (!answer || of?.of !== text) return pending ? '…' : null;
  const { held, low, high } = answer.columns;
  const most = held.reduce((largest, value) => Math.max(largest, value), 0);
  if (!(most > 0)) return null;
  const end = held.length - 1; // the only moment of the curve that other numbers are of
  return (
    <>
      <Spark values={held} most={most} width={150} />
      {held[end]! > 0 ? withError({ estimate: held[end]!, low: low[end]!, high: high[end]!, samples: 1 }) : 'nothing'} at the end
    </>
  );
}

/* ---- the query ---- */

/** The comparison that selects its blocks and no others. Null: there is none, as of a line, or of a name that several
 *  modules have. */
function clauseOf(label: Label): string | null {
  const { by } = view.value;
  const isShared = label.function && label.text !== label.function && label.module;
  return by === 'line' || (by === 'file' && !label.file) || isShared ? null : selects(label, '=');
}

/** The query that selects its blocks among those of the filter that stands. */
function queryOf(label: Label): string | null {
  const clause = clauseOf(label);
  return clause && withClauses(where.value, [clause]);
}

/* ---- parts ---- */

interface Kind {
  title: string;
  parts: Parts | undefined;
  nameOf: (part: Label) => string;
  /** Null: there is nowhere to go. */
  goTo: (part: Label) => (() => void) | null;
  more: () => void;
}

const baseName = (path: string): string => path.replace(/^.*\//, '');
/** The label of a stack that ends. */
const NO_CALLER = '(no callstack)';
/** "server.cc:197", "libfoo+0x1234": what stands in parentheses behind a function. */
const placeIn = ({ text }: Label): string => /\(([^()]*)\)(?: \[.*\])?$/.exec(text)?.[1]?.replace(/^.*\//, '') ?? text;

function kindsOf(label: Label, of: Details): Kind[] {
  const { text } = label;
  const nameOf = (part: Label) => (part.text === text ? 'itself' : part.text === NO_CALLER ? say('noCaller') : part.text);
  const goTo = (part: Label) => (nameOf(part) === part.text ? () => selectLabel(part.text) : null);
  const clause = clauseOf(label);
  const toThread = (row: string) => change({ by: 'thread', of: '', where: withClauses(view.value.where, clause ? [clause] : []), ...NO_PLACE, row });
  const toLine = (row: string) => change({ by: 'line', of: '', search: row ? '' : label.function || baseName(label.file), ...NO_PLACE, row });
  const kinds: Kind[] = [
    { title: say('callers'), parts: of.callers, nameOf, goTo, more: () => showFunction(text) },
    { title: say('callees'), parts: of.callees, nameOf, goTo, more: () => showFunction(text) },
    { title: of.lines?.labels[0]!.line ? 'lines' : 'addresses', parts: of.lines, nameOf: placeIn, goTo: (part) => () => toLine(part.text), more: () => toLine('') },
    { title: 'threads', parts: of.threads, nameOf: (part) => part.text, goTo: (part) => (clause ? () => toThread(part.text) : null), more: () => toThread('') },
  ];
  return kinds.filter(({ parts }) => parts?.labels.some((part) => part.text !== text && part.text !== NO_CALLER));
}

function PartRow({ kind, part, index }: { kind: Kind; part: Label; index: number }) {
  const go = kind.goTo(part);
  const name = <Name text={compactName(kind.nameOf(part), 28)} title={cleanName(part.text, 2000)} />;
  const [size, of] = [kind.parts!.bytes[index]!, kind.parts!.shares[index]!];
  return (
    <tr>
      <th scope="row">{go ? <button type="button" class="plain" onClick={go}>{name}</button> : kind.nameOf(part)}</th>
      <td title={withError(size)}>{amount(size)}</td>
      <td title={shareWithError(of)}>{share(of.estimate)}</td>
    </tr>
  );
}

function PartTable({ kind }: { kind: Kind }) {
  const { labels, more } = kind.parts!;
  return (
    <table class="parts">
      <thead>
        <tr>
          <th scope="col">{kind.title}</th>
          <th scope="col">bytes</th>
          <th scope="col" title={say('shareWith')}>share</th>
        </tr>
      </thead>
      <tbody>
        {labels.map((part, index) => (
          <PartRow kind={kind} part={part} index={index} />
        ))}
        {more > 0 && (
          <tr>
            <td colSpan={3}>
              <button type="button" class="link" onClick={kind.more}>{count(more)} more</button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

export function followDetails(): void {
  const section = document.getElementById('details')!;
  island('details', () => {
    const text = chosen.value;
    const label = text ? (comparing.value ? (comparedLabel(text) ?? selectedBox.value?.label ?? null) : labelWith(text)) : null;
    section.classList.toggle('listed', label !== null && (!comparing.value || !!head.value?.source_files));
    if (!(comparing.value ? compare.value : table.value).answer) return null;
    if (!text) return <p class="quiet hint">{say('select')}</p>;
    const box = selectedBox.value;
    const known = details.value.of?.of === text ? details.value.answer : null;
    const curve = comparing.value ? null : curveFor(text);
    if (!label) return <p class="quiet hint">{say('noSelection')}</p>;
    const query = comparing.value ? null : queryOf(label);
    return (
      <>
        <h2>
          <Name text={label.text} />
        </h2>
        <dl class={`facts${ageOf(details.value, ...(comparing.value || head.value?.trace.totals ? [] : [curveOfRow.value]))}`}>
          {box && view.value.selected && (
            <div>
              <dt>this box</dt>
              <dd>
                {box.compared ? comparedNumbers(box) : `${withError({ estimate: box.bytes, low: box.low, high: box.high, samples: box.samples })}, ${shareOf(box)}`}
              </dd>
            </div>
          )}
          {(comparing.value ? comparedFacts(text) : known ? factsOf(known) : [['all boxes', missing(details.value, '…') || '…'] as const]).map(([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
          {curve && (
            <div>
              <dt>over time</dt>
              <dd>{curve}</dd>
            </div>
          )}
          {placesOf(label).map(([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
        </dl>
        {!comparing.value && known && (
          <div class={`splits${ageOf(details.value)}`}>
            {kindsOf(label, known).map((kind) => (
              <PartTable kind={kind} />
            ))}
          </div>
        )}
        <div class="actions">
          {query && (
            <span class="selects">
              <bdi>{cleanName(query, 2000)}</bdi>
              <button type="button" class="link" onClick={() => void copyText(query, 'The query is copied.')}>
                Copy this query
              </button>
            </span>
          )}
          {itemsOf(label, view.value.selected).map((item) => (
            <button type="button" class="link" onClick={item.act}>
              {item.text}
            </button>
          ))}
        </div>
        {sourceOf()}
      </>
    );
  });
}
/* SPDX-License-Identifier: MIT */
