/* Writing a snapshot. */
#include "snapshot/writer.h"

#include "base/hash.h"
#include "base/os.h"
#include <errno.h>
#include <string.h>

enum {
  TEXT_MOST = 4096,
  RECORD_MOST = 6 * VARINT_MAX + TEXT_MOST, /* without edges */
  EDGE_MOST = 2 * VARINT_MAX + 1,           /* and the end of the edges */
};

static void write_out(struct snapshot_writer *writer, const void *bytes, size_t count) {
  if (!writer->error && !os_write_all(writer->descriptor, bytes, count)) writer->error = errno ? errno : EIO;
}

static void end_edges(struct snapshot_writer *writer) {
  if (writer->in_block) put_varint(&writer->sink, 0);
  writer->in_block = false;
}

static void begin_segment(struct snapshot_writer *writer, enum segment_kind kind) {
  writer->kind = kind;
  writer->sink = (struct byte_sink){writer->bytes, writer->bytes + sizeof writer->bytes, false};
}

static void end_segment(struct snapshot_writer *writer) {
  end_edges(writer);
  struct segment_header header = {.kind = writer->kind, .bytes = (uint32_t)(writer->sink.at - writer->bytes)};
  header.checksum =
      crc32c(crc32c(0, &header, offsetof(struct segment_header, checksum)), writer->bytes, header.bytes);
  if (!header.bytes) return;
  write_out(writer, &header, sizeof header);
  write_out(writer, writer->bytes, header.bytes);
}

/* Begins a segment unless there is room in one of this kind. True: it is a new one. */
static bool make_room(struct snapshot_writer *writer, enum segment_kind kind, size_t bytes) {
  if (writer->kind == kind && (size_t)(writer->sink.end - writer->sink.at) >= bytes) return false;
  end_segment(writer);
  begin_segment(writer, kind);
  return true;
}

static void put_text(struct byte_sink *sink, const char *text) {
  size_t length = text ? strnlen(text, TEXT_MOST) : 0;
  put_varint(sink, length);
  put_bytes(sink, text, length);
}

/* ---- shared ---- */

void snapshot_begin(struct snapshot_writer *writer, int descriptor, const struct snapshot_info *info) {
  struct snapshot_header header = {.version = SNAPSHOT_VERSION, .word_bytes = sizeof(uintptr_t)};
  memcpy(header.magic, snapshot_magic, sizeof header.magic);
  writer->descriptor = descriptor;
  writer->error = 0;
  writer->in_block = false;
  writer->blocks = writer->edges = writer->roots = 0;
  write_out(writer, &header, sizeof header);
  begin_segment(writer, SEGMENT_INFO);
  put_varint(&writer->sink, info->process);
  put_varint(&writer->sink, info->time_ns);
  put_text(&writer->sink, info->command);
  put_text(&writer->sink, info->language);
}

void snapshot_block(struct snapshot_writer *writer, uintptr_t at, const struct snapshot_block *block) {
  end_edges(writer);
  if (make_room(writer, SEGMENT_BLOCKS, RECORD_MOST + EDGE_MOST)) {
    put_varint(&writer->sink, at / 8);
    writer->last = at / 8;
  }
  put_varint(&writer->sink,
             (uint64_t)block->type << 3 | (block->description ? BLOCK_DESCRIBED : 0) | block->shape);
  put_varint(&writer->sink, at / 8 - writer->last);
  put_varint(&writer->sink, block->words);
  if (block->shape == SHAPE_CUSTOM) put_varint(&writer->sink, block->outside);
  if (block->description) put_text(&writer->sink, block->description);
  writer->in_block = block->shape == SHAPE_SCANNED || block->shape == SHAPE_WEAK;
  writer->last = at / 8;
  writer->next_field = 0;
  writer->blocks++;
}

void snapshot_edge(struct snapshot_writer *writer, uint64_t field, uintptr_t target) {
  struct byte_sink *sink = &writer->sink;
  if ((size_t)(sink->end - sink->at) < EDGE_MOST) {
    end_segment(writer);
    begin_segment(writer, SEGMENT_BLOCKS);
    put_varint(sink, writer->last);
    put_varint(sink, 0);
    writer->in_block = true;
    writer->next_field = 0;
  }
  put_varint(sink, field + 1 - writer->next_field);
  put_varint(sink, zigzag(target / 8 - writer->last));
  writer->next_field = field + 1;
  writer->edges++;
}

void snapshot_root(struct snapshot_writer *writer, uint32_t holder, uintptr_t target) {
  make_room(writer, SEGMENT_ROOTS, RECORD_MOST);
  put_varint(&writer->sink, holder);
  put_varint(&writer->sink, target / 8);
  writer->roots++;
}

void snapshot_type(struct snapshot_writer *writer, uint32_t type, const char *name) {
  make_room(writer, SEGMENT_TYPES, RECORD_MOST);
  put_varint(&writer->sink, type);
  put_text(&writer->sink, name);
}

void snapshot_field(struct snapshot_writer *writer, uint32_t type, uint64_t field, const char *name) {
  make_room(writer, SEGMENT_FIELDS, RECORD_MOST);
  put_varint(&writer->sink, type);
  put_varint(&writer->sink, field);
  put_text(&writer->sink, name);
}

void snapshot_holder(struct snapshot_writer *writer, uint32_t holder, enum holder_kind kind, uint64_t domain,
                     const char *name) {
  make_room(writer, SEGMENT_HOLDERS, RECORD_MOST);
  put_varint(&writer->sink, holder);
  put_varint(&writer->sink, kind);
  put_varint(&writer->sink, domain);
  put_text(&writer->sink, name);
}

void snapshot_trace(struct snapshot_writer *writer, const char *path) {
  make_room(writer, SEGMENT_TRACE, RECORD_MOST);
  put_text(&writer->sink, path);
}

void snapshot_sample(struct snapshot_writer *writer, uintptr_t block, uint64_t number) {
  make_room(writer, SEGMENT_SAMPLES, RECORD_MOST);
  put_varint(&writer->sink, block / 8);
  put_varint(&writer->sink, number);
}

bool snapshot_end(struct snapshot_writer *writer) {
  make_room(writer, SEGMENT_END, RECORD_MOST);
  put_varint(&writer->sink, writer->blocks);
  put_varint(&writer->sink, writer->edges);
  put_varint(&writer->sink, writer->roots);
  end_segment(writer);
  return !writer->error;
}
/* SPDX-License-Identifier: MIT */
