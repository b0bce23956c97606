/* What the header says of the server: that the program still runs or has ended, that the page is paused,
 * that the server does not answer. */
import type { ServerState } from '../engine/source.ts';
import { queryTime } from '../numbers.ts';
import { source } from '../state/asking.ts';
import { withMoment } from '../state/clauses.ts';
import { change, head, view } from '../state/store.ts';

type State = ServerState | null;

const MS = 1e6; // in ns

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

/** Follows the program again, and compares what it holds with what it held when the page was paused. */
function compareSince(): void {
  const paused = head.peek();
  if (!paused) return;
  source.peek()?.controls?.pause(false);
  change({
    tab: 'compare',
    against: queryTime(MS * Math.floor(paused.trace.duration_ns / MS), 15), // not after that moment
    where: withMoment(view.peek().where, null),
    focus: [],
    selected: null,
    row: '',
    zoom: null,
  });
}

function Paused({ behind }: { behind: boolean }) {
  if (!behind) return <>Paused.</>;
  return (
    <>
      Paused: the program has allocated since.{' '}
      <button type="button" class="link" onClick={compareSince}>
        What changed since?
      </button>
    </>
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
      {state.paused && <Paused behind={state.behind} />}
      {state.followed && !state.growing && 'The program has ended: this is the whole run.'}
    </p>
  );
}
/* SPDX-License-Identifier: MIT */
