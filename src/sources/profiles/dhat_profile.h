/* Files of DHAT, the heap profiler of Valgrind, as a source of totals.
 *
 * Such a file is one JSON object: for each stack what it allocated, what it held at the peak of the
 * whole program (t-gmax) and at the end (t-end). Frames are texts with an address, a function, and
 * a source file with its line or the file of the code. It does not tell which blocks are which, and
 * it counts instructions instead of time. A realloc counts as allocating all of the new block, as
 * in Winnow's own traces. */
#pragma once

#include "sources/source.h"

/* Whether a file that begins so is one of DHAT. */
bool dhat_profile_begins(const unsigned char *bytes, size_t count);

/* Opens a file. On failure wn_last_error says why. */
wn_status dhat_profile_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
