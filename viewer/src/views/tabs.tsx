/* The questions, and the sentence that says what the view below them is about. */
import { effect } from '@preact/signals-core';
import { ageOf, compare, compareError, comparing, flame, isAnswered, isAwaited, totals } from '../state/asking.ts';
import { populationOf, questionsOf, titleOf, type Whole } from '../state/questions.ts';
import { through, whole } from '../state/whole.ts';
import { head, openTab, view } from '../state/store.ts';
import { CompareControls, comparedText } from './compare.tsx';
import { compactName, island } from './island.tsx';
import { bytes, withError } from '../numbers.ts';

function walk(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (!step) return;
  const tabs = questionsOf(head.value).map((question) => question.tab);
  const next = tabs[(tabs.indexOf(view.value.tab) + step + tabs.length) % tabs.length]!;
  event.preventDefault();
  event.stopPropagation();
  openTab(next);
  document.getElementById(`tab-${next}`)?.focus();
}

export function followTabs(): void {
  const panel = document.getElementById('panel')!;
  panel.setAttribute('role', 'tabpanel');
  panel.setAttribute('aria-labelledby', 'tab-peak');
  island('tabs', () => {
    const shown = view.value;
    panel.setAttribute('aria-labelledby', `tab-${shown.tab}`);
    return (
      <div role="tablist" aria-label="Questions" onKeyDown={walk}>
        {questionsOf(head.value).map((question, index) => (
          <button
            type="button"
            role="tab"
            id={`tab-${question.tab}`}
            aria-controls="panel"
            aria-selected={question.tab === shown.tab}
            tabIndex={question.tab === shown.tab ? 0 : -1}
            title={question.asks}
            onClick={() => openTab(question.tab)}
          >
            <kbd>{index + 1}</kbd>
            {titleOf(question, shown)}
          </button>
        ))}
      </div>
    );
  });
}

/** The last sentence whose answers were there: it stays until those of the next one are. */
let said = '\u00a0';

/** What goes through the one function that the graph is of. */
const throughOf = (part: Whole, name: string): string =>
  part.samples
    ? `Of these ${withError({ ...part, estimate: part.bytes })} through ${name}, as the graph shows.`
    : `None of these through ${name}${part.high > 0 ? ` was sampled, so less than ${bytes(part.high)}` : ''}.`;

/** Whether the number beside Peak says it already. */
const repeatsPeak = (): boolean => view.value.tab === 'peak' && view.value.of === '' && view.value.where === '' && whole.value?.samples !== 0;

function sentence(): string {
  const { answer } = totals.value;
  if (!head.value || !isAnswered.value) return said;
  if (comparing.value) return (said = comparedText());
  const part = through.value;
  if (repeatsPeak()) return (said = '');
  said = populationOf(view.value, head.value, answer!, whole.value);
  if (part) said += ` ${throughOf(part, compactName(view.value.of, 60))}`;
  return said;
}

export function followPopulation(): void {
  effect(() => {
    document.getElementById('panel')!.classList.toggle('nothing', !comparing.value && whole.value?.samples === 0);
  });
  island('population', () => {
    const text = sentence();
    const asked = comparing.value ? compare.value : totals.value;
    const waits = !isAnswered.value && said !== '\u00a0';
    const age = waits ? (isAwaited.value ? ' stale' : ' old') : ageOf(asked, flame.value);
    return (
      <>
        <CompareControls />
        {comparing.value && compareError.value && (
          <p class="error" role="alert">
            {compareError.value}
          </p>
        )}
        <p class={`population${age}${repeatsPeak() ? ' none' : ''}`} role="status" aria-live="polite">
          {text}
        </p>
      </>
    );
  });
}
/* SPDX-License-Identifier: MIT */
