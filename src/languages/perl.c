/* Finds the interpreter, and describes its calls. */
#include "languages/perl.h"

#include "base/text.h"
#include "callstack/object.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* LAYOUT. Offsets in bytes: of the interpreter, of a COP, a PERL_SI, a PERL_CONTEXT, an SV, and of
 * the bodies of a CV, a GV and a stash; and some of their values. */
enum {
  CURRENT_COP = 208,
  CURRENT_STACK = 224,
  COMPILING = 1936,
  RUN_LOOP = 2288,
  PHASE = 2512,
  COP_TYPE = 32,
  COP_LINE = 36,
  COP_FILE = 48,
  STACK_CONTEXTS = 8,
  STACK_BEFORE = 16,
  STACK_TOP = 32,
  CONTEXT_BYTES = 104,
  CONTEXT_TYPE = 0,
  CONTEXT_COP = 16,
  CONTEXT_RETURN = 48,
  CONTEXT_SUB = 72,
  SV_BODY = 0,
  SV_FLAGS = 12,
  SUB_NAME = 56,
  SUB_FLAGS = 92,
  SUB_STASH = 32,
  GLOB_NAME = 32,
  GLOB_STASH = 40,
  STASH_NAMES = 32, /* a name, or several if there is a count */
  STASH_NAME_COUNT = 32 + 28,
  NAME_BYTES = 4,
  NAME_TEXT = 8,
  NAME_IS_UTF8 = 1, /* in the byte behind the text and its zero */

  PHASE_DESTRUCT = 6,
  TYPE_MASK = 15,
  TYPE_SUB = 9,
  TYPE_EVAL = 11,
  SUB_IS_FAKE = 0x80,          /* for code in a regular expression, within the context of its subroutine */
  EVAL_IS_BLOCK = 0x40 | 0x80, /* eval {}, or try {} */
  SV_HAS_AUX = 0x02000000,
  SUB_IS_NAMED = 0x8000, /* its name is a name, and no glob */
  SV_TYPE_MASK = 0xff,   /* of what is free all bits are set */
  SV_GLOB = 9,
  SV_STASH = 12,
  SV_SUB = 13,
  COP_TYPE_MASK = 0x1ff,
  COP_NEXT = 195,
  COP_DEBUG = 196,
  INTERPRETER_BYTES = 3768,
};

enum { INNERMOST = 1, NAME_MOST = 255 };

static uintptr_t perl_word_at(uintptr_t object, size_t offset) {
  uintptr_t word;
  memcpy(&word, (const void *)(object + offset), sizeof word);
  return word;
}

static uint32_t perl_int_at(uintptr_t object, size_t offset) {
  uint32_t number;
  memcpy(&number, (const void *)(object + offset), sizeof number);
  return number;
}

/* ENDED. The body of an object of this type; 0: it is none, since it is free. */
static uintptr_t perl_body_of(uintptr_t object, uint32_t type) {
  return object && (perl_int_at(object, SV_FLAGS) & SV_TYPE_MASK) == type ? perl_word_at(object, SV_BODY) : 0;
}

/* ---- names ---- */

/* Puts a name, or as many of its characters as fit, behind the `length` bytes of the buffer that are
 * used. Perl keeps a name as UTF-8 or, without the mark, as Latin-1. */
static size_t perl_put(char buffer[NAME_MOST + 1], size_t length, const char *text, size_t bytes,
                       bool is_utf8) {
  enum { CHARACTER_MOST = 4 };
  for (size_t i = 0; i < bytes; i++) {
    unsigned char byte = (unsigned char)text[i];
    bool is_wide = byte >= 0x80 && !is_utf8, begins = !is_utf8 || (byte & 0xc0) != 0x80;
    if (length + (begins ? CHARACTER_MOST : 1) > NAME_MOST) break;
    if (is_wide) buffer[length++] = (char)(0xc0 | byte >> 6);
    buffer[length++] = (char)(is_wide ? 0x80 | (byte & 0x3f) : byte);
  }
  buffer[length] = 0;
  return length;
}

static size_t put_name(char buffer[NAME_MOST + 1], size_t length, uintptr_t name) {
  if (!name) return length;
  const char *text = (const char *)(name + NAME_TEXT);
  size_t bytes = perl_int_at(name, NAME_BYTES);
  return perl_put(buffer, length, text, bytes, text[bytes + 1] & NAME_IS_UTF8);
}

/* The first of several names of a package. Perl moves them when it adds one. */
static uintptr_t first_name(uintptr_t names) {
  uintptr_t name = memory_readable(names) ? perl_word_at(names, 0) : 0;
  bool is_name = name && memory_readable(name) && memory_readable(name + NAME_TEXT + NAME_MOST) &&
                 perl_int_at(name, NAME_BYTES) < NAME_MOST;
  return is_name ? name : 0;
}

static size_t put_stash(char buffer[NAME_MOST + 1], uintptr_t stash) {
  uintptr_t body = perl_body_of(stash, SV_STASH);
  if (!body || !(perl_int_at(stash, SV_FLAGS) & SV_HAS_AUX)) return 0;
  uintptr_t name = perl_word_at(body, STASH_NAMES);
  if (name && perl_int_at(body, STASH_NAME_COUNT)) name = first_name(name);
  size_t length = put_name(buffer, 0, name);
  return length ? perl_put(buffer, length, "::", 2, true) : 0;
}

/* "Package::name"; of a subroutine without a name "Package::__ANON__". */
static const char *perl_name_of(uintptr_t sub, char buffer[NAME_MOST + 1]) {
  uintptr_t body = perl_body_of(sub, SV_SUB), named = body ? perl_word_at(body, SUB_NAME) : 0;
  if (!named) return "__ANON__";
  bool is_name = perl_int_at(body, SUB_FLAGS) & SUB_IS_NAMED;
  uintptr_t glob = is_name ? 0 : perl_body_of(named, SV_GLOB);
  size_t length = put_stash(buffer, is_name ? perl_word_at(body, SUB_STASH)
                                    : glob  ? perl_word_at(glob, GLOB_STASH)
                                            : 0);
  if (!is_name) named = glob ? perl_word_at(glob, GLOB_NAME) : 0;
  return put_name(buffer, length, named) ? buffer : "__ANON__";
}

/* ---- contexts ---- */

/* A context, and the array that it is in; `at` -1: all of its contexts are passed. */
struct position {
  uintptr_t stack;
  int32_t at;
};

static uintptr_t context_at(const struct position *position) {
  return perl_word_at(position->stack, STACK_CONTEXTS) + (uintptr_t)position->at * CONTEXT_BYTES;
}

static struct position perl_top_of(uintptr_t stack) {
  return (struct position){stack, stack ? (int32_t)perl_int_at(stack, STACK_TOP) : -1};
}

/* Where a context is; it is in one of the arrays, unless it has ended meanwhile. */
static struct position find_perl(uintptr_t stack, uintptr_t context) {
  for (; stack; stack = perl_word_at(stack, STACK_BEFORE)) {
    struct position top = perl_top_of(stack);
    uintptr_t offset = context - perl_word_at(stack, STACK_CONTEXTS);
    if (top.at >= 0 && offset <= (uintptr_t)top.at * CONTEXT_BYTES)
      return (struct position){stack, (int32_t)(offset / CONTEXT_BYTES)};
  }
  return perl_top_of(0);
}

static uint8_t perl_type_of(uintptr_t context) { return *(const uint8_t *)(context + CONTEXT_TYPE); }

/* Whether code runs in this context that has a name of its own. */
static bool perl_is_call(uintptr_t context) {
  uint8_t type = perl_type_of(context);
  return (type & TYPE_MASK) == TYPE_SUB ? !(type & SUB_IS_FAKE)
                                        : (type & TYPE_MASK) == TYPE_EVAL && !(type & EVAL_IS_BLOCK);
}

/* The next call from a position on outwards, in the same array. False: there is none. */
static bool next_call(struct position *position) {
  while (position->at >= 0 && !perl_is_call(context_at(position))) position->at--;
  return position->at >= 0;
}

/* ---- calls ---- */

/* FOLDED */
static bool is_compiling(uintptr_t cop, uintptr_t interpreter) {
  uintptr_t compiling = interpreter + COMPILING;
  return cop == compiling ||
         (perl_word_at(cop, COP_FILE) == perl_word_at(compiling, COP_FILE) &&
          !((perl_int_at(cop, COP_TYPE) | perl_int_at(compiling, COP_TYPE)) & COP_TYPE_MASK));
}

/* ENDED. */
static bool is_statement(uintptr_t cop) {
  uint32_t type = perl_int_at(cop, COP_TYPE) & COP_TYPE_MASK;
  return type == COP_NEXT || type == COP_DEBUG;
}

static wn_place perl_place_of(const struct perl *perl, uintptr_t interpreter, uintptr_t cop,
                              uintptr_t context) {
  char name[NAME_MOST + 1];
  struct callstack_place place = {.function = "(main)"};
  bool compiles = cop && is_compiling(cop, interpreter);
  if (!cop || (!compiles && !is_statement(cop))) return 0;
  if (context) {
    bool is_sub = (perl_type_of(context) & TYPE_MASK) == TYPE_SUB;
    place.function = is_sub ? perl_name_of(perl_word_at(context, CONTEXT_SUB), name) : "(eval)";
  }
  if (compiles) place.function = "(compiling)";
  place.file = (const char *)perl_word_at(cop, COP_FILE);
  place.line = perl_int_at(cop, COP_LINE);
  if (place.file && text_begins(place.file, "(eval ")) place.file = "(eval)"; /* "(eval 12)" */
  return place.file ? callstacks_place(perl->callstacks, &place) : 0;
}

/* ENDING. The interpreter of this thread, 0: there is none whose calls can be read. */
static uintptr_t living(const struct perl *perl) {
  uintptr_t state = (uintptr_t)pthread_getspecific(*perl->key);
  bool lives = state && memory_readable(state + RUN_LOOP) && memory_readable(state + PHASE) &&
               perl_word_at(state, RUN_LOOP) == perl->interpreter.loop_begin &&
               perl_int_at(state, PHASE) < PHASE_DESTRUCT;
  return lives ? state : 0;
}

static uintptr_t perl_innermost(const struct callstack_interpreter *interpreter) {
  return living((const struct perl *)(const void *)interpreter) ? INNERMOST : 0;
}

/* A call is the context of the subroutine that it has called, or INNERMOST. */
static uintptr_t perl_describe(const struct callstack_interpreter *interpreter, uintptr_t call,
                               struct callstack_call *out) {
  const struct perl *perl = (const struct perl *)(const void *)interpreter;
  uintptr_t state = (uintptr_t)pthread_getspecific(*perl->key), stack = perl_word_at(state, CURRENT_STACK);
  uintptr_t cop = call == INNERMOST ? perl_word_at(state, CURRENT_COP) : perl_word_at(call, CONTEXT_COP);
  struct position position = call == INNERMOST ? perl_top_of(stack) : find_perl(stack, call);
  *out = (struct callstack_call){.place = 0};
  if (!position.stack) return 0;
  if (call != INNERMOST) position.at--;
  while (position.stack && !next_call(&position))
    position = perl_top_of(perl_word_at(position.stack, STACK_BEFORE));
  uintptr_t context = position.stack ? context_at(&position) : 0;
  out->place = perl_place_of(perl, state, cop, context);
  out->is_first = !context || !perl_word_at(context, CONTEXT_RETURN);
  return context;
}

/* ---- finding ---- */

static void *symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static bool find_code(const char *name, uintptr_t *begin, uintptr_t *end) {
  Dl_info info;
  ElfW(Sym) *found = NULL;
  const void *code = symbol(name);
  if (!code || !dladdr1(code, &info, (void **)&found, RTLD_DL_SYMENT) || !found || !found->st_size)
    return false;
  *begin = (uintptr_t)code;
  *end = *begin + found->st_size;
  return true;
}

static bool perl_find_loop(struct callstack_interpreter *interpreter) {
  return find_code("Perl_runops_standard", &interpreter->loop_begin, &interpreter->loop_end) &&
         find_code("perl_parse", &interpreter->other_begin, &interpreter->other_end);
}

/* ---- shared ---- */

enum perl_found perl_find(struct perl *perl, struct callstacks *callstacks, char reason[PERL_REASON_BYTES]) {
  const unsigned char *revision = symbol("PL_revision"), *version = symbol("PL_version");
  if (!revision || !version) return PERL_NONE;
  const uint16_t *bytes = symbol("PL_interp_size");
  *perl =
      (struct perl){.interpreter = {.innermost = perl_innermost, .describe = perl_describe, .is_whole = true},
                    .callstacks = callstacks,
                    .key = symbol("PL_thr_key")};
  const char *why = *revision != 5 || *version != 36        ? "its calls are known of 5.36 only"
                    : !perl->key                            ? "it was built without threads"
                    : !bytes || *bytes != INTERPRETER_BYTES ? "it was built with other options than Debian's"
                    : !perl_find_loop(&perl->interpreter)   ? "it exports too few symbols"
                                                            : NULL;
  if (!why) return PERL_FOUND;
  snprintf(reason, PERL_REASON_BYTES, "Perl %u.%u: %s", *revision, *version, why);
  return PERL_REFUSED;
}

bool perl_is_moving(const struct perl *perl, uintptr_t block) {
  uintptr_t state = living(perl), stack = state ? perl_word_at(state, CURRENT_STACK) : 0;
  return stack && perl_word_at(stack, STACK_CONTEXTS) == block;
}
/* SPDX-License-Identifier: MIT */
