/* What grew between two snapshots, or in each step between three. Blocks move, so no block of one
 * is looked for in another: holders and types are compared, by their names. */
#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/text.h"
#include <string.h>

enum { STEPS = 2 };

/* A holder or a type, in all snapshots. */
struct growth {
  char *name;
  uint64_t bytes[STEPS + 1], blocks[STEPS + 1];
  size_t count; /* of snapshots */
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
  struct growth made = {.name = strdup(name), .count = snapshots};
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

static int by_change(const void *a, const void *b) {
  const struct growth *one = a, *other = b;
  int64_t first = change(one, 0, one->count - 1), second = change(other, 0, other->count - 1);
  if (first != second) return first < second ? 1 : -1;
  return strcmp(one->name, other->name);
}

static void print_row(const struct growth *row) {
  char text[40];
  int64_t blocks = (int64_t)(row->blocks[row->count - 1] - row->blocks[0]);
  printf("%11s", text_bytes(text, (double)row->bytes[0]));
  for (size_t i = 1; i < row->count; i++) printf("  %11s", text_change(text, (double)change(row, i - 1, i)));
  printf("  %+11lld  ", (long long)blocks);
  text_name(stdout, row->name);
  putchar('\n');
}

static void print_rows(struct rows *rows, const char *title, const char *explanation, const char *name,
                       size_t count, size_t top) {
  size_t printed = 0, changed = 0;
  array_sort(rows->items, rows->count, sizeof *rows->items, by_change);
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
  if (changed > printed) printf("%31s%zu more\n", "", changed - printed);
}

static bool add_holders(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  bool enough = true;
  char name[HEAP_NAME_MOST];
  for (uint32_t node = NODE_HOLDERS; enough && node < file->graph.first_block; node++)
    enough = add(rows, heap_holder_name(&file->graph, node, name), snapshot, file->dominators.retained[node],
                 file->dominators.retained_blocks[node], count);
  return enough &&
         add(rows, "several of these together", snapshot, file->several, file->several_blocks, count);
}

static bool add_types(struct rows *rows, const struct heap_file *file, size_t snapshot, size_t count) {
  bool enough = true;
  for (size_t i = 0; enough && i < file->types.count; i++) {
    const struct type_row *row = &file->types.rows[i];
    enough = add(rows, graph_type_name(&file->graph, row->type), snapshot, row->retained, row->blocks, count);
  }
  return enough;
}

static void print_total(const struct heap_file *const *files, size_t count) {
  char text[40];
  printf("  Reachable  %s", text_bytes(text, (double)files[0]->graph.bytes));
  for (size_t i = 1; i < count; i++)
    printf(", %s", text_change(text, (double)files[i]->graph.bytes - (double)files[i - 1]->graph.bytes));
  putchar('\n');
}

/* ---- shared ---- */

int heap_print_growth(const struct heap_file *const *files, size_t count, size_t top) {
  struct rows holders = {0}, types = {0};
  bool enough = true;
  for (size_t i = 0; i < count; i++)
    if (!files[i]->graph.complete)
      return fail_job("%s: the file ends early, and cannot be compared", files[i]->name);
  for (size_t i = 0; enough && i < count; i++)
    enough = add_holders(&holders, files[i], i, count) && add_types(&types, files[i], i, count);
  if (enough) {
    print_total(files, count);
    print_rows(&holders, "HELD BY", "what would be freed if the holder let go", "holder", count, top);
    print_rows(&types, "TYPES", "the blocks and all that they hold", "type", count, top);
  }
  rows_free(&holders);
  rows_free(&types);
  return enough ? 0 : fail_job("no memory for the tables");
}
/* SPDX-License-Identifier: MIT */
