/* mallinfo and mallinfo2, as the program sees them: programs decide by these numbers what to keep.
 * Sampled blocks lie in the region, where the C library does not count them, so we add them, with
 * the bytes that they would have there.
 *
 * The structs are declared here, since older C libraries lack the second one. */
#include "preload/info_calls.h"

#include "base/os.h"
#include "base/stripe.h"
#include "preload/pagemap.h"
#include "preload/region.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Where the numbers stand in glibc's structs, and how many there are. */
enum { ARENA = 0, MAPPED = 4, IN_USE = 7, FREE = 8, TOP = 9, NUMBERS = 10 };

struct numbers {
  size_t of[NUMBERS];
};
struct small_numbers {
  int of[NUMBERS];
};

static struct numbers (*next_large)(void);
static struct small_numbers (*next_small)(void);

/* Written by any thread. A block may be freed on another stripe than it was allocated on: only the
 * sum means something. */
static struct { _Alignas(STRIPE_BYTES) _Atomic(size_t) bytes, in_slots; } held[STRIPES];

/* What a block of glibc takes, header included. */
static size_t info_calls_chunk_bytes(size_t bytes) {
  size_t chunk = (bytes + 23) & ~(size_t)15;
  return chunk < 32 ? 32 : chunk;
}

/* How much of the free memory at the end of the data segment was never touched: it grows in steps,
 * beforehand. */
static size_t untouched_bytes(size_t top) {
  if (!top) return 0; /* malloc may not have called brk (INHERITED of question.c) */
  uintptr_t page = os_page_bytes(), end = (uintptr_t)syscall(SYS_brk, 0) & ~(page - 1),
            begin = (end - top + page - 1) & ~(page - 1);
  return begin < end ? end - begin - pagemap_private(begin, end) : 0;
}

/* ---- shared ---- */

void info_calls_resolve(void) {
  next_small = (__typeof__(next_small))dlsym(RTLD_NEXT, "mallinfo");
  next_large = (__typeof__(next_large))dlsym(RTLD_NEXT, "mallinfo2");
}

static void info_calls_count(size_t bytes, size_t sign) {
  size_t change = sign * info_calls_chunk_bytes(bytes);
  unsigned stripe = stripe_of_thread();
  atomic_fetch_add_explicit(&held[stripe].bytes, change, memory_order_relaxed);
  if (bytes <= REGION_LARGEST_SLOT)
    atomic_fetch_add_explicit(&held[stripe].in_slots, change, memory_order_relaxed);
}

void info_count_in(size_t bytes) { info_calls_count(bytes, 1); }
void info_count_out(size_t bytes) { info_calls_count(bytes, (size_t)-1); }

size_t info_held_bytes(bool in_slots) {
  size_t sum = 0;
  for (unsigned i = 0; i < STRIPES; i++)
    sum += atomic_load_explicit(in_slots ? &held[i].in_slots : &held[i].bytes, memory_order_relaxed);
  return sum;
}

bool info_ask(size_t *in_use, size_t *free) {
  if (!next_large) return false;
  struct numbers numbers = next_large();
  *in_use = numbers.of[IN_USE] + numbers.of[MAPPED];
  *free = numbers.of[FREE] - untouched_bytes(numbers.of[TOP]);
  return true;
}

/* ---- what the program calls ---- */

EXPORT struct numbers mallinfo2(void);
EXPORT struct numbers mallinfo2(void) {
  if (!next_large) info_calls_resolve();
  struct numbers numbers = next_large ? next_large() : (struct numbers){{0}};
  size_t ours = info_held_bytes(false);
  numbers.of[ARENA] += ours;
  numbers.of[IN_USE] += ours;
  return numbers;
}

EXPORT struct small_numbers mallinfo(void);
EXPORT struct small_numbers mallinfo(void) {
  if (!next_small) info_calls_resolve();
  struct small_numbers numbers = next_small ? next_small() : (struct small_numbers){{0}};
  unsigned ours = (unsigned)info_held_bytes(false); /* wraps around, as the C library's do */
  numbers.of[ARENA] = (int)((unsigned)numbers.of[ARENA] + ours);
  numbers.of[IN_USE] = (int)((unsigned)numbers.of[IN_USE] + ours);
  return numbers;
}
/* SPDX-License-Identifier: MIT */
