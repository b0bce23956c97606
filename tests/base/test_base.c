/* The base: checksums, random streams, locks, errors. */
#include "support/test.h"

#include "base/array.h"
#include "base/error.h"
#include "base/fence.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/lock.h"
#include "base/metadata.h"
#include "base/os.h"
#include "base/random.h"
#include "base/stripe.h"
#include "base/words.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void crc32c_gives_the_published_check_value(void **state) {
  (void)state;
  assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283); /* RFC 3720, B.4 gives more */
  unsigned char zeros[32] = {0};
  assert_int_equal(crc32c(0, zeros, sizeof zeros), 0x8a9136aa);
}

static void crc32c_can_be_continued_at_any_byte(void **state) {
  (void)state;
  const char text[] = "a text that is cut at every place";
  uint32_t whole = crc32c(0, text, sizeof text);
  for (size_t cut = 0; cut <= sizeof text; cut++)
    assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, sizeof text - cut), whole);
}

/* At each length and place in memory: equal bytes have equal hashes, and each bit counts. */
static void hash_long_follows_from_all_bytes_and_nothing_else(void **state) {
  enum { MOST = 70, SHIFTS = 9 };
  unsigned char bytes[MOST + SHIFTS], moved[MOST + SHIFTS];
  uint64_t of_length[MOST + 1];
  (void)state;
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i % 3 ? i : 0);
  for (size_t count = 0; count <= MOST; count++) {
    of_length[count] = hash_long(1, bytes, count);
    for (size_t i = 0; i < count; i++) assert_true(of_length[i] != of_length[count]);
    assert_true(hash_long(2, bytes, count) != of_length[count]);
    for (size_t shift = 0; shift < SHIFTS; shift++) {
      memset(moved, (int)shift, sizeof moved);
      memcpy(moved + shift, bytes, count);
      assert_true(hash_long(1, moved + shift, count) == of_length[count]);
    }
    for (size_t bit = 0; bit < 8 * count; bit++) {
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
      assert_true(hash_long(1, bytes, count) != of_length[count]);
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
  }
}

static void an_array_keeps_its_items_as_it_grows(void **state) {
  (void)state;
  struct item {
    uint32_t number;
    char name[3];
  } *items = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = 0; i < 1000; i++)
    assert_true(ARRAY_ADD(items, count, capacity, (struct item){i, {'a', 'b', 0}}));
  for (uint32_t i = 0; i < 1000; i++) {
    assert_int_equal(items[i].number, i);
    assert_string_equal(items[i].name, "ab");
  }
  assert_true(array_reserve(&items, &capacity, 5000, sizeof *items));
  assert_true(capacity >= 5000 && items[999].number == 999);
  free(items);
}

/* More bytes than an object can have. */
static void an_array_that_cannot_grow_stays_as_it_was(void **state) {
  (void)state;
  uint64_t *items = NULL;
  size_t count = 0, capacity = 0;
  assert_true(ARRAY_ADD(items, count, capacity, 7));
  uint64_t *before = items;
  size_t room = capacity;
  assert_false(array_reserve(&items, &capacity, PTRDIFF_MAX / sizeof *items + 1, sizeof *items));
  assert_ptr_equal(items, before);
  assert_int_equal(capacity, room);
  assert_int_equal(items[0], 7);
  free(items);
}

/* Items 3i and 3i + 1 have one hash, and all have few low bits: the items decide, and slots are full. */
static void an_index_finds_what_was_added_and_nothing_else(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  struct index index = {.slots = NULL};
  uint32_t found;
  assert_int_equal(index_next(&index, &(struct index_walk){.hash = 7}), 0);
  for (uint32_t i = 1; i <= COUNT; i++) assert_true(index_add(&index, (i / 3) << 4 | i % 3 / 2, i));
  for (uint32_t i = 1; i <= COUNT; i++) {
    struct index_walk walk = {.hash = (i / 3) << 4 | i % 3 / 2};
    int seen = 0, others = 0;
    while ((found = index_next(&index, &walk)))
      if (found == i)
        seen++;
      else
        others += found / 3 == i / 3 && found % 3 / 2 == i % 3 / 2 ? 1 : COUNT;
    assert_int_equal(seen, 1);
    assert_true(others <= 1);
  }
  assert_int_equal(index_next(&index, &(struct index_walk){.hash = 9}), 0);
  assert_true(index.size >= 2 * COUNT && index.count == COUNT);
  free(index.slots);
}

static void random_streams_differ_in_each_of_their_three_numbers(void **state) {
  (void)state;
  struct random a, b;
  random_seed(&a, 1, 2, 3);
  random_seed(&b, 1, 2, 3);
  assert_int_equal(random_bits(&a), random_bits(&b));
  uint64_t first = random_bits(&a);
  const uint64_t others[][3] = {{2, 2, 3}, {1, 3, 3}, {1, 2, 4}, {3, 2, 1}, {2, 1, 3}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    random_seed(&b, others[i][0], others[i][1], others[i][2]);
    random_bits(&b);
    assert_int_not_equal(random_bits(&b), first);
  }
}

static void random_unit_stays_above_zero_and_at_most_one(void **state) {
  (void)state;
  struct random random;
  random_seed(&random, 7, 0, 0);
  double sum = 0;
  for (int i = 0; i < 1000000; i++) {
    double u = random_unit(&random);
    assert_true(u > 0 && u <= 1);
    sum += u;
  }
  assert_true(sum > 498000 && sum < 502000);
}

static void malloc_words_counts_a_header_and_rounds_up(void **state) {
  (void)state;
  assert_int_equal(malloc_words(0), 1);
  assert_int_equal(malloc_words(1), 2);
  assert_int_equal(malloc_words(8), 2);
  assert_int_equal(malloc_words(9), 3);
}

static struct lock shared_lock;
static long shared_count;

static void *count_up(void *argument) {
  (void)argument;
  for (int i = 0; i < 100000; i++) {
    lock_acquire(&shared_lock, LOCK_RANK_RUNS);
    shared_count++;
    lock_release(&shared_lock, LOCK_RANK_RUNS);
  }
  return NULL;
}

static void lock_lets_one_thread_in_at_a_time(void **state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, count_up, NULL), 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  assert_int_equal(shared_count, 400000);
}

static void lock_knows_which_ranks_its_thread_holds(void **state) {
  (void)state;
  struct lock lock = {0};
  assert_false(lock_rank_held(LOCK_RANK_RUNS) || lock_is_mine(&lock));
  lock_acquire(&lock, LOCK_RANK_RUNS);
  assert_true(lock_rank_held(LOCK_RANK_RUNS) && lock_is_mine(&lock));
  lock_release(&lock, LOCK_RANK_RUNS);
  assert_false(lock_rank_held(LOCK_RANK_RUNS));
}

/* One thread holds the lock, one waits for it; a signal handler interrupts the waiting one and
 * forks. */
static struct lock contended;
static _Atomic(int) stage; /* 1: held, 2: the handler runs, 3: the child is forked */
static int child_status = -1;

static void *hold_until_the_handler_runs(void *waiting) {
  lock_acquire(&contended, LOCK_RANK_RUNS);
  stage = 1;
  while ((contended.state & 1) == 0) usleep(100); /* until somebody waits */
  pthread_kill(*(pthread_t *)waiting, SIGUSR1);
  while (stage < 2) usleep(100);
  lock_release(&contended, LOCK_RANK_RUNS);
  return NULL;
}

static void fork_in_handler(int signal) {
  (void)signal;
  static struct lock_fork fork_state;
  bool waits = lock_rank_held(LOCK_RANK_RUNS) && !lock_is_mine(&contended);
  stage = 2;
  lock_before_fork(&contended, LOCK_RANK_RUNS, &fork_state);
  pid_t child = waits && lock_is_mine(&contended) ? fork() : -1;
  lock_after_fork(&contended, LOCK_RANK_RUNS, &fork_state);
  if (child) {
    waitpid(child, &child_status, 0);
    stage = 3;
  }
}

static void a_child_of_one_who_waits_gets_the_lock(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* it takes the other thread, which is not in the child, for one that leaks */
#endif
  pthread_t holder, self = pthread_self();
  signal(SIGUSR1, fork_in_handler);
  assert_int_equal(pthread_create(&holder, NULL, hold_until_the_handler_runs, &self), 0);
  while (stage < 1) usleep(100);
  lock_acquire(&contended, LOCK_RANK_RUNS);
  bool mine = lock_is_mine(&contended) && lock_rank_held(LOCK_RANK_RUNS);
  lock_release(&contended, LOCK_RANK_RUNS);
  if (stage == 2) _exit(mine ? 0 : 1); /* the child */
  assert_true(mine);
  assert_false(lock_rank_held(LOCK_RANK_RUNS) || lock_is_mine(&contended));
  assert_int_equal(child_status, 0);
  pthread_join(holder, NULL);
}

static void lock_tells_handlers_where_they_must_not_wait(void **state) {
  (void)state;
  struct lock lock = {0};
  lock_acquire(&lock, LOCK_RANK_MODULES);
  assert_true(lock_must_not_wait(LOCK_RANK_MAPPINGS) && lock_must_not_wait(LOCK_RANK_MODULES));
  assert_false(lock_must_not_wait(LOCK_RANK_RUNS));
  lock_release(&lock, LOCK_RANK_MODULES);
  assert_false(lock_must_not_wait(LOCK_RANK_MAPPINGS));
}

static _Atomic(int) busy_stage;
static void *hold_while_another_tries(void *held_by_it) {
  lock_acquire(held_by_it, LOCK_RANK_MAPPINGS);
  busy_stage = 1;
  while (busy_stage < 2) usleep(100);
  lock_release(held_by_it, LOCK_RANK_MAPPINGS);
  return NULL;
}

/* With a lock of a later rank, as in a handler that interrupted its holder. */
static void a_fork_goes_on_where_a_lock_is_busy(void **state) {
  (void)state;
  struct lock later = {0}, busy = {0};
  struct lock_fork fork_state = {0};
  pthread_t holder;
  assert_int_equal(pthread_create(&holder, NULL, hold_while_another_tries, &busy), 0);
  while (busy_stage < 1) usleep(100);
  lock_acquire(&later, LOCK_RANK_RUNS);
  assert_false(lock_try_before_fork(&busy, LOCK_RANK_MAPPINGS, &fork_state));
  assert_false(lock_rank_held(LOCK_RANK_MAPPINGS));
  busy_stage = 2;
  pthread_join(holder, NULL);
  for (int i = 0; i < 2; i++) assert_true(lock_try_before_fork(&busy, LOCK_RANK_MAPPINGS, &fork_state));
  assert_true(lock_is_mine(&busy));
  lock_after_fork(&busy, LOCK_RANK_MAPPINGS, &fork_state);
  assert_true(lock_is_mine(&busy));
  lock_after_fork(&busy, LOCK_RANK_MAPPINGS, &fork_state);
  assert_false(lock_is_mine(&busy) || lock_rank_held(LOCK_RANK_MAPPINGS));
  lock_release(&later, LOCK_RANK_RUNS);
}

static void last_error_keeps_the_message_of_this_thread(void **state) {
  (void)state;
  assert_int_equal(error_set(WN_EIO, "cannot read %s", "x"), WN_EIO);
  assert_string_equal(wn_last_error(), "cannot read x");
  assert_string_equal(wn_status_text(WN_EIO), "input or output failed");
}

/* Whether a core dump would have the mapping that an address lies in. -1: it is in none, or the
 * kernel does not say. */
static int dumped(const void *address) {
  char line[512];
  int found = -1;
  bool inside = false;
  FILE *maps = fopen("/proc/self/smaps", "r");
  assert_non_null(maps);
  while (found < 0 && fgets(line, sizeof line, maps)) {
    uintptr_t from, to;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
      inside = from <= (uintptr_t)address && (uintptr_t)address < to;
    else if (inside && !strncmp(line, "VmFlags:", 8))
      found = !strstr(line, " dd");
  }
  fclose(maps);
  return found;
}

static void core_dumps_have_what_is_used_of_a_reservation(void **state) {
  (void)state;
  size_t bytes = (size_t)1 << 36, table_bytes = (size_t)1 << 26; /* beside tsan 1 TiB may not fit */
  char *addresses = metadata_reserve_addresses(bytes), *table = metadata_reserve(table_bytes);
  if (dumped(&state) < 0) skip();
  assert_non_null(addresses);
  assert_true(metadata_make_accessible(addresses + bytes / 2, 8192));
  assert_true(metadata_make_accessible(addresses + bytes / 2 + 8192, 8192));
  assert_int_equal(dumped(addresses), 0);
  assert_int_equal(dumped(addresses + bytes / 2 - 1), 0);
  assert_int_equal(dumped(addresses + bytes / 2), 1);
  assert_int_equal(dumped(addresses + bytes / 2 + 16383), 1);
  assert_int_equal(dumped(addresses + bytes / 2 + 16384), 0);
  assert_int_equal(dumped(table), 0);
  metadata_give_back(addresses, bytes);
  metadata_give_back(table, table_bytes);
}

static size_t all_resident(uintptr_t begin, uintptr_t end) { return end - begin; }
static size_t none_resident(uintptr_t begin, uintptr_t end) { return 0 * (begin + end); }

/* What the program has of our pages, and had at most, is known between two looks too. */
static void metadata_that_the_program_used_first_is_touched(void **state) {
  (void)state;
  enum { PAGES = 1 << 20, SOME = 300000, LESS = 100000 };
  metadata_look(all_resident, true);
  size_t before = metadata_bytes();
  char *pages = metadata_map(PAGES);
  assert_int_equal(metadata_bytes(), before);
  metadata_of_others(SOME);
  assert_int_equal(metadata_bytes(), before);
  metadata_of_others(LESS);
  assert_int_equal(metadata_bytes(), before + SOME - LESS);
  metadata_look(none_resident, true);
  size_t then = metadata_bytes();
  metadata_of_others(SOME);
  assert_int_equal(metadata_bytes(), then < SOME - LESS ? 0 : then - (SOME - LESS));
  metadata_of_others(0);
  metadata_unmap(pages, PAGES);
  metadata_look(all_resident, true);
}

static void a_look_is_due_after_growth_alone(void **state) {
  (void)state;
  enum { LARGE = 16 << 20 };
  metadata_look(all_resident, true);
  assert_false(metadata_look_is_due());
  for (int round = 0; round < 3; round++) {
    char *pages = metadata_map(LARGE);
    assert_int_equal(metadata_look_is_due(), round == 0);
    if (round == 0) metadata_look(all_resident, true);
    metadata_unmap(pages, LARGE);
    metadata_look(all_resident, true);
  }
  metadata_of_others((size_t)2 * LARGE);
  assert_true(metadata_look_is_due());
  metadata_look(all_resident, true);
  metadata_of_others(0);
  metadata_of_others((size_t)2 * LARGE);
  assert_false(metadata_look_is_due());
  metadata_of_others(0);
}

static uintptr_t asked_of;
static size_t missing, times_asked;
static size_t some_resident(uintptr_t begin, uintptr_t end) {
  times_asked += begin == asked_of;
  return end - begin - (begin == asked_of ? missing : 0);
}

static size_t asked(size_t is_missing, bool all) {
  missing = is_missing;
  times_asked = 0;
  metadata_look(some_resident, all);
  return times_asked;
}

/* Looks that growth makes due pass over what two looks found full, and ask of it again in the next
 * at all. */
static void full_ranges_are_passed_over(void **state) {
  (void)state;
  enum { PAGES = 1 << 20, PAGE = 4096 };
  asked_of = (uintptr_t)metadata_map(PAGES);
  for (int round = 0; round < 3; round++) assert_int_equal(asked(PAGES, false), 1); /* nobody touched it */
  assert_int_equal(asked(PAGE, false), 1);
  assert_int_equal(asked(PAGE, false), 1);
  size_t bytes = metadata_bytes();
  assert_int_equal(asked(PAGE, false), 0);
  assert_int_equal(metadata_bytes(), bytes);
  assert_int_equal(asked(2 * PAGE, true), 1);
  assert_int_equal(metadata_bytes(), bytes - PAGE);
  assert_int_equal(asked(2 * PAGE, false), 1);
  metadata_unmap((void *)asked_of, PAGES);
  metadata_look(all_resident, true);
}

static void metadata_is_zeroed_and_a_reservation_costs_nothing(void **state) {
  (void)state;
  char *page = metadata_map(1);
  assert_non_null(page);
  assert_int_equal(page[0], 0);
  size_t counted = metadata_bytes();
  metadata_unmap(page, 1);
  assert_int_equal(counted - metadata_bytes(), sysconf(_SC_PAGESIZE));
  const size_t bytes = (size_t)1 << 30;
  char *addresses = metadata_reserve_addresses(bytes);
  assert_non_null(addresses);
  assert_true(metadata_make_accessible(addresses + bytes / 2, 8192));
  assert_true(metadata_make_accessible(addresses + bytes / 2, 8192));
  assert_int_equal(addresses[bytes / 2 + 8191], 0);
  addresses[bytes / 2] = 1;
  metadata_give_back(addresses, bytes);
}

static void *ask_stripe(void *out) {
  *(unsigned *)out = stripe_of_thread();
  assert_int_equal(stripe_of_thread(), *(unsigned *)out);
  return NULL;
}

static void threads_are_spread_over_the_stripes(void **state) {
  (void)state;
  unsigned threads[STRIPES] = {0};
  for (unsigned i = 0; i < 3 * STRIPES; i++) {
    unsigned stripe = STRIPES;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask_stripe, &stripe), 0);
    pthread_join(thread, NULL);
    assert_true(stripe < STRIPES);
    threads[stripe]++;
  }
  for (unsigned i = 0; i < STRIPES; i++) assert_int_equal(threads[i], 3);
}

/* ---- fences ---- */

enum { MEETINGS = 200000 };

static struct {
  _Alignas(128) _Atomic(int) light; /* what each side writes */
  _Alignas(128) _Atomic(int) heavy;
  _Alignas(128) _Atomic(int) round; /* that may begin */
  _Alignas(128) _Atomic(int) ended; /* by the light side */
  int seen_by_light;
} meeting;

static void pass_time(int round) {
  for (volatile int i = 0; i < round % 64; i++) {}
}

static void *be_light(void *unused) {
  for (int round = 1; round <= MEETINGS; round++) {
    while (atomic_load(&meeting.round) < round) sched_yield();
    pass_time(round / 64);
    atomic_store_explicit(&meeting.light, round, memory_order_relaxed);
    fence_light();
    meeting.seen_by_light = atomic_load_explicit(&meeting.heavy, memory_order_relaxed);
    atomic_store(&meeting.ended, round);
  }
  return unused;
}

/* How often neither side saw the other. */
static int count_misses(void) {
  pthread_t other;
  int misses = 0;
  memset(&meeting, 0, sizeof meeting);
  assert_int_equal(pthread_create(&other, NULL, be_light, NULL), 0);
  for (int round = 1; round <= MEETINGS; round++) {
    atomic_store(&meeting.round, round);
    pass_time(round);
    atomic_store_explicit(&meeting.heavy, round, memory_order_relaxed);
    fence_heavy();
    int seen = atomic_load_explicit(&meeting.light, memory_order_relaxed);
    while (atomic_load(&meeting.ended) < round) sched_yield();
    misses += seen != round && meeting.seen_by_light != round;
  }
  pthread_join(other, NULL);
  return misses;
}

static void of_a_light_and_a_heavy_side_one_sees_what_the_other_wrote(void **state) {
  (void)state;
  fence_prepare();
  assert_int_equal(count_misses(), 0);
}

static void of_two_sides_one_sees_the_other_where_the_system_has_no_fence_for_all(void **state) {
  (void)state;
  bool uneven = atomic_exchange(&fence_is_uneven, false);
  assert_int_equal(count_misses(), 0);
  atomic_store(&fence_is_uneven, uneven);
}

static void a_heavy_fence_keeps_errno_in_a_forked_child_too(void **state) {
  (void)state;
  fence_prepare();
  pid_t child = fork();
  if (!child) {
    errno = 77;
    fence_heavy();
    _exit(errno == 77 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crc32c_gives_the_published_check_value),
      cmocka_unit_test(crc32c_can_be_continued_at_any_byte),
      cmocka_unit_test(hash_long_follows_from_all_bytes_and_nothing_else),
      cmocka_unit_test(an_array_keeps_its_items_as_it_grows),
      cmocka_unit_test(an_array_that_cannot_grow_stays_as_it_was),
      cmocka_unit_test(an_index_finds_what_was_added_and_nothing_else),
      cmocka_unit_test(random_streams_differ_in_each_of_their_three_numbers),
      cmocka_unit_test(random_unit_stays_above_zero_and_at_most_one),
      cmocka_unit_test(malloc_words_counts_a_header_and_rounds_up),
      cmocka_unit_test(lock_lets_one_thread_in_at_a_time),
      cmocka_unit_test(lock_knows_which_ranks_its_thread_holds),
      cmocka_unit_test(lock_tells_handlers_where_they_must_not_wait),
      cmocka_unit_test(a_fork_goes_on_where_a_lock_is_busy),
      cmocka_unit_test(a_child_of_one_who_waits_gets_the_lock),
      cmocka_unit_test(last_error_keeps_the_message_of_this_thread),
      cmocka_unit_test(threads_are_spread_over_the_stripes),
      cmocka_unit_test(metadata_that_the_program_used_first_is_touched),
      cmocka_unit_test(a_look_is_due_after_growth_alone),
      cmocka_unit_test(full_ranges_are_passed_over),
      cmocka_unit_test(metadata_is_zeroed_and_a_reservation_costs_nothing),
      cmocka_unit_test(core_dumps_have_what_is_used_of_a_reservation),
      cmocka_unit_test(of_a_light_and_a_heavy_side_one_sees_what_the_other_wrote),
      cmocka_unit_test(of_two_sides_one_sees_the_other_where_the_system_has_no_fence_for_all),
      cmocka_unit_test(a_heavy_fence_keeps_errno_in_a_forked_child_too),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
