/* Where answers come from: the engine in a worker (a page from `winnow html`), or the server
 * (`winnow view`). The rest of the page knows this interface alone. */
import type { Request } from './answers.ts';

export interface Source {
  /** Asks. Resolves with the decoded answer, or rejects with an Error whose message is for people.
   *  A newer question of the same `slot` makes the older one reject with `Superseded`. */
  ask<T>(request: Request, slot?: string): Promise<T>;
  /** Called when the trace has grown or ended (`winnow view` of a running program). */
  onChange?: (state: { growing: boolean }) => void;
}

export class Superseded extends Error {}
/* SPDX-License-Identifier: MIT */
