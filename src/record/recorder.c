/* Writes records in a profile's callbacks.
 *
 * A tracked block's metadata is its number in the trace: nothing is allocated for it, and no two blocks
 * get the same. Each stripe of threads takes NUMBERS at a time, and gives them out in order of sampling.
 *
 * A thread that allocates, resizes or frees a sampled block measures the process's memory, if a measurement
 * is due; one thread at a time does. A free is measured before the block is given back, since the
 * process may then be larger than ever. There is no helper thread: it would make a single-threaded
 * program multi-threaded, which slows glibc's malloc down and breaks programs that fork.
 *
 * OURS: a forked child shares the trace's pages with its parent, and must never write there. A fork
 * handler calls recorder_forget, but no handler runs for a fork by the bare system call, and other
 * libraries' handlers may allocate before ours runs. So the mark that this process records is in a
 * page of its own, which the kernel wipes in every child that does not share the parent's memory.
 */
#include "record/recorder_state.h"

#include "base/error.h"
#include "base/metadata.h"
#include "base/utf8.h"
#include "callstack/capture.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <winnow/version.h>

#define GROUP_INTERVAL ((uint64_t)1000 * 1000 * 1000)

enum { COMMAND_MOST = 8192 };

static void *recorder_metadata_of(uint64_t block) { return (void *)(uintptr_t)block; }

/* `callstack` may be NULL: there was no memory for it. */
static struct trace_stack recorder_stack_of(const wn_callstack *callstack) {
  return callstack ? (struct trace_stack){callstack->frame, callstack->count} : (struct trace_stack){0};
}

/* Reads the second number of /proc/self/statm, which is the resident pages, and the third, which is
 * those of them that belong to files or are shared. The sixth number, of private data, counts
 * addresses whether touched or not: a heap that reserves room would seem to fill it. Once the first
 * thread has ended, all numbers of this file are 0, and only the calling thread's file has them. */
static bool recorder_measure(const struct recorder *recorder, struct trace_memory *memory) {
  char text[160];
  uint64_t number[3] = {0};
  if (kept_file_read(&recorder->statm, text, sizeof text) > 0) os_numbers(text, number, 3);
  if (!number[1] && os_read_file("/proc/thread-self/statm", text, sizeof text) > 0)
    os_numbers(text, number, 3);
  memory->rss_bytes = number[1] * os_page_bytes();
  memory->private_bytes = number[1] > number[2] ? (number[1] - number[2]) * os_page_bytes() : 0;
  return number[1] > 0;
}

/* Reads the process's memory control group, if that is due, and writes what it reports. */
static void recorder_write_group(struct recorder *recorder, uint32_t thread, bool last) {
  struct trace_group event = {.time_ns = recorder_now(recorder), .thread = thread};
  struct cgroup_state state;
  if (!recorder->group) return;
  if (!last && event.time_ns < atomic_load_explicit(&recorder->group_due, memory_order_relaxed)) return;
  atomic_store_explicit(&recorder->group_due, event.time_ns + GROUP_INTERVAL, memory_order_relaxed);
  if (!recorder->group(&state)) return;
  event.limit = state.limit;
  event.high = state.high;
  event.current = state.current;
  event.kills = state.kills;
  event.pressure_us = state.pressure_us;
  trace_write_group(recorder->writer, &event);
}

/* Measures the process's memory, and writes it. `last`: the program ends, or becomes another one.
 * `may_ask`: the caller is in a place where the allocator may be asked. It is asked first, so that
 * what its answer takes is measured too. */
static void recorder_write_memory(struct recorder *recorder, uint32_t thread, bool last, bool may_ask) {
  struct recorder_answer answer = {.asked = RECORDER_NOT_ASKED};
  if (may_ask && recorder->ask) recorder->ask(&answer, last);
  struct trace_memory memory = {.thread = thread,
                                .asked = answer.asked,
                                .in_use_bytes = answer.in_use_bytes,
                                .free_bytes = answer.free_bytes};
  if (!recorder_measure(recorder, &memory)) return;
  if (last) memory.peak_bytes = os_peak_bytes();
  memory.complete = !recorder->measure || recorder->measure(memory.rss_bytes, last);
  memory.own_bytes = recorder->generations ? 0 : metadata_bytes();
  if (recorder->spent) recorder->spent(&memory.cost_ns, &memory.processor_ns);
  memory.time_ns = recorder_now(recorder);
  trace_write_memory(recorder->writer, &memory);
  recorder_write_group(recorder, thread, last);
}

/* ---- records in callbacks ---- */

/* Chunks that were dropped may have had the names of threads and the title. */
static void write_names_again(struct recorder *recorder) {
  uint64_t dropped = trace_writer_dropped(recorder->writer);
  if (atomic_exchange_explicit(&recorder->dropped, dropped, memory_order_relaxed) == dropped) return;
  for (size_t i = 0; i < NAMED_THREADS / 8; i++)
    atomic_store_explicit(&recorder->named[i], 0, memory_order_relaxed);
  titles_forget(&recorder->titles);
  block_types_forget_names(&recorder->types);
}

static bool begin_measurement(struct recorder *recorder, uint64_t time) {
  uint64_t cost = 0, processor = 0;
  if (!measurements_claim(&recorder->measurements, time)) return false;
  if (recorder->spent) recorder->spent(&cost, &processor);
  return measurements_begin(&recorder->measurements, time, processor);
}

/* Returns the time afterwards. */
static uint64_t write_memory_if_due(struct recorder *recorder, uint64_t time, uint32_t thread, bool may_ask) {
  if (!measurements_are_due(&recorder->measurements, time)) return time;
  if (!begin_measurement(recorder, time)) return recorder_now(recorder);
  recorder_write_memory(recorder, thread, false, may_ask);
  write_names_again(recorder);
  titles_write_if_due(&recorder->titles, recorder->writer, time, thread);
  uint64_t now = recorder_now(recorder);
  measurements_end(&recorder->measurements, time, now);
  return now;
}

static void write_thread_name(struct recorder *recorder, uint64_t time, uint32_t thread) {
  char name[17] = {0};
  if (prctl(PR_GET_NAME, name)) return;
  struct trace_thread_name event = {.time_ns = time, .thread = thread, .name = trace_text_of(name)};
  trace_write_thread_name(recorder->writer, &event);
}

static void write_thread_name_once(struct recorder *recorder, uint64_t time, uint32_t thread) {
  if (thread >= NAMED_THREADS) return;
  _Atomic(uint8_t) *byte = &recorder->named[thread / 8];
  uint8_t bit = (uint8_t)(1u << thread % 8);
  if (atomic_load_explicit(byte, memory_order_relaxed) & bit) return;
  if (!(atomic_fetch_or_explicit(byte, bit, memory_order_relaxed) & bit))
    write_thread_name(recorder, time, thread);
}

/* Writes the name of a thread whose name was written already: programs often name a thread after
 * its first block. A reader takes the last name. */
static void write_thread_name_again(struct recorder *recorder, uint64_t time, uint32_t thread) {
  if (thread >= NAMED_THREADS) return;
  uint8_t bits = atomic_load_explicit(&recorder->named[thread / 8], memory_order_relaxed);
  if (bits >> thread % 8 & 1) write_thread_name(recorder, time, thread);
}

static uint64_t next_number(struct recorder *recorder) {
  _Atomic(uint64_t) *own = &recorder->numbers[stripe_of_thread()].next;
  uint64_t next = atomic_load_explicit(own, memory_order_relaxed), number;
  do
    number = next % NUMBERS
                 ? next
                 : atomic_fetch_add_explicit(&recorder->numbers_taken, NUMBERS, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(own, &next, number + 1, memory_order_relaxed,
                                                memory_order_relaxed));
  return number + 1;
}

/* If two threads count at the same time, one of the counts may be lost. */
static void recorder_count_hits(struct recorder *recorder, uint64_t hits) {
  uint64_t before = atomic_load_explicit(&recorder->hits, memory_order_relaxed);
  if (before < HITS_COUNTED) atomic_store_explicit(&recorder->hits, before + hits, memory_order_relaxed);
}

static double trial_rate(const struct recorder *recorder) {
  return recorder->trial_rate ? recorder->trial_rate() : recorder->rate;
}

/* Of a block of which the language tells the type later there is no such record yet. */
static void write_type(struct recorder *recorder, const struct trace_sample *sample,
                       const wn_allocation *allocation) {
  bool by_tag = recorder->told_types == RECORDER_TYPES_OF_TAGS || allocation->tag == WN_TAG_CUSTOM ||
                allocation->tag == WN_TAG_WEAK;
  if (recorder->told_types == RECORDER_NO_TYPES || !by_tag) return;
  struct trace_type event = {.time_ns = sample->time_ns, .thread = sample->thread, .block = sample->block};
  block_types_write_born(&recorder->types, recorder->writer, event, allocation->tag, allocation->custom_name,
                         recorder->tag_name, recorder->tag_context);
}

static void *recorder_write_birth(struct recorder *recorder, wn_domain *domain,
                                  const wn_allocation *allocation, bool major) {
  if (!recorder_is_ours(recorder)) {
    if (recorder->stray) recorder->stray();
    return NULL;
  }
  uint64_t time = recorder_now(recorder), block = next_number(recorder);
  uint32_t thread = recorder->thread(domain);
  write_thread_name_once(recorder, time, thread);
  struct trace_sample sample = {
      .time_ns = time,
      .thread = thread,
      .block = block,
      .size = allocation->bytes,
      .words = allocation->trials,
      .n_samples = allocation->n_samples,
      .source = (uint8_t)allocation->source,
      .major = major,
      .grown = allocation->previous_bytes != 0,
      .rate = trial_rate(recorder),
      .previous_size = allocation->previous_bytes,
  };
  bool written = trace_write_sample(recorder->writer, &sample, recorder_stack_of(allocation->callstack));
  if (written) write_type(recorder, &sample, allocation);
  recorder_count_hits(recorder, allocation->n_samples);
  write_memory_if_due(recorder, time, thread, true);
  return written ? recorder_metadata_of(block) : NULL;
}

static void *born_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  return recorder_write_birth(context, domain, allocation, false);
}

static void *born_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct recorder *recorder = context;
  return recorder_write_birth(recorder, domain, allocation, recorder->generations);
}

static void *recorder_resized(wn_domain *domain, void *metadata, const wn_allocation *allocation,
                              void *context) {
  struct recorder *recorder = context;
  if (!recorder_is_ours(recorder)) return NULL;
  struct trace_resize resize = {
      .time_ns = recorder_now(recorder),
      .thread = recorder->thread(domain),
      .block = recorder_block_of(metadata),
      .size = allocation->bytes,
      .words = allocation->trials,
      .rate = trial_rate(recorder),
  };
  trace_write_resize(recorder->writer, &resize, recorder_stack_of(allocation->callstack));
  write_memory_if_due(recorder, resize.time_ns, resize.thread, true);
  return metadata;
}

/* A block keeps its number in the major heap. */
static void *recorder_promoted(wn_domain *domain, void *metadata, void *context) {
  struct recorder *recorder = context;
  if (!recorder_is_ours(recorder)) return NULL;
  struct trace_promote event = {.time_ns = recorder_now(recorder),
                                .thread = recorder->thread(domain),
                                .block = recorder_block_of(metadata)};
  trace_write_promote(recorder->writer, &event);
  return metadata;
}

static void died(wn_domain *domain, void *metadata, void *context) {
  struct recorder *recorder = context;
  if (!recorder_is_ours(recorder)) return;
  struct trace_free event = {.thread = recorder->thread(domain), .block = recorder_block_of(metadata)};
  event.time_ns = write_memory_if_due(recorder, recorder_now(recorder), event.thread, false);
  trace_write_free(recorder->writer, &event);
}

_Static_assert((int)TRACE_CUT == CALLSTACK_CUT, "the mark of a stack that was cut is written as it is");

/* The functions by which the writer looks up frames, modules and places. */
static void tell_frame(void *context, uint32_t frame, uint32_t *module, uint64_t *offset) {
  callstack_frame(((struct recorder *)context)->callstacks, frame, module, offset);
}

static void tell_module(void *context, uint32_t module, struct trace_module *out) {
  struct callstack_module found;
  memset(out, 0, sizeof *out);
  if (!callstack_module(((struct recorder *)context)->callstacks, module, &found)) return;
  out->base = found.base;
  out->bias = found.bias;
  out->size = found.size;
  out->generation = found.generation;
  out->build_id_bytes = (uint8_t)found.build_id_bytes;
  memcpy(out->build_id, found.build_id, found.build_id_bytes);
  out->path = trace_text_of(found.path);
}

/* The time by the trace's clock from which on a function is where it is. */
static uint64_t time_of_since(const struct recorder *recorder, uint64_t since_ns) {
  return since_ns > recorder->start_ns ? since_ns - recorder->start_ns : 0;
}

static bool tell_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  const struct recorder *recorder = context;
  struct callstack_place found;
  if (!callstack_place(recorder->callstacks, module, offset, &found)) return false;
  *out = (struct trace_place){.function = trace_text_of(found.function),
                              .file = trace_text_of(found.file),
                              .line = found.line,
                              .first_column = found.first_column,
                              .last_column = found.last_column,
                              .address = found.address,
                              .since_ns = time_of_since(recorder, found.since_ns)};
  return true;
}

static struct trace_run recorder_describe(const struct recorder_options *options, char *command,
                                          char host[256]) {
  long length = os_read_file("/proc/self/cmdline", command, COMMAND_MOST);
  if (gethostname(host, 256)) host[0] = 0;
  host[255] = 0;
  return (struct trace_run){
      .command = {command, length > 0 ? (uint32_t)length : 0},
      .host = trace_text_of(host),
      .heap = trace_text_of(options->heap),
      .version = trace_text_of(wn_version_text()),
      .context = trace_text_of(options->context ? options->context : ""),
      .pid = (uint32_t)getpid(),
      .parent_pid = (uint32_t)getppid(),
      .seed = options->seed,
      .rate = options->rate,
      .stack_depth = options->stack_depth,
      .word_bytes = sizeof(uintptr_t),
      .wall_ns = os_wall_ns(),
      .monotonic_ns = os_monotonic_ns(),
  };
}

/* CUT of chunk_file.h */
static void tell_of_cut(const char *path) {
  char line[512];
  int length = snprintf(line, sizeof line - 1,
                        "winnow: %.400s was made shorter by another process; recording ends here", path);
  if (length < 0) return;
  utf8_make_plain(line);
  strcat(line, "\n");
  os_write_all(2, line, strlen(line));
}

/* The command line without the dynamic loader and its options, if the program was started as the
 * loader's argument: then the kernel loaded no loader for it. */
static struct trace_text command_of_program(struct trace_text command) {
  const char *name = program_invocation_name;
  if (getauxval(AT_BASE) || !name) return command;
  for (uint32_t at = 0; at < command.length; at += (uint32_t)strlen(command.bytes + at) + 1)
    if (!strcmp(command.bytes + at, name))
      return (struct trace_text){command.bytes + at, command.length - at};
  return command;
}

static wn_status recorder_open_writer(struct recorder *recorder, const struct recorder_options *options) {
  char host[256], *command = metadata_map(COMMAND_MOST);
  if (!command) return error_set(WN_ENOMEM, "no memory for the recorder");
  struct trace_run run = recorder_describe(options, command, host);
  struct trace_options file = {
      .path = options->path, .bound_bytes = options->bound_bytes, .cut = tell_of_cut};
  struct trace_stack_source source = {
      .frame = tell_frame, .module = tell_module, .place = tell_place, .context = recorder};
  recorder->start_ns = run.monotonic_ns;
  recorder->pid = run.pid;
  titles_begin(&recorder->titles, &run);
  run.command = command_of_program(run.command);
  wn_status error = trace_writer_open(&file, &run, &source, &recorder->writer);
  metadata_unmap(command, COMMAND_MOST);
  return error;
}

static void module_gone(void *context, uint32_t module) {
  struct recorder *recorder = context;
  struct trace_unmap event = {
      .time_ns = recorder_now(recorder), .thread = recorder->thread(NULL), .module = module};
  trace_write_unmap(recorder->writer, &event);
}

/* Writes the records that come before the end. */
static struct trace_at last_words(struct recorder *recorder, bool may_ask) {
  struct trace_at at = {.time_ns = recorder_now(recorder), .thread = recorder->thread(NULL)};
  write_thread_name_again(recorder, at.time_ns, at.thread);
  recorder_write_memory(recorder, at.thread, true, may_ask);
  titles_write_if_new(&recorder->titles, recorder->writer, at.time_ns, at.thread);
  return at;
}

static void recorder_finish(struct recorder *recorder, enum trace_end_kind kind, int code) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_at at = last_words(recorder, kind == TRACE_END_EXIT);
  struct trace_end end = {.time_ns = at.time_ns,
                          .thread = at.thread,
                          .kind = (uint8_t)kind,
                          .code = code,
                          .peak_bytes =
                              os_peak_bytes()}; /* in case there was no room for the record of memory */
  trace_write_end(recorder->writer, &end);
}

/* A mark that children do not inherit, where the kernel can do that (since Linux 4.14). */
static _Atomic(bool) *make_mark(void) {
  _Atomic(bool) *mark = metadata_map(sizeof *mark);
  if (!mark) return NULL;
  madvise((void *)mark, os_page_bytes(), MADV_WIPEONFORK);
  atomic_store_explicit(mark, true, memory_order_relaxed);
  return mark;
}

/* ---- shared ---- */

wn_status recorder_open(const struct recorder_options *options, struct recorder **result) {
  struct recorder *recorder = metadata_map(sizeof *recorder);
  _Atomic(bool) *mark = make_mark();
  wn_status error = WN_ENOMEM;
  if (!recorder || !mark) {
    error_set(WN_ENOMEM, "no memory for the recorder");
    goto unmap;
  }
  recorder->callstacks = options->callstacks;
  recorder->thread = options->thread;
  recorder->trial_rate = options->trial_rate;
  recorder->rate = options->rate;
  recorder->ours = mark;
  recorder->generations = options->generations;
  recorder->told_types = options->types;
  recorder->tag_name = options->tag_name;
  recorder->tag_context = options->tag_context;
  recorder->measure = options->measure;
  recorder->spent = options->spent;
  recorder->ask = options->ask;
  recorder->group = options->group;
  recorder->stray = options->stray;
  error = recorder_open_writer(recorder, options);
  if (error) goto unmap;
  kept_file_open(&recorder->statm, "/proc/self/statm");
  *result = recorder;
  return WN_OK;

unmap:
  metadata_unmap((void *)mark, sizeof *mark);
  metadata_unmap(recorder, sizeof *recorder);
  return error;
}

wn_tracker recorder_tracker(struct recorder *recorder) {
  return (wn_tracker){
      .alloc_minor = born_minor,
      .alloc_major = born_major,
      .promote = recorder_promoted,
      .dealloc_minor = died,
      .dealloc_major = died,
      .context = recorder,
      .resize = recorder_resized,
  };
}

bool recorder_is_ours(const struct recorder *recorder) {
  return atomic_load_explicit(recorder->ours, memory_order_relaxed);
}

void recorder_lost(struct recorder *recorder, uint64_t blocks) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_at at = {.time_ns = recorder_now(recorder), .thread = recorder->thread(NULL)};
  trace_lose(recorder->writer, &at, blocks);
}

uint64_t recorder_lost_records(const struct recorder *recorder) {
  return trace_writer_lost(recorder->writer);
}
uint64_t recorder_trace_bytes(const struct recorder *recorder) {
  return trace_writer_bytes(recorder->writer);
}

struct recorder_drop recorder_last_drop(struct recorder *recorder) {
  return (struct recorder_drop){.now_ns = recorder_now(recorder),
                                .begun_ns = trace_writer_dropped_begun(recorder->writer),
                                .sealed_ns = trace_writer_dropped_sealed(recorder->writer)};
}

bool recorder_is_worth_a_file(const struct recorder *recorder, double least_hits, uint64_t resident_bytes) {
  uint64_t hits = atomic_load_explicit(&recorder->hits, memory_order_relaxed);
  return (hits >= TRACE_FEW_HITS && (double)hits >= least_hits) || resident_bytes >= TRACE_FEW_BYTES ||
         atomic_load_explicit(&recorder->tells_of_another, memory_order_relaxed);
}

uint64_t recorder_block_of(void *metadata) { return (uint64_t)(uintptr_t)metadata; }

void recorder_type(struct recorder *recorder, const struct recorder_type *type,
                   const char *(*name)(unsigned type, void *context), void *context) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_type event = {.time_ns = type->ns - recorder->start_ns,
                             .thread = recorder->thread(NULL),
                             .block = recorder_block_of(type->metadata)};
  block_types_write_language(&recorder->types, recorder->writer, event, type->type, name, context);
}

const char *recorder_path(const struct recorder *recorder) { return trace_writer_path(recorder->writer); }

void recorder_memory(struct recorder *recorder) {
  if (recorder_is_ours(recorder))
    write_memory_if_due(recorder, recorder_now(recorder), recorder->thread(NULL), false);
}

void recorder_map(struct recorder *recorder, uint64_t mapping, enum recorder_map_kind kind, uint64_t bytes,
                  const wn_callstack *stack) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_map event = {.time_ns = recorder_now(recorder),
                            .thread = recorder->thread(NULL),
                            .mapping = mapping,
                            .kind = (uint8_t)kind,
                            .bytes = bytes};
  trace_write_map(recorder->writer, &event, recorder_stack_of(stack));
}

void recorder_map_size(struct recorder *recorder, uint64_t mapping, uint64_t bytes) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_map_size event = {.time_ns = recorder_now(recorder),
                                 .thread = recorder->thread(NULL),
                                 .mapping = mapping,
                                 .bytes = bytes};
  trace_write_map_size(recorder->writer, &event);
}

void recorder_map_touched(struct recorder *recorder, uint64_t mapping, uint64_t bytes, uint64_t files) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_map_touched event = {.time_ns = recorder_now(recorder),
                                    .thread = recorder->thread(NULL),
                                    .mapping = mapping,
                                    .bytes = bytes,
                                    .files = files};
  trace_write_map_touched(recorder->writer, &event);
}

void recorder_rate(struct recorder *recorder, double rate, enum recorder_rate_cause cause) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_rate event = {.time_ns = recorder_now(recorder),
                             .thread = recorder->thread(NULL),
                             .rate = rate,
                             .cause = (uint8_t)cause};
  trace_writer_rate(recorder->writer, rate);
  trace_write_rate(recorder->writer, &event);
}

void recorder_code(struct recorder *recorder, const struct callstack_place *place) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_code event = {.time_ns = recorder_now(recorder),
                             .thread = recorder->thread(NULL),
                             .address = place->address,
                             .since_ns = time_of_since(recorder, place->since_ns),
                             .line = place->line,
                             .function = trace_text_of(place->function),
                             .file = trace_text_of(place->file ? place->file : "")};
  trace_write_code(recorder->writer, &event);
}

void recorder_modules_changed(struct recorder *recorder) {
  if (recorder_is_ours(recorder)) callstacks_modules_refresh(recorder->callstacks, module_gone, recorder);
}

void recorder_thread_ends(struct recorder *recorder) {
  if (recorder_is_ours(recorder))
    write_thread_name_again(recorder, recorder_now(recorder), recorder->thread(NULL));
}

void recorder_exit(struct recorder *recorder, int status) {
  recorder_finish(recorder, TRACE_END_EXIT, status);
}
void recorder_stop(struct recorder *recorder) { recorder_finish(recorder, TRACE_END_STOP, 0); }

void recorder_leaves(struct recorder *recorder) {
  if (recorder_is_ours(recorder)) last_words(recorder, false);
}

void recorder_unrecorded(struct recorder *recorder, pid_t pid, enum image_kind reason, const char *path) {
  if (!recorder_is_ours(recorder)) return;
  struct trace_unrecorded event = {.time_ns = recorder_now(recorder),
                                   .thread = recorder->thread(NULL),
                                   .pid = (uint64_t)pid,
                                   .reason = (uint8_t)reason,
                                   .path = trace_text_of(path)};
  trace_write_unrecorded(recorder->writer, &event);
  if ((uint32_t)pid != recorder->pid)
    atomic_store_explicit(&recorder->tells_of_another, true, memory_order_relaxed);
}

unsigned recorder_exec(struct recorder *recorder, const char *path) {
  if (!recorder_is_ours(recorder)) return 0;
  struct trace_at at = last_words(recorder, false);
  struct trace_exec exec = {.time_ns = at.time_ns, .thread = at.thread, .path = trace_text_of(path)};
  return trace_write_exec(recorder->writer, &exec);
}

void recorder_exec_failed(struct recorder *recorder, unsigned number) {
  trace_exec_failed(recorder->writer, number);
}

void recorder_close(struct recorder *recorder) {
  if (!recorder_is_ours(recorder)) recorder_forget(recorder); /* a child must not cut the parent's file */
  kept_file_close(&recorder->statm);
  trace_writer_close(recorder->writer);
  metadata_unmap((void *)(uintptr_t)recorder->ours, sizeof *recorder->ours);
  metadata_unmap(recorder, sizeof *recorder);
}

void recorder_forget(struct recorder *recorder) {
  kept_file_close(&recorder->statm);
  trace_writer_forget(recorder->writer);
}
/* SPDX-License-Identifier: MIT */
