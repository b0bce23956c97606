/* What is read of CPython's objects: lines, texts, and its table of offsets. Whole programs are
 * compared with what the interpreter says itself in tests/preload/cases/python.bash. */
#include "support/test.h"

#include "base/random.h"
#include "languages/python_layout.h"
#include "languages/python_lines.h"
#include "languages/python_text.h"
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

static uint32_t line_at(enum python_lines format, const void *table, size_t count, int64_t position) {
  return python_line(format, table, count, 10, position);
}

/* Objects/lnotab_notes.txt: (0, 1), (6, 1), (44, 5), then a line that goes back. */
static void lines_of_lnotab(void **state) {
  (void)state;
  static const uint8_t table[] = {0, 1, 6, 1, 44, 5, 10, (uint8_t)-3};
  static const int expected[][2] = {{-1, 10}, {0, 11},  {5, 11},  {6, 12},  {49, 12},
                                    {50, 17}, {59, 17}, {60, 14}, {900, 14}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(line_at(PYTHON_LNOTAB, table, sizeof table, expected[i][0]), expected[i][1]);
}

/* A range without a line has the one before it. */
static void lines_of_linetable(void **state) {
  (void)state;
  static const uint8_t table[] = {4, 0, 2, 3, 6, 0x80, 8, (uint8_t)-2};
  static const int expected[][2] = {{-2, 10}, {0, 10},  {2, 10},  {4, 13},  {6, 13},
                                    {10, 13}, {12, 11}, {18, 11}, {900, 11}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(line_at(PYTHON_LINETABLE, table, sizeof table, expected[i][0]), expected[i][1]);
}

#define ENTRY(code, units) (uint8_t)(0x80 | (code) << 3 | ((units)-1))

/* One entry of each kind; numbers of more than six bits. */
static void lines_of_locations(void **state) {
  (void)state;
  static const uint8_t table[] = {
      ENTRY(13, 1),
      3 << 1, /* bytes 0..1: 3 lines further */
      ENTRY(11, 2),
      4,
      9, /* 2..5: 1 line further, with columns */
      ENTRY(0, 1),
      0x34,         /* 6..7: the same line */
      ENTRY(15, 3), /* 8..13: no location */
      ENTRY(14, 8),
      5 << 1 | 1,
      0,
      1,
      2, /* 14..29: 5 lines back */
      ENTRY(13, 1),
      0x40 | (200 << 1 & 63),
      200 << 1 >> 6, /* 30..31: 200 lines further */
  };
  static const int expected[][2] = {{-1, 10}, {0, 13}, {2, 14}, {5, 14},   {6, 14},   {8, 14},
                                    {13, 14}, {14, 9}, {29, 9}, {30, 209}, {900, 209}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(line_at(PYTHON_LOCATIONS, table, sizeof table, expected[i][0]), expected[i][1]);
}

/* Nothing behind a table is read, whatever is in it: AddressSanitizer watches. */
static void tables_of_noise_end(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    size_t count = splitmix64(&seed) % 24;
    uint8_t *table = malloc(count ? count : 1);
    for (size_t i = 0; i < count; i++) table[i] = (uint8_t)splitmix64(&seed);
    for (int format = PYTHON_LNOTAB; format <= PYTHON_LOCATIONS; format++)
      line_at((enum python_lines)format, table, count, (int64_t)(splitmix64(&seed) % 400) - 10);
    free(table);
  }
}

/* ---- texts ---- */

struct text {
  uint64_t count, type, length, hash, state;
  uint8_t behind[80];
};

static const char *text_of(unsigned kind, bool ascii, bool compact, const void *characters, size_t length,
                           char *buffer) {
  static struct python_layout layout = {.ascii_text = 40, .other_text = 56};
  static struct text text;
  text = (struct text){.length = length, .state = kind << 2 | (unsigned)compact << 5 | (unsigned)ascii << 6};
  memcpy((char *)&text + (ascii ? 40 : 56), characters, length * kind);
  return python_text(&layout, &text, buffer);
}

static void texts_are_utf8(void **state) {
  (void)state;
  char buffer[PYTHON_TEXT_BYTES];
  assert_string_equal(text_of(1, true, true, "name", 4, buffer), "name");
  assert_string_equal(text_of(1, false, true,
                              "gr\xf6\xdf"
                              "er",
                              6, buffer),
                      "größer");
  assert_string_equal(text_of(2, false, true, u"больше", 6, buffer), "больше");
  assert_string_equal(text_of(4, false, true, U"𝒻𝓃 更大", 5, buffer), "𝒻𝓃 更大");
  assert_string_equal(text_of(1, true, true, "", 0, buffer), "");
  assert_null(text_of(1, true, false, "", 0, buffer));
  assert_null(text_of(0, false, true, "", 0, buffer));
}

static void long_texts_are_cut(void **state) {
  (void)state;
  struct python_layout layout = {.ascii_text = 40, .other_text = 56};
  enum { CHARACTERS = 1000 };
  struct {
    struct text text;
    uint16_t more[CHARACTERS];
  } *whole = calloc(1, sizeof *whole);
  char buffer[PYTHON_TEXT_BYTES];
  whole->text.length = CHARACTERS;
  whole->text.state = 2u << 16 | 1u << 19;
  uint16_t *characters = (uint16_t *)(void *)((char *)whole + 56);
  for (int i = 0; i < CHARACTERS; i++) characters[i] = 0x431;
  assert_ptr_equal(python_text(&layout, whole, buffer), buffer);
  assert_in_range(strlen(buffer), PYTHON_TEXT_BYTES - 8, PYTHON_TEXT_BYTES - 1);
  assert_int_equal(strlen(buffer) % 2, 0);
  free(whole);
}

/* ---- layouts ---- */

static struct {
  char cookie[8];
  uint64_t word[110];
} runtime;

/* A table of 3.13 with a number at each place that differs from the others. */
static void make_table(uint32_t version) {
  memset(&runtime, 0, sizeof runtime);
  memcpy(runtime.cookie, "xdebugpy", 8);
  for (unsigned i = 0; i < 110; i++) runtime.word[i] = 8 * i;
  runtime.word[0] = version;
  runtime.word[1] = 0;
  static const struct {
    unsigned at, is;
  } fixed[2][4] = {{{360, 8}, {520, 16}, {528, 32}, {544, 32}}, {{408, 8}, {600, 16}, {608, 32}, {624, 32}}};
  for (unsigned i = 0; i < 4; i++)
    runtime.word[fixed[version >> 16 & 1 ? 0 : 1][i].at / 8 - 1] = fixed[version >> 16 & 1 ? 0 : 1][i].is;
}

static bool is_known(uint32_t version) {
  struct python_layout layout;
  const char *why = NULL;
  bool known = python_layout_of(version, &runtime, &layout, &why);
  assert_true(known || why);
  return known;
}

static void tables_of_offsets_are_checked(void **state) {
  (void)state;
  make_table(0x030d00f0);
  assert_true(is_known(0x030d00f0));
  assert_false(is_known(0x030d01f0)); /* another release's table */
  runtime.word[1] = 1;
  assert_false(is_known(0x030d00f0)); /* without the lock */
  make_table(0x030d00f0);
  runtime.cookie[0] = 'X';
  assert_false(is_known(0x030d00f0));
  make_table(0x030d00f0);
  runtime.word[184 / 8 - 1] = 1 << 20; /* no offset */
  assert_false(is_known(0x030d00f0));
  make_table(0x030d00f0);
  runtime.word[520 / 8 - 1] = 24; /* bytes are elsewhere */
  assert_false(is_known(0x030d00f0));
  make_table(0x030e00f0);
  assert_true(is_known(0x030e00f0));
}

static void other_versions_are_refused(void **state) {
  (void)state;
  static const uint32_t known[] = {0x030900f0, 0x030a0df0, 0x030b02f0, 0x030c01f0},
                        unknown[] = {0,          0x030b00a7, 0x030d00c2, 0x02071200,
                                     0x030800f0, 0x030f00a1, 0x040900f0};
  for (size_t i = 0; i < 4; i++) assert_true(is_known(known[i]));
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) assert_false(is_known(unknown[i]));
}

/* PyMemberDef */
struct member {
  const char *name;
  uint64_t type, offset, flags;
  const char *text;
};

static void code_of_another_kind_is_refused(void **state) {
  (void)state;
  struct member members[] = {{.name = "co_flags"},
                             {.name = "co_filename", .offset = 112},
                             {.name = "co_name", .offset = 120},
                             {.name = "co_qualname", .offset = 128},
                             {.name = "co_firstlineno", .offset = 68},
                             {.name = "co_linetable", .offset = 136},
                             {.name = NULL}};
  uint64_t type[32] = {[30] = (uintptr_t)members};
  struct python_layout layout;
  const char *why;
  assert_true(python_layout_of(0x030c01f0, NULL, &layout, &why));
  assert_true(python_layout_agrees(&layout, type));
  for (int i = 1; i < 6; i++) {
    members[i].offset += 8;
    assert_false(python_layout_agrees(&layout, type));
    members[i].offset -= 8;
  }
  members[3].name = NULL;
  assert_false(python_layout_agrees(&layout, type));
  type[30] = 0;
  assert_false(python_layout_agrees(&layout, type));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_of_lnotab),
      cmocka_unit_test(lines_of_linetable),
      cmocka_unit_test(lines_of_locations),
      cmocka_unit_test(tables_of_noise_end),
      cmocka_unit_test(texts_are_utf8),
      cmocka_unit_test(long_texts_are_cut),
      cmocka_unit_test(tables_of_offsets_are_checked),
      cmocka_unit_test(other_versions_are_refused),
      cmocka_unit_test(code_of_another_kind_is_refused),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
