/* The malloc heap as a parallel host of the engine.
 *
 * One owner stands for the whole heap; each thread has its engine thread in thread-local storage, set up by its first
 * allocation and ended by a pthread key. Callbacks run at once, inside the malloc or free that caused them.
 *
 * MUTED: while the host works for a thread, its words_left is MUTED, far above any count that is ever given, so that what
 * callbacks and the C library allocate meanwhile takes the fast path and is neither sampled nor counted. The count is
 * put back at the end. Nesting (a signal handler, a free in a callback) saves and restores MUTED itself, harmlessly.
 *
 * Where nothing is sampled, a thread comes here each DORMANT words, to see whether a profile was started.
 *
 * COMPANION: a small sampled block has a companion of its size in the real allocator, as long as it lives. So the program's
 * other blocks lie where they would lie without us: without companions each sampled block shifts what glibc's free lists
 * hand out next, and a program that lives by their order slows down (bench/run --only trees at 1e-4: half of the cost was
 * cache misses in the program itself). At rates that sample much, companions would cost memory, and there are none.
 *
 * A sampled block lies in the region, and its `struct sampled_block` in the region's side arrays. Where the address space
 * has no room for a region, sampled blocks come from the real allocator and addresses.c knows them; then `real.sampled`
 * spans all addresses, so that every free asks it.
 */
#include "preload/malloc_host.h"

#include "base/check.h"
#include "base/error.h"
#include "base/os.h"
#include "base/words.h"
#include "callstack/capture.h"
#include "memprof/host.h"
#include "preload/addresses.h"
#include "preload/mappings.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/region.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MUTED   (INT64_MAX / 2)
#define DORMANT ((int64_t)1 << 16)

/* Which blocks get a companion. */
#define COMPANION_BYTES ((size_t)1024)
#define COMPANION_RATE  0.01

/* Words that a block's first usable size had more than was asked for, and that so were never tried: glibc's for sizes that
 * are multiples of 16, the usual ones. Needed for blocks whose birth nobody saw. */
#define SLACK_AT_BIRTH 1

/* PREVIOUS: what an unsampled block had before it grew, known only as its usable size. glibc rounds up to 8 more than a
 * multiple of 16, by 8 bytes on average and for multiples of 16; but a block that grows in small steps comes close to its
 * usable size before it passes it. Without this, each block first seen as it grows would count 8 bytes too few. */
#define SLACK_BEFORE_GROWTH ((size_t)8)

#define HUGE_BYTES    ((size_t)1 << 30)
#define LARGEST_BYTES ((size_t)1 << 46)

/* Entries, and with them sampled blocks alive at one time. */
#define BLOCKS_MOST (TINY ? (size_t)64 : (size_t)1 << 28)

_Thread_local int64_t words_left;

struct host_thread {
  struct memprof_thread engine;
  uint32_t number;
  bool attached;
  bool counting; /* words_left leads to a sample, and not only to a look whether a profile began */
};

static _Thread_local struct host_thread self;

/* Set by host_open; constant afterwards. */
static struct memprof engine;
static struct memprof_owner owner;
static struct callstacks *callstacks;
static pthread_key_t thread_key;
static bool has_region;

/* Set when a profile starts: it samples so little that companions are cheap. */
static _Atomic(bool) has_companions;

/* Written by any thread. */
static _Atomic(uint32_t) threads;
static _Atomic(bool) opened;

/* Where our own code lies, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct muted {
  int64_t left;
  struct program_errors errors;
};

static struct muted mute(void) {
  struct muted saved = {words_left, program_errors_save()};
  words_left = MUTED;
  return saved;
}

static void unmute(struct muted saved) {
  words_left = saved.left;
  program_errors_restore(saved.errors);
}

/* ---- the engine's questions ---- */

static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread;
  return callstack_capture(callstacks, depth);
}

/* Threads look for themselves, at the latest after DORMANT words. */
static void rearm(struct memprof_owner *changed) { (void)changed; }

static struct memprof_thread *current(struct memprof *asking) {
  (void)asking;
  return self.attached ? &self.engine : NULL;
}

static const struct memprof_ops ops = {
    .parallel = true, .rearm = rearm, .capture = capture, .current = current};

struct memprof_thread *memprof_host_thread(wn_domain *domain) {
  struct memprof_thread *thread = current(&engine);
  (void)domain;
  if (!thread) error_set(WN_EINVAL, "memprof: the calling thread cannot be sampled");
  return thread;
}

/* ---- threads ---- */

static void thread_ends(void *argument) {
  (void)argument;
  struct muted saved = mute();
  process_thread_ends();
  memprof_thread_detach(&self.engine);
  self.attached = self.counting = false;
  saved.left = 0; /* what later destructors allocate sets the thread up again */
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

/* What host_hits does for a thread that is set up, with its count. */
static size_t count_hits(int64_t *left) {
  size_t hits = 0;
  bool sampling = memprof_is_sampling(&self.engine);
  if (sampling && !self.counting) *left += memprof_gap(&self.engine);
  if (sampling && *left < 0) hits = memprof_hits(&self.engine, left);
  self.counting = memprof_is_sampling(&self.engine);
  if (!self.counting) *left = DORMANT;
  return hits;
}

/* ---- sampled blocks ---- */

static _Noreturn void die(const char *message) {
  os_write_all(2, message, strlen(message));
  abort();
}

static bool in_region(const void *block) { return (uintptr_t)block - real.sampled.base < real.sampled.span; }
static struct sampled_block *find(void *block) {
  return has_region ? region_block(block) : addresses_find(block);
}

/* True for a block that operator new got from malloc, and so from us, after it had failed at first. */
static bool is_followed(void *block) {
  if (!has_region) return addresses_find(block) != NULL;
  struct sampled_block *known = in_region(block) ? region_block(block) : NULL;
  return known && atomic_load_explicit(&known->entry, memory_order_acquire);
}

/* The place to note what is known of a new block; NULL if it cannot be followed. */
static struct sampled_block *remember(void *block) {
  if (!has_region) return addresses_insert(block);
  return in_region(block) ? region_block(block) : NULL;
}

static void give_back(void *block, struct sampled_block *known) {
  if (has_region) {
    void *companion = known->companion; /* once released, the place is another block's */
    if (!region_release(block)) die("winnow: the program frees a block twice\n");
    if (companion) real.free(companion);
  } else {
    addresses_remove(known);
    real.free(block);
  }
}

static void *companion_for(size_t bytes) {
  bool wanted = bytes <= COMPANION_BYTES && atomic_load_explicit(&has_companions, memory_order_relaxed);
  return wanted ? real.malloc(bytes) : NULL;
}

static void check_live(void *block, const char *complaint) {
  if (has_region && region_state(block) != REGION_LIVE) die(complaint);
}

static struct memprof_birth birth_of(void *block, const struct sampled_block *known, size_t previous_bytes) {
  return (struct memprof_birth){
      .address = (uintptr_t)block,
      .size = malloc_words(known->bytes) - 1,
      .trials = known->trials,
      .bytes = known->bytes,
      .previous_bytes = previous_bytes,
      .n_samples = known->hits,
      .source = WN_SOURCE_NORMAL,
  };
}

static void follow(void *block, struct sampled_block *known, size_t previous_bytes) {
  struct memprof_birth birth = birth_of(block, known, previous_bytes);
  struct memprof_entry *entry = memprof_allocated(&self.engine, &birth);
  atomic_store_explicit(&known->entry, entry, memory_order_release);
  memprof_drain(&self.engine);
}

/* Ends a block's entry: of two threads that free one block, only one finds it. */
static void forget(struct sampled_block *known) {
  struct memprof_entry *entry = atomic_exchange_explicit(&known->entry, NULL, memory_order_acquire);
  if (!entry) return;
  attach();
  memprof_freed(&self.engine, entry);
  memprof_drain(&self.engine);
}

/* New words that a sampled block takes when it grows, and the samples among them. TRIALS: a sampled block's words are tried
 * when those of an unsampled one would be, which the entry points know only by their usable sizes. Else blocks with equal
 * histories would be in the sample with different probabilities, and the trace could tell only one. */
static size_t count_growth(struct sampled_block *known, size_t bytes, int64_t *left) {
  size_t before = malloc_words(real_usable_for(known->bytes)), after = malloc_words(real_usable_for(bytes));
  if (after <= before) return 0;
  known->trials += after - before;
  *left -= (int64_t)(after - before);
  return *left < 0 ? memprof_hits(&self.engine, left) : 0;
}

/* Where the region is full, or belongs to whom a signal handler interrupted: the block goes on unsampled elsewhere. */
static void *moved_out(void *block, struct sampled_block **known, size_t bytes) {
  void *moved = real.malloc(bytes);
  if (!moved) return NULL;
  size_t usable = region_usable(block);
  memcpy(moved, block, usable < bytes ? usable : bytes);
  struct memprof_entry *entry = atomic_exchange_explicit(&(*known)->entry, NULL, memory_order_acquire);
  if (entry) memprof_freed(&self.engine, entry); /* as far as we can tell, its life ends here */
  give_back(block, *known);
  *known = NULL;
  process_lost_block();
  return moved;
}

/* Memory for a sampled block that changes its size, with its contents; NULL when there is none, and the block stays. */
static void *resized(void *block, struct sampled_block **known, size_t bytes) {
  struct sampled_block *old = *known;
  if (!has_region) {
    struct sampled_block kept = *old;
    struct memprof_entry *entry = atomic_load_explicit(&old->entry, memory_order_acquire);
    addresses_remove(old); /* before its address can come again */
    void *moved = real.realloc(block, bytes);
    *known = addresses_insert(moved ? moved : block);
    if (*known) {
      **known = kept;
    } else if (entry) {
      memprof_freed(&self.engine, entry); /* the table is full: as far as we can tell, its life ends here */
    }
    return moved;
  }
  if (region_resize(block, bytes)) return block;
  bool zeroed;
  void *moved = bytes > old->bytes ? region_allocate_growing(bytes) : region_allocate(bytes, 16, &zeroed);
  if (!moved) return moved_out(block, known, bytes);
  size_t usable = region_usable(block);
  memcpy(moved, block, usable < bytes ? usable : bytes);
  *known = region_block(moved);
  **known = *old;
  atomic_store_explicit(&old->entry, NULL, memory_order_relaxed);
  region_release(block);
  return moved;
}

/* Follows a block, new or just grown from `previous_bytes`, of which `trials` words were tried. */
static void follow_new(void *block, size_t bytes, size_t trials, size_t previous_bytes, size_t hits) {
  struct muted saved = mute();
  struct sampled_block *known = remember(block);
  if (known) {
    known->bytes = bytes;
    known->trials = trials;
    known->hits = hits;
    if (has_region && !previous_bytes) known->companion = companion_for(bytes);
    follow(block, known, previous_bytes);
  } else {
    process_lost_block();
  }
  unmute(saved);
}

/* ---- shared ---- */

size_t host_hits(void) {
  struct muted saved = mute();
  size_t hits = 0;
  process_start();
  if (!atomic_load_explicit(&opened, memory_order_acquire)) {
    saved.left = process_is_early() ? 0 : DORMANT;
  } else {
    attach();
    hits = count_hits(&saved.left);
  }
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

void *host_place(size_t bytes, size_t alignment, bool zero) {
  if (!has_region) return NULL;
  struct muted saved = mute();
  bool zeroed;
  void *block = region_allocate(bytes, alignment, &zeroed);
  if (block && zero && !zeroed) memset(block, 0, bytes);
  unmute(saved);
  return block;
}

void host_follow(void *block, size_t bytes, size_t hits) {
  if (block && !is_followed(block)) follow_new(block, bytes, malloc_words(bytes), 0, hits);
}

bool host_owns(void *block) { return has_region || addresses_find(block); }

void host_free(void *block) {
  if (!has_region && !addresses_find(block)) {
    real.free(block);
    return;
  }
  struct muted saved = mute();
  check_live(block, "winnow: the program frees a block twice, or a pointer that malloc did not give\n");
  struct sampled_block *known = find(block);
  forget(known);
  give_back(block, known);
  unmute(saved);
}

void *host_realloc(void *block, size_t bytes) {
  if (!bytes && process_realloc_zero_frees()) {
    host_free(block);
    return NULL;
  }
  struct muted saved = mute();
  check_live(block, "winnow: the program reallocates a freed block, or a pointer that malloc did not give\n");
  attach();
  struct sampled_block *known = find(block);
  void *moved = host_can_have(bytes) ? resized(block, &known, bytes) : NULL;
  if (moved && known) {
    known->hits += count_growth(known, bytes, &saved.left);
    known->bytes = bytes;
    struct memprof_entry *entry = atomic_load_explicit(&known->entry, memory_order_acquire);
    if (entry)
      memprof_resized(&self.engine, entry, (uintptr_t)moved, malloc_words(bytes) - 1, bytes, known->trials,
                      known->hits);
  }
  memprof_drain(&self.engine); /* where it is followed no more, too */
  unmute(saved);
  if (!moved) errno = ENOMEM;
  return moved;
}

/* What a block was likely asked to have, which grew from the usable size `usable` to `bytes` (PREVIOUS). */
static size_t likely_bytes(size_t usable, size_t bytes) {
  size_t gained = bytes - usable, slack = gained < SLACK_BEFORE_GROWTH ? gained : SLACK_BEFORE_GROWTH;
  return usable > slack ? usable - slack : 1;
}

void *host_follow_grown(void *block, size_t bytes, size_t before) {
  size_t hits = host_hits();
  if (!hits) return block;
  size_t trials = malloc_words(real.usable_size(block)) - SLACK_AT_BIRTH;
  void *moved = host_place(bytes, 16, false);
  if (moved) {
    memcpy(moved, block, bytes);
    real.free(block);
  } else {
    moved = block;
  }
  follow_new(moved, bytes, trials, likely_bytes(before, bytes), hits);
  return moved;
}

size_t host_usable_size(void *block) { return has_region ? region_usable(block) : real.usable_size(block); }

bool host_open(void) {
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

wn_status host_start(const wn_memprof_options *options, const wn_tracker *tracker, wn_profile **profile) {
  struct muted saved = mute();
  attach();
  wn_status status = memprof_start(&self.engine, options, tracker, profile);
  if (!status)
    atomic_store_explicit(&has_companions, options->sampling_rate <= COMPANION_RATE, memory_order_relaxed);
  if (!status && saved.left < MUTED / 2) {
    saved.left = memprof_gap(&self.engine);
    self.counting = true;
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

wn_status host_discard(wn_profile *profile) {
  struct muted saved = mute();
  attach();
  wn_status status = wn_memprof_discard(profile);
  memprof_drain(&self.engine); /* what `drop` and signal handlers freed meanwhile */
  unmute(saved);
  return status;
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
  return (struct host_visit){saved.left, saved.errors};
}

void host_leave(struct host_visit visit) { unmute((struct muted){visit.left, visit.errors}); }

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
