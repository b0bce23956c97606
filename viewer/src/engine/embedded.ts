/* The source of a page from `winnow html`: the recording is in the page, the engine in a worker. */
import { answersOf, blocksOf, FIRST, sectionsOf } from './container.ts';
import { Queue } from './queue.ts';
import type { Source } from './source.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** Asks the worker, and has it give up what is not wanted any more; a failure to start it is the answer to everything. */
function carrierOf(worker: Worker): (request: string, wanted: AbortSignal) => Promise<ArrayBuffer> {
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
    const one = asked.get(message.id);
    asked.delete(message.id);
    if ('answer' in message) one?.resolve(message.answer);
    else one?.reject(new Error(message.error));
  };
  worker.onerror = (event) => fail(event.message || 'the analysis failed to start');
  return (request, wanted) =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      const id = ++last;
      asked.set(id, { resolve, reject });
      worker.postMessage({ ask: request, id } satisfies ToWorker);
      wanted.onabort = () => worker.postMessage({ stop: id } satisfies ToWorker);
    });
}

function startWorker(code: string): Worker {
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  return new Worker(address);
}

const dataElements = () => [...document.querySelectorAll<HTMLScriptElement>('script[data-section]')];

const isParsed = () => document.readyState !== 'loading';

const pause = () => new Promise((done) => setTimeout(done, 5));

/** Resolves once the file has been parsed beyond these sections: the first can be read long before the rest of a large
 *  file. */
async function parsed(sections: string[]): Promise<void> {
  const isPast = () => isParsed() || dataElements().some((one) => !sections.includes(one.dataset.section!));
  while (!isPast()) await pause();
}

/** Gives the recording to the worker as it is parsed, in many short tasks. The last element may not be whole until
 *  there is another. What was sent leaves the page. */
async function sendRecording(post: (message: ToWorker) => void): Promise<void> {
  for (let isLast = false; !isLast; await pause()) {
    isLast = isParsed();
    const elements = dataElements();
    if (!isLast) elements.pop();
    for (const [at, block] of blocksOf(elements).entries()) {
      if (!FIRST.includes(block.section)) post({ block });
      elements[at]!.remove();
    }
  }
  post({ open: document.getElementById('engine')?.textContent ?? '' });
}

/** Opens the recording of this page. `workerCode` is the bundled worker.ts. Rejects if the page has
 *  no recording. */
export async function openEmbedded(workerCode: string): Promise<Source> {
  await parsed(FIRST.slice(0, 1));
  if (!dataElements().length) throw new Error('this page has no recording in it');
  const blocks = (section: string) => blocksOf(dataElements().filter((one) => one.dataset.section === section));
  const start = async () => {
    await parsed(FIRST);
    const worker = startWorker(workerCode);
    const post = (message: ToWorker) => worker.postMessage(message);
    post({ answers: blocks('MORE') });
    sendRecording(post).catch((error: Error) => worker.dispatchEvent(new ErrorEvent('error', { message: error.message })));
    return carrierOf(worker);
  };
  const started = start();
  started.catch(() => {}); // it is the answer to the first question
  return new Queue(async ([request], wanted) => [await (await started)(request!, wanted)], answersOf(await sectionsOf(blocks('ANSW'))));
}
/* SPDX-License-Identifier: MIT */
