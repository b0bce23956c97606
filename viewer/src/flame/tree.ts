/* The flame graph for the keyboard and for screen readers: a tree that is not seen, beside the
 * canvas. It holds the current box, its ancestors, siblings and children, at most 60 items, and is
 * rebuilt around each box that becomes current. The keyboard's focus is on the current item.
 *
 * Screen readers say level, position and number of siblings from the ARIA attributes. */

import type { FlameData, Words } from './data.ts';
import { NOWHERE, type Place } from './layout.ts';
import { isolated } from './names.ts';

const MOST_ANCESTORS = 16;
const MOST_SIBLINGS = 20; // with the current one
const MOST_CHILDREN = 23;

export interface TreeHandlers {
  /** An item got the focus by other means than `show`, as screen readers do. */
  onFocus(place: Place): void;
  /** The item of a caller above the answer's root was chosen. */
  onAbove(index: number): void;
  onKey(event: KeyboardEvent): void;
  /** The menu of the current box is wanted. */
  onMenu(): void;
  /** The focus came, by the keyboard, or went. */
  onActive(active: boolean): void;
}

interface Item {
  key: string;
  text: string;
  level: number;
  position: number;
  siblings: number;
  /** Undefined: it has no children. */
  expanded?: boolean;
  place: Place;
  /** The row above the answer's root that it stands for. */
  above?: number;
}

/** Of `count` neighbours from `begin`, at most `most` that hold `wanted`. */
export function windowAround(begin: number, end: number, wanted: number, most: number): [number, number] {
  if (end - begin <= most) return [begin, end];
  const first = Math.min(Math.max(begin, wanted - (most >> 1)), end - most);
  return [first, first + most];
}

const isFolded = (data: FlameData, place: Place): boolean => data.chainOf(place)?.open === false;

export class TreeView {
  private readonly element: HTMLElement;
  private items = new Map<string, HTMLElement>();
  private current: HTMLElement | null = null;
  private itemOf = new WeakMap<Element, Item>();
  /** Items of one answer have other keys than those of the next. */
  private generation = 0;
  private data: FlameData | null = null;

  constructor(
    parent: HTMLElement,
    private readonly words: Words,
    handlers: TreeHandlers,
  ) {
    this.element = document.createElement('div');
    this.element.setAttribute('role', 'tree');
    Object.assign(this.element.style, {
      position: 'absolute',
      width: '1px',
      height: '1px',
      overflow: 'hidden',
      clipPath: 'inset(50%)',
      whiteSpace: 'nowrap',
    });
    this.element.addEventListener('keydown', (event) => handlers.onKey(event));
    this.element.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      handlers.onMenu();
    });
    /* Screen readers click on what they have read. */
    this.element.addEventListener('click', (event) => {
      const item = this.itemOf.get(event.target as Element);
      if (item?.above !== undefined) handlers.onAbove(item.above);
      else if (item !== undefined) handlers.onFocus(item.place);
    });
    this.element.addEventListener('focusin', (event) => {
      handlers.onActive((event.target as Element).matches(':focus-visible'));
      const place = this.itemOf.get(event.target as Element)?.place;
      if (event.target !== this.current && place !== undefined && place !== NOWHERE) handlers.onFocus(place);
    });
    this.element.addEventListener('focusout', () => handlers.onActive(false));
    parent.append(this.element);
  }

  set label(text: string) {
    this.element.setAttribute('aria-label', text);
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  /** Puts the keyboard's focus on the current item. */
  takeFocus(): void {
    this.current?.focus({ preventScroll: true });
  }

  /** Rebuilds the tree around the place. */
  show(data: FlameData, place: Place, focus: Place): void {
    if (data !== this.data) {
      this.data = data;
      this.generation++;
    }
    const had = this.hasFocus;
    const kept = new Map<string, HTMLElement>();
    const elements: HTMLElement[] = [];
    this.current = null;
    for (const item of this.itemsAround(data, place)) {
      const element = this.items.get(item.key) ?? document.createElement('div');
      this.describe(element, item, item.place === place, item.place !== NOWHERE && item.place === focus);
      kept.set(item.key, element);
      elements.push(element);
      if (item.place === place) this.current = element;
    }
    this.items = kept;
    this.put(elements);
    if (had) this.takeFocus();
  }

  /** Makes these the children, without taking those out that stay: they would lose the focus. */
  private put(elements: HTMLElement[]): void {
    const staying = new Set<Element>(elements);
    for (const child of [...this.element.children]) if (!staying.has(child)) child.remove();
    let before = this.element.firstElementChild;
    for (const element of elements) {
      if (element === before) before = before.nextElementSibling;
      else this.element.insertBefore(element, before);
    }
  }

  private describe(element: HTMLElement, item: Item, current: boolean, focus: boolean): void {
    const set = (name: string, value: string) => element.setAttribute(name, value);
    set('role', 'treeitem');
    set('aria-level', String(item.level));
    set('aria-posinset', String(item.position));
    set('aria-setsize', String(item.siblings));
    set('aria-selected', String(current));
    if (focus) set('aria-current', 'true');
    else element.removeAttribute('aria-current');
    if (item.expanded === undefined) element.removeAttribute('aria-expanded');
    else set('aria-expanded', String(item.expanded));
    element.tabIndex = current ? 0 : -1;
    if (element.textContent !== item.text) element.textContent = item.text;
    this.itemOf.set(element, item);
  }

  private itemsAround(data: FlameData, place: Place): Item[] {
    const { layout, above } = data;
    const items: Item[] = above.map(({ name }, index) => ({
      key: `above ${this.generation} ${index}`,
      text: isolated(name),
      level: index + 1,
      position: 1,
      siblings: 1,
      expanded: true,
      place: NOWHERE,
      above: index,
    }));
    if (layout.count === 0) return items;
    const outer = layout.ancestors(place).slice(-MOST_ANCESTORS);
    items.push(...outer.map((ancestor) => this.item(data, ancestor, true)));
    const ancestors = items.slice(-MOST_ANCESTORS);
    const siblings: Item[] = [];
    const [first, end] = layout.siblings(place);
    const [from, to] = windowAround(first, end, place, MOST_SIBLINGS);
    for (let sibling = from; sibling < to; sibling++) {
      siblings.push(this.item(data, sibling, sibling === place && !isFolded(data, place)));
      if (sibling === place && !isFolded(data, place)) siblings.push(...this.childrenOf(data, place));
    }
    return [...ancestors, ...siblings];
  }

  /** The callers of the root stand before its callees, as on the screen. */
  private childrenOf(data: FlameData, place: Place): Item[] {
    const children: Item[] = [];
    for (const up of place ? [false] : [true, false]) {
      const [begin, end] = data.layout.children(place, up);
      for (let child = begin; child < Math.min(end, begin + MOST_CHILDREN); child++) children.push(this.item(data, child, false));
    }
    return children;
  }

  private item(data: FlameData, place: Place, expanded: boolean): Item {
    const { layout } = data;
    const [first, end] = layout.siblings(place);
    const item: Item = {
      key: `${this.generation} ${place}`,
      text: this.spoken(data, place),
      level: data.above.length + layout.depth(place) + 1,
      position: place - first + 1,
      siblings: end - first,
      place,
    };
    if ([true, false].some((up) => layout.childBegin(place, up) < layout.childEnd(place, up))) item.expanded = expanded;
    return item;
  }

  /** "Hashtbl.resize, 188 MB plus or minus 2 percent, 23 percent of the whole" */
  private spoken(data: FlameData, place: Place): string {
    const { words } = this;
    const box = data.describe(place);
    const side = data.sideOf(place);
    const name = `${box.merged > 0 ? `${words.count(box.merged)} more` : isolated(box.name)}${side && `, ${data.terms[side]}`}`;
    if (box.compared) {
      const by = words.change(box.compared.change).replace('−', 'minus ').replace('+', 'plus ');
      return `${name}, ${by}${box.compared.sure ? '' : data.terms.unsure}`;
    }
    const amount = `${box.uncertain ? 'about ' : ''}${words.amount(box.size, data.unit)}`;
    const error = data.width === 'bytes' ? words.error(box.bytes, box.low, box.high) : '';
    const numbers = `${amount}${error === '' ? '' : ` ${error}`}, ${words.share(box.share)} of the ${box.shareOf}`;
    return `${name}, ${numbers.replace(/±\s*/g, 'plus or minus ').replace(/\s*%/g, ' percent')}`;
  }
}

/* SPDX-License-Identifier: MIT */
