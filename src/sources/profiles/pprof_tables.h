/* The tables of a pprof profile: what its samples refer to by number. They are read in a first pass
 * over the file, since they stand behind the samples as a rule. Every reference is checked when it
 * is followed. */
#pragma once

#include "sources/profiles/named_stacks.h"
#include "sources/profiles/pprof_wire.h"

/* The numbers of fields, as in export/pprof.proto. */
enum pprof_field {
  PPROF_SAMPLE_TYPE = 1,
  PPROF_SAMPLE = 2,
  PPROF_MAPPING = 3,
  PPROF_LOCATION = 4,
  PPROF_FUNCTION = 5,
  PPROF_TEXT = 6,
  PPROF_TIME = 9,
  PPROF_PERIOD_TYPE = 11,
  PPROF_PERIOD = 12,
  PPROF_COMMENT = 13
};

/* Texts are numbers of the string table here; those of a value, numbers as well. */
struct pprof_type {
  uint64_t type, unit;
};
struct pprof_mapping {
  uint64_t id, begin, limit, offset, file, build_id;
  uint32_t module; /* of its addresses; 0: not asked for yet */
};
struct pprof_location {
  uint64_t id, mapping, address;
  size_t first_line, line_count; /* innermost first */
};
struct pprof_line {
  uint64_t function, line;
};
struct pprof_function {
  uint64_t id, name, linkage, file;
};

/* A list that grows. */
#define PPROF_LIST(type)    \
  struct {                  \
    type *items;            \
    size_t count, capacity; \
  }

struct pprof_tables {
  struct named_stacks *stacks; /* takes the texts */
  PPROF_LIST(struct pprof_type) types;
  PPROF_LIST(struct pprof_mapping) mappings;
  PPROF_LIST(struct pprof_location) locations;
  PPROF_LIST(struct pprof_line) lines;
  PPROF_LIST(struct pprof_function) functions;
  PPROF_LIST(uint32_t) texts;    /* their numbers among those of `stacks` */
  PPROF_LIST(uint64_t) comments; /* numbers of texts */
  struct pprof_type period_type;
  uint64_t period, time_ns;
  uint64_t first_mapping; /* its id; 0: none */
  const char *fault;      /* what is wrong; NULL: nothing so far */
  bool no_memory;
};

/* Reads the tables, and orders them by id. False: `fault` or `no_memory` says why, or the stream's. */
bool pprof_tables_read(struct pprof_tables *tables, struct wire_stream *stream);
void pprof_tables_destroy(struct pprof_tables *tables);

/* A text of the string table. "" if the number is wrong, which is a fault. */
uint32_t pprof_text_number(struct pprof_tables *tables, uint64_t number);
const char *pprof_text_of(struct pprof_tables *tables, uint64_t number);

/* Goes from the caller's node to that of a location, with all that was inlined there. False as
 * above. */
bool pprof_step(struct pprof_tables *tables, uint64_t location, uint32_t *node);
/* SPDX-License-Identifier: MIT */
