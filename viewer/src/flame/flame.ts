/* The flame graph of the page: puts the answer, its navigation, the canvas and the tree together.
 *
 * See navigation.ts for focus and view, paint.ts for the picture, tree.ts for keyboard and speech. */

import type { Flame } from '../engine/answers.ts';
import { type FlameBox, FlameData, type Path, type Terms, type Width, type Words } from './data.ts';
import { Glyphs } from './glyphs.ts';
import type { Open } from './chains.ts';
import { isOutside, pixelAt } from './hit.ts';
import { type Commands, onKey, PointerInput } from './input.ts';
import { FOLD_HANDLE, Labels, LEAST_LABEL } from './labels.ts';
import { NOWHERE, type Place } from './layout.ts';
import { type FlameView, Navigation, ROW_HEIGHT } from './navigation.ts';
import { fontOf, Painter } from './paint.ts';
import { Stage } from './stage.ts';
import { Fills, readTheme, type Theme } from './theme.ts';
import { TreeView } from './tree.ts';

export type { FlameBox, Path, Words } from './data.ts';
export type { FlameView } from './navigation.ts';

export interface FlameCallbacks {
  onSelect?(box: FlameBox | null): void;
  /** The person focused on this path; []: the whole. Answer with `setData` when the engine has. */
  onFocus?(path: Path): void;
  onHover?(box: FlameBox | null): void;
  /** A menu is wanted for the box, at this point of the page's viewport. */
  onMenu?(box: FlameBox, point: { x: number; y: number }): void;
  /** The view changed and came to rest: for links. */
  onView?(view: FlameView): void;
  /** A chain of frames, by its key, is to be opened or folded. Answer with `setData`. */
  onChain?(key: string): void;
  /** At rest, boxes of these hues are wide enough to show them, in any row. */
  onHues?(hues: Set<number | null>): void;
  /** A drawing took so many milliseconds. */
  onDraw?(milliseconds: number): void;
}

export interface DataOptions {
  /** Callees of the outermost functions, or callers of the allocating ones, both drawn downwards. Of one function: callers
   *  are drawn upwards. */
  mode: 'icicle' | 'inverted' | 'both' | 'upward';
  /** Bytes or blocks of the whole query, if the answer is that of a focus. */
  whole?: number;
  /** Records are missing: of a comparison, nothing is sure. */
  partial?: boolean;
  /** What the widths are; else bytes. */
  width?: Width;
  /** The chains that are open; null: all. */
  open?: Open;
  /** Else those of functions that call. */
  terms?: Terms;
}

/** A narrower box, in px, shows no hue. */
const LEAST_HUE = 3;

/** A second opening within so many ms is the rest of a double click that has already done its work. */
const OPEN_AGAIN = 400;

export class FlameGraph {
  private readonly stage: Stage;
  private readonly painter: Painter;
  private readonly navigation: Navigation;
  private readonly tree: TreeView;
  private theme!: Theme;
  private glyphs!: Glyphs;
  private data: FlameData | null = null;
  private labels: Labels | null = null;
  private fills: Fills | null = null;
  private search: RegExp | null = null;
  /** By label, and by place, 1 if the search matches; null: there is no search. */
  private marks: Uint8Array | null = null;
  private matches: Uint8Array | null = null;
  private hovered: Place = NOWHERE;
  private hoveredAbove = NOWHERE;
  /** Where the mouse is, if it hovers: boxes may move below it. */
  private mouse: { x: number; y: number } | null = null;
  private keyboard = false;
  private openedAt = -Infinity;

  constructor(
    private readonly host: HTMLElement,
    private readonly callbacks: FlameCallbacks,
    private readonly words: Words,
    private readonly label = 'Flame graph',
  ) {
    this.stage = new Stage(host, (now, ratio) => this.draw(now, ratio));
    this.painter = new Painter(this.stage.canvas);
    this.navigation = new Navigation(this.stage, {
      onSelected: () => this.callbacks.onSelect?.(this.selectedBox),
      onFocused: (path) => this.callbacks.onFocus?.(path),
      onChanged: () => this.showTree(),
    });
    const commands = this.commands();
    new PointerInput(this.stage.canvas, this.stage.scroller, commands);
    this.tree = new TreeView(this.stage.fixed, words, {
      onFocus: (place) => this.navigation.select(place),
      onAbove: (index) => this.goAbove(index),
      onKey: (event) => onKey(event, commands),
      onActive: (active) => {
        this.keyboard = active;
        this.stage.invalidate();
      },
      onMenu: () => this.menuOfSelected(),
    });
    this.stage.scroller.addEventListener('scroll', () => (this.navigation.viewChanged = true));
    this.refreshTheme();
    new MutationObserver(() => this.refreshTheme()).observe(document.documentElement, { attributeFilter: ['class', 'style', 'data-theme'] });
    for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)'])
      matchMedia(query).addEventListener('change', () => this.refreshTheme());
  }

  /* What the page sets. */

  setData(flame: Flame, options: DataOptions): void {
    this.data = new FlameData(flame, options.whole, options.width, options.partial, options.open, options.terms);
    this.hover(NOWHERE, NOWHERE);
    this.prepare();
    this.tree.label = `${this.label}, ${this.data.terms[options.mode]}`;
    this.navigation.setData(this.data);
  }

  setSearch(search: RegExp | null): void {
    this.search = search === null ? null : new RegExp(search.source, search.flags.replace(/[gy]/g, ''));
    this.findMatches();
    this.stage.invalidate();
  }

  /** Selects the node of the answer, and shows it; -1: none. */
  select(node: number): void {
    const place = node < 0 || this.data === null ? NOWHERE : this.data.layout.place[node]!;
    this.navigation.select(place, undefined, node);
    this.navigation.reveal(place);
  }

  /** Selects the next or previous box whose name the search matches. Returns whether there is one. */
  selectMatch(direction: -1 | 1): boolean {
    return this.marks !== null && this.navigation.selectMarked(this.marks, direction);
  }

  focus(node: number): void {
    if (this.data !== null) this.navigation.focus(this.data.layout.place[node]!);
  }

  /** Opens the chain that the selected box is, or folds the one that it is in. Returns whether there is one. */
  toggleChain(): boolean {
    return this.toggle(this.navigation.current);
  }

  /** Focuses on a path, even if the present answer does not have it. */
  focusOn(path: Path): void {
    this.navigation.goTo(path, true);
  }

  back(): boolean {
    return this.navigation.back();
  }

  get view(): FlameView {
    return this.navigation.view;
  }

  /** Shows this view. If the answer has another focus, the next one is shown so; the page asks for it. */
  set view(view: FlameView) {
    this.navigation.view = view;
    this.navigation.viewChanged = false;
  }

  /** Reads the colours and the font of the page again. */
  refreshTheme(): void {
    this.theme = readTheme(this.host);
    const pen = document.createElement('canvas').getContext('2d')!;
    pen.font = fontOf(this.theme, 1);
    pen.fontKerning = 'none';
    this.glyphs = new Glyphs((character) => pen.measureText(character).width);
    if (this.data !== null) this.prepare();
    this.stage.invalidate();
  }

  /** The same, and draws at once: what is printed is not drawn in a frame. A fixed width is that
   *  of paper; 0: as wide as its host. */
  redraw(fixed = 0): void {
    this.stage.fixedWidth = fixed;
    this.refreshTheme();
    this.stage.drawNow();
  }

  /** Puts the keyboard's focus on the graph. */
  takeFocus(): void {
    this.tree.takeFocus();
  }

  /* What the page may look at. */

  /** The box at a point of the canvas, in CSS pixels. */
  hit(x: number, y: number): FlameBox | null {
    return this.describe(this.navigation.placeAt(x, y));
  }

  /** Where the node is on the canvas; parts of it may be out of sight. */
  rectOf(node: number): { x: number; y: number; width: number; height: number } | null {
    if (this.data === null) return null;
    const { layout, linesAbove } = this.data;
    const place = layout.place[node]!;
    const { lens } = this.navigation;
    const x = pixelAt(lens, layout.left[place]!);
    const y = (layout.line(place) + linesAbove) * ROW_HEIGHT - lens.top;
    return { x, y, width: pixelAt(lens, layout.right[place]!) - x, height: ROW_HEIGHT - 1 };
  }

  /** Whether the box, as it is drawn now, has no room for a name. */
  isNameless(node: number): boolean {
    const rect = this.rectOf(node);
    if (rect === null || this.labels === null) return false;
    const [left, right] = [Math.max(0, rect.x), Math.min(this.navigation.lens.width, rect.x + rect.width)];
    return right - left < LEAST_LABEL || this.labels.text(this.data!.layout.place[node]!, left, right) === null;
  }

  /** How many boxes and grey runs the last drawing had. */
  get drawn(): { boxes: number; runs: number } {
    return this.painter.drawn;
  }

  get selectedBox(): FlameBox | null {
    const { selected, selectedNode } = this.navigation;
    return this.describe(selected, selectedNode);
  }

  get canvas(): HTMLCanvasElement {
    return this.stage.canvas;
  }

  private describe(place: Place, node?: number): FlameBox | null {
    return place === NOWHERE || this.data === null ? null : this.data.describe(place, node);
  }

  /* Drawing. */

  private prepare(): void {
    const data = this.data!;
    this.labels = new Labels(data, this.words, this.glyphs);
    this.fills = new Fills(data.flame, this.theme);
    this.findMatches();
  }

  private findMatches(): void {
    const { search, data } = this;
    this.marks = this.matches = null;
    if (search === null || data === null) return;
    const marks = Uint8Array.from(data.flame.labels, ({ text }) => (search.test(text) ? 1 : 0));
    this.matches = Uint8Array.from(data.layout.node, (_, place) => (data.marked(place, marks) === NOWHERE ? 0 : 1));
    this.marks = marks;
  }

  private draw(now: number, ratio: number): void {
    const { data, labels, fills, theme, navigation } = this;
    if (data === null || labels === null || fills === null) return;
    const began = performance.now();
    navigation.advance(now);
    if (this.mouse !== null) this.hoverAt(this.mouse.x, this.mouse.y);
    this.painter.paint({
      data,
      labels,
      fills,
      theme,
      lens: navigation.lens,
      height: this.stage.height,
      ratio,
      focusLine: navigation.focusLine,
      selected: this.keyboard ? navigation.current : navigation.selected,
      hovered: this.hovered,
      hoveredAbove: this.hoveredAbove,
      keyboard: this.keyboard,
      matches: this.matches,
    });
    this.callbacks.onDraw?.(performance.now() - began);
    if (navigation.moving || this.stage.moving) return;
    const { low, high, width } = navigation.lens;
    this.callbacks.onHues?.(data.hues(low, high, (LEAST_HUE * (high - low)) / width));
    if (!navigation.viewChanged) return;
    navigation.viewChanged = false;
    this.callbacks.onView?.(navigation.view);
  }

  private showTree(): void {
    const { current, focused } = this.navigation;
    if (this.data !== null) this.tree.show(this.data, current, focused);
  }

  /* Input. */

  private hover(place: Place, above: number): void {
    if (place === this.hovered && above === this.hoveredAbove) return;
    this.hovered = place;
    this.hoveredAbove = above;
    this.stage.canvas.style.cursor = place === NOWHERE && above === NOWHERE ? '' : 'pointer';
    this.stage.invalidate();
    this.callbacks.onHover?.(this.describe(place));
  }

  private hoverAt(x: number, y: number): void {
    this.mouse = { x, y };
    this.hover(this.navigation.placeAt(x, y), this.navigation.aboveAt(y));
  }

  private leave(): void {
    this.mouse = null;
    this.hover(NOWHERE, NOWHERE);
  }

  /** Whether the point is on the mark that folds an open chain, on its first box. */
  private isHandle(place: Place, x: number): boolean {
    return this.data!.begins(place) && x - Math.max(0, pixelAt(this.navigation.lens, this.data!.layout.left[place]!)) < FOLD_HANDLE;
  }

  /** Opens the folded chain, or folds the open one. Its first frame is selected then, or it. */
  private toggle(place: Place): boolean {
    const chain = place === NOWHERE ? null : this.data!.chainOf(place);
    if (chain === null) return false;
    const node = chain.open ? this.data!.meant(chain) : chain.first;
    this.navigation.select(this.data!.layout.place[node]!, undefined, node);
    this.callbacks.onChain?.(this.data!.keyOf(chain));
    return true;
  }

  private opens(place: Place): boolean {
    return place !== NOWHERE && this.data!.chainOf(place)?.open === false;
  }

  /** Goes out to the caller of the focus that is clicked; opens or folds a chain; else selects. */
  private click(x: number, y: number): void {
    const { navigation } = this;
    const above = navigation.aboveAt(y);
    const place = navigation.placeAt(x, y);
    if (above >= 0) {
      this.openedAt = performance.now();
      this.goAbove(above);
    } else if (place !== NOWHERE && !this.opens(place) && isOutside(this.data!.layout.line(place), navigation.focusLine)) {
      this.openedAt = performance.now();
      navigation.focus(place);
    } else if (this.opens(place) || (place !== NOWHERE && this.isHandle(place, x))) {
      this.openedAt = performance.now();
      this.toggle(place);
    } else {
      navigation.select(place, navigation.valueAt(x));
    }
    this.tree.takeFocus();
  }

  private goAbove(index: number): void {
    const { depth, key } = this.data!.above[index]!;
    if (key === undefined) this.navigation.goTo(this.data!.outer(depth), true);
    else this.callbacks.onChain?.(key);
  }

  /** The second press of a double click has taken the keyboard's focus from the tree. */
  private open(x: number, y: number): void {
    this.tree.takeFocus();
    const now = performance.now();
    if (now - this.openedAt < OPEN_AGAIN) return;
    this.openedAt = now;
    this.focusOrOpen(this.navigation.placeAt(x, y));
  }

  private focusOrOpen(place: Place): void {
    if (!this.opens(place) || !this.toggle(place)) this.navigation.focus(place);
  }

  private menu(x: number, y: number, point: { x: number; y: number }): boolean {
    const place = this.navigation.placeAt(x, y);
    if (place === NOWHERE || this.callbacks.onMenu === undefined) return false;
    this.navigation.select(place, this.navigation.valueAt(x));
    this.callbacks.onMenu(this.data!.describe(place), point);
    return true;
  }

  private menuOfSelected(): void {
    const box = this.selectedBox;
    if (box === null) return;
    const { x, y, height } = this.rectOf(box.node)!;
    const canvas = this.stage.canvas.getBoundingClientRect();
    this.callbacks.onMenu?.(box, { x: canvas.left + Math.max(0, x), y: canvas.top + y + height });
  }

  private commands(): Commands {
    const { navigation } = this;
    return {
      click: (x, y) => this.click(x, y),
      open: (x, y) => this.open(x, y),
      hover: (x, y) => this.hoverAt(x, y),
      leave: () => this.leave(),
      menu: (x, y, point) => this.menu(x, y, point),
      pan: (x, y) => navigation.pan(x, y),
      zoom: (at, factor) => navigation.zoom(at, factor),
      zoomBack: () => navigation.zoomBack(),
      walk: (where) => navigation.walk(where),
      openSelected: () => this.focusOrOpen(navigation.current),
      back: () => navigation.back(),
      home: () => navigation.home(),
      page: (direction) => navigation.page(direction),
    };
  }
}

/* SPDX-License-Identifier: MIT */
