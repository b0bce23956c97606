/* Numbers as bytes. */
#include "support/test.h"

#include "trace/codec.h"

static const uint64_t edges[] = {0,
                                 1,
                                 63,
                                 64,
                                 127,
                                 128,
                                 129,
                                 8191,
                                 8192,
                                 16383,
                                 16384,
                                 UINT32_MAX,
                                 UINT64_C(1) << 57,
                                 UINT64_C(1) << 58,
                                 UINT64_MAX / 2,
                                 UINT64_MAX / 2 + 1,
                                 UINT64_MAX};
enum { EDGES = sizeof edges / sizeof *edges };

static void varints_return_what_was_put(void **state) {
  (void)state;
  for (int i = 0; i < EDGES; i++) {
    unsigned char bytes[VARINT_MAX];
    struct byte_sink sink = {.at = bytes, .end = bytes + sizeof bytes};
    put_varint(&sink, edges[i]);
    assert_false(sink.full);
    struct byte_source source = {.at = bytes, .end = sink.at};
    assert_true(get_varint(&source) == edges[i]);
    assert_ptr_equal(source.at, source.end);
    assert_false(source.bad);
  }
}

static void tagged_numbers_return_with_their_tag(void **state) {
  (void)state;
  for (int i = 0; i < 2 * EDGES; i++) {
    unsigned char bytes[VARINT_MAX];
    struct byte_sink sink = {.at = bytes, .end = bytes + sizeof bytes};
    put_tagged(&sink, i & 1, edges[i / 2]);
    assert_false(sink.full);
    struct byte_source source = {.at = bytes, .end = sink.at};
    bool tag;
    assert_true(get_tagged(&source, &tag) == edges[i / 2]);
    assert_int_equal(tag, i & 1);
    assert_ptr_equal(source.at, source.end);
    assert_false(source.bad);
  }
}

static void zigzag_keeps_small_magnitudes_small(void **state) {
  (void)state;
  assert_int_equal(zigzag(0), 0);
  assert_int_equal(zigzag(UINT64_MAX), 1);
  assert_int_equal(zigzag(1), 2);
  for (int i = 0; i < EDGES; i++) assert_true(unzigzag(zigzag(edges[i])) == edges[i]);
}

static void a_cut_varint_is_bad_and_reads_nothing_beyond(void **state) {
  (void)state;
  for (size_t cut = 0; cut < VARINT_MAX; cut++) {
    unsigned char bytes[VARINT_MAX];
    struct byte_sink sink = {.at = bytes, .end = bytes + sizeof bytes};
    put_varint(&sink, UINT64_MAX);
    struct byte_source source = {.at = bytes, .end = bytes + cut};
    assert_int_equal(get_varint(&source), 0);
    assert_true(source.bad);
  }
}

static void a_varint_beyond_64_bits_is_bad(void **state) {
  (void)state;
  const unsigned char wide[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  const unsigned char endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
  struct byte_source source = {.at = wide, .end = wide + sizeof wide};
  get_varint(&source);
  assert_true(source.bad);
  source = (struct byte_source){.at = endless, .end = endless + sizeof endless};
  get_varint(&source);
  assert_true(source.bad);
}

static void a_full_sink_says_so_and_writes_nothing_beyond(void **state) {
  (void)state;
  unsigned char bytes[4] = {1, 2, 3, 4};
  struct byte_sink sink = {.at = bytes, .end = bytes + 2};
  put_varint(&sink, UINT64_MAX);
  put_bytes(&sink, "abc", 3);
  assert_true(sink.full);
  assert_int_equal(bytes[2], 3);
}

static void bytes_longer_than_the_source_are_refused(void **state) {
  (void)state;
  const unsigned char bytes[4] = {0};
  struct byte_source source = {.at = bytes, .end = bytes + 4};
  assert_null(get_bytes(&source, UINT64_MAX));
  assert_true(source.bad);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(varints_return_what_was_put),
      cmocka_unit_test(tagged_numbers_return_with_their_tag),
      cmocka_unit_test(zigzag_keeps_small_magnitudes_small),
      cmocka_unit_test(a_cut_varint_is_bad_and_reads_nothing_beyond),
      cmocka_unit_test(a_varint_beyond_64_bits_is_bad),
      cmocka_unit_test(a_full_sink_says_so_and_writes_nothing_beyond),
      cmocka_unit_test(bytes_longer_than_the_source_are_refused),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
