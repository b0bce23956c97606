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
  long minor_heap_size;      /* words, of each domain. Half of it while nearly all young blocks live */
  long major_heap_increment; /* up to 1000: percent of the heap, above: words */
  long space_overhead;       /* garbage the major heap may hold, in percent of what is live */
  long verbose;              /* bits: what to tell on standard error */
  /* Free memory, in percent of live, that starts a compaction; 1000000: never. Kept, and not used
   * yet: blocks do not move. */
  long max_overhead;
  /* Handle slots of a thread, in words. They are reserved when a thread begins: a lower limit
   * counts at once, but for slots in use, a higher one for later threads. */
  long stack_limit;
  long allocation_policy;     /* of blocks above 256 words: 0 next fit, 1 first fit, 2 best fit */
  long window_size;           /* slices over which work is smoothed, 1 to 50 */
  long custom_major_ratio;    /* external memory to heap, in percent */
  long custom_minor_ratio;    /* external memory of young blocks to minor heap, in percent */
  long custom_minor_max_size; /* bytes of external memory that a young block may have */
} wn_gc_control;

/* An initialiser: what a heap has where nothing else is asked for. */
#define WN_GC_CONTROL_DEFAULTS                                                                  \
  {                                                                                             \
    .minor_heap_size = 262144, .major_heap_increment = 15, .space_overhead = 120, .verbose = 0, \
    .max_overhead = 500, .stack_limit = 1048576, .allocation_policy = 2, .window_size = 1,      \
    .custom_major_ratio = 44, .custom_minor_ratio = 100, .custom_minor_max_size = 70000         \
  }

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
