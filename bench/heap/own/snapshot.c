/* What a snapshot takes of a heap: the stop, page tables, and copies of pages.
 *
 *   snapshot DEPTH FILE tree|random still|busy
 *
 * The heap has a tree of 2^(DEPTH + 1) - 1 blocks of 4 words with 2 edges; `random`: half of the
 * blocks, the leaves, lead to a random block each by both edges. While the first domain takes the
 * snapshot, a second one polls, and if `busy` it stores into random blocks, as fast as
 * it can: the longest time between two of its polls is the stop as the program feels it. The
 * copy of the process that writes the file is asked for its page tables as long as it runs. */
#include "tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <winnow/snapshot.h>

static wn_global *root;
static _Atomic(bool) begun, done;
static int depth;
static bool busy;

/* Of the second domain. */
static double longest;
static long stores;

static wn_value random_node(wn_value node, uint64_t *random, int levels) {
  for (int i = 0; i < levels; i++) node = ((wn_value *)node)[sequence_next(random) & 1];
  return node;
}

static void run(wn_domain *d, void *argument) {
  WN_SCOPE(d);
  wn_ref top = wn_global_get(d, root);
  uint64_t random = 2;
  double last;
  (void)argument;
  atomic_store(&begun, true);
  last = program_seconds();
  while (!atomic_load(&done)) {
    double now = program_seconds();
    if (now - last > longest) longest = now - last;
    last = now;
    wn_poll(d);
    if (!busy) continue;
    wn_value node = random_node(*top.slot, &random, depth);
    wn_store(d, node, TREE_ONE, wn_int(1));
    stores++;
  }
}

static void link_leaves(wn_domain *d, wn_ref top, wn_value node, int levels, uint64_t *random) {
  for (size_t side = TREE_LEFT; side <= TREE_RIGHT; side++)
    if (levels)
      link_leaves(d, top, ((wn_value *)node)[side], levels - 1, random);
    else
      wn_store(d, node, side, random_node(*top.slot, random, depth));
}

/* ---- what the kernel says ---- */

/* A number of a file of /proc, in kB; 0: it is not there. */
static long proc_kb(const char *process, const char *file, const char *name) {
  char path[64], line[256];
  long kb = 0;
  snprintf(path, sizeof path, "/proc/%s/%s", process, file);
  FILE *from = fopen(path, "r");
  while (from && fgets(line, sizeof line, from))
    if (!strncmp(line, name, strlen(name))) kb = atol(line + strlen(name) + 1);
  if (from) fclose(from);
  return kb;
}

static long copy_tables;

static void *watch(void *argument) {
  const char *children = argument;
  char copy[32];
  while (!atomic_load(&done)) {
    FILE *from = fopen(children, "r");
    bool found = from && fscanf(from, "%31s", copy) == 1;
    if (from) fclose(from);
    long kb = found ? proc_kb(copy, "status", "VmPTE") : 0;
    if (kb > copy_tables) copy_tables = kb;
    usleep(1000);
  }
  return NULL;
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

int main(int count, char **words) {
  char children[64];
  struct stat file;
  pthread_t watcher;
  wn_join *join;
  if (count < 5) return fprintf(stderr, "snapshot DEPTH FILE tree|random still|busy\n"), 2;
  depth = atoi(words[1]);
  busy = !strcmp(words[4], "busy");
  struct program program = program_begin();
  wn_domain *d = program.domain;
  WN_SCOPE(d);
  wn_ref top = wn_root(d, tree_from_leaves(d, depth));
  root = wn_global_new_named(d, top, "tree");
  uint64_t random = 1;
  if (!strcmp(words[3], "random")) link_leaves(d, top, *top.slot, depth, &random);
  snprintf(children, sizeof children, "/proc/self/task/%d/children", (int)getpid());
  program_check(wn_domain_spawn(d, run, NULL, &join));
  while (!atomic_load(&begun)) wn_poll(d);
  pthread_create(&watcher, NULL, watch, children);
  long before = faults();
  double begin = program_seconds();
  program_check(wn_heap_snapshot(d, words[2]));
  double seconds = program_seconds() - begin;
  long after = faults();
  atomic_store(&done, true);
  program_check(wn_join_wait(d, join));
  pthread_join(watcher, NULL);
  if (stat(words[2], &file)) return perror(words[2]), 2;
  double blocks = (double)((2L << depth) - 1);
  printf("%.1f million blocks, %.0f MB resident: %.2f bytes a block, %.3f s, longest stop %.1f ms; "
         "page tables %ld kB, of the copy %ld kB; %ld minor faults, %ld stores\n",
         blocks / 1e6, (double)proc_kb("self", "status", "VmRSS") / 1e3, (double)file.st_size / blocks,
         seconds, longest * 1e3, proc_kb("self", "status", "VmPTE"), copy_tables, after - before, stores);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
