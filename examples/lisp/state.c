/* Machines: making them, their roots and frames, allocation, and failing. */
#include "lisp.h"
#include "printer.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <winnow/snapshot.h>

/* SPARE is the part of the stack for handlers of a stack overflow. */
enum { STACK = 1 << 22, SPARE = 1 << 14, LARGEST_FRAME = 1 << 16 };

/* ---- creating ---- */

static void *reserve(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static bool create_stacks(struct vm *vm) {
  vm->stack = reserve(STACK * sizeof *vm->stack);
  vm->frames = reserve(STACK * sizeof *vm->frames);
  if (!vm->stack || !vm->frames) return false;
  vm->stack_end = vm->stack + STACK - LARGEST_FRAME;
  vm->stack_limit = vm->soft_limit = vm->stack_end - SPARE;
  vm->top = vm->stack;
  vm->fp = vm->stack + 1;
  vm->frame = vm->frames;
  return true;
}

static void destroy(struct vm *vm) {
  if (vm->stack) munmap(vm->stack, STACK * sizeof *vm->stack);
  if (vm->frames) munmap(vm->frames, STACK * sizeof *vm->frames);
  output_destroy(&vm->out);
  free(vm);
}

static bool make_spare_condition(struct vm *vm) {
  wn_value text = make_string(vm, "memory is exhausted", 19);
  vm->roots[ROOT_NO_MEMORY] = text ? make_error(vm, text, NIL) : 0;
  if (vm->roots[ROOT_NO_MEMORY]) return true;
  vm->roots[ROOT_NO_MEMORY] = NIL;
  return false;
}

struct vm *vm_create(struct lisp *lisp, wn_domain *domain) {
  struct vm *vm = calloc(1, sizeof *vm);
  if (!vm || !create_stacks(vm)) {
    if (vm) destroy(vm);
    fprintf(stderr, "lisp: no memory for a stack\n");
    return NULL;
  }
  vm->domain = domain;
  vm->lisp = lisp;
  vm->reports = true;
  for (size_t i = 0; i < ROOT_COUNT; i++) vm->roots[i] = NIL;
  vm->roots[ROOT_RAISE] = NOTHING;
  wn_domain_set_data(domain, vm); /* from here on collections look at it */
  if (make_spare_condition(vm)) return vm;
  vm_destroy(vm);
  fprintf(stderr, "lisp: %s\n", wn_last_error());
  return NULL;
}

void vm_destroy(struct vm *vm) {
  wn_domain_set_data(vm->domain, NULL);
  destroy(vm);
}

/* ---- roots and frames ---- */

wn_value *vm_live_end(const struct vm *vm) { return vm->top ? vm->top : vm->fp + vm->ip[-1].live; }

/* Reads no block: some may have moved already. */
static void walk(struct vm *vm, wn_visit *visit, void *visitor) {
  static const char *const names[ROOT_COUNT] = {
      [ROOT_ENVIRONMENT] = "variables", [ROOT_CONDITION] = "condition", [ROOT_RESULT] = "result",
      [ROOT_HANDLERS] = "handlers",     [ROOT_WINDS] = "dynamic winds", [ROOT_NO_MEMORY] = "spare condition",
      [ROOT_RAISE] = "raise",           [ROOT_ESCAPES] = "escapes",
  };
  wn_value *end = vm_live_end(vm);
  wn_root_name(visit, visitor, "stack");
  for (wn_value *slot = vm->stack; slot < end; slot++) visit(visitor, slot);
  for (size_t i = 0; i < ROOT_COUNT; i++) {
    wn_root_name(visit, visitor, names[i]);
    visit(visitor, &vm->roots[i]);
  }
}

void vm_walk_roots(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  struct vm *vm = wn_domain_data(domain);
  (void)context;
  if (vm) walk(vm, visit, visitor);
}

static struct lisp_frame frame_of(const wn_value *fp, const struct instruction *ip) {
  wn_value code = field(fp[-1], 0);
  const struct body *body = body_of_code(code);
  size_t at = (size_t)(ip - 1 - body->instructions);
  return (struct lisp_frame){field(code, CODE_NAME), field(code, CODE_FILE), body->lines[at]};
}

/* A frame holds the state of its caller, even if that is a builtin that began another vm_run. */
void lisp_frames(const struct vm *vm, bool (*each)(const struct lisp_frame *, void *), void *context) {
  const struct frame *frame = vm->frame;
  struct frame now = {vm->ip, vm->fp};
  while (frame > vm->frames) {
    struct lisp_frame shown = frame_of(now.fp, now.ip);
    if (!each(&shown, context)) return;
    now = *--frame;
  }
}

/* A function without a name is named by its first line. */
static const char *name_of(wn_value name, const struct body *body, bool outermost, char buffer[32]) {
  if (is_symbol(name)) return string_bytes(field(name, SYMBOL_NAME));
  if (outermost) return "top level";
  snprintf(buffer, 32, "lambda:%u", body->lines[0]);
  return buffer;
}

/* The place of an instruction; the heap is asked for it once. Symbols and strings of compiled code
 * do not change. */
static wn_place place_of(const struct vm *vm, const struct frame *now, bool outermost) {
  const struct body *body = body_of_closure(now->fp[-1]);
  _Atomic(wn_place) *kept = &body->places[now->ip - 1 - body->instructions];
  wn_place place = atomic_load_explicit(kept, memory_order_relaxed);
  if (place) return place;
  char buffer[32];
  struct lisp_frame shown = frame_of(now->fp, now->ip);
  const char *name = name_of(shown.name, body, outermost, buffer);
  place = wn_place_of(vm->lisp->heap, name, string_bytes(shown.file), shown.line);
  atomic_store_explicit(kept, place, memory_order_relaxed);
  return place;
}

size_t vm_callstack(wn_domain *domain, wn_language_frame *frames, size_t most, void *context) {
  const struct vm *vm = wn_domain_data(domain);
  (void)context;
  if (!vm) return 0;
  size_t count = 0, run = vm->nesting;
  const struct frame *frame = vm->frame;
  struct frame now = {vm->ip, vm->fp};
  while (frame > vm->frames && count < most) {
    while (run && frame <= vm->runs[run - 1].entry) run--;
    frames[count].place = place_of(vm, &now, frame == vm->frames + 1);
    frames[count++].native = run ? vm->runs[run - 1].native : NULL;
    now = *--frame;
  }
  return count;
}

/* ---- allocation ---- */

wn_value make_block(struct vm *vm, size_t words, enum tag tag, wn_value fill) {
  WN_SCOPE(vm->domain);
  wn_ref fill_ref = wn_root(vm->domain, fill);
  wn_ref block = wn_alloc(vm->domain, words, tag);
  if (wn_is_null(block)) return vm_fail_memory(vm);
  wn_fill(vm->domain, wn_value_of(block), 0, words, wn_value_of(fill_ref));
  return wn_value_of(block);
}

/* A string has two words at least: one is a float. */
wn_value make_string_of_length(struct vm *vm, size_t length) {
  WN_SCOPE(vm->domain);
  wn_ref string = wn_alloc_bytes(vm->domain, sizeof length + length + 1);
  if (wn_is_null(string)) return vm_fail_memory(vm);
  memcpy(wn_bytes(string), &length, sizeof length);
  return wn_value_of(string);
}

wn_value make_string(struct vm *vm, const char *bytes, size_t length) {
  wn_value string = make_string_of_length(vm, length);
  if (string) memcpy(string_bytes(string), bytes, length);
  return string;
}

wn_value make_float(struct vm *vm, double number) {
  wn_value *block = wn_bump(vm->domain, 1, WN_TAG_RAW);
  if (!block) return vm_fail_memory(vm);
  memcpy(block, &number, sizeof number);
  return (wn_value)block;
}

static wn_value make_two(struct vm *vm, enum tag tag, wn_value first, wn_value second) {
  WN_SCOPE(vm->domain);
  wn_ref first_ref = wn_root(vm->domain, first), second_ref = wn_root(vm->domain, second);
  wn_ref block = wn_pair(vm->domain, tag, first_ref, second_ref);
  return wn_is_null(block) ? vm_fail_memory(vm) : wn_value_of(block);
}

wn_value make_pair(struct vm *vm, wn_value first, wn_value second) {
  return make_two(vm, TAG_PAIR, first, second);
}

wn_value make_error(struct vm *vm, wn_value message, wn_value irritants) {
  return make_two(vm, TAG_ERROR, message, irritants);
}

/* ---- failing ---- */

wn_value vm_fail_memory(struct vm *vm) {
  vm->roots[ROOT_CONDITION] = vm->roots[ROOT_NO_MEMORY];
  return VM_FAILED;
}

static wn_value fail_with(struct vm *vm, const char *text, size_t length) {
  wn_value message = make_string(vm, text, length);
  wn_value error = message ? make_error(vm, message, NIL) : 0;
  if (error) vm->roots[ROOT_CONDITION] = error;
  return VM_FAILED;
}

wn_value vm_fail(struct vm *vm, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return fail_with(vm, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

wn_value vm_fail_type(struct vm *vm, const char *procedure, const char *expected, wn_value got) {
  struct output text = {0};
  output_format(&text, "%s: expected %s, got ", procedure, expected);
  print_short(&text, got, 80);
  if (text.failed)
    vm_fail_memory(vm);
  else
    fail_with(vm, text.data, text.used);
  output_destroy(&text);
  return VM_FAILED;
}

bool vm_has_room(struct vm *vm, const wn_value *args, size_t count) {
  if (args + count < vm->stack_limit) return true;
  vm_fail(vm, "%zu arguments are too many", count);
  return false;
}

void vm_end_escapes(struct vm *vm, size_t depth) {
  wn_value escape = vm->roots[ROOT_ESCAPES];
  while (escape != NIL && integer_of(field(escape, ESCAPE_DEPTH)) > (intptr_t)depth) {
    wn_store(vm->domain, escape, ESCAPE_DEPTH, make_integer(-1));
    escape = field(escape, ESCAPE_OUTER);
  }
  vm->roots[ROOT_ESCAPES] = escape;
}

/* ---- reporting ---- */

struct report {
  struct output text;
  wn_value condition;
  unsigned frames; /* printed */
};

enum { FRAMES_PRINTED = 12 };

static bool is_library(wn_value file) { return !strcmp(string_bytes(file), "library.lisp"); }

static void report_condition(struct output *text, wn_value condition) {
  if (!is_error(condition)) {
    output_text(text, "uncaught: ");
    print_short(text, condition, 200);
    return;
  }
  print_value(text, field(condition, ERROR_MESSAGE), false);
  for (wn_value at = field(condition, ERROR_IRRITANTS); is_pair(at); at = cdr(at)) {
    output_text(text, " ");
    print_short(text, car(at), 200);
  }
}

/* The reported place of an error is the innermost one outside the library. */
static bool report_frame(const struct lisp_frame *frame, void *context) {
  struct report *report = context;
  const char *file = string_bytes(frame->file);
  if (!report->frames && is_library(frame->file)) return true;
  if (!report->frames) {
    output_format(&report->text, "%s:%u: ", file, frame->line);
    report_condition(&report->text, report->condition);
    output_text(&report->text, "\n");
  }
  if (is_symbol(frame->name))
    output_format(&report->text, "    in %s (%s:%u)\n", string_bytes(field(frame->name, SYMBOL_NAME)), file,
                  frame->line);
  return ++report->frames < FRAMES_PRINTED;
}

void vm_report(struct vm *vm) {
  if (!vm->reports || vm->reported) return;
  vm->reported = true;
  output_flush(&vm->out, vm->domain); /* may collect */
  struct report report = {.condition = vm->roots[ROOT_CONDITION]};
  lisp_frames(vm, report_frame, &report);
  if (!report.frames) {
    report_condition(&report.text, report.condition);
    output_text(&report.text, "\n");
  }
  if (report.text.data) fwrite(report.text.data, 1, report.text.used, stderr);
  output_destroy(&report.text);
}
/* SPDX-License-Identifier: MIT */
