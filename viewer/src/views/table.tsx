/* The table: one row for each function (or line, file, module), of which only those in sight are elements. */
import { computed, effect, signal } from '@preact/signals-core';
import type { Table } from '../engine/answers.ts';
import { amount, between, count, error, isRough, share, shortCount, shortDuration } from '../numbers.ts';
import { ageOf, chosen, compare, comparing, missing, table } from '../state/asking.ts';
import type { Sort } from '../state/address.ts';
import { change, head, printing, say, sortBy, view, worded } from '../state/store.ts';
import { whole } from '../state/whole.ts';
import { hovered, searched, selectLabel } from './flame.tsx';
import { cleanName } from '../flame/names.ts';
import { ComparedTable, comparedRows } from './compare.tsx';
import { measureNames, nameFor } from './fitted.ts';
import { Gap, ROW_HEIGHT, shownRows } from './gap.tsx';
import { island, Name } from './island.tsx';
import { menuOf } from './menu.tsx';
import { Growth } from './growth.tsx';
import { labelOf, rowsOf, samplesOf, withoutCallers } from './rows.ts';

const scrolled = signal(0);
const height = signal(400);

/** The rows in the order shown. */
export const rows = computed(() => {
  const { answer } = table.value;
  const { sort, descending } = view.value;
  return answer ? rowsOf(answer, searched.value, sort, descending) : new Uint32Array();
});

/** In the order of own bytes, and of their growth, those that have none are one row. A search shows what it finds, and paper the first rows. */
const withOwn = computed(() => {
  const { answer } = table.value;
  const { sort, descending, search } = view.value;
  return answer && (sort === 'self' || sort === 'growth') && descending && !search && !printing.value ? withoutCallers(answer, rows.value, chosen.value) : rows.value;
});
const listed = computed(() => (view.value.allRows ? rows.value : withOwn.value));

const columns = (): { sort: Sort; title: string; help: string }[] => [
  { sort: 'name', title: 'function', help: 'Name' },
  { sort: 'self', title: 'own', help: say('own') },
  { sort: 'total', title: say('withCallees'), help: say('total') },
  { sort: 'blocks', title: 'blocks', help: say('blocks') },
  { sort: 'samples', title: 'samples', help: 'Sampled blocks on which the row rests: its own; in the order of those with callees, these' },
  { sort: 'life', title: 'life', help: 'Median life of its own blocks; its range is in the tip' },
];
const GROWTH = {
  sort: 'growth',
  title: 'growth',
  help: 'How much it had of what it allocated itself and is alive, from the start of the run to its end; and how fast that grows',
} as const;

/** What is alive has no life yet; it has a past. */
const columnsOf = (of: Table | null) =>
  of?.columns.growth
    ? [...columns().filter(({ sort }) => sort !== 'life' && sort !== 'blocks'), GROWTH]
    : columns().filter(({ sort }) => (sort !== 'life' || !head.value?.limits.no_lives) && (sort !== 'samples' || !head.value?.trace.totals));

/** Where there is no room for all of these, only that by which the rows are sorted is shown; its head has the others. */
const isLarge = ({ sort }: { sort: Sort }) => sort === 'self' || sort === 'total' || sort === 'growth';

const Share = () => (
  <th scope="col" class="share" title={say('share')}>
    share
  </th>
);

function Head({ of }: { of: Table }) {
  const { sort, descending, by } = view.value;
  const columns = columnsOf(of);
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <>
          <th
            scope="col"
            class={column.sort}
            aria-sort={column.sort === sort ? (descending ? 'descending' : 'ascending') : 'none'}
          >
            {isLarge(column) &&
              columns.filter((other) => isLarge(other) && other !== column).map((other) => (
                <button type="button" class="plain other" data-of={other.sort} onClick={() => sortBy(other.sort)}>
                  {other.title}
                </button>
              ))}
            <button type="button" class="plain" title={`${column.help}. Click to sort.`} onClick={() => sortBy(column.sort)}>
              {column.sort === 'name' ? worded(by) : column.title}
              <span class="order" aria-hidden="true">
                {column.sort === sort ? (descending ? '▾' : '▴') : ''}
              </span>
            </button>
          </th>
          {column.sort === 'total' && <Share />}
          </>
        ))}
      </tr>
    </thead>
  );
}

function Amount({ column, value, low, high, samples, whole }: { column: 'self' | 'total'; value: number; low: number; high: number; samples: number; whole: number }) {
  const estimate = { estimate: value, low, high, samples };
  const isNone = value === 0 && samples === 0;
  return (
    <td class={`${column} amount${isRough(estimate) && !isNone ? ' rough' : ''}`} style={{ '--part': whole > 0 ? Math.min(1, value / whole).toFixed(4) : '0' }}>
      {isNone ? (
        <span class="value quiet">–</span>
      ) : (
        <>
          <span class="value">{amount(estimate)}</span>
          <span class="off">{error(value, low, high)}</span>
        </>
      )}
    </td>
  );
}

/** The interval of a number whose column has no room for it. */
const tip = (low: number, high: number, write: (value: number) => string): string => (low < high ? between(low, high, write) : '');

const lifeOf = (table: Table, index: number): string => {
  const life = table.columns.life[index]!;
  return Number.isNaN(life) ? (table.columns.self_samples[index] ? 'to end' : '–') : shortDuration(life);
};

function Line({ of, index, place, whole, sum, nearby }: { of: Table; index: number; place: number; whole: number; sum: number; nearby: string[] }) {
  const { columns } = of;
  const label = labelOf(of, index);
  return (
    <tr
      aria-rowindex={place + 2}
      aria-current={label.text === chosen.value ? 'true' : undefined}
      data-hovered={hovered.value?.label?.text === label.text ? 'yes' : undefined}
      onClick={() => selectLabel(label.text)}
      onContextMenu={menuOf(label)}
    >
      <th scope="row" class="name">
        <Name text={nameFor(label, nearby)} title={cleanName(label.text, 2000)} />
      </th>
      <Amount column="self" value={columns.self[index]!} low={columns.self_low[index]!} high={columns.self_high[index]!} samples={columns.self_samples[index]!} whole={whole} />
      <Amount column="total" value={columns.total[index]!} low={columns.total_low[index]!} high={columns.total_high[index]!} samples={columns.samples[index]!} whole={whole} />
      <td class="share">{sum > 0 && sharedOf(of)[index]! > 0 ? share(sharedOf(of)[index]! / sum) : '–'}</td>
      {!columns.growth && <td class="blocks" title={tip(columns.blocks_low[index]!, columns.blocks_high[index]!, shortCount)}>{shortCount(columns.blocks[index]!)}</td>}
      {!head.value?.trace.totals && <td class="samples">{shortCount(samplesOf(of, view.value.sort)[index]!)}</td>}
      {columns.growth ? <Growth of={of} index={index} /> : !head.value?.limits.no_lives && <td class="life" title={tip(columns.life_low[index]!, columns.life_high[index]!, shortDuration)}>{lifeOf(of, index)}</td>}
    </tr>
  );
}

/** The sums that are told as shares: those by which the rows are sorted, else their own. */
const sharedOf = ({ columns }: Table) => (view.value.sort === 'total' ? columns.total : columns.self);

/** The largest total: the bars' whole. */
const wholeOf = (of: Table) => of.columns.total.reduce((most, total) => Math.max(most, total), 0);

function Callers() {
  const number = rows.value.length - withOwn.value.length;
  const { allRows, by } = view.value;
  if (!number) return null;
  return (
    <tr class="callers" aria-rowindex={listed.value.length + 2}>
      <td colSpan={2}>
        <button type="button" class="plain" aria-expanded={allRows} onClick={() => change({ allRows: !allRows })}>
          {count(number)} {worded(`${by}s`)} {say('onlyCall')} {allRows ? '▾' : '▸'}
        </button>
      </td>
    </tr>
  );
}

function Body({ of }: { of: Table }) {
  const order = listed.value;
  const [from, to] = shownRows(order.length, height.value, scrolled.value);
  const most = wholeOf(of);
  const sum = whole.value?.bytes ?? 0; // the rows lack what has no callstack
  const shown = order.subarray(from, to);
  const nearby = Array.from(shown, (index) => labelOf(of, index).text);
  return (
    <tbody>
      <Gap rows={from} />
      {Array.from(shown, (index, step) => (
        <Line key={index} of={of} index={index} place={from + step} whole={most} sum={sum} nearby={nearby} />
      ))}
      <Gap rows={order.length - to} />
      <Callers />
    </tbody>
  );
}

function sayWhy(): string {
  const { answer } = table.value;
  if (!answer) return missing(table.value, 'Adding up…');
  if (!answer.columns.label.length) return say('nothing');
  return rows.value.length ? '' : 'No name matches the search.';
}

/* ---- keys: the region is one stop, arrows walk the rows ---- */

/** The text of a row of the answer that is shown. */
function textOf(index: number): string {
  return comparing.value ? compare.value.answer!.labels[index]!.text : labelOf(table.value.answer!, index).text;
}
const wantedRows = computed(() => (comparing.value ? comparedRows.value : listed.value));

function step(by: number): void {
  const order = wantedRows.value;
  if (!order.length) return;
  const now = order.findIndex((index) => textOf(index) === chosen.value);
  const next = now < 0 ? 0 : Math.min(order.length - 1, Math.max(0, now + by));
  selectLabel(textOf(order[next]!));
  reveal(next);
}

function reveal(place: number): void {
  const region = document.getElementById('table-region')!;
  const top = place * ROW_HEIGHT;
  const room = region.clientHeight - 2.5 * ROW_HEIGHT; // without the head
  if (top < region.scrollTop) region.scrollTop = top;
  else if (top > region.scrollTop + room) region.scrollTop = top - room;
}

/** The row of what was selected in the graph comes into sight. */
function followChosen(region: HTMLElement): void {
  let last = '';
  effect(() => {
    const text = chosen.value;
    const order = wantedRows.value;
    if (text === last || !order.length) return;
    last = text;
    const place = order.findIndex((index) => textOf(index) === text);
    if (place >= 0 && region.clientHeight > 0) reveal(place);
  });
}

function onKey(event: KeyboardEvent): void {
  const page = Math.max(1, Math.floor(height.value / ROW_HEIGHT) - 2);
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 };
  const by = steps[event.key];
  if (by === undefined || event.target !== event.currentTarget) return;
  event.preventDefault();
  event.stopPropagation();
  step(by);
}

/** How far down the region the person looks; a new order begins at its top. */
function followScroll(region: HTMLElement): void {
  region.addEventListener('scroll', () => (scrolled.value = Math.floor(region.scrollTop / ROW_HEIGHT) * ROW_HEIGHT), { passive: true });
  new ResizeObserver(() => {
    height.value = region.clientHeight;
    measureNames(region);
  }).observe(region);
}

export function followTable(): void {
  const section = document.getElementById('table')!;
  const region = document.createElement('div');
  region.id = 'table-region';
  region.tabIndex = 0;
  region.setAttribute('role', 'region');
  region.setAttribute('aria-label', 'Table: arrows walk the rows');
  section.replaceChildren(region);
  region.addEventListener('keydown', onKey);
  followScroll(region);
  followChosen(region);
  island('table-region', () => {
    if (comparing.value) return <ComparedTable height={height.value} top={scrolled.value} />;
    const { answer } = table.value;
    const why = sayWhy();
    return (
      <>
        {view.value.of && <p class="line quiet">{say('ofOne')}</p>}
        {answer && (
          <table class={`sites${answer.columns.growth ? ' grown' : ''}${ageOf(table.value)}`} data-sort={view.value.sort} aria-rowcount={listed.value.length + (withOwn.value === rows.value ? 1 : 2)}>
            <Head of={answer} />
            <Body of={answer} />
          </table>
        )}
        {why && <p class="empty">{why}</p>}
      </>
    );
  });
  /* Where the table stands above the graph, it is as high as its rows. */
  effect(() => section.style.setProperty('--rows', String(wantedRows.value.length)));
  effect(() => {
    void [table.value, compare.value, comparing.value];
    queueMicrotask(() => measureNames(region)); // once it is rendered
  });
  const order = computed(() => {
    const { sort, descending, tab, where, by, search } = view.value;
    return [sort, descending, tab, where, by, search].join('\n');
  });
  effect(() => {
    void order.value;
    if (head.peek()) region.scrollTop = 0;
  });
}
/* SPDX-License-Identifier: MIT */
