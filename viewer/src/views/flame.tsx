/* The panel around the flame graph: the trail of the focus, its hues, the line that describes a box, the menu of a box. */
import { computed, effect, signal } from '@preact/signals-core';
import { CALLERS, type Flame, type Label } from '../engine/answers.ts';
import { type FlameBox, FlameGraph, type FlameView, type Words } from '../flame/flame.ts';
import { toggled } from '../flame/chains.ts';
import { cssColour, groupName, type Hued, hueFill, keepHues, paletteIn } from '../flame/colours.ts';
import { cleanName } from '../flame/names.ts';
import { bytes, changeOf, changeRange, count, error, numberOf, share, shortCount, withError } from '../numbers.ts';
import { ageOf, compare, comparing, flame, missing, opening } from '../state/asking.ts';
import { sidesOf } from '../state/questions.ts';
import { whole } from '../state/whole.ts';
import { literally, quote, split } from '../state/clauses.ts';
import { digestsIn } from '../digest.ts';
import { digest, type View } from '../state/address.ts';
import { addClauses, change, head, isDark, leaveFunction, PAPER, printing, same, say, sayInside, timed, view, worded } from '../state/store.ts';
import { isSnapshot, termsIn } from '../state/words.ts';
import { compactName, island, Name } from './island.tsx';
import { type Item, openMenu } from './menu.tsx';

/** "12.3k blocks", or calls, of a box. */
const blocksOf = (value: number) => `${shortCount(value)}\u202f${unitOfBlocks()}`;
const unitOfBlocks = () => (flame.peek().answer?.unit === 'calls' ? 'calls' : 'blocks');

const words: Words = {
  amount: (value, unit) => (unit === 'blocks' ? blocksOf(value) : bytes(value)),
  error,
  share,
  count,
  change: changeOf,
};

/** The graph, once it is there. */
export let graph: FlameGraph | null = null;
export const hovered = signal<FlameBox | null>(null);
export const selectedBox = signal<FlameBox | null>(null);

/** The hues that the graph has boxes of; null: it was not drawn yet. */
const drawn = signal<string | null>(null);

/* ---- search ---- */

/** Finds the text as it is, and what it matches as a regular expression. */
function readSearch(text: string): RegExp | null {
  if (!text) return null;
  const itself = literally(text);
  try {
    return new RegExp(`${itself}|(?:${text})`, 'i');
  } catch {
    return new RegExp(itself, 'i');
  }
}

export const searched = computed(() => readSearch(view.value.search));

/** What the graph marks: the matches of the search, else the boxes of the chosen row. */
const marked = computed(() => searched.value ?? (view.value.row && !view.value.search ? new RegExp(`^${literally(view.value.row)}$`) : null));

/* ---- between the graph and the state ---- */

function toView(seen: FlameView): void {
  const zoomed = seen.low > 0 || seen.high < 1 || seen.top !== 0;
  const inAddress = (value: number) => Number(value.toPrecision(8));
  const zoom: View['zoom'] = zoomed ? [inAddress(seen.low), inAddress(seen.high), inAddress(seen.top)] : null;
  const now = view.peek();
  if (same(zoom, now.zoom) || !same(seen.focus, now.focus)) return;
  change({ zoom }, true);
}

function flameViewOf({ focus, selected, zoom }: View): FlameView {
  const [low, high, top] = zoom ?? [0, 1, 0];
  return { focus, low, high, top, selected };
}

/* The row whose box is being selected; empty: a box was selected itself. */
let byRow = '';

function onSelect(box: FlameBox | null): void {
  selectedBox.value = box;
  const path = box && box.path;
  const { selected, row } = view.peek();
  if (!same(path, selected) || row !== byRow) change({ selected: path, row: byRow }, true);
}

function make(host: HTMLElement): FlameGraph {
  return new FlameGraph(
    host,
    {
      onSelect,
      onFocus: (path) => {
        if (!same(path, view.peek().focus)) change({ focus: path, shortFocus: '', zoom: null });
      },
      onHover: (box) => (hovered.value = box),
      onMenu: (box, point) => openMenu(box, point, chainItems(box)),
      onChain: (key) => change({ open: toggled(view.peek().open, key) }),
      onView: toView,
      onHues: (hues) => (drawn.value = [...hues].join()),
    },
    words,
  );
}

/** Of a box that is, or is in, a chain of frames. */
const chainItems = ({ chain }: FlameBox): Item[] =>
  chain ? [{ text: `${chain.open ? 'Fold its' : 'Show the'} ${chain.frames.length} ${say('frames')}`, key: 'o', act: () => graph?.toggleChain() }] : [];

/** Whole stacks, or folded ones. Where each level of a recursion is shown, a path may have more of them. */
export function showWholeStacks(wholeStacks: boolean): void {
  const { focus } = view.peek();
  const isRecursion = focus.some((label, index) => label === focus[index + 1]);
  change({ wholeStacks, selected: null, zoom: null, ...(isRecursion && { focus: [] }) });
}

/** Selects the largest box of a label. */
export function selectLabel(text: string): void {
  const { answer } = flame.peek();
  let best = -1;
  if (answer) {
    const { label, bytes: sizes } = answer.columns;
    for (let node = 0; node < label.length; node++)
      if (answer.labels[label[node]!]?.text === text && (best < 0 || sizes[node]! > sizes[best]!)) best = node;
  }
  byRow = text;
  graph?.select(best);
  byRow = '';
  change({ row: text, selected: view.peek().row === text ? view.peek().selected : null }, true);
}

/* ---- what is said of a box ---- */

/** The type of a block is not said where it is the name. */
export const moduleOf = ({ module, function: name }: Label): string => (isSnapshot(head.value) && module === name ? '' : module);
export const placeOf = (label: Label): string => (label.file ? `${label.file}${label.line ? `:${label.line}` : ''}` : '');

/** Of a comparison: what it has before and after, and the change. */
export function comparedNumbers({ compared, low, high, samples }: FlameBox): string {
  const { before, after, change: by, sure } = compared!;
  const known = compare.value.answer;
  const unsure = known?.partial ? ', as far as was recorded' : known?.exact ? '' : ', within noise';
  const [had, has] = known ? sidesOf(known) : ['', ''];
  const sides = known?.moments ? `${bytes(before)} ${had}, ${bytes(after)} ${has}` : `${bytes(before)} → ${bytes(after)}`;
  return `${sides}: ${changeOf(by)}${low < high ? ` (${changeRange(low, high)})` : ''}${sure ? '' : unsure}${timed(` · ${numberOf(samples, 'sample')}`)}`;
}
/** Its part of what the widths are parts of. */
export const shareOf = (box: FlameBox): string =>
  `${share(box.share)} of ${box.shareOf === 'focus' ? 'the focus' : view.value.width === 'blocks' ? `all ${unitOfBlocks()}` : 'the whole'}`;

export function numbersOf(box: FlameBox): string {
  if (box.compared) return comparedNumbers(box);
  const estimate = { estimate: box.bytes, low: box.low, high: box.high, samples: box.samples };
  const off = error(box.bytes, box.low, box.high);
  const blocks = off ? `about ${numberOf(Number(box.blocks.toPrecision(3)), unitOfBlocks().slice(0, -1))}` : numberOf(box.blocks, unitOfBlocks().slice(0, -1));
  return `${withError(estimate)} · ${blocks}${timed(` · ${numberOf(box.samples, 'sample')}`)} · ${shareOf(box)}`;
}

const Fitted = ({ text, most }: { text: string; most: number }) => <Name text={compactName(text, most)} title={cleanName(text, 2000)} />;

function Line() {
  const box = hovered.value ?? selectedBox.value;
  if (!flame.value.answer) return null;
  const isTouched = matchMedia('(hover: none)').matches;
  if (!box) return <p class="line quiet">{isTouched ? 'Tap a box to select it, tap twice' : 'Click a box to select it, double-click or Enter'} to fill the width with it. {isTouched ? 'Hold' : 'Right click'}: more.</p>;
  const isFolded = box.chain?.open === false;
  const where = box.label && !isFolded ? [moduleOf(box.label), placeOf(box.label)].filter(Boolean).join(' · ') : '';
  return (
    <p class="line">
      <BoxName box={box} most={60} />
      <span class="numbers">{box.bytes > 0 || box.samples ? numbersOf(box) : ''}</span>
      {where && <bdi class="quiet">{where}</bdi>}
      {isFolded && <span class="quiet">each passes on at least 95 %; a click shows them</span>}
    </p>
  );
}

/** Of a folded chain, the tip has all names. */
function BoxName({ box, most }: { box: FlameBox; most: number }) {
  if (box.merged) return <>{`${numberOf(box.merged, 'small box')} merged`}</>;
  if (box.chain?.open === false) return <Name text={box.name} title={cleanName(box.chain.frames.join(' › '), 2000)} />;
  return <Fitted text={box.name} most={most} />;
}

/** Below a box that has no room for its name, the name. The line below the graph has all of it. */
function Tip({ box }: { box: FlameBox }) {
  const { x, y, width, height } = graph!.rectOf(box.node)!;
  const canvas = graph!.canvas.getBoundingClientRect();
  const top = canvas.top - document.getElementById('flame')!.getBoundingClientRect().top + y + height + 3;
  const middle = Math.min(canvas.width, Math.max(0, x + width / 2));
  const side = middle > canvas.width / 2 ? { right: `${canvas.width - middle}px` } : { left: `${middle}px` };
  return (
    <p class="tip" aria-hidden="true" style={{ top: `${top}px`, ...side }}>
      <BoxName box={box} most={60} /> {amountAndShare(box)}
    </p>
  );
}

const amountAndShare = (box: FlameBox): string => (box.compared ? changeOf(box.compared.change) : `${bytes(box.bytes)} · ${share(box.share)}`);

function Trail() {
  const { focus, of } = view.value;
  const isCallers = of !== '' && focus[0] === CALLERS;
  const path = isCallers ? focus.slice(1) : focus.length || !of ? focus : [of];
  if (!path.length) return <span class="quiet">all</span>;
  const shown = path.length > 6 ? path.slice(-5) : path;
  const from = path.length - shown.length;
  return (
    <ol class="trail" aria-label="Focus">
      <li>
        <button type="button" class="link" title={of && say('allAgain')} onClick={() => (of ? leaveFunction() : change({ focus: [], zoom: null }))}>
          all
        </button>
      </li>
      {of && <li class="quiet of">{say(focus.length ? (isCallers ? 'callersOf' : 'calleesOf') : 'bothOf')}</li>}
      {from > 0 && <li class="quiet">{from} more</li>}
      {shown.map((text, index) => (
        <li>
          {index === shown.length - 1 ? (
            <Fitted text={text} most={26} />
          ) : (
            <button type="button" class="link" onClick={() => change({ focus: focus.slice(0, from + index + 1 + +isCallers), zoom: null })}>
              <Fitted text={text} most={26} />
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

/** What the widths of the boxes are. */
function Widths() {
  const { width } = view.value;
  void flame.value; // its answer says whether they are blocks or calls
  if (comparing.value) return null;
  return (
    <div class="switch widths" role="group" aria-label="Widths">
      {(['bytes', 'blocks'] as const).map((one) => (
        <button type="button" aria-pressed={width === one} title={`The widths of the boxes are ${one} (m)`} onClick={() => change({ width: one, zoom: null })}>
          {one === 'blocks' ? unitOfBlocks() : one}
        </button>
      ))}
    </div>
  );
}

/** Whether chains of frames and recursions are folded. */
function Stacks() {
  const { wholeStacks } = view.value;
  const titles = [say('folded'), say('unfolded')];
  return (
    <div class="switch stacks" role="group" aria-label={say('whichStacks')}>
      {titles.map((title, index) => (
        <button type="button" aria-pressed={wholeStacks === (index === 1)} title={title} onClick={() => showWholeStacks(index === 1)}>
          {index ? say('stacks') : 'folded'}
        </button>
      ))}
    </div>
  );
}

/** The clause that selects the stacks with a group's code. */
function clauseOf({ group: { kind, name }, label }: Hued): string {
  if (kind === 'namespace') return `fn ~ ${quote(`^<?${literally(name)}::`)}`;
  return kind === 'file' ? `file = ${quote(name)}` : `module = ${quote(label.module)}`;
}

/** Which graph the hues of all graphs are of. */
export const huesAre = computed(() => {
  const { answer } = opening.value;
  if (answer) keepHues(answer);
  return answer;
});

/** What the hues stand for that are drawn, the largest first. */
function Hues() {
  const { answer } = flame.value;
  void huesAre.value;
  if (!answer || comparing.value) return null;
  const chosen = split(view.value.where);
  const hues = drawn.value?.split(',');
  const hued = paletteIn(answer).hued.filter(({ hue }) => !hues || hues.includes(`${hue}`));
  const scheme = isDark.value ? 'dark' : 'light';
  return (
    <ul class="hues" aria-label={say('colours')}>
      {hued.map((one) => {
        const clause = clauseOf(one);
        return (
          <li>
            <button type="button" title={`${worded(one.group.kind)} ${cleanName(one.group.name, 200)}: ${sayInside('keep')}`} disabled={chosen.includes(clause)} onClick={() => addClauses(clause)}>
              <span class="swatch" style={{ background: cssColour(hueFill(one.hue, scheme)) }} aria-hidden="true" />
              <Name text={compactName(groupName(one.group), 20)} title="" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function sayWhy(): string {
  const { answer } = flame.value;
  if (!answer) return missing(flame.value, say('building'));
  if (answer.columns.bytes.length && answer.columns.samples[0] === 0) return say('nothing');
  return '';
}

export function followFlame(): void {
  const section = document.getElementById('flame')!;
  const parts = ['flame-head', 'flame-hues', 'flame-host', 'flame-tip', 'flame-empty', 'flame-line'].map((id) => {
    const part = document.createElement('div');
    part.id = id;
    return part;
  });
  section.replaceChildren(...parts);
  island('flame-head', () => (
    <>
      <Trail />
      <Stacks />
      <Widths />
    </>
  ));
  island('flame-hues', () => <Hues />);
  island('flame-empty', () => {
    const why = sayWhy();
    return why ? <p class="empty">{why}</p> : null;
  });
  island('flame-tip', () => {
    const box = hovered.value;
    return box && graph?.isNameless(box.node) ? <Tip box={box} /> : null;
  });
  island('flame-line', () => <Line />);
  graph = make(document.getElementById('flame-host')!);
  followGraph(graph, section);
}

/** Finds the labels of a focus of which the address had only digests. */
function resolveFocus(answer: Flame): void {
  const { shortFocus, focus } = view.peek();
  const { halves, trail } = answer;
  if (!shortFocus || focus.length || (trail.length && !halves)) return;
  const digests = digestsIn(shortFocus);
  const isCallers = digests[0] === digest(CALLERS) && halves?.of === 'both';
  const found = [...(isCallers ? [CALLERS] : []), ...trail.map((label) => answer.labels[label]!.text)];
  const { next, label } = answer.columns;
  let [child, end] = isCallers ? [halves.callers, next.length] : [1, next[0]!];
  for (const wanted of digests.slice(found.length)) {
    while (child < end && digest(answer.labels[label[child]!]?.text ?? '') !== wanted) child = next[child]!;
    if (child >= end) break;
    found.push(answer.labels[label[child]!]!.text);
    end = next[child++]!;
  }
  change({ focus: found, shortFocus: '' }, true);
}

const widthShown = computed(() => (comparing.value ? 'bytes' : view.value.width));
/* That another answer is awaited changes nothing of what is seen. */
const answered = computed(() => flame.value.answer);
const openShown = computed(() => (view.value.wholeStacks ? null : view.value.open));
/* A page that was opened with a focus learns it after the graph. */
const wholeShown = computed(() => whole.value?.[widthShown.value]);

function followGraph(shown: FlameGraph, section: HTMLElement): void {
  effect(() => {
    void huesAre.value;
    const answer = answered.value;
    const { of } = flame.peek();
    const width = widthShown.value;
    const all = wholeShown.value;
    const open = openShown.value;
    if (!answer || !of) return;
    const half = answer.halves?.of;
    const mode = half === 'both' ? half : (half ?? of.direction) !== 'callers' ? 'icicle' : half ? 'upward' : 'inverted';
    shown.view = flameViewOf(view.peek());
    shown.setData(answer, { mode, whole: all, width, partial: head.peek()?.trace.partial, open, terms: termsIn(head.peek()) });
    selectedBox.value = shown.selectedBox;
    resolveFocus(answer);
  });
  effect(() => {
    section.className = ageOf(flame.value) + (flame.value.answer?.columns.samples[0] ? '' : ' unanswered');
  });
  effect(() => {
    const wanted = flameViewOf(view.value);
    if (same(wanted, shown.view)) return;
    shown.view = wanted;
    selectedBox.value = shown.selectedBox;
  });
  effect(() => {
    void [isDark.value, huesAre.value];
    shown.redraw(printing.value ? PAPER : 0);
  });
  effect(() => shown.setSearch(marked.value));
}
/* SPDX-License-Identifier: MIT */
