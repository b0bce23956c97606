/* The paths from the roots to the blocks of a type. */
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 64 };

static void print_path(const struct graph *graph, uint32_t node) {
  struct path_step steps[STEPS_MOST];
  size_t count = paths_steps(graph, node, steps, STEPS_MOST), told = count < STEPS_MOST ? count : STEPS_MOST;
  char name[HEAP_NAME_MOST], number[64];
  size_t at = 0;
  fputs("    ", stdout);
  if (count > told)
    printf("(%s before)", text_number_of(number, (double)(count - told), "step"));
  else
    text_name(stdout, heap_holder_name(graph, steps[at++].node, name));
  putchar('\n');
  for (; at < told; at++) {
    fputs("      ", stdout);
    heap_print_step(stdout, graph, &steps[at]);
    putchar('\n');
  }
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
    text_name(stdout, sites->rows[i].name);
    printf(", about %s, by %s\n", text_share(share, bytes[most] / all),
           text_number_of(number, (double)samples, "sampled block"));
  }
  free(bytes);
}

static void print_group(const struct heap_file *file, const struct paths *paths,
                        const struct path_group *group) {
  char bytes[32], share[32], blocks[64];
  text_style(stdout, STYLE_BOLD);
  printf("\n  %s  %s", text_bytes(bytes, (double)group->retained),
         text_share(share, file->graph.bytes ? (double)group->retained / (double)file->graph.bytes : 0));
  text_style(stdout, STYLE_PLAIN);
  printf("   by %s, %s of their own\n", text_number_of(blocks, (double)group->blocks, "block"),
         text_bytes(bytes, (double)group->bytes));
  print_path(&file->graph, group->example);
  print_origin(file, paths, group);
}

/* The row of a type's name; NULL: there is none. Names may be of several types: the one that
 * retains most. */
static const struct type_row *row_of(const struct heap_file *file, const char *type) {
  for (size_t i = 0; i < file->types.count; i++)
    if (!strcmp(graph_type_name(&file->graph, file->types.rows[i].type), type)) return &file->types.rows[i];
  return NULL;
}

/* ---- shared ---- */

int heap_print_paths(const struct heap_file *file, const char *type, size_t top) {
  const struct type_row *row = row_of(file, type);
  struct paths paths = {0};
  if (!row) return fail_job("%s: no reachable block is of the type '%s'", file->name, type);
  if (!paths_find(&paths, &file->graph, &file->dominators, row->type))
    return fail_job("%s: no memory for its paths", file->name);
  heap_print_title("HELD BY", "the shortest path from a root to blocks of this type");
  for (size_t i = 0; i < paths.count && i < top; i++) print_group(file, &paths, &paths.groups[i]);
  if (paths.count > top) printf("\n  %zu more\n", paths.count - top);
  paths_free(&paths);
  return 0;
}
/* SPDX-License-Identifier: MIT */
