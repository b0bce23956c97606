/* An id of a program or library that has no build-id, from its code: equal in the memory of a
 * process that runs the file and in the file itself, also once it is stripped.
 *
 * It is a hash of what the loader maps and nothing writes: the program headers, and pages of the
 * segments that are not writable. Of large segments some pages are taken, at even distances, and
 * the last one. That suffices: names are wrong where code has moved, and code that moves moves all
 * code behind it. An id stands where a build-id would, and begins with CODE_ID_MAGIC, which no
 * build-id does.
 *
 * A file whose code the loader changes (text relocations) has no id. Nothing here allocates. The id
 * of libLLVM-15.so (117 MB, in memory) takes 70 us, that of libc.so.6 200 us (a loop around
 * code_id_make, -O2). */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CODE_ID_MAGIC "WNCODE1"
enum { CODE_ID_BYTES = 16, CODE_ID_PAGE = 4096, CODE_ID_PAGES = 32 /* of a segment */ };

/* The bytes of a segment from `offset` on, of which there are `count`; NULL: they cannot be read. */
typedef const unsigned char *code_id_bytes(void *context, const Elf64_Phdr *segment, uint64_t offset,
                                           size_t count);

/* False: there is none. */
bool code_id_make(const Elf64_Phdr *headers, size_t count, code_id_bytes *bytes, void *context,
                  unsigned char id[CODE_ID_BYTES]);

/* Whether an id is one of code, and not a build-id. */
static inline bool code_id_is(const unsigned char *id, size_t bytes) {
  return bytes == CODE_ID_BYTES && !memcmp(id, CODE_ID_MAGIC, sizeof CODE_ID_MAGIC);
}
/* SPDX-License-Identifier: MIT */
