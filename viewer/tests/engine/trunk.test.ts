/* Where a graph branches is seen at once: recordings of real programs, as the page shows them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeAnswer, type Flame, type Request, requestText } from '../../src/engine/answers.ts';
import { passes } from '../../src/flame/chains.ts';
import { FlameData } from '../../src/flame/data.ts';
import { inFolder, nativeAnswers, program, without } from './page.ts';

const MOST_ROWS = 6;
const SEPARATOR = '\u001f';

/** Recursions that allocate at each level. */
const LISP = `
(define (count n) (if (= n 0) '() (cons n (count (- n 1)))))
(define (walk n) (if (= n 0) 0 (+ (vector-length (make-vector 50 n)) (walk (- n 1)))))
(define (again n) (if (= n 0) 0 (begin (walk 200) (count 300) (again (- n 1)))))
(again 300)
`;

const SHAPES: Record<string, (folder: string) => string[]> = {
  'a server': () => [program('examples/shop')],
  'an interpreter': (folder) => {
    const source = join(folder, 'a.lisp');
    writeFileSync(source, LISP);
    return [program('examples/lisp/lisp'), source];
  },
  'a script': () => ['/bin/bash', '-c', 'f() { local x=$1; if ((x > 0)); then f $((x - 1)); fi; }; for i in {1..60}; do f 60; done'],
};

function record(folder: string, shape: string): string {
  const trace = join(folder, 'a.trace');
  execFileSync(program('src/cli/winnow'), ['record', '-q', '--rate', '1e-2', '-o', trace, '--', ...SHAPES[shape]!(folder)], { stdio: 'pipe' });
  return trace;
}

const answersTo = (trace: string, requests: Omit<Request, 'view'>[]): Flame[] =>
  nativeAnswers(trace, requests.map((request) => requestText({ view: 'flame', ...request }))).map((bytes) => decodeAnswer<Flame>(bytes) as Flame);

/** The row, from 1, of the first box that allocates or has several below it. */
function firstBranch({ layout, flame }: FlameData): number {
  let place = 0;
  for (;;) {
    const [child, end] = layout.children(place);
    if (end - child !== 1 || flame.columns.self[layout.last[place]!]! > 0) break;
    place = child;
  }
  return layout.row(place) + 1;
}

for (const shape of Object.keys(SHAPES))
  test(`a graph branches within its first ${MOST_ROWS} rows: ${shape}`, { skip: without }, () =>
    inFolder((folder) => {
      const trace = record(folder, shape);
      const views: Omit<Request, 'view'>[] = (['held', 'allocated'] as const).flatMap((measure) => [{ measure }, { measure, direction: 'callers' as const }]);
      const rows = answersTo(trace, views).map((flame) => {
        assert.ok(flame.columns.samples[0]! > 10, `${flame.columns.samples[0]} samples`);
        return [firstBranch(new FlameData(flame, undefined, 'bytes', false, '')), firstBranch(new FlameData(flame))] as const;
      });
      for (const [folded, whole] of rows) assert.ok(folded <= MOST_ROWS && folded <= whole, `row ${folded}, ${whole}`);
      assert.ok(rows.some(([folded, whole]) => folded < whole), 'something is folded');
    }));

test('an answer says of the callers of its focus whether they pass, as the graph of all shows it', { skip: without }, () =>
  inFolder((folder) => {
    const trace = record(folder, 'a script');
    const asked = { measure: 'allocated', stacks: 'whole' } as const;
    const [whole] = answersTo(trace, [asked]) as [Flame];
    const data = new FlameData(whole);
    const { next, merged } = whole.columns;
    const kinds = { passing: 0, 'has its own': 0, branches: 0 };
    const wanted: { passing: boolean; focus: string }[] = [];
    for (let node = 1; node < next.length; node++) {
      const child = node + 1;
      if (child >= next[node]! || merged[child]! > 0) continue;
      const kind = passes(whole, node) ? 'passing' : next[child] === next[node] ? 'has its own' : 'branches';
      if (++kinds[kind] <= 20) wanted.push({ passing: kind === 'passing', focus: data.pathOf(data.layout.place[child]!).join(SEPARATOR) });
    }
    const answers = answersTo(trace, wanted.map(({ focus }) => ({ ...asked, focus })));
    answers.forEach((answer, index) => {
      const { passing, focus } = wanted[index]!;
      assert.equal(answer.columns.passing.length, answer.trail.length - 1);
      assert.equal(answer.columns.passing.at(-1), passing ? 1 : 0, focus.replaceAll(SEPARATOR, ' › '));
    });
    for (const [kind, number] of Object.entries(kinds)) assert.ok(number >= 5, `${kind}: ${number}`);
  }));
/* SPDX-License-Identifier: MIT */
