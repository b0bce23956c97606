/* Where a graph branches is seen at once: recordings of real programs, as the page shows them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { decodeAnswer, type Flame, type Request, requestText } from '../../src/engine/answers.ts';
import { endFrom, LEAST_CHAIN, PASSED } from '../../src/flame/chains.ts';
import { FlameData } from '../../src/flame/data.ts';
import { nativeAnswers, program, without } from './page.ts';

const MOST_ROWS = 8;
const SEPARATOR = '\u001f';

/** Recursions that allocate at each level. */
const LISP = `
(define (count n) (if (= n 0) '() (cons n (count (- n 1)))))
(define (walk n) (if (= n 0) 0 (+ (vector-length (make-vector 50 n)) (walk (- n 1)))))
(define (again n) (if (= n 0) 0 (begin (walk 200) (count 300) (again (- n 1)))))
(again 300)
`;

/** A recursion that seldom does something else on its way down. */
const SCRIPT = 'g() { local y=$1; local z=$y$y; }; f() { local x=$1; if ((x % 7 == 3)); then g $x; fi; if ((x > 0)); then f $((x - 1)); else for i in {1..300}; do g $i; done; fi; }; for i in {1..20}; do f 40; done';

const SHAPES: Record<string, (folder: string) => string[]> = {
  'a server': () => [program('examples/shop')],
  'an interpreter': (folder) => {
    const source = join(folder, 'a.lisp');
    writeFileSync(source, LISP);
    return [program('examples/lisp/lisp'), source];
  },
  'a script': () => ['/bin/bash', '-c', 'f() { local x=$1; if ((x > 0)); then f $((x - 1)); fi; }; for i in {1..60}; do f 60; done'],
  'a deep script': () => ['/bin/bash', '-c', SCRIPT],
};

const folder = mkdtempSync(join(tmpdir(), 'winnow-'));
after(() => rmSync(folder, { recursive: true }));

/** The recording of a shape, which is made once. The server allocates so much that a hundredth of the samples will do. */
function record(shape: string): string {
  const trace = join(folder, `${shape}.trace`);
  const rate = shape === 'a server' ? '1e-4' : '1e-2';
  if (!existsSync(trace)) execFileSync(program('src/cli/winnow'), ['record', '-q', '--rate', rate, '-o', trace, '--', ...SHAPES[shape]!(folder)], { stdio: 'pipe' });
  return trace;
}

const answersTo = (trace: string, requests: Omit<Request, 'view'>[]): Flame[] =>
  nativeAnswers(trace, requests.map((request) => requestText({ view: 'flame', ...request }))).map((bytes) => decodeAnswer<Flame>(bytes) as Flame);

/** The row, from 1, of the first box that allocates or has less in its largest child than a chain passes on. */
function firstBranch({ layout, flame: { columns: { bytes, self } } }: FlameData): number {
  let place = 0;
  for (;;) {
    const [child, end] = layout.children(place);
    if (end === child || self[layout.last[place]!]! > 0 || bytes[layout.node[child]!]! < PASSED * bytes[layout.last[place]!]!) break;
    place = child;
  }
  return layout.row(place) + 1;
}

for (const shape of Object.keys(SHAPES))
  test(`a graph branches within its first ${MOST_ROWS} rows: ${shape}`, { skip: without }, () => {
    const trace = record(shape);
    const views: Omit<Request, 'view'>[] = (['held', 'allocated'] as const).flatMap((measure) => [{ measure }, { measure, direction: 'callers' as const }]);
    const rows = answersTo(trace, views).map((flame) => {
      assert.ok(flame.columns.samples[0]! > 10, `${flame.columns.samples[0]} samples`);
      return [firstBranch(new FlameData(flame, undefined, 'bytes', false, '')), firstBranch(new FlameData(flame))] as const;
    });
    for (const [folded, whole] of rows) assert.ok(folded <= MOST_ROWS && folded <= whole, `row ${folded}, ${whole}`);
    assert.ok(rows.some(([folded, whole]) => folded < whole), 'something is folded');
  });

/** By node: the first node of its chain; its own number if it begins one or is in none, as the one function is. */
function chainsOf(flame: Flame, isOfOne: boolean): Uint32Array {
  const first = Uint32Array.from(flame.columns.next.keys());
  for (let node = isOfOne ? 2 : 1; node < first.length; node++) {
    const end = endFrom(flame, node);
    first.fill(node, node, end + 1);
    node = end;
  }
  return first;
}

for (const [name, asked] of [
  ['', {}],
  [', from the allocating functions outwards', { direction: 'callers' }],
  [', of one function', { of: 'execute_command_internal' }],
] as [string, Partial<Request>][])
  test(`an answer says of the callers of its focus whether they pass, as the graph of all shows it${name}`, { skip: without }, () => {
    const trace = record('a deep script');
    const all = { measure: 'allocated', stacks: 'whole', ...asked } as const;
    const [whole] = answersTo(trace, [all]) as [Flame];
    const data = new FlameData(whole, undefined, 'bytes', false, '');
    const { next, self, merged, bytes, blocks } = whole.columns;
    const first = chainsOf(whole, asked.of !== undefined);
    const kinds = { passing: 0, 'to a side': 0, 'has its own': 0, branches: 0 };
    const wanted: { node: number; kind: keyof typeof kinds }[] = [];
    for (let node = 1; node < next.length; node++) {
      const passes = node + 1 < next[node]! && first[node] === first[node + 1];
      for (let child = node + 1; child < next[node]!; child = next[child]!) {
        if (merged[child]! > 0) continue;
        const kind = !passes ? (self[node]! > 0 ? 'has its own' : 'branches') : child === node + 1 ? 'passing' : 'to a side';
        if (++kinds[kind] <= 20) wanted.push({ node: child, kind });
      }
    }
    const paths = wanted.map(({ node }) => data.describe(data.layout.place[node]!, node).path);
    const answers = answersTo(trace, paths.map((path) => ({ ...all, focus: path.join(SEPARATOR) })));
    answers.forEach((answer, index) => {
      const { node, kind } = wanted[index]!;
      const path = paths[index]!;
      assert.equal(answer.trail.length, path.length);
      assert.equal(answer.columns.passing.length, path.length - 1);
      assert.equal(answer.columns.passing.at(-1), +(kind === 'passing'), path.join(' › '));
      assert.deepEqual([...answer.columns.chain], [bytes[first[node]!], blocks[first[node]!]], path.join(' › '));
      /* What is folded above the focus is the same chain, with the same key. */
      const chain = data.chainOf(data.layout.place[node]!);
      const above = new FlameData(answer, undefined, 'bytes', false, '').above;
      const count = chain && !asked.of ? node - chain.first : 0;
      if (count >= LEAST_CHAIN) assert.equal(above.at(-1)!.key, data.keyOf(chain!), path.join(' › '));
    });
    /* All of a stack leads to its outermost function. */
    const least = (kind: string) => (kind === 'has its own' && asked.direction ? 0 : 5);
    for (const [kind, number] of Object.entries(kinds)) assert.ok(number >= least(kind), `${kind}: ${number}`);
  });
/* SPDX-License-Identifier: MIT */
