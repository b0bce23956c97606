/* The first screen of a snapshot: how much there is, what holds it, and of which types it is. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include <time.h>

struct holder_row {
  uint32_t node; /* NODE_ALL: what several hold together */
  uint64_t bytes, blocks;
};

static int by_bytes(const void *a, const void *b) {
  const struct holder_row *one = a, *other = b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
  return (one->node > other->node) - (one->node < other->node);
}

static void print_head(const struct heap_file *file) {
  const struct graph *graph = &file->graph;
  time_t seconds = (time_t)(graph->time_ns / 1000000000u);
  struct tm local;
  char when[32] = "", bytes[32], blocks[64];
  if (localtime_r(&seconds, &local)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
  text_style(stdout, STYLE_BOLD);
  text_name(stdout, graph->command && *graph->command ? graph->command : file->name);
  text_style(stdout, STYLE_PLAIN);
  printf("   process %llu at %s, heap of ", (unsigned long long)graph->process, when);
  text_name(stdout, graph->language && *graph->language ? graph->language : "language");
  uint32_t reachable = file->dominators.retained_blocks[NODE_ALL];
  printf("\n\n  Reachable  %10s   in %s, exactly\n", text_bytes(bytes, (double)graph->bytes),
         text_number_of(blocks, reachable, "block"));
  uint32_t garbage = graph->node_count - graph->first_block - reachable;
  uint64_t all = 0;
  for (uint32_t node = graph->first_block; node < graph->node_count; node++) all += graph->node_bytes[node];
  if (garbage)
    printf("  Garbage    %10s   in %s that no collection has freed yet\n",
           text_bytes(bytes, (double)(all - graph->bytes)), text_number_of(blocks, garbage, "block"));
}

static void print_warnings(const struct graph *graph) {
  char number[64];
  if (!graph->complete)
    puts("\n  INCOMPLETE: the file ends early, so blocks, edges and names are missing");
  else if (graph->lost)
    printf("\n  %s to blocks that are not in the file\n",
           text_number_of(number, (double)graph->lost, "reference"));
}

static void print_numbers(const struct heap_file *file, uint64_t bytes, uint64_t blocks) {
  char text[32], share[32], count[32];
  printf("%11s  %5s  %9s  ", text_bytes(text, (double)bytes),
         text_share(share, file->graph.bytes ? (double)bytes / (double)file->graph.bytes : 0),
         text_short_count(count, (double)blocks));
}

/* The node's child that retains at least half of what the node does; NOWHERE: there is none. */
static uint32_t heavy_child(const struct dominators *dominators, uint32_t node) {
  for (uint32_t child = dominators->child[node]; child != NOWHERE; child = dominators->sibling[child])
    if (2 * dominators->retained[child] > dominators->retained[node]) return child;
  return NOWHERE;
}

/* The type of which the most bytes are directly below a node; their number in *count. */
static uint32_t heavy_children(const struct heap_file *file, uint32_t node, uint64_t *count) {
  const struct graph *graph = &file->graph;
  const struct dominators *dominators = &file->dominators;
  uint64_t bytes = 0;
  uint32_t heaviest = NOWHERE;
  *count = 0;
  for (uint32_t child = dominators->child[node]; child != NOWHERE; child = dominators->sibling[child])
    if (heaviest == NOWHERE || dominators->retained[child] > dominators->retained[heaviest]) heaviest = child;
  if (heaviest == NOWHERE) return NOWHERE;
  for (uint32_t child = dominators->child[node]; child != NOWHERE; child = dominators->sibling[child])
    if (graph->node_type[child] == graph->node_type[heaviest]) {
      bytes += dominators->retained[child];
      ++*count;
    }
  return 2 * bytes > dominators->retained[node] ? graph->node_type[heaviest] : NOWHERE;
}

/* From a holder down, as long as one block below retains most of it: "vector > pair x 12 > 4,000 x
 * entry". */
static void print_chain(const struct heap_file *file, uint32_t holder) {
  const struct graph *graph = &file->graph;
  const char *between = "                                ";
  uint32_t node = heavy_child(&file->dominators, holder), last = holder, steps = 0;
  for (uint32_t repeated = 1; node != NOWHERE && steps < HEAP_STEPS_MOST; repeated = 1, steps++) {
    uint32_t next = heavy_child(&file->dominators, node), type = graph->node_type[node];
    char count[32];
    for (last = node; next != NOWHERE && graph->node_type[next] == type; repeated++)
      last = next, next = heavy_child(&file->dominators, next);
    fputs(between, stdout);
    heap_print_block(stdout, graph, repeated > 1 ? last : node);
    if (repeated > 1) printf(" x %s", text_count(count, repeated));
    between = " > ";
    node = next;
  }
  uint64_t count;
  char text[32];
  uint32_t type = node == NOWHERE ? heavy_children(file, last, &count) : NOWHERE;
  if (type != NOWHERE && count > 1) {
    printf("%s%s of ", between, text_count(text, (double)count));
    text_name(stdout, graph_type_name(graph, type));
    between = " > ";
  }
  if (*between == ' ' && between[1] == '>') putchar('\n');
}

static void print_holders(const struct heap_file *file, size_t top) {
  const struct graph *graph = &file->graph;
  struct holder_row *rows = array_new(graph->holder_count + 1, sizeof *rows);
  size_t count = 0;
  if (!rows) return;
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++)
    if (file->dominators.retained_blocks[node])
      rows[count++] =
          (struct holder_row){node, file->dominators.retained[node], file->dominators.retained_blocks[node]};
  if (file->several) rows[count++] = (struct holder_row){NODE_ALL, file->several, file->several_blocks};
  array_sort(rows, count, sizeof *rows, by_bytes);
  heap_print_title("HELD BY", "what would be freed if the holder let go");
  puts("      bytes  share     blocks  holder");
  for (size_t i = 0; i < count && i < top; i++) {
    char name[HEAP_NAME_MOST];
    print_numbers(file, rows[i].bytes, rows[i].blocks);
    text_name(stdout,
              rows[i].node ? heap_holder_name(graph, rows[i].node, name) : "several of these together");
    putchar('\n');
    if (rows[i].node && 50 * rows[i].bytes > graph->bytes) print_chain(file, rows[i].node);
  }
  if (count > top) printf("%31s%zu more\n", "", count - top);
  free(rows);
}

/* The types are in the order of what they retain. */
static int by_own_bytes(const void *a, const void *b) {
  const struct type_row *one = a, *other = b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
  return (one->type > other->type) - (one->type < other->type);
}

static void print_types(const struct heap_file *file, const struct type_row *rows, size_t top) {
  char held[32];
  heap_print_title("TYPES", "held: with all that would be freed with the blocks of the type");
  puts("      bytes  share     blocks       held  type");
  for (size_t i = 0; i < file->types.count && i < top; i++) {
    print_numbers(file, rows[i].bytes, rows[i].blocks);
    printf("%9s  ", text_bytes(held, (double)rows[i].retained));
    text_name(stdout, graph_type_name(&file->graph, rows[i].type));
    putchar('\n');
  }
  if (file->types.count > top) printf("%42s%zu more\n", "", file->types.count - top);
}

static void print_site(const struct heap_file *file, const struct site *site) {
  char bytes[32], range[32], share[32], name[HEAP_NAME_MOST];
  double base = (double)file->graph.bytes;
  printf("%11s  %13s  %5s  ", text_bytes(bytes, site->bytes.estimate), text_short_range(range, &site->bytes),
         text_share(share, base > 0 ? site->bytes.estimate / base : 0));
  text_name(stdout, site->name);
  printf("\n%36sheld by ", "");
  text_name(stdout, site->holder ? heap_holder_name(&file->graph, site->holder, name) : "several together");
  if (site->holder_share < 0.995) printf(", %s", text_share(share, site->holder_share));
  putchar('\n');
}

/* Nothing if the heap was not recorded. */
static void print_sites(const struct heap_file *file, size_t top) {
  char explanation[128], samples[64];
  if (*file->no_sites) {
    fputs("\n  Where blocks were allocated is in the trace ", stdout);
    text_name(stdout, file->graph.trace);
    fputs(", which cannot be read: ", stdout);
    text_name(stdout, file->no_sites);
    putchar('\n');
  }
  if (!file->sites.count) return;
  snprintf(explanation, sizeof explanation, "estimated from %s, with the 95 %% range",
           text_number_of(samples, (double)file->sites.samples, "sampled block"));
  heap_print_title("ALLOCATED IN", explanation);
  puts("      bytes          range  share  function");
  for (size_t i = 0; i < file->sites.count && i < top; i++) print_site(file, &file->sites.rows[i]);
  if (file->sites.count > top) printf("%36s%zu more\n", "", file->sites.count - top);
}

static void print_next(const struct heap_file *file, const struct type_row *row) {
  fputs("\n  Next:  winnow heap --path ", stdout);
  text_word(stdout, graph_type_name(&file->graph, row->type));
  putchar(' ');
  text_file(stdout, file->name);
  puts("        what leads to the blocks of a type");
}

/* ---- shared ---- */

int heap_print_screen(const struct heap_file *file, size_t top) {
  struct type_row *rows = array_new(file->types.count, sizeof *rows);
  if (!rows) return fail_job("no memory for the tables");
  if (file->types.count) memcpy(rows, file->types.rows, file->types.count * sizeof *rows);
  array_sort(rows, file->types.count, sizeof *rows, by_own_bytes);
  print_head(file);
  print_warnings(&file->graph);
  print_holders(file, top);
  print_types(file, rows, top);
  print_sites(file, top);
  if (file->types.count) print_next(file, rows);
  free(rows);
  return 0;
}
/* SPDX-License-Identifier: MIT */
