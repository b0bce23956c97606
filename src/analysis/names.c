/* The frames of nodes, once they have names. names_resolve.c finds the names. */
#include "analysis/names.h"

#include <stdio.h>
#include <stdlib.h>

void names_destroy(struct names *names) {
  strings_free(names->strings);
  free(names->frame);
  free(names->first);
  free(names->count);
  free(names->hint);
  free(names->shared);
  free(names->processes);
  builds_destroy(&names->builds);
  *names = (struct names){0};
}

struct frames names_of(const struct names *names, uint32_t node) {
  return (struct frames){names->frame + names->first[node], names->count[node]};
}

bool names_add_processes(struct names *names, const struct samples *samples) {
  uint32_t count = samples->process_count;
  names->processes = calloc(2 * (size_t)count + 1, sizeof *names->processes);
  if (!names->processes) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct process *process = &samples->processes[i];
    char *text;
    if (asprintf(&text, "%s (%u)", process->name, process->pid) < 0) return false;
    names->processes[2 * i] = strings_intern(names->strings, text);
    names->processes[2 * i + 1] = strings_intern(names->strings, process->name);
    free(text);
    if (!names->processes[2 * i] || (*process->name && !names->processes[2 * i + 1])) return false;
  }
  names->process_count = count;
  return true;
}

const char *names_of_process(const struct names *names, uint32_t process) {
  return process < names->process_count ? strings_text(names->strings, names->processes[2 * process]) : "";
}

bool names_find_shared(struct names *names, const bool *used, uint32_t nodes) {
  size_t strings = names->strings->count;
  uint32_t *modules = calloc(strings + 1, sizeof *modules); /* of each name the first, plus 1 */
  bool *shared = calloc(strings + 1, sizeof *shared);
  for (uint32_t node = 1; node <= nodes && modules && shared; node++) {
    struct frames frames = names_of(names, node);
    for (size_t i = 0; i < frames.count && used[node]; i++) {
      const struct frame *frame = &frames.frame[i];
      uint32_t *module = &modules[frame->function];
      if (!*module) *module = frame->module + 1;
      if (*module != frame->module + 1) shared[frame->function] = true;
    }
  }
  bool done = modules && shared;
  free(modules);
  free(names->shared);
  names->shared = done ? shared : NULL;
  if (!done) free(shared);
  return done;
}
/* SPDX-License-Identifier: MIT */
