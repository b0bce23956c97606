/* Makes the reader's events those of a source. */
#include "sources/traces/memtrace_trace.h"

#include "base/error.h"
#include "memtrace/reader.h"
#include "sources/traces/memtrace_nodes.h"
#include <stdio.h>
#include <stdlib.h>

enum { NAME_MOST = 32 };

struct memtrace_trace {
  struct source source;
  struct memtrace_reader *reader;
  struct memtrace_nodes nodes;
  struct trace_module module; /* of the places */
  struct trace_run run;
  struct trace_damage damage;
  char writer[NAME_MOST];
  bool *named;          /* by domain: its thread has its name */
  char name[NAME_MOST]; /* of a thread, in the event at hand */
  bool held;            /* `event` is still to be given, behind its thread's name */
  struct memtrace_event event;
};

static struct memtrace_trace *memtrace_trace_of(const struct source *source) {
  return (struct memtrace_trace *)(uintptr_t)source;
}

static void memtrace_trace_close_trace(struct source *source) {
  struct memtrace_trace *trace = memtrace_trace_of(source);
  memtrace_nodes_destroy(&trace->nodes);
  memtrace_reader_close(trace->reader);
  free(trace->named);
  free(trace);
}

/* ---- events ---- */

/* The domain 0 is the thread 1. */
static void memtrace_trace_set_at(struct trace_event *event, const struct memtrace_event *from) {
  event->at.time_ns = from->time_us * 1000;
  event->at.thread = from->domain + 1u;
}

/* A thread is named before its first event. */
static void memtrace_trace_name_thread(struct memtrace_trace *trace, struct trace_event *event) {
  snprintf(trace->name, sizeof trace->name, "domain %u", trace->event.domain);
  event->kind = TRACE_THREAD_NAME;
  event->thread_name = (struct trace_thread_name){.name = trace_text_of(trace->name)};
  memtrace_trace_set_at(event, &trace->event);
  trace->named[trace->event.domain_number] = trace->held = true;
}

/* A block's header takes samples, too. Memory outside of the heap has none. */
static bool memtrace_trace_take_sample(struct memtrace_trace *trace, struct trace_event *event) {
  const struct memtrace_event *from = &trace->event;
  bool external = from->source == MEMTRACE_EXTERNAL;
  uint32_t stack;
  if (!memtrace_nodes_of(&trace->nodes, from->domain_number, &from->stack, &stack)) return false;
  event->kind = TRACE_SAMPLE;
  event->sample = (struct trace_sample){.stack = stack,
                                        .block = from->block,
                                        .size = from->length * trace->run.word_bytes,
                                        .words = from->length + !external,
                                        .n_samples = from->samples,
                                        .source = external ? TRACE_SOURCE_EXTERNAL : TRACE_SOURCE_NORMAL,
                                        .major = from->source == MEMTRACE_MAJOR,
                                        .rate = trace->run.rate};
  if (!event->sample.words) event->sample.words = 1;
  memtrace_trace_set_at(event, from);
  return true;
}

static bool memtrace_trace_take(struct memtrace_trace *trace, struct trace_event *event) {
  if (trace->event.kind == MEMTRACE_ALLOCATION) return memtrace_trace_take_sample(trace, event);
  if (trace->event.kind == MEMTRACE_PROMOTION) {
    event->kind = TRACE_PROMOTE;
    event->promote = (struct trace_promote){.block = trace->event.block};
  } else {
    event->kind = TRACE_FREE;
    event->free = (struct trace_free){.block = trace->event.block};
  }
  memtrace_trace_set_at(event, &trace->event);
  return true;
}

static void describe_damage(struct memtrace_trace *trace) {
  const struct memtrace_loss *loss = memtrace_reader_loss(trace->reader);
  struct trace_damage *damage = &trace->damage;
  damage->chunks_read = loss->packets;
  damage->chunks_damaged = loss->packets_damaged;
  damage->bytes_skipped = loss->bytes_skipped;
  damage->stacks_lost = loss->stacks_lost;
  damage->times_raised = loss->times_raised;
  damage->out_of_memory = damage->out_of_memory || loss->out_of_memory;
}

static bool memtrace_trace_next(struct source *source, struct trace_event *event) {
  struct memtrace_trace *trace = memtrace_trace_of(source);
  if (trace->damage.out_of_memory) return false;
  bool held = trace->held;
  trace->held = false;
  bool found = held || memtrace_reader_next(trace->reader, &trace->event);
  if (found && !trace->named[trace->event.domain_number])
    memtrace_trace_name_thread(trace, event);
  else if (found && !memtrace_trace_take(trace, event))
    found = false, trace->damage.out_of_memory = true;
  if (!found) describe_damage(trace); /* otherwise it is described when somebody asks */
  return found;
}

/* ---- the rest ---- */

static const struct trace_run *memtrace_trace_run(const struct source *source) {
  return &memtrace_trace_of(source)->run;
}
static enum source_heap memtrace_trace_heap(const struct source *source) {
  return (void)source, SOURCE_HEAP_COLLECTED;
}
static const struct trace_damage *memtrace_trace_damage(const struct source *source) {
  describe_damage(memtrace_trace_of(source));
  return &memtrace_trace_of(source)->damage;
}
static uint32_t memtrace_trace_stack_count(const struct source *source) {
  return memtrace_trace_of(source)->nodes.count;
}
static struct trace_node memtrace_trace_stack(const struct source *source, uint32_t number) {
  return memtrace_trace_of(source)->nodes.nodes[number];
}
static uint32_t memtrace_trace_module_count(const struct source *source) { return (void)source, 1; }
static const struct trace_module *memtrace_trace_module(const struct source *source, uint32_t number) {
  (void)number;
  return &memtrace_trace_of(source)->module;
}
static bool memtrace_trace_place(const struct source *source, uint32_t number, uint64_t offset,
                                 struct trace_place *out) {
  return number == 1 && memtrace_place_of(memtrace_trace_of(source)->nodes.names, offset, out);
}
static double memtrace_trace_position(const struct source *source) {
  return memtrace_reader_position(memtrace_trace_of(source)->reader);
}

static const struct source_format format = {.close = memtrace_trace_close_trace,
                                            .next = memtrace_trace_next,
                                            .run = memtrace_trace_run,
                                            .heap = memtrace_trace_heap,
                                            .damage = memtrace_trace_damage,
                                            .stack_count = memtrace_trace_stack_count,
                                            .stack = memtrace_trace_stack,
                                            .module_count = memtrace_trace_module_count,
                                            .module = memtrace_trace_module,
                                            .place = memtrace_trace_place,
                                            .position = memtrace_trace_position};

/* ---- opening ---- */

static void memtrace_trace_describe_run(struct memtrace_trace *trace) {
  const struct memtrace_info *info = memtrace_reader_info(trace->reader);
  struct trace_run *described = &trace->run;
  snprintf(trace->writer, sizeof trace->writer, "Memtrace %u", info->version);
  *described = (struct trace_run){.command = trace_text_of(info->executable),
                                  .host = trace_text_of(info->host),
                                  .heap = trace_text_of("ocaml"),
                                  .version = trace_text_of(""),
                                  .writer = trace_text_of(trace->writer),
                                  .context = trace_text_of(info->context),
                                  .title = trace_text_of(""),
                                  .name = trace_text_of(""),
                                  .pid = (uint32_t)info->pid,
                                  .rate = info->rate,
                                  .word_bytes = info->word_bits / 8,
                                  .wall_ns = info->begin_us * 1000};
  if (described->command.length) described->command.length++; /* the NUL byte behind */
  trace->module = (struct trace_module){.base = TRACE_LANGUAGE_BASE,
                                        .bias = TRACE_LANGUAGE_BASE,
                                        .size = UINT32_MAX,
                                        .path = trace_text_of("[ocaml]")};
}

/* ---- shared ---- */

bool memtrace_trace_begins(const unsigned char *bytes, size_t count) {
  static const uint32_t magic = MEMTRACE_MAGIC;
  return count >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

bool memtrace_trace_begins_big(const unsigned char *bytes, size_t count) {
  static const uint32_t magic = __builtin_bswap32(MEMTRACE_MAGIC);
  return count >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

wn_status memtrace_trace_open(const char *path, struct source **source) {
  struct memtrace_reader *reader;
  wn_status error = memtrace_reader_open(path, &reader);
  if (error) return error;
  struct memtrace_trace *trace = calloc(1, sizeof *trace);
  if (!trace) goto close_reader;
  uint32_t domains = memtrace_reader_domains(reader);
  *trace = (struct memtrace_trace){.source.format = &format, .reader = reader};
  trace->named = calloc((size_t)domains + 1, sizeof *trace->named);
  if (!memtrace_nodes_create(&trace->nodes, memtrace_reader_names(reader), domains) || !trace->named) {
    memtrace_trace_close_trace(&trace->source);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  }
  memtrace_trace_describe_run(trace);
  *source = &trace->source;
  return WN_OK;

close_reader:
  memtrace_reader_close(reader);
  return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
}
/* SPDX-License-Identifier: MIT */
