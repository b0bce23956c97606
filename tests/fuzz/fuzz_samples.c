/* Any bytes as a trace whose questions are answered: whatever the records say, answers are numbers,
 * and parts are no more than the whole. */
#include "trace_file.h"

#include "analysis/load/peak.h"
#include "analysis/report/generations.h"
#include <math.h>

static void require(bool holds) {
  if (!holds) abort();
}

static void check_life(const struct samples *samples) {
  const struct heap_life *life = &samples->life;
  struct trace_collection total = heap_life_total(life), largest = heap_life_largest(life);
  require(total.heap_words <= largest.heap_words);
  require(life->domains_most <= life->domains_begun && life->domain_ns >= 0 && isfinite(life->domain_ns));
  require(life->longest.ns <= samples->end_ns && isfinite(heap_life_paused_ns(life)));
  require(heap_life_pause_at(life, 0.99) <= (life->longest.ns ? life->longest.ns : PAUSE_LONG_NS));
}

static void check_rows(const struct samples *samples) {
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    require(!(samples->life_words[i] < 0) && (row->promoted_ns == NEVER || row->promoted_ns >= row->born_ns));
    require(row->next_cycle == NEXT_CYCLE_UNKNOWN || row->promoted_ns != NEVER);
  }
  struct generations all = {0};
  for (size_t i = 0; i < samples->row_count; i++) generations_add(&all, &samples->rows[i]);
  require(all.promoted.bytes.samples <= all.minor.bytes.samples);
  require(all.resolved.bytes.samples <= all.promoted.bytes.samples);
  require(all.dead.bytes.samples <= all.resolved.bytes.samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  struct samples *samples;
  struct peak peak;
  const char *path = fuzz_file(bytes, count);
  if (!path || samples_load(path, NULL, NULL, &samples)) return 0;
  check_life(samples);
  check_rows(samples);
  if (peak_find(samples, NULL, NULL, &peak)) abort();
  samples_free(samples);
  return 0;
}
/* SPDX-License-Identifier: MIT */
