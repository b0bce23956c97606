/* Helper threads: they mark and sweep while the program runs, as far as there is work that can be shared.
 *
 * GUESTS: unless their number was asked for, helpers take only processors that are idle: as many work as there are more
 * processors than domains awake. Others give what they hold to the rest, and sleep until a collection finds that there is
 * room again.
 *
 * A helper sleeps on a futex until work is given. It is not a domain: it never allocates, never touches a minor heap, and
 * needs not stop when the world stops; major.c asks whether any is busy before it changes the phase. Who must see the whole
 * heap at rest pauses them (helpers_pause). */
#ifndef GC_HELPERS_H
#define GC_HELPERS_H

#include <stdbool.h>

struct wn_heap;

/* Starts up to `asked` threads, fewer if the system has none; below 0: guests, for all processors but one, at most 4. */
void helpers_start(struct wn_heap *heap, int asked);
void helpers_stop(struct wn_heap *heap);
void helpers_wake(struct wn_heap *heap);

/* GUESTS: wakes those that are away, if there is work and a processor for one. The world is stopped. */
void helpers_invite(struct wn_heap *heap);

/* TOUCH AHEAD of chunk.h: true if a helper has a processor for it, which is woken. */
bool helpers_touch(struct wn_heap *heap);

/* No helper touches the heap from one to the other. The world is stopped. */
void helpers_pause(struct wn_heap *heap);
void helpers_resume(struct wn_heap *heap);

/* Waits a moment for helpers that hold all that is left to mark, and may want this processor. */
void helpers_rest(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
