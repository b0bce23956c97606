/* Types of blocks. */
#include "analysis/load/block_types.h"

#include "base/array.h"
#include "base/hash.h"

static struct named_type *find_block_types(const struct block_types *types, uint64_t type) {
  struct index_walk walk = {.hash = hash_mix(type)};
  uint32_t at;
  while ((at = index_next(&types->by_type, &walk)))
    if (types->named[at - 1].type == type) return &types->named[at - 1];
  return NULL;
}

/* The number of a name; 0 without memory. */
static uint32_t block_types_intern(struct block_types *types, const char *name) {
  if (!types->strings && !(types->strings = strings_create())) return 0;
  return strings_intern(types->strings, *name ? name : "(no name)");
}

/* The name of a type, which may be in a part of the trace that is lost. 0 without memory. */
static uint32_t block_types_name_of(struct block_types *types, uint64_t type) {
  const struct named_type *found = find_block_types(types, type);
  return found ? found->name : block_types_intern(types, "(the name of this type is lost)");
}

static const struct typed_block *block_types_find_block(const struct block_types *types, uint64_t block) {
  size_t low = 0, high = types->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (types->blocks[middle].block < block)
      low = middle + 1;
    else
      high = middle;
  }
  return low < types->count && types->blocks[low].block == block ? &types->blocks[low] : NULL;
}

/* ---- shared ---- */

bool block_types_name(struct block_types *types, const struct trace_type_name *event) {
  struct named_type named = {event->type, block_types_intern(types, event->name.bytes)};
  if (!named.name) return false;
  if (find_block_types(types, event->type)) return true;
  return ARRAY_ADD(types->named, types->named_count, types->named_capacity, named) &&
         index_add(&types->by_type, hash_mix(event->type), (uint32_t)types->named_count);
}

bool block_types_add(struct block_types *types, uint64_t block, uint64_t type) {
  struct typed_block *last = types->count ? &types->blocks[types->count - 1] : NULL;
  if (last && last->block == block) return last->type = type, true;
  return ARRAY_ADD(types->blocks, types->count, types->capacity, (struct typed_block){block, type});
}

bool block_types_find(struct block_types *types, uint64_t block, uint32_t *name) {
  const struct typed_block *found = block_types_find_block(types, block);
  *name = found ? block_types_name_of(types, found->type) : 0;
  return !found || *name;
}

void block_types_destroy(struct block_types *types) {
  strings_free(types->strings);
  free(types->named);
  free(types->by_type.slots);
  free(types->blocks);
}
/* SPDX-License-Identifier: MIT */
