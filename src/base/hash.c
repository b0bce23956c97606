/* CRC-32C, by the processor where it can, else by a table. */
#include "base/hash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* One entry for each value of four bits: small, and quick enough for processors without the
 * instruction. */
static uint32_t crc_by_table(uint32_t crc, const unsigned char *bytes, size_t count) {
  static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                     0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                     0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
  for (size_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    crc = (crc >> 4) ^ table[crc & 15];
    crc = (crc >> 4) ^ table[crc & 15];
  }
  return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc_by_processor(uint32_t crc, const unsigned char *bytes,
                                                                   size_t count) {
  uint64_t wide = crc;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = (uint32_t)wide;
  for (; count; bytes++, count--) crc = __builtin_ia32_crc32qi(crc, *bytes);
  return crc;
}
#endif

#ifdef __x86_64__
/* One cpuid, and only where something is checked: in a virtual machine each is a trap. The
 * compiler's __builtin_cpu_supports puts a constructor with a dozen of them into every process. */
static bool processor_has_crc(void) {
  enum { UNKNOWN, NO, YES };
  static _Atomic(int) answer;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == UNKNOWN) {
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    known = c & bit_SSE4_2 ? YES : NO;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == YES;
}
#endif

/* ---- shared ---- */

uint64_t hash_long(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t pair[2] = {0, 0};
  hash ^= count;
  for (; count > sizeof pair; at += sizeof pair, count -= sizeof pair) {
    memcpy(pair, at, sizeof pair);
    hash = hash_fold(pair[0], pair[1] ^ hash);
  }
  pair[0] = pair[1] = 0;
  memcpy(pair, at, count);
  return hash_mix(hash_fold(pair[0], pair[1] ^ hash));
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t count) {
  crc = ~crc;
#ifdef __x86_64__
  if (processor_has_crc()) return ~crc_by_processor(crc, bytes, count);
#endif
  return ~crc_by_table(crc, bytes, count);
}
/* SPDX-License-Identifier: MIT */
