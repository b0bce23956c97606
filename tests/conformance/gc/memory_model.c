/* What domains see of each other's stores: litmus shapes whose forbidden outcomes must never show,
 * blocks that are published by a store or a compare-and-swap, and structures that rest on these. */
#include "gc/journal.h"

#include "base/check.h"
#include <sched.h>

/* ---- litmus shapes ---- */

enum { PLACES = 10000, BATCHES = TINY ? 2 : 15, PLAYERS = 3, SEEN = 2, ABREAST = 8, PATIENCE = 500 };

struct litmus;
/* What a player does at a place. */
typedef void play_fn(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i);

/* A shape's players go through the places of x and y in the same order, as fast as they can; each
 * notes what it saw. They begin together, and every few places one that is ahead waits a little. */
struct litmus {
  wn_global *x, *y;      /* blocks of PLACES fields, all wn_int(0) when a batch begins */
  play_fn *const *plays; /* of each player */
  int players;
  int seen[PLAYERS][SEEN][PLACES]; /* each player writes its own */
  _Atomic(size_t) reached[PLAYERS];
};

struct player {
  struct litmus *litmus;
  int number;
};

static bool all_reached(const struct litmus *litmus, size_t i) {
  for (int p = 0; p < litmus->players; p++)
    if (atomic_load_explicit(&litmus->reached[p], memory_order_relaxed) < i) return false;
  return true;
}

static void play(wn_domain *domain, void *argument) {
  const struct player *player = argument;
  struct litmus *litmus = player->litmus;
  _Atomic(size_t) *reached = &litmus->reached[player->number];
  WN_SCOPE(domain);
  wn_ref x = wn_global_get(domain, litmus->x), y = wn_global_get(domain, litmus->y);
  int yields = 0;
  for (atomic_store(reached, 1); !all_reached(litmus, 1); sched_yield()) wn_poll(domain);
  for (size_t i = 0; i < PLACES; i++) {
    if (i % ABREAST == 0) {
      atomic_store_explicit(reached, i + 2, memory_order_relaxed); /* orders nothing of the shape */
      for (int turn = 0; turn < PATIENCE && !all_reached(litmus, i + 2); turn++) wn_poll(domain);
      if (yields < PATIENCE && !all_reached(litmus, i + 2)) yields++, sched_yield();
    }
    litmus->plays[player->number](domain, litmus, x, y, i);
  }
  atomic_store(reached, SIZE_MAX);
}

static int int_in(wn_ref block, size_t i) { return (int)wn_to_int(wn_field(block, i)); }

static void play_batch(wn_domain *domain, struct litmus *litmus) {
  struct player players[PLAYERS];
  wn_join *joins[PLAYERS];
  WN_SCOPE(domain);
  for (int p = 0; p < PLAYERS; p++) litmus->reached[p] = 0;
  litmus->x = wn_global_new(domain, wn_alloc(domain, PLACES, 0));
  litmus->y = wn_global_new(domain, wn_alloc(domain, PLACES, 0));
  for (int p = 0; p < litmus->players; p++) {
    players[p] = (struct player){litmus, p};
    joins[p] = spawn(domain, play, &players[p]);
  }
  for (int p = 0; p < litmus->players; p++) join_wait(domain, joins[p]);
}

/* Plays batches, and returns at how many places `forbidden` showed. */
static long count_forbidden(int players, play_fn *const *plays,
                            bool (*forbidden)(const struct litmus *, size_t)) {
  static struct litmus litmus;
  struct journal of;
  long count = 0;
  journal_open(&of, NULL);
  litmus = (struct litmus){.plays = plays, .players = players};
  for (int batch = 0; batch < BATCHES; batch++) {
    play_batch(of.domain, &litmus);
    for (size_t i = 0; i < PLACES; i++) count += forbidden(&litmus, i);
    wn_global_free(of.domain, litmus.x);
    wn_global_free(of.domain, litmus.y);
  }
  journal_close(&of);
  return count;
}

static void write_x_then_y(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)litmus;
  wn_set_int(domain, x, i, 1);
  wn_set_int(domain, y, i, 1);
}
static void read_y_then_x(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)domain;
  litmus->seen[1][0][i] = int_in(y, i);
  litmus->seen[1][1][i] = int_in(x, i);
}
static bool saw_the_second_alone(const struct litmus *litmus, size_t i) {
  return litmus->seen[1][0][i] && !litmus->seen[1][1][i];
}

static void who_sees_a_store_sees_those_before_it(void **state) { /* G54j */
  (void)state;
  play_fn *const plays[] = {write_x_then_y, read_y_then_x};
  assert_int_equal(count_forbidden(2, plays, saw_the_second_alone), 0);
}

static void read_x_write_y(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  litmus->seen[0][0][i] = int_in(x, i);
  wn_set_int(domain, y, i, 1);
}
static void read_y_write_x(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  litmus->seen[1][0][i] = int_in(y, i);
  wn_set_int(domain, x, i, 1);
}
static bool both_saw_the_other(const struct litmus *litmus, size_t i) {
  return litmus->seen[0][0][i] && litmus->seen[1][0][i];
}

static void no_load_sees_a_store_that_comes_after_it(void **state) { /* G54j */
  (void)state;
  play_fn *const plays[] = {read_x_write_y, read_y_write_x};
  assert_int_equal(count_forbidden(2, plays, both_saw_the_other), 0);
}

static void write_x_twice(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)litmus, (void)y;
  wn_set_int(domain, x, i, 1);
  wn_set_int(domain, x, i, 2);
}
static void read_x_twice(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)domain, (void)y;
  litmus->seen[1][0][i] = int_in(x, i);
  litmus->seen[1][1][i] = int_in(x, i);
}
static bool saw_them_backwards(const struct litmus *litmus, size_t i) {
  return litmus->seen[1][0][i] > litmus->seen[1][1][i];
}

static void stores_to_one_field_are_seen_in_their_order(void **state) { /* G54j */
  (void)state;
  play_fn *const plays[] = {write_x_twice, read_x_twice};
  assert_int_equal(count_forbidden(2, plays, saw_them_backwards), 0);
}

static void write_x(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)litmus, (void)y;
  wn_set_int(domain, x, i, 1);
}
static void pass_x_on(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)litmus;
  if (int_in(x, i)) wn_set_int(domain, y, i, 1);
}
static void read_y_then_x_last(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  (void)domain;
  litmus->seen[2][0][i] = int_in(y, i);
  litmus->seen[2][1][i] = int_in(x, i);
}
static bool saw_what_was_passed_on_alone(const struct litmus *litmus, size_t i) {
  return litmus->seen[2][0][i] && !litmus->seen[2][1][i];
}

static void what_one_domain_passes_on_from_another_comes_with_its_cause(void **state) { /* G54j */
  (void)state;
  play_fn *const plays[] = {write_x, pass_x_on, read_y_then_x_last};
  assert_int_equal(count_forbidden(3, plays, saw_what_was_passed_on_alone), 0);
}

/* Takes the place of one block, then looks whether that of the other is free: by a swap that
 * succeeds if it is, or by one that fails. */
static int take_then_look(wn_domain *domain, wn_ref mine, wn_ref other, size_t i, bool succeeds) {
  WN_SCOPE(domain);
  wn_ref zero = wn_root(domain, wn_int(0)), one = wn_root(domain, wn_int(1));
  wn_ref expected = succeeds ? zero : one;
  assert_true(wn_cas(domain, mine, i, zero, one));
  return wn_cas(domain, other, i, expected, expected) == succeeds;
}
static void take_x_look_at_y(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  litmus->seen[0][0][i] = take_then_look(domain, x, y, i, i % 2);
}
static void take_y_look_at_x(wn_domain *domain, struct litmus *litmus, wn_ref x, wn_ref y, size_t i) {
  litmus->seen[1][0][i] = take_then_look(domain, y, x, i, i % 2);
}
static bool both_found_the_other_free(const struct litmus *litmus, size_t i) {
  return litmus->seen[0][0][i] && litmus->seen[1][0][i];
}

static void of_two_domains_that_swap_and_look_one_sees_the_other(void **state) { /* G54j */
  (void)state;
  play_fn *const plays[] = {take_x_look_at_y, take_y_look_at_x};
  assert_int_equal(count_forbidden(2, plays, both_found_the_other_free), 0);
}

/* ---- publication ---- */

enum { DOMAINS = 3, SLOTS = 16, STEPS = TINY ? 2000 : 15000 };

/* Waits until so many have come. */
static void begin_together(wn_domain *domain, _Atomic(int) *came, int all) {
  for (atomic_fetch_add(came, 1); atomic_load(came) < all; sched_yield()) wn_poll(domain);
}

struct board {
  wn_global *slots; /* a block of SLOTS fields that all domains write and read, without turns */
  bool by_cas;
  _Atomic(int) number, came; /* of domains that have begun */
  _Atomic(long) read, wrong;
};

/* A block that says what is in it: words, tag and an inner block follow from its number. */
static wn_ref story(wn_domain *domain, intptr_t n) {
  size_t words = 3 + (size_t)n % 20;
  wn_ref block = wn_alloc(domain, words, (unsigned)(n % 200)), inner = block_of(domain, ~n);
  wn_set_int(domain, block, 0, n);
  wn_set(domain, block, 1, inner);
  for (size_t i = 2; i < words; i++) wn_set_int(domain, block, i, n + (intptr_t)i);
  return block;
}

static bool is_whole(wn_domain *domain, wn_ref block) {
  WN_SCOPE(domain);
  wn_value value = wn_value_of(block);
  intptr_t n = wn_to_int(wn_field(block, 0));
  size_t words = 3 + (size_t)n % 20;
  if (!wn_is_int(wn_field(block, 0)) || wn_words(value) != words || wn_tag(value) != (unsigned)(n % 200) ||
      wn_is_int(wn_field(block, 1)) || number_of(wn_get(domain, block, 1)) != ~n)
    return false;
  for (size_t i = 2; i < words; i++)
    if (wn_field(block, i) != wn_int(n + (intptr_t)i)) return false;
  return true;
}

static void write_and_read(wn_domain *domain, void *argument) {
  struct board *board = argument;
  uint64_t random = (uint64_t)atomic_fetch_add(&board->number, 1) + 1;
  WN_SCOPE(domain);
  wn_ref slots = wn_global_get(domain, board->slots);
  begin_together(domain, &board->came, DOMAINS);
  for (intptr_t step = 0; step < STEPS; step++) {
    WN_SCOPE(domain);
    random = random * 6364136223846793005u + 1442695040888963407u;
    size_t at = (size_t)(random >> 40) % SLOTS;
    wn_ref there = wn_get(domain, slots, at);
    if (!wn_is_int(wn_value_of(there))) {
      atomic_fetch_add(&board->read, 1);
      if (!is_whole(domain, there)) atomic_fetch_add(&board->wrong, 1);
    }
    wn_ref fresh = story(domain, step);
    if (board->by_cas)
      wn_cas(domain, slots, at, there, fresh);
    else
      wn_set(domain, slots, at, fresh);
    wn_poll(domain);
  }
}

/* The board is old, or young and promoted while all write to it. */
static void publish(const char *text, bool by_cas) {
  struct journal of;
  struct board board = {.by_cas = by_cas};
  wn_join *joins[DOMAINS];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = text;
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    board.slots = wn_global_new(of.domain, wn_alloc(of.domain, SLOTS, 0));
  }
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, write_and_read, &board);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(board.wrong, 0);
  assert_true(board.read > STEPS);
  wn_global_free(of.domain, board.slots);
  journal_close(&of);
}

static const char *const texts[] = {"", "minor_heap_size=512", "minor_heap_size=4k,max_overhead=0"};

static void a_block_that_is_stored_is_seen_with_its_contents(void **state) { /* G54j */
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) publish(texts[i], false);
}

static void a_block_that_is_swapped_in_is_seen_with_its_contents(void **state) { /* G54j */
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) publish(texts[i], true);
}

/* ---- structures without locks ---- */

enum { ADDITIONS = TINY ? 500 : 60000 };

struct sum {
  wn_global *counter;
  _Atomic(int) came;
};

static void add_ones(wn_domain *domain, void *argument) {
  struct sum *sum = argument;
  WN_SCOPE(domain);
  wn_ref counter = wn_global_get(domain, sum->counter);
  begin_together(domain, &sum->came, DOMAINS);
  for (int i = 0; i < ADDITIONS; i++)
    for (bool done = false; !done; wn_poll(domain)) {
      WN_SCOPE(domain);
      wn_ref before = wn_get(domain, counter, 0);
      done = wn_cas(domain, counter, 0, before, wn_root(domain, wn_int(wn_to_int(wn_value_of(before)) + 1)));
    }
}

static void no_addition_by_swaps_is_lost(void **state) { /* G54j */
  (void)state;
  struct journal of;
  wn_join *joins[DOMAINS];
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    struct sum sum = {wn_global_new(of.domain, block_of(of.domain, 0)), 0};
    for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, add_ones, &sum);
    for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
    assert_int_equal(number_of(wn_global_get(of.domain, sum.counter)), DOMAINS * ADDITIONS);
    wn_global_free(of.domain, sum.counter);
  }
  journal_close(&of);
}

/* The queue of Michael and Scott: a block of head and tail, and nodes of number and next. The heap
 * sees to it that no node is used again while a domain holds it. */
enum { HEAD, TAIL, NUMBER = 0, NEXT = 1, PRODUCERS = 2, CONSUMERS = 2, ITEMS = TINY ? 500 : 20000 };

struct queue {
  wn_global *ends;
  _Atomic(int) producers, came;
  _Atomic(long) taken, sum, wrong;
};

static void enqueue(wn_domain *domain, wn_ref ends, intptr_t number) {
  WN_SCOPE(domain);
  wn_ref none = wn_root(domain, wn_int(0)), node = wn_pair(domain, 0, wn_root(domain, wn_int(number)), none);
  for (;; wn_poll(domain)) {
    WN_SCOPE(domain);
    wn_ref tail = wn_get(domain, ends, TAIL), next = wn_get(domain, tail, NEXT);
    if (!wn_is_int(wn_value_of(next))) {
      wn_cas(domain, ends, TAIL, tail, next);
    } else if (wn_cas(domain, tail, NEXT, next, node)) {
      wn_cas(domain, ends, TAIL, tail, node);
      return;
    }
  }
}

/* -1: the queue is empty. */
static intptr_t dequeue(wn_domain *domain, wn_ref ends) {
  for (;; wn_poll(domain)) {
    WN_SCOPE(domain);
    wn_ref head = wn_get(domain, ends, HEAD), tail = wn_get(domain, ends, TAIL),
           next = wn_get(domain, head, NEXT);
    if (wn_is_int(wn_value_of(next))) return -1;
    if (wn_value_of(head) == wn_value_of(tail)) wn_cas(domain, ends, TAIL, tail, next);
    if (wn_cas(domain, ends, HEAD, head, next)) return wn_to_int(wn_field(next, NUMBER));
  }
}

static void produce(wn_domain *domain, void *argument) {
  struct queue *queue = argument;
  int producer = atomic_fetch_add(&queue->producers, 1);
  WN_SCOPE(domain);
  wn_ref ends = wn_global_get(domain, queue->ends);
  begin_together(domain, &queue->came, PRODUCERS + CONSUMERS);
  for (int i = 0; i < ITEMS; i++) enqueue(domain, ends, (intptr_t)producer * ITEMS + i);
}

/* A consumer gets the numbers of each producer in their order. */
static void consume(wn_domain *domain, void *argument) {
  struct queue *queue = argument;
  intptr_t last[PRODUCERS] = {-1, -1};
  WN_SCOPE(domain);
  wn_ref ends = wn_global_get(domain, queue->ends);
  begin_together(domain, &queue->came, PRODUCERS + CONSUMERS);
  while (atomic_load(&queue->taken) < PRODUCERS * ITEMS) {
    intptr_t number = dequeue(domain, ends);
    wn_poll(domain);
    if (number < 0) continue;
    atomic_fetch_add(&queue->taken, 1);
    atomic_fetch_add(&queue->sum, number);
    if (number <= last[number / ITEMS]) atomic_fetch_add(&queue->wrong, 1);
    last[number / ITEMS] = number;
  }
}

static void a_queue_of_swaps_loses_and_repeats_nothing_and_keeps_order(void **state) { /* G54j */
  (void)state;
  const long all = PRODUCERS * ITEMS;
  struct journal of;
  struct queue queue = {0};
  wn_join *joins[PRODUCERS + CONSUMERS];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "minor_heap_size=2k";
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    wn_ref first = wn_alloc(of.domain, 2, 0);
    queue.ends = wn_global_new(of.domain, wn_pair(of.domain, 0, first, first));
  }
  for (int i = 0; i < CONSUMERS; i++) joins[i] = spawn(of.domain, consume, &queue);
  for (int i = 0; i < PRODUCERS; i++) joins[CONSUMERS + i] = spawn(of.domain, produce, &queue);
  for (int i = 0; i < PRODUCERS + CONSUMERS; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(queue.taken, all);
  assert_int_equal(queue.sum, all * (all - 1) / 2);
  assert_int_equal(queue.wrong, 0);
  wn_global_free(of.domain, queue.ends);
  wn_gc_full_major(of.domain);
  assert_int_equal(read_stat(of.domain).live_blocks, 0);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_sees_a_store_sees_those_before_it),
      cmocka_unit_test(no_load_sees_a_store_that_comes_after_it),
      cmocka_unit_test(stores_to_one_field_are_seen_in_their_order),
      cmocka_unit_test(what_one_domain_passes_on_from_another_comes_with_its_cause),
      cmocka_unit_test(of_two_domains_that_swap_and_look_one_sees_the_other),
      cmocka_unit_test(a_block_that_is_stored_is_seen_with_its_contents),
      cmocka_unit_test(a_block_that_is_swapped_in_is_seen_with_its_contents),
      cmocka_unit_test(no_addition_by_swaps_is_lost),
      cmocka_unit_test(a_queue_of_swaps_loses_and_repeats_nothing_and_keeps_order),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
