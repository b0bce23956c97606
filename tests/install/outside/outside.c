/* A program outside Winnow that samples its own malloc heap. */
#include <stdio.h>
#include <stdlib.h>
#include <winnow/malloc.h>

static size_t born, freed;

static void *on_alloc(const wn_allocation *allocation, void *context) {
  (void)context;
  born++;
  return allocation->n_samples ? &born : NULL;
}

static void on_free(void *metadata, void *context) {
  (void)metadata, (void)context;
  freed++;
}

int main(void) {
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  options.sampling_rate = 1;
  wn_malloc_tracker tracker = {.alloc = on_alloc, .free = on_free};
  wn_profile *profile;
  if (wn_malloc_profile_start(&options, &tracker, &profile))
    return fprintf(stderr, "%s\n", wn_last_error()), 1;
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc(100);
    free(block);
  }
  if (wn_malloc_profile_stop() || wn_malloc_profile_discard(profile))
    return fprintf(stderr, "%s\n", wn_last_error()), 1;
  if (born != 1000 || freed != 1000)
    return fprintf(stderr, "saw %zu births, %zu frees of 1000\n", born, freed), 1;
  return 0;
}
/* SPDX-License-Identifier: MIT */
