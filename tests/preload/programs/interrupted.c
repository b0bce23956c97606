/* interrupted CASE: a program that samples its own heap, and whose signal handler frees or resizes
 * a block at whichever instruction of something else. What it did is told when that has ended,
 * once. Ends with 77 where the processor cannot interrupt itself. */
#define _GNU_SOURCE
#include "support/interrupted.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <winnow/malloc.h>

enum { SMALL = 100, LARGE = 20000, SKIPPED = 77 };

static volatile unsigned freed, dropped, resized, wrong;
static char token;           /* the metadata */
static void *volatile block; /* the handler's */
static void *volatile large;
static wn_profile *profile, *stopped;

static void *on_alloc(const wn_allocation *allocation, void *context) {
  (void)context;
  if (allocation->n_samples != allocation->trials) wrong++; /* at rate 1 */
  return &token;
}
static void on_free(void *metadata, void *context) {
  (void)metadata, (void)context;
  freed++;
}
static void on_drop(void *metadata, void *context) {
  (void)metadata, (void)context;
  dropped++;
}
static void *on_resize(void *metadata, const wn_allocation *allocation, void *context) {
  (void)allocation, (void)context;
  resized++;
  return metadata;
}

static void free_block(void) { free(block); }
static void resize_block(void) { block = realloc(block, LARGE); }

static bool was_freed(void) { return freed == 1 && !dropped && !wrong; }
/* The other was freed, too. Where the block cannot be moved within the region it is followed no
 * more: then it died, as far as can be told. */
static bool was_resized_or_freed(void) { return freed + resized == 2 && !dropped && !wrong; }

static void begin(void) {
  static const wn_memprof_options every_word = {1, 16, 7};
  static const wn_malloc_tracker tracker = {
      .alloc = on_alloc, .free = on_free, .drop = on_drop, .resize = on_resize};
  static const wn_malloc_tracker bare = {.alloc = on_alloc};
  if (wn_malloc_profile_start(&every_word, &bare, &stopped) || wn_malloc_profile_stop()) exit(2);
  if (wn_malloc_profile_start(&every_word, &tracker, &profile)) exit(2);
  block = malloc(SMALL);
  large = malloc(LARGE);
}

static int judge(struct interruptions found) {
  if (found.points < 50) fprintf(stderr, "only %ld instructions\n", found.points);
  if (found.wrong)
    fprintf(stderr, "wrong at %ld of %ld instructions, first %ld\n", found.wrong, found.points,
            found.first_wrong);
  return found.points < 50 || found.wrong;
}

static void free_large(void) { free(large); }
static void discard(void) { wn_malloc_profile_discard(stopped); }

static int result; /* of a thread */

/* The thread's next block is sampled as ever. */
static bool began_well(void) {
  bool was = was_resized_or_freed();
  free(malloc(SMALL));
  return was && freed + resized == 3 && !wrong;
}
static void *begin_thread(void *unused) {
  result = judge(interrupted(free_large, resize_block, began_well));
  return unused;
}

/* A key that is younger than the library's is looked at later. */
static pthread_key_t younger;
static void thread_has_ended(void *unused) {
  (void)unused;
  result = judge(interrupted_end(was_freed));
}
static void *end_thread(void *unused) {
  free(malloc(1)); /* the library knows the thread now */
  freed = 0;
  pthread_setspecific(younger, &younger);
  interrupted_begin(free_block);
  return unused;
}
static int in_thread(void *(*body)(void *)) {
  pthread_t thread;
  if (pthread_key_create(&younger, thread_has_ended) || pthread_create(&thread, NULL, body, NULL)) return 2;
  pthread_join(thread, NULL);
  return result;
}

int main(int argc, char **argv) {
  if (!CAN_INTERRUPT) return SKIPPED;
  if (argc < 2) return 2;
  begin();
  if (!strcmp(argv[1], "begin")) return in_thread(begin_thread);
  if (!strcmp(argv[1], "end")) return in_thread(end_thread);
  if (!strcmp(argv[1], "discard")) return judge(interrupted(discard, free_block, was_freed));
  if (!strcmp(argv[1], "release")) return judge(interrupted(free_large, resize_block, was_resized_or_freed));
  return 2;
}
/* SPDX-License-Identifier: MIT */
