/* Names of addresses in libraries with and without symbols, found in all the places where symbols
 * may be. */
#include "support/test.h"

#include "symbols/symbols.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 8 };

static const unsigned char subject_id[20] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
                                             0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67};

static uintptr_t returned_to;
static int note_return(void) {
  returned_to = (uintptr_t)__builtin_return_address(0);
  return 1;
}

static int inner_line, middle_line, outer_line, own_line; /* own_line: of a function that inlines nothing */

/* Runs a function of a library up to the call back; gives the return address as an address in its
 * file. */
static uint64_t run_function(const char *path, const char *name) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(handle);
  int (*outer)(int (*)(void));
  *(void **)&outer = dlsym(handle, name);
  assert_non_null(outer);
  outer(note_return);
  const int *line = dlsym(handle, "subject_inner_line");
  if (line) {
    inner_line = *line;
    middle_line = *(const int *)dlsym(handle, "subject_middle_line");
    outer_line = *(const int *)dlsym(handle, "subject_outer_line");
  }
  line = dlsym(handle, "subject_line");
  if (line) own_line = *line;
  uint64_t offset = returned_to - ((struct link_map *)handle)->l_addr;
  dlclose(handle);
  return offset;
}

static uint64_t run(const char *path) { return run_function(path, "subject_outer"); }

static struct symbol_module subject_at(const char *path) {
  return (struct symbol_module){.path = path, .build_id = subject_id, .build_id_bytes = sizeof subject_id};
}

static void expect_all_inlined_frames(struct symbols *symbols, const char *path) {
  struct symbol_frame frames[FRAMES];
  struct symbol_module module = subject_at(path);
  uint64_t offset = run(SUBJECT);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(symbols_resolve(symbols, &module, offset, frames, FRAMES), 3);
    const char *const names[] = {"inner", "middle", "hidden"};
    const int lines[] = {inner_line, middle_line, outer_line};
    for (int i = 0; i < 3; i++) {
      assert_string_equal(frames[i].function, names[i]);
      assert_non_null(strstr(frames[i].file, "symbols/subject.c"));
      assert_int_equal(frames[i].line, lines[i]);
      assert_int_equal(frames[i].inlined, i < 2);
    }
  }
  const char *hint;
  assert_int_equal(symbols_state(symbols, &module, &hint), SYMBOLS_OK);
  assert_string_equal(hint, "");
  assert_int_equal(symbols_resolve(symbols, &module, offset, frames, 1), 1);
}

static struct symbols *open_with(const char *const *search) {
  struct symbols *symbols = symbols_open(&(struct symbols_options){.search = search});
  assert_non_null(symbols);
  return symbols;
}

static void inlined_calls_have_names_and_lines(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  expect_all_inlined_frames(symbols, SUBJECT);
  symbols_close(symbols);
}

static void symbols_are_found_by_build_id(void **state) {
  (void)state;
  const char *search[] = {PLACE "/debug", NULL};
  struct symbols *symbols = open_with(search);
  expect_all_inlined_frames(symbols, PLACE "/stripped/subject.so");
  symbols_close(symbols);
}

static void symbols_are_found_by_debug_link(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  expect_all_inlined_frames(symbols, PLACE "/linked/subject.so");
  symbols_close(symbols);
}

static void symbols_do_without_the_file_itself(void **state) {
  (void)state;
  const char *search[] = {PLACE "/debug", NULL};
  struct symbols *symbols = open_with(search);
  expect_all_inlined_frames(symbols, "/nowhere/subject.so");
  symbols_close(symbols);
}

/* A file that is asked about anew once its answers are closed is opened anew. */
static void answers_outlive_their_files(void **state) {
  (void)state;
  struct symbols *symbols = symbols_open(&(struct symbols_options){.lasting = true});
  struct symbol_module module = subject_at(PLACE "/lasting.so");
  struct symbol_frame frames[FRAMES];
  assert_int_equal(system("cp " SUBJECT " " PLACE "/lasting.so"), 0);
  expect_all_inlined_frames(symbols, PLACE "/lasting.so");
  symbols_close_files(symbols);
  size_t count = symbols_resolve(symbols, &module, run(SUBJECT) + 1, frames, FRAMES);
  assert_in_range(count, 1, FRAMES);
  assert_string_equal(frames[count - 1].function, "hidden");
  symbols_close_files(symbols);
  size_t bytes = symbols_answer_bytes(symbols);
  assert_in_range(bytes, 200, 10000);
  assert_int_equal(truncate(PLACE "/lasting.so", 0), 0);
  expect_all_inlined_frames(symbols, PLACE "/lasting.so");
  assert_int_equal(symbols_answer_bytes(symbols), bytes);
  symbols_close(symbols);
}

static void another_version_gives_no_names(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = subject_at(PLACE "/wrong/subject.so");
  struct symbol_frame frames[FRAMES];
  char expected[64];
  uint64_t offset = run(SUBJECT);
  snprintf(expected, sizeof expected, "subject+0x%llx", (unsigned long long)offset);
  assert_int_equal(symbols_resolve(symbols, &module, offset, frames, FRAMES), 1);
  assert_string_equal(frames[0].function, expected);
  assert_null(frames[0].file);
  const char *hint;
  assert_int_equal(symbols_state(symbols, &module, &hint), SYMBOLS_MISMATCH);
  assert_non_null(strstr(hint, PLACE "/wrong/subject.so is not the version"));
  symbols_close(symbols);
}

/* The right file in a search folder is preferred to a wrong one at the recorded path. */
static void a_search_folder_helps_against_another_version(void **state) {
  (void)state;
  const char *search[] = {PLACE "/linked", NULL};
  struct symbols *symbols = open_with(search);
  expect_all_inlined_frames(symbols, PLACE "/wrong/subject.so");
  symbols_close(symbols);
}

static void a_missing_file_gives_an_offset_and_a_hint(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = subject_at("/nowhere/subject.so");
  struct symbol_frame frames[FRAMES];
  assert_int_equal(symbols_resolve(symbols, &module, 0x1234, frames, FRAMES), 1);
  assert_string_equal(frames[0].function, "subject+0x1234");
  assert_true(frames[0].nameless);
  const char *hint;
  assert_int_equal(symbols_state(symbols, &module, &hint), SYMBOLS_MISSING);
  assert_non_null(strstr(hint, "set DEBUGINFOD_URLS"));
  symbols_close(symbols);
}

/* By the call-frame information, which stripped files have too. */
static void functions_have_the_size_of_their_code(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_frame frames[FRAMES], stripped[FRAMES];
  struct symbol_module module = subject_at(SUBJECT), bare = subject_at(PLACE "/stripped/subject.so");
  uint64_t offset = run(SUBJECT);
  assert_int_equal(symbols_resolve(symbols, &module, offset, frames, FRAMES), 3);
  assert_int_equal(symbols_resolve(symbols, &bare, offset, stripped, FRAMES), 1);
  assert_int_equal(frames[0].bytes, 0); /* inlined */
  assert_int_equal(frames[1].bytes, 0);
  assert_in_range(frames[2].bytes, 8, 400); /* all of it: more than a rule for unwinding is for */
  assert_int_equal(stripped[0].bytes, frames[2].bytes);
  symbols_close(symbols);
}

static void stripped_files_name_only_what_they_export(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = subject_at(PLACE "/stripped/subject.so");
  struct symbol_frame at, before, first, outside;
  uint64_t offset = run(SUBJECT);
  assert_int_equal(symbols_resolve(symbols, &module, offset, &at, 1), 1);
  assert_int_equal(symbols_resolve(symbols, &module, offset - 1, &before, 1), 1);
  assert_true(at.nameless && !at.linkage);
  assert_string_equal(at.function, before.function); /* the function's start, not the place of the call */
  assert_int_equal(strncmp(at.function, "subject+0x", 10), 0);
  uint64_t start = strtoull(at.function + 8, NULL, 16);
  assert_true(start < offset && offset - start < 256);
  assert_int_equal(symbols_resolve(symbols, &module, start + 1, &first, 1), 1);
  assert_string_equal(first.function, at.function); /* all of a function has one name */
  assert_int_equal(symbols_resolve(symbols, &module, start, &outside, 1), 1);
  assert_true(at.bytes && !outside.bytes); /* `start` returns to it: the call is before it */
  assert_int_equal(symbols_state(symbols, &module, NULL), SYMBOLS_TABLE_ONLY);
  symbols_close(symbols);
}

static void symbol_tables_name_functions_without_lines(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = subject_at(PLACE "/table/subject.so");
  struct symbol_frame frames[FRAMES];
  assert_int_equal(symbols_resolve(symbols, &module, run(SUBJECT), frames, FRAMES), 1);
  assert_string_equal(frames[0].function, "hidden");
  assert_null(frames[0].file);
  const char *hint;
  assert_int_equal(symbols_state(symbols, &module, &hint), SYMBOLS_TABLE_ONLY);
  assert_non_null(strstr(hint, "-dbgsym"));
  symbols_close(symbols);
}

/* Byte 0 to 3 of 16 are before the inner symbol, which has 4; return addresses are one further. */
static void the_innermost_symbol_names_an_address(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = subject_at(PLACE "/table/subject.so");
  void *handle = dlopen(SUBJECT, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(handle);
  uint64_t around = (uintptr_t)dlsym(handle, "subject_around") - ((struct link_map *)handle)->l_addr;
  dlclose(handle);
  for (uint64_t byte = 0; byte < 16; byte++) {
    struct symbol_frame frame;
    assert_int_equal(symbols_resolve(symbols, &module, around + byte + 1, &frame, 1), 1);
    assert_string_equal(frame.function, byte / 4 == 1 ? "subject_inside" : "subject_around");
  }
  symbols_close(symbols);
}

/* The line of the innermost frame is the address's; those of the frames around it are of calls. */
static void a_frame_that_inlines_nothing_has_the_line_of_its_address(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = {.path = SUBJECT_CPP};
  struct symbol_frame frames[FRAMES];
  assert_int_equal(symbols_resolve(symbols, &module, run(SUBJECT_CPP), frames, FRAMES), 1);
  assert_non_null(strstr(frames[0].file, "symbols/subject.cpp"));
  assert_int_equal(frames[0].line, own_line);
  symbols_close(symbols);
}

static void cpp_names_are_taken_apart(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = {.path = SUBJECT_CPP};
  struct symbol_frame frames[FRAMES];
  assert_int_equal(symbols_resolve(symbols, &module, run(SUBJECT_CPP), frames, FRAMES), 1);
  assert_string_equal(frames[0].function, "zoo::cage<long>::open(int (*)(), long)");
  assert_string_equal(frames[0].linkage, "_ZN3zoo4cageIlE4openEPFivEl");
  symbols_close(symbols);
}

/* In an anonymous namespace nothing has a linkage name. */
static void functions_without_linkage_names_have_their_class(void **state) {
  (void)state;
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = {.path = SUBJECT_CPP_MORE};
  struct symbol_frame frame;
  assert_int_equal(symbols_resolve(symbols, &module, run(SUBJECT_CPP_MORE), &frame, 1), 1);
  assert_string_equal(frame.function, "(anonymous namespace)::Deep<3>::go<(anonymous "
                                      "namespace)::Cage<(anonymous namespace)::Cage<long int>>>");
  symbols_close(symbols);
}

static void code_outside_of_all_functions_has_no_line_of_a_neighbour(void **state) {
  (void)state;
#ifdef __x86_64__
  struct symbols *symbols = open_with(NULL);
  struct symbol_module module = {.path = SUBJECT_CPP_MORE};
  struct symbol_frame frame;
  uint64_t offset = run_function(SUBJECT_CPP_MORE, "subject_bare");
  assert_int_equal(symbols_resolve(symbols, &module, offset, &frame, 1), 1);
  assert_string_equal(frame.function, "subject_bare");
  assert_null(frame.file);
  assert_int_equal(frame.line, 0);
  symbols_close(symbols);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inlined_calls_have_names_and_lines),
      cmocka_unit_test(symbols_are_found_by_build_id),
      cmocka_unit_test(symbols_are_found_by_debug_link),
      cmocka_unit_test(symbols_do_without_the_file_itself),
      cmocka_unit_test(answers_outlive_their_files),
      cmocka_unit_test(another_version_gives_no_names),
      cmocka_unit_test(a_search_folder_helps_against_another_version),
      cmocka_unit_test(a_missing_file_gives_an_offset_and_a_hint),
      cmocka_unit_test(functions_have_the_size_of_their_code),
      cmocka_unit_test(stripped_files_name_only_what_they_export),
      cmocka_unit_test(symbol_tables_name_functions_without_lines),
      cmocka_unit_test(the_innermost_symbol_names_an_address),
      cmocka_unit_test(a_frame_that_inlines_nothing_has_the_line_of_its_address),
      cmocka_unit_test(cpp_names_are_taken_apart),
      cmocka_unit_test(functions_without_linkage_names_have_their_class),
      cmocka_unit_test(code_outside_of_all_functions_has_no_line_of_a_neighbour),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
