/* Heap snapshots as a source of totals: a picture of what holds how much.
 *
 * The stack of a block is what holds it: a root, and the blocks below it down the tree of
 * dominators, each by its type and what the language says of it. Blocks of one type that follow
 * each other, as in a list, are one frame. So the bytes below a frame are what would be freed if it
 * let go. `winnow heap` says more of a snapshot. */
#pragma once

#include "sources/source.h"

bool heap_snapshot_begins(const unsigned char *bytes, size_t count);

/* Opens a file. On failure wn_last_error says why. */
wn_status heap_snapshot_open(const char *path, struct source **source);
/* SPDX-License-Identifier: MIT */
