/* api CASE: a program that is linked with the library and samples its own heap. Prints lines "WHAT
 * GOT EXPECTED" for counts, which are smaller where tables are tiny, and ends with 1 where anything
 * else is wrong. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/malloc.h>

#define EXPECT(condition)                                                                   \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "line %d: not so: %s (%s)\n", __LINE__, #condition, wn_last_error()); \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)

static atomic_long born, freed, dropped, resized, wrong;
static char token; /* the metadata */

static void *on_alloc(const wn_allocation *allocation, void *context) {
  if (context != &token || allocation->trials != (allocation->bytes + 7) / 8 + 1) wrong++;
  born++;
  return &token;
}
static void on_free(void *metadata, void *context) {
  if (metadata != &token || context != &token) wrong++;
  freed++;
}
static void on_drop(void *metadata, void *context) {
  if (metadata != &token || context != &token) wrong++;
  dropped++;
}

static const wn_malloc_tracker plain = {
    .alloc = on_alloc, .free = on_free, .drop = on_drop, .context = &token};
static wn_memprof_options every_word = {1, 64, 7};

static void say(const char *what, long got, long expected) { printf("%s %ld %ld\n", what, got, expected); }

static void orders(void) {
  wn_profile *profile, *second;
  wn_memprof_options bad = every_word;
  EXPECT(wn_malloc_profile_stop() == WN_ESTATE);
  EXPECT(wn_malloc_profile_start(NULL, &plain, &profile) == WN_EINVAL);
  EXPECT(wn_malloc_profile_start(&every_word, NULL, &profile) == WN_EINVAL);
  EXPECT(wn_malloc_profile_start(&every_word, &plain, NULL) == WN_EINVAL);
  bad.sampling_rate = 2;
  EXPECT(wn_malloc_profile_start(&bad, &plain, &profile) == WN_EINVAL);
  bad.sampling_rate = NAN;
  EXPECT(wn_malloc_profile_start(&bad, &plain, &profile) == WN_EINVAL);
  for (int round = 0; round < 3; round++) {
    EXPECT(wn_malloc_profile_start(&every_word, &plain, &profile) == WN_OK);
    EXPECT(wn_malloc_profile_start(&every_word, &plain, &second) == WN_ESTATE);
    EXPECT(wn_malloc_profile_discard(profile) == WN_ESTATE);
    EXPECT(wn_malloc_profile_stop() == WN_OK);
    EXPECT(wn_malloc_profile_stop() == WN_ESTATE);
    /* A stopped profile does not hinder the next. */
    EXPECT(wn_malloc_profile_start(&every_word, &plain, &second) == WN_OK);
    EXPECT(wn_malloc_profile_discard(profile) == WN_OK);
    EXPECT(wn_malloc_profile_discard(profile) == WN_ESTATE);
    EXPECT(wn_malloc_profile_stop() == WN_OK);
    EXPECT(wn_malloc_profile_discard(second) == WN_OK);
    EXPECT(wn_malloc_profile_discard(second) == WN_ESTATE);
  }
  EXPECT(strlen(wn_last_error()) > 0);
}

static void stopped_profile_follows(void) {
  wn_profile *profile;
  void *volatile block[50];
  EXPECT(wn_malloc_profile_start(&every_word, &plain, &profile) == WN_OK);
  for (int i = 0; i < 50; i++) block[i] = malloc(100);
  EXPECT(wn_malloc_profile_stop() == WN_OK);
  for (int i = 0; i < 50; i++) free(malloc(100)); /* not seen any more */
  for (int i = 0; i < 20; i++) free(block[i]);
  say("born", born, 50);
  say("freed", freed, 20);
  EXPECT(wn_malloc_profile_discard(profile) == WN_OK);
  say("dropped", dropped, 30);
  EXPECT(freed + dropped == born);
  long before = freed;
  for (int i = 20; i < 50; i++) free(block[i]);
  EXPECT(freed == before && wrong == 0);
}

static void *volatile dropped_with;
static void freeing_drop(void *metadata, void *context) {
  on_drop(metadata, context);
  free(dropped_with);
}

/* Of another profile, which is told at once. */
static void drop_frees(void) {
  wn_malloc_tracker tracker = plain;
  wn_profile *first, *second;
  tracker.drop = freeing_drop;
  EXPECT(wn_malloc_profile_start(&every_word, &tracker, &first) == WN_OK);
  void *volatile block = malloc(100);
  EXPECT(wn_malloc_profile_stop() == WN_OK);
  EXPECT(wn_malloc_profile_start(&every_word, &plain, &second) == WN_OK);
  dropped_with = malloc(100);
  EXPECT(wn_malloc_profile_discard(first) == WN_OK);
  EXPECT(dropped == 1 && freed == 1 && wrong == 0);
  EXPECT(wn_malloc_profile_stop() == WN_OK && wn_malloc_profile_discard(second) == WN_OK);
  free(block);
}

static void *allocating_alloc(const wn_allocation *allocation, void *context) {
  (void)context;
  char *metadata = malloc(40 + allocation->bytes);
  metadata = realloc(metadata, 4000);
  free(calloc(100, 7));
  strcpy(metadata, "mine");
  born++;
  return metadata;
}
static void allocating_free(void *metadata, void *context) {
  (void)context;
  if (strcmp(metadata, "mine")) wrong++;
  free(metadata);
  free(malloc(5000));
  freed++;
}

static void callbacks_allocate(void) {
  wn_malloc_tracker tracker = {.alloc = allocating_alloc, .free = allocating_free, .drop = allocating_free};
  wn_profile *profile;
  EXPECT(wn_malloc_profile_start(&every_word, &tracker, &profile) == WN_OK);
  for (int i = 0; i < 1000; i++) {
    void *volatile block = malloc((size_t)i);
    free(block);
  }
  EXPECT(wn_malloc_profile_stop() == WN_OK);
  say("born", born, 1000);
  say("freed", freed, 1000);
  EXPECT(wrong == 0 && wn_malloc_profile_discard(profile) == WN_OK);
}

static void *no_metadata(const wn_allocation *allocation, void *context) {
  (void)allocation, (void)context;
  born++;
  return NULL;
}

static void null_metadata_ends_it(void) {
  wn_malloc_tracker tracker = {.alloc = no_metadata, .free = on_free, .drop = on_drop};
  wn_profile *profile;
  EXPECT(wn_malloc_profile_start(&every_word, &tracker, &profile) == WN_OK);
  for (int i = 0; i < 300; i++) free(malloc(64));
  EXPECT(wn_malloc_profile_stop() == WN_OK && wn_malloc_profile_discard(profile) == WN_OK);
  EXPECT(born == 300 && freed == 0 && dropped == 0);
}

static size_t last_bytes, stood_trial;
static size_t words_of(size_t bytes) { return (bytes + 7) / 8 + 1; }
/* A growing block's new words are those of its usable size in glibc, which is all that is known of
 * unsampled ones. */
static size_t usable_words(size_t bytes) {
  return words_of(bytes <= 24 ? 24 : ((bytes + 23) & ~(size_t)15) - 8);
}
static void *on_resize(void *metadata, const wn_allocation *allocation, void *context) {
  (void)context;
  if (metadata != &token || allocation->previous_bytes != last_bytes) wrong++;
  if (allocation->bytes > last_bytes)
    stood_trial += usable_words(allocation->bytes) - usable_words(last_bytes);
  if (allocation->trials != stood_trial) wrong++;
  last_bytes = allocation->bytes;
  resized++;
  return metadata;
}

static void resizes(void) {
  wn_malloc_tracker tracker = plain;
  wn_profile *profile;
  tracker.resize = on_resize;
  EXPECT(wn_malloc_profile_start(&every_word, &tracker, &profile) == WN_OK);
  char *volatile block = malloc(last_bytes = 100);
  stood_trial = words_of(100);
  for (size_t bytes = 200; bytes <= 2000000; bytes *= 2) block = realloc(block, bytes);
  block = realloc(block, 50);
  block = realloc(block, 5000);
  free(block);
  EXPECT(wn_malloc_profile_stop() == WN_OK && wn_malloc_profile_discard(profile) == WN_OK);
  EXPECT(born == 1 && freed == 1 && resized == 16 && wrong == 0);
}

enum { THREADS = 8, EACH = 1000, MARK = 7777 };
static atomic_long marked[THREADS + 1];
static _Thread_local int thread_index;
static pthread_barrier_t started;

static void *count_marked(const wn_allocation *allocation, void *context) {
  (void)context;
  if (allocation->bytes == MARK) marked[thread_index]++;
  return NULL;
}

static void *old_thread(void *argument) {
  thread_index = (int)(size_t)argument;
  free(malloc(10));
  pthread_barrier_wait(&started);
  pthread_barrier_wait(&started);                   /* meanwhile the profile starts */
  for (int i = 0; i < 6000; i++) free(malloc(100)); /* more than 512 KiB: by now it has seen it */
  for (int i = 0; i < EACH; i++) free(malloc(MARK));
  return NULL;
}

static void *new_thread(void *argument) {
  thread_index = (int)(size_t)argument;
  for (int i = 0; i < EACH; i++) free(malloc(MARK));
  return NULL;
}

static void all_threads(void) {
  wn_malloc_tracker tracker = {.alloc = count_marked};
  wn_profile *profile;
  pthread_t thread[THREADS];
  pthread_barrier_init(&started, NULL, THREADS / 2 + 1);
  for (size_t i = 0; i < THREADS / 2; i++) pthread_create(&thread[i], NULL, old_thread, (void *)i);
  pthread_barrier_wait(&started);
  EXPECT(wn_malloc_profile_start(&every_word, &tracker, &profile) == WN_OK);
  pthread_barrier_wait(&started);
  for (size_t i = THREADS / 2; i < THREADS; i++) pthread_create(&thread[i], NULL, new_thread, (void *)i);
  for (size_t i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  EXPECT(wn_malloc_profile_stop() == WN_OK && wn_malloc_profile_discard(profile) == WN_OK);
  for (int i = 0; i < THREADS; i++) say(i < THREADS / 2 ? "old-thread" : "new-thread", marked[i], EACH);
}

static long resident_kib(void) {
  long pages[2] = {0};
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2) exit(1);
  fclose(file);
  return pages[1] * (sysconf(_SC_PAGESIZE) / 1024);
}

static void cycles(void) {
  long early = 0, late;
  for (int i = 0; i < 10000; i++) {
    wn_profile *profile;
    EXPECT(wn_malloc_profile_start(&every_word, &plain, &profile) == WN_OK);
    void *volatile block = malloc((size_t)(i % 500));
    void *volatile left = malloc(20);
    free(block);
    EXPECT(wn_malloc_profile_stop() == WN_OK && wn_malloc_profile_discard(profile) == WN_OK);
    free(left);
    if (i == 1000) early = resident_kib();
  }
  late = resident_kib();
  fprintf(stderr, "resident: %ld KiB after 1000 cycles, %ld KiB after 10000\n", early, late);
  EXPECT(late - early <= 512);
  EXPECT(born == 20000 && freed == 10000 && dropped == 10000 && wrong == 0);
}

/* Profiles come and go while threads allocate and pass blocks on. */
static atomic_bool ended;
static _Atomic(void *) passed[64];
static void *pass_on(void *argument) {
  unsigned state = (unsigned)(size_t)argument + 1;
  while (!ended) {
    state = state * 1103515245 + 12345;
    void *block = malloc((state >> 10) % 3000);
    free(atomic_exchange(&passed[(state >> 20) % 64], block));
  }
  return NULL;
}

static void cycles_with_threads(void) {
  pthread_t thread[4];
  for (size_t i = 0; i < 4; i++) pthread_create(&thread[i], NULL, pass_on, (void *)i);
  for (int i = 0; i < 300; i++) {
    wn_memprof_options options = {i % 3 ? 0.01 : 1, 16, (uint64_t)i};
    wn_profile *profile;
    EXPECT(wn_malloc_profile_start(&options, &plain, &profile) == WN_OK);
    usleep(500);
    EXPECT(wn_malloc_profile_stop() == WN_OK);
    EXPECT(wn_malloc_profile_discard(profile) == WN_OK);
  }
  ended = true;
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 64; i++) free(passed[i]);
  EXPECT(born == freed + dropped && wrong == 0);
}

static void child_inherits(void) {
  wn_profile *profile;
  EXPECT(wn_malloc_profile_start(&every_word, &plain, &profile) == WN_OK);
  void *volatile block[60];
  for (int i = 0; i < 60; i++) block[i] = malloc((size_t)i * 1000);
  pid_t pid = fork();
  for (int i = 0; i < 60; i++) free(block[i]);
  EXPECT(wn_malloc_profile_stop() == WN_OK && wn_malloc_profile_discard(profile) == WN_OK);
  EXPECT(born == freed + dropped && wrong == 0);
  if (!pid) _exit(0);
  int status;
  EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

static void while_recorded(void) {
  wn_profile *profile = NULL;
  EXPECT(wn_malloc_profile_start(&every_word, &plain, &profile) == WN_ESTATE);
  EXPECT(wn_malloc_profile_stop() == WN_ESTATE);
  free(malloc(100));
  EXPECT(born == 0);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"orders", orders},
               {"stopped_profile_follows", stopped_profile_follows},
               {"drop_frees", drop_frees},
               {"callbacks_allocate", callbacks_allocate},
               {"null_metadata_ends_it", null_metadata_ends_it},
               {"resizes", resizes},
               {"all_threads", all_threads},
               {"cycles", cycles},
               {"cycles_with_threads", cycles_with_threads},
               {"child_inherits", child_inherits},
               {"while_recorded", while_recorded}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc > 1 && !strcmp(argv[1], cases[i].name)) return cases[i].run(), 0;
  return 2;
}
/* SPDX-License-Identifier: MIT */
