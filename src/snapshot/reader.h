/* Reads a snapshot (format.h) that is in memory. Nothing is assumed of the bytes. */
#pragma once

#include "snapshot/format.h"
#include "trace/codec.h"
#include <stdbool.h>
#include <stddef.h>
#include <winnow/status.h>

/* A text of the file: not ended by a NUL byte. */
struct snapshot_text {
  const char *at;
  size_t length;
};

struct snapshot_record {
  uint64_t address;
  enum block_shape shape;
  uint32_t type;
  uint64_t words, outside;
  struct snapshot_text description; /* empty: none */
};

/* What the reader calls, in the order of the file; NULL: nothing. Addresses are divided by 8.
 * Blocks come in ascending order of address, each followed by its edges. False of any of them:
 * there is no memory, and reading ends. */
struct snapshot_visitor {
  bool (*info)(void *context, uint64_t process, uint64_t time_ns, struct snapshot_text command,
               struct snapshot_text language);
  bool (*type)(void *context, uint32_t type, struct snapshot_text name);
  bool (*field)(void *context, uint32_t type, uint64_t field, struct snapshot_text name);
  bool (*holder)(void *context, uint32_t holder, enum holder_kind kind, uint64_t domain,
                 struct snapshot_text name);
  bool (*root)(void *context, uint32_t holder, uint64_t target);
  bool (*block)(void *context, const struct snapshot_record *block);
  bool (*edge)(void *context, uint64_t field, uint64_t target);
  bool (*trace)(void *context, struct snapshot_text path);
  bool (*sample)(void *context, uint64_t block, uint64_t number);
  void *context;
};

/* Whether bytes are the beginning of a snapshot. */
bool snapshot_is(const void *bytes, size_t count);

/* *complete becomes whether the end is there and what is before it is whole. WN_EFORMAT: the bytes
 * are no snapshot, or one of a newer version; wn_last_error says which. WN_ENOMEM. */
wn_status snapshot_read(const void *bytes, size_t count, const struct snapshot_visitor *visitor,
                        bool *complete);
/* SPDX-License-Identifier: MIT */
