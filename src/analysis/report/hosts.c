/* Computes means over hosts, and distances between them. */
#include "analysis/report/hosts.h"

#include "base/array.h"
#include <math.h>
#include <stdlib.h>

#define ONE_IN 20

/* The part of the changes that are called sure though nothing changed. */
#define FALSE_PART 0.05

/* That of the median of distances, beside the deviation itself: so many of the hosts count. */
#define EFFICIENCY 0.37

#define NORMAL_975 1.959964

/* The 97.5 % quantile of Student's distribution: M. Abramowitz and I. Stegun, Handbook of Mathematical
 * Functions, 26.7.5. From HOSTS_LEAST hosts on its error is below 1 %. */
static double student_975(double freedom) {
  double x = NORMAL_975, x2 = x * x;
  return x + x * (x2 + 1) / (4 * freedom) + x * ((5 * x2 + 16) * x2 + 3) / (96 * freedom * freedom) +
         x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / (384 * freedom * freedom * freedom);
}

/* The probability that a deviate of Student's distribution is as far from 0: that of a normal deviate
 * into which D. Wallace transforms it (Bounds on normal approximations to Student's and the chi-square
 * distributions, Annals of Mathematical Statistics 30, 1959). */
static double student_chance(double deviate, double freedom) {
  double normal = fabs(deviate);
  if (freedom < 1e9)
    normal = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(deviate * deviate / freedom));
  return erfc(normal * M_SQRT1_2);
}

/* ---- what is usual ---- */

static int ascending(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static double hosts_median_of(double *numbers, size_t count) {
  array_sort(numbers, count, sizeof *numbers, ascending);
  return count ? (numbers[(count - 1) / 2] + numbers[count / 2]) / 2 : 0;
}

static int farthest_first(const void *one, const void *other) {
  double a = fabs(((const struct host *)one)->distance), b = fabs(((const struct host *)other)->distance);
  return (a < b) - (a > b);
}

/* The logarithm of how many times the median a host has. */
static double hosts_distance_of(const struct host *host, double median) {
  double times = median > 0 ? host->bytes.estimate / median : 1;
  return times > 0 ? log(times) : -INFINITY;
}

static void set_distance(struct host *host, double median, double usual) {
  double bytes = host->bytes.estimate, own = bytes > 0 ? sqrt(host->bytes.variance) / bytes : 0;
  double deviation = fmax(usual, own), distance = hosts_distance_of(host, median);
  host->distance = deviation > 0 ? distance / deviation : distance != 0 ? copysign(INFINITY, distance) : 0;
}

/* ---- shared ---- */

struct host_mean hosts_mean(const struct estimate *all, double sum, double squares, uint64_t hosts) {
  double number = (double)hosts;
  struct host_mean mean = {.few = hosts < HOSTS_LEAST, .freedom = INFINITY};
  struct estimate part = {.estimate = 1 / number};
  part.low = part.high = part.estimate;
  mean.bytes = estimate_times(all, &part);
  mean.error = (mean.bytes.high - mean.bytes.low) / (2 * NORMAL_975);
  if (mean.few) return mean;
  double spread = fmax(squares - sum * sum / number, 0) / (number - 1);
  double error = sqrt(spread / number), side = student_975(number - 1) * error;
  if (error > mean.error) mean.error = error, mean.freedom = number - 1;
  mean.bytes.low = fmin(mean.bytes.low, fmax(mean.bytes.estimate - side, 0));
  mean.bytes.high = fmax(mean.bytes.high, mean.bytes.estimate + side);
  return mean;
}

double chance_of_change(const struct host_mean *before, const struct host_mean *after) {
  double one = before->error * before->error, other = after->error * after->error, all = one + other;
  if (before->few || after->few) return 1;
  double difference = fabs(after->bytes.estimate - before->bytes.estimate);
  if (all <= 0) return difference > 0 ? 0 : 1;
  double parts = one * one / before->freedom + other * other / after->freedom;
  return student_chance(difference / sqrt(all), parts > 0 ? all * all / parts : INFINITY);
}

double chance_called_sure(double *chances, size_t count) {
  array_sort(chances, count, sizeof *chances, ascending);
  for (size_t i = count; i > 0; i--)
    if (chances[i - 1] <= FALSE_PART * (double)i / (double)count) return chances[i - 1];
  return -1;
}

bool hosts_find_unusual(struct host *hosts, size_t count, double *median, size_t *unusual) {
  double *numbers = malloc((count + 1) * sizeof *numbers), number = (double)count;
  *unusual = 0;
  if (!numbers) return false;
  for (size_t i = 0; i < count; i++) numbers[i] = hosts[i].bytes.estimate;
  *median = hosts_median_of(numbers, count);
  for (size_t i = 0; i < count; i++) numbers[i] = fabs(hosts_distance_of(&hosts[i], *median));
  double usual = 1.4826 * hosts_median_of(numbers, count);
  free(numbers);
  for (size_t i = 0; i < count; i++) set_distance(&hosts[i], *median, usual);
  array_sort(hosts, count, sizeof *hosts, farthest_first);
  while (count >= HOSTS_LEAST && *unusual < count &&
         student_chance(hosts[*unusual].distance, EFFICIENCY * (number - 1)) * number < 1.0 / ONE_IN)
    ++*unusual;
  return true;
}
/* SPDX-License-Identifier: MIT */
