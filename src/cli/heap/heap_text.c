/* Opening snapshots, and names. */
#include "cli/heap/heap_text.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/open_file.h"
#include "cli/command.h"
#include "cli/text.h"
#include "sources/files/open.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What node 0 dominates besides the holders has several of them. */
static void count_several(struct heap_file *file) {
  const struct dominators *dominators = &file->dominators;
  for (uint32_t node = dominators->nodes[NODE_ALL].child; node != NOWHERE;
       node = dominators->nodes[node].sibling)
    if (node >= file->graph.first_block) {
      file->several += dominators->nodes[node].retained;
      file->several_blocks += dominators->nodes[node].retained_blocks;
    }
}

/* Shown on a terminal if all of it takes longer than a second. */
static void heap_text_show(struct heap_file *file, double done) { progress_show(done, &file->progress); }

static int heap_text_compute(struct heap_file *file) {
  bool enough = dominators_find(&file->dominators, &file->graph);
  heap_text_show(file, 0.9);
  if (!enough || !type_table_make(&file->types, &file->graph, &file->dominators))
    return fail_job("%s: no memory for its blocks", file->name);
  file->reachable = file->dominators.nodes[NODE_ALL].retained;
  count_several(file);
  return 0;
}

static int heap_text_load(struct heap_file *file, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status)) return fail_job("%s: %s", file->name, strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail_job("%s: it is no file", file->name);
  size_t count = (size_t)status.st_size;
  void *bytes = count ? mmap(NULL, count, PROT_READ, MAP_PRIVATE, descriptor, 0) : NULL;
  if (bytes == MAP_FAILED) return fail_job("%s: %s", file->name, strerror(errno));
  wn_status error = graph_load(&file->graph, bytes, count);
  heap_text_show(file, 0.4);
  if (bytes) munmap(bytes, count);
  if (error && source_is_trace(file->name))
    return fail_job("%s: it is a trace, and no heap snapshot: see winnow report", file->name);
  if (error) return fail_job("%s: %s", file->name, error_text());
  if (!file->graph.complete && file->graph.first_block == file->graph.node_count)
    return fail_job("%s: the file is cut or damaged before its first block", file->name);
  return heap_text_compute(file);
}

/* How many rows have a text now; 1 also without memory. */
static uint32_t count_row(struct heap_texts *texts, const char *text) {
  struct index_walk walk = {.hash = hash_bytes(text, strlen(text))};
  uint32_t number;
  while ((number = index_next(&texts->by_text, &walk)))
    if (!strcmp(texts->items[number - 1].text, text)) return ++texts->items[number - 1].rows;
  struct heap_row_text made = {strdup(text), 1};
  if (!made.text || !ARRAY_ADD(texts->items, texts->count, texts->capacity, made))
    free(made.text);
  else
    index_add(&texts->by_text, walk.hash, (uint32_t)texts->count);
  return 1;
}

/* ---- shared ---- */

int heap_join(struct heap_file *file, const char *trace) {
  const char *path = trace ? trace : file->graph.trace;
  if (!path) return 0;
  if (!sites_find(&file->sites, &file->graph, &file->dominators, path)) return 0;
  if (trace) return fail_job("%s: %s", trace, error_text());
  snprintf(file->no_sites, sizeof file->no_sites, "%s", error_text());
  return 0;
}

int heap_open(struct heap_file *file, const char *name) {
  *file = (struct heap_file){.name = name};
  progress_begin(&file->progress, "reading the snapshot");
  int descriptor = open_file(name);
  if (descriptor < 0) return fail_job("%s: %s", name, strerror(errno));
  int code = heap_text_load(file, descriptor);
  progress_end(&file->progress);
  close(descriptor);
  return code;
}

void heap_forget_blocks(struct heap_file *file) {
  type_table_free(&file->types);
  dominators_free(&file->dominators);
  graph_free_nodes(&file->graph);
  file->types = (struct type_table){0};
  file->dominators = (struct dominators){0};
}

void heap_close(struct heap_file *file) {
  sites_free(&file->sites);
  heap_forget_blocks(file);
  graph_free(&file->graph);
}

const char *heap_fit(const char *text, int columns, char fitted[NAME_MOST]) {
  size_t length = strlen(text), all = text_columns(text), room = columns > 3 ? (size_t)columns : 3;
  if (all <= room) {
    snprintf(fitted, NAME_MOST, "%s", text);
    return fitted;
  }
  size_t tail = (room - 1) / 2, head = room - 1 - tail;
  snprintf(fitted, NAME_MOST, "%.*s…%s", (int)text_that_fits(text, length, head), text,
           text + text_that_fits(text, length, all - tail));
  return fitted;
}

void heap_print_name(const char *name, int indent) {
  char fitted[NAME_MOST];
  text_name(stdout, heap_fit(name, text_width() - indent, fitted));
}

void heap_texts_free(struct heap_texts *texts) {
  for (size_t i = 0; i < texts->count; i++) free(texts->items[i].text);
  free(texts->items), free(texts->by_text.slots);
}

void heap_print_row_name(struct heap_texts *texts, const char *name, int indent) {
  char fitted[NAME_MOST], number[16] = "";
  heap_fit(name, text_width() - indent, fitted);
  uint32_t row = count_row(texts, fitted);
  if (row > 1) {
    int columns = snprintf(number, sizeof number, " #%u", row);
    heap_fit(name, text_width() - indent - columns, fitted);
  }
  text_name(stdout, fitted);
  fputs(number, stdout);
}

void heap_print_title(const char *title, const char *explanation) {
  text_style(stdout, STYLE_BOLD);
  fputs(title, stdout);
  text_style(stdout, STYLE_PLAIN);
  text_style(stdout, STYLE_DIM);
  if (*explanation) {
    fputs("   ", stdout);
    text_continue(stdout, explanation, (int)text_columns(title) + 3);
  } else {
    putchar('\n');
  }
  text_style(stdout, STYLE_PLAIN);
}
/* SPDX-License-Identifier: MIT */
