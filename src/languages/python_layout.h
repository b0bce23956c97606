/* Where the structures of each CPython keep what a stack of calls is made of.
 *
 * From 3.13 on the interpreter says so itself: its state begins with a table of offsets
 * (_Py_DebugOffsets of Include/internal/pycore_debug_offsets.h). For 3.9 to 3.12 the table is
 * here; the offsets are those that offsetof gives with each version's headers, and no release
 * after the first of a minor version changed them. Whatever says it, the offsets of code objects
 * are compared with those that the interpreter's type `code` gives for its attributes, so a
 * changed build is refused. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a frame tells that the frame further out is run by another activation of the loop. */
enum python_marks {
  PYTHON_EACH_IS_FIRST, /* each frame has its own */
  PYTHON_MARKS_ENTRY,   /* a byte that is not 0: this frame is the first */
  PYTHON_SHIMS          /* a byte of at least PYTHON_SHIM: this is no call, and stands outside of the first */
};
enum { PYTHON_SHIM = 3 };

/* What a frame's position is, and how a code object tells the line of one. */
enum python_lines {
  PYTHON_LNOTAB,    /* 3.9: an index of bytes; pairs of a byte's distance and a line's */
  PYTHON_LINETABLE, /* 3.10: an index of units of two bytes; pairs of a length and a line's distance */
  PYTHON_LOCATIONS, /* since 3.11: the address of a unit; entries of several lengths */
};

/* Offsets in bytes. */
struct python_layout {
  uint16_t minor, pool_bytes;
  uint32_t arena_bytes;
  uint16_t thread_frame;  /* in the thread's state: its innermost frame */
  uint16_t c_frame_frame; /* 3.11 and 3.12: the thread has a C frame there, and this has the frame */
  bool has_c_frame;
  bool tagged;                             /* the lowest bits of a frame's code are flags */
  uint16_t code, previous, position, mark; /* in a frame */
  enum python_marks marks;
  enum python_lines lines;
  uint16_t file, name, qualified, first_line, line_table,
      instructions;                /* in a code object; qualified 0: none */
  uint16_t ascii_text, other_text; /* in a str: where its characters begin */
};

enum { PYTHON_TYPE = 8, PYTHON_SIZE = 16, PYTHON_BYTES = 32, PYTHON_TEXT_STATE = 32 };

/* The first and the last minor version of Python 3 that is known. */
enum { PYTHON_MINOR_LEAST = 9, PYTHON_MINOR_MOST = 15 };

/* The lowest byte of PY_VERSION_HEX of a release; earlier ones may have other layouts. */
enum { PYTHON_FINAL = 0xf0 };

/* `version` is PY_VERSION_HEX; `runtime` is the address of _PyRuntime. On failure returns false
 * and says why. */
bool python_layout_of(uint32_t version, const void *runtime, struct python_layout *layout, const char **why);

/* Whether the attributes of the type `code` lie where the layout says. */
bool python_layout_agrees(const struct python_layout *layout, const void *code_type);
/* SPDX-License-Identifier: MIT */
