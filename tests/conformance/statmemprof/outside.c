/* Memory outside of custom blocks that shrinks and grows: what a profile and a trace say that it
 * holds. */
#include "trace_file.h"
#include "tracker.h"

#include "base/random.h"
#include "trace/reader.h"
#include <math.h>
#include <string.h>
#include <winnow/trace.h>

static void release_nothing(void *bytes) { (void)bytes; }
static const wn_custom_ops ops = {"buffer", release_nothing};

/* ---- what a tracker knows ---- */

enum { PARTS_MOST = 1 << 16 };

struct ledger {
  struct tracked all;
  double rate;
  size_t count;
  struct part {
    double bytes, weight;
  } parts[PARTS_MOST];
  double shrunk; /* bytes that resizes told to be gone */
};

static void *note(wn_domain *domain, const wn_allocation *allocation, void *context) {
  static struct part other;
  struct ledger *ledger = context;
  (void)domain;
  if (allocation->source != WN_SOURCE_CUSTOM) return &other;
  assert_true(ledger->count < PARTS_MOST);
  struct part *part = &ledger->parts[ledger->count++];
  double chance = ledger->rate == 1 ? 1 : -expm1((double)allocation->trials * log1p(-ledger->rate));
  *part = (struct part){(double)allocation->bytes, 1 / chance};
  return part;
}

static void *promote(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}

static void *resize(wn_domain *domain, void *metadata, const wn_allocation *allocation, void *context) {
  struct part *part = metadata;
  (void)domain;
  assert_true((double)allocation->previous_bytes == part->bytes);
  assert_true(wn_callstack_depth(allocation->callstack) > 0);
  ((struct ledger *)context)->shrunk += part->bytes - (double)allocation->bytes;
  part->bytes = (double)allocation->bytes;
  return part;
}

static void forget(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  ((struct part *)metadata)->bytes = 0;
}

static double held(const struct ledger *ledger) {
  double sum = 0;
  for (size_t i = 0; i < ledger->count; i++) sum += ledger->parts[i].bytes * ledger->parts[i].weight;
  return sum;
}

static void open_ledger(struct ledger *ledger, double rate, uint64_t seed) {
  tracked_open_heap(&ledger->all);
  ledger->all.tracker = (wn_tracker){note, note, promote, forget, forget, NULL, ledger, resize, NULL};
  ledger->rate = rate;
  ledger->count = 0;
  ledger->shrunk = 0;
  wn_memprof_options options = {.sampling_rate = rate, .callstack_size = SIZE_MAX, .seed = seed};
  assert_int_equal(
      wn_memprof_start(ledger->all.of.domain, &options, &ledger->all.tracker, &ledger->all.profile), WN_OK);
}

/* A buffer grows and shrinks a thousand times, to sizes up to `most`. Returns its last size. */
static size_t breathe(wn_domain *domain, wn_ref buffer, size_t most, uint64_t seed) {
  struct random random;
  size_t bytes = 0;
  random_seed(&random, seed, most, 0);
  for (int i = 0; i < 1000; i++) {
    bytes = 1 + random_bits(&random) % most;
    assert_int_equal(wn_custom_adjust(domain, buffer, bytes), WN_OK);
    if (i % 3 == 0) wn_poll(domain);
    if (i % 100 == 50) wn_gc_minor(domain);
    if (i == 300 || i == 800) wn_gc_full_major(domain);
  }
  wn_poll(domain);
  return bytes;
}

static struct ledger ledger;

static void at_rate_one_a_buffer_holds_what_it_holds(void **state) { /* M14 */
  (void)state;
  for (size_t most = 1000; most <= 1000000; most *= 1000) {
    open_ledger(&ledger, 1, 0);
    wn_domain *domain = ledger.all.of.domain;
    {
      WN_SCOPE(domain);
      wn_ref buffer = wn_alloc_custom(domain, &ops, 8, most);
      size_t bytes = breathe(domain, buffer, most, 7);
      assert_true(held(&ledger) == (double)bytes);
      assert_true(ledger.shrunk > 0);
      assert_int_equal(wn_custom_adjust(domain, buffer, 0), WN_OK);
      wn_poll(domain);
      assert_true(held(&ledger) == 0);
      assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
    }
    wn_gc_full_major(domain);
    counts_of(ledger.all.profile);
    tracked_close(&ledger.all);
  }
}

static void at_low_rates_a_buffer_holds_in_the_mean_what_it_holds(void **state) { /* M14 */
  enum { RUNS = 60, MOST = 100000 };
  double sum = 0, squares = 0;
  (void)state;
  for (uint64_t run = 0; run < RUNS; run++) {
    open_ledger(&ledger, 1e-3, run);
    wn_domain *domain = ledger.all.of.domain;
    {
      WN_SCOPE(domain);
      wn_ref buffer = wn_alloc_custom(domain, &ops, 8, MOST);
      size_t bytes = breathe(domain, buffer, MOST, run);
      double error = held(&ledger) - (double)bytes;
      sum += error;
      squares += error * error;
    }
    tracked_close(&ledger.all);
  }
  double mean = sum / RUNS, deviation = squares / RUNS / RUNS;
  if (mean * mean > 25 * deviation) fail_msg("the mean error is %g, its variance %g", mean, deviation);
  assert_true(sqrt(squares / RUNS) < MOST / 4.0);
}

/* ---- another domain ---- */

struct shrinker {
  wn_global *buffer;
  size_t bytes;
};

static void shrink_it(wn_domain *domain, void *context) {
  const struct shrinker *shrinker = context;
  WN_SCOPE(domain);
  wn_ref buffer = wn_global_get(domain, shrinker->buffer);
  assert_int_equal(wn_custom_adjust(domain, buffer, shrinker->bytes), WN_OK);
}

/* The block is young, or old. */
static void what_another_domain_shrinks_is_told_after_its_collection(void **state) { /* M14 */
  (void)state;
  for (int old = 0; old < 2; old++) {
    open_ledger(&ledger, 1, 0);
    wn_domain *domain = ledger.all.of.domain;
    {
      WN_SCOPE(domain);
      wn_ref buffer = wn_alloc_custom(domain, &ops, 8, 6000);
      if (old) wn_gc_minor(domain);
      wn_poll(domain);
      struct shrinker shrinker = {.bytes = 600};
      shrinker.buffer = wn_global_new(domain, buffer);
      assert_non_null(shrinker.buffer);
      join_wait(domain, spawn(domain, shrink_it, &shrinker));
      wn_gc_minor(domain);
      assert_true(held(&ledger) == 600);
      wn_global_free(domain, shrinker.buffer);
    }
    wn_gc_full_major(domain);
    assert_true(held(&ledger) == 0);
    assert_int_equal(counts_of(ledger.all.profile).live_major, 0);
    tracked_close(&ledger.all);
  }
}

/* ---- traces ---- */

/* What of memory outside is held at the end of a trace. */
static uint64_t held_in(const char *path, long *resizes) {
  static uint64_t sizes[PARTS_MOST];
  struct trace_reader *reader;
  struct trace_event event;
  uint64_t sum = 0;
  memset(sizes, 0, sizeof sizes);
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    uint64_t block = event.kind == TRACE_SAMPLE   ? event.sample.block
                     : event.kind == TRACE_RESIZE ? event.resize.block
                     : event.kind == TRACE_FREE   ? event.free.block
                                                  : 0;
    assert_true(block < PARTS_MOST);
    if (event.kind == TRACE_SAMPLE && event.sample.source == WN_SOURCE_CUSTOM)
      sizes[block] = event.sample.size;
    if (event.kind == TRACE_RESIZE) sizes[block] = event.resize.size;
    if (event.kind == TRACE_FREE) sizes[block] = 0;
    *resizes += event.kind == TRACE_RESIZE;
  }
  trace_reader_close(reader);
  for (size_t i = 0; i < PARTS_MOST; i++) sum += sizes[i];
  return sum;
}

static void a_trace_says_what_a_buffer_holds_that_shrinks_and_grows(void **state) { /* R1c */
  wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  struct file file = new_file();
  struct journal of;
  wn_trace *trace;
  long resizes = 0;
  size_t bytes;
  (void)state;
  options.sampling_rate = 1;
  journal_open(&of, NULL);
  assert_int_equal(wn_trace_start(of.domain, file.path, &options, &trace), WN_OK);
  {
    WN_SCOPE(of.domain);
    wn_ref buffer = wn_alloc_custom(of.domain, &ops, 8, 1000);
    bytes = breathe(of.domain, buffer, 100000, 3);
  }
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  assert_int_equal(held_in(file.path, &resizes), bytes);
  assert_true(resizes > 300);
  journal_close(&of);
  unlink(file.path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(at_rate_one_a_buffer_holds_what_it_holds),
      one_thread_test(at_low_rates_a_buffer_holds_in_the_mean_what_it_holds),
      cmocka_unit_test(what_another_domain_shrinks_is_told_after_its_collection),
      cmocka_unit_test(a_trace_says_what_a_buffer_holds_that_shrinks_and_grows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
