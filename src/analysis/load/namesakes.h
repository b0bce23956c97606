/* Different functions with the same name in one module, such as static functions of two source
 * files. A row of a table stands for a name and a module, so they would share one. Therefore the
 * name of the source file is appended to theirs: "grow (queue.c)". */
#pragma once

#include "analysis/load/names.h"

/* Renames them, among the frames of the nodes 1 to `nodes`. Called after wrappers_find, which
 * compares names with lists that have no file names. WN_ENOMEM. */
wn_status namesakes_rename(struct names *names, uint32_t nodes);

/* Whether a name has this file behind it: sets *home to the file as the name has it, with its folder if that
 * stands there, and both lengths. */
struct namesake_parts {
  const char *home;
  int name_length, home_length;
};
bool namesake_split(const char *name, const char *file, struct namesake_parts *parts);
/* SPDX-License-Identifier: MIT */
