/* The layouts. */
#include "languages/python_layout.h"

#include <string.h>

/* Three lines each, in the order of the struct: what a version has, and the thread's state; a
 * frame; a code object and a str. */
/* clang-format off */
static const struct python_layout tables[] = {
    { 9,  4096, 256 << 10, 24, 0, false, false,
     32, 24, 104,  0, PYTHON_EACH_IS_FIRST, PYTHON_LNOTAB,
     104, 112,   0, 40, 120,   0, 48, 72},
    {10, 16384, 1 << 20,   24, 0, false, false,
     32, 24,  96,  0, PYTHON_EACH_IS_FIRST, PYTHON_LINETABLE,
     104, 112,   0, 40, 120,   0, 48, 72},
    {11, 16384, 1 << 20,   56, 8, true,  false,
     32, 48,  56, 68, PYTHON_MARKS_ENTRY,   PYTHON_LOCATIONS,
     112, 120, 128, 72, 136, 184, 48, 72},
    {12, 16384, 1 << 20,   56, 0, true,  false,
      0,  8,  56, 70, PYTHON_SHIMS,         PYTHON_LOCATIONS,
     112, 120, 128, 68, 136, 192, 40, 56},
};
/* clang-format on */

/* ---- the interpreter's own table ---- */

/* Where _Py_DebugOffsets has the offsets that are needed: groups were inserted in 3.14 and
 * 3.15. */
struct debug_places {
  uint16_t current_frame, previous, executable, instr_ptr, owner;
  uint16_t filename, name, qualname, linetable, firstlineno, co_code_adaptive;
  uint16_t ob_type, ob_size, ob_sval, state, asciiobject_size;
};
static const struct debug_places places[] = {
    {184, 232, 240, 248, 264, 280, 288, 296, 304, 312, 344, 360, 520, 528, 544, 560},
    {208, 256, 264, 272, 288, 320, 328, 336, 344, 352, 384, 408, 600, 608, 624, 640},
    {208, 320, 328, 336, 352, 384, 392, 400, 408, 416, 448, 472, 696, 704, 720, 736}};
enum { DEBUG_MINOR_LEAST = 13, COOKIE_BYTES = 8, VERSION_AT = 8, FREE_THREADED_AT = 16 };

/* Offsets of a structure of the interpreter: none is so large. */
enum { OFFSET_MOST = 4096 };

/* sizeof (PyCompactUnicodeObject) - sizeof (PyASCIIObject): a length and a pointer. */
enum { COMPACT_MORE = 16 };

static uint64_t python_layout_word_at(const void *table, size_t offset) {
  uint64_t word;
  memcpy(&word, (const char *)table + offset, sizeof word);
  return word;
}

static uint16_t offset_at(const void *table, uint16_t place, bool *good) {
  uint64_t word = python_layout_word_at(table, place);
  *good &= word <= OFFSET_MOST;
  return (uint16_t)word;
}

static bool read_debug_offsets(const void *runtime, unsigned minor, struct python_layout *layout) {
  const struct debug_places *at = &places[minor - DEBUG_MINOR_LEAST];
  bool good = true;
  *layout = (struct python_layout){.minor = (uint16_t)minor,
                                   .pool_bytes = 16384,
                                   .arena_bytes = 1 << 20,
                                   .thread_frame = offset_at(runtime, at->current_frame, &good),
                                   .tagged = minor >= 14,
                                   .code = offset_at(runtime, at->executable, &good),
                                   .previous = offset_at(runtime, at->previous, &good),
                                   .position = offset_at(runtime, at->instr_ptr, &good),
                                   .mark = offset_at(runtime, at->owner, &good),
                                   .marks = PYTHON_SHIMS,
                                   .lines = PYTHON_LOCATIONS,
                                   .file = offset_at(runtime, at->filename, &good),
                                   .name = offset_at(runtime, at->name, &good),
                                   .qualified = offset_at(runtime, at->qualname, &good),
                                   .first_line = offset_at(runtime, at->firstlineno, &good),
                                   .line_table = offset_at(runtime, at->linetable, &good),
                                   .instructions = offset_at(runtime, at->co_code_adaptive, &good),
                                   .ascii_text = offset_at(runtime, at->asciiobject_size, &good)};
  layout->other_text = layout->ascii_text + COMPACT_MORE;
  return good && offset_at(runtime, at->ob_type, &good) == PYTHON_TYPE &&
         offset_at(runtime, at->ob_size, &good) == PYTHON_SIZE &&
         offset_at(runtime, at->ob_sval, &good) == PYTHON_BYTES &&
         offset_at(runtime, at->state, &good) == PYTHON_TEXT_STATE;
}

static bool layout_of_debug_offsets(uint32_t version, const void *runtime, struct python_layout *layout,
                                    const char **why) {
  *why = "its table of offsets is of another kind";
  if (memcmp(runtime, "xdebugpy", COOKIE_BYTES) || python_layout_word_at(runtime, VERSION_AT) != version)
    return false;
  *why = "it runs without a global lock, which is not supported";
  if (python_layout_word_at(runtime, FREE_THREADED_AT)) return false;
  *why = "its table of offsets is of another kind";
  return read_debug_offsets(runtime, version >> 16 & 0xff, layout);
}

/* ---- the attributes of `code` ---- */

/* PyTypeObject.tp_members, and what is needed of PyMemberDef. */
enum { MEMBERS_AT = 240, MEMBER_BYTES = 40, MEMBER_OFFSET_AT = 16, MEMBERS_MOST = 64 };

/* The offset of an attribute; -1: there is none of that name. */
static int64_t attribute(const void *code_type, const char *wanted) {
  const char *member = (const char *)(uintptr_t)python_layout_word_at(code_type, MEMBERS_AT);
  for (unsigned i = 0; member && i < MEMBERS_MOST; i++, member += MEMBER_BYTES) {
    const char *name = (const char *)(uintptr_t)python_layout_word_at(member, 0);
    if (!name) break;
    if (!strcmp(name, wanted)) return (int64_t)python_layout_word_at(member, MEMBER_OFFSET_AT);
  }
  return -1;
}

/* ---- shared ---- */

bool python_layout_of(uint32_t version, const void *runtime, struct python_layout *layout, const char **why) {
  unsigned minor = version >> 16 & 0xff;
  *why = "this version is not known";
  if ((version & 0xf0) != PYTHON_FINAL || version >> 24 != 3 || minor < PYTHON_MINOR_LEAST ||
      minor > PYTHON_MINOR_MOST)
    return false;
  if (minor >= DEBUG_MINOR_LEAST) return layout_of_debug_offsets(version, runtime, layout, why);
  *layout = tables[minor - PYTHON_MINOR_LEAST];
  return true;
}

bool python_layout_agrees(const struct python_layout *layout, const void *code_type) {
  return attribute(code_type, "co_filename") == layout->file &&
         attribute(code_type, "co_name") == layout->name &&
         attribute(code_type, "co_firstlineno") == layout->first_line &&
         (!layout->qualified || attribute(code_type, "co_qualname") == layout->qualified) &&
         (layout->lines == PYTHON_LNOTAB || attribute(code_type, "co_linetable") == layout->line_table);
}
/* SPDX-License-Identifier: MIT */
