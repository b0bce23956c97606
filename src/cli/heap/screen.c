/* The first screen of a snapshot: how much there is, what holds it, and of which types it is. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include <time.h>

enum {
  TYPE_COLUMN = 42,
  SITE_COLUMN = 40,
  SMALL = 1000 /* a site of less than the heap / this is only counted */
};

static void print_warnings(const struct graph *graph) {
  char number[64];
  if (!graph->complete)
    puts("\n  INCOMPLETE: the file ends early, so blocks, edges and names are missing");
  else if (graph->lost)
    printf("\n  %s to blocks that are not in the file\n",
           text_number_of(number, (double)graph->lost, "reference"));
}

/* The types are in the order of what they retain. */
static int by_own_bytes(const void *a, const void *b) {
  const struct type_row *one = a, *other = b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
  return (one->type > other->type) - (one->type < other->type);
}

static void print_types(const struct heap_file *file, const struct type_row *rows, size_t top) {
  char held[32];
  struct heap_texts texts = {0};
  putchar('\n');
  heap_print_title("TYPES", "bytes: the blocks themselves; held: with what each of them alone holds");
  puts("      bytes  share     blocks       held  type");
  for (size_t i = 0; i < file->types.count && i < top; i++) {
    heap_print_numbers(file, rows[i].bytes, rows[i].blocks);
    printf("%9s  ", text_bytes(held, (double)rows[i].retained));
    heap_print_row_name(&texts, graph_type_name(&file->graph, rows[i].type), TYPE_COLUMN);
    putchar('\n');
  }
  heap_texts_free(&texts);
  if (file->types.count > top) printf("%*s%zu more\n", TYPE_COLUMN, "", file->types.count - top);
}

static void screen_print_site(const struct heap_file *file, const struct site *site) {
  char bytes[32], range[32], share[32], name[NAME_MOST], held[NAME_MOST + 16];
  double base = (double)file->reachable;
  printf("%11s  %13s  %5s  ", text_bytes(bytes, site->bytes.estimate), text_short_range(range, &site->bytes),
         text_share(share, base > 0 ? site->bytes.estimate / base : 0));
  heap_print_name(site->name, SITE_COLUMN);
  printf("\n%*s", SITE_COLUMN, "");
  const char *holder = site->named    ? block_name(&file->graph, site->named, name)
                       : site->holder ? holder_name(&file->graph, site->holder, name)
                                      : "several at once";
  double held_share = site->named ? site->named_share : site->holder_share;
  snprintf(held, sizeof held, "%s held by %s", held_share < 0.995 ? text_share(share, held_share) : "all",
           holder);
  heap_print_name(held, SITE_COLUMN);
  putchar('\n');
}

/* Nothing if the heap was not recorded. */
static void screen_print_sites(const struct heap_file *file, size_t top) {
  char explanation[128], samples[64];
  if (*file->no_sites) {
    fputs("\n  Where blocks were allocated is in the trace ", stdout);
    text_name(stdout, file->graph.trace);
    fputs(", which cannot be read: ", stdout);
    text_name(stdout, file->no_sites);
    putchar('\n');
  }
  if (!file->sites.count) return;
  snprintf(explanation, sizeof explanation, "estimates from %s with headers, each with its own 95 %% range",
           text_number_of(samples, (double)file->sites.samples, "sampled block"));
  putchar('\n');
  heap_print_title("ALLOCATED IN", explanation);
  puts("      bytes          range  share  function");
  size_t told = 0;
  while (told < file->sites.count && told < top &&
         (!told || SMALL * file->sites.rows[told].bytes.estimate >= (double)file->reachable))
    screen_print_site(file, &file->sites.rows[told++]);
  if (file->sites.count > told) printf("%*s%zu more\n", SITE_COLUMN, "", file->sites.count - told);
}

/* A command, with what it prints if that fits. The words and `after` need no quotes. */
static void screen_print_command(const char *words, const char *name, const char *file, const char *after,
                                 const char *what) {
  size_t columns = 9 + strlen(words) + text_columns(name) + text_columns(file) + strlen(after) + strlen(what);
  fputs(words, stdout);
  if (*name) text_word(stdout, name), putchar(' ');
  text_file(stdout, file);
  printf("%s%s\n", after, columns + 4 > (size_t)text_width() ? "" : what); /* 4: quotes */
}

static void screen_print_next(const struct heap_file *file, const struct type_row *rows, bool left_out) {
  if (file->types.count)
    screen_print_command("\n  Next:  winnow heap --path ", graph_type_name(&file->graph, rows->type),
                         file->name, "", "   (what leads to them)");
  screen_print_command(file->types.count ? "         winnow heap " : "\n  Next:  winnow heap ", "",
                       file->name, " LATER", "   (what grew, from a second snapshot)");
  screen_print_command("         winnow view ", "", file->name, "", "   (a picture of what holds what)");
  if (left_out)
    screen_print_command("         winnow heap --dominators ", "", file->name, "", "   (more of HELD BY)");
}

/* ---- shared ---- */

void heap_print_numbers(const struct heap_file *file, uint64_t bytes, uint64_t blocks) {
  char text[32], share[32], count[32];
  printf("%11s  %5s  %9s  ", text_bytes(text, (double)bytes),
         text_share(share, file->reachable ? (double)bytes / (double)file->reachable : 0),
         text_short_count(count, (double)blocks));
}

void heap_print_head(const struct heap_file *file) {
  const struct graph *graph = &file->graph;
  uint64_t reachable_bytes = file->reachable, all = 0;
  time_t seconds = (time_t)(graph->time_ns / 1000000000u);
  struct tm local;
  char when[32] = "", bytes[32], blocks[64];
  if (localtime_r(&seconds, &local)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
  text_style(stdout, STYLE_BOLD);
  text_name(stdout, graph->command && *graph->command ? graph->command : file->name);
  text_style(stdout, STYLE_PLAIN);
  printf("   process %llu at %s", (unsigned long long)graph->process, when);
  if (graph->language && *graph->language) {
    fputs(", heap of ", stdout);
    text_name(stdout, graph->language);
  }
  uint32_t reachable = file->dominators.nodes[NODE_ALL].retained_blocks;
  printf("\n\n  Reachable  %10s   in %s%s\n", text_bytes(bytes, (double)reachable_bytes),
         text_number_of(blocks, reachable, "block"),
         graph->complete ? " with headers, exactly" : " that the file has, with headers");
  uint32_t garbage = graph->node_count - graph->first_block - reachable;
  for (uint32_t node = graph->first_block; node < graph->node_count; node++) all += graph_bytes(graph, node);
  if (garbage)
    printf("  Garbage    %10s   in %s that no collection has freed yet\n",
           text_bytes(bytes, (double)(all - reachable_bytes)), text_number_of(blocks, garbage, "block"));
  print_warnings(graph);
}

int heap_print_screen(const struct heap_file *file, size_t top) {
  struct type_row *rows = array_new(file->types.count, sizeof *rows);
  bool left_out;
  int code;
  if (!rows) return fail_job("no memory for the tables");
  if (file->types.count) memcpy(rows, file->types.rows, file->types.count * sizeof *rows);
  array_sort(rows, file->types.count, sizeof *rows, by_own_bytes);
  heap_print_head(file);
  code = heap_print_holders(file, top, false, &left_out);
  if (!code) {
    print_types(file, rows, top);
    screen_print_sites(file, top);
    screen_print_next(file, rows, left_out);
  }
  free(rows);
  return code;
}
/* SPDX-License-Identifier: MIT */
