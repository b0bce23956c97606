/* Comparisons of code without names: an address is the same code in the same build of its file alone.
 * And what else two runs must share to be compared: the limits of lives. */
#include "analysis/story.h"

#include "analysis/compare/merged_tree.h"
#include "analysis/compare/pair.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- recordings ---- */

/* A run of one file. Stack n is the function at 16 n; it allocates 200 blocks. */
struct told {
  const char *path, *name; /* name: of the function at 32, of a language; NULL: no function has a name */
  const char *command;     /* NULL: "story" */
  uint8_t build;           /* each byte of the build-id; 0: it has none */
  uint64_t size;
  uint32_t pid;
  uint64_t lives_ns; /* of the blocks; 0: they are not freed */
  uint64_t end_ns;   /* 0: 1000000 */
};

enum { STACKS = 3, BLOCKS = 600, OUTSIDE = 3 /* the stack outside of any file */ };

static const struct told *told;

static void node_told(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = 0;
  *module = node == OUTSIDE ? 0 : 1;
  *offset = 16 * node;
}

static void module_told(void *context, uint32_t module, struct trace_module *out) {
  (void)context, (void)module;
  uint64_t base = told->name ? TRACE_LANGUAGE_BASE : 0x1000;
  *out = (struct trace_module){.base = base, .bias = base, .size = told->size ? told->size : 0x100000};
  out->path = trace_text_of(told->path ? told->path : "/nowhere/prog");
  out->build_id_bytes = told->build ? 20 : 0;
  memset(out->build_id, told->build, out->build_id_bytes);
}

static bool place_told(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context, (void)module;
  *out = (struct trace_place){.function = trace_text_of(offset == 32 && told->name ? told->name : "")};
  return true;
}

static struct recording *record(const struct told *of) {
  struct tree_source source = {.node = node_told, .module = module_told, .place = place_told};
  struct trace_options options = {.path = story_path()};
  struct trace_run run = {.command = trace_text_of(of->command ? of->command : "story"),
                          .host = trace_text_of("host"),
                          .rate = 0.01,
                          .word_bytes = 8,
                          .stack_depth = 9,
                          .pid = of->pid,
                          .wall_ns = 1700000000000000000u};
  struct trace_writer *writer;
  struct recording *recording;
  told = of;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  for (uint64_t i = 1; i <= BLOCKS; i++) {
    story_alloc(writer, i, i * 1000, 64, 1 + (uint32_t)i % STACKS);
    if (of->lives_ns) story_free(writer, i, i * 1000 + of->lives_ns);
  }
  trace_write_end(writer,
                  &(struct trace_end){.time_ns = of->end_ns ? of->end_ns : 1000000, .kind = TRACE_END_EXIT});
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &(struct recording_options){0}, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

/* ---- comparisons ---- */

struct compared_builds {
  struct recording *before, *after;
  struct pair pair;
  struct compared_tables tables;
  char note[COMPARISON_NOTE_MOST];
};

static struct compared_builds *compare_by(const struct told *before, const struct told *after,
                                          enum measure measure, enum grouping grouping) {
  struct compared_builds *of = calloc(1, sizeof *of);
  struct question question = {.at = AT_END};
  assert_non_null(of);
  of->before = record(before);
  of->after = record(after);
  assert_int_equal(pair_of_runs(of->before, &question, of->after, &question, PER_RUN, &of->pair), WN_OK);
  assert_int_equal(pair_compare(&of->pair, measure, grouping, EXTENT_SELF, &of->tables), WN_OK);
  comparison_note(&of->tables.comparison, of->note);
  return of;
}

static struct compared_builds *compare(const struct told *before, const struct told *after) {
  return compare_by(before, after, MEASURE_ALLOCATED, BY_FUNCTION);
}

static void forget(struct compared_builds *of) {
  compared_tables_destroy(&of->tables);
  pair_destroy(&of->pair);
  recording_free(of->before);
  recording_free(of->after);
  free(of);
}

/* The fate of the row with this name that only the run before (or after) has, or that both have; NULL:
 * there is no such row. */
enum found { ONLY_BEFORE, ONLY_AFTER, BOTH };

static const char *fate_of(const struct compared_builds *of, const char *name, enum found found) {
  const struct comparison *comparison = &of->tables.comparison;
  for (size_t i = 0; i < comparison->count; i++) {
    const struct compared *row = &comparison->rows[i];
    enum found in = !row->after ? ONLY_BEFORE : !row->before ? ONLY_AFTER : BOTH;
    char text[256];
    table_name(comparison_table(comparison, row), compared_group(row), text, sizeof text);
    if (in == found && !strcmp(text, name)) return compared_fate(comparison, row);
  }
  return NULL;
}

static void expect_fate(const struct compared_builds *of, const char *name, enum found found,
                        const char *fate) {
  const char *is = fate_of(of, name, found);
  if (!is || strcmp(is, fate) != 0) fail_msg("%s: '%s', not '%s'", name, is ? is : "no row", fate);
}

/* ---- which addresses are the same code ---- */

static void expect_matched(const struct told *before, const struct told *after, bool matched) {
  struct compared_builds *of = compare(before, after);
  if (matched) {
    expect_fate(of, "prog+0x10", BOTH, "");
    expect_fate(of, "prog+0x20", BOTH, "");
    assert_null(strstr(of->note, "not matched"));
  } else {
    expect_fate(of, "prog+0x10", ONLY_BEFORE, "gone or moved");
    expect_fate(of, "prog+0x10", ONLY_AFTER, "new or moved");
    assert_non_null(strstr(of->note, "same build of prog"));
    assert_non_null(strstr(of->note, "not matched"));
  }
  forget(of);
}

static void addresses_of_one_build_are_the_same_code(void **state) {
  (void)state;
  expect_matched(&(struct told){.build = 7}, &(struct told){.build = 7}, true);
  expect_matched(&(struct told){.build = 7, .path = "/old/prog"},
                 &(struct told){.build = 7, .path = "/new/prog", .size = 0x200000}, true);
  struct compared_builds *of =
      compare(&(struct told){.build = 7, .pid = 1}, &(struct told){.build = 7, .pid = 1});
  assert_string_equal(of->note, "");
  forget(of);
}

static void addresses_of_two_builds_are_not(void **state) {
  (void)state;
  expect_matched(&(struct told){.build = 7}, &(struct told){.build = 8}, false);
  expect_matched(&(struct told){.build = 7}, &(struct told){.build = 0}, false);
}

static void without_build_ids_path_and_size_decide_and_the_note_says_so(void **state) {
  (void)state;
  struct told plain = {.build = 0};
  expect_matched(&plain, &(struct told){.size = 0x101000}, false);
  expect_matched(&plain, &(struct told){.path = "/elsewhere/prog"}, false);
  expect_matched(&plain, &plain, true);
  struct compared_builds *of = compare(&plain, &plain);
  assert_non_null(strstr(of->note, "no build-id in prog"));
  forget(of);
}

static void a_build_is_the_same_code_under_another_name(void **state) {
  (void)state;
  struct compared_builds *of = compare(&(struct told){.build = 7, .path = "/lib/libx.so.1"},
                                       &(struct told){.build = 7, .path = "/lib/libx.so.2"});
  expect_fate(of, "libx+0x10", BOTH, "");
  assert_null(fate_of(of, "libx+0x10", ONLY_BEFORE));
  forget(of);
}

static void addresses_outside_of_files_are_those_of_one_process(void **state) {
  (void)state;
  struct compared_builds *of =
      compare(&(struct told){.build = 7, .pid = 1}, &(struct told){.build = 7, .pid = 2});
  expect_fate(of, "0x30", ONLY_BEFORE, "gone or moved");
  expect_fate(of, "0x30", ONLY_AFTER, "new or moved");
  expect_fate(of, "prog+0x10", BOTH, "");
  forget(of);
  of = compare(&(struct told){.build = 7, .pid = 1}, &(struct told){.build = 7, .pid = 1});
  expect_fate(of, "0x30", BOTH, "");
  forget(of);
}

/* The line of a function without lines is an address too. Modules have names. */
static void lines_are_matched_likewise_and_modules_by_name(void **state) {
  (void)state;
  struct told before = {.build = 7}, after = {.build = 8};
  struct compared_builds *of = compare_by(&before, &after, MEASURE_ALLOCATED, BY_LINE);
  expect_fate(of, "prog+0x10", ONLY_BEFORE, "gone or moved");
  assert_non_null(strstr(of->note, "code without a line"));
  forget(of);
  of = compare_by(&before, &after, MEASURE_ALLOCATED, BY_MODULE);
  expect_fate(of, "prog", BOTH, "");
  assert_string_equal(of->note, "");
  forget(of);
}

/* ---- names ---- */

static void a_name_is_new_for_certain_only_if_the_other_build_had_names(void **state) {
  (void)state;
  struct told nameless = {.path = "[story]", .name = "", .build = 7},
              named = {.path = "[story]", .name = "parse", .build = 8},
              same = {.path = "[story]", .name = "parse", .build = 7},
              other = {.path = "[story]", .name = "print", .build = 7};
  struct compared_builds *of = compare(&nameless, &named);
  expect_fate(of, "parse", ONLY_AFTER, "new or moved");
  expect_fate(of, "[story]+0x20", ONLY_BEFORE, "gone or moved");
  forget(of);
  of = compare(&named, &nameless);
  expect_fate(of, "parse", ONLY_BEFORE, "gone or moved");
  forget(of);
  of = compare(&other, &same);
  expect_fate(of, "parse", ONLY_AFTER, "new");
  expect_fate(of, "print", ONLY_BEFORE, "gone");
  expect_fate(of, "[story]+0x10", BOTH, "");
  forget(of);
}

/* One build, read once with its names and once without. */
static void a_build_that_has_names_in_one_run_alone_may_have_moved(void **state) {
  (void)state;
  struct told nameless = {.path = "[story]", .name = "", .build = 7},
              named = {.path = "[story]", .name = "parse", .build = 7};
  struct compared_builds *of = compare(&named, &nameless);
  expect_fate(of, "parse", ONLY_BEFORE, "gone or moved");
  expect_fate(of, "[story]+0x20", ONLY_AFTER, "new or moved");
  expect_fate(of, "[story]+0x10", BOTH, "");
  assert_non_null(strstr(of->note, "In one of the runs code of [story] has no names"));
  assert_null(strstr(of->note, "same build"));
  forget(of);
  of = compare(&nameless, &named);
  expect_fate(of, "parse", ONLY_AFTER, "new or moved");
  expect_fate(of, "[story]+0x20", ONLY_BEFORE, "gone or moved");
  forget(of);
}

/* The command of all stories is `story`. */
static void a_file_of_one_run_has_not_moved_unless_it_is_the_program(void **state) {
  (void)state;
  struct compared_builds *of = compare(&(struct told){.path = "/bin/one", .build = 7, .pid = 1},
                                       &(struct told){.path = "/bin/other", .build = 8, .pid = 1});
  expect_fate(of, "one+0x10", ONLY_BEFORE, "gone");
  expect_fate(of, "other+0x10", ONLY_AFTER, "new");
  assert_string_equal(of->note, "");
  forget(of);
  of = compare(&(struct told){.path = "/bin/a.out", .command = "./a.out", .build = 7, .pid = 1},
               &(struct told){.path = "/bin/b.out1.2", .command = "b.out", .build = 8, .pid = 1});
  expect_fate(of, "a.out+0x10", ONLY_BEFORE, "gone or moved");
  expect_fate(of, "b.out1.2+0x10", ONLY_AFTER, "new or moved");
  assert_non_null(
      strstr(of->note, "The programs have two names (a.out and b.out1.2), and code without a name"));
  assert_null(strstr(of->note, "same build"));
  forget(of);
  of = compare(&(struct told){.path = "/lib/libx.so.1", .build = 7},
               &(struct told){.path = "/lib/libx.so.2", .build = 8});
  expect_fate(of, "libx+0x10", ONLY_BEFORE, "gone or moved");
  assert_non_null(strstr(of->note, "same build of libx.so.1 and libx.so.2"));
  forget(of);
}

static void two_moments_of_one_run_have_the_same_code(void **state) {
  (void)state;
  struct recording *recording = record(&(struct told){.lives_ns = 100000});
  struct pair pair;
  struct compared_tables tables;
  char note[COMPARISON_NOTE_MOST];
  assert_int_equal(pair_of_moments(recording, NULL, 200000, 400000, &pair), WN_OK);
  assert_int_equal(pair_compare(&pair, MEASURE_HELD, BY_FUNCTION, EXTENT_SELF, &tables), WN_OK);
  assert_int_equal(tables.comparison.count, STACKS);
  for (size_t i = 0; i < STACKS; i++) {
    const struct compared *row = &tables.comparison.rows[i];
    assert_true(row->before && row->after && !*compared_fate(&tables.comparison, row));
  }
  comparison_note(&tables.comparison, note);
  assert_string_equal(note, "");
  compared_tables_destroy(&tables);
  pair_destroy(&pair);
  recording_free(recording);
}

static void joined_trees_keep_the_code_of_two_builds_apart(void **state) {
  (void)state;
  struct compared_builds *of = compare(&(struct told){.build = 7}, &(struct told){.build = 8});
  struct merged_tree joined;
  assert_int_equal(merged_tree_make(&of->tables.before, &of->tables.after, &joined), WN_OK);
  assert_int_equal(joined.tree.node_count, 1 + 2 * (STACKS - 1) + 1); /* of one process: one node outside */
  for (uint32_t node = 1; node < joined.tree.node_count; node++) {
    bool had = joined.before[node].total.bytes.samples, has = joined.tree.nodes[node].total.bytes.samples;
    uint32_t name = joined.tree.labels[joined.tree.nodes[node].label].function;
    bool after = joined.tree.nodes[node].label < joined.after_label_count;
    const char *text = strings_text((after ? of->after : of->before)->names.strings, name);
    assert_true((had && has) == !strcmp(text, "0x30"));
  }
  merged_tree_destroy(&joined);
  forget(of);
}

/* ---- lives ---- */

static double difference(const struct told *before, const struct told *after, enum measure measure) {
  struct compared_builds *of = compare_by(before, after, measure, BY_FUNCTION);
  assert_int_equal(of->pair.before.brief_ns, of->pair.after.brief_ns);
  assert_int_equal(of->pair.before.long_ns, of->pair.after.long_ns);
  assert_true(of->tables.comparison.bytes.before.samples > 0);
  double bytes = of->tables.comparison.bytes.difference.estimate;
  forget(of);
  return bytes;
}

/* Blocks that live 5 us, in a run of 1 ms and in one of 100 ms, and blocks that live 600 us: by its own
 * limits the longer run would have no long lives, and more brief ones. */
static void equal_lives_do_not_differ_because_a_run_is_longer(void **state) {
  (void)state;
  struct told brief = {.lives_ns = 5000, .build = 7}, brief_long_run = brief;
  struct told lasting = {.lives_ns = 600000, .build = 7, .end_ns = 1200000}, lasting_long_run = lasting;
  brief_long_run.end_ns = lasting_long_run.end_ns = 100000000;
  assert_true(fabs(difference(&brief, &brief_long_run, MEASURE_CHURN)) < 1e-6);
  assert_true(fabs(difference(&brief_long_run, &brief, MEASURE_CHURN)) < 1e-6);
  assert_true(fabs(difference(&lasting, &lasting_long_run, MEASURE_LASTING)) < 1e-6);
  assert_true(fabs(difference(&lasting_long_run, &lasting, MEASURE_LASTING)) < 1e-6);
}

static void limits_are_those_of_the_shorter_run(void **state) {
  (void)state;
  struct told lasting = {.lives_ns = 600000, .end_ns = 1200600}, longer = lasting;
  longer.end_ns = 100000000;
  struct compared_builds *of = compare_by(&longer, &lasting, MEASURE_LASTING, BY_FUNCTION);
  assert_int_equal(of->pair.before.long_ns, 1200600 / 2);
  assert_int_equal(of->pair.before.brief_ns, 1200600 / 100);
  assert_true(of->tables.comparison.bytes.before.samples == 0);
  forget(of);
}

/* ---- one recording ---- */

static bool same(const struct told *one, const struct told *other) {
  struct recording *left = record(one), *right = record(other);
  bool is_same = recording_is_same(left, right);
  recording_free(left);
  recording_free(right);
  return is_same;
}

static void copies_of_a_recording_are_known(void **state) {
  (void)state;
  assert_true(same(&(struct told){.pid = 1}, &(struct told){.pid = 1}));
  assert_false(same(&(struct told){.pid = 1}, &(struct told){.pid = 2}));
  assert_false(same(&(struct told){.pid = 1}, &(struct told){.pid = 1, .end_ns = 2000000}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_of_one_build_are_the_same_code),
      cmocka_unit_test(addresses_of_two_builds_are_not),
      cmocka_unit_test(without_build_ids_path_and_size_decide_and_the_note_says_so),
      cmocka_unit_test(a_build_is_the_same_code_under_another_name),
      cmocka_unit_test(addresses_outside_of_files_are_those_of_one_process),
      cmocka_unit_test(lines_are_matched_likewise_and_modules_by_name),
      cmocka_unit_test(a_name_is_new_for_certain_only_if_the_other_build_had_names),
      cmocka_unit_test(a_build_that_has_names_in_one_run_alone_may_have_moved),
      cmocka_unit_test(a_file_of_one_run_has_not_moved_unless_it_is_the_program),
      cmocka_unit_test(two_moments_of_one_run_have_the_same_code),
      cmocka_unit_test(joined_trees_keep_the_code_of_two_builds_apart),
      cmocka_unit_test(equal_lives_do_not_differ_because_a_run_is_longer),
      cmocka_unit_test(limits_are_those_of_the_shorter_run),
      cmocka_unit_test(copies_of_a_recording_are_known),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
