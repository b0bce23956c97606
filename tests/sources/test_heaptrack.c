/* Files of heaptrack: what is held is exact at each event, frames have names, and a line that is
 * wrong is told with its number. */
#include "sources/profile_case.h"

#include "analysis/load/recording.h"
#include "analysis/report/report.h"

/* The stacks: 1 is main; 2 is outer, with middle and inner inlined, called by main; 3 is an address. */
static const char head[] = "v 10400 3\n"
                           "X ./prog --fast\n"
                           "I 1000 5e298f\n"
                           "s 9 /bin/prog\n"
                           "s 4 main\n"
                           "s 5 inner\n"
                           "s 6 middle\n"
                           "s 5 outer\n"
                           "s 6 /s/p.c\n"
                           "s 9 /lib/l.so\n"
                           "i 4010 1 2 6 64\n"
                           "t 1 0\n"
                           "i 4020 1 3 6 a 4 6 b 5 6 c\n"
                           "t 2 1\n"
                           "i 7f12 7\n"
                           "t 3 1\n"
                           "# a comment\n\n"
                           "a 10 1\n"
                           "a 3e8 2\n"
                           "a 0 3\n";

static struct bytes make(const char *behind) {
  struct bytes bytes = {.at = NULL};
  put_text(&bytes, head);
  put_text(&bytes, behind);
  return bytes;
}

static void frames_have_names(void **state) {
  (void)state;
  static const struct {
    uint32_t parent, line;
    const char *function, *file, *module;
  } frames[] = {{0, 0x64, "main", "/s/p.c", "prog"},
                {1, 0xc, "outer", "/s/p.c", "prog"},
                {2, 0xb, "middle", "/s/p.c", "prog"},
                {3, 0xa, "inner", "/s/p.c", "prog"},
                {1, 0, "0x7f12", "", "l.so"}};
  struct bytes bytes = make("");
  struct source *source = open_bytes(&bytes);
  assert_int_equal(source_stack_count(source), sizeof frames / sizeof *frames);
  for (uint32_t i = 0; i < source_stack_count(source); i++) {
    struct trace_node node = source_stack(source, i + 1);
    struct trace_place place;
    assert_true(source_place(source, node.module, node.offset, &place));
    assert_int_equal(node.parent, frames[i].parent);
    assert_string_equal(place.function.bytes, frames[i].function);
    assert_string_equal(place.file.bytes, frames[i].file);
    assert_int_equal(place.line, frames[i].line);
    assert_string_equal(source_module(source, node.module)->path.bytes, frames[i].module);
  }
  assert_string_equal(source_run(source)->command.bytes + 7, "--fast");
  assert_string_equal(source_run(source)->writer.bytes, "heaptrack");
  source_close(source);
  free(bytes.at);
}

/* Random events, whose sums are known at each time. */
static void what_is_held_is_exact(void **state) {
  (void)state;
  static const uint64_t sizes[] = {0x10, 0x3e8, 0};
  for (uint64_t seed = 1; seed <= 10; seed++) {
    struct bytes bytes = make("c 0\n");
    uint64_t random = seed, live[3] = {0}, held = 0, peak = 0, allocated = 0, calls = 0, ms = 0;
    char line[32];
    for (int i = 0; i < 3000; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      unsigned kind = (unsigned)(random >> 40) % 3;
      bool frees = (random >> 50) % 2 && live[kind];
      if ((random >> 33) % 50 == 0) {
        snprintf(line, sizeof line, "c %llx\nR 3c2\n", (unsigned long long)(ms += 10));
        put_text(&bytes, line);
      }
      snprintf(line, sizeof line, "%c %x\n", frees ? '-' : '+', kind);
      put_text(&bytes, line);
      live[kind] += frees ? -1ull : 1;
      held += frees ? -sizes[kind] : sizes[kind];
      allocated += frees ? 0 : sizes[kind];
      calls += !frees;
      if (held > peak) peak = held;
    }
    struct recording_options options = {.wrappers = {.none = true}};
    struct recording *recording;
    struct report report;
    assert_int_equal(recording_read(open_bytes(&bytes), "f", &options, &recording), 0);
    assert_int_equal(report_ask(recording, &(struct question){.at = AT_PEAK}, &report), 0);
    assert_true(report.peak.live.bytes.total == (double)peak);
    assert_true(report.allocated.bytes.total == (double)allocated);
    assert_true(report.allocated.blocks.total == (double)calls);
    assert_true(report.live_at_end.bytes.total == (double)held);
    assert_true(report.live_at_end.blocks.total == (double)(live[0] + live[1] + live[2]));
    assert_int_equal(recording->samples->unmatched, 0);
    assert_in_range(recording->samples->end_ns, ms * 1000000, ms * 1000000 + 3000);
    report_destroy(&report);
    assert_int_equal(report_ask(recording, &(struct question){.where = "life < 1s"}, &report), WN_EINVAL);
    assert_int_equal(report_ask(recording, &(struct question){.where = "died < 1s"}, &report), WN_EINVAL);
    assert_int_equal(report_ask(recording, &(struct question){.where = "size > 1"}, &report), 0);
    report_destroy(&report);
    recording_free(recording);
    free(bytes.at);
  }
}

static void frees_without_a_block_are_counted(void **state) {
  (void)state;
  struct bytes bytes = make("- 0\n+ 0\n- 0\n- 0\n- 1\n");
  struct recording_options options = {.wrappers = {.none = true}};
  struct recording *recording;
  assert_int_equal(recording_read(open_bytes(&bytes), "f", &options, &recording), 0);
  assert_int_equal(recording->samples->unmatched, 3);
  assert_int_equal(recording->samples->sampled_blocks, 1);
  recording_free(recording);
  free(bytes.at);
}

static void older_texts_have_no_length(void **state) {
  (void)state;
  struct bytes bytes = {.at = NULL};
  struct trace_place place;
  put_text(&bytes, "v 10100 1\nX p\ns /bin/p\ns f(int, char)\ni 40 1 2\nt 1 0\na 8 1\n+ 0\n");
  struct source *source = open_bytes(&bytes);
  struct trace_node node = source_stack(source, 1);
  assert_true(source_place(source, node.module, node.offset, &place));
  assert_string_equal(place.function.bytes, "f(int, char)");
  source_close(source);
  free(bytes.at);
}

static void faults_are_told(void **state) {
  (void)state;
  static const struct {
    const char *line, *told;
  } faults[] = {
      {"+ 3\n", "its line 22 names a kind of allocation that does not exist"},
      {"+ -1\n", "a number with other signs"},
      {"- \n", "has too few numbers"},
      {"+ 0", "is cut"},
      {"a 10 4\n", "names a stack that does not exist"},
      {"a 20000000000000 1\n", "a size above 2^53"},
      {"a 12345678901234567 1\n", "a number above 2^64"},
      {"t 9 0\n", "names code that does not exist"},
      {"t 0 0\n", "names code that does not exist"},
      {"t 1 4\n", "names a caller that does not exist"},
      {"i 1 8\n", "names a text that does not exist"},
      {"i 1 1 2 6\n", "has too few numbers"},
      {"s 5 abc\nabcdef\n", "a text of another length"},
      {"s ffffff abc\n", "is too long"},
      {"s 30 abc\n", "is cut"},
      {"s x\n", "has no length"},
      {"c ffffffffffffffff\n", "a time that cannot be"},
      {"v 1 3\n", "has no version"},
      {"q 1\n", "is of an unknown kind"},
      {"x a ./program\n", ": a file of heaptrack: its line 22 is one of a raw recording"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct bytes bytes = make(faults[i].line);
    refuses(&bytes, faults[i].told);
    free(bytes.at);
  }
  struct bytes bytes = {.at = NULL};
  put_text(&bytes, "v 10400 4\n+ 0\n");
  refuses(&bytes, "its line 1 has a version that is not known");
  free(bytes.at);
}

static void files_that_are_cut_are_read_so_far_or_refused(void **state) {
  (void)state;
  struct bytes bytes = make("c 0\n+ 0\n+ 1\n- 0\nc a\n+ 2\n");
  for (size_t length = 10; length < bytes.count; length++) {
    struct source *source;
    struct trace_event event;
    if (source_open(profile_file(bytes.at, length), &source)) {
      assert_non_null(strstr(wn_last_error(), "a damaged file of heaptrack: its line "));
      continue;
    }
    assert_true(bytes.at[length - 1] == '\n');
    while (source_next(source, &event)) continue;
    check_nodes(source);
    source_close(source);
  }
  free(bytes.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_have_names),
      cmocka_unit_test(what_is_held_is_exact),
      cmocka_unit_test(frees_without_a_block_are_counted),
      cmocka_unit_test(older_texts_have_no_length),
      cmocka_unit_test(faults_are_told),
      cmocka_unit_test(files_that_are_cut_are_read_so_far_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
