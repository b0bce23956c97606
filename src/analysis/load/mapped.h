/* The memory that the program mapped itself, beside malloc, and the parts of its resident memory.
 */
#pragma once

#include "sources/source.h"
#include <stdbool.h>
#include <stddef.h>

struct row;
struct samples;

/* How much of a mapping was resident at a time, and until the next touch of it; `files`: how much
 * of that belongs to a file or is shared. */
struct touch {
  uint64_t mapping, time_ns, bytes, files;
};

/* The mappings of a trace: filled by mapped_keep, completed by mapped_complete. */
struct mapped {
  /* One row for each size of a mapping, ordered by start. `block` is the number of the mapping,
   * `source` its enum trace_map_kind; the probability is 1. */
  struct row *rows;
  size_t count, capacity;
  struct touch *touches; /* ordered by mapping, then time */
  size_t touch_count, touch_capacity;
  struct trace_map_size *sizes; /* size changes; NULL once complete */
  size_t size_count, size_capacity;
};

/* Keeps an event of a mapping; ignores all other events. False without memory. */
bool mapped_keep(struct mapped *mapped, const struct trace_event *event);

/* Makes the rows; call it once, after the last event. False without memory. */
bool mapped_complete(struct mapped *mapped);
void mapped_destroy(struct mapped *mapped);

/* Whether there is an arena in a trace: then an interpreter's small objects are among its blocks. */
bool mapped_has_arenas(const struct samples *samples);

/* How many bytes of a mapping were resident at the last measurement at or before a time. */
double mapped_resident(const struct samples *samples, const struct row *row, uint64_t time_ns);

/* The parts of resident memory at one moment. */
struct resident {
  uint64_t time_ns;
  uint64_t rss_bytes;    /* 0: never measured, but most_bytes may be known */
  bool measured;         /* the resident part of each mapping was measured */
  uint64_t most_bytes;   /* the largest resident size; includes times between measurements if `counted` */
  bool counted;          /* most_bytes is what the kernel counted */
  bool explained;        /* `counted`, and rss_bytes is at most a fifth less than most_bytes */
  double mapped_bytes;   /* bytes of addresses that the program mapped itself */
  double mapped_private; /* of these: resident private memory */
  double mapped_files;   /* of these: resident pages of files, or shared */
  double stack_bytes;    /* resident memory of thread stacks */
  double arena_bytes;    /* of arenas, in which blocks lie */
  double files_bytes;    /* resident pages of other files, mostly code */
  double private_bytes;  /* all private memory: malloc's blocks, mapped_private, stacks, and the rest */
  double own_bytes;      /* estimate of the recorder's own memory, within the rest */
  unsigned asked;        /* which allocator was asked then (enum trace_allocator); if not 0: */
  double in_use, free;   /* what its blocks take, headers included, and what it keeps free */
};

/* The parts of resident memory at one of the moments at which mappings were measured together with
 * the resident size, or at any moment if there is no such one. The first function takes the first
 * moment whose resident size is within half a percent of the largest. The second takes, of the
 * moments whose size is within an eighth of the largest, the one nearest to `near_ns`. Freed memory
 * stays resident, so the first function's moment may come after most blocks were freed, and then
 * explains little. */
struct resident mapped_when_most_was_resident(const struct samples *samples);
struct resident mapped_when_nearly_most_was_resident(const struct samples *samples, uint64_t near_ns);

/* The parts at the measurement that is nearest to `near_ns`; and at the last one until then, or the first
 * one from then on, at which the allocator was asked: all zeros if there is none. */
struct resident mapped_near(const struct samples *samples, uint64_t near_ns);
struct resident mapped_when_asked(const struct samples *samples, uint64_t near_ns, bool until);

/* The parts when the recording began, as its first measurement has them. All zeros if nothing was
 * measured that early. */
struct resident mapped_at_start(const struct samples *samples);
/* SPDX-License-Identifier: MIT */
