/* Questions about texts that many modules ask. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline bool text_begins(const char *text, const char *beginning) {
  return !strncmp(text, beginning, strlen(beginning));
}

/* The last part of a path; empty behind a slash at the end. */
static inline const char *path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The same of a command; all of it where that is empty. */
static inline const char *command_name(const char *command) {
  const char *name = path_name(command);
  return *name ? name : command;
}

#endif
/* SPDX-License-Identifier: MIT */
