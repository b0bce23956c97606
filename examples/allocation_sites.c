/* Shows where a program allocates: a tracker counts sampled words by callstack.
 *
 * A small table has a copy of each callstack. Each sampled word stands for 1 / RATE words. The
 * program does not need deaths, so the callback of a birth returns NULL, and no block is tracked. */
#include <stdio.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>

#define RATE 1e-3
enum { SITES_MOST = 64 };

struct site {
  wn_callstack *callstack; /* a copy; NULL: free */
  double words;
};

static void *count(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct site *site = context;
  (void)domain;
  while (site->callstack && !wn_callstack_equal(site->callstack, allocation->callstack))
    site++; /* the last one stays free */
  if (!site->callstack && site < (struct site *)context + SITES_MOST)
    site->callstack = wn_callstack_copy(allocation->callstack);
  if (site->callstack) site->words += (double)allocation->n_samples / RATE;
  return NULL;
}

static void make_lists(wn_domain *domain) {
  for (int i = 0; i < 20000; i++) {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0));
    for (int j = 0; j < 100; j++) wn_push_int(domain, list, 0, j);
    wn_poll(domain);
  }
}

static void make_buffers(wn_domain *domain) {
  for (int i = 0; i < 2000; i++) {
    WN_SCOPE(domain);
    wn_alloc_bytes(domain, 8000);
    wn_poll(domain);
  }
}

static void print(const struct site *site) {
  wn_frame frame = wn_callstack_frame(site->callstack, 0);
  printf("%10.0f words at %s+0x%zx\n", site->words, frame.module ? frame.module : "?", (size_t)frame.offset);
}

int main(void) {
  static struct site sites[SITES_MOST + 1];
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  wn_tracker tracker = {.alloc_minor = count, .alloc_major = count, .context = sites};
  wn_profile *profile;
  wn_heap *heap;
  wn_domain *domain;
  options.sampling_rate = RATE;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &domain) ||
      wn_memprof_start(domain, &options, &tracker, &profile))
    return puts(wn_last_error()), 1;
  make_lists(domain);
  make_buffers(domain);
  if (wn_memprof_stop(domain) || wn_memprof_discard(profile)) return puts(wn_last_error()), 1;
  double total = 0;
  for (struct site *site = sites; site->callstack; total += site++->words) {
    print(site);
    wn_callstack_free(site->callstack);
  }
  double truth = 20000.0 * 100 * 3 + 2000.0 * 1001;
  printf("%.0f words in all; in truth %.0f\n", total, truth);
  return wn_domain_detach(domain) || wn_heap_close(heap) || total < truth * 0.9 || total > truth * 1.1;
}
/* SPDX-License-Identifier: MIT */
