/* A stack machine with a heap of its own: it samples the pairs that it pushes on a list, and writes
 * a trace of them where WINNOW_TRACE=FILE asks for one. Then: winnow report FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <winnow/writer.h>

struct pair {
  struct pair *next;
  uint64_t number; /* the number of the block in the trace; 0: not sampled */
};

static wn_writer *writer;
static double rate;
static wn_place lines[4];
static struct pair *kept; /* until the program ends */

/* The number of sampled words among `words` words: each is sampled with probability `rate`. */
static size_t samples(size_t words) {
  size_t count = 0;
  while (words--) count += drand48() < rate;
  return count;
}

static struct pair *push(struct pair *list, int line) {
  struct pair *pair = malloc(sizeof *pair);
  if (!pair) abort();
  *pair = (struct pair){list, 0};
  wn_allocation allocation = {.n_samples = writer ? samples(3) : 0, .size = 2};
  if (!allocation.n_samples) return pair;
  const wn_place stack[] = {lines[line], lines[0]}; /* innermost first */
  pair->number = wn_writer_alloc(writer, &allocation, stack, 2, WN_WRITER_MINOR);
  return pair;
}

static void drop(struct pair *list) {
  for (struct pair *next; list; list = next) {
    next = list->next;
    if (list->number) wn_writer_free(writer, list->number);
    free(list);
  }
}

int main(void) {
  wn_writer_options options = WN_WRITER_DEFAULTS;
  options.heap = options.language = "stack machine";
  if (wn_writer_open_if_requested(&options, &writer)) return fprintf(stderr, "%s\n", wn_last_error()), 1;
  rate = options.sampling.sampling_rate;
  srand48((long)options.sampling.seed);
  for (uint32_t i = 0; writer && i < 4; i++)
    lines[i] = wn_writer_place(writer, &(wn_place_text){i ? "push" : "main", "demo.sm", 10 + i, 1, 8 + i});
  for (int round = 0; round < 100; round++) {
    struct pair *brief = NULL;
    for (int i = 0; i < 3000; i++) brief = push(brief, 1 + i % 2);
    for (int i = 0; i < 100; i++) kept = push(kept, 3);
    drop(brief);
  }
  wn_writer_close(writer);
}
/* SPDX-License-Identifier: MIT */
