/* Where sampled blocks live: one reserved range of addresses, so that free decides by the pointer
 * alone. */
#ifndef PRELOAD_REGION_H
#define PRELOAD_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memprof_entry;

/* What is known of a sampled block, wherever it lies. */
struct sampled_block {
  /* NULL if the engine does not follow the block. A thread that frees the block exchanges it: of
   * two that free one block, one finds the entry. */
  _Atomic(struct memprof_entry *) entry;
  /* As asked for. */
  size_t bytes;
  /* Words that stood trial so far, and samples among them. */
  size_t trials, hits;
  /* A real block that stands in for it, or NULL (malloc_host.c). */
  void *companion;
};

/* Where a sampled block lies, and what is known of it: looked up once, and passed along. */
struct sampled_place {
  void *address;
  struct sampled_block *block; /* NULL: no sampled block ever started at the address */
};

struct region_range {
  uintptr_t base, span;
};

/* Reserves the range; called once. False when the address space is limited (ulimit -v) or too
 * small: then there is no region and no other function here may be called. */
bool region_reserve(struct region_range *range);

/* A block of at least `bytes` bytes at a multiple of `alignment` (a power of two, up to 1 GiB); its
 * address is NULL if there is no room. `*zeroed` tells whether its bytes are known to be zero. Any
 * thread, also in a signal handler. */
struct sampled_place region_allocate(size_t bytes, size_t alignment, bool *zeroed);

/* The same for a block that grew by moving: there is room behind it to grow again without
 * copying. */
struct sampled_place region_allocate_growing(size_t bytes);

/* What is known of the block that starts at an address of the region; NULL if none ever started
 * there. It lies in our own memory; the thread that owns the block may read and write it. */
struct sampled_block *region_find(const void *address);

/* False if no block starts there, or if it was freed. */
bool region_is_live(struct sampled_place place);

/* Bytes the program may use in a live block; 0 if no block ever started there. */
size_t region_usable(struct sampled_place place);

/* Makes a live block hold at least `bytes` without moving it, if that costs nothing. Entry and
 * contents stay. */
bool region_resize(struct sampled_place place, size_t bytes);

/* Gives a live block back. False, and nothing happens, if no live block starts there. Any thread,
 * also in a signal handler. */
bool region_release(struct sampled_place place);

/* Gives pages of freed blocks back to the system that no block took since the last call. To be
 * called now and then. */
void region_give_back_idle(void);

/* Around fork: the child must not inherit a half-made change of another thread. */
void region_before_fork(void);
void region_after_fork(void);

#endif
/* SPDX-License-Identifier: MIT */
