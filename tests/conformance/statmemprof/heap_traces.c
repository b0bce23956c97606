/* Traces of the collected heap: how the heap lives, by its own counters. */
#include "trace_file.h"
#include "tracker.h"

#include "base/os.h"
#include "gc/domains/domain.h"
#include "gc/domains/heap.h"
#include "trace/reader.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/trace.h>

enum { BLOCKS_MOST = 1 << 17, DOMAINS = 4 };

/* What a trace says. */
struct seen {
  uint64_t words[BLOCKS_MOST]; /* of each block; 0: none, or not of the heap */
  uint64_t young, major, outside, promoted, promoted_words, samples_words;
  uint64_t collections, cycles, domains_begun, domains_ended, running, running_most, slices;
  uint64_t last_ns, longest_ns;
  struct trace_collection first, last;
  struct trace_pause pauses[TRACE_PAUSES]; /* the last of each kind */
  bool complete;
};

static void see_sample(struct seen *seen, const struct trace_sample *sample) {
  assert_in_range(sample->block, 1, BLOCKS_MOST - 1);
  if (sample->source == TRACE_SOURCE_CUSTOM) {
    seen->outside++;
    return;
  }
  seen->words[sample->block] = sample->words;
  seen->samples_words += sample->words;
  if (sample->major)
    seen->major++;
  else
    seen->young++;
}

/* Counters never go back. Records of different threads come in any order. */
static void see_collection(struct seen *seen, const struct trace_collection *now) {
  const struct trace_collection *before = &seen->last;
  if (!before->time_ns || now->time_ns < seen->first.time_ns) seen->first = *now;
  seen->collections += now->kind == TRACE_COLLECTION_MINOR;
  seen->cycles += now->kind == TRACE_COLLECTION_MAJOR;
  if (now->time_ns < before->time_ns) return;
  assert_true(now->minor_words >= before->minor_words && now->promoted_words >= before->promoted_words);
  assert_true(now->direct_words >= before->direct_words && now->major_cycles >= before->major_cycles);
  assert_true(now->minor_collections >= before->minor_collections && now->ns <= now->time_ns);
  seen->last = *now;
}

static void see_pause(struct seen *seen, const struct trace_pause *pause) {
  assert_in_range(pause->kind, 0, TRACE_PAUSES - 1);
  assert_true(pause->ns <= pause->time_ns && pause->ns <= pause->total_ns);
  if (pause->ns > seen->longest_ns) seen->longest_ns = pause->ns;
  if (pause->count > seen->pauses[pause->kind].count) seen->pauses[pause->kind] = *pause;
}

static void see_domain(struct seen *seen, const struct trace_domain *domain) {
  bool begins = domain->what == TRACE_DOMAIN_BEGINS;
  seen->domains_begun += begins;
  seen->domains_ended += !begins;
  seen->running += begins ? 1 : (uint64_t)-1;
  if (seen->running > seen->running_most) seen->running_most = seen->running;
}

static void see(struct seen *seen, const struct trace_event *event) {
  if (event->at.time_ns > seen->last_ns) seen->last_ns = event->at.time_ns;
  switch (event->kind) {
  case TRACE_SAMPLE: see_sample(seen, &event->sample); break;
  case TRACE_PROMOTE:
    assert_in_range(event->promote.block, 1, BLOCKS_MOST - 1);
    seen->promoted++;
    seen->promoted_words += seen->words[event->promote.block];
    break;
  case TRACE_COLLECTION: see_collection(seen, &event->collection); break;
  case TRACE_PAUSE: see_pause(seen, &event->pause); break;
  case TRACE_DOMAIN: see_domain(seen, &event->domain); break;
  default: break;
  }
}

/* What a trace says that misses `lost` samples. The caller frees it. */
static struct seen *read_without(const char *path, uint64_t lost) {
  struct seen *seen = calloc(1, sizeof *seen);
  struct trace_reader *reader;
  struct trace_event event;
  assert_non_null(seen);
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) see(seen, &event);
  assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
  assert_int_equal(trace_reader_damage(reader)->records_lost, lost);
  assert_int_equal(trace_reader_damage(reader)->records_unknown, 0);
  seen->complete = trace_reader_damage(reader)->complete;
  trace_reader_close(reader);
  unlink(path);
  return seen;
}

static struct seen *read_back(const char *path) { return read_without(path, 0); }

static wn_trace *start_all(struct journal *of, const char *path) {
  wn_memprof_options all = WN_MEMPROF_DEFAULTS;
  wn_trace *trace;
  all.sampling_rate = 1;
  all.callstack_size = 8;
  wn_gc_minor(of->domain); /* what was born before is not sampled, and would be promoted */
  assert_int_equal(wn_trace_start(of->domain, path, &all, &trace), WN_OK);
  return trace;
}

static wn_gc_stat stat_of(struct journal *of) {
  wn_gc_stat stat;
  assert_int_equal(wn_gc_quick_stat(of->domain, &stat), WN_OK);
  return stat;
}

/* A heap with young blocks that die, young ones that live, large ones, and memory outside. */
static void live(struct journal *of) {
  static const wn_custom_ops ops = {.name = "outside"};
  WN_SCOPE(of->domain);
  for (int i = 0; i < 20; i++) {
    make_list(of->domain, 200, 4);
    allocate(of->domain, 500, 3);
    wn_alloc(of->domain, 3000, 0);
    wn_alloc_custom(of->domain, &ops, 8, 801);
    wn_gc_minor(of->domain);
  }
}

static void promotions_are_those_that_the_heap_counts(void **state) { /* R5 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  wn_trace *trace = start_all(&of, file.path);
  wn_gc_stat before = stat_of(&of);
  live(&of);
  wn_gc_minor(of.domain);
  wn_gc_stat after = stat_of(&of);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  struct seen *seen = read_back(file.path);
  assert_true(seen->promoted >= 20 * 200);
  assert_int_equal(seen->promoted_words, (uint64_t)(after.promoted_words - before.promoted_words));
  assert_int_equal(seen->samples_words,
                   (uint64_t)(after.minor_words - before.minor_words + after.major_words -
                              before.major_words - (after.promoted_words - before.promoted_words)));
  assert_true(seen->promoted < seen->young + seen->outside);
  assert_int_equal(seen->major, 20);
  assert_int_equal(seen->outside, 20);
  free(seen);
  journal_close(&of);
}

/* Large blocks are lost when they are born, and young ones when they are promoted. */
static void samples_without_memory_are_missing_and_the_trace_says_how_many(void **state) { /* M73 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  of.domain->heap->engine.entries.limit = 5;
  wn_trace *trace = start_all(&of, file.path);
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < 20; i++) wn_alloc(of.domain, 3000, 0);
    wn_gc_minor(of.domain);
    make_list(of.domain, 200, 4);
    wn_gc_minor(of.domain);
    assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  }
  struct seen *seen = read_without(file.path, 15 + 200);
  assert_int_equal(seen->major, 5);
  assert_int_equal(seen->promoted, 0);
  assert_true(seen->complete);
  free(seen);
  journal_close(&of);
}

static void counters_are_the_heaps_from_the_begin_to_the_end(void **state) { /* R6 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  allocate(of.domain, 100, 3);
  wn_trace *trace = start_all(&of, file.path);
  wn_gc_stat before = stat_of(&of);
  live(&of);
  wn_gc_full_major(of.domain);
  allocate(of.domain, 10, 3);
  wn_gc_stat after = stat_of(&of);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  struct seen *seen = read_back(file.path);
  assert_int_equal(seen->first.kind, TRACE_COLLECTION_NONE);
  assert_int_equal(seen->first.minor_collections, before.minor_collections);
  assert_int_equal(seen->first.minor_words, (uint64_t)before.minor_words);
  assert_int_equal(seen->last.kind, TRACE_COLLECTION_NONE);
  assert_int_equal(seen->last.minor_collections, after.minor_collections);
  assert_int_equal(seen->last.major_cycles, after.major_collections);
  assert_int_equal(seen->last.minor_words, (uint64_t)after.minor_words);
  assert_int_equal(seen->last.promoted_words, (uint64_t)after.promoted_words);
  assert_int_equal(seen->last.direct_words, (uint64_t)(after.major_words - after.promoted_words));
  assert_int_equal(seen->last.heap_words, after.heap_words);
  assert_int_equal(seen->last.domains, 1);
  assert_int_equal(seen->cycles, after.major_collections - before.major_collections);
  assert_true(seen->collections >= 1 && seen->collections <= (uint64_t)after.minor_collections);
  free(seen);
  journal_close(&of);
}

static void the_last_cycle_says_what_is_live(void **state) { /* R6 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  wn_trace *trace = start_all(&of, file.path);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 1000, 4);
    wn_gc_full_major(of.domain);
    assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  }
  struct seen *seen = read_back(file.path);
  assert_in_range(seen->last.live_words, 1000 * 5, 1000 * 6);
  assert_true(seen->last.heap_words >= seen->last.live_words);
  free(seen);
  journal_close(&of);
}

/* They are sums: each collection stopped the program once, whether or not it has a record. */
static void pauses_are_counted_and_shorter_than_the_run(void **state) { /* R7 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  wn_trace *trace = start_all(&of, file.path);
  wn_gc_stat before = stat_of(&of);
  uint64_t began = os_monotonic_ns();
  live(&of);
  assert_int_equal(wn_gc_set_domain_minor_heap(of.domain, 4096), WN_OK); /* which collects */
  wn_gc_full_major(of.domain);
  uint64_t took = os_monotonic_ns() - began;
  wn_gc_stat after = stat_of(&of);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  struct seen *seen = read_back(file.path);
  const struct trace_pause *minor = &seen->pauses[TRACE_PAUSE_MINOR],
                           *slice = &seen->pauses[TRACE_PAUSE_SLICE];
  assert_int_equal(minor->count, after.minor_collections - before.minor_collections);
  assert_true(minor->total_ns > 0 && slice->count > 0 && slice->total_ns > 0);
  assert_true(minor->total_ns + slice->total_ns < took);
  assert_true(seen->longest_ns <= took);
  assert_int_equal(seen->pauses[TRACE_PAUSE_STOP].count, 0); /* no other domain stops the world */
  free(seen);
  journal_close(&of);
}

static void collect_a_little(wn_domain *domain, void *argument) {
  (void)argument;
  for (int i = 0; i < 20; i++) {
    WN_SCOPE(domain);
    make_list(domain, 50, 4);
    wn_gc_minor(domain);
  }
}

static void domains_begin_and_end_and_wait_for_each_other(void **state) { /* R8 */
  struct file file = new_file();
  struct journal of;
  wn_join *joins[DOMAINS];
  (void)state;
  journal_open(&of, NULL);
  wn_trace *trace = start_all(&of, file.path);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, collect_a_little, NULL);
  collect_a_little(of.domain, NULL);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  struct seen *seen = read_back(file.path);
  assert_int_equal(seen->domains_begun, 1 + DOMAINS);
  assert_int_equal(seen->domains_ended, DOMAINS);
  uint64_t paused = seen->pauses[TRACE_PAUSE_MINOR].total_ns + seen->pauses[TRACE_PAUSE_STOP].total_ns;
  assert_true(paused > 0 && paused < (1 + DOMAINS) * seen->last_ns);
  free(seen);
  journal_close(&of);
}

/* What runs when a trace begins is written as if it began then. */
static void domains_that_run_already_are_told(void **state) { /* R8 */
  struct file file = new_file();
  struct journal of;
  wn_domain *other;
  (void)state;
  journal_open(&of, NULL);
  wn_blocking_begin(of.domain);
  assert_int_equal(wn_domain_attach(of.heap, &other), WN_OK);
  wn_blocking_begin(other);
  wn_blocking_end(of.domain);
  wn_trace *trace = start_all(&of, file.path);
  wn_blocking_begin(of.domain);
  wn_blocking_end(other);
  assert_int_equal(wn_domain_detach(other), WN_OK);
  wn_blocking_end(of.domain);
  assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
  struct seen *seen = read_back(file.path);
  assert_int_equal(seen->domains_begun, 2);
  assert_int_equal(seen->domains_ended, 1);
  assert_int_equal(seen->running_most, 2);
  free(seen);
  journal_close(&of);
}

static wn_domain *second_domain(struct journal *of) {
  wn_domain *domain;
  wn_blocking_begin(of->domain);
  assert_int_equal(wn_domain_attach(of->heap, &domain), WN_OK);
  return domain;
}

/* Each domain samples for its own; the heap's life stands in both. */
static void every_trace_of_a_heap_has_its_life(void **state) { /* R9 */
  struct file files[2] = {new_file(), new_file()};
  struct journal of;
  wn_trace *first, *second;
  (void)state;
  journal_open(&of, NULL);
  first = start_all(&of, files[0].path);
  wn_domain *other = second_domain(&of);
  assert_int_equal(wn_trace_start(other, files[1].path, NULL, &second), WN_OK);
  assert_int_equal(wn_trace_stop(other, first), WN_ESTATE); /* which is the other's */
  wn_gc_full_major(other);
  assert_int_equal(wn_trace_stop(other, second), WN_OK);
  wn_gc_full_major(other);
  assert_int_equal(wn_domain_detach(other), WN_OK);
  wn_blocking_end(of.domain);
  wn_gc_stat after = stat_of(&of);
  assert_int_equal(wn_trace_stop(of.domain, first), WN_OK);
  struct seen *seen = read_back(files[0].path), *short_one = read_back(files[1].path);
  assert_int_equal(seen->last.minor_collections, after.minor_collections);
  assert_true(short_one->last.minor_collections < seen->last.minor_collections);
  assert_true(short_one->cycles > 0 && short_one->cycles < seen->cycles);
  assert_true(seen->complete && short_one->complete);
  free(seen);
  free(short_one);
  journal_close(&of);
}

static void a_trace_that_ends_with_its_heap_has_the_last_counters(void **state) { /* R6 */
  struct file file = new_file();
  struct journal of;
  (void)state;
  journal_open(&of, NULL);
  start_all(&of, file.path);
  live(&of);
  wn_gc_stat after = stat_of(&of);
  journal_close(&of);
  struct seen *seen = read_back(file.path);
  assert_true(seen->complete);
  assert_int_equal(seen->last.kind, TRACE_COLLECTION_NONE);
  assert_int_equal(seen->last.domains, 0);
  assert_int_equal(seen->domains_ended, 1);
  assert_true(seen->last.minor_words >= (uint64_t)after.minor_words);
  assert_true(seen->last.minor_collections >= (uint64_t)after.minor_collections);
  free(seen);
}

static void live_until_killed(const char *path) {
  struct journal of;
  journal_open(&of, NULL);
  start_all(&of, path);
  live(&of);
  wn_gc_full_major(of.domain);
  kill(getpid(), SIGKILL);
}

static void a_program_that_is_killed_leaves_what_it_told(void **state) { /* R10 */
  struct file file = new_file();
  int status;
  (void)state;
  pid_t child = fork();
  if (!child) live_until_killed(file.path);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  struct seen *seen = read_back(file.path);
  assert_false(seen->complete);
  assert_true(seen->promoted >= 20 * 200 && seen->cycles > 0);
  assert_true(seen->pauses[TRACE_PAUSE_MINOR].count > 0);
  assert_true(seen->last.minor_words > 0 && seen->last.promoted_words >= seen->promoted_words);
  free(seen);
}

/* Each birth is in the file when its allocation returns, with a time of its own, and so is what
 * collections found: the program comes to no poll, and is then killed. */
enum { UNPOLLED = 3000 };
static void live_without_a_poll(const char *path) {
  struct journal of;
  journal_open(&of, NULL);
  start_all(&of, path);
  WN_SCOPE(of.domain);
  wn_ref list = wn_root(of.domain, wn_int(0));
  for (long i = 0; i < UNPOLLED; i++) {
    wn_push_int(of.domain, list, 0, i);
    if (i % 100 == 99) wn_assign_int(list, 0);
    if (i == UNPOLLED / 2) wn_gc_set_domain_minor_heap(of.domain, 512);
  }
  kill(getpid(), SIGKILL);
}

static void a_program_that_does_not_poll_has_its_births_in_the_trace_at_once(void **state) { /* M25 */
  struct file file = new_file();
  struct trace_reader *reader;
  struct trace_event event;
  uint64_t births = 0, times = 0, ends = 0, last = 0;
  int status;
  (void)state;
  pid_t child = fork();
  if (!child) live_without_a_poll(file.path);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(trace_reader_open(file.path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    ends += event.kind == TRACE_FREE;
    if (event.kind != TRACE_SAMPLE) continue;
    births++;
    times += event.sample.time_ns != last;
    last = event.sample.time_ns;
  }
  trace_reader_close(reader);
  unlink(file.path);
  assert_int_equal(births, UNPOLLED);
  assert_true(times > UNPOLLED / 2);
  assert_true(ends > UNPOLLED / 4);
}

/* The heap's domains come, go and collect while traces begin and end. */
static void traces_begin_and_end_while_other_domains_collect(void **state) { /* R9 */
  struct journal of;
  wn_join *joins[DOMAINS];
  (void)state;
  journal_open(&of, NULL);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, collect_a_little, NULL);
  for (int i = 0; i < 10; i++) {
    struct file file = new_file();
    wn_trace *trace;
    assert_int_equal(wn_trace_start(of.domain, file.path, NULL, &trace), WN_OK);
    wn_gc_minor(of.domain);
    assert_int_equal(wn_trace_stop(of.domain, trace), WN_OK);
    struct seen *seen = read_back(file.path);
    assert_true(seen->complete && seen->domains_begun >= 1);
    assert_true(seen->last.minor_collections > seen->first.minor_collections);
    free(seen);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(promotions_are_those_that_the_heap_counts),
      cmocka_unit_test(samples_without_memory_are_missing_and_the_trace_says_how_many),
      cmocka_unit_test(counters_are_the_heaps_from_the_begin_to_the_end),
      cmocka_unit_test(the_last_cycle_says_what_is_live),
      cmocka_unit_test(pauses_are_counted_and_shorter_than_the_run),
      cmocka_unit_test(domains_begin_and_end_and_wait_for_each_other),
      cmocka_unit_test(domains_that_run_already_are_told),
      cmocka_unit_test(every_trace_of_a_heap_has_its_life),
      cmocka_unit_test(a_trace_that_ends_with_its_heap_has_the_last_counters),
      cmocka_unit_test(a_program_that_is_killed_leaves_what_it_told),
      cmocka_unit_test(a_program_that_does_not_poll_has_its_births_in_the_trace_at_once),
      cmocka_unit_test(traces_begin_and_end_while_other_domains_collect),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
