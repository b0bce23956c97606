/* Reads the arguments as Go's programs do: those that are not known are passed over. */
#include "cli/scrape/ask.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const paths[] = {
#define ASK_PATH(NAME, path) [ASK_##NAME] = path,
    ASK_PATHS(ASK_PATH)
#undef ASK_PATH
};

static enum ask_what ask_find(const char *path) {
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (!strcmp(path, paths[i])) return (enum ask_what)i;
  return ASK_NOTHING;
}

/* A number from 1 to `most`. */
static bool ask_read_number(const char *text, uint64_t most, uint64_t *number) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  *number = value;
  return *text >= '0' && *text <= '9' && !*end && !errno && value && value <= most;
}

static bool ask_copy(char *to, size_t size, const char *text) {
  if (!text) return *to = 0, true;
  return strlen(text) < size && strcpy(to, text);
}

const char *ask_read(struct ask *ask, const char *path, ask_value *value_of, void *context) {
  const char *pid = value_of(context, "pid"), *seconds = value_of(context, "seconds"),
             *debug = value_of(context, "debug");
  uint64_t number = 0;
  *ask = (struct ask){.what = ask_find(path)};
  if (pid && !ask_read_number(pid, INT_MAX, &number)) return "pid= must be the number of a process";
  ask->pid = (pid_t)number;
  if (seconds && *seconds && !ask_read_number(seconds, SECONDS_MOST, &ask->seconds))
    return "invalid value for \"seconds\": it must be a number of 1 or more";
  ask->text = debug && strtol(debug, NULL, 10) != 0;
  if (!ask_copy(ask->service, sizeof ask->service, value_of(context, "service")))
    return "no service has such a long name";
  if (!ask_copy(ask->client, sizeof ask->client, value_of(context, "client")))
    return "client= must be a name of less than 64 bytes";
  if (ask->seconds && ask->what == ASK_DELTA)
    return "delta_heap has what was allocated since this client asked last; it takes no \"seconds\"";
  return NULL;
}
/* SPDX-License-Identifier: MIT */
