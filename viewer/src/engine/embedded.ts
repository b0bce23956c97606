/* The source of a page from `winnow html`: the recording is in the page, the engine in a worker. */
import { answersOf, blocksOf, sectionsOf } from './container.ts';
import { Queue } from './queue.ts';
import type { Source } from './source.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** Asks the worker; a failure to open the recording is the answer to everything. */
function carrierOf(worker: Worker): (request: string) => Promise<ArrayBuffer> {
  const asked = new Map<number, { resolve: (bytes: ArrayBuffer) => void; reject: (error: Error) => void }>();
  let last = 0;
  let failure: Error | undefined;
  const fail = (message: string) => {
    failure = new Error(message);
    for (const one of asked.values()) one.reject(failure);
    asked.clear();
  };
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    if ('failed' in message) fail(message.failed);
    if (!('id' in message)) return;
    const one = asked.get(message.id);
    asked.delete(message.id);
    if ('answer' in message) one?.resolve(message.answer);
    else one?.reject(new Error(message.error));
  };
  worker.onerror = (event) => fail(event.message || 'the analysis failed to start');
  return (request) =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      asked.set(++last, { resolve, reject });
      worker.postMessage({ ask: request, id: last } satisfies ToWorker);
    });
}

function startWorker(code: string): Worker {
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  return new Worker(address);
}

const dataElements = () => document.querySelectorAll<HTMLScriptElement>('script[data-section]');

/** Resolves once the whole file has been parsed. */
function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('DOMContentLoaded', () => resolve(), { once: true }));
}

/** Resolves once the answers that come first in the file can be read, which is long before the rest
 *  of a large file has been parsed. */
function firstSection(): Promise<void> {
  const complete = () =>
    document.readyState !== 'loading' || [...dataElements()].some((one) => one.dataset.section !== 'ANSW');
  return new Promise((resolve) => {
    const look = () => (complete() ? resolve() : void setTimeout(look, 5));
    look();
  });
}

/** Opens the recording of this page. `workerCode` is the bundled worker.ts. Rejects if the page has
 *  no recording. */
export async function openEmbedded(workerCode: string): Promise<Source> {
  await firstSection();
  const blocks = blocksOf(dataElements());
  if (!blocks.length) throw new Error('this page has no recording in it');
  const [known] = await sectionsOf(blocks.filter((block) => block.section === 'ANSW'));
  let carry: ((request: string) => Promise<ArrayBuffer>) | undefined;
  const start = async () => {
    await parsed();
    const worker = startWorker(workerCode);
    carry = carrierOf(worker);
    const engine = document.getElementById('engine')?.textContent ?? '';
    const rest = blocksOf(dataElements()).filter((block) => block.section !== 'ANSW');
    worker.postMessage({ open: { engine, blocks: rest } } satisfies ToWorker);
    for (const element of dataElements()) element.remove(); /* a second copy of the data */
  };
  const started = start();
  return new Queue(
    async (request) => {
      await started;
      return carry!(request);
    },
    known ? answersOf(known.bytes) : undefined,
  );
}
/* SPDX-License-Identifier: MIT */
