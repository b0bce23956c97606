/* Finds the part of a program that leaks, while the program runs: a tracker counts the live words
 * of each site, the callstack of an allocation.
 *
 * A period is some work and then a full collection, so that only live blocks count as live. The
 * program prints a site if its live words have grown in each of the last GROWS_FOR periods. A cache
 * that is full does not grow, and neither does short-lived garbage. Each sampled word stands for 1
 * / RATE words, so small sites are followed less closely: they are printed late, or never. With a
 * site it prints what holds one of its blocks.
 *
 * The program has all three: a list that is never emptied, a cache of a fixed size, and garbage. It
 * fails if it prints any site but the leak. */
#include <stdio.h>
#include <stdlib.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>
#include <winnow/snapshot.h>

#define RATE 0.02
enum { SITES_MOST = 64, PERIODS = 12, GROWS_FOR = 6, CACHE_SLOTS = 256 };

/* ---- the watcher ---- */

struct site {
  wn_callstack *callstack; /* a copy */
  const char *name;        /* the part of the program that first allocated there */
  double live, before;     /* words: now, and at the end of the last period */
  int grew;                /* in so many periods in a row */
  struct sample *example;  /* a live one; NULL: none is known */
};

struct watcher {
  struct site sites[SITES_MOST + 1]; /* the last stays free */
  const char *doing;
};

/* The tracker's metadata of a sampled block. */
struct sample {
  struct site *site;
  double words;
};

static struct site *find_site(struct watcher *watcher, const wn_callstack *callstack) {
  for (struct site *site = watcher->sites; site < watcher->sites + SITES_MOST; site++) {
    if (!site->callstack)
      *site = (struct site){.callstack = wn_callstack_copy(callstack), .name = watcher->doing};
    if (!site->callstack) return NULL; /* no memory */
    if (wn_callstack_equal(site->callstack, callstack)) return site;
  }
  return NULL;
}

static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct site *site = find_site(context, allocation->callstack);
  struct sample *sample = site ? malloc(sizeof *sample) : NULL;
  (void)domain;
  if (!sample) return NULL;
  *sample = (struct sample){site, (double)allocation->n_samples / RATE};
  site->live += sample->words;
  site->example = sample;
  return sample;
}

static void *promoted(wn_domain *domain, void *sample, void *context) {
  (void)domain, (void)context;
  return sample;
}

static void forget(void *metadata, void *context) {
  struct sample *sample = metadata;
  (void)context;
  sample->site->live -= sample->words;
  if (sample->site->example == sample) sample->site->example = NULL;
  free(sample);
}

static void died(wn_domain *domain, void *metadata, void *context) {
  (void)domain;
  forget(metadata, context);
}

static void end_period(struct watcher *watcher) {
  for (struct site *site = watcher->sites; site->callstack; site++) {
    site->grew = site->live > site->before ? site->grew + 1 : 0;
    site->before = site->live;
  }
}

static bool keeps_growing(const struct site *site) { return site->grew >= GROWS_FOR; }

static void print_step(void *context, const wn_path_step *step) {
  const char **between = context;
  printf("%s%s%s%s", *between, step->type, step->name ? " " : "", step->name ? step->name : "");
  if (step->blocks > 1) printf(" x %zu", step->blocks);
  *between = " > ";
}

static void print(wn_domain *domain, const wn_profile *profile, const struct site *site) {
  wn_frame frame = wn_callstack_frame(site->callstack, 0);
  const char *before = "  held by ";
  printf("%s: about %.0f words live, more in each of %d periods (%s+0x%zx)\n", site->name, site->live,
         site->grew, frame.module ? frame.module : "?", (size_t)frame.offset);
  if (site->example && !wn_sample_path(domain, profile, site->example, print_step, &before)) putchar('\n');
}

/* ---- the program ---- */

static void leak(wn_domain *domain, wn_global *visitors) {
  WN_SCOPE(domain);
  wn_ref list = wn_global_get(domain, visitors);
  for (int i = 0; i < 2000; i++) wn_push_int(domain, list, 0, i);
  wn_global_set(domain, visitors, list);
}

static void fill_cache(wn_domain *domain, wn_ref cache, int period) {
  for (int i = 0; i < 1000; i++) {
    WN_SCOPE(domain);
    wn_ref entry = wn_alloc_bytes(domain, 512);
    wn_set(domain, cache, (size_t)(i * 7 + period) % CACHE_SLOTS, entry);
  }
}

static void churn(wn_domain *domain) {
  for (int i = 0; i < 20; i++) {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0));
    for (int j = 0; j < 1000; j++) wn_push_int(domain, list, 0, j);
  }
}

static bool run_period(wn_domain *domain, struct watcher *watcher, wn_global *visitors, wn_ref cache,
                       int period) {
  watcher->doing = "leak";
  leak(domain, visitors);
  if (wn_gc_minor(domain)) return false; /* reports the births before the next part begins */
  watcher->doing = "cache";
  fill_cache(domain, cache, period);
  if (wn_gc_minor(domain)) return false;
  watcher->doing = "churn";
  churn(domain);
  if (wn_gc_full_major(domain)) return false;
  end_period(watcher);
  return true;
}

/* True if the leak was printed, and no other site. */
static bool run(wn_domain *domain, struct watcher *watcher, const wn_profile *profile) {
  WN_SCOPE(domain);
  int leaks = 0, others = 0;
  wn_ref cache = wn_alloc(domain, CACHE_SLOTS, 0);
  wn_global *visitors = wn_global_new_named(domain, wn_root(domain, wn_int(0)), "visitors");
  if (!visitors) return puts(wn_last_error()), false;
  for (int period = 0; period < PERIODS; period++) {
    if (!run_period(domain, watcher, visitors, cache, period)) return puts(wn_last_error()), false;
    for (const struct site *site = watcher->sites; site->callstack; site++)
      if (keeps_growing(site)) {
        print(domain, profile, site);
        (*site->name == 'l') ? leaks++ : others++;
      }
  }
  return leaks && !others;
}

int main(void) {
  static struct watcher watcher;
  wn_memprof_options options = {RATE, 16, 1};
  wn_tracker tracker = {.alloc_minor = born,
                        .alloc_major = born,
                        .promote = promoted,
                        .dealloc_minor = died,
                        .dealloc_major = died,
                        .drop = forget,
                        .context = &watcher};
  wn_profile *profile;
  wn_heap *heap;
  wn_domain *domain;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &domain) ||
      wn_memprof_start(domain, &options, &tracker, &profile))
    return puts(wn_last_error()), 1;
  bool good = run(domain, &watcher, profile);
  if (wn_memprof_stop(domain) || wn_memprof_discard(profile)) return puts(wn_last_error()), 1;
  for (struct site *site = watcher.sites; site->callstack; site++) wn_callstack_free(site->callstack);
  return wn_domain_detach(domain) || wn_heap_close(heap) || !good;
}
/* SPDX-License-Identifier: MIT */
