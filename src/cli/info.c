/* winnow info: prints what a trace is and how complete it is, or for several traces a table that
 * tells them apart (overview.h); as text or JSON. */
#include "analysis/load/memory_limit.h"
#include "analysis/load/rates.h"
#include "analysis/load/samples.h"
#include "cli/command.h"
#include "cli/history_file.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/text.h"
#include "cli/trace_table.h"
#include "export/json.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { VALUE_COLUMN = 12 };

struct facts {
  const char *file;
  const struct samples *samples;
  const struct trace_run *run;
  const struct trace_damage *damage;
  uint64_t frees, file_bytes;
  bool growing; /* a process still writes the file */
};

static void line(const char *name, const char *value) { text_entry(stdout, name, value, VALUE_COLUMN); }

/* The value of a line, written piece by piece. */
struct value {
  char *text;
  size_t size;
  FILE *out; /* NULL: not enough memory */
};

static FILE *value_begin(struct value *value) {
  *value = (struct value){.text = NULL};
  return value->out = open_memstream(&value->text, &value->size);
}

static void value_end(struct value *value, const char *name) {
  fclose(value->out);
  if (value->text) line(name, value->text);
  free(value->text);
}

static void info_print_command(const struct trace_run *run) {
  struct value value;
  FILE *out = value_begin(&value);
  if (!out) return;
  for (uint32_t at = 0; at < run->command.length; at += (uint32_t)strlen(run->command.bytes + at) + 1) {
    if (at) fputc(' ', out);
    text_word(out, run->command.bytes + at);
  }
  value_end(&value, "command");
  if (run->context.length) line("context", run->context.bytes);
  if ((!process_name_title(run) && !run->name.length) || !(out = value_begin(&value))) return;
  process_name_write(out, run, false);
  value_end(&value, "called");
}

static bool info_is_collected(const struct samples *samples) { return samples->collected; }

static const char *how_it_ended(const struct facts *facts, char buffer[64]) {
  const struct samples *samples = facts->samples;
  if (facts->growing && !samples->ended) return strcpy(buffer, "no: the trace is still being written");
  if (source_is_foreign(samples->source)) return strcpy(buffer, "unknown: such a trace does not tell");
  if (probably_killed_for_memory(samples)) return strcpy(buffer, "no: probably killed for memory");
  if (!samples->ended && samples->collected)
    return strcpy(buffer, "no: killed, left by _exit or exec, or still running");
  if (!samples->ended) return strcpy(buffer, "no: killed, left by _exit, or still running");
  switch (samples->end.kind) {
  case TRACE_END_STOP:
    return strcpy(buffer, info_is_collected(samples) ? "yes: the heap was closed, or recording stopped"
                                                     : "yes: recording was stopped");
  case TRACE_END_EXEC:
    return strcpy(buffer,
                  samples->became ? "yes: by exec it became " : "yes: it became another program by exec");
  case TRACE_END_SIGNAL:
    if (killed_for_memory(samples)) {
      snprintf(buffer, 64, "yes: signal %d: killed for memory", samples->end.code);
      break;
    }
    snprintf(buffer, 64, "yes: signal %d (%s)", samples->end.code, strsignal(samples->end.code));
    break;
  case TRACE_END_LEFT: snprintf(buffer, 64, "yes: left by _exit(%d)", samples->end.code); break;
  default: snprintf(buffer, 64, "yes: exit %d", samples->end.code);
  }
  return buffer;
}

/* The limit of memory, and what is known of the group that has it. */
static void print_limit(const struct samples *samples) {
  struct memory_limit group = memory_limit_of(samples);
  char value[192] = "", text[64];
  int length = 0;
  if (!group.limit && !group.high) return;
  if (group.limit)
    length = snprintf(value, sizeof value, "%s of the control group", text_bytes(text, (double)group.limit));
  if (group.high)
    length += snprintf(value + length, sizeof value - (size_t)length, "%sslowed down beyond %s",
                       length ? ", " : "", text_bytes(text, (double)group.high));
  if (group.pressure_us)
    length += snprintf(value + length, sizeof value - (size_t)length, ", waited %s for memory",
                       text_time(text, group.pressure_us * 1000));
  if (group.kills)
    snprintf(value + length, sizeof value - (size_t)length, ", %s in it killed for memory",
             text_number_of(text, (double)group.kills, "process"));
  line("limit", value);
}

static void print_ending(const struct facts *facts) {
  const struct samples *samples = facts->samples;
  char text[64];
  struct value value;
  bool executed = samples->ended && samples->end.kind == TRACE_END_EXEC;
  FILE *out = value_begin(&value);
  if (!out) return;
  fputs(how_it_ended(facts, text), out);
  if (executed && samples->became) text_name(out, samples->became);
  value_end(&value, "ended");
}

/* Prints the numbers of records of a collected heap. */
static void print_heap_records(const struct samples *samples) {
  char value[256], promotions[32], collections[32], pauses[32], domains[32];
  const struct heap_life *life = &samples->life;
  if (!info_is_collected(samples)) return;
  if (source_is_foreign(samples->source)) {
    snprintf(value, sizeof value, "%s of promotions", text_count(promotions, (double)samples->promotions));
    line("records", value);
    return;
  }
  snprintf(value, sizeof value, "%s of promotions, %s of collections, %s of pauses, %s of domains",
           text_count(promotions, (double)samples->promotions),
           text_count(collections, (double)life->records.collections),
           text_count(pauses, (double)life->records.pauses),
           text_count(domains, (double)life->records.domains));
  line("records", value);
  if (life->records.wrong) {
    snprintf(value, sizeof value, "%s of these, which contradict the others",
             text_count(promotions, (double)life->records.wrong));
    line("left out", value);
  }
}

/* The rates of a trace that had several. */
static void print_rates(const struct samples *samples, char *value, size_t size) {
  double least = samples->rates[0], most = least;
  char changes[64], asleep[32];
  for (size_t i = 0; i < samples->rate_change_count; i++) {
    least = fmin(least, samples->rate_changes[i].rate);
    most = fmax(most, samples->rate_changes[i].rate);
  }
  int length = snprintf(value, size, "%.3g at first, then %s%s, from %.3g to %.3g", samples->rates[0],
                        text_number_of(changes, (double)samples->rate_change_count, "change"),
                        samples_follow_budget(samples) ? " by its budget or bound" : "", least, most);
  if (asleep_ns(samples))
    snprintf(value + length, size - (size_t)length, "; 0 for %s", text_time(asleep, asleep_ns(samples)));
}

static void print_cost(const struct samples *samples) {
  char value[96], share[32], time[32], text[32];
  uint64_t cost, processor;
  samples_cost(samples, &cost, &processor);
  if (!processor) return;
  snprintf(value, sizeof value, "%s of processor time, %s of the %s that the program took",
           text_time(text, cost), text_share(share, (double)cost / (double)processor),
           text_time(time, processor));
  line("cost", value);
}

static void print_size(const struct facts *facts) {
  char value[128], text[32], each[32];
  double blocks = (double)facts->samples->sampled_blocks,
         bytes = blocks > 0 ? (double)facts->file_bytes / blocks : 0;
  text_bytes(text, (double)facts->file_bytes);
  text_bytes(each, bytes);
  if (bytes < 999.5) snprintf(each, sizeof each, "%.1f bytes", bytes);
  snprintf(value, sizeof value, blocks > 0 ? "%s, %s a sampled block" : "%s", text, each);
  line("size", value);
}

/* Prints what is missing, or "nothing". */
static void info_print_missing(const struct facts *facts) {
  char text[64], chunks[64], bytes[32], dropped[LOAD_DROPPED_BYTES];
  const char *between = "";
  const struct trace_damage *damage = facts->damage;
  uint64_t lost = damage->records_lost, damaged = damage->chunks_damaged, unknown = damage->records_unknown,
           unmatched = facts->samples->unmatched;
  bool foreign = source_is_foreign(facts->samples->source);
  struct value value;
  FILE *out = value_begin(&value);
  if (!out) return;
  if (lost) fprintf(out, "%s lost", text_number_of(text, (double)lost, "record")), between = ", ";
  if (lost && damage->loss_cause) fprintf(out, " (%s)", trace_cause_name(damage->loss_cause));
  if (damaged)
    fprintf(out, "%s%s of %s damaged", between, text_count(text, (double)damaged),
            text_number_of(chunks, (double)(damage->chunks_read + damaged), "chunk")),
        between = ", ";
  if (damaged && damage->bytes_skipped)
    fprintf(out, ", %s left out", text_bytes(bytes, (double)damage->bytes_skipped));
  if (damage->chunks_dropped)
    fprintf(out, "%s%s", between, load_tell_dropped(dropped, damage)), between = ", ";
  if (damage->stacks_lost)
    fprintf(out, "%s%s without a stack", between,
            text_number_of(text, (double)damage->stacks_lost, "record")),
        between = ", ";
  if (facts->samples->cut)
    fprintf(out, "%sthe outermost callers of %s, since callstacks are cut after %u frames", between,
            text_number_of(text, (double)facts->samples->cut, "block"), facts->run->stack_depth),
        between = ", ";
  if (unknown)
    fprintf(out, "%s%s of unknown kinds", between, text_number_of(text, (double)unknown, "record")),
        between = ", ";
  if (unmatched)
    fprintf(out, "%s%s of unknown blocks", between, text_number_of(text, (double)unmatched, "record")),
        between = ", ";
  if (damage->times_raised)
    fprintf(out, "%sthe time of %s, since the clock was set back", between,
            text_number_of(text, (double)damage->times_raised, "event")),
        between = ", ";
  if (foreign)
    fprintf(out, "%scollections, the heap's size and the program's end, of which such a trace tells nothing",
            between);
  else if (!*between)
    fputs(facts->samples->ended ? "nothing" : "perhaps its last moments", out);
  value_end(&value, "missing");
}

/* What a profile of totals tells about itself. */
static void print_profile(const struct facts *facts) {
  struct value value;
  char text[64], modules[64], code[160];
  info_print_command(facts->run);
  snprintf(code, sizeof code, "%s in %s",
           text_number_of(text, source_stack_count(facts->samples->source), "stack frame"),
           text_number_of(modules, source_module_count(facts->samples->source), "module"));
  line("code", code);
  line("size", text_bytes(text, (double)facts->file_bytes));
  line("written by", facts->run->writer.bytes);
  FILE *out = value_begin(&value);
  if (!out) return;
  fputs(source_limits(facts->samples->source)->note, out);
  value_end(&value, "tells");
}

static void info_print_text(const struct facts *facts, struct json *json) {
  (void)json;
  if (source_limits(facts->samples->source)->totals) {
    print_profile(facts);
    return;
  }
  char value[128], text[64], more[32];
  const struct trace_run *run = facts->run;
  bool foreign = source_is_foreign(facts->samples->source);
  time_t began = (time_t)(run->wall_ns / 1000000000u);
  info_print_command(run);
  snprintf(value, sizeof value, "%u on %.64s", run->pid, run->host.length ? run->host.bytes : "?");
  if (run->pid || run->host.length || !foreign) line("process", value);
  strftime(value, sizeof value, "%Y-%m-%d %H:%M:%S", localtime(&began));
  if (began || !foreign) line("began", value);
  line("lasted", text_time(text, facts->samples->end_ns));
  line("heap", run->heap.length ? run->heap.bytes : "?");
  if (facts->samples->rate_change_count)
    print_rates(facts->samples, value, sizeof value);
  else if (run->rate >= 1)
    snprintf(value, sizeof value, "1: every block%s",
             trace_is_partial(facts->damage) ? ", but records are missing" : "");
  else if (run->rate > 0)
    text_rate(value, run->rate, run->word_bytes);
  else
    snprintf(value, sizeof value, "0: nothing was to be sampled");
  line("rate", value);
  if (!foreign) {
    snprintf(value, sizeof value, "%llu", (unsigned long long)run->seed);
    line("seed", value);
  }
  snprintf(value, sizeof value, "%s, %s freed",
           text_number_of(text, (double)facts->samples->sampled_blocks, "block"),
           text_count(more, (double)facts->frees));
  line("sampled", value);
  char modules[64], threads[64];
  int length = snprintf(value, sizeof value, "%s in %s",
                        text_number_of(text, source_stack_count(facts->samples->source), "stack frame"),
                        text_number_of(modules, source_module_count(facts->samples->source), "module"));
  if (facts->samples->thread_count || !foreign)
    snprintf(value + length, sizeof value - (size_t)length, ", %s",
             text_number_of(threads, (double)facts->samples->thread_count, "thread"));
  line("code", value);
  print_size(facts);
  print_cost(facts->samples);
  print_heap_records(facts->samples);
  print_limit(facts->samples);
  print_ending(facts);
  info_print_missing(facts);
  snprintf(value, sizeof value, "Winnow %.64s", run->version.length ? run->version.bytes : "?");
  line("written by", foreign ? run->writer.bytes : value);
}

/* How the rate and the cost went: each change, and each measurement. */
static void write_course(struct json *json, const struct samples *samples) {
  static const char *const causes[] = {"asked", "timed", "budget"};
  json_begin(json, "rates", '[');
  for (size_t i = 0; i < samples->rate_change_count; i++) {
    json_begin(json, NULL, '{');
    json_integer(json, "at_ns", samples->rate_changes[i].time_ns);
    json_number(json, "rate", samples->rate_changes[i].rate);
    json_string(json, "cause",
                causes[samples->rate_changes[i].cause <= TRACE_RATE_BUDGET ? samples->rate_changes[i].cause
                                                                           : TRACE_RATE_ASKED]);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_begin(json, "costs", '[');
  for (size_t i = 0; i < samples->memory_count; i++) {
    if (!samples->memory[i].processor_ns) continue;
    json_begin(json, NULL, '{');
    json_integer(json, "at_ns", samples->memory[i].time_ns);
    json_integer(json, "cost_ns", samples->memory[i].cost_ns);
    json_integer(json, "processor_ns", samples->memory[i].processor_ns);
    json_end(json, '}');
  }
  json_end(json, ']');
}

static void info_write_dropped(struct json *json, const struct trace_damage *damage) {
  json_bool(json, "lacks_history", damage->lacks_history);
  json_begin(json, "dropped", '[');
  for (uint32_t i = 0; i < damage->dropped.count; i++) {
    json_begin(json, NULL, '{');
    json_integer(json, "from_ns", damage->dropped.of[i].from_ns);
    json_integer(json, "until_ns", damage->dropped.of[i].until_ns);
    json_end(json, '}');
  }
  json_end(json, ']');
}

static void info_print_json(const struct facts *facts, struct json *json) {
  json_begin(json, NULL, '{');
  json_integer(json, "schema", 1);
  json_string(json, "file", facts->file);
  json_string(json, "writer", facts->run->writer.length ? facts->run->writer.bytes : "");
  json_integer(json, "pid", facts->run->pid);
  const struct source_limits *limits = source_limits(facts->samples->source);
  if (*limits->note) json_string(json, "note", limits->note);
  if (!limits->totals) {
    json_number(json, "rate", facts->run->rate);
    json_integer(json, "seed", facts->run->seed);
    json_integer(json, "duration_ns", facts->samples->end_ns);
    json_integer(json, "samples", facts->samples->sampled_blocks);
    json_integer(json, "freed", facts->frees);
  }
  json_integer(json, "file_bytes", facts->file_bytes);
  if (facts->samples->collected) {
    json_integer(json, "promotions", facts->samples->promotions);
    json_integer(json, "collections", facts->samples->life.records.collections);
    json_integer(json, "pauses", facts->samples->life.records.pauses);
    json_integer(json, "domains", facts->samples->life.records.domains);
    json_integer(json, "contradicting", facts->samples->life.records.wrong);
  }
  json_integer(json, "lost", facts->damage->records_lost);
  json_string(json, "lost_because",
              facts->damage->records_lost ? trace_cause_word(facts->damage->loss_cause) : "");
  if (facts->damage->chunks_dropped) info_write_dropped(json, facts->damage);
  json_bool(json, "thinned", facts->damage->thinned);
  json_integer(json, "stacks_lost", facts->damage->stacks_lost);
  json_integer(json, "stacks_cut", facts->samples->cut);
  json_integer(json, "damaged_chunks", facts->damage->chunks_damaged);
  json_integer(json, "damaged_bytes", facts->damage->bytes_skipped);
  json_integer(json, "unmatched", facts->samples->unmatched);
  json_bool(json, "complete", facts->damage->complete);
  write_course(json, facts->samples);
  json_end(json, '}');
}

/* Prints the table of several traces. */
static int info_tell_apart(const char *const *paths, size_t count) {
  static const struct trace_table_limits none = {SIZE_MAX, UINT64_MAX, UINT64_MAX};
  size_t unreadable = trace_table_print(stdout, paths, count, &none);
  return unreadable ? fail_job("%zu of %zu files cannot be read as traces", unreadable, count) : 0;
}

/* Reads one trace and prints it by `print`. */
static int tell_of(const char *path, void (*print)(const struct facts *, struct json *), struct json *json) {
  struct progress progress;
  struct samples *samples;
  struct input input;
  struct stat status;
  char text[512];
  if (!input_open(&input, path)) return fail_job("%s", wn_last_error());
  progress_begin(&progress, "Reading");
  wn_status error = samples_load(input_path(&input), progress_show, &progress, &samples);
  progress_end(&progress);
  if (error) return input_close(&input), fail_job("%s", input_error(&input, text));
  struct facts facts = {.file = input.name,
                        .samples = samples,
                        .run = source_run(samples->source),
                        .damage = source_damage(samples->source),
                        .growing = input_is_growing(input_path(&input))};
  if (!stat(input_path(&input), &status)) facts.file_bytes = (uint64_t)status.st_size;
  if (facts.damage->thinned || facts.damage->chunks_dropped) /* it has holes, and perhaps a history */
    facts.file_bytes = history_disk_bytes(input_path(&input));
  for (size_t i = 0; i < samples->row_count; i++)
    facts.frees += samples->rows[i].last && samples->rows[i].died_ns != STILL_ALIVE;
  print(&facts, json);
  samples_free(samples);
  input_close(&input);
  return 0;
}

/* Prints an object for one trace, or an array for several, without the traces that cannot be read.
 */
static int print_all_json(const char *const *paths, size_t count) {
  struct json json = {.out = stdout};
  int code = 0;
  if (count > 1) json_begin(&json, NULL, '[');
  for (size_t i = 0; i < count; i++) {
    int failed = tell_of(paths[i], info_print_json, &json);
    if (failed) code = failed;
  }
  if (count > 1) json_end(&json, ']');
  return code;
}

/* Inputs that are pipes are opened by those who read them. */
static int info_tell(const char *const *arguments, size_t count, bool as_json) {
  struct inputs inputs = {.count = 0};
  bool several = false;
  for (size_t i = 0; i < count; i++) several = several || inputs_has_several(arguments[i]);
  if (several && inputs_open(&inputs, arguments, count)) return fail_job("%s", wn_last_error());
  const char *const *paths = several ? (const char *const *)inputs.names : arguments;
  if (several) count = inputs.count;
  if (!as_json) ascii_if_locale_asks(&stdout);
  int code = as_json     ? print_all_json(paths, count)
             : count > 1 ? info_tell_apart(paths, count)
                         : tell_of(paths[0], info_print_text, NULL);
  inputs_close(&inputs);
  return code;
}

/* ---- shared ---- */

int command_info(int argc, char **argv) {
  static const struct option known[] = {{"json", no_argument, NULL, 'j'}, OPTION_MAX_MEMORY, {0}};
  bool as_json = false;
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":j", known, NULL)) != -1) {
    int code = option == 'j'                 ? 0
               : option == LETTER_MAX_MEMORY ? options_set_memory("info", optarg)
                                             : fail_option("info", option, argv, known);
    if (code) return code;
    as_json = as_json || option == 'j';
  }
  if (optind == argc || !*argv[optind])
    return fail_usage("info", "which trace? usage: winnow info [--json] [--max-memory BYTES] FILE...");
  return info_tell((const char *const *)argv + optind, (size_t)(argc - optind), as_json);
}
/* SPDX-License-Identifier: MIT */
