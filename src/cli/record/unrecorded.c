/* Counts the programs that could not be recorded, by path and reason. Without memory a program is
 * counted but not named. */
#include "cli/record/unrecorded.h"

#include "cli/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MOST = 6 };

static void unrecorded_count(struct unrecorded *all, const struct unrecorded_program *program) {
  all->processes++;
  for (size_t i = 0; i < all->count; i++)
    if (all->programs[i].reason == program->reason && !strcmp(all->programs[i].path, program->path)) {
      all->programs[i].processes++;
      return;
    }
  struct unrecorded_program *more = realloc(all->programs, (all->count + 1) * sizeof *more);
  if (!more) return;
  all->programs = more;
  more[all->count] = *program;
  more[all->count++].processes = 1;
}

static void unrecorded_keep(const struct trace_unrecorded *event, const struct trace_run *run,
                            void *context) {
  struct unrecorded *all = context;
  struct unrecorded_program program = {.reason = (enum image_kind)event->reason};
  snprintf(program.path, sizeof program.path, "%s", event->path.bytes);
  if (event->pid == run->pid)
    all->own = program;
  else
    unrecorded_count(all, &program);
}

static int by_count(const void *one, const void *other) {
  const struct unrecorded_program *a = one, *b = other;
  if (a->processes != b->processes) return a->processes < b->processes ? 1 : -1;
  return strcmp(a->path, b->path);
}

/* ---- shared ---- */

wn_status unrecorded_finish(struct unrecorded *all, const char *path, const struct trace_finishing *finishing,
                            struct trace_totals *totals) {
  struct trace_finishing with = *finishing;
  with.unrecorded = unrecorded_keep;
  with.unrecorded_context = all;
  all->own = (struct unrecorded_program){.reason = IMAGE_GOOD};
  return trace_finish_with(path, &with, totals);
}

void unrecorded_count_own(struct unrecorded *all) {
  if (all->own.reason != IMAGE_GOOD) unrecorded_count(all, &all->own);
}

void unrecorded_say(const struct unrecorded *all) {
  if (!all->processes) return;
  qsort(all->programs, all->count, sizeof *all->programs, by_count);
  fprintf(stderr, "winnow: %zu %s not recorded: ", all->processes,
          all->processes == 1 ? "process was" : "processes were");
  for (size_t i = 0; i < all->count && i < NAMED_MOST; i++) {
    const struct unrecorded_program *program = &all->programs[i];
    if (i) fputs(", ", stderr);
    text_name(stderr, program->path);
    fprintf(stderr, " %s", image_reason(program->reason));
    if (all->processes > 1) fprintf(stderr, " (%zu)", program->processes);
  }
  if (all->count > NAMED_MOST) fprintf(stderr, ", and %zu more programs", all->count - NAMED_MOST);
  fputc('\n', stderr);
}

void unrecorded_free(struct unrecorded *all) { free(all->programs); }
/* SPDX-License-Identifier: MIT */
