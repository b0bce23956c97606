/* The table of mappings, and how much of them is resident. */
#include "preload/mappings.h"

#include "base/check.h"
#include "base/lock.h"
#include "base/metadata.h"
#include "base/os.h"
#include "base/smaller.h"
#include "callstack/capture.h"
#include "preload/malloc_host.h"
#include "preload/pagemap.h"
#include "preload/process.h"
#include <stdatomic.h>
#include <string.h>

struct piece {
  uintptr_t begin, end;
  uint64_t number;            /* in the trace; 0: not there yet (LAZY) */
  uint64_t told_ns;           /* when it was put there */
  struct resident_bytes told; /* the sizes that the trace has */
  const wn_callstack *stack;  /* kept by the piece; NULL: none */
  enum recorder_map_kind kind;
};

enum {
  PIECES_MOST = TINY ? 16 : 1 << 16,
  QUEUED_MOST = TINY ? 4 : 64,
  /* Without scans, one measurement looks at this many pages at most: 16 GiB of 4 KiB pages. */
  PAGES_MOST = 1 << 22,
  /* Measurements take at most one part in so many of the time. */
  MEASURE_PART = 100,
  /* A resident size is written again if it has changed by one part in so many. */
  CHANGE_PART = 16,
  /* The process has grown enough to be measured if it is larger by one part in so many. */
  GROWTH_PART = 8
};
#define MEASURE_INTERVAL ((uint64_t)10 * 1000 * 1000)

static struct lock lock;
static _Thread_local struct { /* the fork under way */
  struct lock_fork lock;
  uint8_t passed_over; /* nested forks that did not take the lock: it was held (FORK), or not needed */
} in_fork;

/* Protected by the lock. ORDER: the first `count` elements of `order` are the places of the pieces
 * in order of address. The next ones, up to `used`, are the free places. Places from `used` on were
 * never used. */
static struct piece *pieces;
static uint32_t *order;
static size_t count, used;
static uint64_t last_number;

/* QUEUED: a ring.
 *   1. A handler takes the ticket `tail`, unless that is QUEUED_MOST beyond `head`.
 *   2. It writes its change at the ticket's place, and then stores `filled`.
 *   3. A thread that has the lock loads `filled` of the place of `head`, copies the change, and then
 *      increments `head`, so that the place is free again. */
enum what { QUEUED_ADD, QUEUED_REMOVE, QUEUED_STACK_END };
static struct queued {
  _Atomic(uint64_t) filled; /* one more than the ticket */
  struct piece piece;
  enum what what;
} queue[QUEUED_MOST];
static _Atomic(uint64_t) head, tail;

/* Written by any thread. */
static _Atomic(bool) any;                  /* there was a piece at some time */
static _Atomic(bool) missed;               /* MISSED */
static _Atomic(uint64_t) measure_due;      /* UINT64_MAX: a thread is measuring */
static _Atomic(uint64_t) largest_measured; /* resident bytes, at any measurement */
static _Atomic(uint64_t) last_drop_ns;     /* of the trace, when tell_again last looked */

/* False in a child of the bare system call fork: no fork handler ran, so its locks are as other
 * threads left them. */
static bool mappings_is_recorded(void) {
  struct recorder *recorder = process_recorder();
  return recorder && recorder_is_ours(recorder);
}

static void miss(void) { atomic_store_explicit(&missed, true, memory_order_relaxed); }

/* False in a signal handler that interrupted a thread which holds this lock, or a lock of a higher
 * rank. */
static bool mappings_take_lock(void) {
  if (lock_must_not_wait(LOCK_RANK_MAPPINGS)) return false;
  lock_acquire(&lock, LOCK_RANK_MAPPINGS);
  return true;
}

static void mappings_leave(void) { lock_release(&lock, LOCK_RANK_MAPPINGS); }

static size_t mappings_whole_pages(size_t bytes) {
  size_t size = os_page_bytes();
  return (bytes + size - 1) / size * size;
}

static struct piece *piece_of(size_t at) { return &pieces[order[at]]; }

/* Finds the index in `order` of the first piece that ends behind an address. */
static size_t mappings_find(uintptr_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (piece_of(middle)->end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool mappings_has_room(void) {
  if (!pieces) pieces = metadata_reserve(PIECES_MOST * sizeof *pieces);
  if (!order) order = metadata_reserve(PIECES_MOST * sizeof *order);
  bool room = pieces && order && count < PIECES_MOST;
  if (!room) miss();
  return room;
}

static void release_stack(const struct piece *piece) {
  if (piece->stack) callstack_release(piece->stack);
}

static void mappings_insert(struct piece piece) {
  size_t at = mappings_find(piece.begin);
  if (count == used) order[used] = (uint32_t)used, used++;
  uint32_t place = order[count];
  memmove(&order[at + 1], &order[at], (count++ - at) * sizeof *order);
  order[at] = place;
  pieces[place] = piece;
  atomic_store_explicit(&any, true, memory_order_relaxed);
}

/* The caller has released the pieces' stacks, or keeps them. */
static void mappings_take_out(size_t at, size_t behind) {
  uint32_t place[64];
  for (size_t some; at < behind; behind -= some) {
    some = behind - at < 64 ? behind - at : 64;
    memcpy(place, &order[at], some * sizeof *order);
    memmove(&order[at], &order[at + some], (count - at - some) * sizeof *order);
    count -= some;
    memcpy(&order[count], place, some * sizeof *order);
  }
}

/* The trace has nothing of the piece. */
static void mappings_forget(struct piece *piece) {
  piece->number = 0;
  piece->told = (struct resident_bytes){0, 0};
}

/* The recorder may be NULL here and below: a signal handler that interrupted this thread may have
 * forked, and in the child, which has forgotten the recorder, the thread goes on here. */
static void tell_size(const struct piece *piece, uint64_t bytes) {
  struct recorder *recorder = process_recorder();
  if (recorder && piece->number) recorder_map_size(recorder, piece->number, bytes);
}

/* DROPPED: the time since the last drop is about that of the records which the trace still has. */
static bool is_told(const struct piece *piece, const struct recorder_drop *drop) {
  if (!piece->number || !drop->sealed_ns) return piece->number;
  return piece->told_ns > drop->sealed_ns && piece->told_ns - drop->sealed_ns > drop->now_ns - piece->told_ns;
}

static void tell_resident(const struct piece *piece) {
  struct recorder *recorder = process_recorder();
  if (recorder && piece->told.all)
    recorder_map_touched(recorder, piece->number, piece->told.all, piece->told.files);
}

static void tell_once(struct piece *piece) {
  struct recorder *recorder = process_recorder();
  if (!recorder) return;
  struct recorder_drop drop = recorder_last_drop(recorder);
  if (is_told(piece, &drop)) return;
  tell_size(piece, 0);
  uint64_t bytes = piece->end - piece->begin;
  piece->number = ++last_number;
  piece->told_ns = drop.now_ns;
  piece->told.all = smaller(piece->told.all, bytes);
  piece->told.files = smaller(piece->told.files, piece->told.all);
  recorder = process_recorder();
  if (recorder) recorder_map(recorder, piece->number, piece->kind, bytes, piece->stack);
  tell_resident(piece);
}

/* Takes a range out of the piece at `at`, a part of which lies outside the range. Returns the index
 * of the piece behind what is left. */
static size_t mappings_cut(size_t at, uintptr_t begin, uintptr_t end) {
  struct piece *piece = piece_of(at), upper = *piece;
  bool below = piece->begin<begin, above = piece->end> end;
  if (below)
    piece->end = begin;
  else
    piece->begin = end;
  tell_size(piece, piece->end - piece->begin);
  if (!below || !above || !mappings_has_room()) return at + 1;
  upper.begin = end;
  mappings_forget(&upper);
  if (upper.stack) callstack_share(upper.stack);
  mappings_insert(upper);
  return at + 2;
}

static bool mappings_is_within(const struct piece *piece, uintptr_t begin, uintptr_t end) {
  return piece->begin >= begin && piece->end <= end;
}

static void remove_range(uintptr_t begin, uintptr_t end) {
  for (size_t at = mappings_find(begin); at < count && piece_of(at)->begin < end;) {
    size_t behind = at;
    for (; behind < count && mappings_is_within(piece_of(behind), begin, end); behind++) {
      tell_size(piece_of(behind), 0);
      release_stack(piece_of(behind));
    }
    if (behind > at)
      mappings_take_out(at, behind);
    else
      at = mappings_cut(at, begin, end);
  }
}

static void remove_stack(uintptr_t address) {
  size_t at = mappings_find(address);
  if (at == count || piece_of(at)->begin > address || piece_of(at)->kind != RECORDER_MAP_STACK) return;
  tell_size(piece_of(at), 0);
  release_stack(piece_of(at));
  mappings_take_out(at, at + 1);
}

static bool has_same_stack(const struct piece *one, const struct piece *other) {
  return one->stack && other->stack ? wn_callstack_equal(one->stack, other->stack)
                                    : one->stack == other->stack;
}

/* Makes the piece below larger, if `more` is a step of the data segment with the same callstack. */
static bool mappings_extend(const struct piece *more) {
  size_t at = mappings_find(more->begin);
  struct piece *below = at ? piece_of(at - 1) : NULL;
  if (more->kind != RECORDER_MAP_BREAK || !below || below->end != more->begin || below->kind != more->kind ||
      !has_same_stack(below, more))
    return false;
  below->end = more->end;
  tell_size(below, below->end - below->begin);
  return true;
}

static void add_mappings(struct piece piece) {
  remove_range(piece.begin, piece.end);
  if (!mappings_extend(&piece) && mappings_has_room())
    mappings_insert(piece);
  else
    release_stack(&piece);
}

/* ---- changes in handlers ---- */

static void mappings_change(enum what what, struct piece piece) {
  switch (what) {
  case QUEUED_ADD: add_mappings(piece); break;
  case QUEUED_REMOVE: remove_range(piece.begin, piece.end); break;
  case QUEUED_STACK_END: remove_stack(piece.begin); break;
  }
}

/* QUEUED. The comparison is signed: if another handler took `ticket` meanwhile, `head` may be
 * greater than `ticket`, and then the exchange fails. */
static void mappings_put(enum what what, struct piece piece) {
  uint64_t ticket = atomic_load(&tail);
  do
    if ((int64_t)(ticket - atomic_load(&head)) >= QUEUED_MOST) {
      miss();
      release_stack(&piece);
      return;
    }
  while (!atomic_compare_exchange_weak(&tail, &ticket, ticket + 1));
  struct queued *place = &queue[ticket % QUEUED_MOST];
  place->piece = piece;
  place->what = what;
  atomic_store(&place->filled, ticket + 1);
  atomic_store_explicit(&any, true, memory_order_relaxed);
}

/* Applies the queued changes, up to the first place that its handler has not filled yet. The change
 * of that handler can wait: a handler that unmaps has not made the system call yet, and one that
 * mapped has not returned the addresses to the program. If changes are queued behind it, they may
 * be applied too late: another thread may have been given the addresses of such a change already.
 * So from then on the table may be wrong (MISSED). */
static void take_queued(void) {
  for (uint64_t ticket = atomic_load(&head); ticket != atomic_load(&tail); ticket++) {
    const struct queued *place = &queue[ticket % QUEUED_MOST];
    if (atomic_load(&place->filled) != ticket + 1) {
      if (atomic_load(&tail) != ticket + 1) miss();
      return;
    }
    enum what what = place->what;
    struct piece piece = place->piece;
    atomic_store(&head, ticket + 1);
    mappings_change(what, piece);
  }
}

/* Takes the lock and applies the queued changes, which come before the caller's own. False in a
 * signal handler that must not wait. */
static bool mappings_enter(void) {
  if (!mappings_take_lock()) return false;
  take_queued();
  return true;
}

static void change_or_queue(enum what what, struct piece piece) {
  if (!mappings_enter()) {
    mappings_put(what, piece);
    return;
  }
  mappings_change(what, piece);
  mappings_leave();
}

/* ---- measuring ---- */

/* Copies the piece at `at`, and writes its record if the trace has none. False behind the last
 * piece, or if the caller must not wait for the lock; mappings_measure has made sure that its
 * thread may wait. */
static bool piece_at(size_t at, struct piece *piece) {
  if (!mappings_enter()) return false;
  bool there = at < count;
  if (there) tell_once(piece_of(at));
  if (there) *piece = *piece_of(at);
  mappings_leave();
  return there;
}

static bool is_news(uint64_t bytes, uint64_t told, uint64_t of) {
  uint64_t change = bytes > told ? bytes - told : told - bytes;
  return change && change * CHANGE_PART >= of;
}

/* Writes the measured size of a piece to the trace if it changed enough, unless another piece is at
 * `at` by now. False if the caller must not wait for the lock. */
static bool tell_touched(size_t at, const struct piece *measured, struct resident_bytes resident) {
  struct resident_bytes told = measured->told;
  if (!is_news(resident.all, told.all, told.all) && !is_news(resident.files, told.files, told.all))
    return true;
  if (!mappings_enter()) return false;
  struct recorder *recorder = process_recorder();
  if (recorder && at < count && piece_of(at)->number == measured->number) {
    piece_of(at)->told = resident;
    recorder_map_touched(recorder, measured->number, resident.all, resident.files);
  }
  mappings_leave();
  return true;
}

/* DROPPED, between measurements, which are rare where they take long. */
static void tell_again(void) {
  struct recorder *recorder = process_recorder();
  uint64_t sealed_ns = recorder ? recorder_last_drop(recorder).sealed_ns : 0;
  if (atomic_exchange_explicit(&last_drop_ns, sealed_ns, memory_order_relaxed) == sealed_ns) return;
  struct piece unused;
  for (size_t at = 0; piece_at(at, &unused); at++) {}
}

/* Measures all pieces. False if not all of them were measured. */
static bool measure_all(void) {
  int pagemap = pagemap_take();
  size_t budget = PAGES_MOST;
  bool complete = pagemap >= 0;
  struct piece piece = {0};
  for (size_t at = 0; piece_at(at, &piece); at++) {
    struct resident_bytes resident;
    bool counted = pagemap >= 0 && pagemap_count(pagemap, piece.begin, piece.end, &budget, &resident);
    if (!counted || !tell_touched(at, &piece, resident)) complete = false;
  }
  if (pagemap >= 0) pagemap_give_back(pagemap);
  return complete;
}

/* ---- shared ---- */

bool mappings_any(void) { return atomic_load_explicit(&any, memory_order_relaxed); }

bool mappings_wanted(void) { return mappings_is_recorded() && !host_is_working(); }

void mappings_add(uintptr_t begin, size_t bytes, enum recorder_map_kind kind, const wn_callstack *stack) {
  change_or_queue(QUEUED_ADD, (struct piece){.begin = begin,
                                             .end = begin + mappings_whole_pages(bytes),
                                             .stack = stack,
                                             .kind = kind});
}

void mappings_remove(uintptr_t begin, size_t bytes) {
  if (!bytes || begin % os_page_bytes()) return; /* munmap refuses such a request */
  change_or_queue(QUEUED_REMOVE, (struct piece){.begin = begin, .end = begin + mappings_whole_pages(bytes)});
}

bool mappings_move(uintptr_t begin, size_t bytes, uintptr_t to, size_t to_bytes) {
  if (!mappings_enter())
    return false; /* the caller notes a removal and an addition: stack and kind are lost */
  size_t at = mappings_find(begin);
  bool whole =
      at < count && piece_of(at)->begin == begin && piece_of(at)->end - begin == mappings_whole_pages(bytes);
  if (whole) {
    struct piece piece = *piece_of(at);
    mappings_take_out(at, at + 1);
    piece.begin = to;
    piece.end = to + mappings_whole_pages(to_bytes);
    remove_range(piece.begin, piece.end);
    if (mappings_has_room()) { /* the removal may have split a piece in two */
      mappings_insert(piece);
    } else {
      piece.end = piece.begin;
      release_stack(&piece);
    }
    tell_size(&piece, piece.end - piece.begin);
  }
  mappings_leave();
  return whole;
}

void mappings_stack_ends(uintptr_t address) {
  if (mappings_any() && mappings_is_recorded())
    change_or_queue(QUEUED_STACK_END, (struct piece){.begin = address});
}

bool mappings_measure(uint64_t rss_bytes, bool last) {
  if (!mappings_any()) return !atomic_load_explicit(&missed, memory_order_relaxed);
  if (lock_must_not_wait(LOCK_RANK_MAPPINGS)) return false;
  uint64_t began = os_monotonic_ns(), due = atomic_load_explicit(&measure_due, memory_order_relaxed);
  uint64_t largest = atomic_load_explicit(&largest_measured, memory_order_relaxed);
  bool larger = rss_bytes > largest + largest / GROWTH_PART;
  if (!last && !larger && began < due) {
    tell_again();
    return false;
  }
  if (!atomic_compare_exchange_strong_explicit(&measure_due, &due, UINT64_MAX, memory_order_relaxed,
                                               memory_order_relaxed) ||
      (due == UINT64_MAX && !last))
    return false; /* another thread does it */
  if (rss_bytes > largest) atomic_store_explicit(&largest_measured, rss_bytes, memory_order_relaxed);
  bool complete = measure_all() && !atomic_load_explicit(&missed, memory_order_relaxed);
  uint64_t end = os_monotonic_ns(), pause = (end - began) * MEASURE_PART;
  atomic_store_explicit(&measure_due, end + (pause < MEASURE_INTERVAL ? MEASURE_INTERVAL : pause),
                        memory_order_relaxed);
  return complete;
}

void mappings_inherit(void) {
  atomic_store_explicit(&measure_due, 0,
                        memory_order_relaxed); /* a thread of the parent may have been measuring */
  atomic_store_explicit(&largest_measured, 0, memory_order_relaxed);
  if (!mappings_take_lock()) {
    miss();
    return;
  }
  for (size_t i = 0; i < count; i++) mappings_forget(piece_of(i));
  mappings_leave();
}

void mappings_before_fork(void) {
  bool taken = false;
  if (!in_fork.passed_over && mappings_is_recorded()) {
    taken = lock_must_not_wait(LOCK_RANK_MAPPINGS) /* FORK */
                ? lock_try_before_fork(&lock, LOCK_RANK_MAPPINGS, &in_fork.lock)
                : (lock_before_fork(&lock, LOCK_RANK_MAPPINGS, &in_fork.lock), true);
  }
  if (!taken) in_fork.passed_over++;
}

/* Called in the child: handlers of the parent's other threads will never fill the places of the
 * queue that they took. */
static void empty_queue(void) {
  take_queued();
  if (atomic_load(&head) == atomic_load(&tail)) return;
  atomic_store(&head, atomic_load(&tail));
  miss();
}

void mappings_after_fork(bool child) {
  if (!in_fork.passed_over) {
    if (child) empty_queue();
    lock_after_fork(&lock, LOCK_RANK_MAPPINGS, &in_fork.lock);
    return;
  }
  in_fork.passed_over--;
  if (!child) return;
  lock = (struct lock){0};
  count = used = 0;
  atomic_store(&head, atomic_load(&tail));
  miss();
}
/* SPDX-License-Identifier: MIT */
