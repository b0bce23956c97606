/* Fetches debug files before names are looked up, of the modules that are worth it. */
#pragma once

#include "analysis/load/names.h"
#include "symbols/symbols.h"

static inline struct symbol_module names_module(const struct trace_module *module) {
  return (struct symbol_module){module->path.bytes, module->build_id, module->build_id_bytes, module->size};
}

/* As symbols_fetch, of which it returns the text. */
char *names_fetch(const struct samples *samples, struct symbols *symbols, names_progress *progress,
                  void *context);
/* SPDX-License-Identifier: MIT */
