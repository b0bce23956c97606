/* From a trace and its history to a new history. */
#include "compact/rewrite.h"

#include "base/array.h"
#include "base/error.h"
#include "trace/dropped.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  UNRECORDED_MOST = 256, /* so many records of processes that are not recorded stay */
  STACKS_MOST = 1 << 15  /* nodes that are known when a chunk begins */
};

static wn_status rewrite_no_memory(void) {
  return error_set(WN_ENOMEM, "not enough memory to compact a trace");
}

/* ---- reading ---- */

static bool takes(const struct rewrite *rewrite, uint64_t chunk) {
  size_t at = array_place(rewrite->chunks, rewrite->chunk_count, chunk);
  return at < rewrite->chunk_count && rewrite->chunks[at] == chunk;
}

/* Reads events of one file, with its history or without one. */
struct reading {
  const struct rewrite *rewrite;
  struct trace_reader *reader;
  uint64_t chunk; /* that the last event is from */
  bool takes_chunk;
  bool taken; /* whether the last event is of what is taken over */
  bool from_history;
};

/* A new history, or a copy, of what can be read would count as whole. */
static wn_status no_history(const struct rewrite *rewrite) {
  return error_set(WN_EIO,
                   "the history of %s is damaged or cannot be read; it is not %s, which would hide that",
                   rewrite->name, rewrite->all ? "copied into one file" : "compacted");
}

static wn_status begin_rewrite(struct reading *reading, const struct rewrite *rewrite, const char *path,
                               const char *history) {
  *reading = (struct reading){.rewrite = rewrite, .chunk = UINT64_MAX};
  wn_status status = trace_reader_open_with(path, history, &reading->reader);
  if (status) return status;
  trace_reader_forget_stacks(reading->reader, STACKS_MOST);
  if (!trace_reader_damage(reading->reader)->chunks_damaged) return WN_OK;
  trace_reader_close(reading->reader);
  return no_history(rewrite);
}

/* False at the end of what is of interest. */
static bool rewrite_next(struct reading *reading, struct trace_event *event) {
  uint64_t chunk;
  if (!trace_reader_next(reading->reader, event)) return false;
  reading->from_history = !trace_reader_chunk(reading->reader, &chunk);
  if (!reading->from_history && chunk != reading->chunk) {
    if (chunk >= reading->rewrite->end) return false;
    reading->chunk = chunk;
    reading->takes_chunk = reading->rewrite->all || takes(reading->rewrite, chunk);
  }
  reading->taken = reading->from_history || reading->takes_chunk;
  return true;
}

static wn_status rewrite_end(struct reading *reading, bool done) {
  bool damaged = trace_reader_history_damaged(reading->reader);
  done &= !trace_reader_damage(reading->reader)->out_of_memory;
  trace_reader_close(reading->reader);
  if (!done) return rewrite_no_memory();
  return damaged ? no_history(reading->rewrite) : WN_OK;
}

/* Notes an event. False without memory. */
typedef bool note_function(struct rewrite *rewrite, const struct reading *reading,
                           const struct trace_event *event);

/* What stands in other chunks, after all that is taken over: see AFTERWARDS in excerpt.h. */
static wn_status rewrite_read_others(struct rewrite *rewrite, note_function *note) {
  struct reading reading;
  struct trace_event event;
  bool done = true;
  wn_status status = begin_rewrite(&reading, rewrite, rewrite->others, "");
  if (status) return status;
  while (done && rewrite_next(&reading, &event))
    if (!reading.taken && !replaced_has(&rewrite->before, reading.chunk))
      done = note(rewrite, &reading, &event);
  return rewrite_end(&reading, done);
}

static wn_status rewrite_read_all(struct rewrite *rewrite, note_function *note) {
  struct reading reading;
  struct trace_event event;
  bool done = true;
  wn_status status = begin_rewrite(&reading, rewrite, rewrite->path, rewrite->history);
  if (status) return status;
  while (done && rewrite_next(&reading, &event)) {
    bool is_other = !reading.taken && rewrite->others; /* chunk 0 of the copy */
    if (!is_other) done = note(rewrite, &reading, &event);
  }
  status = rewrite_end(&reading, done);
  return status || !rewrite->others ? status : rewrite_read_others(rewrite, note);
}

static void note_last(uint64_t *last, uint64_t time) { *last = time > *last ? time : *last; }

/* The first reading. */
static bool survey(struct rewrite *rewrite, const struct reading *reading, const struct trace_event *event) {
  bool taken = reading->taken;
  note_last(&rewrite->now_ns, event->at.time_ns);
  if (taken) note_last(&rewrite->taken_ns, event->at.time_ns);
  if (taken && event->kind == TRACE_TITLE) note_last(&rewrite->title_ns, event->at.time_ns);
  if (taken && event->kind == TRACE_EXEC) note_last(&rewrite->exec_ns, event->at.time_ns);
  rewrite->samples += taken && event->kind == TRACE_SAMPLE;
  return blocks_survey(&rewrite->blocks, event, taken) &&
         (!taken || rewrite->all || states_note(&rewrite->states, event));
}

static bool note_block(struct rewrite *rewrite, const struct reading *reading,
                       const struct trace_event *event) {
  return blocks_note(&rewrite->blocks, event, reading->taken);
}

/* The readings of parts. */
static wn_status rewrite_read_parts(struct rewrite *rewrite) {
  struct blocks *blocks = &rewrite->blocks;
  while (!blocks->is_known) {
    wn_status status =
        blocks_begin_part(blocks) ? rewrite_read_all(rewrite, note_block) : rewrite_no_memory();
    if (!status && blocks->next != blocks->records)
      status = error_set(WN_EIO, "a trace was changed by another process while it was compacted");
    if (!status && !blocks_end_part(blocks)) status = rewrite_no_memory();
    if (status) return status;
  }
  return WN_OK;
}

/* ---- writing ---- */

/* One pass over the events. */
struct pass {
  struct rewrite *rewrite;
  struct reading reading;
  struct trace_writer *writer;
  uint32_t *frames; /* of the event's stack */
  size_t frame_capacity;
  uint64_t lost[TRACE_LOSS_REASONS];
  uint8_t cause;
  unsigned unrecorded;
};

static void rewrite_frame_of(void *context, uint32_t node, uint32_t *module, uint64_t *offset) {
  struct trace_node found = trace_reader_node(((struct pass *)context)->reading.reader, node);
  *module = found.module;
  *offset = found.offset;
}

static void rewrite_module_of(void *context, uint32_t module, struct trace_module *out) {
  *out = *trace_reader_module(((struct pass *)context)->reading.reader, module);
}

static bool rewrite_place_of(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  const struct trace_place *found =
      trace_reader_place(((struct pass *)context)->reading.reader, module, offset);
  if (found) *out = *found;
  return found;
}

/* The nodes from the outermost to this one; a node stands for its frame. */
static bool rewrite_stack_of(struct pass *pass, uint32_t node, struct trace_stack *stack) {
  uint32_t depth = 0;
  for (uint32_t at = node; at; at = trace_reader_node(pass->reading.reader, at).parent) depth++;
  if (!array_reserve(&pass->frames, &pass->frame_capacity, depth, sizeof *pass->frames)) return false;
  for (uint32_t at = node, i = depth; at; at = trace_reader_node(pass->reading.reader, at).parent)
    pass->frames[--i] = at;
  *stack = (struct trace_stack){pass->frames, depth};
  return true;
}

/* An exec is written with an end, which is taken back: if it succeeded, its own end follows. */
static void write_exec(struct trace_writer *writer, const struct trace_exec *exec) {
  trace_exec_failed(writer, trace_write_exec(writer, exec));
}

/* The event as it stays; what is summed up is written by rewrite_write_sums. False without memory. */
static bool rewrite_write_event(struct pass *pass, const struct trace_event *event) {
  struct trace_stack stack = {0};
  uint32_t node = event->kind == TRACE_SAMPLE   ? event->sample.stack
                  : event->kind == TRACE_RESIZE ? event->resize.stack
                  : event->kind == TRACE_MAP    ? event->map.stack
                                                : 0;
  if (!rewrite_stack_of(pass, node, &stack)) return false;
  switch (event->kind) {
  case TRACE_SAMPLE:
    pass->rewrite->samples_left++;
    trace_write_sample(pass->writer, &event->sample, stack);
    return names_use(&pass->rewrite->names, event->at.thread);
  case TRACE_RESIZE:
    trace_write_resize(pass->writer, &event->resize, stack);
    return names_use(&pass->rewrite->names, event->at.thread);
  case TRACE_FREE:
    trace_write_free(pass->writer, &event->free);
    return names_use(&pass->rewrite->names, event->at.thread);
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
  case TRACE_CODE: trace_write_code(pass->writer, &event->code); break;
  case TRACE_TYPE: trace_write_type(pass->writer, &event->type); break;
  case TRACE_TYPE_NAME: trace_write_type_name(pass->writer, &event->type_name); break;
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
  case TRACE_THREAD_NAME: return names_note(&pass->rewrite->names, &event->thread_name);
  case TRACE_LOSS:
    if (event->loss.reason < TRACE_LOSS_REASONS) pass->lost[event->loss.reason] += event->loss.count;
    if (event->loss.cause) pass->cause = event->loss.cause;
    break;
  case TRACE_UNMAP:    /* says nothing about samples: a module of another generation has another number */
  case TRACE_REPLACES: /* write_ranges has written those that hold now */
  case TRACE_DROPPED: break; /* and rewrite_write_sums writes them joined */
  }
  return true;
}

static bool rewrite_keeps(struct pass *pass, struct trace_event *event) {
  if (pass->rewrite->all) return true;
  if (blocks_have(event)) return blocks_keep(&pass->rewrite->blocks, event);
  return !states_have(event) || states_keep(&pass->rewrite->states);
}

/* Joined; but before that, what is in chunks that are taken over now is in the history. */
static bool rewrite_write_dropped(const struct pass *pass) {
  const struct dropped *found = trace_reader_dropped(pass->reading.reader);
  struct dropped dropped = {0};
  bool done = true;
  for (size_t i = 0; done && i < found->count; i++) {
    struct trace_dropped item = found->items[i];
    item.time_ns = pass->rewrite->now_ns;
    if (item.count == 1 && takes(pass->rewrite, item.chunk)) item.chunk = 0;
    done = dropped_add(&dropped, &item);
  }
  dropped_join(&dropped);
  for (size_t i = 0; done && i < dropped.count; i++) trace_write_dropped(pass->writer, &dropped.items[i]);
  dropped_destroy(&dropped);
  return done;
}

static bool rewrite_write_sums(struct pass *pass) {
  struct rewrite *rewrite = pass->rewrite;
  struct trace_thread_name name;
  for (size_t at = 0; names_next(&rewrite->names, &at, &name);) trace_write_thread_name(pass->writer, &name);
  for (unsigned i = 0; i < TRACE_LOSS_REASONS; i++) {
    struct trace_loss loss = {.time_ns = rewrite->now_ns, .reason = (uint8_t)i, .count = pass->lost[i]};
    if (i == TRACE_LOSS_SPACE) loss.cause = pass->cause;
    if (loss.count) trace_write_loss(pass->writer, &loss);
  }
  return rewrite_write_dropped(pass);
}

static bool write_ranges(struct pass *pass) {
  struct replaced ranges = {0};
  bool done = rewrite_ranges(pass->rewrite, &ranges);
  for (size_t i = 0; done && i < ranges.count; i++) trace_write_replaces(pass->writer, &ranges.ranges[i]);
  replaced_destroy(&ranges);
  return done;
}

static bool rewrite_write_all(struct pass *pass) {
  struct trace_event event;
  bool done = pass->rewrite->all || write_ranges(pass);
  while (done && rewrite_next(&pass->reading, &event))
    if (pass->reading.taken && rewrite_keeps(pass, &event)) done = rewrite_write_event(pass, &event);
  done = done && rewrite_write_sums(pass);
  free(pass->frames);
  return done;
}

static wn_status rewrite_open_writer(struct pass *pass, const char *target) {
  struct trace_run run = *trace_reader_run(pass->reading.reader);
  struct trace_options options = {.path = target, .alone = true};
  struct trace_stack_source source = {
      .frame = rewrite_frame_of, .module = rewrite_module_of, .place = rewrite_place_of, .context = pass};
  run.title = run.name = (struct trace_text){.bytes = ""};
  wn_status status = trace_writer_open(&options, &run, &source, &pass->writer);
  if (!status) trace_writer_rate(pass->writer, pass->rewrite->blocks.rate);
  return status;
}

/* ---- shared ---- */

wn_status rewrite_begin(struct rewrite *rewrite, const char *path) {
  struct reading reading;
  struct trace_event event;
  bool done = true;
  wn_status status = begin_rewrite(&reading, rewrite, path, rewrite->history);
  if (status) return status;
  while (done && rewrite_next(&reading, &event) && reading.from_history)
    if (event.kind == TRACE_REPLACES && event.replaces.run == rewrite->run_id)
      done = replaced_add(&rewrite->before, &event.replaces);
  return rewrite_end(&reading, done);
}

wn_status rewrite_read(struct rewrite *rewrite) {
  wn_status status = rewrite_read_all(rewrite, survey);
  rewrite->blocks.now_ns = rewrite->now_ns;
  return status || states_choose(&rewrite->states, rewrite->now_ns) ? status : rewrite_no_memory();
}

wn_status rewrite_write(struct rewrite *rewrite, size_t most, const char *target) {
  struct pass pass = {.rewrite = rewrite};
  wn_status status = WN_OK;
  if (!rewrite->all) do
      status = rewrite_read_parts(rewrite);
    while (!status && !blocks_choose(&rewrite->blocks, most));
  if (!status) status = begin_rewrite(&pass.reading, rewrite, rewrite->path, rewrite->history);
  if (status) return status;
  names_clear(&rewrite->names);
  rewrite->states.next = 0;
  rewrite->samples_left = 0;
  status = rewrite_open_writer(&pass, target);
  if (status) return trace_reader_close(pass.reading.reader), status;
  bool done = rewrite_write_all(&pass);
  uint64_t lost = trace_writer_lost(pass.writer);
  trace_writer_close(pass.writer);
  status = rewrite_end(&pass.reading, done);
  if (!status && lost) status = error_set(WN_EIO, "cannot write %s: there is no room for it", target);
  if (status) unlink(target);
  return status;
}

bool rewrite_ranges(const struct rewrite *rewrite, struct replaced *ranges) {
  const struct replaced *before = &rewrite->before;
  bool done = true;
  for (size_t i = 0, j = 0; done && (i < before->count || j < rewrite->chunk_count);) {
    bool is_before =
        j == rewrite->chunk_count || (i < before->count && before->ranges[i].first < rewrite->chunks[j]);
    struct trace_replaces range = {.run = rewrite->run_id};
    range.first = is_before ? before->ranges[i].first : rewrite->chunks[j];
    range.last = is_before ? before->ranges[i++].last : rewrite->chunks[j++];
    done = replaced_add(ranges, &range);
  }
  return done;
}

void rewrite_destroy(struct rewrite *rewrite) {
  names_clear(&rewrite->names);
  replaced_destroy(&rewrite->before);
  blocks_destroy(&rewrite->blocks);
  states_destroy(&rewrite->states);
}
/* SPDX-License-Identifier: MIT */
