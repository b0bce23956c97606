/* Metrics as text, in Prometheus' exposition format, version 0.0.4.
 *
 * No number depends on the locale: integers have no decimal point, and seconds are written as whole
 * seconds, a point, and the nanoseconds without zeros at their end. */
#include "gc/api/metrics.h"

#include <inttypes.h>

/* ---- numbers ---- */

/* "0.00002". */
static void print_seconds(FILE *out, uint64_t ns) {
  const uint64_t second = 1000000000;
  uint64_t rest = ns % second;
  int digits = 9;
  fprintf(out, "%" PRIu64, ns / second);
  if (!rest) return;
  for (; rest % 10 == 0; rest /= 10) digits--;
  fprintf(out, ".%0*" PRIu64, digits, rest);
}

static void metrics_text_print_head(FILE *out, const char *name, const char *type, const char *help) {
  fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- counters and gauges ---- */

static void metrics_text_print_number(FILE *out, const char *name, const char *type, const char *help,
                                      double number) {
  metrics_text_print_head(out, name, type, help);
  fprintf(out, "%s %.0f\n", name, number);
}

static void print_stat(FILE *out, const wn_gc_stat *stat) {
  const struct {
    const char *name, *type, *help;
    double number;
  } rows[] = {
      {"winnow_gc_minor_allocated_bytes_total", "counter",
       "Bytes allocated in minor heaps, headers included.", 8 * stat->minor_words},
      {"winnow_gc_promoted_bytes_total", "counter", "Bytes that moved from minor heaps to the major heap.",
       8 * stat->promoted_words},
      {"winnow_gc_major_allocated_bytes_total", "counter",
       "Bytes allocated in the major heap, promoted ones included.", 8 * stat->major_words},
      {"winnow_gc_minor_collections_total", "counter", "Minor collections.", (double)stat->minor_collections},
      {"winnow_gc_cycles_total", "counter", "Completed cycles of the major heap.",
       (double)stat->major_collections},
      {"winnow_gc_compactions_total", "counter", "Compactions.", (double)stat->compactions},
      {"winnow_gc_forced_full_collections_total", "counter", "Full collections that the program asked for.",
       (double)stat->forced_major_collections},
      {"winnow_gc_heap_bytes", "gauge", "Bytes that the major heap uses.", 8 * (double)stat->heap_words},
      {"winnow_gc_heap_top_bytes", "gauge", "The most bytes that the major heap has used.",
       8 * (double)stat->top_heap_words},
      {"winnow_gc_heap_limit_bytes", "gauge",
       "The limit in force of the bytes that the major heap uses; 0: none.", 8 * (double)stat->limit_words},
      {"winnow_gc_heap_chunks", "gauge", "Pieces in which the major heap got its memory.",
       (double)stat->heap_chunks},
      {"winnow_gc_handles", "gauge", "Handles in use.", (double)stat->stack_size},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    metrics_text_print_number(out, rows[i].name, rows[i].type, rows[i].help, rows[i].number);
}

/* ---- histograms ---- */

struct family {
  const char *name, *help;            /* of the histograms */
  const char *name_of_max;            /* of the longest lengths */
  const struct histogram *histograms; /* for each cause from `first` on */
  unsigned count;
  unsigned first; /* WN_GC_CAUSE_NONE: the one histogram has no cause */
};

static const char *metrics_text_cause_of(const struct family *family, unsigned i) {
  return wn_gc_cause_text((wn_gc_cause)(family->first + i));
}

static void print_labels(FILE *out, const struct family *family, unsigned i) {
  if (family->first) fprintf(out, "{cause=\"%s\"}", metrics_text_cause_of(family, i));
}

static void print_bucket(FILE *out, const struct family *family, unsigned i, unsigned bucket) {
  fprintf(out, "%s_bucket{", family->name);
  if (family->first) fprintf(out, "cause=\"%s\",", metrics_text_cause_of(family, i));
  fprintf(out, "le=\"");
  if (bucket < HISTOGRAM_BOUNDS)
    print_seconds(out, histogram_bound_ns(bucket));
  else
    fprintf(out, "+Inf");
}

static void print_histogram(FILE *out, const struct family *family, unsigned i) {
  const struct histogram *histogram = &family->histograms[i];
  uint64_t count = 0;
  for (unsigned bucket = 0; bucket <= HISTOGRAM_BOUNDS; bucket++) {
    count += atomic_load_explicit(&histogram->buckets[bucket], memory_order_relaxed);
    print_bucket(out, family, i, bucket);
    fprintf(out, "\"} %" PRIu64 "\n", count);
  }
  fprintf(out, "%s_sum", family->name);
  print_labels(out, family, i);
  fprintf(out, " ");
  print_seconds(out, atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed));
  fprintf(out, "\n%s_count", family->name);
  print_labels(out, family, i);
  fprintf(out, " %" PRIu64 "\n", count);
}

static void print_maxima(FILE *out, const struct family *family) {
  fprintf(out, "# HELP %s The longest of %s so far.\n# TYPE %s gauge\n", family->name_of_max, family->name,
          family->name_of_max);
  for (unsigned i = 0; i < family->count; i++) {
    fprintf(out, "%s", family->name_of_max);
    print_labels(out, family, i);
    fprintf(out, " ");
    print_seconds(out, atomic_load_explicit(&family->histograms[i].max_ns, memory_order_relaxed));
    fprintf(out, "\n");
  }
}

static void print_family(FILE *out, const struct family *family) {
  metrics_text_print_head(out, family->name, "histogram", family->help);
  for (unsigned i = 0; i < family->count; i++) print_histogram(out, family, i);
  print_maxima(out, family);
}

static void print_times(FILE *out, const struct metrics_counts *counts) {
  const struct family families[] = {
      {"winnow_gc_pause_seconds", "Pauses: how long a domain stood still.", "winnow_gc_pause_max_seconds",
       counts->pauses, PAUSE_CAUSES, PAUSE_CAUSE_FIRST},
      {"winnow_gc_stop_seconds", "Stops of the world, from when the leader began to stop it until all go on.",
       "winnow_gc_stop_max_seconds", counts->stops, STOP_CAUSES, STOP_CAUSE_FIRST},
      {"winnow_gc_stop_delay_seconds", "From when a leader began to stop the world until all stood still.",
       "winnow_gc_stop_delay_max_seconds", &counts->delays, 1, WN_GC_CAUSE_NONE},
      {"winnow_gc_minor_collection_seconds", "Minor collections, without the stops around them.",
       "winnow_gc_minor_collection_max_seconds", &counts->minors, 1, WN_GC_CAUSE_NONE},
      {"winnow_gc_cycle_seconds", "Cycles of the major heap that ended, during which the program runs.",
       "winnow_gc_cycle_max_seconds", &counts->cycles, 1, WN_GC_CAUSE_NONE},
  };
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) print_family(out, &families[i]);
}

/* ---- shared ---- */

void metrics_write(const struct metrics_moment *moment, FILE *out) {
  print_stat(out, &moment->stat);
  metrics_text_print_number(out, "winnow_gc_mapped_bytes", "gauge",
                            "Bytes that the major heap has from the system.", (double)moment->mapped_bytes);
  metrics_text_print_number(out, "winnow_gc_domains", "gauge", "Domains of the heap.", moment->domains);
  print_times(out, &moment->counts);
}
/* SPDX-License-Identifier: MIT */
