/* What profiling the trees costs at least, whoever does it: trees_sampled DEPTH [ROUNDS].
 *
 * The program of trees.c, in memory that is used again, where one word in a thousand is sampled, and all that is done about it is to
 * find out the callstack's number. It is read by frame pointers, which a program need not have; its addresses are hashed, which
 * takes no look at tables of unwind information; and one place of a table tells by the hash alone whether it was met before.
 * No gap is drawn, nothing is written down of the block, nobody is called at its birth or its end. Rounds with samples and without
 * follow each other. */
#include "cells.h"
#include "sequence.h"

#include <time.h>

enum { EVERY = 333, ROUNDS_MOST = 999, TABLE_BITS = 21, DEPTH_MOST = 64 }; /* blocks of 3 words, as ours are */

struct tree {
  struct tree *left, *right;
  uintptr_t header;
};

static long countdown, samples;
static bool is_sampled;
static const void *outermost;
static uint64_t *stacks, stack_count; /* hash by hash */

static __attribute__((noinline)) void find_stack(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  uint64_t hash = 0;
  for (; (const void *)frame < outermost; frame = (const uintptr_t *)frame[0])
    hash = ((hash << 27 | hash >> 37) ^ frame[1]) * 0x9e3779b97f4a7c15u;
  uint64_t *place = &stacks[hash >> (64 - TABLE_BITS)];
  if (*place == hash) return;
  *place = hash;
  stack_count++;
}

static __attribute__((noinline, cold)) void sample(void) {
  countdown = EVERY;
  if (!is_sampled) return;
  samples++;
  find_stack();
}

static struct tree *make(int depth) {
  struct tree *left = depth ? make(depth - 1) : NULL;
  struct tree *right = depth ? make(depth - 1) : NULL;
  if (__builtin_expect(!--countdown, 0)) sample();
  struct tree *tree = cells_new(sizeof *tree);
  tree->left = left;
  tree->right = right;
  return tree;
}

static long check(const struct tree *tree) { return tree ? 1 + check(tree->left) + check(tree->right) : 0; }

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Of a build and a look at all trees, whose memory is used again. */
static double run(int most, bool sampled, long *sum) {
  char *begin_at = cells_at;
  double begin = seconds();
  countdown = sampled ? EVERY : INT64_MAX;
  is_sampled = sampled;
  for (int depth = 4; depth <= most; depth += 2)
    for (long i = 1L << (most - depth + 4); i; i--) {
      *sum += check(make(depth));
      cells_at = begin_at;
    }
  return seconds() - begin;
}

static int compare(const void *a, const void *b) {
  const double *first = a, *second = b;
  return (*first > *second) - (*first < *second);
}

int main(int count, char **words) {
  int most = (int)sequence_argument(count, words, 18);
  long rounds = count > 2 ? atol(words[2]) : 21, sum = 0;
  double more[ROUNDS_MOST];
  if (rounds < 1 || rounds > ROUNDS_MOST || most > 20) return 2;
  outermost = __builtin_frame_address(0);
  cells_begin();
  cells_more();
  stacks = cells_new(sizeof *stacks << TABLE_BITS);
  run(most, true, &sum); /* most stacks are met */
  for (long i = 0; i < rounds; i++) {
    double without = run(most, false, &sum);
    samples = 0;
    stack_count = 0;
    more[i] = run(most, true, &sum);
    without = (without + run(most, false, &sum)) / 2;
    more[i] -= without;
  }
  qsort(more, (size_t)rounds, sizeof *more, compare);
  printf("%ld nodes: %ld samples, %.3f s, %.0f ns each\n", sum / (3 * rounds + 1), samples, more[rounds / 2],
         more[rounds / 2] / (double)samples * 1e9);
  return 0;
}
/* SPDX-License-Identifier: MIT */
