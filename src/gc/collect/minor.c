/* Evacuating minor heaps, and emptying them. */
#include "gc/collect/minor.h"

#include "gc/collect/collector.h"
#include "gc/collect/customs.h"
#include "gc/collect/nursery.h"
#include "gc/domains/debug.h"
#include "gc/domains/futex.h"
#include "gc/domains/host.h"
#include "gc/domains/roots.h"
#include "gc/domains/safepoint.h"
#include <sched.h>
#include <string.h>

enum {
  /* Slots of a piece of a remembered set. Workers share these pieces, since the blocks that one
   * slot leads to are rarely worth a packet. */
  PIECE = TINY ? 8 : 128,
  SPINS = 200,
  SERVE_INTERVAL = TINY ? 1 : 16,
  AHEAD = 16,
  SHORT_LIST = TINY ? 3 : 64
};

/* Blocks that a worker scans before it makes a packet. The blocks are in the caches of its own
 * processor, so small packets cost more than they save. */
enum { PACKET_AFTER = TINY ? 2 : 1 << 12 };

struct gc_worker {
  struct wn_heap *heap;
  struct minor_work *work;
  struct wn_domain *self; /* the copies go to its pools */
  bool parallel;
  unsigned colour;
  unsigned seen_requests; /* `share_requests` when it last looked */
  unsigned scanned;       /* blocks, since its last packet */
  wn_value grey;          /* a list of originals whose copies are to be scanned; 0 ends it */
  bool owns[DOMAINS_MOST];
  size_t words[DOMAINS_MOST]; /* promoted, by the domain that had the block */
};

static struct gc_worker worker_of(struct wn_heap *heap, struct wn_domain *self, bool parallel) {
  struct gc_worker worker = {.heap = heap,
                             .work = &heap->collector->minor,
                             .self = self,
                             .parallel = parallel,
                             .colour = heap_live_colour(heap)};
  if (!parallel) memset(worker.owns, true, sizeof worker.owns);
  return worker;
}

/* Spins, or yields, since the awaited thread may need this very processor. */
static void wait_a_moment(const struct wn_heap *heap, unsigned *spins) {
  if (world_may_spin(heap) && ++*spins % SPINS)
    spin_pause();
  else
    sched_yield();
}

/* ---- OWNERSHIP ---- */

static void share_minor(struct gc_worker *worker, unsigned index) {
  if (!worker->owns[index]) return;
  worker->owns[index] = false;
  atomic_store(&worker->work->of[index].ownership, SHARED_BY_ALL);
}

static void share_all(struct gc_worker *worker) {
  for (unsigned i = 0; i < worker->heap->domains_end; i++) share_minor(worker, i);
}

static void answer_requests(struct gc_worker *worker) {
  unsigned requests = atomic_load_explicit(&worker->work->share_requests, memory_order_acquire);
  if (requests == worker->seen_requests) return;
  worker->seen_requests = requests;
  for (unsigned i = 0; i < worker->heap->domains_end; i++)
    if (atomic_load(&worker->work->of[i].share_requested)) share_minor(worker, i);
}

static bool minor_own(struct gc_worker *worker, unsigned index) {
  int none = OWNED_BY_NONE;
  return atomic_compare_exchange_strong(&worker->work->of[index].ownership, &none, OWNED_BY_ONE);
}

static void request_share(struct gc_worker *worker, unsigned index) {
  struct minor_heap_work *of = &worker->work->of[index];
  unsigned spins = 0;
  int ownership = OWNED_BY_NONE;
  if (atomic_compare_exchange_strong(&of->ownership, &ownership, SHARED_BY_ALL) || ownership == SHARED_BY_ALL)
    return;
  atomic_store(&of->share_requested, true);
  DEBUG_STEP(worker->heap);
  atomic_fetch_add(&worker->work->share_requests, 1);
  while (atomic_load(&of->ownership) != SHARED_BY_ALL) {
    answer_requests(worker);
    wait_a_moment(worker->heap, &spins);
  }
}

/* ---- copying ---- */

static wn_value forwarded(const struct gc_worker *worker, _Atomic(wn_value) *at, wn_value header) {
  unsigned spins = 0;
  while (header == CLAIMED) {
    wait_a_moment(worker->heap, &spins);
    header = atomic_load_explicit(at, memory_order_acquire);
  }
  return header - FORWARD_BIT;
}

/* Claims a block of a minor heap that the worker does not own. False: another worker has claimed
 * it, and `header` leads to its copy. */
static bool minor_claim(struct gc_worker *worker, wn_value original, wn_value *header) {
  unsigned index = heap_young_index(worker->heap, original);
  _Atomic(wn_value) *at = header_at(original);
  if (atomic_load_explicit(&worker->work->of[index].ownership, memory_order_acquire) != SHARED_BY_ALL)
    request_share(worker, index);
  *header = atomic_load_explicit(at, memory_order_acquire);
  return !(*header & FORWARD_BIT) && atomic_compare_exchange_strong_explicit(
                                         at, header, CLAIMED, memory_order_acq_rel, memory_order_acquire);
}

/* Atomic, since another worker may store the same new address there. */
static inline wn_value field_peek(const wn_value *slot) {
  return atomic_load_explicit((_Atomic(wn_value) *)slot, memory_order_relaxed);
}

/* Copies the scanned words of a block to to[1] and on. Returns the last young field, NULL if none
 * is young. `*more` becomes true if other fields are young, too. */
static inline wn_value *copy_fields(const struct wn_heap *heap, wn_value *to, const wn_value *from,
                                    size_t scanned, bool *more) {
  uintptr_t base = heap->young_base, span = heap->young_span;
  wn_value *last = NULL;
  for (size_t i = 1; i <= scanned; i++) {
    wn_value value = from[i - 1];
    to[i] = value;
    if (value & 1 || value - base >= span) continue;
    if (last) *more = true;
    last = &to[i];
  }
  return last;
}

static inline void copy_bytes(wn_value *to, const wn_value *from, size_t scanned, size_t extent) {
  for (size_t i = scanned + 1; i < extent; i++) to[i] = from[i - 1];
}

/* A block of tag WN_TAG_MIXED or above, up to WN_TAG_SCANNED_MAX. Apart, so that others pay nothing. */
static __attribute__((noinline)) wn_value *copy_rare(const struct wn_heap *heap, wn_value *to,
                                                     const wn_value *from, wn_value header, bool *more) {
  size_t scanned = block_scanned(header, from);
  copy_bytes(to, from, scanned, header_extent(header));
  return copy_fields(heap, to, from, scanned, more);
}

/* Copies the block, unless it was copied already. Returns its new address. `*next` becomes the last
 * young field of the copy, which the caller follows; NULL if there is none. If the copy has other
 * young fields, the block becomes grey. */
static inline wn_value minor_copy(struct gc_worker *worker, wn_value original, wn_value **next) {
  _Atomic(wn_value) *at = header_at(original);
  wn_value header = atomic_load_explicit(at, memory_order_acquire);
  *next = NULL;
  if (header & FORWARD_BIT) return forwarded(worker, at, header);
  unsigned index = heap_young_index(worker->heap, original);
  if (!worker->owns[index] && !minor_claim(worker, original, &header)) return forwarded(worker, at, header);
  size_t extent = header_extent(header);
  wn_value *to = pools_take(&worker->heap->store, worker->self->runs, extent, true);
  ASSERT(to); /* RESERVE of chunk.h */
  *to = header | worker->colour;
  bool more = false;
  if (header_tag(header) < WN_TAG_MIXED)
    *next = copy_fields(worker->heap, to, (const wn_value *)original, extent - 1, &more);
  else if (header_is_scanned(header))
    *next = copy_rare(worker->heap, to, (const wn_value *)original, header, &more);
  else
    copy_bytes(to, (const wn_value *)original, 0, extent);
  worker->words[index] += extent;
  wn_value moved = (wn_value)(to + 1);
  atomic_store_explicit(at, moved | FORWARD_BIT, memory_order_release);
  if (more) {
    *(wn_value *)original = worker->grey;
    worker->grey = original;
  }
  return moved;
}

static void serve_others(struct gc_worker *worker);

/* Copies the block that a slot leads to, then the block that this copy's last young field leads to,
 * and so on. The next field may belong to a grey block that serve_others puts into a packet. The
 * worker that scans that block copies the same child, or finds it copied, and stores the same
 * address. So the field is read before serve_others. */
static void minor_follow(struct gc_worker *worker, wn_value *slot, wn_value value) {
  for (;;) {
    wn_value *next;
    field_store(slot, minor_copy(worker, value, &next)); /* helper threads may read there */
    if (!next) return;
    slot = next;
    value = *slot;
    if (worker->parallel && ++worker->scanned % SERVE_INTERVAL == 0) serve_others(worker);
  }
}

static inline void minor_move(struct gc_worker *worker, wn_value *slot) {
  wn_value value = field_peek(slot);
  if (heap_is_young(worker->heap, value)) minor_follow(worker, slot, value);
}

/* The link to the part of a grey list that becomes a packet. Of a short list that is the oldest
 * block, which leads to about half of what is left of a tree; of a long list the older half. */
static wn_value *link_to_oldest(wn_value grey) {
  wn_value *middle = (wn_value *)grey, *last = middle;
  size_t length = 1;
  for (wn_value *next; *last && (next = (wn_value *)*last) && *next; last = next)
    if (++length % 2 == 0) middle = (wn_value *)*middle;
  return length < SHORT_LIST ? last : middle;
}

/* Makes the older part of the grey list a packet. */
static void make_packet(struct gc_worker *worker) {
  if (!worker->grey) return;
  wn_value *link = link_to_oldest(worker->grey), none = 0;
  if (!*link) return;
  share_all(worker);
  DEBUG_STEP(worker->heap);
  if (atomic_compare_exchange_strong(&worker->work->packet, &none, *link)) *link = 0;
  worker->scanned = 0;
}

static void serve_others(struct gc_worker *worker) {
  struct minor_work *work = worker->work;
  answer_requests(worker);
  if (worker->scanned >= PACKET_AFTER && atomic_load_explicit(&work->idle, memory_order_relaxed) &&
      !atomic_load_explicit(&work->packet, memory_order_relaxed))
    make_packet(worker);
}

static void scan_grey(struct gc_worker *worker) {
  while (worker->grey) {
    if (worker->parallel && ++worker->scanned % SERVE_INTERVAL == 0) serve_others(worker);
    wn_value original = worker->grey;
    worker->grey = *(wn_value *)original;
    wn_value *fields = (wn_value *)(header_of(original) - FORWARD_BIT);
    size_t words = block_scanned(fields[-1], fields);
    for (size_t i = 0; i < words; i++) minor_move(worker, &fields[i]);
  }
}

/* ---- roots ---- */

static void minor_visit_root(void *visitor, wn_value *slot) { minor_move(visitor, slot); }

/* ALL of remembered.h: each field of each old block. There is one worker then. */
static void scan_old_block(wn_value *at, void *context) {
  struct gc_worker *worker = context;
  wn_value header = *at;
  if (header_colour(header) == COLOUR_FREE) return;
  /* A block that is not swept yet may be dead, and its fields hold anything. */
  if (major_knows_dead(worker->heap, header)) return;
  for (size_t i = 1; i <= block_scanned(header, at + 1); i++) minor_move(worker, at + i);
}

static void scan_old_large(struct large *large, void *context) { scan_old_block(&large->header, context); }

/* Copies may go into this very pool, and the rest of the worker's run has no header: the walk
 * passes over that rest. */
static void scan_old_pool(struct pool *pool, void *context) {
  struct gc_worker *worker = context;
  const struct pool_run *run = &worker->self->runs[pool->class];
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    if (at == run->at && at < run->end) {
      at = run->end;
      continue;
    }
    bool free = header_colour(*at) == COLOUR_FREE;
    if (!free) scan_old_block(at, worker);
    at += free ? header_extent(*at) : class_words[pool->class];
  }
}

static void scan_everything(struct gc_worker *worker) {
  struct wn_heap *heap = worker->heap;
  domains_flush_pools(heap);
  pools_each(&heap->store, scan_old_pool, worker);
  medium_each(&heap->store, scan_old_block, scan_old_large, worker);
  globals_each(heap, minor_visit_root, worker);
  weak_each_data(heap, minor_visit_root, worker);
}

static __attribute__((noinline)) void scan_whole(struct gc_worker *worker, wn_value *fields) {
  for (size_t i = 0, words = block_scanned(fields[-1], fields); i < words; i++) {
    minor_move(worker, &fields[i]);
    scan_grey(worker);
  }
}

static inline void scan_entry(struct gc_worker *worker, wn_value *entry) {
  if (__builtin_expect(remembered_is_block(entry), 0)) {
    scan_whole(worker, remembered_fields(entry));
    return;
  }
  minor_move(worker, entry);
  scan_grey(worker); /* at once, so that blocks which are reached together lie together */
}

static void scan_remembered(struct gc_worker *worker, struct wn_domain *domain) {
  struct minor_work *work = worker->work;
  size_t count = (size_t)(domain->remembered.at - domain->remembered.begin);
  for (;;) {
    size_t from = atomic_fetch_add_explicit(&work->of[domain->index].next_piece, PIECE, memory_order_relaxed);
    if (from >= count) return;
    size_t to = count - from > PIECE ? from + PIECE : count;
    wn_value **slots = domain->remembered.begin;
    for (size_t i = from; i < to; i++) {
      /* The fields are all over the heap, and the young blocks that they lead to may not be in a
       * cache. */
      if (i + AHEAD < count) __builtin_prefetch(slots[i + AHEAD], 1);
      if (i + AHEAD / 2 < count)
        __builtin_prefetch((wn_value *)field_peek(remembered_fields(slots[i + AHEAD / 2])) - 1, 1);
      scan_entry(worker, slots[i]);
    }
  }
}

static void scan_domain(struct gc_worker *worker, struct wn_domain *domain) {
  _Atomic(bool) *taken = &worker->work->of[domain->index].roots_taken;
  if (atomic_load_explicit(taken, memory_order_relaxed) || atomic_exchange(taken, true)) return;
  DEBUG_STEP(worker->heap);
  if (minor_own(worker, domain->index)) worker->owns[domain->index] = true;
  roots_each(domain, minor_visit_root, worker);
  finalisers_each_young_root(domain, minor_visit_root, worker);
  scan_grey(worker);
}

/* A domain's blocks are best copied by its own thread: they are in the caches of its processor,
 * which will use the copies. So each worker begins with its own domain. */
static void scan_roots(struct gc_worker *worker) {
  struct wn_heap *heap = worker->heap;
  scan_domain(worker, worker->self);
  scan_remembered(worker, worker->self);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    scan_domain(worker, domain);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    scan_remembered(worker, domain);
}

/* ---- ending ---- */

static bool take_packet(struct gc_worker *worker) {
  struct minor_work *work = worker->work;
  wn_value packet = atomic_load_explicit(&work->packet, memory_order_relaxed);
  if (!packet || packet == PACKETS_CLOSED) return false;
  atomic_fetch_sub(&work->idle, 1); /* END: before it takes */
  DEBUG_STEP(worker->heap);
  bool taken = atomic_compare_exchange_strong(&work->packet, &packet, 0);
  if (taken)
    worker->grey = packet;
  else
    atomic_fetch_add(&work->idle, 1);
  return taken;
}

/* Takes packets until the leader has closed the collection. */
static void follow_leader(struct gc_worker *worker) {
  struct minor_work *work = worker->work;
  unsigned spins = 0;
  share_all(worker);
  atomic_fetch_add(&work->idle, 1);
  while (atomic_load(&work->open)) {
    if (take_packet(worker)) {
      scan_grey(worker);
      atomic_fetch_add(&work->idle, 1);
      spins = 0;
    } else {
      wait_a_moment(worker->heap, &spins);
    }
  }
  atomic_fetch_sub(&work->idle, 1);
}

static bool minor_is_over(struct minor_work *work) {
  wn_value none = 0;
  if (atomic_load(&work->idle) != atomic_load(&work->active)) return false;
  if (!atomic_compare_exchange_strong(&work->packet, &none, PACKETS_CLOSED)) return false;
  if (atomic_load(&work->idle) == atomic_load(&work->active)) return true;
  atomic_store(&work->packet, 0);
  return false;
}

/* END. Takes packets until every worker is idle, and closes the collection. A worker that joins in
 * the meantime finds no roots left. */
static void lead(struct gc_worker *worker) {
  struct minor_work *work = worker->work;
  unsigned spins = 0;
  share_all(worker);
  atomic_fetch_add(&work->idle, 1);
  for (;;) {
    if (take_packet(worker)) {
      scan_grey(worker);
      atomic_fetch_add(&work->idle, 1);
      spins = 0;
    } else if (minor_is_over(work)) {
      break;
    } else {
      wait_a_moment(worker->heap, &spins);
    }
  }
  atomic_store(&work->open, false);
  DEBUG_STEP(worker->heap);
  world_unshare_collection(worker->heap);
  for (spins = 0; atomic_load(&work->active) > 1;) wait_a_moment(worker->heap, &spins);
}

static void count_copied(const struct gc_worker *worker) {
  for (unsigned i = 0; i < worker->heap->domains_end; i++)
    if (worker->words[i])
      atomic_fetch_add_explicit(&worker->heap->domains[i]->copied_words, worker->words[i],
                                memory_order_relaxed);
}

/* ---- emptying ---- */

static void minor_empty(struct wn_domain *domain) {
  customs_after_minor(domain);
  size_t used = domain_young_used(domain);
  domain->minor_words += (double)used;
  domain->heap->young_used += used;
  domain_begin_young(domain, domain->young_end);
  remembered_clear(&domain->remembered);
  if (CHECKS && used) memset(domain->young_end - used * 8, STALE, used * 8);
  if (CHECKS && heap_collects_by_stress(domain->heap)) nursery_move(domain, used);
}

/* Whether to wake other threads: there are some, and the minor heaps have many words. */
static bool is_parallel(const struct wn_heap *heap) {
  size_t used = 0;
  if (atomic_load_explicit(&heap->awake, memory_order_relaxed) < 2) return false;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    used += domain_young_used(domain);
  return used > (TINY ? 0 : 1 << 13);
}

static void minor_begin(struct wn_heap *heap, bool parallel) {
  struct minor_work *work = &heap->collector->minor;
  for (unsigned i = 0; i < heap->domains_end; i++) {
    struct minor_heap_work *of = &work->of[i];
    atomic_store_explicit(&of->ownership, OWNED_BY_NONE, memory_order_relaxed);
    atomic_store_explicit(&of->share_requested, false, memory_order_relaxed);
    atomic_store_explicit(&of->roots_taken, false, memory_order_relaxed);
    atomic_store_explicit(&of->next_piece, 0, memory_order_relaxed);
  }
  atomic_store(&work->idle, 0);
  atomic_store(&work->share_requests, 0);
  atomic_store(&work->packet, 0);
  atomic_fetch_add(&work->active, 1); /* a late thread of the last collection may be counted, too */
  if (!parallel) return;
  atomic_store(&work->open, true);
  world_share_collection(heap);
}

static bool needs_everything(const struct wn_heap *heap) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    if (domain->remembered.all) return true;
  return false;
}

/* ---- shared ---- */

void minor_join(struct wn_domain *domain) {
  struct wn_heap *heap = domain->heap;
  struct minor_work *work = &heap->collector->minor;
  if (!atomic_load(&work->open)) return;
  atomic_fetch_add(&work->active, 1);
  DEBUG_STEP(heap);
  if (atomic_load(&work->open)) {
    struct gc_worker worker = worker_of(heap, domain, true);
    scan_roots(&worker);
    scan_grey(&worker);
    follow_leader(&worker);
    count_copied(&worker);
  }
  atomic_fetch_sub(&work->active, 1);
}

void minor_lose_workers(struct wn_heap *heap) { atomic_store(&heap->collector->minor.active, 0); }

void minor_collect(struct wn_heap *heap, struct wn_domain *leader) {
  bool all = needs_everything(heap), parallel = !all && is_parallel(heap);
  struct gc_worker worker = worker_of(heap, leader, parallel);
  minor_begin(heap, parallel);
  if (all) { /* helper threads would sweep the pools that are walked, and free them */
    helpers_pause(heap);
    scan_everything(&worker);
    helpers_resume(heap);
  }
  scan_roots(&worker);
  scan_grey(&worker);
  if (parallel) lead(&worker);
  atomic_fetch_sub(&heap->collector->minor.active, 1);
  weak_after_minor(heap);
  identities_after_minor(heap);
  finalisers_after_minor(heap, leader);
  host_after_minor(heap);
  count_copied(&worker);
  heap->young_used = 0;
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    minor_empty(domain);
}

/* SPDX-License-Identifier: MIT */
