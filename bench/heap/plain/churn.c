/* Lists of 100 cells that are built, summed and dropped: churn LISTS. */
#include "cells.h"
#include "sequence.h"

struct list {
  int64_t head;
  struct list *tail;
};

static struct list *build(int64_t n, int64_t seed) {
  struct list *list = NULL;
  for (; n; n--) {
    struct list *cell = cells_new(sizeof *cell);
    cell->head = seed + n;
    cell->tail = list;
    list = cell;
  }
  return list;
}

static int64_t sum(const struct list *list) {
  int64_t total = 0;
  for (; list; list = list->tail) total += list->head;
  return total;
}

static void drop(struct list *list) {
  while (list) {
    struct list *tail = list->tail;
    cells_free(list);
    list = tail;
  }
}

int main(int count, char **words) {
  long lists = sequence_argument(count, words, 1000000);
  int64_t total = 0;
  cells_begin();
  for (long i = 1; i <= lists; i++) {
    struct list *list = build(100, i);
    total = (total + sum(list)) & SUM_MASK;
    if (cells_are_freed) drop(list);
  }
  printf("%ld lists: %lld\n", lists, (long long)total);
  return 0;
}
/* SPDX-License-Identifier: MIT */
