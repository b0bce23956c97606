/* winnow dump: prints the events of a trace, one a line, as they were written.
 *
 * Of a Memtrace file the text is that of Memtrace's own dump tool, byte by byte, where that tool
 * can read the file: the time in microseconds, the block, what happened, and of an allocation its
 * samples, its length in words, its domain, how many frames it shares with the one before, and the
 * frames, outermost first. Events of several domains are in the order of time.
 *
 * Of a Winnow trace a line has the time in nanoseconds, the thread, the kind of event and its
 * fields (trace/events.def), and behind a colon the frames, outermost first. Nothing is looked up:
 * frames are those of the trace.
 *
 * Of several traces each has a line with its name before its events, as head prints it. */
#include "analysis/query/query.h"
#include "base/array.h"
#include "base/error.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/history_file.h"
#include "cli/input.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/recordings.h"
#include "cli/text.h"
#include "compact/compact.h"
#include "memtrace/reader.h"
#include "sources/files/open.h"
#include "sources/memory_bound.h"
#include "trace/copy.h"
#include "trace/finish.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- Memtrace ---- */

static void print_location(const struct memtrace_names *names, const struct memtrace_location *location) {
  putchar(' ');
  text_name(stdout, memtrace_text(names, location->function));
  putchar('@');
  text_name(stdout, memtrace_text(names, location->file));
  printf(":%" PRIu32 ":%" PRIu32 "-%" PRIu32, location->line, location->start, location->end);
}

static void print_code(const struct memtrace_names *names, uint64_t code) {
  struct memtrace_locations locations = memtrace_locations_of(names, code);
  if (code == MEMTRACE_LOST)
    fputs(" (lost)", stdout);
  else if (!locations.count)
    printf(" $%" PRId64, (int64_t)code);
  for (uint32_t i = 0; i < locations.count; i++) print_location(names, &locations.list[i]);
}

static void print_allocation(const struct memtrace_names *names, const struct memtrace_event *event) {
  static const char *const words[] = {"alloc", "alloc_major", "alloc_ext"};
  printf(" %s %" PRIu64 " len=%" PRIu64 " dom=%u % 4" PRId64 ":", words[event->source], event->samples,
         event->length, event->domain, (int64_t)event->stack.prefix);
  for (size_t i = 0; i < event->stack.depth; i++) print_code(names, event->stack.codes[i]);
  putchar('\n');
}

static void print_memtrace_events(struct memtrace_reader *reader) {
  const struct memtrace_names *names = memtrace_reader_names(reader);
  struct memtrace_event event;
  while (!ferror(stdout) && memtrace_reader_next(reader, &event)) {
    printf("%010" PRIu64 " %010" PRIu64, event.time_us, event.block);
    if (event.kind == MEMTRACE_ALLOCATION)
      print_allocation(names, &event);
    else
      puts(event.kind == MEMTRACE_PROMOTION ? " promote" : " collect");
  }
}

/* ---- Winnow ---- */

static void dump_print_text(const char *name, struct trace_text text) {
  printf(" %s=\"", name);
  text_plain(stdout, text.bytes, text.length);
  putchar('"');
}
static void print_signed(const char *name, int32_t value) { printf(" %s=%" PRId32, name, value); }
static void print_real(const char *name, double value) { printf(" %s=%g", name, value); }
static void print_unsigned(const char *name, uint64_t value) { printf(" %s=%" PRIu64, name, value); }

static void print_fields(const struct trace_event *event) {
  switch (event->kind) {
#define PRINT(value)                  \
  _Generic((value), struct trace_text \
           : dump_print_text, int32_t \
           : print_signed, double     \
           : print_real, default      \
           : print_unsigned)
#define TRACE_MEMBER(ctype, member) PRINT(fields->member)(#member, fields->member);
#define TRACE_STRUCT(type, EVENT, WRITER, members)    \
  case TRACE_##EVENT: {                               \
    const struct trace_##type *fields = &event->type; \
    fputs(" " #type, stdout);                         \
    members break;                                    \
  }
#include "trace/events.def"
#undef TRACE_MEMBER
#undef PRINT
  }
}

static uint32_t dump_stack_of(const struct trace_event *event) {
  switch (event->kind) {
  case TRACE_SAMPLE: return event->sample.stack;
  case TRACE_RESIZE: return event->resize.stack;
  case TRACE_MAP: return event->map.stack;
  default: return 0;
  }
}

static void print_place(const struct trace_place *place) {
  text_name(stdout, place->function.bytes);
  putchar('@');
  text_name(stdout, place->file.bytes);
  printf(":%" PRIu32, place->line);
}

static void print_frame(const struct source *source, struct trace_node node) {
  const struct trace_module *module = node.module ? source_module(source, node.module) : NULL;
  struct trace_place place;
  putchar(' ');
  if (trace_is_cut(&node)) {
    fputs("(cut)", stdout);
    return;
  }
  if (module && trace_is_language(module) && source_place(source, node.module, node.offset, &place)) {
    print_place(&place);
    return;
  }
  if (module) text_name(stdout, module->path.bytes);
  printf("%s0x%" PRIx64, module ? "+" : "", node.offset);
}

/* The frames of a stack, collected from the innermost on. */
struct stack_frames {
  uint32_t *nodes;
  size_t count, capacity;
};

static bool dump_collect(struct stack_frames *frames, const struct source *source, uint32_t node) {
  for (frames->count = 0; node; node = source_stack(source, node).parent)
    if (!ARRAY_ADD(frames->nodes, frames->count, frames->capacity, node)) return false;
  return true;
}

static bool print_event(const struct source *source, const struct trace_event *event,
                        struct stack_frames *frames) {
  if (!dump_collect(frames, source, dump_stack_of(event))) return false;
  printf("%013" PRIu64 " %" PRIu32, event->at.time_ns, event->at.thread);
  print_fields(event);
  if (frames->count) putchar(':');
  for (size_t i = frames->count; i-- > 0;) print_frame(source, source_stack(source, frames->nodes[i]));
  putchar('\n');
  return true;
}

static bool print_events(struct source *source) {
  struct trace_event event;
  struct stack_frames frames = {.nodes = NULL};
  bool done = true;
  while (done && !ferror(stdout) && source_next(source, &event)) done = print_event(source, &event, &frames);
  free(frames.nodes);
  return done;
}

/* ---- copies: -o ---- */

/* Copies a trace that may be growing. A copy gets its name when it is whole; an older file stays
 * until then. */

/* Whether the trace is still written is looked at so often. */
#define LOOK_NS ((uint64_t)200 * 1000 * 1000)

/* Writes what stands for the letter after a percent sign; false: the letter has no meaning. */
static bool write_part(FILE *out, char letter, int pid, unsigned number) {
  time_t now = time(NULL);
  struct tm parts;
  char text[32] = "";
  switch (letter) {
  case '%': fputc('%', out); return true;
  case 'p': fprintf(out, "%d", pid); return true;
  case 'n': fprintf(out, "%u", number); return true;
  case 't':
    if (localtime_r(&now, &parts)) strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
    fputs(text, out);
    return true;
  default: return false;
  }
}

/* NULL: the pattern is wrong, or there is not enough memory. */
static char *snapshot_name_of(const char *pattern, int pid, unsigned number) {
  char *name = NULL;
  size_t size;
  FILE *out = open_memstream(&name, &size);
  bool right = out;
  for (const char *at = pattern; right && *at; at++) {
    if (*at == '%')
      right = write_part(out, *++at, pid, number);
    else
      fputc(*at, out);
    if (!*at) break;
  }
  if (out) fclose(out);
  if (right) return name;
  free(name);
  return NULL;
}

/* The copy of a trace whose program goes on ends as one whose recording was stopped. */
static wn_status snapshot_complete(const char *path) {
  struct trace_end end = {.time_ns = os_monotonic_ns(), .kind = TRACE_END_STOP};
  struct trace_finishing finishing = {.end = &end};
  struct trace_totals totals;
  return trace_finish_with(path, &finishing, &totals);
}

/* What the copy takes the place of. */
static wn_status check_target(const char *path, const char *name) {
  struct stat source, target;
  if (lstat(name, &target)) return WN_OK;
  if (!S_ISREG(target.st_mode)) return error_set(WN_EINVAL, "%s is no file; choose another name", name);
  if (!stat(path, &source) && source.st_dev == target.st_dev && source.st_ino == target.st_ino)
    return error_set(WN_EINVAL, "%s is the trace itself; choose another name", name);
  return WN_OK;
}

/* `goes_on`: a process writes the trace. */
static wn_status copy_to(const char *path, const char *name, bool goes_on) {
  struct output output;
  wn_status status = check_target(path, name);
  if (!status) status = output_open(&output, name);
  if (status) return status;
  output_make_private(&output);
  status =
      history_exists(path) ? compact_copy(path, output_temporary()) : trace_copy(path, fileno(output.file));
  if (!status && goes_on) status = snapshot_complete(output_temporary());
  if (!status) return output_finish(&output);
  output_abandon(&output);
  return status;
}

static bool snapshot_is_gone(const char *path) {
  struct stat found;
  return stat(path, &found) && (errno == ENOENT || errno == ENOTDIR);
}

/* `again`: a copy was taken before. If the program has ended since then, the recorder may have
 * given its trace the name that the user chose: nothing is left to copy, and nothing is wrong. */
static int take_one(const struct recording_process *process, const char *pattern, unsigned number,
                    bool again) {
  char *name = snapshot_name_of(pattern, (int)process->pid, number), size[32];
  struct stat found;
  if (!name) return fail_usage("dump", "--output %s: behind %% stand t, p, n or %%", pattern);
  wn_status status = copy_to(process->path, name, process->pid != 0);
  if (!status && !stat(name, &found)) {
    printf("wrote %s, a trace of now (%s)\n", name, text_bytes(size, (double)found.st_size));
    fflush(stdout);
  }
  free(name);
  return !status || (again && snapshot_is_gone(process->path)) ? 0 : fail_job("%s", wn_last_error());
}

/* False: the process writes it no longer, since it ended or became another program. */
static bool snapshot_wait_for(const char *path, uint64_t ns) {
  uint64_t end = os_monotonic_ns() + ns;
  for (uint64_t now; (now = os_monotonic_ns()) < end && input_is_growing(path);) {
    uint64_t left = end - now < LOOK_NS ? end - now : LOOK_NS;
    nanosleep(&(struct timespec){.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)},
              NULL);
  }
  return input_is_growing(path);
}

static bool has_part(const char *pattern, char letter) {
  for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
    if (at[1] == letter) return true;
  return false;
}

/* Copies the trace `name`, and those of the recordings, which are under way, to the files that `pattern`
 * names, once, or after every `every_ns` until the process has ended. In the pattern %t is the time of
 * day, %p the process's number, %n the number of the copy, %% a percent sign. `name`: a trace that no
 * process is known to write, or NULL. Returns an exit code, after a message if it is not 0. */
static int snapshot_take(const char *name, const struct recordings *found, const char *pattern,
                         uint64_t every_ns) {
  const struct recording_process none = {.path = (char *)name}, *first = name ? &none : found->items;
  size_t count = name ? 1 : found->count;
  if (!strcmp(pattern, "-")) return fail_usage("dump", "--output -: a trace is written to a file");
  if (every_ns && !has_part(pattern, 't') && !has_part(pattern, 'n'))
    return fail_usage(
        "dump", "with --loop the name of --output has %%t, the time, or %%n, a number, such as x-%%t.trace");
  if (every_ns && (name || count > 1))
    return fail_usage("dump", "--loop is for one process that records: give its number or its trace");
  if (count > 1 && !has_part(pattern, 'p') && !has_part(pattern, 'n'))
    return fail_usage("dump",
                      "there are %zu traces to copy: the name of --output needs %%p, the process, or %%n, a "
                      "number, such as x-%%p.trace",
                      count);
  int code = 0;
  unsigned number = 1;
  for (size_t i = 0; i < count && !code; i++) code = take_one(&first[i], pattern, number++, false);
  while (!code && every_ns && snapshot_wait_for(first->path, every_ns))
    code = take_one(first, pattern, number++, true);
  return code;
}

/* ---- the command ---- */

/* Says on standard error what the events that were printed lack. */
static void say_damage(const struct input *input, const struct trace_damage *damage) {
  char events[64];
  load_say_missing(input->name, damage);
  if (damage->times_raised)
    fail_job("%s: the clock was set back; %s had to be given a later time", input->name,
             text_number_of(events, (double)damage->times_raised, "event"));
}

static wn_status dump_no_memory(const struct input *input) {
  return error_set(WN_ENOMEM, "%.100s: not enough memory to read it", input->name);
}

static wn_status dump_memtrace(const struct input *input) {
  struct memtrace_reader *reader;
  wn_status error = memtrace_reader_open(input_path(input), &reader);
  if (error) return error;
  print_memtrace_events(reader);
  const struct memtrace_loss *loss = memtrace_reader_loss(reader);
  bool done = !loss->out_of_memory;
  say_damage(input, &(struct trace_damage){.chunks_damaged = loss->packets_damaged,
                                           .bytes_skipped = loss->bytes_skipped,
                                           .times_raised = loss->times_raised});
  memtrace_reader_close(reader);
  return done ? WN_OK : dump_no_memory(input);
}

/* WN_ESTATE: the trace has no events. */
static wn_status dump_winnow(const struct input *input) {
  struct source *source;
  wn_status error = source_open(input_path(input), &source);
  if (error) return error;
  if (source_limits(source)->no_lives) {
    source_close(source);
    return error_set(WN_ESTATE, "%.100s has no events of single blocks", input->name);
  }
  bool done = print_events(source);
  const struct trace_damage *damage = source_damage(source);
  done = done && !damage->out_of_memory;
  say_damage(input, damage);
  source_close(source);
  return done ? WN_OK : dump_no_memory(input);
}

/* Prints the events of one trace; returns an exit code. */
static int dump_one(const struct input *input) {
  char text[512];
  memory_bound_begin(memory_bound_file_bytes(input_path(input)));
  wn_status error = source_is_memtrace(input_path(input)) ? dump_memtrace(input) : dump_winnow(input);
  error = memory_bound_end(error);
  return error == WN_ESTATE ? fail_usage("dump", "%s", wn_last_error())
         : error            ? fail_job("%s", input_error(input, text))
                            : 0;
}

static int dump_each(const struct inputs *inputs) {
  int code = 0;
  for (size_t i = 0; i < inputs->count && !ferror(stdout); i++) {
    if (inputs->several) {
      fputs(i ? "\n==> " : "==> ", stdout);
      text_name(stdout, inputs->names[i]);
      puts(" <==");
    }
    int failed = dump_one(&inputs->inputs[i]);
    if (failed) code = failed;
  }
  return code;
}

static int dump_files(const char *const *names, size_t count) {
  struct inputs inputs;
  if (inputs_open(&inputs, names, count)) return fail_job("%s", wn_last_error());
  int code = dump_each(&inputs);
  inputs_close(&inputs);
  return code;
}

/* The trace of a process, if the name is that of no file. */
static int dump_found(const char *name) {
  struct recordings found = {0};
  struct stat file;
  bool is_file = !stat(name, &file) || !strcmp(name, "-");
  wn_status error = is_file ? WN_OK : recordings_find(&found, name);
  int code = 0;
  if (error)
    code = fail_job("%s", wn_last_error());
  else if (found.count > 1)
    code = fail_usage("dump", "%s has several traces; give one of them", name);
  else
    code = dump_files(&(const char *){found.count ? found.items->path : name}, 1);
  recordings_destroy(&found);
  return code;
}

/* Copies of traces that grow. A single name may be that of a trace that does not. */
static int copy_found(const char *const *names, size_t count, const char *output, uint64_t every_ns) {
  struct recordings found = {0};
  struct stat file;
  int code = 0;
  const char *still = NULL;
  for (size_t i = 0; i < count && !code; i++) {
    if (!recordings_find(&found, names[i])) continue;
    if (count == 1 && !stat(names[i], &file))
      still = names[i];
    else
      code = fail_job("%s", wn_last_error());
  }
  if (!code) code = snapshot_take(still, &found, output, every_ns);
  recordings_destroy(&found);
  return code;
}

/* ---- shared ---- */

int command_dump(int argc, char **argv) {
  static const struct option known[] = {OPTION_MAX_MEMORY,
                                        {"output", required_argument, NULL, 'o'},
                                        {"loop", required_argument, NULL, 'l'},
                                        {0}};
  const char *output = NULL;
  double every_ns = 0;
  int option, code;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":o:l:", known, NULL)) != -1) {
    if (option == '?' || option == ':') return fail_option("dump", option, argv, known);
    if (option == LETTER_MAX_MEMORY && (code = options_set_memory("dump", optarg))) return code;
    if (option == 'o') output = optarg;
    if (option == 'l' && (!query_time(optarg, &every_ns) || every_ns < 1e6 || every_ns > 1e18))
      return fail_usage("dump", "--loop %s: it must be a time with its unit, such as 1h", optarg);
  }
  const char *const *names = (const char *const *)argv + optind;
  size_t count = (size_t)(argc - optind);
  if (!count || !**names)
    return fail_usage("dump", "which trace? usage: winnow dump [OPTION...] PID|FILE...");
  if (every_ns > 0 && !output) return fail_usage("dump", "--loop needs --output, such as -o x-%%t.trace");
  if (output) return copy_found(names, count, output, (uint64_t)every_ns);
  return count > 1 || inputs_has_several(*names) ? dump_files(names, count) : dump_found(*names);
}
/* SPDX-License-Identifier: MIT */
