/* Memory outside of blocks: sampled parts that shrink with their block, and are as young as it
 * is. */
#include "memprof/room.h"

#include "memprof/entry.h"

enum { ADDRESS = 0x5000, PARTS_MOST = 4096 };

/* What a tracker knows of the parts: their bytes now, and the weights of their births. */
struct ledger {
  struct part {
    size_t bytes;
    double weight;
    bool young;
  } parts[PARTS_MOST];
  size_t count;
  double rate;
  unsigned resizes, deaths;
};

static void *part_born(struct ledger *ledger, const wn_allocation *allocation, bool young) {
  assert_true(ledger->count < PARTS_MOST);
  struct part *part = &ledger->parts[ledger->count++];
  double missed = 1;
  for (size_t i = 0; i < allocation->trials; i++) missed *= 1 - ledger->rate;
  *part = (struct part){allocation->bytes, 1 / (1 - missed), young};
  assert_int_equal(allocation->previous_bytes, 0);
  return part;
}

static void *born_young(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  return part_born(context, allocation, true);
}

static void *born_old(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  return part_born(context, allocation, false);
}

static void *promoted(wn_domain *domain, void *metadata, void *context) {
  struct part *part = metadata;
  (void)domain, (void)context;
  assert_true(part->young);
  part->young = false;
  return part;
}

static void *resized(wn_domain *domain, void *metadata, const wn_allocation *allocation, void *context) {
  struct part *part = metadata;
  (void)domain;
  assert_true(allocation->bytes < part->bytes && allocation->bytes);
  assert_int_equal(allocation->size, (allocation->bytes + 7) / 8);
  part->bytes = allocation->bytes;
  ((struct ledger *)context)->resizes++;
  return part;
}

static void died_young(wn_domain *domain, void *metadata, void *context) {
  struct part *part = metadata;
  (void)domain;
  assert_true(part->young);
  part->bytes = 0;
  ((struct ledger *)context)->deaths++;
}

static void died_old(wn_domain *domain, void *metadata, void *context) {
  struct part *part = metadata;
  assert_false(part->young);
  part->young = true;
  died_young(domain, metadata, context);
}

static double held(const struct ledger *ledger) {
  double sum = 0;
  for (size_t i = 0; i < ledger->count; i++) sum += (double)ledger->parts[i].bytes * ledger->parts[i].weight;
  return sum;
}

static wn_profile *start(struct ledger *ledger, wn_domain *domain, double rate, uint64_t seed) {
  wn_memprof_options options = {.sampling_rate = rate, .callstack_size = 0, .seed = seed};
  wn_tracker tracker = {born_young, born_old, promoted, died_young, died_old, NULL, ledger, resized, NULL};
  wn_profile *profile;
  *ledger = (struct ledger){.rate = rate};
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, &profile), WN_OK);
  return profile;
}

static void end(struct toy_heap *heap, wn_domain *domain, wn_profile *profile) {
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  assert_int_equal(memprof_usage(&heap->engine).entries, 0);
  toy_domain_end(domain);
  toy_close(heap);
}

static void grow(wn_domain *domain, uintptr_t address, size_t bytes, bool young) {
  struct memprof_thread *thread = &domain->current->memprof;
  size_t words = (bytes + 7) / 8, hits = memprof_hits_of(thread, words);
  if (!hits) return;
  const struct memprof_birth birth = {.address = address,
                                      .trials = words,
                                      .bytes = bytes,
                                      .n_samples = hits,
                                      .source = WN_SOURCE_CUSTOM,
                                      .minor = young,
                                      .outside = true};
  assert_non_null(memprof_allocated(thread, &birth));
}

static bool shrink(wn_domain *domain, uintptr_t address, size_t from, size_t to) {
  return memprof_outside_shrank(&domain->current->memprof, address, from, to);
}

/* ---- shares ---- */

/* A buffer grows and shrinks by random amounts, a thousand times. Returns its size at the end. */
static size_t breathe(wn_domain *domain, struct random *random, size_t most, bool drains) {
  size_t bytes = 0;
  for (int i = 0; i < 2000; i++) {
    size_t next = random_bits(random) % (most + 1);
    if (next > bytes) grow(domain, ADDRESS, next - bytes, false);
    if (next < bytes) shrink(domain, ADDRESS, bytes, next);
    if (drains) wn_memprof_drain(domain);
    bytes = next;
  }
  wn_memprof_drain(domain);
  return bytes;
}

static void at_rate_one_the_parts_are_what_the_block_keeps(void **state) {
  (void)state;
  for (int drains = 0; drains < 2; drains++)
    for (size_t most = 10; most <= 1000000; most *= 10) {
      struct toy_heap *heap = toy_open(TOY_BLOCKS);
      wn_domain *domain = toy_domain(heap, NULL);
      struct random random;
      static struct ledger ledger;
      wn_profile *profile = start(&ledger, domain, 1, 7);
      random_seed(&random, most, 0, 0);
      size_t bytes = breathe(domain, &random, most, drains);
      assert_true(held(&ledger) == (double)bytes);
      if (bytes) shrink(domain, ADDRESS, bytes, 0);
      wn_memprof_drain(domain);
      assert_true(held(&ledger) == 0);
      assert_int_equal(memprof_usage(&heap->engine).entries, 0);
      end(heap, domain, profile);
    }
}

/* The mean of many runs is within five standard deviations. */
static void at_low_rates_the_estimate_is_right_in_the_mean(void **state) {
  enum { RUNS = 400, MOST = 40000 };
  (void)state;
  double sum = 0, squares = 0;
  for (uint64_t run = 0; run < RUNS; run++) {
    struct toy_heap *heap = toy_open(TOY_BLOCKS);
    wn_domain *domain = toy_domain(heap, NULL);
    struct random random;
    static struct ledger ledger;
    wn_profile *profile = start(&ledger, domain, 1e-3, run);
    random_seed(&random, run, 0, 0);
    size_t bytes = breathe(domain, &random, MOST, true);
    double error = held(&ledger) - (double)bytes;
    sum += error;
    squares += error * error;
    end(heap, domain, profile);
  }
  double mean = sum / RUNS, deviation = squares / RUNS / RUNS; /* of the mean, squared */
  if (mean * mean > 25 * deviation) fail_msg("the mean error is %g, its variance %g", mean, deviation);
  assert_true(deviation > 0 && deviation < (double)MOST * MOST / 100);
}

/* A thousand parts of few bytes each shrink together: none may be rounded the same way. */
static void small_parts_are_not_rounded_away(void **state) { /* M14 */
  struct toy_heap *heap = toy_open(TOY_BLOCKS);
  wn_domain *domain = toy_domain(heap, NULL);
  static struct ledger ledger;
  (void)state;
  wn_profile *profile = start(&ledger, domain, 1, 7);
  for (int i = 0; i < 1000; i++) grow(domain, ADDRESS, 3, false);
  wn_memprof_drain(domain);
  shrink(domain, ADDRESS, 3000, 1000);
  wn_memprof_drain(domain);
  assert_true(held(&ledger) == 1000);
  shrink(domain, ADDRESS, 1000, 1);
  wn_memprof_drain(domain);
  assert_true(held(&ledger) == 1);
  assert_int_equal(ledger.deaths, 999);
  end(heap, domain, profile);
}

static void other_blocks_and_other_entries_of_the_address_stay(void **state) {
  struct room *room = room_open(1);
  (void)state;
  struct memprof_entry *own = toy_alloc_entry(room->domain, 1000, WN_SOURCE_NORMAL);
  uintptr_t address = atomic_load(&own->address);
  grow(room->domain, address, 100, false);
  grow(room->domain, address + 8, 100, false);
  wn_memprof_drain(room->domain);
  assert_true(shrink(room->domain, address, 100, 50));
  wn_memprof_drain(room->domain);
  assert_log(room, "AAAr");
  assert_int_equal(room->log.last.bytes, 50);
  assert_int_equal(room->log.last.previous_bytes, 100);
  assert_int_equal(room->log.last.trials, 13);
  assert_int_equal(atomic_load(&own->bytes), 8000);
  shrink(room->domain, address, 50, 0);
  shrink(room->domain, address + 8, 100, 0);
  memprof_found_dead(&room->heap->engine, address);
  memprof_tell(&room->heap->engine, &room->domain->owner);
  wn_memprof_drain(room->domain);
  assert_log(room, "AAArDDD");
  room_close(room);
}

/* ---- young blocks, and other domains ---- */

static void parts_are_as_young_as_their_block(void **state) { /* M15 */
  (void)state;
  for (int survives = 0; survives < 2; survives++) {
    struct room *room = room_open(1);
    struct memprof *engine = &room->heap->engine;
    grow(room->domain, ADDRESS, 100, true);
    grow(room->domain, ADDRESS, 100, true);
    wn_memprof_drain(room->domain);
    assert_true(shrink(room->domain, ADDRESS, 200, 100));
    wn_memprof_drain(room->domain);
    assert_log(room, "aarr");
    struct memprof_fate fate = {survives ? MEMPROF_OLD : MEMPROF_DEAD, survives ? ADDRESS + 64 : 0};
    memprof_outside_aged(engine, ADDRESS, fate, &room->domain->owner);
    assert_int_equal(room->domain->woken, 1);
    wn_memprof_drain(room->domain);
    assert_log(room, survives ? "aarrpp" : "aarrdd");
    if (survives) {
      shrink(room->domain, ADDRESS + 64, 100, 0);
      wn_memprof_drain(room->domain);
      assert_log(room, "aarrppDD");
    }
    assert_int_equal(memprof_usage(engine).entries, 0);
    room_close(room);
  }
}

/* It may end before it is told. */
static void what_another_domain_shrinks_is_told_at_the_next_stop(void **state) {
  (void)state;
  for (int ends = 0; ends < 2; ends++)
    for (int left = 0; left < 2; left++) {
      struct room *room = room_open(1);
      wn_domain *other = toy_domain(room->heap, room->domain);
      grow(other, ADDRESS, 80, false);
      wn_memprof_drain(other);
      toy_switch(room->domain, room->domain->current);
      assert_false(shrink(room->domain, ADDRESS, 80, 8 * (size_t)left));
      wn_memprof_drain(room->domain);
      assert_log(room, "A");
      if (ends) toy_domain_end(other);
      memprof_tell(&room->heap->engine, &room->domain->owner);
      wn_memprof_drain(ends ? room->domain : other);
      assert_log(room, left ? "Ar" : "AD");
      if (!ends) toy_domain_end(other);
      toy_switch(room->domain, room->domain->current);
      if (left) shrink(room->domain, ADDRESS, 8, 0);
      memprof_tell(&room->heap->engine, &room->domain->owner);
      wn_memprof_drain(room->domain);
      assert_log(room, left ? "ArD" : "AD");
      room_close(room);
    }
}

static void a_shrink_before_the_birth_is_told_is_part_of_it(void **state) { /* M14 */
  struct room *room = room_open(1);
  (void)state;
  grow(room->domain, ADDRESS, 100, false);
  shrink(room->domain, ADDRESS, 100, 30);
  wn_memprof_drain(room->domain);
  assert_log(room, "A");
  assert_int_equal(room->log.last.bytes, 30);
  assert_int_equal(room->log.last.previous_bytes, 0);
  grow(room->domain, ADDRESS, 60, false);
  shrink(room->domain, ADDRESS, 90, 0);
  wn_memprof_drain(room->domain);
  assert_log(room, "AADD");                   /* the first part has gone, too */
  assert_int_equal(room->log.last.bytes, 60); /* what was allocated */
  wn_memprof_drain(room->domain);
  room_close(room);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(at_rate_one_the_parts_are_what_the_block_keeps),
      cmocka_unit_test(at_low_rates_the_estimate_is_right_in_the_mean),
      cmocka_unit_test(small_parts_are_not_rounded_away),
      cmocka_unit_test(other_blocks_and_other_entries_of_the_address_stay),
      cmocka_unit_test(parts_are_as_young_as_their_block),
      cmocka_unit_test(what_another_domain_shrinks_is_told_at_the_next_stop),
      cmocka_unit_test(a_shrink_before_the_birth_is_told_is_part_of_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
