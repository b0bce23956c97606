/* Lists of pieces; a piece has the addresses of some tracked blocks. */
#include "memprof/tracked.h"

enum { AHEAD = 16 };

static struct tracked_piece *add_piece(struct tracked_list *list, struct slots *pieces) {
  uint32_t number;
  struct tracked_piece *piece = slots_take(pieces, stripe_of_thread(), &number);
  if (!piece) return NULL;
  piece->number = number;
  piece->count = 0;
  piece->next = NULL;
  if (list->last)
    list->last->next = piece;
  else
    list->first = piece;
  list->last = piece;
  return piece;
}

/* Gives back the pieces after a piece. */
static void cut_after(struct tracked_list *list, struct slots *pieces, struct tracked_piece *last) {
  struct tracked_piece *piece = last->next;
  last->next = NULL;
  list->last = last;
  while (piece) {
    struct tracked_piece *next = piece->next;
    slots_give(pieces, piece, piece->number);
    piece = next;
  }
}

/* Where tracked_filter puts the next block that stays: at or before the block that it looks at. */
struct place {
  struct tracked_piece *piece;
  uint32_t count;
};

static void put(struct place *place, const struct tracked *tracked) {
  if (place->count == TRACKED_ROOM) {
    place->piece->count = TRACKED_ROOM;
    place->piece = place->piece->next;
    place->count = 0;
  }
  place->piece->at[place->count++] = *tracked;
}

/* ---- shared ---- */

bool tracked_append(struct tracked_list *list, struct slots *pieces, struct memprof_entry *entry,
                    uintptr_t address) {
  struct tracked_piece *piece = list->last;
  if ((!piece || piece->count == TRACKED_ROOM) && !(piece = add_piece(list, pieces))) return false;
  piece->at[piece->count++] = (struct tracked){address, entry};
  return true;
}

void tracked_join(struct tracked_list *list, struct tracked_list *tail) {
  if (!tail->first) return;
  if (list->last)
    list->last->next = tail->first;
  else
    list->first = tail->first;
  list->last = tail->last;
  *tail = (struct tracked_list){0};
}

void tracked_filter(struct tracked_list *list, struct slots *pieces, tracked_stays *stays, void *context) {
  struct place place = {list->first, 0};
  if (!list->first) return;
  for (struct tracked_piece *piece = list->first; piece; piece = piece->next) {
    uint32_t count = piece->count;
    for (uint32_t i = 0; i < count; i++) {
      struct tracked tracked = piece->at[i];
      if (i + AHEAD < count) __builtin_prefetch((const void *)piece->at[i + AHEAD].address);
      if (stays(&tracked, context)) put(&place, &tracked);
    }
  }
  place.piece->count = place.count;
  cut_after(list, pieces, place.piece);
}
/* SPDX-License-Identifier: MIT */
