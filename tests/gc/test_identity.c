/* Identity hashes: the same while a block lives and moves, of no other block, and gone with it. */
#include "gc/collect/collector.h"
#include "gc/compacting.h"
#include "gc/domains/domain.h"

#include <stdlib.h>
#include <string.h>
#include <winnow/weak.h>

static struct identities *tables_of(wn_domain *domain) { return &domain->heap->collector->identities; }

static uint64_t hash_of(wn_domain *domain, wn_ref block) {
  uint64_t hash = wn_identity_hash(domain, wn_value_of(block));
  assert_true(hash != 0);
  assert_true(wn_identity_hash(domain, wn_value_of(block)) == hash);
  return hash;
}

/* ---- one block ---- */

static void keep_and_move(struct journal *of, wn_ref block, bool collects_first) {
  if (collects_first) assert_int_equal(wn_gc_minor(of->domain), WN_OK);
  uint64_t hash = hash_of(of->domain, block);
  assert_int_equal(wn_gc_verify(of->domain, stderr), WN_OK);
  assert_int_equal(wn_gc_minor(of->domain), WN_OK);
  assert_true(hash_of(of->domain, block) == hash);
  for (int i = 0; i < 3; i++) {
    allocate(of->domain, 100, 20);
    assert_int_equal(wn_gc_full_major(of->domain), WN_OK);
    assert_true(hash_of(of->domain, block) == hash);
    compact_heap(of->domain);
    assert_true(hash_of(of->domain, block) == hash);
  }
}

static void the_hash_of_a_block_stays_while_it_moves(void **state) {
  static const size_t sizes[] = {1, 30, 256, 300, 5000, 200000};
  static struct journal of;
  (void)state;
  open_moving(&of);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    WN_SCOPE(of.domain);
    keep_and_move(&of, wn_alloc(of.domain, sizes[i], 1), false);
    keep_and_move(&of, wn_alloc(of.domain, sizes[i], 1), true);
    keep_and_move(&of, wn_alloc_bytes(of.domain, 8 * sizes[i]), false);
    keep_and_move(&of, wn_weak_new(of.domain, sizes[i]), false);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(tables_of(of.domain)->old.count, 0);
  journal_close(&of);
}

static void only_blocks_have_one(void **state) {
  static struct journal of;
  (void)state;
  open_moving(&of);
  assert_true(wn_identity_hash(of.domain, wn_int(5)) == 0);
  assert_string_equal(wn_last_error(), "identity hash: the value is an integer");
  assert_true(wn_identity_hash(NULL, wn_int(5)) == 0);
  journal_close(&of);
}

/* ---- many blocks ---- */

enum { PLACES = 200, STEPS = 20000, HASHES = STEPS + PLACES };

static uint64_t random_state = 1;
static size_t below(size_t most) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (size_t)(random_state >> 33) % most;
}

/* The model: the hash of the block in each place; 0: it was not asked. */
struct model {
  wn_ref array;
  uint64_t hash_at[PLACES], all[HASHES];
  size_t count;
};

static void put_new(wn_domain *domain, struct model *model) {
  WN_SCOPE(domain);
  size_t i = below(PLACES), words = below(20) ? 1 + below(40) : 257 + below(2000);
  wn_set(domain, model->array, i, wn_alloc(domain, words, 1));
  model->hash_at[i] = 0;
}

static void ask(wn_domain *domain, struct model *model) {
  size_t i = below(PLACES);
  wn_value block = wn_field(model->array, i);
  if (wn_is_int(block)) return;
  uint64_t hash = wn_identity_hash(domain, block);
  assert_true(hash != 0);
  if (model->hash_at[i])
    assert_true(hash == model->hash_at[i]);
  else
    model->all[model->count++] = hash;
  model->hash_at[i] = hash;
}

static void collect_some(wn_domain *domain) {
  size_t kind = below(1000);
  if (kind < 50) assert_int_equal(wn_gc_minor(domain), WN_OK);
  if (kind < 2) assert_int_equal(wn_gc_full_major(domain), WN_OK);
  if (kind == 2) compact_heap(domain);
  if (kind < 5) major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  if (kind < 200) wn_gc_major_slice(domain, 300);
  if (kind < 20) assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}

static int by_hash(const void *a, const void *b) {
  const uint64_t *one = a, *other = b;
  return (*one > *other) - (*one < *other);
}

static void random_blocks_keep_their_hashes_and_no_two_have_the_same(void **state) {
  static struct journal of;
  static struct model model;
  (void)state;
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    model.array = wn_alloc(of.domain, PLACES, 0);
    for (long step = 0; step < STEPS; step++) {
      if (below(3)) put_new(of.domain, &model);
      ask(of.domain, &model);
      collect_some(of.domain);
    }
    size_t asked = 0;
    for (size_t i = 0; i < PLACES; i++) asked += model.hash_at[i] != 0;
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(tables_of(of.domain)->old.count, asked);
  }
  assert_true(model.count > STEPS / 4);
  qsort(model.all, model.count, sizeof *model.all, by_hash);
  for (size_t i = 1; i < model.count; i++) assert_true(model.all[i - 1] < model.all[i]);
  journal_close(&of);
}

/* A hundred thousand blocks are asked, and few of them live at a time. */
static void the_tables_are_bounded_by_what_lives(void **state) {
  enum { ASKED = 100000, LIVE = 20000 };
  static struct journal of;
  wn_heap_options options = without_helpers();
  (void)state;
  options.parameters.minor_heap_size = 8192;
  journal_open(&of, &options);
  for (int i = 0; i < ASKED; i++) {
    WN_SCOPE(of.domain);
    hash_of(of.domain, block_of(of.domain, i));
  }
  assert_true(tables_of(of.domain)->young.capacity <= 8192);
  assert_true(tables_of(of.domain)->old.capacity <= 8192);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0));
    for (int i = 0; i < LIVE; i++) {
      wn_push_int(of.domain, list, 1, i);
      hash_of(of.domain, list);
    }
    assert_true(tables_of(of.domain)->old.capacity >= LIVE);
  }
  for (int i = 0; i < 8; i++) {
    WN_SCOPE(of.domain);
    hash_of(of.domain, block_of(of.domain, i));
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  }
  assert_true(tables_of(of.domain)->old.capacity <= 512);
  journal_close(&of);
}

/* ---- seeds ---- */

static void hashes_of_seed(uint64_t seed, uint64_t hashes[3]) {
  static struct journal of;
  wn_heap_options options = without_helpers();
  options.seed = seed;
  journal_open(&of, &options);
  for (int i = 0; i < 3; i++) {
    WN_SCOPE(of.domain);
    hashes[i] = hash_of(of.domain, block_of(of.domain, i));
  }
  journal_close(&of);
}

static void equal_seeds_give_the_same_hashes(void **state) {
  uint64_t one[3], same[3], other[3];
  (void)state;
  hashes_of_seed(5, one), hashes_of_seed(5, same), hashes_of_seed(1000, other);
  assert_memory_equal(one, same, sizeof one);
  for (int i = 0; i < 3; i++) assert_true(one[i] != other[i]);
}

/* ---- domains ---- */

enum { SHARED = 300, DOMAINS = 3, ROUNDS = 5 };

struct shared {
  wn_global *blocks;
  uint64_t seen[DOMAINS][SHARED];
  _Atomic(unsigned) next;
};

static void ask_all(wn_domain *domain, void *argument) {
  struct shared *shared = argument;
  uint64_t *seen = shared->seen[atomic_fetch_add(&shared->next, 1)];
  WN_SCOPE(domain);
  wn_ref blocks = wn_global_get(domain, shared->blocks);
  for (int round = 0; round < ROUNDS; round++)
    for (size_t i = 0; i < SHARED; i++) {
      uint64_t hash = wn_identity_hash(domain, wn_field(blocks, i));
      assert_true(hash && (!round || seen[i] == hash));
      seen[i] = hash;
      allocate(domain, 5, 10);
      if (i % 64 == 0) wn_gc_minor(domain);
      wn_poll(domain);
    }
}

/* The blocks are young in the first domain when the others begin to ask. */
static void domains_see_the_same_hashes(void **state) {
  static struct journal of;
  static struct shared shared;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_join *joins[DOMAINS];
  (void)state;
  options.parameters.minor_heap_size = 8192;
  journal_open(&of, &options);
  WN_SCOPE(of.domain);
  wn_ref blocks = wn_alloc(of.domain, SHARED, 0);
  shared.blocks = wn_global_new(of.domain, blocks);
  for (size_t i = 0; i < SHARED; i++) {
    WN_SCOPE(of.domain);
    wn_set(of.domain, blocks, i, block_of(of.domain, (intptr_t)i));
  }
  for (size_t i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, ask_all, &shared);
  for (size_t i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  for (size_t i = 0; i < SHARED; i++) {
    uint64_t hash = wn_identity_hash(of.domain, wn_field(blocks, i));
    for (size_t k = 0; k < DOMAINS; k++) assert_true(shared.seen[k][i] == hash);
  }
  wn_global_free(of.domain, shared.blocks);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      one_thread_test(the_hash_of_a_block_stays_while_it_moves),
      cmocka_unit_test(only_blocks_have_one),
      one_thread_test(random_blocks_keep_their_hashes_and_no_two_have_the_same),
      cmocka_unit_test(the_tables_are_bounded_by_what_lives),
      cmocka_unit_test(equal_seeds_give_the_same_hashes),
      cmocka_unit_test(domains_see_the_same_hashes),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
