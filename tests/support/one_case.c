/* A test program that is given a pattern runs the cases whose names contain it, and no others:
 *   build/dev/tests/trace/test_trace_codec varint
 * `*` and `?` in it stand for anything. If no case matches, all are listed, and the program fails.
 * A number is no pattern; some programs take one for themselves.
 *
 * What `one_thread_test` says of a case is checked here, by taking the place of pthread_create. */
#include "support/test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int __real__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

static char pattern[256]; /* empty: all cases run */

/* The C library gives the program's arguments to constructors, too. */
__attribute__((constructor)) static void keep_pattern(int count, char **arguments) {
  if (count < 2 || (arguments[1][0] >= '0' && arguments[1][0] <= '9')) return;
  snprintf(pattern, sizeof pattern, "*%s*", arguments[1]);
}

static bool any_matches(const struct CMUnitTest *tests, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!fnmatch(pattern, tests[i].name, 0)) return true;
  return false;
}

/* ---- cases of one thread ---- */

enum { CASES_MOST = 200 };

char one_thread[] = "one thread";
static struct CMUnitTest chosen[CASES_MOST];

#ifdef __SANITIZE_THREAD__
/* Without the cases that it sees nothing in. */
static size_t choose_cases(const struct CMUnitTest *tests, size_t count) {
  bool all = *pattern || getenv("TEST_ALL_CASES");
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    if (all || tests[i].initial_state != one_thread) chosen[n++] = tests[i];
  return n;
}
#else
typedef int pthread_creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static atomic_uint threads_started;
static const struct CMUnitTest *alone[CASES_MOST]; /* in the order in which they run */
static size_t alone_next;

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attributes,
                                                          void *(*start)(void *), void *restrict argument) {
  pthread_creator *real;
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  atomic_fetch_add(&threads_started, 1);
  return real(thread, attributes, start, argument);
}

static size_t threads_now(void) {
  size_t count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) count += entry->d_name[0] != '.';
  if (tasks) closedir(tasks);
  return count;
}

static void run_alone(void **state) {
  const struct CMUnitTest *test = alone[alone_next++];
  unsigned before = threads_started;
  for (int looks = 0; threads_now() > 1 && looks < 10000; looks++)
    usleep(1000); /* one that was joined is there a moment more */
  if (threads_now() > 1) fail_msg("%s is no case of one thread: another runs as it begins", test->name);
  *state = NULL;
  test->test_func(state);
  if (threads_started != before) fail_msg("%s is no case of one thread: it starts another", test->name);
}

static size_t choose_cases(const struct CMUnitTest *tests, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    chosen[i] = tests[i];
    if (tests[i].initial_state != one_thread) continue;
    chosen[i].test_func = run_alone;
    if (!*pattern || !fnmatch(pattern, tests[i].name, 0)) alone[n++] = &tests[i];
  }
  return count;
}
#endif

/* The linker puts this in the place of the function that cmocka_run_group_tests calls. */
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown) {
  if (*pattern && !any_matches(tests, count)) {
    fprintf(stderr, "no case matches '%s'; there are:\n", pattern);
    for (size_t i = 0; i < count; i++) fprintf(stderr, "  %s\n", tests[i].name);
    return 1;
  }
  if (*pattern) cmocka_set_test_filter(pattern);
  if (count > CASES_MOST) {
    fprintf(stderr, "more than %d cases\n", CASES_MOST);
    return 1;
  }
  return __real__cmocka_run_group_tests(group, chosen, choose_cases(tests, count), setup, teardown);
}
/* SPDX-License-Identifier: MIT */
