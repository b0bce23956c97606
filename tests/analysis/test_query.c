/* The language of --where: what it accepts, what it answers, and where it says that a query is
 * wrong. */
#include "analysis/named_story.h"

#include "analysis/report/report.h"
#include <string.h>

/* Five blocks: number, birth, size, depth of the stack, death (0: alive). The trace ends at 2 s. */
static struct samples *make_blocks(void) {
  struct trace_writer *writer = story_begin(1, 0);
  const uint64_t ms = 1000000;
  trace_write_thread_name(writer,
                          &(struct trace_thread_name){.thread = 1, .name = trace_text_of("main loop")});
  story_alloc(writer, 1, 1 * ms, 100, 1);
  story_alloc(writer, 2, 2 * ms, 4096, 2);
  story_alloc(writer, 3, 3 * ms, 5000, 3);
  story_alloc(writer, 4, 1000 * ms, 1 << 20, 3);
  story_alloc(writer, 5, 2000 * ms, 1, 1);
  story_free(writer, 1, 2 * ms);
  story_free(writer, 2, 1002 * ms);
  story_free(writer, 4, 1005 * ms);
  return story_load(writer);
}

/* Of a collected heap: two that were promoted, one of them with memory outside, and a large one. */
static struct samples *make_collected_blocks(void) {
  struct trace_writer *writer = story_begin(1, 0);
  struct trace_sample sample = {.thread = 1, .size = 16, .words = 3, .n_samples = 1, .stack = 1};
  for (uint64_t i = 0; i <= 4; i++)
    trace_write_collection(writer,
                           &(struct trace_collection){.time_ns = i * 1000000, .minor_words = i * (1 << 17)});
  for (sample.block = 1; sample.block <= 4; sample.block++) {
    sample.time_ns = (sample.block - 1) * 1000000;
    sample.major = sample.block == 3;
    sample.source = sample.block == 4 ? TRACE_SOURCE_CUSTOM : TRACE_SOURCE_NORMAL;
    assert_true(tree_write_sample(writer, &sample));
  }
  trace_write_promote(writer, &(struct trace_promote){.time_ns = 2000000, .block = 2});
  trace_write_promote(writer, &(struct trace_promote){.time_ns = 4000000, .block = 4});
  story_free(writer, 1, 4000000);
  for (uint64_t type = 1; type <= 2; type++) {
    const char *name = type == 1 ? "pair of 2" : "string";
    trace_write_type(writer, &(struct trace_type){.time_ns = 3, .block = type, .type = type});
    trace_write_type_name(writer,
                          &(struct trace_type_name){.time_ns = 3, .type = type, .name = trace_text_of(name)});
  }
  trace_write_type(writer, &(struct trace_type){.time_ns = 3, .block = 3, .type = 1});
  return story_load(writer);
}

struct case_of {
  const char *query, *blocks;
};

static const struct case_of of_collected[] = {
    {"area = minor", "12"},
    {"area != minor", "34"},
    {"area = major", "3"},
    {"area = outside", "4"},
    {"promoted = yes", "24"},
    {"promoted = no and area = minor", "1"},
    {"promoted != no", "24"},
    {"life_bytes > 2Mi", "12"},
    {"life_bytes >= 2Mi and life > 3ms", "1"},
    {"life_bytes = 4MiB", "1"},
    {"source = custom", "4"},
    {"source != custom and source = normal", "123"},
    {"source = external", ""},
    {"type = 'pair of 2'", "13"},
    {"type != 'pair of 2'", "24"},
    {"type ~ '^(pair|str)'", "123"},
    {"type !~ pair", "24"},
    {"type = pair or size < 0", ""},
    {"not type = string and type ~ .", "13"},
};

static const struct case_of good[] = {
    {"fn = code+0x10", "12345"},
    {"fn = code+0x20", "234"},
    {"function = code+0x30", "34"},
    {"fn != code+0x30", "125"},
    {"fn ~ ^code.0x[23]0$", "234"},
    {"fn !~ ^code.0x[23]0$", "15"},
    {"not fn ~ 0x20", "15"},
    {"fn = \"code+0x20\"", "234"},
    {"fn = 'code+0x20'", "234"},
    {"fn~\"0x(2|3)0\"", "234"},
    {"module = code", "12345"},
    {"module != code", ""},
    {"file = parser.c", ""},
    {"file != parser.c", "12345"},
    {"thread = 1", "12345"},
    {"thread = 2", ""},
    {"thread = \"main loop\"", "12345"},
    {"thread ~ main", "12345"},
    {"thread !~ main", ""},
    {"thread != 1", ""},
    {"size = 4Ki", "2"},
    {"size = 4096", "2"},
    {"size != 4KiB", "1345"},
    {"size > 4Ki", "34"},
    {"size >= 4ki", "234"},
    {"size < 100", "5"},
    {"size <= 100B", "15"},
    {"size = 1MiB", "4"},
    {"size=1Mi", "4"},
    {"size > 1M", "4"},
    {"size >= 4.096K", "234"},
    {"size = 5k", "3"},
    {"size = 5kB", "3"},
    {"life = 1ms", "1"},
    {"life >= 1s", "23"},
    {"life < 10ms", "145"},
    {"life > 0", "1234"},
    {"born < 3000us", "12"},
    {"time >= 1s", "45"},
    {"died < 1.5s", "124"},
    {"died > 1h", "35"},
    {"alive = yes", "35"},
    {"alive = no", "124"},
    {"alive != yes", "124"},
    {"area = minor or area = major or promoted = yes", ""}, /* no collected heap's */
    {"life_bytes > 1G", ""},
    {"size > 1K and alive = yes", "3"},
    {"size = 1 or size = 100", "15"},
    {"size = 1 or size = 100 and alive = yes", "5"},
    {"(size = 1 or size = 100) and alive = yes", "5"},
    {"not size = 1 and not size = 100", "234"},
    {"not (size = 1 or size = 100)", "234"},
    {"not not size = 1", "5"},
    {"  ( ( size=1 ) )  ", "5"},
    {"live = 1ms", "1"},
    {"live = 2ms", "2"},
    {"live = 1003ms", "34"},
    {"live != 1003ms", "125"},
    {"not live = 1003ms and size > 1", "12"},
    {"at = peak", "12345"},
    {"at = 1s and size = 1", "5"},
    {"hide ~ code", "12345"},
    {"from = code+0x20", "234"},
    {"(from ~ 30 and (size = 5000 and at = end))", "3"},
    {"fn = \"code\"\"0x10\"", ""},
    {"fn != 'it''s'", "12345"},
};

static void check_cases(struct samples *samples, const struct case_of *cases, size_t count) {
  struct names names;
  story_names(samples, &names);
  for (size_t i = 0; i < count; i++) {
    struct query *query;
    char taken[8] = "";
    if (query_parse(cases[i].query, &query)) fail_msg("%s: %s", cases[i].query, wn_last_error());
    assert_int_equal(query_bind(query, samples, &names), WN_OK);
    for (size_t row = 0; row < samples->row_count; row++)
      if (query_selects(query, &samples->rows[row]))
        strcat(taken, (const char[]){(char)('0' + samples->rows[row].block), 0});
    if (strcmp(taken, cases[i].blocks)) fail_msg("%s: %s, not %s", cases[i].query, taken, cases[i].blocks);
    query_free(query);
  }
  names_destroy(&names);
  samples_free(samples);
}

static void good_queries_take_the_right_blocks(void **state) {
  (void)state;
  check_cases(make_blocks(), good, sizeof good / sizeof *good);
}

static void queries_know_where_blocks_were_born_and_went(void **state) {
  (void)state;
  check_cases(make_collected_blocks(), of_collected, sizeof of_collected / sizeof *of_collected);
}

/* The column at which each is wrong, counted from 1, and what is said. */
static const struct {
  const char *query;
  int column;
  const char *said;
} bad[] = {
    {"", 1, "found the end"},
    {"   ", 4, "found the end"},
    {"fn", 3, "one of ="},
    {"fn =", 5, "a value"},
    {"fn = )", 6, "a value"},
    {"fn = \"open", 6, "a closing \""},
    {"fn < a", 4, "before a name"},
    {"fn ~ \"(\"", 6, "regular expression"},
    {"fn ~ a[", 6, "regular expression"},
    {"fn ~ a++++++++++++++++++++", 6, "repeats too much"},
    {"fn ~ a{200}{200}", 6, "repeats too much"},
    {"fn ~ \"(((((a{1,20}b){20}){2,}c){9,9}){9})d\"", 6, "repeats too much"},
    {"fn ~ \"(((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+\"", 6, "repeats too much"},
    {"fn ~ 'a{99999}'", 6, "repeats too much"},
    {"fnord = 1", 1, "expected fn"},
    {"Size > 1", 1, "expected fn"},
    {"size", 5, "one of ="},
    {"size 1", 6, "one of ="},
    {"size ~ 1", 6, "before a number"},
    {"size > ", 8, "a value"},
    {"size > x", 8, "a size, such as 10K"},
    {"size > 1Q", 8, "a size, such as 10K"},
    {"size > -1", 8, "a size, such as 10K"},
    {"size > 1ms", 8, "a size, such as 10K"},
    {"size > nan", 8, "a size, such as 10K"},
    {"life > 1K", 8, "a time with its unit, such as 10ms"},
    {"life < 10", 8, "a time with its unit, such as 10ms, found: 10"},
    {"born > 0.5", 8, "a time with its unit"},
    {"size > 1 AND life > 1s", 10, "(here 'AND' is 'and')"},
    {"size > 1 && life > 1s", 10, "(here '&&' is 'and')"},
    {"size > 1 || life > 1s", 10, "(here '||' is 'or')"},
    {"size == 1", 6, "(here '==' is '=')"},
    {"fn =~ a", 4, "(here '=~' is '~')"},
    {"size <> 1", 6, "(here '<>' is '!=')"},
    {"!size > 1", 1, "(here '!' is 'not')"},
    {"NOT size > 1", 1, "(here 'NOT' is 'not')"},
    {"alive = maybe", 9, "yes or no"},
    {"alive > yes", 7, "= or !="},
    {"promoted = 1", 12, "yes or no"},
    {"promoted ~ yes", 10, "= or !="},
    {"area = old", 8, "minor, major or outside"},
    {"area < major", 6, "= or !="},
    {"life_bytes > 10ms", 14, "a size, such as 10K"},
    {"size > 1 and", 13, "expected fn"},
    {"size > 1 or or", 13, "expected fn"},
    {"size > 1 size < 3", 10, "and, or, or the end"},
    {"(size > 1", 10, "and, or, or )"},
    {"size > 1)", 9, "and, or, or the end"},
    {"()", 2, "expected fn"},
    {"not", 4, "expected fn"},
    {"and size > 1", 1, "expected fn"},
    {"size => 1", 6, "(here '=>' is '>=')"},
    {"live > 1s", 6, "= or != before a time"},
    {"live = 1", 8, "a time with its unit"},
    {"at != peak", 4, "= before a moment"},
    {"at = now", 6, "peak, end, or a time"},
    {"at = 12", 6, "peak, end, or a time"},
    {"hide != a", 6, "= or ~ before a function"},
    {"from !~ a", 6, "= or ~ before a function"},
    {"size > 1 or at = peak", 13, "only at the top"},
    {"not hide = a", 5, "only at the top"},
    {"size > 1 and (fn = a or from = b)", 25, "only at the top"},
    {"at = peak and size > 1 and at = end", 28, "only one at"},
    {"from = a and from = b", 14, "only one from"},
    {"fn = \"a\"\"", 6, "a closing \""},
};

static void bad_queries_say_where(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct query *query;
    char column[32];
    snprintf(column, sizeof column, "column %d:", bad[i].column);
    if (query_parse(bad[i].query, &query) != WN_EINVAL) fail_msg("'%s' is accepted", bad[i].query);
    if (!strstr(wn_last_error(), column) || !strstr(wn_last_error(), bad[i].said))
      fail_msg("'%s': %s (not: %s %s)", bad[i].query, wn_last_error(), column, bad[i].said);
  }
}

static void deep_queries_are_refused_not_crashed_on(void **state) {
  (void)state;
  enum { DEEP = 1000000 };
  char *text = test_malloc(DEEP + 1);
  struct query *query;
  memset(text, '(', DEEP);
  text[DEEP] = 0;
  assert_int_equal(query_parse(text, &query), WN_EINVAL);
  for (int i = 0; i + 4 <= DEEP; i += 4) memcpy(text + i, "not ", 4);
  assert_int_equal(query_parse(text, &query), WN_EINVAL);
  test_free(text);
}

/* The names of a tree's nodes below the root, each followed by its depth and own bytes. */
static void describe_tree(const struct report *report, char *text, size_t size) {
  struct table table;
  assert_int_equal(report_table(report, MEASURE_ALIVE, BY_FUNCTION, TABLE_SUMS, &table), WN_OK);
  *text = 0;
  for (uint32_t node = 0; node < table.tree.node_count; node++) {
    int depth = 0;
    char name[64];
    for (uint32_t at = node; at; at = table.tree.nodes[at].parent) depth++;
    call_tree_label(&table.tree, report->names, table.tree.nodes[node].label, name, sizeof name);
    if (node || table.tree.nodes[0].self.bytes.samples)
      snprintf(text + strlen(text), size - strlen(text), "%s:%d:%.0f ", name, depth,
               table.tree.nodes[node].self.bytes.total);
  }
  table_destroy(&table);
}

/* main calls parse, parse calls grow, and grow calls parse again. */
static const struct named_node recursion[] = {{0}, {"main", 0}, {"parse", 1}, {"grow", 2}, {"parse", 3}};

static struct recording *load_recursion(void) {
  struct trace_writer *writer = named_story_begin(1, recursion);
  uint64_t block = 0;
  story_next(writer, &block, 100, 2);
  story_next(writer, &block, 20, 3);
  story_next(writer, &block, 3, 4);
  struct recording_options options = {.wrappers.none = true};
  struct recording *recording;
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

static void settings_change_how_stacks_are_shown(void **state) {
  (void)state;
  static const struct {
    const char *where, *tree;
  } cases[] = {
      {"size > 0", "main:1:0 parse:2:100 grow:3:20 parse:4:3 "},
      {"hide = grow", "main:1:0 parse:2:120 parse:3:3 "},
      {"hide = grow and hide = parse", "main:1:123 "},
      {"hide ~ .", "(no callstack):0:123 "},
      {"from = parse", "parse:1:100 grow:2:20 parse:3:3 "},
      {"from = grow", "grow:1:20 parse:2:3 "},
      {"from = grow and hide = grow", "(no callstack):0:20 parse:1:3 "},
  };
  struct recording *recording = load_recursion();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct report report;
    char text[256];
    assert_int_equal(report_ask(recording, &(struct question){.where = cases[i].where}, &report), WN_OK);
    describe_tree(&report, text, sizeof text);
    if (strcmp(text, cases[i].tree)) fail_msg("%s: %s, not %s", cases[i].where, text, cases[i].tree);
    report_destroy(&report);
  }
  recording_free(recording);
}

/* Traces of malloc, and of older versions. */
static void what_a_trace_does_not_tell_is_not_asked_for(void **state) {
  (void)state;
  struct samples *samples = make_blocks();
  struct names names;
  struct query *query;
  story_names(samples, &names);
  assert_int_equal(query_parse("size > 1 and not type = string", &query), WN_OK);
  assert_int_equal(query_bind(query, samples, &names), WN_EINVAL);
  assert_string_equal(wn_last_error(), "'type': such a file does not tell this of its blocks");
  query_free(query);
  names_destroy(&names);
  samples_free(samples);
}

static void a_query_sets_the_moment(void **state) {
  (void)state;
  struct recording *recording = load_recursion(); /* the blocks are born 1, 2 and 3 ns after the start */
  struct report report;
  assert_int_equal(report_ask(recording, &(struct question){.where = "at = 2ns"}, &report), WN_OK);
  assert_int_equal(report.at, AT_TIME);
  assert_int_equal(report.asked.time_ns, 2);
  assert_true(report.asked.live.bytes.total == 120);
  report_destroy(&report);
  assert_int_equal(report_ask(recording, &(struct question){.where = "at = 1h"}, &report), WN_EINVAL);
  recording_free(recording);
}

static void what_was_live_after_the_end_is_not_known(void **state) {
  (void)state;
  struct recording *recording = load_recursion();
  struct report report;
  for (int i = 0; i < 2; i++) {
    const char *where = i ? "size > 1 and not (live != 1h or size = 1)" : "live = 1h";
    assert_int_equal(report_ask(recording, &(struct question){.where = where}, &report), WN_EINVAL);
    assert_string_equal(wn_last_error(), "live 1h: that is after the end of the trace");
  }
  recording_free(recording);
}

static void queries_that_differ_in_their_settings_select_the_same_rows(void **state) {
  (void)state;
  static const struct {
    const char *one, *other;
    bool same;
  } cases[] = {{"size > 10", "size > 10", true},
               {"size > 10", "size > 11", false},
               {"size > 10", "size >= 10", false},
               {"size > 10", "at = 5ms and size > 10", true},
               {"size > 10 and at = 5ms", "hide ~ memcpy and (size > 10 and at = end)", true},
               {"at = 5ms", "at = end", true},
               {"at = 5ms", "size > 10", false},
               {"not size > 10", "size > 10", false},
               {"not size > 10", "not size > 10 and at = 5ms", true},
               {"size > 10 or size < 5", "size > 10 and size < 5", false},
               {"fn ~ a", "fn ~ b", false},
               {"from = a", "from = b", false},
               {"thread = 1 and size > 10", "thread = 1 and size > 10 and at = 1ms", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct query *one, *other;
    assert_int_equal(query_parse(cases[i].one, &one), WN_OK);
    assert_int_equal(query_parse(cases[i].other, &other), WN_OK);
    if (query_same_rows(one, other) != cases[i].same) fail_msg("%s; %s", cases[i].one, cases[i].other);
    query_free(one);
    query_free(other);
  }
  assert_true(query_same_rows(NULL, NULL));
}

/* A bound is right for every block that the query takes; none is known where it is negated. */
static void a_query_tells_the_least_size_that_it_takes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double least;
  } cases[] = {{"size >= 128Ki", 131072},
               {"size = 4096", 4096},
               {"size > 4K and fn = f and size < 1M", 4000},
               {"size >= 4K and size >= 8K", 8000},
               {"size >= 4K or size >= 8K", 4000},
               {"size >= 4K or fn = f", 0},
               {"not size >= 4K", 0},
               {"size <= 4K", 0},
               {"size != 4K", 0},
               {"born >= 4s", 0}};
  assert_true(query_least_size(NULL) == 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct query *query;
    assert_int_equal(query_parse(cases[i].text, &query), WN_OK);
    assert_true(query_least_size(query) == cases[i].least);
    query_free(query);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_queries_take_the_right_blocks),
      cmocka_unit_test(queries_know_where_blocks_were_born_and_went),
      cmocka_unit_test(bad_queries_say_where),
      cmocka_unit_test(deep_queries_are_refused_not_crashed_on),
      cmocka_unit_test(settings_change_how_stacks_are_shown),
      cmocka_unit_test(what_a_trace_does_not_tell_is_not_asked_for),
      cmocka_unit_test(a_query_sets_the_moment),
      cmocka_unit_test(what_was_live_after_the_end_is_not_known),
      cmocka_unit_test(a_query_tells_the_least_size_that_it_takes),
      cmocka_unit_test(queries_that_differ_in_their_settings_select_the_same_rows),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
