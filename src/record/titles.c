/* Reads a process's title and name, and writes their changes. */
#include "record/titles.h"

#include "base/hash.h"
#include "base/os.h"
#include <string.h>
#include <sys/prctl.h>

#define TITLE_FIRST    ((uint64_t)10 * 1000 * 1000)
#define TITLE_INTERVAL ((uint64_t)1000 * 1000 * 1000)

enum { TITLE_MOST = 256, NAME_MOST = 32 };

static uint64_t packed(struct title_state state) { return (uint64_t)state.title << 32 | state.name; }

/* The length of a title, which is where the first argument was. Arguments behind it do not count:
 * programs that parse them in place change them, too. */
static uint32_t title_bytes(const char *bytes, uint32_t length) {
  return (uint32_t)strnlen(bytes, length < TITLE_MOST ? length : TITLE_MOST - 1);
}

static uint32_t sum_of(const char *bytes, uint32_t length) { return crc32c(0, bytes, length); }

/* Reads a file of one line; the line's end does not count. */
static uint32_t titles_read_line(const char *path, char *text, size_t capacity) {
  long length = os_read_file(path, text, capacity);
  if (length > 0 && text[length - 1] == '\n') length--;
  return length > 0 ? (uint32_t)length : 0;
}

/* ---- shared ---- */

void titles_begin(struct titles *titles, const struct trace_run *run) {
  char name[17] = {0};
  prctl(PR_GET_NAME, name);
  titles->called =
      (struct title_state){sum_of(run->command.bytes, title_bytes(run->command.bytes, run->command.length)),
                           sum_of(name, (uint32_t)strlen(name))};
  atomic_store_explicit(&titles->told, packed(titles->called), memory_order_relaxed);
  atomic_store_explicit(&titles->due, TITLE_FIRST, memory_order_relaxed);
}

void titles_write_if_new(struct titles *titles, struct trace_writer *writer, uint64_t time, uint32_t thread) {
  char title[TITLE_MOST], name[NAME_MOST];
  uint32_t title_length = title_bytes(title, titles_read_line("/proc/self/cmdline", title, sizeof title));
  uint32_t name_length = titles_read_line("/proc/self/comm", name, sizeof name);
  struct title_state now_called = {sum_of(title, title_length), sum_of(name, name_length)};
  uint64_t told = atomic_load_explicit(&titles->told, memory_order_relaxed);
  if (!title_length || !name_length || packed(now_called) == told ||
      !atomic_compare_exchange_strong_explicit(&titles->told, &told, packed(now_called), memory_order_relaxed,
                                               memory_order_relaxed))
    return;
  bool same_title = now_called.title == titles->called.title,
       same_name = now_called.name == titles->called.name;
  struct trace_title event = {.time_ns = time,
                              .thread = thread,
                              .title = {title, same_title ? 0 : title_length},
                              .name = {name, same_name ? 0 : name_length}};
  trace_write_title(writer, &event);
}

void titles_write_if_due(struct titles *titles, struct trace_writer *writer, uint64_t time, uint32_t thread) {
  uint64_t due = atomic_load_explicit(&titles->due, memory_order_relaxed);
  uint64_t next = time + (time < TITLE_INTERVAL ? time : TITLE_INTERVAL);
  if (time >= due && atomic_compare_exchange_strong_explicit(&titles->due, &due, next, memory_order_relaxed,
                                                             memory_order_relaxed))
    titles_write_if_new(titles, writer, time, thread);
}

void titles_forget(struct titles *titles) {
  atomic_store_explicit(&titles->told, packed(titles->called), memory_order_relaxed);
  atomic_store_explicit(&titles->due, 0, memory_order_relaxed);
}
/* SPDX-License-Identifier: MIT */
