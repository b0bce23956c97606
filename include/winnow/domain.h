/* The names that every public header shares: domains, values and handles.
 *
 *   static void body(wn_domain *domain, void *argument);
 */
#ifndef WINNOW_DOMAIN_H
#define WINNOW_DOMAIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A domain of a heap: its threads run one at a time. */
typedef struct wn_domain wn_domain;

/* Low bit 1: a 63-bit integer; low bit 0: the address of a block's first field. */
typedef uintptr_t wn_value;

/* A handle, which roots a value. It has a type of its own so that a bare value cannot be passed in
 * its place. A null handle has no slot. */
typedef struct wn_ref {
  wn_value *slot;
} wn_ref;

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
