/* Files of DHAT: their sums are read without the loss of a byte, their frames have names, and what
 * is wrong with a file is said. */
#include "sources/profile_case.h"

#include "analysis/load/recording.h"
#include "analysis/report/report.h"

static const char head[] = "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,"
                           "\"bkacc\":true,\"tu\":\"instrs\",\"Mtu\":\"Minstr\",\"tuth\":500,"
                           "\"cmd\":\"./prog --fast x/y\",\"pid\":7,\"te\":900,\"tg\":800,";

static struct source *open_text(const char *text) {
  struct source *source;
  if (source_open(profile_file(text, strlen(text)), &source)) fail_msg("%s", wn_last_error());
  return source;
}

static uint64_t random_below(uint64_t *state, uint64_t bound) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 20) % bound;
}

/* A file with so many stacks of random totals, whose sums it sets. */
static char *make_file(uint64_t seed, size_t stacks, struct read_totals *sums) {
  static const char *const names[3][2] = {{"tb", "tbk"}, {"gb", "gbk"}, {"eb", "ebk"}};
  struct bytes bytes = {.at = NULL};
  char text[256];
  *sums = (struct read_totals){{0}, {0}};
  put_text(&bytes, head);
  put_text(&bytes, "\"pps\":[");
  for (size_t i = 0; i < stacks; i++) {
    put_text(&bytes, i ? ",{\"tl\":1" : "{\"tl\":1");
    for (int moment = 0; moment < 3; moment++) {
      uint64_t blocks = random_below(&seed, random_below(&seed, 2) ? 5 : 1000000),
               size = random_below(&seed, random_below(&seed, 2) ? 40 : 50000000),
               more = blocks ? random_below(&seed, blocks) : 0;
      sums->blocks[moment] += blocks;
      sums->bytes[moment] += blocks * size + more;
      snprintf(text, sizeof text, ",\"%s\":%llu,\"%s\":%llu", names[moment][0],
               (unsigned long long)(blocks * size + more), names[moment][1], (unsigned long long)blocks);
      put_text(&bytes, text);
    }
    snprintf(text, sizeof text, ",\"fs\":[%zu,%zu]}", 1 + i % 3, 1 + (i + 1) % 3);
    put_text(&bytes, text);
  }
  put_text(&bytes, "],\"ftbl\":[\"[root]\",\"0x1: a (x.c:1)\",\"0x2: b (x.c:2)\",\"0x3: c (in /l/z.so)\"]}");
  put_bytes(&bytes, "", 1);
  return (char *)bytes.at;
}

static void sums_are_those_of_the_file(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct read_totals sums;
    char *text = make_file(seed, seed * seed, &sums);
    struct source *source = open_text(text);
    struct read_totals read = read_totals(source);
    assert_memory_equal(&read, &sums, sizeof sums);
    source_close(source);
    free(text);
  }
}

static void equals(struct estimate estimate, uint64_t number) {
  assert_true(estimate.estimate == (double)number);
  assert_true(estimate.low == estimate.estimate && estimate.high == estimate.estimate);
}

/* Sums of the report, and of the rows of each table, are exact and have no interval. */
static void reports_have_the_sums_and_no_ranges(void **state) {
  (void)state;
  static const enum measure measures[] = {MEASURE_ALLOCATED, MEASURE_HELD, MEASURE_ALIVE};
  struct read_totals sums;
  char *text = make_file(99, 300, &sums);
  struct recording_options options = {.wrappers = {.none = true}};
  struct recording *recording;
  struct report report;
  assert_int_equal(recording_read(open_text(text), "f", &options, &recording), 0);
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_PEAK}, &report), 0);
  const struct sums *told[] = {&report.allocated, &report.peak.live, &report.live_at_end};
  for (int i = 0; i < 3; i++) {
    struct table table;
    double rows = 0;
    equals(report_bytes(&report, told[i]), sums.bytes[i]);
    equals(report_blocks(&report, told[i]), sums.blocks[i]);
    assert_int_equal(report_table(&report, measures[i], BY_STACK, TABLE_SUMS, &table), 0);
    for (size_t k = 0; k < table.tree.group_count; k++) {
      struct estimate bytes = report_bytes(&report, &table.tree.groups[k].self);
      assert_true(bytes.low == bytes.estimate && bytes.high == bytes.estimate);
      rows += bytes.estimate;
    }
    assert_true(rows == (double)sums.bytes[i]);
    equals(report_bytes(&report, &table.tree.nodes[0].total), sums.bytes[i]);
    table_destroy(&table);
  }
  report_destroy(&report);
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_TIME, .at_ns = 1}, &report), WN_EINVAL);
  assert_int_equal(report_ask(recording, &(struct question){.where = "life < 1s"}, &report), WN_EINVAL);
  assert_int_equal(report_ask(recording, &(struct question){.where = "size > 1K"}, &report), WN_EINVAL);
  assert_int_equal(report_ask(recording, &(struct question){.where = "fn = a"}, &report), 0);
  report_destroy(&report);
  recording_free(recording);
  free(text);
}

/* Rows that are not zero where blocks have no bytes, and rows of a single block. */
static void blocks_without_bytes_count(void **state) {
  (void)state;
  char text[2048];
  snprintf(text, sizeof text,
           "%s\"pps\":[{\"tb\":0,\"tbk\":7,\"gb\":0,\"gbk\":0,\"eb\":1,\"ebk\":3,\"fs\":[0]}],"
           "\"ftbl\":[\"[root]\"]}",
           head);
  struct source *source = open_text(text);
  struct read_totals read = read_totals(source);
  assert_int_equal(read.blocks[0], 7);
  assert_int_equal(read.bytes[0], 0);
  assert_int_equal(read.blocks[2], 3);
  assert_int_equal(read.bytes[2], 1);
  assert_int_equal(source_stack_count(source), 0);
  assert_string_equal(source_run(source)->command.bytes, "./prog");
  assert_string_equal(source_run(source)->command.bytes + 7, "--fast");
  source_close(source);
}

static void frames_have_names(void **state) {
  (void)state;
  static const struct {
    const char *text, *function, *file, *module;
    uint32_t line;
  } frames[] = {
      {"0x109179: leaf (p.c:3)", "leaf", "p.c", "", 3},
      {"0x4841: malloc (in /usr/lib/x/libc.so.6)", "malloc", "", "libc.so.6", 0},
      {"0x1: operator new(unsigned long) (new.cpp:12)", "operator new(unsigned long)", "new.cpp", "", 12},
      {"0x1: f(int) (in /a b/c (d))", "f(int)", "", "c (d)", 0},
      {"0x1: g(int (*)(char))", "g(int (*)(char))", "", "", 0},
      {"0xABC: ???", "0xABC", "", "", 0},
      {"0xABC: ??? (in /usr/lib/y.so)", "0xABC", "", "y.so", 0},
      {"0x1: krate::run::{{closure}} (src/main.rs:12:5)", "krate::run::{{closure}}", "src/main.rs", "", 12},
      {"plain", "plain", "", "", 0},
      {"0x1: ", "", "", "", 0},
      {")", ")", "", "", 0},
      {" (:1)", "", "", "", 1},
      {"", "", "", "", 0},
  };
  for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "%s\"pps\":[{\"tb\":8,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}],"
             "\"ftbl\":[\"[root]\",\"%s\"]}",
             head, frames[i].text);
    struct source *source = open_text(text);
    struct trace_place place;
    assert_int_equal(source_stack_count(source), 1);
    struct trace_node node = source_stack(source, 1);
    assert_true(source_place(source, node.module, node.offset, &place));
    assert_string_equal(place.function.bytes, frames[i].function);
    assert_string_equal(place.file.bytes, frames[i].file);
    assert_string_equal(source_module(source, node.module)->path.bytes, frames[i].module);
    assert_int_equal(place.line, frames[i].line);
    source_close(source);
  }
}

/* The innermost function is that which called malloc, whatever Valgrind put in its place. */
static void stacks_end_at_the_caller_of_malloc(void **state) {
  (void)state;
  static const char *const replaced[] = {
      "0x48: malloc (in /usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so)",
      "0x48: operator new(unsigned long) (vg_replace_malloc.c:422)"};
  for (size_t i = 0; i < 2; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "%s\"pps\":[{\"tb\":8,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1,1,2]}],"
             "\"ftbl\":[\"[root]\",\"%s\",\"0x1: f (x.c:1)\"]}",
             head, replaced[i]);
    struct source *source = open_text(text);
    struct trace_place place;
    assert_int_equal(source_stack_count(source), 1);
    assert_true(source_place(source, source_stack(source, 1).module, source_stack(source, 1).offset, &place));
    assert_string_equal(place.function.bytes, "f");
    source_close(source);
  }
}

static void faults_are_told(void **state) {
  (void)state;
  static const struct {
    const char *stack, *told;
  } faults[] = {
      {"{\"tb\":-1,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}", "'tb' is no whole number"},
      {"{\"tb\":1.5,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}", "'tb' is no whole number"},
      {"{\"tb\":8,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}", "in its stack 1 'tbk' is no"},
      {"{\"tb\":8,\"tbk\":0,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}", "bytes without a block"},
      {"{\"tb\":9007199254740992,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}", "2^53"},
      {"{\"tb\":9223372036854775808,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[1]}", "too big"},
      {"{\"tb\":8,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[3]}",
       "a frame that does not exist"},
      {"{\"tb\":8,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[-1]}",
       "a frame that does not exist"},
      {"{\"tb\":8,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0,\"fs\":[2]}", "a frame that is no text"},
      {"{\"tb\":8,\"tbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,\"ebk\":0}", "the frames are missing"},
      {"7", "the frames are missing"},
      {"{", "line 1:"},
  };
  struct bytes bytes = {.at = NULL};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    bytes.count = 0;
    put_text(&bytes, head);
    put_text(&bytes, "\"pps\":[");
    put_text(&bytes, faults[i].stack);
    put_text(&bytes, "],\"ftbl\":[\"[root]\",\"0x1: f\",3]}");
    refuses(&bytes, faults[i].told);
  }
  static const char *const whole[][2] = {
      {"{\"dhatFileVersion\":3}", "not of its version 2"},
      {"{\"dhatFileVersion\":2,\"mode\":\"ad-hoc\",\"bklt\":false}", "recorded no heap, but 'ad-hoc'"},
      {"{\"dhatFileVersion\":2,\"bklt\":true}", "no 'pps'"},
      {"{\"dhatFileVersion\":2,\"bklt\":true,\"pps\":[],\"ftbl\":7}", "no 'ftbl'"},
      {"{\"dhatFileVersion\":2}x", "line 1: end of file expected"},
  };
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    bytes.count = 0;
    put_text(&bytes, whole[i][0]);
    refuses(&bytes, whole[i][1]);
  }
  bytes.count = 0;
  put_text(&bytes, "{\"dhatFileVersion\":");
  for (int i = 0; i < 1000000; i++) put_text(&bytes, "[");
  refuses(&bytes, "line 1: maximum parsing depth");
  free(bytes.at);
}

static void files_that_are_cut_are_refused(void **state) {
  (void)state;
  struct read_totals sums;
  char *text = make_file(3, 5, &sums);
  for (size_t length = strlen(text) - 1; length > 40; length--) {
    struct bytes bytes = {(unsigned char *)text, length, length};
    refuses(&bytes, "a damaged file of DHAT: line ");
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_the_file),
      cmocka_unit_test(reports_have_the_sums_and_no_ranges),
      cmocka_unit_test(blocks_without_bytes_count),
      cmocka_unit_test(frames_have_names),
      cmocka_unit_test(stacks_end_at_the_caller_of_malloc),
      cmocka_unit_test(faults_are_told),
      cmocka_unit_test(files_that_are_cut_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
