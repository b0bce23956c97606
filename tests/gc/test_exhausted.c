/* What happens when the system has no more memory: each case in a process of its own, whose address
 * space is limited once the heap is there, or before. Checks of the heap need memory themselves, so the limit
 * is taken away for them. */
#include "gc/journal.h"

#include "base/check.h"
#include "gc/domains/heap.h"
#include <malloc.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPARE_MEGABYTES = 48, DOMAINS = 4, MINOR_WORDS = 32768 };

struct hooked {
  wn_global *spare; /* let go when memory is exhausted, if not NULL */
  long calls;
  size_t words;
};

static wn_heap *heap;
static wn_domain *domain;
static struct hooked hooked;

/* cmocka's assertions would jump into the parent's tests. */
#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, wn_last_error()); \
      _exit(1);                                                                            \
    }                                                                                      \
  } while (0)

static void limit(size_t megabytes) {
  long pages = 0;
  struct rlimit limit;
  FILE *statm = fopen("/proc/self/statm", "r");
  CHECK(statm && fscanf(statm, "%ld", &pages) == 1 && !fclose(statm));
  CHECK(!getrlimit(RLIMIT_AS, &limit));
  limit.rlim_cur = megabytes ? ((rlim_t)pages << 12) + ((rlim_t)megabytes << 20) : limit.rlim_max;
  CHECK(!setrlimit(RLIMIT_AS, &limit));
}

static bool let_go(wn_domain *of, size_t words, void *context) {
  struct hooked *hook = context;
  __atomic_fetch_add(&hook->calls, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&hook->words, words, __ATOMIC_RELAXED);
  wn_global *spare = __atomic_exchange_n(&hook->spare, NULL, __ATOMIC_RELAXED);
  wn_global_free(of, spare);
  return spare != NULL;
}

/* The minor heaps of the tiny build would make these programs slow. */
static void open_with(wn_heap_options options, long minor_words) {
  options.parameters.minor_heap_size = minor_words;
  CHECK(!wn_heap_open(&options, &heap));
  CHECK(!wn_domain_attach(heap, &domain));
}

static void begin(long minor_words) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.out_of_memory = let_go;
  options.hooks.context = &hooked;
  open_with(options, minor_words);
}

static void end(void) {
  limit(0);
  CHECK(!wn_gc_verify(domain, stderr));
  CHECK(!wn_domain_detach(domain));
  CHECK(!wn_heap_close(heap));
}

/* Blocks of many sizes in a list, until there is no memory. Returns how many words. */
static size_t fill(wn_domain *of, wn_ref list, size_t most) {
  size_t words = 0;
  for (size_t i = 0; words < most; i++) {
    WN_SCOPE(of);
    size_t size = i % 50 ? 1 + i * 7 % 256 : 300 + i % 3000;
    wn_ref block = wn_alloc(of, size, 0);
    if (wn_is_null(block)) return words;
    wn_set(of, block, 0, list);
    wn_assign(list, block);
    words += size;
  }
  return words;
}

static size_t length(wn_ref list) {
  size_t words = 0;
  for (wn_value at = wn_value_of(list); !wn_is_int(at); at = *(wn_value *)at) words += wn_words(at);
  return words;
}

/* ---- cases ---- */

static void null_handle_and_a_sound_heap(void) {
  begin(MINOR_WORDS);
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  limit(SPARE_MEGABYTES);
  size_t words = fill(domain, list, SIZE_MAX);
  CHECK(hooked.calls > 0 && hooked.words > 0 && words > 100000);
  CHECK(strstr(wn_last_error(), "no memory"));
  CHECK(length(list) == words);
  limit(0);
  CHECK(!wn_gc_verify(domain, stderr));
  limit(1);
  wn_assign_int(list, 0);
  CHECK(!wn_gc_full_major(domain));
  CHECK(fill(domain, list, words / 2) >= words / 2);
  CHECK(length(list) >= words / 2);
}

static void what_the_hook_lets_go_is_used(void) {
  begin(MINOR_WORDS);
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  limit(SPARE_MEGABYTES);
  size_t words = fill(domain, list, TINY ? 2500000 : 3000000); /* its pools waste more */
  CHECK(!hooked.calls);
  hooked.spare = wn_global_new(domain, list);
  wn_assign_int(list, 0);
  CHECK(fill(domain, list, words + words / 2) >= words + words / 2);
  CHECK(hooked.calls == 1 && !hooked.spare);
}

static void a_large_block_that_is_too_large(void) {
  begin(MINOR_WORDS);
  WN_SCOPE(domain);
  limit(SPARE_MEGABYTES);
  CHECK(wn_is_null(wn_alloc_bytes(domain, (size_t)SPARE_MEGABYTES << 20)));
  CHECK(hooked.calls == 1);
  CHECK(wn_is_null(wn_alloc(domain, WN_MAX_WORDS, 0)));
  CHECK(!wn_is_null(wn_alloc_bytes(domain, 1 << 20)));
}

/* RESERVE: everything in the minor heaps survives, in several domains, while nothing more can be
 * had. */
static void survive(wn_domain *of, void *argument) {
  WN_SCOPE(of);
  (void)argument;
  wn_ref list = wn_root(of, wn_int(0));
  size_t words = fill(of, list, SIZE_MAX);
  CHECK(length(list) == words);
  for (int i = 0; i < 5; i++) {
    wn_gc_minor(of);
    words += fill(of, list, SIZE_MAX);
    CHECK(length(list) == words);
  }
}

static void promotion_never_runs_out(void) {
  begin(MINOR_WORDS);
  wn_join *joins[DOMAINS] = {NULL};
  {
    WN_SCOPE(domain);
    limit(SPARE_MEGABYTES + 64); /* stacks of threads */
    for (int i = 0; i < DOMAINS; i++)
      if (wn_domain_spawn(domain, survive, NULL, &joins[i])) joins[i] = NULL;
    survive(domain, NULL);
    CHECK(joins[0]);
    for (int i = 0; i < DOMAINS; i++)
      if (joins[i]) CHECK(!wn_join_wait(domain, joins[i]));
    CHECK(hooked.calls > 0);
  }
  CHECK(!wn_gc_full_major(domain));
  {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0));
    CHECK(fill(domain, list, 300000) >= 300000);
  }
}

/* Blocks that no minor heap counts: when they cannot be had, what is left is RESERVE's. */
static void eat(wn_ref list, size_t size) {
  for (;;) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, size, 0);
    if (wn_is_null(block)) return;
    wn_set(domain, block, 0, list);
    wn_assign(list, block);
  }
}

/* Each has one word here, and two there. */
static void fill_with_nothing(wn_ref array, size_t count) {
  for (size_t i = 0; i < count; i++) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, 0, 0);
    CHECK(!wn_is_null(block));
    wn_set(domain, array, i, block);
  }
}

static void blocks_without_fields_are_promoted_too(void) {
  enum { WORDS = 1 << 20 };
  begin(WORDS);
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0)), array = wn_alloc(domain, 2 * WORDS, 0);
  fill_with_nothing(array, 2 * WORDS); /* so that the remembered set has its size */
  CHECK(!wn_gc_full_major(domain));
  for (size_t i = 0; i < 2 * WORDS; i++) wn_set_int(domain, array, i, 0);
  CHECK(!wn_gc_full_major(domain));
  limit(SPARE_MEGABYTES);
  eat(list, 100000);
  eat(list, 300);
  fill_with_nothing(array, WORDS - WORDS / 16);
  CHECK(!wn_gc_minor(domain));
  for (size_t i = 0; i < WORDS - WORDS / 16; i++) CHECK(!wn_words(wn_field(array, i)));
}

/* A domain that comes when there is nothing left gets nothing, or is refused. */
static void a_domain_that_comes_late(void) {
  begin(MINOR_WORDS);
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  limit(SPARE_MEGABYTES);
  size_t words = fill(domain, list, SIZE_MAX);
  for (int i = 0; i < DOMAINS; i++) {
    wn_join *join;
    limit(9); /* a stack */
    if (wn_domain_spawn(domain, survive, NULL, &join)) continue;
    fill(domain, list, 100000);
    CHECK(!wn_join_wait(domain, join));
  }
  CHECK(length(list) >= words);
}

/* ---- a limit when the heap is opened ---- */

static _Atomic(bool) refused;

static void stay(wn_domain *of, void *argument) {
  (void)argument;
  while (!atomic_load(&refused)) {
    wn_poll(of);
    sched_yield();
  }
}

static void domains_fit_in_the_address_space(void) {
  enum { MEGABYTES = TINY ? 100 : 400 };
  wn_join *joins[DOMAINS_MOST];
  unsigned count = 0;
  mallopt(M_ARENA_MAX, 1); /* each has 64 MiB of addresses */
  limit(MEGABYTES);
  begin(MINOR_WORDS);
  CHECK(heap->domains_most > 1 && heap->domains_most < DOMAINS_MOST);
  {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0));
    size_t wanted = ((size_t)MEGABYTES << 20) / 64 * (TINY ? 3 : 5), words = fill(domain, list, wanted);
    CHECK(words >= wanted && !hooked.calls);
    CHECK(!wn_gc_full_major(domain) && length(list) == words);
  }
  CHECK(!wn_gc_compact(domain));
  while (!wn_domain_spawn(domain, stay, NULL, &joins[count])) count++; /* each has a stack, too */
  CHECK(count >= 2 && count < heap->domains_most);
  atomic_store(&refused, true);
  while (count) CHECK(!wn_join_wait(domain, joins[--count]));
}

static void a_large_minor_heap_fits_in_the_address_space(void) {
  limit(500);
  begin(1 << 22);
  CHECK(heap->domains_most >= 1);
}

/* ---- programs that check no handle ---- */

static void allocate_for_ever(void) {
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  for (;;) {
    WN_SCOPE(domain);
    wn_ref block = wn_alloc(domain, 200, 0);
    wn_set(domain, block, 0, list);
    wn_assign(list, block);
  }
}

static void push_for_ever(void) {
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  for (;;) wn_push_int(domain, list, 0, 1);
}

static void bump_for_ever(void) {
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  for (;;) {
    WN_SCOPE(domain);
    wn_value *fields = wn_bump(domain, 1, 0);
    fields[0] = wn_value_of(list);
    wn_assign(list, wn_root(domain, (wn_value)fields));
  }
}

static void keep_groups_for_ever(void) {
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  for (;;) {
    WN_SCOPE(domain);
    wn_shape shapes[2] = {{10, 0}, {20, 0}};
    wn_ref blocks[2];
    wn_alloc_group(domain, 2, shapes, blocks);
    wn_set(domain, blocks[0], 0, list);
    wn_set(domain, blocks[1], 0, blocks[0]);
    wn_assign(list, blocks[1]);
  }
}

static void keep_custom_blocks_for_ever(void) {
  static const wn_custom_ops ops = {"kept", NULL};
  WN_SCOPE(domain);
  for (;;) {
    WN_SCOPE(domain);
    wn_global_new(domain, wn_alloc_custom(domain, &ops, 1000, 0));
  }
}

static void keep_globals_for_ever(void) {
  WN_SCOPE(domain);
  wn_ref one = wn_root(domain, wn_int(1));
  for (;;) wn_global_set(domain, wn_global_new(domain, one), one);
}

static void ask_for_too_much(void) {
  WN_SCOPE(domain);
  wn_set_int(domain, wn_alloc(domain, WN_MAX_WORDS, 0), 0, 1);
}

static void root_for_ever(void) {
  for (;;) wn_assign_int(wn_root(domain, wn_int(0)), 1);
}

static void forget_the_scope(void) {
  for (;;) wn_set_int(domain, wn_alloc(domain, 1, 0), 0, 1);
}

static void get_for_ever(void) {
  wn_ref block = wn_alloc(domain, 1, 0);
  for (;;) wn_assign_int(wn_get(domain, block, 0), 1);
}

static const struct unchecked {
  void (*program)(void);
  const char *reason, *hook;
} unchecked[] = {
    {allocate_for_ever, "no memory for a block", "out_of_memory"},
    {push_for_ever, "no memory for a block", "out_of_memory"},
    {bump_for_ever, "no memory for a block", "out_of_memory"},
    {keep_groups_for_ever, "no memory for a block", "out_of_memory"},
    {keep_custom_blocks_for_ever, "no memory for", "out_of_memory"},
    {keep_globals_for_ever, "no memory for", "out_of_memory"},
    {ask_for_too_much, "no memory for a block: 1099511627776 words", "out_of_memory"},
    {root_for_ever, "all 1048576 slots of the thread are in use", "out_of_handles"},
    {forget_the_scope, "all 1048576 slots of the thread are in use", "out_of_handles"},
    {get_for_ever, "all 1048576 slots of the thread are in use", "out_of_handles"},
};

/* Runs a program in a child whose standard error is `out`. Returns how it ended. */
static int run_unchecked(void (*program)(void), int out) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    alarm(60);
    CHECK(dup2(out, STDERR_FILENO) == STDERR_FILENO);
    open_with((wn_heap_options)WN_HEAP_DEFAULTS, MINOR_WORDS);
    limit(SPARE_MEGABYTES);
    program();
    _exit(1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void a_program_that_checks_nothing_ends_with_one_line(void **state) { /* H6 */
  (void)state;
  for (size_t i = 0; i < sizeof unchecked / sizeof *unchecked; i++) {
    char text[1000] = "";
    FILE *out = tmpfile();
    assert_non_null(out);
    int status = run_unchecked(unchecked[i].program, fileno(out));
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = 0;
    assert_int_equal(fclose(out), 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
      fail_msg("%zu: %x: %s", i, (unsigned)status, text);
    if (!strstr(text, unchecked[i].reason) || !strstr(text, unchecked[i].hook)) fail_msg("%zu: %s", i, text);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
  }
}

/* ---- hooks that leave ---- */

static jmp_buf out;

static bool leave_for_memory(wn_domain *of, size_t words, void *context) {
  (void)of, (void)words, (void)context;
  longjmp(out, 1);
}
static void leave_for_handles(wn_domain *of, void *context) {
  (void)of, (void)context;
  longjmp(out, 2);
}

/* Each program ends in its hook, again and again, and the heap goes on. */
static void leave_by_hooks(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.out_of_memory = leave_for_memory;
  options.hooks.out_of_handles = leave_for_handles;
  open_with(options, MINOR_WORDS);
  wn_scope scope = wn_scope_enter(domain);
  limit(SPARE_MEGABYTES);
  for (volatile size_t i = 0; i < 2 * sizeof unchecked / sizeof *unchecked; i++) {
    const struct unchecked *of = &unchecked[i % (sizeof unchecked / sizeof *unchecked)];
    if (of->program == keep_custom_blocks_for_ever || of->program == keep_globals_for_ever) continue;
    int left = setjmp(out);
    if (!left) of->program();
    CHECK(left == (strcmp(of->hook, "out_of_memory") ? 2 : 1));
    wn_scope_leave(&scope);
    CHECK(!wn_gc_full_major(domain));
  }
}

/* ---- running them ---- */

static void run(void (*body)(void)) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    alarm(60);
    body();
    end();
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

#define CASE(body)                        \
  static void test_##body(void **state) { \
    (void)state;                          \
    run(body);                            \
  }
CASE(null_handle_and_a_sound_heap)
CASE(what_the_hook_lets_go_is_used)
CASE(a_large_block_that_is_too_large)
CASE(promotion_never_runs_out)
CASE(blocks_without_fields_are_promoted_too)
CASE(a_domain_that_comes_late)

static void a_limited_address_space_is_for_fewer_domains(void **state) { /* G54e */
  (void)state;
  run(domains_fit_in_the_address_space);
  run(a_large_minor_heap_fits_in_the_address_space);
}

static void hooks_may_leave(void **state) { /* H6 */
  (void)state;
  run(leave_by_hooks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_null_handle_and_a_sound_heap),
      cmocka_unit_test(test_what_the_hook_lets_go_is_used),
      cmocka_unit_test(test_a_large_block_that_is_too_large),
      cmocka_unit_test(test_promotion_never_runs_out),
      cmocka_unit_test(test_blocks_without_fields_are_promoted_too),
      cmocka_unit_test(test_a_domain_that_comes_late),
      cmocka_unit_test(a_limited_address_space_is_for_fewer_domains),
      cmocka_unit_test(a_program_that_checks_nothing_ends_with_one_line),
      cmocka_unit_test(hooks_may_leave),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
