/* Allocates in functions with known totals, and prints them: function, bytes allocated, blocks
 * allocated, bytes kept. Built without optimisation, so that each function is a frame. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

struct totals {
  const char *name;
  _Atomic(size_t) bytes, blocks, kept;
};

static struct totals small = {.name = "site_small"}, mixed = {.name = "site_mixed"},
                     heavy = {.name = "site_heavy"}, growing = {.name = "site_growing"},
                     appended = {.name = "site_appended"}, rare = {.name = "site_rare"},
                     doubled = {.name = "site_doubled"}, threaded = {.name = "site_threaded"},
                     zeroed = {.name = "site_zeroed"};

/* What is kept stays reachable. */
static void *_Atomic kept_list;

static void keep(void *block) {
  void *head = kept_list;
  do *(void **)block = head;
  while (
      !__atomic_compare_exchange_n((void **)&kept_list, &head, block, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static uint32_t next_number(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

/* Counts a block, and keeps or frees it. */
static void settle(struct totals *totals, void *block, size_t size, int kept) {
  if (!block) abort();
  totals->bytes += size;
  totals->blocks++;
  if (kept) {
    totals->kept += size;
    keep(block);
  } else {
    free(block);
  }
}

/* A block on its way to the size that settle is told: each call allocates all of it. */
static void *grow(struct totals *totals, void *block, size_t before, size_t size) {
  totals->bytes += before;
  totals->blocks++;
  return realloc(block, size);
}

static void site_small(void) {
  for (int i = 0; i < 20000; i++) settle(&small, malloc(48), 48, i % 3 == 0);
}

static void site_mixed(void) {
  uint32_t state = 1;
  for (int i = 0; i < 2000; i++) {
    size_t size = (size_t)16 << next_number(&state) % 9;
    settle(&mixed, malloc(size), size, i & 1);
  }
}

static void site_heavy(void) {
  uint32_t state = 2;
  for (int i = 0; i < 4000; i++) {
    size_t size = 16 * ((1u << 14) / (1 + next_number(&state) % (1u << 14)) + 1);
    settle(&heavy, malloc(size), size, i % 5 == 0);
  }
}

/* By half as much again, in sizes that glibc does not round up. */
static void site_growing(void) {
  for (int i = 0; i < 200; i++) {
    size_t size = 56;
    void *block = malloc(size);
    for (int j = 0; j < i % 8; j++) {
      size_t before = size;
      size += (size / 2 & ~(size_t)15) + 16;
      block = grow(&growing, block, before, size);
    }
    settle(&growing, block, size, i & 1);
  }
}

/* Arrays that grow by one number at a time, so that most steps stay within what glibc had rounded
 * up to. */
static void site_appended(void) {
  for (int i = 0; i < 400; i++) {
    size_t size = 16;
    void *block = malloc(size);
    for (int j = 0; j < 20 + i % 50; j++) block = grow(&appended, block, size, size + 4), size += 4;
    settle(&appended, block, size, i & 1);
  }
}

/* Multiples of 16, of which glibc rounds each up, so that what a block had before it grew must be
 * guessed. */
static void site_doubled(void) {
  for (int i = 0; i < 3000; i++) settle(&doubled, grow(&doubled, malloc(16), 16, 48), 48, i & 1);
}

static void site_rare(void) {
  for (int i = 0; i < 12; i++) settle(&rare, malloc(6000), 6000, i < 6);
}

static void site_zeroed(void) {
  for (int i = 0; i < 1000; i++) settle(&zeroed, calloc(10, 40), 400, i % 4 == 0);
}

static void *site_threaded(void *argument) {
  for (int i = 0; i < 1000; i++) settle(&threaded, malloc(120), 120, i & 1);
  return argument;
}

static void run_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, site_threaded, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

int main(void) {
  site_small();
  site_mixed();
  site_heavy();
  site_growing();
  site_appended();
  site_doubled();
  site_rare();
  site_zeroed();
  run_threads();
  const struct totals *all[] = {&small,   &mixed, &heavy,    &growing, &appended,
                                &doubled, &rare,  &threaded, &zeroed};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    printf("%s %zu %zu %zu\n", all[i]->name, all[i]->bytes, all[i]->blocks, all[i]->kept);
  return 0;
}
/* SPDX-License-Identifier: MIT */
