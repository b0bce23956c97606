/* Why the resident size is not what the blocks hold: its parts at one moment, as `winnow report` has them, and which
 * functions mapped what is not malloc's. */
import type { Estimate, Mapper, Totals } from '../engine/answers.ts';
import { bytes, duration, withError } from '../numbers.ts';
import { compactName, Name } from './island.tsx';
import { sizeOf } from './verdict.tsx';

interface Parts {
  at_ns: number;
  rss_bytes: number;
  most_bytes: number;
  explained: boolean;
  parts: { name: string; text: string; bytes: Estimate }[];
}

/** What is too small a share of the resident size to be named, but for the blocks. */
const LEAST_PART = 0.002;

function rowsOf({ parts, rss_bytes: resident }: Parts): [string, string][] {
  return parts
    .filter(({ name, bytes: { high } }) => name === 'blocks' || high > LEAST_PART * resident)
    .map(({ text, bytes: part }) => [text, part.low === part.high ? bytes(part.estimate) : withError(part)]);
}

/** When it was, how much if not the most, and the two largest parts: "at 3.27 s: 40.1 MB malloc blocks + 2.20 MB code and files …";
 *  empty: it could not be taken apart. */
export const shortOf = ({ parts, at_ns, rss_bytes: resident, most_bytes: most }: Parts): string =>
  parts.length === 0 ? '' : `${resident < 0.98 * most ? `${bytes(resident)} ` : ''}at ${duration(at_ns)}: ${[...parts]
    .sort((one, other) => other.bytes.estimate - one.bytes.estimate)
    .slice(0, 2)
    .map(({ text, bytes: { estimate } }) => `${bytes(estimate)} ${text}`)
    .join(' + ')}${parts.length > 2 ? ' …' : ''}`;

/** Whoever mapped less than this share of it is not listed. */
const LEAST = 0.01;

/** The functions that mapped memory themselves, each with the callers that its mappings have in common. */
function Mappers({ mapped, least }: { mapped: Mapper[]; least: number }) {
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

export function Resident({ totals: { resident, mapped, question } }: { totals: Totals }) {
  if (!resident) return null;
  const parts = resident as unknown as Parts;
  return (
    <details class="why">
      <summary>{shortOf(parts) || 'why?'}</summary>
      <div class="sheet">
        <p>
          {parts.explained || question !== 'at:peak' ? '' : 'The largest size could not be taken apart. '}
          {`Resident after ${duration(parts.at_ns)}: ${bytes(parts.rss_bytes)}`}
        </p>
        <table>
          <tbody>
            {rowsOf(parts).map(([what, value]) => (
              <tr>
                <th scope="row">{what}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Mappers mapped={mapped ?? []} least={LEAST * parts.rss_bytes} />
      </div>
    </details>
  );
}
/* SPDX-License-Identifier: MIT */
