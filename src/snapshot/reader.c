/* Reading a snapshot. */
#include "snapshot/reader.h"

#include "base/error.h"
#include "base/hash.h"
#include <string.h>

enum { NO_FORM = UINT16_MAX };

struct reading {
  const struct snapshot_visitor *visitor;
  struct byte_source source; /* of a segment */
  uint64_t last;             /* the address of the last block of all segments; 0: none yet */
  uint32_t version;          /* of the format */
  struct snapshot_forms forms;
  bool wrong; /* the records contradict each other */
  bool no_memory;
  bool ended;
};

static struct snapshot_text reader_get_text(struct byte_source *source) {
  uint64_t length = get_varint(source);
  const unsigned char *at = get_bytes(source, length);
  return (struct snapshot_text){at ? (const char *)at : "", at ? (size_t)length : 0};
}

/* A number that a record has as 32 bits. */
static uint32_t get_number(struct reading *of) {
  uint64_t number = get_varint(&of->source);
  of->wrong |= number > UINT32_MAX;
  return (uint32_t)number;
}

/* Calls a function of the visitor, unless it is NULL or the record is bad. */
#define VISIT(of, function, ...)                                        \
  do {                                                                  \
    if ((of)->visitor->function && !(of)->source.bad && !(of)->wrong && \
        !(of)->visitor->function((of)->visitor->context, __VA_ARGS__))  \
      (of)->no_memory = true;                                           \
  } while (0)

static bool reader_goes_on(const struct reading *of) {
  return of->source.at < of->source.end && !of->source.bad && !of->wrong && !of->no_memory;
}

/* ---- segments ---- */

static void reader_read_info(struct reading *of) {
  uint64_t process = get_varint(&of->source), time_ns = get_varint(&of->source);
  struct snapshot_text command = reader_get_text(&of->source), language = reader_get_text(&of->source);
  VISIT(of, info, process, time_ns, command, language);
}

static void reader_read_types(struct reading *of) {
  while (reader_goes_on(of)) {
    uint32_t type = get_number(of);
    struct snapshot_text name = reader_get_text(&of->source);
    VISIT(of, type, type, name);
  }
}

static void read_fields(struct reading *of) {
  while (reader_goes_on(of)) {
    uint32_t type = get_number(of);
    uint64_t field = get_varint(&of->source);
    struct snapshot_text name = reader_get_text(&of->source);
    VISIT(of, field, type, field, name);
  }
}

static void read_holders(struct reading *of) {
  while (reader_goes_on(of)) {
    uint32_t holder = get_number(of), kind = get_number(of);
    uint64_t domain = get_varint(&of->source);
    struct snapshot_text name = reader_get_text(&of->source);
    of->wrong |= kind >= HOLDER_KINDS;
    VISIT(of, holder, holder, (enum holder_kind)kind, domain, name);
  }
}

static void read_roots(struct reading *of) {
  while (reader_goes_on(of)) {
    uint32_t holder = get_number(of);
    uint64_t target = get_varint(&of->source);
    VISIT(of, root, holder, target);
  }
}

/* `form` NULL: the block has none. */
static void read_edges(struct reading *of, uint64_t block, struct snapshot_form *form) {
  uint64_t field = UINT64_MAX, gap; /* before the first */
  size_t count = 0;
  for (; (gap = get_varint(&of->source)) && !of->wrong && !of->no_memory; count++) {
    of->wrong |= field != UINT64_MAX && field + gap < field;
    field += gap;
    uint64_t target = block + unzigzag(get_varint(&of->source));
    if (form && count < FORM_EDGES) form->fields[count] = (uint32_t)field;
    VISIT(of, edge, field, target);
  }
  if (form) form->edges = count <= FORM_EDGES && (!count || field <= UINT32_MAX) ? (uint16_t)count : NO_FORM;
}

/* Begins a block at a distance from the last one. */
static uint64_t reader_read_address(struct reading *of, uint64_t moved) {
  of->forms.moved = moved;
  of->forms.last += moved;
  of->wrong |= of->forms.last <= of->last;
  return of->last = of->forms.last;
}

static void read_block(struct reading *of, uint64_t first) {
  struct snapshot_record block = {.shape = first & 3, .type = (uint32_t)(first >> 3)};
  block.address = reader_read_address(of, get_varint(&of->source));
  block.words = get_varint(&of->source);
  if (block.shape == SHAPE_CUSTOM) block.outside = get_varint(&of->source);
  if (first & BLOCK_DESCRIBED) block.description = reader_get_text(&of->source);
  of->wrong |= first >> 3 > SNAPSHOT_TYPES_MOST || block.words >> 56 || block.outside >> 62;
  VISIT(of, block, &block);
  bool has_edges = block.shape == SHAPE_SCANNED || block.shape == SHAPE_WEAK;
  struct snapshot_form form = {block.words, block.type, (uint16_t)block.shape, 0, {0}};
  if (has_edges) read_edges(of, block.address, &form);
  if (first & BLOCK_DESCRIBED || block.shape == SHAPE_CUSTOM || form.edges == NO_FORM) return;
  of->forms.items[of->forms.count++ % FORMS] = form;
}

static void reader_read_again(struct reading *of, uint64_t first) {
  uint64_t number = first >> 2;
  of->wrong |= number >= FORMS || number >= of->forms.count;
  if (of->wrong) return;
  const struct snapshot_form *form = &of->forms.items[number];
  struct snapshot_record block = {.shape = form->shape, .type = form->type, .words = form->words};
  block.address = reader_read_address(of, first & 2 ? get_varint(&of->source) : of->forms.moved);
  VISIT(of, block, &block);
  for (unsigned i = 0; i < form->edges; i++) {
    uint64_t target = block.address + unzigzag(get_varint(&of->source));
    VISIT(of, edge, form->fields[i], target);
  }
}

static void reader_read_blocks(struct reading *of) {
  of->forms.count = of->forms.moved = 0;
  of->forms.last = get_varint(&of->source);
  while (reader_goes_on(of)) {
    uint64_t first = get_varint(&of->source);
    if (first && of->version == 1)
      read_block(of, first);
    else if (first & 1)
      reader_read_again(of, first);
    else if (first)
      read_block(of, first >> 1);
    else {
      of->wrong |= !of->forms.last || of->forms.last != of->last;
      read_edges(of, of->forms.last, NULL);
    }
  }
}

static void read_trace(struct reading *of) {
  struct snapshot_text path = reader_get_text(&of->source);
  VISIT(of, trace, path);
}

static void reader_read_samples(struct reading *of) {
  while (reader_goes_on(of)) {
    uint64_t block = get_varint(&of->source), number = get_varint(&of->source);
    VISIT(of, sample, block, number);
  }
}

static void read_segment(struct reading *of, uint32_t kind) {
  switch (kind) {
  case SEGMENT_INFO: reader_read_info(of); break;
  case SEGMENT_TYPES: reader_read_types(of); break;
  case SEGMENT_FIELDS: read_fields(of); break;
  case SEGMENT_HOLDERS: read_holders(of); break;
  case SEGMENT_ROOTS: read_roots(of); break;
  case SEGMENT_BLOCKS: reader_read_blocks(of); break;
  case SEGMENT_TRACE: read_trace(of); break;
  case SEGMENT_SAMPLES: reader_read_samples(of); break;
  case SEGMENT_END: of->ended = true; break;
  default: break;
  }
}

/* Takes the next segment. False: there is none that is whole. */
static bool reader_next_segment(struct byte_source *file, struct reading *of, uint32_t *kind) {
  struct segment_header header;
  const unsigned char *at = get_bytes(file, sizeof header);
  if (!at) return false;
  memcpy(&header, at, sizeof header);
  const unsigned char *bytes = header.bytes <= SEGMENT_MOST ? get_bytes(file, header.bytes) : NULL;
  if (!bytes || crc32c(crc32c(0, at, offsetof(struct segment_header, checksum)), bytes, header.bytes) !=
                    header.checksum)
    return false;
  of->source = (struct byte_source){bytes, bytes + header.bytes, false};
  *kind = header.kind;
  return true;
}

/* ---- shared ---- */

bool snapshot_is(const void *bytes, size_t count) {
  return count >= sizeof snapshot_magic && !memcmp(bytes, snapshot_magic, sizeof snapshot_magic);
}

wn_status snapshot_read(const void *bytes, size_t count, const struct snapshot_visitor *visitor,
                        bool *complete) {
  struct byte_source file = {bytes, (const unsigned char *)bytes + count, false};
  struct reading of = {.visitor = visitor};
  struct snapshot_header header;
  uint32_t kind;
  *complete = false;
  if (count < sizeof header || !snapshot_is(bytes, count))
    return error_set(WN_EFORMAT, "it is no heap snapshot");
  memcpy(&header, get_bytes(&file, sizeof header), sizeof header);
  of.version = header.version;
  if (!header.version || header.version > SNAPSHOT_VERSION)
    return error_set(WN_EFORMAT, "a newer winnow wrote it: its version is %u", header.version);
  while (!of.ended && reader_next_segment(&file, &of, &kind)) {
    read_segment(&of, kind);
    if (of.no_memory) return error_set(WN_ENOMEM, "no memory for its blocks");
    if (of.source.bad || of.wrong) return WN_OK;
  }
  *complete = of.ended && file.at == file.end;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
