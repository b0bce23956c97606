/* The operation of the random program that forks. The child has the worker's thread alone: it
 * compares what its domain reaches with the model, collects, compares again, and ends. */
#include "gc/mutator_parts.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ThreadSanitizer does not let such a child start helper threads. */
#ifdef __SANITIZE_THREAD__
enum { MAY_FORK = false };
#else
enum { MAY_FORK = true };
#endif

enum { CHILD_SECONDS = 300 };

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
  pid_t child = fork();
  if (!child) be_child(worker);
  wn_blocking_begin(worker->actor->domain);
  bool ended = child > 0 && waitpid(child, &status, 0) == child;
  wn_blocking_end(worker->actor->domain);
  if (!ended || status) broken("a child ended with status %#x", (unsigned)status);
}
/* SPDX-License-Identifier: MIT */
