/* The fills of boxes, as pixels. Each row of the graph is one line of pixels, which is written into
 * an image and then drawn as high as a row is. So a drawing costs what its lines cost, about a
 * twentieth of its pixels, however many boxes it has; a call of fillRect for each costs far more.
 *
 * A row has two lines: of the body, and of the box's first and last pixels, where frames differ. */

type RowToPixel = (row: number) => number;

export class Strips {
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private readonly canvas = document.createElement('canvas');
  private readonly context = this.canvas.getContext('2d', { willReadFrequently: true })!;
  private width = 0;
  private rows = 0;
  /** Whether a row's edge differs from its body. */
  private framed = new Uint8Array(0);

  /** Makes all lines clear. */
  begin(width: number, rows: number): void {
    if (width !== this.width || rows !== this.rows || this.image === null) {
      this.width = width;
      this.rows = rows;
      this.canvas.width = width;
      this.canvas.height = 2 * rows;
      this.image = new ImageData(width, 2 * rows);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.framed = new Uint8Array(rows);
    } else {
      this.pixels.fill(0);
      this.framed.fill(0);
    }
  }

  private line(begin: number, end: number, pixel: number): void {
    if (end - begin > 24) this.pixels.fill(pixel, begin, end);
    else for (let at = begin; at < end; at++) this.pixels[at] = pixel;
  }

  /** Fills the pixels from left up to right of a row. */
  fill(row: number, left: number, right: number, pixel: number): void {
    const begin = row * this.width;
    this.line(begin + left, begin + right, pixel);
    if (this.framed[row] === 1) {
      const edge = (this.rows + row) * this.width;
      this.line(edge + left, edge + right, pixel);
    }
  }

  /** Fills them and puts a frame of `thick` pixels around. */
  frame(row: number, left: number, right: number, pixel: number, framePixel: number, thick: number): void {
    const begin = row * this.width;
    if (this.framed[row] === 0) {
      this.framed[row] = 1;
      this.pixels.copyWithin((this.rows + row) * this.width, begin, begin + this.width);
    }
    const sides = Math.min(thick, (right - left) >> 1);
    this.line(begin + left, begin + left + sides, framePixel);
    this.line(begin + left + sides, begin + right - sides, pixel);
    this.line(begin + right - sides, begin + right, framePixel);
    const edge = (this.rows + row) * this.width;
    this.line(edge + left, edge + right, framePixel);
  }

  /** Draws row r of the lines from top(r) to bottom(r). */
  draw(into: CanvasRenderingContext2D, top: RowToPixel, bottom: RowToPixel, thick: number): void {
    const { width, rows, canvas } = this;
    if (width === 0 || rows === 0) return;
    this.context.putImageData(this.image!, 0, 0);
    into.imageSmoothingEnabled = false;
    for (let row = 0; row < rows; row++) {
      const from = top(row);
      const to = bottom(row);
      into.drawImage(canvas, 0, row, width, 1, 0, from, width, to - from);
      if (this.framed[row] === 0) continue;
      into.drawImage(canvas, 0, rows + row, width, 1, 0, from, width, thick);
      into.drawImage(canvas, 0, rows + row, width, 1, 0, to - thick, width, thick);
    }
  }
}

/* SPDX-License-Identifier: MIT */
