/* How fast one processor marks: marking GIBIBYTES.
 *
 * The heap is filled twice: with trees as they were made, so that neighbours in a tree are
 * neighbours in memory, and with a large array of small blocks in a random order. Then a cycle
 * begins, and is marked without helpers. Sweeping is not in the time, which is the processor's. */
#include "gc/collect/major.h"
#include "gc/domains/domain.h"
#include "tree.h"

enum { TREE_DEPTH = 15 };

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double mark(wn_domain *d) {
  double begin;
  major_full(d, STOP_REQUEST);
  major_collect(d, COLLECT_CYCLE, STOP_REQUEST);
  begin = processor_seconds();
  while (heap_phase(d->heap) == PHASE_MARK)
    if (!major_work(d, SIZE_MAX)) major_collect(d, 0, STOP_REQUEST);
  begin = processor_seconds() - begin;
  major_finish_cycle(d, STOP_REQUEST);
  return begin;
}

static void tell(wn_domain *d, const char *what) {
  wn_gc_stat stat;
  double seconds = mark(d), gibibytes;
  wn_gc_read_stat(d, &stat);
  gibibytes = (double)stat.live_words * 8 / (1 << 30);
  printf("%s: %.2f GiB, %.1f million blocks, %.2f GiB/s, %.0f ns a block\n", what, gibibytes,
         (double)stat.live_blocks / 1e6, gibibytes / seconds, seconds * 1e9 / (double)stat.live_blocks);
}

static void trees(wn_domain *d, double bytes) {
  WN_SCOPE(d);
  size_t count = (size_t)(bytes / ((2u << TREE_DEPTH) * (TREE_FIELDS + 1) * sizeof(wn_value)));
  wn_ref all = wn_alloc(d, count, 0), tree = wn_root(d, wn_int(0));
  for (size_t i = 0; i < count; i++) {
    *tree.slot = tree_from_leaves(d, TREE_DEPTH);
    wn_set(d, all, i, tree);
  }
  tell(d, "trees");
}

static void boxes(wn_domain *d, double bytes) {
  WN_SCOPE(d);
  size_t count = (size_t)(bytes / (4 * sizeof(wn_value)));
  uint64_t seed = 1;
  wn_ref all = wn_alloc(d, count, 0), box = wn_root(d, wn_int(0)), other = wn_root(d, wn_int(0));
  for (size_t i = 0; i < count; i++) {
    wn_value *fields = wn_bump(d, 2, 0);
    fields[0] = fields[1] = wn_int((intptr_t)i);
    *box.slot = (wn_value)fields;
    wn_set(d, all, i, box);
  }
  for (size_t i = count - 1; i; i--) {
    size_t j = (size_t)sequence_next(&seed) % (i + 1);
    wn_assign_field(box, all, i);
    wn_assign_field(other, all, j);
    wn_set(d, all, i, other);
    wn_set(d, all, j, box);
  }
  tell(d, "an array in random order");
}

int main(int count, char **words) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  double bytes = (count > 1 ? atof(words[1]) : 2) * (1 << 30);
  struct program program;
  options.helper_threads = 0;
  program_check(wn_heap_open(&options, &program.heap));
  program_check(wn_domain_attach(program.heap, &program.domain));
  trees(program.domain, bytes);
  boxes(program.domain, bytes);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
