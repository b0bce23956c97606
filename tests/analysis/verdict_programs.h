/* Made-up programs for test_verdict.c: what each does in a tick, under the real sampler, and how the process
 * would be measured. */
#ifndef TESTS_ANALYSIS_VERDICT_PROGRAMS_H
#define TESTS_ANALYSIS_VERDICT_PROGRAMS_H

#include "analysis/named_story.h"
#include "analysis/sampled.h"

#include "base/random.h"
#include <math.h>

enum { TICKS = 4000, FOR_EVER = TICKS + 1 };
static uint64_t tick_ns = 5000000;

enum {
  MAIN = 1,
  SERVE,
  PARSE,
  RENDER,
  ERROR,
  HELP_PARSE,
  HELP_RENDER,
  HELP_ERROR,
  CACHE,
  TABLE,
  LEAKS,
  LOST,
  PART,
  START,
  SCRIPT
};
static const struct named_node nodes[] = {[MAIN] = {"main", 0},
                                          [SERVE] = {"serve", MAIN},
                                          [PARSE] = {"parse", SERVE},
                                          [RENDER] = {"render", SERVE},
                                          [ERROR] = {"report_error", SERVE},
                                          [HELP_PARSE] = {"copy_string", PARSE},
                                          [HELP_RENDER] = {"copy_string", RENDER},
                                          [HELP_ERROR] = {"copy_string", ERROR},
                                          [CACHE] = {"fill_cache", SERVE},
                                          [TABLE] = {"load_table", MAIN},
                                          [LEAKS] = {"open_session", SERVE},
                                          [LOST] = {"log_event", PARSE},
                                          [PART] = {"open_session", LEAKS},
                                          [START] = {"__libc_start_call_main", 0},
                                          [SCRIPT] = {"(main)", START}};

/* ---- the run of a program ---- */

static struct trace_writer *writer;
static struct thread sampler;
static struct random chance;
static uint64_t next_block;
static int tick;
static struct {
  uint64_t *block;
  int count, room;
  double bytes; /* of all blocks that go then, sampled or not */
} frees[TICKS + 1];

/* The process: what its blocks and mappings take, and the most that malloc has had for blocks. */
static double held, most_held, mapped, most_resident;
static bool keeps, writes_nothing; /* malloc keeps what it has had; no block is ever written */
static bool sleeps;                /* so that it is seldom measured */

static double between(double low, double high) { return low + (high - low) * random_unit(&chance); }

/* A block that is freed so many ticks later. */
static void hold(uint32_t node, size_t size, double ticks) {
  next_block++;
  int end = tick + (ticks < 1 ? 1 : ticks > TICKS ? FOR_EVER : (int)ticks);
  held += (double)size;
  if (end <= TICKS) frees[end].bytes += (double)size;
  if (!is_sampled(&sampler, malloc_words(size))) return;
  story_alloc(writer, next_block, (uint64_t)tick * tick_ns, size, node);
  if (end > TICKS) return;
  if (frees[end].count == frees[end].room) {
    frees[end].room = 2 * frees[end].room + 16;
    frees[end].block = realloc(frees[end].block, (size_t)frees[end].room * sizeof *frees[end].block);
    assert_non_null(frees[end].block);
  }
  frees[end].block[frees[end].count++] = next_block;
}

static size_t some_size(double mean) { return (size_t)(mean * between(0.5, 1.5)) + 1; }
static double lives(double mean) { return -mean * log(1 - random_unit(&chance)); }
static double part(void) { return (double)tick / TICKS; }

/* What a server does all the time: blocks that live for a tick. */
static void work(int blocks) {
  for (int i = 0; i < blocks; i++) hold(i % 2 ? HELP_PARSE : RENDER, some_size(2000), 0);
}

/* A table that is read when the program starts, in the first hundredth of the run. */
static void table(double bytes) {
  if (tick >= TICKS / 100) return;
  for (double left = bytes / (TICKS / 100); left > 0; left -= 1000) hold(TABLE, 1000, FOR_EVER);
}

/* Blocks for so many bytes, spread over this stretch of the run. */
static void spread(uint32_t node, double bytes, double from, double until, double size, double ticks) {
  static double owed[sizeof nodes / sizeof *nodes];
  if (!tick) owed[node] = 0;
  if (part() < from || part() >= until) return;
  for (owed[node] += bytes / ((until - from) * TICKS); owed[node] > 0;) {
    size_t next = some_size(size);
    hold(node, next, ticks);
    owed[node] -= (double)next;
  }
}

#define MB *1e6

/* A mapping of so many bytes, all of them written. */
static void map(double bytes) {
  static uint64_t number;
  struct trace_map event = {.time_ns = (uint64_t)tick * tick_ns,
                            .thread = 1,
                            .stack = TABLE,
                            .mapping = ++number,
                            .kind = TRACE_MAP_ANONYMOUS,
                            .bytes = (uint64_t)bytes};
  assert_true(tree_write_map(writer, &event));
  trace_write_map_touched(
      writer, &(struct trace_map_touched){
                  .time_ns = event.time_ns, .thread = 1, .mapping = number, .bytes = event.bytes});
  mapped += bytes;
}

/* As the recorder measures the process, every hundredth of the run. */
static void measure(void) {
  const double data = 1e6, code = 3e6;
  double of_blocks = held * 1.04, kept = keeps && most_held > held ? (most_held - held) * 1.04 : 0;
  double resident = writes_nothing ? 1e5 : of_blocks + kept;
  if (held > most_held) most_held = held;
  struct trace_memory memory = {.time_ns = (uint64_t)tick * tick_ns,
                                .thread = 1,
                                .rss_bytes = (uint64_t)(resident + mapped + data + code),
                                .private_bytes = (uint64_t)(resident + mapped + data),
                                .complete = 1,
                                .asked = TRACE_GLIBC,
                                .in_use_bytes = (uint64_t)of_blocks,
                                .free_bytes = (uint64_t)kept};
  most_resident = fmax(most_resident, (double)memory.rss_bytes);
  trace_write_memory(writer, &memory);
}

/* ---- programs that leak ---- */

static void leaks_each_session(void) { work(40), spread(LEAKS, 40 MB, 0, 1, 300, FOR_EVER); }
static void leaks_one_in_twenty(void) {
  work(20);
  for (int i = 0; i < 20; i++) hold(LEAKS, some_size(500), i ? lives(3) : FOR_EVER);
}
static void leaks_one_in_a_thousand(void) {
  static int calls;
  if (!tick) calls = 0;
  work(10);
  for (int i = 0; i < 200; i++) hold(LEAKS, some_size(20000), ++calls % 1000 ? 0 : FOR_EVER);
}
static void leaks_beside_a_cache(void) {
  leaks_each_session();
  spread(CACHE, 60 MB, 0.02, 0.1, 2000, FOR_EVER);
}
static void leaks_beside_a_table(void) { table(80 MB), work(60), spread(LEAKS, 30 MB, 0, 1, 300, FOR_EVER); }
static void leaks_by_one_caller(void) {
  table(20 MB), work(60);
  for (int i = 0; i < 10; i++) hold(HELP_RENDER, some_size(700), lives(20));
  spread(HELP_ERROR, 30 MB, 0, 1, 150, FOR_EVER);
}
static void leaks_twice(void) { leaks_each_session(), spread(LOST, 25 MB, 0, 1, 100, FOR_EVER); }
static void leaks_an_eighth(void) { table(90 MB), work(200), spread(LEAKS, 15 MB, 0, 1, 300, FOR_EVER); }
static void leaks_beside_sessions(void) {
  work(30), spread(LOST, 30 MB, 0, 1, 200, FOR_EVER);
  for (int i = 0; i < 20; i++) hold(LEAKS, some_size(2000), lives(400));
}
static void leaks_in_a_part_of_a_function(void) { work(40), spread(PART, 40 MB, 0, 1, 300, FOR_EVER); }
static void leaks_in_a_script(void) { work(40), spread(SCRIPT, 40 MB, 0, 1, 300, FOR_EVER); }
static void leaks_in_bursts(void) {
  work(60);
  if (tick % 200 < 10) spread(LEAKS, 800 MB, 0, 1, 500, FOR_EVER);
}
static void leaks_large_blocks(void) {
  work(60);
  if (tick % 40 == 7) hold(LEAKS, 500000, FOR_EVER);
}
static void leaks_and_frees_most_at_exit(void) {
  work(40), spread(LEAKS, 32 MB, 0, 1, 300, TICKS - tick - 1), spread(LEAKS, 8 MB, 0, 1, 300, FOR_EVER);
}
/* As a database in memory, or a service that keeps a log. */
static void collects_and_frees_at_exit(void) { work(40), spread(LEAKS, 40 MB, 0, 1, 300, TICKS - tick - 1); }
/* Destructors take a twenty-fifth of the run, and few samples tell what was held before. */
static void collects_and_is_taken_down(void) {
  double left = 0.96 * TICKS - tick + between(0, 0.04 * TICKS);
  if (part() > 0.96) return;
  work(40), spread(LEAKS, 8 MB, 0, 0.96, 300, left);
  spread(CACHE, 180 MB, 0, 0.96, 1000, fmin(left, 0.05 * TICKS));
}
static void evicts_and_is_taken_down(void) {
  double left = 0.96 * TICKS - tick + between(0, 0.04 * TICKS);
  if (part() > 0.96) return;
  work(40), spread(CACHE, 180 MB, 0, 0.96, 1000, fmin(left, 0.08 * TICKS));
}
static void leaks_while_a_cache_shrinks(void) {
  work(40), spread(LEAKS, 30 MB, 0, 1, 300, FOR_EVER);
  if (part() < 0.1) spread(CACHE, 45 MB, 0, 0.1, 1000, between(400, TICKS));
}
static void leaks_from_half_of_the_run(void) {
  table(10 MB), work(40), spread(LEAKS, 30 MB, 0.5, 1, 300, FOR_EVER);
}
static void leaks_from_a_third_of_the_run(void) {
  table(10 MB), work(60), spread(LEAKS, 30 MB, 0.35, 1, 300, FOR_EVER);
}
static void leaks_late(void) { table(10 MB), work(40), spread(LEAKS, 30 MB, 0.6, 1, 300, FOR_EVER); }
static void leaks_late_after_a_peak(void) {
  table(5 MB), work(40), spread(PARSE, 60 MB, 0.01, 0.3, 1000, 0.4 * TICKS - tick);
  spread(LEAKS, 30 MB, 0.6, 1, 300, FOR_EVER);
}
static void leaks_late_by_one_caller(void) {
  table(20 MB), work(40);
  for (int i = 0; i < 10; i++) hold(HELP_RENDER, some_size(700), lives(20));
  spread(HELP_ERROR, 30 MB, 0.55, 1, 150, FOR_EVER);
}
static void leaks_late_one_in_twenty(void) {
  work(20);
  for (int i = 0; i < 20; i++) hold(LEAKS, some_size(500), i || part() < 0.6 ? lives(3) : FOR_EVER);
}
static void leaks_late_and_closes(void) {
  work(part() < 0.95 ? 20 : 0),
      spread(LEAKS, 30 MB, 0.5, 0.95, 300, 0.95 * TICKS - tick + between(0, 0.05 * TICKS));
}
static void leaks_as_sessions_do_not_end(void) {
  work(20);
  for (int i = 0; i < 8; i++) hold(LEAKS, some_size(1500), between(0, 1) < 0.5 ? lives(50) : FOR_EVER);
}
static void leaks_nothing_else(void) { spread(LEAKS, 30 MB, 0, 1, 300, FOR_EVER); }

/* As an interpreter that fills a table: open_session has the most, and the table's vector doubles. */
static void grows_in_four_places(void) {
  static const double room = 32 MB;
  work(20), spread(LEAKS, 40 MB, 0, 1, 4000, FOR_EVER), spread(LOST, 22 MB, 0, 1, 40, FOR_EVER);
  spread(CACHE, 18 MB, 0, 1, 300, FOR_EVER), spread(HELP_PARSE, 18 MB, 0, 1, 60, FOR_EVER);
  for (int half = TICKS / 32; half < TICKS; half *= 2)
    if (tick == half) hold(TABLE, (size_t)(room * half / TICKS), half);
}
/* One that stops for most of its time once it has much. */
static void grows_in_four_places_and_waits(void) {
  if (part() < 0.2 || tick % 1000 < 300) grows_in_four_places();
}

/* ---- programs that do not ---- */

static void fills_a_cache_early(void) { work(60), spread(CACHE, 60 MB, 0, 0.2, 1000, FOR_EVER); }
static void fills_a_cache_by_half(void) { work(60), spread(CACHE, 60 MB, 0, 0.5, 1000, FOR_EVER); }
static void fills_a_cache_late(void) { work(60), spread(CACHE, 60 MB, 0, 0.8, 1000, FOR_EVER); }
/* Whatever key comes replaces a random one, so that a block lives as long on average as it takes to bring as
 * many as the cache has room for. At the end it has 81 %, a half and a quarter of its size. */
static void replaces_at_random(double room) {
  work(60);
  for (int i = 0; i < 20; i++) hold(CACHE, some_size(1000), lives(room * TICKS));
}
static void fills_four_fifths_at_random(void) { replaces_at_random(0.6); }
static void fills_a_half_at_random(void) { replaces_at_random(1.44); }
static void fills_a_quarter_at_random(void) { replaces_at_random(3.5); }
static void replaces_at_random_beside_a_table(void) { table(20 MB), replaces_at_random(0.6); }
/* A cache that is not full at the end, and has not replaced anything, is what a leak is until then. */
static void fills_a_cache_to_the_end(void) { work(60), spread(CACHE, 60 MB, 0, 1, 1000, FOR_EVER); }
static void leaks_one_of_ten_sessions(void) {
  work(40);
  for (int i = 0; i < 10; i++) hold(LEAKS, some_size(1000), i ? lives(100) : FOR_EVER);
}
static void fills_ever_more_slowly(void) {
  work(60);
  double rate = 60 MB * 4 * exp(-4 * part()) / TICKS;
  for (double left = rate; left > 0; left -= 1000) hold(CACHE, 1000, FOR_EVER);
}
static void fills_a_late_cache(void) {
  work(60), table(10 MB), spread(CACHE, 60 MB, 0.55, 0.8, 1000, FOR_EVER);
}
static void fills_a_late_cache_longer(void) {
  work(60), table(10 MB), spread(CACHE, 60 MB, 0.6, 0.88, 1000, FOR_EVER);
}
static void starts_a_phase(void) { work(60), table(20 MB), spread(TABLE, 40 MB, 0.9, 1, 500, FOR_EVER); }
static void works_in_two_phases(void) {
  work(40), spread(PARSE, 60 MB, 0, 1, 1000, TICKS / 2 - tick % (TICKS / 2));
}
static void works_in_long_phases(void) {
  work(40), spread(PARSE, 60 MB, 0.05, 0.55, 1000, 0.55 * TICKS - tick),
      spread(PARSE, 55 MB, 0.56, 1, 1000, FOR_EVER);
}
static void has_a_second_phase(void) {
  work(40), table(10 MB), spread(PARSE, 40 MB, 0.5, 0.85, 1000, 0.87 * TICKS - tick);
}
static void has_more_sessions_later(void) {
  work(40);
  for (int i = 0; i < (part() < 0.55 ? 20 : 60); i++) hold(LEAKS, some_size(2000), lives(300));
}
static void has_ever_more_sessions(void) {
  work(40);
  for (int i = 0; i < (int)(80 * fmax(part() - 0.4, 0.1)); i++) hold(LEAKS, some_size(2000), lives(100));
}
static void evicts_late_then_more(void) {
  work(40), spread(CACHE, 100 MB, 0, 0.5, 1000, 0.2 * TICKS),
      spread(CACHE, 100 MB, 0.5, 1, 1000, 0.25 * TICKS);
}
static void evicts_the_oldest(void) { work(40), spread(CACHE, 200 MB, 0, 1, 1000, 0.3 * TICKS); }
static void evicts_late(void) { work(40), spread(CACHE, 100 MB, 0, 1, 1000, 0.6 * TICKS); }
static void refills_ten_times(void) {
  work(40), spread(CACHE, 300 MB, 0, 1, 1000, TICKS / 10 - tick % (TICKS / 10));
}
static void refills_three_times(void) {
  work(40), spread(CACHE, 100 MB, 0, 1, 1000, TICKS * 3 / 10 - tick % (TICKS * 3 / 10));
}
static void has_short_sessions(void) {
  work(40);
  for (int i = 0; i < 50; i++) hold(LEAKS, some_size(4000), lives(100));
}
static void has_long_sessions(void) {
  work(40);
  for (int i = 0; i < 30; i++) hold(LEAKS, some_size(3000), lives(800));
}
static void has_a_pool(void) {
  work(60);
  if (tick == 3)
    for (int i = 0; i < 64; i++) hold(TABLE, 1 << 20, FOR_EVER);
}
static void has_arenas(void) {
  work(10);
  if (tick % 5 == 0) hold(PARSE, 4 << 20, 20);
}
static void reads_tables_and_serves(void) { table(60 MB), work(100); }
static void reads_for_a_third(void) { work(40), spread(TABLE, 60 MB, 0, 0.33, 500, FOR_EVER); }
static void doubles_a_vector(void) {
  work(60);
  for (double at = 1; at < TICKS; at *= 2)
    if ((int)at == tick) hold(TABLE, (size_t)(8000 * at), at);
}
/* A vector's buffer, which moves when it is full, at the ticks `first`, twice that, and so on until `last`. */
static void push_back(uint32_t node, double bytes_per_tick, double first, double last) {
  for (double at = first; at < last; at *= 2)
    if ((int)at == tick) hold(node, (size_t)(2 * at * bytes_per_tick), 2 * at < last ? at : FOR_EVER);
}
/* Strings in a vector, allocated by one function. */
static void leaks_into_a_vector(void) {
  work(60), spread(LEAKS, 20 MB, 0, 1, 300, FOR_EVER), push_back(LEAKS, 9 MB / TICKS, 1, TICKS);
}
static void leaks_into_a_vector_that_moves_late(void) {
  work(60), spread(LEAKS, 20 MB, 0, 1, 300, FOR_EVER),
      push_back(LEAKS, 9 MB / TICKS, 0.85 * TICKS / 4096, TICKS);
}
/* A table that is rebuilt now and then, of whatever size, beside a leak of the same function. */
static void leaks_beside_a_table_of_its_own(void) {
  work(60), spread(LEAKS, 6 MB, 0, 1, 300, FOR_EVER);
  if (tick % 500 == 0) {
    double bytes = between(1, 5) MB;
    for (double left = bytes; left > 0; left -= 1000) hold(LEAKS, 1000, 500);
  }
}
static void fills_a_vector_by_half(void) {
  work(60), spread(CACHE, 20 MB, 0, 0.5, 300, FOR_EVER), push_back(CACHE, 18 MB / TICKS, 1, TICKS / 2);
}
static void fills_a_vector_late(void) {
  work(60), spread(CACHE, 20 MB, 0, 0.8, 300, FOR_EVER), push_back(CACHE, 12 MB / TICKS, 1, 0.8 * TICKS);
}
static void has_sessions_in_a_vector(void) {
  work(40), push_back(LEAKS, 9 MB / TICKS, 1, TICKS);
  for (int i = 0; i < 50; i++) hold(LEAKS, some_size(4000), lives(100));
}
static void only_churns(void) { work(400); }
static void works_in_phases(void) {
  work(40), spread(PARSE, 250 MB, 0, 1, 1000, TICKS / 5 - tick % (TICKS / 5));
}
static void stopped_leaking(void) { work(60), spread(LEAKS, 40 MB, 0, 0.5, 300, FOR_EVER); }
static void has_a_log_buffer(void) {
  work(40);
  spread(LOST, 200 MB, 0, 1, 200, 250 - tick % 250);
  table(30 MB);
}
static void has_days(void) {
  work(40);
  int sessions = (int)(30 * (1 - cos(6 * M_PI * part())));
  for (int i = 0; i < sessions; i++) hold(LEAKS, some_size(2000), lives(100));
}
static void warms_up(void) {
  work(40);
  double load = part() < 0.6 ? part() / 0.6 : 1;
  for (int i = 0; i < (int)(40 * load); i++) hold(LEAKS, some_size(2000), lives(150));
}
static void trades_caches(void) {
  work(60), spread(CACHE, 40 MB, 0, 0.15, 1000, 0.45 * TICKS), spread(TABLE, 40 MB, 0.3, 0.6, 1000, FOR_EVER);
}
static void has_a_queue(void) { work(40), spread(PARSE, 60 MB, 0, 0.85, 500, (TICKS - tick) * 0.7); }
/* Three leave it in the time in which four come: a block waits for a third of the time that had
 * passed. */
static void has_a_backlog(void) { work(40), spread(LEAKS, 200 MB, 0, 1, 1000, tick / 3.0); }
static void works_off_its_backlog(void) { work(40), spread(LEAKS, 200 MB, 0, 0.8, 1000, tick / 3.0); }
static void has_fewer_in_a_backlog(void) {
  work(40), spread(LEAKS, 200 MB, 0, 1, 1000, tick < TICKS / 2 ? tick / 3.0 : (TICKS - tick) / 3.0);
}
/* Each sixteenth of the run ends in a later part of a batch than the one before. */
static void works_in_many_batches(void) {
  const double batch = TICKS / 16.97;
  work(40), spread(LEAKS, 800 MB, 0, 1, 1000, batch - fmod(tick, batch));
}
static void evicts_later(void) { work(40), spread(CACHE, 100 MB, 0, 1, 1000, 0.8 * TICKS); }
static void builds_a_table(void) { spread(TABLE, 60 MB, 0, 1, 300, FOR_EVER); }
static void builds_and_frees(void) { spread(TABLE, 60 MB, 0, 0.9, 300, TICKS - tick - 30); }
static void is_tiny(void) {
  if (tick % 100 == 0) hold(PARSE, 200, FOR_EVER);
}
static void is_tiny_and_level(void) {
  if (tick < 50) hold(PARSE, 2000, FOR_EVER);
}
static void replaces_its_table(void) { work(60), spread(TABLE, 300 MB, 0, 1, 1000, TICKS / 5.0); }
static void leaks_a_little(void) { table(90 MB), work(60), spread(LEAKS, 4 MB, 0, 1, 300, FOR_EVER); }
static void grows_and_shrinks(void) {
  work(40);
  double level = part() < 0.5 ? part() : 1 - part();
  for (int i = 0; i < (int)(120 * level); i++) hold(LEAKS, some_size(2000), lives(100));
}

/* ---- a leak of a tenth of the peak, that begins at some time ---- */

static double leak_from;

static void leaks_a_tenth(void) { table(90 MB), work(60), spread(LEAKS, 10 MB, leak_from, 1, 300, FOR_EVER); }
static void leaks_a_tenth_of_sessions(void) {
  table(70 MB), work(40), spread(LOST, 10 MB, leak_from, 1, 300, FOR_EVER);
  for (int i = 0; i < 50; i++) hold(LEAKS, some_size(4000), lives(100));
}
static void leaks_a_tenth_of_a_cache(void) {
  work(40), spread(CACHE, 60 MB, 0, 0.2, 1000, FOR_EVER), spread(LEAKS, 6.7 MB, leak_from, 1, 300, FOR_EVER);
}
static void leaks_a_tenth_by_one_caller(void) {
  table(80 MB), work(40), spread(HELP_PARSE, 10 MB, 0, 0.1, 200, FOR_EVER);
  spread(HELP_ERROR, 10 MB, leak_from, 1, 150, FOR_EVER);
}
static void leaks_a_tenth_where_it_frees(void) {
  table(80 MB), work(40), spread(LEAKS, 10 MB, leak_from, 1, 300, FOR_EVER);
  for (int i = 0; i < 20; i++) hold(LEAKS, some_size(2500), lives(200));
}

/* ---- programs whose resident memory is another matter ---- */

static void keeps_what_it_freed(void) {
  keeps = true;
  work(20), table(4 MB);
  if (part() < 0.3) spread(PARSE, 60 MB, 0.05, 0.3, 1000, 0.4 * TICKS - tick);
}
static void keeps_after_batches(void) { /* and rests before it ends: each batch is freed as it is done */
  keeps = true;
  spread(PARSE, 1440 MB, 0, 0.9, 1000, 100 - tick % 100);
  spread(TABLE, 5 MB, 0, 0.02, 500, TICKS - tick - 1);
}
static void keeps_beside_a_table(void) { /* what it holds at three quarters, it holds to the end */
  keeps = true;
  work(20), table(38 MB), spread(PARSE, 60 MB, 0.02, 0.1, 1000, 0.2 * TICKS - tick);
}
static void keeps_after_a_peak(void) { /* and works in small batches to the end */
  keeps = true;
  table(4 MB), spread(PARSE, 60 MB, 0.02, 0.1, 1000, 0.2 * TICKS - tick);
  if (part() > 0.2) spread(HELP_PARSE, 160 MB, 0.2, 1, 1000, 300 - tick % 300);
}
static void keeps_what_its_exit_frees(void) { /* only the last measurement is after that */
  keeps = sleeps = true;
  work(20), spread(CACHE, 60 MB, 0, 0.2, 1000, TICKS - tick - 1);
}
static void ends_with_its_last_batch(void) { /* each uses again what the one before left */
  keeps = true;
  table(4 MB), spread(PARSE, 360 MB, 0, 0.99, 1000, 400 - (tick + 200) % 400 + (tick > 3800 ? -240 : 0));
}
static void keeps_and_grows_again(void) { /* all of it is used again at the end */
  keeps = true;
  work(20), table(4 MB), spread(PARSE, 60 MB, 0.05, 0.3, 1000, 0.4 * TICKS - tick);
  spread(CACHE, 55 MB, 0.8, 0.82, 1000, FOR_EVER);
}
static void grows_and_closes_down_slowly(void) { /* as an interpreter frees a large list */
  work(part() < 0.7 ? 20 : 0),
      spread(TABLE, 60 MB, 0, 0.7, 500, 0.7 * TICKS - tick + between(0, 0.3 * TICKS));
}
static void closes_down_slowly(void) { /* its memory is free in malloc as it ends, and no advice is needed */
  keeps = true;
  spread(TABLE, 60 MB, 0, 0.76, 500, 0.77 * TICKS - tick);
}
static void reserves_and_never_writes(void) {
  writes_nothing = true;
  work(20);
  if (tick % 400 == 5) hold(TABLE, 8 << 20, FOR_EVER);
}
static void has_a_heap_of_its_own(void) {
  work(20), table(3 MB);
  if (tick % 100 == 50) map(2 MB);
}
static void leaks_beside_a_heap_of_its_own(void) {
  leaks_each_session();
  if (tick % 100 == 50) map(5 MB);
}
static void leaks_and_keeps(void) {
  keeps = true;
  leaks_each_session();
}

#endif
/* SPDX-License-Identifier: MIT */
