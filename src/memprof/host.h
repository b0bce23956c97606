/* The seam between the engine and a heap: what a host provides, and what it reports.
 *
 * The engine, `struct memprof`, knows no heap. A host is a heap that owns one engine and tells it
 * what happens to sampled blocks; nothing but this header is for hosts. There are two kinds:
 *
 *   collected   an owner is a domain. Its threads run one at a time, and whatever the engine does for
 *               an owner is done by the thread that runs in it or by a collection that stopped it.
 *               Entries of young blocks are linked in their owner's list, and a minor collection
 *               reports the fate of all of them at once. Those of old blocks are in one table by
 *               address, and the sweep reports which blocks are dead.
 *   parallel    one owner, whose threads truly run in parallel. Any thread may free any block. The host
 *               keeps the entry with the block, and gives it back once, to memprof_freed. All
 *               blocks count as major.
 *
 * The life of a sampled block in the allocator of the host, where `left` is the thread's count of
 * words:
 *
 *   left -= words;                                           the fast path
 *   if (left < 0) {
 *     hits = memprof_hits(thread, &left);                    the slow path: left is refilled
 *     if (hits) entry = memprof_allocated(thread, &birth);   a parallel host keeps it
 *   }
 *   memprof_drain(thread);                       callbacks run, here or at the next safepoint
 *   ...
 *   memprof_freed(thread, entry);                or memprof_after_minor, memprof_found_dead
 *   memprof_drain(thread);
 *
 * IMMEDIATE. A tracker whose callbacks use nothing of the heap, such as that of a trace, can be
 * called where the program's could not: births and changes of size are told inside the report, and
 * so are what a minor collection decides of rows (young.h) and, in a parallel host, frees. Nothing
 * of these waits, and no callstack is copied. The other deaths wait in the owner's queue. See
 * memprof_start_immediate.
 *
 * WAITING. The births of other trackers wait, at most BIRTHS_MOST of them in a thread beside its
 * owner's rows; the samples beyond are counted as lost. A host that drains before it allocates has
 * hardly any waiting.
 *
 * RATES. The rate of a profile may change while it samples (memprof_set_rate). A thread notices the
 * change when its count ends: the block at hand still gets all its trials at the old rate, and the
 * next count begins at the block's end, at the new rate. So each trial has the rate that was fixed
 * before it was drawn, which memprof_trial_rate tells. A parallel host cuts long counts into pieces
 * (memprof_hits_after_cut), so that each of its threads notices after a bounded number of words; the gap from
 * such a cut to the next sample is drawn anew, which does not change the law.
 *
 * Nothing here calls malloc, or changes errno except through the user's callbacks. In a parallel
 * host nothing takes a lock; in a collected one there is the guard of a table of young samples
 * (young.h), the lock of what ended owners left, and those of the table of old blocks (tracked.h).
 * In a parallel host a signal handler may interrupt any of these functions and allocate and free:
 * its blocks are sampled and followed. If it interrupted a drain, that drain runs the callbacks
 * that the handler made pending; if it interrupted another function, the next drain does. So the
 * host calls memprof_drain after each report and each suspension. A collected host allocates
 * nothing in a signal handler. */
#ifndef MEMPROF_HOST_H
#define MEMPROF_HOST_H

#include "base/check.h"
#include "base/lock.h"
#include "base/slots.h"
#include "memprof/owner.h"
#include "memprof/thread.h"
#include "memprof/tracked.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/memprof.h>

/* What a host provides; every function gets the engine's, the owner's or the thread's own `host`
 * through its argument. They are called without any lock, and must not call the engine back except
 * where it is said. */
struct memprof_ops {
  /* True for a parallel host. */
  bool parallel;

  /* The owner's sampling began or ended. Each of its threads must replace its count by
   * memprof_gap(thread): the calling thread at once, the others before long (a thread that counts
   * down from an old gap at first gets the same law). */
  void (*rearm)(struct memprof_owner *owner);

  /* Callbacks of the owner are pending: one of its threads should call memprof_drain at its next
   * safepoint. Never called for what the calling thread itself just reported to a parallel host.
   * The caller has the owner to itself. NULL where the host drains at every safepoint. */
  void (*wake)(struct memprof_owner *owner);

  /* The calling thread's callstack, of at most `depth` frames. NULL if there is no memory for it:
   * the sample is kept. The engine soon releases it, or keeps it for later: then `keep` returns
   * what it releases in the end. Both NULL: callstacks last for ever. */
  const wn_callstack *(*capture)(struct memprof_thread *thread, size_t depth);
  const wn_callstack *(*keep)(const wn_callstack *callstack);
  void (*release)(const wn_callstack *callstack);

  /* Returns where the host stores whether an exception that a callback raised waits for the program
   * to take it: meanwhile no callback begins. The memory lasts as long as the thread; the engine
   * asks for it when a thread attaches. NULL: callbacks never raise. */
  const bool *(*exception)(struct memprof_thread *thread);

  /* True if this thread raised the exception that waits, false if another thread raised it while a
   * callback of this one slept. NULL: always true. */
  bool (*raised)(const struct memprof_thread *thread);

  /* IMMEDIATE. The alloc callback of a block has returned this metadata: from now on it belongs to
   * the block at the address. Not called for memory outside of blocks. Called inside the report of
   * the birth, also with a guard of young.h held. NULL: the host does not ask. */
  void (*told)(struct memprof_thread *thread, uintptr_t address, void *metadata);

  /* The calling thread, or NULL if it is not attached to this engine. The engine uses it to suspend
   * a thread while `drop` callbacks run, so that their allocations are not sampled. NULL: not
   * known. */
  struct memprof_thread *(*current)(struct memprof *engine);
};

enum { OWNER_LISTS = TINY ? 2 : 64, BIRTHS_MOST = TINY ? 1 << 12 : 1 << 16 };

/* One engine: one heap's profiling. Provided by the host, zeroed; hosts read `host` and nothing
 * else. */
struct memprof {
  /* Set by memprof_open; constant afterwards. */
  const struct memprof_ops *ops;
  void *host;
  /* Written by any thread. */
  struct slots entries, profiles;
  _Atomic(struct young_table *) tables; /* of all owners there were; pairs with take_table of young.c */
  _Atomic(uint64_t) profile_sequence, thread_sequence;
  _Atomic(uint64_t) discards;   /* how many had entries to forget; pairs with owner_clean */
  struct tracked_table tracked; /* stays empty in a parallel host */
  /* The owners, in lists by their numbers, and the entries of those that ended. Protected by `lock`
   * (rank ORPHANS), except `has_orphans`, a hint that threads read without the lock; pairs with
   * orphans_adopt. */
  struct lock lock;
  _Atomic(bool) has_orphans;
  struct entry_list orphan_young, orphan_pending;
  struct memprof_owner *owners[OWNER_LISTS];
  uint64_t owner_sequence;
};

/* Opens an engine that tracks at most `limit` blocks at a time. Blocks of memprof_born_young count
 * only once they are promoted. A sample beyond the limit is counted as lost, or as dropped if its
 * block was just promoted. */
void memprof_open(struct memprof *engine, const struct memprof_ops *ops, void *host, size_t limit);

/* Gives all memory back, after `drop` for each metadata and `release` for each profile. The caller
 * makes sure that no owner or thread is left. No handle of a profile may be used afterwards. */
void memprof_close(struct memprof *engine);

/* Makes an owner. It takes part in the profile of `parent`, if `parent` is not NULL and its profile
 * samples. */
void memprof_owner_create(struct memprof_owner *owner, struct memprof *engine, struct memprof_owner *parent,
                          void *host);

/* Ends an owner whose threads are detached. Its entries become orphans; the first owner that drains
 * or scans adopts them. Its profile stops if no other owner takes part. Takes the orphans' lock. */
void memprof_owner_end(struct memprof_owner *owner);

/* The calling thread joins an owner. `domain` is what its callbacks get; may be NULL. Gives the
 * thread the next number, so the order of attaching decides the threads' streams of gaps. The host
 * then sets the thread's count to memprof_gap. */
void memprof_thread_attach(struct memprof_thread *thread, struct memprof_owner *owner, wn_domain *domain,
                           void *host);

/* The calling thread leaves its owner. Runs the thread's pending callbacks. Callbacks cannot run if
 * an exception waits, or if a callback that ends its thread makes this call: then alloc callbacks
 * are dropped, and the others are left to the owner's other threads. A parallel host has no list
 * for these, and drops them too. */
void memprof_thread_detach(struct memprof_thread *thread);

/* The first and the last part of memprof_thread_detach, for a host that runs the callbacks in
 * between itself, or runs none. After memprof_thread_stop the thread is in no callback and not
 * suspended. */
void memprof_thread_stop(struct memprof_thread *thread);
void memprof_thread_leave(struct memprof_thread *thread);

/* Called in a collected host before the thread lets other threads of its owner run. */
void memprof_thread_pauses(struct memprof_thread *thread);

/* While a thread is suspended, its allocations are not sampled and no callback runs on it.
 * Suspensions nest. memprof_resume runs no callbacks. */
static inline void memprof_suspend(struct memprof_thread *thread) {
  unsigned depth = atomic_load_explicit(&thread->suspended, memory_order_relaxed);
  atomic_store_explicit(&thread->suspended, depth + 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
}
static inline void memprof_resume(struct memprof_thread *thread) {
  atomic_signal_fence(memory_order_seq_cst);
  unsigned depth = atomic_load_explicit(&thread->suspended, memory_order_relaxed);
  ASSERT(depth > 0);
  atomic_store_explicit(&thread->suspended, depth - 1, memory_order_relaxed);
}
static inline bool memprof_suspended(const struct memprof_thread *thread) {
  return atomic_load_explicit(&thread->suspended, memory_order_relaxed) != 0;
}

/* Draws a fresh count for the thread: how many words it may allocate before the next sampled one.
 * SAMPLER_NEVER if its owner does not sample. To draw a fresh count at any time does not change the
 * law. */
int64_t memprof_gap(struct memprof_thread *thread);

/* `*left` is negative: an allocation went past the next sample. Returns how many of its words are
 * sampled, 0 if none are because sampling ended or is suspended, and makes `*left` the count from
 * the block's end. */
size_t memprof_hits(struct memprof_thread *thread, int64_t *left);

/* As memprof_hits, where the count that ended was cut by the host: there is no sample at its end. */
size_t memprof_hits_after_cut(struct memprof_thread *thread, int64_t *left);

/* The rate of the trials that memprof_hits or memprof_hits_after_cut decided last for this thread,
 * or memprof_counted: words were taken from its count, which did not end. RATES */
double memprof_trial_rate(const struct memprof_thread *thread);
void memprof_counted(struct memprof_thread *thread);

/* As memprof_hits for an allocation whose words are counted apart from any thread's count. */
size_t memprof_hits_of(struct memprof_thread *thread, size_t words);

/* A sampled block, as its allocator describes it. */
struct memprof_birth {
  uintptr_t address;     /* what the host calls the block by; the engine gives it back to the fate function */
  size_t trials;         /* words that were counted: its own, and the header if there is one */
  size_t bytes;          /* exact size if known, else 8 * size */
  size_t previous_bytes; /* 0 for a new block; else the size before the growth that took the samples */
  size_t n_samples;      /* at least 1 */
  wn_alloc_source source;
  uint8_t tag;             /* as that of wn_allocation */
  const char *custom_name; /* likewise; lasts as long as the engine */
  bool minor;              /* born in the minor heap; always false in a parallel host */
  /* Memory outside of the block at the address, in a collected host: memprof_after_minor does not
   * ask for its fate, and the host calls memprof_outside_aged. */
  bool outside;
};

/* Reports that a sampled block exists, or will when its allocator returns. Captures the callstack
 * now and makes the alloc callback pending on this thread, or calls it (IMMEDIATE). NULL if
 * sampling ended meanwhile, or if there is no memory (counted as lost): then the block is treated
 * as an unsampled one. A host reports the blocks of a group one by one. */
struct memprof_entry *memprof_allocated(struct memprof_thread *thread, const struct memprof_birth *birth);

/* The same for a block of a minor heap in a collected host (`minor` is true), with a header, about
 * which only collections will report. True if a callback is pending on this thread. */
bool memprof_born_young(struct memprof_thread *thread, const struct memprof_birth *birth);

/* Reports that a block changed its size and keeps its identity. Captures the callstack now.
 * `trials` is how many of the block's words were ever counted for sampling, and `n_samples` how
 * many of them were sampled. Makes the tracker's `resize` pending on this thread, if it has one; if
 * the block's alloc callback has not run yet, that callback gets the new size instead. */
void memprof_resized(struct memprof_thread *thread, struct memprof_entry *entry, uintptr_t address,
                     size_t bytes, size_t trials, size_t n_samples);

/* Reports that a block moved within its heap; no callback is called. In a collected host only for
 * young blocks; memprof_visit_old is for the others. */
void memprof_moved(struct memprof_entry *entry, uintptr_t address);

/* Reports that a block was freed: makes the dealloc callback pending, on this thread in a parallel
 * host, else on the owner. In a parallel host the entry is no longer the caller's. The block may be
 * reused at once. */
void memprof_freed(struct memprof_thread *thread, struct memprof_entry *entry);

/* Reports that a block of a collected host that had `from` bytes outside now has `to`, which is
 * less. Each sampled part of them, whichever owner's, keeps that share of its bytes and its
 * callstack, which makes the tracker's `resize` pending, or is dead if nothing is left of it. True
 * if callbacks of the thread's owner are pending; those of other owners are told by memprof_tell. */
bool memprof_outside_shrank(struct memprof_thread *thread, uintptr_t address, size_t from, size_t to);

/* What a collection did to a tracked block. */
enum memprof_age { MEMPROF_DEAD, MEMPROF_YOUNG, MEMPROF_OLD };
struct memprof_fate {
  enum memprof_age age;
  uintptr_t address; /* the new one, unless dead */
};
typedef struct memprof_fate memprof_fate_function(uintptr_t address, void *context);

/* Called after a minor collection, once the fate of every young block is final on all domains: asks
 * `fate` about each young tracked block of the owner, and makes its callbacks pending. The caller
 * has the owner to itself. Adopts orphans. Old blocks cost nothing. */
void memprof_after_minor(struct memprof_owner *owner, memprof_fate_function *fate, void *context);

/* Called after a minor collection for each young block that has sampled memory outside: what became
 * of the block, MEMPROF_DEAD or MEMPROF_OLD. Owners that ended have `heir`. The world is stopped. */
void memprof_outside_aged(struct memprof *engine, uintptr_t address, struct memprof_fate fate,
                          struct memprof_owner *heir);

/* Reports that a block which is not young is dead, before its memory can be used again. Any thread.
 * Costs little if the block is not tracked. Its deaths are told by memprof_tell. */
void memprof_found_dead(struct memprof *engine, uintptr_t address);

/* Makes the callbacks pending of what was reported since the last call: deaths of old blocks, and
 * shrinks of what other owners follow. Those of owners that ended are `heir`'s. The world is
 * stopped. */
void memprof_tell(struct memprof *engine, struct memprof_owner *heir);

/* Visits the addresses of what the table has: old tracked blocks, and blocks with sampled memory
 * outside. Stores what `visit` makes of them: no callback becomes pending. The world is stopped. */
typedef void memprof_visit_function(void *visitor, uintptr_t *address);
void memprof_visit_old(struct memprof *engine, memprof_visit_function *visit, void *visitor);

/* Tells the tracker's metadata of all blocks of a profile that the table has, by their addresses, and of
 * sampled memory outside of blocks. The world is stopped. */
struct memprof_tracked {
  uintptr_t address;
  void *metadata;
};
typedef void memprof_tell_function(void *context, const struct memprof_tracked *tracked);
void memprof_tell_old(struct memprof *engine, const wn_profile *profile, memprof_tell_function *tell,
                      void *context);

/* Runs pending callbacks: this thread's, oldest first, then its owner's. Returns true at once if
 * suspended. False if an exception waits: the rest stay pending. The host's memory may have moved
 * when it returns. */
bool memprof_drain(struct memprof_thread *thread);

/* True if callbacks are pending; a hint that takes no lock and runs nothing. */
bool memprof_is_due(const struct memprof_thread *thread);

/* The public functions of winnow/memprof.h by thread instead of by domain: same promises, same
 * errors. */
wn_status memprof_start(struct memprof_thread *thread, const wn_memprof_options *options,
                        const wn_tracker *tracker, wn_profile **profile);
/* IMMEDIATE. The callbacks of the tracker use no function and no block of the heap, do not raise,
 * and wait for no thread that is in the engine or in the heap. They may run inside any report, with
 * the world stopped and locks of the engine held, for blocks of other threads of the owner, too. */
wn_status memprof_start_immediate(struct memprof_thread *thread, const wn_memprof_options *options,
                                  const wn_tracker *tracker, wn_profile **profile);
wn_status memprof_stop(struct memprof_thread *thread);
wn_status memprof_join(struct memprof_thread *thread, wn_profile *profile);
wn_status memprof_leave(struct memprof_thread *thread);
bool memprof_is_sampling(const struct memprof_thread *thread);

/* Gives a profile another rate, 0 to 1 (RATES). Nothing happens if it is not sampling. Of two
 * threads that call this at once, the rate of one is that of all threads afterwards.
 * Async-signal-safe. */
void memprof_set_rate(wn_profile *profile, double rate);

/* How many of the profile's samples could not be followed so far, for lack of memory. Any thread;
 * takes no lock. */
uint64_t memprof_lost(const wn_profile *profile);

/* Around a fork, while no thread of an owner runs: threads that count or discard are kept out of the
 * tables of young samples. */
void memprof_before_fork(struct memprof *engine);
void memprof_after_fork(struct memprof *engine);

/* The locks of an engine: the first has rank ORPHANS, the others TRACKED. A host takes them in this
 * order around a fork. */
enum { MEMPROF_LOCKS = 1 + TRACKED_SHARDS };
struct lock *memprof_lock(struct memprof *engine, unsigned i);

/* Stops the profile, if it samples, and discards it, without a thread of an owner: in the child of a
 * fork, where no other thread is inside the engine. */
void memprof_forget(wn_profile *profile);

/* Defined by the host, once per program, and called by the public functions: the current thread of
 * a domain. NULL, with a message, if the domain is NULL and the host needs one, or if the caller
 * does not run in the domain. */
struct memprof_thread *memprof_host_thread(wn_domain *domain);

/* The memory in use, at a moment when no thread is inside the engine. */
struct memprof_usage {
  size_t entries, profiles; /* in use now */
  size_t mapped_bytes;      /* taken from the system; never shrinks, and free memory is used again */
};
struct memprof_usage memprof_usage(const struct memprof *engine);

/* Checks every invariant of the engine, at a moment when no thread is inside it. */
void memprof_check(const struct memprof *engine);

#endif
/* SPDX-License-Identifier: MIT */
