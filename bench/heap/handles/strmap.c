/* A persistent balanced tree from short strings to numbers, with handles: strmap UPDATES. */
#include "strmap_node.h"

static intptr_t height(wn_ref map) { return node_height(wn_value_of(map)); }
static intptr_t count_of(wn_ref map) { return wn_to_int(wn_field(map, COUNT)); }

static wn_ref create(wn_domain *d, wn_ref left, wn_ref key, intptr_t count, wn_ref right) {
  intptr_t a = height(left), b = height(right);
  wn_ref map = wn_alloc(d, FIELDS, 0);
  wn_set(d, map, LEFT, left);
  wn_set(d, map, KEY, key);
  wn_set_int(d, map, COUNT, count);
  wn_set(d, map, RIGHT, right);
  wn_set_int(d, map, HEIGHT, a >= b ? a + 1 : b + 1);
  return map;
}

static wn_ref lean_left(wn_domain *d, wn_ref left, wn_ref key, intptr_t count, wn_ref right) {
  WN_SCOPE(d);
  wn_ref ll = wn_get(d, left, LEFT), lk = wn_get(d, left, KEY), lr = wn_get(d, left, RIGHT);
  if (height(ll) >= height(lr)) {
    wn_ref rest = create(d, lr, key, count, right);
    return wn_escape(&wn_here, create(d, ll, lk, count_of(left), rest));
  }
  wn_ref first = create(d, ll, lk, count_of(left), wn_get(d, lr, LEFT));
  wn_ref second = create(d, wn_get(d, lr, RIGHT), key, count, right);
  return wn_escape(&wn_here, create(d, first, wn_get(d, lr, KEY), count_of(lr), second));
}

static wn_ref lean_right(wn_domain *d, wn_ref left, wn_ref key, intptr_t count, wn_ref right) {
  WN_SCOPE(d);
  wn_ref rl = wn_get(d, right, LEFT), rk = wn_get(d, right, KEY), rr = wn_get(d, right, RIGHT);
  if (height(rr) >= height(rl)) {
    wn_ref rest = create(d, left, key, count, rl);
    return wn_escape(&wn_here, create(d, rest, rk, count_of(right), rr));
  }
  wn_ref first = create(d, left, key, count, wn_get(d, rl, LEFT));
  wn_ref second = create(d, wn_get(d, rl, RIGHT), rk, count_of(right), rr);
  return wn_escape(&wn_here, create(d, first, wn_get(d, rl, KEY), count_of(rl), second));
}

static wn_ref balance(wn_domain *d, wn_ref left, wn_ref key, intptr_t count, wn_ref right) {
  intptr_t a = height(left), b = height(right);
  if (a > b + 2) return lean_left(d, left, key, count, right);
  if (b > a + 2) return lean_right(d, left, key, count, right);
  return create(d, left, key, count, right);
}

static wn_ref add(wn_domain *d, wn_ref key, intptr_t count, wn_ref map) {
  WN_SCOPE(d);
  wn_ref out;
  if (wn_is_int(wn_value_of(map))) {
    out = create(d, map, key, count, map);
  } else {
    wn_ref left = wn_get(d, map, LEFT), mine = wn_get(d, map, KEY), right = wn_get(d, map, RIGHT);
    int order = strcmp((const char *)wn_bytes(key), (const char *)wn_bytes(mine));
    if (order < 0)
      out = balance(d, add(d, key, count, left), mine, count_of(map), right);
    else if (order > 0)
      out = balance(d, left, mine, count_of(map), add(d, key, count, right));
    else
      out = create(d, left, mine, count_of(map) + count, right);
  }
  return wn_escape(&wn_here, out);
}

static wn_ref spell(wn_domain *d, int64_t number) {
  char text[SPELL_MOST];
  size_t length = sequence_spell(text, number);
  wn_ref key = wn_alloc_bytes(d, length + 1);
  memcpy(wn_bytes(key), text, length + 1);
  return key;
}

static void run(wn_domain *d, long updates) {
  WN_SCOPE(d);
  wn_ref map = wn_root(d, wn_int(0));
  uint64_t seed = 1;
  for (long i = 1; i <= updates; i++) {
    WN_SCOPE(d);
    wn_assign(map, add(d, spell(d, sequence_next(&seed) & (KEYS - 1)), i & 1023, map));
    wn_poll(d);
  }
  node_report(updates, wn_value_of(map));
}

int main(int count, char **words) {
  struct program program = program_begin();
  run(program.domain, sequence_argument(count, words, 2000000));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
