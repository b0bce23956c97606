/* Alarms. */
#include "gc/collect/alarm.h"

#include "base/error.h"
#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include <string.h>

enum { FIRST = TINY ? 2 : 32, HANDLE_BITS = sizeof(uintptr_t) * 4 };

struct alarm {
  struct wn_domain *domain; /* NULL: the row is free */
  void (*function)(wn_domain *, void *);
  void *context;
  uintptr_t uses;                     /* of the row: the upper half of the handle */
  size_t pending;                     /* calls */
  const struct domain_thread *runner; /* the thread that runs it; NULL: none */
};

/* ---- the table: the lock is held ---- */

static wn_gc_alarm *handle_of(const struct alarms *alarms, const struct alarm *alarm) {
  return (wn_gc_alarm *)(alarm->uses << HANDLE_BITS | ((uintptr_t)(alarm - alarms->rows) + 1));
}

static struct alarm *alarm_find(const struct alarms *alarms, const wn_gc_alarm *handle) {
  size_t row = ((uintptr_t)handle & (((uintptr_t)1 << HANDLE_BITS) - 1)) - 1;
  if (row >= alarms->count) return NULL;
  struct alarm *alarm = &alarms->rows[row];
  return alarm->domain && handle_of(alarms, alarm) == handle ? alarm : NULL;
}

static bool alarm_grow(struct alarms *alarms) {
  size_t capacity = alarms->capacity ? 2 * alarms->capacity : FIRST;
  struct alarm *rows = metadata_map(capacity * sizeof *rows);
  if (!rows) return false;
  if (alarms->count) memcpy(rows, alarms->rows, alarms->count * sizeof *rows);
  metadata_unmap(alarms->rows, alarms->capacity * sizeof *rows);
  alarms->rows = rows;
  alarms->capacity = capacity;
  return true;
}

static struct alarm *take_row(struct alarms *alarms) {
  for (size_t i = 0; i < alarms->count; i++)
    if (!alarms->rows[i].domain) return &alarms->rows[i];
  if (alarms->count == alarms->capacity && !alarm_grow(alarms)) return NULL;
  return &alarms->rows[alarms->count++];
}

static void free_row(struct alarm *alarm) { *alarm = (struct alarm){.uses = alarm->uses + 1}; }

/* The alarm of a domain with the most pending calls: chosen so that no alarm starves. */
static struct alarm *most_pending(const struct alarms *alarms, const struct wn_domain *domain) {
  struct alarm *most = NULL;
  for (size_t i = 0; i < alarms->count; i++) {
    struct alarm *alarm = &alarms->rows[i];
    if (alarm->domain == domain && alarm->pending && !alarm->runner &&
        (!most || alarm->pending > most->pending))
      most = alarm;
  }
  return most;
}

static void alarm_acquire(struct wn_heap *heap) {
  lock_acquire(&heap->collector->finalisers.lock, LOCK_RANK_FINALISERS);
}
static void alarm_release(struct wn_heap *heap) {
  lock_release(&heap->collector->finalisers.lock, LOCK_RANK_FINALISERS);
}

/* Called when a cycle ended: adds a pending call to every alarm that does not run. The world is
 * stopped. */
static void alarm_hear(struct listener *listener, const struct event *event) {
  struct wn_heap *heap = event->domain->heap;
  (void)listener;
  alarm_acquire(heap);
  for (size_t i = 0; i < heap->collector->alarms.count; i++) {
    struct alarm *alarm = &heap->collector->alarms.rows[i];
    if (!alarm->domain || alarm->runner) continue;
    alarm->pending++;
    atomic_store(&heap->collector->alarms.any_pending, true);
    domain_add_pending(alarm->domain, PENDING_ANY);
  }
  alarm_release(heap);
}

/* ---- shared ---- */

void alarms_open(struct wn_heap *heap) {
  heap->collector->alarms.listener.hear = alarm_hear;
  heap->collector->alarms.listener.wants = event_bit(EVENT_CYCLE_ENDS);
  events_add(&heap->events, &heap->collector->alarms.listener);
}

size_t alarms_pending(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  size_t pending = 0, all = 0;
  if (!atomic_load(&heap->collector->alarms.any_pending)) return 0;
  alarm_acquire(heap);
  for (size_t i = 0; i < heap->collector->alarms.count; i++) {
    const struct alarm *alarm = &heap->collector->alarms.rows[i];
    all += alarm->pending;
    if (alarm->domain == domain && !alarm->runner) pending += alarm->pending;
  }
  if (!all) atomic_store(&heap->collector->alarms.any_pending, false);
  alarm_release(heap);
  return pending;
}

/* The callback may delete the alarm and create others, so the function looks the alarm up again
 * after it. */
bool alarms_run_one(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct alarm called = {0};
  wn_gc_alarm *handle = NULL;
  alarm_acquire(heap);
  struct alarm *alarm = most_pending(&heap->collector->alarms, domain);
  if (alarm) {
    alarm->pending--;
    alarm->runner = domain->running;
    called = *alarm;
    handle = handle_of(&heap->collector->alarms, alarm);
  }
  alarm_release(heap);
  if (!alarm) return false;
  called.function(domain, called.context);
  alarm_acquire(heap);
  alarm = alarm_find(&heap->collector->alarms, handle);
  if (alarm) alarm->runner = NULL;
  alarm_release(heap);
  return true;
}

void alarms_abandon(struct domain_thread *thread) {
  struct wn_heap *heap = thread->domain->heap;
  alarm_acquire(heap);
  for (size_t i = 0; i < heap->collector->alarms.count; i++)
    if (heap->collector->alarms.rows[i].runner == thread) {
      heap->collector->alarms.rows[i].runner = NULL;
      if (heap->collector->alarms.rows[i].pending)
        domain_add_pending(heap->collector->alarms.rows[i].domain, PENDING_ANY);
    }
  alarm_release(heap);
}

void alarms_leave(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  alarm_acquire(heap);
  for (size_t i = 0; i < heap->collector->alarms.count; i++)
    if (heap->collector->alarms.rows[i].domain == domain) free_row(&heap->collector->alarms.rows[i]);
  alarm_release(heap);
}

void alarms_destroy(struct wn_heap *heap) {
  metadata_unmap(heap->collector->alarms.rows,
                 heap->collector->alarms.capacity * sizeof *heap->collector->alarms.rows);
}

/* ---- public ---- */

wn_status wn_gc_create_alarm(wn_domain *domain, void (*f)(wn_domain *, void *), void *context,
                             wn_gc_alarm **alarm) {
  if (!f || !alarm) return error_set(WN_EINVAL, "alarm: an argument is NULL");
  wn_status status = caller_check(domain, "alarm");
  if (status) return status;
  struct wn_heap *heap = domain->heap;
  alarm_acquire(heap);
  struct alarm *row = take_row(&heap->collector->alarms);
  if (row) {
    *row = (struct alarm){.domain = domain, .function = f, .context = context, .uses = row->uses};
    *alarm = handle_of(&heap->collector->alarms, row);
  }
  alarm_release(heap);
  return row ? WN_OK : error_set(WN_ENOMEM, "alarm: no memory for it");
}

void wn_gc_delete_alarm(wn_domain *domain, wn_gc_alarm *alarm) {
  if (!alarm || caller_check(domain, "delete alarm")) return;
  struct wn_heap *heap = domain->heap;
  alarm_acquire(heap);
  struct alarm *row = alarm_find(&heap->collector->alarms, alarm);
  if (row) free_row(row);
  alarm_release(heap);
}
/* SPDX-License-Identifier: MIT */
