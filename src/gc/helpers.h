/* Helper threads: they mark and sweep while the program runs, as far as there is work that can be shared.
 *
 * A helper sleeps on a futex until work is given. It is not a domain: it never allocates, never touches a minor heap, and
 * needs not stop when the world stops; major.c asks whether any is busy before it changes the phase. Who must see the whole
 * heap at rest pauses them (helpers_pause). */
#ifndef GC_HELPERS_H
#define GC_HELPERS_H

struct wn_heap;

/* Starts up to `count` threads; fewer if the system has none. */
void helpers_start(struct wn_heap *heap, unsigned count);
void helpers_stop(struct wn_heap *heap);
void helpers_wake(struct wn_heap *heap);

/* No helper touches the heap from one to the other. The world is stopped. */
void helpers_pause(struct wn_heap *heap);
void helpers_resume(struct wn_heap *heap);

/* Waits a moment for helpers that hold all that is left to mark, and may want this processor. */
void helpers_rest(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
