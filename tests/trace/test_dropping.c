/* Which chunks go when the file under a trace has reached its bound, and how much one call does for
 * that. */
#include "support/test.h"

#include "base/os.h"
#include "trace/chunk.h"
#include "trace/chunk_file.h"
#include "trace/event.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static uint64_t disk_bytes(void) {
  struct stat file;
  assert_int_equal(stat(path, &file), 0);
  return (uint64_t)file.st_blocks * 512;
}

static void without_holes_the_file_stops_growing(void **state) {
  (void)state;
  struct chunk_file file = {0};
  struct dropped_chunks dropped = {0};
  struct taken_chunk taken;
  uint64_t bound = 8 * CHUNK_BYTES, sequence = 0;
  assert_int_equal(chunk_file_open(&file, path, 0), WN_OK);
  assert_true(chunk_file_bind(&file, bound));
  file.bound.can_punch = false;
  for (; chunk_file_take(&file, false, &taken, &dropped); sequence++)
    disk_bound_note_sealed(&file.bound, taken.sequence);
  assert_in_range(sequence, TINY ? 5 : 7, 8); /* the file system may need some space of its own */
  assert_int_equal(file.cause, TRACE_CAUSE_BOUND);
  assert_int_equal(dropped.count, 0);
  assert_true(disk_bytes() <= bound);
  chunk_file_close(&file);
  chunk_file_free(&file);
  unlink(path);
}

/* A bit alone proves nothing: a chunk without a seal stays. */
static void a_chunk_without_a_seal_stays(void **state) {
  (void)state;
  struct chunk_file file = {0};
  struct dropped_chunks dropped = {0};
  struct taken_chunk taken;
  assert_int_equal(chunk_file_open(&file, path, 0), WN_OK);
  assert_true(chunk_file_bind(&file, 5 * CHUNK_BYTES));
  while (chunk_file_take(&file, false, &taken, &dropped)) {
    struct chunk_header *chunk = chunk_file_map(&file, taken.sequence);
    chunk_begin(chunk, &(struct chunk_header){.sequence = taken.sequence, .rate = 1});
    munmap(chunk, CHUNK_BYTES);
    disk_bound_note_sealed(&file.bound, taken.sequence);
  }
  assert_in_range(taken.sequence, 2, 4);
  assert_true(disk_bytes() >= (taken.sequence + 1) * CHUNK_BYTES);
  chunk_file_close(&file);
  chunk_file_free(&file);
  unlink(path);
}

enum { HOLES = 5000, CALL_MOST = 256, WITH_ROOM = 2 };

static uint64_t bits_of(const struct disk_bound *bound) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < bound->window / 64; i++)
    count += (uint64_t)__builtin_popcountll(atomic_load(&bound->sealed[i]));
  return count;
}

/* All chunks are holes. No call looks at many of them, and at last their bits are gone. */
static void one_call_looks_at_few_chunks(void **state) {
  (void)state;
  struct disk_bound bound;
  struct dropped_chunks dropped = {0};
  struct stat file;
  _Atomic(uint64_t) next = HOLES + 1;
  uint64_t most = (uint64_t)1000 * CHUNK_BYTES, left, before = HOLES;
  int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert_true(descriptor >= 0 && !fstat(descriptor, &file));
  assert_true(disk_bound_create(&bound, most, &next, file.st_dev, file.st_ino));
  for (uint64_t i = 1; i <= HOLES; i++) disk_bound_note_sealed(&bound, i);
  for (int i = 0; i < 10; i++, before = left) {
    assert_true(disk_bound_make_room(&bound, descriptor, CHUNK_BYTES, &dropped));
    left = bits_of(&bound);
    assert_in_range(before - left, 1, WITH_ROOM);
  }
  for (; before; before = left) {
    assert_false(disk_bound_make_room(&bound, descriptor, most, &dropped));
    left = bits_of(&bound);
    assert_in_range(before - left, 1, CALL_MOST);
  }
  assert_int_equal(dropped.count, 0);
  disk_bound_destroy(&bound);
  close(descriptor);
  unlink(path);
}

static void seal(struct chunk_file *file, uint64_t sequence) {
  unsigned char *chunk = chunk_file_map(file, sequence);
  assert_non_null(chunk);
  struct chunk_header *header = (struct chunk_header *)chunk;
  uint32_t crc = chunk_begin(header, &(struct chunk_header){.sequence = sequence, .rate = 1});
  memset(chunk + CHUNK_HEADER_BYTES, TRACE_RECORD_THREAD, 2);
  chunk_seal_put(chunk + CHUNK_HEADER_BYTES + 2, sequence);
  header->commit = commit_word(2 + SEAL_BYTES, crc);
  munmap(chunk, CHUNK_BYTES);
  disk_bound_note_sealed(&file->bound, sequence);
}

/* A chunk that is sealed after younger ones were dropped is the next to go. */
static void a_chunk_that_is_sealed_late_is_dropped(void **state) {
  (void)state;
  enum { LATE = 2, MOST = 40 };
  struct chunk_file file = {0};
  struct dropped_chunks dropped = {0};
  struct taken_chunk taken;
  assert_int_equal(chunk_file_open(&file, path, 0), WN_OK);
  assert_true(chunk_file_bind(&file, 12 * CHUNK_BYTES));
  for (int i = 0; i < MOST; i++) {
    assert_true(chunk_file_take(&file, false, &taken, &dropped));
    if (taken.sequence != LATE) seal(&file, taken.sequence);
    if (i == MOST / 2) {
      for (unsigned k = 0; k < dropped.count; k++) assert_int_not_equal(dropped.of[k].sequence, LATE);
      assert_true(dropped.count > 3);
      dropped.count = 0;
      seal(&file, LATE);
    }
  }
  assert_int_equal(dropped.of[0].sequence, LATE);
  assert_true(dropped.of[1].sequence > LATE + 3);
  chunk_file_close(&file);
  chunk_file_free(&file);
  unlink(path);
}

/* The ring of a bound, on a page that its next reader faults at: the handler does then what other
 * threads do at that instant. */
static struct {
  struct chunk_file file;
  void *page;
  unsigned faults;
} delayed;

static struct dropped_chunks dropped_by_others;

/* Others drop all chunks that the reader of the ring knows of, and take and seal more. */
static void others_go_on(int signal) {
  (void)signal;
  if (delayed.faults++) abort();
  mprotect(delayed.page, os_page_bytes(), PROT_READ | PROT_WRITE);
  struct taken_chunk taken;
  for (uint64_t last = delayed.file.next; dropped_by_others.count < last - 1;) {
    if (!chunk_file_take(&delayed.file, false, &taken, &dropped_by_others)) abort();
    seal(&delayed.file, taken.sequence);
  }
}

/* A thread that is delayed while it looks for the oldest chunk finds those that were taken meanwhile. */
static void chunks_that_are_taken_during_a_search_are_found(void **state) {
  (void)state;
  enum { MOST = 12 };
  struct dropped_chunks dropped = {0};
  struct taken_chunk taken;
  struct sigaction action = {.sa_handler = others_go_on}, before;
  assert_int_equal(chunk_file_open(&delayed.file, path, 0), WN_OK);
  assert_true(chunk_file_bind(&delayed.file, MOST * CHUNK_BYTES));
  struct disk_bound *bound = &delayed.file.bound;
  void *ring = (void *)bound->sealed;
  size_t page = os_page_bytes();
  delayed.page = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(delayed.page != MAP_FAILED && bound->window / 8 <= page);
  bound->sealed = delayed.page;
  while (!dropped.count) {
    assert_true(chunk_file_take(&delayed.file, false, &taken, &dropped));
    seal(&delayed.file, taken.sequence);
  }
  sigaction(SIGSEGV, &action, &before);
  mprotect(delayed.page, page, PROT_NONE);
  assert_true(chunk_file_take(&delayed.file, false, &taken, &dropped));
  sigaction(SIGSEGV, &before, NULL);
  assert_int_equal(delayed.faults, 1);
  bound->sealed = ring;
  munmap(delayed.page, page);
  chunk_file_close(&delayed.file);
  chunk_file_free(&delayed.file);
  unlink(path);
}

int main(void) {
  snprintf(path, sizeof path, "test_dropping.%d", (int)getpid());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_holes_the_file_stops_growing),
      cmocka_unit_test(a_chunk_without_a_seal_stays),
      cmocka_unit_test(one_call_looks_at_few_chunks),
      cmocka_unit_test(a_chunk_that_is_sealed_late_is_dropped),
      one_thread_test(chunks_that_are_taken_during_a_search_are_found),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
