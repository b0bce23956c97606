/* Graphs of values for the tests of marshalling: random ones, and comparing two. */
#ifndef TESTS_GC_MARSHAL_GRAPH_H
#define TESTS_GC_MARSHAL_GRAPH_H

#include "gc/journal.h"

#include <stdlib.h>
#include <string.h>
#include <winnow/marshal.h>

/* ---- random numbers ---- */

static inline uint64_t draw(uint64_t *seed) {
  *seed += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t n = *seed;
  n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
  return n ^ n >> 31;
}
static inline size_t below(uint64_t *seed, size_t most) { return (size_t)(draw(seed) % most); }

/* Numbers of all lengths. */
static inline intptr_t draw_int(uint64_t *seed) { return (intptr_t)draw(seed) >> (1 + below(seed, 63)); }

/* ---- random graphs ---- */

/* Graphs for OCaml have no tags to which it gives a meaning, and no bigarrays of nativeint, which
 * OCaml before 5.3 writes in another way. */
static bool is_for_ocaml;
enum { TAGS_PLAIN = 243 };

static inline unsigned draw_tag(uint64_t *seed) {
  unsigned tag = below(seed, 3) ? (unsigned)below(seed, 17)
                                : (unsigned)below(seed, (is_for_ocaml ? TAGS_PLAIN : WN_TAG_SCANNED_MAX) + 1);
  return tag >= 247 && tag <= 249 ? 0 : tag;
}

static inline void fill_bytes(void *bytes, size_t words, uint64_t *seed) {
  for (size_t i = 0; i < words; i++) ((uint64_t *)bytes)[i] = draw(seed);
}

static inline wn_ref random_block(wn_domain *domain, uint64_t *seed, size_t words_most) {
  wn_ref block;
  size_t words = below(seed, words_most + 1);
  switch (below(seed, 9)) {
  case 0: block = wn_alloc(domain, words + !words, WN_TAG_RAW); break;
  case 1: block = wn_alloc(domain, words = 1, WN_TAG_DOUBLE); break;
  case 2: block = wn_alloc(domain, words + !words, WN_TAG_DOUBLE_ARRAY); break;
  case 3: return wn_boxed_new(domain, (wn_boxed)below(seed, 3), draw_int(seed));
  case 4: {
    size_t lengths[] = {below(seed, 4), below(seed, 3)};
    wn_ref array = wn_bigarray_new(domain, (wn_bigarray_kind)below(seed, is_for_ocaml ? 8 : 13),
                                   below(seed, 2), below(seed, 3), lengths);
    wn_bigarray is;
    assert_true(wn_bigarray_get(array, &is));
    memset(is.data, (int)below(seed, 256), is.bytes);
    return array;
  }
  default: return wn_alloc(domain, words, draw_tag(seed));
  }
  assert_false(wn_is_null(block));
  fill_bytes(wn_bytes(block), words + !words, seed);
  return block;
}

/* A block of `count` fields that leads to as many random blocks, whose fields lead to each other,
 * or are integers. */
static inline wn_ref random_graph(wn_domain *domain, uint64_t *seed, size_t count, size_t words_most) {
  wn_ref all = wn_alloc(domain, count, 0);
  for (size_t i = 0; i < count; i++) {
    WN_SCOPE(domain);
    wn_ref block = random_block(domain, seed, words_most);
    assert_false(wn_is_null(block));
    wn_set(domain, all, i, block);
  }
  for (size_t i = 0; i < count; i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_get(domain, all, i);
    if (wn_tag(*block.slot) > WN_TAG_SCANNED_MAX) continue;
    for (size_t j = 0; j < wn_words(*block.slot); j++) {
      WN_SCOPE(domain);
      if (below(seed, 2))
        wn_set_int(domain, block, j, draw_int(seed));
      else
        wn_set(domain, block, j, wn_get(domain, all, below(seed, count)));
    }
  }
  return all;
}

/* ---- comparing ---- */

/* Which block of the copy stands for which of the original: an open hash table. */
struct twins {
  struct twin {
    wn_value a, b;
  } * of;
  size_t capacity, count;
  struct pair {
    const wn_value *a, *b;
    size_t left;
  } * stack;
  size_t depth, room;
};

static inline struct twin *twins_find(const struct twins *twins, wn_value a) {
  size_t at = (size_t)((a >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (twins->capacity - 1);
  while (twins->of[at].a && twins->of[at].a != a) at = (at + 1) & (twins->capacity - 1);
  return &twins->of[at];
}

static inline void twins_grow(struct twins *twins) {
  struct twins grown = *twins;
  grown.capacity = twins->capacity ? 2 * twins->capacity : 1024;
  grown.of = calloc(grown.capacity, sizeof *grown.of);
  assert_non_null(grown.of);
  for (size_t i = 0; i < twins->capacity; i++)
    if (twins->of[i].a) *twins_find(&grown, twins->of[i].a) = twins->of[i];
  free(twins->of);
  *twins = grown;
}

/* True if the pair is new. */
static inline bool twins_add(struct twins *twins, wn_value a, wn_value b) {
  if (2 * twins->count >= twins->capacity) twins_grow(twins);
  struct twin *found = twins_find(twins, a);
  if (found->a) {
    assert_true(found->b == b); /* sharing as in the original */
    return false;
  }
  *found = (struct twin){a, b};
  twins->count++;
  return true;
}

static inline void twins_compare_bytes(wn_value a, wn_value b) {
  wn_boxed type, other;
  int64_t n, m;
  if (wn_tag(a) != WN_TAG_CUSTOM) {
    assert_memory_equal((const void *)a, (const void *)b, 8 * wn_words(a));
  } else if (wn_boxed_get((wn_ref){&a}, &type, &n)) {
    assert_true(wn_boxed_get((wn_ref){&b}, &other, &m));
    assert_int_equal(type, other);
    assert_int_equal(n, m);
  }
}

/* `both` has the pairs in the other direction: no block of the copy stands for two. */
static inline void twins_meet(struct twins *twins, struct twins *both, wn_value a, wn_value b) {
  if (wn_is_int(a) || wn_is_int(b)) {
    assert_true(a == b);
    return;
  }
  assert_int_equal(wn_tag(a), wn_tag(b));
  assert_int_equal(wn_words(a), wn_words(b));
  if (!wn_words(a)) return;
  bool fresh = twins_add(twins, a, b);
  assert_true(twins_add(both, b, a) == fresh);
  if (!fresh) return;
  if (wn_tag(a) > WN_TAG_SCANNED_MAX) {
    twins_compare_bytes(a, b);
    return;
  }
  if (twins->depth == twins->room) {
    twins->room = twins->room ? 2 * twins->room : 64;
    twins->stack = realloc(twins->stack, twins->room * sizeof *twins->stack);
    assert_non_null(twins->stack);
  }
  twins->stack[twins->depth++] = (struct pair){(const wn_value *)a, (const wn_value *)b, wn_words(a)};
}

/* Fails unless the graphs are the same but for their addresses. Returns how many blocks with words
 * they have. */
static inline size_t assert_same(wn_value a, wn_value b) {
  struct twins twins = {0}, both = {0};
  twins_meet(&twins, &both, a, b);
  while (twins.depth) {
    struct pair *top = &twins.stack[twins.depth - 1];
    const wn_value *next_a = top->a++, *next_b = top->b++;
    if (!--top->left) twins.depth--;
    twins_meet(&twins, &both, *next_a, *next_b);
  }
  free(twins.of);
  free(twins.stack);
  free(both.of);
  return twins.count;
}

/* ---- there and back ---- */

enum { HEADER = 20 }; /* bytes of the header of a message that is not huge */

struct message {
  void *bytes;
  size_t size;
};

static inline struct message write_flags(wn_domain *domain, wn_ref value, unsigned flags) {
  struct message message;
  wn_status status = wn_marshal_write(domain, value, flags, &message.bytes, &message.size);
  if (status) fail_msg("%s", wn_last_error());
  size_t total;
  assert_int_equal(wn_marshal_size(message.bytes, message.size, &total), WN_OK);
  assert_int_equal(total, message.size);
  return message;
}
static inline struct message write_message(wn_domain *domain, wn_ref value) {
  return write_flags(domain, value, 0);
}

static inline wn_ref read_flags(wn_domain *domain, struct message message, unsigned flags) {
  wn_ref value;
  size_t used;
  wn_status status = wn_marshal_read(domain, message.bytes, message.size, flags, &value, &used);
  if (status) fail_msg("%s", wn_last_error());
  assert_int_equal(used, message.size);
  return value;
}
static inline wn_ref read_message(wn_domain *domain, struct message message) {
  return read_flags(domain, message, 0);
}

/* Returns a handle of the copy, which was compared; writing it gives the same bytes again. */
static inline wn_ref there_and_back(wn_domain *domain, wn_ref value, unsigned flags) {
  struct message message = write_flags(domain, value, flags);
  wn_ref copy = read_flags(domain, message, flags);
  assert_same(*value.slot, *copy.slot);
  struct message again = write_flags(domain, copy, flags);
  assert_int_equal(again.size, message.size);
  assert_memory_equal(again.bytes, message.bytes, message.size);
  free(message.bytes);
  free(again.bytes);
  return copy;
}

static inline void assert_refused(wn_domain *domain, wn_ref value, unsigned flags, const char *why) {
  void *bytes = NULL;
  size_t size;
  assert_int_equal(wn_marshal_write(domain, value, flags, &bytes, &size), WN_EINVAL);
  assert_null(bytes);
  assert_non_null(strstr(wn_last_error(), why));
}

#endif
/* SPDX-License-Identifier: MIT */
