/* How far each client of /debug/pprof/delta_heap has read a trace.
 *
 * A client names itself (client=); those that do not are one. Two that share a name share a cursor:
 * each gets what the other did not. There is room for CURSORS_MOST clients; a new one takes the
 * place of that which asked longest ago, whose next answer is empty again. */
#ifndef CLI_SCRAPE_CURSORS_H
#define CLI_SCRAPE_CURSORS_H

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
  } items[CURSORS_MOST];
  size_t count;
  uint64_t asked;
};

/* Sets *since_ns to the time from which on all is new to a client, and moves its cursor to
 * `next_ns`. False: it has no cursor yet, and gets one. */
bool cursors_move(struct cursors *cursors, const char *client, uint64_t next_ns, uint64_t *since_ns);

#endif
/* SPDX-License-Identifier: MIT */
