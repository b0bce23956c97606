/* What it costs to write and to read the data of the four races: marshal DATA ROUNDS [READS].
 *
 * trees is a tree of depth 18, slots the array of lists after 2 million updates, and strmap the map
 * after a million; each is one message, written or read again and again. churn is lists of 100
 * cells, 10000 messages a round. READS are rounds of reading, if they are others. Prints the bytes
 * of a round, and milliseconds for writing and for reading it; what the collector does meanwhile
 * counts. */
#include "raw/lists.h"
#include "raw/slots_update.h"
#include "raw/strmap_add.h"
#include <time.h>
#include <winnow/marshal.h>

enum { SLOTS = 1 << 18, LISTS = 10000 };

static wn_value make_tree(wn_domain *d, int depth) {
  if (!depth) return keep_pair(d, wn_int(0), wn_int(0));
  WN_SCOPE(d);
  wn_ref left = wn_root(d, make_tree(d, depth - 1));
  wn_value right = make_tree(d, depth - 1);
  return keep_pair(d, wn_value_of(left), right);
}

static wn_ref trees(wn_domain *d) {
  keep_enter(d);
  wn_value tree = make_tree(d, 18);
  keep_leave(d);
  return wn_root(d, tree);
}

static wn_ref slots(wn_domain *d) {
  wn_ref lists = wn_alloc(d, SLOTS, 0);
  uint64_t seed = 1;
  for (long i = 0; i < 2000000; i++) {
    size_t slot = (size_t)(sequence_next(&seed) & (SLOTS - 1));
    update(d, lists, slot, sequence_next(&seed));
    wn_poll(d);
  }
  return lists;
}

static wn_ref strmap(wn_domain *d) {
  wn_ref map = wn_root(d, wn_int(0));
  uint64_t seed = 1;
  for (long i = 1; i <= 1000000; i++) add_next(d, map, &seed, i & 1023);
  return map;
}

static wn_ref churn(wn_domain *d) { return wn_root(d, build(d, 100, 1)); }

static const struct data {
  const char *name;
  wn_ref (*make)(wn_domain *d);
  long messages; /* a round */
} all[] = {{"trees", trees, 1}, {"slots", slots, 1}, {"strmap", strmap, 1}, {"churn", churn, LISTS}};

static const struct data *find(const char *name) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].name, name)) return &all[i];
  fprintf(stderr, "marshal: '%s' is none of trees, slots, strmap and churn\n", name);
  exit(2);
}

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double write_all(wn_domain *d, wn_ref value, long messages, size_t *total) {
  double began = now_ms();
  for (long i = 0; i < messages; i++) {
    void *bytes;
    size_t size;
    program_check(wn_marshal_write(d, value, 0, &bytes, &size));
    *total += size;
    free(bytes);
  }
  return now_ms() - began;
}

static double read_all(wn_domain *d, wn_ref value, long messages) {
  void *bytes;
  size_t size;
  program_check(wn_marshal_write(d, value, 0, &bytes, &size));
  double began = now_ms();
  for (long i = 0; i < messages; i++) {
    WN_SCOPE(d);
    wn_ref copy;
    program_check(wn_marshal_read(d, bytes, size, 0, &copy, NULL));
  }
  double took = now_ms() - began;
  free(bytes);
  return took;
}

int main(int count, char **words) {
  const struct data *data = find(count > 1 ? words[1] : "trees");
  long rounds = count > 2 ? strtol(words[2], NULL, 10) : 10;
  long reads = count > 3 ? strtol(words[3], NULL, 10) : rounds;
  struct program program = program_begin();
  {
    WN_SCOPE(program.domain);
    size_t total = 0;
    wn_ref value = data->make(program.domain);
    double writing = write_all(program.domain, value, rounds * data->messages, &total);
    double reading = read_all(program.domain, value, reads * data->messages);
    printf("%s %zu bytes, write %.3f ms, read %.3f ms\n", data->name, total / (size_t)rounds,
           writing / (double)rounds, reading / (double)reads);
  }
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
