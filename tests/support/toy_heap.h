/* A made-up collected heap for the engine's tests: it moves, promotes and kills blocks by hand, and
 * has no memory at all behind its addresses. Everything runs on one OS thread; toy_switch says
 * which of a domain's threads "runs". */
#ifndef TESTS_SUPPORT_TOY_HEAP_H
#define TESTS_SUPPORT_TOY_HEAP_H

#include "memprof/host.h"

enum { TOY_BLOCKS = 4096, TOY_MINOR_MOST = 256 };

struct toy_block {
  bool used, garbage, young;
  wn_domain *domain;
  uintptr_t address; /* number << 16 | moves */
  size_t words;
};

struct toy_thread {
  struct memprof_thread memprof;
  int64_t left;
  bool raised;
};

struct toy_heap {
  struct memprof engine;
  struct toy_block blocks[TOY_BLOCKS];
  struct memprof_thread *inside; /* what ops.current answers */
  size_t captured_depth;         /* of the last capture */
  unsigned sampled;              /* young blocks that were asked whether their sample is a row */
};

struct wn_domain {
  struct memprof_owner owner;
  struct toy_heap *heap;
  struct toy_thread *current;
  unsigned woken;
};

struct toy_heap *toy_open(size_t limit);
void toy_close(struct toy_heap *heap); /* checks that no entry is left */

/* A domain with its first thread; `parent` may be NULL. */
wn_domain *toy_domain(struct toy_heap *heap, wn_domain *parent);
void toy_domain_end(wn_domain *domain); /* ends its current thread too; young blocks are promoted first */
struct toy_thread *toy_thread(wn_domain *domain);
void toy_thread_end(struct toy_thread *thread);
void toy_switch(wn_domain *domain, struct toy_thread *thread);

/* Allocates; the alloc callback becomes due. Returns the block's number, or -1 if the heap is
 * full. */
int toy_alloc(wn_domain *domain, size_t words);
struct memprof_entry *toy_alloc_entry(wn_domain *domain, size_t words, wn_alloc_source source);
void toy_kill(struct toy_heap *heap, int number);

/* Collections; callbacks become due. A minor one is of one domain and promotes all that is not
 * garbage; a major one stops all domains, which are given. Both move what survives. */
void toy_minor(wn_domain *domain);
void toy_major(struct toy_heap *heap, wn_domain **domains, size_t count);

#endif
/* SPDX-License-Identifier: MIT */
