/* A source with named stacks, whose description the reader of a format fills in when it opens a
 * file. Its events are totals, which are read then, too; or those of struct profile_events, which
 * are read one after another. */
#pragma once

#include "sources/profiles/named_stacks.h"
#include "sources/profiles/totals.h"
#include "sources/source.h"

enum { PROFILE_NOTE_MOST = 768, PROFILE_COMMAND_MOST = 4096 };

struct profile;

/* The events of a profile that has no totals. */
struct profile_events {
  bool (*next)(struct profile *profile, struct trace_event *event);
  double (*position)(const struct profile *profile);
  void (*close)(struct profile *profile); /* frees what follows the struct profile, and not this */
};

/* A format's own struct begins with this struct. */
struct profile {
  struct source source;
  const struct profile_events *events; /* NULL: its totals */
  struct named_stacks stacks;
  struct totals totals;
  struct trace_run run;
  struct trace_damage damage;
  struct source_limits limits;
  char note[PROFILE_NOTE_MOST];
  char command[PROFILE_COMMAND_MOST];
};

/* An empty profile by a tool, of a file, in so many bytes, the rest of which are zeros; `writer` is
 * a constant. It has totals until profile_set_events is called. NULL without memory. source_close
 * frees it. */
struct profile *profile_create(size_t bytes, const char *writer, const char *path);

/* Its events are not totals, but all allocations; it has their rate, and limits without those of
 * totals. */
void profile_set_events(struct profile *profile, const struct profile_events *events);

/* Sets the command: its arguments with blanks between them. What does not fit is cut. */
void profile_set_command(struct profile *profile, const char *command, size_t length);
/* SPDX-License-Identifier: MIT */
