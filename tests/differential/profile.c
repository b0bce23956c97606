/* The profiles of a script, and what their callbacks do. A block's metadata says which block it is. */
#include "differential/world.h"

#include <stdlib.h>

static const char *const sources[] = {
    [WN_SOURCE_NORMAL] = "normal", [WN_SOURCE_MARSHAL] = "marshal", [WN_SOURCE_CUSTOM] = "custom"};

struct tracked {
  int session, id;
  const char *source;
};

static bool is_ours(size_t words) { return words >= LEAST_WORDS && words < MOST_WORDS; }

static void discard_in_callback(int session) {
  for (int i = 0; i < SLOTS; i++) {
    struct profile *profile = &world.profiles[i];
    if (!profile->handle || profile->session != session || wn_memprof_discard(profile->handle)) continue;
    profile->handle = NULL;
    log_forget(session, true);
  }
}

/* Whether something may be planned for this call. Of copies it is not known which is called first,
 * and OCaml tells the births of a message before it is read. */
static bool may_act(const struct tracked *of, enum kind kind) {
  return of->source == sources[WN_SOURCE_NORMAL] ||
         (kind == KIND_BIRTH && of->source == sources[WN_SOURCE_CUSTOM]);
}

/* Does what was planned; returns whether the block is still tracked. */
static bool act(wn_domain *domain, const struct tracked *of, enum kind kind, enum moment moment) {
  enum action action = world.plans[kind][of->id];
  bool is_late = moment == AT_DEATH_MAJOR;
  WN_SCOPE(domain);
  if (!may_act(of, kind)) return true;
  world.plans[kind][of->id] = DO_NOTHING;
  switch (action) {
  case DO_NOTHING: break;
  case DO_REFUSE: return false;
  case DO_ALLOCATE: wn_alloc(domain, (size_t)of->id, 0); break;
  case DO_MINOR:
    if (!is_late) collect_minor(domain);
    break;
  case DO_FULL:
    if (!is_late) settle(domain);
    break;
  case DO_STOP:
    if (!is_late) profile_stop(domain);
    break;
  case DO_DISCARD:
    if (is_late) break;
    profile_stop(domain);
    discard_in_callback(of->session);
    break;
  case DO_RAISE:
    world.raisers[(int)kind * MOST_WORDS + of->id] = (struct raiser){of->session, moment};
    raise_number(domain, kind, of->id);
    return false;
  }
  return true;
}

/* ---- callbacks ---- */

static void *born(wn_domain *domain, const wn_allocation *allocation, int session, const char *heap) {
  if (!is_ours(allocation->size)) return NULL;
  /* OCaml does not tell of the memory of a bigarray that is read, unlike statement M13. */
  if (world.is_reading && allocation->source == WN_SOURCE_CUSTOM) return NULL;
  struct tracked *block = malloc(sizeof *block);
  if (!block) broken("no memory");
  *block = (struct tracked){session, (int)allocation->size, sources[allocation->source]};
  log_told(session, AT_BIRTH, "birth %d %s %s of %d, %zu samples", session, heap, block->source, block->id,
           allocation->n_samples);
  if (act(domain, block, KIND_BIRTH, AT_BIRTH)) return block;
  free(block);
  return NULL;
}

static void *born_young(wn_domain *domain, const wn_allocation *allocation, void *context) {
  return born(domain, allocation, (int)(intptr_t)context, "young");
}
static void *born_old(wn_domain *domain, const wn_allocation *allocation, void *context) {
  return born(domain, allocation, (int)(intptr_t)context, "old");
}

static void *promoted(wn_domain *domain, void *metadata, void *context) {
  struct tracked *block = metadata;
  int session = (int)(intptr_t)context;
  if (!world.blurred[block->id])
    log_told(session, AT_PROMOTION, "promotion %d %s %d", session, block->source, block->id);
  if (act(domain, block, KIND_PROMOTION, AT_PROMOTION)) return block;
  free(block);
  return NULL;
}

static void died(wn_domain *domain, struct tracked *block, enum moment moment) {
  log_death(block->session, moment, block->source, block->id);
  if (!world.blurred[block->id]) act(domain, block, KIND_DEATH, moment);
  free(block);
}

static void died_young(wn_domain *domain, void *metadata, void *context) {
  (void)context;
  died(domain, metadata, AT_DEATH_MINOR);
}
static void died_old(wn_domain *domain, void *metadata, void *context) {
  (void)context;
  died(domain, metadata, AT_DEATH_MAJOR);
}

static void drop(void *metadata, void *context) {
  (void)context;
  free(metadata);
}

/* ---- operations ---- */

void profile_start(struct actor *actor, int slot) {
  struct profile *profile = &world.profiles[slot];
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 0};
  const wn_tracker tracker = {.alloc_minor = born_young,
                              .alloc_major = born_old,
                              .promote = promoted,
                              .dealloc_minor = died_young,
                              .dealloc_major = died_old,
                              .drop = drop,
                              .context = (void *)(intptr_t)world.sessions};
  if (profile->handle) return;
  wn_status status = wn_memprof_start(actor->domain, &options, &tracker, &profile->handle);
  if (status == WN_ESTATE) {
    profile->handle = NULL;
    puts("start refused");
    return;
  }
  if (status) broken("wn_memprof_start: %s", wn_last_error());
  actor->has_started = true;
  profile->session = world.sessions++;
}

bool profile_stop(wn_domain *domain) {
  wn_status status;
  do {
    status = wn_memprof_stop(domain);
  } while (status == WN_EBUSY && surfaced(domain));
  if (status && status != WN_ESTATE) broken("wn_memprof_stop: %s", wn_last_error());
  return !status;
}

void profile_discard(int slot) {
  struct profile *profile = &world.profiles[slot];
  if (!profile->handle) return;
  if (wn_memprof_discard(profile->handle)) {
    puts("discard refused");
    return;
  }
  profile->handle = NULL;
  if (!world.is_clean) log_forget(profile->session, false);
}
/* SPDX-License-Identifier: MIT */
