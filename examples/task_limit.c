/* A limit on the memory of each task: a tracker aborts the task that allocates too much.
 *
 * A server's loop runs tasks. The tracker's callback sums the sampled words of the current task,
 * each of which stands for 1 / RATE words. Above the limit it raises an exception. At the task's
 * next safepoint the heap's raise hook leaves the task by longjmp to the loop, and the scope of the
 * loop ends the scopes of the task. The blocks that the task held are garbage then.
 *
 * The error of the estimate is small if the limit is many times 1 / RATE words. Here the limit is
 * 500 times that, so the standard error is below 5 percent, and each task uses less than half or
 * more than twice the limit. */
#include <setjmp.h>
#include <stdio.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>

#define RATE 1e-3
enum { LIMIT_WORDS = 500000 };

struct task {
  const char *name;
  int results, bytes; /* the number of results, and the size of each */
};

struct server {
  double words; /* of the current task */
  bool aborted; /* the exception was raised already */
  jmp_buf loop;
};

/* ---- the limit ---- */

static void *count(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct server *server = context;
  server->words += (double)allocation->n_samples / RATE;
  if (server->words <= LIMIT_WORDS || server->aborted) return NULL;
  WN_SCOPE(domain);
  server->aborted = true;
  wn_raise(domain, wn_root(domain, wn_int((intptr_t)server->words)));
  return NULL;
}

static void leave_task(wn_domain *domain, wn_ref exception, void *context) {
  struct server *server = context;
  (void)domain, (void)exception;
  longjmp(server->loop, 1);
}

/* ---- tasks ---- */

/* The task: it keeps its results in a list. */
static void compute(wn_domain *domain, const struct task *task) {
  WN_SCOPE(domain);
  wn_ref list = wn_root(domain, wn_int(0));
  for (int i = 0; i < task->results; i++) {
    WN_SCOPE(domain);
    wn_ref result = wn_alloc_bytes(domain, (size_t)task->bytes);
    wn_assign_pair(domain, list, 0, result, list);
    wn_poll(domain);
  }
}

static bool finishes(wn_domain *domain, struct server *server, const struct task *task) {
  if (setjmp(server->loop)) return false;
  compute(domain, task);
  return true;
}

/* True if the task finished. The scope is left by an explicit call, since longjmp skips the scopes
 * inside. */
static bool run(wn_domain *domain, struct server *server, const struct task *task) {
  wn_scope scope = wn_scope_enter(domain);
  server->words = 0;
  server->aborted = false;
  bool finished = finishes(domain, server, task);
  wn_scope_leave(&scope);
  printf("%-7s %s after about %.0f words\n", task->name, finished ? "finished" : "aborted", server->words);
  return finished;
}

int main(void) {
  static const struct task tasks[] = {
      {"small", 100, 80}, {"greedy", 20000, 800}, {"medium", 2000, 800}, {"many", 10000, 80}};
  static struct server server;
  wn_heap_options heap_options = WN_HEAP_DEFAULTS;
  wn_memprof_options options = {RATE, 0, 1};
  wn_tracker tracker = {.alloc_minor = count, .alloc_major = count, .context = &server};
  wn_profile *profile;
  wn_heap *heap;
  wn_domain *domain;
  int finished = 0, count_of = sizeof tasks / sizeof *tasks;
  heap_options.hooks = (wn_heap_hooks){.raise = leave_task, .context = &server};
  if (wn_heap_open(&heap_options, &heap) || wn_domain_attach(heap, &domain) ||
      wn_memprof_start(domain, &options, &tracker, &profile))
    return puts(wn_last_error()), 1;
  for (int i = 0; i < count_of; i++) finished += run(domain, &server, &tasks[i]);
  if (wn_memprof_stop(domain) || wn_memprof_discard(profile) || wn_gc_full_major(domain) ||
      wn_gc_verify(domain, stderr))
    return puts(wn_last_error()), 1;
  return wn_domain_detach(domain) || wn_heap_close(heap) || finished != count_of - 1;
}
/* SPDX-License-Identifier: MIT */
