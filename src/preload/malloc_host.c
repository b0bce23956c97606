/* The malloc heap as a parallel host of the engine.
 *
 * One owner stands for the whole heap. Each thread has its engine thread in thread-local storage:
 * the thread's first allocation sets it up, and a pthread key's destructor ends it. Callbacks run
 * at once, inside the malloc or free that caused them.
 *
 * MUTED: while the host works for a thread, the thread's words_left is MUTED, far above any count
 * that a thread is ever given. So allocations of callbacks and of the C library meanwhile take the
 * fast path, and are neither sampled nor counted. The host puts the count back at the end. Nested
 * work (in a signal handler, or a free in a callback) saves and restores the value MUTED,
 * harmlessly.
 *
 * PIECES. A thread calls host_hits after PIECE words at the latest, to see whether a profile was
 * started or a command asks for another rate. So a longer count is cut; where it is cut there is
 * no sample.
 *
 * COMPANION: a small sampled block has a companion of its size in the real allocator, as long as
 * it lives. So the program's other blocks lie where they would lie without us. Without companions
 * each sampled block shifts the order in which glibc's free lists hand out blocks, and a program
 * whose speed depends on that order slows down (bench/run --only trees at 1e-4: half of the cost
 * was cache misses in the program itself). At rates above COMPANION_RATE companions would cost
 * memory, and there are none.
 *
 * A sampled block lies in the region, and its `struct sampled_block` in the region's side arrays.
 * Where the address space has no room for a region, sampled blocks come from the real allocator
 * and addresses.c knows them. Then `real.sampled` spans all addresses, so that every free looks there. */
#include "preload/malloc_host.h"

#include "base/check.h"
#include "base/error.h"
#include "base/os.h"
#include "base/words.h"
#include "memprof/host.h"
#include "preload/addresses.h"
#include "preload/commands.h"
#include "preload/cost.h"
#include "preload/info_calls.h"
#include "preload/interpreters.h"
#include "preload/mappings.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/region.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MUTED (INT64_MAX / 2)
#define PIECE ((int64_t)1 << 16)

/* Which blocks get a companion: the largest size, and the largest rate of a profile. */
#define COMPANION_BYTES ((size_t)1024)
#define COMPANION_RATE  0.01

/* A new block's usable size may be larger than the size that was asked for, and the words of the
 * difference were never counted. glibc gives one word more for the usual sizes, multiples of 16
 * bytes. This word is subtracted from the trials of blocks whose birth was not sampled. */
#define SLACK_AT_BIRTH 1

/* PREVIOUS: of an unsampled block that grew, only the usable size before is known, not the size
 * that was asked for. glibc's usable sizes are 8 bytes more than a multiple of 16; they exceed the
 * size asked for by 8 bytes on average, and by just 8 where that is a multiple of 16. But if a
 * block grows in small steps, the size asked for before this growth was close to the usable size;
 * so no more than the bytes gained are subtracted (likely_bytes). Without the subtraction, the size
 * before would be 8 bytes too large. */
#define SLACK_BEFORE_GROWTH ((size_t)8)

#define HUGE_BYTES    ((size_t)1 << 30)
#define LARGEST_BYTES ((size_t)1 << 46)

/* The largest number of entries, and so of sampled blocks that are alive at one time. */
#define BLOCKS_MOST (TINY ? (size_t)64 : (size_t)1 << 28)

_Thread_local int64_t words_left;
_Thread_local wn_alloc_source host_source;
_Thread_local void *host_offer;

struct host_thread {
  struct memprof_thread engine;
  uint32_t number;
  bool attached;
  bool counting;   /* words_left counts down to a sample; if false, to the end of a piece */
  uintptr_t moved; /* where the block was that realloc is moving, or 0 */
};

static _Thread_local struct host_thread self;

/* Set by host_open; constant afterwards. */
static struct memprof engine;
static struct memprof_owner owner;
static struct callstacks *callstacks;
static pthread_key_t thread_key;
static bool has_region;

/* Set when a profile starts: true if its rate is so low that companions are cheap. */
static _Atomic(bool) has_companions;

/* Written by any thread. */
static _Atomic(uint32_t) threads;
static _Atomic(bool) opened;
static _Atomic(bool) confined; /* the program forbids itself system calls (CONFINED of seccomp_calls.c) */

/* The linker's symbols for the begin and the end of our own code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct muted {
  int64_t left;
  uint64_t began; /* in cycles; of nested work 0 */
  struct program_errors errors;
};

static struct muted mute(void) {
  bool nested = words_left > MUTED / 2;
  struct muted saved = {words_left, nested ? 0 : cost_now(), program_errors_save()};
  words_left = MUTED;
  return saved;
}

static void unmute(struct muted saved) {
  if (saved.began) cost_add_since(saved.began);
  words_left = saved.left;
  program_errors_restore(saved.errors);
}

/* ---- the engine's questions ---- */

static const wn_callstack *malloc_host_capture(struct memprof_thread *thread, size_t depth) {
  (void)thread;
  return interpreters_capture(callstacks, depth, self.moved);
}

/* Nothing to do: each thread looks for a profile itself, at the latest after PIECE words. */
static void malloc_host_rearm(struct memprof_owner *changed) { (void)changed; }

static struct memprof_thread *malloc_host_current(struct memprof *asking) {
  (void)asking;
  return self.attached ? &self.engine : NULL;
}

static const struct memprof_ops ops = {.parallel = true,
                                       .rearm = malloc_host_rearm,
                                       .capture = malloc_host_capture,
                                       .keep = callstack_keep,
                                       .release = callstack_release,
                                       .current = malloc_host_current};

struct memprof_thread *memprof_host_thread(wn_domain *domain) {
  struct memprof_thread *thread = malloc_host_current(&engine);
  (void)domain;
  if (!thread) error_set(WN_EINVAL, "memprof: the calling thread cannot be sampled");
  return thread;
}

/* ---- threads ---- */

static void thread_ends(void *argument) {
  (void)argument;
  struct muted saved = mute();
  process_thread_ends();
  cost_thread_ends();
  memprof_thread_detach(&self.engine);
  self.attached = self.counting = false;
  saved.left = 0; /* an allocation by a later destructor sets the thread up again */
  unmute(saved);
}

/* Sets the calling thread up. The caller has muted it. */
static void attach(void) {
  if (self.attached) return;
  memset(&self.engine, 0, sizeof self.engine);
  if (!self.number) self.number = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
  memprof_thread_attach(&self.engine, &owner, NULL, NULL);
  self.attached = true;
  pthread_setspecific(thread_key, &self);
}

/* What host_hits does for a thread that is set up. `left` is the thread's words_left. A count that was
 * below zero before the words is that of a call which a signal handler interrupted, and the handler
 * allocates: the call's words stay subtracted, and the handler's have trials apart. */
static size_t malloc_host_count_hits(int64_t *left, size_t words) {
  size_t hits = 0;
  if (*left + (int64_t)words < 0) return *left += (int64_t)words, memprof_hits_of(&self.engine, words);
  commands_look();
  if (!memprof_is_sampling(&self.engine)) {
    *left = PIECE + 1;
  } else if (self.counting) {
    hits = memprof_hits(&self.engine, left);
  } else {
    hits = memprof_hits_after_cut(&self.engine, left);
    commands_beat();
  }
  self.counting = *left <= PIECE;
  if (!self.counting) *left = PIECE;
  return hits;
}

/* ---- sampled blocks ---- */

static _Noreturn void die(const char *message) {
  os_write_all(2, message, strlen(message));
  abort();
}

static bool in_region(const void *block) { return (uintptr_t)block - real.sampled.base < real.sampled.span; }

/* Looks up what is known of a block. The caller has checked that the block's address is in the
 * region, if there is a region. */
static struct sampled_place malloc_host_find(void *block) {
  struct sampled_block *known = has_region ? region_find(block) : addresses_find(block);
  return (struct sampled_place){block, known};
}

static bool is_followed(struct sampled_place place) {
  return place.block && atomic_load_explicit(&place.block->entry, memory_order_acquire);
}

static void malloc_host_give_back(struct sampled_place place) {
  if (has_region) {
    void *companion = place.block->companion; /* read first: a released place may be another block's */
    size_t bytes = place.block->bytes;
    if (!region_release(place)) die("winnow: the program frees a block twice\n");
    if (companion)
      real.free(companion);
    else
      info_count_out(bytes);
  } else {
    addresses_remove(place.block);
    real.free(place.address);
  }
}

static void *companion_for(size_t bytes) {
  bool wanted = bytes <= COMPANION_BYTES && atomic_load_explicit(&has_companions, memory_order_relaxed);
  return wanted ? real.malloc(bytes) : NULL;
}

static void malloc_host_check_live(struct sampled_place place, const char *complaint) {
  if (has_region && !region_is_live(place)) die(complaint);
}

/* Follows a block, which is new or has just grown from `previous_bytes`. `trials`: how many of its
 * words were counted for sampling. The thread is muted. */
static void malloc_host_follow(struct sampled_place place, size_t bytes, size_t trials, size_t previous_bytes,
                               size_t hits, wn_alloc_source source) {
  struct sampled_block *block = place.block;
  block->bytes = bytes;
  block->trials = trials;
  block->hits = hits;
  if (has_region && !previous_bytes) block->companion = companion_for(bytes);
  if (has_region && !block->companion) info_count_in(bytes);
  struct memprof_birth birth = {
      .address = (uintptr_t)place.address,
      .trials = trials,
      .bytes = bytes,
      .previous_bytes = previous_bytes,
      .n_samples = hits,
      .source = source == WN_SOURCE_NORMAL ? host_source : source,
  };
  struct memprof_entry *entry = memprof_allocated(&self.engine, &birth);
  if (!entry && memprof_is_sampling(&self.engine)) process_lost_block();
  atomic_store_explicit(&block->entry, entry, memory_order_release);
  memprof_drain(&self.engine);
}

/* As follow, for a block of the real allocator: only where there is no region can such a block be
 * followed, by the table of addresses. */
static void follow_real(void *block, size_t bytes, size_t trials, size_t previous_bytes, size_t hits) {
  struct sampled_place place = {.address = block};
  if (!has_region) place.block = addresses_insert(block);
  if (place.block)
    malloc_host_follow(place, bytes, trials, previous_bytes, hits, WN_SOURCE_NORMAL);
  else
    process_lost_block();
}

/* Ends a block's entry. If two threads free one block, only one of them finds the entry. */
static void malloc_host_forget(struct sampled_block *known) {
  struct memprof_entry *entry = atomic_exchange_explicit(&known->entry, NULL, memory_order_acquire);
  if (!entry) return;
  attach();
  memprof_freed(&self.engine, entry);
  memprof_drain(&self.engine);
}

/* Counts the words that a sampled block gains when it grows, and returns how many samples fell into
 * them. TRIALS: they are the words that realloc_other would count for an unsampled block of the
 * same history. realloc_other knows only usable sizes, so this function also compares usable sizes:
 * those of the blocks that the real allocator would give. Otherwise blocks with equal histories
 * would be in the sample with different probabilities, and a trace can state only one
 * probability. */
static size_t count_growth(struct sampled_block *known, size_t bytes, int64_t *left) {
  size_t before = malloc_words(real_usable_for(known->bytes)), after = malloc_words(real_usable_for(bytes));
  if (after <= before) return 0;
  known->trials += after - before;
  *left -= (int64_t)(after - before);
  if (*left < 0) return malloc_host_count_hits(left, after - before);
  memprof_counted(&self.engine);
  return 0;
}

static void copy_contents(void *to, struct sampled_place from, size_t bytes) {
  size_t usable = region_usable(from);
  memcpy(to, from.address, usable < bytes ? usable : bytes);
}

/* Moves a block to the real allocator, where it lives on unsampled: the region is full, or this is
 * a signal handler that interrupted the holder of the region's lock. */
static struct sampled_place move_out(struct sampled_place old, size_t bytes) {
  struct sampled_place moved = {.address = real.malloc(bytes)};
  if (!moved.address) return moved;
  copy_contents(moved.address, old, bytes);
  struct memprof_entry *entry = atomic_exchange_explicit(&old.block->entry, NULL, memory_order_acquire);
  if (entry) memprof_freed(&self.engine, entry); /* as far as we can tell, its life ends here */
  malloc_host_give_back(old);
  process_lost_block();
  return moved;
}

/* Resizes a block of the real allocator. Once the block has moved, another thread may be given its
 * old address, so the table forgets that address first. */
static struct sampled_place resize_real(struct sampled_place old, size_t bytes) {
  const struct sampled_block kept = *old.block;
  struct memprof_entry *entry = atomic_load_explicit(&old.block->entry, memory_order_acquire);
  addresses_remove(old.block);
  void *moved = real.realloc(old.address, bytes);
  struct sampled_block *block = addresses_insert(moved ? moved : old.address);
  if (block)
    *block = kept;
  else if (entry)
    memprof_freed(&self.engine, entry); /* the table is full: as far as we can tell, its life ends here */
  return (struct sampled_place){moved, block};
}

/* Gives a sampled block another size, with its contents. Returns the place where the block lies
 * then; `block` of that place is NULL if the block is no longer followed. If there is no memory,
 * the address is NULL and the old block stays. */
static struct sampled_place malloc_host_resize(struct sampled_place old, size_t bytes) {
  bool zeroed;
  if (!host_can_have(bytes)) return (struct sampled_place){0};
  if (!has_region) return resize_real(old, bytes);
  if (atomic_load_explicit(&confined, memory_order_relaxed)) return move_out(old, bytes);
  if (region_resize(old, bytes)) return old;
  struct sampled_place moved =
      bytes > old.block->bytes ? region_allocate_growing(bytes) : region_allocate(bytes, 16, &zeroed);
  if (!moved.address) return move_out(old, bytes);
  copy_contents(moved.address, old, bytes);
  *moved.block = *old.block;
  atomic_store_explicit(&old.block->entry, NULL, memory_order_relaxed);
  region_release(old);
  return moved;
}

/* A companion has the old size, and would no longer stand for the block. */
static void count_resized(struct sampled_block *block, size_t bytes) {
  if (block->companion)
    real.free(block->companion);
  else
    info_count_out(block->bytes);
  block->companion = NULL;
  info_count_in(bytes);
}

/* Counts the words that a sampled block gained by its new size, and reports the new size to the
 * engine. */
static void follow_resized(struct sampled_place place, size_t bytes, int64_t *left) {
  struct sampled_block *block = place.block;
  block->hits += count_growth(block, bytes, left);
  if (has_region) count_resized(block, bytes);
  block->bytes = bytes;
  struct memprof_entry *entry = atomic_load_explicit(&block->entry, memory_order_acquire);
  if (entry)
    memprof_resized(&self.engine, entry, (uintptr_t)place.address, bytes, block->trials, block->hits);
}

/* ---- shared ---- */

size_t host_hits(size_t words) {
  struct muted saved = mute();
  size_t hits = 0;
  process_start();
  if (!atomic_load_explicit(&opened, memory_order_acquire)) {
    saved.left = process_is_early() ? 0 : PIECE;
  } else {
    attach();
    hits = malloc_host_count_hits(&saved.left, words);
  }
  if (!hits && saved.began) cost_is_beside();
  unmute(saved);
  return hits;
}

bool host_can_have(size_t bytes) {
  if (bytes < HUGE_BYTES) return true;
  if (bytes > LARGEST_BYTES) return false;
  struct muted saved = mute();
  void *tried = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried != MAP_FAILED) munmap(tried, bytes);
  unmute(saved);
  return tried != MAP_FAILED;
}

void *host_allocate(size_t bytes, size_t alignment, bool zero, size_t hits, wn_alloc_source source) {
  if (!has_region || atomic_load_explicit(&confined, memory_order_relaxed)) return NULL;
  struct muted saved = mute();
  bool zeroed;
  struct sampled_place place = region_allocate(bytes, alignment, &zeroed);
  if (place.address) {
    if (zero && !zeroed) memset(place.address, 0, bytes);
    malloc_host_follow(place, bytes, malloc_words(bytes), 0, hits, source);
  }
  unmute(saved);
  return place.address;
}

void host_follow(void *block, size_t bytes, size_t hits) {
  if (!block || (has_region && in_region(block))) return;
  if (!has_region && is_followed(malloc_host_find(block))) return;
  struct muted saved = mute();
  follow_real(block, bytes, malloc_words(bytes), 0, hits);
  unmute(saved);
}

bool host_owns(void *block) { return has_region || addresses_find(block); }

void host_free(void *block) {
  struct sampled_place place = malloc_host_find(block);
  if (!has_region && !place.block) {
    real.free(block);
    return;
  }
  struct muted saved = mute();
  malloc_host_check_live(place,
                         "winnow: the program frees a block twice, or a pointer that malloc did not give\n");
  malloc_host_forget(place.block);
  malloc_host_give_back(place);
  unmute(saved);
}

void *host_realloc(void *block, size_t bytes) {
  if (!bytes && process_realloc_zero_frees()) {
    host_free(block);
    return NULL;
  }
  struct muted saved = mute();
  struct sampled_place place = malloc_host_find(block);
  malloc_host_check_live(
      place, "winnow: the program reallocates a freed block, or a pointer that malloc did not give\n");
  attach();
  self.moved = (uintptr_t)block;
  struct sampled_place resized = malloc_host_resize(place, bytes);
  if (resized.address && resized.block) follow_resized(resized, bytes, &saved.left);
  self.moved = 0;
  memprof_drain(&self.engine); /* also if the block is no longer followed */
  unmute(saved);
  if (!resized.address) errno = ENOMEM;
  return resized.address;
}

/* The size that the program probably asked for before a block grew from the usable size `usable` to
 * `bytes` (PREVIOUS). */
static size_t likely_bytes(size_t usable, size_t bytes) {
  size_t gained = bytes - usable, slack = gained < SLACK_BEFORE_GROWTH ? gained : SLACK_BEFORE_GROWTH;
  return usable > slack ? usable - slack : 1;
}

void *host_follow_grown(void *block, size_t bytes, const struct host_growth *growth) {
  size_t usable = malloc_words(growth->after), hits = host_hits(usable - malloc_words(growth->before));
  if (!hits) return block;
  struct muted saved = mute();
  bool is_real = growth->source == WN_SOURCE_NORMAL; /* else there is no slack: requests are classes mostly */
  size_t trials = is_real ? usable - SLACK_AT_BIRTH : usable;
  size_t previous = is_real ? likely_bytes(growth->before, bytes) : growth->before;
  struct sampled_place moved = {0};
  bool zeroed;
  self.moved = growth->from;
  if (has_region) moved = region_allocate(bytes, 16, &zeroed);
  if (moved.address)
    malloc_host_follow(moved, bytes, trials, previous, hits, growth->source);
  else
    follow_real(block, bytes, trials, previous, hits);
  self.moved = 0;
  unmute(saved);
  return moved.address ? moved.address : block;
}

size_t host_usable_size(void *block) {
  return has_region ? region_usable(malloc_host_find(block)) : real.usable_size(block);
}

bool host_open(void) {
  cost_begin();
  struct region_range range = {0, SIZE_MAX};
  has_region = region_reserve(&range);
  if (!has_region && !addresses_create()) return false;
  struct callstacks_options options = {.skip_begin = (uintptr_t)__ehdr_start, .skip_end = (uintptr_t)_end};
  callstacks = callstacks_create(&options);
  if (!callstacks || pthread_key_create(&thread_key, thread_ends)) return false;
  memprof_open(&engine, &ops, NULL, BLOCKS_MOST);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  real.sampled = range;
  atomic_store_explicit(&opened, true, memory_order_release);
  return true;
}

wn_status host_start(const wn_memprof_options *options, const wn_tracker *tracker, bool immediate,
                     wn_profile **profile) {
  struct muted saved = mute();
  attach();
  wn_status status = immediate ? memprof_start_immediate(&self.engine, options, tracker, profile)
                               : memprof_start(&self.engine, options, tracker, profile);
  if (!status)
    atomic_store_explicit(&has_companions, options->sampling_rate <= COMPANION_RATE, memory_order_relaxed);
  if (!status && saved.left < MUTED / 2) {
    saved.left = 0; /* a piece that ends here */
    self.counting = false;
  }
  unmute(saved);
  return status;
}

wn_status host_stop(void) {
  struct muted saved = mute();
  attach();
  wn_status status = memprof_stop(&self.engine);
  unmute(saved);
  return status;
}

void host_rate(wn_profile *profile, double rate) {
  memprof_set_rate(profile, rate);
  atomic_store_explicit(&has_companions, rate <= COMPANION_RATE, memory_order_relaxed);
}

double host_trial_rate(void) { return memprof_trial_rate(&self.engine); }

wn_status host_discard(wn_profile *profile) {
  struct muted saved = mute();
  attach();
  wn_status status = wn_memprof_discard(profile);
  memprof_drain(&self.engine); /* callbacks for blocks that `drop` and signal handlers freed meanwhile */
  unmute(saved);
  return status;
}

void host_confine(wn_profile *profile) {
  host_stop();
  host_discard(profile);
  atomic_store_explicit(&confined, true, memory_order_relaxed);
  real_make_spare(has_region ? region_confine() : 0);
}

uint32_t host_thread_number(wn_domain *domain) {
  (void)domain;
  return self.number;
}

struct callstacks *host_callstacks(void) {
  return callstacks;
}

struct host_visit host_enter(void) {
  struct muted saved = mute();
  if (atomic_load_explicit(&opened, memory_order_acquire)) attach();
  return (struct host_visit){saved.left, saved.began, saved.errors};
}

void host_leave(struct host_visit visit) { unmute((struct muted){visit.left, visit.began, visit.errors}); }

bool host_is_working(void) { return words_left > MUTED / 2; }

void host_before_fork(void) {
  mappings_before_fork();
  if (has_region) region_before_fork();
}

void host_after_fork(bool child) {
  if (has_region) region_after_fork();
  mappings_after_fork(child);
  if (child) callstacks_fork_child(callstacks);
}
/* SPDX-License-Identifier: MIT */
