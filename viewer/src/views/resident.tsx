/* Why the resident size is larger than what the blocks hold: its parts at one moment, as `winnow report` has them. */
import type { Estimate } from '../engine/answers.ts';
import { bytes, duration, withError } from '../numbers.ts';

interface Parts {
  at_ns: number;
  rss_bytes: number;
  explained: boolean;
  held_bytes: Estimate;
  mapped_private_bytes: number | null;
  mapped_file_bytes: number | null;
  stack_bytes: number | null;
  file_bytes: number;
  other_bytes: Estimate | null;
  unwritten_bytes: number | null;
  winnow_bytes: number;
}

function rowsOf(parts: Parts, heap: string): [string, string][] {
  const rows: [string, string][] = [[`blocks of ${heap}`, withError(parts.held_bytes)]];
  const add = (what: string, value: number | null) => value && rows.push([what, bytes(value)]);
  add('mapped by the program itself', parts.mapped_private_bytes);
  add('files that it mapped', parts.mapped_file_bytes);
  add('stacks of threads', parts.stack_bytes);
  add('code and other files', parts.file_bytes);
  if (parts.other_bytes)
    rows.push([
      parts.stack_bytes === null ? 'the rest: free memory of malloc, stacks, data' : 'the rest: free memory of malloc, data, small mappings',
      withError(parts.other_bytes),
    ]);
  return rows;
}

export function Resident({ resident, heap }: { resident: Record<string, unknown> | undefined; heap: string }) {
  if (!resident) return null;
  const parts = resident as unknown as Parts;
  return (
    <details class="why">
      <summary>why more?</summary>
      <div class="sheet">
        <p>
          {parts.explained ? `Resident after ${duration(parts.at_ns)}: ` : `The largest size could not be taken apart. Resident after ${duration(parts.at_ns)}: `}
          {bytes(parts.rss_bytes)}
        </p>
        <table>
          <tbody>
            {rowsOf(parts, heap).map(([what, value]) => (
              <tr>
                <th scope="row">{what}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {parts.unwritten_bytes ? <p>At least {bytes(parts.unwritten_bytes)} were held and never written.</p> : null}
        {parts.winnow_bytes > 0.01 * parts.rss_bytes && <p>About {bytes(parts.winnow_bytes)} of the rest is Winnow’s own.</p>}
      </div>
    </details>
  );
}
/* SPDX-License-Identifier: MIT */
