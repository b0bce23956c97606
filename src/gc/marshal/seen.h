/* Which blocks a walk has met, by address: each gets a number, in the order in which they were met.
 * Addresses hold still, since a walk has no safepoint.
 *
 * Blocks that are near in memory are mostly met near in time. So the numbers of the blocks of a
 * *group*, 256 bytes of addresses, lie in one cache line, lines lie in the order in which their
 * groups were met, and only groups are hashed. A block with words takes 16 bytes or more, so that
 * 16 bytes of addresses need one number. Where blocks lie close, that takes 10 bytes for a block of
 * two words, and at worst, with one block in a group, 100 to 200. */
#ifndef GC_MARSHAL_SEEN_H
#define GC_MARSHAL_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/domain.h>

enum { GROUP_SHIFT = 8, NUMBER_SHIFT = 4, GROUP_NUMBERS = 1 << (GROUP_SHIFT - NUMBER_SHIFT) };
#define SEEN_MOST (UINT32_MAX - 1) /* blocks that get numbers */

/* By block; the number + 1; 0: not met. */
struct seen_line {
  uint32_t numbers[GROUP_NUMBERS];
};

struct seen_group {
  uintptr_t group; /* address >> GROUP_SHIFT; 0: a free entry, since no block lies so low */
  size_t line;
};

struct seen {
  struct seen_group *groups; /* an open hash table, of which at most half is in use */
  unsigned shift;            /* 64 less the logarithm of its capacity */
  struct seen_line *lines;
  size_t line_count, line_capacity;
  uintptr_t last_group; /* the one met last, and its line */
  size_t last_line;
  uint64_t count; /* of blocks */
};

/* Makes an empty table. False if there is no memory. */
bool seen_create(struct seen *seen);
void seen_destroy(struct seen *seen);

/* Makes a group that was not met before the last one met. False if there is no memory. */
bool seen_add_group(struct seen *seen, uintptr_t group);

static inline struct seen_group *seen_home(const struct seen *seen, uintptr_t group) {
  return &seen->groups[group * UINT64_C(0x9e3779b97f4a7c15) >> seen->shift];
}

static inline bool seen_go_to_group(struct seen *seen, uintptr_t group) {
  const struct seen_group *at = seen_home(seen, group);
  const struct seen_group *end = seen->groups + (SIZE_MAX >> seen->shift);
  for (; at->group != group; at = at == end ? seen->groups : at + 1)
    if (!at->group) return seen_add_group(seen, group);
  seen->last_group = group;
  seen->last_line = at->line;
  return true;
}

/* Returns where the number + 1 of a block stands; 0 stands there if it has none. NULL if there is
 * no memory. */
static inline uint32_t *seen_at(struct seen *seen, wn_value block) {
  uintptr_t group = block >> GROUP_SHIFT;
  if (group != seen->last_group && !seen_go_to_group(seen, group)) return NULL;
  return &seen->lines[seen->last_line].numbers[block >> NUMBER_SHIFT & (GROUP_NUMBERS - 1)];
}

#endif
/* SPDX-License-Identifier: MIT */
