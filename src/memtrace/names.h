/* What the codes of Memtrace's stacks stand for: source positions, of which one code has several where
 * functions were inlined.
 *
 * A location names its file and function by lists of the last 31 names, newest first; a name moves to
 * the front when it is used, and the oldest drops out. Each domain has a list of files, and each file in
 * it a list of its functions. A file that enters a full list takes over the functions of the one that
 * drops out: the first version of the format relies on that, and the later ones do not mind.
 *
 * Where packets are missing, all names in the lists of a domain become unknown. Names that come after
 * that are known again, since the place of a name depends on the names after it alone. */
#pragma once

#include "memtrace/packet.h"

enum {
  MEMTRACE_NAMES = 31, /* in a list */
  /* Numbers out of range become these. */
  MEMTRACE_LINE_MOST = 0xfffff,
  MEMTRACE_START_MOST = 0xff,
  MEMTRACE_END_MOST = 0x3ff
};

/* Texts are numbers: memtrace_text. 0: unknown. */
struct memtrace_location {
  uint32_t file, function;
  uint32_t line;       /* from 1 on */
  uint32_t start, end; /* characters of the line, from 0 on; end: the first behind */
};

/* The lists of one domain. */
struct memtrace_lists {
  struct memtrace_file {
    uint32_t name, function_count;
    uint32_t functions[MEMTRACE_NAMES];
  } files[MEMTRACE_NAMES];
  uint32_t file_count;
};

/* All texts, locations and codes of a file. */
struct memtrace_names {
  char *texts; /* each with a NUL byte behind it; the first is "" */
  size_t text_bytes, text_capacity;
  uint32_t *text_starts; /* by number */
  uint32_t text_count;
  size_t text_start_capacity;
  struct memtrace_location *locations;
  uint32_t location_count;
  size_t location_capacity;
  /* An open table of codes; `slots` is a power of two. */
  struct memtrace_code {
    uint64_t code;
    uint32_t first; /* location */
    uint16_t count;
    bool used, known; /* known: all of its names are */
  } * codes;
  uint32_t code_count;
  size_t slots;
};

/* Outermost first. Count 0: the code has no location. */
struct memtrace_locations {
  const struct memtrace_location *list;
  uint32_t first, count; /* the number of the first among all locations */
};

/* False without memory; then it may be destroyed. */
bool memtrace_names_create(struct memtrace_names *names);
void memtrace_names_destroy(struct memtrace_names *names);

/* Makes all names in the lists unknown. */
void memtrace_lists_lose(struct memtrace_lists *lists);

enum memtrace_reading { MEMTRACE_READ, MEMTRACE_DAMAGED, MEMTRACE_NO_MEMORY };

/* Reads one event of a location, behind its first four bytes. */
enum memtrace_reading memtrace_location_read(struct memtrace_names *names, struct memtrace_lists *lists,
                                             struct memtrace_bytes *bytes);

struct memtrace_locations memtrace_locations_of(const struct memtrace_names *names, uint64_t code);

static inline const char *memtrace_text(const struct memtrace_names *names, uint32_t number) {
  return names->texts + names->text_starts[number];
}
/* SPDX-License-Identifier: MIT */
