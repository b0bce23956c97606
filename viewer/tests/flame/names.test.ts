/* Short forms of names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FlameData } from '../../src/flame/data.ts';
import { Glyphs } from '../../src/flame/glyphs.ts';
import { Labels } from '../../src/flame/labels.ts';
import { cleanName, cutLeft, cutMiddle, formsOf, isolated, Name, plainOf, twinsOf } from '../../src/flame/names.ts';
import { flameOf, type Tree, words } from './examples.ts';

const glyphs = new Glyphs((character) => (character === 'i' || character === 'l' ? 3 : 7));
const shortest = (name: string) => formsOf(name).at(-1);

test('parameters and return types go first, then template arguments, then segments', () => {
  assert.deepEqual(formsOf('void std::vector<int, std::allocator<int> >::push<long>(long const&)'), [
    'void std::vector<int>::push<long>(long const&)',
    'std::vector<int>::push<long>',
    'vector<int>::push<long>',
    'push<long>',
    'push<…>',
    'push',
  ]);
  assert.deepEqual(formsOf('a::Map<a::Key, std::less<a::Key>>::find<std::pair<a::Key, int>>()').slice(2), [
    'a::Map<Key>::find<…>',
    'Map<Key>::find<…>',
    'Map<…>::find<…>',
    'Map<…>::find',
    'find<…>',
    'find',
  ]);
});

test('names of C++ are as programmers write them', () => {
  const string = 'std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >';
  const plain: [string, string][] = [
    [`f(std::map<${string}, int, std::less<${string}>, std::allocator<std::pair<${string} const, int> > >&)`, 'f(std::map<std::string, int>&)'],
    ['g(std::__1::unique_ptr<int, std::__1::default_delete<int>>)', 'g(std::unique_ptr<int>)'],
    ['std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>>::size()', 'std::wstring::size()'],
    ['h(std::set<int, std::greater<int>, std::allocator<int>>)', 'h(std::set<int, std::greater<int>>)'],
    ['shop::describe[abi:cxx11](int)', 'shop::describe(int)'],
    ['std::_Function_handler<int (), f(std::vector<int, std::allocator<int>>, long)::{lambda()#1}>::_M_invoke(int)', 'f(std::vector<int>, long)::{lambda()#1}::operator()'],
    ['std::thread::_State_impl<std::thread::_Invoker<std::tuple<work()::{lambda()#1}>>>::_M_run()', 'work()::{lambda()#1}::operator()'],
  ];
  for (const [name, expected] of plain) assert.equal(plainOf(name), expected);
  for (const name of ['', 'main', 'f<', 'f<<<((', 'a::T<(b > 3)>::operator->() const', 'operator< <A>(A, A)', '<dyn core::ops::Fn(u8) -> (u8, u8)>::call', 'fields::refine'])
    assert.equal(plainOf(name), name);
});

test('instances of a template are told apart by their arguments', () => {
  const fitted = ['unsigned int', 'int', 'std::string'].map((type) =>
    new Name(`std::basic_string<char, std::char_traits<char>> company::product::subsystem::make_key<${type}>(${type})`, glyphs).fit(27 * 7, glyphs),
  );
  assert.deepEqual(fitted, ['make_key<unsigned int>', 'subsystem::make_key<int>', 'subsystem::make_key<string>']);
});

test('the last segment survives', () => {
  const last: [string, string][] = [
    ['main', 'main'],
    ['a::b::c(int)', 'c'],
    ['Stdlib.Hashtbl.resize', 'resize'],
    ['foo.constprop.0', 'foo.constprop.0'],
    ['src/analysis/load/estimate.c', 'estimate.c'],
    ['libm.so.6', 'libm.so.6'],
    ['gdb+0x2a5335', '+0x2a5335'],
    ['(no callstack)', '(no callstack)'],
    ['(anonymous namespace)::Cache::operator()(int) const', 'operator()'],
    ['bool operator< <int>(A<int> const&)', 'operator<'],
    ['a::operator<<(std::ostream&)', 'operator<<'],
    ['a::T<(b > 3)>::operator->() const', 'operator->'],
    ['main::{lambda(int)#1}::operator()(int) const', 'operator()'],
    ['<alloc::vec::Vec<T> as core::clone::Clone>::clone', 'clone'],
    ['f[abi:cxx11](int)', 'f'],
    ['(anonymous)::<lambda>', '<lambda>'],
    ['a::<lambda(int, char)>', '<lambda(…)>'],
  ];
  for (const [name, expected] of last) assert.equal(shortest(name)?.trim(), expected, name);
});

test('what fits is never wider than the room, and the whole name is shown if it fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.nat(400), (text, room) => {
      const name = new Name(text, glyphs);
      const shown = name.fit(room, glyphs);
      assert.ok(glyphs.width(shown) <= room);
      if (name.width <= room) assert.equal(shown, name.forms[0]);
    }),
  );
});

test('what Python calls the functions within a function is a part of the name', () => {
  assert.deepEqual(formsOf('load_table.<locals>.<dictcomp>'), ['load_table.<locals>.<dictcomp>', 'load_table.<dictcomp>']);
  assert.deepEqual(formsOf('Table.load.<locals>.<lambda>').at(-1), 'load.<lambda>');
});

test('forms grow shorter, and there is always one', () => {
  const names = fc.array(fc.constantFrom('<', '>', '(', ')', '::', ' ', 'operator', 'std', '.', '/', '[', ']', 'a', 'Z', '\u202e'));
  fc.assert(
    fc.property(names, (parts) => {
      const forms = formsOf(parts.join(''));
      assert.ok(forms.length > 0 && forms.every((form) => form !== ''));
      for (let index = 1; index < forms.length; index++) assert.ok(forms[index]!.length < forms[index - 1]!.length);
    }),
  );
});

test('a name is cut in its middle, or at its end if few characters fit', () => {
  assert.equal(cutMiddle('abcdefghijklmnop', 200, glyphs), 'abcdefghijklmnop');
  assert.equal(cutMiddle('abcdefghjkmnopqrstuvwxyz', 7 * 13, glyphs), 'abcdefgh…wxyz');
  assert.equal(cutMiddle('abcdefghjkmnop', 7 * 6, glyphs), 'abcde…');
  assert.equal(cutMiddle('abcdefghjkmnop', 7 * 4, glyphs), '');
});

test('of an address the module is cut, on its left', () => {
  const name = new Name('server.s+0x12ad', glyphs);
  assert.equal(name.fit(15 * 7, glyphs), 'server.s+0x12ad');
  assert.equal(name.fit(12 * 7, glyphs), '…er.s+0x12ad');
  assert.equal(name.fit(8 * 7, glyphs), '+0x12ad');
  assert.equal(name.fit(6 * 7, glyphs), '');
  assert.equal(cutLeft('server.s+0x12ad', 5 * 7, glyphs), '…12ad');
  assert.equal(new Name('server.s+0x12ad [before]', glyphs).fit(18 * 7, glyphs), '…s+0x12ad [before]');
  assert.equal(new Name('server.s+0x12ad [before]', glyphs).fit(15 * 7, glyphs), 'server.s+0x12ad');
  assert.equal(new Name('server.s+0x12ad [before]', glyphs).fit(10 * 7, glyphs), '….s+0x12ad');
});

test('surrogate pairs are not torn', () => {
  const text = '𝒜𝒷𝒸𝒹𝑒𝒻𝑔𝒽𝒾𝒿𝓀𝓁';
  for (let room = 0; room < 90; room++) assert.doesNotMatch(cutMiddle(text, room, glyphs), /[\ud800-\udbff](?![\udc00-\udfff])/);
});

test('control characters and marks of direction are not drawn; names in the DOM are isolated', () => {
  assert.equal(cleanName('a\u202eb\u0000c\u200fd\ud800'), 'a b c d\ufffd');
  assert.equal(isolated('שלום'), '\u2068שלום\u2069');
  assert.equal(isolated('a\u2069b'), '\u2068a b\u2069');
});

test('a name of 28 kB costs nothing to speak of, nor do a hundred', () => {
  let name = 'int';
  while (name.length < 28_000) name = `std::map<${name}, std::vector<std::pair<int, char> > >`;
  const before = process.cpuUsage();
  for (let count = 0; count < 100; count++) {
    const one = new Name(`${name}::insert(${name})`, glyphs);
    assert.equal(one.fit(120, glyphs), 'map<…>::insert');
    assert.ok(one.forms.every((form) => form.length <= 1025));
  }
  assert.ok(process.cpuUsage(before).user < 2e6, 'microseconds of the processor');
});

test('names that look alike are told apart by the words in which they differ', () => {
  const shown = (names: string[], room: number) => names.map((name) => new Name(name, glyphs, twinsOf(name, names)).fit(room * 7, glyphs));
  const string = 'std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >';
  assert.deepEqual(shown(['vec<tree_node*, va_heap>::safe_grow_cleared(unsigned int)', 'vec<basic_block_def*, va_heap>::safe_grow_cleared(unsigned int)'], 34), [
    'tree_node…safe_grow_cleared',
    'basic_block_def…safe_grow_cleared',
  ]);
  assert.deepEqual(shown([`render(${string} const&, char const*)`, `render(${string} const&, ${string} const&)`, 'render()'], 26), ['render…char…', 'render…string…', 'render()']);
  assert.deepEqual(shown(['Cache<a::Key, int>::insert(long)', 'Cache<int, a::Key>::insert(long)', 'Cache<a::Key, long>::insert(long)'], 18), [
    'Key…int…insert',
    'int…insert',
    'Key…long…insert',
  ]);
  const pools = ['double, 4', 'int, 3', 'session, 5'].map((type) => `Pool<${type}>::safe_grow_cleared(int)`);
  assert.deepEqual(shown(pools, 20), ['double…safe_gro…ared', 'int…safe_grow_cleared', 'session…safe_gro…red']);
  assert.deepEqual(shown(['namespace_of_this::f(int)', 'namespace_of_this::f(int, int)'], 12), ['f…int)…', 'f…int…']);
  assert.deepEqual(shown(['_obstack_newchunk [x86_64-linux-gnu-as]', '_obstack_newchunk [cc1plus]'], 15), ['_obsta…x86_64…', '_obst…cc1plus…']);
  assert.deepEqual(shown(['a::Map<int>::find()', 'b::Map<int>::find()'], 11), ['a::Map…find', 'b::Map…find']);
  assert.deepEqual(shown(['a::Map<int>::find()', 'b::Set<int>::find()'], 12), ['Map<…>::find', 'Set<…>::find']);
  /* Alone, or with room for the whole, a name is as ever. */
  assert.deepEqual(shown(['a::Map<int>::find()'], 12), ['Map<…>::find']);
  assert.deepEqual(shown(['f(int)', 'f(long)'], 16), ['f(int)', 'f(long)']);
});

test('names that look alike never are wider than there is room', () => {
  const word = fc.constantFrom('a', 'int', '::', '<', '>', '(', ')', ', ', 'b::c', 'operator+', 'make');
  const name = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => `${words.join('')}::make`);
  fc.assert(
    fc.property(fc.array(name, { minLength: 2, maxLength: 4 }), fc.integer({ min: 30, max: 300 }), (names, room) => {
      for (const one of names) assert.ok(glyphs.width(new Name(one, glyphs, twinsOf(one, names)).fit(room, glyphs)) <= room);
    }),
  );
});

test('beside a name stand the amount and the share, or the amount alone, or neither, as there is room', () => {
  const data = new FlameData(flameOf({ name: 'all', children: [{ name: 'open_session', self: 700 }, { name: 'cache', self: 300 }] }));
  const labels = new Labels(data, words, glyphs);
  const amountIn = (width: number) => labels.text(1, 0, width)?.amount;
  assert.deepEqual([300, 190, 120].map(amountIn), ['700 bytes · 70 %', '700 bytes', '']);
  for (let width = 30; width < 300; width++) {
    const { name = '', amount = '', amountX = 0, nameX = 0 } = labels.text(1, 0, width) ?? {};
    if (amount) assert.ok(nameX + glyphs.width(name) < amountX && amountX + glyphs.width(amount) <= width, `${width}`);
  }
});

test('a folded chain has its number of frames and its ends, the last frame alone, or the number alone', () => {
  const chain = ['clone3', 'run', 'handle_request'].reduceRight<Tree>((child, name) => ({ name, children: [child] }), { name: 'end', self: 900 });
  const data = new FlameData(flameOf({ name: 'all', children: [chain] }), undefined, 'bytes', false, '');
  const labels = new Labels(data, words, glyphs);
  const nameIn = (width: number) => labels.text(1, 0, width)?.name;
  assert.deepEqual([300, 180, 130, 80, 45].map(nameIn), ['▸ 3 frames: clone3 … handle_request', '▸ 3 … handle_request', '▸ handle_request', '▸ hand…est', '▸ 3']);
  const open = new Labels(new FlameData(data.flame, undefined, 'bytes', false, data.keyOf(data.chainOf(1)!)), words, glyphs);
  assert.deepEqual([1, 2].map((place) => open.text(place, 0, 300)?.name), ['▾ clone3', 'run']);
});

/* SPDX-License-Identifier: MIT */
