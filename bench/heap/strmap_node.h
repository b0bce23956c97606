/* A node of the string map on our heap: its fields, and a walk that does not allocate. */
#ifndef BENCH_HEAP_STRMAP_NODE_H
#define BENCH_HEAP_STRMAP_NODE_H

#include "heap_program.h"

#define KEYS (1L << 18)

enum field { LEFT, KEY, COUNT, RIGHT, HEIGHT, FIELDS };

static inline wn_value node_field(wn_value node, enum field i) { return ((const wn_value *)node)[i]; }
static inline intptr_t node_height(wn_value map) {
  return wn_is_int(map) ? 0 : wn_to_int(node_field(map, HEIGHT));
}

static int64_t node_fold(int64_t sum, wn_value map) {
  for (; !wn_is_int(map); map = node_field(map, RIGHT)) {
    const char *key = (const char *)node_field(map, KEY);
    int64_t last = key[strlen(key) - 1];
    sum = node_fold(sum, node_field(map, LEFT));
    sum = (sum * 31 + wn_to_int(node_field(map, COUNT)) * last + node_height(map)) & SUM_MASK;
  }
  return sum;
}

static inline void node_report(long updates, wn_value map) {
  printf("%ld updates: height %lld, %lld\n", updates, (long long)node_height(map),
         (long long)node_fold(0, map));
}

#endif
/* SPDX-License-Identifier: MIT */
