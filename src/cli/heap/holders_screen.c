/* The table of holders, and below a large one what it holds, as a tree.
 *
 * ROWS. A row is a chain (cli/heap/chain.h); its numbers are what would be freed if the first block
 * of it let go. Below it stand the HEAVY blocks below its end, and a CROWD: those of the others
 * that are of one type, if together they hold much. So a row has one size, is a part of the row
 * above it, and has no block in common with another one of its depth.
 *
 * The first screen has a few rows below each holder, and --dominators all. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/heap/chain.h"
#include "cli/text.h"
#include "retention/leading.h"

enum {
  HOLDER_COLUMN = 31,
  INDENT = 2,
  LEADING_MOST = 3,
  LARGE = 50, /* a holder of more than the heap / this has rows below it */
  HEAVY = 10, /* and a block of the heap / this is heavy; for --dominators: / HEAVY_ALL */
  HEAVY_ALL = 100,
  ROWS_MOST = 6, /* below a holder; without --dominators */
  DEPTH_MOST = 20,
};

struct holder_row {
  uint32_t node; /* NODE_ALL: what several hold at once */
  uint64_t bytes, blocks;
};

/* A row that is to be printed: a heavy block, or a crowd of `count` blocks of the node's type. */
struct held_row {
  uint32_t node;
  unsigned depth;
  uint64_t bytes, blocks, count;
};

struct tree {
  const struct heap_file *file;
  uint64_t heavy;
  size_t rows_most;
  struct leading leading; /* open while `led` */
  bool led, enough;       /* enough: there was memory */
  struct held_row *rows;  /* that are to be printed, the next one last */
  size_t count, capacity, left_out;
  struct heap_texts texts;
  uint64_t *by_type; /* bytes, while a crowd is looked for; else 0 */
};

/* ---- rows ---- */

static bool is_heavy(const struct tree *tree, const struct chain *chain, uint32_t node) {
  uint64_t bytes = tree->file->dominators.nodes[node].retained;
  return bytes >= tree->heavy || 2 * bytes > chain->bytes;
}

/* How many blocks of a block's type there are below it, and itself, with none of another type
 * between: the entries of a bucket are a list, and count as entries of the table. */
static uint64_t count_alike(const struct heap_file *file, uint32_t top) {
  const struct dominators *of = &file->dominators;
  const uint32_t type = graph_type(&file->graph, top);
  uint64_t count = 0;
  for (uint32_t node = top;;) {
    bool alike = graph_type(&file->graph, node) == type;
    count += alike;
    uint32_t next = alike ? of->nodes[node].child : NOWHERE;
    for (; next == NOWHERE && node != top; node = of->nodes[node].dominator) next = of->nodes[node].sibling;
    if (next == NOWHERE) return count;
    node = next;
  }
}

/* The place in by_type of a block's type, which a damaged file may not have. */
static uint64_t *sum_of_type(struct tree *tree, uint32_t node) {
  const struct graph *graph = &tree->file->graph;
  return &tree->by_type[graph_type(graph, node) < graph->type_count ? graph_type(graph, node)
                                                                    : graph->type_count];
}

/* A block of the type that has the most bytes of those blocks below a chain that are not heavy. */
static uint32_t find_crowd(struct tree *tree, const struct chain *chain) {
  const struct heap_file *file = tree->file;
  uint32_t best = NOWHERE, node;
  struct below below = below_of(file, chain);
  while ((node = below_next(&below)) != NOWHERE) {
    if (is_heavy(tree, chain, node)) continue;
    *sum_of_type(tree, node) += file->dominators.nodes[node].retained;
    if (best == NOWHERE || *sum_of_type(tree, node) > *sum_of_type(tree, best)) best = node;
  }
  memset(tree->by_type, 0, (file->graph.type_count + 1) * sizeof *tree->by_type);
  return best;
}

static int by_row_bytes(const void *a, const void *b) {
  const struct held_row *one = a, *other = b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? -1 : 1;
  return (one->node < other->node) - (one->node > other->node);
}

/* Adds the rows below a chain, the heaviest of which is printed next. */
static void holders_screen_add_rows(struct tree *tree, const struct chain *chain, unsigned depth) {
  const struct heap_file *file = tree->file;
  const struct dominators *of = &file->dominators;
  size_t from = tree->count;
  uint32_t example = find_crowd(tree, chain);
  struct held_row crowd = {.node = example, .depth = depth};
  struct below below = below_of(file, chain);
  for (uint32_t node; (node = below_next(&below)) != NOWHERE;)
    if (is_heavy(tree, chain, node)) {
      struct held_row row = {node, depth, of->nodes[node].retained, of->nodes[node].retained_blocks, 0};
      tree->enough &= ARRAY_ADD(tree->rows, tree->count, tree->capacity, row);
    } else if (graph_type(&file->graph, node) == graph_type(&file->graph, example)) {
      crowd.bytes += of->nodes[node].retained;
      crowd.blocks += of->nodes[node].retained_blocks;
      crowd.count += count_alike(file, node);
    }
  if (crowd.count > 1 && (crowd.bytes >= tree->heavy || 2 * crowd.bytes > chain->bytes))
    tree->enough &= ARRAY_ADD(tree->rows, tree->count, tree->capacity, crowd);
  if (tree->count > from) array_sort(tree->rows + from, tree->count - from, sizeof *tree->rows, by_row_bytes);
}

/* Which holders lead to what several hold. */
static void print_leading(struct tree *tree, const struct held_row *row) {
  const struct heap_file *file = tree->file;
  uint32_t holders[LEADING_MOST];
  size_t count = leading_holders(&tree->leading, row->node, holders, LEADING_MOST), told;
  char name[NAME_MOST], fitted[NAME_MOST], text[5 * NAME_MOST];
  const int indent = HOLDER_COLUMN + 2 * INDENT;
  size_t room = (size_t)text_width() - (size_t)indent, others = sizeof " and 1000000 others";
  snprintf(text, sizeof text, row->count ? "the largest from " : "from ");
  for (told = 0; told < count && told < LEADING_MOST; told++) {
    size_t length = strlen(text);
    heap_fit(holder_name(&file->graph, holders[told], name), told ? 30 : (int)(room - others) - 18, fitted);
    if (told && text_columns(text) + 2 + text_columns(fitted) + (told + 1 < count ? others : 0) > room) break;
    snprintf(text + length, sizeof text - length, "%s%s", told ? ", " : "", fitted);
  }
  printf("%*s", indent, "");
  text_name(stdout, text);
  if (count > told) printf(" and %zu other%s", count - told, count - told > 1 ? "s" : "");
  putchar('\n');
}

static void holders_screen_print_text(struct tree *tree, const char *text, unsigned depth) {
  int indent = (int)depth * INDENT;
  printf("%*s", indent, "");
  heap_print_row_name(&tree->texts, text, HOLDER_COLUMN + indent);
  putchar('\n');
}

/* Prints a row, and puts those below it in front of the others. */
static void holders_screen_print_row(struct tree *tree, const struct held_row *row) {
  const struct heap_file *file = tree->file;
  struct chain chain;
  char number[32], name[NAME_MOST], text[NAME_MOST + 40];
  heap_print_numbers(file, row->bytes, row->blocks);
  if (row->count) {
    const char *type = graph_type_name(&file->graph, graph_type(&file->graph, row->node));
    snprintf(text, sizeof text, "%s x %s", heap_fit(type, 60, name), text_count(number, (double)row->count));
    holders_screen_print_text(tree, text, row->depth);
  } else {
    chain_of_block(&chain, file, row->node);
    holders_screen_print_text(tree, chain.text, row->depth);
  }
  if (tree->led && row->depth == 1) print_leading(tree, row);
  if (row->count) return;
  size_t before = tree->count;
  holders_screen_add_rows(tree, &chain, row->depth + 1);
  if (row->depth < DEPTH_MOST || tree->count == before) return;
  printf("%*s…\n", HOLDER_COLUMN + (DEPTH_MOST + 1) * INDENT, "");
  tree->count = before;
}

/* ---- holders ---- */

static int holders_screen_by_bytes(const void *a, const void *b) {
  const struct holder_row *one = a, *other = b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
  return (one->node > other->node) - (one->node < other->node);
}

static void print_holder(struct tree *tree, const struct holder_row *row) {
  const struct heap_file *file = tree->file;
  bool large = LARGE * row->bytes > file->reachable;
  char name[NAME_MOST];
  struct chain chain;
  const char *text = row->node ? holder_name(&file->graph, row->node, name) : HELD_BY_SEVERAL;
  heap_print_numbers(file, row->bytes, row->blocks);
  if (large) chain_of_holder(&chain, file, row->node, text);
  holders_screen_print_text(tree, large ? chain.text : text, 0);
  if (!large) return;
  tree->led = row->node == NODE_ALL && leading_open(&tree->leading, &file->graph);
  tree->count = 0;
  holders_screen_add_rows(tree, &chain, 1);
  for (size_t i = 0; tree->count && i < tree->rows_most; i++) {
    struct held_row next = tree->rows[--tree->count];
    holders_screen_print_row(tree, &next);
  }
  tree->left_out += tree->count;
  if (row->node == NODE_ALL) leading_close(&tree->leading);
  tree->led = false;
}

/* The holders that hold something, most first. */
static size_t holders_screen_find_holders(const struct heap_file *file, struct holder_row *rows) {
  const struct dominators *dominators = &file->dominators;
  size_t count = 0;
  for (uint32_t node = NODE_HOLDERS; node < file->graph.first_block; node++)
    if (dominators->nodes[node].retained)
      rows[count++] = (struct holder_row){node, dominators->nodes[node].retained,
                                          dominators->nodes[node].retained_blocks};
  if (file->several) rows[count++] = (struct holder_row){NODE_ALL, file->several, file->several_blocks};
  array_sort(rows, count, sizeof *rows, holders_screen_by_bytes);
  return count;
}

/* `all`: with all rows below the holders. */
static void holders_screen_begin(struct tree *tree, const struct heap_file *file, bool all) {
  *tree = (struct tree){.file = file,
                        .heavy = file->reachable / (all ? HEAVY_ALL : HEAVY) + 1,
                        .rows_most = all ? SIZE_MAX : ROWS_MOST,
                        .by_type = calloc(file->graph.type_count + 1, sizeof *tree->by_type)};
  tree->enough = tree->by_type;
  heap_print_title("HELD BY", "what would be freed if it let go; x 10: a list or a group of 10 blocks");
  puts("      bytes  share     blocks  holder");
}

static int holders_screen_end(struct tree *tree) {
  heap_texts_free(&tree->texts);
  free(tree->by_type), free(tree->rows);
  return tree->enough ? 0 : fail_job("%s: no memory for the holders", tree->file->name);
}

/* ---- shared ---- */

int heap_print_holders(const struct heap_file *file, size_t top, bool all, bool *left_out) {
  struct tree tree;
  struct holder_row *rows = array_new(file->graph.holder_count + 1, sizeof *rows);
  putchar('\n');
  holders_screen_begin(&tree, file, all);
  tree.enough = tree.enough && rows;
  size_t count = tree.enough ? holders_screen_find_holders(file, rows) : 0;
  for (size_t i = 0; tree.enough && i < count && i < top; i++) print_holder(&tree, &rows[i]);
  if (tree.enough && count > top) printf("%*s%zu more\n", HOLDER_COLUMN, "", count - top);
  *left_out = tree.left_out > 0;
  free(rows);
  return holders_screen_end(&tree);
}

int heap_print_holder(const struct heap_file *file, uint32_t node) {
  struct tree tree;
  struct holder_row row = {node, file->several, file->several_blocks};
  if (node != NODE_ALL)
    row = (struct holder_row){node, file->dominators.nodes[node].retained,
                              file->dominators.nodes[node].retained_blocks};
  holders_screen_begin(&tree, file, true);
  if (tree.enough) print_holder(&tree, &row);
  return holders_screen_end(&tree);
}
/* SPDX-License-Identifier: MIT */
