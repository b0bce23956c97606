/* Profiles its collected heap and its malloc heap at once: each profile counts its own heap's
 * blocks, and the message of the last failure is the last failed call's, of whichever library.
 * Works however the libraries are ordered. */
#include <stdlib.h>
#include <string.h>
#include <winnow/gc.h>
#include <winnow/malloc.h>
#include <winnow/memprof.h>

enum { PAIRS = 1000, BLOCKS = 500 };
static size_t blocks, named;

static void *block_born(const wn_allocation *allocation, void *context) {
  (void)context;
  blocks++;
  named += wn_callstack_frame(allocation->callstack, 0).module != NULL;
  return NULL;
}

static void *pair_born(wn_domain *d, const wn_allocation *allocation, void *context) {
  (void)d;
  named += wn_callstack_frame(allocation->callstack, 0).module != NULL;
  return context;
}

static int fail(const char *what) {
  printf("%s: %s\n", what, wn_last_error());
  return 1;
}

static void allocate(wn_domain *d) {
  for (int i = 0; i < PAIRS; i++) {
    WN_SCOPE(d);
    wn_pair(d, 0, wn_root(d, wn_int(i)), wn_root(d, wn_int(i)));
  }
  for (int i = 0; i < BLOCKS; i++) {
    void *volatile block = malloc(100);
    free(block);
  }
}

static int says(const char *expected) { return strstr(wn_last_error(), expected) != NULL; }

int main(void) {
  wn_heap *heap;
  wn_domain *d;
  wn_memprof_options every = {1, 16, 1}, wrong = {2, 16, 1};
  wn_malloc_tracker malloc_tracker = {.alloc = block_born};
  wn_tracker tracker = {.alloc_minor = pair_born, .alloc_major = pair_born, .context = &named};
  wn_profile *pairs_profile, *blocks_profile, *other;
  wn_memprof_count pairs, mallocs;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &d)) return fail("open");
  if (wn_memprof_start(d, &every, &tracker, &pairs_profile)) return fail("start");
  if (wn_malloc_profile_start(&every, &malloc_tracker, &blocks_profile)) return fail("start of malloc's");
  allocate(d);
  wn_memprof_counts(pairs_profile, &pairs);
  wn_memprof_counts(blocks_profile, &mallocs);
  if (wn_malloc_profile_stop() || wn_malloc_profile_discard(blocks_profile)) return fail("stop of malloc's");
  if (wn_memprof_stop(d) || wn_memprof_discard(pairs_profile)) return fail("stop");
  if (pairs.allocs_minor != PAIRS || mallocs.allocs_major != BLOCKS || blocks != BLOCKS ||
      named != PAIRS + BLOCKS) {
    printf("%d pairs, %d blocks, %zu known\n", (int)pairs.allocs_minor, (int)mallocs.allocs_major, named);
    return 1;
  }
  if (!wn_memprof_stop(d) || *wn_last_error() == 0) return fail("a second stop");
  if (!wn_malloc_profile_start(&wrong, &malloc_tracker, &other) || !says("rate"))
    return fail("a wrong rate of malloc's");
  if (!wn_malloc_profile_start(NULL, NULL, NULL) || !says("wn_malloc_profile_start"))
    return fail("no arguments");
  if (!wn_memprof_start(d, NULL, &tracker, &other) || says("wn_malloc_profile_start"))
    return fail("no options");
  return wn_domain_detach(d) || wn_heap_close(heap);
}
/* SPDX-License-Identifier: MIT */
