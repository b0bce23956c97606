/* The queue of questions, whose answers may come while the trace grows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Queue } from '../../src/engine/queue.ts';

const SLOTS = ['flame', 'table', 'time', 'totals'];

/** An answer without members. */
function answerOf(state: number): ArrayBuffer {
  const bytes = new Uint8Array(16);
  bytes.set(new TextEncoder().encode('{}'), 8);
  const head = new DataView(bytes.buffer);
  head.setUint32(0, 2, true);
  head.setUint32(4, state, true);
  return bytes.buffer;
}

/** Whatever answers, of a trace that grows: those that are asked for together have one state. */
class Growing extends Queue {
  state = 1;
  calls = 0;
  readonly got = new Map<string, number>();
  private readonly newest = new Map<string, number>();

  constructor(scheduler: fc.Scheduler, together: number, stops = false) {
    super(async (requests, wanted) => {
      this.calls++;
      await scheduler.schedule(Promise.resolve());
      const answers = requests.map(() => answerOf(this.state));
      if (stops && wanted.aborted) throw new Error('stopped');
      await scheduler.schedule(Promise.resolve());
      return answers;
    });
    this.together = together;
    this.onChange = () => SLOTS.forEach((slot) => this.request(slot));
  }

  /** As a page that shows only the answer to the newest question of each slot. */
  request(slot: string, where = ''): void {
    const mine = (this.newest.get(slot) ?? 0) + 1;
    this.newest.set(slot, mine);
    this.got.delete(slot);
    this.ask({ view: slot as 'flame', where }, slot).then(
      ({ state }) => void (this.newest.get(slot) === mine && this.got.set(slot, state)),
      () => {},
    );
  }
}

test('the answers that a page has in the end are of one state, and none is older than the news', () =>
  fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.constantFrom(1, 16),
      fc.boolean(),
      fc.array(fc.oneof(fc.constantFrom('grows', 'is told', 'goes on'), fc.tuple(fc.constantFrom(...SLOTS), fc.constantFrom('a', 'b'))), { maxLength: 30 }),
      async (scheduler, together, stops, steps) => {
        const queue = new Growing(scheduler, together, stops);
        queue.onChange!();
        let told = 1;
        for (const step of steps) {
          if (step === 'grows') queue.state++;
          else if (step === 'is told') {
            told = queue.state;
            queue.forget();
            queue.onChange!();
          } else if (step === 'goes on') {
            for (let ticks = 0; ticks < 9; ticks++) await Promise.resolve();
            if (scheduler.count()) await scheduler.waitOne();
          } else queue.request(...(step as [string, string]));
        }
        const isDone = () => queue.got.size === SLOTS.length;
        for (let ticks = 0; ticks < 999 && !isDone(); ticks++) {
          await Promise.resolve();
          if (scheduler.count()) await scheduler.waitOne();
        }
        assert.deepEqual([...queue.got.keys()].sort(), SLOTS);
        const [state, ...others] = new Set(queue.got.values());
        assert.ok(state! >= told && !others.length, `of ${told} or later: ${JSON.stringify([...queue.got])}`);
      },
    ),
    { numRuns: 2000 },
  ));

test('a trace that grows with each answer has a whole picture after two', () =>
  fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const queue = new Growing(scheduler, 16);
      queue.request('flame');
      while (!queue.got.size) {
        await Promise.resolve();
        if (scheduler.count()) await scheduler.waitOne();
      }
      let steps = 0;
      queue.state++;
      queue.request('flame', 'another');
      while (queue.got.size < SLOTS.length && queue.calls <= 4 && steps++ < 999) {
        const { calls } = queue;
        await Promise.resolve();
        if (scheduler.count()) await scheduler.waitOne();
        if (queue.calls > calls) queue.state++;
      }
      assert.equal(queue.got.size, SLOTS.length, `${queue.calls} calls`);
      assert.equal(new Set(queue.got.values()).size, 1);
    }),
  ));

/** Answers when it is told to, or fails once it shall stop. */
function byHand() {
  const carried: { texts: string[]; wanted: AbortSignal; answer(): void }[] = [];
  const queue = new Queue(
    (texts, wanted) =>
      new Promise((resolve, reject) => {
        carried.push({ texts, wanted, answer: () => resolve(texts.map(() => answerOf(0))) });
        wanted.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  );
  const ask = (where: string, slot?: string) => queue.ask({ view: 'flame', where }, slot).then(() => 'answered', (error: Error) => error.constructor.name);
  return { carried, ask, turn: () => new Promise(setImmediate) };
}

test('what is typed letter by letter is asked for once more, and no answer in between is waited for', async () => {
  const { carried, ask, turn } = byHand();
  const asked = [];
  for (const where of ['s', 'si', 'siz', 'size']) {
    asked.push(ask(where, 'flame'));
    await turn();
  }
  assert.deepEqual(carried.map(({ texts, wanted }) => [texts[0]!.includes('where=size\n'), wanted.aborted]), [[false, true], [false, true], [false, true], [true, false]]);
  carried.at(-1)!.answer();
  assert.deepEqual(await Promise.all(asked), ['Superseded', 'Superseded', 'Superseded', 'answered']);
});

test('what another view waits for is not stopped', async () => {
  const { carried, ask, turn } = byHand();
  const [one, other] = [ask('same', 'flame'), ask('same', 'all')];
  await turn();
  const newer = ask('newer', 'flame');
  await turn();
  assert.ok(carried.length === 1 && !carried[0]!.wanted.aborted);
  carried[0]!.answer();
  await turn();
  carried[1]!.answer();
  assert.deepEqual(await Promise.all([one, other, newer]), ['Superseded', 'answered', 'answered']);
});
/* SPDX-License-Identifier: MIT */
