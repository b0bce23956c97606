/* Counting by /proc/self/pagemap. The file says of a mapped file which pages this process uses;
 * mincore would count the pages that are in the page cache. A page that was swapped out is not
 * resident.
 *
 * A scan (Linux 6.7) returns stretches of pages and passes over page tables that do not exist, so
 * its time is proportional to the resident size. Without scans the function reads a word for each
 * page of the range.
 *
 * The buffers are small, since a signal handler with a small stack of its own may map memory.
 */
#include "preload/pagemap.h"

#include "base/kept_file.h"
#include "base/os.h"
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STRETCHES = 24, WORDS = 64 };

/* Bits of a word of the file. */
#define WORD_PRESENT ((uint64_t)1 << 63)
#define WORD_FILE    ((uint64_t)1 << 61)

/* The kernel's interface to a scan; an old <linux/fs.h> does not declare it. */
struct stretch {
  uint64_t begin, end, categories;
};
struct scan {
  uint64_t size, flags, begin, end, walked, stretches, stretches_most, pages_most;
  uint64_t inverted, wanted, any_of, told;
};
#define SCAN         _IOWR('f', 16, struct scan)
#define SCAN_FILE    ((uint64_t)1 << 2)
#define SCAN_PRESENT ((uint64_t)1 << 3)
#define SCAN_ZERO    ((uint64_t)1 << 5) /* the kernel's page of zeros, which counts as no process's */

_Atomic(bool) pagemap_can_scan = true;

static struct kept_file file = {.path = "/proc/self/pagemap", .descriptor = -1};

static bool count_by_scan(int pagemap, uintptr_t begin, uintptr_t end, struct resident_bytes *resident) {
  struct stretch found[STRETCHES];
  struct scan scan = {.size = sizeof scan,
                      .end = end,
                      .stretches = (uintptr_t)found,
                      .stretches_most = STRETCHES,
                      .inverted = SCAN_ZERO,
                      .wanted = SCAN_PRESENT | SCAN_ZERO,
                      .told = SCAN_FILE};
  for (scan.begin = begin; scan.begin < end; scan.begin = scan.walked) {
    int count = ioctl(pagemap, SCAN, &scan);
    if (count < 0 && errno == EINTR) {
      scan.walked = scan.begin;
      continue;
    }
    if (count < 0 || scan.walked <= scan.begin) return false;
    for (int i = 0; i < count; i++) {
      uint64_t bytes = found[i].end - found[i].begin;
      resident->all += bytes;
      if (found[i].categories & SCAN_FILE) resident->files += bytes;
    }
  }
  return true;
}

static bool count_by_reading(int pagemap, uintptr_t begin, uintptr_t end, size_t *budget,
                             struct resident_bytes *resident) {
  uint64_t word[WORDS];
  uintptr_t size = os_page_bytes();
  size_t first = begin / size, behind = end / size, most = *budget / 2;
  bool fits = behind - first <= most;
  if (!fits) behind = first + most;
  *budget -= behind - first;
  while (first < behind) {
    size_t wanted = behind - first < WORDS ? behind - first : WORDS;
    long got = syscall(SYS_pread64, pagemap, word, wanted * sizeof *word, first * sizeof *word);
    if (got < (long)sizeof *word) return false;
    size_t pages = (size_t)got / sizeof *word;
    for (size_t i = 0; i < pages; i++) {
      if (!(word[i] & WORD_PRESENT)) continue;
      resident->all += size;
      if (word[i] & WORD_FILE) resident->files += size;
    }
    first += pages;
  }
  return fits;
}

/* ---- shared ---- */

void pagemap_open(void) { kept_file_open(&file, file.path); }
void pagemap_close(void) { kept_file_close(&file); }
int pagemap_take(void) { return kept_file_take(&file); }
void pagemap_give_back(int pagemap) { kept_file_give_back(&file, pagemap); }

bool pagemap_count(int pagemap, uintptr_t begin, uintptr_t end, size_t *budget,
                   struct resident_bytes *resident) {
  *resident = (struct resident_bytes){0, 0};
  if (atomic_load_explicit(&pagemap_can_scan, memory_order_relaxed)) {
    if (count_by_scan(pagemap, begin, end, resident)) return true;
    if (errno != ENOTTY && errno != EINVAL && errno != EPERM && errno != ENOSYS) return false;
    atomic_store_explicit(&pagemap_can_scan, false, memory_order_relaxed);
    *resident = (struct resident_bytes){0, 0};
  }
  return count_by_reading(pagemap, begin, end, budget, resident);
}

size_t pagemap_private(uintptr_t begin, uintptr_t end) {
  struct resident_bytes resident;
  size_t budget = SIZE_MAX;
  int pagemap = pagemap_take();
  bool known = pagemap >= 0 && pagemap_count(pagemap, begin, end, &budget, &resident);
  if (pagemap >= 0) pagemap_give_back(pagemap);
  return known ? resident.all - resident.files : end - begin;
}
/* SPDX-License-Identifier: MIT */
