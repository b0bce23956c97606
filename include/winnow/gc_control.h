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
  long minor_heap_size;      /* words of each domain; half is used while nearly all young blocks live */
  long major_heap_increment; /* up to 1000: percent of the heap, above: words */
  long space_overhead;       /* garbage the major heap may hold, in percent of what is live */
  long verbose;              /* bits: which events to print on standard error */
  /* What the major heap has beyond what is live, in percent of that, which starts a compaction when a
   * cycle ends; 0: each cycle ends with one; 1000000: none comes by itself, not even beyond
   * soft_limit_bytes. The default lets a heap alone of which four of five blocks have died; 100 does
   * not. */
  long max_overhead;
  /* The largest number of handle slots of a thread. They are reserved when a thread begins: a lower
   * limit applies at once, but not to slots in use; a higher limit applies to later threads. */
  long stack_limit;
  long allocation_policy;     /* of blocks above 256 words: 0 next fit, 1 first fit, 2 best fit */
  long window_size;           /* slices over which work is smoothed, 1 to 50 */
  long custom_major_ratio;    /* external memory to heap, in percent */
  long custom_minor_ratio;    /* external memory of young blocks to minor heap, in percent */
  long custom_minor_max_size; /* bytes of external memory that a young block may have */
} wn_gc_control;

/* An initialiser with the default of each parameter. */
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
