import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CALLERS, focusIn, requestText, type Table } from '../src/engine/answers.ts';
import { digestsIn } from '../src/digest.ts';
import { ADDRESS_MOST, decode, digest, encode, GROUPINGS, MEASURES, SCALES, SORTS, START, TABS, type View } from '../src/state/address.ts';
import { bounds, comparison, join, moment, quote, split, withBounds, withClauses, withMoment } from '../src/state/clauses.ts';
import { clauseOf, clauseOfWord, completions, isQuery } from '../src/state/fields.ts';
import { perOf, whereOf } from '../src/state/questions.ts';
import { csvText } from '../src/views/export.ts';
import { inSight, rowsOf, samplesOf } from '../src/views/rows.ts';
import { shortOf } from '../src/views/resident.tsx';
import { atMoments, isSeen, roomIn } from '../src/views/timechart.ts';

const isWellFormed = (text: string) => !/\p{Surrogate}/u.test(text);
const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replace(/[\r\n]+/g, ' ')).filter(isWellFormed);
const labels = fc.array(line.filter((text) => text !== ''), { maxLength: 5 });
const views: fc.Arbitrary<View> = fc.record({
  tab: fc.constantFrom(...TABS),
  where: line,
  by: fc.constantFrom(...GROUPINGS),
  direction: fc.constantFrom('callers' as const, 'callees' as const, null),
  of: line,
  fold: fc.boolean(),
  wholeStacks: fc.boolean(),
  open: fc.array(fc.string({ maxLength: 9 }).map(digest)).map((keys) => keys.join('')),
  allRows: fc.boolean(),
  width: fc.constantFrom('bytes', 'blocks'),
  focus: labels,
  shortFocus: fc.constant(''),
  selected: fc.option(labels),
  row: line,
  search: line,
  sort: fc.constantFrom(...SORTS),
  descending: fc.boolean(),
  zoom: fc.option(
    fc.tuple(fc.integer({ min: 0, max: 499 }), fc.integer({ min: 500, max: 1000 }), fc.integer({ min: 0, max: 10000 })).map(([low, high, top]) => [low / 1000, high / 1000, top] as [number, number, number]),
  ),
  against: line,
  counted: fc.constantFrom(...MEASURES),
  per: fc.constantFrom(...SCALES),
  withCalls: fc.boolean(),
}, { noNullPrototype: true }).map((view) => (view.of ? { ...view, direction: null, focus: focusIn(view.focus) } : view));

test('a name is written where its layer is highest for as long as the name', () => {
  assert.deepEqual(roomIn(undefined, [1, 9, 1, 4, 4, 4, 2], 2), { from: 3, low: 0, high: 4 });
  assert.deepEqual(roomIn([0, 0, 3, 3, 3, 3, 1], [1, 9, 5, 4, 4, 6, 6], 1), { from: 5, low: 3, high: 6 });
  assert.deepEqual(roomIn([2, 2], [2, 2], 1), { from: 0, low: 0, high: 0 }, 'an empty layer');
  assert.deepEqual(roomIn(undefined, [5, 5], 9), { from: 0, low: 0, high: 0 }, 'a name that is longer than the chart');
});

test('an address that has room for the whole view gives the view back', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { address, whole } = encode(view);
      assert.ok(address.length <= ADDRESS_MOST);
      if (whole) assert.deepEqual(decode(address), view);
    }),
    { numRuns: 500 },
  );
});

test('an older address of the callers or the callees of a function opens both, and keeps what it looks at', () => {
  const at = (address: string) => {
    const { of, direction, focus, selected, shortFocus } = decode(address);
    return { of, direction, focus, selected, ...(shortFocus && { shortFocus }) };
  };
  const opened = { of: 'f', direction: null, focus: [] as string[], selected: null as string[] | null };
  assert.deepEqual(at('#peak&direction=callers&of=f'), opened);
  assert.deepEqual(at('#churn&direction=callees&of=f&focus=f'), opened);
  assert.deepEqual(at('#peak&direction=callers&of=f&selected=f;g'), { ...opened, selected: [CALLERS, 'f', 'g'] });
  assert.deepEqual(at('#peak&direction=callers&of=f&focus=f;g&selected=;h'), { ...opened, focus: [CALLERS, 'f', 'g'], selected: [CALLERS, 'f', 'g', 'h'] });
  assert.deepEqual(at('#peak&direction=callees&of=f&focus=f;g'), { ...opened, focus: ['f', 'g'] });
  assert.deepEqual(at('#peak&direction=callers&of=f&focus=~AAAABBBB'), { ...opened, shortFocus: `${digest(CALLERS)}AAAABBBB` });
  assert.equal(encode({ ...START, of: 'f', selected: [CALLERS, 'f', 'g'] }).address, '#peak&of=f&selected=..;f;g');
});

test('the selected box is told from the focus on', () => {
  const focus = ['main', 'serve'];
  const { address } = encode({ ...START, focus, selected: [...focus, 'parse', 'x;y'] });
  assert.equal(address, '#peak&focus=main;serve&selected=;parse;x%3By');
  assert.deepEqual(decode(address).selected, ['main', 'serve', 'parse', 'x;y']);
});

test('that the whole is selected is told from no selection', () => {
  for (const focus of [[], ['main']])
    for (const selected of [null, [], focus]) assert.deepEqual(decode(encode({ ...START, focus, selected }).address).selected, selected);
});

test('an address is what a browser makes of it', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { address } = encode(view);
      assert.equal(new URL(`file:///report.html${address}`).hash, address);
    }),
  );
});

test('an address never has more than 2048 characters, and the query is the last to be left out', () => {
  const view: View = { ...START, where: 'fn = main', focus: Array.from({ length: 400 }, (_, index) => `function ${index}`) };
  const { address } = encode(view);
  assert.ok(address.length <= ADDRESS_MOST);
  assert.equal(decode(address).where, 'fn = main');
  const far = encode({ ...view, where: 'x'.repeat(3000) });
  assert.equal(far.whole, false);
  assert.ok(far.address.length <= ADDRESS_MOST);
});

test('a focus too long for an address is told by short digests, which the call tree resolves', () => {
  const focus = Array.from({ length: 60 }, (_, index) => `std::map<std::string, Session_${index}>::emplace(std::string const&)`);
  const { address, whole } = encode({ ...START, focus });
  assert.ok(whole && address.length < 400);
  const { shortFocus, focus: none } = decode(address);
  assert.deepEqual(none, []);
  assert.deepEqual(digestsIn(shortFocus), focus.map(digest));
  assert.equal(encode({ ...START, shortFocus }).address, address);
});

test('any text is read as an address', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.ok(TABS.includes(decode(text).tab))));
  assert.deepEqual(decode('#nonsense&zoom=7,8,x&by=&where=%E0%A4%A'), START);
});

test('a query is cut at its topmost and', () => {
  assert.deepEqual(split(''), []);
  assert.deepEqual(split('fn ~ parse and size >= 1K'), ['fn ~ parse', 'size >= 1K']);
  assert.deepEqual(split('fn = "a and b" and (x = 1 and y = 2)'), ['fn = "a and b"', '(x = 1 and y = 2)']);
  assert.deepEqual(split('fn=and and fn = or'), ['fn=and', 'fn = or']);
  assert.deepEqual(split('a = 1 and b = 2 or c = 3'), ['a = 1 and b = 2 or c = 3']);
  assert.deepEqual(split('fn = operator'), ['fn = operator']);
  assert.deepEqual(split('fn = x and'), ['fn = x and']);
});

test('clauses that are joined are cut again where they were joined', () => {
  const clause = fc.constantFrom('fn = a', 'size >= 1K', '(a = 1 or b = 2)', 'not life < 3ms', 'fn ~ "x and y"', "thread != 'or'");
  fc.assert(fc.property(fc.array(clause), (clauses) => assert.deepEqual(split(join(clauses)), clauses)));
  assert.equal(join(['a = 1 or b = 2', 'c = 3']), '(a = 1 or b = 2) and c = 3');
});

test('cutting takes any text, and loses nothing of it', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const bare = (part: string) => part.replace(/\s+/g, '');
      assert.equal(bare(split(text).join(' and ')), bare(text));
    }),
  );
});

test('a value is quoted if it must be', () => {
  fc.assert(
    fc.property(line, (value) => {
      assert.deepEqual(comparison(`fn = ${quote(value)}`), { field: 'fn', operator: '=', value });
      assert.deepEqual(split(`fn = ${quote(value)} and size > 1`), [`fn = ${quote(value)}`, 'size > 1']);
    }),
  );
});

test('the moment is a clause that is taken out and put in', () => {
  assert.deepEqual(moment('at = 12.5s and fn = x'), { at: '12.5s', rest: 'fn = x' });
  assert.equal(withMoment('fn = x and at = 1s', '2s'), 'at = 2s and fn = x');
  assert.equal(withMoment('at = 1s', null), '');
  assert.equal(withMoment('a = 1 or b = 2', '2s'), 'at = 2s and (a = 1 or b = 2)');
});

test('bounds of a brush replace each other and leave other clauses alone', () => {
  const first = withBounds('fn = x', ['born', 'time'], ['born >= 1s', 'born < 2s']);
  assert.equal(first, 'fn = x and born >= 1s and born < 2s');
  assert.equal(withBounds(first, ['born', 'time'], ['born >= 3s']), 'fn = x and born >= 3s');
  assert.deepEqual(bounds(first, 'born'), { from: '1s', to: '2s' });
  assert.equal(withClauses('fn = x', ['fn = x', 'size > 1']), 'fn = x and size > 1');
});

test('the moment is asked for where something is held, and only there', () => {
  assert.equal(whereOf({ ...START, where: 'fn = x' }, null), 'fn = x');
  assert.equal(whereOf({ ...START, tab: 'end' }, null), 'at = end');
  assert.equal(whereOf({ ...START, tab: 'end', where: 'at = 3s and fn = x' }, null), 'at = 3s and fn = x');
  assert.equal(whereOf({ ...START, tab: 'churn', where: 'at = 3s and fn = x' }, null), 'fn = x');
  assert.equal(whereOf({ ...START, tab: 'end', where: 'a = 1 or b = 2' }, null), 'at = end and (a = 1 or b = 2)');
});

test('completion offers fields, then operators, then values', () => {
  const names = () => ['main', 'parse'];
  const texts = (typed: string, collected = false) => completions(typed, collected, names).map((offer) => offer.text);
  assert.ok(texts('').includes('fn '));
  assert.deepEqual(texts('li'), ['life ', 'life_bytes ', 'live ', 'fn ~ li']);
  assert.deepEqual(texts('life'), ['life_bytes ', ...['>=', '<', '<=', '>', '=', '!='].map((operator) => `life ${operator} `)]);
  assert.deepEqual(texts('not Html::parse'), ['not fn ~ Html::parse']);
  assert.ok(!texts('').includes('area '));
  assert.ok(texts('', true).includes('area '));
  assert.ok(texts('').includes('source '));
  assert.ok(texts('fn').includes('fn ~ '));
  assert.ok(texts('fn ').includes('fn ~ '));
  assert.deepEqual(texts('fn = pa'), ['fn = parse']);
  assert.deepEqual(texts('not alive = '), ['not alive = yes', 'not alive = no']);
  assert.deepEqual(texts('source = py'), ['source = python']); // of malloc alone
  assert.deepEqual(texts('nonsense = '), []);
});

test('a name alone stands for the functions whose names have it', () => {
  assert.equal(clauseOf(' parse '), 'fn ~ parse');
  assert.equal(clauseOf('operator new'), 'fn ~ "operator new"');
  assert.equal(clauseOf('size >= 1K'), 'size >= 1K');
  assert.equal(clauseOf(' '), '');
});

test('a text is a query if it begins with a field or has an operator between blanks; else it is a word', () => {
  for (const query of ['size', 'fn ~ parse', 'size>=1K', 'not size > 1K', '(fn = a or', 'siez > 1K', 'module ', 'time < 1s']) assert.equal(isQuery(query), query !== 'size', query);
  for (const word of ['parse', 'vector<int>', 'operator==', 'f(int)', 'operator new', 'sizes', 'a->b', '<T as Clone>', '']) assert.ok(!isQuery(word), word);
});

test('a word becomes the clause that keeps what it marks', () => {
  assert.equal(clauseOfWord(' f(int) '), 'fn ~ "f\\(int\\)"');
  assert.equal(clauseOfWord('operator=='), 'fn ~ operator==');
  for (const pattern of ['^sqlite3', 'Step$', 'a|b', 'get.*Row']) assert.equal(clauseOfWord(pattern), `fn ~ ${pattern}`);
});

test('a question is the same text whatever the order of its keys', () => {
  assert.equal(requestText({ measure: 'held', view: 'flame', by: undefined }), requestText({ view: 'flame', measure: 'held' }));
});

test('rows in sight', () => {
  assert.deepEqual(inSight(0, 400, 0, 24), [0, 0]);
  assert.deepEqual(inSight(100000, 240, 24000, 24), [992, 1018]);
  assert.deepEqual(inSight(5, 400, 9999, 24), [5, 5]);
});

test('CSV has no formulas', () => {
  assert.equal(csvText('a"b'), '"a""b"');
  assert.equal(csvText('=cmd()'), '"\'=cmd()"');
});

test('a layer of the chart has a name if it is a pixel high somewhere', () => {
  const held = Float64Array.of(10e6, 50e6, 40e6);
  assert.deepEqual([0, 1e5, 4e5, 5e5, 20e6].map((most) => isSeen(Float32Array.of(0, most, 1), held)), [false, false, false, true, true]);
});

test('of a resident size that was not the largest it is told how large it was', () => {
  const part = (text: string, estimate: number) => ({ name: text, text, bytes: { estimate, low: estimate, high: estimate, samples: 0 } });
  const of = (most_bytes: number) => shortOf({ at_ns: 198e6, rss_bytes: 83.5e6, most_bytes, explained: true, parts: [part('blocks', 70e6), part('code', 13.5e6)] }).replace(/\u202f/g, ' ');
  assert.equal(of(84e6), 'at 198 ms: 70.0 MB blocks + 13.5 MB code');
  assert.equal(of(88.5e6), '83.5 MB at 198 ms: 70.0 MB blocks + 13.5 MB code');
});

test('measurements of the process are moved to the moments of the chart', () => {
  assert.deepEqual(atMoments([0, 10, 20, 30], [5, 6, 25], [1, 7, 3]), [null, 7, 7, 3]);
  const long = atMoments(Array.from({ length: 200 }, (_, index) => index), [0, 100], [4, 9]);
  assert.deepEqual([0, 5, 6, 99, 100, 105, 106, 199].map((index) => long[index]), [4, 4, null, null, 9, 9, null, null]);
});

test('a name that is completed or typed alone is found, whatever its characters', () => {
  const names = fc.oneof(line, fc.string({ unit: fc.constantFrom(...'a0_:<>()[]{}.*+?|^$\\ "\'') })).filter((name) => name.trim() !== '');
  fc.assert(
    fc.property(names, (name) => {
      for (const operator of ['=', '!=', '~', '!~']) {
        const [offer] = completions(`not fn ${operator} `, false, () => [name]);
        const { value } = comparison(offer!.text.replace(/^not /, ''))!;
        if (operator.endsWith('~')) assert.ok(new RegExp(value).exec(name)?.[0] === name, offer!.text);
        else assert.equal(value, name);
      }
      const typed = name.trim();
      if (!/[=!~<>]/.test(typed)) assert.equal(new RegExp(comparison(clauseOf(typed))!.value).exec(name)?.[0], typed);
    }),
    { numRuns: 500 },
  );
  const offers = (typed: string) => completions(typed, false, () => ['open_session(int)']).map(({ text }) => text);
  for (const begun of ['open', '"open_session(', 'open_session\\(int']) assert.deepEqual(offers(`fn ~ ${begun}`), ['fn ~ "open_session\\(int\\)"']);
  assert.deepEqual(offers('fn = "open_session('), ['fn = "open_session(int)"']);
  assert.deepEqual(offers('fn ~ "open_session\\(int\\)"'), []);
});

test('the samples of a row are those of the sum by which the rows are sorted', () => {
  const columns = { label: [0, 1], self: [1, 2], total: [9, 3], self_samples: [4, 5], samples: [7, 6] };
  const table = { columns, labels: [{ text: 'a' }, { text: 'b' }] } as unknown as Table;
  assert.deepEqual([...samplesOf(table, 'total')], [7, 6]);
  for (const sort of ['self', 'name', 'samples', 'growth'] as const) assert.deepEqual([...samplesOf(table, sort)], [4, 5]);
  assert.deepEqual([...rowsOf(table, null, 'samples', true)], [1, 0]);
});

test('only what adds up over a run is scaled', () => {
  for (const counted of MEASURES) assert.equal(perOf({ ...START, counted, per: 'second' }), /allocated|churn|promoted/.test(counted) ? 'second' : 'run');
});

/* SPDX-License-Identifier: MIT */
