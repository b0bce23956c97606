/* Tells whether a program has a garbage-collected heap of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Of several files' answers, the greatest is the program's. */
enum collected {
  COLLECTED_NONE,         /* no sign of one was found */
  COLLECTED_GO,           /* it has Go's */
  COLLECTED_OCAML_SILENT, /* it has OCaml's, but is not linked with the OCaml package winnow */
  COLLECTED_OCAML_ASKS,   /* it has OCaml's, and writes a trace of it if WINNOW_TRACE is set */
  COLLECTED_SILENT,       /* it has Winnow's, but never calls wn_trace_if_requested */
  COLLECTED_ASKS          /* it has Winnow's, and writes a trace of it if WINNOW_TRACE is set */
};

/* Judges by the symbols and sections of a program's or library's file. A file with another build-id than the
 * given one is treated as having no heap. 0 bytes: the build-id is not known. */
enum collected collected_in_file(const char *path, const unsigned char *build_id, size_t build_id_bytes);

/* Whether the program writes a trace of that heap if WINNOW_TRACE is set. */
bool collected_asks(enum collected collected);

/* Name the heap, as in "the program has %s", and say how to look into it, as in "; %s", in static memory. */
const char *collected_heap_name(enum collected collected);
const char *collected_advice(enum collected collected);
/* SPDX-License-Identifier: MIT */
