/* What domains cost that do nothing: blocked DOMAINS ROUNDS.
 *
 * The domains wait inside a blocking section until the work is done. The work is trees and their
 * collection. */
#include "tree.h"

#include <pthread.h>

#define DOMAINS_MOST 64
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long waiting; /* under the mutex, like all here */
static bool done;

static void wait(wn_domain *d, void *argument) {
  WN_SCOPE(d);
  wn_ref tree = wn_root(d, tree_from_leaves(d, 10)); /* a root that stays */
  (void)argument;
  wn_blocking_begin(d);
  pthread_mutex_lock(&mutex);
  waiting++;
  pthread_cond_broadcast(&changed);
  while (!done) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  wn_blocking_end(d);
  tree_expect(d, *tree.slot, 10);
}

static void await_blocked(wn_domain *d, long domains) {
  wn_blocking_begin(d);
  pthread_mutex_lock(&mutex);
  while (waiting < domains) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  wn_blocking_end(d);
}

static void release_blocked(void) {
  pthread_mutex_lock(&mutex);
  done = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void work(wn_domain *d, long rounds) {
  WN_SCOPE(d);
  wn_ref stays = wn_root(d, tree_from_leaves(d, 16));
  for (long i = 0; i < rounds; i++) {
    for (int j = 0; j < 100; j++) tree_expect(d, tree_from_leaves(d, 10), 10);
    tree_expect(d, tree_from_root(d, 14), 14);
  }
  tree_expect(d, *stays.slot, 16);
}

int main(int count, char **words) {
  long domains = sequence_argument(count, words, 8), rounds = count > 2 ? atol(words[2]) : 100;
  struct program program = program_begin();
  wn_join *joins[DOMAINS_MOST];
  double begin;
  if (domains < 0 || domains > DOMAINS_MOST) return fprintf(stderr, "blocked: 0 to 64 domains\n"), 2;
  for (long i = 0; i < domains; i++) program_check(wn_domain_spawn(program.domain, wait, NULL, &joins[i]));
  await_blocked(program.domain, domains);
  begin = program_seconds();
  work(program.domain, rounds);
  printf("%ld domains blocked: %.3f s\n", domains, program_seconds() - begin);
  release_blocked();
  for (long i = 0; i < domains; i++) program_check(wn_join_wait(program.domain, joins[i]));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
