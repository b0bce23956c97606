/* The chunks of a trace that are taken over. If a process writes the trace, they are copied into
 * memory: the recorder of a program that reaches its bound takes the oldest chunks out of the file
 * at any moment. From the copy the compactor reads what it has found, as often as it needs.
 *
 * AFTERWARDS. Records of the same blocks can stand in other chunks (ELSEWHERE of blocks.h). Those
 * are read after the copy was made. A free that stands in a sealed chunk is of a block whose sample
 * was published before: so the sample is found then, wherever it stands, unless it was dropped.
 *
 * PARTS. Of a large trace some chunks are taken at a time. The sample that belongs to a free of
 * these may stand behind them, but not far: a stream that has not written for LAG_CHUNKS chunks is
 * sealed (trace/writer.c). */
#pragma once

#include "trace/history.h"

struct excerpt {
  int descriptor;   /* of the copy, in which chunks have their places; negative: there is none */
  char path[32];    /* by which this process opens it */
  uint64_t *chunks; /* that can be taken over, in ascending order */
  size_t chunk_count, chunk_capacity;
  uint64_t end; /* chunks from this one on are not read (PARTS) */
  bool all;     /* no more chunks can be taken over than these */
};

struct excerpt_of {
  int descriptor; /* of the trace */
  uint64_t capacity;
  bool closed; /* all chunks that are whole can be taken over, and nothing is copied; else the sealed ones */
  uint64_t most_bytes;           /* about so many are taken at a time */
  uint64_t until;                /* chunks from this one on are not taken */
  const struct replaced *before; /* these chunks are not taken again */
};

/* False without memory. */
bool excerpt_make(struct excerpt *excerpt, const struct excerpt_of *of);
void excerpt_destroy(struct excerpt *excerpt);
/* SPDX-License-Identifier: MIT */
