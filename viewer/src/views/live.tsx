/* What the header says of the server: that the program still runs or has ended, that the page is paused,
 * that the server does not answer. */
import type { ServerState } from '../engine/source.ts';
import { source } from '../state/asking.ts';

type State = ServerState | null;

export function PauseButton({ state }: { state: State }) {
  if (!state?.growing) return null;
  return (
    <button
      type="button"
      aria-pressed={state.paused}
      title={state.paused ? 'Show the newest state, and follow the program' : 'Stay at what is shown, while the program runs on'}
      onClick={() => source.peek()?.controls?.pause(!state.paused)}
    >
      {state.paused ? 'Resume' : 'Pause'}
    </button>
  );
}

export function Live({ state }: { state: State }) {
  if (!state) return null;
  if (!state.answers)
    return (
      <div role="alert" class="server">
        <p class="warning">
          winnow view does not answer any more. What you see is what it answered last.{' '}
          <button type="button" onClick={() => source.peek()?.controls?.retry()}>
            Retry
          </button>
        </p>
        <p class="hint">The page tries again by itself. If the command was started anew, open the address that it printed.</p>
      </div>
    );
  return (
    <p class="hint server" role="status">
      {state.paused && (state.behind ? 'Paused: the program has allocated since.' : 'Paused.')}
      {state.followed && !state.growing && 'The program has ended: this is the whole run.'}
    </p>
  );
}
/* SPDX-License-Identifier: MIT */
