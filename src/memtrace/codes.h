/* How a Memtrace file codes stacks and the names of code: parts of writer.h. */
#pragma once

#include "memtrace/writer.h"

void writer_put(struct writer_bytes *to, const void *bytes, size_t count);
void writer_put_text(struct writer_bytes *to, const char *text);
static inline void writer_put_unsigned(struct writer_bytes *to, uint64_t value, size_t count) {
  writer_put(to, &value, count);
}

/* Writes what a code stands for, without the event's head. */
void writer_put_location(struct memtrace_writer *writer, struct writer_domain *domain,
                         struct writer_bytes *to, uint64_t code);

/* The number of outermost frames that a stack shares with the domain's last one. */
size_t writer_common(const struct writer_domain *domain, const uint64_t *codes, size_t depth);

/* Writes the frames of a stack from `common` on to domain->codewords, as far as it may have bytes,
 * and notes codes that are to be described. Returns the number of codewords. */
unsigned writer_code_stack(struct writer_domain *domain, const uint64_t *codes, size_t depth, size_t common);

void writer_lists_destroy(struct writer_domain *domain);
/* SPDX-License-Identifier: MIT */
