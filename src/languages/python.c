/* Finds the interpreter, and describes its calls. */
#include "languages/python.h"

#include "base/hash.h"
#include "languages/python_lines.h"
#include "languages/python_text.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects ---- */

static uintptr_t python_word_at(uintptr_t object, size_t offset) {
  uintptr_t word;
  memcpy(&word, (const void *)(object + offset), sizeof word);
  return word;
}

/* ENDING. A pointer to another object; 0: there is none that may be used. */
static uintptr_t pointer_at(const struct python *python, uintptr_t object, size_t offset) {
  uintptr_t pointer = python_word_at(object, offset);
  return python->is_ending() ? 0 : pointer;
}

static int32_t python_int_at(uintptr_t object, size_t offset) {
  int32_t number;
  memcpy(&number, (const void *)(object + offset), sizeof number);
  return number;
}

static bool python_is_of(uintptr_t object, uintptr_t type) {
  return object && python_word_at(object, PYTHON_TYPE) == type;
}

/* NULL if it cannot be read. */
static const char *python_text_of(const struct python *python, uintptr_t text, char *buffer) {
  return python_is_of(text, python->str_type) ? python_text(&python->layout, (const void *)text, buffer)
                                              : NULL;
}

/* ---- calls ---- */

/* The position of a frame's call in its code, in bytes. */
static int64_t position_of(const struct python_layout *layout, uintptr_t frame, uintptr_t code) {
  enum { UNIT = 2 };
  int64_t index;
  switch (layout->lines) {
  case PYTHON_LNOTAB: return python_int_at(frame, layout->position);
  case PYTHON_LINETABLE:
    index = python_int_at(frame, layout->position);
    return index < 0 ? index : index * UNIT;
  case PYTHON_LOCATIONS: break;
  }
  return (int64_t)(python_word_at(frame, layout->position) - (code + layout->instructions));
}

/* What the place of a call follows from. */
struct call_source {
  uintptr_t function, file, table; /* objects; of another type or 0: there are none */
  int32_t first;
  int64_t position;
};

/* ENDING. False: what was read may not be used. */
static bool read_source(const struct python *python, uintptr_t frame, uintptr_t code,
                        struct call_source *out) {
  const struct python_layout *layout = &python->layout;
  *out = (struct call_source){.function =
                                  python_word_at(code, layout->qualified ? layout->qualified : layout->name),
                              .file = python_word_at(code, layout->file),
                              .table = python_word_at(code, layout->line_table),
                              .first = python_int_at(code, layout->first_line),
                              .position = position_of(layout, frame, code)};
  return !python->is_ending();
}

static uint32_t python_line_of(const struct python *python, const struct call_source *from) {
  bool has = python_is_of(from->table, python->bytes_type);
  return python_line(python->layout.lines, (const uint8_t *)(from->table + PYTHON_BYTES),
                     has ? python_word_at(from->table, PYTHON_SIZE) : 0, from->first, from->position);
}

/* Enters a place whose texts may have to be converted; apart, since it takes a kilobyte of the
 * stack. */
static __attribute__((noinline)) wn_place place_converted(const struct python *python,
                                                          const struct call_source *from) {
  char function[PYTHON_TEXT_BYTES], file[PYTHON_TEXT_BYTES];
  struct callstack_place place = {.function = python_text_of(python, from->function, function),
                                  .file = python_text_of(python, from->file, file),
                                  .line = python_line_of(python, from)};
  return place.function && place.file ? callstacks_place(python->callstacks, &place) : 0;
}

/* Since 3.12 the interpreter runs code of its own between a call of a class and that of `__init__`. In
 * 3.14 this has a name, which is its file too, but no lines. */
static bool is_interpreters(const struct python *python, const struct call_source *from, uintptr_t code) {
  return python_word_at(code, python->layout.name) == from->file && !python_line_of(python, from);
}

/* The texts are those of the objects, of as many bytes as these have characters. */
static uint64_t python_key_of(const struct python *python, const struct call_source *from,
                              const struct callstack_place *place) {
  uint64_t key = hash_fold((uint64_t)from->position, (uint64_t)from->first);
  key = hash_long(key, place->function, python_word_at(from->function, PYTHON_SIZE));
  key = hash_long(key, place->file, python_word_at(from->file, PYTHON_SIZE));
  if (!python_is_of(from->table, python->bytes_type)) return hash_mix(key);
  return hash_long(key, (const void *)(from->table + PYTHON_BYTES), python_word_at(from->table, PYTHON_SIZE));
}

static wn_place python_place_of(const struct python *python, uintptr_t frame, uintptr_t code) {
  struct call_source from;
  if (!read_source(python, frame, code, &from) || is_interpreters(python, &from, code)) return 0;
  struct callstack_place place = {.function = python_text_of(python, from.function, NULL),
                                  .file = python_text_of(python, from.file, NULL)};
  if (!place.function || !place.file) return place_converted(python, &from);
  uint64_t key = python_key_of(python, &from, &place);
  wn_place known = callstacks_known(python->callstacks, key);
  if (known) return known;
  place.line = python_line_of(python, &from);
  known = callstacks_place(python->callstacks, &place);
  callstacks_note(python->callstacks, key, known);
  return known;
}

static uintptr_t python_innermost(const struct callstack_interpreter *interpreter) {
  const struct python *python = (const struct python *)(const void *)interpreter;
  uintptr_t thread = (uintptr_t)python->thread_state();
  if (!thread || python->is_ending()) return 0;
  uintptr_t found = pointer_at(python, thread, python->layout.thread_frame);
  return found && python->layout.has_c_frame ? pointer_at(python, found, python->layout.c_frame_frame)
                                             : found;
}

static uintptr_t python_describe(const struct callstack_interpreter *interpreter, uintptr_t frame,
                                 struct callstack_call *out) {
  const struct python *python = (const struct python *)(const void *)interpreter;
  const struct python_layout *layout = &python->layout;
  uint8_t mark = layout->mark ? *(const uint8_t *)(frame + layout->mark) : 0;
  bool is_shim = layout->marks == PYTHON_SHIMS && mark >= PYTHON_SHIM;
  uintptr_t code = pointer_at(python, frame, layout->code);
  if (layout->tagged) code &= ~(uintptr_t)7;
  out->place = !is_shim && python_is_of(code, python->code_type) ? python_place_of(python, frame, code) : 0;
  out->is_first =
      layout->marks == PYTHON_EACH_IS_FIRST || (layout->marks == PYTHON_MARKS_ENTRY && mark) || is_shim;
  return pointer_at(python, frame, layout->previous);
}

/* ---- finding ---- */

/* As PY_VERSION_HEX; 0 if it cannot be told. */
static uint32_t version_of_interpreter(const struct python *python) {
  const unsigned long *number = python_symbol(python, "Py_Version");
  const char *(*text)(void) = (const char *(*)(void))python_symbol(python, "Py_GetVersion");
  unsigned major, minor;
  if (number) return (uint32_t)*number;
  if (!text || sscanf(text(), "%u.%u", &major, &minor) != 2) return 0;
  return major << 24 | minor << 16 | PYTHON_FINAL;
}

static void *symbol_and_size(const struct python *python, const char *name, size_t *bytes) {
  if (python->exports.record) return exports_find(&python->exports, name, bytes);
  Dl_info info;
  ElfW(Sym) *found = NULL;
  void *address = dlsym(RTLD_DEFAULT, name);
  if (address && dladdr1(address, &info, (void **)&found, RTLD_DL_SYMENT) && found) *bytes = found->st_size;
  return address;
}

static bool python_find_loop(struct python *python) {
  size_t bytes = 0;
  const void *loop = symbol_and_size(python, "_PyEval_EvalFrameDefault", &bytes);
  if (!loop || !bytes) return false;
  struct callstack_interpreter *interpreter = &python->interpreter;
  interpreter->loop_begin = (uintptr_t)loop;
  interpreter->loop_end = (uintptr_t)loop + bytes;
  callstack_split_part(interpreter->loop_begin, interpreter->loop_end, &interpreter->other_begin,
                       &interpreter->other_end);
  return true;
}

static bool find_symbols(struct python *python) {
  python->thread_state = (void *(*)(void))python_symbol(python, "PyGILState_GetThisThreadState");
  void *ending = python_symbol(python, "Py_IsFinalizing"); /* since 3.13 */
  python->is_ending = (int (*)(void))(ending ? ending : python_symbol(python, "_Py_IsFinalizing"));
  python->code_type = (uintptr_t)python_symbol(python, "PyCode_Type");
  python->str_type = (uintptr_t)python_symbol(python, "PyUnicode_Type");
  python->bytes_type = (uintptr_t)python_symbol(python, "PyBytes_Type");
  return python->thread_state && python->is_ending && python->code_type && python->str_type &&
         python->bytes_type && python_find_loop(python);
}

/* NULL: it can be read. */
static const char *reason_against(struct python *python, uint32_t version, const void *runtime) {
  const char *why;
  if (!python_layout_of(version, runtime, &python->layout, &why)) return why;
  if (!find_symbols(python)) return "it exports too few symbols";
  return python_layout_agrees(&python->layout, (const void *)python->code_type)
             ? NULL
             : "its code objects are laid out in another way";
}

/* ---- shared ---- */

void *python_symbol(const struct python *python, const char *name) {
  return python->exports.record ? exports_find(&python->exports, name, NULL) : dlsym(RTLD_DEFAULT, name);
}

enum python_found python_find(struct python *python, struct callstacks *callstacks,
                              const struct exports *exports, char reason[PYTHON_REASON_BYTES]) {
  *python = (struct python){.interpreter = {.innermost = python_innermost, .describe = python_describe},
                            .callstacks = callstacks};
  if (exports) python->exports = *exports;
  const void *runtime = python_symbol(python, "_PyRuntime");
  if (!runtime) return PYTHON_NONE;
  uint32_t version = version_of_interpreter(python);
  const char *why = reason_against(python, version, runtime);
  if (!why) return PYTHON_FOUND;
  snprintf(reason, PYTHON_REASON_BYTES, "Python %u.%u: %s", (unsigned)(version >> 24),
           (unsigned)(version >> 16 & 0xff), why);
  return PYTHON_REFUSED;
}
/* SPDX-License-Identifier: MIT */
