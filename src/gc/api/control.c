/* Setting parameters: when the heap is opened, and while domains run.
 *
 * A change is made while the world is stopped, so that a thread of a domain reads parameters
 * without a lock. A new thread reads stack_limit before it belongs to a domain: therefore values
 * are stored atomically.
 *
 * Minor heaps change their size after a minor collection, when they are empty. RESERVE of chunk.h
 * must hold for the new sizes, too. If that memory cannot be had, the old sizes stay. */
#include "gc/api/control.h"

#include "base/error.h"
#include "base/os.h"
#include "gc/api/params.h"
#include "gc/api/verbose.h"
#include "gc/collect/collector.h"
#include "gc/collect/nursery.h"
#include "gc/collect/stress.h"
#include "gc/domains/caller.h"
#include "gc/domains/roots.h"
#include "gc/domains/stress.h"
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- when the heap is opened ---- */

/* A program with more rights than its caller ignores the variable, since it cannot trust its
 * environment. */
static const char *variable(void) { return getauxval(AT_SECURE) ? NULL : getenv("WINNOW_PARAMS"); }

static wn_status control_gather(const wn_heap_options *options, struct params *params) {
  static const wn_gc_control defaults = WN_GC_CONTROL_DEFAULTS;
  size_t soft = options->soft_limit_bytes;
  *params = (struct params){.control = options->parameters,
                            .domains = DOMAINS_MOST,
                            .huge_pages = 1,
                            .cgroup = 1,
                            .helpers = options->helper_threads,
                            .soft_limit = soft > INT64_MAX ? INT64_MAX : (long)soft};
  if (!params->control.minor_heap_size)
    return error_set(WN_EINVAL, "heap: minor_heap_size is 0: options begin with WN_HEAP_DEFAULTS");
  if (TINY && params->control.minor_heap_size == defaults.minor_heap_size)
    params->control.minor_heap_size = MINOR_WORDS_LEAST;
  wn_status status = params_check(&params->control);
  if (!status && params->helpers > 64)
    status = error_set(WN_EINVAL, "helper_threads is %ld, which is above 64", params->helpers);
  if (status) return status;
  const char *text = options->text ? options->text : variable();
  return text ? params_parse(text, options->text ? "options.text" : "WINNOW_PARAMS", params) : WN_OK;
}

/* A program that looks for its mistakes must not believe that it has none. */
static void tell_of_checks(const struct wn_heap *heap) {
  static const char line[] =
      "winnow: the parameters ask for stress, but this library has no checks: old places keep "
      "their bytes, and mistakes stay hidden; link winnow-heap-checks\n";
  static _Atomic(bool) told;
  if (CHECKS || !heap_collects_by_stress(heap) || atomic_exchange(&told, true)) return;
  os_write_all(STDERR_FILENO, line, sizeof line - 1);
}

/* Stores the parameters, and those that are kept elsewhere. */
static void control_store(struct wn_heap *heap, wn_gc_control *control) {
  for (unsigned i = 0; i < CONTROLS; i++)
    __atomic_store_n(control_field(&heap->control, &parameters[i]), *control_field(control, &parameters[i]),
                     __ATOMIC_RELAXED);
  atomic_store(&heap->minor_words, (size_t)control->minor_heap_size);
  verbose_set(heap, control->verbose);
  chunks_set_increment(&heap->store.chunks, control->major_heap_increment);
  medium_set_policy(&heap->store.medium, (enum allocation_policy)control->allocation_policy);
}

/* ---- the sizes of minor heaps ---- */

static size_t minor_size(const struct wn_domain *domain) { return domain->young_words; }

/* The new minor heap may be where stale blocks were: nothing is checked as stale any more. */
static bool control_place(struct wn_domain *domain, size_t words) {
  domain->stale = domain->stale_end = NULL;
  return nursery_place(domain, words);
}

static bool place_all(struct wn_heap *heap, const size_t words[DOMAINS_MOST]) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (!control_place(domain, words[domain->index])) return false;
  return true;
}

static void limit_slots(struct wn_heap *heap) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    roots_limit_slots(domain);
}

/* Gives `only`, or all domains if it is NULL, minor heaps of so many words. The world is
 * stopped. */
static wn_status control_resize(struct wn_domain *leader, const struct wn_domain *only, size_t words) {
  struct wn_heap *heap = leader->heap;
  size_t before[DOMAINS_MOST] = {0}, after[DOMAINS_MOST] = {0};
  bool grows = false;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    unsigned i = domain->index;
    before[i] = minor_size(domain);
    after[i] = !only || only == domain ? words : before[i];
    grows |= after[i] > before[i];
  }
  uint64_t began = event_pause(&heap->events, leader, PAUSE_COLLECTION);
  major_collect_stopped(leader, COLLECT_MINOR);
  event_pause_ends(&heap->events, leader, PAUSE_COLLECTION, began);
  bool placed = place_all(heap, after);
  heap->young_alive = 0;
  nursery_begin(heap);
  if (placed) nursery_secure(heap);
  if (placed && !(grows && atomic_load(&heap->starved))) return WN_OK;
  place_all(heap, before); /* which have their memory already */
  nursery_begin(heap);
  nursery_secure(heap);
  return error_set(WN_ENOMEM, "no memory for minor heaps of %zu words", words);
}

static wn_status check_size(const struct wn_heap *heap, long words) {
  size_t most = nursery_words_most(heap);
  if (words >= MINOR_WORDS_LEAST && (size_t)words <= most) return WN_OK;
  return error_set(WN_EINVAL, "minor_heap_size is %ld, which is not from %d to %zu", words, MINOR_WORDS_LEAST,
                   most);
}

/* ---- shared ---- */

wn_status control_initialise(struct wn_heap *heap, const wn_heap_options *options) {
  struct params params;
  wn_status status = control_gather(options, &params);
  if (status) return status;
  limit_open(heap, (size_t)params.soft_limit, params.cgroup != 0);
  heap->helper_threads = (int)params.helpers;
  heap->domains_most = (unsigned)params.domains;
  heap->initial_words = (size_t)params.initial_heap;
  heap->store.chunks.huge_pages = params.huge_pages != 0;
  heap->stress.verify = params.verify != 0;
  heap->stress.delays = params.delays != 0;
  heap->stress.every = params.every;
  heap->stress.polls = params.polls;
  heap->stress.compact = params.compact;
  heap->stress.collect = stress_collect;
  heap->stress.fail_at = params.fail_at;
  heap->stress.move_all = params.move_all || params.compact;
  heap->store.chunks.rotates = CHECKS && params.compact;
  heap->stress.mark_most = (size_t)params.mark_stack;
  heap->control = params.control;
  tell_of_checks(heap);
  return WN_OK;
}

wn_status control_apply_first(struct wn_heap *heap) {
  wn_gc_control control = heap->control;
  control_store(heap, &control);
  event_point(&heap->events, EVENT_HEAP_OPENS, NULL);
  wn_status status = check_size(heap, control.minor_heap_size); /* addresses may be short */
  if (!status && heap->initial_words && !chunks_prepare(&heap->store.chunks, heap->initial_words))
    status = error_set(WN_ENOMEM, "no memory for a heap of %zu words", heap->initial_words);
  return status;
}

/* ---- public ---- */

wn_status wn_gc_get(wn_domain *domain, wn_gc_control *control) {
  wn_status status = control ? caller_check(domain, "get")
                             : error_set(WN_EINVAL, "get: there is no place for the parameters");
  if (status) return status;
  *control = domain->heap->control;
  return WN_OK;
}

wn_status wn_gc_set(wn_domain *domain, const wn_gc_control *control) {
  wn_status status =
      control ? caller_check(domain, "set") : error_set(WN_EINVAL, "set: there is nothing to set");
  if (status) return status;
  struct wn_heap *heap = domain->heap;
  wn_gc_control after = *control;
  status = params_check(&after);
  if (!status) status = check_size(heap, after.minor_heap_size);
  if (status) return status;
  stress_world_stop(domain, STOP_PARAMETERS);
  wn_gc_control before = heap->control;
  if (after.minor_heap_size != before.minor_heap_size)
    status = control_resize(domain, NULL, (size_t)after.minor_heap_size);
  if (!status) {
    control_store(heap, &after);
    if (after.stack_limit != before.stack_limit) limit_slots(heap);
    for (unsigned i = 0; i < CONTROLS; i++)
      event_parameter(&heap->events, domain, parameters[i].name, *control_field(&before, &parameters[i]),
                      *control_field(&after, &parameters[i]));
  }
  world_release(domain);
  return status;
}

wn_status wn_gc_set_domain_minor_heap(wn_domain *domain, long words) {
  wn_status status = caller_check(domain, "set minor heap");
  if (!status) status = check_size(domain->heap, words);
  if (status) return status;
  stress_world_stop(domain, STOP_PARAMETERS);
  long before = (long)minor_size(domain);
  if (words != before) status = control_resize(domain, domain, (size_t)words);
  if (!status) event_parameter(&domain->heap->events, domain, "minor heap of this domain", before, words);
  world_release(domain);
  return status;
}
/* SPDX-License-Identifier: MIT */
