/* Blocks that are larger than a minor heap takes: large KIB ROUNDS LIVE_MIB DOMAINS.
 *
 * One domain allocates blocks of KIB, fills them and drops them, beside LIVE_MIB that stay. DOMAINS
 * - 1 others allocate lists of which nothing lives long, until it is done: what they promote is what
 * collections found before it had time to die. */
#include "heap_program.h"

#include <string.h>
#include <time.h>
#include <winnow/gc.h>

enum { LIST = 100, LISTS = 64, MOST = 8 };

static _Atomic(bool) done;

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static wn_ref make(wn_domain *d, size_t bytes, int with) {
  wn_ref block = wn_alloc_bytes(d, bytes);
  memset(wn_bytes(block), with, bytes);
  return block;
}

/* The last LISTS lists live. */
static void make_lists(wn_domain *d, void *unused) {
  (void)unused;
  WN_SCOPE(d);
  wn_ref ring = wn_alloc(d, LISTS, 0);
  for (size_t i = 0; !done; i++) {
    WN_SCOPE(d);
    wn_ref list = wn_root(d, wn_int(0));
    for (int n = 0; n < LIST; n++) {
      WN_SCOPE(d);
      wn_assign(list, wn_pair(d, 0, wn_root(d, wn_int(n)), list));
    }
    wn_set(d, ring, i % LISTS, list);
  }
}

static void run(wn_domain *d, size_t bytes, long rounds, size_t live) {
  WN_SCOPE(d);
  wn_gc_stat before, after;
  wn_ref kept = wn_alloc(d, live, 0);
  for (size_t i = 0; i < live; i++) {
    WN_SCOPE(d);
    wn_set(d, kept, i, make(d, 1 << 20, 1));
  }
  program_check(wn_gc_quick_stat(d, &before));
  double began = seconds();
  for (long i = 0; i < rounds; i++) {
    WN_SCOPE(d);
    make(d, bytes, (int)i);
  }
  double took = seconds() - began;
  program_check(wn_gc_quick_stat(d, &after));
  printf("%.1f us a block; %ld minor collections, %ld cycles; %.2f %% of young words promoted; %ld MiB at "
         "most\n",
         1e6 * took / (double)rounds, after.minor_collections - before.minor_collections,
         after.major_collections - before.major_collections,
         100 * (after.promoted_words - before.promoted_words) / (after.minor_words - before.minor_words + 1),
         after.top_heap_words >> 17);
}

int main(int count, char **arguments) {
  if (count != 5) return fprintf(stderr, "usage: large KIB ROUNDS LIVE_MIB DOMAINS\n"), 1;
  struct program program = program_begin();
  wn_join *joins[MOST];
  int others = atoi(arguments[4]) - 1;
  for (int i = 0; i < others && i < MOST; i++)
    program_check(wn_domain_spawn(program.domain, make_lists, NULL, &joins[i]));
  run(program.domain, (size_t)atol(arguments[1]) << 10, atol(arguments[2]), (size_t)atol(arguments[3]));
  done = true;
  for (int i = 0; i < others && i < MOST; i++) program_check(wn_join_wait(program.domain, joins[i]));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
