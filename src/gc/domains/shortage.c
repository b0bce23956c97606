/* Calling the hooks, and ending the process where there are none. */
#include "gc/domains/shortage.h"

#include "base/error.h"
#include "base/os.h"
#include "gc/domains/debug.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line without allocating. */
static _Noreturn void end_process(const char *hook) {
  char line[400];
  snprintf(line, sizeof line, "winnow: %s; the heap has no hook %s, so the program ends here\n", error_text(),
           hook);
  os_write_all(STDERR_FILENO, line, strlen(line));
  abort();
}

bool shortage_of_memory(struct wn_domain *domain, size_t words, const char *message) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  error_set(WN_ENOMEM, "%s: %zu words", message, words);
  if (!hooks->out_of_memory) end_process("out_of_memory");
  bool again = hooks->out_of_memory(domain, words, hooks->context);
  error_set(WN_ENOMEM, "%s: %zu words", message, words);
  return again;
}

static void note_handles(const struct wn_domain *domain, wn_status status) {
  if (status == WN_ELIMIT)
    error_set(status, "handles: all %ld slots of the thread are in use (stack_limit)%s",
              domain->heap->control.stack_limit,
              CHECKS && !debug_may_have_scope(domain->running) ? ", and no scope is open" : "");
  else
    error_set(status, "handles: no memory for more slots");
}

void shortage_of_handles(struct wn_domain *domain, wn_status status) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  note_handles(domain, status);
  if (!hooks->out_of_handles) end_process("out_of_handles");
  hooks->out_of_handles(domain, hooks->context);
  note_handles(domain, status);
}
/* SPDX-License-Identifier: MIT */
