/* The roots of a heap, each under its holder: a kind, a domain and a name. */
#ifndef GC_SNAPSHOT_HOLDERS_H
#define GC_SNAPSHOT_HOLDERS_H

#include "gc/store/layout.h"
#include "snapshot/writer.h"

struct wn_heap;

struct holder {
  enum holder_kind kind;
  uint64_t domain;  /* 0: of no domain */
  const char *name; /* "": none */
};

/* A walk over the roots. `meet` gets each slot with a block; `now` is its holder, whose name stays as
 * it is until `meet` returns. */
struct holders_walk {
  void (*meet)(struct holders_walk *walk, const wn_value *slot);
  struct holder now;
  const wn_value *slots, *next; /* a thread's first handle, and the end of those that were visited */
};

/* The world is stopped, and minor heaps are empty. Holders that say most come first: a block that
 * several lead to is found from the first of them. */
void holders_each(struct wn_heap *heap, struct holders_walk *walk);

/* Writes all roots. False without memory for the names of holders. */
bool holders_write(struct wn_heap *heap, struct snapshot_writer *writer);

#endif
/* SPDX-License-Identifier: MIT */
