/* From a trace and its history to a new history. */
#include "compact/rewrite.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "trace/dropped.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So many records of processes that are not recorded stay. */
enum { UNRECORDED_MOST = 256 };

static wn_status no_memory(void) { return error_set(WN_ENOMEM, "not enough memory to compact a trace"); }

/* ---- reading ---- */

static bool takes(const struct rewrite *rewrite, uint64_t chunk) {
  size_t at = array_place(rewrite->chunks, rewrite->chunk_count, chunk);
  return at < rewrite->chunk_count && rewrite->chunks[at] == chunk;
}

/* Whether the last event is of what is taken over. */
static bool is_taken(const struct rewrite *rewrite, const struct trace_reader *reader) {
  uint64_t chunk;
  return !trace_reader_chunk(reader, &chunk) || rewrite->all || takes(rewrite, chunk);
}

static void note_last(uint64_t *last, uint64_t time) { *last = time > *last ? time : *last; }

static bool note(struct rewrite *rewrite, const struct trace_reader *reader,
                 const struct trace_event *event) {
  uint64_t chunk;
  bool taken = is_taken(rewrite, reader);
  note_last(&rewrite->now_ns, event->at.time_ns);
  if (taken) note_last(&rewrite->taken_ns, event->at.time_ns);
  rewrite->records += taken;
  if (taken && event->kind == TRACE_TITLE) note_last(&rewrite->title_ns, event->at.time_ns);
  if (taken && event->kind == TRACE_EXEC) note_last(&rewrite->exec_ns, event->at.time_ns);
  rewrite->samples += taken && event->kind == TRACE_SAMPLE;
  rewrite->block_records += taken && (event->kind == TRACE_SAMPLE || event->kind == TRACE_FREE ||
                                      event->kind == TRACE_RESIZE || event->kind == TRACE_PROMOTE);
  if (event->kind == TRACE_REPLACES)
    return trace_reader_chunk(reader, &chunk) || event->replaces.run != rewrite->run_id ||
           replaced_add(&rewrite->before, &event->replaces);
  return blocks_note(&rewrite->blocks, event, taken) && (!taken || states_note(&rewrite->states, event));
}

/* ---- threads ---- */

static struct named_thread *thread_of(struct rewrite *rewrite, uint32_t number) {
  struct index_walk walk = {.hash = hash_mix(number)};
  uint32_t at;
  while ((at = index_next(&rewrite->threads_by_number, &walk)))
    if (rewrite->threads[at - 1].thread == number) return &rewrite->threads[at - 1];
  if (!ARRAY_ADD(rewrite->threads, rewrite->thread_count, rewrite->thread_capacity,
                 (struct named_thread){.thread = number}) ||
      !index_add(&rewrite->threads_by_number, hash_mix(number), (uint32_t)rewrite->thread_count))
    return NULL;
  return &rewrite->threads[rewrite->thread_count - 1];
}

static bool keep_name(struct rewrite *rewrite, const struct trace_thread_name *event) {
  struct named_thread *thread = thread_of(rewrite, event->thread);
  if (!thread) return false;
  if (thread->name && thread->time_ns > event->time_ns) return true;
  free(thread->name);
  thread->time_ns = event->time_ns;
  return (thread->name = strndup(event->name.bytes, event->name.length));
}

static bool note_use(struct rewrite *rewrite, uint32_t number) {
  struct named_thread *thread = thread_of(rewrite, number);
  return thread && (thread->used = true);
}

/* ---- writing ---- */

/* One pass over the events. */
struct pass {
  struct rewrite *rewrite;
  struct trace_reader *reader;
  struct trace_writer *writer;
  uint32_t *frames; /* of the event's stack */
  size_t frame_capacity;
  uint64_t lost[TRACE_LOSS_REASONS];
  uint8_t cause;
  unsigned unrecorded;
};

static void frame_of(void *context, uint32_t node, uint32_t *module, uint64_t *offset) {
  struct trace_node found = trace_reader_node(((struct pass *)context)->reader, node);
  *module = found.module;
  *offset = found.offset;
}

static void module_of(void *context, uint32_t module, struct trace_module *out) {
  *out = *trace_reader_module(((struct pass *)context)->reader, module);
}

static bool place_of(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  const struct trace_place *found = trace_reader_place(((struct pass *)context)->reader, module, offset);
  if (found) *out = *found;
  return found;
}

/* The nodes from the outermost to this one; a node stands for its frame. */
static bool stack_of(struct pass *pass, uint32_t node, struct trace_stack *stack) {
  uint32_t depth = 0;
  for (uint32_t at = node; at; at = trace_reader_node(pass->reader, at).parent) depth++;
  if (!array_reserve(&pass->frames, &pass->frame_capacity, depth, sizeof *pass->frames)) return false;
  for (uint32_t at = node, i = depth; at; at = trace_reader_node(pass->reader, at).parent)
    pass->frames[--i] = at;
  *stack = (struct trace_stack){pass->frames, depth};
  return true;
}

/* An exec is written with an end, which is taken back: if it succeeded, its own end follows. */
static void write_exec(struct trace_writer *writer, const struct trace_exec *exec) {
  trace_exec_failed(writer, trace_write_exec(writer, exec));
}

/* The event as it stays; what is summed up is written by write_sums. False without memory. */
static bool write_event(struct pass *pass, const struct trace_event *event) {
  struct trace_stack stack = {0};
  uint32_t node = event->kind == TRACE_SAMPLE   ? event->sample.stack
                  : event->kind == TRACE_RESIZE ? event->resize.stack
                  : event->kind == TRACE_MAP    ? event->map.stack
                                                : 0;
  if (!stack_of(pass, node, &stack)) return false;
  switch (event->kind) {
  case TRACE_SAMPLE:
    pass->rewrite->samples_left++;
    trace_write_sample(pass->writer, &event->sample, stack);
    return note_use(pass->rewrite, event->at.thread);
  case TRACE_RESIZE:
    trace_write_resize(pass->writer, &event->resize, stack);
    return note_use(pass->rewrite, event->at.thread);
  case TRACE_FREE:
    trace_write_free(pass->writer, &event->free);
    return note_use(pass->rewrite, event->at.thread);
  case TRACE_PROMOTE: trace_write_promote(pass->writer, &event->promote); break;
  case TRACE_MAP: trace_write_map(pass->writer, &event->map, stack); break;
  case TRACE_MAP_SIZE: trace_write_map_size(pass->writer, &event->map_size); break;
  case TRACE_MAP_TOUCHED: trace_write_map_touched(pass->writer, &event->map_touched); break;
  case TRACE_MEMORY: trace_write_memory(pass->writer, &event->memory); break;
  case TRACE_GROUP: trace_write_group(pass->writer, &event->group); break;
  case TRACE_RATE: trace_write_rate(pass->writer, &event->rate); break;
  case TRACE_COLLECTION: trace_write_collection(pass->writer, &event->collection); break;
  case TRACE_PAUSE: trace_write_pause(pass->writer, &event->pause); break;
  case TRACE_DOMAIN: trace_write_domain(pass->writer, &event->domain); break;
  case TRACE_TITLE:
    if (event->title.time_ns == pass->rewrite->title_ns) trace_write_title(pass->writer, &event->title);
    break;
  case TRACE_EXEC:
    if (event->exec.time_ns == pass->rewrite->exec_ns) write_exec(pass->writer, &event->exec);
    break;
  case TRACE_END: trace_write_end(pass->writer, &event->end); break;
  case TRACE_UNRECORDED:
    if (pass->unrecorded++ < UNRECORDED_MOST) trace_write_unrecorded(pass->writer, &event->unrecorded);
    break;
  case TRACE_THREAD_NAME: return keep_name(pass->rewrite, &event->thread_name);
  case TRACE_LOSS:
    if (event->loss.reason < TRACE_LOSS_REASONS) pass->lost[event->loss.reason] += event->loss.count;
    if (event->loss.cause) pass->cause = event->loss.cause;
    break;
  case TRACE_UNMAP:    /* says nothing about samples: a module of another generation has another number */
  case TRACE_REPLACES: /* write_ranges has written those that hold now */
  case TRACE_DROPPED: break; /* and write_sums writes them joined */
  }
  return true;
}

static bool keeps(struct pass *pass, struct trace_event *event) {
  switch ((int)event->kind) {
  case TRACE_SAMPLE:
  case TRACE_RESIZE:
  case TRACE_FREE:
  case TRACE_PROMOTE: return blocks_keep(&pass->rewrite->blocks, event);
  default: return pass->rewrite->all || !states_have(event) || states_keep(&pass->rewrite->states);
  }
}

/* What is in chunks that are taken over now is in the history from now on. */
static void write_dropped(const struct pass *pass, const struct trace_dropped *dropped) {
  struct trace_dropped event = *dropped;
  event.time_ns = pass->rewrite->now_ns;
  if (event.count == 1 && takes(pass->rewrite, event.chunk)) event.chunk = 0;
  trace_write_dropped(pass->writer, &event);
}

static void write_sums(struct pass *pass) {
  struct rewrite *rewrite = pass->rewrite;
  for (size_t i = 0; i < rewrite->thread_count; i++) {
    const struct named_thread *thread = &rewrite->threads[i];
    struct trace_thread_name event = {.time_ns = thread->time_ns, .thread = thread->thread};
    if (!thread->used || !thread->name) continue;
    event.name = trace_text_of(thread->name);
    trace_write_thread_name(pass->writer, &event);
  }
  for (unsigned i = 0; i < TRACE_LOSS_REASONS; i++) {
    struct trace_loss loss = {.time_ns = rewrite->now_ns, .reason = (uint8_t)i, .count = pass->lost[i]};
    if (i == TRACE_LOSS_SPACE) loss.cause = pass->cause;
    if (loss.count) trace_write_loss(pass->writer, &loss);
  }
  const struct dropped *dropped = trace_reader_dropped(pass->reader);
  for (size_t i = 0; i < dropped->count; i++) write_dropped(pass, &dropped->items[i]);
}

static bool write_ranges(struct pass *pass) {
  struct replaced ranges = {0};
  bool done = rewrite_ranges(pass->rewrite, &ranges);
  for (size_t i = 0; done && i < ranges.count; i++) trace_write_replaces(pass->writer, &ranges.ranges[i]);
  replaced_destroy(&ranges);
  return done;
}

static bool write_all(struct pass *pass) {
  struct trace_event event;
  bool done = pass->rewrite->all || write_ranges(pass);
  while (done && trace_reader_next(pass->reader, &event))
    if (is_taken(pass->rewrite, pass->reader) && keeps(pass, &event)) done = write_event(pass, &event);
  if (done) write_sums(pass);
  free(pass->frames);
  return done && !trace_reader_damage(pass->reader)->out_of_memory;
}

static wn_status open_writer(struct pass *pass, const char *target) {
  struct trace_run run = *trace_reader_run(pass->reader);
  struct trace_options options = {.path = target, .alone = true};
  struct trace_stack_source source = {
      .frame = frame_of, .module = module_of, .place = place_of, .context = pass};
  run.title = run.name = (struct trace_text){.bytes = ""};
  wn_status status = trace_writer_open(&options, &run, &source, &pass->writer);
  if (!status) trace_writer_rate(pass->writer, pass->rewrite->blocks.rate);
  return status;
}

/* What an earlier rewrite_write has left. */
static void forget_threads(struct rewrite *rewrite) {
  for (size_t i = 0; i < rewrite->thread_count; i++) free(rewrite->threads[i].name);
  free(rewrite->threads_by_number.slots);
  rewrite->threads_by_number = (struct index){0};
  rewrite->thread_count = 0;
}

/* ---- ranges ---- */

static int by_first(const void *a, const void *b) {
  const struct trace_replaces *left = a, *right = b;
  return (left->first > right->first) - (left->first < right->first);
}

/* Joins those that touch each other. */
static void join_ranges(struct replaced *ranges) {
  size_t kept = 0;
  if (!ranges->count) return;
  qsort(ranges->ranges, ranges->count, sizeof *ranges->ranges, by_first);
  for (size_t i = 1; i < ranges->count; i++) {
    struct trace_replaces *last = &ranges->ranges[kept], *range = &ranges->ranges[i];
    if (range->first > last->last + 1)
      ranges->ranges[++kept] = *range;
    else if (range->last > last->last)
      last->last = range->last;
  }
  ranges->count = kept + 1;
}

/* ---- shared ---- */

wn_status rewrite_read(struct rewrite *rewrite) {
  struct trace_reader *reader;
  struct trace_event event;
  wn_status status = trace_reader_open_with(rewrite->path, rewrite->history, &reader);
  if (status) return status;
  rewrite->blocks.seed = rewrite->seed;
  bool done = true;
  if (trace_reader_damage(reader)->chunks_damaged)
    status = error_set(WN_EIO, "the history of the trace cannot be read; it is not compacted");
  while (!status && done && trace_reader_next(reader, &event)) done = note(rewrite, reader, &event);
  done &= !trace_reader_damage(reader)->out_of_memory && states_choose(&rewrite->states, rewrite->now_ns);
  trace_reader_close(reader);
  return status || done ? status : no_memory();
}

wn_status rewrite_write(struct rewrite *rewrite, size_t most, const char *target) {
  struct pass pass = {.rewrite = rewrite};
  wn_status status = trace_reader_open_with(rewrite->path, rewrite->history, &pass.reader);
  if (status) return status;
  forget_threads(rewrite);
  rewrite->states.next = 0;
  rewrite->samples_left = 0;
  blocks_choose(&rewrite->blocks, rewrite->now_ns, most);
  status = open_writer(&pass, target);
  if (!status) {
    if (!write_all(&pass)) status = no_memory();
    uint64_t lost = trace_writer_lost(pass.writer);
    trace_writer_close(pass.writer);
    if (!status && lost) status = error_set(WN_EIO, "cannot write %s: there is no room for it", target);
    if (status) unlink(target);
  }
  trace_reader_close(pass.reader);
  return status;
}

bool rewrite_ranges(const struct rewrite *rewrite, struct replaced *ranges) {
  bool done = true;
  for (size_t i = 0; done && i < rewrite->before.count; i++)
    done = replaced_add(ranges, &rewrite->before.ranges[i]);
  for (size_t i = 0; done && i < rewrite->chunk_count; i++)
    done = replaced_add(ranges,
                        &(struct trace_replaces){.first = rewrite->chunks[i], .last = rewrite->chunks[i]});
  if (done) join_ranges(ranges);
  for (size_t i = 0; i < ranges->count; i++) ranges->ranges[i].run = rewrite->run_id;
  return done;
}

void rewrite_destroy(struct rewrite *rewrite) {
  forget_threads(rewrite);
  free(rewrite->threads);
  replaced_destroy(&rewrite->before);
  blocks_destroy(&rewrite->blocks);
  states_destroy(&rewrite->states);
}
/* SPDX-License-Identifier: MIT */
