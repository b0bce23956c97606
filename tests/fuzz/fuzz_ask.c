/* Any bytes as a request to `winnow serve`: a path and arguments, each ended by a NUL byte. What is
 * read lies within its bounds. */
#include "cli/scrape/ask.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"pid", "service", "seconds", "debug", "client"};
static const char *const paths[] = {"/", "/metrics", "/debug/pprof/heap", "/debug/pprof/delta_heap"};
enum { NAMES = sizeof names / sizeof *names, PATHS = sizeof paths / sizeof *paths };

/* The value of the name i is the text i; empty at the end of the input: the argument is not there.
 */
static const char *value_of(void *context, const char *name) {
  char **texts = context;
  for (size_t i = 0; i < NAMES; i++)
    if (!strcmp(name, names[i])) return *texts[i] ? texts[i] : NULL;
  return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  char *text = malloc(count + NAMES + 2), *texts[NAMES], *at = text;
  struct ask ask;
  if (!text) return 0;
  memcpy(text, bytes, count);
  memset(text + count, 0, NAMES + 2);
  const char *path = count && bytes[0] < PATHS ? paths[bytes[0]] : text;
  for (size_t i = 0; i < NAMES; i++) {
    texts[i] = at;
    at += at < text + count ? strlen(at) + 1 : 0;
  }
  if (!ask_read(&ask, path, value_of, texts) &&
      (ask.what > ASK_NOTHING || ask.pid < 0 || ask.seconds > SECONDS_MOST ||
       strlen(ask.client) >= CLIENT_MOST))
    abort();
  free(text);
  return 0;
}
/* SPDX-License-Identifier: MIT */
