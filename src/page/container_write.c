/* Writes a recording as a container: makes each section, and cuts it into deflated blocks. */
#include "base/error.h"
#include "page/container.h"
#include "page/container_listing.h"
#include "page/container_rows.h"
#include <stdlib.h>
#include <zlib.h>

struct writing {
  const struct recording *recording;
  uint64_t unit_ns;
  struct numbering numbering;
  struct stored_stacks stacks;
  container_sink *sink;
  void *context;
};

/* ---- blocks ---- */

/* zlib's 9 takes four times as long as 7, for at most a hundredth less bytes (of containers of
 * compilers and a database, 75,000 to 550,000 rows). */
enum { LEVEL = 7, MEMORY_MOST = 9 };

/* Deflates bytes to `out`, which has as much room as there are bytes. Returns the deflated length;
 * 0 if it would not be smaller; SIZE_MAX without memory. */
static size_t deflate_block(const unsigned char *bytes, size_t length, unsigned char *out) {
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes,
                     .avail_in = (unsigned)length,
                     .next_out = out,
                     .avail_out = (unsigned)length};
  if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY_MOST, Z_DEFAULT_STRATEGY) != Z_OK)
    return SIZE_MAX;
  int result = deflate(&stream, Z_FINISH);
  size_t deflated = stream.total_out;
  deflateEnd(&stream);
  return result == Z_STREAM_END && deflated < length ? deflated : 0;
}

/* Completes a block of these bytes, and gives it to the sink. */
static wn_status container_write_write_block(struct container_block *block, const unsigned char *bytes,
                                             size_t length, unsigned char *room, container_sink *sink,
                                             void *context) {
  size_t deflated = deflate_block(bytes, length, room);
  if (deflated == SIZE_MAX) return error_set(WN_ENOMEM, "not enough memory to deflate");
  block->raw_length = length;
  block->stored = deflated ? room : bytes;
  block->stored_length = deflated ? deflated : length;
  block->crc = (uint32_t)crc32(0, bytes, (unsigned)length);
  block->deflated = deflated;
  return sink(block, context);
}

/* Writes what was coded as a section, and frees it. */
static wn_status container_write_finish(struct writing *writing, struct coding *coding) {
  wn_status error = coding_end(coding);
  if (!error)
    error =
        container_write_section(coding->section, coding->out, coding->count, writing->sink, writing->context);
  free(coding->out);
  return error;
}

static struct coding container_write_begin(const char *name) {
  return (struct coding){.section = name, .writing = true};
}

/* ---- sections ---- */

static wn_status write_meta(struct writing *writing) {
  struct samples samples = *writing->recording->samples;
  struct container_source source = {.run = *source_run(samples.source),
                                    .damage = *source_damage(samples.source),
                                    .limits = *source_limits(samples.source),
                                    .heap = source_heap(samples.source)};
  source.note = (struct trace_text){source.limits.note, (uint32_t)strlen(source.limits.note) + 1};
  struct container_facts facts = {CONTAINER_VERSION, writing->unit_ns, writing->recording->kept, &source};
  struct coding coding = container_write_begin("META");
  code_meta(&coding, &facts, &samples);
  return container_write_finish(writing, &coding);
}

static wn_status container_write_write_names(struct writing *writing) {
  struct coding strings = container_write_begin("STRS"), frames = container_write_begin("FRAM"),
                builds = container_write_begin("BLDS"), nodes = container_write_begin("NODE");
  write_strings(&strings, writing->recording, &writing->numbering);
  wn_status error = container_write_finish(writing, &strings);
  if (error) return error;
  code_frames(&frames, &writing->stacks);
  error = container_write_finish(writing, &frames);
  if (error) return error;
  code_builds(&builds, &writing->stacks);
  error = container_write_finish(writing, &builds);
  if (error) return error;
  code_nodes(&nodes, &writing->stacks);
  return container_write_finish(writing, &nodes);
}

static wn_status write_all_rows(struct writing *writing) {
  struct coding kinds = container_write_begin("KIND"), rows = container_write_begin("ROWS");
  write_rows(&kinds, &rows, writing->recording->samples, &writing->numbering, writing->unit_ns);
  wn_status error = container_write_finish(writing, &kinds);
  if (!error) return container_write_finish(writing, &rows);
  free(rows.out);
  return error;
}

/* Mappings have other stacks than in the recording: those of the container. */
static wn_status write_maps(struct writing *writing) {
  struct samples samples = *writing->recording->samples;
  struct row *rows = malloc((samples.mapped.count + 1) * sizeof *rows);
  if (!rows) return error_set(WN_ENOMEM, "not enough memory for the mappings");
  for (size_t i = 0; i < samples.mapped.count; i++) {
    rows[i] = samples.mapped.rows[i];
    rows[i].stack = writing->numbering.node[rows[i].stack];
  }
  samples.mapped.rows = rows;
  struct coding coding = container_write_begin("MAPS");
  code_maps(&coding, &samples, writing->numbering.nodes);
  free(rows);
  return container_write_finish(writing, &coding);
}

static wn_status write_others(struct writing *writing) {
  struct samples samples = *writing->recording->samples;
  struct coding times = container_write_begin("TIME"), processes = container_write_begin("PROC"),
                heap = container_write_begin("HEAP"), rates = container_write_begin("RATE"),
                groups = container_write_begin("GRPS"), origins = container_write_begin("ORIG");
  code_times(&times, &samples);
  wn_status error = container_write_finish(writing, &times);
  if (error) return error;
  code_rates(&rates, &samples);
  error = container_write_finish(writing, &rates);
  if (error) return error;
  if (samples.process_count > 1) {
    code_processes(&processes, &samples, writing->unit_ns);
    error = container_write_finish(writing, &processes);
    if (error) return error;
  }
  code_origins(&origins, &samples);
  error = container_write_finish(writing, &origins);
  if (error) return error;
  if (samples.group_count) {
    code_groups(&groups, &samples);
    error = container_write_finish(writing, &groups);
    if (error) return error;
  }
  code_heap(&heap, &samples);
  error = container_write_finish(writing, &heap);
  return error ? error : write_maps(writing);
}

static wn_status write_row_types(struct writing *writing) {
  struct samples samples = *writing->recording->samples;
  struct coding coding = container_write_begin("TYPE");
  if (!samples.types) return WN_OK;
  write_types(&coding, &samples);
  return container_write_finish(writing, &coding);
}

static wn_status write_listing(struct writing *writing) {
  struct coding coding = container_write_begin("SRCS");
  struct listing renumbered;
  if (!writing->recording->listing.given) return WN_OK;
  bool done = listing_renumber(&writing->recording->listing, &writing->numbering, &renumbered);
  if (done) code_listing(&coding, &renumbered);
  free(renumbered.files);
  free(renumbered.excerpts);
  return done ? container_write_finish(writing, &coding)
              : error_set(WN_ENOMEM, "not enough memory for the source lines");
}

static wn_status container_write_write_all(struct writing *writing) {
  if (!numbering_create(&writing->numbering, writing->recording) ||
      !stacks_create(&writing->stacks, writing->recording, &writing->numbering))
    return error_set(WN_ENOMEM, "not enough memory for the stacks");
  wn_status error = write_meta(writing);
  if (!error) error = container_write_write_names(writing);
  if (!error) error = write_others(writing);
  if (!error) error = write_listing(writing);
  if (!error) error = write_row_types(writing);
  return error ? error : write_all_rows(writing);
}

/* ---- shared ---- */

wn_status container_write(const struct recording *recording, const struct container_options *options,
                          container_sink *sink, void *context) {
  bool exact = recording->samples->row_count <= CONTAINER_EXACT_ROWS;
  struct writing writing = {.recording = recording,
                            .unit_ns = options->unit_ns ? options->unit_ns
                                       : exact          ? 1
                                                        : CONTAINER_UNIT_NS,
                            .sink = sink,
                            .context = context};
  wn_status error = container_write_write_all(&writing);
  stacks_destroy(&writing.stacks);
  numbering_destroy(&writing.numbering);
  return error;
}

wn_status container_write_section(const char name[4], const void *bytes, size_t length, container_sink *sink,
                                  void *context) {
  unsigned char *room = malloc(CONTAINER_BLOCK_BYTES);
  wn_status error = room ? WN_OK : error_set(WN_ENOMEM, "not enough memory to deflate");
  const unsigned char *at = bytes;
  struct container_block block = {
      .count = (uint32_t)((length + CONTAINER_BLOCK_BYTES - 1) / CONTAINER_BLOCK_BYTES)};
  memcpy(block.section, name, 4);
  for (; !error && length; block.index++) {
    size_t part = length < CONTAINER_BLOCK_BYTES ? length : CONTAINER_BLOCK_BYTES;
    error = container_write_write_block(&block, at, part, room, sink, context);
    at += part;
    length -= part;
  }
  free(room);
  return error;
}
/* SPDX-License-Identifier: MIT */
