/* How the calls of one block depend on each other, if it has several: rows of such blocks have a
 * place in this table. Few rows do, so it is not in the rows themselves. */
#pragma once

#include "analysis/load/estimate.h"
#include <stddef.h>

struct row;

/* What else is known of a row whose block has several rows, or was first sampled as it grew: how the
 * bytes that its call allocated, and the call itself, depend on the block's other calls (struct
 * dependence). */
struct grown {
  double growth, typical;
  struct {
    double variance, earlier;
  } bytes, calls;
};

/* All of a trace. Place 0 is of no row. Zeros are the empty table. */
struct grown_rows {
  struct grown *items;
  size_t count, capacity;
};

/* Gives a row a place of its own, with zeros. False without memory. */
bool grown_add(struct grown_rows *table, struct row *row);
void grown_destroy(struct grown_rows *table);

/* NULL: the row's call is independent of others. */
static inline const struct grown *grown_at(const struct grown_rows *table, uint32_t place) {
  return place ? &table->items[place] : NULL;
}

static inline struct dependence grown_bytes(const struct grown *grown) {
  return (struct dependence){grown->bytes.variance, grown->growth, grown->typical, grown->bytes.earlier};
}

static inline struct dependence grown_calls(const struct grown *grown) {
  return (struct dependence){grown->calls.variance, grown->growth, grown->typical, grown->calls.earlier};
}

/* Fills in the members that depend on the whole life of a block. rows[0..count) are all its rows,
 * in order. The caller has set size, call, words, rate, end_ns and promoted_ns. `growth`: that of
 * the first row; 0 unless the block was first sampled as it grew. `rates`: what the rows' `rate`
 * are indices of. False without memory. */
bool grown_finish_block(struct grown_rows *table, struct row *rows, size_t count, double growth,
                        const double *rates);

/* The growth of a resize: the size before divided by the size after; 0 if it did not grow. */
double growth_of_sizes(uint64_t before, uint64_t size);

/* The growth of a block before it was first sampled, which grown_finish_block was given with its
 * first row; 0: it was sampled at its birth. Only a block that grew before has earlier calls. */
double growth_at_birth(const struct grown_rows *table, const struct row *first);
/* SPDX-License-Identifier: MIT */
