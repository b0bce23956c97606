/* Any bytes as the segments of a heap snapshot: the reader must take the part that makes sense, and
 * what is asked of that part must have an answer.
 *
 * The first byte of the input is the version; then each segment is a byte that tells its kind, two
 * bytes of its length, and that many bytes. The file gets the checksums, which no mutation finds. */
#include "bound.h"

#include "base/hash.h"
#include "retention/dominators.h"
#include "retention/graph.h"
#include "retention/leading.h"
#include "retention/types.h"
#include "snapshot/format.h"
#include <stdbool.h>

enum { SEGMENTS_MOST = 16, HOLDERS_ASKED = 4 };

/* Makes the file; returns its bytes, to be freed. */
static unsigned char *make_file(const uint8_t *input, size_t count, size_t *made) {
  struct snapshot_header header = {.version = count ? input[0] % 4 : SNAPSHOT_VERSION, .word_bytes = 8};
  unsigned char *file = malloc(sizeof header + SEGMENTS_MOST * sizeof(struct segment_header) + count + 1);
  if (!file) abort();
  memcpy(header.magic, snapshot_magic, sizeof header.magic);
  memcpy(file, &header, sizeof header);
  *made = sizeof header;
  for (size_t at = 1, segments = 0; at + 3 <= count && segments < SEGMENTS_MOST; segments++) {
    struct segment_header segment = {.kind = input[at] % (SEGMENT_END + 2),
                                     .bytes = input[at + 1] | (uint32_t)input[at + 2] << 8};
    at += 3;
    if (segment.bytes > count - at) segment.bytes = (uint32_t)(count - at);
    uint32_t sum = crc32c(0, &segment, offsetof(struct segment_header, checksum));
    segment.checksum = crc32c(sum, input + at, segment.bytes);
    memcpy(file + *made, &segment, sizeof segment);
    memcpy(file + *made + sizeof segment, input + at, segment.bytes);
    *made += sizeof segment + segment.bytes;
    at += segment.bytes;
  }
  return file;
}

static void ask_leading(const struct graph *graph) {
  struct leading leading;
  uint32_t holders[HOLDERS_ASKED];
  if (leading_open(&leading, graph))
    for (uint32_t node = graph->first_block; node < graph->node_count; node++)
      leading_holders(&leading, node, holders, HOLDERS_ASKED);
  leading_close(&leading);
}

static void ask(struct graph *graph) {
  struct dominators dominators;
  struct type_table types;
  if (!graph_search(graph)) return;
  if (dominators_find(&dominators, graph) && type_table_make(&types, graph, &dominators))
    type_table_free(&types);
  dominators_free(&dominators);
  ask_leading(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  struct graph graph;
  size_t made;
  unsigned char *file = make_file(bytes, count, &made);
  if (!graph_load(&graph, file, made)) ask(&graph);
  graph_free(&graph);
  free(file);
  return 0;
}
/* SPDX-License-Identifier: MIT */
