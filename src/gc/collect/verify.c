/* Checking every invariant of a heap, by a walk of every block.
 *
 * All pools are flushed first, so that they can be walked. Blocks outside pools are put into a
 * table, which tells whether the value of a field is the address of a block. In the phase SWEEP no
 * marked block may lead to an unmarked one, which would be lost. Fields of garbage that is not
 * swept yet may hold anything. */
#include "gc/collect/verify.h"

#include "gc/collect/collector.h"
#include "gc/collect/visitors.h"
#include "gc/domains/debug.h"
#include <stdarg.h>
#include <stdlib.h>

struct verification {
  struct wn_heap *heap;
  FILE *report;
  unsigned long complaints;
  /* Addresses of medium and large blocks, and the entries of remembered sets: open hash tables. */
  struct address_set {
    uintptr_t *slots;
    size_t capacity, count;
  } blocks, remembered;
  bool remembers_all; /* ALL of remembered.h */
  /* The chunks, by address: an open hash table of a power of two. */
  const struct chunk **chunks;
  size_t chunk_slots;
  size_t external; /* bytes that the custom blocks seen so far have outside, dead ones too */
};

enum { COMPLAINTS_MOST = 20 };

__attribute__((format(printf, 2, 3))) static void complain(struct verification *of, const char *format, ...) {
  if (of->complaints++ >= COMPLAINTS_MOST || !of->report) return;
  va_list arguments;
  va_start(arguments, format);
  fputs("winnow: verify: ", of->report);
  vfprintf(of->report, format, arguments);
  fputc('\n', of->report);
  va_end(arguments);
}

/* ---- address sets ---- */

static void set_add(struct address_set *set, uintptr_t address);

static void set_grow(struct address_set *set) {
  struct address_set grown = {.capacity = set->capacity ? 2 * set->capacity : 1024};
  grown.slots = calloc(grown.capacity, sizeof *grown.slots);
  if (!grown.slots) abort();
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i]) set_add(&grown, set->slots[i]);
  free(set->slots);
  *set = grown;
}

static uintptr_t *set_slot(const struct address_set *set, uintptr_t address) {
  size_t at = (size_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->capacity - 1);
  while (set->slots[at] && set->slots[at] != address) at = (at + 1) & (set->capacity - 1);
  return &set->slots[at];
}

static void set_add(struct address_set *set, uintptr_t address) {
  if (2 * set->count >= set->capacity) set_grow(set);
  uintptr_t *slot = set_slot(set, address);
  if (!*slot) set->count++;
  *slot = address;
}

static bool set_has(const struct address_set *set, uintptr_t address) {
  return set->capacity && *set_slot(set, address) == address;
}

/* ---- values ---- */

static const struct wn_domain *verify_owner_of(const struct wn_heap *heap, wn_value young) {
  unsigned index = heap_young_index(heap, young);
  return index < heap->domains_most ? heap->domains[index] : NULL;
}

static bool is_young_block(const struct wn_heap *heap, wn_value value) {
  const struct wn_domain *domain = verify_owner_of(heap, value);
  return domain && value % 8 == 0 && value > (uintptr_t)domain->context.young_ptr &&
         value <= (uintptr_t)domain->young_end && header_colour(header_of(value)) == 0 &&
         header_words(header_of(value)) <= WN_MAX_YOUNG_WORDS;
}

static const struct chunk **chunk_slot(const struct verification *of, const char *base) {
  size_t at = (size_t)((uintptr_t)base / CHUNK_BYTES * UINT64_C(0x9e3779b97f4a7c15) >> 20);
  while (of->chunks[at & (of->chunk_slots - 1)] && of->chunks[at & (of->chunk_slots - 1)]->base != base) at++;
  return &of->chunks[at & (of->chunk_slots - 1)];
}

static void note_chunks(struct verification *of) {
  const struct chunks *chunks = &of->heap->store.chunks;
  for (of->chunk_slots = 16; of->chunk_slots < 2 * chunks->count; of->chunk_slots *= 2) {}
  of->chunks = calloc(of->chunk_slots, sizeof(const struct chunk *));
  if (!of->chunks) abort();
  for (size_t i = 0; i < chunks->count; i++)
    if (chunks->table[i].base) *chunk_slot(of, chunks->table[i].base) = &chunks->table[i];
}

static const struct chunk *chunk_with(const struct verification *of, uintptr_t address) {
  return *chunk_slot(of, (const char *)(address & ~(uintptr_t)(CHUNK_BYTES - 1)));
}

static bool is_pool_block(const struct chunk *chunk, wn_value value) {
  uintptr_t unit = (value - 8) & ~(uintptr_t)(UNIT_BYTES - 1);
  struct pool *pool = (struct pool *)unit;
  if (!(chunk->used >> (unit - (uintptr_t)chunk->base) / UNIT_BYTES & 1)) return false;
  wn_value *at = (wn_value *)value - 1;
  return at >= pool_first(pool) && at < pool_end(pool) &&
         (size_t)(at - pool_first(pool)) % class_words[pool->class] == 0;
}

static bool verify_is_old_block(struct verification *of, wn_value value) {
  if (value % 8 || value < 4096) return false;
  const struct chunk *chunk = chunk_with(of, value - 8);
  bool here = chunk && chunk->use == CHUNK_POOLS ? is_pool_block(chunk, value) : set_has(&of->blocks, value);
  return here && !debug_block_is_gone(value);
}

/* Where a value is: in field `field` of a block, counted from 1, or elsewhere. */
struct holder {
  const char *what;       /* of a place that is no field */
  const wn_value *header; /* of the block; NULL: no field */
  size_t field;
  const wn_value *place;
  bool remembered; /* a young value makes it enter a remembered set */
};

enum { TEXT = 160 };

static const char *describe_field(const struct wn_heap *heap, const struct holder *holder, char text[TEXT]) {
  wn_value block = (wn_value)(holder->header + 1), header = *holder->header;
  bool young = heap_is_young(heap, block);
  int length = snprintf(text, TEXT, "field %zu of the %s block %#zx (tag %u, %zu words", holder->field - 1,
                        young ? "young" : "old", (size_t)block, header_tag(header), header_words(header));
  const struct wn_domain *owner = young ? verify_owner_of(heap, block) : NULL;
  if (owner)
    snprintf(text + length, TEXT - (size_t)length, ", of domain %llu)", (unsigned long long)owner->number);
  else
    snprintf(text + length, TEXT - (size_t)length, ")");
  return text;
}

static const char *verify_describe(const struct wn_heap *heap, const struct holder *holder, char text[TEXT]) {
  if (holder->header) return describe_field(heap, holder, text);
  snprintf(text, TEXT, "%s %p", holder->what, (const void *)holder->place);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    for (const struct domain_thread *thread = domain->threads; thread; thread = thread->next)
      if (holder->place >= thread->slots && holder->place < thread->slots_end)
        snprintf(text, TEXT, "handle %p, number %zu of a thread of domain %llu,", (const void *)holder->place,
                 (size_t)(holder->place - thread->slots), (unsigned long long)domain->number);
  return text;
}

static bool verify_is_remembered(const struct verification *of, const struct holder *holder) {
  return of->remembers_all || set_has(&of->remembered, (uintptr_t)holder->place) ||
         (holder->header && set_has(&of->remembered, (uintptr_t)(holder->header + 1) | REMEMBERED_BLOCK));
}

static void check_value(struct verification *of, wn_value value, const struct holder *holder) {
  struct wn_heap *heap = of->heap;
  const char *wrong = NULL;
  if (value & 1) return;
  if (heap_is_young(heap, value)) {
    if (!is_young_block(heap, value))
      wrong = "which is no block of a minor heap";
    else if (holder->remembered && !verify_is_remembered(of, holder))
      wrong = "a young block, and is in no remembered set";
  } else if (!verify_is_old_block(of, value)) {
    wrong = "which is no block";
  } else if (major_knows_dead(heap, header_of(value))) {
    wrong = "which marking has missed";
  }
  char text[TEXT];
  if (wrong) complain(of, "%s holds %#zx, %s", verify_describe(heap, holder, text), (size_t)value, wrong);
}

/* The fields of a block at `at`, its header. */
static void verify_check_fields(struct verification *of, const wn_value *at, bool old) {
  size_t scanned = block_scanned(*at, at + 1);
  if (scanned > header_words(*at)) {
    complain(of, "the mixed block %p of %zu words says that it has %zu values", (const void *)(at + 1),
             header_words(*at), scanned - 1);
    return;
  }
  for (size_t i = 1; i <= scanned; i++)
    check_value(of, at[i], &(struct holder){.header = at, .field = i, .place = at + i, .remembered = old});
}

/* ---- blocks ---- */

static void check_colour(struct verification *of, const wn_value *at, bool swept) {
  unsigned colour = header_colour(*at), marked = heap_live_colour(of->heap);
  if (colour == marked || (colour == (marked ^ COLOUR_BITS) && !swept)) return;
  complain(of, "block %p (tag %u, %zu words) has the colour %u, and %u is what is live",
           (const void *)(at + 1), header_tag(*at), header_words(*at), colour, marked);
}

/* A dead block keeps its bytes until it is swept, or the minor heap evacuated. */
static void add_external(struct verification *of, wn_value *at) {
  if (header_tag(*at) == WN_TAG_CUSTOM) of->external += custom_external((const struct custom *)(at + 1));
}

static void check_block(struct verification *of, wn_value *at, bool swept) {
  check_colour(of, at, swept);
  add_external(of, at);
  if (!major_knows_dead(of->heap, *at)) verify_check_fields(of, at, true);
}

/* While nothing is marked or swept, only one colour is left. */
static bool one_colour(const struct wn_heap *heap) { return heap_phase(heap) == PHASE_IDLE; }

static void check_pool(struct pool *pool, void *context) {
  struct verification *of = context;
  const wn_value *expected = pool->free;
  size_t words = class_words[pool->class];
  bool swept = one_colour(of->heap) ||
               (heap_phase(of->heap) == PHASE_SWEEP && pool->swept == of->heap->store.pools.sweeps);
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    if (header_colour(*at) != COLOUR_FREE) {
      if (header_extent(*at) <= words)
        check_block(of, at, swept);
      else
        complain(of, "block %p (tag %u) has %zu words in a pool for %zu", (void *)(at + 1), header_tag(*at),
                 header_words(*at), words - 1);
      at += words;
      continue;
    }
    if (at + header_extent(*at) > pool_end(pool) || header_extent(*at) % words) {
      complain(of, "free run %p has %zu words", (void *)at, header_extent(*at));
      return;
    }
    at += header_extent(*at);
  }
  for (; expected; expected = (const wn_value *)expected[1])
    if (header_colour(*expected) != COLOUR_FREE || expected < pool_first(pool) ||
        expected >= pool_end(pool)) {
      complain(of, "the list of pool %p leads to %p, which is not free", (void *)pool,
               (const void *)expected);
      return;
    }
}

static void check_medium(wn_value *at, void *context) {
  if (header_colour(*at) != COLOUR_FREE)
    check_block(context, at, one_colour(((struct verification *)context)->heap));
}

static void check_large(struct large *large, void *context) { check_medium(&large->header, context); }

static void note_medium(wn_value *at, void *context) {
  struct verification *of = context;
  if (header_colour(*at) != COLOUR_FREE) set_add(&of->blocks, (uintptr_t)(at + 1));
}

static void note_large(struct large *large, void *context) { note_medium(&large->header, context); }

static void check_minor_heap(struct verification *of, const struct wn_domain *domain) {
  wn_value *at = (wn_value *)domain->context.young_ptr, *end = (wn_value *)domain->young_end;
  while (at < end) {
    if (header_colour(*at) || *at & TRACKED || at + header_extent(*at) > end) {
      complain(of, "young block %p of domain %llu has the header %#zx", (void *)(at + 1),
               (unsigned long long)domain->number, (size_t)*at);
      return;
    }
    add_external(of, at);
    verify_check_fields(of, at, false);
    at += header_extent(*at);
  }
}

/* No field of a weak block that marking has left may lead to a block that it has not marked. */
static void check_weak(struct verification *of) {
  const struct weak *weak = &of->heap->collector->weak;
  for (size_t i = 0; i < weak->count; i++) {
    wn_value block = weak->blocks[i];
    const wn_value *words = (const wn_value *)block;
    if (header_tag(header_of(block)) != WN_TAG_WEAK) complain(of, "%p is no weak block", (const void *)words);
    for (size_t k = 0; k < header_words(header_of(block)); k++)
      if (words[k] != WEAK_EMPTY)
        check_value(
            of, words[k],
            &(struct holder){.header = words - 1, .field = k + 1, .place = &words[k], .remembered = true});
  }
}

/* ---- roots ---- */

struct row_check {
  struct verification *of;
  const struct visitor_row *row;
};

static void check_tracked(struct verification *of, wn_value block) {
  bool young = heap_is_young(of->heap, block);
  if (!(young ? is_young_block(of->heap, block) : verify_is_old_block(of, block)))
    complain(of, "%#zx has an entry of the sampling engine, and is no block", (size_t)block);
  else if (!block_is_tracked(block))
    complain(of, "block %#zx has an entry of the sampling engine, and no bit says so", (size_t)block);
}

static void check_place(void *visitor, wn_value *place) {
  const struct row_check *check = visitor;
  if (check->row->tracked)
    check_tracked(check->of, *place);
  else
    check_value(
        check->of, *place,
        &(struct holder){.what = check->row->what, .place = place, .remembered = check->row->remembered});
}

static void check_visitors(struct verification *of) {
  for (unsigned i = 0; i < VISITOR_ROWS; i++)
    visitor_rows[i].each(of->heap, check_place, &(struct row_check){of, &visitor_rows[i]});
}

/* Memory that is in use again is not stale: a minor heap may grow over its former place. */
READS_POISONED static void check_stale(struct verification *of, const struct wn_domain *domain) {
  for (const char *at = domain->stale; at < domain->stale_end; at++) {
    bool in_use = at >= domain->context.young_ptr && at < domain->young_end;
    if (in_use || *at == STALE) continue;
    complain(of, "%p, in domain %llu, was written to after its block had moved: a field pointer was kept",
             (const void *)at, (unsigned long long)domain->number);
    return;
  }
}

static void check_domain(struct verification *of, struct wn_domain *domain) {
  const wn_value *top = domain->running ? domain->context.top : NULL;
  if (domain->context.young_ptr < domain->young_start || domain->context.young_ptr > domain->young_end)
    complain(of, "domain %llu allocates outside its minor heap", (unsigned long long)domain->number);
  if (top && domain->running && (top < domain->running->slots || top > domain->running->accessible_end))
    complain(of, "domain %llu has its handles outside its slots", (unsigned long long)domain->number);
  check_stale(of, domain);
  check_minor_heap(of, domain);
}

static void verify_prepare(struct verification *of) {
  struct wn_heap *heap = of->heap;
  domains_flush_pools(heap);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    of->remembers_all |= domain->remembered.all;
    for (wn_value **at = domain->remembered.begin; at < domain->remembered.at; at++)
      set_add(&of->remembered, (uintptr_t)*at);
    const struct weak_stores *stores = &domain->collector->weak_stores;
    of->remembers_all |= stores->every;
    for (size_t i = 0; i < stores->count; i++)
      set_add(&of->remembered, (uintptr_t)(stores->items[i].block + stores->items[i].place));
  }
  medium_each(&heap->store, note_medium, note_large, of);
  note_chunks(of);
}

static void check_count(struct verification *of, const char *what, size_t found, size_t counted) {
  if (found != counted) complain(of, "%zu %s, and %zu are counted", found, what, counted);
}

/* Under the lock of the chunks, since a helper that is paused may still touch one. */
static void check_counts(struct verification *of) {
  struct store *store = &of->heap->store;
  size_t used = 0, pools = 0, free = 0;
  lock_acquire(&store->chunks.lock, LOCK_RANK_CHUNKS);
  for (size_t i = 0; i < store->chunks.count; i++) {
    const struct chunk *chunk = &store->chunks.table[i];
    size_t units = chunk->use == CHUNK_POOLS ? (size_t)__builtin_popcount(chunk->used) : 0;
    used += chunk->use == CHUNK_POOLS || chunk->use == CHUNK_MEDIUM;
    pools += units;
    free += chunk->use == CHUNK_POOLS || chunk->use == CHUNK_EMPTY ? CHUNK_UNITS - units : 0;
    if (chunk->hidden || chunk->pinned) complain(of, "chunk %p is left in a plan", (const void *)chunk->base);
  }
  size_t free_counted = store->chunks.free_units;
  lock_release(&store->chunks.lock, LOCK_RANK_CHUNKS);
  check_count(of, "chunks are in use", used, store->chunks.used_count);
  check_count(of, "pools are there", pools, atomic_load(&store->pools.count));
  check_count(of, "units are free", free, free_counted);
  if (of->external != atomic_load(&store->external))
    complain(of, "custom blocks have %zu bytes outside, and %zu are counted", of->external,
             atomic_load(&store->external));
}

/* ---- shared ---- */

unsigned long verify_heap(struct wn_heap *heap, FILE *report) {
  struct verification of = {.heap = heap, .report = report};
  helpers_pause(heap);
  verify_prepare(&of);
  pools_each(&heap->store, check_pool, &of);
  medium_each(&heap->store, check_medium, check_large, &of);
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    check_domain(&of, domain);
  check_visitors(&of);
  check_weak(&of);
  if (!finalisers_check(heap)) complain(&of, "a registry of finalisers breaks ROOM or YOUNG");
  if (!identities_check(heap)) complain(&of, "a table of identity hashes is wrong");
  check_counts(&of);
  helpers_resume(heap);
  free(of.blocks.slots);
  free(of.remembered.slots);
  free(of.chunks);
  return of.complaints;
}

void verify_or_die(struct wn_heap *heap) {
  if (verify_heap(heap, stderr)) abort();
}
/* SPDX-License-Identifier: MIT */
