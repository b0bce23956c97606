/* The profiles below /debug/pprof/: the name in C, that in the path, the sample type that readers
 * show first, and what it is. All have the same sample types. */
#pragma once

#define PROFILE_KINDS(PROFILE)                                                                               \
  PROFILE(ALLOCS, "allocs", "alloc_space", "A sampling of all past memory allocations.")                     \
  PROFILE(DELTA, "delta_heap", "inuse_space",                                                                \
          "The same as heap; of allocations those since this client (client=) asked last. Its first answer " \
          "is empty.")                                                                                       \
  PROFILE(HEAP, "heap", "inuse_space",                                                                       \
          "A sampling of memory allocations of live objects; with seconds=N of all allocations those of "    \
          "the last N "                                                                                      \
          "seconds.")
/* SPDX-License-Identifier: MIT */
