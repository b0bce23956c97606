/* Heaps that are opened and closed leave nothing behind. */
#include "gc/journal.h"

#include <dirent.h>
#include <stdio.h>

enum { TIMES = 64, WARM = 16 };

/* What may be there more than before. A heap that stays would be four mappings at least, and reserves gigabytes; thread stacks
 * may be cached differently. ThreadSanitizer keeps some memory of what each thread did: there only whole heaps are seen. */
#ifdef __SANITIZE_THREAD__
enum { MAPPINGS_MOST = 3 * TIMES, KILOBYTES_MOST = 2 << 20 };
#else
enum { MAPPINGS_MOST = 8, KILOBYTES_MOST = 64 << 10 };
#endif

struct traces {
  long mappings, kilobytes, threads;
};

static struct traces traces_of_this_process(void) {
  struct traces traces = {0};
  char line[512];
  unsigned long begin, end;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx", &begin, &end) == 2) {
      traces.mappings++;
      traces.kilobytes += (long)((end - begin) >> 10);
    }
  assert_int_equal(fclose(maps), 0);
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (const struct dirent *entry; (entry = readdir(tasks));) traces.threads += entry->d_name[0] != '.';
  assert_int_equal(closedir(tasks), 0);
  return traces;
}

/* ---- a heap that uses everything that takes memory or a thread ---- */

static _Atomic(int) released;
static void release(void *bytes) {
  (void)bytes;
  atomic_fetch_add(&released, 1);
}
static const wn_custom_ops ops = {"counted", release};

static void ignore(wn_domain *domain, wn_ref value, void *context) {
  (void)domain, (void)value, (void)context;
}

static void fill(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  wn_global **global = argument;
  wn_ref list = wn_root(domain, wn_int(0));
  for (int i = 0; i < 2000; i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, (size_t)(i % 300) + 2, 0);
    wn_set(domain, block, 0, list);
    wn_set(domain, block, 1, wn_alloc_custom(domain, &ops, 8, 100));
    if (i % 10 == 0) assert_int_equal(wn_gc_finalise(domain, ignore, NULL, block), WN_OK);
    wn_assign(list, block);
  }
  wn_set(domain, list, 0, wn_alloc(domain, 200000, WN_TAG_RAW));
  if (global) *global = wn_global_new(domain, list);
}

static void use_a_heap(void) {
  wn_heap *heap;
  wn_domain *domain;
  wn_join *joins[3];
  wn_global *globals[3];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 2;
  options.parameters.minor_heap_size = 8192;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  for (int i = 0; i < 3; i++)
    assert_int_equal((i % 2 ? wn_thread_spawn : wn_domain_spawn)(domain, fill, &globals[i], &joins[i]),
                     WN_OK);
  fill(domain, NULL);
  for (int i = 0; i < 3; i++) assert_int_equal(wn_join_wait(domain, joins[i]), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

static void heaps_leave_nothing_behind(void **state) {
  (void)state;
  for (int i = 0; i < WARM; i++) use_a_heap();
  struct traces before = traces_of_this_process();
  for (int i = 0; i < TIMES; i++) use_a_heap();
  struct traces after = traces_of_this_process();
  assert_int_equal(after.threads, before.threads);
  assert_in_range(after.mappings, 0, (unsigned long)before.mappings + MAPPINGS_MOST);
  assert_in_range(after.kilobytes, 0, (unsigned long)before.kilobytes + KILOBYTES_MOST);
  assert_int_equal(atomic_load(&released), (WARM + TIMES) * 4 * 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(heaps_leave_nothing_behind)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
