/* Reads a trace, whatever became of it. */
#include "trace/reader.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/smaller.h"
#include "base/words.h"
#include "trace/chunk.h"
#include "trace/decoder.h"
#include "trace/dropped.h"
#include "trace/history.h"
#include "trace/lone_chunk.h"
#include "trace/remains.h"
#include "trace/search.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  RUN_TEXTS = 5,
  RECORDS_MOST = 1000, /* before the one that says whose history it is */
  TEXTS_MOST = 2       /* of an event */
};

/* Reading what is whole of a damaged chunk. */
struct rest {
  bool active;
  bool tail_tried;
  bool header_known; /* by a segment: the header's bytes are those that were written */
  size_t count;      /* bytes that there are, header included */
  size_t at;         /* the next segment begins there or later */
  size_t good;       /* bytes of what was found whole */
  size_t work;
  uint32_t segments;
  struct segment last;
};

/* The trace, or its history, and where reading stands in it. */
struct file {
  int descriptor; /* negative: there is none */
  uint64_t size;
  uint64_t capacity;
  uint64_t run_id;
  uint64_t next_chunk;
};

struct trace_reader {
  /* The file that is read; and what is read behind it: the trace, while this is its history. */
  struct file file, later;
  bool has_history;
  /* Of the history: the next chunk's number; whether the last one is not sealed; the result. */
  uint64_t history_next;
  bool history_open, history_damaged;
  /* What the history has taken over, and what was dropped. */
  struct replaced replaced;
  struct dropped dropped;
  /* Set by trace_reader_open; constant afterwards. */
  struct trace_run run;
  char *run_texts[RUN_TEXTS];
  /* The last title, and when it was taken. */
  char *title;
  uint64_t title_ns;
  /* Room for a chunk, and for an event's texts with their NUL bytes. */
  size_t buffer_bytes;
  unsigned char *buffer;
  char *text;
  /* Where reading stands. */
  uint64_t used_end;
  struct trace_tail tail;
  uint32_t used;     /* record bytes of the chunk at hand */
  bool in_piece;     /* a whole chunk, or a segment */
  bool piece_sound;  /* the last one was decoded to its end */
  bool header_known; /* of the chunk that was found first */
  struct rest rest;
  struct decoder decoder;
  struct stack_table table;
  uint32_t table_most;      /* items; 0: any number */
  uint64_t stacks_left_out; /* by the writer */
  struct trace_damage damage;
};

/* ---- chunks ---- */

static enum chunk_state load_chunk(struct trace_reader *reader, uint64_t offset, size_t *count) {
  /* A chunk that is being written may have grown meanwhile. */
  *count = (size_t)smaller(reader->buffer_bytes, reader->file.capacity);
  enum chunk_state state = chunk_read(reader->file.descriptor, reader->buffer, offset, count, &reader->used);
  if (state != CHUNK_WHOLE) return state;
  const struct chunk_header *header = (const struct chunk_header *)reader->buffer;
  bool fits = header->run_id == reader->file.run_id &&
              (uint64_t)1 << header->capacity_log2 == reader->file.capacity &&
              header->sequence * reader->file.capacity == offset;
  return fits ? CHUNK_WHOLE : CHUNK_DAMAGED;
}

static void count_damage_reader(struct trace_reader *reader, uint64_t bytes) {
  reader->damage.chunks_damaged++;
  reader->damage.bytes_skipped += bytes;
}

/* ---- damaged chunks ---- */

static const struct chunk_header *reader_header_of(const struct trace_reader *reader) {
  return (const struct chunk_header *)reader->buffer;
}

/* The rate of a chunk's samples. If its header is damaged, that of the run has to do. */
static double rate_of_chunk(const struct trace_reader *reader) {
  double rate = reader_header_of(reader)->rate;
  bool known = !reader->rest.active || reader->rest.header_known;
  return known && rate_is_valid(rate) ? rate : reader->run.rate;
}

static void reader_begin_rest(struct trace_reader *reader, size_t count) {
  reader->rest = (struct rest){.active = true, .count = count, .work = SEGMENT_WORK * count};
}

/* Whether a segment is of this run, as far as can be told, and what it claims is in proportion. */
static bool accept(struct trace_reader *reader, const struct segment *segment, bool first) {
  struct rest *rest = &reader->rest;
  const struct chunk_header *header = reader_header_of(reader);
  const struct checkpoint *new = &segment->checkpoint, *old = &rest->last.checkpoint;
  bool known = rest->count >= sizeof *header && chunk_header_crc(header) == new->chunk_crc;
  if (known && reader->header_known && header->run_id != reader->file.run_id) return false;
  uint32_t nodes = first ? 0 : old->nodes, modules = first ? 0 : old->modules;
  size_t more =
      (new->nodes > nodes ? new->nodes - nodes : 0) + (new->modules > modules ? new->modules - modules : 0);
  if (more > rest->work) return false;
  rest->work -= more;
  if (known && !rest->header_known) rest->good += sizeof *header;
  rest->header_known |= known;
  return true;
}

static bool next_segment_reader(struct trace_reader *reader) {
  struct rest *rest = &reader->rest;
  struct segment found;
  while (segment_find(reader->buffer, rest->count, rest->at, &rest->work, &found)) {
    bool first = !rest->segments || found.checkpoint.chunk_crc != rest->last.checkpoint.chunk_crc;
    rest->at = found.end;
    if (!accept(reader, &found, first)) continue;
    rest->good += found.end - found.begin;
    rest->segments++;
    rest->last = found;
    decoder_resume(&reader->decoder, reader->buffer, &found, rate_of_chunk(reader), first);
    return true;
  }
  return false;
}

/* What lies behind the last segment is checked by the commit word. */
static bool enter_tail(struct trace_reader *reader) {
  struct rest *rest = &reader->rest;
  if (rest->tail_tried || !rest->segments || !reader->piece_sound) return false;
  rest->tail_tried = true;
  uint64_t commit = reader_header_of(reader)->commit, end = CHUNK_HEADER_BYTES + (uint32_t)commit;
  if (end <= rest->at || end > rest->count) return false;
  const unsigned char *tail = reader->buffer + rest->at;
  size_t length = (size_t)end - rest->at;
  if (crc32c(rest->last.crc, tail, length) != commit >> 32) return false;
  decoder_continue(&reader->decoder, tail, length);
  rest->good += length;
  rest->at = (size_t)end;
  return true;
}

/* Counts what was not whole. */
static void end_rest(struct trace_reader *reader) {
  struct rest *rest = &reader->rest;
  size_t end = rest->count;
  uint64_t told = rest->count < CHUNK_HEADER_BYTES
                      ? 0
                      : CHUNK_HEADER_BYTES + (uint64_t)(uint32_t)reader_header_of(reader)->commit;
  while (end && !reader->buffer[end - 1]) end--;
  if (rest->header_known && told < end) end = (size_t)told;
  if (end < rest->at) end = rest->at;
  count_damage_reader(reader, end > rest->good ? end - rest->good : 1);
  rest->active = false;
}

/* ---- pieces ---- */

static bool in_history(const struct trace_reader *reader) { return reader->later.descriptor >= 0; }

/* Notes where the used bytes end of what was found at `offset`, unless it belongs to the history.
 * Without `whole` no record can be added there. */
static void note_end(struct trace_reader *reader, uint64_t offset, uint64_t bytes, bool whole) {
  if (in_history(reader)) return;
  if (offset + bytes > reader->used_end) reader->used_end = offset + bytes;
  if (whole) reader->tail = (struct trace_tail){.offset = offset, .capacity = reader->file.capacity};
}

/* Whether the chunk at hand tells that a history has taken over this one and others: its records
 * are a thread, which is 0, and REPLACES. */
static bool is_mark(const struct trace_reader *reader) {
  return reader->used > LONE_BEGIN_BYTES &&
         lone_chunk_begins(reader->buffer + CHUNK_HEADER_BYTES, TRACE_RECORD_REPLACES);
}

static void begin_whole(struct trace_reader *reader, uint64_t offset) {
  reader->damage.chunks_read++;
  note_end(reader, offset, CHUNK_HEADER_BYTES + reader->used, !is_mark(reader));
  decoder_begin(&reader->decoder, reader->buffer + CHUNK_HEADER_BYTES, reader->used,
                reader_header_of(reader)->base_time, rate_of_chunk(reader));
}

/* What is missing of a history: none of its chunks is unused, and the writer seals all but the last. */
static void check_history(struct trace_reader *reader, uint64_t chunk, enum chunk_state state) {
  uint64_t until;
  if (chunk > reader->history_next)
    count_damage_reader(reader, (chunk - reader->history_next) * reader->file.capacity);
  reader->history_next = chunk + 1;
  reader->history_open = state == CHUNK_WHOLE && !chunk_is_sealed(reader->buffer, reader->used, &until);
}

/* From the history to the trace, whose chunks up to the last that was taken over count as used. */
static bool next_file(struct trace_reader *reader) {
  if (!in_history(reader)) return false;
  if (!reader->damage.chunks_damaged && !reader->history_open) count_damage_reader(reader, 0);
  reader->history_damaged = reader->damage.chunks_damaged;
  close(reader->file.descriptor);
  reader->file = reader->later;
  reader->later.descriptor = -1;
  reader->used_end = smaller(replaced_end(&reader->replaced) * reader->file.capacity, reader->file.size);
  return true;
}

/* Chunks that were taken over are holes: most of a file that was written for a month. */
static void pass_hole(struct trace_reader *reader) {
  struct file *file = &reader->file;
  off_t data = lseek(file->descriptor, (off_t)(file->next_chunk * file->capacity), SEEK_DATA);
  if (data < 0 && errno == ENXIO) data = (off_t)file->size;
  if (data > 0 && (uint64_t)data / file->capacity > file->next_chunk)
    file->next_chunk = (uint64_t)data / file->capacity;
}

/* Goes to the next chunk that has something to tell; false at the end of the file. */
static bool reader_next_chunk(struct trace_reader *reader) {
  struct file *file = &reader->file;
  if (reader->table_most && stack_table_items(&reader->table) > reader->table_most)
    stack_table_forget(&reader->table);
  while (file->next_chunk * file->capacity < file->size || next_file(reader)) {
    uint64_t offset = file->next_chunk++ * file->capacity;
    size_t count;
    enum chunk_state state = load_chunk(reader, offset, &count);
    if (state == CHUNK_UNUSED) {
      pass_hole(reader);
      continue;
    }
    if (in_history(reader)) check_history(reader, offset / file->capacity, state);
    if (!in_history(reader) && replaced_has(&reader->replaced, offset / file->capacity) &&
        !(state == CHUNK_WHOLE && is_mark(reader))) {
      if (state == CHUNK_WHOLE && !reader->tail.capacity) note_end(reader, offset, count, true);
      continue;
    }
    if (state == CHUNK_WHOLE) {
      begin_whole(reader, offset);
      return true;
    }
    note_end(reader, offset, count, false);
    reader_begin_rest(reader, count);
    return true;
  }
  return false;
}

static bool next_piece(struct trace_reader *reader) {
  for (;;) {
    if (reader->rest.active) {
      if (next_segment_reader(reader) || enter_tail(reader)) return true;
      end_rest(reader);
    }
    if (!reader_next_chunk(reader)) return false;
    if (!reader->rest.active) return true;
  }
}

static void end_piece(struct trace_reader *reader, enum decoder_result result) {
  size_t left = (size_t)(reader->decoder.source.end - reader->decoder.source.at);
  reader->in_piece = false;
  reader->piece_sound = result == DECODER_END;
  reader->damage.out_of_memory |= result == DECODER_NO_MEMORY;
  if (reader->rest.active) {
    if (result == DECODER_BAD) reader->rest.good -= left;
    return;
  }
  if (!in_history(reader) && reader->tail.offset == (reader->file.next_chunk - 1) * reader->file.capacity) {
    reader->tail.sound = reader->piece_sound;
    reader->tail.last_time = reader->decoder.time;
  }
  if (result == DECODER_BAD) count_damage_reader(reader, left);
}

/* ---- the run ---- */

static bool reader_copy_text(struct trace_reader *reader, unsigned which, struct trace_text *text) {
  char *copy = malloc((size_t)text->length + 1);
  if (!copy) return false;
  if (text->length) memcpy(copy, text->bytes, text->length);
  copy[text->length] = 0;
  reader->run_texts[which] = copy;
  text->bytes = copy;
  return true;
}

/* Reading starts at the first chunk of the file at hand, as if nothing had been read. */
static void reader_begin_again(struct trace_reader *reader) {
  reader->file.next_chunk = 0;
  reader->used_end = 0;
  reader->tail = (struct trace_tail){0};
  reader->rest.active = false;
  reader->decoder.unknown = reader->decoder.stacks_lost = 0;
  reader->history_next = 0;
  reader->damage = (struct trace_damage){.thinned = reader->has_history};
}

/* Takes the RUN record, which is the first of the first chunk, without moving the place of
 * reading. */
static wn_status read_run(struct trace_reader *reader, const struct chunk_header *found, const char *path) {
  struct trace_event event;
  struct trace_run *run = &reader->run;
  enum decoder_result result = next_piece(reader) ? decoder_next(&reader->decoder, &event, run) : DECODER_BAD;
  if (result != DECODER_RUN) *run = (struct trace_run){0};
  if (reader->header_known) {
    run->rate = found->rate;
    run->word_bytes = found->word_bytes;
  } else if (result != DECODER_RUN) {
    return WN_EFORMAT;
  }
  if (!rate_is_valid(run->rate))
    return error_set(WN_EINVAL, "%s is a damaged Winnow trace: its sampling rate %g is not from 1e-9 to 1",
                     path, run->rate);
  bool copied = reader_copy_text(reader, 0, &run->command) && reader_copy_text(reader, 1, &run->host) &&
                reader_copy_text(reader, 2, &run->heap) && reader_copy_text(reader, 3, &run->version) &&
                reader_copy_text(reader, 4, &run->context);
  if (!copied || result == DECODER_NO_MEMORY) return error_set(WN_ENOMEM, "no memory to read a trace");
  reader_begin_again(reader);
  return WN_OK;
}

static wn_status reader_create(struct trace_reader *reader, const struct chunk_header *found,
                               const char *path) {
  uint64_t bytes = smaller(reader->file.capacity, reader->file.size); /* and a history has usual chunks */
  reader->buffer_bytes = bytes > CHUNK_BYTES ? (size_t)bytes : CHUNK_BYTES;
  reader->buffer = malloc(reader->buffer_bytes);
  reader->text = malloc(reader->buffer_bytes + TEXTS_MOST);
  reader->decoder.table = &reader->table;
  if (!stack_table_create(&reader->table) || !reader->buffer || !reader->text)
    return error_set(WN_ENOMEM, "no memory to read a trace");
  return read_run(reader, found, path);
}

/* ---- events ---- */

/* Puts the NUL byte behind an event's text. Returns where that of another one may stand. */
static char *end_text(char *at, struct trace_text *text) {
  if (text->length) memcpy(at, text->bytes, text->length);
  at[text->length] = 0;
  text->bytes = at;
  return at + text->length + 1;
}

/* Of two titles the later one counts, and chunks stand in no order of time. Without memory the
 * older one stays. */
static void keep_title(struct trace_reader *reader, const struct trace_title *title) {
  size_t bytes = (size_t)title->title.length + title->name.length + 2;
  char *copy = title->time_ns >= reader->title_ns ? malloc(bytes) : NULL;
  if (!copy) return;
  free(reader->title);
  reader->title = copy;
  reader->title_ns = title->time_ns;
  reader->run.title = title->title;
  reader->run.name = title->name;
  end_text(end_text(copy, &reader->run.title), &reader->run.name);
}

/* A chunk that was taken over before it was dropped is not missing. */
static void keep_dropped(struct trace_reader *reader, const struct trace_dropped *event) {
  struct trace_dropped item = *event;
  if (item.count == 1 && replaced_has(&reader->replaced, item.chunk)) item.chunk = 0;
  reader->damage.out_of_memory |= !dropped_add(&reader->dropped, &item);
}

/* What a history has taken over; or in the trace the mark (compact/compact.c) that one has. */
static void keep_replaced(struct trace_reader *reader, const struct trace_replaces *event) {
  bool is_mark = !in_history(reader);
  if (event->run != (is_mark ? reader->file.run_id : reader->later.run_id)) return;
  if (!is_mark) {
    reader->damage.out_of_memory |= !replaced_add(&reader->replaced, event);
  } else if (!replaced_has(&reader->replaced, event->last)) {
    reader->damage.lacks_history = true;
    keep_dropped(reader, &(struct trace_dropped){.chunk = event->last, .until_ns = event->time_ns});
  }
}

static void keep_loss(struct trace_reader *reader, const struct trace_loss *loss) {
  bool of_stack = loss->reason == TRACE_LOSS_STACK;
  *(of_stack ? &reader->stacks_left_out : &reader->damage.records_lost) += loss->count;
  if (!of_stack && loss->cause) reader->damage.loss_cause = loss->cause;
}

static void finish_event(struct trace_reader *reader, struct trace_event *event) {
  switch (event->kind) {
  case TRACE_THREAD_NAME: end_text(reader->text, &event->thread_name.name); break;
  case TRACE_TYPE_NAME: end_text(reader->text, &event->type_name.name); break;
  case TRACE_EXEC: end_text(reader->text, &event->exec.path); break;
  case TRACE_UNRECORDED: end_text(reader->text, &event->unrecorded.path); break;
  case TRACE_TITLE:
    end_text(end_text(reader->text, &event->title.title), &event->title.name);
    keep_title(reader, &event->title);
    break;
  case TRACE_CODE: end_text(end_text(reader->text, &event->code.function), &event->code.file); break;
  case TRACE_REPLACES: keep_replaced(reader, &event->replaces); break;
  case TRACE_DROPPED: keep_dropped(reader, &event->dropped); break;
  case TRACE_LOSS: keep_loss(reader, &event->loss); break;
  case TRACE_END: reader->damage.complete = true; break;
  default: break;
  }
}

enum belonging { BELONGS, BELONGS_TO_ANOTHER, BELONGING_UNKNOWN };

/* Whose history the file at hand is: one of its first records says so, also if others are damaged.
 * Leaves reading at its begin. */
static enum belonging find_belonging(struct trace_reader *reader) {
  struct trace_event event;
  struct trace_run run;
  bool found = false;
  for (int records = 0;
       !found && reader->file.next_chunk <= 1 && records < RECORDS_MOST && next_piece(reader);) {
    enum decoder_result result = DECODER_RUN;
    while (!found && (result == DECODER_RUN || result == DECODER_EVENT) && records++ < RECORDS_MOST) {
      result = decoder_next(&reader->decoder, &event, &run);
      found = result == DECODER_EVENT && event.kind == TRACE_REPLACES;
    }
    reader->piece_sound = result == DECODER_END;
  }
  reader_begin_again(reader);
  if (!found) return BELONGING_UNKNOWN;
  return event.replaces.run == reader->later.run_id ? BELONGS : BELONGS_TO_ANOTHER;
}

static struct file reader_file_of(const struct search *search, const struct chunk_header *found) {
  return (struct file){.descriptor = search->descriptor,
                       .size = search->size,
                       .capacity = (uint64_t)1 << found->capacity_log2,
                       .run_id = found->run_id};
}

/* Opens the history, if there is one of this trace; it is read first. One that cannot be read is
 * damage. Fails where it cannot be known whether there is one. */
static wn_status open_history(struct trace_reader *reader, const char *path) {
  struct search search = {.path = path};
  struct chunk_header found;
  enum belonging belonging = BELONGING_UNKNOWN;
  wn_status status = search_open(&search);
  reader->damage.chunks_damaged += search.refused;
  if (status) return search.exhausted ? status : WN_OK;
  reader->later = reader->file;
  if (!search_chunk(&search, &found) && found.capacity_log2 <= CHUNK_LOG2) {
    reader->file = reader_file_of(&search, &found);
    belonging = find_belonging(reader);
  }
  reader->damage.thinned = reader->has_history = belonging == BELONGS;
  if (belonging == BELONGS) return WN_OK;
  close(search.descriptor);
  reader->file = reader->later;
  reader->later.descriptor = -1;
  reader->damage.chunks_damaged += belonging == BELONGING_UNKNOWN && search.begun;
  return WN_OK;
}

/* All is read. What remains to be asked, such as stacks, is in memory: of a thousand traces that are
 * joined none has its file open. */
static void end_file(struct trace_reader *reader) {
  reader->damage.dropped.count = 0;
  reader->damage.chunks_dropped = dropped_times(&reader->dropped, &reader->damage.dropped);
  if (reader->file.descriptor >= 0) close(reader->file.descriptor);
  if (in_history(reader)) close(reader->later.descriptor);
  reader->later.descriptor = -1;
  free(reader->buffer);
  reader->file.descriptor = -1;
  reader->buffer = NULL;
}

/* ---- shared ---- */

wn_status trace_reader_open_with(const char *path, const char *history, struct trace_reader **out) {
  struct search search = {.path = path};
  struct chunk_header found;
  wn_status status = search_open(&search);
  if (status) return status;
  status = search_chunk(&search, &found);
  if (status) goto close_descriptor;
  struct trace_reader *reader = calloc(1, sizeof *reader);
  status = error_set(WN_ENOMEM, "no memory to read a trace");
  if (!reader) goto close_descriptor;
  reader->file = reader_file_of(&search, &found);
  reader->later.descriptor = -1;
  reader->header_known = search.header_known;
  status = reader_create(reader, &found, path);
  if (status == WN_EFORMAT)
    status = remains_explain(search.descriptor, path, search.size); /* nothing tells the rate */
  if (!status) {
    history_lock_for_reading(search.descriptor);
    status = open_history(reader, history);
  }
  if (status) {
    trace_reader_close(reader);
    return status == WN_EINVAL ? WN_EFORMAT : status;
  }
  *out = reader;
  return WN_OK;

close_descriptor:
  close(search.descriptor);
  return status;
}

wn_status trace_reader_open(const char *path, struct trace_reader **out) {
  char *history = history_path(path, HISTORY_ENDING);
  wn_status status = history ? trace_reader_open_with(path, history, out)
                             : error_set(WN_ENOMEM, "no memory to read a trace");
  free(history);
  return status;
}

void trace_reader_close(struct trace_reader *reader) {
  end_file(reader);
  for (int i = 0; i < RUN_TEXTS; i++) free(reader->run_texts[i]);
  free(reader->text);
  free(reader->title);
  replaced_destroy(&reader->replaced);
  dropped_destroy(&reader->dropped);
  decoder_destroy(&reader->decoder);
  stack_table_destroy(&reader->table);
  free(reader);
}

void trace_reader_forget_stacks(struct trace_reader *reader, uint32_t most) { reader->table_most = most; }

bool trace_reader_next(struct trace_reader *reader, struct trace_event *event) {
  struct trace_run ignored;
  while (reader->file.descriptor >= 0 && !reader->damage.out_of_memory) {
    if (!reader->in_piece && !(reader->in_piece = next_piece(reader))) break;
    enum decoder_result result = decoder_next(&reader->decoder, event, &ignored);
    reader->damage.records_unknown = reader->decoder.unknown;
    if (result == DECODER_EVENT) {
      finish_event(reader, event);
      reader->damage.stacks_lost = reader->stacks_left_out + reader->decoder.stacks_lost;
      return true;
    }
    if (result != DECODER_RUN) end_piece(reader, result);
  }
  end_file(reader);
  return false;
}

const struct trace_run *trace_reader_run(const struct trace_reader *reader) { return &reader->run; }
const struct trace_damage *trace_reader_damage(const struct trace_reader *reader) { return &reader->damage; }
uint32_t trace_reader_nodes(const struct trace_reader *reader) { return reader->table.node_count; }
uint32_t trace_reader_modules(const struct trace_reader *reader) { return reader->table.module_count; }

struct trace_node trace_reader_node(const struct trace_reader *reader, uint32_t node) {
  return *stack_table_node_of(&reader->table, node);
}

const struct trace_module *trace_reader_module(const struct trace_reader *reader, uint32_t module) {
  return stack_table_module_of(&reader->table, module);
}

struct trace_tail trace_reader_tail(const struct trace_reader *reader) {
  return reader->tail;
}
struct stack_table *trace_reader_table(const struct trace_reader *reader) {
  return &((struct trace_reader *)(uintptr_t)reader)->table;
}

const struct dropped *trace_reader_dropped(const struct trace_reader *reader) { return &reader->dropped; }
bool trace_reader_history_damaged(const struct trace_reader *reader) { return reader->history_damaged; }

bool trace_reader_chunk(const struct trace_reader *reader, uint64_t *chunk) {
  *chunk = reader->file.next_chunk - 1;
  return !in_history(reader);
}

double trace_reader_position(const struct trace_reader *reader) {
  const struct file *file = &reader->file;
  double read = (double)smaller(file->next_chunk * file->capacity, file->size) / (double)file->size;
  if (!reader->has_history) return read;
  return in_history(reader) ? read / 2 : (1 + read) / 2;
}

uint64_t trace_reader_used_end(const struct trace_reader *reader) { return reader->used_end; }
/* SPDX-License-Identifier: MIT */
