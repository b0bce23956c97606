/* The reader against files that are damaged, foreign, newer or missing. */
#include "support/test.h"

#include "base/hash.h"
#include "base/words.h"
#include "trace/chunk.h"
#include "trace/codec.h"
#include "trace/fixture.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A chunk is lost or kept as a whole, whatever its records are; so most of them are made long, that a trace of several
 * chunks be read quickly. The hostile chunks, where records matter, have no padding. */
enum {
  PLACES = 10000,
  DENSE_EVENTS = TINY ? 2000 : 10000,
  LONG_EVENTS = TINY ? 300 : 1500,
  NAME_BYTES = 250
};

/* A trace in memory, and how many events stand in each of its chunks. */
struct image {
  unsigned char *bytes;
  size_t count;
  uint64_t wanted, events;
  uint64_t chunks;
  uint64_t *events_of_chunk;
};

static void write_file(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  if (count) assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

static uint64_t count_events(const char *path, struct trace_damage *damage) {
  struct trace_reader *reader;
  if (trace_reader_open(path, &reader)) return UINT64_MAX;
  struct trace_event event;
  uint64_t count = 0;
  while (trace_reader_next(reader, &event)) {
    count++;
    if (event.kind != TRACE_SAMPLE) continue;
    for (uint32_t node = event.sample.stack; node; node = trace_reader_node(reader, node).parent)
      assert_true(trace_reader_node(reader, node).module <= trace_reader_modules(reader));
  }
  if (damage) *damage = *trace_reader_damage(reader);
  trace_reader_close(reader);
  return count;
}

static void write_long_event(struct trace_writer *writer, uint64_t time) {
  char name[NAME_BYTES + 1];
  memset(name, 'n', NAME_BYTES);
  name[NAME_BYTES] = '\0';
  struct trace_thread_name event = {.time_ns = time, .thread = 1, .name = trace_text_of(name)};
  assert_true(trace_write_thread_name(writer, &event));
}

static void write_trace(const char *path, int events, bool padded) {
  struct trace_writer *writer = fixture_open(path, 0);
  struct random random;
  random_seed(&random, 3, 0, 0);
  uint64_t block = 1;
  for (int i = 0; i < events; i++) {
    if (padded && i % 4) {
      write_long_event(writer, (uint64_t)i);
      continue;
    }
    struct trace_event event = fixture_event(&random, 1, (uint64_t)i, &block, 500);
    assert_true(fixture_write(writer, &event));
  }
  trace_writer_close(writer);
  struct trace_totals totals;
  assert_int_equal(trace_finish(path, &totals), WN_OK);
}

/* Each chunk alone tells its number of events: the others are zeroed. */
static void count_each_chunk(struct image *image, const char *path) {
  unsigned char *alone = calloc(image->count, 1);
  for (uint64_t i = 0; i < image->chunks; i++) {
    size_t from = i * CHUNK_BYTES, to = from + CHUNK_BYTES < image->count ? from + CHUNK_BYTES : image->count;
    memset(alone, 0, image->count);
    memcpy(alone + from, image->bytes + from, to - from);
    write_file(path, alone, image->count);
    image->events_of_chunk[i] = count_events(path, NULL);
    image->events += image->events_of_chunk[i];
  }
  free(alone);
}

static struct image take_image(const char *path, bool padded) {
  int events = padded ? LONG_EVENTS : DENSE_EVENTS;
  write_trace(path, events, padded);
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  struct image image = {.count = (size_t)found.st_size, .wanted = (uint64_t)events};
  image.bytes = malloc(image.count);
  FILE *file = fopen(path, "rb");
  assert_int_equal(fread(image.bytes, 1, image.count, file), image.count);
  fclose(file);
  image.chunks = (image.count + CHUNK_BYTES - 1) / CHUNK_BYTES;
  image.events_of_chunk = calloc(image.chunks, sizeof *image.events_of_chunk);
  count_each_chunk(&image, path);
  assert_int_equal(image.events, image.wanted);
  assert_true(image.chunks >= (padded ? 3 : 2));
  return image;
}

static void drop_image(struct image *image, const char *path) {
  free(image->bytes);
  free(image->events_of_chunk);
  unlink(path);
}

/* Whether the byte is one that the checksum covers or the commit word. */
static bool is_used(const struct image *image, size_t place) {
  const unsigned char *chunk = image->bytes + place / CHUNK_BYTES * CHUNK_BYTES;
  uint32_t used;
  memcpy(&used, chunk + offsetof(struct chunk_header, commit), sizeof used);
  return place % CHUNK_BYTES < CHUNK_HEADER_BYTES + used;
}

static void any_changed_byte_loses_its_chunk_only(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, true);
  struct random random;
  random_seed(&random, 17, 0, 0);
  write_file(path, image.bytes, image.count);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  for (int i = 0; i < PLACES; i++) {
    /* The bytes of the headers, one after another, and then any. */
    size_t place = (size_t)i < image.chunks * CHUNK_HEADER_BYTES
                       ? (size_t)i / CHUNK_HEADER_BYTES * CHUNK_BYTES + (size_t)i % CHUNK_HEADER_BYTES
                       : random_bits(&random) % image.count;
    unsigned char changed = (unsigned char)(image.bytes[place] ^ (1 + random_bits(&random) % 255));
    assert_int_equal(pwrite(fd, &changed, 1, (off_t)place), 1);
    struct trace_damage damage;
    uint64_t events = count_events(path, &damage);
    bool used = is_used(&image, place);
    assert_int_equal(events, image.wanted - (used ? image.events_of_chunk[place / CHUNK_BYTES] : 0));
    assert_int_equal(damage.chunks_damaged, used);
    assert_int_equal(damage.bytes_skipped > 0, used);
    assert_int_equal(pwrite(fd, image.bytes + place, 1, (off_t)place), 1);
  }
  close(fd);
  drop_image(&image, path);
}

static void a_cut_file_loses_the_chunk_at_the_cut(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, true);
  struct random random;
  random_seed(&random, 19, 0, 0);
  write_file(path, image.bytes, image.count);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  uint64_t refused = 0;
  size_t end = image.count;
  while (end > 0) { /* ever shorter */
    size_t step = 1 + random_bits(&random) % (image.count / 500 + 1);
    end = step < end ? end - step : 0;
    assert_int_equal(ftruncate(fd, (off_t)end), 0);
    uint64_t whole = 0, at = end / CHUNK_BYTES;
    for (uint64_t i = 0; i < at; i++) whole += image.events_of_chunk[i];
    bool cut_used = end % CHUNK_BYTES && is_used(&image, end);
    if (end % CHUNK_BYTES && !cut_used) whole += image.events_of_chunk[at];
    struct trace_damage damage = {0};
    uint64_t events = count_events(path, &damage);
    if (!whole) {
      assert_int_equal(events, UINT64_MAX);
      refused++;
      continue;
    }
    assert_int_equal(events, whole);
    assert_int_equal(damage.chunks_damaged, cut_used);
  }
  assert_true(refused > 0);
  close(fd);
  drop_image(&image, path);
}

static void a_hostile_chunk_with_a_right_checksum_does_no_harm(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, false);
  struct random random;
  random_seed(&random, 23, 0, 0);
  unsigned char *copy = malloc(image.count);
  for (int i = 0; i < PLACES / 10; i++) {
    memcpy(copy, image.bytes, image.count);
    struct chunk_header *header = (struct chunk_header *)copy;
    uint32_t used = (uint32_t)header->commit;
    size_t changes = 1 + random_bits(&random) % 8;
    for (size_t j = 0; j < changes; j++)
      copy[CHUNK_HEADER_BYTES + random_bits(&random) % used] = (unsigned char)random_bits(&random);
    header->commit = commit_word(used, crc32c(chunk_header_crc(header), header + 1, used));
    write_file(path, copy, image.count);
    struct trace_damage damage;
    uint64_t events = count_events(path, &damage);
    assert_true(events >= image.wanted - image.events_of_chunk[0] && events != UINT64_MAX);
  }
  free(copy);
  drop_image(&image, path);
}

static void records_of_unknown_kinds_are_skipped_by_their_length(void **state) {
  (void)state;
  const char *path = fixture_path();
  write_trace(path, 1, false);
  unsigned char chunk[CHUNK_BYTES] = {0};
  FILE *file = fopen(path, "rb");
  size_t count = fread(chunk, 1, sizeof chunk, file);
  fclose(file);
  assert_true(count > CHUNK_HEADER_BYTES);
  struct chunk_header *header = (struct chunk_header *)chunk;
  struct sink sink = {.at = chunk + count, .end = chunk + sizeof chunk};
  put_byte(&sink, 100 | 128); /* a kind of the future */
  put_varint(&sink, 5);
  put_bytes(&sink, "\377\377\377\377\377", 5);
  put_byte(&sink, TRACE_RECORD_MEMORY | 128); /* a known kind with a field of the future */
  put_varint(&sink, 7);
  put_bytes(&sink, "\2\5\6\377\377\377\377", 7);
  put_byte(&sink, TRACE_RECORD_FREE);
  put_varint(&sink, 0);
  put_varint(&sink, 0);
  uint32_t used = (uint32_t)(sink.at - chunk) - CHUNK_HEADER_BYTES;
  header->commit = commit_word(used, crc32c(chunk_header_crc(header), header + 1, used));
  write_file(path, chunk, CHUNK_HEADER_BYTES + used);
  struct trace_damage damage;
  assert_int_equal(count_events(path, &damage), 3);
  assert_int_equal(damage.records_unknown, 1);
  assert_int_equal(damage.chunks_damaged, 0);
  unlink(path);
}

static void expect_refusal(const char *path, wn_status status, const char *words) {
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(path, &reader), status);
  if (!strstr(wn_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", wn_last_error(), words);
}

static void refusals_say_what_is_wrong(void **state) {
  (void)state;
  const char *path = fixture_path();
  unlink(path);
  expect_refusal(path, WN_EIO, "No such file");
  expect_refusal(".", WN_EFORMAT, "directory");
  expect_refusal("/dev/null", WN_EFORMAT, "regular file");
  write_file(path, "", 0);
  expect_refusal(path, WN_EFORMAT, "empty");
  write_file(path, "hello, this is a text", 21);
  expect_refusal(path, WN_EFORMAT, "not a Winnow trace");
  write_file(path, "\301\037\374\301 and so on", 14);
  expect_refusal(path, WN_EFORMAT, "Memtrace");
  write_file(path, chunk_magic, sizeof chunk_magic);
  expect_refusal(path, WN_EFORMAT, "cut off after 8 bytes");
  unlink(path);
}

/* Nothing of it can be checked, but who it was is said as soon as it stands there. */
static void a_trace_cut_in_its_first_chunk_says_which_it_was(void **state) {
  (void)state;
  const char *path = fixture_path(),
             *known = "of program --option an argument (process 4242, begun 2023-11-1";
  write_trace(path, 40, true);
  static unsigned char bytes[CHUNK_BYTES];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t count = fread(bytes, 1, sizeof bytes, file), first = 0;
  fclose(file);
  uint32_t used = (uint32_t)((const struct chunk_header *)bytes)->commit, end = CHUNK_HEADER_BYTES + used;
  assert_true(used > 300 && end <= count);
  for (size_t cut = sizeof chunk_magic; cut < end; cut += cut < 400 ? 1 : 37) {
    char after[64];
    snprintf(after, sizeof after, "cut off after %zu bytes", cut);
    write_file(path, bytes, cut);
    expect_refusal(path, WN_EFORMAT, after);
    if (!first && strstr(wn_last_error(), known)) first = cut;
    if (first) expect_refusal(path, WN_EFORMAT, known);
  }
  assert_in_range(first, CHUNK_HEADER_BYTES + 50, CHUNK_HEADER_BYTES + 150);
  bytes[end - 1] ^= 1;
  write_file(path, bytes, end);
  expect_refusal(path, WN_EFORMAT, "is a damaged Winnow trace of program");
  memset(bytes + CHUNK_HEADER_BYTES - 8, 0, sizeof bytes - CHUNK_HEADER_BYTES + 8);
  write_file(path, bytes, end);
  expect_refusal(path, WN_EFORMAT, "ended before its first record");
  unlink(path);
}

/* Whatever stands there in place of the first records, the refusal survives it. */
static void odd_remains_do_no_harm(void **state) {
  (void)state;
  const char *path = fixture_path();
  static unsigned char bytes[CHUNK_BYTES], odd[300];
  struct random random;
  random_seed(&random, 29, 0, 0);
  write_trace(path, 40, true);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_true(fread(bytes, 1, sizeof bytes, file) > sizeof odd);
  fclose(file);
  for (int i = 0; i < 2000; i++) {
    memcpy(odd, bytes, sizeof odd);
    for (uint64_t n = random_bits(&random) % 6; n < 6; n++)
      odd[sizeof chunk_magic + random_bits(&random) % 200] = (unsigned char)random_bits(&random);
    struct trace_reader *reader;
    write_file(path, odd, 200 + random_bits(&random) % 100);
    assert_int_equal(trace_reader_open(path, &reader), WN_EFORMAT);
    assert_true(strlen(wn_last_error()) < 256);
  }
  unlink(path);
}

static void a_newer_version_is_refused_by_its_number(void **state) {
  (void)state;
  const char *path = fixture_path();
  write_trace(path, 1, false);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  uint16_t version = 2;
  assert_int_equal(pwrite(fd, &version, sizeof version, offsetof(struct chunk_header, version)),
                   sizeof version);
  close(fd);
  expect_refusal(path, WN_EFORMAT, "newer version 2 of the format, this winnow reads up to 1; update winnow");
  unlink(path);
}

static void finish_leaves_a_foreign_file_as_it_is(void **state) {
  (void)state;
  const char *path = fixture_path();
  char text[5000];
  memset(text, 'x', sizeof text);
  memset(text + 1000, 0, 4000);
  write_file(path, text, sizeof text);
  struct trace_totals totals;
  assert_int_equal(trace_finish(path, &totals), WN_EFORMAT);
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  assert_int_equal(found.st_size, sizeof text);
  unlink(path);
}

static void expect_left_alone(const char *path, const char *text, size_t length) {
  struct trace_run run = fixture_run();
  struct trace_options options = {.path = path};
  struct trace_writer *writer;
  char found[64];
  write_file(path, text, length);
  assert_int_equal(trace_writer_open(&options, &run, &fixture_source, &writer), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "exists and is not a trace"));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(read(fd, found, sizeof found), length);
  assert_memory_equal(found, text, length);
  close(fd);
  unlink(path);
}

static void a_writer_overwrites_nothing_but_traces(void **state) {
  (void)state;
  const char *path = fixture_path();
  expect_left_alone(path, "(print 1)\n", 10);
  expect_left_alone(path, "x", 1);
  expect_left_alone(path, "\x89Winno", 6);
  expect_left_alone(path, "\0\0\0\0\0\0\0\0\0", 9);
  write_file(path, "", 0);
  trace_writer_close(fixture_open(path, 0));
  trace_writer_close(fixture_open(path, 0)); /* over the one before */
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_changed_byte_loses_its_chunk_only),
      cmocka_unit_test(a_cut_file_loses_the_chunk_at_the_cut),
      cmocka_unit_test(a_hostile_chunk_with_a_right_checksum_does_no_harm),
      cmocka_unit_test(records_of_unknown_kinds_are_skipped_by_their_length),
      cmocka_unit_test(refusals_say_what_is_wrong),
      cmocka_unit_test(a_trace_cut_in_its_first_chunk_says_which_it_was),
      cmocka_unit_test(odd_remains_do_no_harm),
      cmocka_unit_test(a_newer_version_is_refused_by_its_number),
      cmocka_unit_test(finish_leaves_a_foreign_file_as_it_is),
      cmocka_unit_test(a_writer_overwrites_nothing_but_traces),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
