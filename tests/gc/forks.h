/* Forks of a test, whose children have to end well. */
#ifndef TESTS_GC_FORKS_H
#define TESTS_GC_FORKS_H

#include "gc/blocks.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 100 };

/* A fork takes no lock of AddressSanitizer's allocator (GCC 12). A child waits for ever for one that another
 * thread had as it began, ended or freed: once in hundreds of runs of all that forks. In that build one such
 * child of a program may be given up; in the others none waits. */
#ifdef __SANITIZE_ADDRESS__
enum { CHILDREN_GIVEN_UP = 1 };
#else
enum { CHILDREN_GIVEN_UP = 0 };
#endif

/* A child must not return into the test runner. */
#define IN_CHILD(condition)                                                               \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "child, line %d: %s: %s\n", __LINE__, #condition, wn_last_error()); \
      _exit(1);                                                                           \
    }                                                                                     \
  } while (0)

/* A fork of which the child does `body`, and has to end well. */
typedef void child_body(wn_domain *domain, void *argument);

static inline pid_t fork_child(wn_domain *domain, child_body *body, void *argument) {
  pid_t child = fork();
  if (child) return child;
  alarm(CHILD_SECONDS);
  body(domain, argument);
  _exit(0);
}

static inline void await_child(pid_t child) {
  static _Atomic(int) given_up;
  int status;
  assert_true(child > 0);
  while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM &&
      atomic_fetch_add(&given_up, 1) < CHILDREN_GIVEN_UP)
    return;
  if (WIFSIGNALED(status)) fail_msg("the child was ended by signal %d", WTERMSIG(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static inline void do_in_child(wn_domain *domain, child_body *body, void *argument) {
  await_child(fork_child(domain, body, argument));
}

/* ThreadSanitizer does not let such a child start threads. */
#ifdef __SANITIZE_THREAD__
enum { CHILD_HAS_THREADS = false };
#else
enum { CHILD_HAS_THREADS = true };
#endif

#endif
/* SPDX-License-Identifier: MIT */
