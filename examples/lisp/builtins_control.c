/* Calling, escaping, errors, evaluation, and the program's surroundings. */
#include "builtins.h"

#include "compile.h"
#include "lisp.h"
#include "reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <winnow/gc.h>
#include <winnow/snapshot.h>

static wn_value is_procedure_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_procedure(args[0]));
}

/* The last argument's elements take its place on the stack, and all of them move down over the
 * builtin. */
static wn_value apply(struct vm *vm, wn_value *args, size_t count) {
  size_t fixed = count - 2, total = fixed;
  for (wn_value at = args[count - 1]; at != NIL; at = cdr(at), total++)
    if (!is_pair(at)) return vm_fail_type(vm, "apply", "a list", args[count - 1]);
  if (!vm_has_room(vm, args, total)) return VM_FAILED;
  wn_value list = args[count - 1];
  for (size_t i = 0; i <= fixed; i++) args[(ptrdiff_t)i - 1] = args[i];
  for (size_t i = fixed; i < total; i++, list = cdr(list)) args[i] = car(list);
  vm->arguments = total;
  return VM_CALL;
}

/* ---- escapes: see call-with-escape in the library ---- */

static wn_value escape_here(struct vm *vm, wn_value *args, size_t count) {
  (void)args, (void)count;
  wn_value *escape = wn_bump(vm->domain, ESCAPE_WORDS, TAG_ESCAPE);
  if (!escape) return vm_fail_memory(vm);
  escape[ESCAPE_DEPTH] = make_integer(vm->frame - vm->frames);
  escape[ESCAPE_OUTER] = vm->roots[ROOT_ESCAPES];
  escape[ESCAPE_VM] = make_address(vm);
  vm->roots[ROOT_ESCAPES] = (wn_value)escape;
  return (wn_value)escape;
}

static wn_value escape_end(struct vm *vm, wn_value *args, size_t count) {
  (void)args, (void)count;
  vm_end_escapes(vm, (size_t)(vm->frame - vm->frames) - 1);
  return NOTHING;
}

/* Runs before anything is unwound. */
static wn_value escape_check(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!has_tag(args[0], TAG_ESCAPE)) return vm_fail_type(vm, "%escape-check", "an escape", args[0]);
  if (integer_of(field(args[0], ESCAPE_DEPTH)) < 0 || field(args[0], ESCAPE_VM) != make_address(vm))
    return vm_fail(vm, "an escape is used after what it escapes from has returned");
  return NOTHING;
}

static wn_value escape_to(struct vm *vm, wn_value *args, size_t count) {
  if (!escape_check(vm, args, count)) return VM_FAILED;
  vm->escape_depth = (size_t)integer_of(field(args[0], ESCAPE_DEPTH));
  vm->roots[ROOT_RESULT] = args[1];
  return VM_ESCAPE;
}

/* ---- what the library keeps in the machine ---- */

#define STATE(name, root)                                                   \
  static wn_value get_##name(struct vm *vm, wn_value *args, size_t count) { \
    (void)args, (void)count;                                                \
    return vm->roots[root];                                                 \
  }                                                                         \
  static wn_value set_##name(struct vm *vm, wn_value *args, size_t count) { \
    (void)count;                                                            \
    vm->roots[root] = args[0];                                              \
    return NOTHING;                                                         \
  }
STATE(handlers, ROOT_HANDLERS)
STATE(winds, ROOT_WINDS)
STATE(raise, ROOT_RAISE)

/* ---- errors ---- */

static wn_value make_error_p(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return make_error(vm, args[0], args[1]);
}
static wn_value is_error_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_error(args[0]));
}
static wn_value error_message(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_error(args[0])) return vm_fail_type(vm, "error-message", "an error", args[0]);
  return field(args[0], ERROR_MESSAGE);
}
static wn_value error_irritants(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_error(args[0])) return vm_fail_type(vm, "error-irritants", "an error", args[0]);
  return field(args[0], ERROR_IRRITANTS);
}
static wn_value uncaught(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  vm->roots[ROOT_CONDITION] = args[0];
  return VM_UNCAUGHT;
}

/* ---- evaluation ---- */

static wn_value after(enum vm_outcome outcome) { return outcome == VM_LEFT ? VM_ESCAPE : VM_FAILED; }

/* Calls the form's procedure in place of the builtin. */
static wn_value eval(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  wn_ref form = wn_root(vm->domain, args[0]), procedure;
  (void)count;
  wn_value name = make_string(vm, "eval", 4);
  if (!name) return VM_FAILED;
  enum vm_outcome outcome = compile(vm, form, wn_root(vm->domain, name), 1, &procedure);
  if (outcome != VM_DONE) return after(outcome);
  args[-1] = wn_value_of(procedure);
  vm->arguments = 0;
  return VM_CALL;
}

/* Reads the first form of a string. The text is copied, since the reader allocates. */
static wn_value read_string(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  struct output text = {0};
  wn_ref form;
  (void)count;
  if (!is_string(args[0])) return vm_fail_type(vm, "read-from-string", "a string", args[0]);
  output_bytes(&text, string_bytes(args[0]), string_length(args[0]));
  struct reader reader = reader_of(vm, text.data ? text.data : "", text.used);
  enum reading reading = text.failed ? READ_END : read_form(&reader, &form);
  bool failed = text.failed;
  output_destroy(&text);
  if (failed) return vm_fail_memory(vm);
  if (reading == READ_WRONG)
    return vm_fail(vm, "read-from-string: line %u: %s", reader.wrong_line, reader.message);
  return reading == READ_END ? END_OF_FILE : wn_value_of(form);
}

static wn_value is_end_of_file(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(args[0] == END_OF_FILE);
}

/* ---- surroundings ---- */

static wn_value milliseconds(struct vm *vm, wn_value *args, size_t count) {
  struct timespec now;
  (void)vm, (void)args, (void)count;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return make_integer(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

static wn_value collect(struct vm *vm, wn_value *args, size_t count) {
  (void)args, (void)count;
  return wn_gc_full_major(vm->domain) ? vm_fail(vm, "collect: %s", wn_last_error()) : NOTHING;
}

/* Writes a snapshot of the heap, for `winnow heap`. */
static wn_value snapshot(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_string(args[0])) return vm_fail_type(vm, "snapshot", "a string", args[0]);
  char path[4096];
  snprintf(path, sizeof path, "%s", string_bytes(args[0])); /* the block may move */
  return wn_heap_snapshot(vm->domain, path) ? vm_fail(vm, "snapshot: %s", wn_last_error()) : NOTHING;
}

/* How many words of the heap are in use. */
static wn_value live_words(struct vm *vm, wn_value *args, size_t count) {
  wn_gc_stat stat;
  (void)args, (void)count;
  if (wn_gc_read_stat(vm->domain, &stat)) return vm_fail(vm, "live-words: %s", wn_last_error());
  return make_integer(stat.live_words);
}

static wn_value domain_number(struct vm *vm, wn_value *args, size_t count) {
  (void)args, (void)count;
  return make_integer((intptr_t)wn_domain_number(vm->domain));
}

/* Finds the frame with a number. The walk is repeated for each number, since nothing may be
 * allocated while lisp_frames runs. */
struct nth_frame {
  size_t wanted;
  struct lisp_frame frame;
  bool found;
};

static bool find_frame(const struct lisp_frame *frame, void *context) {
  struct nth_frame *nth = context;
  nth->frame = *frame;
  nth->found = nth->wanted-- == 0;
  return !nth->found;
}

/* The current calls, outermost first, as a list of (name . line). */
static wn_value call_stack(struct vm *vm, wn_value *args, size_t count) {
  enum { MOST = 100 };
  WN_SCOPE(vm->domain);
  wn_ref list = wn_root(vm->domain, NIL);
  (void)args, (void)count;
  for (size_t i = 0; i < MOST; i++) {
    struct nth_frame nth = {.wanted = i};
    lisp_frames(vm, find_frame, &nth);
    if (!nth.found) break;
    wn_value pair = make_pair(vm, nth.frame.name, make_integer(nth.frame.line));
    wn_value grown = pair ? make_pair(vm, pair, wn_value_of(list)) : 0;
    if (!grown) return VM_FAILED;
    *list.slot = grown;
  }
  return wn_value_of(list);
}

const struct builtin builtins_control[] = {{"procedure?", is_procedure_p, 1, 1},
                                           {"apply", apply, 2, -1},
                                           {"%escape-here", escape_here, 0, 0},
                                           {"%escape-end", escape_end, 0, 0},
                                           {"%escape-check", escape_check, 1, 1},
                                           {"%escape", escape_to, 2, 2},
                                           {"%handlers", get_handlers, 0, 0},
                                           {"%set-handlers!", set_handlers, 1, 1},
                                           {"%winds", get_winds, 0, 0},
                                           {"%set-winds!", set_winds, 1, 1},
                                           {"%raise", get_raise, 0, 0},
                                           {"%set-raise!", set_raise, 1, 1},
                                           {"%uncaught", uncaught, 1, 1},
                                           {"%make-error", make_error_p, 2, 2},
                                           {"error?", is_error_p, 1, 1},
                                           {"error-message", error_message, 1, 1},
                                           {"error-irritants", error_irritants, 1, 1},
                                           {"eval", eval, 1, 1},
                                           {"read-from-string", read_string, 1, 1},
                                           {"eof-object?", is_end_of_file, 1, 1},
                                           {"current-milliseconds", milliseconds, 0, 0},
                                           {"collect", collect, 0, 0},
                                           {"snapshot", snapshot, 1, 1},
                                           {"live-words", live_words, 0, 0},
                                           {"domain-number", domain_number, 0, 0},
                                           {"call-stack", call_stack, 0, 0},
                                           {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
