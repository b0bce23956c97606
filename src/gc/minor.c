/* Copying, and what becomes of everything that looked into minor heaps. */
#include "gc/minor.h"

#include "gc/custom.h"
#include "gc/finaliser.h"
#include "gc/futex.h"
#include "gc/nursery.h"
#include "gc/safepoint.h"
#include <sched.h>
#include <string.h>

enum { PIECE = TINY ? 8 : 2048, SPINS = 200 };

struct copier {
  struct wn_heap *heap;
  struct wn_domain *self; /* whose pools the copies go to */
  bool parallel;
  unsigned colour;
  unsigned slot_shift;
  size_t words[DOMAINS_MOST]; /* promoted, by the domain whose they were */
  wn_value grey; /* originals whose copies are to be scanned, through their first fields; 0 at the end */
};

static struct copier copier_of(struct wn_heap *heap, struct wn_domain *self, bool parallel) {
  return (struct copier){.heap = heap,
                         .self = self,
                         .parallel = parallel,
                         .colour = heap_live_colour(heap),
                         .slot_shift = (unsigned)__builtin_ctzl(heap->young_slot_bytes)};
}

/* ---- copying ---- */

static wn_value forwarded(_Atomic(wn_value) *at, wn_value header) {
  while (header == CLAIMED) {
    spin_pause();
    header = atomic_load_explicit(at, memory_order_acquire);
  }
  return header - FORWARD_BIT;
}

/* Gives a block that others may scan to whoever is idle. */
static void push_gift(struct minor_work *work, wn_value original) {
  wn_value next = atomic_load_explicit(&work->gift, memory_order_relaxed);
  do *(wn_value *)original = next;
  while (!atomic_compare_exchange_weak_explicit(&work->gift, &next, original, memory_order_seq_cst,
                                                memory_order_relaxed));
}

static void push_grey(struct copier *copier, wn_value original) {
  struct minor_work *work = copier->heap->minor_work;
  if (copier->parallel && copier->grey && atomic_load_explicit(&work->idle, memory_order_relaxed) &&
      !atomic_load_explicit(&work->gift, memory_order_relaxed)) {
    push_gift(work, original);
    return;
  }
  *(wn_value *)original = copier->grey;
  copier->grey = original;
}

static wn_value copy(struct copier *copier, wn_value original) {
  _Atomic(wn_value) *at = header_at(original);
  wn_value header = atomic_load_explicit(at, memory_order_acquire);
  if (header & FORWARD_BIT) return forwarded(at, header);
  if (copier->parallel && !atomic_compare_exchange_strong_explicit(at, &header, CLAIMED, memory_order_acq_rel,
                                                                   memory_order_acquire))
    return forwarded(at, header);
  size_t extent = header_extent(header);
  wn_value *to = pools_take(copier->heap, copier->self->runs, extent, true);
  ASSERT(to); /* RESERVE of chunk.h */
  *to = header | copier->colour;
  const wn_value *from = (const wn_value *)original;
  for (size_t i = 1; i < extent; i++) to[i] = from[i - 1];
  copier->words[(original - copier->heap->young_base) >> copier->slot_shift] += extent;
  wn_value moved = (wn_value)(to + 1);
  atomic_store_explicit(at, moved | FORWARD_BIT, memory_order_release);
  if (header_is_scanned(header) && extent > 1) push_grey(copier, original);
  return moved;
}

static inline void move(struct copier *copier, wn_value *slot) {
  wn_value value = atomic_load_explicit((_Atomic(wn_value) *)slot, memory_order_relaxed);
  if (heap_is_young(copier->heap, value)) field_store(slot, copy(copier, value)); /* helpers may read there */
}

static void scan_grey(struct copier *copier) {
  while (copier->grey) {
    wn_value original = copier->grey;
    copier->grey = *(wn_value *)original;
    wn_value *fields = (wn_value *)(header_of(original) - FORWARD_BIT);
    size_t words = header_words(fields[-1]);
    for (size_t i = 0; i < words; i++) move(copier, &fields[i]);
  }
}

/* ---- roots ---- */

static void visit_root(void *visitor, wn_value *slot) { move(visitor, slot); }

/* ALL of remembered.h: each field of each old block. There is one copier then. */
static void scan_old_block(wn_value *at, void *context) {
  struct copier *copier = context;
  wn_value header = *at;
  if (header_colour(header) == COLOUR_FREE || !header_is_scanned(header)) return;
  /* What is not swept yet may be dead, and hold anything. */
  if (heap_phase(copier->heap) == PHASE_SWEEP && header_colour(header) != copier->colour) return;
  for (size_t i = 1; i <= header_words(header); i++) move(copier, at + i);
}

static void scan_old_large(struct large *large, void *context) { scan_old_block(&large->header, context); }

/* Copies may go into this very pool: what is left of the copier's run has no header. */
static void scan_old_pool(struct pool *pool, void *context) {
  struct copier *copier = context;
  const struct pool_run *run = &copier->self->runs[pool->class];
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    if (at == run->at && at < run->end) {
      at = run->end;
      continue;
    }
    bool free = header_colour(*at) == COLOUR_FREE;
    if (!free) scan_old_block(at, copier);
    at += free ? header_extent(*at) : class_words[pool->class];
  }
}

static void scan_everything(struct copier *copier) {
  struct wn_heap *heap = copier->heap;
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i]) pools_flush(heap, heap->domains[i]->runs);
  pools_each(heap, scan_old_pool, copier);
  medium_each(heap, scan_old_block, scan_old_large, copier);
  roots_each_global(heap, visit_root, copier);
}

static void scan_remembered(struct copier *copier, struct wn_domain *domain) {
  struct minor_work *work = copier->heap->minor_work;
  size_t count = (size_t)(domain->remembered.at - domain->remembered.begin);
  for (;;) {
    size_t from = atomic_fetch_add_explicit(&work->next_piece[domain->index], PIECE, memory_order_relaxed);
    if (from >= count) return;
    size_t to = count - from > PIECE ? from + PIECE : count;
    for (size_t i = from; i < to; i++) move(copier, domain->remembered.begin[i]);
    scan_grey(copier);
  }
}

static void scan_roots(struct copier *copier) {
  struct wn_heap *heap = copier->heap;
  unsigned i;
  while ((i = atomic_fetch_add_explicit(&heap->minor_work->next_domain, 1, memory_order_relaxed)) <
         DOMAINS_MOST) {
    struct wn_domain *domain = heap->domains[i];
    if (!domain) continue;
    roots_each(domain, visit_root, copier);
    finalisers_each_young_root(domain, visit_root, copier);
    scan_grey(copier);
  }
  for (i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i]) scan_remembered(copier, heap->domains[i]);
}

/* ---- ending ---- */

static bool take_gift(struct copier *copier) {
  struct minor_work *work = copier->heap->minor_work;
  if (!atomic_load_explicit(&work->gift, memory_order_relaxed)) return false;
  atomic_fetch_sub(&work->idle, 1); /* before it takes */
  copier->grey = atomic_exchange(&work->gift, 0);
  if (copier->grey) return true;
  atomic_fetch_add(&work->idle, 1);
  return false;
}

static void rest(unsigned *spins) {
  if (++*spins % SPINS)
    spin_pause();
  else
    sched_yield();
}

/* Works until the leader has closed the collection. */
static void follow_leader(struct copier *copier) {
  struct minor_work *work = copier->heap->minor_work;
  unsigned spins = 0;
  atomic_fetch_add(&work->idle, 1);
  while (atomic_load(&work->open)) {
    if (take_gift(copier)) {
      scan_grey(copier);
      atomic_fetch_add(&work->idle, 1);
      spins = 0;
    } else {
      rest(&spins);
    }
  }
  atomic_fetch_sub(&work->idle, 1);
}

/* Works until everybody is idle, and closes the collection. A copier that joins in the meantime finds no roots left. */
static void lead(struct copier *copier) {
  struct minor_work *work = copier->heap->minor_work;
  unsigned spins = 0;
  atomic_fetch_add(&work->idle, 1);
  for (;;) {
    if (take_gift(copier)) {
      scan_grey(copier);
      atomic_fetch_add(&work->idle, 1);
      spins = 0;
    } else if (atomic_load(&work->idle) == atomic_load(&work->active) && !atomic_load(&work->gift)) {
      break;
    } else {
      rest(&spins);
    }
  }
  atomic_store(&work->open, false);
  for (spins = 0; atomic_load(&work->active) > 1;) rest(&spins);
}

static void count_copied(const struct copier *copier) {
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (copier->words[i])
      atomic_fetch_add_explicit(&copier->heap->domains[i]->copied_words, copier->words[i],
                                memory_order_relaxed);
}

/* ---- what is left of a minor heap ---- */

static void empty(struct wn_domain *domain) {
  customs_after_minor(domain);
  size_t used = domain_young_used(domain);
  domain->minor_words += (double)used;
  domain->face.young_ptr = domain->young_end;
  remembered_clear(&domain->remembered);
  if (CHECKS && used) memset(domain->young_end - used * 8, STALE, used * 8);
  if (!CHECKS || !domain->heap->stress.every) return;
  domain->stale = domain->young_end - used * 8;
  domain->stale_end = domain->young_end;
  nursery_move(domain);
}

/* Worth waking others for: many words, in more than one place. */
static bool is_parallel(const struct wn_heap *heap) {
  size_t used = 0;
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i]) used += domain_young_used(heap->domains[i]);
  return heap->domain_count > 1 && used > (TINY ? 0 : 1 << 13);
}

static void begin(struct wn_heap *heap, bool parallel) {
  struct minor_work *work = heap->minor_work;
  atomic_store_explicit(&work->next_domain, 0, memory_order_relaxed);
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    atomic_store_explicit(&work->next_piece[i], 0, memory_order_relaxed);
  atomic_store(&work->idle, 0);
  atomic_fetch_add(&work->active, 1); /* one who came too late for the last collection may be counted, too */
  if (parallel) atomic_store(&work->open, true);
}

static bool needs_everything(const struct wn_heap *heap) {
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i] && heap->domains[i]->remembered.all) return true;
  return false;
}

/* ---- shared ---- */

void minor_collect(struct wn_heap *heap, struct wn_domain *leader) {
  bool all = needs_everything(heap), parallel = !all && is_parallel(heap);
  struct copier copier = copier_of(heap, leader, parallel);
  begin(heap, parallel);
  if (all) scan_everything(&copier);
  scan_roots(&copier);
  scan_grey(&copier);
  if (parallel) lead(&copier);
  atomic_fetch_sub(&heap->minor_work->active, 1);
  finalisers_after_minor(heap, leader);
  count_copied(&copier);
  for (unsigned i = 0; i < DOMAINS_MOST; i++)
    if (heap->domains[i]) empty(heap->domains[i]);
}

void minor_help(struct wn_heap *heap, struct wn_domain *domain) {
  struct minor_work *work = heap->minor_work;
  if (!atomic_load(&work->open)) return;
  atomic_fetch_add(&work->active, 1);
  stress_delay(domain);
  if (atomic_load(&work->open)) {
    struct copier copier = copier_of(heap, domain, true);
    scan_roots(&copier);
    scan_grey(&copier);
    follow_leader(&copier);
    count_copied(&copier);
  }
  atomic_fetch_sub(&work->active, 1);
}
/* SPDX-License-Identifier: MIT */
