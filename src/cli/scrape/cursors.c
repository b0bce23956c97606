/* Finds and moves cursors. */
#include "cli/scrape/cursors.h"

#include <stdio.h>
#include <string.h>

static struct cursor *find(struct cursors *cursors, const char *client) {
  for (size_t i = 0; i < cursors->count; i++)
    if (!strcmp(cursors->items[i].client, client)) return &cursors->items[i];
  return NULL;
}

/* A free place, or that of the client which asked longest ago. */
static struct cursor *place_for_new(struct cursors *cursors) {
  if (cursors->count < CURSORS_MOST) return &cursors->items[cursors->count++];
  struct cursor *oldest = cursors->items;
  for (size_t i = 1; i < CURSORS_MOST; i++)
    if (cursors->items[i].asked < oldest->asked) oldest = &cursors->items[i];
  return oldest;
}

bool cursors_move(struct cursors *cursors, const char *client, uint64_t next_ns, uint64_t *since_ns) {
  char name[CLIENT_MOST];
  snprintf(name, sizeof name, "%s", client);
  struct cursor *found = find(cursors, name), *cursor = found ? found : place_for_new(cursors);
  *since_ns = found ? found->next_ns : next_ns;
  *cursor = (struct cursor){.next_ns = next_ns, .asked = cursors->asked++};
  strcpy(cursor->client, name);
  return found;
}
/* SPDX-License-Identifier: MIT */
