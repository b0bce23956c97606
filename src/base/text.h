/* Questions about texts that many modules ask. */
#pragma once

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

/* How much of a file's name an address in its code is told by: "libfoo" of "libfoo.so.1", "_json"
 * of "_json.cpython-311-x86_64-linux-gnu.so". */
static inline size_t stem_length(const char *name) {
  static const char *const endings[] = {".cpython-", ".abi3.so", ".so.", ".so"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const char *end = strstr(name, endings[i]);
    if (end > name && (i != 3 || !end[3])) return (size_t)(end - name);
  }
  return strlen(name);
}

/* Whether a text begins with an address in the code of this file: "libfoo+0x12". */
static inline bool text_begins_with_address(const char *text, const char *file) {
  size_t length = stem_length(file);
  return length && !strncmp(text, file, length) && text_begins(text + length, "+0x");
}

/* The same of a command; all of it where that is empty. */
static inline const char *command_name(const char *command) {
  const char *name = path_name(command);
  return *name ? name : command;
}
/* SPDX-License-Identifier: MIT */
