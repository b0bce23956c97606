/* The chart over time: at each of its moments it has the numbers of the flame graph and of the table. */
#include "page/asking.h"

/* The first box of the flame graph for a moment. */
static double held_at(struct answers *answers, const char *where, double time_ns) {
  char question[600];
  size_t count;
  snprintf(question, sizeof question, "view=flame\nwhere=%s and at = %.0fns\n", where, time_ns);
  struct told told = ask(answers, question);
  double held = ((const double *)column(&told, "bytes", &count))[0];
  drop(&told);
  return held;
}

/* Moments are in order, and one is that of the peak, which may last for less than a step. */
static void check_times(const struct told *told, const double *time, size_t count) {
  double peak_ns = strtod(strstr(told->json, "\"peak_ns\": ") + strlen("\"peak_ns\": "), NULL);
  bool has_peak = peak_ns == 0;
  for (size_t at = 0; at < count; at++) {
    assert_true(!at || time[at - 1] < time[at]);
    has_peak = has_peak || time[at] == peak_ns;
  }
  assert_true(has_peak);
}

/* The chart of a random query, at ten moments. */
static void check_moments(struct answers *answers, struct tale *tale) {
  char query[512], question[600];
  size_t count;
  do random_query(tale, query, sizeof query);
  while (!*query || strstr(query, "at = "));
  snprintf(question, sizeof question, "view=time\nwhere=%s\npoints=10\n", query);
  struct told told = ask(answers, question);
  const double *time = column(&told, "time", &count), *held = column(&told, "held", &count);
  assert_int_equal(count, 10);
  check_times(&told, time, count);
  for (size_t at = 0; at < count; at++) {
    double total = held_at(answers, query, time[at]);
    if (!nearly(held[at], total)) fail_msg("%s at %f: %f, not %f", query, time[at], held[at], total);
  }
  drop(&told);
}

/* 1,000 random questions: each total of the graph is what the chart says. */
static void the_chart_and_the_flame_graph_agree_at_each_moment(void **state) {
  (void)state;
  static const unsigned kinds[] = {0, TALE_RESIZES, TALE_COLLECTED, TALE_LOST | TALE_KILLED};
  struct tale tale = {.kind = 0};
  random_seed(&tale.random, 4, 0, 0);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct recording *recording = tell(kinds[i], 3);
    struct answers answers;
    answers_create(&answers, recording, NULL);
    for (int n = 0; n < 25; n++) check_moments(&answers, &tale);
    answers_destroy(&answers);
    recording_free(recording);
  }
}

/* The texts of an answer's labels, in their order. */
enum { TEXTS_MOST = 200 };
struct texts {
  char text[TEXTS_MOST][128];
  size_t count;
};

static void read_texts(const struct told *told, struct texts *texts) {
  const char *at = strstr(told->json, "\"labels\": [");
  texts->count = 0;
  while (at && (at = strstr(at, "\"text\": \"")) && texts->count < TEXTS_MOST)
    assert_int_equal(sscanf(at += 9, "%127[^\"]", texts->text[texts->count++]), 1);
}

static size_t find_text(const struct texts *texts, const char *text) {
  size_t at = 0;
  while (at < texts->count && strcmp(texts->text[at], text) != 0) at++;
  return at;
}

static bool is_single(float single, double number) { return fabs(single - number) <= 1e-6 * fabs(number); }

/* What the functions of a chart hold at its moments, and the most that any other does. */
struct chart {
  const double *time;
  const float *held, *low, *high;
  struct texts texts;
  size_t points;
  double most[TEXTS_MOST], most_of_others;
};

/* The table at a moment of the chart has the same numbers. */
static void check_chart_at(struct answers *answers, const char *query, struct chart *chart, size_t at) {
  char question[700];
  struct texts texts;
  size_t count;
  snprintf(question, sizeof question, "view=table\nwhere=%s and at = %.0fns\n", query, chart->time[at]);
  struct told told = ask(answers, question);
  const double *self = column(&told, "self", &count), *low = column(&told, "self_low", &count),
               *high = column(&told, "self_high", &count);
  const uint32_t *label = column(&told, "label", &count);
  bool found[TEXTS_MOST] = {false};
  read_texts(&told, &texts);
  for (size_t row = 0; row < count; row++) {
    size_t drawn = find_text(&chart->texts, texts.text[label[row]]), i = drawn * chart->points + at;
    if (drawn == chart->texts.count) { /* what has no callstack is of the rest */
      bool has_name = strcmp(texts.text[label[row]], "(no callstack)") != 0;
      chart->most_of_others = fmax(chart->most_of_others, has_name ? self[row] : 0);
      continue;
    }
    found[drawn] = true;
    chart->most[drawn] = fmax(chart->most[drawn], self[row]);
    if (!is_single(chart->held[i], self[row]) || !is_single(chart->low[i], low[row]) ||
        !is_single(chart->high[i], high[row]))
      fail_msg("%s: %s at %zu: %f, not %f", query, chart->texts.text[drawn], at, (double)chart->held[i],
               self[row]);
  }
  for (size_t drawn = 0; drawn < chart->texts.count; drawn++)
    if (!found[drawn]) assert_true(chart->held[drawn * chart->points + at] == 0);
  drop(&told);
}

/* One function that is asked for has the numbers that it has among the largest. */
static void check_one(struct answers *answers, const char *query, const struct chart *chart, size_t drawn) {
  static const char *const names[] = {"held", "low", "high"};
  const float *const wanted[] = {chart->held, chart->low, chart->high};
  char question[700];
  size_t count, size = chart->points * sizeof(float);
  snprintf(question, sizeof question, "view=time\nwhere=%s\nof=%s\npoints=%zu\n", query,
           chart->texts.text[drawn], chart->points);
  struct told told = ask(answers, question);
  for (int i = 0; i < 3; i++) {
    const float *numbers = column(&told, names[i], &count);
    assert_int_equal(count, chart->points);
    assert_memory_equal(numbers, wanted[i] + drawn * chart->points, size);
  }
  drop(&told);
}

/* The chart of a random query. Returns how many functions it has. */
static size_t check_chart(struct answers *answers, struct tale *tale) {
  char query[512], question[600];
  struct chart chart = {.points = 10};
  size_t count;
  do random_query(tale, query, sizeof query);
  while (!*query || strstr(query, "at = "));
  snprintf(question, sizeof question, "view=time\nwhere=%s\npoints=%zu\n", query, chart.points);
  struct told told = ask(answers, question);
  read_texts(&told, &chart.texts);
  chart.time = column(&told, "time", &count);
  chart.held = column(&told, "top_held", &count);
  chart.low = column(&told, "top_low", &count);
  chart.high = column(&told, "top_high", &count);
  assert_int_equal(count, chart.texts.count * chart.points);
  assert_true(chart.texts.count <= 5);
  for (size_t at = 0; at < chart.points; at++) check_chart_at(answers, query, &chart, at);
  for (size_t i = 0; i < chart.texts.count; i++) {
    double next = i + 1 < chart.texts.count ? chart.most[i + 1] : chart.most_of_others;
    if (chart.most[i] < next && !nearly(chart.most[i], next))
      fail_msg("%s: number %zu has %f, the next %f", query, i, chart.most[i], next);
    check_one(answers, query, &chart, i);
  }
  if (chart.texts.count < 5) assert_true(chart.most_of_others == 0);
  drop(&told);
  return chart.texts.count;
}

/* Random queries: at each moment the chart has the table's functions with its numbers, the largest. */
static void the_functions_of_the_chart_are_those_of_the_table(void **state) {
  (void)state;
  static const unsigned kinds[] = {0, TALE_RESIZES, TALE_COLLECTED, TALE_LOST | TALE_KILLED};
  struct tale tale = {.kind = 0};
  size_t drawn = 0;
  random_seed(&tale.random, 8, 0, 0);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct recording *recording = tell(kinds[i], 3);
    struct answers answers;
    answers_create(&answers, recording, NULL);
    for (int n = 0; n < 25; n++) drawn += check_chart(&answers, &tale);
    answers_destroy(&answers);
    recording_free(recording);
  }
  assert_true(drawn > 150);
}

/* Where no block of the query can have been born yet, the chart has no range; from there on it has. */
static void the_range_of_the_chart_begins_with_the_births(void **state) {
  (void)state;
  struct recording *recording = tell(0, 3);
  struct answers answers;
  double end = (double)recording->samples->end_ns, from = 0.55 * end, later = 0.7 * end;
  char question[256];
  const struct {
    const char *where;
    double from;
  } cases[] = {{"born >= %.0fns and born < %.0fns", from},
               {"size >= 1 and (born > %.0fns or born = %.0fns)", from},
               {"not born < %.0fns or born >= %.0fns", 0},
               {"size >= 1 or born >= %.0fns and born >= %.0fns", 0},
               {"born >= %.0fns and born >= %.0fns", later}};
  answers_create(&answers, recording, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t count;
    int length = snprintf(question, sizeof question, "view=time\npoints=40\nwhere=");
    snprintf(question + length, sizeof question - (size_t)length, cases[i].where, from, later);
    struct told told = ask(&answers, strcat(question, "\n"));
    const double *time = column(&told, "time", &count), *high = column(&told, "high", &count);
    for (size_t at = 0; at < count; at++) assert_int_equal(high[at] > 0, time[at] >= cases[i].from);
    drop(&told);
  }
  answers_destroy(&answers);
  recording_free(recording);
}

static void areas_of_the_chart_add_up_to_what_was_held(void **state) {
  (void)state;
  struct recording *recording = tell(TALE_COLLECTED, 4);
  struct answers answers;
  size_t count;
  answers_create(&answers, recording, NULL);
  struct told told = ask(&answers, "view=time\npoints=100\n");
  const double *held = column(&told, "held", &count), *minor = column(&told, "minor", &count),
               *major = column(&told, "major", &count), *outside = column(&told, "outside", &count);
  double most[3] = {0};
  for (size_t i = 0; i < count; i++) {
    if (fabs(held[i] - (minor[i] + major[i] + outside[i])) > 1e-6 * held[i] + 1) fail_msg("at %zu", i);
    most[0] = fmax(most[0], minor[i]), most[1] = fmax(most[1], major[i]), most[2] = fmax(most[2], outside[i]);
  }
  assert_true(most[0] > 0 && most[1] > 0 && most[2] > 0);
  drop(&told);
  answers_destroy(&answers);
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_chart_and_the_flame_graph_agree_at_each_moment),
      cmocka_unit_test(the_functions_of_the_chart_are_those_of_the_table),
      cmocka_unit_test(the_range_of_the_chart_begins_with_the_births),
      cmocka_unit_test(areas_of_the_chart_add_up_to_what_was_held),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
