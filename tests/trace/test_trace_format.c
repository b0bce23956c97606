/* The examples of docs/trace-format.md, byte for byte. */
#include "support/test.h"

#include "base/hash.h"
#include "support/tree_source.h"
#include "trace/checkpoint.h"
#include "trace/decoder.h"
#include "trace/encoder.h"
#include <stdlib.h>

static const unsigned char example[] = {
    0xa1, 0x10, 0x80, 0x80, 0x80, 0x02, 0x00, 0x80, 0x20, 0x00, 0x00, 0x06, '/',  'b',  'i',  'n',
    '/',  'x',  0x02, 0x00, 0x02, 0xc1, 0x02, 0x01, 0x60, 0x01, 0x07, 0x03, 0x00, 0x02, 0x18, 0x02,
};

/* What closes it, if it is the first segment of a chunk whose header has the checksum
 * 0x04030201. */
static const unsigned char closing[] = {0xaf, 0x18, 0xc5, 0x9e, 0xa7, 0xd3, 0x20, 0xe8, 0x07,
                                        0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04,
                                        0x01, 0x02, 0x03, 0x04, 0x2a, 0x65, 0x1f, 0x3e};

static void give_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = node == 20 ? 10 : 0;
  *module = 5;
  *offset = node == 20 ? 0x68 : 0x50;
}

static void give_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  assert_int_equal(module, 5);
  *out = (struct trace_module){
      .base = 0x400000, .bias = 0x400000, .size = 0x1000, .path = trace_text_of("/bin/x")};
}

/* The stack of node 20, in a tree where it hangs from node 10 or from none. */
static struct trace_stack_source source;
static void use_tree(struct encoder *encoder, const struct tree_source *tree) {
  static uint32_t path[2];
  uint32_t parent, module;
  uint64_t offset;
  tree->node(NULL, 20, &parent, &module, &offset);
  path[0] = parent;
  path[1] = 20;
  source = (struct trace_stack_source){.frame = tree_frame,
                                       .module = tree_module,
                                       .place = tree->place ? tree_place : NULL,
                                       .context = (void *)(uintptr_t)tree};
  encoder->stacks.source = &source;
  encoder->stack = parent ? (struct trace_stack){path, 2} : (struct trace_stack){path + 1, 1};
}

static const struct chunk_header chunk = {.base_time = 1000, .rate = 1e-4},
                                 earlier = {.base_time = 900, .rate = 1e-4};

static void the_encoder_writes_the_example(void **state) {
  (void)state;
  const struct tree_source tree = {.node = give_node, .module = give_module};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  unsigned char bytes[100];
  use_tree(encoder, &tree);
  encoder_begin(encoder, bytes, bytes + sizeof bytes, &chunk);
  struct trace_sample sample = {.time_ns = 1000, .thread = 7, .stack = 20, .block = 1, .size = 24};
  assert_true(encoder_put(encoder, TRACE_RECORD_SAMPLE, &sample));
  assert_int_equal(encoder->sink.at - bytes, sizeof example);
  assert_memory_equal(bytes, example, sizeof example);
  free(encoder);
}

static void a_checkpoint_closes_the_example(void **state) {
  (void)state;
  unsigned char bytes[200];
  struct byte_sink sink = {.at = bytes, .end = bytes + sizeof bytes};
  struct checkpoint checkpoint = {
      .bytes = sizeof example, .time = 1000, .chunk_crc = 0x04030201, .crc = 0x04030201};
  uint32_t crc = crc32c(checkpoint.crc, example, sizeof example);
  put_bytes(&sink, example, sizeof example);
  assert_true(checkpoint_put(&sink, &checkpoint, &crc));
  assert_int_equal(sink.at - bytes, sizeof example + sizeof closing);
  assert_memory_equal(bytes + sizeof example, closing, sizeof closing);
  struct segment segment;
  size_t work = 1000;
  assert_true(segment_find(bytes, sizeof bytes, 0, &work, &segment));
  assert_int_equal(segment.begin, 0);
  assert_int_equal(segment.end, sink.at - bytes);
  assert_int_equal(segment.crc, crc);
  assert_int_equal(segment.checkpoint.time, 1000);
  assert_int_equal(segment.checkpoint.bytes, sizeof example);
  bytes[3] ^= 1;
  assert_false(segment_find(bytes, sizeof bytes, 0, &work, &segment));
}

static void a_checkpoint_that_does_not_fit_changes_nothing(void **state) {
  (void)state;
  unsigned char bytes[CHECKPOINT_BYTES];
  struct checkpoint most = {.bytes = UINT64_MAX,
                            .time = UINT64_MAX,
                            .block = UINT64_MAX,
                            .thread = UINT32_MAX,
                            .nodes = UINT32_MAX,
                            .modules = UINT32_MAX,
                            .address = UINT64_MAX};
  uint32_t crc = 77;
  struct byte_sink sink = {.at = bytes, .end = bytes + sizeof bytes - 1};
  assert_false(checkpoint_put(&sink, &most, &crc));
  assert_ptr_equal(sink.at, bytes);
  assert_int_equal(crc, 77);
  sink.end++;
  assert_true(checkpoint_put(&sink, &most, &crc));
  assert_false(sink.full);
}

static void decode_first(struct decoder *decoder, struct stack_table *table, const unsigned char *bytes,
                         size_t size, struct trace_event *event, struct trace_run *run) {
  assert_true(stack_table_create(table));
  *decoder = (struct decoder){.table = table};
  decoder_begin(decoder, bytes, size, 1000, 1e-4);
  assert_int_equal(decoder_next(decoder, event, run), DECODER_EVENT);
}

static void the_decoder_reads_the_example(void **state) {
  (void)state;
  struct stack_table table;
  struct decoder decoder;
  struct trace_event event;
  struct trace_run run;
  decode_first(&decoder, &table, example, sizeof example, &event, &run);
  assert_int_equal(event.kind, TRACE_SAMPLE);
  assert_int_equal(event.at.time_ns, 1000);
  assert_int_equal(event.at.thread, 7);
  assert_int_equal(event.sample.block, 1);
  assert_int_equal(event.sample.size, 24);
  assert_int_equal(event.sample.words, 4);
  assert_int_equal(event.sample.n_samples, 1);
  assert_int_equal(table.nodes[event.sample.stack].offset, 0x68);
  assert_int_equal(table.nodes[table.nodes[event.sample.stack].parent].offset, 0x50);
  assert_string_equal(table.modules[1].path.bytes, "/bin/x");
  assert_int_equal(decoder_next(&decoder, &event, &run), DECODER_END);
  decoder_destroy(&decoder);
  stack_table_destroy(&table);
}

/* A frame of a language, called by one of code. */
static const unsigned char language_example[] = {
    0xa1, 0x0d, 0x80, 0x80, 0x02, 0x00, 0x80, 0x20, 0x00, 0x00, 0x04, '/',  'b',  'i',  'n',  0xa1,
    0x14, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0x00, 0x80, 0x80, 0x80, 0x08, 0x00,
    0x00, 0x03, '[',  'l',  ']',  0xae, 0x09, 0x02, 0x05, 0x07, 0x01, 'f',  0x03, 'a',  '.',  'l',
    0x02, 0x00, 0x02, 0xc1, 0x02, 0x01, 0x15, 0x02, 0x01, 0x07, 0x03, 0x00, 0x02, 0x18, 0x02,
};

static void give_any_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module,
                          uint64_t *offset) {
  (void)context;
  *parent = node == 20 ? 10 : 0;
  *module = node == 20 ? 8 : 5;
  *offset = node == 20 ? 5 : 0x50;
}

static void give_any_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  *out =
      module == 8
          ? (struct trace_module){.base = TRACE_LANGUAGE_BASE, .bias = TRACE_LANGUAGE_BASE, .size = 1 << 24}
          : (struct trace_module){.base = 0x8000, .bias = 0x8000, .size = 0x1000};
  out->path = trace_text_of(module == 8 ? "[l]" : "/bin");
}

static bool give_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context;
  if (module != 8) return false;
  assert_int_equal(offset, 5);
  *out = (struct trace_place){.function = trace_text_of("f"), .file = trace_text_of("a.l"), .line = 7};
  return true;
}

static void the_encoder_names_frames_of_a_language(void **state) {
  (void)state;
  const struct tree_source tree = {.node = give_any_node, .module = give_any_module, .place = give_place};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  unsigned char bytes[100];
  use_tree(encoder, &tree);
  encoder_begin(encoder, bytes, bytes + sizeof bytes, &chunk);
  struct trace_sample sample = {.time_ns = 1000, .thread = 7, .stack = 20, .block = 1, .size = 24};
  assert_true(encoder_put(encoder, TRACE_RECORD_SAMPLE, &sample));
  assert_int_equal(encoder->sink.at - bytes, sizeof language_example);
  assert_memory_equal(bytes, language_example, sizeof language_example);
  unsigned char *before = encoder->sink.at;
  assert_true(encoder_put(encoder, TRACE_RECORD_SAMPLE, &sample));
  assert_int_equal(encoder->sink.at - before, 5); /* named once */
  free(encoder);
}

static void the_decoder_reads_names_of_a_language(void **state) {
  (void)state;
  struct stack_table table;
  assert_true(stack_table_create(&table));
  struct decoder decoder = {.table = &table};
  struct trace_event event;
  struct trace_run run;
  decoder_begin(&decoder, language_example, sizeof language_example, 1000, 1e-4);
  assert_int_equal(decoder_next(&decoder, &event, &run), DECODER_EVENT);
  struct trace_node inner = table.nodes[event.sample.stack], outer = table.nodes[inner.parent];
  const struct trace_place *place = stack_table_place(&table, inner.module, inner.offset);
  assert_true(trace_is_language(&table.modules[inner.module]));
  assert_string_equal(place->function.bytes, "f");
  assert_string_equal(place->file.bytes, "a.l");
  assert_int_equal(place->line, 7);
  assert_false(trace_is_language(&table.modules[outer.module]));
  assert_null(stack_table_place(&table, outer.module, outer.offset));
  assert_int_equal(decoder_next(&decoder, &event, &run), DECODER_END);
  decoder_destroy(&decoder);
  stack_table_destroy(&table);
}

/* A place of code that a runtime made, and a later function at its address. */
static void code_has_address_and_time(void **state) {
  (void)state;
  static const unsigned char bytes[] = {
      0xa1, 0x14, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0x00, 0x80, 0x80,
      0x80, 0x08, 0x00, 0x00, 0x03, '[',  'l',  ']', /* module */
      0xae, 0x0c, 0x01, 0x05, 0x07, 0x01, 'f',  0x02, 'a',  '.',  0,    0,    0x64, 0x0a /* place */,
      0xbc, 0x08, 0x00, 0x64, 0x09, 0x01, 'g',  0x01, 'b',  0x14 /* code */};
  struct stack_table table;
  struct decoder decoder;
  struct trace_event event;
  struct trace_run run;
  decode_first(&decoder, &table, bytes, sizeof bytes, &event, &run);
  assert_int_equal(event.code.address, 100);
  assert_int_equal(event.code.since_ns, 20);
  const struct trace_place *place = stack_table_place(&table, 1, 5);
  assert_non_null(place);
  assert_int_equal(place->address, 100);
  assert_int_equal(place->since_ns, 10);
  struct trace_node node = {.module = 1, .offset = 5};
  stack_table_find_owner(&table, &node, 20);
  assert_string_equal(stack_table_place(&table, node.module, node.offset)->function.bytes, "g");
  decoder_destroy(&decoder);
  stack_table_destroy(&table);
}

/* A collected heap's records, by docs/trace-format.md: kind with its top bit set, length, time,
 * fields. */
static const struct {
  enum trace_record record;
  union {
    struct trace_at at;
    struct trace_sample sample;
    struct trace_promote promote;
    struct trace_collection collection;
    struct trace_pause pause;
    struct trace_domain domain;
  };
  unsigned char bytes[16];
} of_heaps[] = {
    {.record = TRACE_RECORD_MAJOR,
     .sample = {.time_ns = 1001, .block = 1, .size = 800, .words = 101, .n_samples = 3, .major = true},
     .bytes = {0xad, 8, 2, 2, 0xa0, 6, 0, 0, 3, 0}},
    {.record = TRACE_RECORD_PROMOTE, .promote = {.time_ns = 1002, .block = 1}, .bytes = {0xa8, 2, 2, 0}},
    {.record = TRACE_RECORD_COLLECTION,
     .collection = {.time_ns = 1003,
                    .kind = 1,
                    .ns = 3,
                    .minor_words = 4,
                    .promoted_words = 5,
                    .direct_words = 6,
                    .minor_collections = 7,
                    .major_cycles = 8,
                    .heap_words = 9,
                    .live_words = 10,
                    .domains = 11},
     .bytes = {0xa9, 11, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
    {.record = TRACE_RECORD_PAUSE,
     .pause = {.time_ns = 1004, .domain = 2, .kind = 1, .ns = 3, .count = 4, .total_ns = 5},
     .bytes = {0xaa, 6, 2, 2, 1, 3, 4, 5}},
    {.record = TRACE_RECORD_DOMAIN,
     .domain = {.time_ns = 1005, .domain = 6, .what = 1},
     .bytes = {0xab, 3, 2, 6, 1}},
};

static void records_of_heaps_are_written_as_the_page_says(void **state) {
  (void)state;
  const struct tree_source tree = {.node = give_node, .module = give_module};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  unsigned char bytes[200];
  use_tree(encoder, &tree);
  encoder_begin(encoder, bytes, bytes + sizeof bytes, &chunk);
  encoder->state.thread_known = true; /* thread 0, without a record */
  encoder->stack = (struct trace_stack){0};
  for (size_t i = 0; i < sizeof of_heaps / sizeof *of_heaps; i++) {
    const unsigned char *begin = encoder->sink.at;
    assert_true(encoder_put(encoder, of_heaps[i].record, &of_heaps[i].at));
    assert_int_equal(encoder->sink.at - begin, 2 + of_heaps[i].bytes[1]);
    assert_memory_equal(begin, of_heaps[i].bytes, 2 + of_heaps[i].bytes[1]);
  }
  free(encoder);
}

static void a_record_that_does_not_fit_changes_no_state(void **state) {
  (void)state;
  const struct tree_source tree = {.node = give_any_node, .module = give_any_module, .place = give_place};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  use_tree(encoder, &tree);
  struct trace_sample sample = {.time_ns = 1000, .thread = 7, .stack = 20, .block = 1, .size = 24};
  for (size_t room = 0; room < sizeof language_example; room++) {
    unsigned char *bytes = malloc(room + !room); /* so that AddressSanitizer watches the end */
    encoder_begin(encoder, bytes, bytes + room, &earlier);
    struct coding_state before = encoder->state;
    assert_false(encoder_put(encoder, TRACE_RECORD_SAMPLE, &sample));
    assert_ptr_equal(encoder->sink.at, bytes);
    assert_true(before.time == encoder->state.time && before.block == encoder->state.block);
    assert_false(encoder->state.thread_known);
    free(bytes);
  }
  free(encoder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_encoder_writes_the_example),
      cmocka_unit_test(a_checkpoint_closes_the_example),
      cmocka_unit_test(a_checkpoint_that_does_not_fit_changes_nothing),
      cmocka_unit_test(the_decoder_reads_the_example),
      cmocka_unit_test(the_encoder_names_frames_of_a_language),
      cmocka_unit_test(the_decoder_reads_names_of_a_language),
      cmocka_unit_test(code_has_address_and_time),
      cmocka_unit_test(records_of_heaps_are_written_as_the_page_says),
      cmocka_unit_test(a_record_that_does_not_fit_changes_no_state),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
