/* The worker answers in parts, and gives up what is not wanted any more. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeAnswer, type Request, requestText, type Totals } from '../../src/engine/answers.ts';
import { crc32, FIRST } from '../../src/engine/container.ts';
import type { FromWorker, ToWorker } from '../../src/engine/worker.ts';
import { inFolder, makePage, openPage, sectionsIn, without } from './page.ts';

const graphOf = (where?: string): string => requestText({ view: 'flame', where, measure: 'churn', by: 'function', direction: 'callers' });

/** The worker of a page, in this process. */
async function workerOf(html: string): Promise<{ post(message: ToWorker): void; heard(id: number): Promise<FromWorker> }> {
  const messages = new Map<number, FromWorker>();
  let tell = () => {};
  const scope = { onmessage: (_: { data: ToWorker }) => {}, postMessage: (message: FromWorker) => (messages.set(message.id, message), tell()) };
  Object.assign(globalThis, { self: scope });
  await import('../../src/engine/worker.ts');
  const post = (data: ToWorker) => scope.onmessage({ data });
  for (const { run, name, bytes } of sectionsIn(html).filter(({ name }) => !FIRST.includes(name)))
    post({ block: { run, section: name, index: 0, raw: bytes.length, deflated: false, crc: crc32(bytes), base64: Buffer.from(bytes).toString('base64') } });
  post({ open: html.match(/<script[^>]* id="engine"[^>]*>([^<]*)</)![1]! });
  const heard = async (id: number) => {
    while (!messages.has(id)) await new Promise<void>((done) => (tell = done));
    return messages.get(id)!;
  };
  return { post, heard };
}

test('a question that is given up is not answered, and the next is answered as ever', { skip: without }, () =>
  inFolder(async (folder) => {
    const { page } = makePage(folder, ['named']);
    const { post, heard } = await workerOf(readFileSync(page, 'utf8'));
    const engine = await openPage(page);
    const digest = (bytes: ArrayBuffer) => createHash('sha256').update(new Uint8Array(bytes)).digest('hex');
    const saidBy = (message: FromWorker) => ('answer' in message ? digest(message.answer) : message.error);
    post({ ask: graphOf('size > 20'), id: 1 });
    post({ stop: 1 });
    post({ ask: graphOf('size > 10'), id: 2 });
    assert.equal(saidBy(await heard(1)), 'stopped');
    assert.equal(saidBy(await heard(2)), digest(engine.ask(graphOf('size > 10'))));
    post({ ask: graphOf('size > 20'), id: 3 });
    assert.equal(saidBy(await heard(3)), digest(engine.ask(graphOf('size > 20'))));
    /* Between two parts. */
    post({ ask: graphOf('size > 30'), id: 4 });
    await new Promise((done) => setTimeout(done));
    post({ stop: 4 });
    assert.equal(saidBy(await heard(4)), 'stopped');
  }));

test('the graph of a new query is made in three parts, that of a known one in one', { skip: without }, () =>
  inFolder(async (folder) => {
    const engine = await openPage(makePage(folder, ['named']).page);
    const partsOf = (text: string) => [...engine.parts(text)].length + 1;
    assert.deepEqual([graphOf('size > 10'), graphOf('size > 10'), graphOf('size >'), requestText({ view: 'head' })].map(partsOf), [3, 1, 1, 1]);
  }));

test('whether a query can be asked is answered as the totals answer it, without them', { skip: without }, () =>
  inFolder(async (folder) => {
    const engine = await openPage(makePage(folder, ['named']).page);
    const answerOf = (view: Request['view'], where: string) => decodeAnswer<Partial<Totals>>(engine.ask(requestText({ view, where })));
    for (const where of ['', 'size > 10', 'foo', 'size > x', 'fn ~ "("', 'live = 9999s', '(size > 1', 'hide = "main"']) {
      const asked = answerOf('query', where) as { error?: string };
      assert.equal(asked.error, (answerOf('totals', where) as { error?: string }).error, where);
      assert.ok(!('totals' in asked));
    }
  }));
/* SPDX-License-Identifier: MIT */
