/* Snapshots while memory runs out: under a limit of addresses that leaves room for ever more, each is whole or
 * there is none, and the heap goes on. */
#include "support/mapped.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <winnow/gc.h>
#include <winnow/heap.h>
#include <winnow/snapshot.h>

enum { BLOCKS = 2000, LIMITS = 100, STEP = 16 << 10 };

static char path[4096];

static wn_status snapshot_within(wn_domain *domain, rlim_t more) {
  struct rlimit before, little;
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  little = (struct rlimit){mapped_bytes() + more, before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
  wn_status status = wn_heap_snapshot(domain, path);
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_heap *heap;
  wn_domain *domain;
  int ended[2] = {0};
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* they need addresses of their own */
#endif
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  {
    WN_SCOPE(domain);
    wn_ref all = wn_alloc(domain, BLOCKS, 0);
    for (size_t i = 0; i < BLOCKS; i++) {
      WN_SCOPE(domain);
      wn_set(domain, all, i, wn_alloc(domain, 1 + i % 8, 0));
    }
    for (rlim_t i = 0; i < LIMITS; i++) {
      unlink(path);
      wn_status status = snapshot_within(domain, i * STEP);
      assert_true(status == WN_OK || status == WN_ENOMEM);
      ended[status == WN_OK]++;
      assert_int_equal(!access(path, F_OK), status == WN_OK);
      assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
    }
    assert_true(ended[0] && ended[1]);
  }
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_may_run_out_anywhere)};
  snprintf(path, sizeof path, "%s/test_snapshot_memory.%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
           (long)getpid());
  int code = RUN_TESTS(tests);
  unlink(path);
  return code;
}
/* SPDX-License-Identifier: MIT */
