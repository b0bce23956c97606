/* Output, ports that are strings, and files.
 *
 * A port's text is outside the heap: a custom block owns it, and frees it when the port is garbage.
 * */
#include "builtins.h"

#include "printer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_AT = 1 << 13, GUESS = 1024 };

static void release(void *bytes) {
  struct output *output;
  memcpy(&output, bytes, sizeof output);
  if (!output) return;
  free(output->data);
  free(output);
}

static const wn_custom_ops port_ops = {.name = "lisp port", .release = release};

static bool is_port(wn_value v) { return is_block(v) && wn_tag(v) == WN_TAG_CUSTOM; }

static struct output *output_of(wn_value port) {
  struct output *output;
  memcpy(&output, wn_bytes_of(port), sizeof output);
  return output;
}

/* The port that is the last of `count` arguments if there are `full` of them, else the program's
 * output. */
static struct output *where(struct vm *vm, const char *procedure, const wn_value *args, size_t count,
                            size_t full) {
  if (count < full) return &vm->out;
  if (is_port(args[full - 1])) return output_of(args[full - 1]);
  vm_fail_type(vm, procedure, "a port", args[full - 1]);
  return NULL;
}

static wn_value written(struct vm *vm, struct output *output) {
  if (output->failed) {
    output->failed = false;
    return vm_fail_memory(vm);
  }
  if (output == &vm->out && output->used >= FLUSH_AT) output_flush(output, vm->domain);
  return NOTHING;
}

static wn_value display(struct vm *vm, wn_value *args, size_t count) {
  struct output *output = where(vm, "display", args, count, 2);
  if (!output) return VM_FAILED;
  print_value(output, args[0], false);
  return written(vm, output);
}

static wn_value write_value(struct vm *vm, wn_value *args, size_t count) {
  struct output *output = where(vm, "write", args, count, 2);
  if (!output) return VM_FAILED;
  print_value(output, args[0], true);
  return written(vm, output);
}

static wn_value newline(struct vm *vm, wn_value *args, size_t count) {
  struct output *output = where(vm, "newline", args, count, 1);
  if (!output) return VM_FAILED;
  output_bytes(output, "\n", 1);
  return written(vm, output);
}

/* The size of the text is not known yet. A guess is given, so that many ports make collections more
 * frequent. */
static wn_value open_port(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  (void)args, (void)count;
  wn_ref port = wn_alloc_custom(vm->domain, &port_ops, sizeof(struct output *), GUESS);
  struct output *output = wn_is_null(port) ? NULL : calloc(1, sizeof *output);
  if (!output) return vm_fail_memory(vm);
  memcpy(wn_bytes(port), &output, sizeof output);
  return wn_value_of(port);
}

static wn_value port_string(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!is_port(args[0])) return vm_fail_type(vm, "get-output-string", "a port", args[0]);
  const struct output *output = output_of(args[0]);
  return make_string(vm, output->data ? output->data : "", output->used);
}

/* ---- files ---- */

static bool read_all(FILE *file, struct output *text) {
  char piece[4096];
  size_t count;
  while ((count = fread(piece, 1, sizeof piece, file)) > 0) output_bytes(text, piece, count);
  return !ferror(file) && !text->failed;
}

/* Reading may take long: it is done in a blocking section, with a copy of the name. */
static wn_value read_file(struct vm *vm, wn_value *args, size_t count) {
  struct output text = {0};
  char name[4096];
  (void)count;
  if (!is_string(args[0]) || string_length(args[0]) >= sizeof name)
    return vm_fail_type(vm, "read-file", "a file's name", args[0]);
  memcpy(name, string_bytes(args[0]), string_length(args[0]) + 1);
  wn_blocking_begin(vm->domain);
  FILE *file = fopen(name, "r");
  bool good = file && read_all(file, &text);
  if (file) fclose(file);
  wn_blocking_end(vm->domain);
  wn_value string = good ? make_string(vm, text.data ? text.data : "", text.used)
                         : vm_fail(vm, "read-file: %s cannot be read", name);
  output_destroy(&text);
  return string;
}

const struct builtin builtins_ports[] = {{"display", display, 1, 2},
                                         {"write", write_value, 1, 2},
                                         {"newline", newline, 0, 1},
                                         {"open-output-string", open_port, 0, 0},
                                         {"get-output-string", port_string, 1, 1},
                                         {"read-file", read_file, 1, 1},
                                         {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
