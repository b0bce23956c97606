/* The worker of a page from `winnow html`: opens the recording, then answers one request at a time. */
import { sectionsOf, bytesOfBase64, inflate, type Block } from './container.ts';
import { Engine } from './engine.ts';

export type ToWorker = { open: { engine: string; blocks: Block[] } } | { ask: string; id: number };
export type FromWorker =
  | { opened: true }
  | { failed: string }
  | { id: number; answer: ArrayBuffer }
  | { id: number; error: string };

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

let engine: Promise<Engine> | undefined;

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

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ('open' in message) {
    engine = open(message.open.engine, message.open.blocks);
    engine.then(
      () => post({ opened: true }),
      (error) => post({ failed: messageOf(error) }),
    );
    return;
  }
  try {
    const answer = (await engine!).ask(message.ask);
    post({ id: message.id, answer }, [answer]);
  } catch (error) {
    post({ id: message.id, error: messageOf(error) });
  }
};
/* SPDX-License-Identifier: MIT */
