/* Copying, and what becomes of everything that looked into minor heaps. */
#include "gc/minor.h"

#include "gc/custom.h"
#include "gc/debug.h"
#include "gc/finaliser.h"
#include "gc/futex.h"
#include "gc/gc_host.h"
#include "gc/helpers.h"
#include "gc/nursery.h"
#include "gc/safepoint.h"
#include <sched.h>
#include <string.h>

enum {
  /* Of a remembered set: what copiers share first, since what one slot leads to is rarely worth giving. */
  PIECE = TINY ? 8 : 128,
  SPINS = 200,
  LOOK_AROUND = TINY ? 1 : 16,
  AHEAD = 16,
  SHORT_LIST = TINY ? 3 : 64
};

/* Blocks that a copier scans before it gives any away: others have them farther from their processors, so that small gifts cost
 * more than they save. */
enum { GIVE_AFTER = TINY ? 2 : 1 << 12 };

struct copier {
  struct wn_heap *heap;
  struct minor_work *work;
  struct wn_domain *self; /* whose pools the copies go to */
  bool parallel;
  unsigned colour;
  unsigned asked;   /* the questions that it has seen */
  unsigned scanned; /* blocks, since it last gave some */
  wn_value grey;    /* originals whose copies are to be scanned, through their first fields; 0 at the end */
  bool owns[DOMAINS_MOST];
  size_t words[DOMAINS_MOST]; /* promoted, by the domain whose they were */
};

static struct copier copier_of(struct wn_heap *heap, struct wn_domain *self, bool parallel) {
  struct copier copier = {.heap = heap,
                          .work = heap->minor_work,
                          .self = self,
                          .parallel = parallel,
                          .colour = heap_live_colour(heap)};
  if (!parallel) memset(copier.owns, true, sizeof copier.owns);
  return copier;
}

/* The one that is waited for may need this very processor. */
static void rest(const struct wn_heap *heap, unsigned *spins) {
  if (world_may_spin(heap) && ++*spins % SPINS)
    spin_pause();
  else
    sched_yield();
}

/* ---- CLAIMS ---- */

static void share(struct copier *copier, unsigned index) {
  if (!copier->owns[index]) return;
  copier->owns[index] = false;
  atomic_store(&copier->work->of[index].claims, CLAIMS_SHARED);
}

static void share_all(struct copier *copier) {
  for (unsigned i = 0; i < copier->heap->domains_end; i++) share(copier, i);
}

static void answer(struct copier *copier) {
  unsigned asked = atomic_load_explicit(&copier->work->asked, memory_order_acquire);
  if (asked == copier->asked) return;
  copier->asked = asked;
  for (unsigned i = 0; i < copier->heap->domains_end; i++)
    if (atomic_load(&copier->work->of[i].asked_for)) share(copier, i);
}

static bool own(struct copier *copier, unsigned index) {
  int free = CLAIMS_FREE;
  return atomic_compare_exchange_strong(&copier->work->of[index].claims, &free, CLAIMS_OWNED);
}

static void ask(struct copier *copier, unsigned index) {
  struct minor_heap_work *of = &copier->work->of[index];
  unsigned spins = 0;
  int claims = CLAIMS_FREE;
  if (atomic_compare_exchange_strong(&of->claims, &claims, CLAIMS_SHARED) || claims == CLAIMS_SHARED) return;
  atomic_store(&of->asked_for, true);
  DEBUG_STEP(copier->heap);
  atomic_fetch_add(&copier->work->asked, 1);
  while (atomic_load(&of->claims) != CLAIMS_SHARED) {
    answer(copier);
    rest(copier->heap, &spins);
  }
}

/* ---- copying ---- */

static wn_value forwarded(const struct copier *copier, _Atomic(wn_value) *at, wn_value header) {
  unsigned spins = 0;
  while (header == CLAIMED) {
    rest(copier->heap, &spins);
    header = atomic_load_explicit(at, memory_order_acquire);
  }
  return header - FORWARD_BIT;
}

/* Claims a block of a minor heap that the copier does not own. False: another has it; `header` says where. */
static bool claim(struct copier *copier, wn_value original, wn_value *header) {
  unsigned index = heap_young_index(copier->heap, original);
  _Atomic(wn_value) *at = header_at(original);
  if (atomic_load_explicit(&copier->work->of[index].claims, memory_order_acquire) != CLAIMS_SHARED)
    ask(copier, index);
  *header = atomic_load_explicit(at, memory_order_acquire);
  return !(*header & FORWARD_BIT) && atomic_compare_exchange_strong_explicit(
                                         at, header, CLAIMED, memory_order_acq_rel, memory_order_acquire);
}

/* Another copier may store there what this one would. */
static inline wn_value field_peek(const wn_value *slot) {
  return atomic_load_explicit((_Atomic(wn_value) *)slot, memory_order_relaxed);
}

/* Its fields, scanned ones: to[1] ... Returns the last that is young, NULL if none is; `more`: others are, too. */
static inline wn_value *copy_fields(const struct wn_heap *heap, wn_value *to, const wn_value *from,
                                    size_t extent, bool *more) {
  uintptr_t base = heap->young_base, span = heap->young_span;
  wn_value *last = NULL;
  for (size_t i = 1; i < extent; i++) {
    wn_value value = from[i - 1];
    to[i] = value;
    if (value & 1 || value - base >= span) continue;
    if (last) *more = true;
    last = &to[i];
  }
  return last;
}

static inline void copy_bytes(wn_value *to, const wn_value *from, size_t extent) {
  for (size_t i = 1; i < extent; i++) to[i] = from[i - 1];
}

/* Where the block is now. `next`: the young field of its copy to go on with, NULL if there is none; if there are others, the block
 * becomes grey. */
static inline wn_value copy(struct copier *copier, wn_value original, wn_value **next) {
  _Atomic(wn_value) *at = header_at(original);
  wn_value header = atomic_load_explicit(at, memory_order_acquire);
  *next = NULL;
  if (header & FORWARD_BIT) return forwarded(copier, at, header);
  unsigned index = heap_young_index(copier->heap, original);
  if (!copier->owns[index] && !claim(copier, original, &header)) return forwarded(copier, at, header);
  size_t extent = header_extent(header);
  wn_value *to = pools_take(copier->heap, copier->self->runs, extent, true);
  ASSERT(to); /* RESERVE of chunk.h */
  *to = header | copier->colour;
  bool more = false;
  if (header_is_scanned(header))
    *next = copy_fields(copier->heap, to, (const wn_value *)original, extent, &more);
  else
    copy_bytes(to, (const wn_value *)original, extent);
  copier->words[index] += extent;
  wn_value moved = (wn_value)(to + 1);
  atomic_store_explicit(at, moved | FORWARD_BIT, memory_order_release);
  if (more) {
    *(wn_value *)original = copier->grey;
    copier->grey = original;
  }
  return moved;
}

static void look_around(struct copier *copier);

/* Copies what a slot leads to through one young field after the other. The field that comes next may belong to a grey block,
 * which looking around gives away: who scans that copies the same block, or finds it copied, and stores the same. So its value
 * is taken before. */
static void follow(struct copier *copier, wn_value *slot, wn_value value) {
  for (;;) {
    wn_value *next;
    field_store(slot, copy(copier, value, &next)); /* helpers may read there */
    if (!next) return;
    slot = next;
    value = *slot;
    if (copier->parallel && ++copier->scanned % LOOK_AROUND == 0) look_around(copier);
  }
}

static inline void move(struct copier *copier, wn_value *slot) {
  wn_value value = field_peek(slot);
  if (heap_is_young(copier->heap, value)) follow(copier, slot, value);
}

/* Where the list of what is to be given begins: the oldest block of a short list, which leads to about half of what is left in a
 * tree, or the older half of a long one. */
static wn_value *link_to_oldest(wn_value grey) {
  wn_value *middle = (wn_value *)grey, *last = middle;
  size_t length = 1;
  for (wn_value *next; *last && (next = (wn_value *)*last) && *next; last = next)
    if (++length % 2 == 0) middle = (wn_value *)*middle;
  return length < SHORT_LIST ? last : middle;
}

/* Gives the older part of the list to whoever is idle. */
static void give(struct copier *copier) {
  if (!copier->grey) return;
  wn_value *link = link_to_oldest(copier->grey), none = 0;
  if (!*link) return;
  share_all(copier);
  DEBUG_STEP(copier->heap);
  if (atomic_compare_exchange_strong(&copier->work->gift, &none, *link)) *link = 0;
  copier->scanned = 0;
}

static void look_around(struct copier *copier) {
  struct minor_work *work = copier->work;
  answer(copier);
  if (copier->scanned >= GIVE_AFTER && atomic_load_explicit(&work->idle, memory_order_relaxed) &&
      !atomic_load_explicit(&work->gift, memory_order_relaxed))
    give(copier);
}

static void scan_grey(struct copier *copier) {
  while (copier->grey) {
    if (copier->parallel && ++copier->scanned % LOOK_AROUND == 0) look_around(copier);
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
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    pools_flush(heap, domain->runs);
  pools_each(heap, scan_old_pool, copier);
  medium_each(heap, scan_old_block, scan_old_large, copier);
  roots_each_global(heap, visit_root, copier);
}

static void scan_remembered(struct copier *copier, struct wn_domain *domain) {
  struct minor_work *work = copier->work;
  size_t count = (size_t)(domain->remembered.at - domain->remembered.begin);
  for (;;) {
    size_t from = atomic_fetch_add_explicit(&work->of[domain->index].next_piece, PIECE, memory_order_relaxed);
    if (from >= count) return;
    size_t to = count - from > PIECE ? from + PIECE : count;
    wn_value **slots = domain->remembered.begin;
    for (size_t i = from; i < to; i++) {
      /* The fields lie all over the heap, and young blocks that are older than the caches remember are behind them. */
      if (i + AHEAD < count) __builtin_prefetch(slots[i + AHEAD], 1);
      if (i + AHEAD / 2 < count) __builtin_prefetch((wn_value *)field_peek(slots[i + AHEAD / 2]) - 1, 1);
      move(copier, slots[i]);
      scan_grey(copier); /* at once, so that what is reached together lies together */
    }
  }
}

static void scan_domain(struct copier *copier, struct wn_domain *domain) {
  _Atomic(bool) *taken = &copier->work->of[domain->index].roots_taken;
  if (atomic_load_explicit(taken, memory_order_relaxed) || atomic_exchange(taken, true)) return;
  DEBUG_STEP(copier->heap);
  if (own(copier, domain->index)) copier->owns[domain->index] = true;
  roots_each(domain, visit_root, copier);
  finalisers_each_young_root(domain, visit_root, copier);
  scan_grey(copier);
}

/* What a domain made is best copied by itself: its processor has it, and will have the copies. So everybody begins with his own. */
static void scan_roots(struct copier *copier) {
  struct wn_heap *heap = copier->heap;
  scan_domain(copier, copier->self);
  scan_remembered(copier, copier->self);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    scan_domain(copier, domain);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    scan_remembered(copier, domain);
}

/* ---- ending ---- */

static bool take_gift(struct copier *copier) {
  struct minor_work *work = copier->work;
  wn_value gift = atomic_load_explicit(&work->gift, memory_order_relaxed);
  if (!gift || gift == NO_GIFTS) return false;
  atomic_fetch_sub(&work->idle, 1); /* before it takes */
  DEBUG_STEP(copier->heap);
  bool taken = atomic_compare_exchange_strong(&work->gift, &gift, 0);
  if (taken)
    copier->grey = gift;
  else
    atomic_fetch_add(&work->idle, 1);
  return taken;
}

/* Works until the leader has closed the collection. */
static void follow_leader(struct copier *copier) {
  struct minor_work *work = copier->work;
  unsigned spins = 0;
  share_all(copier);
  atomic_fetch_add(&work->idle, 1);
  while (atomic_load(&work->open)) {
    if (take_gift(copier)) {
      scan_grey(copier);
      atomic_fetch_add(&work->idle, 1);
      spins = 0;
    } else {
      rest(copier->heap, &spins);
    }
  }
  atomic_fetch_sub(&work->idle, 1);
}

static bool is_over(struct minor_work *work) {
  wn_value none = 0;
  if (atomic_load(&work->idle) != atomic_load(&work->active)) return false;
  if (!atomic_compare_exchange_strong(&work->gift, &none, NO_GIFTS)) return false;
  if (atomic_load(&work->idle) == atomic_load(&work->active)) return true;
  atomic_store(&work->gift, 0);
  return false;
}

/* Works until everybody is idle, and closes the collection. A copier that joins in the meantime finds no roots left. */
static void lead(struct copier *copier) {
  struct minor_work *work = copier->work;
  unsigned spins = 0;
  share_all(copier);
  atomic_fetch_add(&work->idle, 1);
  for (;;) {
    if (take_gift(copier)) {
      scan_grey(copier);
      atomic_fetch_add(&work->idle, 1);
      spins = 0;
    } else if (is_over(work)) {
      break;
    } else {
      rest(copier->heap, &spins);
    }
  }
  atomic_store(&work->open, false);
  DEBUG_STEP(copier->heap);
  world_end_help(copier->heap);
  for (spins = 0; atomic_load(&work->active) > 1;) rest(copier->heap, &spins);
}

static void count_copied(const struct copier *copier) {
  for (unsigned i = 0; i < copier->heap->domains_end; i++)
    if (copier->words[i])
      atomic_fetch_add_explicit(&copier->heap->domains[i]->copied_words, copier->words[i],
                                memory_order_relaxed);
}

/* ---- what is left of a minor heap ---- */

static void empty(struct wn_domain *domain) {
  customs_after_minor(domain);
  size_t used = domain_young_used(domain);
  domain->minor_words += (double)used;
  domain->heap->young_used += used;
  domain_begin_young(domain, domain->young_end);
  remembered_clear(&domain->remembered);
  if (CHECKS && used) memset(domain->young_end - used * 8, STALE, used * 8);
  if (CHECKS && heap_collects_by_stress(domain->heap)) nursery_move(domain, used);
}

/* Worth waking others for: there are some, and many words. */
static bool is_parallel(const struct wn_heap *heap) {
  size_t used = 0;
  if (atomic_load_explicit(&heap->awake, memory_order_relaxed) < 2) return false;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    used += domain_young_used(domain);
  return used > (TINY ? 0 : 1 << 13);
}

static void begin(struct wn_heap *heap, bool parallel) {
  struct minor_work *work = heap->minor_work;
  for (unsigned i = 0; i < heap->domains_end; i++) {
    struct minor_heap_work *of = &work->of[i];
    atomic_store_explicit(&of->claims, CLAIMS_FREE, memory_order_relaxed);
    atomic_store_explicit(&of->asked_for, false, memory_order_relaxed);
    atomic_store_explicit(&of->roots_taken, false, memory_order_relaxed);
    atomic_store_explicit(&of->next_piece, 0, memory_order_relaxed);
  }
  atomic_store(&work->idle, 0);
  atomic_store(&work->asked, 0);
  atomic_store(&work->gift, 0);
  atomic_fetch_add(&work->active, 1); /* one who came too late for the last collection may be counted, too */
  if (!parallel) return;
  atomic_store(&work->open, true);
  world_ask_for_help(heap);
}

static bool needs_everything(const struct wn_heap *heap) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (domain->remembered.all) return true;
  return false;
}

/* ---- shared ---- */

void minor_collect(struct wn_heap *heap, struct wn_domain *leader) {
  bool all = needs_everything(heap), parallel = !all && is_parallel(heap);
  struct copier copier = copier_of(heap, leader, parallel);
  begin(heap, parallel);
  if (all) { /* helpers would sweep the pools that are walked, and give them away */
    helpers_pause(heap);
    scan_everything(&copier);
    helpers_resume(heap);
  }
  scan_roots(&copier);
  scan_grey(&copier);
  if (parallel) lead(&copier);
  atomic_fetch_sub(&heap->minor_work->active, 1);
  finalisers_after_minor(heap, leader);
  host_after_minor(heap);
  count_copied(&copier);
  heap->young_used = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) empty(domain);
}

void minor_help(struct wn_heap *heap, struct wn_domain *domain) {
  struct minor_work *work = heap->minor_work;
  if (!atomic_load(&work->open)) return;
  atomic_fetch_add(&work->active, 1);
  DEBUG_STEP(heap);
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
