/* Where sampled blocks live: one reserved range of addresses, so that free recognizes a sampled
 * block by the pointer alone. */
#ifndef PRELOAD_REGION_H
#define PRELOAD_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memprof_entry;

/* What is known of a sampled block, wherever it lies. */
struct sampled_block {
  /* NULL if the engine does not follow the block. A thread that frees the block exchanges the
   * pointer with NULL, so of two threads that free one block only one finds the entry. */
  _Atomic(struct memprof_entry *) entry;
  /* The size that the program asked for. */
  size_t bytes;
  /* Words of the block that were counted for sampling so far, and samples among them. */
  size_t trials, hits;
  /* COMPANION of malloc_host.c: a block of the real allocator, or NULL. */
  void *companion;
};

/* Where a sampled block lies, and what is known of it. A caller looks a block up once and passes
 * the place on. */
struct sampled_place {
  void *address;
  struct sampled_block *block; /* NULL: no sampled block ever started at the address */
};

/* A larger block lies in pages of its own (runs.h). */
#define REGION_LARGEST_SLOT ((size_t)16384)

struct region_range {
  uintptr_t base, span;
};

/* Reserves the range; called once. False if the address space is limited (ulimit -v) or too small:
 * then there is no region, and no other function of this header may be called. */
bool region_reserve(struct region_range *range);

/* Allocates a block of at least `bytes` bytes at a multiple of `alignment` (a power of two, up to 1
 * GiB). The address is NULL if there is no room. `*zeroed` tells whether the block's bytes are
 * known to be zero. Any thread may call it, also in a signal handler. */
struct sampled_place region_allocate(size_t bytes, size_t alignment, bool *zeroed);

/* The same for a block that moves because it grows: room is left behind the block, so that it can
 * grow again without copying. */
struct sampled_place region_allocate_growing(size_t bytes);

/* Returns what is known of the block that starts at an address of the region; NULL if none ever
 * started there. The record lies in our own memory, and the thread that owns the block may read and
 * write it. */
struct sampled_block *region_find(const void *address);

/* False if no block starts at the place, or if the block was freed. */
bool region_is_live(struct sampled_place place);

/* How many bytes of a live block the program may use; 0 if no block ever started at the place. */
size_t region_usable(struct sampled_place place);

/* Makes a live block hold at least `bytes` without moving it. False if the block would have to
 * move, or should move to a smaller place. The block's record and contents stay. */
bool region_resize(struct sampled_place place, size_t bytes);

/* Frees a live block. If no live block starts at the place, it does nothing and returns false. Any
 * thread may call it, also in a signal handler. */
bool region_release(struct sampled_place place);

/* Gives pages of freed blocks back to the system if no block took them since the last call. To be
 * called now and then. */
void region_give_back_idle(void);

/* The program forbids itself system calls: from now on no block is allocated here, and the end of a
 * block makes no system call that the C library would not make. Returns how many bytes the blocks
 * that the C library would have in its heap took together at most, with the room between them; of
 * those that are larger than a slot, 16 MiB at most. */
size_t region_confine(void);

/* Called around fork, so that the child does not inherit a half-made change of another thread. */
void region_before_fork(void);
void region_after_fork(void);

#endif
/* SPDX-License-Identifier: MIT */
