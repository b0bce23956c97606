/* Poisoned memory: memory of ours that no code may touch now. Where AddressSanitizer runs, it
 * reports a touch by code that it watches, with the line.
 *
 * The library and the program need not be built alike. The functions below are the sanitizer's, and
 * are there if any part of the process was built for it. Memory is poisoned where checks are on,
 * and by a library that was built for the sanitizer itself. Addresses and sizes are multiples of 8.
 * What is unmapped must not be poisoned, since another mapping can have its place. */
#pragma once

#include "base/check.h"
#include <stddef.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define WINNOW_HAS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(WINNOW_HAS_ASAN)
enum { POISONS = 1 };
#else
enum { POISONS = CHECKS };
#endif

__attribute__((weak)) void __asan_poison_memory_region(const volatile void *at, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *at, size_t bytes);

static inline void poison(void *at, size_t bytes) {
  if (POISONS && __asan_poison_memory_region) __asan_poison_memory_region(at, bytes);
}
static inline void unpoison(void *at, size_t bytes) {
  if (POISONS && __asan_unpoison_memory_region) __asan_unpoison_memory_region(at, bytes);
}

/* For functions that may read poisoned memory, such as a check of an address that may be stale. */
#define READS_POISONED __attribute__((noinline, no_sanitize("address")))
/* SPDX-License-Identifier: MIT */
