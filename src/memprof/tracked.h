/* The old tracked blocks of an owner: their addresses side by side, apart from their entries, since
 * a collection asks for the fate of all of them and mostly learns that nothing has changed. A
 * million of them are 16 MB here, and 128 MB of entries.
 *
 * They are a list of pieces, each with room for some; only the last of a list that was not joined
 * is partly filled. */
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

/* Asks for each whether it stays; may change its address. Those that do close ranks. */
typedef bool tracked_stays(struct tracked *tracked, void *context);
void tracked_filter(struct tracked_list *list, struct slots *pieces, tracked_stays *stays, void *context);

#endif
/* SPDX-License-Identifier: MIT */
