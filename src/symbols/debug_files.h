/* Files with debugging information by their build-id: those that a server sent, and those anywhere
 * below the search folders, whatever they are called there. The folders are looked through when a
 * file is first asked for that the usual places do not have. */
#pragma once

#include "base/index.h"
#include <stdbool.h>
#include <stddef.h>

/* WALK: so many files of all kinds are looked at, so deep below the search folders. */
enum { DEBUG_FILES_MOST = 100000, DEBUG_FILES_DEPTH = 16 };

struct debug_files {
  const char *const *search; /* the folders, NULL at the end; or NULL */
  struct debug_files_item *items;
  size_t count, capacity;
  struct index by_id; /* of the numbers of items, plus 1 */
  size_t looked_at;
  bool walked, cut; /* the folders were looked through; not to their end, by WALK */
};

/* The path of the file with this build-id, until the next call; NULL: none is known. Not every file
 * that is found is the right one: it may have been replaced. */
const char *debug_files_find(struct debug_files *files, const unsigned char *build_id, size_t bytes);

/* Adds a file, before all others with its build-id. Copies both. False without memory. */
bool debug_files_add(struct debug_files *files, const unsigned char *build_id, size_t bytes,
                     const char *path);

void debug_files_destroy(struct debug_files *files);
/* SPDX-License-Identifier: MIT */
