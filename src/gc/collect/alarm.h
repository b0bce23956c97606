/* Alarms: functions that are called at the end of each cycle.
 *
 * A handle of an alarm is a number, not an address: the row of the alarm in the heap's table, and
 * how often that row was used before. So the handle of a deleted alarm is known to be invalid
 * although rows are used again. The table only grows. The lock of finaliser.h protects it.
 *
 * The table is a listener of the ends of cycles (events.h). Each end adds a pending call to every
 * alarm, but not to an alarm that is running at that moment: so a callback can force cycles without
 * calling itself again. */
#ifndef GC_COLLECT_ALARM_H
#define GC_COLLECT_ALARM_H

#include "gc/events/events.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wn_heap;
struct wn_domain;
struct domain_thread;
struct alarm;

struct alarms {
  struct alarm *rows;
  size_t count, capacity;
  _Atomic(bool) any_pending; /* false: no call is pending; read without the lock */
  struct listener listener;  /* of the ends of cycles (events.h) */
};

/* Called while the heap is being opened. */
void alarms_open(struct wn_heap *heap);

/* How many calls are pending in a domain. */
size_t alarms_pending(struct wn_domain *domain);

/* Makes one pending call. False if there is none. */
bool alarms_run_one(struct wn_domain *domain);

/* Called when the thread will not return to the alarm that it runs. */
void alarms_abandon(struct domain_thread *thread);

/* Called when the domain ends: deletes its alarms. */
void alarms_leave(struct wn_domain *domain);
void alarms_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
