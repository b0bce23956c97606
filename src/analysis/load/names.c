/* The frames of nodes, once they have names. names_resolve.c finds the names. */
#include "analysis/load/names.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>

void names_destroy(struct names *names) {
  strings_free(names->strings);
  free(names->frame);
  free(names->first);
  free(names->count);
  free(names->hint);
  free(names->note);
  free(names->shared);
  free(names->processes);
  free(names->thread);
  free(names->threads);
  free(names->types);
  builds_destroy(&names->builds);
  *names = (struct names){0};
}

struct frames names_of(const struct names *names, uint32_t node) {
  return (struct frames){names->frame + names->first[node], names->count[node]};
}

static uint32_t intern_or(struct strings *strings, const char *text, const char *nothing) {
  return strings_intern(strings, text && *text ? text : nothing);
}

static bool name_process(struct strings *strings, const struct process *process,
                         struct process_names *names) {
  char *text;
  if (asprintf(&text, "%s (%u)", process->name, process->pid) < 0) return false;
  names->numbered = strings_intern(strings, text);
  free(text);
  names->name = strings_intern(strings, process->name);
  names->host = intern_or(strings, process->host, "(host not recorded)");
  names->release = intern_or(strings, process->release, "(build-id not known)");
  return names->numbered && (names->name || !*process->name) && names->host && names->release;
}

bool names_add_processes(struct names *names, const struct samples *samples) {
  uint32_t count = samples->process_count;
  names->processes = calloc((size_t)count + 1, sizeof *names->processes);
  if (!names->processes) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!name_process(names->strings, &samples->processes[i], &names->processes[i])) return false;
  names->process_count = count;
  return true;
}

/* ---- threads ---- */

static int names_by_number(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* Appends the threads of rows, most of those that follow each other once. */
static size_t append_threads(uint32_t *threads, size_t count, const struct row *rows, size_t row_count) {
  for (size_t i = 0; i < row_count; i++)
    if (!count || threads[count - 1] != rows[i].thread) threads[count++] = rows[i].thread;
  return count;
}

/* Sorts numbers, and leaves each of them once. */
static size_t sort_once(uint32_t *numbers, size_t count) {
  size_t kept = 0;
  qsort(numbers, count, sizeof *numbers, names_by_number);
  for (size_t i = 0; i < count; i++)
    if (!kept || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
  return kept;
}

/* "worker (thread 7)", or "thread 7" without a name; of several processes "worker (thread 7 of cc1
 * (4711))". */
static char *describe_thread(const struct names *names, const struct samples *samples, uint32_t thread,
                             const char *name, const char *bare) {
  const char *process = names_of_process(names, process_of(samples, thread));
  bool named = name != bare, several = samples->process_count > 1;
  char *text;
  int done = asprintf(&text, "%s%sthread %u%s%s%s", named ? name : "", named ? " (" : "",
                      samples_thread_number(samples, thread), several ? " of " : "", several ? process : "",
                      named ? ")" : "");
  return done < 0 ? NULL : text;
}

static bool names_name_thread(struct names *names, const struct samples *samples, uint32_t place) {
  char bare[32];
  uint32_t thread = names->thread[place];
  const char *name = samples_thread_name(samples, thread, bare);
  char *text = describe_thread(names, samples, thread, name, bare);
  names->threads[2 * place] = text ? strings_intern(names->strings, text) : 0;
  names->threads[2 * place + 1] = strings_intern(names->strings, name);
  free(text);
  return names->threads[2 * place] && (!*name || names->threads[2 * place + 1]);
}

bool names_add_threads(struct names *names, const struct samples *samples) {
  size_t rows = samples->row_count + samples->mapped.count;
  names->thread = array_new(rows, sizeof *names->thread);
  if (!names->thread) return false;
  size_t count = append_threads(names->thread, 0, samples->rows, samples->row_count);
  count = append_threads(names->thread, count, samples->mapped.rows, samples->mapped.count);
  names->thread_count = (uint32_t)sort_once(names->thread, count);
  names->threads = calloc(2 * (size_t)names->thread_count + 1, sizeof *names->threads);
  for (uint32_t i = 0; i < names->thread_count; i++)
    if (!names->threads || !names_name_thread(names, samples, i)) return false;
  return names->threads;
}

bool names_add_types(struct names *names, const struct samples *samples) {
  uint32_t count = samples->types ? samples->types->count : 1;
  names->types = calloc(count, sizeof *names->types);
  for (uint32_t i = 1; names->types && i < count; i++)
    if (!(names->types[i] = strings_intern(names->strings, strings_text(samples->types, i)))) return false;
  names->type_count = count - 1;
  return names->types;
}

uint32_t names_thread_place(const struct names *names, uint32_t thread) {
  uint32_t low = 0, high = names->thread_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (names->thread[middle] == thread) return middle + 1;
    if (names->thread[middle] < thread)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

const char *names_of_process(const struct names *names, uint32_t process) {
  return process < names->process_count ? strings_text(names->strings, names->processes[process].numbered)
                                        : "";
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
