/* An array of 2^18 lists, each with the last four keys that fell into its slot: slots UPDATES.
 *
 * The old list is copied, not cut, as in the other languages. */
#include "cells.h"
#include "sequence.h"

#define SLOTS (1L << 18)

struct list {
  int64_t head;
  struct list *tail;
};

static struct list *cons(int64_t head, struct list *tail) {
  struct list *cell = cells_new(sizeof *cell);
  cell->head = head;
  cell->tail = tail;
  return cell;
}

static struct list *take(int n, const struct list *list) {
  return list && n ? cons(list->head, take(n - 1, list->tail)) : NULL;
}

static void drop(struct list *list) {
  while (list) {
    struct list *tail = list->tail;
    cells_free(list);
    list = tail;
  }
}

int main(int count, char **words) {
  long updates = sequence_argument(count, words, 8000000);
  uint64_t seed = 1;
  int64_t sum = 0;
  struct list **lists;
  cells_begin();
  lists = cells_new_array(SLOTS * sizeof *lists);
  for (long i = 0; i < updates; i++) {
    struct list **slot = &lists[sequence_next(&seed) & (SLOTS - 1)], *old = *slot;
    int64_t key = sequence_next(&seed);
    *slot = cons(key, take(3, old));
    if (cells_are_freed) drop(old);
  }
  for (long i = 0; i < SLOTS; i++)
    for (const struct list *list = lists[i]; list; list = list->tail)
      sum = (sum * 31 + list->head) & SUM_MASK;
  printf("%ld updates: %lld\n", updates, (long long)sum);
  return 0;
}
/* SPDX-License-Identifier: MIT */
