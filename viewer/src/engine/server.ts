/* The source of a page from `winnow view`: the command answers, and tells when the trace has grown.
 *
 * PAUSE. While it is paused, news of the trace changes nothing that is shown. A question whose answer is
 * not known yet needs the newest state; then all else is asked again too, so that what is shown together
 * is of one state.
 *
 * ONE STATE. While the trace grows, all questions of a moment are asked together, so that their answers are of
 * one state (queue.ts).
 *
 * GONE. When the server does not answer, the page keeps what it has, and tries again each RETRY_MS. A
 * server that was started anew has another address, so it is not the one that is waited for. */
import { Queue } from './queue.ts';
import type { ServerState, Source } from './source.ts';

const RETRY_MS = 2000;
const PROBE_MS = 5000;
const TOGETHER_MOST = 16; // src/cli/serve/server.h

const post = (request: string, signal?: AbortSignal): Promise<Response> =>
  fetch('answer', { method: 'POST', body: request, ...(signal && { signal }) });

/** The answers in a body, each behind its length. */
function split(bytes: ArrayBuffer): ArrayBuffer[] {
  const answers: ArrayBuffer[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const end = at + 4 + new DataView(bytes).getUint32(at, true);
    answers.push(bytes.slice(at + 4, end));
    at = end;
  }
  return answers;
}

class Server extends Queue {
  readonly controls = {
    pause: (on: boolean) => this.pause(on),
    retry: () => void this.probe(),
  };
  state: ServerState = { answers: true, growing: false, followed: false, paused: false, behind: false };
  private events: EventSource | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super((requests) => this.bring(requests));
    this.listen();
  }

  private tell(parts: Partial<ServerState>): void {
    this.state = { ...this.state, ...parts };
    this.onState?.(this.state);
  }

  /** Has everything asked again. */
  private renew(): void {
    this.tell({ behind: false });
    this.forget();
    this.onChange?.();
  }

  protected override prepare(): void {
    if (this.state.behind) this.renew();
    this.together = this.state.growing ? TOGETHER_MOST : 1;
  }

  private async bring(requests: string[]): Promise<ArrayBuffer[]> {
    let response: Response;
    try {
      response = await post(requests.join('\n'));
    } catch {
      this.lost();
      throw new Error('winnow view does not answer any more');
    }
    if (!response.ok) throw new Error(`winnow view refused the question (${response.status})`);
    return split(await response.arrayBuffer());
  }

  /* ---- news ---- */

  /** Each event says whether the trace is still growing; the first one comes at once. */
  private listen(): void {
    this.events?.close();
    const events = (this.events = new EventSource('events'));
    events.onmessage = (event) => {
      const growing = event.data === 'growing';
      if (!growing) events.close();
      const paused = growing && this.state.paused;
      if (!paused) this.renew();
      this.tell({ growing, followed: true, paused, behind: paused });
    };
    /* The server ended, or the trace was complete from the start and there is no news. */
    events.onerror = () => void this.probe();
  }

  private pause(on: boolean): void {
    this.tell({ paused: on });
    if (!on && this.state.behind) this.renew();
  }

  /* ---- a server that is gone ---- */

  private lost(): void {
    if (!this.state.answers) return;
    this.events?.close();
    this.tell({ answers: false });
    this.timer = setInterval(() => void this.probe(), RETRY_MS);
  }

  private async probe(): Promise<void> {
    try {
      const response = await post('view=head\n', AbortSignal.timeout(PROBE_MS));
      if (!response.ok) throw new Error('another server');
    } catch {
      this.lost();
      return;
    }
    if (this.state.answers) return;
    clearInterval(this.timer);
    this.tell({ answers: true });
    if (this.state.growing) this.listen();
    else this.renew();
  }
}

export const openServer = async (): Promise<Source> => new Server();
/* SPDX-License-Identifier: MIT */
