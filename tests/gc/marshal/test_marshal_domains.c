/* Marshalling on several domains, and on threads that take turns. */
#include "gc/marshal/graph.h"

#include <unistd.h>

enum { DOMAINS = 4, ROUNDS = 30, NODES = 200 };

static struct journal of;
static wn_global *shared; /* a graph that does not change */
static wn_global *board;  /* a block of fields that all domains write and read */

static void open_world(const char *text) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = text;
  journal_open(&of, &options);
  WN_SCOPE(of.domain);
  uint64_t seed = 1;
  shared = wn_global_new(of.domain, random_graph(of.domain, &seed, NODES, 9));
  board = wn_global_new(of.domain, wn_alloc(of.domain, DOMAINS, 0));
}

static void close_world(void) {
  wn_global_free(of.domain, shared);
  wn_global_free(of.domain, board);
  journal_close(&of);
}

/* Copies the shared graph, puts the copy on the board, and marshals what is on the board, which the
 * other domains change meanwhile. */
static void copy_around(wn_domain *domain, void *argument) {
  uint64_t number = (uint64_t)(uintptr_t)argument, seed = number;
  for (int round = 0; round < ROUNDS; round++) {
    WN_SCOPE(domain);
    wn_ref graph = wn_global_get(domain, shared);
    wn_ref copy = there_and_back(domain, graph, 0);
    wn_set(domain, wn_global_get(domain, board), number % DOMAINS, copy);
    struct message all = write_message(domain, wn_global_get(domain, board));
    wn_ref every = read_message(domain, all);
    for (size_t i = 0; i < DOMAINS; i++) {
      WN_SCOPE(domain);
      if (!wn_is_int(wn_field(every, i))) assert_same(*graph.slot, wn_field(every, i));
    }
    free(all.bytes);
    if (below(&seed, 4) == 0) wn_gc_minor(domain);
    if (below(&seed, 20) == 0) wn_gc_full_major(domain);
    wn_poll(domain);
  }
}

static void domains_marshal_at_the_same_time(void **state) { /* V13 */
  static const char *const texts[] = {"", "verify", "delays=1,verify", "every=50",
                                      "minor_heap_size=512,helpers=2"};
  (void)state;
  for (size_t text = 0; text < sizeof texts / sizeof *texts; text++) {
    wn_join *joins[DOMAINS];
    open_world(texts[text]);
    for (uintptr_t i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, copy_around, (void *)i);
    for (size_t i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
    close_world();
  }
}

static void threads_marshal_in_turns(void **state) { /* V13 */
  (void)state;
  wn_join *joins[DOMAINS];
  open_world("verify");
  for (uintptr_t i = 0; i < DOMAINS; i++)
    assert_int_equal(wn_thread_spawn(of.domain, copy_around, (void *)i, &joins[i]), WN_OK);
  for (size_t i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  close_world();
}

/* A pipe between two domains: each waits for the other in blocking sections. */
static void send_lists(wn_domain *domain, void *argument) {
  for (long length = 0; length < 2000; length += 37) {
    WN_SCOPE(domain);
    assert_int_equal(wn_marshal_write_file(domain, make_list(domain, length, 3), 0, argument), WN_OK);
  }
  wn_blocking_begin(domain);
  fclose(argument);
  wn_blocking_end(domain);
}

static void messages_go_from_domain_to_domain(void **state) { /* V13 */
  int ends[2];
  (void)state;
  open_world("");
  assert_int_equal(pipe(ends), 0);
  FILE *in = fdopen(ends[0], "rb"), *out = fdopen(ends[1], "wb");
  assert_true(in && out);
  wn_join *join = spawn(of.domain, send_lists, out);
  for (long length = 0; length < 2000; length += 37) {
    WN_SCOPE(of.domain);
    wn_ref list;
    assert_int_equal(wn_marshal_read_file(of.domain, in, 0, &list), WN_OK);
    assert_int_equal(length_of(of.domain, list), length);
  }
  join_wait(of.domain, join);
  fclose(in);
  close_world();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(domains_marshal_at_the_same_time),
      cmocka_unit_test(threads_marshal_in_turns),
      cmocka_unit_test(messages_go_from_domain_to_domain),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
