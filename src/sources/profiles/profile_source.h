/* A source of totals with named stacks: what the readers of profiles fill in, and then give to
 * those that ask a source. Such a profile is read as a whole when it is opened. */
#ifndef SOURCES_PROFILES_PROFILE_SOURCE_H
#define SOURCES_PROFILES_PROFILE_SOURCE_H

#include "sources/profiles/named_stacks.h"
#include "sources/profiles/totals.h"
#include "sources/source.h"

enum { PROFILE_NOTE_MOST = 768, PROFILE_COMMAND_MOST = 4096 };

struct profile {
  struct source source;
  struct named_stacks stacks;
  struct totals totals;
  struct trace_run run;
  struct trace_damage damage;
  struct source_limits limits;
  char note[PROFILE_NOTE_MOST];
  char command[PROFILE_COMMAND_MOST];
};

/* An empty profile by a tool, of a file; `writer` is a constant. NULL without memory. source_close
 * frees it. */
struct profile *profile_create(const char *writer, const char *path);

/* Sets the command: its arguments with blanks between them. What does not fit is cut. */
void profile_set_command(struct profile *profile, const char *command, size_t length);

#endif
/* SPDX-License-Identifier: MIT */
