/* The elements of the flame graph and when they are drawn: a canvas that stays in place while the
 * browser scrolls an empty element as high as all rows, and one drawing a frame if anything changed. */

import type { Screen } from './navigation.ts';

const STILL_RATIO = 2; // most pixels of the device for a CSS pixel
const MOVING_RATIO = 1;
const AT_REST = 150; // ms after the last movement

export class Stage implements Screen {
  readonly canvas = document.createElement('canvas');
  readonly scroller = document.createElement('div');
  /** Where the tree of the keyboard lives: it stays in place too, so that focusing it scrolls nothing. */
  readonly fixed = document.createElement('div');
  width = 0;
  height = 0;

  private readonly filler = document.createElement('div');
  private readonly observer = new ResizeObserver(() => this.measure());
  private frame = 0;
  private rest = 0;
  private fixedTo = 0;
  private movingUntil = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly draw: (now: number, ratio: number) => void,
  ) {
    const { canvas, scroller, fixed, filler } = this;
    Object.assign(scroller.style, {
      position: 'relative',
      width: '100%',
      height: '100%',
      overflowX: 'hidden',
      overflowY: 'auto',
      overflowAnchor: 'none',
      scrollbarWidth: 'thin',
    });
    Object.assign(fixed.style, { position: 'sticky', top: '0', height: '0' });
    Object.assign(canvas.style, { position: 'absolute', left: '0', top: '0', userSelect: 'none' });
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-hidden', 'true');
    fixed.append(canvas);
    scroller.append(fixed, filler);
    host.append(scroller);
    scroller.addEventListener('scroll', () => this.invalidate(true), { passive: true });
    this.observer.observe(scroller);
    /* The page's zoom may change without the scroller's size in CSS pixels. */
    window.addEventListener('resize', () => this.invalidate());
  }

  /* What has no width yet is not scrolled. To ask for it would make the browser lay out a page that is being built. */
  get top(): number {
    return this.width && Math.max(0, this.scroller.scrollTop); // some browsers scroll beyond the end and back
  }

  set top(pixels: number) {
    if (this.width) this.scroller.scrollTop = pixels;
  }

  get animated(): boolean {
    return !matchMedia('(prefers-reduced-motion: reduce)').matches;
  }

  get moving(): boolean {
    return performance.now() < this.movingUntil;
  }

  /** Asks for a drawing in the next frame. A movement is drawn coarsely on fine screens until it rests. */
  invalidate(moving = false): void {
    if (moving) this.movingUntil = performance.now() + AT_REST;
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.onFrame(now));
  }

  drawNow(): void {
    cancelAnimationFrame(this.frame);
    this.onFrame(performance.now());
  }

  set fixedWidth(pixels: number) {
    if (this.fixedTo === pixels) return;
    this.fixedTo = pixels;
    this.measureNow();
  }

  /** Tells the style sheet, too: where the graph does not fill the window, it is as high as its rows. That depends on the
   *  answer alone: a link shows what was seen. */
  setContentHeight(pixels: number): void {
    this.host.style.setProperty('--content', `${pixels}px`);
    this.filler.style.height = `${pixels}px`;
    this.measureNow();
  }

  /** The observer compares frames alone. A size that was measured between two frames can have gone back before the second
   *  one: then the observer, which begins anew, reports it. */
  private measureNow(): void {
    this.measure();
    this.observer.unobserve(this.scroller);
    this.observer.observe(this.scroller);
  }

  private measure(): void {
    const { clientWidth, clientHeight: height } = this.scroller;
    const width = this.fixedTo || clientWidth;
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.invalidate();
  }

  private onFrame(now: number): void {
    this.frame = 0;
    if (this.width === 0 || this.height === 0 || !this.host.isConnected) return;
    const fine = Math.min(STILL_RATIO, devicePixelRatio);
    const ratio = this.moving ? Math.min(MOVING_RATIO, fine) : fine;
    this.draw(now, ratio);
    /* The last drawing of a movement is the fine one, and tells the page where the view rests. */
    if (!this.moving) return;
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => this.invalidate(), AT_REST + 10);
  }
}

/* SPDX-License-Identifier: MIT */
