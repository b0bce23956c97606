/* Memtrace files that are exported: copies of Memtrace's own have its bytes. */
#include "sources/memtrace_case.h"

#include "memtrace/copy.h"

static struct writer_bytes copied(const struct made *made, unsigned version) {
  char *bytes = NULL;
  size_t count = 0;
  FILE *out = open_memstream(&bytes, &count);
  assert_non_null(out);
  assert_int_equal(memtrace_copy(out, case_file(made->writer.file.bytes, made->writer.file.count), version),
                   WN_OK);
  assert_int_equal(fclose(out), 0);
  return (struct writer_bytes){.bytes = (unsigned char *)bytes, .count = count};
}

static void make(struct made *made, unsigned version, unsigned domains, size_t events, uint64_t codes) {
  made_begin(made, version, domains, 7 * domains + version);
  made_random_events(made, domains, events, codes);
  made_write(made);
}

static void copies_have_the_bytes_of_the_original(void **state) {
  (void)state;
  for (unsigned version = 2; version <= 3; version++)
    for (unsigned domains = 1; domains <= (version < 3 ? 1 : CASE_DOMAINS); domains++)
      for (uint64_t codes = 30; codes <= 30000; codes *= 1000) { /* few, and more than the cache has */
        struct made made;
        make(&made, version, domains, 12000, codes);
        struct writer_bytes copy = copied(&made, version);
        assert_int_equal(copy.count, made.writer.file.count);
        assert_memory_equal(copy.bytes, made.writer.file.bytes, copy.count);
        free(copy.bytes);
        made_end(&made);
      }
}

/* Memtrace's recorder completes a packet where fewer than 4196 of its 32768 bytes are left before
 * an event. */
static void packets_are_as_full_as_those_of_the_recorder(void **state) {
  (void)state;
  enum { FULL = 32768 - 4196, SHORT = 5, EVENTS = 12000 };
  for (unsigned version = 2; version <= 3; version++)
    for (int more = 0; more < SHORT; more++) { /* events of 6 bytes before those of 5 */
      struct made made;
      const uint64_t code = 77;
      uint32_t bits;
      int full = 0;
      made_begin(&made, version, 1, 1);
      for (int i = 0; i <= more; i++)
        writer_allocate(&made.writer, made.domains[0], made.now_us, 3, 1, WRITER_MINOR, &code, 1);
      for (int i = 0; i < EVENTS; i++) writer_collect(&made.writer, made.domains[0], made.now_us, 0);
      made_write(&made);
      for (size_t at = 0; at < made.writer.file.count; at += bits / 8) {
        memcpy(&bits, made.writer.file.bytes + at + 4, sizeof bits);
        if (bits / 8 < FULL - 10) continue; /* the run, codes, and the last one */
        assert_in_range(bits / 8, FULL + 1, FULL + SHORT);
        full++;
      }
      assert_int_equal(full, 2);
      made_end(&made);
    }
}

static void empty_files_are_copied(void **state) {
  (void)state;
  struct made made;
  make(&made, 3, 0, 0, 1);
  struct writer_bytes copy = copied(&made, 3);
  assert_int_equal(copy.count, made.writer.file.count);
  free(copy.bytes);
  made_end(&made);
}

/* The events of both files in the order of time, but for the domains and the numbers of blocks. */
static void assert_same_events(const struct made *made, const struct writer_bytes *copy) {
  struct memtrace_reader *reader = case_open(copy->bytes, copy->count);
  struct memtrace_event event;
  uint64_t *number = calloc(made->count + 10000 * CASE_DOMAINS, sizeof *number);
  assert_non_null(number);
  for (size_t i = 0; i < made->count; i++) {
    const struct written *written = &made->events[i];
    assert_true(memtrace_reader_next(reader, &event));
    if (written->kind == MEMTRACE_ALLOCATION) number[written->block] = event.block;
    struct written expected = *written;
    expected.block = number[written->block];
    expected.domain = 0;
    assert_event(&event, &expected);
  }
  assert_false(memtrace_reader_next(reader, &event));
  assert_int_equal(memtrace_reader_loss(reader)->packets_damaged, 0);
  memtrace_reader_close(reader);
  free(number);
}

static void version_2_has_the_events_of_all_domains_in_one(void **state) {
  (void)state;
  struct made made;
  make(&made, 3, CASE_DOMAINS, 30000, 500);
  struct writer_bytes copy = copied(&made, 2);
  assert_same_events(&made, &copy);
  free(copy.bytes);
  made_end(&made);
}

/* The copy has what can be read, and is whole itself. */
static void a_damaged_file_is_copied_as_far_as_it_can_be_read(void **state) {
  (void)state;
  for (uint64_t run = 0; run < 40; run++) {
    struct made made;
    make(&made, 3, 2, 3000, 300);
    made.state = run;
    for (int i = 0; i < 5; i++) {
      size_t at = 300 + made_random(&made, made.writer.file.count - 300);
      made.writer.file.bytes[at] ^= (unsigned char)(1 << made_random(&made, 8));
    }
    struct writer_bytes copy = copied(&made, 3);
    struct memtrace_reader *reader = case_open(copy.bytes, copy.count);
    struct memtrace_event event;
    size_t events = 0;
    while (memtrace_reader_next(reader, &event)) events++;
    assert_true(events > 100);
    assert_int_equal(memtrace_reader_loss(reader)->packets_damaged, 0);
    assert_int_equal(memtrace_reader_loss(reader)->times_raised, 0);
    memtrace_reader_close(reader);
    free(copy.bytes);
    made_end(&made);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_have_the_bytes_of_the_original),
      cmocka_unit_test(packets_are_as_full_as_those_of_the_recorder),
      cmocka_unit_test(empty_files_are_copied),
      cmocka_unit_test(version_2_has_the_events_of_all_domains_in_one),
      cmocka_unit_test(a_damaged_file_is_copied_as_far_as_it_can_be_read),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
