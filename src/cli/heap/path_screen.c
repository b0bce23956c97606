/* The paths from the roots to the blocks of a name. */
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include <ctype.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a name means ---- */

/* What a name of `--path` means: blocks, or a holder. A name may be copied from a table: then it is
 * the first step of a row's chain, what counts blocks or rows behind it is no part of it, and "…"
 * ("~" where the locale has no such letter) stands for anything, and may stand for the end of the
 * first step. A name that means something as it is, is no such copy. */
struct wanted {
  const struct graph *graph;
  char name[NAME_MOST];
  uint32_t holder; /* its node, if no block has the name; NODE_ALL: what several hold at once; or NOWHERE */
};

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

/* Whether a block has the name: that of its type, or what the language says of it, or both; a
 * paths_wanted. */
static bool wanted_is(void *context, uint32_t node) {
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

/* Of a graph that was searched. False: no reachable block and no holder has the name. */
static bool wanted_find(struct wanted *wanted, const struct graph *graph, const char *given) {
  const char *tilde = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 ? strchr(given, '~') : NULL;
  wanted->graph = graph;
  snprintf(wanted->name, sizeof wanted->name, "%s", given);
  if (is_there(wanted)) return true;
  if (tilde) /* CUT, as ascii.c writes it */
    snprintf(wanted->name, sizeof wanted->name, "%.*s" CUT "%s", (int)(tilde - given), given, tilde + 1);
  take_copy(wanted);
  if (*wanted->name && is_there(wanted)) return true;
  char *cut = strstr(wanted->name, CUT);
  if (!cut || cut == wanted->name) return false;
  cut[strlen(CUT)] = 0; /* the end of the first step is cut, too */
  return is_there(wanted);
}

/* Says that nothing has the name, and which names are like it. Returns the exit code. */
static int wanted_fail(const struct heap_file *file, const char *given) {
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

/* ---- the paths ---- */

enum { STEPS_MOST = 64, HOLDER_INDENT = 4, STEP_INDENT = 6 };

/* `alone`: the group has this path only; else those of its other blocks are longer or shorter where
 * there are several of a type. The data of an ephemeron hang on one of its conditions in the graph
 * (retention/graph.h). */
static void print_step(const struct graph *graph, const struct path_step *step, bool alone) {
  uint32_t parent = graph->parent[step->first];
  const char *field = NULL;
  char name[NAME_MOST], text[2 * NAME_MOST + 128], number[32], count[48] = "", index[16];
  if (step->field < FIELD_MOST) field = graph_field_name(graph, graph_type(graph, parent), step->field);
  snprintf(index, sizeof index, "%u", step->field);
  if (step->blocks > 1)
    snprintf(count, sizeof count, alone ? " x %s" : " (one or more)", text_count(number, step->blocks));
  block_name(graph, step->node, name);
  if (step->field == FIELD_DATA)
    snprintf(text, sizeof text, "(data, also needs the ephemeron and all of its keys) %s%s", name, count);
  else if (step->field == FIELD_MOST)
    snprintf(text, sizeof text, "[*] %s%s", name, count);
  else
    snprintf(text, sizeof text, ".%.*s %s%s", NAME_MOST, field ? field : index, name, count);
  printf("%*s", STEP_INDENT, "");
  heap_print_name(step->field == FIELD_ROOT ? text + strcspn(text, " ") + 1 : text, STEP_INDENT);
  putchar('\n');
}

static uint32_t holder_of(const struct graph *graph, uint32_t node) {
  while (node >= graph->first_block) node = graph->parent[node];
  return node;
}

/* Whether the blocks that dominate a node are all of one holder's, and it is this one. */
static bool holds(const struct dominators *dominators, uint32_t holder, uint32_t node) {
  while (node != holder && node != NODE_ALL) node = dominators->nodes[node].dominator;
  return node == holder;
}

static void print_path(const struct heap_file *file, uint32_t node, bool alone) {
  const struct graph *graph = &file->graph;
  struct path_step steps[STEPS_MOST];
  size_t count = paths_steps(graph, node, steps, STEPS_MOST), told = count < STEPS_MOST ? count : STEPS_MOST;
  uint32_t holder = holder_of(graph, node);
  char name[NAME_MOST], number[64];
  printf("%*s", HOLDER_INDENT, "");
  heap_print_name(holder_name(graph, holder, name), HOLDER_INDENT);
  putchar('\n');
  if (count > told + 1)
    printf("%*s... %s\n", STEP_INDENT, "", text_number_of(number, (double)(count - told - 1), "step"));
  for (size_t at = count == told; at < told; at++) print_step(graph, &steps[at], alone);
  if (!holds(&file->dominators, holder, node)) printf("%*salso led to by others\n", HOLDER_INDENT, "");
}

/* Where most of a group's blocks were allocated, if some of them were sampled. */
static void print_origin(const struct heap_file *file, const struct paths *paths,
                         const struct path_group *group) {
  const struct graph *graph = &file->graph;
  const struct sites *sites = &file->sites;
  double *bytes = calloc(sites->count + 1, sizeof *bytes), all = 0;
  size_t most = 0, samples = 0;
  char share[32], number[64];
  for (size_t i = 0; bytes && sites->count && i < graph->sample_count; i++) {
    uint32_t site = sites->of_sample[i];
    if (!site || paths->of_node[graph->samples[i].node] != group->number) continue;
    bytes[site] += sites->bytes[i];
    all += sites->bytes[i];
    samples++;
    if (bytes[site] > bytes[most]) most = site;
  }
  for (size_t i = 0; most && i < sites->count; i++) {
    if (sites->rows[i].number != most) continue;
    fputs("    allocated in ", stdout);
    heap_print_name(sites->rows[i].name, 64); /* with what follows */
    printf(", about %s, by %s\n", text_share(share, bytes[most] / all),
           text_number_of(number, (double)samples, "sampled block"));
  }
  free(bytes);
}

static void path_screen_print_group(const struct heap_file *file, const struct paths *paths,
                                    const struct path_group *group) {
  char bytes[32], share[32], blocks[64];
  text_style(stdout, STYLE_BOLD);
  printf("\n  %s  %s", text_bytes(bytes, (double)group->retained),
         text_share(share, file->reachable ? (double)group->retained / (double)file->reachable : 0));
  text_style(stdout, STYLE_PLAIN);
  printf("   by %s, %s of their own\n", text_number_of(blocks, (double)group->blocks, "block"),
         text_bytes(bytes, (double)group->bytes));
  print_path(file, group->example, group->blocks == 1);
  print_origin(file, paths, group);
}

static int print_paths(const struct heap_file *file, struct wanted *wanted, size_t top) {
  struct paths paths = {0};
  int code = 0;
  if (!paths_find(&paths, &file->graph, &file->dominators, wanted_is, wanted))
    code = fail_job("%s: no memory for its paths", file->name);
  else
    heap_print_title("LED TO BY", "a shortest path from a root to such blocks, and what these hold");
  for (size_t i = 0; !code && i < paths.count && i < top; i++)
    path_screen_print_group(file, &paths, &paths.groups[i]);
  if (!code && paths.count > top) printf("\n  %zu more\n", paths.count - top);
  paths_free(&paths);
  return code;
}

/* ---- shared ---- */

int heap_print_paths(const struct heap_file *file, const char *of, size_t top) {
  struct wanted wanted;
  if (!wanted_find(&wanted, &file->graph, of)) return wanted_fail(file, of);
  return wanted.holder == NOWHERE ? print_paths(file, &wanted, top) : heap_print_holder(file, wanted.holder);
}
/* SPDX-License-Identifier: MIT */
