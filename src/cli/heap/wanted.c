/* Compares names. */
#include "cli/heap/wanted.h"

#include "cli/command.h"
#include <ctype.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#define CUT "…"

enum { NEAREST = 3, PART = 3, FAR = 1000 };

/* Whether a name is the wanted one, in which CUT stands for anything. */
static bool matches(const char *wanted, const char *name) {
  const char *cut = strstr(wanted, CUT);
  if (!cut) return !strcmp(wanted, name);
  size_t head = (size_t)(cut - wanted), tail = strlen(cut + strlen(CUT)), length = strlen(name);
  return length >= head + tail && !memcmp(wanted, name, head) &&
         !memcmp(cut + strlen(CUT), name + length - tail, tail);
}

/* Takes a count such as " x 20,000" or " #2" from the end. */
static void take_count(char *name, const char *before) {
  size_t end = strlen(name), length = strlen(before);
  while (end && (isdigit((unsigned char)name[end - 1]) || name[end - 1] == ',')) end--;
  if (name[end] && end > length && !memcmp(name + end - length, before, length)) name[end - length] = 0;
}

static void take_copy(struct wanted *wanted) {
  char *next = strstr(wanted->name, " > ");
  if (next) *next = 0;
  take_count(wanted->name, " #");
  take_count(wanted->name, " x ");
}

/* The holder of that name, or NODE_ALL, or NOWHERE. */
static uint32_t find_holder(const struct wanted *wanted) {
  char name[NAME_MOST];
  for (uint32_t node = NODE_HOLDERS; node < wanted->graph->first_block; node++)
    if (matches(wanted->name, holder_name(wanted->graph, node, name)) ||
        (*wanted->name && !strcmp(wanted->name, wanted->graph->holders[node - NODE_HOLDERS].name)))
      return node;
  return matches(wanted->name, HELD_BY_SEVERAL) ? NODE_ALL : NOWHERE;
}

static bool is_there(struct wanted *wanted) {
  wanted->holder = NOWHERE;
  for (uint32_t i = 1; i < wanted->graph->reached; i++)
    if (wanted_is(wanted, wanted->graph->order[i])) return true;
  wanted->holder = find_holder(wanted);
  return wanted->holder != NOWHERE;
}

/* ---- names that are like it ---- */

struct near {
  size_t distance;
  char name[NAME_MOST];
};

/* FAR: more than two in five letters differ, and neither is a part of the other. */
static size_t wanted_distance_of(const char *given, const char *name) {
  size_t distance = text_distance(given, name), one = strnlen(given, TEXT_DISTANCE_MOST),
         other = strnlen(name, TEXT_DISTANCE_MOST);
  if (5 * distance <= 2 * (one > other ? one : other)) return distance;
  return one && other && (strstr(name, given) || strstr(given, name)) ? PART : FAR;
}

static void add_near(struct near near[NEAREST], const char *given, const char *name) {
  size_t distance = wanted_distance_of(given, name), at = NEAREST;
  for (size_t i = 0; i < NEAREST; i++)
    if (!strcmp(near[i].name, name)) return;
  while (at && near[at - 1].distance > distance) at--;
  if (at == NEAREST) return;
  memmove(near + at + 1, near + at, (NEAREST - 1 - at) * sizeof *near);
  near[at].distance = distance;
  snprintf(near[at].name, NAME_MOST, "%s", name);
}

static void find_near(const struct graph *graph, const char *given, struct near near[NEAREST]) {
  char name[NAME_MOST];
  for (size_t i = 0; i < NEAREST; i++) near[i] = (struct near){.distance = FAR};
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++)
    add_near(near, given, holder_name(graph, node, name));
  for (uint32_t type = 0; type < graph->type_count; type++)
    add_near(near, given, graph_type_name(graph, type));
  add_near(near, given, HELD_BY_SEVERAL);
  for (size_t i = 0; i < graph->description_count; i++)
    add_near(near, given, block_name(graph, graph->descriptions[i].node, name));
}

/* ---- shared ---- */

bool wanted_is(void *context, uint32_t node) {
  const struct wanted *wanted = context;
  const struct graph *graph = wanted->graph;
  char name[NAME_MOST];
  if (node < graph->first_block) return false;
  const char *type = graph_type_name(graph, graph_type(graph, node));
  const char *described = graph_description(graph, node);
  if (matches(wanted->name, type)) return true;
  return described &&
         (matches(wanted->name, described) || matches(wanted->name, block_name(graph, node, name)));
}

bool wanted_find(struct wanted *wanted, const struct graph *graph, const char *given) {
  const char *tilde = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 ? strchr(given, '~') : NULL;
  wanted->graph = graph;
  snprintf(wanted->name, sizeof wanted->name, "%s", given);
  if (is_there(wanted)) return true;
  if (tilde) /* CUT, as ascii.h writes it */
    snprintf(wanted->name, sizeof wanted->name, "%.*s" CUT "%s", (int)(tilde - given), given, tilde + 1);
  take_copy(wanted);
  if (*wanted->name && is_there(wanted)) return true;
  char *cut = strstr(wanted->name, CUT);
  if (!cut || cut == wanted->name) return false;
  cut[strlen(CUT)] = 0; /* the end of the first step is cut, too */
  return is_there(wanted);
}

int wanted_fail(const struct heap_file *file, const char *given) {
  struct near near[NEAREST];
  find_near(&file->graph, given, near);
  if (near[0].distance == FAR)
    return fail_job("%s: no reachable block and no root is a '%s'; 'winnow heap %s' prints their names",
                    file->name, given, file->name);
  char names[NEAREST * (NAME_MOST + 8)] = "";
  for (size_t i = 0; i < NEAREST && near[i].distance < FAR; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s'%s'", i ? ", " : "", near[i].name);
  return fail_job("%s: no reachable block and no root is a '%s'; did you mean %s?", file->name, given, names);
}
/* SPDX-License-Identifier: MIT */
