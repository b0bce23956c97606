/* The paths from the roots to the blocks of a name. */
#include "cli/command.h"
#include "cli/heap/wanted.h"
#include "cli/text.h"
#include <stdlib.h>
#include <string.h>

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
