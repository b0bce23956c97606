/* Heap profiles for pprof: their sums are read without the loss of a byte, frames have names, and
 * whatever the bytes are, reading ends and takes little memory. */
#include "sources/profile_case.h"

#include <sys/resource.h>
#include <zlib.h>

enum { TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, TEXT, PERIOD = 12 };

static const char *const texts[] = {
    "",  "alloc_objects", "count",     "alloc_space", "bytes",   "inuse_objects", "inuse_space", "f",
    "g", "f.c",           "/bin/prog", "space",       "objects", "cafe",          "./exe"};

static void put_type(struct bytes *bytes, unsigned field, uint64_t type, uint64_t unit) {
  struct bytes message = {.at = NULL};
  put_number(&message, 1, type);
  put_number(&message, 2, unit);
  put_message(bytes, field, &message);
}

static void put_texts(struct bytes *bytes) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    put_field(bytes, TEXT, texts[i], strlen(texts[i]));
}

/* Location 10 has f within g, both of the program; 11 is an address in it; 12 an address nowhere. */
static void put_code(struct bytes *bytes) {
  struct bytes message = {.at = NULL}, line = {.at = NULL};
  put_number(&message, 1, 3);
  put_number(&message, 2, 0x1000);
  put_number(&message, 3, 0x9000);
  put_number(&message, 5, 10);
  put_number(&message, 6, 13);
  put_message(bytes, MAPPING, &message);
  put_number(&message, 1, 10);
  put_number(&message, 2, 3);
  for (unsigned i = 0; i < 2; i++) {
    put_number(&line, 1, 20 + i);
    put_number(&line, 2, 5 + i);
    put_message(&message, 4, &line);
  }
  put_message(bytes, LOCATION, &message);
  for (unsigned i = 0; i < 2; i++) {
    put_number(&message, 1, 11 + i);
    if (!i) put_number(&message, 2, 3);
    put_number(&message, 3, 0x1234);
    put_message(bytes, LOCATION, &message);
    put_number(&message, 1, 20 + i);
    put_number(&message, 2, 7 + i);
    put_number(&message, 4, 9);
    put_message(bytes, FUNCTION, &message);
  }
}

static void put_sample(struct bytes *bytes, bool packed, const uint64_t *locations, size_t count,
                       const uint64_t values[4]) {
  struct bytes message = {.at = NULL}, list = {.at = NULL};
  for (size_t i = 0; i < count; i++)
    packed ? put_varint(&list, locations[i]) : put_number(&message, 1, locations[i]);
  if (packed) put_message(&message, 1, &list);
  for (size_t i = 0; i < 4; i++) packed ? put_varint(&list, values[i]) : put_number(&message, 2, values[i]);
  if (packed) put_message(&message, 2, &list);
  put_message(bytes, SAMPLE, &message);
}

/* A whole profile but for its samples' sums. */
static struct bytes make_head(uint64_t period) {
  struct bytes bytes = {.at = NULL};
  put_type(&bytes, TYPE, 1, 2);
  put_type(&bytes, TYPE, 3, 4);
  put_type(&bytes, TYPE, 5, 2);
  put_type(&bytes, TYPE, 6, 4);
  put_type(&bytes, 11, 11, 4);
  put_number(&bytes, PERIOD, period);
  return bytes;
}

static struct bytes compress_all(const struct bytes *bytes) {
  z_stream stream = {.next_in = bytes->at, .avail_in = (unsigned)bytes->count};
  assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  struct bytes out = {.capacity = deflateBound(&stream, bytes->count)};
  assert_non_null(out.at = malloc(out.capacity));
  stream.next_out = out.at;
  stream.avail_out = (unsigned)out.capacity;
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.count = out.capacity - stream.avail_out;
  deflateEnd(&stream);
  return out;
}

static struct bytes make_profile(bool packed, struct read_totals *sums) {
  static const uint64_t locations[][3] = {{10, 11, 12}, {12, 10, 10}, {11, 11, 11}};
  struct bytes bytes = make_head(1);
  *sums = (struct read_totals){{0}, {0}};
  for (uint64_t i = 0; i < 300; i++) {
    uint64_t values[] = {1 + i * 7, 13 + i * i * 131, i % 3, i % 3 ? 1000001 * i : 0};
    put_sample(&bytes, packed, locations[i % 3], i % 4, values);
    sums->blocks[0] += values[0];
    sums->bytes[0] += values[1];
    sums->blocks[2] += values[2];
    sums->bytes[2] += values[3];
  }
  put_code(&bytes);
  put_texts(&bytes);
  return bytes;
}

static void sums_are_those_of_the_file(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    struct read_totals sums;
    struct bytes plain = make_profile(kind & 1, &sums), packed = compress_all(&plain);
    struct source *source = open_bytes(kind & 2 ? &packed : &plain);
    struct read_totals read = read_totals(source);
    assert_memory_equal(&read, &sums, sizeof sums);
    assert_false(source_limits(source)->estimated);
    assert_string_equal(source_run(source)->command.bytes, "/bin/prog");
    source_close(source);
    free(plain.at);
    free(packed.at);
  }
}

static void frames_have_names(void **state) {
  (void)state;
  struct bytes bytes = make_head(524288);
  struct trace_place place;
  put_sample(&bytes, true, (uint64_t[]){12, 10, 11}, 3, (uint64_t[]){1, 8, 0, 0});
  put_code(&bytes);
  put_texts(&bytes);
  struct source *source = open_bytes(&bytes);
  assert_true(source_limits(source)->estimated);
  assert_int_equal(source_stack_count(source), 4);
  struct trace_node outer = source_stack(source, 1), g = source_stack(source, 2), f = source_stack(source, 3),
                    inner = source_stack(source, 4);
  assert_true(source_place(source, outer.module, outer.offset, &place)); /* the file cannot be read */
  assert_string_equal(place.function.bytes, "prog+0x234");
  assert_string_equal(source_module(source, outer.module)->path.bytes, "prog");
  assert_true(source_place(source, g.module, g.offset, &place));
  assert_string_equal(place.function.bytes, "g");
  assert_int_equal(place.line, 6);
  assert_true(source_place(source, f.module, f.offset, &place));
  assert_string_equal(place.function.bytes, "f");
  assert_string_equal(place.file.bytes, "f.c");
  assert_int_equal(inner.module, 0);
  assert_int_equal(inner.offset, 0x1235);
  source_close(source);
  free(bytes.at);
}

/* pprof writes lines of functions without a name for a program that it could read only in part. */
static void functions_without_a_name_have_their_address(void **state) {
  (void)state;
  struct bytes bytes = make_head(1), message = {.at = NULL}, line = {.at = NULL};
  struct trace_place place;
  put_sample(&bytes, true, (uint64_t[]){30, 10}, 2, (uint64_t[]){1, 8, 0, 0});
  put_code(&bytes);
  put_number(&line, 1, 31);
  put_number(&line, 2, 142);
  put_number(&message, 1, 30);
  put_number(&message, 2, 3);
  put_number(&message, 3, 0x1678);
  put_message(&message, 4, &line);
  put_message(&bytes, LOCATION, &message);
  put_number(&message, 1, 31);
  put_number(&message, 4, 9);
  put_message(&bytes, FUNCTION, &message);
  put_texts(&bytes);
  struct source *source = open_bytes(&bytes);
  struct trace_node f = source_stack(source, 2), inner = source_stack(source, 3);
  assert_int_equal(source_stack_count(source), 3);
  assert_true(source_place(source, f.module, f.offset, &place));
  assert_string_equal(place.function.bytes, "f");
  assert_true(source_place(source, inner.module, inner.offset, &place));
  assert_string_equal(place.function.bytes, "prog+0x678");
  source_close(source);
  free(bytes.at);
}

/* pprof writes the path of a program as it was given. */
static void relative_paths_are_those_of_the_folder(void **state) {
  (void)state;
  struct bytes bytes = make_head(1), message = {.at = NULL};
  char path[4096] = "";
  put_sample(&bytes, true, (uint64_t[]){30}, 1, (uint64_t[]){1, 8, 0, 0});
  put_number(&message, 1, 3);
  put_number(&message, 2, 0x10000);
  put_number(&message, 3, 0x20000);
  put_number(&message, 5, 14);
  put_message(&bytes, MAPPING, &message);
  put_number(&message, 1, 30);
  put_number(&message, 2, 3);
  put_number(&message, 3, 0x10123);
  put_message(&bytes, LOCATION, &message);
  put_texts(&bytes);
  assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  assert_int_equal(chdir("/proc/self"), 0); /* there exe is this program */
  struct source *source = open_bytes(&bytes);
  struct trace_node node = source_stack(source, 1);
  assert_string_equal(source_module(source, node.module)->path.bytes, path);
  assert_int_equal(node.offset, 0x124);
  source_close(source);
  free(bytes.at);
}

/* Values of other names, and none of blocks. */
static void other_types_are_read(void **state) {
  (void)state;
  struct bytes bytes = {.at = NULL}, message = {.at = NULL};
  put_type(&bytes, TYPE, 11, 4);
  put_number(&message, 2, 12345);
  put_message(&bytes, SAMPLE, &message);
  put_texts(&bytes);
  struct source *source = open_bytes(&bytes);
  const struct source_limits *limits = source_limits(source);
  assert_true(limits->no_blocks && limits->no_total && limits->no_peak && !limits->no_end &&
              limits->estimated);
  struct read_totals read = read_totals(source);
  assert_int_equal(read.bytes[2], 12345);
  source_close(source);
  bytes.count = 0;
  put_type(&bytes, TYPE, 7, 8);
  put_texts(&bytes);
  refuses(&bytes, "not of a heap");
  free(bytes.at);
}

enum fault { LOCATION_WRONG, FUNCTION_WRONG, TEXT_WRONG, NEGATIVE, HUGE_VALUE, VALUES_MISSING, FAULTS };

static struct bytes make_fault(enum fault fault) {
  struct bytes bytes = make_head(1), message = {.at = NULL}, line = {.at = NULL};
  uint64_t locations[] = {fault == LOCATION_WRONG ? 99 : fault == FUNCTION_WRONG ? 50 : 10};
  uint64_t values[] = {1, fault == NEGATIVE ? (uint64_t)-8 : fault == HUGE_VALUE ? 1ull << 53 : 8, 0, 0};
  put_sample(&bytes, true, locations, 1, values);
  if (fault == VALUES_MISSING) put_field(&bytes, SAMPLE, "", 0);
  put_number(&line, 1, 77);
  put_number(&message, 1, 50);
  put_message(&message, 4, &line);
  put_message(&bytes, LOCATION, &message);
  put_code(&bytes);
  if (fault != TEXT_WRONG) put_texts(&bytes);
  return bytes;
}

static void faults_are_told(void **state) {
  (void)state;
  static const char *const told[FAULTS] = {"a location that does not exist",
                                           "a function that does not exist",
                                           "a text has a number that does not exist",
                                           "a value is negative",
                                           "2^53",
                                           "not a value of each type"};
  for (int fault = 0; fault < FAULTS; fault++) {
    struct bytes bytes = make_fault((enum fault)fault), packed = compress_all(&bytes);
    refuses(&bytes, told[fault]);
    refuses(&packed, told[fault]);
    free(bytes.at);
    free(packed.at);
  }
  struct bytes other = {.at = NULL};
  put_text(&other, "no profile at all");
  struct bytes packed = compress_all(&other);
  refuses(&packed, "is compressed, but holds neither");
  packed.count = 12; /* behind the gzip header, before the end of the first block */
  refuses(&packed, "is a damaged compressed file: ");
  free(other.at);
  free(packed.at);
}

static void heap_profiles_as_text_are_told(void **state) {
  (void)state;
  static const char *const texts_and_words[][2] = {
      {"heap profile:      1:     1024 [     2:     2048] @ heapprofile\n",
       "is a heap profile as text, such as gperftools writes: convert it by 'go tool pprof -proto "},
      {"heap_v2/524288\n  t*: 1: 10 [0: 0]\n", "is a heap profile of jemalloc as text, which is not read"}};
  for (size_t i = 0; i < sizeof texts_and_words / sizeof *texts_and_words; i++) {
    struct bytes bytes = {.at = NULL};
    put_text(&bytes, texts_and_words[i][0]);
    refuses(&bytes, texts_and_words[i][1]);
    free(bytes.at);
  }
}

/* A prefix may be a whole message, with fewer samples; nothing else is read of it. */
static void files_that_are_cut_or_wrong_do_no_harm(void **state) {
  (void)state;
  struct read_totals sums;
  struct bytes bytes = make_profile(true, &sums), packed = compress_all(&bytes);
  struct source *source;
  for (size_t length = 20; length < packed.count; length++) {
    struct bytes cut = {packed.at, length, length};
    refuses(&cut, "compressed");
  }
  for (size_t i = 0; i < bytes.count; i += 3) {
    unsigned char was = bytes.at[i];
    bytes.at[i] = (unsigned char)(was * 7 + i);
    if (!source_open(profile_file(bytes.at, bytes.count), &source)) {
      read_totals(source);
      source_close(source);
    }
    bytes.at[i] = was;
  }
  free(bytes.at);
  free(packed.at);
}

/* Half a gigabyte of a field that no profile has, in half a megabyte, is skipped. */
static void bombs_take_little_memory(void **state) {
  (void)state;
  enum { FIELD = 15, BYTES = 1 << 29 };
  struct bytes bytes = make_head(1);
  put_code(&bytes);
  put_texts(&bytes);
  put_varint(&bytes, FIELD << 3 | 2);
  put_varint(&bytes, BYTES);
  z_stream stream = {.next_in = bytes.at, .avail_in = (unsigned)bytes.count};
  static unsigned char out[4 << 20], zeros[1 << 20];
  stream.next_out = out;
  stream.avail_out = sizeof out;
  assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  for (size_t left = BYTES; stream.avail_in || left;) {
    if (!stream.avail_in) stream.next_in = zeros, stream.avail_in = sizeof zeros, left -= sizeof zeros;
    if (deflate(&stream, left ? Z_NO_FLUSH : Z_FINISH) == Z_STREAM_END) break;
    assert_true(stream.avail_out > 0);
  }
  struct bytes bomb = {out, sizeof out - stream.avail_out, sizeof out};
  deflateEnd(&stream);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  struct source *source;
  wn_status error = source_open(profile_file(bomb.at, bomb.count), &source);
  getrusage(RUSAGE_SELF, &after);
  assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10);
  if (error) fail_msg("%s", wn_last_error());
  source_close(source);
  free(bytes.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_the_file),
      cmocka_unit_test(frames_have_names),
      cmocka_unit_test(functions_without_a_name_have_their_address),
      cmocka_unit_test(relative_paths_are_those_of_the_folder),
      cmocka_unit_test(other_types_are_read),
      cmocka_unit_test(faults_are_told),
      cmocka_unit_test(heap_profiles_as_text_are_told),
      cmocka_unit_test(files_that_are_cut_or_wrong_do_no_harm),
      cmocka_unit_test(bombs_take_little_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
