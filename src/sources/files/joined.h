/* The traces of several processes as one source.
 *
 * Its clock starts when the first of the processes was first recorded, by the wall clock; its rate
 * is the lowest of the traces. Stacks and modules have common numbers (joined_stacks.h), all other
 * things those of NUMBERS (source.h), so nothing of one process is taken for something of another.
 *
 * The processes are read one after another, in the order of their starts: no reader relies on an
 * order of events in time, which a single trace does not have either. One file is open at a time,
 * besides those with a language's places, which names are looked up in until the source is closed.
 *
 * Records of execs and ends are in the description of their process (source_process), not among the
 * events. The collections of a collected heap, its pauses and its domains are left out: their
 * numbers are counted since the start of one heap. Damage is that of all processes together. */
#pragma once

#include "sources/source.h"

enum { JOINED_WHY_MOST = 320 };

/* What tells recordings apart; compared as bytes. Nothing does if wall_ns is 0. */
struct joined_identity {
  uint64_t wall_ns, monotonic_ns, seed;
  uint32_t pid;
  char host[TRACE_TEXT_MOST + 5]; /* so long that there is no padding */
};
_Static_assert(sizeof(struct joined_identity) == 28 + TRACE_TEXT_MOST + 5, "no padding");

struct joined_part {
  const char *path, *name;   /* name: for messages */
  bool writing;              /* its process still writes it */
  bool copy;                 /* of a part that is selected; set by joined_examine, as what follows */
  bool selected;             /* otherwise `why` says in a line why not */
  char why[JOINED_WHY_MOST]; /* begins with the name */
};

struct joined_identity joined_identity_of(const struct trace_run *run);

/* Decides which files can be joined. A file is not selected if it cannot be read, if it does not
 * tell when its process began, or if it is a copy, maybe a shorter one, of another. WN_EINVAL: the
 * traces are of different kinds of heap. */
wn_status joined_examine(struct joined_part *parts, size_t count);

/* Opens the parts that are selected, at least one. Sets wn_last_error on failure. */
wn_status joined_open(const struct joined_part *parts, size_t count, struct source **source);
/* SPDX-License-Identifier: MIT */
