/* Marshalling of custom blocks: OCaml's own kinds, and those of a program. */
#include "gc/marshal/graph.h"

/* ---- OCaml's own ---- */

static void integers_of_ocamls_types_come_back(void **state) { /* V7 */
  static const int64_t numbers[] = {
      0, -1, 1, INT32_MAX, INT32_MAX + INT64_C(1), INT32_MIN, INT64_MIN, INT64_MAX, INT32_MIN - INT64_C(1)};
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  for (unsigned type = WN_BOXED_INT32; type <= WN_BOXED_NATIVEINT; type++)
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      WN_SCOPE(of.domain);
      wn_boxed found;
      int64_t n;
      wn_ref copy = there_and_back(of.domain, wn_boxed_new(of.domain, (wn_boxed)type, numbers[i]), 0);
      assert_true(wn_boxed_get(copy, &found, &n));
      assert_int_equal(found, type);
      assert_int_equal(n, type == WN_BOXED_INT32 ? (int32_t)numbers[i] : numbers[i]);
    }
  {
    WN_SCOPE(of.domain);
    assert_false(wn_boxed_get(block_of(of.domain, 1), NULL, NULL));
    assert_true(wn_is_null(wn_boxed_new(of.domain, (wn_boxed)7, 1)));
  }
  journal_close(&of);
}

static void fill_array(const wn_bigarray *array, uint64_t *seed, bool is_small) {
  for (size_t i = 0; i < array->bytes; i++) ((char *)array->data)[i] = (char)draw(seed);
  bool of_host = array->kind == WN_BIGARRAY_OCAML_INT || array->kind == WN_BIGARRAY_NATIVEINT;
  for (size_t i = 0; of_host && is_small && i < array->bytes / 8; i++)
    ((int64_t *)array->data)[i] = (int64_t)draw(seed) >> 40;
}

static void assert_same_arrays(const wn_bigarray *a, const wn_bigarray *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->is_fortran, b->is_fortran);
  assert_int_equal(a->dimensions, b->dimensions);
  for (size_t i = 0; i < a->dimensions; i++) assert_int_equal(a->lengths[i], b->lengths[i]);
  assert_int_equal(a->bytes, b->bytes);
  if (a->bytes) assert_memory_equal(a->data, b->data, a->bytes);
}

static void bigarrays_come_back(void **state) { /* V7 */
  static const size_t shapes[][3] = {{0, 5, 3},     {7, 1, 9},     {2, 3, 4},
                                     {1, 65534, 1}, {1, 65535, 1}, {70000, 1, 1}};
  struct journal of;
  uint64_t seed = 1;
  (void)state;
  journal_open(&of, NULL);
  for (unsigned kind = 0; kind <= WN_BIGARRAY_FLOAT16; kind++)
    for (size_t shape = 0; shape < 6; shape++)
      for (size_t dimensions = 0; dimensions < 4; dimensions++) {
        WN_SCOPE(of.domain);
        wn_ref array =
            wn_bigarray_new(of.domain, (wn_bigarray_kind)kind, shape % 2, dimensions, shapes[shape]);
        wn_bigarray a, b;
        assert_true(wn_bigarray_get(array, &a));
        fill_array(&a, &seed, dimensions % 2);
        wn_ref copy = there_and_back(of.domain, array, 0);
        assert_true(wn_bigarray_get(array, &a) && wn_bigarray_get(copy, &b));
        assert_same_arrays(&a, &b);
      }
  {
    WN_SCOPE(of.domain);
    static const size_t endless[] = {SIZE_MAX / 4, SIZE_MAX / 4};
    assert_true(wn_is_null(wn_bigarray_new(of.domain, WN_BIGARRAY_CHAR, false, 2, endless)));
    assert_true(wn_is_null(wn_bigarray_new(of.domain, WN_BIGARRAY_CHAR, false, 17, endless)));
    assert_true(wn_is_null(wn_bigarray_new(of.domain, (wn_bigarray_kind)14, false, 1, shapes[1])));
    wn_bigarray none;
    assert_false(wn_bigarray_get(block_of(of.domain, 1), &none));
  }
  journal_close(&of);
}

/* ---- a program's own ---- */

/* A kind whose blocks have a string outside the heap. */
struct text {
  char *letters;
  size_t count;
};
static _Atomic(long) texts;

static void text_release(void *bytes) {
  free(((struct text *)bytes)->letters);
  texts--;
}
static bool text_write(const void *bytes, size_t size, wn_marshal_writer *to) {
  const struct text *text = bytes;
  assert_int_equal(size, sizeof *text);
  if (!text->letters) return false;
  wn_marshal_put(to, text->count, 4);
  wn_marshal_put_bytes(to, text->letters, text->count);
  return true;
}
static bool text_read(void *bytes, size_t size, wn_marshal_reader *from) {
  struct text *text = bytes;
  assert_int_equal(size, sizeof *text);
  text->count = wn_marshal_get(from, 4);
  if (text->count > wn_marshal_left(from) || text->count == 13) return false;
  text->letters = malloc(text->count + 1);
  assert_non_null(text->letters);
  if (!wn_marshal_get_bytes(from, text->letters, text->count)) return free(text->letters), false;
  wn_marshal_external(from, text->count);
  texts++;
  return true;
}
static const wn_custom_ops text_ops = {.name = "text", .release = text_release};
static const wn_marshal_ops text_fixed = {
    .bytes = sizeof(struct text), .write = text_write, .read = text_read};
static const wn_marshal_ops text_sized = {.write = text_write, .read = text_read};

static wn_ref text_new(wn_domain *domain, size_t count) {
  wn_ref block = wn_alloc_custom(domain, &text_ops, sizeof(struct text), count);
  struct text *text = wn_bytes(block);
  text->letters = calloc(1, count + 1);
  assert_non_null(text->letters);
  memset(text->letters, 'x', count);
  text->count = count;
  texts++;
  return block;
}

static void assert_text(wn_value value, size_t count) {
  const struct text *text = wn_bytes((wn_ref){&value});
  assert_int_equal(text->count, count);
  for (size_t i = 0; i < count; i++) assert_int_equal(text->letters[i], 'x');
}

static void custom_blocks_go_through_their_functions(void **state) { /* V7 */
  static const wn_marshal_ops *const ways[] = {&text_fixed, &text_sized};
  (void)state;
  for (size_t way = 0; way < 2; way++) {
    struct journal of;
    journal_open(&of, NULL);
    assert_int_equal(wn_marshal_register(of.heap, &text_ops, ways[way]), WN_OK);
    for (size_t count = 0; count < 300; count++) {
      WN_SCOPE(of.domain);
      if (count == 13) continue;
      wn_ref all = wn_alloc(of.domain, count + 1, 0); /* of young and of old ones */
      wn_ref text = text_new(of.domain, count);
      for (size_t i = 0; i <= count; i++) wn_set(of.domain, all, i, i % 2 ? text : text_new(of.domain, 4));
      wn_ref copy = there_and_back(of.domain, all, 0);
      if (count % 10 == 0) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
      assert_text(wn_field(copy, 0), 4);
      if (count > 2) assert_text(wn_field(copy, 1), count);
      if (count > 3) assert_true(wn_field(copy, 1) == wn_field(copy, 3));
    }
    journal_close(&of);
    assert_int_equal(texts, 0); /* each was released once */
  }
}

static void what_a_custom_block_refuses_is_refused(void **state) { /* V7 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref text = text_new(of.domain, 13), value;
    assert_refused(of.domain, text, 0, "not registered");
    assert_int_equal(wn_marshal_register(of.heap, &text_ops, &text_fixed), WN_OK);
    struct message message = write_message(of.domain, text);
    assert_int_equal(wn_marshal_read(of.domain, message.bytes, message.size, 0, &value, NULL), WN_EFORMAT);
    assert_string_equal(wn_last_error(), "marshal read: byte 21: a custom block of the kind 'text' is wrong");
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    assert_int_equal(texts, 1); /* nothing was released for the block that was not read */
    ((unsigned char *)message.bytes)[HEADER + 1 + 5 + 3] = 12; /* what is left over */
    assert_int_equal(wn_marshal_read(of.domain, message.bytes, message.size, 0, &value, NULL), WN_EFORMAT);
    ((unsigned char *)message.bytes)[HEADER + 1] = 'T';
    assert_int_equal(wn_marshal_read(of.domain, message.bytes, message.size, 0, &value, NULL), WN_EFORMAT);
    assert_non_null(strstr(wn_last_error(), "the kind 'Text', which is not registered"));
    char *letters = ((struct text *)wn_bytes(text))->letters;
    ((struct text *)wn_bytes(text))->letters = NULL;
    assert_refused(of.domain, text, 0, "refuses");
    ((struct text *)wn_bytes(text))->letters = letters;
    free(message.bytes);
  }
  journal_close(&of);
  assert_int_equal(texts, 0);
}

/* A kind of large blocks, for which a message has a number alone. */
enum { PAGE = 512 };
static bool page_write(const void *bytes, size_t size, wn_marshal_writer *to) {
  (void)size;
  wn_marshal_put(to, *(const uint8_t *)bytes, 8);
  return true;
}
static bool page_read(void *bytes, size_t size, wn_marshal_reader *from) {
  uint64_t n = wn_marshal_get(from, 8);
  if (size != PAGE) return false;
  memset(bytes, (int)n, size);
  return true;
}
static const wn_custom_ops page_ops = {.name = "page"};

static wn_ref page_new(wn_domain *domain, size_t size, int n) {
  wn_ref page = wn_alloc_custom(domain, &page_ops, size, 0);
  memset(wn_bytes(page), n, size);
  return page;
}

static void blocks_of_a_fixed_size_may_be_much_larger_than_their_message(void **state) { /* V7 */
  static const wn_marshal_ops fixed = {.bytes = PAGE, .write = page_write, .read = page_read};
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_marshal_register(of.heap, &page_ops, &fixed), WN_OK);
  {
    WN_SCOPE(of.domain);
    wn_ref copy = there_and_back(of.domain, page_new(of.domain, PAGE, 7), 0);
    for (size_t i = 0; i < PAGE; i++) assert_int_equal(((uint8_t *)wn_bytes(copy))[i], 7);
    assert_refused(of.domain, page_new(of.domain, PAGE - 8, 7), 0, "smaller than its kind");
  }
  journal_close(&of);
}

/* A message of such a block, whose header and item tell the size. */
static const char claim[] = "\x84\x95\xA6\xBE\0\0\0\x1A\0\0\0\1\0\0\0\x82\0\0\0\x42"
                            "\x18page\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\7";

static void blocks_that_tell_their_size_may_be_24_times_as_large_as_their_message(void **state) { /* V7 */
  static const wn_marshal_ops sized = {.write = page_write, .read = page_read};
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_marshal_register(of.heap, &page_ops, &sized), WN_OK);
  {
    WN_SCOPE(of.domain);
    wn_ref page = page_new(of.domain, 2 * PAGE, 7), copy;
    assert_refused(of.domain, page, 0, "24 times");
    there_and_back(of.domain, page_new(of.domain, PAGE, 7), 0);
    assert_int_equal(wn_marshal_read(of.domain, claim, sizeof claim - 1, 0, &copy, NULL), WN_OK);
    char more[sizeof claim];
    memcpy(more, claim, sizeof claim);
    more[18] = 1;             /* words of the header */
    more[20 + 6 + 4 + 6] = 8; /* bytes of the block */
    assert_int_equal(wn_marshal_read(of.domain, more, sizeof more - 1, 0, &copy, NULL), WN_EFORMAT);
    assert_non_null(strstr(wn_last_error(), "larger than the message can mean"));
  }
  journal_close(&of);
}

static bool room_read(void *bytes, size_t size, wn_marshal_reader *from) {
  memset(bytes, (int)wn_marshal_get(from, 8), size);
  return true;
}

static void the_largest_block_that_is_written_can_be_read(void **state) { /* V7 */
  static const wn_marshal_ops sized = {.write = page_write, .read = room_read};
  enum { ITEM = 1 + sizeof "page" + 12 + 8, MOST = 24 * ITEM - 16 };
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_marshal_register(of.heap, &page_ops, &sized), WN_OK);
  {
    WN_SCOPE(of.domain);
    there_and_back(of.domain, page_new(of.domain, MOST, 7), 0);
    for (size_t more = 8; more <= 32; more += 8)
      assert_refused(of.domain, page_new(of.domain, MOST + more, 7), 0, "24 times");
  }
  journal_close(&of);
}

static void integers_that_a_32_bit_host_cannot_have_are_refused_for_it(void **state) { /* V6 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  {
    WN_SCOPE(of.domain);
    static const size_t one = 1;
    wn_ref small = wn_boxed_new(of.domain, WN_BOXED_NATIVEINT, INT32_MAX),
           large = wn_boxed_new(of.domain, WN_BOXED_NATIVEINT, INT32_MAX + INT64_C(1)),
           array = wn_bigarray_new(of.domain, WN_BIGARRAY_NATIVEINT, false, 1, &one);
    wn_bigarray elements;
    free(write_flags(of.domain, small, WN_MARSHAL_COMPAT_32).bytes);
    assert_refused(of.domain, large, WN_MARSHAL_COMPAT_32, "refuses");
    free(write_flags(of.domain, array, WN_MARSHAL_COMPAT_32).bytes);
    assert_true(wn_bigarray_get(array, &elements));
    *(int64_t *)elements.data = INT64_MIN;
    assert_refused(of.domain, array, WN_MARSHAL_COMPAT_32, "refuses");
  }
  journal_close(&of);
}

static void kinds_are_registered_once(void **state) { /* V7 */
  static const wn_custom_ops
      own = {.name = "_j"},
      empty = {.name = ""},
      longest = {.name = "123456789012345678901234567890123456789012345678901234567890123"},
      longer = {.name = "1234567890123456789012345678901234567890123456789012345678901234"};
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_marshal_register(of.heap, &text_ops, &text_fixed), WN_OK);
  assert_int_equal(wn_marshal_register(of.heap, &text_ops, &text_fixed), WN_EINVAL);
  assert_int_equal(wn_marshal_register(of.heap, &own, &text_fixed), WN_EINVAL);
  assert_int_equal(wn_marshal_register(of.heap, &empty, &text_fixed), WN_EINVAL);
  assert_int_equal(wn_marshal_register(of.heap, &longer, &text_fixed), WN_EINVAL);
  assert_int_equal(wn_marshal_register(of.heap, &longest, &text_fixed), WN_OK);
  assert_int_equal(wn_marshal_register(of.heap, NULL, &text_fixed), WN_EINVAL);
  assert_int_equal(wn_marshal_register(NULL, &text_ops, &text_fixed), WN_EINVAL);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_of_ocamls_types_come_back),
      cmocka_unit_test(bigarrays_come_back),
      cmocka_unit_test(custom_blocks_go_through_their_functions),
      cmocka_unit_test(what_a_custom_block_refuses_is_refused),
      cmocka_unit_test(blocks_of_a_fixed_size_may_be_much_larger_than_their_message),
      cmocka_unit_test(blocks_that_tell_their_size_may_be_24_times_as_large_as_their_message),
      cmocka_unit_test(the_largest_block_that_is_written_can_be_read),
      cmocka_unit_test(integers_that_a_32_bit_host_cannot_have_are_refused_for_it),
      cmocka_unit_test(kinds_are_registered_once),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
