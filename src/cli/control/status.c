/* winnow status: which processes are recorded, what they hold, and what that costs. The counts are
 * those that each process has stored in its control file; what it holds is read from its trace. Of
 * a process without a control file its trace alone says something. */
#include "analysis/load/recording.h"
#include "analysis/load/timeline.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/history_file.h"
#include "cli/recordings.h"
#include "cli/text.h"
#include "export/json.h"
#include "sources/files/open.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/status.h>

/* Of a large trace about so many samples are read: a second or two. */
enum { SAMPLES_MOST = 2000000 };

/* Of one process, at one moment. */
struct state {
  const struct recording_process *process;
  char *program;
  uint64_t since_ns, until_ns, counted_ns; /* before now; until: from now on, 0: for ever */
  double rate, budget;
  uint64_t samples, live, lost, trace_bytes, cost_ns, cpu_ns;
  bool has_held;
  struct estimate held;
};

#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)

static char *status_program_of(const struct recording_process *process) {
  struct source *source;
  char *text = NULL;
  size_t size;
  if (source_open(process->path, &source)) return NULL;
  FILE *out = open_memstream(&text, &size);
  bool named = out && process_name_write(out, source_run(source), true);
  if (out) fclose(out);
  source_close(source);
  if (named) return text;
  free(text);
  return NULL;
}

/* What the trace says the process holds now. A trace that cannot be read says nothing. */
static void read_held(struct state *state) {
  struct recording *recording;
  struct recording_options options = {.samples_most = SAMPLES_MOST};
  if (recording_load(state->process->path, &options, &recording)) return;
  if (state->process->not_asked) state->samples = recording->samples->sampled_blocks;
  struct sums live = timeline_live_at(recording->samples, recording->samples->end_ns, NULL, NULL);
  state->held = estimate_of(&live.bytes, recording->byte_unit);
  state->has_held = true;
  recording_free(recording);
}

static uint64_t processor_ns(pid_t pid) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  return os_processor_ns_of(path);
}

static uint64_t before(uint64_t now, uint64_t then) { return then < now ? now - then : 0; }

static struct state state_of(const struct recording_process *process) {
  const struct control_page *page = &process->page;
  uint64_t now = os_monotonic_ns(), until = LOAD(page->until_ns), counted = LOAD(page->counts.time_ns),
           on_disk = history_disk_bytes(process->path);
  struct state state = {.process = process,
                        .program = status_program_of(process),
                        .since_ns = before(now, page->began_ns),
                        .until_ns = before(until, now),
                        .counted_ns = counted ? before(now, counted) : 0,
                        .rate = until && until <= now ? 0 : LOAD(page->rate),
                        .budget = LOAD(page->budget),
                        .samples = LOAD(page->counts.samples),
                        .live = LOAD(page->counts.live),
                        .lost = LOAD(page->counts.lost),
                        .trace_bytes = on_disk ? on_disk : LOAD(page->counts.trace_bytes),
                        .cost_ns = LOAD(page->counts.cost_ns),
                        .cpu_ns = processor_ns(process->pid)};
  if (state.samples || process->not_asked) read_held(&state);
  return state;
}

static bool is_asked(const struct state *state) { return !state->process->not_asked; }

/* ---- text ---- */

static const char *state_text(char buffer[64], const struct state *state) {
  char time[32];
  if (!is_asked(state)) return "?";
  if (!(state->rate > 0)) return "asleep";
  int length = snprintf(buffer, 64, "%.3g", state->rate);
  if (state->until_ns)
    snprintf(buffer + length, 64 - (size_t)length, ", %s more", text_time(time, state->until_ns));
  return buffer;
}

static const char *held_text(char buffer[64], const struct state *state) {
  char bytes[32];
  const struct estimate *held = &state->held;
  if (!state->has_held) return "-";
  double most = fmax(held->high - held->estimate, held->estimate - held->low);
  if (held->estimate <= 0 || most > held->estimate)
    snprintf(buffer, 64, "%s     ?", text_bytes(bytes, held->estimate));
  else
    snprintf(buffer, 64, "%s %3.0f %%", text_bytes(bytes, held->estimate), 100 * most / held->estimate);
  return buffer;
}

static void print_state(const struct state *state) {
  char since[32], rate[64], held[64], trace[32], samples[32], lost[32], cost[32] = "-", budget[32] = "-";
  if (state->cpu_ns && is_asked(state))
    text_share(cost, fmin((double)state->cost_ns / (double)state->cpu_ns, 1));
  if (state->budget > 0) snprintf(budget, sizeof budget, "%g %%", 100 * state->budget);
  printf("%7d  %8s  %11s  %7s  %15s  %8s  %6s  %6s  %8s  ", (int)state->process->pid,
         text_time(since, state->since_ns), state_text(rate, state),
         text_short_count(samples, (double)state->samples), held_text(held, state),
         text_bytes(trace, (double)state->trace_bytes), cost, budget,
         state->lost ? text_short_count(lost, (double)state->lost) : "-");
  text_name(stdout, state->program ? state->program : "?");
  fputs("\n         ", stdout);
  text_file(stdout, state->process->trace);
  putchar('\n');
  if (!is_asked(state))
    printf("         %s: nothing can be asked of it, and its rate and cost are not known\n",
           state->process->not_asked);
}

static void print_states(const struct state *states, size_t count) {
  text_style(stdout, STYLE_BOLD);
  printf("%7s  %8s  %11s  %7s  %15s  %8s  %6s  %6s  %8s  %s\n", "pid", "recorded", "rate a word", "samples",
         "held       \u00b1 ", "trace", "cost", "budget", "lost", "program, and its trace");
  text_style(stdout, STYLE_PLAIN);
  for (size_t i = 0; i < count; i++) print_state(&states[i]);
}

/* ---- JSON ---- */

/* What the control file says. */
static void write_asked(struct json *json, const struct state *state) {
  const struct control_sampling *usual = &state->process->page.usual;
  json_number(json, "rate", state->rate);
  if (state->budget > 0) json_number(json, "budget", state->budget);
  json_number(json, "usual_rate", usual->rate);
  if (usual->budget > 0) json_number(json, "usual_budget", usual->budget);
  if (state->until_ns) json_number(json, "seconds_left", (double)state->until_ns / 1e9);
  json_integer(json, "live_samples", state->live);
  json_integer(json, "lost_records", state->lost);
  json_number(json, "cost_seconds", (double)state->cost_ns / 1e9);
  json_number(json, "counted_seconds_ago", (double)state->counted_ns / 1e9);
}

static void write_state(struct json *json, const struct state *state) {
  json_begin(json, NULL, '{');
  json_integer(json, "pid", (uint64_t)state->process->pid);
  if (state->program)
    json_string(json, "program", state->program);
  else
    json_null(json, "program");
  json_string(json, "trace", state->process->trace);
  json_number(json, "recorded_seconds", (double)state->since_ns / 1e9);
  if (!is_asked(state)) {
    json_null(json, "rate");
    json_string(json, "no_control", state->process->not_asked);
  } else {
    write_asked(json, state);
  }
  json_integer(json, "samples", state->samples);
  if (state->has_held) json_estimate(json, "held_bytes", &state->held);
  json_integer(json, "trace_bytes", state->trace_bytes);
  json_number(json, "processor_seconds", (double)state->cpu_ns / 1e9);
  json_end(json, '}');
}

static void write_states(const struct state *states, size_t count) {
  struct json json = {.out = stdout};
  json_begin(&json, NULL, '[');
  for (size_t i = 0; i < count; i++) write_state(&json, &states[i]);
  json_end(&json, ']');
  putchar('\n');
}

/* ---- the command ---- */

static int status_show(const struct recordings *found, bool as_json) {
  struct state *states = calloc(found->count + 1, sizeof *states);
  if (!states) return fail_job("not enough memory");
  for (size_t i = 0; i < found->count; i++) states[i] = state_of(&found->items[i]);
  if (as_json)
    write_states(states, found->count);
  else if (found->count)
    print_states(states, found->count);
  else
    puts("no process that you may see is recorded now; 'winnow record' begins a recording");
  for (size_t i = 0; i < found->count; i++) free(states[i].program);
  free(states);
  return 0;
}

int command_status(int argc, char **argv) {
  static const struct option known[] = {{"json", no_argument, NULL, 'j'}, {0}};
  struct recordings found = {.with_not_asked = true};
  bool as_json = false;
  int option, code = 0;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":j", known, NULL)) != -1) {
    if (option != 'j') return fail_option("status", option, argv, known);
    as_json = true;
  }
  if (optind == argc && recordings_find_all(&found)) code = fail_job("%s", wn_last_error());
  for (int i = optind; i < argc; i++)
    if (recordings_find(&found, argv[i])) code = fail_job("%s", wn_last_error());
  if (!as_json) ascii_if_locale_asks(&stdout);
  if (found.count || !code) {
    int shown = status_show(&found, as_json);
    if (shown) code = shown;
  }
  recordings_destroy(&found);
  return code;
}
/* SPDX-License-Identifier: MIT */
