/* Domains that come and go by hundreds while all collect: trees of them, storms of short ones, what
 * dies with one, collections that several ask for at once, roots that pass from one to another. */
#include "gc/journal.h"

#include "base/check.h"
#include <unistd.h>
#include <winnow/weak.h>

enum { DOMAINS = 4 };

static size_t next_random(uint64_t *random, size_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(*random >> 33) % below;
}

static void journal_open_with(struct journal *of, const char *text) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = text;
  journal_open(of, &options);
}

/* ---- trees ---- */

enum { NUMBER = TINY ? 8 : 13, DEPTH = 3, FIRST = 0, SECOND, RESULT };

/* One call of the doubly recursive function: a block of two fields for the lists of the calls
 * below it, and one for its own list, whose length is the result. */
struct call {
  wn_global *block;
  int number, depth;
  int ran;
};

static void compute(wn_domain *domain, void *argument);

static void compute_below(wn_domain *domain, struct call *call) {
  struct call below[2];
  wn_join *joins[2];
  for (int i = 0; i < 2; i++) {
    WN_SCOPE(domain);
    below[i] = (struct call){wn_global_new(domain, wn_alloc(domain, 3, 0)), call->number - 1 - i,
                             call->depth - 1, 0};
    joins[i] = spawn(domain, compute, &below[i]);
  }
  for (size_t i = 0; i < 2; i++) {
    WN_SCOPE(domain);
    join_wait(domain, joins[i]);
    wn_set(domain, wn_global_get(domain, call->block), i,
           wn_get(domain, wn_global_get(domain, below[i].block), RESULT));
    call->ran += below[i].ran;
    wn_global_free(domain, below[i].block);
  }
}

static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

/* Domains down to a depth, whose results are lists that outlive them. */
static void compute(wn_domain *domain, void *argument) {
  struct call *call = argument;
  WN_SCOPE(domain);
  call->ran++;
  if (call->depth && call->number >= 2) {
    compute_below(domain, call);
    wn_ref block = wn_global_get(domain, call->block);
    long length =
        length_of(domain, wn_get(domain, block, FIRST)) + length_of(domain, wn_get(domain, block, SECOND));
    wn_set(domain, block, RESULT, make_list(domain, length, 2));
  } else {
    wn_set(domain, wn_global_get(domain, call->block), RESULT, make_list(domain, fibonacci(call->number), 2));
  }
  if (call->number % 3 == 0) wn_gc_minor(domain);
  if (call->number % 7 == 0) wn_gc_full_major(domain);
}

static void results_come_up_a_tree_of_domains(void **state) { /* G54h */
  (void)state;
  const char *const texts[] = {"", "minor_heap_size=512", "max_overhead=0"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    for (int round = 0; round < 3; round++) {
      struct journal of;
      journal_open_with(&of, texts[t]);
      {
        WN_SCOPE(of.domain);
        struct call call = {wn_global_new(of.domain, wn_alloc(of.domain, 3, 0)), NUMBER, DEPTH, 0};
        join_wait(of.domain, spawn(of.domain, compute, &call));
        assert_int_equal(call.ran, (2 << DEPTH) - 1);
        wn_ref list = wn_get(of.domain, wn_global_get(of.domain, call.block), RESULT);
        assert_int_equal(length_of(of.domain, list), fibonacci(NUMBER));
        wn_global_free(of.domain, call.block);
      }
      journal_close(&of);
    }
}

/* ---- storms of short domains ---- */

enum { BURN_ROUNDS = TINY ? 10 : 60, SHORT = 4, SIZES = 4 };

struct storm {
  _Atomic(int) over;
  _Atomic(long) ran;
};

/* A domain finds nothing of the one that had its place before. */
static void live_shortly(wn_domain *domain, void *argument) {
  struct storm *storm = argument;
  int mine = 0;
  assert_null(wn_domain_data(domain));
  wn_domain_set_data(domain, &mine);
  assert_true(wn_gc_minor_words(domain) == 0);
  {
    WN_SCOPE(domain);
    wn_ref list = make_list(domain, 50, 3);
    if (atomic_fetch_add(&storm->ran, 1) % 3) wn_gc_minor(domain);
    assert_int_equal(length_of(domain, list), 50);
  }
  assert_ptr_equal(wn_domain_data(domain), &mine);
}

static void burn(wn_domain *domain, struct storm *storm, void (*collect)(wn_domain *, long)) {
  WN_SCOPE(domain);
  wn_ref kept = make_list(domain, 100, 4);
  for (long i = 0; !atomic_load(&storm->over); i++) {
    allocate(domain, 50, 20);
    collect(domain, i);
    assert_int_equal(length_of(domain, kept), 100);
  }
}

static void collect_young(wn_domain *domain, long i) {
  (void)i;
  assert_int_equal(wn_gc_minor(domain), WN_OK);
}
static void collect_all(wn_domain *domain, long i) {
  assert_int_equal(i % 4 ? wn_gc_full_major(domain) : wn_gc_compact(domain), WN_OK);
}
static void resize(wn_domain *domain, long i) {
  static const long sizes[SIZES] = {1000, 32768, 500, 4096};
  wn_gc_control control = get_control(domain);
  control.minor_heap_size = sizes[i % SIZES];
  assert_int_equal(wn_gc_set(domain, &control), WN_OK);
}

static void burn_young(wn_domain *domain, void *storm) { burn(domain, storm, collect_young); }
static void burn_all(wn_domain *domain, void *storm) { burn(domain, storm, collect_all); }
static void burn_sizes(wn_domain *domain, void *storm) { burn(domain, storm, resize); }

static void domains_begin_and_end_under_every_kind_of_collection(void **state) { /* H8, H10 */
  (void)state;
  wn_body *const bodies[] = {burn_young, burn_all, burn_sizes};
  for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
    struct journal of;
    struct storm storm = {0};
    wn_join *burner, *joins[SHORT];
    journal_open_with(&of, "");
    burner = spawn(of.domain, bodies[b], &storm);
    for (int round = 0; round < BURN_ROUNDS; round++) {
      for (int i = 0; i < SHORT; i++) joins[i] = spawn(of.domain, live_shortly, &storm);
      for (int i = 0; i < SHORT; i++) join_wait(of.domain, joins[i]);
    }
    atomic_store(&storm.over, 1);
    join_wait(of.domain, burner);
    assert_int_equal(storm.ran, BURN_ROUNDS * SHORT);
    wn_gc_full_major(of.domain);
    assert_int_equal(read_stat(of.domain).live_blocks, 0);
    journal_close(&of);
  }
}

/* ---- all ask at once ---- */

enum { FORCED = TINY ? 10 : 60 };

static void ask_in_turn(wn_domain *domain, void *argument) {
  uint64_t random = wn_domain_number(domain);
  WN_SCOPE(domain);
  wn_ref kept = make_list(domain, 200, 5), weak = wn_weak_new(domain, 2);
  wn_weak_set(domain, weak, 0, kept);
  for (int i = 0; i < FORCED; i++) {
    {
      WN_SCOPE(domain);
      wn_weak_set(domain, weak, 1, block_of(domain, i));
    }
    assert_int_equal(next_random(&random, 2) ? wn_gc_full_major(domain) : wn_gc_compact(domain), WN_OK);
    assert_true(wn_weak_check(domain, weak, 0) && !wn_weak_check(domain, weak, 1));
    assert_int_equal(length_of(domain, kept), 200);
    for (int j = 0; j < 3; j++) wn_gc_major_slice(domain, 500);
    assert_int_equal(wn_gc_minor(domain), WN_OK);
    atomic_fetch_add((_Atomic(long) *)argument, 1);
  }
}

/* Each full collection keeps its promise to the domain that asked, whatever the others ask for. */
static void full_collections_that_several_domains_ask_for_are_each_full(void **state) { /* G26 */
  (void)state;
  struct journal of;
  _Atomic(long) forced = 0;
  wn_join *joins[DOMAINS];
  journal_open_with(&of, "helpers=1");
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, ask_in_turn, &forced);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(forced, DOMAINS * FORCED);
  assert_int_equal(quick_stat(of.domain).forced_major_collections, forced);
  journal_close(&of);
}

/* ---- what dies with a domain ---- */

enum { THINGS = 100 };

struct estate {
  wn_global *weak, *kept;
};

/* Young and old blocks, of which every third is kept by others. */
static void leave_an_estate(wn_domain *domain, void *argument) {
  struct estate *estate = argument;
  WN_SCOPE(domain);
  wn_ref own = wn_alloc(domain, THINGS, 0), weak = wn_global_get(domain, estate->weak);
  for (size_t i = 0; i < THINGS; i++) {
    WN_SCOPE(domain);
    wn_ref thing = wn_pair(domain, 0, block_of(domain, (intptr_t)i), own);
    wn_set(domain, own, i, thing);
    wn_weak_set(domain, weak, i, thing);
    if (i % 3 == 0) {
      wn_set_int(domain, thing, 1, 0);
      wn_set(domain, wn_global_get(domain, estate->kept), i, thing);
    }
    if (i == THINGS / 2) wn_gc_minor(domain);
  }
}

static void what_a_domain_held_alone_dies_with_it_and_the_rest_stays(void **state) { /* G54h */
  (void)state;
  struct journal of;
  journal_open_with(&of, "");
  for (int round = 0; round < 10; round++) {
    WN_SCOPE(of.domain);
    wn_ref weak = wn_weak_new(of.domain, THINGS), kept = wn_alloc(of.domain, THINGS, 0);
    struct estate estate = {wn_global_new(of.domain, weak), wn_global_new(of.domain, kept)};
    wn_join *join = spawn(of.domain, leave_an_estate, &estate);
    if (round % 2) wn_gc_major_slice(of.domain, 100);
    join_wait(of.domain, join);
    wn_gc_full_major(of.domain);
    for (size_t i = 0; i < THINGS; i++) {
      WN_SCOPE(of.domain);
      assert_int_equal(wn_weak_check(of.domain, weak, i), i % 3 == 0);
      if (i % 3 == 0) assert_int_equal(number_of(wn_get(of.domain, wn_get(of.domain, kept, i), 0)), i);
    }
    wn_global_free(of.domain, estate.weak);
    wn_global_free(of.domain, estate.kept);
  }
  journal_close(&of);
}

/* ---- global roots that pass from hand to hand ---- */

enum { ROOTS = 64, HANDS = TINY ? 500 : 6000, GENERATIONS = 3 };

/* No domain owns a root that is in a place. The domain that takes it out owns it, and the number
 * that it must have. */
struct place {
  _Atomic(wn_global *) root;
  intptr_t number; /* of the owner */
};

struct table {
  struct place places[ROOTS];
  _Atomic(uint64_t) seed;
};

/* Checks a root, changes it or makes another in its place, and puts it back. */
static void pass_on(wn_domain *domain, struct place *place, uint64_t *random) {
  WN_SCOPE(domain);
  wn_global *root = atomic_exchange(&place->root, NULL);
  if (!root) return; /* another domain has it */
  assert_int_equal(number_of(wn_global_get(domain, root)), place->number);
  place->number = (intptr_t)next_random(random, 1000);
  wn_ref value = block_of(domain, place->number);
  if (next_random(random, 3)) {
    wn_global_set(domain, root, value);
  } else {
    wn_global_free(domain, root);
    root = wn_global_new(domain, value);
    assert_non_null(root);
  }
  atomic_store(&place->root, root);
}

static void pass_roots_on(wn_domain *domain, void *argument) {
  struct table *table = argument;
  uint64_t random = atomic_fetch_add(&table->seed, 1);
  for (int i = 0; i < HANDS; i++) {
    pass_on(domain, &table->places[next_random(&random, ROOTS)], &random);
    switch (next_random(&random, 400)) {
    case 0: wn_gc_full_major(domain); break;
    case 1: wn_gc_compact(domain); break;
    case 2:
    case 3:
    case 4: wn_gc_minor(domain); break;
    default: wn_poll(domain);
    }
  }
}

static void a_global_root_outlives_its_domain_and_may_be_freed_by_another(void **state) { /* G54d */
  (void)state;
  static struct table table;
  struct journal of;
  wn_join *joins[DOMAINS];
  journal_open_with(&of, "minor_heap_size=1k");
  for (intptr_t i = 0; i < ROOTS; i++) {
    WN_SCOPE(of.domain);
    table.places[i].root = wn_global_new(of.domain, block_of(of.domain, i));
    table.places[i].number = i;
  }
  for (int generation = 0; generation < GENERATIONS; generation++) {
    for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, pass_roots_on, &table);
    for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  }
  for (size_t i = 0; i < ROOTS; i++) {
    WN_SCOPE(of.domain);
    assert_int_equal(number_of(wn_global_get(of.domain, table.places[i].root)), table.places[i].number);
    wn_global_free(of.domain, table.places[i].root);
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(read_stat(of.domain).live_blocks, 0);
  journal_close(&of);
}

/* ---- threads that block, and one that collects ---- */

enum { MESSAGES = TINY ? 50 : 400, MOST = 4096 };

struct channel {
  int pipe[2];
  size_t size;
  _Atomic(int) over;
};

/* All bytes, from or into a pinned block, in a blocking section. */
static void move_bytes(wn_domain *domain, wn_ref raw, size_t size, int file, bool out) {
  assert_int_equal(wn_pin(domain, raw), WN_OK);
  char *bytes = wn_bytes(raw);
  wn_blocking_begin(domain);
  for (size_t done = 0; done < size;) {
    ssize_t moved = out ? write(file, bytes + done, size - done) : read(file, bytes + done, size - done);
    assert_true(moved > 0);
    done += (size_t)moved;
  }
  wn_blocking_end(domain);
  assert_int_equal(wn_unpin(domain, raw), WN_OK);
}

static void send_messages(wn_domain *domain, void *argument) {
  const struct channel *channel = argument;
  for (int i = 0; i < MESSAGES; i++) {
    WN_SCOPE(domain);
    wn_ref raw = wn_alloc_bytes(domain, MOST);
    char *bytes = wn_bytes(raw);
    for (size_t k = 0; k < channel->size; k++) bytes[k] = (char)(i + (int)k);
    move_bytes(domain, raw, channel->size, channel->pipe[1], true);
  }
}

static void receive_messages(wn_domain *domain, void *argument) {
  struct channel *channel = argument;
  for (int i = 0; i < MESSAGES; i++) {
    WN_SCOPE(domain);
    wn_ref raw = wn_alloc_bytes(domain, MOST);
    move_bytes(domain, raw, channel->size, channel->pipe[0], false);
    const char *bytes = wn_bytes(raw);
    for (size_t k = 0; k < channel->size; k++) assert_int_equal(bytes[k], (char)(i + (int)k));
  }
  atomic_store(&channel->over, 1);
}

static void threads_talk_through_a_pipe_while_another_collects(void **state) { /* G54f */
  (void)state;
  const size_t sizes[] = {16, MOST};
  for (size_t s = 0; s < 2; s++) {
    struct journal of;
    struct channel channel = {.size = sizes[s]};
    wn_join *sender, *receiver;
    assert_int_equal(pipe(channel.pipe), 0);
    journal_open_with(&of, "");
    assert_int_equal(wn_thread_spawn(of.domain, send_messages, &channel, &sender), WN_OK);
    receiver = spawn(of.domain, receive_messages, &channel);
    {
      WN_SCOPE(of.domain);
      wn_ref list = make_list(of.domain, 100, 3);
      for (int i = 0; !atomic_load(&channel.over); i++) {
        assert_int_equal(i % 50 ? wn_gc_minor(of.domain) : wn_gc_compact(of.domain), WN_OK);
        assert_int_equal(length_of(of.domain, list), 100);
        wn_thread_yield(of.domain);
      }
    }
    join_wait(of.domain, sender);
    join_wait(of.domain, receiver);
    close(channel.pipe[0]);
    close(channel.pipe[1]);
    journal_close(&of);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_come_up_a_tree_of_domains),
      cmocka_unit_test(domains_begin_and_end_under_every_kind_of_collection),
      cmocka_unit_test(full_collections_that_several_domains_ask_for_are_each_full),
      cmocka_unit_test(what_a_domain_held_alone_dies_with_it_and_the_rest_stays),
      cmocka_unit_test(a_global_root_outlives_its_domain_and_may_be_freed_by_another),
      cmocka_unit_test(threads_talk_through_a_pipe_while_another_collects),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
