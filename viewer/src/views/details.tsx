/* What is known of the selection: its numbers under this question, its place, and where to go from it. */
import type { Details, Estimate, Label, Life } from '../engine/answers.ts';
import { between, duration, estimatedOf, numberOf, shareWithError, withError } from '../numbers.ts';
import { ageOf, chosen, compare, comparing, details, flame, missing, table } from '../state/asking.ts';
import { head, view } from '../state/store.ts';
import { comparedFacts, comparedLabel } from './compare.tsx';
import { comparedNumbers, placeOf, selectedBox, shareOf } from './flame.tsx';
import { island, Name } from './island.tsx';
import { itemsOf } from './menu.tsx';
import { sourceOf } from './source.tsx';

/** The label with this text: the table has all of them. */
function labelWith(text: string): Label | null {
  return table.value.answer?.labels.find((label) => label.text === text) ?? selectedBox.value?.label ?? null;
}

function amountIn(bytes: Estimate, blocks: Estimate): string {
  if (!bytes.samples && !bytes.estimate) return bytes.high ? `none sampled, so ${withError(bytes)}` : 'nothing';
  const unit = flame.value.answer?.unit === 'calls' ? 'calls' : 'blocks';
  return `${withError(bytes)} in ${estimatedOf(blocks, unit)}, ${numberOf(bytes.samples, 'sample')}`;
}

/** "1.2 s (0.9–1.5 s)": the median life with its interval. */
function lifeText(life: Life): string {
  if (!life.samples) return '';
  if (!life.known) return `longer than ${duration(life.median)}, as far as the trace tells`;
  const { low, high } = life;
  const ends = low !== null && high !== null ? between(low, high, duration) : low !== null ? `at least ${duration(low)}` : high !== null ? `at most ${duration(high)}` : '';
  return `${duration(life.median)}${ends && ` (${ends})`}`;
}

function factsOf(of: Details): [string, string][] {
  const facts: [string, string][] = [
    ['own', amountIn(of.self_bytes, of.self_blocks)],
    ['with callees', amountIn(of.total_bytes, of.blocks)],
  ];
  const add = (name: string, text: string) => text && facts.push([name, text]);
  if (of.self_life_ns.samples) add('median life', lifeText(of.self_life_ns));
  else add('median life', lifeText(of.total_life_ns));
  if (of.promoted_share?.samples) add('promoted', shareWithError(of.promoted_share));
  if (of.dead_next_share?.samples) add('of that, dead', `${shareWithError(of.dead_next_share)} by the next cycle`);
  return facts;
}

function placesOf(label: Label): [string, string][] {
  const rows: [string, string][] = [];
  if (label.module) rows.push(['module', label.module]);
  if (label.file) rows.push(['source', placeOf(label)]);
  return rows;
}

export function followDetails(): void {
  const section = document.getElementById('details')!;
  island('details', () => {
    section.classList.toggle('listed', !!head.value?.source_files && chosen.value !== '');
    const text = chosen.value;
    if (!(comparing.value ? compare.value : table.value).answer) return null;
    if (!text) return <p class="quiet hint">Select a box or a row: its numbers, its place and its callers are shown here.</p>;
    const label = comparing.value ? (comparedLabel(text) ?? selectedBox.value?.label ?? null) : labelWith(text);
    const box = selectedBox.value;
    const known = details.value.of?.of === text ? details.value.answer : null;
    if (!label) return <p class="quiet hint">The selection has no samples under this question.</p>;
    return (
      <>
        <h2>
          <Name text={label.text} />
        </h2>
        <dl class={`facts${ageOf(details.value)}`}>
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
          {placesOf(label).map(([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
        </dl>
        <div class="actions">
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
