/* Weak arrays and ephemerons of the collected heap.
 *
 *   wn_ref cache = wn_weak_new(d, 100);
 *   wn_weak_set(d, cache, 7, document);
 *   ...
 *   wn_ref found = wn_weak_get(d, cache, 7);
 *   if (wn_is_null(found)) ...                       the document is gone
 *
 * A weak array refers to values without keeping them alive. When nothing else leads to a block, the
 * heap empties every place that refers to it, all of them at once, at the latest at the end of the
 * second cycle of the major heap after that. A block that has a finaliser (wn_gc_finalise) is kept
 * by it until the finaliser has run; a block that has only a last finaliser is gone before that one
 * is called.
 *
 * An ephemeron has keys and data. Its keys are weak. Its data are kept alive by the ephemeron as
 * long as every key that is set is alive, even if the keys are reachable only through the data.
 * When a key is gone, the data are gone too.
 *
 * Places hold values of any kind; integers are never gone. A place that is out of range is an
 * error: functions that return a status return WN_EINVAL, the others a null handle or false, and
 * wn_last_error says what is wrong. A place that is empty is no error. Any domain may use a weak
 * block at any time, also when other domains write to it. Minor collections keep the data of
 * ephemerons, not their keys.
 *
 * A weak block is a value like others, with the tag WN_TAG_WEAK, but has no fields for wn_get and
 * wn_set. It is born in the major heap. Unless its comment says otherwise, a function does not
 * collect. */
#ifndef WINNOW_WEAK_H
#define WINNOW_WEAK_H

#include <winnow/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- weak arrays ---- */

/* A weak array of `n` empty places. A null handle if memory or handles are used up (wn_heap_hooks),
 * or if `n` is WN_MAX_WORDS or more. May collect. */
WN_API wn_ref wn_weak_new(wn_domain *domain, size_t n);

/* How many places a weak array, or how many keys an ephemeron has; 0 for any other value. */
WN_API size_t wn_weak_length(wn_ref weak);

/* Sets a place. A null handle empties it. */
WN_API wn_status wn_weak_set(wn_domain *domain, wn_ref weak, size_t i, wn_ref value);

/* A handle of what a place refers to. A null handle if the place is empty, or if handles are used
 * up. */
WN_API wn_ref wn_weak_get(wn_domain *domain, wn_ref weak, size_t i);

/* A handle of a copy of the block, with the same fields or bytes, so that no handle keeps the block
 * itself alive. While the collector marks, copying keeps the block until the next cycle. Integers,
 * custom blocks and weak blocks are not copied: the handle is of the value. May collect. */
WN_API wn_ref wn_weak_get_copy(wn_domain *domain, wn_ref weak, size_t i);

/* Whether a place is not empty. Does not keep alive what it refers to. */
WN_API bool wn_weak_check(wn_domain *domain, wn_ref weak, size_t i);

/* Sets `n` places from `i` on. A null handle empties them. */
WN_API wn_status wn_weak_fill(wn_domain *domain, wn_ref weak, size_t i, size_t n, wn_ref value);

/* Copies `n` places, full or empty, from `i` of one array to `j` of another, or of the same, which
 * may overlap. */
WN_API wn_status wn_weak_blit(wn_domain *domain, wn_ref from, size_t i, wn_ref to, size_t j, size_t n);

/* ---- ephemerons ---- */

/* An ephemeron with `keys` keys, none of them set, and without data. Errors as wn_weak_new; may
 * collect. The functions of weak arrays are those of its keys. */
WN_API wn_ref wn_ephemeron_new(wn_domain *domain, size_t keys);

WN_API wn_status wn_ephemeron_set_key(wn_domain *domain, wn_ref ephemeron, size_t i, wn_ref key);
WN_API wn_status wn_ephemeron_unset_key(wn_domain *domain, wn_ref ephemeron, size_t i);
WN_API wn_ref wn_ephemeron_get_key(wn_domain *domain, wn_ref ephemeron, size_t i);
WN_API bool wn_ephemeron_check_key(wn_domain *domain, wn_ref ephemeron, size_t i);

/* Of the data, as of a place. A weak array is an ephemeron whose data are not set: these functions
 * accept one. A null handle unsets the data. */
WN_API wn_status wn_ephemeron_set_data(wn_domain *domain, wn_ref ephemeron, wn_ref data);
WN_API wn_status wn_ephemeron_unset_data(wn_domain *domain, wn_ref ephemeron);
WN_API wn_ref wn_ephemeron_get_data(wn_domain *domain, wn_ref ephemeron);
WN_API bool wn_ephemeron_check_data(wn_domain *domain, wn_ref ephemeron);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
