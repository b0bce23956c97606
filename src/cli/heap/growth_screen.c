/* What grew between two snapshots, or in each step between three. Blocks move, so no block of one
 * is looked for in another: holders, names and types are compared. */
#include "analysis/compare/doubts.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include <math.h>
#include <string.h>
#include <time.h>

enum { STEPS = 2 };

/* Where the names begin, after columns for each step. */
static int name_column(size_t count) { return 26 + 13 * (int)(count - 1); }

/* A holder, a name or a type, in all snapshots. */
struct growth {
  char *name;
  uint64_t bytes[STEPS + 1], blocks[STEPS + 1];
  uint32_t count; /* of snapshots */
  uint32_t open;  /* blocks of it above the one where the walk of add_named is */
};

struct rows {
  struct growth *items;
  size_t count, capacity;
  struct index by_name;
};

static struct growth *find(struct rows *rows, const char *name, size_t snapshots) {
  struct index_walk walk = {.hash = hash_bytes(name, strlen(name))};
  uint32_t number;
  while ((number = index_next(&rows->by_name, &walk)))
    if (!strcmp(rows->items[number - 1].name, name)) return &rows->items[number - 1];
  struct growth made = {.name = strdup(name), .count = (uint32_t)snapshots};
  if (!made.name || !ARRAY_ADD(rows->items, rows->count, rows->capacity, made)) return free(made.name), NULL;
  return index_add(&rows->by_name, walk.hash, (uint32_t)rows->count) ? &rows->items[rows->count - 1] : NULL;
}

static bool add(struct rows *rows, const char *name, size_t snapshot, uint64_t bytes, uint64_t blocks,
                size_t snapshots) {
  struct growth *row = find(rows, name, snapshots);
  if (!row) return false;
  row->bytes[snapshot] += bytes;
  row->blocks[snapshot] += blocks;
  return true;
}

static void rows_free(struct rows *rows) {
  for (size_t i = 0; i < rows->count; i++) free(rows->items[i].name);
  free(rows->items), free(rows->by_name.slots);
}

static int64_t change(const struct growth *row, size_t from, size_t to) {
  return (int64_t)(row->bytes[to] - row->bytes[from]);
}

/* What grew most, first; then what shrank most. */
static int by_change(const void *a, const void *b) {
  const struct growth *one = a, *other = b;
  int64_t first = change(one, 0, one->count - 1), second = change(other, 0, other->count - 1);
  if ((first > 0) != (second > 0)) return first > 0 ? -1 : 1;
  if (first != second) return (first < second) == (first > 0) ? 1 : -1;
  return strcmp(one->name, other->name);
}

static void print_row(const struct growth *row) {
  char text[40];
  int64_t blocks = (int64_t)(row->blocks[row->count - 1] - row->blocks[0]);
  printf("%11s", text_bytes(text, (double)row->bytes[0]));
  for (size_t i = 1; i < row->count; i++) printf("  %11s", text_change(text, (double)change(row, i - 1, i)));
  char count[40];
  snprintf(count, sizeof count, "%c%s", blocks < 0 ? '-' : '+', text_count(text, fabs((double)blocks)));
  printf("  %11s  ", count);
  heap_print_name(row->name, name_column(row->count));
  putchar('\n');
}

static void print_rows(struct rows *rows, const char *title, const char *explanation, const char *name,
                       size_t count, size_t top) {
  size_t printed = 0, changed = 0;
  array_sort(rows->items, rows->count, sizeof *rows->items, by_change);
  putchar('\n');
  heap_print_title(title, explanation);
  printf("     before%s       blocks  %s\n", count > 2 ? "        step 1       step 2" : "       change",
         name);
  for (size_t i = 0; i < rows->count; i++) {
    bool same = true;
    for (size_t k = 1; k < count; k++) same &= !change(&rows->items[i], k - 1, k);
    changed += !same;
    if (!same && printed < top) printed++, print_row(&rows->items[i]);
  }
  if (!changed) puts("             nothing changed");
  if (changed > printed) printf("%*s%zu more\n", name_column(count), "", changed - printed);
}

static bool add_holders(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  bool enough = true;
  char name[NAME_MOST];
  for (uint32_t node = NODE_HOLDERS; enough && node < file->graph.first_block; node++)
    enough = add(rows, holder_name(&file->graph, node, name), snapshot, file->dominators.nodes[node].retained,
                 file->dominators.nodes[node].retained_blocks, count);
  return enough && add(rows, HELD_BY_SEVERAL, snapshot, file->several, file->several_blocks, count);
}

static bool add_types(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  bool enough = true;
  for (size_t i = 0; enough && i < file->types.count; i++) {
    const struct type_row *row = &file->types.rows[i];
    enough = add(rows, graph_type_name(&file->graph, row->type), snapshot, row->bytes, row->blocks, count);
  }
  return enough;
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
  struct growth *row = find(of->rows, block_name(&of->file->graph, node, name), of->count);
  of->enough &= row != NULL;
  return row;
}

static void enter_named(void *context, uint32_t node) {
  struct naming *of = context;
  struct growth *row = named(of, node);
  if (!row || row->open++) return;
  row->bytes[of->snapshot] += of->file->dominators.nodes[node].retained;
  row->blocks[of->snapshot] += of->file->dominators.nodes[node].retained_blocks;
}

static void leave_named(void *context, uint32_t node) {
  struct growth *row = named(context, node);
  if (row) row->open--;
}

static bool add_named(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  struct naming of = {rows, file, snapshot, count, true};
  if (!file->graph.description_count) return true;
  dominators_walk(&file->dominators, &(struct dominators_walk){enter_named, leave_named, &of});
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
static void print_head(const struct heap_file *files, size_t count) {
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
  for (size_t i = 1; i < count; i++)
    printf(", %s", text_change(text, (double)files[i].reachable - (double)files[i - 1].reachable));
  putchar('\n');
}

/* The rows are in the order of what grew. */
static void print_next(const struct heap_file *files, size_t count, const struct rows *named) {
  bool grew = named->count && change(&named->items[0], 0, count - 1) > 0;
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
                  !add_types(&types, &files[i], i, count)))
      code = fail_job("no memory for the tables");
    heap_forget_blocks(&files[i]);
  }
  for (size_t i = 0; !code && i < count; i++)
    if (!files[i].graph.complete)
      code = fail_job("%s: the file ends early, and cannot be compared", files[i].name);
  if (!code) {
    print_head(files, count);
    print_doubts(files, count);
    print_total(files, count);
    print_rows(&holders, "HELD BY", "what would be freed if it let go", "holder", count, top);
    if (named.count)
      print_rows(&named, "HELD BY NAME", "the same for what the language names", "name", count, top);
    print_rows(&types, "TYPES", "the blocks themselves", "type", count, top);
    print_next(files, count, &named);
  }
  rows_free(&holders);
  rows_free(&named);
  rows_free(&types);
  for (size_t i = 0; i < count; i++) heap_close(&files[i]);
  return code;
}
/* SPDX-License-Identifier: MIT */
