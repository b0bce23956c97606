/* Sends the windows of recordings to a ClickHouse server, each batch once, whatever is killed, and
 * whichever replies are lost.
 *
 * What the server has is the only state that lasts: there is no file of what was sent. A batch is
 *
 *   missing   no row of it is there
 *   sent      its rows are in `samples`: all of them, since they are one block (WHOLE, http.h)
 *   loaded    and the one of `loads`, which says that the batch is complete
 *
 * and for one run after the other, window by window,
 *
 *   1. unless the run is known, ask which of its batches are loaded. If one that is due is not:
 *      a. wait until nothing that was sent before can still arrive (LATE, http.h);
 *      b. if system.processes has an insertion of this run, give up: it is tried again later;
 *      c. ask which batches are loaded, and which are sent: nothing changes that any more.
 *   2. missing: insert the rows of `frames`, `stacks` and `sites`, then those of `samples`.
 *   3. sent: insert the row of `loads`. Go on with the next window.
 *
 * Whatever fails in 2 and 3, even after an answer that says so, makes the run unknown, and the next
 * try begins at 1. So a lost reply, a restart of the server and one of this process are the same.
 * tests/models/ship.pml has the proof, for one shipper of a run at a time.
 *
 * Names are repeated after a failure, and each day, since their rows say when they were last seen:
 * their tables keep one row of each. */
#pragma once

#include "cli/fleet/http.h"
#include "export/clickhouse.h"

/* Of one server. Zeroed memory but for `http` is a new one. */
struct shipper {
  struct http *http;
  struct clickhouse_told told;
  uint64_t told_day;
  bool settled;          /* step 1a was done, and nothing has failed since */
  size_t windows, rows;  /* how much was shipped */
  const char *complaint; /* what the last outcome was about, unless that is HTTP_DONE */
};
void shipper_destroy(struct shipper *shipper); /* but for `http` */

/* Batches, in ascending order. */
struct shipper_batches {
  uint64_t *items;
  size_t count, capacity;
};

/* What is known of a run. Zeroed memory: nothing. */
struct shipper_run {
  bool known;
  bool is_new;   /* set by the caller: it began after this process, so nothing of it was sent before */
  uint64_t next; /* windows before this one are loaded */
  struct shipper_batches loaded, sent;
};
void shipper_run_destroy(struct shipper_run *run);

/* Ships the windows of a run up to `last`. `host` is that of the rows. */
enum http_outcome shipper_ship(struct shipper *shipper, struct shipper_run *run,
                               struct clickhouse *clickhouse, const char *host, uint64_t last);
/* SPDX-License-Identifier: MIT */
