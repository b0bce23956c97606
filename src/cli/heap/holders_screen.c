/* The table of holders, and below a large one its branches.
 *
 * BRANCHES. A branch goes down the tree of dominators to a block that holds much, and its bytes are
 * those of its end. It goes on as long as blocks below its end have a tenth of the heap, or one of
 * them most of what the end holds; at two or three such blocks it splits. More are summed up, if
 * most are of one type. A step behind which much is lost has its bytes. Blocks of one type of which
 * each holds most of the one before, as in a list, are one step: a run. */
#include "base/array.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include "retention/leading.h"

enum {
  BRANCHES_MOST = 3,
  STEPS_MOST = 12,
  STEP_COLUMNS = 36,
  HOLDER_COLUMN = 31,
  BRANCH_COLUMN = 33,
  LEADING_MOST = 3,
  LARGE = 50, /* a holder of more than the heap / this has branches */
  HEAVY = 10, /* and so has each block */
};

struct holder_row {
  uint32_t node; /* NODE_ALL: what several hold at once */
  uint64_t bytes, blocks;
};

struct branch {
  uint32_t begin;       /* the first block: below the holder; the largest of several */
  uint32_t first, last; /* the run at its end */
  uint64_t bytes;
  uint32_t steps;
  bool ended;
  char text[STEPS_MOST * (4 * STEP_COLUMNS + 64)];
};

/* The next block of a run; NOWHERE: there is none. */
static uint32_t next_of_run(const struct heap_file *file, uint32_t node) {
  const struct graph *graph = &file->graph;
  const struct dominators *of = &file->dominators;
  if (node < graph->first_block || graph_description(graph, node)) return NOWHERE;
  for (uint32_t child = of->child[node]; child != NOWHERE; child = of->sibling[child])
    if (2 * of->retained[child] > of->retained[node])
      return graph->node_type[child] == graph->node_type[node] && !graph_description(graph, child) ? child
                                                                                                   : NOWHERE;
  return NOWHERE;
}

/* A walk over the blocks directly below a run. */
struct below {
  const struct heap_file *file;
  uint32_t last, next_of_run, child;
};

static void enter_run(struct below *below, uint32_t node) {
  below->child = below->file->dominators.child[node];
  below->next_of_run = node == below->last ? NOWHERE : next_of_run(below->file, node);
}

static struct below below_of(const struct heap_file *file, const struct branch *branch) {
  struct below below = {.file = file, .last = branch->last};
  enter_run(&below, branch->first);
  return below;
}

static uint32_t below_next(struct below *below) {
  for (;;) {
    uint32_t node = below->child;
    if (node == NOWHERE && below->next_of_run == NOWHERE) return NOWHERE;
    if (node == NOWHERE) {
      enter_run(below, below->next_of_run);
      continue;
    }
    below->child = below->file->dominators.sibling[node];
    if (node >= below->file->graph.first_block && node != below->next_of_run) return node;
  }
}

/* ---- branches ---- */

static void add_text(struct branch *branch, const char *text) {
  size_t length = strlen(branch->text);
  snprintf(branch->text + length, sizeof branch->text - length, "%s", text);
}

static void add_bytes(struct branch *branch) {
  char text[40], bytes[32];
  snprintf(text, sizeof text, " (%s)", text_bytes(bytes, (double)branch->bytes));
  add_text(branch, text);
}

static void add_run(const struct heap_file *file, struct branch *branch, uint32_t node) {
  char name[HEAP_NAME_MOST], fitted[HEAP_NAME_MOST], count[32];
  uint32_t repeated = 1;
  branch->first = branch->last = node;
  branch->bytes = file->dominators.retained[node];
  for (uint32_t next; (next = next_of_run(file, branch->last)) != NOWHERE; repeated++) branch->last = next;
  if (branch->steps++)
    add_text(branch, " > ");
  else
    branch->begin = node;
  add_text(branch, heap_fit(heap_block_name(&file->graph, node, name), STEP_COLUMNS, fitted));
  if (repeated > 1) add_text(branch, " x "), add_text(branch, text_count(count, repeated));
}

/* Ends a branch; if most of what is below are blocks of one type, with the number of these. */
static void end_branch(const struct heap_file *file, struct branch *branch) {
  const struct graph *graph = &file->graph;
  const uint64_t *retained = file->dominators.retained;
  char fitted[HEAP_NAME_MOST], number[32];
  uint32_t heaviest = NOWHERE, node;
  uint64_t bytes = 0, count = 0;
  struct below below = below_of(file, branch);
  branch->ended = true;
  while ((node = below_next(&below)) != NOWHERE)
    if (heaviest == NOWHERE || retained[node] > retained[heaviest]) heaviest = node;
  if (heaviest == NOWHERE) return;
  for (below = below_of(file, branch); (node = below_next(&below)) != NOWHERE;)
    if (graph->node_type[node] == graph->node_type[heaviest]) bytes += retained[node], count++;
  if (count < 2 || 2 * bytes <= branch->bytes) return;
  if (branch->steps && 4 * bytes < 3 * branch->bytes) add_bytes(branch);
  if (branch->steps)
    add_text(branch, " > ");
  else
    branch->begin = heaviest;
  add_text(branch, text_count(number, (double)count));
  add_text(branch, " of ");
  add_text(branch, heap_fit(graph_type_name(graph, graph->node_type[heaviest]), STEP_COLUMNS, fitted));
  branch->bytes = bytes;
}

/* Writes those blocks below a branch with which it goes on, the heaviest first, and returns how
 * many there are. */
static size_t find_heavy(const struct heap_file *file, const struct branch *branch,
                         uint32_t heavy[BRANCHES_MOST]) {
  const uint64_t *retained = file->dominators.retained;
  struct below below = below_of(file, branch);
  size_t count = 0;
  for (uint32_t node; (node = below_next(&below)) != NOWHERE;) {
    if (HEAVY * retained[node] < file->graph.bytes && 2 * retained[node] <= branch->bytes) continue;
    size_t at = count < BRANCHES_MOST ? count : BRANCHES_MOST;
    for (; at && retained[node] > retained[heavy[at - 1]]; at--)
      if (at < BRANCHES_MOST) heavy[at] = heavy[at - 1];
    if (at < BRANCHES_MOST) heavy[at] = node;
    count++;
  }
  return count;
}

/* Takes the branch one step further: it ends, or becomes up to BRANCHES_MOST in all. */
static size_t go_on(const struct heap_file *file, struct branch *branches, size_t count, size_t at) {
  uint32_t heavy[BRANCHES_MOST];
  size_t found = find_heavy(file, &branches[at], heavy), room = BRANCHES_MOST - count + 1;
  const struct branch before = branches[at];
  if (!found || (found > room && before.steps) || before.steps == STEPS_MOST) {
    if (found && before.steps == STEPS_MOST)
      branches[at].ended = true, add_text(&branches[at], " > ...");
    else
      end_branch(file, &branches[at]);
    return count;
  }
  for (size_t i = 0; i < found && i < room; i++) {
    struct branch *branch = &branches[i ? count++ : at];
    *branch = before;
    if (before.steps && (found > 1 || 4 * file->dominators.retained[heavy[i]] < 3 * before.bytes))
      add_bytes(branch);
    add_run(file, branch, heavy[i]);
  }
  return count;
}

static int by_branch_bytes(const void *a, const void *b) {
  const struct branch *one = *(const struct branch *const *)a, *other = *(const struct branch *const *)b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
  return (one->first > other->first) - (one->first < other->first);
}

/* Prints a branch, without its first steps if it is longer than the line. */
static void print_branch(const struct branch *branch) {
  char bytes[32], fitted[HEAP_NAME_MOST];
  const char *text = branch->text, *next;
  size_t room = (size_t)text_width() - BRANCH_COLUMN;
  printf("%*s  ", BRANCH_COLUMN - 2, text_bytes(bytes, (double)branch->bytes));
  while (text_columns(text) + (text != branch->text ? 4 : 0) > room && (next = strstr(text, " > ")))
    text = next + 3;
  if (text != branch->text) fputs("… > ", stdout), room -= 4;
  text_name(stdout, heap_fit(text, (int)room, fitted));
  putchar('\n');
}

static void print_leading(const struct heap_file *file, struct leading *leading,
                          const struct branch *branch) {
  uint32_t holders[LEADING_MOST];
  size_t count = leading_holders(leading, branch->begin, holders, LEADING_MOST), told;
  char name[HEAP_NAME_MOST], fitted[HEAP_NAME_MOST], text[5 * HEAP_NAME_MOST];
  size_t room = (size_t)text_width() - BRANCH_COLUMN, others = sizeof " and 1000000 others";
  snprintf(text, sizeof text, branch->steps ? "from " : "the largest from ");
  for (told = 0; told < count && told < LEADING_MOST; told++) {
    size_t length = strlen(text);
    heap_fit(heap_holder_name(&file->graph, holders[told], name), told ? 30 : (int)(room - others) - 18,
             fitted);
    if (told && text_columns(text) + 2 + text_columns(fitted) + (told + 1 < count ? others : 0) > room) break;
    snprintf(text + length, sizeof text - length, "%s%s", told ? ", " : "", fitted);
  }
  printf("%*s", BRANCH_COLUMN, "");
  text_name(stdout, text);
  if (count > told) printf(" and %zu other%s", count - told, count - told > 1 ? "s" : "");
  putchar('\n');
}

/* NODE_ALL: of what several hold at once. */
static void print_branches(const struct heap_file *file, const struct holder_row *row) {
  struct branch branches[BRANCHES_MOST] = {{.first = row->node, .last = row->node, .bytes = row->bytes}};
  struct branch *sorted[BRANCHES_MOST];
  struct leading leading = {0};
  size_t count = 1;
  for (;;) {
    size_t at = count;
    for (size_t i = 0; i < count; i++)
      if (!branches[i].ended && (at == count || branches[i].bytes > branches[at].bytes)) at = i;
    if (at == count) break;
    count = go_on(file, branches, count, at);
  }
  for (size_t i = 0; i < count; i++) sorted[i] = &branches[i];
  array_sort(sorted, count, sizeof *sorted, by_branch_bytes);
  bool led = row->node == NODE_ALL && leading_open(&leading, &file->graph);
  for (size_t i = 0; i < count && *sorted[i]->text; i++) {
    print_branch(sorted[i]);
    if (led) print_leading(file, &leading, sorted[i]);
  }
  leading_close(&leading);
}

/* ---- holders ---- */

static int by_bytes(const void *a, const void *b) {
  const struct holder_row *one = a, *other = b;
  if (one->bytes != other->bytes) return one->bytes < other->bytes ? 1 : -1;
  return (one->node > other->node) - (one->node < other->node);
}

static void print_holder(const struct heap_file *file, const struct holder_row *row) {
  char name[HEAP_NAME_MOST];
  heap_print_numbers(file, row->bytes, row->blocks);
  heap_print_name(row->node ? heap_holder_name(&file->graph, row->node, name) : HEAP_SEVERAL,
                  HOLDER_COLUMN + (row->blocks ? 0 : 10));
  puts(row->blocks ? "" : "  (shared)");
  if (LARGE * row->bytes > file->graph.bytes) print_branches(file, row);
}

/* ---- shared ---- */

void heap_print_holders(const struct heap_file *file, size_t top) {
  const struct graph *graph = &file->graph;
  struct holder_row *rows = array_new(graph->holder_count + 1, sizeof *rows);
  size_t count = 0;
  if (!rows) return;
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++)
    if (graph->edge_begin[node + 1] > graph->edge_begin[node])
      rows[count++] =
          (struct holder_row){node, file->dominators.retained[node], file->dominators.retained_blocks[node]};
  if (file->several) rows[count++] = (struct holder_row){NODE_ALL, file->several, file->several_blocks};
  array_sort(rows, count, sizeof *rows, by_bytes);
  heap_print_title("HELD BY",
                   "what would be freed if the holder let go; shared: others lead to all of it, too");
  puts("      bytes  share     blocks  holder");
  for (size_t i = 0; i < count && i < top; i++) print_holder(file, &rows[i]);
  if (count > top) printf("%*s%zu more\n", HOLDER_COLUMN, "", count - top);
  free(rows);
}
/* SPDX-License-Identifier: MIT */
