/* What a collector could save the string map by moving blocks, if that were free: strmap_placed
 * UPDATES [EVERY].
 *
 * The program of strmap.c, with memory that is never freed. After each EVERY updates the clock
 * stops, and all of the map is copied: each node with its key beside it, the upper half of the
 * levels together, then each subtree below likewise, so that a path meets as few cache lines and
 * pages as it can, whatever their size. Source: M. Frigo, C. Leiserson, H. Prokop, S. Ramachandran,
 * "Cache-Oblivious Algorithms", 1999, after P. van Emde Boas. What was allocated in between is used
 * again, while the caches have it. The time without the copying is what no collector is likely to
 * beat. */
#define main strmap_main
#include "plain/strmap.c"
#undef main

#include <time.h>

enum { LEVELS = 64 };

static char *areas[2], *at;
static struct map ***links; /* to what lies below what was placed */
static size_t link_count;

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *put(const void *from, size_t bytes) {
  void *to = memcpy(at, from, bytes);
  at += (bytes + 15) & ~(size_t)15;
  return to;
}

static struct map *place_node(const struct map *map) {
  struct map *placed = put(map, sizeof *map);
  placed->key = put(map->key, strlen(map->key) + 1);
  return placed;
}

/* The upper `levels` levels of a map; adds the links below them. */
static void place(struct map **map, int levels) {
  if (!*map) return;
  if (levels == 1) {
    *map = place_node(*map);
    links[link_count++] = &(*map)->left;
    links[link_count++] = &(*map)->right;
    return;
  }
  size_t first = link_count;
  place(map, levels / 2);
  size_t count = link_count - first;
  struct map ***below = malloc(count * sizeof *below);
  if (!below) abort();
  memcpy(below, links + first, count * sizeof *below);
  link_count = first;
  for (size_t i = 0; i < count; i++) place(below[i], levels - levels / 2);
  free(below);
}

static struct map *place_all(struct map *map, long turn) {
  at = areas[turn % 2];
  link_count = 0;
  place(&map, LEVELS);
  return map;
}

static void *take_area(void) {
  cells_at = cells_end;
  void *area = cells_new(CELLS_PIECE);
  return memset(area, 0, CELLS_PIECE);
}

int main(int count, char **words) {
  long updates = sequence_argument(count, words, 2000000), every = count > 2 ? atol(words[2]) : 5000;
  uint64_t seed = 1;
  struct map *map = NULL;
  double taken = 0, begin;
  for (int i = 0; i < 2; i++) areas[i] = take_area();
  links = malloc(4 * KEYS * sizeof *links);
  if (!links || every < 1) return 2;
  char *fresh = take_area();
  cells_at = fresh;
  begin = seconds();
  for (long i = 1; i <= updates; i++) {
    map = add(spell(sequence_next(&seed) & (KEYS - 1)), i & 1023, map);
    if (i % every) continue;
    taken += seconds() - begin;
    map = place_all(map, i / every);
    cells_at = fresh;
    begin = seconds();
  }
  taken += seconds() - begin;
  printf("%ld updates: height %lld, %lld\n%.3f s without the copying\n", updates, (long long)height(map),
         (long long)fold(0, map), taken);
  return 0;
}
/* SPDX-License-Identifier: MIT */
