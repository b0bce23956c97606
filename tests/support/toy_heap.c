/* A made-up collected heap: see toy_heap.h. */
#include "support/toy_heap.h"

#include "base/check.h"
#include <stdlib.h>
#include <string.h>

static void rearm(struct memprof_owner *owner) {
  wn_domain *domain = owner->host;
  domain->current->left = memprof_gap(&domain->current->memprof); /* the others: toy_switch */
}

static void wake(struct memprof_owner *owner) { ((wn_domain *)owner->host)->woken++; }

static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  ((wn_domain *)thread->owner->host)->heap->captured_depth = depth;
  return NULL;
}

static const bool *exception(struct memprof_thread *thread) {
  return &((struct toy_thread *)thread->host)->raised;
}

static struct memprof_thread *current(struct memprof *engine) {
  return ((struct toy_heap *)engine->host)->inside;
}

static const struct memprof_ops ops = {
    .rearm = rearm, .wake = wake, .capture = capture, .exception = exception, .current = current};

struct collection {
  struct toy_heap *heap;
  wn_domain *domain;
  bool minor;
};

static struct toy_block *block_at(struct toy_heap *heap, uintptr_t address) {
  struct toy_block *block = &heap->blocks[address >> 16];
  ASSERT(block->used && block->address == address); /* the engine never asks with an old address */
  return block;
}

static bool collects(const struct collection *collection, const struct toy_block *block) {
  if (!block->used) return false;
  return collection->minor ? block->young && block->domain == collection->domain : !block->young;
}

static uintptr_t moved(uintptr_t address) {
  return (address & ~(uintptr_t)0xffff) | ((address + 8) & 0xffff);
}

static struct memprof_fate fate(uintptr_t address, void *context) {
  struct collection *collection = context;
  struct toy_block *block = block_at(collection->heap, address);
  if (!collects(collection, block))
    return (struct memprof_fate){block->young ? MEMPROF_YOUNG : MEMPROF_OLD, address};
  if (block->garbage) return (struct memprof_fate){MEMPROF_DEAD, 0};
  block->address = moved(address);
  return (struct memprof_fate){MEMPROF_OLD, block->address};
}

/* Where a block is now, that has just moved. */
static void visit(void *heap, uintptr_t *address) {
  const struct toy_block *block = &((struct toy_heap *)heap)->blocks[*address >> 16];
  ASSERT(block->used && !block->garbage && !block->young); /* the table has no others */
  *address = block->address;
}

/* After the engine was told, so that fate() still finds the dead. */
static void sweep(const struct collection *collection) {
  for (int i = 0; i < TOY_BLOCKS; i++) {
    struct toy_block *block = &collection->heap->blocks[i];
    if (!collects(collection, block)) continue;
    block->young = false;
    if (block->garbage) block->used = false;
  }
}

/* ---- tests ---- */

/* TOY_SAMPLES in the environment: samples of young blocks are "rows", the default, or "entries", or
 * both, "mixed". */
static bool next_is_row(struct toy_heap *heap) {
  const char *wish = getenv("TOY_SAMPLES");
  return !wish || !strcmp(wish, "rows") || (!strcmp(wish, "mixed") && ++heap->sampled % 2);
}

struct toy_heap *toy_open(size_t limit) {
  struct toy_heap *heap = calloc(1, sizeof *heap);
  memprof_open(&heap->engine, &ops, heap, limit);
  return heap;
}

void toy_close(struct toy_heap *heap) {
  memprof_check(&heap->engine);
  memprof_close(&heap->engine);
  free(heap);
}

struct toy_thread *toy_thread(wn_domain *domain) {
  struct toy_thread *thread = calloc(1, sizeof *thread);
  memprof_thread_attach(&thread->memprof, &domain->owner, domain, thread);
  thread->left = memprof_gap(&thread->memprof);
  return thread;
}

wn_domain *toy_domain(struct toy_heap *heap, wn_domain *parent) {
  wn_domain *domain = calloc(1, sizeof *domain);
  domain->heap = heap;
  memprof_owner_create(&domain->owner, &heap->engine, parent ? &parent->owner : NULL, domain);
  toy_switch(domain, toy_thread(domain));
  return domain;
}

static void pause_others(wn_domain *domain, const struct toy_thread *thread) {
  if (domain->current && domain->current != thread) memprof_thread_pauses(&domain->current->memprof);
}

void toy_switch(wn_domain *domain, struct toy_thread *thread) {
  pause_others(domain, thread);
  domain->current = thread;
  domain->heap->inside = &thread->memprof;
  thread->left = memprof_gap(&thread->memprof);
}

void toy_thread_end(struct toy_thread *thread) {
  wn_domain *domain = thread->memprof.domain;
  pause_others(domain, thread);
  memprof_thread_detach(&thread->memprof);
  if (domain->current == thread) domain->current = NULL;
  if (domain->heap->inside == &thread->memprof) domain->heap->inside = NULL;
  free(thread);
}

void toy_domain_end(wn_domain *domain) {
  toy_minor(domain);
  struct toy_heap *heap = domain->heap;
  if (domain->current) toy_thread_end(domain->current);
  memprof_owner_end(&domain->owner);
  for (int i = 0; i < TOY_BLOCKS; i++)
    if (heap->blocks[i].domain == domain) heap->blocks[i].domain = NULL;
  free(domain);
}

static int place(wn_domain *domain, size_t words) {
  struct toy_heap *heap = domain->heap;
  for (int i = 0; i < TOY_BLOCKS; i++) {
    struct toy_block *block = &heap->blocks[i];
    if (block->used) continue;
    *block = (struct toy_block){true, false, words <= TOY_MINOR_MOST, domain, (uintptr_t)i << 16, words};
    return i;
  }
  return -1;
}

static size_t hits(struct toy_thread *thread, const struct toy_block *block) {
  thread->left -= (int64_t)block->words + 1;
  return thread->left < 0 ? memprof_hits(&thread->memprof, &thread->left) : 0;
}

static struct memprof_birth birth_of(wn_domain *domain, int number, wn_alloc_source source) {
  struct toy_block *block = &domain->heap->blocks[number];
  return (struct memprof_birth){.address = block->address,
                                .trials = block->words + 1,
                                .bytes = 8 * block->words,
                                .n_samples = hits(domain->current, block),
                                .source = source,
                                .minor = block->young};
}

static struct memprof_entry *sample(wn_domain *domain, int number, wn_alloc_source source) {
  struct memprof_birth birth = birth_of(domain, number, source);
  return birth.n_samples ? memprof_allocated(&domain->current->memprof, &birth) : NULL;
}

int toy_alloc(wn_domain *domain, size_t words) {
  int number = place(domain, words);
  if (number < 0) return number;
  const struct toy_block *block = &domain->heap->blocks[number];
  if (!block->young || !next_is_row(domain->heap)) {
    sample(domain, number, WN_SOURCE_NORMAL);
  } else {
    struct memprof_birth birth = birth_of(domain, number, WN_SOURCE_NORMAL);
    if (birth.n_samples) memprof_born_young(&domain->current->memprof, &birth);
  }
  return number;
}

struct memprof_entry *toy_alloc_entry(wn_domain *domain, size_t words, wn_alloc_source source) {
  return sample(domain, place(domain, words), source);
}

void toy_kill(struct toy_heap *heap, int number) { heap->blocks[number].garbage = true; }

void toy_minor(wn_domain *domain) {
  struct collection collection = {domain->heap, domain, true};
  memprof_after_minor(&domain->owner, fate, &collection);
  sweep(&collection);
}

void toy_major(struct toy_heap *heap, wn_domain **domains, size_t count) {
  struct collection collection = {heap, NULL, false};
  ASSERT(count);
  for (int i = 0; i < TOY_BLOCKS; i++) {
    struct toy_block *block = &heap->blocks[i];
    if (!collects(&collection, block)) continue;
    if (block->garbage)
      memprof_found_dead(&heap->engine, block->address);
    else
      block->address = moved(block->address);
  }
  memprof_tell(&heap->engine, &domains[0]->owner);
  memprof_visit_old(&heap->engine, visit, heap);
  sweep(&collection);
}

/* ---- what a heap defines ---- */

struct memprof_thread *memprof_host_thread(wn_domain *domain) {
  return &domain->current->memprof;
}

void wn_raise(wn_domain *domain, wn_ref exception) {
  (void)exception;
  domain->current->raised = true;
}

wn_ref wn_take_exception(wn_domain *domain) {
  domain->current->raised = false;
  return (wn_ref){0};
}
/* SPDX-License-Identifier: MIT */
