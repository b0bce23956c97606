/* The query: its clauses as chips, and a box for the next one. The text is the language of the command. A word that is no
 * query marks the names that have it, as it is typed; Enter makes a clause of it. */
import { computed, effect, signal } from '@preact/signals-core';
import { complaintOf, queryError, samplesOf, table, totals } from '../state/asking.ts';
import { join, split } from '../state/clauses.ts';
import { clauseOf, clauseOfWord, type Completion, completions, isQuery } from '../state/fields.ts';
import { numberOf } from '../numbers.ts';
import { groupingsOf } from '../state/questions.ts';
import { addClauses, change, direction, head, leaveFunction, say, setDirection, setQuery, timed, undo, view, worded } from '../state/store.ts';
import { fieldsIn } from '../state/words.ts';
import { samplesIn } from '../engine/answers.ts';
import { graph } from './flame.tsx';
import { island, Name } from './island.tsx';

const whereText = computed(() => view.value.where);
/** A query that is being typed. */
const typed = signal('');
/** What the box has: that, or the word that is marked. */
const text = computed(() => typed.value || view.value.search);
const complaint = signal('');
const open = signal(false);
const active = signal(-1);
/** The place of the clause that is being edited; -1: a new one. */
const editing = signal(-1);

function namesOf(field: string): string[] {
  const labels = table.value.answer?.labels ?? [];
  if (field === 'thread') return [...new Set((head.value?.threads ?? []).map((thread) => thread.name).filter(Boolean))];
  if (field === 'type') return head.value?.types ?? [];
  if (field === 'process') return [...new Set(head.value?.trace.processes?.map(({ name }) => name))];
  const key: 'function' | 'file' | 'module' = ['fn', 'hide', 'from'].includes(field) ? 'function' : field === 'file' ? 'file' : 'module';
  return [...new Set(labels.map((label) => label[key]).filter(Boolean))];
}

const offers = computed<Completion[]>(() =>
  open.value ? completions(text.value, head.value?.collected ?? false, namesOf, fieldsIn(head.value), say('named')) : [],
);

const box = () => document.getElementById('query-box') as HTMLInputElement;

async function commit(): Promise<void> {
  const { search } = view.value;
  const clause = search ? clauseOfWord(search) : clauseOf(typed.value);
  if (clause) complaint.value = await complaintOf(clause);
  if (complaint.value) return;
  const place = editing.value;
  leaveEditing();
  if (place >= 0) {
    const clauses = split(view.value.where);
    clauses.splice(place, 1, ...split(clause));
    setQuery(join(clauses));
  } else if (clause) {
    addClauses(...split(clause));
  }
}

function enter(value: string): void {
  const isWord = editing.value < 0 && !isQuery(value);
  typed.value = isWord ? '' : value;
  const search = isWord ? value : '';
  if (search !== view.value.search) change({ search, row: '' }, true);
}

function leaveEditing(): void {
  enter('');
  complaint.value = '';
  editing.value = -1;
  close();
}

function close(): void {
  open.value = false;
  active.value = -1;
}

function edit(index: number): void {
  editing.value = index;
  enter(split(view.value.where)[index]!);
  complaint.value = '';
  box().focus();
}

function removeClause(index: number): void {
  const clauses = split(view.value.where);
  clauses.splice(index, 1);
  setQuery(join(clauses));
  box().focus();
}

function take(completion: Completion): void {
  enter(completion.text);
  active.value = -1;
  open.value = completion.text.endsWith(' ');
  box().focus();
}

function onKey(event: KeyboardEvent): void {
  const { length } = offers.value;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (!open.value) open.value = true;
    else if (length) active.value = (active.value + (event.key === 'ArrowDown' ? 1 : active.value < 0 ? 0 : -1) + length) % length;
  } else if (event.key === 'Tab' && active.value >= 0) {
    event.preventDefault();
    take(offers.value[active.value]!);
  } else if (event.key === 'Enter') {
    event.preventDefault();
    if (active.value >= 0) take(offers.value[active.value]!);
    else void commit();
  } else if (event.key === 'Escape') {
    event.stopPropagation();
    if (open.value && length) close();
    else if (text.value) leaveEditing();
    else box().blur();
  } else if (event.key === 'Backspace' && text.value === '') {
    const last = split(view.value.where).length - 1;
    if (last >= 0) {
      event.preventDefault();
      edit(last);
    }
  }
}

function Offers() {
  const list = offers.value;
  if (!list.length) return null;
  return (
    <ul id="query-offers" role="listbox" aria-label="Completions">
      {list.map((completion, index) => (
        <li
          id={`offer-${index}`}
          role="option"
          aria-selected={index === active.value}
          onPointerDown={(event: Event) => {
            event.preventDefault();
            take(completion);
          }}
        >
          <bdi>{completion.text}</bdi>
          {completion.help && <span class="quiet">{completion.help}</span>}
        </li>
      ))}
    </ul>
  );
}

function Chips() {
  const clauses = split(view.value.where);
  const { of } = view.value;
  return (
    <>
      {of && (
        <span class="chip">
          <span class="clause">
            {`${say('bothOf')}\u00a0`}
            <Name text={of} />
          </span>
          <button type="button" aria-label="Show the whole tree again" onClick={leaveFunction}>
            ×
          </button>
        </span>
      )}
      {clauses.map((clause, index) =>
        index === editing.value ? null : (
          <span class="chip">
            <button type="button" class="clause" title="Change this clause" onClick={() => edit(index)}>
              <bdi>{clause}</bdi>
            </button>
            <button type="button" aria-label={`Remove ${clause}`} onClick={() => removeClause(index)}>
              ×
            </button>
          </span>
        ),
      )}
    </>
  );
}

function Controls() {
  const shown = view.value;
  return (
    <div class="controls">
      <label>
        <span class="quiet">by</span>{' '}
        <select
          value={shown.by}
          aria-label="Group by"
          onChange={(event) => change({ by: event.currentTarget.value as ReturnType<typeof groupingsOf>[number], focus: [], selected: null, row: '', zoom: null, of: '' })}
        >
          {groupingsOf(head.value).map((by) => (
            <option value={by} selected={by === shown.by}>
              {worded(by)}
            </option>
          ))}
        </select>
      </label>
      {!shown.of && (
        <div class="switch" role="group" aria-label="Direction">
          <button type="button" aria-pressed={direction.value === 'callees'} onClick={() => setDirection('callees')} title={say('down')}>
            {say('callees')}
          </button>
          <button type="button" aria-pressed={direction.value === 'callers'} onClick={() => setDirection('callers')} title={say('up')}>
            {say('callers')}
          </button>
        </div>
      )}
      <label class="check" title={say('itself')}>
        <input type="checkbox" checked={shown.fold} onChange={() => change({ fold: !shown.fold, focus: [], selected: null, zoom: null })} />
        {say('recursion')}
      </label>
    </div>
  );
}

const isEmpty = () => {
  const { answer, pending } = totals.value;
  return answer !== null && !pending && samplesIn(answer) === 0 && view.value.where !== '';
};

/** How many samples there would be without one of the clauses. */
const without = signal<{ clause: string; index: number; samples: number }[]>([]);

/** Asks what each clause alone removes, once the query as a whole matches nothing. */
function followNothing(): void {
  effect(() => {
    without.value = [];
    const asked = whereText.value;
    const clauses = split(asked);
    if (!isEmpty() || clauses.length < 2) return;
    clauses.forEach(async (clause, index) => {
      const samples = await samplesOf(join(clauses.filter((_, other) => other !== index)), `without ${index}`);
      if (samples > 0 && whereText.peek() === asked) without.value = [...without.peek(), { clause, index, samples }];
    });
  });
}

function Nothing() {
  return (
    <p class="empty">
      {say('noMatch')}{' '}
      <button type="button" class="link" onClick={undo}>
        Undo the last step
      </button>
      {without.value.map(({ clause, index, samples }) => (
        <>
          {' · '}
          <button type="button" class="link" onClick={() => removeClause(index)}>
            Without <bdi>{clause}</bdi>
          </button>{' '}
          {timed(numberOf(samples, 'sample'))}
        </>
      ))}
    </p>
  );
}

/** What Enter does with the text, and the way from match to match. */
function Hint() {
  if (!text.value) return null;
  if (!view.value.search) return <span class="hint quiet">Enter filters</span>;
  return (
    <>
      <span class="hint quiet">marked · Enter keeps only these</span>
      <span class="switch" role="group" aria-label="Matches">
        <button type="button" aria-label="Previous match" title="Previous match (N)" onClick={() => graph?.selectMatch(-1)}>
          ◂
        </button>
        <button type="button" aria-label="Next match" title="Next match (n)" onClick={() => graph?.selectMatch(1)}>
          ▸
        </button>
      </span>
    </>
  );
}

export function followQuery(): void {
  island('query', () => {
    const error = complaint.value || queryError.value;
    const list = offers.value;
    return (
      <>
        <div class="bar">
          <div class="box">
            <Chips />
            <span class="entry">
              <input
                id="query-box"
                type="text"
                role="combobox"
                aria-label="Search names, or filter by a query"
                aria-expanded={list.length > 0}
                aria-controls="query-offers"
                aria-autocomplete="list"
                aria-activedescendant={active.value >= 0 ? `offer-${active.value}` : undefined}
                aria-invalid={error !== ''}
                aria-describedby={error ? 'query-error' : undefined}
                placeholder={view.value.where ? 'and …' : say('search')}
                autocomplete="off"
                spellcheck={false}
                value={text.value}
                onInput={(event) => {
                  enter(event.currentTarget.value);
                  complaint.value = '';
                  open.value = true;
                  active.value = -1;
                }}
                onFocus={() => (open.value = true)}
                onBlur={close}
                onKeyDown={onKey}
              />
              <Offers />
            </span>
            <Hint />
          </div>
          <Controls />
        </div>
        {error && (
          <p class="error" id="query-error" role="alert">
            {error}
          </p>
        )}
        {isEmpty() && <Nothing />}
      </>
    );
  });
  effect(() => {
    void whereText.value;
    complaint.value = '';
    editing.value = -1;
  });
  followNothing();
}
/* SPDX-License-Identifier: MIT */
