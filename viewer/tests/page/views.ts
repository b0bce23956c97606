/* Views to walk through in one page, and what the engine answers for them: what a test compares a
 * chart with. */
import type { Browser, Page } from 'playwright-core';
import { decodeAnswer, type Direction, type Failure, type Grouping, type Measure, type Request, requestText } from '../../src/engine/answers.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { type Opened, openFile, settled } from './open.ts';

export interface Walked {
  /** What follows the file's name. */
  address: string;
  /** The query without its moment, and with it. */
  filter?: string;
  where?: string;
  measure: Measure;
  by?: Grouping;
  direction: Direction;
}

export const WALK: Walked[] = [
  { address: '#peak', measure: 'held', direction: 'callees' },
  { address: '#end&where=size+%3E%3D+500', filter: 'size >= 500', where: 'at = end and size >= 500', measure: 'held', direction: 'callees' },
  { address: '#churn', measure: 'churn', direction: 'callers' },
  { address: '#alive&by=line', measure: 'alive', by: 'line', direction: 'callees' },
  { address: '#allocated&where=life+%3C+1s', filter: 'life < 1s', where: 'life < 1s', measure: 'allocated', direction: 'callees' },
  { address: '#lasting&direction=callers', measure: 'lasting', direction: 'callers' },
];

/** The engine's answer. The keys are those of a Request, in any order. */
export function answerOf<T>(engine: Engine, request: Request): T {
  const answer = decodeAnswer<T>(engine.ask(requestText(request)));
  const wrong = (answer as Partial<Failure>).error;
  if (wrong !== undefined) throw new Error(wrong);
  return answer as T;
}

/** Opens a file in a window so high that all charts are in sight, and notes what the console
 *  complains of. */
export const openHigh = (browser: Browser, file: string, at = ''): Promise<Opened> => openFile(browser, file, { at, height: 3000 });

/** Goes to another view in the page that is open, so that what is shown of the view before would be
 *  noticed. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(
    (to) =>
      new Promise<void>((resolve) => {
        if (location.hash === to) return resolve();
        addEventListener('hashchange', () => resolve(), { once: true });
        location.hash = to;
      }),
    address,
  );
  await settled(page);
}

/** The texts of the cells of a table, row by row. */
export const cellsOf = (page: Page, table: string): Promise<string[][]> =>
  page.locator(`${table} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent!)));

/** Attributes of elements, as they are written. */
export const attributesOf = (page: Page, elements: string, ...names: string[]): Promise<string[][]> =>
  page.locator(elements).evaluateAll((all, wanted) => all.map((one) => wanted.map((name) => one.getAttribute(name) ?? '')), names);

/** Whether numbers are what was drawn, which has few digits. */
export function isDrawn(drawn: number[], wanted: number[], digits = 2): boolean {
  return drawn.length === wanted.length && drawn.every((value, index) => Math.abs(value - wanted[index]!) <= 0.51 * 10 ** -digits);
}
/* SPDX-License-Identifier: MIT */
