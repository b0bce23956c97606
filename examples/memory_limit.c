/* A program that limits its own memory, with an alarm.
 *
 * The program keeps everything that it computes in a cache, which would grow for ever. At the end
 * of each collection cycle an alarm looks at the size of the heap. Above the limit the alarm raises
 * an exception. It is pending in the domain until the program takes it, after a safepoint, and
 * empties the cache.
 *
 * Between two cycles the heap may grow by about space_overhead percent, so the limit is soft. The
 * heap has no helper threads: on a busy machine a helper that waits for a processor could delay the
 * end of a cycle, and so the alarm. The program prints what happened, and fails if the heap grew to
 * three times the limit. */
#include <stdio.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>

enum { LIMIT_WORDS = 1 << 20, RESULT_BYTES = 1000, RESULTS = 100000 };

static void check_size(wn_domain *domain, void *context) {
  wn_gc_stat stat;
  (void)context;
  if (wn_gc_quick_stat(domain, &stat) || stat.heap_words <= LIMIT_WORDS) return;
  WN_SCOPE(domain);
  wn_raise(domain, wn_root(domain, wn_int(stat.heap_words)));
}

/* The cache is a list: a pair of the latest result and the rest. */
static void compute(wn_domain *domain, wn_ref cache) {
  WN_SCOPE(domain);
  wn_ref result = wn_alloc_bytes(domain, RESULT_BYTES);
  wn_assign_pair(domain, cache, 0, result, cache);
}

/* Takes the exception if there is one. */
static bool is_too_large(wn_domain *domain) {
  WN_SCOPE(domain);
  wn_poll(domain);
  wn_ref exception = wn_take_exception(domain);
  if (wn_is_null(exception)) return false;
  printf("the heap has %ld words: the cache is emptied\n", (long)wn_to_int(wn_value_of(exception)));
  return true;
}

static bool run(wn_domain *domain) {
  WN_SCOPE(domain);
  wn_ref cache = wn_root(domain, wn_int(0));
  for (int i = 0; i < RESULTS; i++) {
    compute(domain, cache);
    if (!is_too_large(domain)) continue;
    wn_assign_int(cache, 0);
    if (wn_gc_full_major(domain)) return false;
  }
  return true;
}

static bool tell(wn_domain *domain) {
  wn_gc_stat stat;
  if (wn_gc_quick_stat(domain, &stat)) return false;
  printf("%.0f words were computed, and the heap never had more than %ld\n",
         stat.minor_words + stat.major_words - stat.promoted_words, stat.top_heap_words);
  return stat.top_heap_words < 3L * LIMIT_WORDS;
}

int main(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_heap *heap;
  wn_domain *domain;
  wn_gc_alarm *alarm;
  options.helper_threads = 0;
  if (wn_heap_open(&options, &heap) || wn_domain_attach(heap, &domain) ||
      wn_gc_create_alarm(domain, check_size, NULL, &alarm)) {
    puts(wn_last_error());
    return 1;
  }
  bool good = run(domain) && tell(domain);
  wn_gc_delete_alarm(domain, alarm);
  return wn_domain_detach(domain) || wn_heap_close(heap) || !good;
}
/* SPDX-License-Identifier: MIT */
