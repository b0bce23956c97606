/* What the program mapped itself, beside malloc, and what its resident memory was made of. */
#ifndef ANALYSIS_MAPPED_H
#define ANALYSIS_MAPPED_H

#include "sources/source.h"
#include <stdbool.h>
#include <stddef.h>

struct row;
struct samples;

/* How much of a mapping was resident, from then on until it is told again; and how much of that was
 * of a file or shared. */
struct touch {
  uint64_t mapping, time_ns, bytes, files;
};

/* Filled in while a trace is read; settled afterwards. */
struct mapped {
  /* Of mappings: `block` is the number, `source` enum trace_map_kind, the probability 1. By begin.
   */
  struct row *rows;
  size_t count, capacity;
  struct touch *touches; /* by mapping and time */
  size_t touch_count, touch_capacity;
  struct trace_map_size *sizes; /* until settled */
  size_t size_count, size_capacity;
};

/* Takes an event; others than those of mappings leave no trace. False without memory. */
bool mapped_keep(struct mapped *mapped, const struct trace_event *event);

/* After the last event. False without memory. */
bool mapped_settle(struct mapped *mapped);
void mapped_destroy(struct mapped *mapped);

/* How much of a mapping's row was resident when the process's memory was measured at or before a
 * time. */
double mapped_resident(const struct samples *samples, const struct row *row, uint64_t time_ns);

/* What resident memory was made of at some moment. */
struct resident {
  uint64_t time_ns;
  uint64_t rss_bytes;    /* 0: never measured; most_bytes may be known then */
  bool measured;         /* of each mapping it is known what was resident */
  uint64_t most_bytes;   /* the largest resident size, between measurements too if `counted` */
  bool counted;          /* the kernel told the largest */
  bool explained;        /* if so: it was measured, but for a fifth, so the rest here is of it */
  double mapped_bytes;   /* addresses that the program mapped itself */
  double mapped_private; /* of these, what was resident: in memory of its own */
  double mapped_files;   /* and in files or shared */
  double stack_bytes;    /* stacks of threads: what of them was resident */
  double files_bytes;    /* other files, code for the most part */
  double private_bytes;  /* all memory of its own: malloc's blocks, mapped_private, stacks, and the rest */
  double own_bytes;      /* of the rest about so much is the recorder's */
};

/* Of the moments at which all of it was measured (if there is none, of all moments): the first at
 * which the most was resident, but for half a percent; and of those at which no more than an eighth
 * was missing, that next to a time. What is freed stays resident, so the first says little of what
 * memory was for if all was freed by then. */
struct resident mapped_when_most_was_resident(const struct samples *samples);
struct resident mapped_when_nearly_most_was_resident(const struct samples *samples, uint64_t near_ns);

#endif
/* SPDX-License-Identifier: MIT */
