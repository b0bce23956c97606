/* Threads that the heap starts, in a domain of their own or in their parent's; their end, and
 * waiting for it.
 *
 * ENDS (attach.h) of a spawned thread are the ends of its body. A clean-up handler does the steps,
 * so that the body need not return. A callback that runs in the handler can end the thread once
 * more: the inner handler calls nothing of the program. */
#include "gc/api/spawn.h"
#include "base/error.h"
#include "base/metadata.h"
#include "gc/api/attach.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/futex.h"
#include "gc/domains/host.h"
#include "gc/domains/process.h"
#include <pthread.h>

struct wn_join {
  pthread_t thread;
  wn_heap *heap;
  wn_domain *parent;               /* waits until the domain has begun */
  struct domain_thread *of_domain; /* NULL: a domain of its own */
  wn_body *body;
  void *argument;
  wn_status status;
  uint64_t number;         /* of the domain */
  struct wn_join *next;    /* protected by the lock of process.h */
  bool lost;               /* the thread stayed in the parent of a fork; protected likewise */
  _Atomic(uint32_t) begun; /* futex: 1 once the thread has attached, or could not */
};

/* ---- domains ---- */

static void say_begun(struct wn_join *join, wn_status status) {
  join->status = status;
  atomic_store(&join->begun, 1);
  futex_wake(&join->begun, 1);
}

static void give_up_domain(void *thread) { domain_give_up(thread); }

/* The body may have detached the domain itself. */
static void end_domain(void *argument) {
  struct domain_thread *thread = thread_in(argument);
  if (!thread) return;
  pthread_cleanup_push(give_up_domain, thread);
  thread_stop(thread);
  while (wn_domain_detach(argument) == WN_EBUSY) domain_await_others(argument);
  pthread_cleanup_pop(0);
}

static void *run_domain(void *argument) {
  struct wn_join *join = argument;
  wn_domain *domain;
  wn_status status = domain_attach(join->heap, join->parent, &domain);
  if (!status) {
    domain->collector->finalisers.awaited = true;
    join->number = domain->number;
  }
  say_begun(join, status);
  if (status) return NULL;
  pthread_cleanup_push(end_domain, domain);
  join->body(domain, join->argument);
  pthread_cleanup_pop(1);
  return NULL;
}

/* ---- threads ---- */

/* The domain may be freed as soon as the count is lowered. The wake-up reads no memory. */
static void say_ended(struct wn_domain *domain) {
  atomic_fetch_sub(&domain->others, 1);
  futex_wake(&domain->others, 1);
}

static void leave_thread(void *argument) {
  struct domain_thread *thread = argument;
  struct wn_domain *domain = thread->domain;
  thread_stop(thread);
  host_thread_leaves(thread);
  exception_outlives(thread);
  thread_leave(thread); /* while no leader can read the domain's threads */
  thread_pause(thread);
  turn_give(domain);
  thread_destroy(thread);
  say_ended(domain);
}

static void end_thread(void *thread) {
  pthread_cleanup_push(leave_thread, thread);
  thread_stop(thread);
  host_thread_finishes(thread);
  pthread_cleanup_pop(1);
}

static void *run_thread(void *argument) {
  struct wn_join *join = argument;
  struct domain_thread *thread = join->of_domain;
  turn_take(thread->domain);
  thread_run_first(thread);
  pthread_cleanup_push(end_thread, thread);
  join->body(thread->domain, join->argument);
  pthread_cleanup_pop(1);
  return NULL;
}

/* ---- joins ---- */

/* Threads that were not joined yet. The joining thread takes its thread off the list first, so that
 * no thread is joined twice. */
static struct wn_join *joins; /* protected by the lock of process.h */

static void spawn_list(struct wn_join *join) {
  process_acquire();
  join->next = joins;
  joins = join;
  process_release();
}

/* Nothing is read through the pointer before it is found in the list. A thread cannot join
 * itself. */
static wn_status spawn_unlist(const struct wn_join *join) {
  wn_status status = WN_OK;
  process_acquire();
  struct wn_join **link = &joins;
  while (*link && *link != join) link = &(*link)->next;
  if (!*link)
    status = error_set(WN_EINVAL, "join: the thread was joined already, or never spawned");
  else if (pthread_equal(join->thread, pthread_self()))
    status = error_set(WN_ESTATE, "join: a thread cannot wait for itself");
  else
    *link = join->next;
  process_release();
  return status;
}

void joins_lose_threads(void) {
  for (struct wn_join *join = joins; join; join = join->next)
    join->lost |= !pthread_equal(join->thread, pthread_self());
}

static struct wn_join *join_create(wn_domain *domain, wn_body *body, void *argument) {
  struct wn_join *join = metadata_map(sizeof *join);
  if (!join) return NULL;
  join->heap = domain->heap;
  join->parent = domain;
  join->body = body;
  join->argument = argument;
  return join;
}

static wn_status spawn_start(wn_domain *domain, struct wn_join *join, void *(*main)(void *)) {
  if (pthread_create(&join->thread, NULL, main, join))
    return error_set(WN_ESYS, "spawn: the system has no thread");
  if (join->of_domain) return WN_OK;
  wn_blocking_begin(domain);
  while (!atomic_load(&join->begun)) futex_wait(&join->begun, 0);
  wn_blocking_end(domain);
  wn_status status = join->status;
  if (!status) return WN_OK;
  pthread_join(join->thread, NULL);
  return error_set(status, "spawn: the new domain could not attach");
}

static void join_destroy(struct wn_join *join) { metadata_unmap(join, sizeof *join); }

/* ---- public ---- */

wn_status wn_domain_spawn(wn_domain *parent, wn_body *body, void *argument, wn_join **join) {
  if (!parent || !body || !join) return error_set(WN_EINVAL, "spawn: an argument is NULL");
  wn_status status = caller_check(parent, "spawn");
  if (status) return status;
  struct wn_join *made = join_create(parent, body, argument);
  if (!made) return error_set(WN_ENOMEM, "spawn: no memory");
  status = spawn_start(parent, made, run_domain);
  if (status) {
    join_destroy(made);
    return status;
  }
  spawn_list(made);
  *join = made;
  return WN_OK;
}

wn_status wn_thread_spawn(wn_domain *domain, wn_body *body, void *argument, wn_join **join) {
  if (!domain || !body || !join) return error_set(WN_EINVAL, "spawn: an argument is NULL");
  wn_status status = caller_check(domain, "spawn");
  if (status) return status;
  struct wn_join *made = join_create(domain, body, argument);
  if (made) made->of_domain = thread_create(domain);
  if (made && made->of_domain) {
    made->of_domain->spawned = true;
    atomic_fetch_add(&domain->others, 1);
  }
  status = made && made->of_domain ? spawn_start(domain, made, run_thread)
                                   : error_set(WN_ENOMEM, "spawn: no memory");
  if (!status) {
    spawn_list(made);
    *join = made;
    return WN_OK;
  }
  if (made && made->of_domain) {
    thread_unlink(made->of_domain);
    thread_destroy(made->of_domain);
    say_ended(domain);
  }
  if (made) join_destroy(made);
  return status;
}

wn_status wn_join_wait(wn_domain *domain, wn_join *join) {
  if (!domain || !join) return error_set(WN_EINVAL, "join: an argument is NULL");
  wn_status status = caller_check(domain, "join");
  if (!status) status = spawn_unlist(join);
  if (CHECKS && status == WN_EINVAL)
    debug_complain(__func__, "the thread was joined already, or never spawned");
  if (status) return status;
  if (join->lost) {
    join_destroy(join);
    return error_set(WN_ESTATE, "join: the thread stayed in the process that forked this one");
  }
  wn_blocking_begin(domain);
  pthread_join(join->thread, NULL);
  wn_blocking_end(domain);
  if (!join->of_domain && join->heap == domain->heap) finalisers_inherit(domain, join->number);
  join_destroy(join);
  wn_poll_slow(domain);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
