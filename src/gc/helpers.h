/* Helper threads: they mark and sweep while the program runs, as far as there is work that can be shared.
 *
 * GUESTS: unless their number was asked for, helpers take only processors that are idle: as many work as there are more
 * processors than domains awake. Others give what they hold to the rest, and sleep until a collection finds that there is
 * room again.
 *
 * A helper sleeps on a futex until work is given. It is not a domain: it never allocates, never touches a minor heap, and
 * needs not stop when the world stops; major.c asks whether any is busy before it changes the phase. Who must see the whole
 * heap at rest pauses them (helpers_pause).
 *
 * WAY. A processor may be one too few all the same, since other programs want it, too, and then the system lets a helper and the
 * program take turns of milliseconds. So domains say where they run, when they begin to and at their slices, and a helper that finds
 * itself there offers the processor after each piece: the program waits for no more than that. A domain that is blocked or has
 * ended is forgotten: it wants none.
 *
 * HELD. What a helper holds, a part of the marking or a piece of sweeping, keeps the cycle from its end, and the system may keep
 * the helper from its processor for as long as it likes: other programs want it, too. Nothing may be allocated on meanwhile
 * without end. So where a cycle is late, and a domain finds that helpers hold all that is left, it *asks* for it and sleeps until
 * there is news (helpers_await); then the system has one thread less to run, and the helper's turn comes. Between two pieces
 * a helper gives back all that it holds if it is asked, and helpers take nothing while a domain asks, which does so until it has
 * taken. So a domain waits for the piece that a helper is in, at most, and what it does then is what it would do without
 * helpers: the heap grows by no more than it would without them, whoever gets a processor.
 *
 * Who waits says so (`asking`, `paused`), reads `news`, then looks whether it still has to wait; a helper changes what that looks
 * at, then looks whether somebody waits, and makes news. All of that is sequentially consistent, so one side sees the other.
 * tests/models/mark.pml explores it. */
#ifndef GC_HELPERS_H
#define GC_HELPERS_H

#include <stdbool.h>

struct wn_domain;
struct wn_heap;

/* Starts up to `asked` threads, fewer if the system has none; below 0: guests, for all processors but one, at most 4. */
void helpers_start(struct wn_heap *heap, int asked);
void helpers_stop(struct wn_heap *heap);
void helpers_wake(struct wn_heap *heap);

/* GUESTS: wakes those that are away, if there is work and a processor for one. The world is stopped. */
void helpers_invite(struct wn_heap *heap);

/* WAY: the domain runs here; it runs nowhere. */
void helpers_see(struct wn_domain *domain);
void helpers_forget(struct wn_domain *domain);

/* TOUCH AHEAD of chunk.h: true if a helper has a processor for it, which is woken. */
bool helpers_touch(struct wn_heap *heap);

/* No helper touches the heap from one to the other. The world is stopped. */
void helpers_pause(struct wn_heap *heap);
void helpers_resume(struct wn_heap *heap);

/* HELD. The calling thread's domain, at a safepoint, found nothing to do in the phase: if that is because helpers hold it, waits
 * until they gave some back, or something else happened; the domain may have been collected then. False if they hold nothing. */
bool helpers_await(struct wn_domain *domain);

/* There is something new for who waits for helpers. */
void helpers_tell(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
