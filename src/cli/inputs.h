/* The traces that a command's arguments name: files, folders, and patterns such as 'build.trace*',
 * which the command expands where no file has that name, so that several traces can be one side of
 * a comparison. A folder stands for the regular files in it that begin like a trace, and for those of the
 * folders in it, which may be recordings of several programs; deeper ones are not looked into. */
#pragma once

#include "cli/input.h"
#include "sources/files/joined.h"

struct inputs {
  struct joined_part *parts; /* joined_examine completes them */
  struct input *inputs;      /* those of the parts */
  char **names;              /* owned */
  size_t count, capacity;
  size_t passed_over; /* files that folders and patterns have besides, which are no traces */
  bool several;       /* the arguments are several, or one is a folder or a pattern */
  bool awaited;       /* `winnow record` has a folder of these, so traces may come (cli/folder.h) */
};

/* Lists the traces. WN_EIO: an input cannot be copied; WN_EINVAL: a folder or a pattern has no trace;
 * WN_ENOMEM. A name that is no file becomes a part, which then cannot be read. */
wn_status inputs_open(struct inputs *inputs, const char *const *arguments, size_t count);
void inputs_close(struct inputs *inputs);

/* Takes slashes from the end of arguments, so that a folder has a name. */
void inputs_trim(char **arguments, int count);

/* Whether a name stands for several traces: a folder, or a pattern that is no file's name. */
bool inputs_has_several(const char *name);

/* A number that changes whenever a program adds events to one of the files, or there are others. */
uint64_t inputs_stamp(const struct inputs *inputs);

/* Whether a process is writing one of the files, or they are awaited. */
bool inputs_are_growing(const struct inputs *inputs);
/* SPDX-License-Identifier: MIT */
