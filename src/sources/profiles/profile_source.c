/* The functions of a source with named stacks. */
#include "sources/profiles/profile_source.h"

#include <stdlib.h>

static struct profile *profile_source_of(const struct source *source) {
  return (struct profile *)(uintptr_t)source;
}

static void close_profile(struct source *source) {
  const struct profile_events *events = profile_source_of(source)->events;
  if (events) events->close(profile_source_of(source));
  named_stacks_destroy(&profile_source_of(source)->stacks);
  totals_destroy(&profile_source_of(source)->totals);
  free(source);
}

static bool profile_source_next(struct source *source, struct trace_event *event) {
  const struct profile_events *events = profile_source_of(source)->events;
  bool any = events ? events->next(profile_source_of(source), event)
                    : totals_next(&profile_source_of(source)->totals, event);
  if (any && event->kind == TRACE_SAMPLE) event->sample.rate = profile_source_of(source)->run.rate;
  return any;
}

static const struct trace_run *profile_source_run(const struct source *source) {
  return &profile_source_of(source)->run;
}
static enum source_heap profile_source_heap(const struct source *source) {
  return (void)source, SOURCE_HEAP_MALLOC;
}
static const struct trace_damage *profile_source_damage(const struct source *source) {
  return &profile_source_of(source)->damage;
}
static uint32_t profile_source_stack_count(const struct source *source) {
  return (uint32_t)profile_source_of(source)->stacks.node_count - 1;
}
static struct trace_node profile_source_stack(const struct source *source, uint32_t number) {
  return profile_source_of(source)->stacks.nodes[number];
}
static uint32_t profile_source_module_count(const struct source *source) {
  return (uint32_t)profile_source_of(source)->stacks.module_count - 1;
}
static const struct trace_module *profile_source_module(const struct source *source, uint32_t number) {
  return &profile_source_of(source)->stacks.modules[number];
}
static bool profile_source_place(const struct source *source, uint32_t number, uint64_t offset,
                                 struct trace_place *out) {
  return named_place_of(&profile_source_of(source)->stacks, number, offset, out);
}
static double profile_source_position(const struct source *source) {
  const struct profile_events *events = profile_source_of(source)->events;
  if (events) return events->position(profile_source_of(source));
  const struct totals *totals = &profile_source_of(source)->totals;
  return totals->count ? (double)totals->at / (double)totals->count : 1;
}
static const struct source_limits *profile_source_limits(const struct source *source) {
  return &profile_source_of(source)->limits;
}

static const struct source_format format = {.close = close_profile,
                                            .next = profile_source_next,
                                            .run = profile_source_run,
                                            .heap = profile_source_heap,
                                            .damage = profile_source_damage,
                                            .stack_count = profile_source_stack_count,
                                            .stack = profile_source_stack,
                                            .module_count = profile_source_module_count,
                                            .module = profile_source_module,
                                            .place = profile_source_place,
                                            .position = profile_source_position,
                                            .limits = profile_source_limits};

/* ---- shared ---- */

struct profile *profile_create(size_t bytes, const char *writer, const char *path) {
  struct profile *profile = calloc(1, bytes);
  if (!profile) return NULL;
  profile->source.format = &format;
  struct trace_text empty = trace_text_of("");
  profile->run =
      (struct trace_run){.command = empty,
                         .host = empty,
                         .heap = trace_text_of("malloc"),
                         .version = empty,
                         .context = empty,
                         .title = empty,
                         .name = empty,
                         .writer = trace_text_of(writer),
                         .rate = SOURCE_RATE_TOTALS,
                         .monotonic_ns = source_file_stamp(path), /* tells the process from others */
                         .word_bytes = 8};
  profile->limits =
      (struct source_limits){.totals = true, .no_lives = true, .no_threads = true, .note = profile->note};
  if (named_stacks_create(&profile->stacks)) return profile;
  source_close(&profile->source);
  return NULL;
}

void profile_set_events(struct profile *profile, const struct profile_events *events) {
  profile->events = events;
  profile->run.rate = 1;
  profile->limits.totals = false;
}

void profile_set_command(struct profile *profile, const char *command, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length && count + 1 < sizeof profile->command; i++) {
    bool blank = command[i] == ' ' || !command[i];
    if (!blank)
      profile->command[count++] = command[i];
    else if (count && profile->command[count - 1])
      profile->command[count++] = 0;
  }
  if (count && profile->command[count - 1]) profile->command[count++] = 0;
  profile->run.command = (struct trace_text){profile->command, (uint32_t)count};
}
/* SPDX-License-Identifier: MIT */
