/* Where the reachable blocks of a snapshot were allocated: a join with the trace that recorded the
 * heap.
 *
 * The trace has the callstacks of sampled blocks, and the snapshot says what holds each of them. A
 * site is the line that allocated. How many bytes the blocks of a site have is estimated, as in a
 * report; what holds a block is exact. What the sampled blocks retain is not added up: a list would
 * count again for each of its cells. */
#pragma once

#include "analysis/load/recording.h"
#include "retention/dominators.h"

struct site {
  char *name; /* "serve (leak.lisp:5)" */
  struct sum sum;
  struct estimate bytes;
  uint32_t holder;     /* the node of the holder that has most of them; NODE_ALL: several together */
  double holder_share; /* of the estimate, 0 to 1 */
  uint32_t named; /* the outermost block with a name that holds most of them; NODE_ALL: none holds half */
  double named_share;
  uint32_t number; /* of `of_sample` */
};

struct sites {
  struct site *rows; /* most bytes first */
  size_t count, capacity;
  uint32_t *of_sample; /* by sample of the graph: the number of its site, from 1; 0: none */
  double *bytes;       /* by sample: what it stands for */
  uint64_t samples;    /* of reachable blocks */
};

/* Reads the trace. WN_ENOMEM; other errors are those of recording_load; WN_EINVAL: it is the trace
 * of another process. Freed by sites_free, also then. */
wn_status sites_find(struct sites *sites, const struct graph *graph, const struct dominators *dominators,
                     const char *trace);
void sites_free(struct sites *sites);
/* SPDX-License-Identifier: MIT */
