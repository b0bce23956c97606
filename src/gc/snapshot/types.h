/* The types of the blocks that a snapshot has, and what the writer calls them: numbers from 1, in
 * the order of their first use. A type is what the language says of a block, or the operations of a
 * custom block, or being weak. The table is filled where no memory can be taken: it has a fixed
 * size, and the custom blocks that come when it is full are of one type. */
#ifndef GC_SNAPSHOT_TYPES_H
#define GC_SNAPSHOT_TYPES_H

#include "base/check.h"
#include "gc/store/layout.h"
#include "snapshot/writer.h"

enum { CUSTOM_TYPES_MOST = TINY ? 4 : 1000, NAMED_FIELDS = 64 };

struct type {
  uint64_t fields; /* a bit for each of the first that has led to a block */
  uint32_t id;     /* 0: no block has the type */
};

struct types {
  const wn_heap_hooks *hooks;
  uint32_t count;
  struct type of_language[WN_TYPES_MOST], weak, other_customs, out_of_range;
  size_t custom_count;
  struct {
    const struct wn_custom_ops *ops;
    uint32_t id;
  } customs[CUSTOM_TYPES_MOST];
};

/* Zeroed memory becomes an empty table. */
static inline void types_begin(struct types *types, const wn_heap_hooks *hooks) { types->hooks = hooks; }

/* The type of a block that is not custom. Its `id` is set. */
struct type *types_of_block(struct types *types, wn_value block);
uint32_t types_of_custom(struct types *types, const struct wn_custom_ops *ops);

/* The number that the language, or else the tag, gives a block's type; WN_TYPES_MOST or more: it has none. */
unsigned types_number(const wn_heap_hooks *hooks, wn_value block);

/* The name of a block's type, with room for names that are made; for a path, without the table. */
const char *types_name(const wn_heap_hooks *hooks, wn_value block, char text[32]);

/* Writes the names of all types, and of their fields. */
void types_write(const struct types *types, struct snapshot_writer *writer);

#endif
/* SPDX-License-Identifier: MIT */
