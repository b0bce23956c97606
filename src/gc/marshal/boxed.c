/* OCaml's int32, int64 and nativeint: custom blocks of a number. */
#include "base/error.h"
#include "gc/api/allocate.h"
#include "gc/domains/debug.h"
#include "gc/marshal/format.h"
#include "gc/marshal/kinds.h"
#include "gc/marshal/writer.h"

/* A nativeint is written in the fewer bytes that hold it, after a byte that tells which. */
enum { NATIVE_32 = 1, NATIVE_64 = 2 };

static bool write_int32(const void *bytes, size_t size, wn_marshal_writer *to) {
  uint32_t n;
  (void)size;
  memcpy(&n, bytes, sizeof n);
  wn_marshal_put(to, n, 4);
  return true;
}
static bool read_int32(void *bytes, size_t size, wn_marshal_reader *from) {
  uint32_t n = (uint32_t)wn_marshal_get(from, 4);
  (void)size;
  memcpy(bytes, &n, sizeof n);
  return true;
}

static int64_t boxed_number_at(const void *bytes) {
  int64_t n;
  memcpy(&n, bytes, sizeof n);
  return n;
}

static bool write_int64(const void *bytes, size_t size, wn_marshal_writer *to) {
  (void)size;
  wn_marshal_put(to, (uint64_t)boxed_number_at(bytes), 8);
  return true;
}
static bool read_int64(void *bytes, size_t size, wn_marshal_reader *from) {
  uint64_t n = wn_marshal_get(from, 8);
  (void)size;
  memcpy(bytes, &n, sizeof n);
  return true;
}

static bool write_native(const void *bytes, size_t size, wn_marshal_writer *to) {
  int64_t n = boxed_number_at(bytes);
  bool is_short = n == (int32_t)n;
  (void)size;
  wn_marshal_put(to, is_short ? NATIVE_32 : NATIVE_64, 1);
  wn_marshal_put(to, (uint64_t)n, is_short ? 4 : 8);
  return is_short || !(to->flags & WN_MARSHAL_COMPAT_32);
}
static bool read_native(void *bytes, size_t size, wn_marshal_reader *from) {
  uint64_t form = wn_marshal_get(from, 1);
  int64_t n = form == NATIVE_32 ? (int32_t)wn_marshal_get(from, 4) : (int64_t)wn_marshal_get(from, 8);
  (void)size;
  memcpy(bytes, &n, sizeof n);
  return form == NATIVE_32 || form == NATIVE_64;
}

static const wn_custom_ops ops[BOXED_KINDS] = {[WN_BOXED_INT32] = {.name = "_i"},
                                               [WN_BOXED_INT64] = {.name = "_j"},
                                               [WN_BOXED_NATIVEINT] = {.name = "_n"}};
static const wn_marshal_ops marshal[BOXED_KINDS] = {
    [WN_BOXED_INT32] = {.bytes = 4, .write = write_int32, .read = read_int32},
    [WN_BOXED_INT64] = {.bytes = 8, .write = write_int64, .read = read_int64},
    [WN_BOXED_NATIVEINT] = {.bytes = 8, .bytes_32 = 4, .write = write_native, .read = read_native},
};

/* ---- shared ---- */

const struct marshal_kind boxed_kinds[BOXED_KINDS] = {
    {NULL, &ops[WN_BOXED_INT32], &marshal[WN_BOXED_INT32]},
    {NULL, &ops[WN_BOXED_INT64], &marshal[WN_BOXED_INT64]},
    {NULL, &ops[WN_BOXED_NATIVEINT], &marshal[WN_BOXED_NATIVEINT]},
};

/* ---- public ---- */

OWN_FRAME wn_ref wn_boxed_new(wn_domain *domain, wn_boxed type, int64_t n) {
  DEBUG_DOMAIN(domain);
  if ((unsigned)type >= BOXED_KINDS) {
    error_set(WN_EINVAL, "boxed: %u is none of the types", (unsigned)type);
    return (wn_ref){NULL};
  }
  wn_ref block = allocate_custom(domain, &ops[type], marshal[type].bytes, 0, __builtin_frame_address(0));
  FRAME_ENDS;
  if (!wn_is_null(block)) memcpy((struct custom *)*block.slot + 1, &n, marshal[type].bytes);
  return block;
}

bool wn_boxed_get(wn_ref block, wn_boxed *type, int64_t *n) {
  if (wn_is_null(block) || wn_is_int(*block.slot) || wn_tag(*block.slot) != WN_TAG_CUSTOM) return false;
  const struct custom *custom = (const struct custom *)*block.slot;
  if (custom->ops < ops || custom->ops >= ops + BOXED_KINDS) return false;
  wn_boxed is = (wn_boxed)(custom->ops - ops);
  int32_t low;
  memcpy(&low, custom + 1, sizeof low);
  if (type) *type = is;
  if (n) *n = is == WN_BOXED_INT32 ? low : boxed_number_at(custom + 1);
  return true;
}
/* SPDX-License-Identifier: MIT */
