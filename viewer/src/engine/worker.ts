/* The worker of a page from `winnow html`: takes the answers that the page brings along, then opens the recording,
 * and answers one request at a time, in parts. Between them it hears which request it shall give up. */
import { answersOf, bytesOfBase64, inflate, sectionsOf, type Block } from './container.ts';
import { Engine } from './engine.ts';

/** The blocks of the recording come one by one; `open` is the engine. */
export type ToWorker = { answers: Block[] } | { block: Block } | { open: string } | { ask: string; id: number } | { stop: number };
export type FromWorker = { id: number; answer: ArrayBuffer } | { id: number; error: string };

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

let known: Promise<Map<string, ArrayBuffer>> | undefined;
const blocks: Block[] = [];
let opened: (engine: Promise<Engine>) => void;
const engine = new Promise<Engine>((resolve) => (opened = resolve));
const failsWhenAsked = () => {}; // what could not be read is the answer to each question, and no fault of the page
engine.catch(failsWhenAsked);

async function open(wasm: string, blocks: Block[]): Promise<Engine> {
  const [started, sections, before] = await Promise.all([
    inflate(bytesOfBase64(wasm.trim())).then((bytes) => Engine.start(bytes)),
    sectionsOf(blocks.filter((block) => block.run === '')),
    sectionsOf(blocks.filter((block) => block.run === 'before')),
  ]);
  started.open(sections, before);
  return started;
}

const post = (message: FromWorker, transfer: Transferable[] = []) =>
  (self as unknown as Worker).postMessage(message, transfer);

/** The newest request that is given up: the page asks one at a time. */
let stopped = 0;
const heard = () => new Promise((done) => setTimeout(done));

/** An answer that the page brought is handed over, and not kept. */
async function answerTo(request: string, id: number): Promise<ArrayBuffer> {
  const brought = await known;
  const answer = brought?.get(request);
  brought?.delete(request);
  if (answer) return answer;
  const parts = (await engine).parts(request);
  for (;;) {
    if (stopped === id) throw new Error('stopped');
    const { value, done } = parts.next();
    if (done) return value;
    await heard();
  }
}

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ('answers' in message) {
    known = sectionsOf(message.answers).then(answersOf);
    known.catch(failsWhenAsked);
  } else if ('block' in message) blocks.push(message.block);
  else if ('open' in message) opened(open(message.open, blocks.splice(0)));
  else if ('stop' in message) stopped = message.stop;
  else
    try {
      const answer = await answerTo(message.ask, message.id);
      post({ id: message.id, answer }, [answer]);
    } catch (error) {
      post({ id: message.id, error: messageOf(error) });
    }
};
/* SPDX-License-Identifier: MIT */
