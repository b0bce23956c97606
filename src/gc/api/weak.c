/* Weak arrays and ephemerons: the public functions. gc/collect/weak.h has the design. */
#include <winnow/weak.h>

#include "base/error.h"
#include "gc/api/allocate.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/shortage.h"
#include "gc/domains/stress.h"
#include <string.h>

static const wn_ref none = {NULL};

/* ---- arguments ---- */

static bool is_weak(wn_ref weak) {
  return !wn_is_null(weak) && weak_is_block(*weak.slot) && wn_tag(*weak.slot) == WN_TAG_WEAK;
}

/* Whether the domain may use `n` keys from `i` on. */
static wn_status weak_check(wn_domain *domain, wn_ref weak, size_t i, size_t n, const char *what) {
  wn_status status = caller_check(domain, what);
  if (status) return status;
  debug_check_given(domain, weak, what);
  if (!is_weak(weak)) return error_set(WN_EINVAL, "%s: the handle is of no weak block", what);
  size_t keys = weak_keys(*weak.slot);
  if (i <= keys && n <= keys - i) return WN_OK;
  return error_set(WN_EINVAL, "%s: %zu places from %zu on, and there are %zu", what, n, i, keys);
}

static wn_status check_data(wn_domain *domain, wn_ref ephemeron, const char *what) {
  return weak_check(domain, ephemeron, 0, 0, what);
}

static wn_value value_or_empty(wn_ref value) { return wn_is_null(value) ? WEAK_EMPTY : *value.slot; }

/* ---- places ---- */

static wn_ref load_weak(wn_domain *domain, wn_ref weak, size_t place) {
  wn_value value = weak_load(domain, *weak.slot, place);
  return value == WEAK_EMPTY ? none : wn_root(domain, value);
}

static bool is_full(wn_ref weak, size_t place) {
  return field_load((wn_value *)*weak.slot + place) != WEAK_EMPTY;
}

static void copy_key(wn_domain *domain, wn_value from, size_t i, wn_value to, size_t j) {
  weak_put(domain, to, WEAK_KEYS + j, field_load((wn_value *)from + WEAK_KEYS + i));
}

static wn_status weak_fill(wn_domain *domain, wn_ref weak, size_t i, size_t n, wn_ref value,
                           const char *what) {
  wn_status status = weak_check(domain, weak, i, n, what);
  if (status) return status;
  debug_check_given(domain, value, what);
  for (size_t k = i; k < i + n; k++) weak_put(domain, *weak.slot, WEAK_KEYS + k, value_or_empty(value));
  return WN_OK;
}

static wn_ref get(wn_domain *domain, wn_ref weak, size_t i, const char *what) {
  return weak_check(domain, weak, i, 1, what) ? none : load_weak(domain, weak, WEAK_KEYS + i);
}

static bool weak_is_set(wn_domain *domain, wn_ref weak, size_t i, const char *what) {
  return !weak_check(domain, weak, i, 1, what) && is_full(weak, WEAK_KEYS + i);
}

static wn_status weak_put_data(wn_domain *domain, wn_ref ephemeron, wn_ref data, const char *what) {
  wn_status status = check_data(domain, ephemeron, what);
  if (status) return status;
  debug_check_given(domain, data, what);
  weak_put(domain, *ephemeron.slot, WEAK_DATA, value_or_empty(data));
  return WN_OK;
}

/* A copy of a block, or the value itself if there is none. */
static wn_ref weak_copy(wn_domain *domain, wn_ref value) {
  if (wn_is_int(*value.slot)) return value;
  size_t words = wn_words(*value.slot);
  unsigned tag = wn_tag(*value.slot);
  if (tag == WN_TAG_CUSTOM || tag == WN_TAG_WEAK) return value;
  size_t scanned = wn_scanned_words(*value.slot);
  bool mixed = tag == WN_TAG_MIXED;
  wn_ref made =
      mixed ? wn_alloc_mixed(domain, scanned - 1, 8 * (words - scanned)) : wn_alloc(domain, words, tag);
  for (size_t i = mixed; !wn_is_null(made) && i < words; i++) {
    wn_value field = field_load((wn_value *)*value.slot + i);
    if (i < scanned)
      wn_store(domain, *made.slot, i, field);
    else
      ((wn_value *)*made.slot)[i] = field;
  }
  return made;
}

static wn_ref weak_make(wn_domain *domain, size_t keys, const void *frame, const char *what) {
  bool zeroed;
  if (!caller_may(domain, what)) return none;
  if (keys >= WN_MAX_WORDS) return error_set(WN_EINVAL, "%s: WN_MAX_WORDS places or more", what), none;
  wn_value *words = allocate_old(domain, WEAK_KEYS + keys, WN_TAG_WEAK, frame, &zeroed);
  if (!words) return none;
  if (!zeroed) memset(words, 0, (WEAK_KEYS + keys) * sizeof *words); /* EMPTY */
  wn_ref made = wn_root(domain, (wn_value)words);
  if (wn_is_null(made) || weak_add(domain->heap, *made.slot)) return made;
  shortage_of_memory(domain, 1, "no memory for the table of weak blocks");
  return weak_add(domain->heap, *made.slot) ? made : none;
}

/* ---- public ---- */

OWN_FRAME wn_ref wn_weak_new(wn_domain *domain, size_t n) {
  DEBUG_DOMAIN(domain);
  wn_ref made = weak_make(domain, n, __builtin_frame_address(0), "weak new");
  FRAME_ENDS;
  return made;
}

size_t wn_weak_length(wn_ref weak) { return is_weak(weak) ? weak_keys(*weak.slot) : 0; }

wn_status wn_weak_set(wn_domain *domain, wn_ref weak, size_t i, wn_ref value) {
  return weak_fill(domain, weak, i, 1, value, "weak set");
}

wn_ref wn_weak_get(wn_domain *domain, wn_ref weak, size_t i) { return get(domain, weak, i, "weak get"); }

wn_ref wn_weak_get_copy(wn_domain *domain, wn_ref weak, size_t i) {
  if (weak_check(domain, weak, i, 1, "weak get copy")) return none;
  stress_call(domain);
  WN_SCOPE(domain); /* no handle of the block itself is left */
  wn_ref value = load_weak(domain, weak, WEAK_KEYS + i),
         made = wn_is_null(value) ? value : weak_copy(domain, value);
  return wn_is_null(made) ? none : wn_escape(&wn_here, made);
}

bool wn_weak_check(wn_domain *domain, wn_ref weak, size_t i) {
  return weak_is_set(domain, weak, i, "weak check");
}

wn_status wn_weak_fill(wn_domain *domain, wn_ref weak, size_t i, size_t n, wn_ref value) {
  return weak_fill(domain, weak, i, n, value, "weak fill");
}

wn_status wn_weak_blit(wn_domain *domain, wn_ref from, size_t i, wn_ref to, size_t j, size_t n) {
  wn_status status = weak_check(domain, from, i, n, "weak blit");
  if (!status) status = weak_check(domain, to, j, n, "weak blit");
  if (status) return status;
  bool upwards = j <= i; /* so that no place is overwritten before it is copied */
  for (size_t k = 0; k < n; k++) {
    size_t step = upwards ? k : n - 1 - k;
    copy_key(domain, *from.slot, i + step, *to.slot, j + step);
  }
  return WN_OK;
}

OWN_FRAME wn_ref wn_ephemeron_new(wn_domain *domain, size_t keys) {
  DEBUG_DOMAIN(domain);
  wn_ref made = weak_make(domain, keys, __builtin_frame_address(0), "ephemeron new");
  FRAME_ENDS;
  return made;
}

wn_status wn_ephemeron_set_key(wn_domain *domain, wn_ref ephemeron, size_t i, wn_ref key) {
  return weak_fill(domain, ephemeron, i, 1, key, "ephemeron set key");
}
wn_status wn_ephemeron_unset_key(wn_domain *domain, wn_ref ephemeron, size_t i) {
  return weak_fill(domain, ephemeron, i, 1, none, "ephemeron unset key");
}
wn_ref wn_ephemeron_get_key(wn_domain *domain, wn_ref ephemeron, size_t i) {
  return get(domain, ephemeron, i, "ephemeron get key");
}
bool wn_ephemeron_check_key(wn_domain *domain, wn_ref ephemeron, size_t i) {
  return weak_is_set(domain, ephemeron, i, "ephemeron check key");
}

wn_status wn_ephemeron_set_data(wn_domain *domain, wn_ref ephemeron, wn_ref data) {
  return weak_put_data(domain, ephemeron, data, "ephemeron set data");
}
wn_status wn_ephemeron_unset_data(wn_domain *domain, wn_ref ephemeron) {
  return weak_put_data(domain, ephemeron, none, "ephemeron unset data");
}
wn_ref wn_ephemeron_get_data(wn_domain *domain, wn_ref ephemeron) {
  return check_data(domain, ephemeron, "ephemeron get data") ? none : load_weak(domain, ephemeron, WEAK_DATA);
}
bool wn_ephemeron_check_data(wn_domain *domain, wn_ref ephemeron) {
  return !check_data(domain, ephemeron, "ephemeron check data") && is_full(ephemeron, WEAK_DATA);
}
/* SPDX-License-Identifier: MIT */
