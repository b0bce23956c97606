/* Which part of the graph is seen, which box is focused, which is selected, and how one goes from one
 * to another. It knows no element of the page: a Screen stands for what is drawn on.
 *
 * The FOCUS is the box that fills the width. A focus is applied to the present answer at once, and
 * the page is told its path: it asks the engine for that subtree, in which boxes that were merged
 * are boxes again, and hands the answer to `setData`. Rows keep their heights meanwhile, since the
 * callers of the answer's root are shown above it.
 *
 * HOME is how far the rows are scrolled at first: not at all, or, where callers are drawn above the root, so far that the
 * root is in sight.
 *
 * A focus that the present answer does not have (further out) waits for the answer that has it. */

import type { FlameData, Path } from './data.ts';
import { below, besides, hitTest, type Lens, lineAt, valueAt } from './hit.ts';
import { NOWHERE, type Place } from './layout.ts';
import { clamped, Movement, panned, type Position, revealing, sameSpan, type Span, zoomed } from './motion.ts';

export const ROW_HEIGHT = 20;
/** Boxes narrower than this many CSS pixels merge into grey runs. */
export const LEAST_BOX = 0.7;
const CALLERS_IN_SIGHT = 3; // above a new focus
const MARGIN_ROWS = 2; // around a box that the keys go to
const SHOWN_BOX = 40; // px of a box that was too narrow to see when it was selected
const PAST = 100; // foci that are remembered

/** What a link keeps. Boxes are named by their paths. */
export interface FlameView {
  focus: Path;
  /** The part of the focus's width that is seen: 0 to 1. */
  low: number;
  high: number;
  /** How far the rows are scrolled from where they open, in CSS pixels. */
  top: number;
  selected: Path | null;
}

export interface Screen {
  readonly width: number;
  readonly height: number;
  top: number;
  setContentHeight(pixels: number): void;
  invalidate(moving?: boolean): void;
  /** Whether movements may be shown. */
  readonly animated: boolean;
}

export interface Listener {
  onSelected(place: Place): void;
  onFocused(path: Path): void;
  /** The tree of the keyboard is to be built again. */
  onChanged(): void;
}

const samePath = (one: Path, other: Path): boolean =>
  one.length === other.length && one.every((name, index) => name === other[index]);

const sameView = (one: FlameView, other: FlameView): boolean =>
  samePath(one.focus, other.focus) &&
  (one.selected === null ? other.selected === null : other.selected !== null && samePath(one.selected, other.selected)) &&
  one.low === other.low &&
  one.high === other.high &&
  one.top === other.top;

export class Navigation {
  data: FlameData | null = null;
  focused: Place = 0;
  selected: Place = NOWHERE;
  /** The selected box's node; of a folded chain, the frame that is meant. */
  selectedNode = NOWHERE;
  span: Span = { low: 0, high: 1 };
  /** Since when the view differs from what the page was told. */
  viewChanged = false;

  private wantedFocus: Path = [];
  private wantedSelected: Path | null = null;
  private wantedView: FlameView | null = null;
  private past: Path[] = [];
  private movement: Movement | null = null;
  /** Where up and down walk: a value of the layout. */
  private column = 0;
  /** The height of the window when it was drawn last. */
  private height = 0;

  constructor(
    private readonly screen: Screen,
    private readonly listener: Listener,
  ) {}

  /* What is seen. */

  get lens(): Lens {
    const { width, top } = this.screen;
    return { ...this.span, width, top, rowHeight: ROW_HEIGHT, above: this.data?.linesAbove ?? 0 };
  }

  /** The box that keys act upon: the selected one, or the focus. */
  get current(): Place {
    return this.selected === NOWHERE ? this.focused : this.selected;
  }

  private get bounds(): Span {
    if (this.data === null || this.data.layout.count === 0) return { low: 0, high: 1 };
    const { left, right } = this.data.layout;
    const low = left[this.focused]!;
    return { low, high: Math.max(right[this.focused]!, low + 1e-9) };
  }

  get focusLine(): number {
    return this.data === null || this.data.layout.count === 0 ? 0 : this.data.layout.line(this.focused);
  }

  /** In a window of this height, callers of the root have half of it, in whole rows, or what callees leave. */
  private homeIn(height: number): number {
    if (!this.data?.layout.up) return 0;
    const above = this.data.linesAbove * ROW_HEIGHT;
    const rest = this.data.lines * ROW_HEIGHT - above;
    return Math.floor(above - Math.min(above, Math.max(height / 2 - ((height / 2) % ROW_HEIGHT), height - rest)));
  }

  private get homeTop(): number {
    return this.homeIn(this.screen.height);
  }

  get moving(): boolean {
    return this.movement !== null;
  }

  /** Goes on with a movement. Called before each drawing. */
  advance(now: number): void {
    const { height, top } = this.screen;
    if (height !== this.height && top === this.homeIn(this.height)) this.screen.top = this.homeIn(height);
    this.height = height;
    if (this.movement === null) return;
    const { position, ended } = this.movement.at(now);
    this.span = position.span;
    this.screen.top = position.top;
    if (ended) this.movement = null;
    this.changed(!ended);
  }

  placeAt(x: number, y: number): Place {
    return this.data === null ? NOWHERE : hitTest(this.data.layout, this.lens, x, y, LEAST_BOX);
  }

  /** Which of the rows outside of the answer is at this height; NOWHERE if there is none. */
  aboveAt(y: number): number {
    return this.data?.aboveOn(lineAt(this.lens, y)) ?? NOWHERE;
  }

  private changed(moving: boolean): void {
    this.viewChanged = true;
    this.screen.invalidate(moving);
  }

  private goPosition(to: Position): void {
    if (!this.screen.animated) {
      this.movement = null;
      this.span = to.span;
      this.screen.top = to.top;
    } else {
      this.movement = new Movement({ span: this.span, top: this.screen.top }, to, performance.now());
    }
    this.changed(true);
  }

  /* The answer, and the view for links. */

  setData(data: FlameData): void {
    let view = this.wantedView ?? (this.data === null ? null : this.view);
    const { movement, bounds: old } = this;
    /* Another half, or another function: rows lie elsewhere, and past foci are not of it. */
    const isOther = this.data?.flame.halves?.of !== data.flame.halves?.of;
    if (isOther && view !== null && this.wantedView === null) view = { ...view, top: 0 };
    if (this.data?.function !== data.function) this.past = [];
    this.wantedView = null;
    this.data = data;
    this.movement = null;
    const focus = data.find(this.wantedFocus);
    this.focused = Math.max(0, focus);
    if (focus === NOWHERE) this.wantedFocus = data.focusOf(data.rootPath);
    this.screen.setContentHeight(data.lines * ROW_HEIGHT);
    this.height = this.screen.height;
    this.span = this.bounds;
    if (view !== null && samePath(view.focus, this.wantedFocus)) {
      this.apply(view);
      if (movement !== null) this.goOn(movement, old, isOther);
    } else this.screen.top = this.homeTop;
    this.find();
    this.listener.onChanged();
    this.changed(false);
  }

  private find(): void {
    this.selectedNode = this.wantedSelected === null ? NOWHERE : this.data!.nodeOf(this.wantedSelected);
    this.selected = this.data!.layout.place[this.selectedNode] ?? NOWHERE;
  }

  /** The engine mostly answers while the movement to the focus is shown: it goes on in the new answer. */
  private goOn(movement: Movement, old: Span, isOther: boolean): void {
    const { low, high } = this.bounds;
    const scale = (high - low) / (old.high - old.low);
    this.movement = movement.mapped((value) => low + (value - old.low) * scale, isOther ? this.screen.top : undefined);
    this.changed(true);
  }

  get view(): FlameView {
    const { low, high } = this.bounds;
    const { span, top } = this.movement?.to ?? { span: this.span, top: this.screen.top };
    const size = high - low;
    const [from, to] = sameSpan(span, { low, high }) ? [0, 1] : [(span.low - low) / size, (span.high - low) / size];
    return { focus: this.wantedFocus, low: from, high: to, top: top - this.homeTop, selected: this.wantedSelected };
  }

  /** Shows the view. If the present answer does not have its focus, the view waits for the next answer. */
  set view(view: FlameView) {
    if (this.data !== null && this.wantedView === null && sameView(view, this.view)) return;
    this.wantedFocus = view.focus;
    this.wantedSelected = view.selected;
    const focus = this.data?.find(view.focus) ?? NOWHERE;
    if (this.data === null || focus === NOWHERE) {
      this.wantedView = view;
      return;
    }
    const { focused, selectedNode } = this;
    this.focused = focus;
    this.find();
    const same = focus === focused && this.selectedNode === selectedNode;
    this.apply(view);
    if (!same) this.listener.onChanged();
  }

  private apply(view: FlameView): void {
    const { low, high } = this.bounds;
    const size = high - low;
    this.movement = null;
    const seen = { low: low + view.low * size, high: low + view.high * size };
    this.span = seen.high > seen.low ? clamped(seen, this.bounds) : this.bounds;
    this.screen.top = this.homeTop + view.top;
    this.changed(false);
  }

  /* Selection. */

  /** `node`: the frame of a folded chain that is meant. */
  select(place: Place, column?: number, node?: number): void {
    this.selected = place;
    const data = this.data;
    this.selectedNode = node ?? (data === null || place === NOWHERE ? NOWHERE : data.frameOf(place));
    if (data !== null && place !== NOWHERE) {
      const { left, right } = data.layout;
      this.column = column ?? (left[place]! + right[place]!) / 2;
      /* A merged rest has no path of its own. */
      this.wantedSelected = data.merged(place) > 0 ? null : data.describe(place, this.selectedNode).path;
    } else this.wantedSelected = null;
    this.viewChanged = true;
    this.listener.onSelected(place);
    this.listener.onChanged();
    this.screen.invalidate();
  }

  /** Moves what is seen so that the box is. */
  reveal(place: Place): void {
    const { data, screen } = this;
    if (data === null || place === NOWHERE) return;
    const { span, top } = this.movement?.to ?? { span: this.span, top: screen.top };
    const box = { low: data.layout.left[place]!, high: data.layout.right[place]! };
    const bounds = data.layout.isWithin(place, this.focused) ? this.bounds : span;
    const seen = revealing(span, bounds, box, LEAST_BOX / screen.width, SHOWN_BOX / screen.width);
    const row = (data.linesAbove + data.layout.line(place)) * ROW_HEIGHT;
    const margin = MARGIN_ROWS * ROW_HEIGHT;
    const highest = row + ROW_HEIGHT + margin - screen.height;
    const lowest = row - margin;
    const to = { span: seen, top: Math.max(0, Math.min(Math.max(top, highest), lowest)) };
    if (!sameSpan(seen, span) || to.top !== top) this.goPosition(to);
  }

  walk(where: 'up' | 'down' | 'left' | 'right'): void {
    const { data } = this;
    if (data === null || data.layout.count === 0) return;
    const { layout } = data;
    const from = this.current;
    const upright = where === 'up' || where === 'down';
    const isBelow = where === 'down';
    if (upright && from === 0 && data.aboveOn(isBelow ? 1 : -1) !== NOWHERE) {
      this.wantedSelected = data.rootPath.slice(0, -1);
      this.goTo(this.wantedSelected, true);
      return;
    }
    const column = this.selected === NOWHERE ? layout.left[from]! : this.column;
    const isCaller = from === 0 ? !isBelow : layout.isCaller(from);
    const place = !upright
      ? besides(layout, from, where === 'left' ? -1 : 1)
      : isCaller === isBelow
        ? layout.parent[from]!
        : below(layout, from, column, isCaller);
    if (place === NOWHERE) return;
    /* Of what is outside of the focus only its callers are seen. */
    if (!layout.isWithin(place, this.focused) && !layout.isWithin(this.focused, place)) return;
    const keeps = upright && layout.left[place]! <= column && column < layout.right[place]!;
    this.select(place, keeps ? column : undefined);
    this.reveal(place);
  }

  /** Selects the next or previous box whose label has a mark. Returns whether there is one. */
  selectMarked(marks: Uint8Array, direction: -1 | 1): boolean {
    const { data } = this;
    if (data === null) return false;
    const { layout } = data;
    const { count } = layout;
    const from = this.selected === NOWHERE ? (direction === 1 ? count - 1 : 0) : this.selected;
    for (let step = 1; step <= count; step++) {
      const place = (from + direction * step + 2 * count) % count;
      const node = data.marked(place, marks);
      if (node === NOWHERE || !layout.isWithin(place, this.focused)) continue;
      this.select(place, undefined, node);
      this.reveal(place);
      return true;
    }
    return false;
  }

  /* Focus. */

  /** Focuses on a box of the answer. A merged rest opens by a focus on its parent. */
  focus(place: Place): void {
    const { data } = this;
    if (data === null || place === NOWHERE) return;
    const target = data.merged(place) > 0 && place !== 0 ? data.layout.parent[place]! : place;
    if (target === this.focused) {
      this.zoomBack();
      return;
    }
    this.goTo(data.pathOf(target), true);
  }

  /** Focuses on a path, of the present answer or of one to come. */
  goTo(to: Path, remember: boolean): void {
    const path = this.data?.focusOf(to) ?? to;
    if (samePath(path, this.wantedFocus)) return;
    if (remember) this.past = [...this.past.slice(-PAST), this.wantedFocus];
    this.wantedFocus = path;
    const place = this.data?.find(path) ?? NOWHERE;
    if (place !== NOWHERE) {
      this.focused = place;
      this.listener.onChanged();
      this.showFocus();
    }
    this.viewChanged = true;
    this.listener.onFocused(path);
  }

  /** Shows the whole focus, and a few of its callers above it. */
  private showFocus(): void {
    const { top, height } = this.screen;
    const line = this.focusLine;
    const row = (this.data!.linesAbove + line) * ROW_HEIGHT;
    const shown = CALLERS_IN_SIGHT * ROW_HEIGHT;
    /* What is below, or above, the middle goes to the other end of the window. */
    const to =
      line < 0
        ? row < top + height / 2 ? row + ROW_HEIGHT + shown - height : Math.max(top, row + ROW_HEIGHT - height)
        : row > top + height / 2 ? row - shown : Math.min(top, row);
    this.goPosition({ span: this.bounds, top: Math.max(0, to) });
  }

  zoomBack(): void {
    this.goPosition({ span: this.bounds, top: this.movement?.to.top ?? this.screen.top });
  }

  /** Undoes the zoom, else the last focus. Returns whether there was anything to undo. */
  back(): boolean {
    if (!sameSpan(this.movement?.to.span ?? this.span, this.bounds)) {
      this.zoomBack();
      return true;
    }
    const path = this.past.pop() ?? (this.wantedFocus.length > 0 ? this.wantedFocus.slice(0, -1) : null);
    if (path === null) return false;
    this.goTo(path, false);
    return true;
  }

  home(): void {
    if (this.wantedFocus.length > 0) this.goTo([], true);
    else if (this.data !== null && this.data.layout.count > 0) {
      this.select(0);
      this.goPosition({ span: this.bounds, top: this.homeTop });
    }
  }

  /* Zoom and pan, which leave the focus as it is. */

  zoom(at: number, factor: number): void {
    const span = zoomed(this.movement?.to.span ?? this.span, this.bounds, at, factor);
    this.movement = null;
    this.span = span;
    this.changed(true);
  }

  /** Returns whether it moved sideways. */
  pan(x: number, y: number): boolean {
    const span = panned(this.span, this.bounds, x / this.screen.width);
    const moved = !sameSpan(span, this.span);
    if (moved || y !== 0) this.movement = null;
    this.span = span;
    if (y !== 0) this.screen.top += y;
    if (moved || y !== 0) this.changed(true);
    return moved;
  }

  page(direction: -1 | 1): void {
    const step = Math.max(ROW_HEIGHT, this.screen.height - 2 * ROW_HEIGHT);
    const top = this.movement?.to.top ?? this.screen.top;
    this.goPosition({ span: this.movement?.to.span ?? this.span, top: Math.max(0, top + direction * step) });
  }

  valueAt(x: number): number {
    return valueAt(this.lens, x);
  }
}

/* SPDX-License-Identifier: MIT */
