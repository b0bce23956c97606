/* What a compaction leaves of a heap: compaction [MEBIBYTES [MODE [DOMAINS]]].
 *
 * A table holds blocks of all sizes, mixed at random: small, medium and large ones. Four of five are
 * dropped, at random. Told are the memory of the process that is resident, as a multiple of what is
 * live, and how many mappings the process has.
 *   once      a compaction is requested, by one of DOMAINS domains; its time
 *   itself    the program goes on until five cycles have ended, or for a minute: it replaces a hundredth
 *             of the blocks a second, and allocates young ones; WINNOW_PARAMS=O=25 sets max_overhead
 *   thousand  a thousand compactions, with some replacing between them; then the same work as before
 *             the first is timed again */
#include "tree.h"
#include <string.h>
#include <unistd.h>
#include <winnow/gc.h>

enum { SECONDS_MOST = 60, CYCLES = 5, KEPT_ONE_IN = 5 };

static uint64_t seed = 1;
static uint64_t draw(void) { return (uint64_t)sequence_next(&seed); }

struct table {
  wn_ref blocks;
  size_t places;
};

static size_t draw_words(void) {
  uint64_t kind = draw() % 1000;
  if (kind < 850) return 1 + draw() % 32;
  if (kind < 990) return 33 + draw() % 224;
  if (kind < 999) return 257 + draw() % 8000;
  return draw() % 4 ? 8000 + draw() % 100000 : 131072 + draw() % 131072;
}

/* One place in five. */
static bool is_kept(size_t place) { return (place * UINT64_C(0x9e3779b97f4a7c15) >> 32) % KEPT_ONE_IN == 0; }

/* A new block in a place; it leads to another block of the table, or is bytes. */
static void fill(wn_domain *d, const struct table *table, size_t place) {
  WN_SCOPE(d);
  size_t words = draw_words();
  wn_ref block = draw() % 4 ? wn_alloc(d, words, 1) : wn_alloc_bytes(d, 8 * words);
  if (wn_tag(*block.slot) == WN_TAG_RAW)
    memset(wn_bytes(block), 1, 8 * words);
  else
    for (size_t i = 0; i < words; i += 16)
      wn_set(d, block, i, wn_get(d, table->blocks, draw() % table->places));
  wn_set(d, table->blocks, place, block);
}

/* ---- what is told ---- */

static double resident(void) {
  long pages = 0, all;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) return 0;
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static long mappings(void) {
  long lines = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  for (int c; file && (c = fgetc(file)) != EOF;) lines += c == '\n';
  if (file) fclose(file);
  return lines;
}

static void tell(wn_domain *d, const char *when) {
  wn_gc_stat stat;
  program_check(wn_gc_read_stat(d, &stat));
  double live = 8 * (double)stat.live_words, now = resident();
  printf("%s: live %.1f MiB, heap %.1f MiB, resident %.1f MiB, %.3f of what is live; %ld mappings, %ld "
         "compactions\n",
         when, live / (1 << 20), 8 * (double)stat.heap_words / (1 << 20), now / (1 << 20), now / live,
         mappings(), stat.compactions);
  fflush(stdout);
}

/* ---- modes ---- */

static void replace(wn_domain *d, const struct table *table, long times) {
  while (times > 0) {
    size_t place = draw() % table->places;
    if (is_kept(place)) fill(d, table, place), times--;
  }
}

static double time_work(wn_domain *d, const struct table *table) {
  double begin = program_seconds();
  replace(d, table, 300000);
  return program_seconds() - begin;
}

static void compact(wn_domain *d) {
  double begin = program_seconds();
  program_check(wn_gc_full_major(d));
  double full = program_seconds();
  program_check(wn_gc_compact(d));
  printf("a full collection took %.0f ms, the next with a compaction %.0f ms\n", 1e3 * (full - begin),
         1e3 * (program_seconds() - full));
}

/* Bytes of the table and its blocks: what a collection that has just ended would find. */
static double reachable(const struct table *table) {
  wn_value blocks = *table->blocks.slot;
  size_t words = table->places + 1;
  for (size_t i = 0; i < table->places; i++) {
    wn_value block = ((const wn_value *)blocks)[i];
    if (!wn_is_int(block)) words += wn_words(block) + 1;
  }
  return 8 * (double)words;
}

static long cycles(wn_domain *d) {
  wn_gc_stat stat;
  program_check(wn_gc_quick_stat(d, &stat));
  return stat.major_collections;
}

static const double SMALL = 1.5;

/* Replaces a hundredth of the blocks a second, and allocates young blocks besides. Tells when the
 * resident memory was first at most SMALL times what is reachable. */
static void go_on(wn_domain *d, const struct table *table) {
  double begin = program_seconds(), least = 1e9, small_at = -1, wanted = 0, now = 0;
  long last = cycles(d) + CYCLES;
  for (; now < SECONDS_MOST && cycles(d) < last; now = program_seconds() - begin) {
    for (; wanted < now * (double)table->places / KEPT_ONE_IN / 100; wanted += 100) replace(d, table, 100);
    for (int i = 0; i < 100000; i++) {
      WN_SCOPE(d);
      wn_alloc(d, 7, 0);
    }
    double ratio = resident() / reachable(table);
    if (ratio < least) least = ratio;
    if (ratio <= SMALL && small_at < 0) small_at = program_seconds() - begin;
  }
  printf("after %.1f s %.3f of what is reachable is resident; at least %.3f was", now,
         resident() / reachable(table), least);
  if (small_at >= 0) printf(", and at most %.1f from %.1f s after the drop on", SMALL, small_at);
  putchar('\n');
  tell(d, "then");
}

static void compact_often(wn_domain *d, const struct table *table) {
  double before = time_work(d, table), begin = program_seconds();
  for (int i = 0; i < 1000; i++) {
    replace(d, table, 100);
    program_check(wn_gc_compact(d));
  }
  printf("1000 compactions took %.1f s\n", program_seconds() - begin);
  tell(d, "after them");
  printf("the work took %.1f s before, and %.1f s after\n", before, time_work(d, table));
}

/* Domains that wait can share the compaction. */
static _Atomic(bool) over;
static void poll(wn_domain *d, void *context) {
  (void)context;
  while (!over) wn_poll(d);
}

int main(int count, char **words) {
  double bytes = (count > 1 ? atof(words[1]) : 1024) * (1 << 20);
  const char *mode = count > 2 ? words[2] : "once";
  int domains = count > 3 ? atoi(words[3]) : 1;
  struct program program = program_begin();
  wn_domain *d = program.domain;
  wn_join *joins[64];
  {
    WN_SCOPE(d);
    struct table table = {.places = (size_t)(bytes / 8 / 180)};
    table.blocks = wn_alloc(d, table.places, 0);
    for (size_t i = 0; i < table.places; i++) fill(d, &table, i);
    tell(d, "full");
    for (size_t i = 0; i < table.places; i++)
      if (!is_kept(i)) wn_set_int(d, table.blocks, i, 0);
    for (size_t i = 0; i < table.places; i++) { /* nothing leads to what was dropped */
      WN_SCOPE(d);
      if (!is_kept(i)) continue;
      wn_ref block = wn_get(d, table.blocks, i);
      if (wn_tag(*block.slot) == WN_TAG_RAW) continue;
      for (size_t k = 0; k < wn_words(*block.slot); k += 16)
        wn_set(d, block, k, wn_get(d, table.blocks, draw() % table.places));
    }
    for (int i = 1; i < domains && i <= 64; i++) program_check(wn_domain_spawn(d, poll, NULL, &joins[i - 1]));
    if (!strcmp(mode, "itself")) {
      go_on(d, &table);
    } else {
      compact(d);
      tell(d, "compacted");
      if (!strcmp(mode, "thousand")) compact_often(d, &table);
    }
    over = true;
    for (int i = 1; i < domains && i <= 64; i++) program_check(wn_join_wait(d, joins[i - 1]));
    program_check(wn_gc_verify(d, stderr));
  }
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
