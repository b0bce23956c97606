/* How far each client of /debug/pprof/delta_heap has read a trace.
 *
 * A client names itself (client=); those that do not are one. Two that share a name share a cursor:
 * each gets what the other did not. There is room for CURSORS_MOST clients; a new one takes the
 * place of that which asked longest ago, whose next answer is empty again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CURSORS_MOST = 16, CLIENT_MOST = 64 };

/* Zeroed memory: no client has asked. */
struct cursors {
  struct cursor {
    char client[CLIENT_MOST];
    uint64_t next_ns; /* of the trace: what was allocated from then on is new */
    uint64_t asked;   /* how many had asked before */
    bool last;        /* the process had ended, so nothing is new any more */
  } items[CURSORS_MOST];
  size_t count;
  uint64_t asked;
};

/* The cursor of a client; NULL: it has none yet. */
const struct cursor *cursors_find(const struct cursors *cursors, const char *client);

/* Moves the cursor of a client, or gives it one, once it has all that was allocated before
 * `next_ns`. `last`: that is all. */
void cursors_move(struct cursors *cursors, const char *client, uint64_t next_ns, bool last);
/* SPDX-License-Identifier: MIT */
