/* Resolving the nodes of a trace, each once. */
#include "analysis/names.h"

#include "base/error.h"
#include "symbols/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MOST = 64 };

struct resolving {
  struct names *names;
  struct symbols *symbols; /* NULL: addresses only */
  const struct samples *samples;
  size_t frame_count, frame_capacity;
};

static const char *base_name(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

static bool append(struct resolving *resolving, struct frame frame) {
  if (resolving->frame_count == resolving->frame_capacity) {
    size_t larger = resolving->frame_capacity ? resolving->frame_capacity * 2 : 1024;
    struct frame *moved = realloc(resolving->names->frame, larger * sizeof *moved);
    if (!moved) return false;
    resolving->names->frame = moved;
    resolving->frame_capacity = larger;
  }
  resolving->names->frame[resolving->frame_count++] = frame;
  return true;
}

/* "libfoo.so+0x1234", or the address for code outside any file. */
static bool append_address(struct resolving *resolving, const char *module, uint64_t offset) {
  char text[512];
  struct strings *strings = &resolving->names->strings;
  snprintf(text, sizeof text, "%s%s0x%llx", module, *module ? "+" : "", (unsigned long long)offset);
  return append(resolving, (struct frame){.function = strings_intern(strings, text),
                                          .module = strings_intern(strings, module)});
}

static uint32_t intern(struct resolving *resolving, const char *text) {
  return strings_intern(&resolving->names->strings, text ? text : "");
}

static struct symbol_module symbol_module_of(const struct trace_module *module) {
  return (struct symbol_module){module->path.bytes, module->build_id, module->build_id_bytes, module->size};
}

/* A return address in a file, and what was inlined there. */
static bool append_symbols(struct resolving *resolving, const struct trace_module *module, uint64_t offset) {
  struct symbol_frame found[INLINED_MOST];
  struct symbol_module described = symbol_module_of(module);
  size_t count = symbols_resolve(resolving->symbols, &described, offset, found, INLINED_MOST);
  uint32_t name = intern(resolving, base_name(module->path.bytes));
  for (size_t i = 0; i < count; i++) {
    struct frame frame = {intern(resolving, found[i].function), name, intern(resolving, found[i].file),
                          found[i].line > 0 ? (uint32_t)found[i].line : 0, found[i].inlined};
    if (!append(resolving, frame)) return false;
  }
  return true;
}

static bool resolve_node(struct resolving *resolving, uint32_t node) {
  struct trace_node found = trace_reader_node(resolving->samples->reader, node);
  const struct trace_module *module =
      found.module ? trace_reader_module(resolving->samples->reader, found.module) : NULL;
  bool in_file = module && module->path.length;
  resolving->names->first[node] = (uint32_t)resolving->frame_count;
  bool done = in_file && resolving->symbols
                  ? append_symbols(resolving, module, found.offset)
                  : append_address(resolving, in_file ? base_name(module->path.bytes) : "", found.offset);
  resolving->names->count[node] = (uint32_t)(resolving->frame_count - resolving->names->first[node]);
  return done;
}

/* What would give more names, for the modules that stand in most nodes. */
static void collect_hint(struct resolving *resolving) {
  struct trace_reader *reader = resolving->samples->reader;
  char *text = NULL;
  size_t size = 0, said = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  for (uint32_t module = 1; module <= trace_reader_modules(reader) && said < 4; module++) {
    const char *hint = "";
    const struct trace_module *found = trace_reader_module(reader, module);
    if (!found->path.length) continue;
    struct symbol_module described = symbol_module_of(found);
    symbols_state(resolving->symbols, &described, &hint);
    if (*hint) fprintf(out, "%s%s", said++ ? "\n" : "", hint);
  }
  fclose(out);
  if (said)
    resolving->names->hint = text;
  else
    free(text);
}

static bool resolve_all(struct resolving *resolving, samples_progress *progress, void *context) {
  uint32_t nodes = trace_reader_nodes(resolving->samples->reader);
  struct names *names = resolving->names;
  names->first = calloc((size_t)nodes + 1, sizeof *names->first);
  names->count = calloc((size_t)nodes + 1, sizeof *names->count);
  if (!names->first || !names->count) return false;
  for (uint32_t node = 1; node <= nodes; node++) {
    if (!resolve_node(resolving, node)) return false;
    if (progress && node % 256 == 0) progress((double)node / nodes, context);
  }
  return true;
}

/* ---- shared ---- */

wn_status names_resolve(const struct samples *samples, const struct names_options *options,
                        samples_progress *progress, void *context, struct names *names) {
  *names = (struct names){0};
  struct resolving resolving = {.names = names, .samples = samples};
  struct symbols_options lookup = {.debuginfod = options->debuginfod, .search = options->search};
  if (options->symbols) resolving.symbols = symbols_open(&lookup);
  bool done = strings_create(&names->strings) && resolve_all(&resolving, progress, context);
  if (done && resolving.symbols) collect_hint(&resolving);
  symbols_close(resolving.symbols);
  if (done) return WN_OK;
  names_destroy(names);
  return error_set(WN_ENOMEM, "not enough memory for the names");
}

void names_destroy(struct names *names) {
  strings_destroy(&names->strings);
  free(names->frame);
  free(names->first);
  free(names->count);
  free(names->hint);
  *names = (struct names){0};
}

struct frames names_of(const struct names *names, uint32_t node) {
  return (struct frames){names->frame + names->first[node], names->count[node]};
}
/* SPDX-License-Identifier: MIT */
