/* A month of a busy server by a made-up clock, in a trace that is compacted while it is written:
 *
 *   test_compact_month [ALLOCATIONS [BOUND]]     (in millions; in MiB)
 *
 * The trace and its history stay below the bound all the time; a leak of one block in 50,000,
 * caches, and what was allocated in all are in their ranges; and they are known about as well as
 * from a trace without a bound of which as many samples are read. Each compaction is a process of
 * its own, as that of `winnow record`, whose memory is measured.
 *
 * Allocation i is of class i % CLASSES. All blocks of a class have one size and live for one number
 * of allocations, so all truths are known. Each allocation is sampled with the probability of its
 * size, by gaps of a geometric law. The writer, the compactor and the reader are the real ones. */
#include "support/test.h"

#include "analysis/load/recording.h"
#include "analysis/load/timeline.h"
#include "base/os.h"
#include "base/random.h"
#include "base/words.h"
#include "compact/compact.h"
#include "compact/made_trace.h"
#include "trace/chunk.h"
#include "trace/history.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLASSES = 6 };
#define RATE     1e-3
#define MONTH_NS (UINT64_C(30) * 86400 * 1000000000)
#define NEVER    UINT64_MAX

struct class {
  const char *name;
  uint64_t size, life; /* bytes; allocations of all classes */
  uint64_t one_in;     /* of the class's turns, one in so many allocates */
};
static const struct class classes[CLASSES] = {{"request", 120, 50, 1},
                                              {"buffer", 2000, 400, 1},
                                              {"cache", 300, 3000000, 1},
                                              {"session", 900, 40000000, 200},
                                              {"leak", 200, NEVER, 50000 / CLASSES},
                                              {"table", 64, 20000, 1}};

/* A sampled block that lives. */
struct living {
  uint64_t index, number;
};

struct stream {
  uint64_t next;         /* the index of the next allocation of the class that is sampled */
  struct living *blocks; /* those that live, in order: a ring */
  size_t first, count, capacity;
  struct random random;
  double log_miss;
};

struct month {
  uint64_t allocations, bound;
  char path[80], history[100], unbounded[100];
  struct trace_writer *writers[2]; /* with a bound, and without */
  struct stream streams[CLASSES];
  uint64_t numbers, compactions, most_bytes, samples;
  uint64_t longest_ns, all_ns, most_memory;
};

/* ---- allocations ---- */

static uint64_t turns(const struct class *class) { return CLASSES * class->one_in; }

/* The next sampled allocation of a class, whose next allocation of all has the index `from`. */
static void draw_next(struct month *month, int class, uint64_t from) {
  struct stream *stream = &month->streams[class];
  double missed = floor(log(1 - random_unit(&stream->random)) / stream->log_miss);
  stream->next = missed < 1e15 ? from + (uint64_t)missed * turns(&classes[class]) : NEVER;
}

static void begin(struct month *month) {
  month->writers[0] = made_open(month->path, RATE, 0);
  month->writers[1] = made_open(month->unbounded, RATE, 0);
  for (int i = 0; i < CLASSES; i++) {
    struct stream *stream = &month->streams[i];
    random_seed(&stream->random, 3, (uint64_t)i, 0);
    stream->log_miss = (double)malloc_words(classes[i].size) * log1p(-RATE);
    stream->capacity = 1 << 20;
    stream->blocks = malloc(stream->capacity * sizeof *stream->blocks);
    assert_non_null(stream->blocks);
    draw_next(month, i, (uint64_t)i + 1);
  }
}

static uint64_t time_of(const struct month *month, uint64_t index) {
  return (uint64_t)((double)index / (double)month->allocations * (double)MONTH_NS);
}

static void write_birth(struct month *month, int class, uint64_t index) {
  struct stream *stream = &month->streams[class];
  uint32_t frames[3] = {1, 2, 10 + (uint32_t) class};
  uint64_t size = classes[class].size;
  struct trace_sample sample = {.time_ns = time_of(month, index),
                                .thread = 1 + (uint32_t) class % 2,
                                .block = ++month->numbers,
                                .size = size,
                                .words = malloc_words(size),
                                .n_samples = 1,
                                .rate = RATE};
  for (int i = 0; i < 2; i++)
    assert_true(trace_write_sample(month->writers[i], &sample, (struct trace_stack){frames, 3}));
  assert_true(stream->count < stream->capacity);
  stream->blocks[(stream->first + stream->count++) % stream->capacity] =
      (struct living){index, month->numbers};
  month->samples++;
}

static void write_death(struct month *month, int class, uint64_t index) {
  struct stream *stream = &month->streams[class];
  struct trace_free death = {
      .time_ns = time_of(month, index), .thread = 1, .block = stream->blocks[stream->first].number};
  for (int i = 0; i < 2; i++) assert_true(trace_write_free(month->writers[i], &death));
  stream->first = (stream->first + 1) % stream->capacity;
  stream->count--;
}

/* The index of the next death of a class. */
static uint64_t next_death(const struct stream *stream, const struct class *class) {
  return stream->count && class->life != NEVER ? stream->blocks[stream->first].index + class->life : NEVER;
}

/* ---- disk ---- */

static uint64_t disk_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) ? 0 : (uint64_t)found.st_blocks * 512;
}

/* A child compacts, or does nothing. Returns its largest resident size, in bytes. */
static uint64_t run_child(const struct month *month, bool compacts) {
  struct rusage usage;
  struct compact_result result;
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) _exit(compacts && (compact_trace(month->path, month->bound, &result) || !result.chunks));
  assert_int_equal(wait4(child, &status, 0, &usage), child);
  assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
  return (uint64_t)usage.ru_maxrss * 1024;
}

static void compact(struct month *month) {
  uint64_t before = run_child(month, false), begin_ns = os_monotonic_ns();
  uint64_t peak = run_child(month, true), took = os_monotonic_ns() - begin_ns;
  month->compactions++;
  month->all_ns += took;
  if (took > month->longest_ns) month->longest_ns = took;
  if (peak - before > month->most_memory) month->most_memory = peak - before;
}

static void watch(struct month *month) {
  if (compact_is_due(month->path, month->bound)) compact(month);
  /* While a history was written there were the one before and the new one; each is smaller than its
   * part. */
  uint64_t history = disk_bytes(month->history), bytes = disk_bytes(month->path) + 2 * history;
  if (bytes > month->most_bytes) month->most_bytes = bytes;
}

static void play(struct month *month) {
  uint64_t events = 0;
  begin(month);
  for (;;) {
    uint64_t index = NEVER;
    int class = 0;
    bool death = false;
    for (int i = 0; i < CLASSES; i++) {
      uint64_t dies = next_death(&month->streams[i], &classes[i]), born = month->streams[i].next;
      if (dies < index) index = dies, class = i, death = true;
      if (born < index) index = born, class = i, death = false;
    }
    if (index > month->allocations) break;
    if (death) {
      write_death(month, class, index);
    } else {
      write_birth(month, class, index);
      draw_next(month, class, index + turns(&classes[class]));
    }
    if (events++ % 4096 == 0) watch(month);
  }
  struct trace_memory memory = {.time_ns = MONTH_NS, .thread = 1, .rss_bytes = 1 << 30};
  for (int i = 0; i < 2; i++) {
    assert_true(trace_write_memory(month->writers[i], &memory));
    trace_writer_close(month->writers[i]);
  }
}

/* ---- judging ---- */

/* So many allocations of a class have an index of at most this. */
static double count_until(int class, uint64_t index) {
  uint64_t first = (uint64_t) class + 1;
  return index < first ? 0 : (double)((index - first) / turns(&classes[class]) + 1);
}

static double held_truth(const struct month *month, int class) {
  double count = count_until(class, month->allocations);
  uint64_t life = classes[class].life;
  if (life != NEVER && life <= month->allocations) count -= count_until(class, month->allocations - life);
  return count * (double)classes[class].size;
}

static bool is_of_size(const struct row *row, void *context) {
  return row->size == *(const uint64_t *)context;
}

static bool covers(const struct estimate *estimate, double truth) {
  return estimate->low <= truth && truth <= estimate->high;
}

/* Prints a line; returns whether the truth is in the range. */
static bool judge(const char *what, const char *of, double truth, const struct estimate *bounded,
                  const struct estimate *thinned) {
  printf("  %-9s %-8s truth %11.5g: %11.5g (%.4g to %.4g); unbounded and thinned: %11.5g (%.4g to %.4g)\n",
         what, of, truth, bounded->estimate, bounded->low, bounded->high, thinned->estimate, thinned->low,
         thinned->high);
  return covers(bounded, truth);
}

static struct recording *load(const char *path, size_t most) {
  struct recording *recording;
  struct recording_options options = {.samples_most = most};
  uint64_t begin_ns = os_monotonic_ns();
  assert_int_equal(recording_load(path, &options, &recording), WN_OK);
  printf("  %zu samples read in %.2f s\n", recording->samples->sampled_blocks,
         (double)(os_monotonic_ns() - begin_ns) / 1e9);
  return recording;
}

static struct estimate held_of(const struct recording *recording, uint64_t size) {
  struct sums sums = timeline_live_at(recording->samples, MONTH_NS, is_of_size, &size);
  return estimate_of(&sums.bytes, recording->byte_unit);
}

static struct estimate allocated_of(const struct recording *recording, uint64_t size) {
  struct sums sums = timeline_allocated(recording->samples, is_of_size, &size);
  return estimate_of(&sums.bytes, recording->byte_unit);
}

static int judge_all(const struct month *month) {
  struct recording *bounded = load(month->path, 0),
                   *thinned = load(month->unbounded, bounded->samples->sampled_blocks);
  int missed = 0;
  assert_false(bounded->partial);
  for (int i = 0; i < CLASSES; i++) {
    uint64_t size = classes[i].size;
    struct estimate one = held_of(bounded, size), other = held_of(thinned, size);
    missed += !judge("held", classes[i].name, held_truth(month, i), &one, &other);
    /* What lives was never thinned. (For a function of a few blocks the range allows for one at the
     * rate that most samples have, and so is wider than it need be.) */
    if (other.samples > 100) assert_true(one.high - one.low <= other.high - other.low);
    one = allocated_of(bounded, size), other = allocated_of(thinned, size);
    missed +=
        !judge("allocated", classes[i].name, count_until(i, month->allocations) * (double)size, &one, &other);
  }
  recording_free(bounded);
  recording_free(thinned);
  return missed;
}

static struct month month;

static void a_month_stays_below_the_bound_and_true(void **state) {
  (void)state;
  play(&month);
  printf(
      "  %.0f million allocations, %.2f million samples; %llu compactions, %.2f s at most, %.1f s in all\n",
      (double)month.allocations / 1e6, (double)month.samples / 1e6, (unsigned long long)month.compactions,
      (double)month.longest_ns / 1e9, (double)month.all_ns / 1e9);
  printf("  at most %.1f MB of %.1f MB; unbounded %.1f MB\n", (double)month.most_bytes / 1e6,
         (double)month.bound / 1e6, (double)disk_bytes(month.unbounded) / 1e6);
  printf("  compaction: %.1f MB of memory, without the copy of the trace\n", (double)month.most_memory / 1e6);
  assert_true(month.compactions > 2);
  assert_true(month.most_bytes <= month.bound);
  assert_true(judge_all(&month) <= 2); /* of 12 ranges of 95 % */
  unlink(month.path);
  unlink(month.history);
  unlink(month.unbounded);
  for (int i = 0; i < CLASSES; i++) free(month.streams[i].blocks);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_month_stays_below_the_bound_and_true)};
  month.allocations = 1000000 * strtoull(argc > 1 ? argv[1] : "10", NULL, 10);
  month.bound = strtoull(argc > 2 ? argv[2] : "16", NULL, 10) << 20;
  snprintf(month.path, sizeof month.path, "test_compact_month.%d.trace", (int)getpid());
  snprintf(month.history, sizeof month.history, "%s" HISTORY_ENDING, month.path);
  snprintf(month.unbounded, sizeof month.unbounded, "test_compact_month.%d.all.trace", (int)getpid());
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
