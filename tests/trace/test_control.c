/* The control file: what a command asks is done once, by one thread, whenever the command is
 * killed. */
#include "support/test.h"

#include "base/os.h"
#include "trace/control.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct control control;
static const struct control_sampling first = {1e-4, 0}, usual = {1e-3, 0.01};
static char path_of_control[sizeof control.path];
#define HOUR ((uint64_t)3600 * 1000 * 1000 * 1000)

static char folder[] = "/tmp/test_control.XXXXXX", trace[72];

static struct control_page *open_page(void) {
  int descriptor = open(control.path, O_RDWR | O_CLOEXEC);
  assert_true(descriptor >= 0);
  struct control_page *page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  assert_true(page != MAP_FAILED);
  return page;
}

static void ask(struct control_page *page, double rate, uint64_t duration_ns) {
  uint64_t number = atomic_load(&page->asked) + 1;
  atomic_store(&page->of[number % 2].rate, rate);
  atomic_store(&page->of[number % 2].duration_ns, duration_ns);
  atomic_store(&page->asked, number);
}

static bool is_asked(void) {
  struct control_page *page = atomic_load(&control.page);
  return page && atomic_load(&page->asked) != atomic_load(&control.done);
}
static bool is_timed(void) { return atomic_load(&control.until_ns) != 0; }

static int begin(void **state) {
  (void)state;
  assert_true(control_create(&control, trace, &first, &usual));
  strcpy(path_of_control, control.path);
  return 0;
}

static int end(void **state) {
  (void)state;
  control_remove(&control);
  assert_int_equal(access(path_of_control, F_OK), -1);
  atomic_store(&control.direct, false);
  return 0;
}

/* ---- tests ---- */

static void a_file_is_its_users_alone_and_says_what_it_is(void **state) {
  (void)state;
  struct stat found;
  struct control_page *page = open_page();
  assert_int_equal(stat(control.path, &found), 0);
  assert_int_equal(found.st_mode & 07777, 0600);
  assert_int_equal(found.st_size, CONTROL_BYTES);
  assert_memory_equal(page->magic, control_magic, sizeof control_magic);
  assert_int_equal(page->pid, getpid());
  assert_true(atomic_load(&page->rate) == 1e-4 && page->usual.rate == 1e-3);
  assert_false(is_asked());
  char path[sizeof control.path];
  strcpy(path, control.path);
  control_remove(&control);
  assert_int_equal(stat(path, &found), -1);
  assert_false(is_asked());
}

static void what_is_asked_is_done_once(void **state) {
  (void)state;
  struct control_page *page = open_page();
  struct control_request request;
  ask(page, 0.5, 0);
  assert_true(is_asked() && control_claim(&control, &request));
  assert_true(request.sampling.rate == 0.5 && !request.timed);
  assert_int_equal(atomic_load(&page->done), 0);
  assert_true(is_asked()); /* but nobody else does it */
  assert_false(control_claim(&control, &(struct control_request){0}));
  control_done(&control, &request);
  assert_false(is_asked());
  assert_int_equal(atomic_load(&page->done), 1);
  assert_true(atomic_load(&page->rate) == 0.5);
}

/* Also if the request before was not done yet. */
static void a_command_killed_before_its_last_step_asked_for_nothing(void **state) {
  (void)state;
  struct control_page *page = open_page();
  struct control_request request;
  atomic_store(&page->of[1].rate, 0.7);
  atomic_store(&page->of[1].duration_ns, 1);
  assert_false(is_asked() || control_claim(&control, &request));
  ask(page, 0.2, 0);
  atomic_store(&page->of[0].rate, 0.7);
  atomic_store(&page->of[0].duration_ns, 1);
  assert_true(control_claim(&control, &request));
  assert_true(request.sampling.rate == 0.2 && !request.until_ns);
  control_done(&control, &request);
  assert_false(is_asked());
}

static void the_last_of_several_requests_holds(void **state) {
  (void)state;
  struct control_page *page = open_page();
  struct control_request request;
  ask(page, 0.1, 0);
  ask(page, 0.2, 0);
  assert_true(control_claim(&control, &request));
  assert_true(request.sampling.rate == 0.2 && request.number == 2);
  control_done(&control, &request);
  assert_false(is_asked());
}

/* A signal handler forked while the thread had claimed a request, or was about to store counts. */
static void a_child_goes_on_with_what_its_parent_was_doing(void **state) {
  (void)state;
  struct control_page *page = open_page(), *parents = atomic_load(&control.page);
  struct control_request request;
  ask(page, 0.5, 0);
  assert_true(control_claim(&control, &request));
  pid_t child = fork();
  if (!child) {
    strcat(trace, ".child");
    control_forget(&control, true);
    atomic_store(&parents->counts.samples, 7);
    bool looks = atomic_load(&parents->asked) == 0 && control_create(&control, trace, &first, &usual);
    control_done(&control, &request);
    bool is_own = !is_asked() && atomic_load(&atomic_load(&control.page)->rate) == 1e-4;
    control_remove(&control);
    _exit(looks && is_own ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(atomic_load(&page->counts.samples), 0);
  assert_int_equal(atomic_load(&page->done), 0);
  control_done(&control, &request);
  assert_int_equal(atomic_load(&page->done), 1);
}

static void a_rate_that_is_none_samples_nothing(void **state) {
  (void)state;
  static const double wrong[] = {-1, 1.5, 1e300, 1e-12}; /* a reader takes the last one for damage */
  struct control_page *page = open_page();
  struct control_request request;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ask(page, wrong[i], 0);
    assert_true(control_claim(&control, &request));
    assert_true(request.sampling.rate == 0);
    control_done(&control, &request);
  }
  ask(page, __builtin_nan(""), 0);
  assert_true(control_claim(&control, &request) && request.sampling.rate == 0);
}

static void a_time_ends_by_itself(void **state) {
  (void)state;
  struct control_page *page = open_page();
  struct control_request request;
  ask(page, 0.5, HOUR);
  uint64_t before = os_monotonic_ns();
  assert_true(control_claim(&control, &request));
  assert_true(request.until_ns >= before + HOUR && request.until_ns <= os_monotonic_ns() + HOUR);
  control_done(&control, &request);
  assert_true(is_timed() && !is_asked());
  assert_false(control_claim(&control, &request));
  ask(page, 0.5, 1); /* over at once */
  assert_true(control_claim(&control, &request) && !request.timed);
  control_done(&control, &request);
  assert_true(control_claim(&control, &request));
  assert_true(request.timed && request.sampling.rate == 0 && !request.until_ns);
  control_done(&control, &request);
  assert_false(is_asked() || is_timed());
  assert_true(atomic_load(&page->rate) == 0 && !atomic_load(&page->until_ns));
}

enum { THREADS = 8, REQUESTS = 20000 };
static _Atomic(bool) over;

static void *obey(void *count) {
  struct control_request request;
  while (!atomic_load(&over))
    if (is_asked() && control_claim(&control, &request)) {
      control_done(&control, &request);
      ++*(size_t *)count;
    }
  return NULL;
}

/* Each request is claimed by one thread at most, and the last one by one. */
static void many_threads_obey_one_command(void **state) {
  (void)state;
  struct control_page *page = open_page();
  pthread_t threads[THREADS];
  size_t counts[THREADS] = {0}, all = 0;
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, obey, &counts[i]), 0);
  for (int i = 0; i < REQUESTS; i++) {
    ask(page, i % 2, 0);
    if (i % 64 == 0)
      while (atomic_load(&page->done) < (uint64_t)i + 1) sched_yield();
  }
  while (atomic_load(&page->done) < REQUESTS) sched_yield();
  atomic_store(&over, true);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    all += counts[i];
  }
  assert_true(all <= REQUESTS && all >= REQUESTS / 64);
  assert_true(atomic_load(&control.done) == REQUESTS &&
              atomic_load(&atomic_load(&control.page)->rate) == (REQUESTS - 1) % 2);
}

static void names_are_known(void **state) {
  (void)state;
  assert_int_equal(control_name_of("x.trace.control"), 7);
  assert_int_equal(control_name_of("x.trace.control.123"), 7);
  assert_int_equal(control_name_of("x.trace"), 0);
  assert_int_equal(control_name_of(".control"), 0);
  assert_int_equal(control_name_of("x.controls"), 0);
  assert_int_equal(control_name_of("123"), 0);
}

/* A thread that is slow does not put an older rate in the place of a newer one. */
static void one_thread_obeys_at_a_time(void **state) {
  (void)state;
  struct control_page *page = open_page();
  struct control_request slow, other;
  ask(page, 0.1, 0);
  assert_true(control_claim(&control, &slow));
  ask(page, 0.2, 0);
  assert_false(control_claim(&control, &other));
  control_done(&control, &slow);
  assert_true(atomic_load(&page->rate) == 0.1 && is_asked());
  assert_true(control_claim(&control, &other));
  control_done(&control, &other);
  assert_true(atomic_load(&page->rate) == 0.2 && atomic_load(&page->done) == 2);
}

/* CUT: the process lives on, a time that runs comes to its end, and nothing can be asked any more. */
static void a_file_that_is_made_shorter_ends_the_control(void **state) {
  (void)state;
  struct control_page *page = open_page();
  struct control_request request, none;
  if (atomic_load(&control.direct)) skip(); /* there is a filter of system calls */
  ask(page, 0.5, 1);                        /* over at once */
  assert_true(control_claim(&control, &request));
  ask(page, 0.7, 0);
  assert_int_equal(truncate(control.path, 0), 0);
  control_done(&control, &request);
  assert_true(control_is_open(&control) && !atomic_load(&control.page));
  assert_true(control_claim(&control, &request) && request.timed && request.sampling.rate == 0);
  control_done(&control, &request);
  control_publish(&control, &(struct control_counts){.samples = 1});
  assert_false(control_is_open(&control) || control_claim(&control, &none));
}

/* At each of the three accesses. */
static void a_file_may_be_cut_at_any_time(void **state) {
  (void)state;
  struct control_request request;
  if (atomic_load(&control.direct)) skip();
  assert_int_equal(truncate(control.path, 0), 0);
  assert_true(control_is_open(&control));
  assert_false(control_claim(&control, &request) || control_is_open(&control));
  assert_true(control_create(&control, trace, &first, &usual));
  assert_int_equal(truncate(control.path, 0), 0);
  control_publish(&control, &(struct control_counts){.samples = 1});
  assert_false(control_is_open(&control));
}

/* Where no such calls may be made. */
static void what_is_asked_is_done_without_calls(void **state) {
  atomic_store(&control.direct, true);
  what_is_asked_is_done_once(state);
}

static void where_no_file_can_be_made_nothing_is_asked(void **state) {
  (void)state;
  struct control other;
  struct control_request request;
  assert_false(control_create(&other, "/proc/none/x.trace", &first, &usual));
  assert_false(control_is_open(&other) || control_claim(&other, &request));
  control_done(&other, &request);
  control_remove(&other);
  control_forget(&other, true);
}

int main(void) {
  assert_true(mkdtemp(folder));
  snprintf(trace, sizeof trace, "%s/x.trace", folder);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {TEST(a_file_is_its_users_alone_and_says_what_it_is),
                                     TEST(what_is_asked_is_done_once),
                                     TEST(a_command_killed_before_its_last_step_asked_for_nothing),
                                     TEST(the_last_of_several_requests_holds),
                                     TEST(a_child_goes_on_with_what_its_parent_was_doing),
                                     TEST(a_rate_that_is_none_samples_nothing),
                                     TEST(a_time_ends_by_itself),
                                     TEST(many_threads_obey_one_command),
                                     TEST(one_thread_obeys_at_a_time),
                                     TEST(a_file_that_is_made_shorter_ends_the_control),
                                     TEST(a_file_may_be_cut_at_any_time),
                                     TEST(what_is_asked_is_done_without_calls),
                                     TEST(names_are_known),
                                     TEST(where_no_file_can_be_made_nothing_is_asked)};
  int failed = RUN_TESTS(tests);
  rmdir(folder);
  return failed;
}
/* SPDX-License-Identifier: MIT */
