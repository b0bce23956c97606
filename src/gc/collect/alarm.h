/* Alarms: functions that are called at the end of each cycle.
 *
 * A handle of an alarm is a number, not an address: its row in the table of the heap, and how often that row was in use
 * before. So a handle of a deleted alarm means nothing, and rows are used again. The table only grows; it is under the
 * lock of finaliser.h.
 *
 * Each end of a cycle adds a call to every alarm, but to those whose callback runs at that moment: so a callback may
 * force cycles without calling for itself again. */
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
  _Atomic(bool) any_due;    /* false: none is; read without the lock */
  struct listener listener; /* of the ends of cycles (events.h) */
};

/* The heap is being opened. */
void alarms_open(struct wn_heap *heap);

/* How many calls are due in a domain. */
size_t alarms_pending(struct wn_domain *domain);

/* Makes one call that is due. False if none is. */
bool alarms_run_one(struct wn_domain *domain);

/* The thread will not come back to the alarm that it runs. */
void alarms_abandon(struct domain_thread *thread);

/* The domain ends: its alarms are deleted. */
void alarms_leave(struct wn_domain *domain);
void alarms_destroy(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
