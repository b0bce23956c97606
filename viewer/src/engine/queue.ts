/* Asks one question after the other, or some together, and forgets those that a newer one has replaced.
 *
 * STOP. Once all questions on their way have been replaced, their carrier is told to stop, so that the newer ones
 * do not wait for answers that nothing shows.
 *
 * ONE STATE. The known answers are all of one state. An answer of another state makes the others old, so
 * all else is asked again. This ends, as answers to questions that were asked together are of one state. */
import { decodeAnswer, requestText, type Request, stateOf } from './answers.ts';
import { type Answered, Refusal, type ServerState, type Source, Superseded } from './source.ts';

/** Carries requests to whatever answers, and brings the bytes back. If `wanted` is aborted, it may fail instead. */
export type Carrier = (requests: string[], wanted: AbortSignal) => Promise<ArrayBuffer[]>;

interface Waiting {
  text: string;
  slot: string | undefined;
  resolve: (bytes: ArrayBuffer) => void;
  reject: (error: Error) => void;
}

const CACHED_MOST = 60;

/** A source that has one question answered at a time, or `together` of them. Of the waiting questions of one slot only
 *  the newest is kept; the answer to a question that has been replaced meanwhile is dropped. */
export class Queue implements Source {
  protected together = 1;
  private waiting: Waiting[] = [];
  private busy: Waiting[] = [];
  private stop = new AbortController();
  private isAsking = false;
  private readonly cache = new Map<string, ArrayBuffer>();
  /** Of the known answers; null: none is known. */
  private known: number | null = null;
  /** How often all was forgotten. */
  private age = 0;
  onChange?: () => void;
  onState?: (state: ServerState) => void;

  constructor(
    private readonly carry: Carrier,
    known: Map<string, ArrayBuffer> = new Map(),
  ) {
    for (const [text, bytes] of known) this.cache.set(text, bytes);
  }

  async ask<T>(request: Request, slot?: string): Promise<Answered<T>> {
    const bytes = await this.bytesOf(requestText(request), slot);
    const answer = decodeAnswer<T & { error?: string }>(bytes);
    if (answer.error !== undefined) throw new Refusal(answer.error, stateOf(bytes));
    return { answer: answer as T, state: stateOf(bytes) };
  }

  /** Forgets all answers, and that which is on its way: the trace has grown. */
  forget(): void {
    this.cache.clear();
    this.known = null;
    this.age++;
  }

  /** Called before questions are carried. */
  protected prepare(): void {}

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
    const isKept = (one: Waiting) => one.slot !== slot;
    const isRight = (one: Waiting) => isKept(one) || one.text === text;
    const replaced = [...this.waiting.filter((one) => !isKept(one)), ...this.busy.filter((one) => !isRight(one))];
    this.waiting = this.waiting.filter(isKept);
    this.busy = this.busy.filter(isRight);
    for (const one of replaced) one.reject(new Superseded('a newer question has replaced this one'));
    if (!this.busy.length) this.stop.abort();
  }

  private remember(text: string, bytes: ArrayBuffer): void {
    this.cache.delete(text);
    this.cache.set(text, bytes);
    if (this.cache.size > CACHED_MOST) this.cache.delete(this.cache.keys().next().value!);
  }

  /** Remembers new answers, which are all of one state. Returns whether those that were known are old for that. */
  private learn(answers: Map<string, ArrayBuffer>): boolean {
    const [first] = answers.values();
    const state = stateOf(first!);
    const isChanged = this.known !== null && this.known !== state;
    if (isChanged) this.forget();
    this.known = state;
    for (const [text, bytes] of answers) this.remember(text, bytes);
    return isChanged;
  }

  private async answer(questions: Waiting[]): Promise<void> {
    const { age } = this;
    try {
      const texts = [...new Set(questions.map(({ text }) => text))];
      const answers = await this.carry(texts, this.stop.signal);
      const known = new Map(texts.map((text, at) => [text, answers[at]!]));
      if (age === this.age && this.learn(known)) this.onChange?.();
      for (const one of questions) one.resolve(known.get(one.text)!);
    } catch (error) {
      for (const one of questions) one.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Takes the next questions: those that have the same text are one, and what is known meanwhile is told at once. */
  private take(): Waiting[] {
    const taken: Waiting[] = [];
    const texts = new Set<string>();
    while (this.waiting.length && (texts.size < this.together || texts.has(this.waiting[0]!.text))) {
      const one = this.waiting.shift()!;
      const known = this.cache.get(one.text);
      if (known) one.resolve(known);
      else taken.push(one);
      if (!known) texts.add(one.text);
    }
    return taken;
  }

  /** What is asked in one task is asked together. */
  private async next(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    await Promise.resolve();
    this.prepare();
    this.busy = this.take();
    this.stop = new AbortController();
    if (this.busy.length) await this.answer([...this.busy]);
    this.busy = [];
    this.isAsking = false;
    if (this.waiting.length) void this.next();
  }
}
/* SPDX-License-Identifier: MIT */
