/* Libraries that one thread unloads while others capture, and while others ask what is gone. */
#include "support/test.h"

#include "callstack/capture.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef int callback_function(void *context);
typedef int plugin_call_function(callback_function *callback, void *context);

static const char *const plugins[] = {PLUGIN_A, PLUGIN_B, PLUGIN_C, PLUGIN_D};
enum { THREADS = sizeof plugins / sizeof plugins[0] };

struct thread {
  pthread_t thread;
  const char *plugin;
  struct callstacks *callstacks;
  unsigned captured, wrong;
};

/* Which plugin it is cannot be told for sure: another one of the same layout may have come to the
 * place of one whose unloading nobody was told about yet. */
static bool is_plugin(const char *path) {
  for (unsigned i = 0; i < THREADS; i++)
    if (path && strcmp(path, plugins[i]) == 0) return true;
  return false;
}

static int capture(void *context) {
  struct thread *thread = context;
  const wn_callstack *stack = callstack_keep(callstack_capture(thread->callstacks, 8));
  thread->captured++;
  thread->wrong += wn_callstack_depth(stack) < 3 || !is_plugin(wn_callstack_frame(stack, 1).module);
  return 1;
}

static void *load_and_unload(void *context) {
  struct thread *thread = context;
  for (unsigned i = 0; i < UNLOADING_ROUNDS; i++) {
    void *handle = dlopen(thread->plugin, RTLD_NOW);
    plugin_call_function *call = NULL;
    if (handle) *(void **)&call = dlsym(handle, "plugin_call");
    if (!call || call(capture, thread) != 2) thread->wrong++;
    if (handle) dlclose(handle);
    callstacks_modules_refresh(thread->callstacks, NULL, NULL);
  }
  return NULL;
}

static unsigned live_plugins(struct callstacks *callstacks) {
  struct callstack_module module;
  unsigned live = 0;
  for (uint32_t id = 1; callstack_module(callstacks, id, &module); id++)
    live += !module.gone && is_plugin(module.path);
  return live;
}

static void refreshing_reads_nothing_that_another_thread_unmaps(bool without_loader) {
  struct callstacks *callstacks =
      callstacks_create(&(struct callstacks_options){.without_loader = without_loader});
  struct thread threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    threads[i] = (struct thread){.plugin = plugins[i], .callstacks = callstacks};
    assert_int_equal(pthread_create(&threads[i].thread, NULL, load_and_unload, &threads[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i].thread, NULL);
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(threads[i].captured, UNLOADING_ROUNDS);
    assert_int_equal(threads[i].wrong, 0);
  }
  callstacks_modules_refresh(callstacks, NULL, NULL);
  assert_int_equal(live_plugins(callstacks), 0);
  callstacks_destroy(callstacks);
}
static void threads_unload_while_others_refresh(void **state) {
  (void)state;
  refreshing_reads_nothing_that_another_thread_unmaps(false);
}
static void threads_unload_while_others_refresh_from_the_map(void **state) {
  (void)state;
  refreshing_reads_nothing_that_another_thread_unmaps(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_unload_while_others_refresh),
      cmocka_unit_test(threads_unload_while_others_refresh_from_the_map),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
