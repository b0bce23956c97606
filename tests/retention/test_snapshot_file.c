/* Files of snapshots: what is written is read, and damage is found. */
#include "base/hash.h"
#include "base/random.h"
#include "retention/graph.h"
#include "snapshot/reader.h"
#include "snapshot/writer.h"
#include "support/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 40, LONG = 200000 };

struct file {
  unsigned char *bytes;
  size_t count;
};

static struct file read_all(FILE *from) {
  struct file file = {0};
  assert_int_equal(fseek(from, 0, SEEK_END), 0);
  file.count = (size_t)ftell(from);
  file.bytes = malloc(file.count);
  rewind(from);
  assert_int_equal(fread(file.bytes, 1, file.count, from), file.count);
  fclose(from);
  return file;
}

/* Block i leads to block i + 1 by the field 1, and the last one to itself by each of its many
 * fields. */
static struct file write_file(bool many) {
  static struct snapshot_writer writer;
  const struct snapshot_info info = {7, 1000, "program", "language"};
  FILE *to = tmpfile();
  assert_non_null(to);
  snapshot_begin(&writer, fileno(to), &info);
  snapshot_holder(&writer, 1, HOLDER_GLOBALS, 0, "first");
  snapshot_root(&writer, 1, 0x10000);
  snapshot_holder(&writer, 2, HOLDER_PINS, 0, NULL);
  snapshot_root(&writer, 2, 0x10000 + 64 * (BLOCKS - 1));
  for (uintptr_t i = 0; i < BLOCKS; i++) {
    uintptr_t at = 0x10000 + 64 * i;
    bool last = i == BLOCKS - 1;
    const struct snapshot_block block = {.shape = SHAPE_SCANNED,
                                         .type = (uint32_t)(1 + i % 3),
                                         .words = last && many ? LONG : 7,
                                         .description = i % 5 ? NULL : "described"};
    snapshot_block(&writer, at, &block);
    if (!last) snapshot_edge(&writer, 1, at + 64);
    for (uint64_t field = 0; last && many && field < LONG; field++) snapshot_edge(&writer, field, at);
  }
  snapshot_block(&writer, 0x20000000,
                 &(struct snapshot_block){.shape = SHAPE_CUSTOM, .type = 4, .words = 2, .outside = 12345});
  for (uint32_t type = 1; type <= 3; type++) snapshot_type(&writer, type, "type");
  snapshot_type(&writer, 4, NULL);
  snapshot_field(&writer, 2, 1, "next");
  snapshot_trace(&writer, "/run.trace");
  for (uintptr_t i = 0; i < BLOCKS; i += 7) snapshot_sample(&writer, 0x10000 + 64 * i, i + 100);
  snapshot_sample(&writer, 8, 5);
  assert_true(snapshot_end(&writer));
  return read_all(to);
}

static void what_is_written_is_read(void **state) {
  struct file file = write_file(true);
  struct graph graph;
  (void)state;
  assert_int_equal(graph_load(&graph, file.bytes, file.count), WN_OK);
  assert_true(graph.complete);
  assert_int_equal(graph.process, 7);
  assert_string_equal(graph.command, "program");
  assert_int_equal(graph.holder_count, 2);
  assert_string_equal(graph.holders[0].name, "first");
  assert_string_equal(graph.holders[1].name, "");
  assert_int_equal(graph.node_count, 1 + 2 + BLOCKS + 1);
  assert_int_equal(graph.edge_count, 2 + 2 + BLOCKS - 1 + LONG);
  assert_int_equal(graph.lost, 0);
  for (uint32_t i = 0; i + 1 < BLOCKS; i++) {
    uint32_t node = graph.first_block + i;
    assert_int_equal(graph.edge_begin[node + 1] - graph.edge_begin[node], 1);
    assert_int_equal(graph.edges[graph.edge_begin[node]], node + 1);
    assert_int_equal(graph_field_to(&graph, node, node + 1), 1);
    assert_int_equal(graph_bytes(&graph, node), 64);
    assert_int_equal(graph_type(&graph, node), 1 + i % 3);
    assert_int_equal(graph_description(&graph, node) != NULL, i % 5 == 0);
  }
  uint32_t last = graph.first_block + BLOCKS - 1;
  struct edge_walk edge = graph_edges(&graph, last);
  for (uint32_t i = 0; i < LONG; i++) {
    assert_true(edge_next(&edge));
    assert_int_equal(edge.to, last);
    assert_int_equal(edge.field, i);
  }
  assert_false(edge_next(&edge));
  assert_int_equal(graph_bytes(&graph, last + 1), 24 + 12345);
  assert_true(graph_search(&graph));
  assert_false(graph_is_reachable(&graph, last + 1));
  assert_int_equal(graph.reached, 1 + 2 + BLOCKS);
  assert_string_equal(graph_type_name(&graph, 3), "type");
  assert_string_equal(graph_type_name(&graph, 4), "(unknown)");
  assert_string_equal(graph_field_name(&graph, 2, 1), "next");
  assert_null(graph_field_name(&graph, 2, 2));
  assert_string_equal(graph.trace, "/run.trace");
  assert_int_equal(graph.sample_count, (BLOCKS + 6) / 7 + 1);
  for (uint32_t i = 0; i + 1 < graph.sample_count; i++) {
    assert_int_equal(graph.samples[i].node, graph.first_block + 7 * i);
    assert_int_equal(graph.samples[i].number, 100 + 7 * i);
  }
  assert_int_equal(graph.samples[graph.sample_count - 1].node, NOWHERE);
  graph_free(&graph);
  free(file.bytes);
}

/* Blocks of sizes, fields and distances around those at which another form begins; 0 for an edge
 * that leads to no block. `weak`: the edges are built again, with that to the data. */
enum { SIZED = 3000, FIELDS = 10, WORD = 8 };
static const uint64_t sizes[] = {0, 1, WORDS_LARGE - 1, WORDS_LARGE, WORDS_LARGE + 1, (uint64_t)1 << 40};
static const uint64_t fields[FIELDS] = {0,     STEP_FAR - 1,   2 * STEP_FAR - 1, 3 * STEP_FAR,     1000, 1001,
                                        70000, FIELD_MOST - 1, FIELD_MOST,       (uint64_t)1 << 33};

struct sized {
  uintptr_t address;
  uint32_t to[FIELDS];
};

static struct file write_sized(struct sized *blocks, bool weak) {
  static struct snapshot_writer writer;
  FILE *to = tmpfile();
  struct random random;
  random_seed(&random, 3, 0, 0);
  assert_non_null(to);
  for (uint32_t i = 0; i < SIZED; i++)
    blocks[i].address = (i ? blocks[i - 1].address : 4096) + WORD * (1 + random_bits(&random) % 70);
  snapshot_begin(&writer, fileno(to), &(struct snapshot_info){7, 1000, "program", "language"});
  snapshot_holder(&writer, 1, HOLDER_GLOBALS, 0, "first");
  snapshot_root(&writer, 1, blocks[0].address);
  for (uint32_t i = 0; i < SIZED; i++) {
    const struct snapshot_block block = {.shape = i % 7        ? SHAPE_SCANNED
                                                  : weak && !i ? SHAPE_WEAK
                                                               : SHAPE_CUSTOM,
                                         .type = i % 2 ? SNAPSHOT_TYPES_MOST : 1,
                                         .words = sizes[i % (sizeof sizes / sizeof *sizes)],
                                         .outside = i % 7 ? 0 : i};
    snapshot_block(&writer, blocks[i].address, &block);
    if (block.shape == SHAPE_WEAK) snapshot_edge(&writer, 0, blocks[1].address);
    for (uint32_t k = 0; k < FIELDS && block.shape == SHAPE_SCANNED; k++) {
      uint32_t other = (uint32_t)(random_bits(&random) % (SIZED - 1));
      bool lost = blocks[other].address + WORD != blocks[other + 1].address && random_bits(&random) % 2;
      snapshot_edge(&writer, fields[k], blocks[other].address + (lost ? WORD : 0));
      blocks[i].to[k] = lost ? 0 : NODE_HOLDERS + 1 + other;
    }
  }
  assert_true(snapshot_end(&writer));
  return read_all(to);
}

static void check_sized(const struct graph *graph, uint32_t i, const struct sized *block, bool weak) {
  uint32_t node = graph->first_block + i;
  struct edge_walk edge = graph_edges(graph, node);
  uint64_t words = sizes[i % (sizeof sizes / sizeof *sizes)];
  assert_int_equal(graph_type(graph, node), i % 2 ? SNAPSHOT_TYPES_MOST : 1);
  assert_int_equal(graph_words(graph, node), words);
  assert_int_equal(graph_outside(graph, node), i % 7 ? 0 : i);
  assert_int_equal(graph_bytes(graph, node), 8 * (words + 1) + (i % 7 ? 0 : i));
  for (uint32_t k = 0; k < FIELDS; k++) {
    if (!block->to[k]) continue;
    assert_true(edge_next(&edge));
    assert_int_equal(edge.to, block->to[k]);
    assert_int_equal(edge.field, fields[k] < FIELD_MOST ? fields[k] : FIELD_MOST);
  }
  if (weak && !i) {
    assert_true(edge_next(&edge));
    assert_int_equal(edge.to, graph->first_block + 1);
    assert_int_equal(edge.field, FIELD_DATA);
  }
  assert_false(edge_next(&edge));
}

static void blocks_and_fields_of_all_sizes_are_read(void **state) {
  (void)state;
  for (int weak = 0; weak < 2; weak++) {
    static struct sized blocks[SIZED];
    memset(blocks, 0, sizeof blocks);
    struct file file = write_sized(blocks, weak);
    struct graph graph;
    uint64_t lost = 0;
    assert_int_equal(graph_load(&graph, file.bytes, file.count), WN_OK);
    assert_true(graph.complete);
    assert_int_equal(graph.node_count - graph.first_block, SIZED);
    for (uint32_t i = 0; i < SIZED; i++) {
      check_sized(&graph, i, &blocks[i], weak);
      for (uint32_t k = 0; k < FIELDS; k++) lost += i % 7 && !blocks[i].to[k];
    }
    assert_int_equal(graph.lost, lost);
    assert_int_equal(graph_field_to(&graph, NODE_ALL, NODE_HOLDERS), FIELD_ROOT);
    assert_int_equal(graph_field_to(&graph, NODE_HOLDERS, graph.first_block), FIELD_ROOT);
    assert_int_equal(graph_bytes(&graph, NODE_HOLDERS), 0);
    graph_free(&graph);
    free(file.bytes);
  }
}

/* The beginning of a file is a snapshot that is not complete, and never has what the whole one has
 * not. */
static void a_file_that_ends_early_is_read_as_far_as_it_goes(void **state) {
  struct file file = write_file(false);
  (void)state;
  for (size_t count = 0; count < file.count; count++) {
    struct graph graph;
    unsigned char *cut = malloc(count + 1); /* of its own, so that a sanitizer sees what is read behind it */
    memcpy(cut, file.bytes, count);
    cut = realloc(cut, count ? count : 1);
    wn_status status = graph_load(&graph, cut, count);
    assert_int_equal(status, count < sizeof(struct snapshot_header) ? WN_EFORMAT : WN_OK);
    assert_false(graph.complete);
    assert_true(status || graph.node_count <= 1 + 2 + BLOCKS + 1);
    graph_free(&graph);
    free(cut);
  }
  free(file.bytes);
}

/* The checksums find each changed byte; behind them the records are read that say anything. */
static void damage_is_found_and_harms_nothing(void **state) {
  struct file file = write_file(false);
  struct random random;
  (void)state;
  random_seed(&random, 1, 0, 0);
  for (size_t i = 8; i < file.count; i++) {
    struct graph graph;
    file.bytes[i] ^= (unsigned char)(1 + random_bits(&random) % 255);
    unsigned char *copy = malloc(file.count);
    memcpy(copy, file.bytes, file.count);
    if (!graph_load(&graph, copy, file.count) && i >= sizeof(struct snapshot_header))
      assert_false(graph.complete);
    graph_free(&graph);
    free(copy);
    free(file.bytes);
    file = write_file(false);
  }
  free(file.bytes);
}

/* With right checksums: any bytes as the records of each kind. */
static void any_records_harm_nothing(void **state) {
  struct random random;
  (void)state;
  random_seed(&random, 2, 0, 0);
  for (int run = 0; run < 20000; run++) {
    struct file file = {malloc(4096), sizeof(struct snapshot_header)};
    struct snapshot_header first = {.version = 1 + (uint32_t)run % SNAPSHOT_VERSION, .word_bytes = 8};
    memcpy(first.magic, snapshot_magic, sizeof first.magic);
    memcpy(file.bytes, &first, sizeof first);
    for (int k = 0; k < 4; k++) {
      struct segment_header header = {(uint32_t)(1 + random_bits(&random) % 10),
                                      (uint32_t)(1 + random_bits(&random) % 60), 0};
      unsigned char *bytes = file.bytes + file.count + sizeof header;
      for (uint32_t i = 0; i < header.bytes; i++)
        bytes[i] =
            (unsigned char)(random_bits(&random) % 3 ? random_bits(&random) % 24 : random_bits(&random));
      header.checksum =
          crc32c(crc32c(0, &header, offsetof(struct segment_header, checksum)), bytes, header.bytes);
      memcpy(file.bytes + file.count, &header, sizeof header);
      file.count += sizeof header + header.bytes;
    }
    struct graph graph;
    unsigned char *copy = malloc(file.count);
    memcpy(copy, file.bytes, file.count);
    wn_status status = graph_load(&graph, copy, file.count);
    assert_int_equal(status, WN_OK);
    graph_free(&graph);
    free(copy);
    free(file.bytes);
  }
}

/* ---- FORM ---- */

enum { MADE = 60000, KINDS = 3 * FORMS, MADE_EDGES = FORM_EDGES + 2 };

/* Block i, drawn from its number alone: mostly of a few kinds, sometimes of any of more than a segment
 * has forms; one in 50 is described, one in 60 is custom. */
struct made {
  struct snapshot_block block;
  uint64_t moved, fields[MADE_EDGES], targets[MADE_EDGES];
  size_t edges;
};

static struct made make_block(uint64_t i) {
  struct random random, chance;
  random_seed(&chance, 3, i, 0);
  uint64_t kind = random_bits(&chance) % (random_bits(&chance) % 4 ? 20 : KINDS);
  random_seed(&random, 4, kind, 0);
  struct made made = {.block = {.type = 1 + (uint32_t)kind % 10, .words = kind % 3}};
  made.block.shape = kind % 3 ? SHAPE_SCANNED : kind % 2 ? SHAPE_WEAK : SHAPE_RAW;
  made.moved = random_bits(&chance) % 5 ? 5 : 1 + random_bits(&chance) % 1000;
  made.edges = made.block.shape == SHAPE_RAW ? 0 : random_bits(&random) % (MADE_EDGES + 1);
  for (size_t k = 0; k < made.edges; k++) {
    made.fields[k] = (k ? made.fields[k - 1] + 1 : 0) + random_bits(&random) % 3;
    made.targets[k] =
        random_bits(&chance) % 4 ? 1000 + random_bits(&chance) % 100000 : random_bits(&chance) >> 4;
  }
  if (made.edges && kind % 50 == 7) made.fields[made.edges - 1] += UINT32_MAX;
  if (random_bits(&chance) % 50 == 0) made.block.description = "a block";
  if (random_bits(&chance) % 60 == 0) {
    made.block = (struct snapshot_block){.shape = SHAPE_CUSTOM, .type = 101, .words = 3, .outside = i};
    made.edges = 0;
  }
  return made;
}

struct meeting {
  uint64_t address, blocks;
  struct made made; /* the last block */
  size_t edges;     /* of it */
};

static bool meet_block(void *context, const struct snapshot_record *record) {
  struct meeting *of = context;
  assert_int_equal(of->edges, of->made.edges);
  of->made = make_block(of->blocks++);
  of->edges = 0;
  of->address += of->made.moved;
  assert_int_equal(record->address, of->address);
  assert_int_equal(record->shape, of->made.block.shape);
  assert_int_equal(record->type, of->made.block.type);
  assert_int_equal(record->words, of->made.block.words);
  assert_int_equal(record->outside, of->made.block.outside);
  assert_int_equal(record->description.length,
                   of->made.block.description ? strlen(of->made.block.description) : 0);
  return true;
}

static bool meet_edge(void *context, uint64_t field, uint64_t target) {
  struct meeting *of = context;
  assert_true(of->edges < of->made.edges);
  assert_int_equal(field, of->made.fields[of->edges]);
  assert_int_equal(target, of->made.targets[of->edges++]);
  return true;
}

static void blocks_of_a_form_are_read_as_they_were_written(void **state) {
  static struct snapshot_writer writer;
  FILE *to = tmpfile();
  uint64_t address = 1000;
  bool complete;
  (void)state;
  snapshot_begin(&writer, fileno(to), &(struct snapshot_info){0});
  for (uint64_t i = 0; i < MADE; i++) {
    struct made made = make_block(i);
    address += made.moved;
    snapshot_block(&writer, 8 * address, &made.block);
    for (size_t k = 0; k < made.edges; k++) snapshot_edge(&writer, made.fields[k], 8 * made.targets[k]);
  }
  assert_true(snapshot_end(&writer));
  struct file file = read_all(to);
  struct meeting of = {.address = 1000};
  const struct snapshot_visitor visitor = {.block = meet_block, .edge = meet_edge, .context = &of};
  assert_int_equal(snapshot_read(file.bytes, file.count, &visitor, &complete), WN_OK);
  assert_true(complete && of.blocks == MADE && of.edges == of.made.edges);
  free(file.bytes);
}

/* A tree of blocks of 4 words with 2 edges, one after the other: a byte for a block, two or three for
 * each edge. */
static void blocks_of_a_form_take_few_bytes(void **state) {
  enum { COUNT = 100000 };
  static struct snapshot_writer writer;
  FILE *to = tmpfile();
  (void)state;
  snapshot_begin(&writer, fileno(to), &(struct snapshot_info){0});
  for (uint64_t i = 0; i < COUNT; i++) {
    snapshot_block(&writer, 40 * (1 + i),
                   &(struct snapshot_block){.shape = SHAPE_SCANNED, .type = 9, .words = 4});
    for (uint64_t k = 0; k < 2; k++) snapshot_edge(&writer, 2 * k, 40 * (1 + i + k * (i % 100)));
  }
  assert_true(snapshot_end(&writer));
  struct file file = read_all(to);
  assert_in_range(file.count, 3 * COUNT, 4 * COUNT);
  free(file.bytes);
}

/* A file of one segment of blocks. */
static struct file file_of(uint32_t version, const unsigned char *records, uint32_t count) {
  struct snapshot_header first = {.version = version, .word_bytes = 8};
  struct segment_header header = {SEGMENT_BLOCKS, count, 0}, end = {SEGMENT_END, 0, 0};
  struct file file = {malloc(sizeof first + 2 * sizeof header + count), 0};
  memcpy(first.magic, snapshot_magic, sizeof first.magic);
  header.checksum =
      crc32c(crc32c(0, &header, offsetof(struct segment_header, checksum)), records, header.bytes);
  end.checksum = crc32c(0, &end, offsetof(struct segment_header, checksum));
  const struct {
    const void *bytes;
    size_t count;
  } parts[] = {{&first, sizeof first}, {&header, sizeof header}, {records, count}, {&end, sizeof end}};
  for (size_t i = 0; i < 4; i++) {
    memcpy(file.bytes + file.count, parts[i].bytes, parts[i].count);
    file.count += parts[i].count;
  }
  return file;
}

static void assert_read(uint32_t version, const unsigned char *records, uint32_t count, uint32_t blocks,
                        bool whole) {
  struct file file = file_of(version, records, count);
  struct graph graph;
  assert_int_equal(graph_load(&graph, file.bytes, file.count), WN_OK);
  assert_int_equal(graph.complete, whole);
  assert_int_equal(graph.node_count - graph.first_block, blocks);
  if (whole) assert_int_equal(graph_type(&graph, graph.first_block + 1), 3);
  graph_free(&graph);
  free(file.bytes);
}

/* At 100 a block of type 3 that leads to itself by the field 1, and at 105 another one. */
static void files_of_both_versions_are_read(void **state) {
  static const unsigned char old[] = {100, 3 << 3 | SHAPE_SCANNED, 0, 4, 2, 0,
                                      0,   3 << 3 | SHAPE_SCANNED, 5, 4, 2, 0,
                                      0},
                             new[] = {100, 3 << 4 | SHAPE_SCANNED << 1, 0, 4, 2, 0, 0, 3, 5, 0},
                             unmoved[] = {100, 3 << 4 | SHAPE_SCANNED << 1, 0, 4, 2, 0, 0, 1, 0},
                             not_given[] = {100, 3 << 4 | SHAPE_SCANNED << 1, 0, 4, 2, 0, 0, 1 << 2 | 3, 5,
                                            0},
                             first[] = {100, 3, 5, 0};
  (void)state;
  assert_read(1, old, sizeof old, 2, true);
  assert_read(2, new, sizeof new, 2, true);
  assert_read(2, unmoved, sizeof unmoved, 1, false); /* two blocks at one address */
  assert_read(2, not_given, sizeof not_given, 1, false);
  assert_read(2, first, sizeof first, 0, false);
  struct file file = file_of(SNAPSHOT_VERSION + 1, new, sizeof new);
  struct graph graph;
  assert_int_equal(graph_load(&graph, file.bytes, file.count), WN_EFORMAT);
  graph_free(&graph);
  free(file.bytes);
}

static void a_writer_that_cannot_write_says_so(void **state) {
  static struct snapshot_writer writer;
  const struct snapshot_info info = {0};
  int ends[2];
  (void)state;
  assert_int_equal(pipe(ends), 0);
  snapshot_begin(&writer, ends[0], &info); /* which is for reading */
  assert_false(snapshot_end(&writer));
  assert_int_equal(writer.error, EBADF);
  close(ends[0]), close(ends[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(blocks_and_fields_of_all_sizes_are_read),
      cmocka_unit_test(a_file_that_ends_early_is_read_as_far_as_it_goes),
      cmocka_unit_test(damage_is_found_and_harms_nothing),
      cmocka_unit_test(any_records_harm_nothing),
      cmocka_unit_test(blocks_of_a_form_are_read_as_they_were_written),
      cmocka_unit_test(blocks_of_a_form_take_few_bytes),
      cmocka_unit_test(files_of_both_versions_are_read),
      cmocka_unit_test(a_writer_that_cannot_write_says_so),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
