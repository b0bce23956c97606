/* The table of events: all that a heap tells of itself, and the listeners that are told.
 *
 * DATA. An event is a line of GC_EVENTS. A listener has a set of the events that it wants, and a
 * function. The heap has one list of listeners, in the order of registration, and `wanted`, the
 * union of their sets. Each event is told once to each listener that wants it. Telling costs a load
 * and a branch where no listener wants the event; allocation tells nothing.
 *
 * SPANS. What takes time is told twice, X_BEGINS and X_ENDS. The end has the time of the begin.
 * - PAUSE is a span of one domain, which stands still for one of enum pause_cause. The pauses of a
 *   domain do not overlap.
 * - STOP is a span of the heap: the world is stopped for one of enum stop_cause. Stops do not
 *   overlap. Each minor collection (MINOR) is inside a stop. The pause of the leader begins before
 *   its stop and ends after it, though its begin is told inside the stop. If minor heaps are resized,
 *   the leader's pause is inside the stop.
 * - CYCLE begins inside one minor collection and ends inside a later one.
 *
 * A span can begin before a listener is registered. That listener is told of its end alone: where
 * `began_ns` is before the listener's `since_ns`, there was no begin for it. A span that begins
 * while no listener wants its end is not told, but for CYCLE.
 *
 * CLOCKS. Where no listener wants an event, no clock is read for it. The times of CYCLE are those
 * that the collector reads in any case: at the begin for a listener that is registered before the
 * end, at the end for its pace (TIME of major.h).
 *
 * LISTENING. The list of listeners changes only while no other thread can tell anything: the world
 * is stopped and the helper threads are paused, or the heap has no domain and no helper thread. A
 * listener that has been removed is therefore told nothing any more, and its memory can go.
 * A listener's set of events can change at any time; the change is seen soon.
 * tests/models/listen.pml explores it.
 *
 * An event is told by
 * - the running thread of a domain (pauses, slices, growth, finalisers);
 * - the leader of a stopped world, and the threads that share its collection;
 * - a thread that holds the heap's lock `world` (a domain that begins or ends);
 * - a helper thread while it touches the heap, which it does not while helpers are paused (growth);
 * - the thread that opens or closes the heap.
 *
 * So a listener can be called by several threads at once. A thread that waits to come back from a
 * blocking section tells nothing until its domain runs again.
 *
 * MAY. A listener may read what its event carries and the heap's atomic counters, take locks of
 * its own, write to a file, and set pending callbacks (domain.h). It can be called with the locks
 * WORLD, MEDIUM and CHUNKS held, in the middle of a collection or of an allocation. It therefore
 * must not call any public function of the heap, allocate in it, stop the world, register or remove
 * listeners, or wait for a thread that may do so. Inside MINOR and CYCLE events the world is
 * stopped, no lock of the store is held, and a listener may read every domain. errno is kept.
 * winnow/events.h tells programs what of this holds for their listeners. */
#ifndef GC_EVENTS_EVENTS_H
#define GC_EVENTS_EVENTS_H

#include "base/os.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wn_domain;
struct wn_heap;

/* E(kind, what it carries besides the domain and the times). A span's end follows its begin. */
#define GC_EVENTS(E)                                                                                  \
  E(EVENT_HEAP_OPENS, "nothing; no memory is mapped yet")                                             \
  E(EVENT_HEAP_CLOSES, "nothing; all domains have ended")                                             \
  E(EVENT_DOMAIN_BEGINS, "nothing; no span")                                                          \
  E(EVENT_DOMAIN_ENDS, "nothing; no span")                                                            \
  E(EVENT_PAUSE_BEGINS, "pause")                                                                      \
  E(EVENT_PAUSE_ENDS, "pause")                                                                        \
  E(EVENT_STOP_BEGINS, "stop, stopped_ns; its time is when the leader began to stop the world")       \
  E(EVENT_STOP_ENDS, "stop")                                                                          \
  E(EVENT_MINOR_BEGINS, "stop")                                                                       \
  E(EVENT_MINOR_ENDS, "stop; its domain is the leader's")                                             \
  E(EVENT_CYCLE_BEGINS, "nothing")                                                                    \
  E(EVENT_CYCLE_ENDS, "nothing; its domain is the leader's")                                          \
  E(EVENT_MARKING_ENDS, "nothing; sweeping begins")                                                   \
  E(EVENT_SLICE, "slice: the words that were computed, and those that were marked or swept")          \
  E(EVENT_HEAP_GROWS, "size: the bytes that were mapped, and all that are mapped now; no domain")     \
  E(EVENT_HEAP_SHRINKS, "size: the bytes that were unmapped, and all that are mapped now; no domain") \
  E(EVENT_COMPACTION, "compaction; its times are those of its begin and its end")                     \
  E(EVENT_TABLE_GROWS, "table: its name and its new number of entries; no domain")                    \
  E(EVENT_PARAMETER, "parameter: its name and its values before and after")                           \
  E(EVENT_FINALISERS, "finalisers: the calls that are pending and begin to run")

#define GC_EVENT_KIND(kind, carries) kind,
enum event_kind { GC_EVENTS(GC_EVENT_KIND) EVENT_KINDS };

/* Why a domain stands still. */
enum pause_cause {
  PAUSE_COLLECTION, /* it stopped the world, and led a collection */
  PAUSE_SLICE,      /* it marked or swept, or waited for helpers that did */
  PAUSE_TOUCH,      /* it touched memory for the next collection */
  PAUSE_STOP,       /* another domain had stopped the world */
};

/* Why the world is stopped. */
enum stop_cause {
  STOP_MINOR_HEAP,     /* a minor heap is full, or the budget of all */
  STOP_OLD_ALLOCATION, /* much was allocated outside minor heaps */
  STOP_EXTERNAL,       /* much was allocated outside the heap, by custom blocks */
  STOP_NO_MEMORY,      /* an allocation found none */
  STOP_REQUEST,        /* the program asked for a collection */
  STOP_STRESS,         /* a stress mode asked for one */
  STOP_CYCLE,          /* the phase of a cycle that is to be completed may have ended */
  STOP_DOMAIN_ENDS,    /* its minor heap is emptied */
  STOP_PARAMETERS,     /* parameters change */
  STOP_STATISTICS,
  STOP_VERIFY,
  STOP_LISTENERS, /* the list of listeners changes */
};

struct event {
  enum event_kind kind;
  struct wn_domain *domain; /* NULL where the table says so, and for the heap's begin and end */
  uint64_t ns, began_ns;    /* monotonic; 0 where it is no span; began_ns: of a span's end */
  union {
    enum pause_cause pause;
    struct {
      enum stop_cause stop;
      uint64_t stopped_ns;
    };
    struct {
      size_t computed, done;
    } slice;
    struct {
      size_t bytes, mapped;
    } size;
    struct {
      size_t moved_words, bytes, mapped; /* bytes of empty chunks that went back to the system */
    } compaction;
    struct {
      const char *name;
      size_t entries;
    } table;
    struct {
      const char *name;
      long before, after;
    } parameter;
    size_t finalisers;
  };
};

/* A set of events. */
static inline uint64_t event_bit(enum event_kind kind) { return UINT64_C(1) << kind; }

struct listener {
  void (*hear)(struct listener *listener, const struct event *event);
  _Atomic(uint64_t) wants;
  struct listener *next;
  uint64_t since_ns;
};

struct events {
  struct listener *first; /* LISTENING */
  _Atomic(uint64_t) wanted;
};

/* LISTENING. The caller owns the listener's memory. `wants` and `hear` are set. */
void events_add(struct events *events, struct listener *listener);
void events_remove(struct events *events, struct listener *listener);

/* Changes the set of a listener that is registered. One thread at a time. */
void events_set_wants(struct events *events, struct listener *listener, uint64_t wants);

/* Tells the listeners that want it. */
void events_tell(const struct events *events, const struct event *event);

static inline bool events_want(const struct events *events, uint64_t set) {
  return __builtin_expect((atomic_load_explicit(&events->wanted, memory_order_relaxed) & set) != 0, 0);
}

/* ---- points ---- */

static inline void event_point(const struct events *events, enum event_kind kind, struct wn_domain *domain) {
  if (events_want(events, event_bit(kind)))
    events_tell(events, &(struct event){.kind = kind, .domain = domain});
}

static inline void event_slice(const struct events *events, struct wn_domain *domain, size_t computed,
                               size_t done) {
  if (events_want(events, event_bit(EVENT_SLICE)))
    events_tell(events, &(struct event){.kind = EVENT_SLICE, .domain = domain, .slice = {computed, done}});
}

/* HEAP_GROWS, HEAP_SHRINKS. */
static inline void event_size(const struct events *events, enum event_kind kind, struct wn_domain *domain,
                              size_t bytes, size_t mapped) {
  if (events_want(events, event_bit(kind)))
    events_tell(events, &(struct event){.kind = kind, .domain = domain, .size = {bytes, mapped}});
}

static inline void event_table_grows(const struct events *events, const char *name, size_t entries) {
  if (events_want(events, event_bit(EVENT_TABLE_GROWS)))
    events_tell(events, &(struct event){.kind = EVENT_TABLE_GROWS, .table = {name, entries}});
}

static inline void event_parameter(const struct events *events, struct wn_domain *domain, const char *name,
                                   long before, long after) {
  if (before != after && events_want(events, event_bit(EVENT_PARAMETER)))
    events_tell(events, &(struct event){
                            .kind = EVENT_PARAMETER, .domain = domain, .parameter = {name, before, after}});
}

static inline void event_finalisers(const struct events *events, struct wn_domain *domain, size_t pending) {
  if (pending && events_want(events, event_bit(EVENT_FINALISERS)))
    events_tell(events, &(struct event){.kind = EVENT_FINALISERS, .domain = domain, .finalisers = pending});
}

/* ---- spans ---- */

/* The time, if a listener wants the span that has this begin; else 0. */
static inline uint64_t event_clock(const struct events *events, enum event_kind begins) {
  return events_want(events, 3 * event_bit(begins)) ? os_monotonic_ns() : 0;
}

/* The domain stands still since `ns`, of event_clock: nothing is told if that is 0. */
static inline void event_pause_begins(const struct events *events, struct wn_domain *domain,
                                      enum pause_cause cause, uint64_t ns) {
  if (ns && events_want(events, event_bit(EVENT_PAUSE_BEGINS)))
    events_tell(events,
                &(struct event){.kind = EVENT_PAUSE_BEGINS, .domain = domain, .ns = ns, .pause = cause});
}

/* The same, from now on. Returns the time for event_pause_ends. */
static inline uint64_t event_pause(const struct events *events, struct wn_domain *domain,
                                   enum pause_cause cause) {
  uint64_t ns = event_clock(events, EVENT_PAUSE_BEGINS);
  event_pause_begins(events, domain, cause, ns);
  return ns;
}

static inline void event_pause_ends(const struct events *events, struct wn_domain *domain,
                                    enum pause_cause cause, uint64_t began_ns) {
  if (began_ns && events_want(events, event_bit(EVENT_PAUSE_ENDS)))
    events_tell(events, &(struct event){.kind = EVENT_PAUSE_ENDS,
                                        .domain = domain,
                                        .ns = os_monotonic_ns(),
                                        .began_ns = began_ns,
                                        .pause = cause});
}

/* The world was stopped from `ns` on, of event_clock, and all domains stand still now. */
static inline void event_stop_begins(const struct events *events, struct wn_domain *leader,
                                     enum stop_cause cause, uint64_t ns) {
  if (ns && events_want(events, event_bit(EVENT_STOP_BEGINS)))
    events_tell(events, &(struct event){.kind = EVENT_STOP_BEGINS,
                                        .domain = leader,
                                        .ns = ns,
                                        .stop = cause,
                                        .stopped_ns = os_monotonic_ns()});
}

/* STOP_ENDS, MINOR_BEGINS, MINOR_ENDS. `began_ns` is 0 for a begin. */
static inline void event_stop(const struct events *events, enum event_kind kind, struct wn_domain *leader,
                              enum stop_cause cause, uint64_t began_ns) {
  if (events_want(events, event_bit(kind)))
    events_tell(
        events,
        &(struct event){
            .kind = kind, .domain = leader, .ns = os_monotonic_ns(), .began_ns = began_ns, .stop = cause});
}

/* CYCLE_BEGINS, CYCLE_ENDS. `began_ns` is 0 for a begin. */
static inline void event_cycle(const struct events *events, enum event_kind kind, struct wn_domain *leader,
                               uint64_t ns, uint64_t began_ns) {
  if (events_want(events, event_bit(kind)))
    events_tell(events, &(struct event){.kind = kind, .domain = leader, .ns = ns, .began_ns = began_ns});
}

/* COMPACTION is told once, with its times. event_compaction_begins returns the time for
 * event_compaction; 0 if no listener wants it. */
static inline uint64_t event_compaction_begins(const struct events *events) {
  return events_want(events, event_bit(EVENT_COMPACTION)) ? os_monotonic_ns() : 0;
}

static inline void event_compaction(const struct events *events, struct wn_domain *leader, uint64_t began_ns,
                                    size_t moved_words, size_t bytes, size_t mapped) {
  if (began_ns && events_want(events, event_bit(EVENT_COMPACTION)))
    events_tell(events, &(struct event){.kind = EVENT_COMPACTION,
                                        .domain = leader,
                                        .ns = os_monotonic_ns(),
                                        .began_ns = began_ns,
                                        .compaction = {moved_words, bytes, mapped}});
}

#endif
/* SPDX-License-Identifier: MIT */
