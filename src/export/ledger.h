/* The stacks of a recording with what they allocated and held, as a server of profiles serves them
 * while the trace grows.
 *
 * MONOTONE. What a stack has allocated never falls from one answer to the next, though the trace
 * may: old records are thinned out, which estimates the past anew, and dropped. So a ledger has
 * what it once said, and each update adds only what the report has from a time on. What stacks hold
 * is that of the last update. Hence a stack, its frames and its files stay in the ledger when the
 * trace has them no more: they are texts here, not numbers of the trace.
 *
 * BOUND. A ledger takes some 16 MiB. What then comes new is added to stack 0, "(rest)"; an update
 * adds the largest stacks first. */
#pragma once

#include "analysis/load/strings.h"
#include "analysis/report/report.h"
#include "export/stacks.h"
#include <stdio.h>

/* What can be counted of a stack. */
struct ledger_values {
  double of[QUANTITIES];
};

struct ledger {
  struct strings *modules;      /* "START LIMIT BUILD-ID PATH" of each file; 0: none */
  struct strings *locations;    /* fields behind each other: location_text; 0: "(rest)" */
  struct strings *stacks;       /* the numbers of their locations, innermost first; 0: the rest */
  struct ledger_values *values; /* index: stack */
  size_t value_count, value_capacity;
  size_t bytes; /* BOUND */
};

/* WN_ENOMEM; then too it may be destroyed. */
wn_status ledger_create(struct ledger *ledger);
void ledger_destroy(struct ledger *ledger);

/* Adds what was allocated from a time on, and sets what is held, by a report of one process.
 * WN_ENOMEM; then the ledger has a part of it. */
wn_status ledger_update(struct ledger *ledger, const struct report *report, uint64_t since_ns);

/* Adds all of another ledger. WN_ENOMEM. */
wn_status ledger_merge(struct ledger *ledger, const struct ledger *other);

struct ledger_head {
  const char *shown;    /* the sample type that readers show first */
  const char *comment;  /* what this is a profile of */
  uint64_t wall_ns;     /* when it was made */
  uint64_t duration_ns; /* what was allocated in so long; 0: since the start */
  double period;        /* bytes between two samples; 0: unknown */
};

/* Writes a profile as Go's programs serve it: a gzip'd message of pprof.proto with alloc_objects,
 * alloc_space, inuse_objects and inuse_space, or text (debug=1), which is cut to 16 MiB. In the text
 * a location without an address has one that is made up, the same in all ledgers. WN_ENOMEM; errors
 * of the stream are left to the caller (ferror). */
wn_status ledger_write(FILE *out, const struct ledger *ledger, const struct ledger_head *head);
wn_status ledger_write_text(FILE *out, const struct ledger *ledger);

/* Writes "0xADDRESS NAME" for each address of an ascending list that the text of the ledger has. */
wn_status ledger_write_symbols(FILE *out, const struct ledger *ledger, const uint64_t *addresses,
                               size_t count);
/* SPDX-License-Identifier: MIT */
