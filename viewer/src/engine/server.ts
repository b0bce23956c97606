/* The source of a page from `winnow view`: the command answers, and tells when the trace has grown.
 *
 * PAUSE. While it is paused, news of the trace changes nothing that is shown. A question whose answer is
 * not known yet needs the newest state; then all else is asked again too, so that what is shown together
 * is of one state.
 *
 * GONE. When the server does not answer, the page keeps what it has, and tries again each RETRY_MS. A
 * server that was started anew has another address, so it is not the one that is waited for. */
import { Queue } from './queue.ts';
import type { ServerState, Source } from './source.ts';

const RETRY_MS = 2000;
const PROBE_MS = 5000;

const post = (request: string, signal?: AbortSignal): Promise<Response> =>
  fetch('answer', { method: 'POST', body: request, ...(signal && { signal }) });

class Server extends Queue {
  readonly controls = {
    pause: (on: boolean) => this.pause(on),
    retry: () => void this.probe(),
  };
  state: ServerState = { answers: true, growing: false, followed: false, paused: false, behind: false };
  private events: EventSource | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super((request) => this.take(request));
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

  private async take(request: string): Promise<ArrayBuffer> {
    if (this.state.behind) this.renew();
    let response: Response;
    try {
      response = await post(request);
    } catch {
      this.lost();
      throw new Error('winnow view does not answer any more');
    }
    if (!response.ok) throw new Error(`winnow view refused the question (${response.status})`);
    return response.arrayBuffer();
  }

  /* ---- news ---- */

  /** Each event says whether the trace is still growing; the first one comes at once. */
  private listen(): void {
    this.events?.close();
    const events = (this.events = new EventSource('events'));
    events.onmessage = (event) => {
      const growing = event.data === 'growing';
      this.tell({ growing, followed: true, ...(growing ? {} : { paused: false }) });
      if (!growing) events.close();
      if (this.state.paused) this.tell({ behind: true });
      else this.renew();
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
