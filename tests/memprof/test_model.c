/* A random model: thousands of random operations over domains, threads and profiles, against a
 * shadow that knows which profile each block was born under. At rate 1 every block is tracked, so
 * the shadow's sums are the engine's counts. */
#include "support/test.h"

#include "base/random.h"
#include "support/toy_heap.h"
#include <stdlib.h>

enum { DOMAINS = 4, MOST_THREADS = 3, PROFILES = 6, STEPS = 6000 };

/* The shadow of one profile; `handle` is NULL once it was discarded. */
struct shadow {
  wn_profile *handle;
  uint64_t allocs_minor, allocs_major;
  uint64_t calls[6]; /* alloc minor, alloc major, promote, dealloc minor, dealloc major, drop */
  bool releases;
  int metadata;
};

struct model {
  struct toy_heap *heap;
  struct random random;
  bool forgetful; /* callbacks return NULL and raise at random, and threads end without running theirs */
  wn_domain *domains[DOMAINS];
  struct toy_thread *threads[DOMAINS][MOST_THREADS];
  struct shadow profiles[PROFILES];
  struct shadow *sampling[DOMAINS];
  struct shadow *born_under[TOY_BLOCKS];
};

static struct model *model;

static unsigned draw(unsigned bound) { return (unsigned)(random_bits(&model->random) % bound); }

/* ---- the tracker: metadata is a counted allocation that knows its profile and its age ---- */

struct mark {
  struct shadow *profile;
  char age;
};

static void *mark_new(wn_domain *domain, struct shadow *profile, char age) {
  if (model->forgetful && draw(16) == 0) wn_raise(domain, (wn_ref){0});
  if (model->forgetful && draw(8) == 0) return NULL;
  struct mark *mark = malloc(sizeof *mark);
  *mark = (struct mark){profile, age};
  profile->metadata++;
  return mark;
}
static void mark_end(void *metadata, struct shadow *profile, char age) {
  struct mark *mark = metadata;
  assert_ptr_equal(mark->profile, profile);
  if (age) assert_int_equal(mark->age, age);
  assert_non_null(profile->handle); /* nothing but drop comes after discard */
  profile->metadata--;
  free(mark);
}
static void *alloc_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct shadow *profile = context;
  assert_int_equal(allocation->n_samples, allocation->size + 1);
  profile->calls[0]++;
  return mark_new(domain, profile, 'm');
}
static void *alloc_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct shadow *profile = context;
  assert_int_equal(allocation->n_samples, allocation->size + 1);
  profile->calls[1]++;
  return mark_new(domain, profile, 'M');
}
static void *promote(wn_domain *domain, void *minor, void *context) {
  struct shadow *profile = context;
  mark_end(minor, profile, 'm');
  profile->calls[2]++;
  return mark_new(domain, profile, 'M');
}
static void dealloc_minor(wn_domain *domain, void *minor, void *context) {
  (void)domain;
  mark_end(minor, context, 'm');
  ((struct shadow *)context)->calls[3]++;
}
static void dealloc_major(wn_domain *domain, void *major, void *context) {
  (void)domain;
  mark_end(major, context, 'M');
  ((struct shadow *)context)->calls[4]++;
}
static void drop(void *metadata, void *context) {
  mark_end(metadata, context, 0);
  ((struct shadow *)context)->calls[5]++;
}
static void release(void *context) { ((struct shadow *)context)->releases = true; }

/* ---- what must hold ---- */

/* The shadow's live blocks of a profile, by age: a dead block counts until a collection found
 * it. */
static void count_live(const struct shadow *profile, uint64_t *minor, uint64_t *major) {
  *minor = *major = 0;
  for (int i = 0; i < TOY_BLOCKS; i++) {
    const struct toy_block *block = &model->heap->blocks[i];
    if (!block->used || model->born_under[i] != profile) continue;
    if (block->young)
      ++*minor;
    else
      ++*major;
  }
}

static void check_profile(struct shadow *profile, bool drained) {
  wn_memprof_count count;
  wn_memprof_counts(profile->handle, &count);
  assert_int_equal(count.allocs_minor, profile->allocs_minor);
  assert_int_equal(count.allocs_major, profile->allocs_major);
  assert_int_equal(count.promotes, profile->calls[2]);
  assert_int_equal(count.dealloc_minor, profile->calls[3]);
  assert_int_equal(count.dealloc_major, profile->calls[4]);
  assert_int_equal(count.lost, 0);
  if (!drained) return;
  uint64_t minor, major;
  count_live(profile, &minor, &major);
  assert_int_equal(count.live_minor + count.live_major, profile->metadata);
  if (model->forgetful) {
    assert_true(count.live_minor <= minor && count.live_major <= major);
  } else {
    assert_int_equal(count.live_minor, minor);
    assert_int_equal(count.live_major, major);
    assert_int_equal(count.dropped_minor + count.dropped_major, 0);
  }
}

static void check(bool drained) {
  memprof_check(&model->heap->engine);
  for (int i = 0; i < PROFILES; i++)
    if (model->profiles[i].handle) check_profile(&model->profiles[i], drained);
}

/* ---- operations ---- */

static struct toy_thread *any_thread(unsigned d) {
  for (;;) {
    struct toy_thread *thread = model->threads[d][draw(MOST_THREADS)];
    if (thread) return thread;
  }
}

static void run_in(unsigned d) { toy_switch(model->domains[d], any_thread(d)); }

static void drain_thread(unsigned d, struct toy_thread *thread) {
  toy_switch(model->domains[d], thread);
  while (wn_memprof_drain(model->domains[d])) wn_take_exception(model->domains[d]);
}

static void drain_everything(void) {
  for (unsigned d = 0; d < DOMAINS; d++)
    for (int t = 0; t < MOST_THREADS; t++)
      if (model->domains[d] && model->threads[d][t]) drain_thread(d, model->threads[d][t]);
  check(true);
}

static void op_alloc(unsigned d) {
  struct shadow *profile = model->sampling[d];
  size_t words = draw(4) ? draw(TOY_MINOR_MOST) : TOY_MINOR_MOST + 1 + draw(1000);
  int number = toy_alloc(model->domains[d], words);
  if (number < 0) return;
  model->born_under[number] = profile;
  if (profile && words <= TOY_MINOR_MOST)
    profile->allocs_minor++;
  else if (profile)
    profile->allocs_major++;
}

static void op_kill(void) {
  for (int i = 0; i < 40; i++) toy_kill(model->heap, (int)draw(TOY_BLOCKS));
}

/* A killed number may be free: toy_alloc starts a block without the mark. */
static void op_major(void) {
  wn_domain *domains[DOMAINS];
  size_t count = 0;
  for (unsigned d = 0; d < DOMAINS; d++)
    if (model->domains[d]) domains[count++] = model->domains[d];
  toy_major(model->heap, domains, count);
}

static void stop_shadow(struct shadow *profile) {
  for (unsigned d = 0; d < DOMAINS; d++)
    if (model->sampling[d] == profile) model->sampling[d] = NULL;
}

static void op_start(unsigned d) {
  struct shadow *profile = &model->profiles[draw(PROFILES)];
  if (profile->handle) return;
  *profile = (struct shadow){0};
  wn_memprof_options options = {.sampling_rate = 1};
  wn_tracker tracker = {alloc_minor, alloc_major, promote, dealloc_minor, dealloc_major,
                        drop,        profile,     NULL,    release};
  wn_status status = wn_memprof_start(model->domains[d], &options, &tracker, &profile->handle);
  assert_int_equal(status, model->sampling[d] ? WN_ESTATE : WN_OK);
  if (!status) model->sampling[d] = profile;
}

static void op_stop(unsigned d) {
  struct shadow *profile = model->sampling[d];
  if (!model->forgetful) drain_everything();
  wn_status status = wn_memprof_stop(model->domains[d]);
  if (status == WN_EBUSY) {
    wn_take_exception(model->domains[d]);
    return;
  }
  assert_int_equal(status, profile ? WN_OK : WN_ESTATE);
  if (profile) stop_shadow(profile);
}

static bool is_sampling(const struct shadow *profile) {
  for (unsigned d = 0; d < DOMAINS; d++)
    if (model->sampling[d] == profile) return true;
  return false;
}

static void op_discard(void) {
  struct shadow *profile = &model->profiles[draw(PROFILES)];
  if (!profile->handle) return;
  wn_status status = wn_memprof_discard(profile->handle);
  assert_int_equal(status, is_sampling(profile) ? WN_ESTATE : WN_OK);
  if (status) return;
  assert_true(profile->releases);
  assert_int_equal(profile->metadata, 0);
  profile->handle = NULL;
  for (int i = 0; i < TOY_BLOCKS; i++)
    if (model->born_under[i] == profile) model->born_under[i] = NULL;
}

static void op_join(unsigned d) {
  struct shadow *profile = &model->profiles[draw(PROFILES)];
  if (!profile->handle) return;
  bool possible = !model->sampling[d] && is_sampling(profile);
  assert_int_equal(wn_memprof_join(model->domains[d], profile->handle), possible ? WN_OK : WN_ESTATE);
  if (possible) model->sampling[d] = profile;
}

static void op_leave(unsigned d) {
  if (!model->forgetful) drain_everything(); /* it may be the last one, which stops the profile */
  assert_int_equal(wn_memprof_leave(model->domains[d]), model->sampling[d] ? WN_OK : WN_ESTATE);
  model->sampling[d] = NULL;
}

static void op_thread(unsigned d) {
  int t = (int)draw(MOST_THREADS), others = 0;
  for (int i = 0; i < MOST_THREADS; i++) others += i != t && model->threads[d][i];
  struct toy_thread *thread = model->threads[d][t];
  if (!thread) {
    model->threads[d][t] = toy_thread(model->domains[d]);
  } else if (others) {
    if (model->forgetful && draw(4) == 0) thread->raised = true; /* its callbacks cannot run */
    toy_thread_end(thread);
    model->threads[d][t] = NULL;
  }
  run_in(d);
}

static void domain_begin(unsigned d, unsigned parent) {
  model->domains[d] = toy_domain(model->heap, parent == d ? NULL : model->domains[parent]);
  model->threads[d][0] = model->domains[d]->current;
  model->sampling[d] = parent == d ? NULL : model->sampling[parent];
}

static void domain_end(unsigned d) {
  if (!model->forgetful) drain_everything();
  int last = 0;
  for (int t = 0; t < MOST_THREADS; t++)
    if (model->threads[d][t]) last = t;
  for (int t = 0; t < last; t++)
    if (model->threads[d][t]) toy_thread_end(model->threads[d][t]);
  toy_switch(model->domains[d], model->threads[d][last]);
  toy_domain_end(model->domains[d]);
  for (int t = 0; t < MOST_THREADS; t++) model->threads[d][t] = NULL;
  model->domains[d] = NULL;
  model->sampling[d] = NULL;
}

static void op_domain(unsigned d) {
  unsigned other = (d + 1 + draw(DOMAINS - 1)) % DOMAINS;
  if (model->domains[other])
    domain_end(other);
  else
    domain_begin(other, draw(3) ? d : other);
}

static void one_step(void) {
  unsigned d = draw(DOMAINS);
  while (!model->domains[d]) d = (d + 1) % DOMAINS;
  run_in(d);
  unsigned choice = draw(200);
  if (choice < 100)
    op_alloc(d);
  else if (choice < 110)
    op_kill();
  else if (choice < 125)
    toy_minor(model->domains[d]);
  else if (choice < 133)
    op_major();
  else if (choice < 160)
    drain_thread(d, model->domains[d]->current);
  else if (choice < 168)
    op_start(d);
  else if (choice < 174)
    op_stop(d);
  else if (choice < 180)
    op_discard();
  else if (choice < 184)
    op_join(d);
  else if (choice < 187)
    op_leave(d);
  else if (choice < 193)
    op_thread(d);
  else if (choice < 196)
    op_domain(d);
  else
    drain_everything();
  check(false);
}

static void run_model(uint64_t seed, bool forgetful) {
  model = calloc(1, sizeof *model);
  model->heap = toy_open(TOY_BLOCKS);
  model->forgetful = forgetful;
  random_seed(&model->random, seed, forgetful, 0);
  domain_begin(0, 0);
  for (int step = 0; step < STEPS; step++) one_step();
  drain_everything();
  for (unsigned d = 0; d < DOMAINS; d++)
    if (model->domains[d]) domain_end(d);
  toy_close(model->heap); /* releases the profiles that are left */
  for (int i = 0; i < PROFILES; i++) {
    assert_int_equal(model->profiles[i].metadata, 0);
    assert_true(!model->profiles[i].handle || model->profiles[i].releases);
  }
  free(model);
}

static void counts_are_the_shadows_after_every_step(void **state) { /* B4, L12 */
  (void)state;
  for (uint64_t seed = 1; seed <= 8; seed++) run_model(seed, false);
}

static void counts_balance_when_callbacks_forget_and_raise(void **state) { /* L12 */
  (void)state;
  for (uint64_t seed = 1; seed <= 8; seed++) run_model(seed, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_the_shadows_after_every_step),
      cmocka_unit_test(counts_balance_when_callbacks_forget_and_raise),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
