/* What grew between two snapshots, or in each step between three. Blocks move, so no block of one
 * is looked for in another: holders, names and types are compared. */
#include "analysis/compare/doubts.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "cli/command.h"
#include "cli/heap/chain.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include "retention/leading.h"
#include <math.h>
#include <string.h>
#include <time.h>

enum { STEPS = 2, LEADING_MOST = 2 };

/* Where the names begin, after columns for each step. */
static int name_column(size_t count) { return 26 + 13 * (int)(count - 1); }

/* What the tables say of a row besides its numbers. */
struct growth_text {
  char *text;       /* the chain that it has in the last snapshot; NULL: its name */
  char *held;       /* what holds it there; NULL: nothing else does, or it is gone */
  uint32_t largest; /* of the blocks of a name in the last snapshot, the one that holds most; or 0 */
  uint32_t open;    /* blocks of it above the one where the walk of add_named is */
};

/* A holder, a name or a type, in all snapshots. */
struct growth {
  char *name;
  struct growth_text *last;
  uint64_t bytes[STEPS + 1];
  uint32_t blocks[STEPS + 1];
  uint32_t count; /* of snapshots */
};

struct rows {
  struct growth *items;
  size_t count, capacity;
  struct index by_name;
};

static struct growth *growth_screen_find(struct rows *rows, const char *name, size_t snapshots) {
  struct index_walk walk = {.hash = hash_bytes(name, strlen(name))};
  uint32_t number;
  while ((number = index_next(&rows->by_name, &walk)))
    if (!strcmp(rows->items[number - 1].name, name)) return &rows->items[number - 1];
  struct growth made = {strdup(name), calloc(1, sizeof *made.last), .count = (uint32_t)snapshots};
  if (!made.name || !made.last || !ARRAY_ADD(rows->items, rows->count, rows->capacity, made))
    return free(made.name), free(made.last), NULL;
  return index_add(&rows->by_name, walk.hash, (uint32_t)rows->count) ? &rows->items[rows->count - 1] : NULL;
}

static bool growth_screen_add(struct rows *rows, const char *name, size_t snapshot, uint64_t bytes,
                              uint64_t blocks, size_t snapshots) {
  struct growth *row = growth_screen_find(rows, name, snapshots);
  if (!row) return false;
  row->bytes[snapshot] += bytes;
  row->blocks[snapshot] += (uint32_t)blocks;
  return true;
}

static void rows_free(struct rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    free(rows->items[i].name);
    free(rows->items[i].last->text);
    free(rows->items[i].last->held);
    free(rows->items[i].last);
  }
  free(rows->items), free(rows->by_name.slots);
}

static int64_t growth_screen_change(const struct growth *row, size_t from, size_t to) {
  return (int64_t)(row->bytes[to] - row->bytes[from]);
}

/* What grew most, first; then what shrank most. */
static int growth_screen_by_change(const void *a, const void *b) {
  const struct growth *one = a, *other = b;
  int64_t first = growth_screen_change(one, 0, one->count - 1),
          second = growth_screen_change(other, 0, other->count - 1);
  if ((first > 0) != (second > 0)) return first > 0 ? -1 : 1;
  if (first != second) return (first < second) == (first > 0) ? 1 : -1;
  return strcmp(one->name, other->name);
}

static void growth_screen_print_row(const struct growth *row, struct heap_texts *texts) {
  char text[40];
  int64_t blocks = (int64_t)row->blocks[row->count - 1] - row->blocks[0];
  printf("%11s", text_bytes(text, (double)row->bytes[0]));
  for (size_t i = 1; i < row->count; i++)
    printf("  %11s", text_change(text, (double)growth_screen_change(row, i - 1, i)));
  char count[40];
  snprintf(count, sizeof count, "%c%s", blocks < 0 ? '-' : '+', text_count(text, fabs((double)blocks)));
  printf("  %11s  ", count);
  int column = name_column(row->count);
  heap_print_row_name(texts, row->last->text ? row->last->text : row->name, column);
  putchar('\n');
  if (!row->last->held) return;
  printf("%*s", column + 2, "");
  heap_print_name(row->last->held, column + 2);
  putchar('\n');
}

static void growth_screen_print_rows(struct rows *rows, const char *title, const char *explanation,
                                     const char *name, size_t count, size_t top) {
  size_t printed = 0, changed = 0;
  struct heap_texts texts = {0};
  array_sort(rows->items, rows->count, sizeof *rows->items, growth_screen_by_change);
  putchar('\n');
  heap_print_title(title, explanation);
  printf("     before%s       blocks  %s\n", count > 2 ? "        step 1       step 2" : "       change",
         name);
  for (size_t i = 0; i < rows->count; i++) {
    bool same = true;
    for (size_t k = 1; k < count; k++) same &= !growth_screen_change(&rows->items[i], k - 1, k);
    changed += !same;
    if (!same && printed < top) printed++, growth_screen_print_row(&rows->items[i], &texts);
  }
  heap_texts_free(&texts);
  if (!changed) puts("             nothing changed");
  if (changed > printed) printf("%*s%zu more\n", name_column(count), "", changed - printed);
}

/* ---- what holds the types ---- */

struct type_holder {
  uint32_t node;  /* NODE_ALL: several at once */
  uint64_t bytes; /* of the type's blocks themselves */
};

struct part {
  uint32_t type, node;
  uint64_t bytes;
};

struct summing {
  const struct heap_file *file;
  uint32_t holder, named; /* named: the outermost one, of the node where the walk is; or 0 */
  struct part *parts;
  size_t count, capacity;
  struct index by_part;
  bool enough;
};

static struct part *type_holders_part_of(struct summing *of, uint32_t type, uint32_t node) {
  struct index_walk walk = {.hash = hash_mix((uint64_t)type << 32 | node)};
  uint32_t number;
  while ((number = index_next(&of->by_part, &walk)))
    if (of->parts[number - 1].type == type && of->parts[number - 1].node == node)
      return &of->parts[number - 1];
  of->enough = of->enough && ARRAY_ADD(of->parts, of->count, of->capacity, ((struct part){type, node, 0})) &&
               index_add(&of->by_part, walk.hash, (uint32_t)of->count);
  return of->enough ? &of->parts[of->count - 1] : NULL;
}

static void type_holders_enter(void *context, uint32_t node) {
  struct summing *of = context;
  const struct graph *graph = &of->file->graph;
  if (node == NODE_ALL) return;
  if (of->file->dominators.nodes[node].dominator == NODE_ALL)
    of->holder = node < graph->first_block ? node : NODE_ALL;
  if (node < graph->first_block) return;
  if (!of->named && graph_description(graph, node)) of->named = node;
  struct part *part = type_holders_part_of(of, graph_type(graph, node), of->named ? of->named : of->holder);
  if (part) part->bytes += graph_bytes(graph, node);
}

static void type_holders_leave(void *context, uint32_t node) {
  struct summing *of = context;
  if (node == of->named) of->named = 0;
}

/* What holds most of the blocks of each type: the outermost block that the language describes, or a
 * holder. The caller frees them. NULL without memory. */
static struct type_holder *find_type_holders(const struct heap_file *file) {
  struct summing of = {.file = file, .enough = true};
  uint32_t most = 0;
  for (size_t i = 0; i < file->types.count; i++)
    if (file->types.rows[i].type > most) most = file->types.rows[i].type;
  struct type_holder *holders = calloc((size_t)most + 1, sizeof *holders);
  of.enough = holders;
  if (of.enough)
    dominators_walk(&file->dominators,
                    &(struct dominators_walk){type_holders_enter, type_holders_leave, &of});
  for (size_t i = 0; of.enough && i < of.count; i++) {
    struct type_holder *holder = &holders[of.parts[i].type];
    if (of.parts[i].bytes > holder->bytes)
      *holder = (struct type_holder){of.parts[i].node, of.parts[i].bytes};
  }
  free(of.parts), free(of.by_part.slots);
  if (!of.enough) free(holders), holders = NULL;
  return holders;
}

/* ---- the tables ---- */

static const char *node_name(const struct graph *graph, uint32_t node, char name[NAME_MOST]) {
  if (node == NODE_ALL) return "several at once";
  return node < graph->first_block ? holder_name(graph, node, name) : block_name(graph, node, name);
}

/* What several hold the most, and which lead to that. */
static void say_several(struct growth_text *last, const struct heap_file *file) {
  const struct dominated *nodes = file->dominators.nodes;
  uint32_t largest = NOWHERE, holders[LEADING_MOST];
  char one[NAME_MOST], other[NAME_MOST] = "";
  struct leading leading;
  struct chain chain;
  for (uint32_t node = nodes[NODE_ALL].child; node != NOWHERE; node = nodes[node].sibling)
    if (node >= file->graph.first_block &&
        (largest == NOWHERE || nodes[node].retained > nodes[largest].retained))
      largest = node;
  if (largest == NOWHERE) return;
  chain_of_block(&chain, file, largest);
  if (asprintf(&last->text, HELD_BY_SEVERAL ", most of all %s", chain.text) < 0) last->text = NULL;
  if (leading_open(&leading, &file->graph)) {
    size_t count = leading_holders(&leading, largest, holders, LEADING_MOST);
    if (count > 1) holder_name(&file->graph, holders[1], other);
    if (count && asprintf(&last->held, "from %s%s%s%s", holder_name(&file->graph, holders[0], one),
                          *other ? ", " : "", other, count > LEADING_MOST ? " and others" : "") < 0)
      last->held = NULL;
  }
  leading_close(&leading);
}

/* The chain of a holder of the last snapshot. */
static void set_chain(struct rows *rows, const struct heap_file *file, uint32_t node, const char *name,
                      size_t snapshots) {
  struct growth *row = growth_screen_find(rows, name, snapshots);
  struct chain chain;
  if (!row || !file->dominators.nodes[node].retained) return;
  chain_of_holder(&chain, file, node, name);
  free(row->last->text);
  row->last->text = strdup(chain.text);
}

static bool add_holders(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  bool enough = true;
  char name[NAME_MOST];
  for (uint32_t node = NODE_HOLDERS; enough && node < file->graph.first_block; node++)
    enough = growth_screen_add(rows, holder_name(&file->graph, node, name), snapshot,
                               file->dominators.nodes[node].retained,
                               file->dominators.nodes[node].retained_blocks, count);
  enough = enough &&
           growth_screen_add(rows, HELD_BY_SEVERAL, snapshot, file->several, file->several_blocks, count);
  if (!enough || snapshot + 1 < count) return enough;
  for (uint32_t node = NODE_HOLDERS; node < file->graph.first_block; node++)
    set_chain(rows, file, node, holder_name(&file->graph, node, name), count);
  say_several(growth_screen_find(rows, HELD_BY_SEVERAL, count)->last, file);
  return true;
}

/* Sets `held` of the types. Types of one name are one row, which has the holder of the largest. */
static bool say_holders(struct rows *rows, const struct heap_file *file, size_t snapshots) {
  char name[NAME_MOST], share[32];
  struct type_holder *holders = find_type_holders(file);
  bool enough = holders;
  for (size_t i = 0; enough && i < file->types.count; i++) {
    const struct type_row *type = &file->types.rows[i];
    const struct type_holder *holder = &holders[type->type];
    struct growth *row = growth_screen_find(rows, graph_type_name(&file->graph, type->type), snapshots);
    if (!row || row->last->held || !holder->bytes) continue;
    if (asprintf(&row->last->held, "%s held by %s",
                 text_share(share, (double)holder->bytes / (double)type->bytes),
                 node_name(&file->graph, holder->node, name)) < 0)
      row->last->held = NULL;
  }
  free(holders);
  return enough;
}

static bool growth_screen_add_types(struct rows *rows, const struct heap_file *file, size_t snapshot,
                                    size_t count) {
  bool enough = true;
  for (size_t i = 0; enough && i < file->types.count; i++) {
    const struct type_row *row = &file->types.rows[i];
    enough = growth_screen_add(rows, graph_type_name(&file->graph, row->type), snapshot, row->bytes,
                               row->blocks, count);
  }
  return enough && (snapshot + 1 < count || say_holders(rows, file, count));
}

/* The walk over the blocks that the language describes. What blocks of one name hold of each other
 * counts once. */
struct naming {
  struct rows *rows;
  const struct heap_file *file;
  size_t snapshot, count;
  bool enough;
};

static struct growth *named(struct naming *of, uint32_t node) {
  char name[NAME_MOST];
  if (node < of->file->graph.first_block || !graph_description(&of->file->graph, node)) return NULL;
  struct growth *row = growth_screen_find(of->rows, block_name(&of->file->graph, node, name), of->count);
  of->enough &= row != NULL;
  return row;
}

static void enter_named(void *context, uint32_t node) {
  struct naming *of = context;
  struct growth *row = named(of, node);
  if (!row || row->last->open++) return;
  const struct dominated *nodes = of->file->dominators.nodes;
  if (of->snapshot + 1 == of->count &&
      nodes[node].retained > nodes[row->last->largest].retained * !!row->last->largest)
    row->last->largest = node;
  row->bytes[of->snapshot] += of->file->dominators.nodes[node].retained;
  row->blocks[of->snapshot] += of->file->dominators.nodes[node].retained_blocks;
}

static void leave_named(void *context, uint32_t node) {
  struct growth *row = named(context, node);
  if (row) row->last->open--;
}

/* Of a name in the last snapshot. */
static void complete_named(struct growth *row, const struct heap_file *file) {
  struct chain chain;
  char name[NAME_MOST];
  uint32_t top = row->last->largest;
  if (!top) return;
  chain_of_block(&chain, file, row->last->largest);
  while (top >= file->graph.first_block) top = file->dominators.nodes[top].dominator;
  row->last->text = strdup(chain.text);
  if (asprintf(&row->last->held, "held by %s", node_name(&file->graph, top, name)) < 0)
    row->last->held = NULL;
}

static bool add_named(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  struct naming of = {rows, file, snapshot, count, true};
  if (!file->graph.description_count) return true;
  dominators_walk(&file->dominators, &(struct dominators_walk){enter_named, leave_named, &of});
  for (size_t i = 0; of.enough && i < rows->count; i++) complete_named(&rows->items[i], file);
  return of.enough;
}

static void print_time(const struct graph *graph) {
  time_t seconds = (time_t)(graph->time_ns / 1000000000u);
  struct tm local;
  char when[32] = "";
  if (localtime_r(&seconds, &local)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
  fputs(when, stdout);
}

static const char *command_of(const struct heap_file *file) {
  return file->graph.command ? file->graph.command : "";
}

/* Whose snapshots they are, and when each was made. */
static void growth_screen_print_head(const struct heap_file *files, size_t count) {
  static const char *const two[] = {"before", "after"}, *const three[] = {"before", "step 1", "step 2"};
  char text[32];
  text_style(stdout, STYLE_BOLD);
  heap_print_name(*command_of(&files[0]) ? command_of(&files[0]) : files[0].name, 24);
  text_style(stdout, STYLE_PLAIN);
  printf("   process %llu\n\n", (unsigned long long)files[0].graph.process);
  for (size_t i = 0; i < count; i++) {
    printf("  %-9s  ", (count > 2 ? three : two)[i]);
    print_time(&files[i].graph);
    if (i) {
      uint64_t before = files[i - 1].graph.time_ns, now = files[i].graph.time_ns;
      if (now == before)
        fputs("  of the same moment: is it the same file?", stdout);
      else
        printf("  %s %s", text_time(text, now < before ? before - now : now - before),
               now < before ? "earlier" : "later");
    }
    putchar('\n');
  }
}

static void print_doubts(const struct heap_file *files, size_t count) {
  struct trace_run runs[STEPS + 1] = {0};
  const struct doubt *doubts[DOUBTS_MOST];
  for (size_t i = 0; i < count; i++) {
    runs[i].command = trace_text_of(command_of(&files[i]));
    runs[i].pid = (uint32_t)files[i].graph.process;
    runs[i].wall_ns = files[i].graph.time_ns;
  }
  count = doubts_of_runs(runs, count, doubts);
  for (size_t i = 0; i < count; i++) printf("\n  %s: %s\n", doubts[i]->title, doubts[i]->text);
}

static void print_total(const struct heap_file *files, size_t count) {
  char text[40];
  printf("\n  Reachable  %s", text_bytes(text, (double)files[0].reachable));
  for (size_t i = 1; i < count; i++) {
    printf(", then %s", text_bytes(text, (double)files[i].reachable));
    printf(" (%s)", text_change(text, (double)files[i].reachable - (double)files[i - 1].reachable));
  }
  putchar('\n');
}

/* The rows are in the order of what grew. */
static void growth_screen_print_next(const struct heap_file *files, size_t count, const struct rows *named) {
  bool grew = named->count && growth_screen_change(&named->items[0], 0, count - 1) > 0;
  fputs("\n  Next:  winnow html ", stdout); /* the page compares two */
  text_file(stdout, files[0].name), putchar(' '), text_file(stdout, files[count - 1].name);
  puts("   (a picture of the difference)");
  if (!grew) return;
  fputs("         winnow heap --path ", stdout);
  text_word(stdout, named->items[0].name), putchar(' '), text_file(stdout, files[count - 1].name);
  puts("   (what leads to it)");
}

/* ---- shared ---- */

int heap_print_growth(char *const *names, size_t count, size_t top) {
  struct heap_file files[STEPS + 1] = {{0}};
  struct rows holders = {0}, named = {0}, types = {0};
  int code = 0;
  for (size_t i = 0; !code && i < count; i++) {
    code = heap_open(&files[i], names[i]);
    if (!code && (!add_holders(&holders, &files[i], i, count) || !add_named(&named, &files[i], i, count) ||
                  !growth_screen_add_types(&types, &files[i], i, count)))
      code = fail_job("no memory for the tables");
    heap_forget_blocks(&files[i]);
  }
  for (size_t i = 0; !code && i < count; i++)
    if (!files[i].graph.complete)
      code = fail_job("%s: the file ends early, and cannot be compared", files[i].name);
  if (!code) {
    growth_screen_print_head(files, count);
    print_doubts(files, count);
    print_total(files, count);
    growth_screen_print_rows(&holders, "HELD BY", "what would be freed if it let go", "holder", count, top);
    if (named.count)
      growth_screen_print_rows(&named, "HELD BY NAME", "the same for what the language names", "name", count,
                               top);
    growth_screen_print_rows(&types, "TYPES", "the blocks themselves", "type", count, top);
    growth_screen_print_next(files, count, &named);
  }
  rows_free(&holders);
  rows_free(&named);
  rows_free(&types);
  for (size_t i = 0; i < count; i++) heap_close(&files[i]);
  return code;
}
/* SPDX-License-Identifier: MIT */
