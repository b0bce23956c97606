/* Where answers come from: the engine in a worker (a page from `winnow html`), or the server
 * (`winnow view`). The rest of the page knows this interface alone. */
import type { Request } from './answers.ts';

/** An answer, and the number of the state that it was made of (STATE in answers.ts). */
export interface Answered<T> {
  answer: T;
  state: number;
}

export interface Source {
  /** Asks. Resolves with the decoded answer, or rejects with an Error whose message is for people, a `Refusal` if it is
   *  the answer. A newer question of the same `slot` makes the older one reject with `Superseded`. */
  ask<T>(request: Request, slot?: string): Promise<Answered<T>>;
  /** Called when all answers are old: the trace has grown (`winnow view` of a running program). */
  onChange?: () => void;
  /** Of the server that answers; undefined: the recording is in the page. */
  readonly state?: ServerState;
  /** Called when it changes. */
  onState?: (state: ServerState) => void;
  /** What a person may do with the server. */
  readonly controls?: { pause(on: boolean): void; retry(): void };
}

export interface ServerState {
  /** Whether the server answers. */
  answers: boolean;
  /** Whether a program still writes the trace. */
  growing: boolean;
  /** Whether the trace grew when the server began. */
  followed: boolean;
  paused: boolean;
  /** The trace has grown since it was paused. */
  behind: boolean;
}

export class Superseded extends Error {}

/** A state's answer to a wrong question. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly state: number,
  ) {
    super(message);
  }
}
/* SPDX-License-Identifier: MIT */
