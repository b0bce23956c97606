/* Forks of a test, whose children have to end well. */
#ifndef TESTS_GC_FORKS_H
#define TESTS_GC_FORKS_H

#include "gc/blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 100 };

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
  int status;
  assert_true(child > 0);
  while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR);
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
