/* Names for the frames of a trace's stacks. */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include "analysis/samples.h"
#include "analysis/strings.h"
#include <winnow/status.h>

/* One function at one place; strings by number. */
struct frame {
  uint32_t function; /* demangled, or module+0xaddress */
  uint32_t module;   /* the file's name without its folder; empty for code outside any file */
  uint32_t file;     /* source file, or empty */
  uint32_t line;     /* 0: unknown */
  uint32_t first_column, last_column; /* 0: unknown */
  uint32_t place; /* the exact place where no line is known: function (module+0xaddress) */
  bool inlined;   /* into the frame that follows */
  bool wrapper;   /* set by wrappers_find: allocates for its caller */
};

struct frames {
  const struct frame *frame; /* innermost first: inlined ones, then the function they are in */
  size_t count;
};

struct names {
  struct strings *strings; /* perhaps shared with other traces */
  bool owns_strings;
  struct frame *frame;     /* of all nodes, one run each */
  uint32_t *first, *count; /* index: node of the trace */
  char *hint;              /* what would give more names, or NULL */
};

/* Resolves every node that `samples` has. With `symbols` false nothing is looked up and frames are
 * module+offset. */
struct names_options {
  bool symbols, debuginfod;
  struct strings *strings;   /* where to keep names, so that several traces have equal numbers; NULL: apart */
  const char *const *search; /* folders with binaries and debug files, NULL-terminated; or NULL */
};
wn_status names_resolve(const struct samples *samples, const struct names_options *options,
                        samples_progress *progress, void *context, struct names *names);
void names_destroy(struct names *names);

/* The frames of one node: of the code address alone, without its callers. */
struct frames names_of(const struct names *names, uint32_t node);

#endif
/* SPDX-License-Identifier: MIT */
