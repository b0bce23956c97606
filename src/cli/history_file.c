/* Finds, measures and removes the history beside a trace. */
#include "cli/history_file.h"

#include "trace/chunk_file.h"
#include "trace/history.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the history, and of one that is being written. */
static const char *const endings[] = {HISTORY_ENDING, HISTORY_NEW};
enum { ENDINGS = sizeof endings / sizeof *endings };

static bool history_file_file_of(char path[PATH_MAX], const char *trace, int i) {
  return snprintf(path, PATH_MAX, "%s%s", trace, endings[i]) < PATH_MAX;
}

static uint64_t history_file_disk_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) || !S_ISREG(found.st_mode) ? 0 : (uint64_t)found.st_blocks * 512;
}

static void remove_files(const char *trace, bool own) {
  char path[PATH_MAX];
  for (int i = 0; i < ENDINGS; i++)
    if (history_file_file_of(path, trace, i) && (!own || !chunk_file_check(path))) unlink(path);
}

/* ---- shared ---- */

size_t history_name_of(const char *name) {
  size_t length = strlen(name);
  for (int i = 0; i < ENDINGS; i++) {
    size_t ending = strlen(endings[i]);
    if (length > ending && !strcmp(name + length - ending, endings[i])) return length - ending;
  }
  return 0;
}

bool history_is_one(const char *path) {
  char trace[PATH_MAX];
  struct stat found;
  size_t length = history_name_of(path);
  if (!length || length >= sizeof trace) return false;
  memcpy(trace, path, length);
  trace[length] = 0;
  return !stat(trace, &found) && S_ISREG(found.st_mode);
}

uint64_t history_disk_bytes(const char *trace) {
  char path[PATH_MAX];
  uint64_t bytes = history_file_disk_bytes(trace);
  for (int i = 0; i < ENDINGS; i++)
    if (history_file_file_of(path, trace, i)) bytes += history_file_disk_bytes(path);
  return bytes;
}

bool history_exists(const char *trace) {
  char path[PATH_MAX];
  struct stat found;
  return history_file_file_of(path, trace, 0) && !lstat(path, &found);
}

void history_remove(const char *trace) { remove_files(trace, false); }
void history_remove_own(const char *trace) { remove_files(trace, true); }
/* SPDX-License-Identifier: MIT */
