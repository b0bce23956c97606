/* Answers: what they count is neither lost nor counted twice, views agree with each other, and wrong
 * questions are told. */
#include "page/asking.h"

/* ---- random questions ---- */

static void random_question(struct tale *tale, char *text, size_t size) {
  char query[512];
  random_query(tale, query, sizeof query);
  snprintf(text, size, "view=flame\n%s%s%smeasure=%s\nby=%s\ndirection=%s\n%s%s%s", *query ? "where=" : "",
           query, *query ? "\n" : "",
           PICK(tale, "held", "allocated", "churn", "promoted", "alive", "lasting"),
           PICK(tale, "function", "line", "file", "module"), PICK(tale, "callees", "callers"),
           tale_draw(tale, 4) ? "" : "of=parse\n", tale_draw(tale, 4) ? "" : "fold=yes\n",
           tale_draw(tale, 2) ? "" : "stacks=whole\n");
}

/* ---- tests ---- */

struct tree {
  const uint32_t *next;
  const double *bytes, *self, *low, *high, *blocks;
  const uint32_t *samples;
  size_t count;
};

static struct tree tree_of(const struct told *told) {
  struct tree tree;
  tree.next = column(told, "next", &tree.count);
  tree.bytes = column(told, "bytes", &tree.count);
  tree.self = column(told, "self", &tree.count);
  tree.low = column(told, "low", &tree.count);
  tree.high = column(told, "high", &tree.count);
  tree.samples = column(told, "samples", &tree.count);
  tree.blocks = column(told, "blocks", &tree.count);
  return tree;
}

static void check_accounts(const char *question, const struct tree *tree) {
  assert_int_equal(tree->next[0], tree->count);
  for (size_t box = 0; box < tree->count; box++) {
    double sum = tree->self[box], blocks = 0;
    assert_true(tree->next[box] > box && tree->next[box] <= tree->count);
    for (size_t child = box + 1; child < tree->next[box]; child = tree->next[child])
      sum += tree->bytes[child], blocks += tree->blocks[child];
    if (!nearly(sum, tree->bytes[box]))
      fail_msg("%s: box %zu has %f, its parts have %f", question, box, tree->bytes[box], sum);
    if (blocks > tree->blocks[box] && !nearly(blocks, tree->blocks[box]))
      fail_msg("%s: box %zu has %f blocks, its parts have %f", question, box, tree->blocks[box], blocks);
    assert_true(tree->low[box] <= tree->bytes[box] && tree->bytes[box] <= tree->high[box]);
  }
}

/* 1,000 random questions about six recordings. */
static void boxes_add_up_to_their_callers(void **state) {
  (void)state;
  static const unsigned kinds[] = {
      0, TALE_RESIZES, TALE_COLLECTED, TALE_EXACT, TALE_LOST | TALE_KILLED, TALE_EMPTY};
  char question[1024];
  struct tale tale = {.kind = 0};
  size_t answered = 0;
  random_seed(&tale.random, 9, 0, 0);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct recording *recording = tell(kinds[i], i);
    struct answers answers;
    answers_create(&answers, recording, NULL);
    for (int n = 0; n < 1000 / 6 + 1; n++) {
      random_question(&tale, question, sizeof question);
      struct told told = ask(&answers, question);
      if (!is_failure(&told, "")) {
        struct tree tree = tree_of(&told);
        check_accounts(question, &tree);
        answered++;
      } else if (!strstr(told.json, "after the end")) {
        fail_msg("%s: %s", question, told.json);
      }
      drop(&told);
    }
    answers_destroy(&answers);
    recording_free(recording);
  }
  assert_true(answered > 700);
}

static void the_map_of_kinds_has_all_bytes(void **state) {
  (void)state;
  static const char *const measures[] = {"held", "allocated", "alive", "churn"};
  struct recording *recording = tell(0, 5);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
    char question[64];
    size_t count;
    double sum = 0;
    snprintf(question, sizeof question, "view=kinds\nmeasure=%s\n", measures[i]);
    struct told told = ask(&answers, question);
    const double *dead = column(&told, "bytes", &count), *alive = column(&told, "alive_bytes", &count);
    for (size_t cell = 0; cell < count; cell++) sum += dead[cell] + alive[cell];
    const double *share = column(&told, "survival", &count), *low = column(&told, "survival_low", &count);
    for (size_t at = 1; at < count; at++) assert_true(share[at] <= share[at - 1] && low[at] <= share[at]);
    drop(&told);
    snprintf(question, sizeof question, "view=flame\nmeasure=%s\n", measures[i]);
    told = ask(&answers, question);
    assert_true(nearly(sum, ((const double *)column(&told, "bytes", &count))[0]));
    drop(&told);
  }
  answers_destroy(&answers);
  recording_free(recording);
}

/* Promoted blocks live longer than those of the minor heap. */
static void the_curve_of_lives_is_that_of_the_blocks_that_count(void **state) {
  (void)state;
  struct recording *recording = tell(TALE_COLLECTED, 12);
  struct answers answers;
  size_t count, longer = 0;
  answers_create(&answers, recording, NULL);
  struct told told = ask(&answers, "view=kinds\nmeasure=promoted\n");
  const double *share = column(&told, "survival", &count), *all = column(&told, "survival_all", &count);
  for (size_t i = 0; i < count; i++) longer += share[i] != all[i];
  assert_true(longer > 0);
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

static void medians_of_all_rows_are_those_of_each_row(void **state) {
  (void)state;
  struct recording *recording = tell(TALE_RESIZES, 11);
  struct report report;
  struct table table;
  assert_int_equal(report_ask(recording, &(struct question){.where = "size > 20"}, &report), WN_OK);
  assert_int_equal(report_table(&report, MEASURE_ALLOCATED, BY_FUNCTION, TABLE_LIVES, &table), WN_OK);
  struct life *medians = calloc(table.tree.label_count, sizeof *medians);
  assert_int_equal(lifetimes_medians(&table.lives, medians), WN_OK);
  for (size_t i = 0; i < table.tree.group_count; i++) {
    struct life one = table_life(&table, &table.tree.groups[i], EXTENT_SELF),
                *other = &medians[table.tree.groups[i].label];
    if (!table.tree.groups[i].self.bytes.samples) continue;
    assert_true(one.median == other->median && one.known == other->known && one.low == other->low &&
                one.high == other->high && one.samples == other->samples);
  }
  free(medians);
  table_destroy(&table);
  report_destroy(&report);
  recording_free(recording);
}

/* A focus shows what its box had. */
static void a_focus_opens_a_box(void **state) {
  (void)state;
  struct recording *recording = tell(0, 6);
  struct answers answers;
  size_t count;
  answers_create(&answers, recording, NULL);
  struct told whole = ask(&answers, "view=flame\nmeasure=allocated\n"),
              part = ask(&answers, "view=flame\nmeasure=allocated\nfocus=main\x1fparse\n"),
              nowhere = ask(&answers, "view=flame\nmeasure=allocated\nfocus=main\x1fno such\n");
  struct tree tree = tree_of(&part);
  double main_bytes = ((const double *)column(&whole, "bytes", &count))[1];
  assert_true(tree.bytes[0] > 0 && tree.bytes[0] < main_bytes);
  assert_true(((const double *)column(&nowhere, "bytes", &count))[0] == main_bytes);
  drop(&whole), drop(&part), drop(&nowhere);
  answers_destroy(&answers);
  recording_free(recording);
}

/* The bytes of the root of a flame graph with a focus, which must be found. */
static double bytes_of_focus(struct answers *answers, const char *focus) {
  char question[256];
  snprintf(question, sizeof question, "view=flame\nmeasure=allocated\nby=function\nfocus=%s\n", focus);
  struct told told = ask(answers, question);
  if (strstr(told.json, "\"trail\": []")) fail_msg("no %s in %.2000s", focus, told.json);
  double bytes = tree_of(&told).bytes[0];
  drop(&told);
  return bytes;
}

/* The tale has main, parse, parse, parse. The second level has what the third one has. */
static void a_run_of_one_function_is_two_boxes_unless_whole_stacks_are_asked_for(void **state) {
  (void)state;
  static const char *const ways[] = {
      "view=flame\nmeasure=allocated\ndirection=callees\nfocus=main\x1fparse\x1fparse\x1fparse\n",
      "view=flame\nmeasure=allocated\ndirection=callers\nfocus=parse\x1fparse\x1fparse\n"};
  struct recording *recording = tell(0, 5);
  struct answers answers;
  char question[256];
  answers_create(&answers, recording, NULL);
  for (int way = 0; way < 2; way++) {
    size_t levels, fewer, passing;
    snprintf(question, sizeof question, "%sstacks=whole\n", ways[way]);
    struct told third = ask(&answers, question), run = ask(&answers, ways[way]);
    column(&third, "passing", &levels), column(&run, "passing", &fewer);
    assert_int_equal(levels, way ? 2 : 3);
    assert_int_equal(fewer, levels - 1); /* the path ends at the second level */
    *strrchr(question, '\x1f') = 0;
    strcat(question, "\nstacks=whole\n");
    struct told second = ask(&answers, question);
    column(&second, "passing", &passing);
    assert_int_equal(passing, fewer);
    struct tree deep = tree_of(&third), folded = tree_of(&run), whole = tree_of(&second);
    assert_true(deep.bytes[0] > 0 && nearly(folded.bytes[0], whole.bytes[0]));
    assert_int_equal(folded.samples[0], whole.samples[0]);
    if (!way) assert_true(nearly(folded.self[0], whole.self[0] + deep.self[0]));
    /* From inside out the third level has a caller of its own: main, which the second one has too. */
    assert_int_equal(folded.count, whole.count - (way ? 2 : 1));
    drop(&third), drop(&run), drop(&second);
  }
  answers_destroy(&answers);
  recording_free(recording);
}

static void functions_of_one_name_in_two_modules_are_two_boxes_with_two_names(void **state) {
  (void)state;
  struct recording *recording = tell(0, 5);
  struct names *names = &recording->names;
  struct frame *parse = &names->frame[names->first[2]], *cache = &names->frame[names->first[8]];
  cache->function = parse->function; /* node 8: another function that main calls */
  cache->module = strings_intern(names->strings, "libcache.so");
  recording_describe(recording);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  double one = bytes_of_focus(&answers, "main\x1fparse [story]"),
         other = bytes_of_focus(&answers, "main\x1fparse [libcache.so]");
  assert_true(one > 0 && other > 0 && one != other);
  struct told told = ask(&answers, "view=details\nmeasure=allocated\nof=parse [libcache.so]\n");
  assert_false(is_failure(&told, ""));
  drop(&told);
  told = ask(&answers, "view=table\nmeasure=allocated\n"); /* other names are as they were */
  assert_non_null(strstr(told.json, "\"text\": \"main\""));
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

static void a_name_that_is_no_utf8_is_asked_for_by_the_text_that_it_has_in_an_answer(void **state) {
  (void)state;
  static const char *const texts[] = {"p\xef\xbf\xbdrse", "\xef\xbf\xbd\xef\xbf\xbd"};
  static const char *const names[] = {"p\xffrse", "\xc3\xff"};
  for (int i = 0; i < 2; i++) {
    struct recording *recording = tell(0, 5);
    struct names *named = &recording->names;
    named->frame[named->first[2]].function = strings_intern(named->strings, names[i]);
    recording_describe(recording);
    struct answers answers;
    char question[128];
    answers_create(&answers, recording, NULL);
    snprintf(question, sizeof question, "main\x1f%s", texts[i]);
    assert_true(bytes_of_focus(&answers, question) > 0);
    for (int view = 0; view < 2; view++) {
      snprintf(question, sizeof question, "view=%s\nmeasure=allocated\nof=%s\n", view ? "details" : "flame",
               texts[i]);
      struct told told = ask(&answers, question);
      if (view)
        assert_null(strstr(told.json, "\"total_bytes\": {\"estimate\": 0,"));
      else
        assert_true(tree_of(&told).bytes[0] > 0);
      drop(&told);
    }
    answers_destroy(&answers);
    recording_free(recording);
  }
}

/* The text of a label has its room, and a byte may take three. */
static void a_long_name_that_is_no_utf8_is_cut(void **state) {
  (void)state;
  struct recording *recording = tell(0, 5);
  struct names *named = &recording->names;
  char name[6000];
  memset(name, 0xff, sizeof name - 1);
  name[sizeof name - 1] = 0;
  named->frame[named->first[2]].function = strings_intern(named->strings, name);
  recording_describe(recording);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  struct told told = ask(&answers, "view=flame\nmeasure=allocated\n");
  assert_false(is_failure(&told, ""));
  const char *text = strstr(told.json, "\"text\": \"\xef\xbf\xbd");
  assert_non_null(text);
  assert_true(strcspn(text + 9, "\"") < 4096);
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

static void a_function_without_blocks_has_an_empty_graph_and_no_bytes(void **state) {
  (void)state;
  struct recording *recording = tell(0, 7);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  for (int callers = 0; callers < 2; callers++) {
    size_t count;
    struct told told = ask(&answers, callers ? "view=flame\ndirection=callers\nof=no such function\n"
                                             : "view=flame\nof=no such function\n");
    const uint32_t *samples = column(&told, "samples", &count);
    assert_int_equal(count, 1); /* the root */
    assert_int_equal(*samples, 0);
    drop(&told);
  }
  struct told told = ask(&answers, "view=details\nof=no such function\n");
  assert_non_null(strstr(told.json, "\"total_bytes\": {\"estimate\": 0,"));
  drop(&told);
  told = ask(&answers, "view=source\nof=no such function\n");
  assert_non_null(strstr(told.json, "\"files\": []"));
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

static void wrong_questions_are_told(void **state) {
  (void)state;
  static const struct {
    const char *request, *said;
  } cases[] = {
      {"", "one of the views"},
      {"view=flames\n", "one of the views"},
      {"flame\n", "key=value"},
      {"view=flame\nwher=x\n", "no 'wher'"},
      {"view=flame\nmeasure=all\n", "'measure' cannot be 'all'"},
      {"view=flame\nby=stack\n", "'by' cannot be 'stack'"},
      {"view=flame\nfold=no\n", "'fold' cannot be 'no'"},
      {"view=flame\ndirection=up\n", "'direction' cannot be 'up'"},
      {"view=time\npoints=1\n", "'points' cannot be '1'"},
      {"view=time\npoints=99999999999999999999\n", "'points' cannot be"},
      {"view=flame\nwhere=size >\n", "column 7: expected a value"},
      {"view=flame\nwhere=at = 9h\n", "after the end"},
      {"view=totals\nwhere=live = 9h\n", "after the end"},
      {"view=details\n", "by 'of'"},
  };
  struct recording *recording = tell(0, 7);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct told told = ask(&answers, cases[i].request);
    if (!is_failure(&told, cases[i].said)) fail_msg("'%s': %.300s", cases[i].request, told.json);
    drop(&told);
  }
  struct told told = ask(&answers, "view=totals\n"); /* and the next one is answered */
  assert_false(is_failure(&told, ""));
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

/* ---- comparisons ---- */

struct compared_tree {
  struct tree tree; /* bytes, as of any tree: the sizes */
  const double *before, *after, *change;
};

static struct compared_tree compared_tree_of(const struct told *told) {
  struct compared_tree of = {.tree = tree_of(told)};
  of.before = column(told, "before", &of.tree.count);
  of.after = column(told, "after", &of.tree.count);
  of.change = column(told, "change", &of.tree.count);
  return of;
}

/* Sizes add up, and each box has its part of what is before and of what is after. */
static void check_compared(const char *question, const struct compared_tree *of) {
  const struct tree *tree = &of->tree;
  for (size_t box = 0; box < tree->count; box++) {
    double sum = tree->self[box], before = 0, after = 0;
    for (size_t child = box + 1; child < tree->next[box]; child = tree->next[child]) {
      sum += tree->bytes[child];
      before += of->before[child];
      after += of->after[child];
    }
    if (!nearly(sum, tree->bytes[box])) fail_msg("%s: box %zu", question, box);
    assert_true(nearly(of->before[box] + of->after[box], tree->bytes[box]));
    assert_true(nearly(of->after[box] - of->before[box], of->change[box]));
    assert_true(before <= of->before[box] * (1 + 1e-9) && after <= of->after[box] * (1 + 1e-9));
    assert_true(tree->low[box] <= of->change[box] && of->change[box] <= tree->high[box]);
  }
}

static double number_after(const struct told *told, const char *member, const char *part) {
  const char *at = strstr(strstr(told->json, member), part);
  return strtod(strstr(strstr(at, "\"estimate\":"), ":") + 1, NULL);
}

/* The rows of self sums are the change of the whole, and the graph's root is the whole. */
static void check_rows(struct answers *answers, const char *question, const struct compared_tree *of) {
  char request[1024];
  const char *by = strstr(question, "\n");
  size_t count;
  snprintf(request, sizeof request, "view=compare%s", by);
  struct told told = ask(answers, request);
  const double *change = column(&told, "change", &count);
  double sum = 0;
  for (size_t row = 0; row < count; row++) sum += change[row];
  if (!strstr(question, "of=")) {
    assert_true(fabs(sum - of->change[0]) <= 1e-6 * of->tree.bytes[0] + 1e-6);
    assert_true(nearly(number_after(&told, "\"bytes\":", "\"before\""), of->before[0]));
    assert_true(nearly(number_after(&told, "\"bytes\":", "\"after\""), of->after[0]));
  }
  drop(&told);
}

static void compared_boxes_and_rows_add_up(void **state) {
  (void)state;
  static const unsigned kinds[] = {0, TALE_RESIZES, TALE_COLLECTED, TALE_EXACT, TALE_EMPTY};
  static const char *const measures[] = {"held", "allocated", "alive"};
  struct tale tale = {.kind = 0};
  random_seed(&tale.random, 11, 0, 0);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct recording *before = tell(kinds[i], i), *after = tell(kinds[i], i + 100);
    struct answers answers;
    answers_create(&answers, after, before);
    for (int n = 0; n < 60; n++) {
      char question[1024], query[512];
      random_query(&tale, query, sizeof query);
      bool moments = tale_draw(&tale, 2);
      snprintf(question, sizeof question, "view=flame\n%s%s%sagainst=%s\nmeasure=%s\nby=%s\ndirection=%s\n",
               *query ? "where=" : "", query, *query ? "\n" : "",
               !moments ? "before" : PICK(&tale, "200ns", "peak", "end"),
               moments ? "held" : measures[tale_draw(&tale, 3)], PICK(&tale, "function", "line", "module"),
               PICK(&tale, "callees", "callers"));
      struct told told = ask(&answers, question);
      if (!is_failure(&told, "")) {
        struct compared_tree of = compared_tree_of(&told);
        check_compared(question, &of);
        check_rows(&answers, question, &of);
      } else if (!strstr(told.json, "after the end") && !strstr(told.json, "after the moment")) {
        fail_msg("%s: %s", question, told.json);
      }
      drop(&told);
    }
    answers_destroy(&answers);
    recording_free(before);
    recording_free(after);
  }
}

static void a_run_does_not_differ_from_itself(void **state) {
  (void)state;
  struct recording *recording = tell(0, 3);
  struct answers answers;
  size_t count;
  answers_create(&answers, recording, recording);
  struct told told = ask(&answers, "view=compare\nagainst=before\nmeasure=allocated\n");
  const double *change = column(&told, "change", &count);
  const uint32_t *sure = column(&told, "sure", &count);
  assert_true(count > 3);
  for (size_t row = 0; row < count; row++) assert_true(change[row] == 0 && !sure[row]);
  drop(&told);
  told = ask(&answers, "view=compare\nagainst=peak\nwhere=at = peak\n");
  column(&told, "change", &count);
  assert_int_equal(count, 0);
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

static void wrong_comparisons_are_told(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"view=compare\n", "has 'against'"},
      {"view=compare\nagainst=before\n", "no run before"},
      {"view=compare\nagainst=yesterday\n", "no moment"},
      {"view=compare\nagainst=1h\n", "after the end"},
      {"view=compare\nagainst=end\nmeasure=allocated\n", "by what is held"},
      {"view=table\nagainst=end\n", "flame, compare"},
      {"view=compare\nagainst=end\nper=mile\n", "'per' cannot be 'mile'"},
  };
  struct recording *recording = tell(0, 5);
  struct answers answers;
  answers_create(&answers, recording, NULL);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct told told = ask(&answers, wrong[i][0]);
    if (!is_failure(&told, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], told.json);
    drop(&told);
  }
  answers_destroy(&answers);
  recording_free(recording);
}

static void any_bytes_are_a_question(void **state) {
  (void)state;
  struct recording *recording = tell(0, 8);
  struct tale tale = {.kind = 0};
  struct answers answers;
  random_seed(&tale.random, 1, 0, 0);
  answers_create(&answers, recording, NULL);
  for (int i = 0; i < 3000; i++) {
    char question[1024];
    random_question(&tale, question, sizeof question);
    for (uint64_t change = tale_draw(&tale, 4); change; change--)
      question[tale_draw(&tale, strlen(question) + 1)] = (char)tale_draw(&tale, 256);
    struct told told;
    assert_int_equal(
        answers_ask(&answers, question, tale_draw(&tale, sizeof question), &told.bytes, &told.size), WN_OK);
    free(told.bytes);
  }
  answers_destroy(&answers);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_add_up_to_their_callers),
      cmocka_unit_test(the_map_of_kinds_has_all_bytes),
      cmocka_unit_test(the_curve_of_lives_is_that_of_the_blocks_that_count),
      cmocka_unit_test(medians_of_all_rows_are_those_of_each_row),
      cmocka_unit_test(a_focus_opens_a_box),
      cmocka_unit_test(a_run_of_one_function_is_two_boxes_unless_whole_stacks_are_asked_for),
      cmocka_unit_test(functions_of_one_name_in_two_modules_are_two_boxes_with_two_names),
      cmocka_unit_test(a_name_that_is_no_utf8_is_asked_for_by_the_text_that_it_has_in_an_answer),
      cmocka_unit_test(a_long_name_that_is_no_utf8_is_cut),
      cmocka_unit_test(a_function_without_blocks_has_an_empty_graph_and_no_bytes),
      cmocka_unit_test(wrong_questions_are_told),
      cmocka_unit_test(compared_boxes_and_rows_add_up),
      cmocka_unit_test(a_run_does_not_differ_from_itself),
      cmocka_unit_test(wrong_comparisons_are_told),
      cmocka_unit_test(any_bytes_are_a_question),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
