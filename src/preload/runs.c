/* Runs of pages: an extent allocator over the upper part of the region.
 *
 * A run is a stretch of pages, live or free. Its descriptor never moves and is never unmapped, only
 * used again. The page map leads from the first page of each run to the run's descriptor, and from
 * the last page of a free run too, so that a run that is freed finds its neighbours. Free runs are
 * in bins by the logarithm of their length. Pages above `top` were never used. Pages and their
 * entries in the map are made accessible, STEP at a time, as `top` grows (ACCESSIBLE in region.c).
 *
 * RUN-CLEAN: a clean free run reads as zeros. Only two clean runs or two dirty ones are joined, so
 * the mark stays exact.
 *
 * KEPT: a freed run keeps its pages while no more than `limit` pages are kept. The pages of other
 * freed runs go back to the system at once. The limit is small at first, so that a program that
 * frees all its blocks is not made larger. When a block takes pages that had gone back, the limit
 * grows by as many pages. So a program that allocates large blocks in a loop soon has no page
 * faults for them: filling a block of 16 MiB takes 0.3 ms then, and 9.4 ms otherwise. Kept pages
 * that no block took for a while go back, all but KEPT_LEAST of them. The limit shrinks by as many
 * pages, or further, to the number of pages that blocks took in that time; but never below
 * KEPT_LEAST. Kept pages above the new limit go back, too. Kept pages are counted as our own
 * memory.
 *
 * CONFINED: the program forbids itself system calls (CONFINED of seccomp_calls.c). Pages of blocks
 * that the C library would have in its heap stay. For larger blocks it calls munmap, so that is
 * called here.
 *
 * When realloc moves a block because it grows, the block gets as much address space again behind
 * it. So a block that grows step by step copies each byte a constant number of times on average.
 *
 * One lock (LOCK_RANK_RUNS) protects all of this. Only the page map's entry of a live block is read
 * without the lock, by the block's owner. A signal handler that interrupted the lock's holder
 * cannot allocate here, and pushes the runs that it frees on the stack `returned`, which the next
 * holder empties.
 */
#include "preload/runs.h"

#include "base/check.h"
#include "base/lock.h"
#include "base/metadata.h"
#include "preload/limits.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
  BINS = 48,
  TRIES = 16,
  BATCH = TINY ? 2 : 1024,
  KEPT_LEAST = TINY ? 4 : 256, /* pages; KEPT: least and most value of `limit` */
  KEPT_MOST = TINY ? 16 : 8192,
  RUNS_AT_ONCE = 64,    /* given back in one call; each takes a system call */
  HEAP_MOST = 32,       /* pages; CONFINED: the C library maps larger blocks */
  HEAP_USED_MOST = 4096 /* pages; what runs_confine returns at most */
};

/* How many pages are made accessible at one time. Their entries in the map fill whole pages,
 * too. */
#define STEP ((size_t)512)

struct run {
  /* Written under the lock. While the run is live, only runs_resize changes `pages`. `clean` is
   * also written by the thread that frees the run. */
  size_t first, pages;
  bool clean;
  /* Written by the block's owner while the run is live. */
  size_t bytes;
  struct sampled_block block;
  /* 1 from allocation to release. */
  _Atomic(uint32_t) live;
  /* In a free run: its neighbours in the bin. In a run on `returned` or `recycled`: the next one.
   * Written under the lock, or by the thread that pushes the run on `returned`. */
  struct run *next, *previous;
  bool binned;
};

static uintptr_t area; /* constant after runs_create, as area_pages and map */
static size_t area_pages;
static _Atomic(struct run *) *map; /* index: page; a live block's entry is read without the lock */
/* How many pages, and entries of the map, are accessible. Grows under the lock. */
static _Atomic(size_t) accessible;

static struct lock lock;
static _Thread_local struct lock_fork forks;
static struct run *bins[BINS];
static struct run *recycled;
static size_t top;
static _Atomic(size_t) kept, limit = KEPT_LEAST; /* pages; written under the lock, read without it */
/* Since runs_give_back_idle, in pages: the least value of `kept`; the pages that blocks took. */
static size_t idle, taken;
static _Atomic(struct run *) returned;
static _Atomic(bool) confined;

static size_t runs_page_of(const void *address) { return ((uintptr_t)address - area) >> RUNS_PAGE_SHIFT; }
static void *runs_address_of(size_t page) { return (void *)(area + (page << RUNS_PAGE_SHIFT)); }
static size_t pages_for(size_t bytes) {
  return (bytes >> RUNS_PAGE_SHIFT) + ((bytes & (RUNS_PAGE - 1)) != 0);
}
static unsigned runs_bin_of(size_t pages) { return 63 - (unsigned)__builtin_clzll(pages); }
static void map_set(size_t page, struct run *run) {
  atomic_store_explicit(&map[page], run, memory_order_release);
}
static struct run *map_get(size_t page) {
  if (page >= atomic_load_explicit(&accessible, memory_order_acquire)) return NULL;
  return atomic_load_explicit(&map[page], memory_order_acquire);
}

static struct run *runs_run_of(struct sampled_place place) {
  return (struct run *)((char *)place.block - offsetof(struct run, block));
}
static struct sampled_place runs_place_of(struct run *run) {
  return (struct sampled_place){runs_address_of(run->first), &run->block};
}

static struct run *descriptor(size_t first, size_t pages, bool clean) {
  if (!recycled) {
    struct run *batch = metadata_map(BATCH * sizeof *batch);
    if (!batch) return NULL;
    for (size_t i = 0; i < BATCH; i++) {
      batch[i].next = recycled;
      recycled = &batch[i];
    }
  }
  struct run *run = recycled;
  recycled = run->next;
  run->first = first;
  run->pages = pages;
  run->clean = clean;
  run->binned = false;
  return run;
}

static void recycle(struct run *run) {
  run->next = recycled;
  recycled = run;
}

static size_t runs_load(const _Atomic(size_t) *pages) {
  return atomic_load_explicit(pages, memory_order_relaxed);
}
static void runs_store(_Atomic(size_t) *pages, size_t value) {
  atomic_store_explicit(pages, value, memory_order_relaxed);
}

/* Count pages as kept or not kept (KEPT). */
static void runs_keep(size_t pages) {
  runs_store(&kept, runs_load(&kept) + pages);
  metadata_count_in(pages << RUNS_PAGE_SHIFT);
}

static void keep_no_more(size_t pages) {
  runs_store(&kept, runs_load(&kept) - pages);
  metadata_count_out(pages << RUNS_PAGE_SHIFT);
}

/* Counts pages that a block took out of the bins. `clean`: they had gone back to the system. */
static void runs_note_taken(bool clean, size_t pages) {
  size_t more = runs_load(&limit) + pages;
  if (clean) runs_store(&limit, more < KEPT_MOST ? more : KEPT_MOST);
  if (runs_load(&kept) < idle) idle = runs_load(&kept);
  taken += pages;
}

/* Gives pages that are being freed back to the system, if too many would be kept otherwise. True if
 * they are gone, or read as zeros. */
static bool runs_drop(size_t first, size_t pages) {
  bool unmaps = atomic_load_explicit(&confined, memory_order_relaxed);
  if (unmaps ? pages <= HEAP_MOST : runs_load(&kept) + pages <= runs_load(&limit)) return false;
  int saved = errno;
  size_t bytes = pages << RUNS_PAGE_SHIFT;
  bool dropped = (unmaps ? munmap(runs_address_of(first), bytes)
                         : madvise(runs_address_of(first), bytes, MADV_DONTNEED)) == 0;
  errno = saved;
  return dropped;
}

static void bin_insert(struct run *run) {
  ASSERT(run->pages);
  struct run **bin = &bins[runs_bin_of(run->pages)];
  run->previous = NULL;
  run->next = *bin;
  if (*bin) (*bin)->previous = run;
  *bin = run;
  run->binned = true;
  if (!run->clean) runs_keep(run->pages);
  map_set(run->first, run);
  map_set(run->first + run->pages - 1, run);
}

static void runs_bin_remove(struct run *run) {
  if (run->previous)
    run->previous->next = run->next;
  else
    bins[runs_bin_of(run->pages)] = run->next;
  if (run->next) run->next->previous = run->previous;
  run->binned = false;
  if (!run->clean) keep_no_more(run->pages);
}

/* The free run that ends just before a page, if its mark is `clean`; else NULL. */
static struct run *free_before(size_t page, bool clean) {
  struct run *run = page ? map_get(page - 1) : NULL;
  return run && run->binned && run->first + run->pages == page && run->clean == clean ? run : NULL;
}

static struct run *free_after(size_t page) {
  struct run *run = page < top ? map_get(page) : NULL;
  return run && run->binned && run->first == page ? run : NULL;
}

/* Puts an unused run in a bin, joined with free neighbours that have the same mark. */
static void insert_free(struct run *run) {
  struct run *before = free_before(run->first, run->clean);
  if (before) {
    runs_bin_remove(before);
    before->pages += run->pages;
    map_set(run->first, NULL);
    recycle(run);
    run = before;
  }
  struct run *after = free_after(run->first + run->pages);
  if (after && after->clean == run->clean) {
    runs_bin_remove(after);
    map_set(after->first, NULL);
    run->pages += after->pages;
    recycle(after);
  }
  bin_insert(run);
}

/* Shortens a run that is in no bin to `pages` pages, and frees the pages behind them. */
static void runs_cut(struct run *run, size_t pages) {
  if (run->pages == pages) return;
  struct run *rest = descriptor(run->first + pages, run->pages - pages, run->clean);
  if (!rest) return; /* harmless: the run stays longer */
  map_set(run->first + run->pages - 1, NULL);
  run->pages = pages;
  insert_free(rest);
}

static struct run *find_free(size_t pages) {
  struct run *run = bins[runs_bin_of(pages)];
  for (int tries = 0; run && tries < TRIES; run = run->next, tries++)
    if (run->pages >= pages) return run;
  for (unsigned bin = runs_bin_of(pages) + 1; bin < BINS; bin++)
    if (bins[bin]) return bins[bin];
  return NULL;
}

/* Makes the pages below `end` accessible. False if they cannot be used. */
static bool runs_reach(size_t end) {
  size_t made = atomic_load_explicit(&accessible, memory_order_relaxed);
  if (end <= made) return true;
  size_t more = (end - made + STEP - 1) / STEP * STEP;
  if (!limits_take(more << RUNS_PAGE_SHIFT) ||
      !metadata_make_accessible((void *)&map[made], more * sizeof *map) ||
      !metadata_make_accessible(runs_address_of(made), more << RUNS_PAGE_SHIFT))
    return false;
  atomic_store_explicit(&accessible, made + more, memory_order_release);
  return true;
}

static struct run *take_from_top(size_t pages) {
  if (pages > area_pages - top || !runs_reach(top + pages)) return NULL;
  struct run *run = descriptor(top, pages, true);
  if (run) top += pages;
  return run;
}

/* Takes a run of at least `pages` pages out of its bin, or from the pages above `top`. The run is
 * not yet live. */
static struct run *runs_take(size_t pages) {
  struct run *run = find_free(pages);
  if (!run) return take_from_top(pages);
  runs_bin_remove(run);
  map_set(run->first + run->pages - 1, NULL);
  runs_cut(run, pages);
  runs_note_taken(run->clean, pages);
  return run;
}

/* Moves the begin of a run up to a multiple of `alignment` pages, shortens the run to `pages`, and
 * frees the pages before and behind. */
static struct run *align(struct run *run, size_t alignment, size_t pages) {
  size_t ahead = (alignment - run->first % alignment) % alignment;
  if (ahead) {
    struct run *front = descriptor(run->first, ahead, run->clean);
    if (!front) return NULL;
    run->first += ahead;
    run->pages -= ahead;
    insert_free(front);
  }
  runs_cut(run, pages);
  return run;
}

static void drain_returned(void) {
  struct run *run = atomic_exchange_explicit(&returned, NULL, memory_order_acquire);
  while (run) {
    struct run *next = run->next;
    insert_free(run);
    run = next;
  }
}

/* Takes kept runs out of a bin until they have `pages` pages together, and at most `most` runs.
 * Returns a list linked by `next`, in the order in which the runs were taken, so that only the last
 * run may have more pages than are needed. While a run is in no bin it is not joined with
 * another. */
static struct run *take_kept(unsigned bin, size_t pages, int most) {
  struct run *list = NULL, **end = &list, *next;
  for (struct run *run = bins[bin]; run && pages && most; run = next) {
    next = run->next;
    if (run->clean) continue;
    runs_bin_remove(run);
    map_set(run->first + run->pages - 1, NULL);
    pages -= run->pages < pages ? run->pages : pages;
    run->next = NULL;
    *end = run;
    end = &run->next;
    most--;
  }
  return list;
}

/* Gives so many kept pages back to the system, of the longest runs first. Gives back RUNS_AT_ONCE
 * runs at most, since the program waits meanwhile. The caller has the lock. */
static void runs_give_back(size_t pages) {
  int most = RUNS_AT_ONCE;
  for (unsigned bin = BINS; bin-- > 0 && pages && most;)
    for (struct run *run = take_kept(bin, pages, most), *next; run; run = next, most--) {
      next = run->next;
      if (run->pages > pages) runs_cut(run, pages);
      run->clean = madvise(runs_address_of(run->first), run->pages << RUNS_PAGE_SHIFT, MADV_DONTNEED) == 0;
      pages -= run->pages < pages ? run->pages : pages;
      insert_free(run);
    }
}

static bool runs_enter(void) {
  if (lock_must_not_wait(LOCK_RANK_RUNS)) return false;
  lock_acquire(&lock, LOCK_RANK_RUNS);
  drain_returned();
  return true;
}

static void runs_leave(void) { lock_release(&lock, LOCK_RANK_RUNS); }

static struct sampled_place make_live(struct run *run, size_t bytes, bool *zeroed) {
  *zeroed = run->clean;
  run->clean = false;
  run->bytes = bytes;
  run->block = (struct sampled_block){.bytes = 0};
  atomic_store_explicit(&run->live, 1, memory_order_relaxed);
  map_set(run->first, run);
  return runs_place_of(run);
}

static struct sampled_place allocate_runs(size_t bytes, size_t reserve, size_t alignment, bool *zeroed) {
  size_t pages = pages_for(reserve ? reserve : 1), aligned = pages_for(alignment);
  size_t wanted = aligned > 1 ? pages + aligned - 1 : pages;
  if (bytes > area_pages << RUNS_PAGE_SHIFT || wanted > area_pages || !runs_enter())
    return (struct sampled_place){0};
  struct run *run = runs_take(wanted);
  if (run && aligned > 1 && !align(run, aligned, pages)) {
    insert_free(run);
    run = NULL;
  }
  struct sampled_place place = {0};
  if (run) place = make_live(run, bytes, zeroed);
  runs_leave();
  return place;
}

/* Makes a live run `pages` pages long by the pages behind it, if enough of them are free or were
 * never used. The caller has the lock. */
static bool runs_extend(struct run *run, size_t pages) {
  size_t end = run->first + run->pages, more = pages - run->pages;
  struct run *after = free_after(end);
  if (after && after->pages >= more) {
    bool clean = after->clean;
    runs_bin_remove(after);
    map_set(after->first, NULL);
    map_set(after->first + after->pages - 1, NULL);
    after->first += more;
    after->pages -= more;
    run->pages = pages;
    if (after->pages)
      insert_free(after);
    else
      recycle(after);
    runs_note_taken(clean, more);
    return true;
  }
  if (end != top || more > area_pages - top || !runs_reach(top + more)) return false;
  top += more;
  run->pages = pages;
  return true;
}

/* Shortens a live run to `pages` pages, and frees the pages behind them. The caller has the
 * lock. */
static void shorten(struct run *run, size_t pages) {
  struct run *rest = run->pages > pages ? descriptor(run->first + pages, run->pages - pages, false) : NULL;
  if (!rest) return; /* harmless, as in cut */
  run->pages = pages;
  rest->clean = runs_drop(rest->first, rest->pages);
  insert_free(rest);
}

/* ---- shared ---- */

bool runs_create(uintptr_t base, size_t bytes) {
  area = base;
  area_pages = bytes >> RUNS_PAGE_SHIFT;
  map = metadata_reserve_addresses(area_pages * sizeof *map);
  return map != NULL;
}

struct sampled_place runs_allocate(size_t bytes, size_t alignment, bool *zeroed) {
  return allocate_runs(bytes, bytes, alignment, zeroed);
}

struct sampled_place runs_allocate_growing(size_t bytes) {
  const size_t most = (size_t)4 << 30;
  bool zeroed;
  if (bytes > area_pages << RUNS_PAGE_SHIFT) return (struct sampled_place){0};
  struct sampled_place place = allocate_runs(bytes, bytes + (bytes < most ? bytes : most), 1, &zeroed);
  /* If there is no room for the reserve, by the data limit for one, the block gets none. */
  return place.address ? place : allocate_runs(bytes, bytes, 1, &zeroed);
}

struct sampled_block *runs_find(const void *address) {
  if ((uintptr_t)address & (RUNS_PAGE - 1)) return NULL;
  struct run *run = map_get(runs_page_of(address));
  return run && run->first == runs_page_of(address) ? &run->block : NULL;
}

bool runs_resize(struct sampled_place place, size_t bytes) {
  struct run *run = runs_run_of(place);
  if (bytes > area_pages << RUNS_PAGE_SHIFT || bytes <= RUNS_PAGE || !runs_enter()) return false;
  size_t pages = pages_for(bytes);
  bool fits = pages <= run->pages || runs_extend(run, pages);
  if (fits && bytes < run->bytes / 2) shorten(run, pages);
  if (fits) run->bytes = bytes;
  runs_leave();
  return fits;
}

bool runs_is_live(struct sampled_place place) {
  return atomic_load_explicit(&runs_run_of(place)->live, memory_order_relaxed);
}

size_t runs_usable(struct sampled_place place) {
  const struct run *run = runs_run_of(place);
  return pages_for(run->bytes ? run->bytes : 1) << RUNS_PAGE_SHIFT;
}

bool runs_release(struct sampled_place place) {
  struct run *run = runs_run_of(place);
  if (!atomic_exchange_explicit(&run->live, 0, memory_order_relaxed)) return false;
  run->clean = runs_drop(run->first, run->pages);
  if (runs_enter()) {
    insert_free(run);
    runs_leave();
    return true;
  }
  struct run *head = atomic_load_explicit(&returned, memory_order_relaxed);
  do run->next = head;
  while (!atomic_compare_exchange_weak_explicit(&returned, &head, run, memory_order_release,
                                                memory_order_relaxed));
  return true;
}

void runs_give_back_idle(void) {
  if (!runs_enter()) return;
  if (runs_load(&kept) <= KEPT_LEAST && runs_load(&limit) == KEPT_LEAST) {
    taken = 0;
    runs_leave();
    return;
  }
  int saved = errno;
  size_t spare = idle > KEPT_LEAST ? idle - KEPT_LEAST : 0;
  size_t less = runs_load(&limit) > spare ? runs_load(&limit) - spare : 0;
  if (less > taken) less = taken;
  if (less < KEPT_LEAST) less = KEPT_LEAST;
  if (runs_load(&kept) > less + spare) spare = runs_load(&kept) - less;
  runs_store(&limit, less);
  runs_give_back(spare);
  idle = runs_load(&kept);
  taken = 0;
  errno = saved;
  runs_leave();
}

size_t runs_confine(void) {
  atomic_store_explicit(&confined, true, memory_order_relaxed);
  if (!runs_enter()) return 0;
  size_t pages = top < HEAP_USED_MOST ? top : HEAP_USED_MOST;
  runs_leave();
  return pages << RUNS_PAGE_SHIFT;
}

/* A signal handler may fork even if it interrupted the holder of the lock, or a thread that waits
 * for the lock. Parent and child then return to the interrupted code. */
void runs_before_fork(void) { lock_before_fork(&lock, LOCK_RANK_RUNS, &forks); }
void runs_after_fork(void) { lock_after_fork(&lock, LOCK_RANK_RUNS, &forks); }
/* SPDX-License-Identifier: MIT */
