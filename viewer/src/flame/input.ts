/* Mouse, touch and keys of the flame graph, as commands to it. Points are in CSS pixels of the canvas. */

export interface Commands {
  click(x: number, y: number): void;
  open(x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  /** Returns whether there is a box; if not, the browser shows its own menu. */
  menu(x: number, y: number, client: { x: number; y: number }): boolean;
  /** Moves what is seen by so many pixels. Returns whether it could move sideways. */
  pan(x: number, y: number): boolean;
  zoom(at: number, factor: number): void;
  zoomBack(): void;
  walk(where: 'up' | 'down' | 'left' | 'right'): void;
  openSelected(): void;
  /** Returns whether there was anything to go back from. */
  back(): boolean;
  home(): void;
  page(direction: -1 | 1): void;
}

const CLICK_SLACK = 4;
const DOUBLE_TAP = 350;
const KEY_ZOOM = 1.5;
/* Two fingers on a touchpad come as a wheel that turns by less than a notch. */
const LEAST_NOTCH = 40;
const PINCH_SPEED = 0.012;
const WHEEL_SPEED = 0.004;

const WALKS = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' } as const;

/** Does what the key says. The caller has the keyboard's focus. */
export function onKey(event: KeyboardEvent, commands: Commands): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (act(event.key, commands)) {
    event.preventDefault();
    event.stopPropagation();
  }
}

function act(key: string, commands: Commands): boolean {
  if (key in WALKS) {
    commands.walk(WALKS[key as keyof typeof WALKS]);
    return true;
  }
  switch (key) {
    case 'Enter':
      commands.openSelected();
      return true;
    case 'Backspace':
    case 'Escape':
      return commands.back();
    case 'Home':
      commands.home();
      return true;
    case 'PageUp':
    case 'PageDown':
      commands.page(key === 'PageUp' ? -1 : 1);
      return true;
    case '+':
    case '=':
      commands.zoom(0.5, KEY_ZOOM);
      return true;
    case '-':
      commands.zoom(0.5, 1 / KEY_ZOOM);
      return true;
    case '0':
      commands.zoomBack();
      return true;
    default:
      return false;
  }
}

interface Finger {
  x: number;
  y: number;
}

/** Listens to the pointer on the canvas. One finger scrolls by the browser's own means; two zoom. */
export class PointerInput {
  private readonly fingers = new Map<number, Finger>();
  private began: Finger | null = null;
  private dragged = false;
  private lastTap = { time: -Infinity, x: 0, y: 0 };

  constructor(
    private readonly canvas: HTMLElement,
    scroller: HTMLElement,
    private readonly commands: Commands,
  ) {
    canvas.style.touchAction = 'pan-y';
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.release(event));
    canvas.addEventListener('pointerleave', () => commands.leave());
    canvas.addEventListener('click', (event) => this.click(event));
    canvas.addEventListener('dblclick', (event) => commands.open(event.offsetX, event.offsetY));
    canvas.addEventListener('contextmenu', (event) => this.menu(event));
    scroller.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
  }

  private down(event: PointerEvent): void {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.fingers.size === 1) {
      this.began = { x: event.offsetX, y: event.offsetY };
      this.dragged = false;
    }
  }

  private move(event: PointerEvent): void {
    /* The button was released where nobody told. */
    if (event.pointerType === 'mouse' && event.buttons === 0) this.fingers.delete(event.pointerId);
    const finger = this.fingers.get(event.pointerId);
    if (finger === undefined) {
      this.commands.hover(event.offsetX, event.offsetY);
      return;
    }
    const now = { x: event.offsetX, y: event.offsetY };
    if (!this.dragged && this.began !== null && this.fingers.size === 1) {
      if (Math.hypot(now.x - this.began.x, now.y - this.began.y) < CLICK_SLACK) return;
      this.dragged = true;
      this.canvas.setPointerCapture(event.pointerId);
      this.commands.leave();
    }
    if (this.fingers.size === 2) this.pinch(event.pointerId, finger, now);
    else if (this.commands.pan(finger.x - now.x, event.pointerType === 'mouse' ? finger.y - now.y : 0)) {
      this.canvas.style.cursor = 'grabbing';
    }
    this.fingers.set(event.pointerId, now);
  }

  private pinch(id: number, before: Finger, now: Finger): void {
    this.dragged = true;
    const other = [...this.fingers].find(([key]) => key !== id)![1];
    const apart = Math.max(8, Math.abs(before.x - other.x));
    const factor = Math.max(8, Math.abs(now.x - other.x)) / apart;
    this.commands.pan((before.x - now.x) / 2, 0);
    this.commands.zoom((now.x + other.x) / 2 / this.canvas.clientWidth, factor);
  }

  private up(event: PointerEvent): void {
    const tap = event.pointerType !== 'mouse' && this.fingers.size === 1 && !this.dragged;
    this.release(event);
    if (!tap) return;
    const { offsetX: x, offsetY: y, timeStamp: time } = event;
    const { lastTap } = this;
    const again = time - lastTap.time < DOUBLE_TAP && Math.hypot(x - lastTap.x, y - lastTap.y) < 24;
    this.lastTap = { time: again ? -Infinity : time, x, y };
    if (again) this.commands.open(x, y);
  }

  private release(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.fingers.size === 0) this.began = null;
    this.canvas.style.cursor = '';
  }

  private click(event: MouseEvent): void {
    if (!this.dragged && event.detail <= 1) this.commands.click(event.offsetX, event.offsetY);
  }

  private menu(event: MouseEvent): void {
    const client = { x: event.clientX, y: event.clientY };
    if (this.commands.menu(event.offsetX, event.offsetY, client)) event.preventDefault();
  }

  private wheel(event: WheelEvent): void {
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      const turn = event.deltaY * unit;
      const speed = Math.abs(turn) < LEAST_NOTCH ? PINCH_SPEED : WHEEL_SPEED;
      const factor = Math.exp(Math.min(1, Math.max(-1, -turn * speed)));
      this.commands.zoom((event.clientX - box.left) / box.width, factor);
      return;
    }
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (across && this.commands.pan(sideways * unit, 0)) event.preventDefault();
  }
}

/* SPDX-License-Identifier: MIT */
