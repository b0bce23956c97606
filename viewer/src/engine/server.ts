/* The source of a page from `winnow view`: the command answers, and tells when the trace has grown. */
import { Queue } from './queue.ts';
import type { Source } from './source.ts';

async function carry(request: string): Promise<ArrayBuffer> {
  let response: Response;
  try {
    response = await fetch('answer', { method: 'POST', body: request });
  } catch {
    throw new Error('winnow view does not answer any more; what you see is its last answer');
  }
  if (!response.ok) throw new Error(`winnow view refused the question (${response.status})`);
  return response.arrayBuffer();
}

/** Listens to the server's events: each says whether the trace is still growing. */
function follow(source: Queue): void {
  const events = new EventSource('events');
  events.onmessage = (event) => {
    const growing = event.data === 'growing';
    source.forget();
    source.onChange?.({ growing });
    if (!growing) events.close();
  };
}

export async function openServer(): Promise<Source> {
  const source = new Queue(carry);
  follow(source);
  return source;
}
/* SPDX-License-Identifier: MIT */
