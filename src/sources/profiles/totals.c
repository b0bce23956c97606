/* Makes events of totals. */
#include "sources/profiles/totals.h"

#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

/* The size of the blocks of a group, and their number. */
static uint64_t totals_size_of(const struct total *total, bool larger) {
  return total->bytes / total->blocks + larger;
}
static uint64_t totals_blocks_of(const struct total *total, bool larger) {
  uint64_t rest = total->bytes % total->blocks;
  return larger ? rest : total->blocks - rest;
}

/* Goes to the next group that has blocks; false at the end. */
static bool find_blocks(struct totals *totals) {
  while (!totals->left && totals->at < totals->count) {
    if (totals->begun) totals->at += totals->larger, totals->larger = !totals->larger;
    totals->begun = true;
    if (totals->at < totals->count)
      totals->left = totals_blocks_of(&totals->items[totals->at], totals->larger);
  }
  return totals->left;
}

static void totals_give_sample(struct totals *totals, struct trace_event *event) {
  const struct total *total = &totals->items[totals->at];
  uint64_t blocks = totals->left & -totals->left;
  totals->left -= blocks;
  totals->held = total->moment != SOURCE_END;
  event->kind = TRACE_SAMPLE;
  event->sample = (struct trace_sample){.time_ns = total->moment,
                                        .thread = 1,
                                        .stack = total->stack,
                                        .block = ++totals->block,
                                        .size = totals_size_of(total, totals->larger),
                                        .words = blocks,
                                        .n_samples = 1,
                                        .held_only = total->moment != SOURCE_ALLOCATED};
}

static void totals_give_free(struct totals *totals, struct trace_event *event) {
  const struct total *total = &totals->items[totals->at];
  uint64_t end = total->moment == SOURCE_PEAK ? SOURCE_END : SOURCE_ALLOCATED;
  totals->held = false;
  event->kind = TRACE_FREE;
  event->free = (struct trace_free){.time_ns = end, .thread = 1, .block = totals->block};
}

/* ---- lists ---- */

static bool totals_reach(struct totals *totals, uint32_t stack) {
  if (stack < totals->stacks) return true;
  size_t larger = 2 * (size_t)stack + FIRST_CAPACITY;
  for (int moment = 0; moment < SOURCE_MOMENTS; moment++) {
    uint32_t *moved = realloc(totals->of[moment], larger * sizeof *moved);
    if (!moved) return false;
    memset(moved + totals->stacks, 0, (larger - totals->stacks) * sizeof *moved);
    totals->of[moment] = moved;
  }
  totals->stacks = larger;
  return true;
}

/* The total of a stack and moment, which is added if there is none; NULL without memory. */
static struct total *total_of(struct totals *totals, const struct total *total) {
  if (!totals_reach(totals, total->stack)) return NULL;
  uint32_t *number = &totals->of[total->moment][total->stack];
  if (*number) return &totals->items[*number - 1];
  struct total added = {.stack = total->stack, .moment = total->moment};
  if (!ARRAY_ADD(totals->items, totals->count, totals->capacity, added)) return NULL;
  *number = (uint32_t)totals->count;
  return &totals->items[totals->count - 1];
}

/* ---- shared ---- */

void totals_destroy(struct totals *totals) {
  free(totals->items);
  for (int moment = 0; moment < SOURCE_MOMENTS; moment++) free(totals->of[moment]);
  *totals = (struct totals){.items = NULL};
}

wn_status totals_add(struct totals *totals, const struct total *total) {
  if (!total->blocks && total->bytes) return error_set(WN_EINVAL, "it has bytes without a block");
  if (!total->blocks) return WN_OK;
  if (total->bytes >= TOTALS_MOST - totals->bytes[total->moment] ||
      total->blocks >= TOTALS_MOST - totals->blocks[total->moment])
    return error_set(WN_EINVAL, "its totals reach 2^53, and could not be exact");
  struct total *of = total_of(totals, total);
  if (!of) return error_set(WN_ENOMEM, "not enough memory to read it");
  totals->bytes[total->moment] += total->bytes;
  totals->blocks[total->moment] += total->blocks;
  of->bytes += total->bytes;
  of->blocks += total->blocks;
  return WN_OK;
}

bool totals_next(struct totals *totals, struct trace_event *event) {
  if (totals->held) return totals_give_free(totals, event), true;
  if (!find_blocks(totals)) return false;
  totals_give_sample(totals, event);
  return true;
}
/* SPDX-License-Identifier: MIT */
