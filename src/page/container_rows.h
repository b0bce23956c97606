/* The sections of a container (container.h) with the rows: KIND and ROWS. */
#pragma once

#include "page/container_names.h"

/* Writes both sections. Failures are those of the codings. */
void write_rows(struct coding *kinds, struct coding *rows, const struct samples *samples,
                const struct numbering *numbering, uint64_t unit_ns);

/* KIND, as it was read. */
struct row_kind {
  uint64_t size, words, growth;
  uint32_t flags;
};
struct row_tables {
  struct row_kind *kinds;
  uint32_t *stacks, *threads;
  size_t kind_count, stack_count, thread_count;
};
void read_kinds(struct coding *coding, struct row_tables *tables, uint32_t node_count);
void row_tables_destroy(struct row_tables *tables);

/* Reads the rows, and computes what is not stored but lives in words. */
void read_rows(struct coding *coding, const struct row_tables *tables, struct samples *samples,
               uint64_t unit_ns);
/* SPDX-License-Identifier: MIT */
