/* Asks one question after the other, and forgets those that a newer one has replaced. */
import { decodeAnswer, requestText, type Request } from './answers.ts';
import { type ServerState, type Source, Superseded } from './source.ts';

/** Carries one request to whatever answers, and brings the bytes back. */
export type Carrier = (request: string) => Promise<ArrayBuffer>;

interface Waiting {
  text: string;
  slot: string | undefined;
  resolve: (bytes: ArrayBuffer) => void;
  reject: (error: Error) => void;
}

const CACHED_MOST = 60;

/** A source that has one question answered at a time. Of the waiting questions of one slot only the
 *  newest is kept; the answer to a question that has been replaced meanwhile is dropped. */
export class Queue implements Source {
  private waiting: Waiting[] = [];
  private busy: Waiting | undefined;
  private readonly cache = new Map<string, ArrayBuffer>();
  onChange?: () => void;
  onState?: (state: ServerState) => void;

  constructor(
    private readonly carry: Carrier,
    known: Map<string, ArrayBuffer> = new Map(),
  ) {
    for (const [text, bytes] of known) this.cache.set(text, bytes);
  }

  async ask<T>(request: Request, slot?: string): Promise<T> {
    const bytes = await this.bytesOf(requestText(request), slot);
    const answer = decodeAnswer<T & { error?: string }>(bytes);
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer as T;
  }

  /** Forgets all answers: the trace has grown. */
  forget(): void {
    this.cache.clear();
  }

  private bytesOf(text: string, slot: string | undefined): Promise<ArrayBuffer> {
    if (slot !== undefined) this.supersede(slot, text);
    const known = this.cache.get(text);
    if (known) {
      this.remember(text, known);
      return Promise.resolve(known);
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, slot, resolve, reject });
      void this.next();
    });
  }

  private supersede(slot: string, text: string): void {
    const replaced = this.waiting.filter((one) => one.slot === slot);
    this.waiting = this.waiting.filter((one) => one.slot !== slot);
    if (this.busy?.slot === slot && this.busy.text !== text) replaced.push(this.busy);
    for (const one of replaced) one.reject(new Superseded('a newer question has replaced this one'));
  }

  private remember(text: string, bytes: ArrayBuffer): void {
    this.cache.delete(text);
    this.cache.set(text, bytes);
    if (this.cache.size > CACHED_MOST) this.cache.delete(this.cache.keys().next().value!);
  }

  private async next(): Promise<void> {
    if (this.busy) return;
    const one = (this.busy = this.waiting.shift());
    if (!one) return;
    try {
      const bytes = this.cache.get(one.text) ?? (await this.carry(one.text));
      this.remember(one.text, bytes);
      one.resolve(bytes);
    } catch (error) {
      one.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.busy = undefined;
    void this.next();
  }
}
/* SPDX-License-Identifier: MIT */
