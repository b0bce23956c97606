/* When the allocator is asked, and that nothing interrupts the question. A false jemalloc stands for the
 * allocator. */
#include "support/test.h"

#include "preload/info_calls.h"
#include "preload/question.h"
#include "preload/real.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- the allocator below ---- */

enum { ALLOCATED = 1000, RESIDENT = 5000, IN_REGION = 100 };

static void (*while_asked)(void); /* called in the midst of a question */
static int questions;

static int control(const char *name, void *old, size_t *bytes, void *new, size_t new_bytes) {
  (void)bytes, (void)new, (void)new_bytes;
  if (!strcmp(name, "epoch")) {
    questions++;
    if (while_asked) while_asked();
  }
  if (!strcmp(name, "stats.allocated")) *(size_t *)old = ALLOCATED;
  if (!strcmp(name, "stats.resident")) *(size_t *)old = RESIDENT;
  return 0;
}

bool real_is_the_c_librarys(void) { return false; }
void *real_find(const char *name) { return strcmp(name, "mallctl") ? NULL : (void *)control; }
size_t info_held_bytes(bool in_slots) { return in_slots ? 0 : IN_REGION; }
bool info_ask(size_t *in_use, size_t *free) {
  (void)in_use, (void)free;
  fail_msg("another malloc was asked");
  return false;
}

/* ---- handlers ---- */

static struct recorder_answer answer;
static volatile sig_atomic_t told, handled;
static sigjmp_buf out;

static bool asks(void) { return question_ask(&answer, 0, true); }
static void ask_in_handler(int signal) {
  (void)signal;
  told = asks();
  handled = 1;
}
static void note(int signal) {
  (void)signal;
  handled = 1;
}

static void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  assert_int_equal(sigaction(signal, &action, NULL), 0);
}

static void a_question_is_answered(void **state) {
  (void)state;
  assert_true(asks());
  assert_true(answer.asked == RECORDER_JEMALLOC && answer.in_use_bytes == ALLOCATED + IN_REGION &&
              answer.free_bytes == RESIDENT - ALLOCATED);
}

static void nothing_is_asked_in_a_handler(void **state) {
  (void)state;
  static char stack[1 << 16];
  const int flags[] = {0, SA_NODEFER, SA_NODEFER | SA_ONSTACK};
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  assert_int_equal(sigaltstack(&alternate, NULL), 0);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    int before = questions;
    handle(SIGUSR1, ask_in_handler, flags[i]);
    handled = 0, told = 1;
    raise(SIGUSR1);
    assert_true(handled && !told && questions == before);
    handle(SIGUSR1, SIG_DFL, 0);
    assert_true(asks()); /* behind it as ever */
  }
  handle(SIGSEGV, ask_in_handler, SA_ONSTACK | SA_NODEFER);
  assert_true(asks()); /* handlers of faults alone forbid nothing */
  told = 1;
  raise(SIGSEGV);
  assert_false(told);
  handle(SIGSEGV, SIG_DFL, 0);
}

static void ask_without_handler(int signal) {
  handle(signal, SIG_IGN, 0);
  ask_in_handler(signal);
}

/* As handlers do that end the program by exit, so that nothing interrupts that. */
static void nothing_is_asked_in_a_handler_that_is_gone(void **state) {
  (void)state;
  int before = questions;
  handle(SIGUSR2, ask_without_handler, 0);
  assert_true(asks());
  told = 1;
  raise(SIGUSR2);
  assert_true(!told && questions == before + 1);
  handle(SIGUSR2, ask_in_handler, (int)SA_RESETHAND);
  told = 1;
  raise(SIGUSR2);
  assert_true(!told && questions == before + 1);
  assert_true(asks());
}

/* As signal of System V sets them. From then on nothing is asked: the last of the tests. */
static void nothing_is_asked_in_a_handler_that_is_gone_and_not_blocked(void **state) {
  (void)state;
  handle(SIGUSR2, ask_in_handler, (int)(SA_RESETHAND | SA_NODEFER));
  assert_false(asks());
  told = 1;
  raise(SIGUSR2);
  assert_false(told);
}

/* As daemons do that wait for signals by sigwait or signalfd. */
static void blocked_signals_without_a_handler_forbid_nothing(void **state) {
  (void)state;
  sigset_t all, before, after;
  sigfillset(&all);
  sigdelset(&all, SIGUSR1); /* which had handlers */
  sigdelset(&all, SIGUSR2);
  sigdelset(&all, SIGSEGV); /* those of which the test's library has handlers */
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGFPE);
  sigdelset(&all, SIGILL);
  sigdelset(&all, SIGSYS);
  sigprocmask(SIG_SETMASK, &all, &before);
  assert_true(asks());
  handle(SIGTERM, note, 0);
  assert_false(asks());
  handle(SIGTERM, SIG_DFL, 0);
  sigprocmask(SIG_SETMASK, &before, &after);
  assert_int_equal(sigismember(&after, SIGHUP), 1); /* the mask was kept */
}

static void be_signalled(void) {
  handled = 0;
  raise(SIGUSR1);
  assert_false(handled);
}

static void no_handler_runs_during_a_question(void **state) {
  (void)state;
  handle(SIGUSR1, note, 0);
  while_asked = be_signalled;
  assert_true(asks());
  while_asked = NULL;
  assert_true(handled); /* as soon as it was over */
  handle(SIGUSR1, SIG_DFL, 0);
}

static void ask_again(void) { assert_false(question_ask(&answer, 0, false)); }
static void leave(void) { siglongjmp(out, 1); }

/* A handler of a fault may leave. */
static void a_question_is_never_asked_within_another_nor_ends_later_ones(void **state) {
  (void)state;
  while_asked = ask_again;
  assert_true(asks());
  while_asked = leave;
  if (!sigsetjmp(out, 1)) asks();
  while_asked = NULL;
  int before = questions;
  assert_false(question_ask(&answer, 0, false)); /* for a minute */
  assert_true(questions == before);
  question_inherit(); /* of such a thread, a child that does not have it */
  assert_true(question_ask(&answer, 0, false) && asks());
}

static void questions_take_a_thousandth_of_the_time(void **state) {
  (void)state;
  assert_int_equal(question_next(5000, 5000), 2005000);
  assert_int_equal(question_next(5000, 6000), 2006000);
  assert_int_equal(question_next(1000000, 9000000), 9000000 + 1000 * (uint64_t)8000000);
  assert_true(asks());
  assert_false(question_ask(&answer, 0, false)); /* too early */
}

/* While the program sleeps its heap changes little. */
static void questions_take_a_hundredth_of_the_processor_time(void **state) {
  (void)state;
  const uint64_t used = 5 * (uint64_t)1000000000;
  question_inherit();
  assert_true(question_ask(&answer, used, false));
  do { /* for longer where the question had to wait for a processor */
    usleep(200 * 1000);
    assert_false(question_ask(&answer, used, false));
  } while (!question_ask(&answer, 1000 * used, false));
}

int main(void) {
  question_resolve();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_question_is_answered),
      cmocka_unit_test(nothing_is_asked_in_a_handler),
      cmocka_unit_test(nothing_is_asked_in_a_handler_that_is_gone),
      cmocka_unit_test(blocked_signals_without_a_handler_forbid_nothing),
      cmocka_unit_test(no_handler_runs_during_a_question),
      cmocka_unit_test(a_question_is_never_asked_within_another_nor_ends_later_ones),
      cmocka_unit_test(questions_take_a_thousandth_of_the_time),
      cmocka_unit_test(questions_take_a_hundredth_of_the_processor_time),
      cmocka_unit_test(nothing_is_asked_in_a_handler_that_is_gone_and_not_blocked),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
