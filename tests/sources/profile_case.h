/* Profiles of other tools for tests: texts, and messages field by field, as files that are read
 * back. */
#ifndef TESTS_SOURCES_PROFILE_CASE_H
#define TESTS_SOURCES_PROFILE_CASE_H

#include "support/test.h"

#include "sources/files/open.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes that grow. */
struct bytes {
  unsigned char *at;
  size_t count, capacity;
};

static inline void put_bytes(struct bytes *bytes, const void *from, size_t count) {
  if (bytes->count + count > bytes->capacity) {
    bytes->capacity = 2 * (bytes->count + count);
    assert_non_null(bytes->at = realloc(bytes->at, bytes->capacity));
  }
  if (count) memcpy(bytes->at + bytes->count, from, count);
  bytes->count += count;
}

static inline void put_text(struct bytes *bytes, const char *text) { put_bytes(bytes, text, strlen(text)); }

static inline void put_varint(struct bytes *bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) put_bytes(bytes, &(unsigned char){(unsigned char)(value | 0x80)}, 1);
  put_bytes(bytes, &(unsigned char){(unsigned char)value}, 1);
}

static inline void put_number(struct bytes *bytes, unsigned field, uint64_t value) {
  put_varint(bytes, field << 3);
  put_varint(bytes, value);
}

static inline void put_field(struct bytes *bytes, unsigned field, const void *from, size_t count) {
  put_varint(bytes, field << 3 | 2);
  put_varint(bytes, count);
  put_bytes(bytes, from, count);
}

/* Puts a message, whose bytes are freed. */
static inline void put_message(struct bytes *bytes, unsigned field, struct bytes *message) {
  put_field(bytes, field, message->at, message->count);
  free(message->at);
  *message = (struct bytes){.at = NULL};
}

/* The path of a file with these bytes, until the next call. */
static inline const char *profile_file(const void *bytes, size_t count) {
  static int descriptor = -1;
  static char path[64];
  if (descriptor < 0) descriptor = memfd_create("profile", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  assert_int_equal(ftruncate(descriptor, 0), 0);
  assert_int_equal(pwrite(descriptor, bytes, count, 0), (ssize_t)count);
  return path;
}

static inline struct source *open_bytes(const struct bytes *bytes) {
  struct source *source;
  if (source_open(profile_file(bytes->at, bytes->count), &source)) fail_msg("%s", wn_last_error());
  return source;
}

/* What a source's events add up to, by the time at which a total begins: 0, 1, 2. Fails if the source
 * contradicts itself. */
struct read_totals {
  uint64_t bytes[3], blocks[3];
};

static inline void check_nodes(const struct source *source) {
  struct trace_place place;
  for (uint32_t i = 1; i <= source_stack_count(source); i++) {
    struct trace_node node = source_stack(source, i);
    assert_true(node.parent < i && node.module <= source_module_count(source));
    if (node.module && trace_is_language(source_module(source, node.module)))
      assert_true(source_place(source, node.module, node.offset, &place));
  }
}

static inline struct read_totals read_totals(struct source *source) {
  struct read_totals totals = {{0}, {0}};
  struct trace_event event;
  while (source_next(source, &event)) {
    if (event.kind != TRACE_SAMPLE) continue;
    const struct trace_sample *sample = &event.sample;
    assert_true(sample->time_ns < 3 && sample->words && !(sample->words & (sample->words - 1)));
    assert_true(sample->stack <= source_stack_count(source));
    assert_int_equal(sample->held_only, sample->time_ns != 0);
    totals.bytes[sample->time_ns] += sample->size * sample->words;
    totals.blocks[sample->time_ns] += sample->words;
  }
  check_nodes(source);
  return totals;
}

/* Fails unless the file is refused in one line that has the text. */
static inline void refuses(const struct bytes *bytes, const char *text) {
  struct source *source;
  const char *path = profile_file(bytes->at, bytes->count);
  wn_status error = source_open(path, &source);
  if (!error) fail_msg("it was read, and not refused with '%s'", text);
  if (!strstr(wn_last_error(), text) || strchr(wn_last_error(), '\n'))
    fail_msg("no '%s' in: %s", text, wn_last_error());
}

#endif
/* SPDX-License-Identifier: MIT */
