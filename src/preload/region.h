/* Where sampled blocks live: one reserved range of addresses, so that free decides by the pointer alone. */
#ifndef PRELOAD_REGION_H
#define PRELOAD_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memprof_entry;

/* What is known of a sampled block, wherever it lies. */
struct sampled_block {
  /* NULL if nobody follows it; of two threads that free a block, one exchanges it. */
  _Atomic(struct memprof_entry *) entry;
  /* As asked for. */
  size_t bytes;
  /* Words that stood trial so far, and samples among them. */
  size_t trials, hits;
  /* A real block that stands in for it, or NULL (malloc_host.c). */
  void *companion;
};

struct region_range {
  uintptr_t base, span;
};

/* Reserves the range; called once. False when the address space is limited (ulimit -v) or too small: then there is no
 * region and no other function here may be called. */
bool region_reserve(struct region_range *range);

/* A block of at least `bytes` bytes at a multiple of `alignment` (a power of two, up to 1 GiB), or NULL. `*zeroed` tells
 * whether its bytes are known to be zero. Any thread, also in a signal handler. */
void *region_allocate(size_t bytes, size_t alignment, bool *zeroed);

/* What is known of the block that starts at `address`. REGION_FOREIGN: no block starts there. REGION_FREED: it was freed. */
enum region_state { REGION_LIVE, REGION_FREED, REGION_FOREIGN };
enum region_state region_state(const void *address);

/* Bytes the program may use in a live block. */
size_t region_usable(const void *address);

/* What the host keeps of a live block, in our own memory; NULL if no block ever started at the address. The thread that
 * owns the block may read and write it. */
struct sampled_block *region_block(const void *address);

/* Makes a live block hold at least `bytes` without moving it, if that costs nothing. Entry and contents stay. */
bool region_resize(void *address, size_t bytes);

/* Tells that a block grew by moving: its successor should have room to grow again without copying. */
void *region_allocate_growing(size_t bytes);

/* Gives a live block back. False, and nothing happens, if no live block starts there. Any thread, also in a signal handler. */
bool region_release(void *address);

/* Gives pages of freed blocks back to the system that nobody took since the last call. To be called
 * now and then. */
void region_give_back_idle(void);

/* Around fork: the child must not inherit a half-made change of another thread. */
void region_before_fork(void);
void region_after_fork(void);

#endif
/* SPDX-License-Identifier: MIT */
