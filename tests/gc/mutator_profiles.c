/* The random program's profiles: they start, stop, are joined, left and discarded at any time, on
 * any domain.
 *
 * Metadata is a *life*: what was told of one sampled block. Blocks of some operations are known:
 * the births that are told right after such a block was allocated are its own, so that its node
 * gets their lives, and a comparison finds a death that was told of a block that is reachable.
 * Lives and *sessions* (profiles, with what their callbacks counted) stay to the end, when each
 * life must have come back exactly once, and the counts must be those of wn_memprof_counts. */
#include "gc/mutator_parts.h"

#include <stdlib.h>
#include <winnow/memprof.h>

enum { TOLD_YOUNG = 1, TOLD_OLD };

struct session {
  struct world *world;
  struct session *next;
  wn_profile *profile;
  _Atomic(uint64_t) promotes, dealloc_minor, dealloc_major;
  _Atomic(unsigned) released;
};

/* What this thread was told of since it asked. */
static _Thread_local struct life *told;

/* ---- callbacks ---- */

static void push_life(struct world *world, struct life *life) {
  life->next = atomic_load(&world->lives);
  while (!atomic_compare_exchange_weak(&world->lives, &life->next, life)) {}
}

/* A callback may do anything: here what a program would. */
static void do_something(wn_domain *domain, struct world *world) {
  uint64_t random = mix(atomic_fetch_add(&world->next_id, 1), 5) % 256;
  if (random < 16) {
    WN_SCOPE(domain);
    must(allocate(domain, 1 + random, 0), "wn_alloc in a callback");
  } else if (random < 18) {
    check_status(wn_gc_minor(domain), "wn_gc_minor in a callback");
  } else if (random < 20) {
    wn_thread_yield(domain);
  }
}

/* The memory outside of a block that lives may be gone. */
static void *begin_life(wn_domain *domain, struct session *session, const wn_allocation *allocation,
                        int stage) {
  struct life *life = calloc(1, sizeof *life);
  if (!life) broken("no memory for the model");
  atomic_init(&life->stage, stage);
  do_something(domain, session->world);
  push_life(session->world, life);
  life->bytes = allocation->bytes;
  if (allocation->source == WN_SOURCE_CUSTOM) return life;
  life->sibling = told;
  told = life;
  return life;
}

static void end_life(struct life *life, bool dead) {
  if (atomic_fetch_add(&life->ended, 1)) broken("a block's metadata came back twice");
  atomic_store(&life->dead, dead);
}

static void *told_young(wn_domain *domain, const wn_allocation *allocation, void *context) {
  if (!allocation->n_samples || allocation->n_samples > allocation->trials)
    broken("%zu samples in %zu words", allocation->n_samples, allocation->trials);
  return begin_life(domain, context, allocation, TOLD_YOUNG);
}

static void *told_old(wn_domain *domain, const wn_allocation *allocation, void *context) {
  return begin_life(domain, context, allocation, TOLD_OLD);
}

static void *told_promotion(wn_domain *domain, void *minor, void *context) {
  struct session *session = context;
  struct life *life = minor;
  int young = TOLD_YOUNG;
  atomic_fetch_add(&session->promotes, 1);
  if (!atomic_compare_exchange_strong(&life->stage, &young, TOLD_OLD)) broken("promoted, and not young");
  do_something(domain, session->world);
  if (mix((uintptr_t)life, 3) % 16) return life;
  end_life(life, false);
  return NULL;
}

static void *told_shrink(wn_domain *domain, void *metadata, const wn_allocation *allocation, void *context) {
  struct life *life = metadata;
  /* Equal, if another domain shrank it again before the first shrink was told. */
  if (allocation->source != WN_SOURCE_CUSTOM || !allocation->bytes || allocation->bytes > life->bytes)
    broken("memory outside of %zu bytes shrank to %zu", life->bytes, allocation->bytes);
  life->bytes = allocation->bytes;
  do_something(domain, ((struct session *)context)->world);
  if (mix((uintptr_t)life, allocation->bytes) % 16) return life;
  end_life(life, false);
  return NULL;
}

static void told_young_death(wn_domain *domain, void *minor, void *context) {
  struct session *session = context;
  atomic_fetch_add(&session->dealloc_minor, 1);
  if (atomic_load(&((struct life *)minor)->stage) != TOLD_YOUNG) broken("died young, and was not");
  end_life(minor, true);
  do_something(domain, session->world);
}

static void told_old_death(wn_domain *domain, void *major, void *context) {
  struct session *session = context;
  atomic_fetch_add(&session->dealloc_major, 1);
  if (atomic_load(&((struct life *)major)->stage) != TOLD_OLD) broken("died old, and was not");
  end_life(major, true);
  do_something(domain, session->world);
}

static void told_drop(void *metadata, void *context) {
  (void)context;
  end_life(metadata, false);
}

static void told_release(void *context) { atomic_fetch_add(&((struct session *)context)->released, 1); }

/* ---- operations ---- */

static void start(struct worker *worker) {
  static const double rates[] = {1, 0.3, 0.05, 0.01, 0.0001, 0};
  struct world *world = worker->actor->world;
  wn_memprof_options options = {rates[below(worker, 6)], below(worker, 20), draw(worker)};
  struct session *session = calloc(1, sizeof *session);
  if (!session) broken("no memory for the model");
  session->world = world;
  const wn_tracker tracker = {told_young, told_old, told_promotion, told_young_death, told_old_death,
                              told_drop,  session,  told_shrink,    told_release};
  if (wn_memprof_start(worker->actor->domain, &options, &tracker, &session->profile)) {
    free(session);
    return;
  }
  session->next = atomic_load(&world->sessions);
  while (!atomic_compare_exchange_weak(&world->sessions, &session->next, session)) {}
}

/* One of the newest. */
static struct session *any_session(struct worker *worker) {
  struct session *session = atomic_load(&worker->actor->world->sessions);
  for (size_t n = below(worker, 6); n && session && session->next; n--) session = session->next;
  return session;
}

/* Another domain may have been faster. */
static void either(wn_status status, const char *what) {
  if (status && status != WN_ESTATE) broken("%s: %s", what, wn_last_error());
}

void use_profile(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  struct session *session = any_session(worker);
  switch (draw(worker) % 8) {
  case 0: either(wn_memprof_stop(domain), "wn_memprof_stop"); break;
  case 1: either(wn_memprof_leave(domain), "wn_memprof_leave"); break;
  case 2:
    if (session) either(wn_memprof_join(domain, session->profile), "wn_memprof_join");
    break;
  case 3:
  case 4:
    if (session) either(wn_memprof_discard(session->profile), "wn_memprof_discard");
    break;
  default: start(worker);
  }
}

/* ---- blocks that are known ---- */

void profile_before(struct worker *worker) {
  check_status(wn_memprof_drain(worker->actor->domain), "wn_memprof_drain");
  told = NULL;
}

void profile_after(struct worker *worker, struct node *node) {
  check_status(wn_memprof_drain(worker->actor->domain), "wn_memprof_drain");
  node->lives = told;
  told = NULL;
}

/* ---- the end ---- */

void profiles_check(struct world *world) {
  for (struct session *session = atomic_load(&world->sessions); session; session = session->next) {
    wn_memprof_count count;
    if (atomic_load(&session->released)) continue; /* gone, and with it what it counted */
    wn_memprof_counts(session->profile, &count);
    if (count.allocs_minor != count.promotes + count.dealloc_minor + count.live_minor + count.dropped_minor ||
        count.promotes + count.allocs_major != count.dealloc_major + count.live_major + count.dropped_major)
      broken("the counts of a profile do not balance");
    if (count.promotes != atomic_load(&session->promotes) ||
        count.dealloc_minor != atomic_load(&session->dealloc_minor) ||
        count.dealloc_major != atomic_load(&session->dealloc_major))
      broken("the counts of a profile are not those of its calls");
    if (count.live_minor || count.live_major || count.lost)
      broken("a profile knows of %llu blocks that live, when all are dead",
             (unsigned long long)(count.live_minor + count.live_major));
  }
}

void profiles_end(struct world *world) {
  for (struct session *session = atomic_load(&world->sessions), *next; session; session = next) {
    next = session->next;
    if (atomic_load(&session->released) != 1) broken("a profile was not released once");
    free(session);
  }
  for (struct life *life = atomic_load(&world->lives), *next; life; life = next) {
    next = life->next;
    if (atomic_load(&life->ended) != 1) broken("a block's metadata did not come back");
    free(life);
  }
}
/* SPDX-License-Identifier: MIT */
