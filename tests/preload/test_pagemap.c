/* Counting resident pages: what the kernel tells in either way is what was touched. */
#include "support/test.h"

#include "base/os.h"
#include "preload/pagemap.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 4000 };

static char *mapped(int flags) {
  char *block = mmap(NULL, PAGES * os_page_bytes(), PROT_READ | PROT_WRITE,
                     flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(block != MAP_FAILED);
  madvise(block, PAGES * os_page_bytes(), MADV_NOHUGEPAGE);
  return block;
}

static struct resident_bytes counted(char *block, size_t pages) {
  struct resident_bytes resident;
  size_t budget = 1 << 20;
  int pagemap = pagemap_take();
  if (pagemap < 0) skip();
  assert_true(pagemap_count(pagemap, (uintptr_t)block, (uintptr_t)block + pages * os_page_bytes(), &budget,
                            &resident));
  pagemap_give_back(pagemap);
  return resident;
}

static void every_third_page_is_found(void) {
  char *own = mapped(MAP_PRIVATE), *shared = mapped(MAP_SHARED);
  size_t page = os_page_bytes(), touched = 0;
  for (size_t i = 0; i < PAGES; i += 3, touched++) own[i * page] = shared[i * page] = 1;
  struct resident_bytes found = counted(own, PAGES);
  assert_true(found.all == touched * page && !found.files);
  found = counted(shared, PAGES);
  assert_true(found.all == touched * page && found.files == found.all);
  found = counted(own + page, 3);
  assert_true(found.all == page); /* no more than the range */
  munmap(own, PAGES * page);
  munmap(shared, PAGES * page);
}

static void both_ways_find_what_was_touched(void **state) {
  (void)state;
  pagemap_open();
  every_third_page_is_found();
  pagemap_can_scan = false;
  every_third_page_is_found();
  pagemap_can_scan = true;
}

static void a_range_takes_half_of_the_budget_at_most(void **state) {
  (void)state;
  char *block = mapped(MAP_PRIVATE);
  struct resident_bytes found;
  size_t page = os_page_bytes(), budget = 100;
  int pagemap = pagemap_take();
  if (pagemap < 0) skip();
  memset(block, 1, PAGES * page);
  pagemap_can_scan = false;
  assert_false(pagemap_count(pagemap, (uintptr_t)block, (uintptr_t)block + PAGES * page, &budget, &found));
  assert_true(found.all == 50 * page && budget == 50);
  assert_true(pagemap_count(pagemap, (uintptr_t)block, (uintptr_t)block + 20 * page, &budget, &found));
  assert_true(found.all == 20 * page && budget == 30);
  pagemap_can_scan = true;
  pagemap_give_back(pagemap);
  munmap(block, PAGES * page);
}

/* The program may close the descriptor, and open a file of its own under its number. */
static void a_closed_descriptor_is_not_taken_for_ours(void **state) {
  (void)state;
  pagemap_open();
  int kept = pagemap_take();
  if (kept < 900) skip(); /* it could not be kept */
  pagemap_give_back(kept);
  assert_int_equal(pagemap_take(), kept);
  int own = open("/dev/zero", O_RDONLY);
  assert_int_equal(dup2(own, kept), kept);
  every_third_page_is_found();
  pagemap_close();
  assert_int_equal(fcntl(kept, F_GETFD), 0); /* the program's stays open */
  close(kept);
  close(own);
  every_third_page_is_found();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ways_find_what_was_touched),
      cmocka_unit_test(a_range_takes_half_of_the_budget_at_most),
      cmocka_unit_test(a_closed_descriptor_is_not_taken_for_ours),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
