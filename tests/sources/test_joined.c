/* Several traces as one source: everything of each process is there, under numbers of its own, at the
 * time by the common clock, and nothing of one process is taken for something of another. */
#include "analysis/load/peak.h"
#include "analysis/load/reduce.h"
#include "analysis/report/report.h"
#include "sources/processes.h"
#include <math.h>

enum { PROCESSES = 3 };

static struct made_process made[PROCESSES];
static struct joined_part parts[PROCESSES + 3];

/* A parent, a child of it that starts later, and a program that the child becomes. */
static void make_all(void) {
  make_process(&made[0], 100, 1, 0);
  make_process(&made[1], 201, 100, 7000);
  make_process(&made[2], 201, 100, 40000);
  made[2].seed = 5;
  made[1].end = (struct trace_end){.kind = TRACE_END_EXEC};
  made[2].end = (struct trace_end){.kind = TRACE_END_SIGNAL, .code = 9};
  made[2].command = "/bin/other";
  made[2].module = "/nowhere/other";
  snprintf(made[2].path, sizeof made[2].path, "joined_%d_201.exec1.trace", (int)getpid());
}

static void write_all(void) {
  for (int i = 0; i < PROCESSES; i++) write_process(&made[i]);
}

static void remove_all(void) {
  for (int i = 0; i < PROCESSES; i++) unlink(made[i].path);
}

/* The files in another order than that of the starts. */
static size_t list_parts(void) {
  for (int i = 0; i < PROCESSES; i++) {
    const char *path = made[PROCESSES - 1 - i].path;
    parts[i] = (struct joined_part){.path = path, .name = path};
  }
  return PROCESSES;
}

static struct samples *load_joined(size_t count) {
  struct source *source;
  struct samples *samples;
  assert_int_equal(joined_examine(parts, count), WN_OK);
  assert_int_equal(joined_open(parts, count, &source), WN_OK);
  assert_int_equal(samples_read(source, "joined", NULL, NULL, &samples), WN_OK);
  return samples;
}

static struct recording *load_recording(size_t most) {
  struct recording *recording;
  struct recording_options options = {.samples_most = most};
  size_t count = list_parts();
  assert_int_equal(joined_examine(parts, count), WN_OK);
  assert_int_equal(recording_load_joined(parts, count, "joined", &options, &recording), WN_OK);
  return recording;
}

/* ---- each process alone ---- */

static void assert_same_module(const struct source *one, uint32_t number, const struct source *other,
                               uint32_t other_number) {
  assert_int_equal(number != 0, other_number != 0);
  if (!number) return;
  const struct trace_module *left = source_module(one, number), *right = source_module(other, other_number);
  assert_string_equal(left->path.bytes, right->path.bytes);
  assert_int_equal(left->build_id_bytes, right->build_id_bytes);
  assert_memory_equal(left->build_id, right->build_id, left->build_id_bytes);
}

static void assert_same_place(const struct source *one, const struct trace_node *left,
                              const struct source *other, const struct trace_node *right) {
  struct trace_place place, other_place;
  bool named = left->module && source_place(one, left->module, left->offset, &place);
  assert_int_equal(right->module && source_place(other, right->module, right->offset, &other_place), named);
  if (!named) return;
  assert_string_equal(place.function.bytes, other_place.function.bytes);
  assert_int_equal(place.line, other_place.line);
}

static void assert_same_stack(const struct source *one, uint32_t stack, const struct source *other,
                              uint32_t other_stack) {
  while (stack && other_stack) {
    struct trace_node left = source_stack(one, stack), right = source_stack(other, other_stack);
    assert_true(right.parent < other_stack);
    assert_int_equal(left.offset, right.offset);
    assert_same_module(one, left.module, other, right.module);
    assert_same_place(one, &left, other, &right);
    stack = left.parent;
    other_stack = right.parent;
  }
  assert_int_equal(stack, other_stack);
}

static void assert_same_row(const struct samples *alone, const struct row *one, const struct samples *joined,
                            const struct row *other, uint32_t process) {
  const struct process *of = &joined->processes[process];
  uint64_t later = of->begin_ns;
  assert_int_equal(other->begin_ns, one->begin_ns + later);
  assert_int_equal(other->born_ns, one->born_ns + later);
  assert_int_equal(other->died_ns, one->died_ns == STILL_ALIVE ? STILL_ALIVE : one->died_ns + later);
  assert_int_equal(other->end_ns, one->end_ns == STILL_ALIVE ? of->end_ns : one->end_ns + later);
  assert_int_equal(row_life_ns(joined, other), row_life_ns(alone, one));
  assert_int_equal(other->size, one->size);
  assert_int_equal(other->words, one->words);
  assert_true(other->probability == one->probability);
  assert_int_equal(other->first, one->first);
  assert_int_equal(other->last, one->last);
  assert_int_equal(other->call, one->call);
  assert_int_equal(other->block, one->block * PROCESSES + process);
  assert_int_equal(samples_thread_number(joined, other->thread), one->thread);
  assert_int_equal(process_of(joined, other->thread), process);
  assert_same_stack(alone->source, one->stack, joined->source, other->stack);
}

/* A trace alone, and its rows among those of the joined samples, have the same order: by start. */
static void assert_same_rows(const struct samples *alone, const struct samples *joined, uint32_t process) {
  size_t at = 0;
  for (size_t i = 0; i < joined->row_count; i++) {
    if (process_of(joined, joined->rows[i].thread) != process) continue;
    assert_true(at < alone->row_count);
    assert_same_row(alone, &alone->rows[at++], joined, &joined->rows[i], process);
  }
  assert_int_equal(at, alone->row_count);
}

static void rows_are_those_of_each_alone(void **state) {
  (void)state;
  for (uint32_t seed = 0; seed < 20; seed++) {
    make_all();
    for (int i = 0; i < PROCESSES; i++) {
      made[i].seed += 1000 * seed;
      make_blocks(&made[i]);
      made[i].language = seed >> i & 1;
    }
    write_all();
    struct samples *joined = load_joined(list_parts());
    for (uint32_t i = 0; i < PROCESSES; i++) {
      struct samples *alone;
      assert_int_equal(samples_load(made[i].path, NULL, NULL, &alone), WN_OK);
      assert_same_rows(alone, joined, i);
      samples_free(alone);
    }
    samples_free(joined);
    remove_all();
  }
}

/* ---- sums ---- */

static bool is_held(const struct made_process *process, const struct made_block *block, uint64_t time_ns,
                    uint64_t *size) {
  uint64_t later = process->wall_ns - START_NS;
  if (time_ns < block->born_ns + later || (block->died_ns && time_ns >= block->died_ns + later)) return false;
  *size = block->resized_ns && time_ns >= block->resized_ns + later ? block->new_size : block->size;
  return true;
}

/* What all processes held at a time, from what they did. */
static uint64_t held_at(uint64_t time_ns) {
  uint64_t sum = 0, size, last_ns = 0;
  for (int i = 0; i < PROCESSES; i++) {
    uint64_t end_ns = made[i].wall_ns - START_NS + made[i].end_ns;
    if (end_ns > last_ns) last_ns = end_ns;
  }
  for (int i = 0; i < PROCESSES; i++) {
    uint64_t end_ns = made[i].wall_ns - START_NS + made[i].end_ns;
    if (time_ns >= end_ns && end_ns != last_ns) continue;
    for (int j = 0; j < BLOCKS; j++)
      if (is_held(&made[i], &made[i].blocks[j], time_ns, &size)) sum += size;
  }
  return sum;
}

static uint64_t brute_peak(void) {
  uint64_t most = 0;
  for (int i = 0; i < PROCESSES; i++)
    for (int j = 0; j < BLOCKS; j++) {
      const struct made_block *block = &made[i].blocks[j];
      uint64_t later = made[i].wall_ns - START_NS, born = held_at(block->born_ns + later),
               resized = block->resized_ns ? held_at(block->resized_ns + later) : 0;
      most = born > most ? born : most;
      most = resized > most ? resized : most;
    }
  return most;
}

static void ask(const struct recording *recording, const char *where, struct report *report) {
  assert_int_equal(report_ask(recording, &(struct question){.where = where, .closing = true}, report), WN_OK);
}

static void totals_are_the_sums_of_single_reports(void **state) {
  (void)state;
  make_all();
  write_all();
  struct recording *joined = load_recording(0);
  struct report all, one;
  double allocated = 0, left = 0, calls = 0;
  ask(joined, NULL, &all);
  for (int i = 0; i < PROCESSES; i++) {
    struct recording *alone;
    assert_int_equal(recording_load(made[i].path, &(struct recording_options){.samples_most = 0}, &alone),
                     WN_OK);
    ask(alone, NULL, &one);
    allocated += one.allocated.bytes.total;
    calls += one.allocated.blocks.total;
    left += one.live_at_end.bytes.total;
    report_destroy(&one);
    recording_free(alone);
  }
  assert_true(all.allocated.bytes.total == allocated && all.allocated.blocks.total == calls);
  assert_true(all.live_at_end.bytes.total == left && all.alive.bytes.total == left && left > 0);
  report_destroy(&all);
  recording_free(joined);
  remove_all();
}

static void the_peak_is_that_of_all_together(void **state) {
  (void)state;
  make_all();
  write_all();
  struct recording *joined = load_recording(0);
  struct report report;
  ask(joined, NULL, &report);
  assert_true(report.peak.live.bytes.total == (double)brute_peak());
  for (uint64_t time = 0; time <= joined->samples->end_ns; time += 97) {
    struct sums live = timeline_live_at(joined->samples, time, NULL, NULL);
    assert_true(live.bytes.total == (double)held_at(time));
  }
  report_destroy(&report);
  recording_free(joined);
  remove_all();
}

/* The last measurement of each process that runs. */
static uint64_t resident_at(uint64_t time_ns) {
  uint64_t sum = 0;
  for (int i = 0; i < PROCESSES; i++) {
    uint64_t later = made[i].wall_ns - START_NS, last = 0;
    for (int j = 0; j < MEASUREMENTS; j++)
      if (measured_ns(&made[i], j) + later <= time_ns) last = made[i].rss[j];
    if (time_ns < made[i].end_ns + later) sum += last;
  }
  return sum;
}

static void measurements_are_summed_over_living_processes(void **state) {
  (void)state;
  make_all();
  write_all();
  struct samples *joined = load_joined(list_parts());
  assert_true(joined->memory_count >= PROCESSES * MEASUREMENTS);
  for (size_t i = 0; i < joined->memory_count; i++) {
    const struct memory_point *point = &joined->memory[i];
    bool last_of_time = i + 1 == joined->memory_count || point[1].time_ns > point->time_ns;
    assert_true(!i || point->time_ns >= point[-1].time_ns);
    if (!last_of_time || point->time_ns == joined->end_ns) continue;
    assert_int_equal(point->rss_bytes, resident_at(point->time_ns));
    assert_true(point->complete || !point->rss_bytes);
  }
  samples_free(joined);
  remove_all();
}

/* ---- common numbers ---- */

static void the_same_file_is_one_module(void **state) {
  (void)state;
  make_all();
  write_all();
  struct samples *joined = load_joined(list_parts());
  size_t libraries = 0, programs = 0, others = 0;
  for (uint32_t i = 1; i <= source_module_count(joined->source); i++) {
    const char *path = source_module(joined->source, i)->path.bytes;
    libraries += !strcmp(path, "/nowhere/libc.so");
    programs += !strcmp(path, "/nowhere/program");
    others += !strcmp(path, "/nowhere/other");
  }
  assert_int_equal(libraries, 1);
  assert_int_equal(programs, 1);
  assert_int_equal(others, 1);
  for (uint32_t i = 1; i <= source_stack_count(joined->source); i++)
    for (uint32_t j = 1; j < i; j++) { /* no node is there twice */
      struct trace_node one = source_stack(joined->source, i), other = source_stack(joined->source, j);
      assert_false(one.parent == other.parent && one.module == other.module && one.offset == other.offset);
    }
  samples_free(joined);
  remove_all();
}

static void processes_know_those_that_started_them(void **state) {
  (void)state;
  make_all();
  write_all();
  struct samples *joined = load_joined(list_parts());
  const struct process *process = joined->processes;
  assert_int_equal(joined->process_count, PROCESSES);
  assert_int_equal(process[0].parent, NO_PROCESS);
  assert_int_equal(process[1].parent, 0); /* the child */
  assert_int_equal(process[2].parent, 1); /* what the child became */
  assert_string_equal(process[1].name, "made");
  assert_string_equal(process[2].name, "other");
  assert_int_equal(process[1].end_kind, TRACE_END_EXEC);
  assert_int_equal(process[2].code, 9);
  assert_int_equal(process[1].begin_ns, 7000);
  assert_int_equal(process[1].last_ns, 7000 + made[1].end_ns);
  assert_true(joined->ended);
  samples_free(joined);
  made[2].no_end = true;
  write_process(&made[2]);
  list_parts();
  parts[0].writing = true; /* made[2] */
  joined = load_joined(PROCESSES);
  assert_false(joined->ended);
  assert_true(joined->processes[2].writing && joined->processes[2].end_ns == STILL_ALIVE);
  samples_free(joined);
  remove_all();
}

static double bytes_of_group(const struct table *table, const char *name, enum extent extent) {
  char text[256];
  for (size_t i = 0; i < table->tree.group_count; i++) {
    const struct group *group = &table->tree.groups[i];
    table_name(table, group, text, sizeof text);
    if (!strcmp(text, name))
      return extent == EXTENT_SELF ? group->self.bytes.total : group->total.bytes.total;
  }
  return -1;
}

static double allocated_where(const struct recording *recording, const char *where) {
  struct report report;
  ask(recording, where, &report);
  double bytes = report.allocated.bytes.total;
  report_destroy(&report);
  return bytes;
}

static void processes_are_groups_and_can_be_asked_for(void **state) {
  (void)state;
  make_all();
  write_all();
  struct recording *joined = load_recording(0);
  struct report report;
  struct table table;
  ask(joined, NULL, &report);
  assert_int_equal(report_table(&report, MEASURE_ALLOCATED, BY_PROCESS, TABLE_SUMS, &table), WN_OK);
  double first = allocated_where(joined, "process = 100"), child = allocated_where(joined, "process = 201"),
         other = allocated_where(joined, "process = other"), all = report.allocated.bytes.total;
  assert_true(first > 0 && other > 0 && child > other);
  assert_true(first + child == all);
  assert_true(bytes_of_group(&table, "made (100)", EXTENT_SELF) == first);
  assert_true(bytes_of_group(&table, "made (100)", EXTENT_TOTAL) == all);
  assert_true(bytes_of_group(&table, "made (201)", EXTENT_SELF) == child - other);
  assert_true(bytes_of_group(&table, "made (201)", EXTENT_TOTAL) == child);
  assert_true(bytes_of_group(&table, "other (201)", EXTENT_SELF) == other);
  assert_true(allocated_where(joined, "process ~ \"^ma\"") == all - other);
  assert_true(allocated_where(joined, "process !~ made and process != 100") == other);
  assert_true(allocated_where(joined, "process = nobody") == 0);
  /* Threads have the numbers and names that they have in their process. */
  assert_true(allocated_where(joined, "thread = worker") == allocated_where(joined, "thread = 2"));
  assert_true(allocated_where(joined, "thread = 1 or thread = 2 or thread = 3") == all);
  table_destroy(&table);
  report_destroy(&report);
  recording_free(joined);
  remove_all();
}

/* ---- rates ---- */

static double truth(const struct made_process *process) {
  double sum = 0;
  for (int i = 0; i < BLOCKS; i++) {
    const struct made_block *block = &process->blocks[i];
    sum += (double)block->size;
    if (block->resized_ns && block->new_size > block->size) sum += (double)block->new_size;
  }
  return sum;
}

/* Each row has the probability of its own trace's rate, or where the survey thins, that of the
 * same share of all rates; and estimates stay where they were, whatever the seed of the thinning. */
static void samples_keep_the_rates_of_their_traces(void **state) {
  (void)state;
  const double lowest = 0.002;
  double error = 0, variance = 0;
  for (uint32_t seed = 0; seed < 30; seed++) {
    make_all();
    for (int i = 0; i < PROCESSES; i++) made[i].seed += 77 * seed, make_blocks(&made[i]);
    made[1].rate = lowest; /* all of its blocks have a sample, as if by chance */
    write_all();
    struct recording *joined = load_recording(seed % 2 ? 200 : 0);
    const struct samples *samples = joined->samples;
    assert_true(seed % 2 ? samples->sampled_blocks <= 220 && samples->sampled_blocks >= 130
                         : joined->kept == 1);
    double share = source_run(samples->source)->rate / lowest;
    assert_true(seed % 2 ? share > 0 && share < 1 : share == 1);
    for (size_t i = 0; i < samples->row_count; i++) {
      const struct row *row = &samples->rows[i];
      double rate = process_of(samples, row->thread) == 1 ? lowest : made[0].rate;
      assert_true(fabs(row->probability - inclusion_probability(share * rate, row->words)) < 1e-12);
    }
    recording_free(joined);
    joined = load_recording(0);
    assert_int_equal(recording_thin(joined, 0.003, seed), WN_OK);
    struct report report;
    ask(joined, "process = 100", &report);
    double expected = truth(&made[0]);
    error += report.allocated.bytes.total / expected - 1;
    variance += report.allocated.bytes.variance / (expected * expected);
    report_destroy(&report);
    recording_free(joined);
    remove_all();
  }
  assert_true(fabs(error) < 4 * sqrt(variance));
}

/* ---- files that cannot be joined ---- */

static void copy_file(const char *from, const char *to, long bytes) {
  static char buffer[1 << 20];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  assert_true(in && out);
  size_t count = fread(buffer, 1, bytes ? (size_t)bytes : sizeof buffer, in);
  assert_int_equal(fwrite(buffer, 1, count, out), count);
  fclose(in);
  fclose(out);
}

static void files_that_cannot_be_joined_are_named(void **state) {
  (void)state;
  make_all();
  write_all();
  size_t count = list_parts();
  copy_file(made[0].path, "joined_copy.trace", 0);
  copy_file("/proc/self/cmdline", "joined_noise.trace", 0);
  parts[count++] = (struct joined_part){.path = "joined_copy.trace", .name = "the copy"};
  parts[count++] = (struct joined_part){.path = "joined_noise.trace", .name = "noise"};
  parts[count++] = (struct joined_part){.path = "joined_missing.trace", .name = "missing"};
  struct samples *joined = load_joined(count);
  assert_int_equal(joined->process_count, PROCESSES);
  assert_true(parts[2].selected != parts[3].selected); /* made[0] and its copy */
  assert_true(parts[2].copy != parts[3].copy);
  assert_non_null(strstr(parts[parts[2].copy ? 2 : 3].why, "the same recording"));
  assert_false(parts[4].selected || parts[5].selected || parts[4].copy || parts[5].copy);
  assert_non_null(strstr(parts[5].why, "joined_missing.trace"));
  samples_free(joined);
  made[1].rate = 0;
  made[2].wall_ns = 0;
  write_process(&made[1]);
  write_process(&made[2]);
  joined = load_joined(list_parts());
  assert_int_equal(joined->process_count, 2); /* the rate of one may have risen later */
  assert_non_null(strstr(parts[0].why, "does not tell when"));
  samples_free(joined);
  unlink("joined_copy.trace");
  unlink("joined_noise.trace");
  remove_all();
}

static void heaps_of_two_kinds_are_refused(void **state) {
  (void)state;
  make_all();
  made[1].heap = "winnow";
  write_all();
  assert_int_equal(joined_examine(parts, list_parts()), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), made[1].path));
  made[0].heap = made[2].heap = "winnow";
  write_all();
  struct samples *joined = load_joined(list_parts());
  assert_true(joined->collected);
  samples_free(joined);
  remove_all();
}

/* Damage of one file is reported, and takes nothing from the others. */
static void damage_is_that_of_all(void **state) {
  (void)state;
  make_all();
  write_all();
  FILE *file = fopen(made[1].path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, 3000, SEEK_SET), 0);
  assert_int_equal(fwrite("damage, damage, damage", 1, 22, file), 22);
  fclose(file);
  struct samples *joined = load_joined(list_parts());
  const struct trace_damage *damage = source_damage(joined->source);
  assert_int_equal(damage->chunks_damaged, 1);
  assert_true(damage->bytes_skipped > 0);
  size_t rows[PROCESSES] = {0};
  for (size_t i = 0; i < joined->row_count; i++) rows[process_of(joined, joined->rows[i].thread)]++;
  for (uint32_t i = 0; i < PROCESSES; i++) {
    struct samples *alone;
    assert_int_equal(samples_load(made[i].path, NULL, NULL, &alone), WN_OK);
    assert_int_equal(rows[i], alone->row_count);
    assert_same_rows(alone, joined, i);
    samples_free(alone);
  }
  samples_free(joined);
  remove_all();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_those_of_each_alone),
      cmocka_unit_test(totals_are_the_sums_of_single_reports),
      cmocka_unit_test(the_peak_is_that_of_all_together),
      cmocka_unit_test(measurements_are_summed_over_living_processes),
      cmocka_unit_test(the_same_file_is_one_module),
      cmocka_unit_test(processes_know_those_that_started_them),
      cmocka_unit_test(processes_are_groups_and_can_be_asked_for),
      cmocka_unit_test(samples_keep_the_rates_of_their_traces),
      cmocka_unit_test(files_that_cannot_be_joined_are_named),
      cmocka_unit_test(heaps_of_two_kinds_are_refused),
      cmocka_unit_test(damage_is_that_of_all),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
