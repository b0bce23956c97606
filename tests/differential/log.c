/* The log of a script, in memory until a quiet point. */
#include "differential/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 80, SESSIONS = 2000 };

struct line {
  int session;
  enum moment moment;
  int dead;           /* the block that died; 0: none did */
  const char *source; /* of that block */
  char text[LINE_MOST];
};

struct lines {
  struct line *all;
  size_t count, room;
};

static struct lines told, finalised;
static long activity;

/* What does not count of a session, since it was discarded. */
static enum { KEEP, FORGET_LATE, FORGET_ALL } forgotten[SESSIONS];

static bool is_forgotten(const struct line *line) {
  if (line->session < 0 || forgotten[line->session] == KEEP) return false;
  return forgotten[line->session] == FORGET_ALL ? line->moment != AT_BIRTH : line->moment == AT_DEATH_MAJOR;
}

static struct line *add_line(struct lines *lines) {
  activity++;
  if (lines->count == lines->room) {
    lines->room = lines->room ? 2 * lines->room : 64;
    lines->all = realloc(lines->all, lines->room * sizeof *lines->all);
    if (!lines->all) abort();
  }
  struct line *line = &lines->all[lines->count++];
  *line = (struct line){.session = -1};
  return line;
}

static void write_death(struct line *line, bool is_blurred) {
  const char *where = is_blurred ? "somewhere" : line->moment == AT_DEATH_MINOR ? "young" : "old";
  if (is_blurred) line->moment = AT_DEATH_MAJOR;
  snprintf(line->text, sizeof line->text, "death %d %s %s %d", line->session, where, line->source,
           line->dead);
}

static int compare(const void *a, const void *b) {
  return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void print_lines(struct lines *lines, bool is_sorted) {
  if (is_sorted && lines->count) qsort(lines->all, lines->count, sizeof *lines->all, compare);
  for (size_t i = 0; i < lines->count; i++)
    if (!is_forgotten(&lines->all[i])) puts(lines->all[i].text);
  lines->count = 0;
}

/* ---- the interface ---- */

void log_begin_script(void) {
  told.count = finalised.count = 0;
  memset(forgotten, 0, sizeof forgotten);
}

long log_activity(void) { return activity; }

void log_told(int session, enum moment moment, const char *format, ...) {
  struct line *line = add_line(&told);
  va_list arguments;
  line->session = session;
  line->moment = moment;
  va_start(arguments, format);
  vsnprintf(line->text, sizeof line->text, format, arguments);
  va_end(arguments);
}

void log_finalised(const char *which, int id) {
  struct line *line = add_line(&finalised);
  snprintf(line->text, sizeof line->text, "%s %d", which, id);
}

void log_death(int session, enum moment moment, const char *source, int id) {
  struct line *line = add_line(&told);
  line->session = session;
  line->moment = moment;
  line->source = source;
  line->dead = id;
}

void log_forget(int session, bool all) {
  if (session >= SESSIONS) abort();
  if (forgotten[session] != FORGET_ALL) forgotten[session] = all ? FORGET_ALL : FORGET_LATE;
}

void log_print(bool is_ordered, const bool *blurred) {
  for (struct line *line = told.all; line < told.all + told.count; line++)
    if (line->dead) write_death(line, blurred[line->dead]);
  print_lines(&finalised, !is_ordered);
  print_lines(&told, true);
}
/* SPDX-License-Identifier: MIT */
