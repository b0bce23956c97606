/* Of a long table only the rows in sight are elements; gaps stand for the others. What is printed
 * begins with the first row, and has no gaps but a count of what is left out. */
import { count } from '../numbers.ts';
import { printing } from '../state/store.ts';
import { inSight } from './rows.ts';

export const ROW_HEIGHT = 24;
const PRINTED = 50;

export const shownRows = (rows: number, height: number, top: number): [from: number, to: number] =>
  printing.value ? [0, Math.min(rows, PRINTED)] : inSight(rows, height, top, ROW_HEIGHT);

export function Gap({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  if (printing.value)
    return (
      <tr>
        <th class="quiet">and {count(rows)} more</th>
      </tr>
    );
  return <tr class="gap" aria-hidden="true" style={{ height: `${rows * ROW_HEIGHT}px` }} />;
}
/* SPDX-License-Identifier: MIT */
