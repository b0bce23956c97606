/* The tabs, the choice that some of them have, and the sentence that says what the view below is about. */
import { effect } from '@preact/signals-core';
import type { Tab } from '../state/address.ts';
import { ageOf, compare, compareError, comparing, flame, isAnswered, isAwaited, kinds, kindsOpen, totals } from '../state/asking.ts';
import { moment } from '../state/clauses.ts';
import { hasQuestion, mainOf, mainsOf, moreOf, populationOf, questionOf, type Whole } from '../state/questions.ts';
import { through, whole } from '../state/whole.ts';
import { running } from '../state/server.ts';
import { openMoment } from '../state/moments.ts';
import { head, openMain, openTab, panel, say, view, worded } from '../state/store.ts';
import { isSnapshot } from '../state/words.ts';
import { CompareControls, comparedText } from './compare.tsx';
import { compactName, island } from './island.tsx';
import type { Item } from './menu.tsx';
import { MomentField, PeakSteps } from './time.tsx';
import { bytes, withError } from '../numbers.ts';

function walk(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (!step) return;
  const mains = mainsOf(head.value);
  const next = mains[(mains.indexOf(mainOf(view.value.tab)) + step + mains.length) % mains.length]!;
  event.preventDefault();
  event.stopPropagation();
  openMain(next);
  document.getElementById(`tab-${next}`)?.focus();
}

/** Whether the kinds of block come into sight as soon as they are there. */
let kindsWanted = false;

/** Unfolds the kinds of block, or folds them. */
export function showKinds(): void {
  kindsOpen.value = kindsWanted = !kindsOpen.value;
}

function followWish(): void {
  effect(() => {
    if (!kinds.value.answer || !kindsOpen.value || !kindsWanted) return;
    kindsWanted = false;
    requestAnimationFrame(() => document.getElementById('kinds')!.scrollIntoView({ block: 'end' }));
  });
}

/** What More has. */
export function moreItems(): Item[] {
  const questions = moreOf(head.value).map((tab, index): Item & { tab: Tab } => ({ tab, text: questionOf(tab).title, key: `${mainsOf(head.value).length + 1 + index}`, act: () => openTab(tab) }));
  const kinds: Item[] = head.value?.limits.no_lives ? [] : [{ text: 'Sizes and lives of the blocks', key: '8', act: showKinds }];
  return [...questions.filter(({ tab }) => tab !== 'large'), ...kinds];
}

/** The tabs, and More beside them, which is a menu. */
export function followTabs(): void {
  const shownPanel = document.getElementById('panel')!;
  shownPanel.setAttribute('role', 'tabpanel');
  followWish();
  island('tabs', () => {
    const main = mainOf(view.value.tab);
    const mains = mainsOf(head.value);
    const isMore = !mains.includes(main);
    shownPanel.setAttribute('aria-labelledby', isMore ? 'tab-more' : `tab-${main}`);
    return (
      <>
        <div role="tablist" aria-label="Questions" onKeyDown={walk}>
          {mains.map((tab, index) => (
            <button
              type="button"
              role="tab"
              id={`tab-${tab}`}
              aria-controls="panel"
              aria-selected={tab === main}
              tabIndex={tab === main || (isMore && !index) ? 0 : -1}
              title={worded(questionOf(tab).asks)}
              onClick={() => openMain(tab)}
            >
              <kbd>{index + 1}</kbd>
              {questionOf(tab).title}
            </button>
          ))}
        </div>
        {moreItems().length > 0 && (
          <button
            type="button"
            id="tab-more"
            aria-haspopup="menu"
            aria-expanded={panel.value === 'more'}
            aria-current={isMore ? 'true' : undefined}
            onClick={() => (panel.value = panel.value === 'more' ? null : 'more')}
          >
            {isMore ? questionOf(main).title : 'More'}
            <span aria-hidden="true"> ▾</span>
          </button>
        )}
      </>
    );
  });
}

/* ---- the choice within a tab ---- */

function Choice({ tab, text, title, act }: { tab: Tab; text: string; title?: string; act?: () => void }) {
  return (
    <button type="button" aria-pressed={view.value.tab === tab} title={title} onClick={act ?? (() => openTab(tab))}>
      {text}
    </button>
  );
}

const isAtEnd = (): boolean => view.value.tab === 'end' && (moment(view.value.where).at ?? 'end') === 'end';

/** The moment at which memory was held. */
function Moments() {
  if (isSnapshot(head.value)) return null;
  return (
    <div class="controls">
      <div class="switch" role="group" aria-label="When">
        {hasQuestion('peak', head.value) && <Choice tab="peak" text="At the peak" title="p" act={() => openMoment('peak')} />}
        {hasQuestion('end', head.value) && (
          <button type="button" aria-pressed={isAtEnd()} title="e" onClick={() => openMoment('end')}>
            {running.value ? 'Now' : hasQuestion('peak', head.value) ? 'At the end' : 'At the moment of the profile'}
          </button>
        )}
      </div>
      {!head.value?.trace.totals && <MomentField />}
      {!head.value?.trace.totals && <PeakSteps />}
    </div>
  );
}

function Controls() {
  const { tab } = view.value;
  switch (mainOf(tab)) {
    case 'compare':
      return <CompareControls />;
    case 'peak':
      return <Moments />;
    case 'churn':
      return hasQuestion('large', head.value) ? (
        <div class="switch" role="group" aria-label="Which blocks">
          <Choice tab="churn" text="All sizes" />
          <Choice tab="large" text="128 KiB and larger" title="malloc usually gets such a block from the system, and gives it back when it is freed" />
        </div>
      ) : null;
    default:
      return null;
  }
}

/** The last sentence whose answers were there: it stays until those of the next one are. */
let said = '\u00a0';

/** What goes through the one function that the graph is of. */
const throughOf = (part: Whole, name: string): string =>
  part.samples
    ? `Of these ${withError({ ...part, estimate: part.bytes })} ${say('through')} ${name}, as the graph shows.`
    : `None of these ${say('through')} ${name}${part.high > 0 ? ` was sampled, so less than ${bytes(part.high)}` : ''}.`;

/** Whether the number beside Peak says it already, or of a heap snapshot that beside Held. */
const repeatsPeak = (): boolean => (view.value.tab === 'peak' || (isSnapshot(head.value) && view.value.tab === 'end')) && view.value.of === '' && view.value.where === '' && whole.value?.samples !== 0;

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
        <Controls />
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
