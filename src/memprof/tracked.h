/* The old tracked blocks of an owner. Their addresses lie side by side, apart from their entries,
 * since a collection asks for the fate of all of them and mostly finds that nothing has changed. A
 * million blocks take 16 MB here, and their entries 128 MB.
 *
 * They are in a list of pieces, each with room for TRACKED_ROOM blocks. Only the last piece of a
 * list is partly filled, unless lists were joined. */
#ifndef MEMPROF_TRACKED_H
#define MEMPROF_TRACKED_H

#include "memprof/owner.h"
#include "memprof/slots.h"
#include <stdbool.h>

enum { TRACKED_ROOM = TINY ? 2 : 254 };

struct tracked_piece {
  _Atomic(uint64_t) free_link; /* belongs to slots.c */
  uint32_t number, count;
  struct tracked_piece *next;
  struct tracked {
    uintptr_t address;
    struct memprof_entry *entry;
  } at[TRACKED_ROOM];
};

/* False if there is no memory. */
bool tracked_append(struct tracked_list *list, struct slots *pieces, struct memprof_entry *entry,
                    uintptr_t address);

void tracked_join(struct tracked_list *list, struct tracked_list *tail);

/* Calls `stays` for each block, which may change the block's address, and takes out the blocks for
 * which it returns false. The others move up. */
typedef bool tracked_stays(struct tracked *tracked, void *context);
void tracked_filter(struct tracked_list *list, struct slots *pieces, tracked_stays *stays, void *context);

#endif
/* SPDX-License-Identifier: MIT */
