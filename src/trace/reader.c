/* Reads a trace, whatever became of it. */
#include "trace/reader.h"

#include "base/error.h"
#include "trace/chunk.h"
#include "trace/decoder.h"
#include "trace/remains.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  /* Where the first good chunk is looked for, if the first is damaged. */
  SEARCH_STEP = 1 << CHUNK_LOG2_LEAST,
  SEARCH_BYTES = 1 << 26,
  ATTEMPTS = 100,
  RUN_TEXTS = 4
};

struct trace_reader {
  /* Set by trace_reader_open; constant afterwards. */
  int descriptor;
  uint64_t size;
  uint64_t capacity;
  uint64_t run_id;
  struct trace_run run;
  char *run_texts[RUN_TEXTS];
  /* Room for a chunk, and for an event's text with its NUL byte. */
  size_t buffer_bytes;
  unsigned char *buffer;
  char *text;
  /* Where reading stands. */
  uint64_t next_chunk;
  uint64_t used_end;
  uint64_t last_whole; /* the offset of the last whole chunk */
  bool last_sound;     /* it was decoded to its end */
  uint32_t used;       /* record bytes of the chunk at hand */
  bool in_chunk;
  struct decoder decoder;
  struct stack_table table;
  struct trace_damage damage;
};

/* ---- bytes ---- */

static size_t read_at(int descriptor, void *buffer, size_t count, uint64_t offset) {
  size_t length = 0;
  while (length < count) {
    ssize_t got = pread(descriptor, (char *)buffer + length, count - length, (off_t)(offset + length));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
  }
  return length;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The header first: the records that its commit word covers are there before it is. */
static size_t read_parts(int descriptor, void *buffer, size_t count, uint64_t offset) {
  size_t header = read_at(descriptor, buffer, (size_t)smaller(CHUNK_HEADER_BYTES, count), offset);
  if (header < CHUNK_HEADER_BYTES) return header;
  return header + read_at(descriptor, (char *)buffer + header, count - header, offset + header);
}

static uint64_t commit_of(const void *chunk, size_t count) {
  return count < CHUNK_HEADER_BYTES ? 0 : ((const struct chunk_header *)chunk)->commit;
}

/* Reads and checks a chunk of at most *count bytes. A writer may be at work, and read(2) may tear its commit word: a chunk
 * that looks damaged is read again as long as the word changes. */
static enum chunk_state read_chunk(int descriptor, void *buffer, uint64_t offset, size_t *count,
                                   uint32_t *used) {
  size_t most = *count;
  uint64_t commit = 0;
  enum chunk_state state = CHUNK_DAMAGED;
  for (int i = 0; i < ATTEMPTS; i++) {
    uint64_t last = commit;
    *count = read_parts(descriptor, buffer, most, offset);
    state = chunk_check(buffer, *count, used);
    commit = commit_of(buffer, *count);
    if (state == CHUNK_WHOLE || state == CHUNK_UNUSED || (i && commit == last)) break;
  }
  return state;
}

/* ---- what kind of file it is ---- */

/* The first packet of a Common Trace Format stream, in either byte order. */
static bool is_ctf(const unsigned char *bytes, size_t count) {
  static const unsigned char little[] = {0xc1, 0x1f, 0xfc, 0xc1}, big[] = {0xc1, 0xfc, 0x1f, 0xc1};
  return count >= 4 && (!memcmp(bytes, little, 4) || !memcmp(bytes, big, 4));
}

struct search {
  const char *path;
  int descriptor;
  uint64_t size;
  bool begun;     /* a chunk with our magic was seen, however damaged */
  uint16_t newer; /* the version of a chunk that is too new; 0: none seen */
};

static wn_status explain(const struct search *search, const struct chunk_header *first, size_t count) {
  if (search->newer)
    return error_set(
        WN_EFORMAT,
        "%s was written by a newer version %u of the format, this winnow reads up to %u; update winnow",
        search->path, search->newer, TRACE_VERSION);
  if (is_ctf((const unsigned char *)first, count))
    return error_set(WN_EFORMAT, "%s is a Memtrace (CTF) trace, which is not supported yet", search->path);
  if (search->begun) return remains_explain(search->descriptor, search->path, search->size);
  return error_set(WN_EFORMAT, "%s is not a Winnow trace; winnow record makes one", search->path);
}

/* Whether the chunk at `offset`, whose header this is, is good and has records. */
static bool probe(struct search *search, uint64_t offset, const struct chunk_header *header) {
  if (memcmp(header->magic, chunk_magic, sizeof chunk_magic)) return false;
  search->begun = true;
  if (header->version > TRACE_VERSION) search->newer = header->version;
  if (header->version != TRACE_VERSION || header->capacity_log2 < CHUNK_LOG2_LEAST ||
      header->capacity_log2 > CHUNK_LOG2_MOST || header->sequence << header->capacity_log2 != offset)
    return false;
  size_t bytes = (size_t)smaller((uint64_t)1 << header->capacity_log2, search->size - offset);
  void *chunk = malloc(bytes);
  if (!chunk) return false;
  uint32_t used = 0;
  bool good = read_chunk(search->descriptor, chunk, offset, &bytes, &used) == CHUNK_WHOLE && used;
  free(chunk);
  return good;
}

/* Finds the first good chunk; its header says what the others must say too. */
static wn_status find_chunk(struct search *search, struct chunk_header *found) {
  struct chunk_header first;
  size_t first_count = read_at(search->descriptor, &first, sizeof first, 0);
  search->begun = first_count >= sizeof chunk_magic && !memcmp(&first, chunk_magic, sizeof chunk_magic);
  uint64_t end = smaller(search->size, SEARCH_BYTES);
  for (uint64_t offset = 0; offset < end; offset += SEARCH_STEP) {
    if (read_at(search->descriptor, found, sizeof *found, offset) < sizeof *found) break;
    if (probe(search, offset, found)) return WN_OK;
    if (!offset && is_ctf((const unsigned char *)&first, first_count)) break;
  }
  return explain(search, &first, first_count);
}

static wn_status examine_file(int descriptor, const char *path, uint64_t *size) {
  struct stat found;
  if (fstat(descriptor, &found)) return error_set(WN_EIO, "cannot examine %s: %s", path, strerror(errno));
  if (S_ISDIR(found.st_mode)) return error_set(WN_EFORMAT, "%s is a directory, not a trace", path);
  if (!S_ISREG(found.st_mode)) return error_set(WN_EFORMAT, "%s is not a regular file", path);
  if (!found.st_size)
    return error_set(WN_EFORMAT, "%s is empty: nothing was recorded into it, so record again", path);
  *size = (uint64_t)found.st_size;
  return WN_OK;
}

/* ---- chunks ---- */

static enum chunk_state load_chunk(struct trace_reader *reader, uint64_t offset, size_t *count) {
  *count = (size_t)smaller(reader->capacity, reader->size - offset);
  enum chunk_state state = read_chunk(reader->descriptor, reader->buffer, offset, count, &reader->used);
  if (state != CHUNK_WHOLE) return state;
  const struct chunk_header *header = (const struct chunk_header *)reader->buffer;
  bool fits = header->run_id == reader->run_id && (uint64_t)1 << header->capacity_log2 == reader->capacity &&
              header->sequence * reader->capacity == offset;
  return fits ? CHUNK_WHOLE : CHUNK_DAMAGED;
}

static void count_damage(struct trace_reader *reader, uint64_t bytes) {
  reader->damage.chunks_damaged++;
  reader->damage.bytes_skipped += bytes;
}

/* Goes to the next chunk that has something to tell; false at the end of the file. */
static bool next_chunk(struct trace_reader *reader) {
  while (reader->next_chunk * reader->capacity < reader->size) {
    uint64_t offset = reader->next_chunk++ * reader->capacity;
    size_t count;
    enum chunk_state state = load_chunk(reader, offset, &count);
    if (state == CHUNK_UNUSED) continue;
    if (state == CHUNK_WHOLE) {
      const struct chunk_header *header = (const struct chunk_header *)reader->buffer;
      reader->damage.chunks_read++;
      reader->last_whole = offset;
      reader->last_sound = false;
      reader->used_end = offset + CHUNK_HEADER_BYTES + reader->used;
      decoder_begin(&reader->decoder, reader->buffer + CHUNK_HEADER_BYTES, reader->used, header->base_time);
      return true;
    }
    reader->used_end = offset + count;
    count_damage(reader, count);
  }
  return false;
}

/* ---- the run ---- */

static bool copy_text(struct trace_reader *reader, unsigned which, struct trace_text *text) {
  char *copy = malloc((size_t)text->length + 1);
  if (!copy) return false;
  if (text->length) memcpy(copy, text->bytes, text->length);
  copy[text->length] = 0;
  reader->run_texts[which] = copy;
  text->bytes = copy;
  return true;
}

/* Takes the RUN record, which is the first of the first chunk, without moving the place of reading. */
static wn_status read_run(struct trace_reader *reader, const struct chunk_header *found) {
  struct trace_event event;
  struct trace_run *run = &reader->run;
  enum decoder_result result = next_chunk(reader) ? decoder_next(&reader->decoder, &event, run) : DECODER_BAD;
  if (result != DECODER_RUN) *run = (struct trace_run){0};
  run->rate = found->rate;
  run->word_bytes = found->word_bytes;
  bool copied = copy_text(reader, 0, &run->command) && copy_text(reader, 1, &run->host) &&
                copy_text(reader, 2, &run->heap) && copy_text(reader, 3, &run->version);
  if (!copied || result == DECODER_NO_MEMORY) return error_set(WN_ENOMEM, "no memory to read a trace");
  reader->next_chunk = 0;
  reader->used_end = 0;
  reader->decoder.unknown = 0;
  reader->damage = (struct trace_damage){0};
  return WN_OK;
}

static wn_status create(struct trace_reader *reader, const struct chunk_header *found) {
  reader->capacity = (uint64_t)1 << found->capacity_log2;
  reader->run_id = found->run_id;
  reader->buffer_bytes = (size_t)smaller(reader->capacity, reader->size);
  reader->buffer = malloc(reader->buffer_bytes);
  reader->text = malloc(reader->buffer_bytes + 1);
  reader->decoder.table = &reader->table;
  if (!stack_table_create(&reader->table) || !reader->buffer || !reader->text)
    return error_set(WN_ENOMEM, "no memory to read a trace");
  return read_run(reader, found);
}

/* ---- events ---- */

/* Puts the NUL byte behind an event's text. */
static void end_text(struct trace_reader *reader, struct trace_text *text) {
  if (text->length) memcpy(reader->text, text->bytes, text->length);
  reader->text[text->length] = 0;
  text->bytes = reader->text;
}

static void finish_event(struct trace_reader *reader, struct trace_event *event) {
  if (event->kind == TRACE_THREAD_NAME) {
    end_text(reader, &event->thread_name.name);
  } else if (event->kind == TRACE_EXEC) {
    end_text(reader, &event->exec.path);
  } else if (event->kind == TRACE_LOSS && event->loss.reason == TRACE_LOSS_STACK) {
    reader->damage.stacks_lost += event->loss.count;
  } else if (event->kind == TRACE_LOSS) {
    reader->damage.records_lost += event->loss.count;
  } else if (event->kind == TRACE_END) {
    reader->damage.complete = true;
  }
}

/* ---- shared ---- */

wn_status trace_reader_open(const char *path, struct trace_reader **out) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  struct search search = {.path = path, .descriptor = descriptor};
  struct chunk_header found;
  wn_status status = examine_file(descriptor, path, &search.size);
  if (!status) status = find_chunk(&search, &found);
  if (status) goto close_descriptor;
  struct trace_reader *reader = calloc(1, sizeof *reader);
  status = error_set(WN_ENOMEM, "no memory to read a trace");
  if (!reader) goto close_descriptor;
  reader->descriptor = descriptor;
  reader->size = search.size;
  status = create(reader, &found);
  if (status) {
    trace_reader_close(reader);
    return status;
  }
  *out = reader;
  return WN_OK;

close_descriptor:
  close(descriptor);
  return status;
}

void trace_reader_close(struct trace_reader *reader) {
  close(reader->descriptor);
  for (int i = 0; i < RUN_TEXTS; i++) free(reader->run_texts[i]);
  free(reader->buffer);
  free(reader->text);
  decoder_destroy(&reader->decoder);
  stack_table_destroy(&reader->table);
  free(reader);
}

bool trace_reader_next(struct trace_reader *reader, struct trace_event *event) {
  struct trace_run ignored;
  while (!reader->damage.out_of_memory) {
    if (!reader->in_chunk && !(reader->in_chunk = next_chunk(reader))) return false;
    enum decoder_result result = decoder_next(&reader->decoder, event, &ignored);
    reader->damage.records_unknown = reader->decoder.unknown;
    if (result == DECODER_EVENT) {
      finish_event(reader, event);
      return true;
    }
    if (result == DECODER_RUN) continue;
    reader->in_chunk = false;
    reader->last_sound = result == DECODER_END;
    reader->damage.out_of_memory = result == DECODER_NO_MEMORY;
    if (result == DECODER_BAD)
      count_damage(
          reader, (uint64_t)(reader->buffer + CHUNK_HEADER_BYTES + reader->used - reader->decoder.source.at));
  }
  return false;
}

const struct trace_run *trace_reader_run(const struct trace_reader *reader) { return &reader->run; }
const struct trace_damage *trace_reader_damage(const struct trace_reader *reader) { return &reader->damage; }
uint32_t trace_reader_nodes(const struct trace_reader *reader) { return reader->table.node_count; }
uint32_t trace_reader_modules(const struct trace_reader *reader) { return reader->table.module_count; }

struct trace_node trace_reader_node(const struct trace_reader *reader, uint32_t node) {
  return node <= reader->table.node_count ? reader->table.nodes[node] : (struct trace_node){0};
}

const struct trace_module *trace_reader_module(const struct trace_reader *reader, uint32_t module) {
  return &reader->table.modules[module <= reader->table.module_count ? module : 0];
}

const struct trace_place *trace_reader_place(const struct trace_reader *reader, uint32_t module,
                                             uint64_t offset) {
  return stack_table_place(&reader->table, module, offset);
}

struct trace_tail trace_reader_tail(const struct trace_reader *reader) {
  return (struct trace_tail){.offset = reader->last_whole,
                             .capacity = reader->capacity,
                             .last_time = reader->decoder.time,
                             .sound = reader->last_sound};
}

double trace_reader_position(const struct trace_reader *reader) {
  return (double)smaller(reader->next_chunk * reader->capacity, reader->size) / (double)reader->size;
}

uint64_t trace_reader_used_end(const struct trace_reader *reader) { return reader->used_end; }
/* SPDX-License-Identifier: MIT */
