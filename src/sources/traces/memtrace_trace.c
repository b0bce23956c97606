/* Makes the reader's events those of a source. */
#include "sources/traces/memtrace_trace.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"
#include "memtrace/names.h"
#include "memtrace/reader.h"
#include "memtrace/stack.h"
#include "trace/event.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- nodes ---- */

/* Memtrace's stacks as trace nodes: each a frame and its caller, the same node for all stacks that have
 * the same callers.
 *
 * A call is a code and its caller, which is a call, too. Of each domain the calls of the last stack are
 * kept, so a stack costs a look-up for each frame that the stack before did not have. The calls of a stack
 * that is new get consecutive numbers. So a call is looked for, in this order:
 *   1. at the number behind its caller's;
 *   2. at the number of the call that its caller made last;
 *   3. in an index.
 * Where the first is right, and is predicted to be, the processor does not wait for one frame before it
 * begins with the next one, and what it loads is consecutive.
 *
 * A code with locations has a node for each of them, outermost first, in the module 1, where location n
 * is at offset n + 1. A code without has a node of module 0, whose offset is the code, an address. Codes
 * that are lost, one or many, have one node, at the offset behind the locations. */
struct memtrace_nodes {
  const struct memtrace_names *names;
  struct trace_node *nodes; /* [0] is the empty stack */
  uint32_t count;           /* the greatest number */
  size_t capacity;
  struct memtrace_call {
    uint64_t code;
    uint32_t caller;
    uint32_t last;     /* the call that it made last; 0: none */
  } * calls;           /* [0] is the empty stack */
  uint32_t *node_of;   /* by call: the innermost node of its code */
  uint32_t call_count; /* the greatest number */
  size_t call_capacity, node_of_capacity;
  struct index by_code;
  /* By domain: the call of each code of its last stack. */
  struct memtrace_path {
    uint32_t *calls;
    size_t capacity;
  } * paths;
  uint32_t path_count;
};

enum { NODES_MOST = 1 << 28, MODULE = 1 };

static uint64_t memtrace_nodes_hash_of(uint32_t caller, uint64_t code) {
  return hash_mix(code * 0x9e3779b97f4a7c15u + caller);
}

/* Has room for so many more nodes. */
static bool memtrace_nodes_reserve(struct memtrace_nodes *nodes, uint32_t more) {
  size_t wanted = (size_t)nodes->count + more + 1;
  return wanted <= NODES_MOST && array_reserve(&nodes->nodes, &nodes->capacity, wanted, sizeof *nodes->nodes);
}

/* Has room for one more call. */
static bool reserve_call(struct memtrace_nodes *nodes) {
  size_t wanted = (size_t)nodes->call_count + 2;
  return array_reserve(&nodes->calls, &nodes->call_capacity, wanted, sizeof *nodes->calls) &&
         array_reserve(&nodes->node_of, &nodes->node_of_capacity, wanted, sizeof *nodes->node_of);
}

static uint32_t memtrace_nodes_add(struct memtrace_nodes *nodes, uint32_t parent, uint32_t module,
                                   uint64_t offset) {
  nodes->nodes[++nodes->count] = (struct trace_node){parent, module, offset};
  return nodes->count;
}

/* Adds the nodes of a code; the innermost of them, or 0 without memory. */
static uint32_t memtrace_nodes_add_code(struct memtrace_nodes *nodes, uint32_t parent, uint64_t code) {
  struct memtrace_locations locations = memtrace_locations_of(nodes->names, code);
  if (!memtrace_nodes_reserve(nodes, locations.count + 1)) return 0;
  if (code == MEMTRACE_LOST)
    return memtrace_nodes_add(nodes, parent, MODULE, (uint64_t)nodes->names->location_count + 1);
  if (!locations.count) return memtrace_nodes_add(nodes, parent, 0, code);
  for (uint32_t i = 0; i < locations.count; i++)
    parent = memtrace_nodes_add(nodes, parent, MODULE, (uint64_t)locations.first + i + 1);
  return parent;
}

static inline bool memtrace_nodes_is_call(const struct memtrace_call *call, uint32_t caller, uint64_t code) {
  return call->code == code && call->caller == caller;
}

/* The call of a code by `caller`, found in the index or added; 0 without memory. */
static uint32_t memtrace_nodes_look_up(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  struct index_walk walk = {.hash = memtrace_nodes_hash_of(caller, code)};
  uint32_t found;
  while ((found = index_next(&nodes->by_code, &walk)))
    if (memtrace_nodes_is_call(&nodes->calls[found], caller, code)) return found;
  uint32_t node = reserve_call(nodes) ? memtrace_nodes_add_code(nodes, nodes->node_of[caller], code) : 0;
  if (!node || !index_add(&nodes->by_code, walk.hash, nodes->call_count + 1)) return 0;
  uint32_t call = ++nodes->call_count;
  nodes->calls[call] = (struct memtrace_call){code, caller, 0};
  nodes->node_of[call] = node;
  return call;
}

static uint32_t call_elsewhere(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t last = nodes->calls[caller].last;
  if (last && memtrace_nodes_is_call(&nodes->calls[last], caller, code)) return last;
  uint32_t call = memtrace_nodes_look_up(nodes, caller, code);
  nodes->calls[caller].last = call;
  return call;
}

static inline uint32_t call_of(struct memtrace_nodes *nodes, uint32_t caller, uint64_t code) {
  uint32_t next = caller + 1;
  return next <= nodes->call_count && memtrace_nodes_is_call(&nodes->calls[next], caller, code)
             ? next
             : call_elsewhere(nodes, caller, code);
}

static struct trace_text memtrace_nodes_text_of(const struct memtrace_names *names, uint32_t number) {
  return trace_text_of(memtrace_text(names, number));
}

/* False without memory; then it may be destroyed. */
static bool memtrace_nodes_create(struct memtrace_nodes *nodes, const struct memtrace_names *names,
                                  uint32_t domains) {
  *nodes = (struct memtrace_nodes){.names = names, .path_count = domains};
  nodes->paths = calloc((size_t)domains + 1, sizeof *nodes->paths);
  if (!nodes->paths || !memtrace_nodes_reserve(nodes, 0) || !reserve_call(nodes)) return false;
  nodes->nodes[0] = (struct trace_node){0};
  nodes->calls[0] = (struct memtrace_call){0};
  nodes->node_of[0] = 0;
  return true;
}

static void memtrace_nodes_destroy(struct memtrace_nodes *nodes) {
  for (uint32_t i = 0; nodes->paths && i < nodes->path_count; i++) free(nodes->paths[i].calls);
  free(nodes->paths);
  free(nodes->by_code.slots);
  free(nodes->node_of);
  free(nodes->calls);
  free(nodes->nodes);
}

/* Finds the node of a domain's next stack, or makes it. The caller gives every stack of the domain,
 * in the order of the file. False: there is no memory. */
static bool memtrace_nodes_of(struct memtrace_nodes *nodes, uint32_t domain,
                              const struct memtrace_stack *stack, uint32_t *node) {
  struct memtrace_path *path = &nodes->paths[domain];
  if (!array_reserve(&path->calls, &path->capacity, stack->depth, sizeof *path->calls)) return false;
  const uint64_t *codes = stack->codes;
  uint32_t last = stack->common ? path->calls[stack->common - 1] : 0;
  for (size_t i = stack->common, depth = stack->depth; i < depth; i++) {
    bool repeated = codes[i] == MEMTRACE_LOST && i && codes[i - 1] == MEMTRACE_LOST;
    if (!repeated && !(last = call_of(nodes, last, codes[i]))) return false;
    path->calls[i] = last;
  }
  *node = nodes->node_of[last];
  return true;
}

/* What is at an offset of the module 1. False if nothing is. */
static bool memtrace_place_of(const struct memtrace_names *names, uint64_t offset,
                              struct trace_place *place) {
  if (!offset || offset > (uint64_t)names->location_count + 1) return false;
  *place = (struct trace_place){.function = trace_text_of("(lost)"), .file = trace_text_of("")};
  if (offset > names->location_count) return true;
  const struct memtrace_location *location = &names->locations[offset - 1];
  place->function = memtrace_nodes_text_of(names, location->function);
  place->file = memtrace_nodes_text_of(names, location->file);
  if (location->line < MEMTRACE_LINE_MOST) place->line = location->line;
  if (location->start < MEMTRACE_START_MOST) place->first_column = location->start + 1;
  if (location->end < MEMTRACE_END_MOST) place->last_column = location->end;
  return true;
}

/* ---- the trace ---- */

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
