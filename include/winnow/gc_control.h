/* The parameters of a collected heap.
 *
 *   wn_gc_control control;
 *   wn_gc_get(domain, &control);
 *   control.space_overhead = 80;
 *   if (wn_gc_set(domain, &control)) puts(wn_last_error());
 */
#ifndef WINNOW_GC_CONTROL_H
#define WINNOW_GC_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wn_gc_control {
  long minor_heap_size; /* words, of each domain; 262144. Half of it while nearly all young blocks live */
  long major_heap_increment; /* up to 1000: percent of the heap, above: words; 15 */
  long space_overhead;       /* garbage the major heap may hold, in percent of what is live; 120 */
  long verbose;              /* bits: what to tell on standard error; 0 */
  /* Free memory, in percent of live, that starts a compaction; 500; 1000000: never. Kept, and not
   * used yet: blocks do not move. */
  long max_overhead;
  /* Handle slots of a thread, in words; 1048576. They are reserved when a thread begins: a lower
   * limit counts at once, but for slots in use, a higher one for later threads. */
  long stack_limit;
  long allocation_policy;     /* of blocks above 256 words: 0 next fit, 1 first fit, 2 best fit; 2 */
  long window_size;           /* slices over which work is smoothed, 1 to 50; 1 */
  long custom_major_ratio;    /* external memory to heap, in percent; 44 */
  long custom_minor_ratio;    /* external memory of young blocks to minor heap, in percent; 100 */
  long custom_minor_max_size; /* bytes of external memory that a young block may have; 70000 */
} wn_gc_control;

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
