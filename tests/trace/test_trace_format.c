/* The examples of docs/trace-format.md, byte for byte. */
#include "support/test.h"

#include "trace/decoder.h"
#include "trace/encoder.h"
#include <stdlib.h>

static const unsigned char example[] = {
    0xa1, 0x10, 0x80, 0x80, 0x80, 0x02, 0x00, 0x80, 0x20, 0x00, 0x00, 0x06, '/',  'b',  'i',  'n',
    '/',  'x',  0x02, 0x00, 0x02, 0xc1, 0x02, 0x01, 0x60, 0x01, 0x07, 0x03, 0x00, 0x02, 0x18, 0x02,
};

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
  const struct trace_stack_source source = {
      .node = give_any_node, .module = give_any_module, .place = give_place};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  unsigned char bytes[100];
  encoder->stacks.source = &source;
  encoder_begin(encoder, bytes, bytes + sizeof bytes, 1000);
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
  decoder_begin(&decoder, language_example, sizeof language_example, 1000);
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

static void the_encoder_writes_the_example(void **state) {
  (void)state;
  const struct trace_stack_source source = {.node = give_node, .module = give_module};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  unsigned char bytes[100];
  encoder->stacks.source = &source;
  encoder_begin(encoder, bytes, bytes + sizeof bytes, 1000);
  struct trace_sample sample = {.time_ns = 1000, .thread = 7, .stack = 20, .block = 1, .size = 24};
  assert_true(encoder_put(encoder, TRACE_RECORD_SAMPLE, &sample));
  assert_int_equal(encoder->sink.at - bytes, sizeof example);
  assert_memory_equal(bytes, example, sizeof example);
  free(encoder);
}

static void the_decoder_reads_the_example(void **state) {
  (void)state;
  struct stack_table table;
  assert_true(stack_table_create(&table));
  struct decoder decoder = {.table = &table};
  struct trace_event event;
  struct trace_run run;
  decoder_begin(&decoder, example, sizeof example, 1000);
  assert_int_equal(decoder_next(&decoder, &event, &run), DECODER_EVENT);
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

static void a_record_that_does_not_fit_changes_no_state(void **state) {
  (void)state;
  const struct trace_stack_source source = {
      .node = give_any_node, .module = give_any_module, .place = give_place};
  struct encoder *encoder = calloc(1, sizeof *encoder);
  encoder->stacks.source = &source;
  struct trace_sample sample = {.time_ns = 1000, .thread = 7, .stack = 20, .block = 1, .size = 24};
  for (size_t room = 0; room < sizeof language_example; room++) {
    unsigned char *bytes = malloc(room + !room); /* so that AddressSanitizer watches the end */
    encoder_begin(encoder, bytes, bytes + room, 900);
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
      cmocka_unit_test(the_encoder_names_frames_of_a_language),
      cmocka_unit_test(the_decoder_reads_names_of_a_language),
      cmocka_unit_test(the_encoder_writes_the_example),
      cmocka_unit_test(the_decoder_reads_the_example),
      cmocka_unit_test(a_record_that_does_not_fit_changes_no_state),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
