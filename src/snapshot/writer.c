/* Writing a snapshot. */
#include "snapshot/writer.h"

#include "base/hash.h"
#include "base/os.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
  TEXT_MOST = 4096,
  RECORD_MOST = 6 * VARINT_MAX + TEXT_MOST, /* without edges */
  EDGE_MOST = 2 * VARINT_MAX + 1,           /* and the end of the edges */
  BLOCK_MOST = RECORD_MOST + FORM_EDGES * EDGE_MOST,
};

static void writer_write_out(struct snapshot_writer *writer, const void *bytes, size_t count) {
  if (!writer->error && !os_write_all(writer->descriptor, bytes, count)) writer->error = errno ? errno : EIO;
}

static void end_edges(struct snapshot_writer *writer) {
  if (writer->in_block) put_varint(&writer->sink, 0);
  writer->in_block = false;
}

static void writer_begin_segment(struct snapshot_writer *writer, enum segment_kind kind) {
  writer->kind = kind;
  writer->sink = (struct byte_sink){writer->bytes, writer->bytes + sizeof writer->bytes, false};
}

static void writer_end_segment(struct snapshot_writer *writer) {
  end_edges(writer);
  struct segment_header header = {.kind = writer->kind, .bytes = (uint32_t)(writer->sink.at - writer->bytes)};
  header.checksum =
      crc32c(crc32c(0, &header, offsetof(struct segment_header, checksum)), writer->bytes, header.bytes);
  if (!header.bytes) return;
  writer_write_out(writer, &header, sizeof header);
  writer_write_out(writer, writer->bytes, header.bytes);
}

/* Begins a segment unless there is room in one of this kind. True: it is a new one. */
static bool make_room_writer(struct snapshot_writer *writer, enum segment_kind kind, size_t bytes) {
  if (writer->kind == kind && (size_t)(writer->sink.end - writer->sink.at) >= bytes) return false;
  writer_end_segment(writer);
  writer_begin_segment(writer, kind);
  return true;
}

static void put_text_writer(struct byte_sink *sink, const char *text) {
  size_t length = text ? strnlen(text, TEXT_MOST) : 0;
  put_varint(sink, length);
  put_bytes(sink, text, length);
}

/* ---- blocks ---- */

/* The slot of a form. */
static uint16_t *writer_slot_of(struct snapshot_writer *writer, const struct snapshot_form *form) {
  uint64_t hash =
      ((uint64_t)form->type << 8 | (unsigned)form->shape << 4 | form->edges) * 0x9e3779b97f4a7c15u +
      form->words;
  for (unsigned i = 0; i < form->edges; i++) hash = hash * 31 + form->fields[i];
  return &writer->by_hash[hash * 0x9e3779b97f4a7c15u >> (64 - FORM_SLOT_BITS)];
}

static bool writer_is_same(const struct snapshot_form *one, const struct snapshot_form *other) {
  if (one->type != other->type || one->words != other->words || one->shape != other->shape ||
      one->edges != other->edges)
    return false;
  for (unsigned i = 0; i < one->edges; i++)
    if (one->fields[i] != other->fields[i]) return false;
  return true;
}

static void writer_put_edge(struct snapshot_writer *writer, uint64_t field, uint64_t target) {
  put_varint(&writer->sink, field + 1 - writer->next_field);
  put_varint(&writer->sink, zigzag(target - writer->at));
  writer->next_field = field + 1;
}

/* Begins a block's record, in a segment that has room for it. */
static void writer_put_block(struct snapshot_writer *writer, const struct snapshot_form *form,
                             bool described) {
  writer->forms.moved = writer->at - writer->forms.last;
  writer->forms.last = writer->at;
  put_varint(&writer->sink,
             (uint64_t)form->type << 4 | (described ? BLOCK_DESCRIBED << 1 : 0) | (unsigned)form->shape << 1);
  put_varint(&writer->sink, writer->forms.moved);
  put_varint(&writer->sink, form->words);
  writer->next_field = 0;
}

/* A segment of blocks begins. */
static void forget_forms(struct snapshot_writer *writer) {
  writer->forms.count = 0;
  writer->forms.last = writer->at;
  writer->forms.moved = 0;
  memset(writer->by_hash, 0, sizeof writer->by_hash);
}

static void make_room_for_block(struct snapshot_writer *writer) {
  if (!make_room_writer(writer, SEGMENT_BLOCKS, BLOCK_MOST)) return;
  put_varint(&writer->sink, writer->at);
  forget_forms(writer);
}

/* Writes the block that waits as one that has no form yet. */
static void put_waiting(struct snapshot_writer *writer) {
  const struct snapshot_form *form = &writer->form;
  writer_put_block(writer, form, false);
  for (unsigned i = 0; i < form->edges; i++) writer_put_edge(writer, form->fields[i], writer->targets[i]);
  writer->waits = false;
  writer->in_block = form->shape != SHAPE_RAW;
}

/* As put_varint, where there is room. */
static inline unsigned char *writer_put_number(unsigned char *at, uint64_t number) {
  for (; number >= 128; number >>= 7) *at++ = (unsigned char)(number | 128);
  *at++ = (unsigned char)number;
  return at;
}

static void put_again(struct snapshot_writer *writer, uint64_t form) {
  uint64_t moved = writer->at - writer->forms.last;
  unsigned char *at = writer_put_number(writer->sink.at, form << 2 | (moved != writer->forms.moved ? 3 : 1));
  if (moved != writer->forms.moved) at = writer_put_number(at, moved);
  for (unsigned i = 0; i < writer->form.edges; i++)
    at = writer_put_number(at, zigzag(writer->targets[i] - writer->at));
  writer->sink.at = at;
  writer->forms.moved = moved;
  writer->forms.last = writer->at;
  writer->waits = false;
}

/* Ends the last block. */
static void writer_end_block(struct snapshot_writer *writer) {
  struct snapshot_forms *forms = &writer->forms;
  end_edges(writer);
  if (!writer->waits) return;
  make_room_for_block(writer);
  uint16_t *slot = writer_slot_of(writer, &writer->form);
  if (*slot && writer_is_same(&forms->items[*slot - 1], &writer->form)) {
    put_again(writer, *slot - 1u);
    return;
  }
  put_waiting(writer);
  end_edges(writer);
  *slot = (uint16_t)(forms->count % FORMS + 1);
  forms->items[forms->count++ % FORMS] = writer->form;
}

/* Begins a record that is no block's. */
static struct byte_sink *begin_record(struct snapshot_writer *writer, enum segment_kind kind) {
  writer_end_block(writer);
  make_room_writer(writer, kind, RECORD_MOST);
  return &writer->sink;
}

/* ---- shared ---- */

void snapshot_begin(struct snapshot_writer *writer, int descriptor, const struct snapshot_info *info) {
  struct snapshot_header header = {.version = SNAPSHOT_VERSION, .word_bytes = sizeof(uintptr_t)};
  memcpy(header.magic, snapshot_magic, sizeof header.magic);
  writer->descriptor = descriptor;
  writer->error = 0;
  writer->in_block = writer->waits = false;
  writer->blocks = writer->edges = writer->roots = 0;
  writer_write_out(writer, &header, sizeof header);
  writer_begin_segment(writer, SEGMENT_INFO);
  put_varint(&writer->sink, info->process);
  put_varint(&writer->sink, info->time_ns);
  put_text_writer(&writer->sink, info->command);
  put_text_writer(&writer->sink, info->language);
}

void snapshot_block(struct snapshot_writer *writer, uintptr_t at, const struct snapshot_block *block) {
  writer_end_block(writer);
  writer->at = at / 8;
  writer->blocks++;
  writer->form.type = block->type;
  writer->form.shape = (uint16_t)block->shape;
  writer->form.words = block->words;
  writer->form.edges = 0;
  writer->waits = block->shape != SHAPE_CUSTOM && !block->description;
  if (writer->waits) return;
  make_room_for_block(writer);
  writer_put_block(writer, &writer->form, block->description);
  if (block->shape == SHAPE_CUSTOM) put_varint(&writer->sink, block->outside);
  if (block->description) put_text_writer(&writer->sink, block->description);
  writer->in_block = block->shape == SHAPE_SCANNED || block->shape == SHAPE_WEAK;
}

void snapshot_edge(struct snapshot_writer *writer, uint64_t field, uintptr_t target) {
  struct snapshot_form *form = &writer->form;
  writer->edges++;
  if (writer->waits && form->edges < FORM_EDGES && field <= UINT32_MAX) {
    form->fields[form->edges] = (uint32_t)field;
    writer->targets[form->edges++] = target / 8;
    return;
  }
  if (writer->waits) {
    make_room_for_block(writer);
    put_waiting(writer);
  }
  if ((size_t)(writer->sink.end - writer->sink.at) < EDGE_MOST) {
    writer_end_segment(writer);
    writer_begin_segment(writer, SEGMENT_BLOCKS);
    put_varint(&writer->sink, writer->at);
    put_varint(&writer->sink, 0);
    writer->in_block = true;
    writer->next_field = 0;
    forget_forms(writer);
  }
  writer_put_edge(writer, field, target / 8);
}

void snapshot_root(struct snapshot_writer *writer, uint32_t holder, uintptr_t target) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_ROOTS);
  put_varint(sink, holder);
  put_varint(sink, target / 8);
  writer->roots++;
}

void snapshot_type(struct snapshot_writer *writer, uint32_t type, const char *name) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_TYPES);
  put_varint(sink, type);
  put_text_writer(sink, name);
}

void snapshot_field(struct snapshot_writer *writer, uint32_t type, uint64_t field, const char *name) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_FIELDS);
  put_varint(sink, type);
  put_varint(sink, field);
  put_text_writer(sink, name);
}

void snapshot_holder(struct snapshot_writer *writer, uint32_t holder, enum holder_kind kind, uint64_t domain,
                     const char *name) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_HOLDERS);
  put_varint(sink, holder);
  put_varint(sink, kind);
  put_varint(sink, domain);
  put_text_writer(sink, name);
}

void snapshot_trace(struct snapshot_writer *writer, const char *path) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_TRACE);
  put_text_writer(sink, path);
}

void snapshot_sample(struct snapshot_writer *writer, uintptr_t block, uint64_t number) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_SAMPLES);
  put_varint(sink, block / 8);
  put_varint(sink, number);
}

bool snapshot_end(struct snapshot_writer *writer) {
  struct byte_sink *sink = begin_record(writer, SEGMENT_END);
  put_varint(sink, writer->blocks);
  put_varint(sink, writer->edges);
  put_varint(sink, writer->roots);
  writer_end_segment(writer);
  return !writer->error;
}
/* SPDX-License-Identifier: MIT */
