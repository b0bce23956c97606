/* Memtrace files, written by the tests' own writer and read by the reader: all kinds of events, numbers
 * of all widths, several domains, and clocks that are set back. */
#include "sources/memtrace_case.h"

static void assert_all_read(const struct made *made) {
  struct memtrace_reader *reader = case_open(made->writer.file.bytes, made->writer.file.count);
  struct memtrace_event event;
  for (size_t i = 0; i < made->count; i++) {
    assert_true(memtrace_reader_next(reader, &event));
    assert_event(&event, &made->events[i]);
    if (event.kind == MEMTRACE_ALLOCATION) assert_int_equal(event.stack.depth, made->events[i].depth);
  }
  assert_false(memtrace_reader_next(reader, &event));
  const struct memtrace_loss *loss = memtrace_reader_loss(reader);
  assert_int_equal(loss->packets_damaged, 0);
  assert_int_equal(loss->bytes_skipped, 0);
  assert_int_equal(loss->stacks_lost, 0);
  assert_int_equal(loss->times_raised, 0);
  assert_true(memtrace_reader_position(reader) > 0);
  memtrace_reader_close(reader);
}

/* ---- events ---- */

static void events_are_read_as_they_were_written(void **state) {
  (void)state;
  for (unsigned version = 1; version <= 3; version++) {
    struct made made;
    made_begin(&made, version, 1, version);
    for (size_t i = 0; i < 20000; i++) {
      made.now_us += made_random(&made, 100);
      made_vary_stack(&made, 0, 30000);
      made_allocate(&made, 0, 1 + (int64_t)made_random(&made, 40), 1, WRITER_MINOR, made.stack[0],
                    made.depth[0]);
      if (made_random(&made, 2)) made_change(&made, 0, MEMTRACE_PROMOTION, made_random(&made, i + 1));
      if (made_random(&made, 2)) made_change(&made, 0, MEMTRACE_COLLECTION, made_random(&made, i + 1));
    }
    made_write(&made);
    assert_all_read(&made);
    made_end(&made);
  }
}

static void domains_are_merged_by_time(void **state) {
  (void)state;
  for (unsigned seed = 0; seed < 8; seed++) {
    struct made made;
    made_begin(&made, 3, CASE_DOMAINS, seed);
    made_random_events(&made, CASE_DOMAINS, 4000, seed % 2 ? 100 : 20000);
    made_write(&made);
    struct memtrace_reader *reader = case_open(made.writer.file.bytes, made.writer.file.count);
    struct memtrace_event event;
    uint64_t last_us = 0;
    size_t seen[CASE_DOMAINS] = {0};
    while (memtrace_reader_next(reader, &event)) {
      assert_true(event.time_us >= last_us);
      last_us = event.time_us;
      size_t *at = &seen[event.domain];
      while (made.events[*at].domain != event.domain) ++*at;
      assert_event(&event, &made.events[(*at)++]);
    }
    for (size_t i = 0; i < CASE_DOMAINS; i++)
      while (seen[i] < made.count) assert_int_not_equal(made.events[seen[i]++].domain, i);
    assert_int_equal(memtrace_reader_loss(reader)->packets_damaged, 0);
    assert_int_equal(memtrace_reader_domains(reader), CASE_DOMAINS);
    memtrace_reader_close(reader);
    made_end(&made);
  }
}

static void numbers_of_all_widths_are_read(void **state) {
  static const int64_t lengths[] = {
      0, 1, 16, 17, 252, 253, 65535, 65536, 1 << 30, INT32_MAX, 1L + INT32_MAX, 1L << 40};
  (void)state;
  struct made made;
  uint64_t codes[] = {7, 8};
  made_begin(&made, 3, 2, 1);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
    for (unsigned source = 0; source < 3; source++)
      made_allocate(&made, 0, lengths[i], lengths[i] + 1, (enum writer_source)source, codes, 2),
          made.now_us++;
  made.now_us++;
  /* The domain 1 has later blocks: its deltas are large, and those of the domain 0 negative. */
  uint64_t late = made_allocate(&made, 1, 3, 1, WRITER_EXTERNAL, codes, 1);
  made.now_us++;
  made_change(&made, 1, MEMTRACE_COLLECTION, 0);
  made.now_us++;
  made_change(&made, 0, MEMTRACE_COLLECTION, late);
  made_write(&made);
  assert_all_read(&made);
  made_end(&made);
}

/* More frames than one codeword can predict, and than the room for a stack. */
static void deep_recursion_is_read(void **state) {
  enum { DEEP = 100000 };
  (void)state;
  struct made made;
  uint64_t *codes = malloc(DEEP * sizeof *codes);
  made_begin(&made, 2, 1, 1);
  for (size_t i = 0; i < DEEP; i++) codes[i] = i ? 10 : 9;
  for (size_t depth = 1; depth <= DEEP; depth *= 10) {
    made.now_us++;
    made_allocate(&made, 0, 3, 1, WRITER_MINOR, codes, depth);
    made_allocate(&made, 0, 3, 1, WRITER_MINOR, codes, depth / 2 + 1);
  }
  made_write(&made);
  assert_all_read(&made);
  made_end(&made);
  free(codes);
}

/* Each frame has a code of its own, so that not all of them fit. The stack behind begins with more
 * frames than the file has of the one before. */
static void stacks_that_were_cut_are_repeated(void **state) {
  enum { DEEP = 3000 };
  (void)state;
  struct made made;
  uint64_t codes[DEEP + 1];
  struct memtrace_event event;
  made_begin(&made, 3, 1, 1);
  for (size_t i = 0; i <= DEEP; i++) codes[i] = 1000 + i;
  for (size_t depth = DEEP - 1; depth <= DEEP + 1; depth++)
    made_allocate(&made, 0, 3, 1, WRITER_MINOR, codes, depth);
  made_allocate(&made, 0, 3, 1, WRITER_MINOR, codes, 2);
  made_write(&made);
  struct memtrace_reader *reader = case_open(made.writer.file.bytes, made.writer.file.count);
  assert_true(memtrace_reader_next(reader, &event));
  assert_event(&event, &made.events[0]);
  size_t cut = event.stack.depth;
  assert_true(cut > 300 && cut < 500);
  for (size_t i = 1; i < 3; i++) {
    assert_true(memtrace_reader_next(reader, &event));
    assert_event(&event, &made.events[i]);
    assert_int_equal(event.stack.depth, cut);
    assert_int_equal(event.stack.common, cut);
    assert_int_equal(event.stack.prefix, DEEP - 2 + i);
  }
  assert_true(memtrace_reader_next(reader, &event));
  assert_int_equal(event.stack.depth, 2);
  memtrace_reader_close(reader);
  made_end(&made);
}

/* ---- names ---- */

static void assert_place(const struct memtrace_names *names, const struct memtrace_location *location,
                         const struct writer_place *place) {
  assert_string_equal(memtrace_text(names, location->file), place->file);
  assert_string_equal(memtrace_text(names, location->function), place->function);
  assert_int_equal(location->line, place->line);
  assert_int_equal(location->start, place->start > 255 ? 255 : place->start);
  assert_int_equal(location->end, place->end > 1023 ? 1023 : place->end);
}

static void codes_have_the_names_of_the_lists(void **state) {
  (void)state;
  struct made made;
  const struct writer_place *places;
  made_begin(&made, 1, 1, 3);
  for (uint64_t code = 1; code < 30000; code++) {
    made.now_us++;
    made_allocate(&made, 0, 2, 1, WRITER_MINOR, &code, 1);
  }
  made_write(&made);
  struct memtrace_reader *reader = case_open(made.writer.file.bytes, made.writer.file.count);
  const struct memtrace_names *names = memtrace_reader_names(reader);
  assert_int_equal(memtrace_locations_of(names, 1).count, 0);
  assert_int_equal(memtrace_locations_of(names, 30000).count, 0);
  struct memtrace_locations unknown = memtrace_locations_of(names, 2);
  assert_int_equal(unknown.count, 1);
  assert_string_equal(memtrace_text(names, unknown.list->file), "<unknown>");
  assert_string_equal(memtrace_text(names, unknown.list->function), "??");
  for (uint64_t code = 3; code < 30000; code++) {
    struct memtrace_locations locations = memtrace_locations_of(names, code);
    assert_int_equal(locations.count, codes_places(code, &places));
    for (uint32_t i = 0; i < locations.count; i++) assert_place(names, &locations.list[i], &places[i]);
  }
  memtrace_reader_close(reader);
  made_end(&made);
}

static void the_run_is_told(void **state) {
  (void)state;
  for (unsigned version = 1; version <= 3; version++) {
    struct made made;
    made_begin(&made, version, 1, 1);
    made_write(&made);
    struct memtrace_reader *reader = case_open(made.writer.file.bytes, made.writer.file.count);
    const struct memtrace_info *info = memtrace_reader_info(reader);
    assert_int_equal(info->version, version);
    assert_true(info->rate == 0.01);
    assert_int_equal(info->word_bits, 64);
    assert_int_equal(info->pid, 4321);
    assert_int_equal(info->begin_us, CASE_BEGIN_US);
    assert_string_equal(info->executable, "/opt/app/main.exe");
    assert_string_equal(info->host, "somewhere");
    assert_string_equal(info->parameters, "s=4096,o=80");
    assert_string_equal(info->context, version > 1 ? "a test" : "");
    memtrace_reader_close(reader);
    made_end(&made);
  }
}

/* ---- time ---- */

/* Back by an hour in the midst of a packet, and a little now and then. */
static void a_clock_that_is_set_back_loses_no_event(void **state) {
  enum { EVENTS = 20000 };
  (void)state;
  struct made made;
  uint64_t code = 5;
  made_begin(&made, 3, 1, 4);
  made.now_us += 4000000000;
  for (size_t i = 0; i < EVENTS; i++) {
    made.now_us += made_random(&made, 2000);
    if (i == EVENTS / 2 + 77) made.now_us -= 3600000000;
    if (i % 1000 == 500) made.now_us -= 300;
    made_allocate(&made, 0, 2, 1, WRITER_MINOR, &code, 1);
  }
  made_write(&made);
  struct memtrace_reader *reader = case_open(made.writer.file.bytes, made.writer.file.count);
  struct memtrace_event event;
  uint64_t last_us = 0;
  for (size_t i = 0; i < EVENTS; i++) {
    assert_true(memtrace_reader_next(reader, &event));
    assert_true(event.time_us >= last_us);
    assert_true(event.time_us < 4100000000);
    last_us = event.time_us;
    assert_int_equal(event.block, made.events[i].block);
    assert_false(event.stack.lost);
  }
  assert_false(memtrace_reader_next(reader, &event));
  assert_int_equal(memtrace_reader_loss(reader)->packets_damaged, 0);
  assert_true(memtrace_reader_loss(reader)->times_raised > EVENTS / 3);
  memtrace_reader_close(reader);
  made_end(&made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_are_read_as_they_were_written),
      cmocka_unit_test(domains_are_merged_by_time),
      cmocka_unit_test(numbers_of_all_widths_are_read),
      cmocka_unit_test(deep_recursion_is_read),
      cmocka_unit_test(stacks_that_were_cut_are_repeated),
      cmocka_unit_test(codes_have_the_names_of_the_lists),
      cmocka_unit_test(the_run_is_told),
      cmocka_unit_test(a_clock_that_is_set_back_loses_no_event),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
