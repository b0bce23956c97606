/* Writes the rows that made-up hosts would ship, sampled by the real law, and the truth:
 *
 *   make_fleet FOLDER HOSTS SHARDS SEED CHANGE
 *
 * FOLDER/N.samples, N.loads and N.sites are RowBinary for shard N; a host has one shard. Each host runs
 * one process of `api` in two windows; the even hosts have release r1, the odd ones r2. Hosts differ in
 * their load, in how much each function holds, and in their sampling rates. In function f5 the hosts of r2
 * hold CHANGE times as much as those of r1, and host 17 holds four times as much of everything.
 * FOLDER/truth has a line for each function: its name, and the bytes that all hosts hold in the last
 * window. */
#include "base/hash.h"
#include "export/clickhouse_columns.h"
#include "fleet/hosts.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITES = 200, SHARDS_MOST = 8, CHANGED = 5, ODD_HOST = 17, WINDOWS = 2, NAME_MOST = 32 };

struct site {
  char name[NAME_MOST];
  uint64_t number, size;
  double mean; /* blocks of a host */
  double truth;
};

static struct site sites[SITES];
static FILE *samples_of[SHARDS_MOST], *loads_of[SHARDS_MOST];
static struct random random_state;

static uint64_t words_of(const struct site *site) { return (site->size + 7) / 8 + 1; }

static void make_sites(void) {
  static const uint64_t sizes[] = {16, 64, 250, 1024, 8192};
  for (int i = 0; i < SITES; i++) {
    struct site *site = &sites[i];
    snprintf(site->name, sizeof site->name, "f%d", i);
    site->number = hash_mix((uint64_t)i + 1);
    site->size = sizes[random_bits(&random_state) % 5];
    site->mean = i == CHANGED ? 20000 : pow(10, 1 + 4 * random_unit(&random_state));
  }
}

static void set_sums(struct clickhouse_samples_row *row, const struct site *site, uint64_t count, double p) {
  double size = (double)site->size, number = (double)count;
  row->n = (uint32_t)count;
  row->bytes = number * size / p;
  row->bytes_variance = number * size * size * (1 - p) / (p * p);
  row->bytes_seen = number * size;
  row->blocks = number / p;
  row->blocks_variance = number * (1 - p) / (p * p);
  row->blocks_seen = number;
}

static void write_window(struct clickhouse_samples_row *row, const uint64_t *counts, double rate,
                         FILE *samples, FILE *loads) {
  struct clickhouse_loads_row load = {
      row->day,   row->time, row->service,   row->release, row->host, row->run,
      row->batch, 0,         WINDOW_SECONDS, rate,         0,         "made"};
  for (int i = 0; i < SITES; i++) {
    if (!counts[i]) continue;
    row->site = sites[i].number;
    row->stack = 1;
    set_sums(row, &sites[i], counts[i], -expm1((double)words_of(&sites[i]) * log1p(-rate)));
    clickhouse_put_samples(samples, CLICKHOUSE_BINARY, row);
    load.rows++;
  }
  clickhouse_put_loads(loads, CLICKHOUSE_BINARY, &load);
}

static void write_host(uint64_t host, int shards, uint64_t seed, double change, uint64_t first) {
  static const double rates[] = {1e-4, 2e-4, 1e-3};
  double rate = rates[host % 3], load = exp(0.2 * random_normal(&random_state)) * (host == ODD_HOST ? 4 : 1);
  uint64_t blocks[SITES], counts[SITES];
  char name[NAME_MOST];
  struct sampler sampler;
  bool newer = host % 2;
  snprintf(name, sizeof name, "host%06llu", (unsigned long long)host);
  sampler_init(&sampler, rate, seed, 0, host);
  struct clickhouse_samples_row row = {.service = "api",
                                       .release = newer ? "r2" : "r1",
                                       .host = name,
                                       .kind = WINDOW_HELD,
                                       .unit = 8 / rate,
                                       .run = hash_combine(seed, host)};
  for (int i = 0; i < SITES; i++) {
    double mean = sites[i].mean * (newer && i == CHANGED ? change : 1);
    blocks[i] = (uint64_t)(mean * load * exp(0.3 * random_normal(&random_state)) + 0.5);
    counts[i] = sampled(&sampler, blocks[i], words_of(&sites[i]));
    sites[i].truth += (double)(blocks[i] * sites[i].size);
  }
  for (uint64_t window = first; window < first + WINDOWS; window++) {
    row.day = (uint16_t)(window * WINDOW_SECONDS / 86400);
    row.time = (uint32_t)(window * WINDOW_SECONDS);
    row.batch = hash_combine(row.run, window);
    write_window(&row, counts, rate, samples_of[host % (uint64_t)shards], loads_of[host % (uint64_t)shards]);
  }
}

static FILE *create(const char *folder, int shard, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.%s", folder, shard, name);
  FILE *file = fopen(path, "w");
  if (!file) exit(1);
  return file;
}

static void write_truth(const char *folder, uint16_t today, int shards) {
  char path[4096];
  snprintf(path, sizeof path, "%s/truth", folder);
  FILE *truth = fopen(path, "w");
  if (!truth) exit(1);
  for (int i = 0; i < SITES; i++) fprintf(truth, "%s\t%.17g\n", sites[i].name, sites[i].truth);
  fclose(truth);
  for (int shard = 0; shard < shards; shard++) {
    FILE *file = create(folder, shard, "sites");
    for (int i = 0; i < SITES; i++)
      clickhouse_put_sites(file, CLICKHOUSE_BINARY,
                           &(struct clickhouse_sites_row){sites[i].number, today, sites[i].name, "api"});
    fclose(file);
  }
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  uint64_t hosts = strtoull(argv[2], NULL, 10), seed = strtoull(argv[4], NULL, 10);
  int shards = atoi(argv[3]);
  if (shards < 1 || shards > SHARDS_MOST) return 2;
  uint64_t first = (uint64_t)time(NULL) / WINDOW_SECONDS - WINDOWS;
  random_seed(&random_state, seed, 0, 0);
  make_sites();
  for (int i = 0; i < shards; i++) {
    samples_of[i] = create(argv[1], i, "samples");
    loads_of[i] = create(argv[1], i, "loads");
  }
  for (uint64_t host = 0; host < hosts; host++) write_host(host, shards, seed, strtod(argv[5], NULL), first);
  for (int i = 0; i < shards; i++)
    if (fclose(samples_of[i]) || fclose(loads_of[i])) return 1;
  write_truth(argv[1], (uint16_t)(first * WINDOW_SECONDS / 86400), shards);
  return 0;
}
/* SPDX-License-Identifier: MIT */
