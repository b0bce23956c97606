/* Chunks of a trace, copied into memory: those that are taken over, and those in which records of
 * the same blocks may stand.
 *
 * The recorder of a program that reaches its bound takes the oldest chunks out of the file at any
 * moment. From the copy the compactor reads what it has found, as often as it needs.
 *
 * TWO PASSES. A free that stands in a sealed chunk is of a block whose sample was published before.
 * So what was not sealed in the first pass, or not yet begun, is copied in a second one: then the
 * sample is in the copy too, wherever it stands.
 *
 * Of a trace that grew without a bound a part is taken at a time. The sample that belongs to a free
 * of the part may stand behind it, but not far: a stream that has not written for LAG_CHUNKS chunks
 * is sealed (trace/writer.c). */
#ifndef COMPACT_EXCERPT_H
#define COMPACT_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct excerpt {
  int descriptor;   /* of the copy, in which chunks have their places; negative: none */
  char path[32];    /* by which this process opens it */
  uint64_t *chunks; /* that can be taken over, in ascending order */
  size_t chunk_count, chunk_capacity;
  bool all; /* no more chunks can be taken over than these */
};

/* Copies from the trace `descriptor`. Of chunks that can be taken over, those that are sealed, or
 * all with `closed`, about `most_bytes`. False without memory. */
bool excerpt_make(struct excerpt *excerpt, int descriptor, uint64_t capacity, bool closed,
                  uint64_t most_bytes);
void excerpt_destroy(struct excerpt *excerpt);

#endif
/* SPDX-License-Identifier: MIT */
