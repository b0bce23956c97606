/* Marshalling: what is written comes back, in the forms that OCaml uses. */
#include "gc/marshal/graph.h"

/* ---- forms ---- */

/* The data of an integer, in hexadecimal digits. */
static void assert_int_form(wn_domain *domain, intptr_t n, const char *expected) {
  WN_SCOPE(domain);
  char digits[40] = "";
  struct message message = write_message(domain, wn_root(domain, wn_int(n)));
  for (size_t i = HEADER; i < message.size; i++)
    snprintf(digits + strlen(digits), 3, "%02x", ((const unsigned char *)message.bytes)[i]);
  assert_string_equal(digits, expected);
  assert_true(*read_message(domain, message).slot == wn_int(n));
  free(message.bytes);
}

static void integers_take_the_shortest_form(void **state) { /* V3 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  wn_domain *d = of.domain;
  assert_int_form(d, 0, "40");
  assert_int_form(d, 63, "7f");
  assert_int_form(d, 64, "0040");
  assert_int_form(d, 127, "007f");
  assert_int_form(d, 128, "010080");
  assert_int_form(d, -1, "00ff");
  assert_int_form(d, -128, "0080");
  assert_int_form(d, -129, "01ff7f");
  assert_int_form(d, 32767, "017fff");
  assert_int_form(d, 32768, "0200008000");
  assert_int_form(d, -32768, "018000");
  assert_int_form(d, -32769, "02ffff7fff");
  assert_int_form(d, (1 << 30) - 1, "023fffffff");
  assert_int_form(d, 1 << 30, "030000000040000000");
  assert_int_form(d, -(1 << 30), "02c0000000");
  assert_int_form(d, -(1 << 30) - 1, "03ffffffffbfffffff");
  assert_int_form(d, INTPTR_MAX >> 1, "033fffffffffffffff");
  assert_int_form(d, INTPTR_MIN >> 1, "03c000000000000000");
  journal_close(&of);
}

/* The size of the message of one block, without the header and what `bytes_each` word of it
 * takes. */
static size_t form_of(wn_domain *domain, size_t words, unsigned tag, size_t bytes_each) {
  WN_SCOPE(domain);
  wn_ref block = wn_alloc(domain, words, tag);
  uint64_t seed = words;
  if (tag > WN_TAG_SCANNED_MAX) fill_bytes(wn_bytes(block), words, &seed);
  struct message message = write_message(domain, block);
  assert_same(*block.slot, *read_message(domain, message).slot);
  free(message.bytes);
  return message.size - HEADER - bytes_each * words;
}

static void lengths_take_the_shortest_form(void **state) { /* V3 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  wn_domain *d = of.domain;
  assert_int_equal(form_of(d, 0, 15, 1), 1);
  assert_int_equal(form_of(d, 0, 16, 1), 5);
  assert_int_equal(form_of(d, 7, 15, 1), 1);
  assert_int_equal(form_of(d, 8, 15, 1), 5);
  assert_int_equal(form_of(d, 7, 16, 1), 5);
  assert_int_equal(form_of(d, 4194303, 0, 1), 5);
  assert_int_equal(form_of(d, 4194304, 0, 1), 9);
  assert_int_equal(form_of(d, 3, WN_TAG_RAW, 8), 1);
  assert_int_equal(form_of(d, 4, WN_TAG_RAW, 8), 2);
  assert_int_equal(form_of(d, 31, WN_TAG_RAW, 8), 2);
  assert_int_equal(form_of(d, 32, WN_TAG_RAW, 8), 5);
  assert_int_equal(form_of(d, 1, WN_TAG_DOUBLE, 8), 1);
  assert_int_equal(form_of(d, 255, WN_TAG_DOUBLE_ARRAY, 8), 2);
  assert_int_equal(form_of(d, 256, WN_TAG_DOUBLE_ARRAY, 8), 5);
  assert_int_equal(form_of(d, 0, WN_TAG_RAW, 8), 5); /* an atom: it keeps its tag, and has no words */
  journal_close(&of);
}

static void all_small_sizes_and_tags_come_back(void **state) { /* V1 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  for (size_t words = 0; words < 300; words++) {
    WN_SCOPE(of.domain);
    there_and_back(of.domain, wn_alloc(of.domain, words, (unsigned)words % 240), 0);
    there_and_back(of.domain, wn_alloc(of.domain, words, WN_TAG_RAW), 0);
  }
  journal_close(&of);
}

/* An array of `distance` blocks and the first of them once more. */
static size_t reference_form(wn_domain *domain, size_t distance) {
  WN_SCOPE(domain);
  wn_ref array = wn_alloc(domain, distance + 1, 0);
  for (size_t i = 0; i < distance; i++) {
    WN_SCOPE(domain);
    wn_set(domain, array, i, wn_alloc(domain, 1, 0));
  }
  wn_set(domain, array, distance, wn_get(domain, array, 0));
  struct message message = write_message(domain, array);
  assert_same(*array.slot, *read_message(domain, message).slot);
  free(message.bytes);
  return message.size - HEADER - 5 - 2 * distance - 1;
}

static void references_take_the_shortest_form(void **state) { /* V3 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(reference_form(of.domain, 255), 1);
  assert_int_equal(reference_form(of.domain, 256), 2);
  assert_int_equal(reference_form(of.domain, 65535), 2);
  assert_int_equal(reference_form(of.domain, 65536), 4);
  journal_close(&of);
}

/* ---- graphs ---- */

static void random_graphs_come_back(void **state) { /* V1 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  options.text = "verify";
  journal_open(&of, &options);
  for (uint64_t round = 0; round < 200; round++) {
    WN_SCOPE(of.domain);
    uint64_t seed = round;
    size_t count = round % 10 ? below(&seed, 60) : below(&seed, 3000);
    wn_ref graph = random_graph(of.domain, &seed, count, round % 7 ? 9 : 400);
    wn_ref copy = there_and_back(of.domain, graph, 0);
    assert_same(*graph.slot, *copy.slot);
    if (round % 3 == 0) assert_int_equal(wn_gc_minor(of.domain), WN_OK);
    if (round % 20 == 0) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_same(*graph.slot, *copy.slot);
  }
  journal_close(&of);
}

enum { LONG = 1000000 };

static void long_lists_and_deep_nests_come_back(void **state) { /* V2 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  for (int first = 0; first < 2; first++) {
    for (size_t words = 1; words < 4; words++) {
      WN_SCOPE(of.domain);
      wn_ref chain = wn_root(of.domain, wn_int(7));
      for (long i = 0; i < LONG; i++) {
        wn_value *fields = wn_bump(of.domain, words, 3);
        for (size_t j = 0; j < words; j++) fields[j] = wn_int(i);
        fields[first ? 0 : words - 1] = *chain.slot;
        *chain.slot = (wn_value)fields;
      }
      there_and_back(of.domain, chain, 0);
    }
  }
  journal_close(&of);
}

static void a_block_may_lead_to_itself(void **state) { /* V1 */
  static const unsigned char expected[] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 0, 3, 0,    0, 0, 1,
                                           0,    0,    0,    2,    0, 0, 0, 2, 0x90, 4, 1};
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref loop = wn_alloc(of.domain, 1, 0);
    wn_set(of.domain, loop, 0, loop);
    struct message message = write_message(of.domain, loop);
    assert_int_equal(message.size, sizeof expected);
    assert_memory_equal(message.bytes, expected, sizeof expected);
    wn_ref copy = read_message(of.domain, message);
    assert_true(wn_field(copy, 0) == *copy.slot);
    free(message.bytes);
  }
  journal_close(&of);
}

static void small_messages_make_young_blocks_and_large_ones_old(void **state) { /* V10 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1 << 15;
  journal_open(&of, &options);
  for (long length = 80; length < 90; length++) {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, length, 2);
    struct message message = write_message(of.domain, list);
    double minor = wn_gc_minor_words(of.domain), all = wn_gc_allocated_bytes(of.domain);
    read_message(of.domain, message);
    bool young = 3 * length <= (long)WN_MAX_YOUNG_WORDS;
    assert_int_equal((long)(wn_gc_minor_words(of.domain) - minor), young ? 3 * length : 0);
    assert_int_equal((long)(wn_gc_allocated_bytes(of.domain) - all), 8 * 3 * length);
    free(message.bytes);
  }
  journal_close(&of);
}

/* ---- flags ---- */

static void without_sharing_a_block_is_written_each_time(void **state) { /* V6 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref cell = block_of(of.domain, 5), pair = wn_pair(of.domain, 0, cell, cell);
    struct message message = write_flags(of.domain, pair, WN_MARSHAL_NO_SHARING);
    assert_int_equal(message.size, HEADER + 5);
    assert_int_equal(((const unsigned char *)message.bytes)[11], 0);
    wn_ref copy = read_message(of.domain, message);
    assert_true(wn_field(copy, 0) != wn_field(copy, 1));
    assert_int_equal(wn_to_int(wn_field_of(wn_field(copy, 1), 0)), 5);
    free(message.bytes);
  }
  journal_close(&of);
}

static void what_a_host_of_32_bits_cannot_read_can_be_refused(void **state) { /* V6 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    const unsigned flag = WN_MARSHAL_COMPAT_32;
    there_and_back(of.domain, wn_root(of.domain, wn_int((1 << 30) - 1)), flag);
    assert_refused(of.domain, wn_root(of.domain, wn_int(1 << 30)), flag, "31 bits");
    assert_refused(of.domain, wn_root(of.domain, wn_int(-(1 << 30) - 1)), flag, "31 bits");
    there_and_back(of.domain, wn_alloc(of.domain, 0x3FFFFF, 0), flag);
    assert_refused(of.domain, wn_alloc(of.domain, 0x400000, 0), flag, "0x3FFFFF words");
    there_and_back(of.domain, wn_alloc(of.domain, 0x1FFFFF, WN_TAG_RAW), flag);
    assert_refused(of.domain, wn_alloc(of.domain, 0x200000, WN_TAG_RAW), flag, "0xFFFFFB bytes");
    assert_refused(of.domain, wn_alloc(of.domain, 0x200000, WN_TAG_DOUBLE_ARRAY), flag, "doubles");
  }
  journal_close(&of);
}

static void strings_may_have_the_layout_of_ocaml(void **state) { /* V5 */
  struct journal of;
  char text[70];
  (void)state;
  journal_open(&of, NULL);
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 26);
  for (size_t length = 0; length < sizeof text; length++) {
    WN_SCOPE(of.domain);
    wn_ref string = wn_string_new(of.domain, text, length);
    assert_int_equal(wn_words(*string.slot), length / 8 + 1);
    assert_int_equal(wn_string_length(string), length);
    wn_ref copy = there_and_back(of.domain, string, WN_MARSHAL_OCAML_STRINGS);
    assert_memory_equal(wn_bytes(copy), text, length);
    assert_int_equal(((const char *)wn_bytes(copy))[length], 0);
    struct message message = write_flags(of.domain, string, WN_MARSHAL_OCAML_STRINGS);
    assert_int_equal(message.size, HEADER + length + 1 + (length > 31));
    wn_ref plain = read_message(of.domain, message); /* as many words as the bytes need */
    size_t words = length ? (length + 7) / 8 : 1;
    assert_int_equal(wn_words(*plain.slot), words);
    assert_memory_equal(wn_bytes(plain), text, length);
    for (size_t i = length; i < 8 * words; i++) assert_int_equal(((const char *)wn_bytes(plain))[i], 0);
    free(message.bytes);
  }
  {
    WN_SCOPE(of.domain);
    wn_ref raw = wn_alloc_bytes(of.domain, 16);
    ((unsigned char *)wn_bytes(raw))[15] = 8;
    assert_int_equal(wn_string_length(raw), SIZE_MAX);
    assert_int_equal(wn_string_length(wn_root(of.domain, wn_int(1))), SIZE_MAX);
    assert_refused(of.domain, raw, WN_MARSHAL_OCAML_STRINGS, "no string of OCaml");
    there_and_back(of.domain, raw, 0);
  }
  journal_close(&of);
}

static void what_c_cannot_mean_is_not_written(void **state) { /* V8 */
  static const wn_custom_ops stranger = {.name = "stranger"};
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref null = {NULL}, one = wn_root(of.domain, wn_int(1));
    size_t size;
    void *bytes;
    assert_refused(of.domain, wn_alloc_mixed(of.domain, 1, 8), 0, "closure");
    assert_refused(of.domain, wn_alloc(of.domain, 2, 249), 0, "closure");
    assert_refused(of.domain, wn_alloc(of.domain, 1, 248), 0, "objects");
    there_and_back(of.domain, wn_alloc(of.domain, 2, 248), 0);
    assert_refused(of.domain, wn_alloc(of.domain, 2, WN_TAG_DOUBLE), 0, "WN_TAG_DOUBLE");
    assert_refused(of.domain, wn_alloc_custom(of.domain, &stranger, 8, 0), 0, "not registered");
    assert_refused(of.domain, null, 0, "null");
    assert_refused(of.domain, one, 8, "flags");
    assert_int_equal(wn_marshal_write(of.domain, one, 0, NULL, &size), WN_EINVAL);
    assert_int_equal(wn_marshal_write(of.domain, one, 0, &bytes, NULL), WN_EINVAL);
    assert_int_equal(wn_marshal_read(of.domain, NULL, 30, 0, &one, NULL), WN_EINVAL);
    assert_int_equal(wn_marshal_read(of.domain, "", 0, 0, NULL, NULL), WN_EINVAL);
    assert_int_equal(wn_marshal_read(of.domain, "", 0, 8, &one, NULL), WN_EINVAL);
    assert_int_equal(wn_marshal_size(NULL, 0, &size), WN_EINVAL);
  }
  journal_close(&of);
}

/* ---- files and functions ---- */

static void messages_follow_each_other_in_a_file(void **state) { /* V12 */
  struct journal of;
  FILE *file = tmpfile();
  (void)state;
  assert_non_null(file);
  journal_open(&of, NULL);
  for (long i = 0; i < 50; i++) {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, 100 * i, 2);
    assert_int_equal(wn_marshal_write_file(of.domain, list, 0, file), WN_OK);
  }
  rewind(file);
  for (long i = 0; i < 50; i++) {
    WN_SCOPE(of.domain);
    wn_ref list;
    assert_int_equal(wn_marshal_read_file(of.domain, file, 0, &list), WN_OK);
    assert_int_equal(length_of(of.domain, list), 100 * i);
  }
  {
    WN_SCOPE(of.domain);
    wn_ref list;
    assert_int_equal(wn_marshal_read_file(of.domain, file, 0, &list), WN_EIO);
    assert_true(feof(file));
    fclose(file);
    file = fopen("/dev/full", "w");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    assert_int_equal(wn_marshal_write_file(of.domain, block_of(of.domain, 1), 0, file), WN_EIO);
    fclose(file);
    assert_int_equal(wn_marshal_write_file(of.domain, block_of(of.domain, 1), 0, NULL), WN_EINVAL);
    assert_int_equal(wn_marshal_read_file(of.domain, NULL, 0, &list), WN_EINVAL);
  }
  journal_close(&of);
}

/* Bytes that come a few at a time. */
struct stream {
  unsigned char bytes[4096];
  size_t count, at, step;
};
static wn_status stream_put(const void *bytes, size_t size, void *context) {
  struct stream *stream = context;
  if (size > sizeof stream->bytes - stream->count) return WN_ELIMIT;
  memcpy(stream->bytes + stream->count, bytes, size);
  stream->count += size;
  return WN_OK;
}
static size_t stream_get(void *bytes, size_t size, void *context) {
  struct stream *stream = context;
  if (size > stream->step) size = stream->step;
  if (size > stream->count - stream->at) size = stream->count - stream->at;
  memcpy(bytes, stream->bytes + stream->at, size);
  stream->at += size;
  return size;
}

static void messages_go_through_functions(void **state) { /* V12 */
  struct journal of;
  struct stream stream = {.step = 7};
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref list = make_list(of.domain, 300, 2), copy;
    assert_int_equal(wn_marshal_write_to(of.domain, list, 0, stream_put, &stream), WN_OK);
    assert_int_equal(wn_marshal_read_from(of.domain, stream_get, &stream, 0, &copy), WN_OK);
    assert_same(*list.slot, *copy.slot);
    assert_int_equal(stream.at, stream.count);
    assert_int_equal(wn_marshal_read_from(of.domain, stream_get, &stream, 0, &copy), WN_EIO);
    stream.at = 0;
    stream.count--;
    assert_int_equal(wn_marshal_read_from(of.domain, stream_get, &stream, 0, &copy), WN_EFORMAT);
    assert_non_null(strstr(wn_last_error(), "ends early"));
    wn_ref longer = make_list(of.domain, 3000, 2);
    assert_int_equal(wn_marshal_write_to(of.domain, longer, 0, stream_put, &stream), WN_ELIMIT);
    assert_int_equal(wn_marshal_write_to(of.domain, longer, 0, NULL, &stream), WN_EINVAL);
    assert_int_equal(wn_marshal_read_from(of.domain, NULL, &stream, 0, &copy), WN_EINVAL);
  }
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_take_the_shortest_form),
      cmocka_unit_test(lengths_take_the_shortest_form),
      cmocka_unit_test(all_small_sizes_and_tags_come_back),
      cmocka_unit_test(references_take_the_shortest_form),
      cmocka_unit_test(random_graphs_come_back),
      cmocka_unit_test(long_lists_and_deep_nests_come_back),
      cmocka_unit_test(a_block_may_lead_to_itself),
      cmocka_unit_test(small_messages_make_young_blocks_and_large_ones_old),
      cmocka_unit_test(without_sharing_a_block_is_written_each_time),
      cmocka_unit_test(what_a_host_of_32_bits_cannot_read_can_be_refused),
      cmocka_unit_test(strings_may_have_the_layout_of_ocaml),
      cmocka_unit_test(what_c_cannot_mean_is_not_written),
      cmocka_unit_test(messages_follow_each_other_in_a_file),
      cmocka_unit_test(messages_go_through_functions),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
