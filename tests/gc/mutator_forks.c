/* The operation of the random program that forks. The child has the worker's thread alone: it
 * compares what its domain reaches with the model, collects, compares again, and ends. */
#include "gc/mutator_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ThreadSanitizer does not let such a child start helper threads. */
#ifdef __SANITIZE_THREAD__
enum { MAY_FORK = false };
#else
enum { MAY_FORK = true };
#endif

/* A fork takes no lock of AddressSanitizer's allocator (GCC 12): one that another thread has stays
 * taken in the child. Threads of domains are at safepoints. Those between no_fork_begin and
 * no_fork_end may be in malloc, so no thread forks meanwhile. */
#ifdef __SANITIZE_ADDRESS__
enum { MALLOC_IS_LEFT_LOCKED = true };
#else
enum { MALLOC_IS_LEFT_LOCKED = false };
#endif

enum { CHILD_SECONDS = 300 };

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER; /* a thread that forks has it */
static atomic_int against; /* calls of no_fork_begin that last; grows under the door only */

void no_fork_begin(wn_domain *domain) {
  if (!MALLOC_IS_LEFT_LOCKED) return;
  wn_blocking_begin(domain);
  pthread_mutex_lock(&door);
  against++;
  pthread_mutex_unlock(&door);
  wn_blocking_end(domain);
}

bool no_fork_try(void) {
  if (!MALLOC_IS_LEFT_LOCKED) return true;
  if (pthread_mutex_trylock(&door)) return false;
  against++;
  pthread_mutex_unlock(&door);
  return true;
}

void no_fork_end(void) {
  if (MALLOC_IS_LEFT_LOCKED) against--;
}

/* -1: a thread is against it, or another forks. */
static pid_t fork_if_none_is_against(void) {
  pid_t child = -1;
  if (pthread_mutex_trylock(&door)) return -1;
  if (!against) child = fork();
  pthread_mutex_unlock(&door);
  return child;
}

/* The handles of the domain's other threads died with them. */
static void lose_others(struct worker *worker) {
  worker->actor->workers = worker;
  worker->next = NULL;
}

static _Noreturn void be_child(struct worker *worker) {
  struct actor *actor = worker->actor;
  alarm(CHILD_SECONDS);
  lose_others(worker);
  check_status(wn_gc_verify(actor->domain, stderr), "wn_gc_verify in a child");
  actor_check(actor);
  for (int i = 0; i < 2; i++) check_status(wn_gc_full_major(actor->domain), "wn_gc_full_major in a child");
  actor_check(actor);
  check_status(wn_gc_compact(actor->domain), "wn_gc_compact in a child");
  actor_check(actor);
  check_status(wn_gc_verify(actor->domain, stderr), "wn_gc_verify in a child");
  _exit(0);
}

void fork_and_compare(struct worker *worker) {
  int status = 0;
  if (!MAY_FORK) return;
  pid_t child = MALLOC_IS_LEFT_LOCKED ? fork_if_none_is_against() : fork();
  if (MALLOC_IS_LEFT_LOCKED && child < 0) return;
  if (!child) be_child(worker);
  wn_blocking_begin(worker->actor->domain);
  bool ended = child > 0 && waitpid(child, &status, 0) == child;
  wn_blocking_end(worker->actor->domain);
  if (!ended || status) broken("a child ended with status %#x", (unsigned)status);
}
/* SPDX-License-Identifier: MIT */
