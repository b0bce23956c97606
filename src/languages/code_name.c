/* Takes the names of made functions apart. */
#include "languages/code_name.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *beginning) {
  return !strncmp(text, beginning, strlen(beginning));
}

/* Cuts ":NUMBER" off the end. False: there is none. */
static bool cut_number(char *text, uint32_t *number) {
  char *colon = strrchr(text, ':');
  if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) return false;
  *number = (uint32_t)strtoul(colon + 1, NULL, 10);
  *colon = 0;
  return true;
}

/* Where the file begins in "NAME FILE": both may have blanks. */
static char *code_name_find_file(char *text) {
  static const char *const beginnings[] = {" node:", " file:", " /", " http:", " https:", " evalmachine."};
  char *file = NULL;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    char *found = strstr(text, beginnings[i]);
    if (found && (!file || found < file)) file = found;
  }
  return file ? file : strrchr(text, ' ');
}

/* "*serve /srv/app.js:12:7". The column is not told: a function's own says nothing. */
static struct callstack_place place_of_script(char *text) {
  struct callstack_place place = {.function = text};
  uint32_t column;
  if (*text && strchr("~*^+", *text)) place.function = ++text;
  if (!cut_number(text, &column) || !cut_number(text, &place.line)) return place;
  char *file = code_name_find_file(text);
  if (!file) return (struct callstack_place){.function = text};
  *file++ = 0;
  place.file = begins(file, "file://") ? file + 7 : file;
  if (!*place.function) place.function = "<anonymous>";
  return place;
}

/* "TRACE_12::app.lua:7" */
static struct callstack_place place_of_trace(char *text, char *file) {
  struct callstack_place place = {.function = text};
  if (!cut_number(text, &place.line)) return place;
  *file = 0;
  place.file = file + 2;
  return place;
}

/* ---- shared ---- */

struct callstack_place code_name_place(char *name) {
  static const char *const scripts[] = {"JS:", "Eval:", "Script:", "LazyCompile:", "Function:"};
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    if (begins(name, scripts[i])) return place_of_script(name + strlen(scripts[i]));
  char *file = begins(name, "TRACE_") ? strstr(name, "::") : NULL;
  if (file) return place_of_trace(name, file);
  char *arguments = strchr(name, '(');
  if (arguments && name[strlen(name) - 1] == ')') {
    *arguments = 0;
    char *method = strrchr(name, ' ');
    *arguments = '(';
    if (method && strchr(method, '.')) return (struct callstack_place){.function = method + 1};
  }
  return (struct callstack_place){.function = name};
}
/* SPDX-License-Identifier: MIT */
