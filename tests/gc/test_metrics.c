/* Metrics (winnow/events.h): their text is what a strict reader of Prometheus' format accepts, and
 * their numbers are those of listeners and of wn_gc_quick_stat. */
#include "gc/journal.h"
#include "gc/work.h"

#include "gc/api/histogram.h"
#include "gc/domains/heap.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/events.h>

enum { DOMAINS = 3, FAMILIES_MOST = 64 };

/* ---- a reader of the format ---- */

struct reader {
  const char *at;
  char families[FAMILIES_MOST][96]; /* those that were read */
  unsigned count;
  char type[16]; /* of the last one */
  /* Of the current histogram. */
  char labels[128]; /* without `le` */
  uint64_t bound_ns, cumulated;
  bool is_open, is_whole; /* buckets were read; the last of them was +Inf */
  bool has_sum;
};

static void take(struct reader *reader, const char *expected) {
  if (strncmp(reader->at, expected, strlen(expected)))
    fail_msg("'%s' is expected at: %.80s", expected, reader->at);
  reader->at += strlen(expected);
}

static bool sees(const struct reader *reader, const char *text) {
  return !strncmp(reader->at, text, strlen(text));
}

static void take_while(struct reader *reader, const char *characters, char *out, size_t size) {
  size_t length = strspn(reader->at, characters);
  assert_true(length > 0 && length < size);
  memcpy(out, reader->at, length);
  out[length] = 0;
  reader->at += length;
}

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz_"
#define DIGITS          "0123456789"

/* "12" or "12.000345", in thousand-millionths. */
static uint64_t take_number(struct reader *reader) {
  char whole[24], rest[24] = "";
  take_while(reader, DIGITS, whole, sizeof whole);
  assert_true(whole[0] != '0' || !whole[1]);
  if (*reader->at == '.') {
    reader->at++;
    take_while(reader, DIGITS, rest, sizeof rest);
    assert_true(strlen(rest) <= 9 && rest[strlen(rest) - 1] != '0');
  }
  uint64_t number = strtoull(whole, NULL, 10) * 1000000000;
  uint64_t unit = 100000000;
  for (const char *digit = rest; *digit; digit++, unit /= 10) number += (uint64_t)(*digit - '0') * unit;
  return number;
}

static uint64_t take_count(struct reader *reader) {
  char digits[24];
  take_while(reader, DIGITS, digits, sizeof digits);
  assert_true(digits[0] != '0' || !digits[1]);
  return strtoull(digits, NULL, 10);
}

static void read_head(struct reader *reader) {
  char *family = reader->families[reader->count];
  assert_true(reader->count < FAMILIES_MOST);
  take(reader, "# HELP ");
  take_while(reader, NAME_CHARACTERS, family, sizeof *reader->families);
  assert_false(strncmp(family, "winnow_gc_", 10));
  for (unsigned i = 0; i < reader->count; i++) assert_string_not_equal(family, reader->families[i]);
  take(reader, " ");
  size_t length = strcspn(reader->at, "\n\\");
  assert_true(length > 5 && reader->at[length] == '\n' && reader->at[length - 1] == '.');
  reader->at += length;
  take(reader, "\n# TYPE ");
  take(reader, family);
  take(reader, " ");
  take_while(reader, NAME_CHARACTERS, reader->type, sizeof reader->type);
  take(reader, "\n");
  bool total = strlen(family) > 6 && !strcmp(family + strlen(family) - 6, "_total");
  assert_true(total == !strcmp(reader->type, "counter"));
  reader->count++;
}

/* The label `cause`, if there is one; `le` is left. */
static void read_cause(struct reader *reader, char *cause, size_t size) {
  *cause = 0;
  if (!sees(reader, "cause=\"")) return;
  take(reader, "cause=\"");
  take_while(reader, NAME_CHARACTERS, cause, size);
  take(reader, "\"");
}

static void read_bucket(struct reader *reader) {
  char cause[sizeof reader->labels];
  take(reader, "_bucket{");
  read_cause(reader, cause, sizeof cause);
  if (*cause) take(reader, ",");
  if (!reader->is_open) {
    strcpy(reader->labels, cause);
    reader->bound_ns = reader->cumulated = 0;
    reader->is_open = true;
    reader->is_whole = reader->has_sum = false;
  }
  assert_string_equal(reader->labels, cause);
  assert_false(reader->is_whole);
  take(reader, "le=\"");
  if (sees(reader, "+Inf")) {
    take(reader, "+Inf");
    reader->is_whole = true;
  } else {
    uint64_t bound = take_number(reader);
    assert_true(bound > reader->bound_ns);
    reader->bound_ns = bound;
  }
  take(reader, "\"} ");
  uint64_t count = take_count(reader);
  assert_true(count >= reader->cumulated);
  reader->cumulated = count;
}

static void read_labels(struct reader *reader, char *cause, size_t size) {
  *cause = 0;
  if (sees(reader, "{")) {
    take(reader, "{");
    read_cause(reader, cause, size);
    take(reader, "}");
  }
  take(reader, " ");
}

static void read_rest_of_histogram(struct reader *reader) {
  char cause[sizeof reader->labels];
  bool is_sum = sees(reader, "_sum");
  assert_true(reader->is_open && reader->is_whole && reader->has_sum == !is_sum);
  take(reader, is_sum ? "_sum" : "_count");
  read_labels(reader, cause, sizeof cause);
  assert_string_equal(reader->labels, cause);
  if (is_sum)
    take_number(reader);
  else
    assert_int_equal(take_count(reader), reader->cumulated);
  reader->has_sum = is_sum;
  reader->is_open = is_sum;
}

static void read_sample(struct reader *reader) {
  char cause[sizeof reader->labels];
  take(reader, reader->families[reader->count - 1]);
  if (strcmp(reader->type, "histogram")) {
    assert_true(!strcmp(reader->type, "gauge") || !strcmp(reader->type, "counter"));
    read_labels(reader, cause, sizeof cause);
    take_number(reader);
  } else if (sees(reader, "_bucket")) {
    read_bucket(reader);
  } else {
    read_rest_of_histogram(reader);
  }
  take(reader, "\n");
}

static void check_text(const char *text) {
  struct reader *reader = test_calloc(1, sizeof *reader);
  reader->at = text;
  while (*reader->at) {
    read_head(reader);
    do read_sample(reader);
    while (*reader->at && *reader->at != '#');
    assert_false(reader->is_open);
  }
  assert_true(reader->count > 20);
  test_free(reader);
}

/* ---- the text of a heap ---- */

/* To be freed. */
static char *text_of(wn_domain *domain) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  assert_int_equal(wn_gc_metrics(domain, out), WN_OK);
  fclose(out);
  check_text(text);
  return text;
}

/* In thousand-millionths. */
static uint64_t value_of(const char *text, const char *sample) {
  char line[160];
  snprintf(line, sizeof line, "\n%s ", sample);
  const char *at = strstr(text, line);
  if (!at) fail_msg("no sample %s", sample);
  struct reader reader = {.at = at + strlen(line)};
  return take_number(&reader);
}

static uint64_t count_in(const char *text, const char *sample) {
  uint64_t value = value_of(text, sample);
  assert_int_equal(value % 1000000000, 0);
  return value / 1000000000;
}

static uint64_t of_cause(const char *text, const char *name, wn_gc_cause cause) {
  char sample[120];
  snprintf(sample, sizeof sample, "%s{cause=\"%s\"}", name, wn_gc_cause_text(cause));
  return value_of(text, sample);
}

/* ---- what a listener counts ---- */

enum { CAUSES = WN_GC_CAUSE_LISTENERS + 1 };

struct sums {
  wn_gc_listener *listener;
  struct {
    _Atomic(uint64_t) count, sum, longest, up_to_ms; /* the last: of those up to 1 ms */
  } of[CAUSES], minors, cycles;
};

#define ADD(place, ns)                                                                            \
  do {                                                                                            \
    uint64_t most_ = atomic_load(&(place).longest);                                               \
    atomic_fetch_add(&(place).count, 1);                                                          \
    atomic_fetch_add(&(place).sum, ns);                                                           \
    atomic_fetch_add(&(place).up_to_ms, (ns) <= 1000000);                                         \
    while (most_ < (ns) && !atomic_compare_exchange_weak(&(place).longest, &most_, ns)) continue; \
  } while (0)

static void sum(const wn_gc_event *event, void *context) {
  struct sums *sums = context;
  uint64_t ns = event->ns - event->began_ns;
  switch (event->kind) {
  case WN_GC_PAUSE_ENDS:
  case WN_GC_STOP_ENDS: ADD(sums->of[event->cause], ns); break;
  case WN_GC_MINOR_ENDS: ADD(sums->minors, ns); break;
  case WN_GC_CYCLE_ENDS: ADD(sums->cycles, ns); break;
  default: break;
  }
}

/* A listener and metrics, which are told the same from now on. */
static struct sums *begin_both(wn_domain *domain) {
  struct sums *sums = test_calloc(1, sizeof *sums);
  assert_int_equal(wn_gc_listen(domain,
                                WN_GC_EVENT(WN_GC_PAUSE_ENDS) | WN_GC_EVENT(WN_GC_STOP_ENDS) |
                                    WN_GC_EVENT(WN_GC_MINOR_ENDS) | WN_GC_EVENT(WN_GC_CYCLE_ENDS),
                                sum, sums, &sums->listener),
                   WN_OK);
  assert_int_equal(wn_gc_metrics_begin(domain), WN_OK); /* its stop is told to the listener alone */
  assert_int_equal(atomic_load(&sums->of[WN_GC_CAUSE_LISTENERS].count), 1);
  memset(&sums->of, 0, sizeof sums->of);
  return sums;
}

static void check_cause(const char *text, const struct sums *sums, wn_gc_cause cause) {
  bool pause = cause < WN_GC_CAUSE_MINOR_HEAP;
  const char *names[2][4] = {{"winnow_gc_stop_seconds_count", "winnow_gc_stop_seconds_sum",
                              "winnow_gc_stop_max_seconds", "winnow_gc_stop_seconds_bucket"},
                             {"winnow_gc_pause_seconds_count", "winnow_gc_pause_seconds_sum",
                              "winnow_gc_pause_max_seconds", "winnow_gc_pause_seconds_bucket"}};
  char bucket[120];
  assert_int_equal(of_cause(text, names[pause][0], cause), atomic_load(&sums->of[cause].count) * 1000000000);
  assert_int_equal(of_cause(text, names[pause][1], cause), atomic_load(&sums->of[cause].sum));
  assert_int_equal(of_cause(text, names[pause][2], cause), atomic_load(&sums->of[cause].longest));
  snprintf(bucket, sizeof bucket, "%s{cause=\"%s\",le=\"0.001\"}", names[pause][3], wn_gc_cause_text(cause));
  assert_int_equal(count_in(text, bucket), atomic_load(&sums->of[cause].up_to_ms));
}

static void check_sums(const char *text, const struct sums *sums) {
  for (int cause = WN_GC_CAUSE_COLLECTION; cause < CAUSES; cause++)
    check_cause(text, sums, (wn_gc_cause)cause);
  assert_int_equal(count_in(text, "winnow_gc_minor_collection_seconds_count"),
                   atomic_load(&sums->minors.count));
  assert_int_equal(value_of(text, "winnow_gc_minor_collection_seconds_sum"), atomic_load(&sums->minors.sum));
  assert_int_equal(value_of(text, "winnow_gc_minor_collection_max_seconds"),
                   atomic_load(&sums->minors.longest));
  assert_int_equal(count_in(text, "winnow_gc_cycle_seconds_count"), atomic_load(&sums->cycles.count));
  assert_int_equal(value_of(text, "winnow_gc_cycle_seconds_sum"), atomic_load(&sums->cycles.sum));
}

/* ---- tests ---- */

static void live_a_little(wn_domain *domain) {
  WN_SCOPE(domain);
  make_list(domain, 1000, 400);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_gc_compact(domain), WN_OK);
}

static void sums_of_a_listener_are_those_of_the_metrics(void **state) { /* N6 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  live_a_little(of.domain);
  struct sums *sums = begin_both(of.domain);
  live_a_little(of.domain);
  char *text = text_of(of.domain);
  assert_true(sums->cycles.count >= 2 && sums->of[WN_GC_CAUSE_SLICE].count > 0);
  /* The stop in which the metrics were read ended after that. */
  assert_int_equal(atomic_load(&sums->of[WN_GC_CAUSE_STATISTICS].count), 1);
  memset(&sums->of[WN_GC_CAUSE_STATISTICS], 0, sizeof *sums->of);
  check_sums(text, sums);
  uint64_t stops = 0;
  for (int cause = WN_GC_CAUSE_MINOR_HEAP; cause < CAUSES; cause++)
    stops += of_cause(text, "winnow_gc_stop_seconds_count", (wn_gc_cause)cause) / 1000000000;
  assert_int_equal(count_in(text, "winnow_gc_stop_delay_seconds_count"), stops);
  free(text);
  assert_int_equal(wn_gc_unlisten(of.domain, sums->listener), WN_OK);
  test_free(sums);
  journal_close(&of);
}

static void the_counters_are_those_of_quick_stat(void **state) { /* N6 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  options.soft_limit_bytes = 800000000;
  options.text = "cgroup=0";
  journal_open(&of, &options);
  live_a_little(of.domain);
  assert_int_equal(wn_gc_metrics_begin(of.domain), WN_OK);
  live_a_little(of.domain);
  wn_gc_stat stat = quick_stat(of.domain);
  char *text = text_of(of.domain);
  const struct {
    const char *name;
    double value;
  } rows[] = {
      {"winnow_gc_minor_allocated_bytes_total", 8 * stat.minor_words},
      {"winnow_gc_promoted_bytes_total", 8 * stat.promoted_words},
      {"winnow_gc_major_allocated_bytes_total", 8 * stat.major_words},
      {"winnow_gc_minor_collections_total", (double)stat.minor_collections},
      {"winnow_gc_cycles_total", (double)stat.major_collections},
      {"winnow_gc_forced_full_collections_total", (double)stat.forced_major_collections},
      {"winnow_gc_heap_bytes", 8 * (double)stat.heap_words},
      {"winnow_gc_heap_top_bytes", 8 * (double)stat.top_heap_words},
      {"winnow_gc_heap_limit_bytes", 800000000},
      {"winnow_gc_heap_chunks", (double)stat.heap_chunks},
      {"winnow_gc_handles", (double)stat.stack_size},
      {"winnow_gc_mapped_bytes", (double)atomic_load(&of.heap->store.chunks.mapped_bytes)},
      {"winnow_gc_domains", 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(count_in(text, rows[i].name), (uint64_t)rows[i].value);
  free(text);
  journal_close(&of);
}

static void the_bounds_of_buckets_are_exact(void **state) { /* N6 */
  struct histogram histogram = {.max_ns = 0};
  (void)state;
  uint64_t total = 0, most = 0;
  for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
    uint64_t bound = histogram_bound_ns(i);
    for (uint64_t ns = bound - 1; ns <= bound + 1; ns++) {
      histogram_add(&histogram, ns);
      total += ns;
      most = ns;
    }
  }
  /* Of each bound: one below it, itself, and one above it. */
  assert_int_equal(histogram.buckets[0], 2);
  for (unsigned i = 1; i < HISTOGRAM_BOUNDS; i++) assert_int_equal(histogram.buckets[i], 3);
  assert_int_equal(histogram.buckets[HISTOGRAM_BOUNDS], 1);
  assert_int_equal(histogram.sum_ns, total);
  assert_int_equal(histogram.max_ns, most);
  assert_int_equal(histogram_bound_ns(0), 10000);
  assert_int_equal(histogram_bound_ns(HISTOGRAM_BOUNDS - 1), 10000000000);
}

static void calls_in_the_wrong_order_are_refused(void **state) { /* N5 */
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  assert_int_equal(wn_gc_metrics(of.domain, stderr), WN_ESTATE);
  assert_int_equal(wn_gc_metrics_end(of.domain), WN_ESTATE);
  assert_int_equal(wn_gc_metrics_begin(of.domain), WN_OK);
  assert_int_equal(wn_gc_metrics_begin(of.domain), WN_ESTATE);
  assert_int_equal(wn_gc_metrics(of.domain, NULL), WN_EINVAL);
  FILE *full = fopen("/dev/full", "w");
  assert_non_null(full);
  assert_int_equal(wn_gc_metrics(of.domain, full), WN_EIO);
  fclose(full);
  assert_int_equal(wn_gc_metrics_end(of.domain), WN_OK);
  assert_int_equal(wn_gc_metrics_end(of.domain), WN_ESTATE);
  assert_int_equal(wn_gc_metrics(of.domain, stderr), WN_ESTATE);
  assert_int_equal(wn_gc_metrics_begin(of.domain), WN_OK); /* ended by the heap */
  journal_close(&of);
}

/* Reads whole texts meanwhile, of which no count is less than in the text before. */
static void metrics_can_be_read_while_domains_run_and_lose_nothing(void **state) { /* N6 */
  struct journal of;
  struct work shared = {DOMAINS};
  wn_join *joins[DOMAINS];
  (void)state;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 2;
  options.parameters.minor_heap_size = 4096;
  journal_open(&of, &options);
  struct sums *sums = begin_both(of.domain);
  uint64_t before = 0, minors = 0;
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, work, &shared);
  while (atomic_load(&shared.left)) {
    char *text = text_of(of.domain);
    uint64_t stopped = of_cause(text, "winnow_gc_pause_seconds_sum", WN_GC_CAUSE_STOPPED);
    assert_true(stopped >= before);
    before = stopped;
    minors = count_in(text, "winnow_gc_minor_collection_seconds_count");
    assert_int_equal(minors, count_in(text, "winnow_gc_minor_collections_total"));
    free(text);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(wn_gc_unlisten(of.domain, sums->listener), WN_OK);
  char *text = text_of(of.domain);
  /* The stop that removed the listener was told to the metrics alone. */
  assert_int_equal(of_cause(text, "winnow_gc_stop_seconds_count", WN_GC_CAUSE_LISTENERS), 1000000000);
  sums->of[WN_GC_CAUSE_LISTENERS].count = 1;
  sums->of[WN_GC_CAUSE_LISTENERS].sum = sums->of[WN_GC_CAUSE_LISTENERS].longest =
      of_cause(text, "winnow_gc_stop_seconds_sum", WN_GC_CAUSE_LISTENERS);
  sums->of[WN_GC_CAUSE_LISTENERS].up_to_ms = sums->of[WN_GC_CAUSE_LISTENERS].sum <= 1000000;
  check_sums(text, sums);
  free(text);
  test_free(sums);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_of_a_listener_are_those_of_the_metrics),
      cmocka_unit_test(the_counters_are_those_of_quick_stat),
      cmocka_unit_test(the_bounds_of_buckets_are_exact),
      cmocka_unit_test(calls_in_the_wrong_order_are_refused),
      cmocka_unit_test(metrics_can_be_read_while_domains_run_and_lose_nothing),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
