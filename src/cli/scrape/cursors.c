/* Finds and moves cursors. */
#include "cli/scrape/cursors.h"

#include <stdio.h>
#include <string.h>

/* A free place, or that of the client which asked longest ago. */
static struct cursor *cursors_place_for_new(struct cursors *cursors) {
  if (cursors->count < CURSORS_MOST) return &cursors->items[cursors->count++];
  struct cursor *oldest = cursors->items;
  for (size_t i = 1; i < CURSORS_MOST; i++)
    if (cursors->items[i].asked < oldest->asked) oldest = &cursors->items[i];
  return oldest;
}

const struct cursor *cursors_find(const struct cursors *cursors, const char *client) {
  for (size_t i = 0; i < cursors->count; i++)
    if (!strcmp(cursors->items[i].client, client)) return &cursors->items[i];
  return NULL;
}

void cursors_move(struct cursors *cursors, const char *client, uint64_t next_ns, bool last) {
  const struct cursor *found = cursors_find(cursors, client);
  struct cursor *cursor = found ? &cursors->items[found - cursors->items] : cursors_place_for_new(cursors);
  *cursor = (struct cursor){.next_ns = next_ns, .asked = cursors->asked++, .last = last};
  snprintf(cursor->client, sizeof cursor->client, "%s", client);
}
/* SPDX-License-Identifier: MIT */
