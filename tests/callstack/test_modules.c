/* Libraries that come and go. */
#include "support/test.h"

#include "callstack/capture.h"
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

typedef int callback_function(void *context);
typedef int plugin_call_function(callback_function *callback, void *context);

struct capture {
  struct callstacks *callstacks;
  const wn_callstack *stack;
};

static int capture(void *context) {
  struct capture *capture = context;
  capture->stack = callstack_keep(callstack_capture(capture->callstacks, 8));
  return 1;
}

/* Loads a plugin, captures below it and unloads it; gives its base. */
static uintptr_t through_plugin(const char *path, struct capture *context, bool unload) {
  void *handle = dlopen(path, RTLD_NOW);
  assert_non_null(handle);
  plugin_call_function *call;
  *(void **)&call = dlsym(handle, "plugin_call");
  assert_int_equal(call(capture, context), 2);
  uintptr_t base = ((struct link_map *)handle)->l_addr;
  if (unload) dlclose(handle);
  return base;
}

static uint32_t module_of_frame(struct callstacks *callstacks, const wn_callstack *stack, unsigned index) {
  uint32_t module;
  uint64_t offset;
  callstack_frame(callstacks, stack->frame[stack->count - 1 - index], &module, &offset);
  return module;
}

struct gone {
  unsigned count;
  uint32_t last;
};
static void note_gone(void *context, uint32_t module) {
  struct gone *gone = context;
  gone->count++;
  gone->last = module;
}

static void modules_tell_their_path_and_build_id(bool without_loader) {
  struct capture context = {callstacks_create(&(struct callstacks_options){.without_loader = without_loader}),
                            NULL};
  uintptr_t base = through_plugin(PLUGIN_A, &context, true);
  assert_string_equal(wn_callstack_frame(context.stack, 1).module, PLUGIN_A);
  struct callstack_module module;
  assert_true(
      callstack_module(context.callstacks, module_of_frame(context.callstacks, context.stack, 1), &module));
  assert_string_equal(module.path, PLUGIN_A);
  assert_int_equal(module.bias, base);
  assert_int_equal(module.generation, 1);
  assert_int_equal(module.build_id_bytes, 4);
  assert_memory_equal(module.build_id, "\xa1\xb2\xc3\xd4", 4);
  wn_frame frame = wn_callstack_frame(context.stack, 1);
  assert_int_equal(frame.offset, frame.pc - base);
  struct callstack_module program;
  assert_true(
      callstack_module(context.callstacks, module_of_frame(context.callstacks, context.stack, 0), &program));
  char self[4096];
  assert_non_null(realpath("/proc/self/exe", self));
  assert_string_equal(program.path, self);
  assert_false(callstack_module(context.callstacks, 0, &module));
  assert_false(callstack_module(context.callstacks, 60000, &module));
  callstacks_destroy(context.callstacks);
}
static void the_loader_tells_modules(void **state) {
  (void)state;
  modules_tell_their_path_and_build_id(false);
}
static void the_map_of_the_process_tells_modules_too(void **state) {
  (void)state;
  modules_tell_their_path_and_build_id(true);
}

static void another_library_at_the_same_place_is_another_module(void **state) {
  (void)state;
  struct capture a = {callstacks_create(&(struct callstacks_options){0}), NULL}, b = a;
  uintptr_t base_a = through_plugin(PLUGIN_A, &a, true);
  struct gone gone = {0};
  callstacks_modules_refresh(a.callstacks, note_gone, &gone);
  assert_int_equal(gone.count, 1);
  uint32_t module_a = module_of_frame(a.callstacks, a.stack, 1);
  assert_int_equal(gone.last, module_a);
  uintptr_t base_b = through_plugin(PLUGIN_B, &b, false);
  if (base_a != base_b) skip();
  uint32_t module_b = module_of_frame(b.callstacks, b.stack, 1);
  assert_int_not_equal(module_a, module_b);
  assert_int_equal(wn_callstack_frame(a.stack, 1).pc, wn_callstack_frame(b.stack, 1).pc);
  assert_string_equal(wn_callstack_frame(a.stack, 1).module, PLUGIN_A);
  assert_string_equal(wn_callstack_frame(b.stack, 1).module, PLUGIN_B);
  assert_ptr_not_equal(a.stack, b.stack);
  gone = (struct gone){0};
  callstacks_modules_refresh(a.callstacks, note_gone, &gone);
  assert_int_equal(gone.count, 0);
  void *handle = dlopen(PLUGIN_B, RTLD_NOW | RTLD_NOLOAD);
  dlclose(handle);
  dlclose(handle);
  callstacks_modules_refresh(a.callstacks, note_gone, &gone);
  assert_int_equal(gone.count, 1);
  assert_int_equal(gone.last, module_b);
  callstacks_destroy(a.callstacks);
}

static int capture_all(void *context) {
  struct capture *capture = context;
  capture->stack = callstack_keep(callstack_capture(capture->callstacks, SIZE_MAX));
  return 1;
}

/* Registers, stack and addresses are the same: that another library is there now only the table of
 * modules knows. */
static void a_stack_through_one_library_is_not_remembered_as_one_through_another(void **state) {
  (void)state;
  static const char *const paths[] = {PLUGIN_A, PLUGIN_B};
  struct capture context = {callstacks_create(&(struct callstacks_options){0}), NULL};
  uintptr_t base = 0;
  for (volatile int round = 0; round < 6; round++) { /* volatile: else a compiler may make two calls of one */
    const char *path = paths[round % 2];
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    plugin_call_function *call;
    *(void **)&call = dlsym(handle, "plugin_call");
    for (volatile int again = 0; again < 3; again++) call(capture_all, &context);
    assert_string_equal(wn_callstack_frame(context.stack, 1).module, path);
    if (base && base != ((struct link_map *)handle)->l_addr) skip();
    base = ((struct link_map *)handle)->l_addr;
    dlclose(handle);
    callstacks_modules_refresh(context.callstacks, NULL, NULL);
  }
  callstacks_destroy(context.callstacks);
}

static void a_library_loaded_again_and_again_keeps_the_tables_small(void **state) {
  (void)state;
  struct capture context = {callstacks_create(&(struct callstacks_options){0}), NULL};
  struct gone gone = {0};
  const wn_callstack *first = NULL;
  struct callstack_counts early = {0};
  for (unsigned i = 0; i < ROUNDS; i++) {
    through_plugin(PLUGIN_A, &context, true);
    callstacks_modules_refresh(context.callstacks, note_gone, &gone);
    if (i == 0) first = context.stack;
    if (i == 9) early = callstacks_counts(context.callstacks);
  }
  struct callstack_counts counts = callstacks_counts(context.callstacks);
  assert_int_equal(gone.count, ROUNDS);
  assert_int_equal(counts.modules, early.modules);
  assert_int_equal(counts.frames, early.frames);
  assert_true(wn_callstack_equal(context.stack, first));
  struct callstack_module module;
  assert_true(callstack_module(context.callstacks, gone.last, &module));
  assert_int_equal(module.generation, ROUNDS);
  assert_true(module.gone);
  callstacks_destroy(context.callstacks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_loader_tells_modules),
      cmocka_unit_test(the_map_of_the_process_tells_modules_too),
      cmocka_unit_test(another_library_at_the_same_place_is_another_module),
      cmocka_unit_test(a_stack_through_one_library_is_not_remembered_as_one_through_another),
      cmocka_unit_test(a_library_loaded_again_and_again_keeps_the_tables_small),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
