/* The string map in the raw tier: adding a key.
 *
 * Nodes are handles on their way into a function that allocates, and raw values on their way out of
 * it. */
#ifndef BENCH_HEAP_STRMAP_ADD_H
#define BENCH_HEAP_STRMAP_ADD_H

#include "strmap_node.h"

static wn_value create(wn_domain *d, wn_ref left, wn_ref key, wn_value count, wn_ref right) {
  wn_value *map = wn_bump(d, FIELDS, 0);
  intptr_t a = node_height(*left.slot), b = node_height(*right.slot);
  map[LEFT] = *left.slot;
  map[KEY] = *key.slot;
  map[COUNT] = count;
  map[RIGHT] = *right.slot;
  map[HEIGHT] = wn_int(a >= b ? a + 1 : b + 1);
  return (wn_value)map;
}

static wn_ref member(wn_domain *d, wn_ref map, enum field i) { return wn_root(d, node_field(*map.slot, i)); }
static wn_value count_of(wn_ref map) { return node_field(*map.slot, COUNT); }

static wn_value lean_left(wn_domain *d, wn_ref left, wn_ref key, wn_value count, wn_ref right) {
  WN_SCOPE(d);
  wn_ref ll = member(d, left, LEFT), lk = member(d, left, KEY), lr = member(d, left, RIGHT);
  if (node_height(*ll.slot) >= node_height(*lr.slot)) {
    wn_ref rest = wn_root(d, create(d, lr, key, count, right));
    return create(d, ll, lk, count_of(left), rest);
  }
  wn_ref first = wn_root(d, create(d, ll, lk, count_of(left), member(d, lr, LEFT)));
  wn_ref second = wn_root(d, create(d, member(d, lr, RIGHT), key, count, right));
  return create(d, first, member(d, lr, KEY), count_of(lr), second);
}

static wn_value lean_right(wn_domain *d, wn_ref left, wn_ref key, wn_value count, wn_ref right) {
  WN_SCOPE(d);
  wn_ref rl = member(d, right, LEFT), rk = member(d, right, KEY), rr = member(d, right, RIGHT);
  if (node_height(*rr.slot) >= node_height(*rl.slot)) {
    wn_ref rest = wn_root(d, create(d, left, key, count, rl));
    return create(d, rest, rk, count_of(right), rr);
  }
  wn_ref first = wn_root(d, create(d, left, key, count, member(d, rl, LEFT)));
  wn_ref second = wn_root(d, create(d, member(d, rl, RIGHT), rk, count_of(right), rr));
  return create(d, first, member(d, rl, KEY), count_of(rl), second);
}

static wn_value balance(wn_domain *d, wn_ref left, wn_ref key, wn_value count, wn_ref right) {
  intptr_t a = node_height(*left.slot), b = node_height(*right.slot);
  if (a > b + 2) return lean_left(d, left, key, count, right);
  if (b > a + 2) return lean_right(d, left, key, count, right);
  return create(d, left, key, count, right);
}

static wn_value add(wn_domain *d, wn_ref key, intptr_t count, wn_ref map) {
  WN_SCOPE(d);
  if (wn_is_int(*map.slot)) return create(d, map, key, wn_int(count), map);
  wn_ref left = member(d, map, LEFT), mine = member(d, map, KEY), right = member(d, map, RIGHT);
  wn_value before = count_of(map);
  int order = strcmp((const char *)*key.slot, (const char *)*mine.slot);
  if (order < 0) {
    *left.slot = add(d, key, count, left);
    return balance(d, left, mine, before, right);
  }
  if (order > 0) {
    *right.slot = add(d, key, count, right);
    return balance(d, left, mine, before, right);
  }
  return create(d, left, mine, wn_int(wn_to_int(before) + count), right);
}

static wn_value spell(wn_domain *d, int64_t number) {
  char text[SPELL_MOST];
  size_t bytes = sequence_spell(text, number) + 1;
  wn_value *key = wn_bump(d, (bytes + 7) / 8, WN_TAG_RAW);
  return (wn_value)memcpy(key, text, bytes);
}

/* Adds the key that the next random number says. */
static void add_next(wn_domain *d, wn_ref map, uint64_t *seed, intptr_t count) {
  WN_SCOPE(d);
  wn_ref key = wn_root(d, spell(d, sequence_next(seed) & (KEYS - 1)));
  *map.slot = add(d, key, count, map);
  wn_poll(d);
}

#endif
/* SPDX-License-Identifier: MIT */
