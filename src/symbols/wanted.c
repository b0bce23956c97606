/* What to fetch. */
#include "symbols/wanted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wanted_has(const struct wanted *wanted, const unsigned char *build_id, size_t bytes) {
  for (size_t i = 0; i < wanted->count; i++)
    if (wanted->file[i].build_id_bytes == bytes && !memcmp(wanted->file[i].build_id, build_id, bytes))
      return true;
  return false;
}

static char *wanted_tell(const char *name, size_t count, int error) {
  char more[32] = "", silence[80], *text;
  if (count > 1) snprintf(more, sizeof more, " and %zu more", count - 1);
  snprintf(silence, sizeof silence, "no byte came from $DEBUGINFOD_URLS for %u s", fetch_silence());
  const char *why = error == ETIMEDOUT   ? silence
                    : error == ECANCELED ? "stopped by Ctrl-C"
                    : error == ENOSYS    ? "libdebuginfod.so.1 is missing: install libdebuginfod1"
                                         : strerror(error);
  return asprintf(&text, "debug files not fetched: of %s%s: %s", name, more, why) < 0 ? NULL : text;
}

/* ---- shared ---- */

void wanted_add(struct wanted *wanted, const char *name, size_t number, const unsigned char *build_id,
                size_t bytes) {
  if (wanted->count == WANTED_MOST || !bytes || bytes > FETCH_ID_MOST || wanted_has(wanted, build_id, bytes))
    return;
  struct fetch_file *file = &wanted->file[wanted->count];
  *file = (struct fetch_file){.build_id_bytes = bytes};
  memcpy(file->build_id, build_id, bytes);
  wanted->name[wanted->count] = name;
  wanted->number[wanted->count++] = number;
}

char *wanted_end(struct wanted *wanted) {
  const char *name = NULL;
  size_t count = 0;
  int error = 0;
  for (size_t i = 0; i < wanted->count; i++) {
    const struct fetch_file *file = &wanted->file[i];
    if (!error && !file->path && file->error != ENOENT) {
      error = file->error;
      name = wanted->name[i];
    }
    count += error && file->error == error;
    free(file->path);
  }
  return error ? wanted_tell(name, count, error) : NULL;
}
/* SPDX-License-Identifier: MIT */
