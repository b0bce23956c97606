/* The reader against traces that are damaged: what is whole is read. */
#include "support/test.h"

#include "base/hash.h"
#include "base/words.h"
#include "trace/checkpoint.h"
#include "trace/chunk.h"
#include "trace/codec.h"
#include "trace/fixture.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PLACES = 4000,
  FEW_EVENTS = TINY ? 30 : 120, /* in a fraction of a chunk */
  MANY_EVENTS = TINY ? 1500 : 15000,
  NAME_BYTES = 250
};

/* A trace in memory. Event number i has the time i, and its bytes begin at begins[i]. */
struct image {
  unsigned char *bytes;
  size_t count;
  int events;
  size_t *begins;
  struct trace_event *written;
};

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

static void read_file(const char *path, struct image *image) {
  struct stat found;
  assert_int_equal(stat(path, &found), 0);
  image->count = (size_t)found.st_size;
  image->bytes = malloc(image->count);
  FILE *file = fopen(path, "rb");
  assert_int_equal(fread(image->bytes, 1, image->count, file), image->count);
  fclose(file);
}

/* Where the used bytes of a file end whose last chunk is the one that is written to. */
static size_t used_end(int descriptor) {
  struct chunk_header header;
  size_t end = 0;
  for (off_t at = 0; pread(descriptor, &header, sizeof header, at) == sizeof header && header.commit;
       at += CHUNK_BYTES)
    end = (size_t)at + CHUNK_HEADER_BYTES + (uint32_t)header.commit;
  return end;
}

/* All by one thread, so that its chunks lie one after another. With an end, if asked for. */
static struct image take_image(const char *path, int events, bool ended) {
  struct image image = {.events = events, .begins = calloc((size_t)events + 1, sizeof(size_t))};
  image.written = calloc((size_t)events, sizeof *image.written);
  struct trace_writer *writer = fixture_open(path, 0);
  struct random random;
  random_seed(&random, 3, 0, 0);
  uint64_t block = 1;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < events; i++) {
    image.begins[i] = used_end(descriptor);
    image.written[i] = fixture_event(&random, 1, (uint64_t)i, &block, 200);
    assert_true(fixture_write(writer, &image.written[i]));
    if (used_end(descriptor) / CHUNK_BYTES > image.begins[i] / CHUNK_BYTES)
      image.begins[i] = used_end(descriptor) / CHUNK_BYTES * CHUNK_BYTES + CHUNK_HEADER_BYTES;
  }
  image.begins[events] = used_end(descriptor);
  if (ended)
    assert_true(trace_write_end(writer, &(struct trace_end){.time_ns = (uint64_t)events, .thread = 1}));
  close(descriptor);
  trace_writer_close(writer);
  read_file(path, &image);
  return image;
}

static void drop_image(struct image *image, const char *path) {
  free(image->bytes);
  free(image->begins);
  free(image->written);
  unlink(path);
}

/* Whether the byte is one that the checksum covers or the commit word. */
static bool is_used(const struct image *image, size_t place) {
  const unsigned char *chunk = image->bytes + place / CHUNK_BYTES * CHUNK_BYTES;
  uint32_t used;
  memcpy(&used, chunk + offsetof(struct chunk_header, commit), sizeof used);
  return place % CHUNK_BYTES < CHUNK_HEADER_BYTES + used;
}

/* The bytes of an image that stand and fall together: a segment with its checkpoint, or what lies
 * behind the last. */
struct stretch {
  size_t begin, end;
};

static struct stretch stretch_at(const struct image *image, size_t place) {
  size_t chunk = place / CHUNK_BYTES * CHUNK_BYTES;
  size_t count = image->count - chunk < CHUNK_BYTES ? image->count - chunk : CHUNK_BYTES, work = CHUNK_BYTES;
  struct segment segment = {.end = CHUNK_HEADER_BYTES};
  while (segment_find(image->bytes + chunk, count, segment.end, &work, &segment))
    if (place < chunk + segment.end) return (struct stretch){chunk + segment.begin, chunk + segment.end};
  return (struct stretch){chunk + segment.end, chunk + CHUNK_BYTES};
}

/* Without an end, what lies behind the last checkpoint is lost with the segment before. */
static struct stretch with_the_tail(const struct image *image, struct stretch lost) {
  if (lost.end >= image->count) return lost;
  struct stretch next = stretch_at(image, lost.end);
  if (next.end > image->count) lost.end = next.end;
  return lost;
}

static bool begins_in(const struct image *image, int event, struct stretch stretch) {
  return image->begins[event] >= stretch.begin && image->begins[event] < stretch.end;
}

/* What was lost may have left a stack without its outer frames, or without any. */
static bool same_inner_frames(struct trace_reader *reader, uint32_t read, uint32_t written) {
  for (; read && written; read = trace_reader_node(reader, read).parent) {
    uint32_t module;
    uint64_t offset;
    fixture_node(written, &written, &module, &offset);
    if (trace_reader_node(reader, read).offset != offset) return false;
  }
  return !read;
}

/* Where an event has its stack; NULL: it has none. */
static uint32_t *stack_of(struct trace_event *event) {
  switch (event->kind) {
  case TRACE_SAMPLE: return &event->sample.stack;
  case TRACE_RESIZE: return &event->resize.stack;
  case TRACE_MAP: return &event->map.stack;
  default: return NULL;
  }
}

static bool same_but_for_frames(struct trace_reader *reader, const struct trace_event *read,
                                struct trace_event written) {
  struct trace_event bare = *read;
  uint32_t *stack = stack_of(&bare);
  if (!stack || bare.kind != written.kind) return fixture_same(reader, read, &written);
  uint32_t found = *stack, wanted = *stack_of(&written);
  *stack = *stack_of(&written) = 0;
  return same_inner_frames(reader, found, wanted) && fixture_same(reader, &bare, &written);
}

/* Reads the file; it must have every event but those of two stretches, and the others as they were
 * written. */
static void expect_all_but(const struct image *image, const char *path, struct stretch first,
                           struct stretch second, bool damaged) {
  struct trace_reader *reader;
  bool any = false;
  for (int i = 0; i < image->events; i++) any |= !begins_in(image, i, first) && !begins_in(image, i, second);
  if (trace_reader_open(path, &reader)) {
    if (any) fail_msg("%s", wn_last_error());
    return;
  }
  struct trace_event event;
  int expected = 0;
  while (trace_reader_next(reader, &event)) {
    if (event.kind == TRACE_END) continue;
    while (expected < image->events &&
           (begins_in(image, expected, first) || begins_in(image, expected, second)))
      expected++;
    if (expected == image->events || (int)event.at.time_ns != expected)
      fail_msg("event %d where %d was expected; lost %zu to %zu", (int)event.at.time_ns, expected,
               first.begin, first.end);
    assert_true(same_but_for_frames(reader, &event, image->written[expected]));
    expected++;
  }
  while (expected < image->events &&
         (begins_in(image, expected, first) || begins_in(image, expected, second)))
    expected++;
  if (expected < image->events)
    fail_msg("event %d is missing; lost %zu to %zu", expected, first.begin, first.end);
  const struct trace_damage *damage = trace_reader_damage(reader);
  assert_int_equal(damage->chunks_damaged > 0, damaged);
  assert_int_equal(damage->bytes_skipped > 0, damaged);
  trace_reader_close(reader);
}

/* Changes a byte; and back. */
static void change_and_read(const struct image *image, const char *path, int file, size_t place,
                            unsigned char bits) {
  unsigned char changed = image->bytes[place] ^ bits;
  size_t in_chunk = place % CHUNK_BYTES, chunk = place - in_chunk;
  assert_int_equal(pwrite(file, &changed, 1, (off_t)place), 1);
  struct stretch lost = {0, 0};
  bool used = is_used(image, place);
  if (in_chunk >= offsetof(struct chunk_header, commit) && in_chunk < CHUNK_HEADER_BYTES) {
    lost = stretch_at(image, chunk + CHUNK_BYTES - 1); /* checked by the commit word alone */
  } else if (in_chunk >= CHUNK_HEADER_BYTES && used) {
    lost = with_the_tail(image, stretch_at(image, place));
  }
  expect_all_but(image, path, lost, lost, used);
  assert_int_equal(pwrite(file, image->bytes + place, 1, (off_t)place), 1);
}

static void any_changed_byte_of_a_small_trace_loses_its_segment_only(void **state) {
  (void)state;
  const char *path = fixture_path();
  for (int ended = 0; ended < 2; ended++) {
    struct image image = take_image(path, FEW_EVENTS, ended);
    assert_true(image.count < 8192);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    for (size_t place = 0; place < image.count; place++)
      change_and_read(&image, path, file, place, (unsigned char)(1u << place % 8));
    close(file);
    drop_image(&image, path);
  }
}

static void any_changed_byte_of_a_large_trace_loses_its_segment_only(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, MANY_EVENTS, true);
  struct random random;
  random_seed(&random, 17, 0, 0);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  size_t chunks = (image.count + CHUNK_BYTES - 1) / CHUNK_BYTES;
  assert_true(chunks >= 3);
  for (int i = 0; i < PLACES / 10; i++) {
    size_t place = (size_t)i < chunks * CHUNK_HEADER_BYTES
                       ? (size_t)i / CHUNK_HEADER_BYTES * CHUNK_BYTES + (size_t)i % CHUNK_HEADER_BYTES
                       : random_bits(&random) % image.count;
    change_and_read(&image, path, file, place, (unsigned char)(1 + random_bits(&random) % 255));
  }
  close(file);
  drop_image(&image, path);
}

/* Each segment that ends at or before the cut is read. */
static void cut_and_read(const struct image *image, const char *path, size_t cut) {
  assert_int_equal(truncate(path, (off_t)cut), 0);
  bool used = cut % CHUNK_BYTES && is_used(image, cut), begun = cut % CHUNK_BYTES > CHUNK_HEADER_BYTES;
  struct stretch lost = {used && begun ? stretch_at(image, cut).begin : cut, SIZE_MAX};
  expect_all_but(image, path, lost, lost, used);
}

static void a_small_trace_cut_anywhere_keeps_what_is_before_the_cut(void **state) {
  (void)state;
  const char *path = fixture_path();
  for (int ended = 0; ended < 2; ended++) {
    struct image image = take_image(path, FEW_EVENTS, ended);
    for (size_t cut = image.count; cut-- > 1;) cut_and_read(&image, path, cut);
    drop_image(&image, path);
  }
}

static void a_large_trace_cut_anywhere_keeps_what_is_before_the_cut(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, MANY_EVENTS, true);
  struct random random;
  random_seed(&random, 19, 0, 0);
  for (size_t cut = image.count; cut > 1;
       cut -= 1 + random_bits(&random) % (image.count / 100) % (cut - 1 ? cut - 1 : 1))
    cut_and_read(&image, path, cut);
  drop_image(&image, path);
}

/* A segment is found wherever it stands. */
static void a_byte_that_is_missing_loses_its_segment_only(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, FEW_EVENTS, true);
  unsigned char *shorter = malloc(image.count);
  assert_true(image.count < CHUNK_BYTES);
  for (size_t place = 0; place < image.count; place++) {
    memcpy(shorter, image.bytes, place);
    memcpy(shorter + place, image.bytes + place + 1, image.count - place - 1);
    fixture_write_file(path, shorter, image.count - 1);
    size_t last = place; /* of equal bytes the last one is missing as well */
    while (last + 1 < image.count && image.bytes[last + 1] == image.bytes[place]) last++;
    struct stretch lost = stretch_at(&image, last);
    expect_all_but(&image, path, lost, lost, true);
  }
  free(shorter);
  drop_image(&image, path);
}

/* A block of the disk that reads as zeros. */
static void zeroed_sectors_lose_what_was_in_them(void **state) {
  (void)state;
  const char *path = fixture_path();
  static const char zeros[512];
  struct image image = take_image(path, MANY_EVENTS, true);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  for (size_t place = 1024; place + sizeof zeros < image.count; place += image.count / 50 / 512 * 512) {
    if (place % CHUNK_BYTES == 0 || !is_used(&image, place) || !is_used(&image, place + sizeof zeros))
      continue;
    assert_int_equal(pwrite(file, zeros, sizeof zeros, (off_t)place), sizeof zeros);
    size_t first = place, last = place + sizeof zeros - 1; /* that change */
    while (first < last && !image.bytes[first]) first++;
    while (last > first && !image.bytes[last]) last--;
    struct stretch lost = {stretch_at(&image, first).begin, stretch_at(&image, last).end};
    expect_all_but(&image, path, lost, lost, true);
    assert_int_equal(pwrite(file, image.bytes + place, sizeof zeros, (off_t)place), sizeof zeros);
  }
  close(file);
  drop_image(&image, path);
}

/* Not even the first header: the run tells what it would. */
static void a_trace_without_any_whole_chunk_is_read(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, MANY_EVENTS, true);
  const size_t header_byte = 20, place = CHUNK_BYTES + CHUNK_BYTES / 2, end = 2 * CHUNK_BYTES;
  assert_true(image.count > end);
  image.bytes[header_byte] ^= 1;
  image.bytes[place] ^= 1;
  fixture_write_file(path, image.bytes, end);
  image.bytes[place] ^= 1; /* so that its segment is found below */
  expect_all_but(&image, path, stretch_at(&image, place), (struct stretch){end, SIZE_MAX}, true);
  drop_image(&image, path);
}

/* Two damaged places in one chunk: what lies between them is read too. */
static void segments_between_damaged_ones_are_read(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, FEW_EVENTS, true);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  for (size_t one = 100; one < image.count; one += 97)
    for (size_t other = one + 1; other < image.count; other += 211) {
      unsigned char changed[2] = {image.bytes[one] ^ 8, image.bytes[other] ^ 64};
      assert_int_equal(pwrite(file, &changed[0], 1, (off_t)one), 1);
      assert_int_equal(pwrite(file, &changed[1], 1, (off_t)other), 1);
      expect_all_but(&image, path, stretch_at(&image, one), stretch_at(&image, other), true);
      assert_int_equal(pwrite(file, image.bytes + one, 1, (off_t)one), 1);
      assert_int_equal(pwrite(file, image.bytes + other, 1, (off_t)other), 1);
    }
  close(file);
  drop_image(&image, path);
}

/* Changes bytes of records at random. */
static void spoil(unsigned char *bytes, size_t count, struct random *random) {
  size_t changes = 1 + random_bits(random) % 8;
  for (size_t i = 0; i < changes; i++)
    bytes[random_bits(random) % count] = (unsigned char)random_bits(random);
}

static void a_hostile_chunk_with_a_right_checksum_does_no_harm(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, MANY_EVENTS, true);
  struct random random;
  random_seed(&random, 23, 0, 0);
  unsigned char *copy = malloc(image.count);
  for (int i = 0; i < PLACES / 10; i++) {
    memcpy(copy, image.bytes, image.count);
    struct chunk_header *header = (struct chunk_header *)copy;
    uint32_t used = (uint32_t)header->commit;
    spoil(copy + CHUNK_HEADER_BYTES, used, &random);
    header->commit = commit_word(used, crc32c(chunk_header_crc(header), header + 1, used));
    fixture_write_file(path, copy, image.count);
    struct trace_damage damage;
    int others = 0;
    for (int event = 0; event < image.events; event++) others += image.begins[event] >= CHUNK_BYTES;
    uint64_t events = count_events(path, &damage);
    assert_true(events >= (uint64_t)others && events != UINT64_MAX);
  }
  free(copy);
  drop_image(&image, path);
}

/* Puts the right checksum into each checkpoint of a chunk whose records were changed. */
static void mend_segments(const unsigned char *original, unsigned char *bytes, size_t count) {
  size_t work = count;
  struct segment segment = {.end = CHUNK_HEADER_BYTES};
  while (segment_find(original, count, segment.end, &work, &segment)) {
    uint32_t crc;
    size_t at = segment.end - sizeof crc;
    crc = crc32c(segment.checkpoint.crc, bytes + segment.begin, at - segment.begin);
    memcpy(bytes + at, &crc, sizeof crc);
  }
}

static void hostile_segments_with_right_checksums_do_no_harm(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, FEW_EVENTS, true);
  struct random random;
  random_seed(&random, 37, 0, 0);
  unsigned char *copy = malloc(image.count);
  for (int i = 0; i < PLACES; i++) {
    memcpy(copy, image.bytes, image.count);
    spoil(copy + CHUNK_HEADER_BYTES, image.count - CHUNK_HEADER_BYTES, &random);
    mend_segments(image.bytes, copy, image.count);
    copy[random_bits(&random) % CHUNK_HEADER_BYTES] ^= 1;
    fixture_write_file(path, copy, image.count);
    count_events(path, NULL);
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
  struct byte_sink sink = {.at = chunk + count, .end = chunk + sizeof chunk};
  put_byte(&sink, 100 | 128); /* a kind of the future */
  put_varint(&sink, 5);
  put_bytes(&sink, "\377\377\377\377\377", 5);
  put_byte(&sink, TRACE_RECORD_MEMORY | 128); /* a known kind with a field of the future */
  put_varint(&sink, 13);
  put_bytes(&sink, "\2\5\6\7\1\3\1\11\12\1\2\377\377", 13);
  put_byte(&sink, TRACE_RECORD_FREE);
  put_varint(&sink, 0);
  put_varint(&sink, 0);
  uint32_t used = (uint32_t)(sink.at - chunk) - CHUNK_HEADER_BYTES;
  header->commit = commit_word(used, crc32c(chunk_header_crc(header), header + 1, used));
  fixture_write_file(path, chunk, CHUNK_HEADER_BYTES + used);
  struct trace_damage damage;
  assert_int_equal(count_events(path, &damage), 3);
  assert_int_equal(damage.records_unknown, 1);
  assert_int_equal(damage.chunks_damaged, 0);
  unlink(path);
}

/* Before the first checkpoint nothing can be checked, but which trace it was is said as soon as it
 * stands there. Behind it, that is known. */
static void a_trace_cut_in_its_first_segment_says_which_it_was(void **state) {
  (void)state;
  const char *path = fixture_path(),
             *known = "of program --option an argument (process 4242, begun 2023-11-1";
  struct image image = take_image(path, FEW_EVENTS, true);
  size_t first = 0, checkpoint = stretch_at(&image, CHUNK_HEADER_BYTES).end;
  assert_true(checkpoint < 300);
  for (size_t cut = sizeof chunk_magic; cut < checkpoint; cut++) {
    char after[64];
    snprintf(after, sizeof after, "cut off after %zu bytes", cut);
    fixture_write_file(path, image.bytes, cut);
    fixture_expect_refusal(path, WN_EFORMAT, after);
    if (!first && strstr(wn_last_error(), known)) first = cut;
    if (first) fixture_expect_refusal(path, WN_EFORMAT, known);
  }
  assert_in_range(first, CHUNK_HEADER_BYTES + 50, CHUNK_HEADER_BYTES + 150);
  fixture_write_file(path, image.bytes, checkpoint);
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  assert_int_equal(trace_reader_run(reader)->pid, 4242);
  trace_reader_close(reader);
  image.bytes[checkpoint - 1] ^= 1;
  fixture_write_file(path, image.bytes, checkpoint);
  fixture_expect_refusal(path, WN_EFORMAT, "cut off after");
  memset(image.bytes + CHUNK_HEADER_BYTES - 8, 0, image.count - CHUNK_HEADER_BYTES + 8);
  fixture_write_file(path, image.bytes, image.count);
  fixture_expect_refusal(path, WN_EFORMAT, "ended before its first record");
  drop_image(&image, path);
}

/* The rate of sampling is said by each header, and by the run. */
static void a_trace_whose_rate_is_lost_is_refused(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, FEW_EVENTS, true);
  image.bytes[offsetof(struct chunk_header, rate) + 7] ^= 1;
  fixture_write_file(path, image.bytes, image.count);
  struct trace_reader *reader;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK); /* by the run */
  assert_true(trace_reader_run(reader)->rate == fixture_run().rate);
  trace_reader_close(reader);
  image.bytes[CHUNK_HEADER_BYTES + 9] ^= 1;
  fixture_write_file(path, image.bytes, image.count);
  fixture_expect_refusal(path, WN_EFORMAT, "is a damaged Winnow trace");
  image.bytes[offsetof(struct chunk_header, rate) + 7] ^= 1;
  fixture_write_file(path, image.bytes, image.count);
  assert_int_equal(trace_reader_open(path, &reader), WN_OK); /* by the header */
  assert_true(trace_reader_run(reader)->rate == fixture_run().rate);
  trace_reader_close(reader);
  drop_image(&image, path);
}

/* Whatever stands there in place of the first records, the refusal survives it. */
static void odd_remains_do_no_harm(void **state) {
  (void)state;
  const char *path = fixture_path();
  static unsigned char bytes[CHUNK_BYTES], odd[300];
  struct random random;
  random_seed(&random, 29, 0, 0);
  int read = 0;
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
    fixture_write_file(path, odd, 200 + random_bits(&random) % 100);
    if (trace_reader_open(path, &reader)) {
      assert_true(strlen(wn_last_error()) < 256);
    } else { /* the first segment was spared */
      trace_reader_close(reader);
      read++;
    }
  }
  assert_in_range(read, 1, 1000);
  unlink(path);
}

static void a_newer_version_is_refused_by_its_number(void **state) {
  (void)state;
  const char *path = fixture_path();
  struct image image = take_image(path, 1, true);
  struct chunk_header *header = (struct chunk_header *)image.bytes;
  header->version = 2;
  memset(header + 1, 100, image.count - sizeof *header); /* records of the future */
  uint32_t used = (uint32_t)header->commit;
  header->commit = commit_word(used, crc32c(chunk_header_crc(header), header + 1, used));
  fixture_write_file(path, image.bytes, image.count);
  fixture_expect_refusal(path, WN_EFORMAT,
                         "newer version 2 of the format, this winnow reads up to 1; update winnow");
  drop_image(&image, path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_changed_byte_of_a_small_trace_loses_its_segment_only),
      cmocka_unit_test(any_changed_byte_of_a_large_trace_loses_its_segment_only),
      cmocka_unit_test(a_small_trace_cut_anywhere_keeps_what_is_before_the_cut),
      cmocka_unit_test(a_large_trace_cut_anywhere_keeps_what_is_before_the_cut),
      cmocka_unit_test(a_byte_that_is_missing_loses_its_segment_only),
      cmocka_unit_test(zeroed_sectors_lose_what_was_in_them),
      cmocka_unit_test(segments_between_damaged_ones_are_read),
      cmocka_unit_test(a_trace_without_any_whole_chunk_is_read),
      cmocka_unit_test(hostile_segments_with_right_checksums_do_no_harm),
      cmocka_unit_test(a_hostile_chunk_with_a_right_checksum_does_no_harm),
      cmocka_unit_test(records_of_unknown_kinds_are_skipped_by_their_length),
      cmocka_unit_test(a_trace_cut_in_its_first_segment_says_which_it_was),
      cmocka_unit_test(a_trace_whose_rate_is_lost_is_refused),
      cmocka_unit_test(odd_remains_do_no_harm),
      cmocka_unit_test(a_newer_version_is_refused_by_its_number),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
