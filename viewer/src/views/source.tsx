/* The lines of source around the places of the selection, if the page has them: as text, numbered, each place marked
 * with its bytes. */
import type { Source, SourceExcerpt, SourceFile } from '../engine/answers.ts';
import { cleanName } from '../flame/names.ts';
import { amount, withError } from '../numbers.ts';
import { chosen, sourceLines } from '../state/asking.ts';
import { head } from '../state/store.ts';

const LONG = 60; // characters of a line that is shown whole by its title

/** A line as it is seen: characters that turn or hide others are marks, tabs stay. */
export const codeOf = (line: string): string =>
  line.split('\t').map((part) => [...part].map((character) => cleanName(character) === character ? character : '\ufffd').join('')).join('\t');

const STATES: Record<SourceFile['state'], string> = {
  there: '',
  changed: 'changed after the recording, or after the program was built: other lines may have run',
  absent: 'is not where the page was written',
  unfit: 'was not read: too large, no text, not named as a source file, or below no --search folder',
  unlisted: 'is not among the files with the most bytes',
};

/** The blanks with which all lines of an excerpt begin. */
function indentOf(lines: string[]): number {
  const shown = lines.filter((line) => line.trim());
  const first = /^\s*/.exec(shown[0] ?? '')![0];
  return shown.reduce((most, line) => {
    let length = 0;
    while (length < most && line[length] === first[length]) length++;
    return length;
  }, first.length);
}

function Excerpt({ of: { first, lines, marks } }: { of: SourceExcerpt }) {
  const marked = new Map(marks.map((mark) => [mark.line, mark.bytes]));
  const indent = indentOf(lines);
  return (
    <tbody>
      {lines.map((line, index) => {
        const number = first + index;
        const bytes = marked.get(number);
        const code = codeOf(line.slice(indent));
        return (
          <tr class={bytes ? 'marked' : undefined}>
            <th scope="row">{number}</th>
            <td class="bytes" title={bytes && withError(bytes)}>{bytes ? amount(bytes) : ''}</td>
            <td class="code" title={line.length > LONG ? code.trim() : undefined}>{code}</td>
          </tr>
        );
      })}
    </tbody>
  );
}

function File({ of }: { of: SourceFile }) {
  const name = cleanName(of.file, 600);
  return (
    <>
      <p class="file">
        <bdi title={name}>{name.slice(name.lastIndexOf('/') + 1)}</bdi> <span class={of.state === 'changed' ? 'warning' : 'quiet'}>{STATES[of.state]}</span>
      </p>
      {of.excerpts.length > 0 && (
        <table class="lines" aria-label={`Lines of ${name}`}>
          {of.excerpts.map((excerpt) => (
            <Excerpt of={excerpt} />
          ))}
        </table>
      )}
    </>
  );
}

/** Null: the page has no source lines. Reads its signals in the function that calls it. */
export function sourceOf() {
  const { answer, of } = sourceLines.value;
  if (head.value?.source_files == null || !answer || of?.of !== chosen.value || of.by === 'module') return null;
  return <div class="source">{filesOf(answer)}</div>;
}

function filesOf({ files }: Source) {
  if (!files.length) return <p class="quiet">Its lines of source are not known.</p>;
  return files.map((file) => <File of={file} />);
}
/* SPDX-License-Identifier: MIT */
