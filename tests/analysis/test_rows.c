/* Rows of a table are there because they have samples. Made-up programs of many sites are sampled
 * with the real sampler, and of the rows that are shown 95 of 100 intervals must hold the truth,
 * whatever the number of their samples.
 *
 * A class of rows has some thousands, of which one program's are not independent; so its coverage
 * may lie three standard errors outside of what is promised. */
#include "analysis/sampled.h"
#include "support/runs.h"
#include "support/test.h"

#include "base/words.h"
#include <math.h>
#include <stdio.h>

/* Sites of a made-up program: few have many blocks, many have few, as many with 1 to 10 as with 10
 * to 100. A third of the sites have blocks of one size, a third have sizes spread over a factor of
 * 16, a third have small blocks and some large ones. */
enum { SITES = 2000, SITE_MOST = 3000, SITE_RUNS = 60, CLASSES = 6 };

static const char *const class_names[CLASSES] = {"1", "2-4", "5-9", "10-29", "30-99", "100+"};

static int class_of(uint64_t samples) {
  static const uint64_t least[CLASSES] = {1, 2, 5, 10, 30, 100};
  int class = 0;
  while (class + 1 < CLASSES && samples >= least[class + 1]) class ++;
  return class;
}

struct site {
  uint64_t blocks;
  double size; /* the smallest */
  int kind;
};

static struct site draw_site(struct random *random) {
  return (struct site){.blocks = (uint64_t)pow(SITE_MOST, random_unit(random)),
                       .size = 16 * pow(64, random_unit(random)),
                       .kind = (int)(random_bits(random) % 3)};
}

static size_t size_in_site(const struct site *site, struct random *random) {
  double u = random_unit(random), times = 1;
  if (site->kind == 1) times = pow(16, u);
  if (site->kind == 2) times = u < 0.95 ? 1 + u : 50;
  return (size_t)(site->size * times);
}

struct tally {
  double rows, low, high; /* rows that are shown, and misses */
};

static void judge(struct tally *tally, const struct estimate *estimate, double truth) {
  tally->rows++;
  tally->low += truth < estimate->low * (1 - 1e-9);
  tally->high += truth > estimate->high * (1 + 1e-9);
}

/* What a run has of a site. */
struct drawn {
  struct sum bytes, count;
  double truth, blocks;
};

enum { OF_BYTES, OF_COUNTS, OF_SHARES, TALLIES };

static void draw_run(double rate, uint64_t seed, struct drawn *sites) {
  struct random random;
  struct thread thread;
  thread_begin(&thread, rate, seed, 1);
  random_seed(&random, 13, seed, 0);
  for (int i = 0; i < SITES; i++) {
    struct site site = draw_site(&random);
    sites[i] = (struct drawn){.blocks = (double)site.blocks};
    for (uint64_t block = 0; block < site.blocks; block++) {
      size_t size = size_in_site(&site, &random), words = malloc_words(size);
      sites[i].truth += (double)size;
      if (!is_sampled(&thread, words)) continue;
      double p = inclusion_probability(rate, words);
      sum_add(&sites[i].bytes, (double)size, p);
      sum_add(&sites[i].count, 1, p);
    }
  }
}

static void judge_run(double rate, const struct drawn *sites, struct tally tallies[CLASSES][TALLIES]) {
  struct sum whole = {0}, blocks_of_all = {0};
  double truth = 0;
  for (int i = 0; i < SITES; i++) {
    sum_merge(&whole, &sites[i].bytes);
    sum_merge(&blocks_of_all, &sites[i].count);
    truth += sites[i].truth;
  }
  for (int i = 0; i < SITES; i++) {
    const struct drawn *site = &sites[i];
    struct tally *tally = tallies[class_of(site->bytes.samples)];
    if (!site->bytes.samples) continue;
    struct estimate bytes = estimate_of(&site->bytes, 8 / rate),
                    count = count_of(&site->count, &blocks_of_all, rate),
                    share = share_of(&site->bytes, &whole, 8 / rate);
    judge(&tally[OF_BYTES], &bytes, site->truth);
    judge(&tally[OF_COUNTS], &count, site->blocks);
    judge(&tally[OF_SHARES], &share, site->truth / truth);
  }
}

static double covered(const struct tally *tally) {
  return 100 * (1 - (tally->low + tally->high) / tally->rows);
}

/* With one sample the interval of bytes errs upwards only, and many sites are one block: it covers
 * more often. A count is judged by the sizes of all sites. */
static int judge_class(double rate, int class, const struct tally tally[TALLIES]) {
  const struct tally *bytes = &tally[OF_BYTES];
  double error = 3 * 100 * sqrt(0.05 * 0.95 / bytes->rows), counts = covered(&tally[OF_COUNTS]),
         shares = covered(&tally[OF_SHARES]), most = class ? 97 : 99;
  printf("  rate %.0e, rows with %-5s samples: %6.0f; bytes %.1f %% covered (too high %.1f %%, too low %.1f "
         "%%), "
         "counts %.1f %%, shares %.1f %%\n",
         rate, class_names[class], bytes->rows, covered(bytes), 100 * bytes->low / bytes->rows,
         100 * bytes->high / bytes->rows, counts, shares);
  return (covered(bytes) < 93 - error || covered(bytes) > most + error) +
         (counts < 93 - error || counts > 98 + error) + (shares < 93 - error);
}

static void rows_that_are_shown_hold_the_truth(void **state) {
  (void)state;
  static struct drawn sites[SITES];
  static const double rates[] = {1e-3, 1e-2, 1e-1};
  int bad = 0;
  for (int i = 0; i < 3; i++) {
    struct tally tallies[CLASSES][TALLIES] = {0};
    for (uint64_t run = 0; run < (uint64_t)runs_of(SITE_RUNS); run++) {
      draw_run(rates[i], run, sites);
      judge_run(rates[i], sites, tallies);
    }
    for (int class = 0; class < CLASSES; class ++) bad += judge_class(rates[i], class, tallies[class]);
  }
  assert_int_equal(bad, 0);
}

/* ---- rows of blocks that realloc makes larger again and again ---- */

/* Ways to grow: each call makes a block so much larger, and then by so many of its first sizes. */
static const struct way {
  const char *name;
  double times, plus;
  int calls;
} ways[] = {
    {"doubled twice", 2, 0, 3}, {"doubled nine times", 2, 0, 10}, {"by halves", 1.5, 0, 6},
    {"by fifths", 1.2, 0, 20},  {"by twentieths", 1.05, 0, 60},   {"by equal parts", 1, 1, 20},
    {"never grown", 1, 0, 1},
};
enum { WAYS = sizeof ways / sizeof *ways, GROWING_SITES = 300, GROWING_RUNS = 16 };

static void grow_site(struct thread *thread, const struct way *way, double first, uint64_t blocks,
                      double rate, struct drawn *site) {
  struct sums sums = {0};
  size_t sizes[GROWTHS_MOST];
  double size = first, bytes = 0;
  for (int i = 0; i < way->calls; i++, size = size * way->times + way->plus * first)
    bytes += (double)(sizes[i] = (size_t)size);
  for (uint64_t i = 0; i < blocks; i++) allocate_growing(thread, sizes, way->calls, rate, &sums);
  *site =
      (struct drawn){sums.bytes, sums.blocks, bytes * (double)blocks, (double)way->calls * (double)blocks};
}

/* One program; `way` is WAYS where each site has its own. */
static void judge_growing(int way, double rate, uint64_t seed, struct tally tallies[CLASSES][TALLIES]) {
  static struct drawn sites[GROWING_SITES];
  struct random random;
  struct thread thread;
  struct sum all = {0};
  thread_begin(&thread, rate, seed, 2);
  random_seed(&random, 17, seed, 0);
  for (int i = 0; i < GROWING_SITES; i++) {
    uint64_t blocks = (uint64_t)pow(SITE_MOST, random_unit(&random));
    double first = 16 * pow(64, random_unit(&random));
    grow_site(&thread, &ways[way < WAYS ? way : i % WAYS], first, blocks, rate, &sites[i]);
    sum_merge(&all, &sites[i].count);
  }
  for (int i = 0; i < GROWING_SITES; i++) {
    struct tally *tally = tallies[class_of(sites[i].bytes.samples)];
    if (!sites[i].bytes.samples) continue;
    struct estimate bytes = estimate_of(&sites[i].bytes, 8 / rate),
                    count = count_of(&sites[i].count, &all, rate);
    judge(&tally[OF_BYTES], &bytes, sites[i].truth);
    judge(&tally[OF_COUNTS], &count, sites[i].blocks);
  }
}

/* Samples are calls, and a row of ten may be one block. */
static void rows_of_blocks_that_grow_hold_the_truth(void **state) {
  (void)state;
  int bad = 0;
  for (int way = 0; way <= WAYS; way++) {
    struct tally tallies[CLASSES][TALLIES] = {0};
    for (int i = 0; i < 3 * runs_of(GROWING_RUNS); i++)
      judge_growing(way, (const double[]){1e-4, 1e-3, 1e-2}[i % 3], (uint64_t)i, tallies);
    printf("  %-18s", way < WAYS ? ways[way].name : "all of them");
    for (int class = 0; class < CLASSES; class ++) {
      const struct tally *bytes = &tallies[class][OF_BYTES], *counts = &tallies[class][OF_COUNTS];
      double error = 3 * 100 * sqrt(0.06 * 0.94 / fmax(bytes->rows, 1));
      printf("  %s: %.1f %.1f", class_names[class], covered(bytes), covered(counts));
      bad += bytes->rows > 200 && covered(bytes) < 93 - error;
      bad += bytes->rows > 200 && covered(counts) < 93 - error;
    }
    printf("\n");
  }
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_that_are_shown_hold_the_truth),
      cmocka_unit_test(rows_of_blocks_that_grow_hold_the_truth),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
