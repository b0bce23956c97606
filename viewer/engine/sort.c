/* qsort and qsort_r for the engine, by merging from the bottom up: wasi-libc has no qsort_r, and its
 * qsort is several times slower. Stable, which callers do not rely on. Without memory for a copy of
 * the array it traps, as any call would that needs more memory than a page can have. */
#include <stdlib.h>
#include <string.h>

typedef int comparison(const void *a, const void *b, void *context);

/* Merges two sorted neighbours, [begin, middle) and [middle, end), to `out`. */
static void merge(const char *begin, const char *middle, const char *end, char *out, size_t size,
                  comparison *compare, void *context) {
  const char *left = begin, *right = middle;
  while (left < middle && right < end) {
    const char **smaller = compare(left, right, context) <= 0 ? &left : &right;
    memcpy(out, *smaller, size);
    *smaller += size;
    out += size;
  }
  memcpy(out, left, (size_t)(middle - left));
  memcpy(out + (middle - left), right, (size_t)(end - right));
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void qsort_r(void *items, size_t count, size_t size, comparison *compare, void *context) {
  char *from = items, *copy = malloc(count * size + 1), *to = copy;
  if (!copy) __builtin_trap();
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t i = 0; i < count; i += 2 * width) {
      size_t middle = least(i + width, count), end = least(i + 2 * width, count);
      merge(from + i * size, from + middle * size, from + end * size, to + i * size, size, compare, context);
    }
    char *swapped = from;
    from = to;
    to = swapped;
  }
  if (from != items) memcpy(items, from, count * size);
  free(copy);
}

struct plain {
  int (*compare)(const void *a, const void *b);
};

static int compare_plain(const void *a, const void *b, void *context) {
  return ((struct plain *)context)->compare(a, b);
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b)) {
  qsort_r(items, count, size, compare_plain, &(struct plain){compare});
}
/* SPDX-License-Identifier: MIT */
