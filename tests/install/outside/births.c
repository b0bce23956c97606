/* Samples its own collected heap and prints what its profile counted, and how a refused call was
 * told. */
#include <winnow/gc.h>
#include <winnow/memprof.h>
#include <winnow/version.h>

static size_t frames;

static void *born(wn_domain *d, const wn_allocation *allocation, void *context) {
  (void)d;
  frames += wn_callstack_depth(allocation->callstack) > 0;
  return context;
}

static void build(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref list = wn_root(d, wn_int(0));
  for (int i = 0; i < 100000; i++) {
    WN_SCOPE(d);
    wn_assign(list, wn_pair(d, 0, wn_root(d, wn_int(i)), list));
  }
}

static int fail(const char *what) {
  printf("%s: %s\n", what, wn_last_error());
  return 1;
}

int main(void) {
  wn_heap *heap;
  wn_domain *d;
  wn_memprof_options options = {0.01, 16, 42};
  wn_tracker tracker = {.alloc_minor = born, .alloc_major = born, .context = &frames};
  wn_profile *profile;
  wn_memprof_count count;
  if (*wn_last_error()) return fail("before any call");
  if (wn_version() != WN_VERSION) return fail(wn_version_text());
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &d)) return fail("open");
  if (wn_memprof_start(d, &options, &tracker, &profile)) return fail("start");
  build(d);
  if (wn_memprof_drain(d)) return fail("drain");
  wn_memprof_counts(profile, &count);
  printf("%llu births, %zu with a callstack\n", (unsigned long long)(count.allocs_minor + count.allocs_major),
         frames);
  printf("a second start: %s\n",
         wn_memprof_start(d, &options, &tracker, &profile) ? wn_last_error() : "allowed");
  if (wn_memprof_stop(d) || wn_memprof_discard(profile)) return fail("stop");
  return wn_domain_detach(d) || wn_heap_close(heap);
}
/* SPDX-License-Identifier: MIT */
