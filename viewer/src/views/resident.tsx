/* Why the resident size is not what the blocks hold: its parts at one moment, as `winnow report` has them, and which
 * functions mapped what is not malloc's. */
import type { Estimate, Mapper, Totals } from '../engine/answers.ts';
import { bytes, duration, withError } from '../numbers.ts';
import { compactName, Name } from './island.tsx';

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
  header_bytes: number;
  earlier_bytes: number;
  winnow_bytes: number;
}

/** How much less is resident than the parts without the rest, at least; null in the answer: of the largest size it is not known. */
function unwrittenOf({ unwritten_bytes: known, other_bytes: other, ...parts }: Parts): number {
  const sum = parts.held_bytes.low + (parts.mapped_private_bytes ?? 0) + (parts.mapped_file_bytes ?? 0) + (parts.stack_bytes ?? 0) + parts.file_bytes;
  return known ?? (other ? Math.max(0, sum - parts.rss_bytes) : 0);
}

/** What is too small a share of the resident size to be named. */
const isSmall = (part: number, { rss_bytes: resident }: Parts) => part <= 0.01 * resident;

/** What is known of the rest, a sentence each. */
function wordsOnRest(parts: Parts): string[] {
  const { header_bytes: headers, earlier_bytes: earlier, winnow_bytes: own, other_bytes: rest } = parts;
  if (unwrittenOf(parts) > 0 || !rest) return [];
  const words: string[] = [];
  if (!isSmall(headers, parts))
    words.push(`About ${bytes(headers)} of the rest is headers and rounding of these blocks, if malloc is glibc’s.`);
  if (!isSmall(earlier, parts))
    words.push(`At most ${bytes(earlier)} of the rest is what the process had before its recording began: a forked process has its parent’s memory.`);
  if (!isSmall(own, parts)) words.push(own >= rest.estimate ? 'All of the rest may be Winnow’s own.' : `About ${bytes(own)} of the rest is Winnow’s own.`);
  return words;
}

function rowsOf(parts: Parts, heap: string): [string, string][] {
  const rows: [string, string][] = [[`blocks of ${heap}`, withError(parts.held_bytes)]];
  const add = (what: string, value: number | null) => value && rows.push([what, bytes(value)]);
  add('mapped by the program itself', parts.mapped_private_bytes);
  add('files that it mapped', parts.mapped_file_bytes);
  add('stacks of threads', parts.stack_bytes);
  add('code and other files', parts.file_bytes);
  const unwritten = unwrittenOf(parts);
  if (unwritten > 0) rows.push([`held and ${parts.explained ? 'never written' : 'not written yet'}`, `−${bytes(unwritten)} (at least)`]);
  else if (parts.other_bytes)
    rows.push([
      `the rest: free memory of ${heap}, ${parts.stack_bytes === null ? 'stacks, data' : 'data, small mappings'}`,
      withError(parts.other_bytes),
    ]);
  return rows;
}

/** Whoever mapped less than this share of it is not listed. */
const LEAST = 0.01;

/** The functions that mapped memory themselves, each with the callers that its mappings have in common. */
function Mappers({ mapped, least }: { mapped: Mapper[]; least: number }) {
  const sizeOf = (mapper: Mapper) => mapper.resident_bytes ?? mapper.mapped_bytes;
  const shown = mapped.filter((mapper) => sizeOf(mapper) > least);
  return shown.length === 0 ? null : (
    <table class="mappers">
      <caption>Mapped by the program itself, by function:</caption>
      <tbody>
        {shown.map((mapper) => (
          <tr>
            <th scope="row">
              <Name text={compactName(mapper.name, 40)} title={mapper.name} />
              {mapper.callers.slice(0, 4).map((name) => (
                <span class="quiet">
                  {' < '}
                  <Name text={compactName(name, 40)} title={name} />
                </span>
              ))}
            </th>
            <td>{bytes(sizeOf(mapper))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Resident({ totals: { resident, mapped }, heap, isMore }: { totals: Totals; heap: string; isMore: boolean }) {
  if (!resident) return null;
  const parts = resident as unknown as Parts;
  return (
    <details class="why">
      <summary>{isMore ? 'why more?' : 'why?'}</summary>
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
        {wordsOnRest(parts).map((words) => (
          <p>{words}</p>
        ))}
        <Mappers mapped={mapped ?? []} least={LEAST * parts.rss_bytes} />
      </div>
    </details>
  );
}
/* SPDX-License-Identifier: MIT */
