/* Prints what a recording has brought, and what is missing. */
#include "base/os.h"
#include "cli/command.h"
#include "cli/heaps_of_file.h"
#include "cli/hints.h"
#include "cli/history_file.h"
#include "cli/load.h"
#include "cli/program.h"
#include "cli/record/record.h"
#include "cli/text.h"
#include "cli/trace_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* How much of the traces is read only to tell them apart: about a second of work and 150 MB of
 * memory. (By /usr/bin/time, winnow info took 2.2 s for 57 MB of traces, and 290 MB of memory for
 * one of 14 MB.) */
static const struct trace_table_limits table_limits = {
    .lines = 10, .file_bytes = 8 << 20, .all_bytes = 32 << 20};

/* Prints how to look at a trace. */
static void say_how_to_look(const char *path) {
  fputs("in a browser: ", stderr);
  text_word(stderr, command_called());
  fputs(" view ", stderr);
  text_file(stderr, path);
  fputs("; now: ", stderr);
  text_word(stderr, command_called());
  fputs(" report ", stderr);
  text_file(stderr, path);
  fputc('\n', stderr);
}

/* Prints why records are missing and what to do about it. `what` is incomplete: "the trace is". */
static void say_loss(const char *what, uint64_t lost, unsigned cause) {
  const char *advice = cause == TRACE_CAUSE_FILE_SIZE ? "raise the limit (ulimit -f)"
                       : cause == TRACE_CAUSE_MEMORY  ? "raise the limit (ulimit -v)"
                       : cause == TRACE_CAUSE_BOUND   ? "give a larger bound"
                                                      : "make room, or write to another disk (-o)";
  if (lost && cause)
    fprintf(stderr, "winnow: %s, so %s incomplete; %s, or record less (--rate)\n", trace_cause_name(cause),
            what, advice);
}

/* Prints of a trace that the recorder has dropped chunks of which time they were. */
static void say_dropped(const struct folder *folder) {
  char text[LOAD_DROPPED_BYTES];
  for (size_t i = 0; i < folder->count; i++) {
    const struct trace_damage *damage = &folder->traces[i].totals.damage;
    if (!folder->traces[i].path || !damage->chunks_dropped) continue;
    fputs("winnow: ", stderr);
    text_name(stderr, folder->traces[i].path);
    fprintf(stderr, ": %s; give a larger bound, or record less (--rate)\n", load_tell_dropped(text, damage));
  }
}

/* How the program ended, for a trace without an end record: no exit handler wrote one. */
static struct trace_end result_end_of(const struct ending *ending) {
  int wait_status = ending->wait_status;
  bool by_signal = WIFSIGNALED(wait_status);
  return (struct trace_end){.time_ns = os_monotonic_ns(),
                            .kind = by_signal ? TRACE_END_SIGNAL : TRACE_END_LEFT,
                            .code = by_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status),
                            .peak_bytes = ending->work.peak_bytes,
                            .cause = ending->for_memory ? TRACE_END_FOR_MEMORY : TRACE_END_BY_ANYTHING};
}

/* A longer command line is cut. */
enum { COMMAND_MOST = 400 };

static void say_how_to_trace_its_heap(const struct record *record) {
  size_t taken = 0;
  const struct setting_value *rate = &record->settings.of[SETTING_RATE];
  fprintf(stderr, "%s=heap.trace", setting_rows[SETTING_TRACE].variable);
  if (rate->given) fprintf(stderr, " %s=%g", setting_rows[SETTING_RATE].variable, rate->fraction);
  for (size_t i = 0; record->argv[i]; i++) {
    taken += strlen(record->argv[i]);
    fputc(' ', stderr);
    if (taken > COMMAND_MOST) {
      fputs("...", stderr);
      break;
    }
    text_word(stderr, record->argv[i]);
  }
}

/* Prints that the program has a collected heap, if it has. `program` is the recorded program: the
 * one that was started, or one that it became. */
static void say_if_it_collects(const struct record *record, const char *program) {
  enum collected collected = collected_in_file(program, NULL, 0);
  if (collected == COLLECTED_NONE) return;
  fputs("winnow: ", stderr);
  text_name(stderr, record->called);
  fprintf(stderr, " has %s, whose blocks are not in this trace of malloc; ", collected_heap_name(collected));
  if (collected_asks(collected)) {
    fputs("to trace that heap: ", stderr);
    say_how_to_trace_its_heap(record);
  } else {
    fputs(collected_advice(collected), stderr);
  }
  fputc('\n', stderr);
}

static void say_if_it_allocates_otherwise(const struct record *record) {
  if (!record->allocator) return;
  fputs("winnow: ", stderr);
  text_name(stderr, record->called);
  fprintf(stderr, " has another allocator linked in besides malloc (%s); its blocks are not in this trace\n",
          record->allocator);
}

static const struct folder_trace *main_trace(const struct record *record) {
  return &record->folder.traces[record->folder.main];
}

static void result_write_name(const char *name) {
  if (name)
    text_name(stderr, name);
  else
    fputs("another program", stderr);
}

/* What is known of the traces that are kept. */
struct written {
  uint64_t bytes, samples, lost;
  unsigned cause;
  size_t growing, unread; /* traces that are not counted: still being written, or they cannot be read */
};

static struct written written_to(const struct record *record) {
  const struct folder *folder = &record->folder;
  struct written written = {0};
  for (size_t i = 0; i < folder->count; i++) {
    const struct trace_totals *totals = &folder->traces[i].totals;
    if (!folder->traces[i].path) continue;
    written.growing += folder->traces[i].status == WN_EBUSY;
    written.unread += folder->traces[i].status && folder->traces[i].status != WN_EBUSY;
    /* A file with a bound has holes. */
    bool bounded = record->supervision.max_bytes || history_exists(folder->traces[i].path);
    written.bytes += bounded ? history_disk_bytes(folder->traces[i].path) : totals->file_bytes;
    written.samples += totals->samples;
    written.lost += totals->damage.records_lost;
    if (totals->damage.loss_cause) written.cause = totals->damage.loss_cause;
  }
  return written;
}

static void say_what_was_written(const struct folder *folder, const struct written *written) {
  const char *path = folder->exists ? folder->path : folder->traces[folder->main].path;
  char size[32], number[64];
  fputs("winnow: wrote ", stderr);
  text_name(stderr, path);
  if (folder->exists) {
    fprintf(stderr, ", a folder of %s", text_number_of(number, (double)folder->kept, "trace"));
    fprintf(stderr, " of %s", text_number_of(number, (double)folder->processes, "process"));
  }
  if (written->unread == folder->kept) {
    fputs("; nothing of it could be checked; ", stderr);
    say_how_to_look(path);
    return;
  }
  fprintf(stderr, " (%s, %s", text_bytes(size, (double)written->bytes),
          text_number_of(number, (double)written->samples, "sample"));
  if (written->lost) fprintf(stderr, "; %s lost", text_number_of(number, (double)written->lost, "record"));
  if (written->growing) fprintf(stderr, "; %zu still being written", written->growing);
  if (written->unread) fprintf(stderr, "; %zu could not be checked", written->unread);
  fputs("); ", stderr);
  say_how_to_look(path);
}

/* Prints which program the trace is of, if not of the one that was started. */
static void say_whose_it_is(const struct record *record) {
  const struct folder *folder = &record->folder;
  const struct folder_trace *traces = folder->traces, *main = main_trace(record), *last = traces;
  while (last + 1 < traces + folder->count && last[1].is_first) last++;
  if (folder->exists || (main->is_first && last == traces)) return;
  fputs("winnow: ", stderr);
  if (main->is_first) {
    result_write_name(record->called);
    fputs(" became ", stderr);
    result_write_name(last->program);
    fputs(" by exec; ", stderr);
  }
  text_name(stderr, main->path);
  fputs(" is the trace of ", stderr);
  result_write_name(main->program);
  if (!main->is_first) {
    fputs(", which ran in a process that ", stderr);
    result_write_name(record->called);
    fputs(" started", stderr);
  }
  fputs(main->is_first && main != last ? ", which allocated more\n" : "\n", stderr);
}

/* Prints that the process became a program that was not recorded, if it did. */
static void say_what_came_after(const struct record *record) {
  const struct folder *folder = &record->folder;
  const struct folder_trace *last = NULL;
  for (size_t i = 0; i < folder->count && folder->traces[i].is_first; i++) last = &folder->traces[i];
  if (!last || last->status || !last->totals.damage.complete || last->totals.end.kind != TRACE_END_EXEC)
    return;
  const char *became = last->totals.became;
  fputs("winnow: ", stderr);
  result_write_name(*became ? became : NULL);
  fputs(", which ", stderr);
  result_write_name(last->program);
  fputs(" became by exec, was not recorded", stderr);
  if (last->after.reason != IMAGE_GOOD) {
    fputs(": ", stderr);
    result_write_name(strcmp(last->after.path, became) ? last->after.path : "it");
    fprintf(stderr, " %s", image_reason(last->after.reason));
  }
  fputc('\n', stderr);
}

static void say_of_its_heaps(const struct record *record) {
  char program[PATH_MAX];
  const struct folder_trace *main = main_trace(record);
  if (!main->is_first) return;
  if (main == record->folder.traces) {
    say_if_it_allocates_otherwise(record);
    say_if_it_collects(record, record->program);
  } else if (main->program && program_find(main->program, program)) {
    say_if_it_collects(record, program);
  }
}

/* Prints how a runtime tells the names that one of the traces lacks: the first that is of one. */
static void say_how_to_get_names(const struct folder *folder) {
  for (size_t i = 0; i < folder->count; i++) {
    const struct folder_trace *trace = &folder->traces[i];
    if (!trace->path || trace->status || !trace->nameless) continue;
    fprintf(stderr, "winnow: %s\n", trace->nameless);
    return;
  }
}

/* Prints the table of the traces in the folder, and what is not there any more. */
static void say_which_are_there(const struct folder *folder, bool asleep) {
  const char **paths = calloc(folder->count, sizeof *paths);
  char traces[64];
  size_t count = 0;
  for (size_t i = 0; paths && folder->exists && i < folder->count; i++)
    if (folder->traces[i].path) paths[count++] = folder->traces[i].path;
  if (count) trace_table_print(stderr, paths, count, &table_limits);
  free(paths);
  if (folder->removed)
    fprintf(stderr, "winnow: left out %s of processes that %s\n",
            text_number_of(traces, (double)folder->removed, "trace"),
            asleep ? "sampled nothing" : "allocated next to nothing");
}

/* `status`: as folder_finish has it. */
static void say_nothing_was_recorded(const struct record *record, wn_status status) {
  const char *harm = record->folder.harm;
  fputs(status != WN_EFORMAT ? "winnow: the trace is written, but could not be checked: "
        : harm               ? "winnow: nothing is left of the trace: "
                             : "winnow: nothing was recorded: ",
        stderr);
  text_name(stderr, status != WN_EFORMAT ? wn_last_error() : harm ? record->output : record->called);
  if (status == WN_EFORMAT)
    fprintf(stderr, " %s", harm ? harm : "did not run with winnow's library, or could not create a trace");
  fputs(harm ? " by another process\n" : "\n", stderr);
}

/* The traces that no process writes fit their bound in the end. */
static void complete_compactions(struct record *record) {
  for (size_t i = 0; i < record->folder.count; i++) {
    const struct folder_trace *trace = &record->folder.traces[i];
    if (trace->path && !trace->status) supervision_complete(&record->supervision, trace->path);
  }
}

static void say_result(struct record *record, const struct ending *ending, struct unrecorded *unrecorded) {
  struct folder *folder = &record->folder;
  struct trace_end end = result_end_of(ending);
  struct progress progress;
  struct trace_finishing finishing = {.end = &end,
                                      .resident_before = os_peak_bytes(), /* of this program, before exec */
                                      .progress = is_quiet(record) ? NULL : progress_show,
                                      .context = &progress};
  progress_begin(&progress, "Completing the trace");
  wn_status status = folder_finish(folder, ending->pid, &finishing, unrecorded);
  progress_end(&progress);
  if (status) {
    say_nothing_was_recorded(record, status);
    return;
  }
  complete_compactions(record);
  struct written written = written_to(record);
  if (!is_quiet(record)) say_what_was_written(folder, &written);
  supervision_say(&record->supervision);
  say_loss(folder->kept > 1 ? "some of these traces are" : "the trace is", written.lost, written.cause);
  say_dropped(folder);
  if (is_quiet(record)) return;
  say_whose_it_is(record);
  say_what_came_after(record);
  say_of_its_heaps(record);
  say_how_to_get_names(folder);
  say_which_are_there(folder, record->settings.of[SETTING_ASLEEP].whole);
}

static void say_if_killed(const struct record *record, const struct ending *ending) {
  char limit[32];
  if (!ending->for_memory || is_quiet(record)) return;
  fputs("winnow: the system killed ", stderr);
  text_name(stderr, record->called);
  fputs(" for memory", stderr);
  if (ending->limit) fprintf(stderr, " (limit %s)", text_bytes(limit, (double)ending->limit));
  fputc('\n', stderr);
}

/* Whether the processes that were not recorded did enough work to mention. In a short run it must
 * be nearly all: wrapper scripts start a few programs before they become the intended one. */
static bool others_worked(const struct work *work) {
  bool most = work->childrens >= work->own, nearly_all = work->childrens >= 4 * work->own;
  return (most && work->childrens >= 0.1) || (nearly_all && work->own + work->childrens >= 0.02);
}

/* Prints that other processes did most of the work, as for a script: the trace of the process
 * itself then says little. */
static void say_if_others_worked(const struct record *record, const struct work *work) {
  char childrens[32], all[32];
  if (follows(record) || is_quiet(record) || !others_worked(work)) return;
  fputs("winnow: processes that ", stderr);
  text_name(stderr, record->called);
  fprintf(stderr,
          " started used %s of the %s of processor time; they are not in its trace, and --follow-children "
          "records them too\n",
          text_time(childrens, (uint64_t)(work->childrens * 1e9)),
          text_time(all, (uint64_t)((work->own + work->childrens) * 1e9)));
}

/* Prints that processes go on running, such as daemons. */
static void say_if_others_go_on(const struct record *record, const struct left_behind *left) {
  if (!left->count) return;
  fputs("winnow: ", stderr);
  text_name(stderr, record->called);
  fprintf(stderr, " left %zu %s running (", left->count, left->count == 1 ? "process" : "processes");
  text_name(stderr, left->names);
  fprintf(stderr, "); %s not in its trace, and --follow-children records %s too\n",
          left->count == 1 ? "it is" : "they are", left->count == 1 ? "it" : "them");
}

/* Prints that a shell ran the program, if that may be why it failed. These are the exit codes of
 * shells that do not find a command or do not understand the script. */
static void say_if_a_shell_ran_it(const struct record *record, int wait_status) {
  int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
  if ((code != 2 && code != 126 && code != 127) || is_quiet(record) ||
      !program_is_plain_script(record->program))
    return;
  const char *interpreter = hint_interpreter(record->program);
  fputs("winnow: ", stderr);
  text_word(stderr, record->program);
  fputs(" names no interpreter in its first line, so /bin/sh ran it", stderr);
  if (interpreter) {
    fprintf(stderr, "; to run it by another interpreter: %s ", interpreter);
    text_word(stderr, record->program);
  }
  fputc('\n', stderr);
}

/* ---- shared ---- */

void record_result(struct record *record, const struct ending *ending) {
  struct unrecorded unrecorded = {0};
  ascii_if_locale_asks(&stderr);
  say_if_killed(record, ending);
  say_result(record, ending, &unrecorded);
  say_if_others_worked(record, &ending->work);
  say_if_others_go_on(record, &ending->left);
  say_if_a_shell_ran_it(record, ending->wait_status);
  if (follows(record) && !is_quiet(record)) unrecorded_say(&unrecorded);
  unrecorded_free(&unrecorded);
}
/* SPDX-License-Identifier: MIT */
