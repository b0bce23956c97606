/* Reads unit files: sections, assignments, lines that go on behind a backslash. */
#include "cli/record/unit_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  bool adds;
} settings[UNIT_SETTINGS_COUNT] = {
#define UNIT_SETTING(NAME, name, adds) {name, adds},
    UNIT_SETTINGS(UNIT_SETTING)
#undef UNIT_SETTING
};

/* Without the blanks around it. */
static char *unit_file_trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t length = strlen(text);
  while (length && isspace((unsigned char)text[length - 1])) length--;
  text[length] = 0;
  return text;
}

/* An empty value takes back what was set before. */
static bool assign(struct unit *unit, char *line) {
  char *equals = strchr(line, '='), *joined = NULL;
  if (!equals) return true;
  *equals = 0;
  const char *name = unit_file_trim(line), *value = unit_file_trim(equals + 1);
  size_t i = 0;
  while (i < UNIT_SETTINGS_COUNT && strcmp(settings[i].name, name) != 0) i++;
  if (i == UNIT_SETTINGS_COUNT) return true;
  const char *before = settings[i].adds && *value ? unit->of[i] : NULL;
  if (*value && asprintf(&joined, "%s%s%s", before ? before : "", before ? "\n" : "", value) < 0)
    return false;
  free(unit->of[i]);
  unit->of[i] = joined;
  return true;
}

static bool unit_file_ends_with(const char *text, const char *end) {
  size_t length = strlen(text), behind = strlen(end);
  return length >= behind && !strcmp(text + length - behind, end);
}

/* Appends a line without its end to what was begun. Returns whether it goes on. */
static bool unit_file_join(char *whole, size_t *length, const char *line) {
  size_t count = strcspn(line, "\n");
  bool goes_on = count && line[count - 1] == '\\';
  memcpy(whole + *length, line, count);
  *length += count;
  if (goes_on) whole[*length - 1] = ' ';
  whole[*length] = 0;
  return goes_on;
}

/* ---- shared ---- */

bool unit_read(struct unit *unit, FILE *in) {
  char *line = NULL, *whole = NULL;
  size_t size = 0, length = 0;
  bool service = false, own = false, read = true;
  while (read && getline(&line, &size, in) > 0) {
    const char *begin = line + strspn(line, " \t");
    if (*begin == '#' || *begin == ';') {
      char *comment = unit_file_trim(line);
      if (!strncmp(comment, "# /", 3)) own = unit_file_ends_with(comment, "/winnow.conf");
      continue;
    }
    char *larger = realloc(whole, length + strlen(line) + 1);
    if (!(read = larger)) break;
    whole = larger;
    if (unit_file_join(whole, &length, line)) continue;
    char *text = unit_file_trim(whole);
    length = 0;
    if (*text == '[')
      service = !strcmp(text, "[Service]");
    else if (service && !own)
      read = assign(unit, text);
  }
  free(line);
  free(whole);
  return read;
}

void unit_free(struct unit *unit) {
  for (size_t i = 0; i < UNIT_SETTINGS_COUNT; i++) free(unit->of[i]);
}

bool unit_says_yes(const struct unit *unit, enum unit_setting setting) {
  static const char *const yes[] = {"1", "yes", "y", "true", "t", "on"};
  for (size_t i = 0; unit->of[setting] && i < sizeof yes / sizeof *yes; i++)
    if (!strcasecmp(unit->of[setting], yes[i])) return true;
  return false;
}

bool unit_is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  while (length && folder[length - 1] == '/') length--;
  return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

/* Before a path may stand - and +, and behind it a colon and options. */
bool unit_covers(const struct unit *unit, enum unit_setting setting, const char *path) {
  char folder[4096];
  const char *at = unit->of[setting] ? unit->of[setting] : "";
  while (*(at += strspn(at, " \t\n"))) {
    size_t length = strcspn(at, " \t\n");
    const char *begin = at + strspn(at, "-+\"");
    snprintf(folder, sizeof folder, "%.*s", (int)(at + length - begin), begin);
    folder[strcspn(folder, ":\"")] = 0;
    if (*folder == '/' && unit_is_below(path, folder)) return true;
    at += length;
  }
  return false;
}
/* SPDX-License-Identifier: MIT */
