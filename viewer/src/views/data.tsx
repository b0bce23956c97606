/* A chart as a table: a region that can be scrolled by the keyboard, with a row for each thing that
 * the chart draws. */
import type { ComponentChild } from 'preact';

/** The first cell of a row is its head. */
export const DataTable = ({ label, heads, rows }: { label: string; heads: string[]; rows: ComponentChild[][] }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table class="data">
      <thead>
        <tr>
          {heads.map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...rest]) => (
          <tr>
            <th scope="row">{first}</th>
            {rest.map((cell) => (
              <td>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
/* SPDX-License-Identifier: MIT */
