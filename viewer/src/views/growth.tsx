/* How what is alive came to be: a small curve in each row, the rate of what grows steadily, and a word for the rest. */
import { AGES, STEADY, type Table } from '../engine/answers.ts';
import { bytes, error, share } from '../numbers.ts';

/** How much of a row's bytes it had at the end of each age class; above 1 where its blocks have shrunk since. */
export function riseOf(of: Table, index: number): number[] {
  const ages = of.columns.ages?.subarray(index * AGES, (index + 1) * AGES) ?? new Float32Array();
  const all = ages.reduce((sum, age) => sum + age, 0);
  let sum = 0;
  return all > 0 ? Array.from(ages, (age) => Math.max(0, (sum += age) / all)) : [];
}

/** The order by growth: what grows steadily by its rate; then all else by its own bytes. */
export function growthKey(of: Table, index: number): number {
  if (of.columns.growth_kind?.[index] === STEADY) return of.columns.growth![index]!;
  const self = of.columns.self[index]!;
  return self > 0 ? -1 / self : -Infinity;
}

export const growthWord = (of: Table, index: number): string =>
  of.columns.self_samples[index] ? (of.growth_kinds?.[of.columns.growth_kind?.[index] ?? 0] ?? '') : '';

const HEIGHT = 16;

/** A small curve that begins at the left end and ends at the right one; `most` is at its top. */
export function Spark({ values, most, width = 48 }: { values: ArrayLike<number>; most: number; width?: number }) {
  const points = Array.from(values, (value, place) => `${((width * place) / (values.length - 1)).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`).join(' ');
  return (
    <svg class="spark" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
      <polygon points={`0,${HEIGHT} ${points} ${width},${HEIGHT}`} />
      <polyline points={points} />
    </svg>
  );
}

/** "25 %, 50 %, 75 %": what the curve shows, for those who do not see it. */
const spoken = (rise: number[]): string => [3, 7, 11].map((place) => share(rise[place]!)).join(', ');

export function Growth({ of, index }: { of: Table; index: number }) {
  const rise = riseOf(of, index);
  const word = growthWord(of, index);
  if (!rise.length || !word) return <td class="growth quiet">–</td>;
  const { growth, growth_low, growth_high, growth_kind } = of.columns;
  const isSteady = growth_kind![index] === STEADY;
  const curve = `After a quarter, half and three quarters of the run what is alive had ${spoken(rise)} of its bytes`;
  return (
    <td class={isSteady ? 'growth steady' : 'growth'} title={`${word}. ${curve}.`}>
      <Spark values={[0, ...rise]} most={Math.max(1, ...rise)} />
      {isSteady ? (
        <>
          <span class="value">{bytes(growth![index]!)}/s</span>
          <span class="off">{error(growth![index]!, growth_low![index]!, growth_high![index]!)}</span>
          <span class="unseen">, {word}</span>
        </>
      ) : (
        <span class="word">{word}</span>
      )}
      <span class="unseen">. {curve}.</span>
    </td>
  );
}
/* SPDX-License-Identifier: MIT */
