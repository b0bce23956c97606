/* The recordings that are served or shipped, as they come and go: what the user's arguments stand
 * for, or without any all that this user may see (cli/recordings.h).
 *
 * LOOKING. The list is made anew when something is asked and it is older than LOOK_MS, or when a
 * process is asked for that is not in it. Nothing happens while nothing is asked.
 *
 * MEMORY. `most` entries; a new recording takes the place of one that ended. LOADED_MOST
 * loaded traces, and those that were not asked about for IDLE_SECONDS are dropped. Ledgers take
 * LEDGERS_BYTES together: beyond that, those that were asked for longest ago are dropped, and begin
 * anew from their traces. Names of addresses are looked up once (symbols), and anew when they take
 * NAMES_BYTES, or after an hour, when other debug symbols may be there.
 *
 * One thread at a time: the caller locks. */
#pragma once

#include "cli/options.h"
#include "cli/scrape/target.h"
#include <pthread.h>

enum { LOADED_MOST = 4, IDLE_SECONDS = 60, LOOK_MS = 2000 };
enum { LEDGERS_BYTES = 128 << 20, NAMES_BYTES = 64 << 20 };

struct targets {
  pthread_mutex_t lock; /* for the callers: it protects what follows */
  char **arguments;     /* the user's; none: all recordings */
  int argument_count;
  struct recording_options options;
  struct target **items; /* in the order in which they were found */
  size_t count, capacity, most;
  size_t left_out;                /* of those that were looked at last, for which there was no room */
  uint64_t looked_ns, symbols_ns; /* of the monotonic clock; 0: not yet */
};

/* Finds the recordings, `most` at most. WN_EINVAL: an argument stands for none; WN_ENOMEM. */
wn_status targets_open(struct targets *targets, size_t most, char **arguments, int count,
                       const struct recording_options *options);
void targets_close(struct targets *targets);

/* LOOKING. `ask` NULL: nothing in particular is asked for. */
void targets_look(struct targets *targets, const struct ask *ask);

/* Removes a recording from the list; it comes again if it is found again. */
void targets_drop(struct targets *targets, size_t number);

/* Whether a recording is one of those that a request asks for, whether it is served or gone. */
bool targets_match(const struct target *target, const struct ask *ask);

/* The options with which the targets are loaded now. */
const struct recording_options *targets_options(struct targets *targets);

/* MEMORY: drops what is too much. Called after each answer, and now and then. */
void targets_tidy(struct targets *targets);
/* SPDX-License-Identifier: MIT */
