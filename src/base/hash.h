/* Mixing functions for hash tables, and the checksum of the trace. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A bijective mixer: every input bit reaches every output bit. Source: D. Stafford's variant 13 of
 * MurmurHash3's finaliser. */
static inline uint64_t hash_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t hash_combine(uint64_t hash, uint64_t value) {
  return hash_mix(hash * 0x9e3779b97f4a7c15u + value);
}

/* Fowler-Noll-Vo 1a, 64 bits, for short byte strings. */
static inline uint64_t hash_bytes(const void *bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

/* Multiplies and folds the product's halves, as in W. Yi's wyhash. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xbf58476d1ce4e5b9u);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* For longer byte strings, after what `hash` is of: 16 bytes a step. */
uint64_t hash_long(uint64_t hash, const void *bytes, size_t count);

/* For arrays of words. */
static inline uint64_t hash_words(const uint32_t *words, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash_mix(hash);
}

/* CRC-32C (Castagnoli), as in RFC 3720: the checksum of `crc` continued by `count` bytes; start
 * with 0. Uses the processor's instruction where there is one. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);
/* SPDX-License-Identifier: MIT */
