/* Programs with threads: stacks large|brought|busy|cancelled|gone|c11|leader_ends|small|
 * between|before. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MB       ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))
enum { THREADS = 6 };

static pthread_barrier_t barrier;

NOINLINE static char use_stack(size_t bytes) {
  volatile char stack[bytes];
  for (size_t i = 0; i < bytes; i += 1024) stack[i] = 1;
  free(malloc(100));
  pthread_barrier_wait(&barrier); /* all are deep */
  pthread_barrier_wait(&barrier); /* and were measured */
  return stack[bytes / 2];
}

static void *worker(void *unused) { return use_stack(MB) ? unused : NULL; }

NOINLINE static void start_threads(pthread_t *thread, pthread_attr_t *attributes) {
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], attributes, worker, NULL)) abort();
}

/* Works until a measurement is due: a program that sleeps is measured less often. */
static void until_due(void) {
  for (clock_t begun = clock(); clock() - begun < CLOCKS_PER_SEC * 3 / 100;) continue;
}

/* Memory is measured where the program maps. */
NOINLINE static void measure(void) {
  *(char *)mmap(NULL, 2 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

NOINLINE static char deepen(int levels) {
  volatile char stack[10000];
  for (size_t i = 0; i < sizeof stack; i += 1000) stack[i] = 1;
  if (levels) return (char)(deepen(levels - 1) + stack[5000]);
  until_due();
  measure();
  return stack[0];
}

/* Deep where nothing is measured. */
NOINLINE static char deepen_silently(int levels) {
  volatile char stack[10000];
  for (size_t i = 0; i < sizeof stack; i += 1000) stack[i] = 1;
  return (char)(levels ? deepen_silently(levels - 1) + stack[5000] : stack[0]);
}

static void between(void) {
  deepen_silently(300);
  until_due();
  puts("done");
}

static void before(void) {
  deepen_silently(300);
  until_due();
  measure();
  deepen(300);
  puts("done");
}

static void large(void) {
  pthread_t thread[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  start_threads(thread, NULL);
  pthread_barrier_wait(&barrier);
  deepen(300);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  puts("done");
}

/* Stacks that the program has mapped or allocated itself are not counted twice. */
static void brought(void) {
  pthread_t thread[THREADS];
  pthread_attr_t attributes;
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) {
    pthread_attr_init(&attributes);
    void *stack = mmap(NULL, 2 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_setstack(&attributes, stack, 2 * MB);
    if (pthread_create(&thread[i], &attributes, worker, NULL)) abort();
    pthread_attr_destroy(&attributes);
  }
  pthread_barrier_wait(&barrier);
  until_due();
  measure();
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  puts("done");
}

static atomic_int ended;

/* A thread may release what its creator asked to have its number in. */
struct job {
  pthread_t number;
  size_t bytes;
};

static void *release_job(void *argument) {
  struct job *job = argument;
  if (!pthread_equal(job->number, pthread_self())) abort();
  volatile char stack[job->bytes];
  stack[0] = stack[job->bytes - 1] = 1;
  munmap(job, 4096);
  ended++;
  if (stack[0] == 2) pthread_exit(NULL);
  return NULL;
}

/* Many short threads from several at once, detached, with stacks of many sizes. */
static void *create_many(void *unused) {
  pthread_attr_t attributes;
  for (size_t i = 0; i < 500; i++) {
    struct job *job = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    job->bytes = 1000 + i * 100;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (i % 3) pthread_attr_setstacksize(&attributes, 16384 * (8 + i % 50));
    while (pthread_create(&job->number, &attributes, release_job, job)) usleep(100);
    pthread_attr_destroy(&attributes);
  }
  return unused;
}

static void busy(void) {
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, create_many, NULL);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  while (ended < 2000) usleep(1000);
  puts("done");
}

static void *wait_for_ever(void *unused) {
  for (;;) pause();
  return unused;
}

/* A refused attribute, a thread that is cancelled before it may have begun, and its result. */
static void cancelled(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  void *result;
  for (int i = 0; i < 200; i++) {
    if (pthread_create(&thread, NULL, wait_for_ever, NULL)) abort();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) abort();
  }
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)1 << 60);
  printf("%d\n", pthread_create(&thread, &attributes, wait_for_ever, NULL));
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread, NULL, worker, NULL); /* waits at the barrier when the program ends */
}

/* All have ended by the time that most is resident. */
static void gone(void) {
  pthread_t thread[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  start_threads(thread, NULL);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  void *block = mmap(NULL, 40 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(block, 1, 40 * MB);
  until_due();
  measure();
  puts("done");
}

static int c11_worker(void *argument) {
  volatile char stack[2 << 20];
  for (size_t i = 0; i < sizeof stack; i += 512) stack[i] = 1;
  until_due();
  return stack[512] + *(int *)argument;
}

NOINLINE static void start_c11(thrd_t *thread, int *argument) {
  for (int i = 0; i < THREADS; i++)
    if (thrd_create(&thread[i], c11_worker, argument) != thrd_success) abort();
}

/* Neither allocates nor maps while its threads run: they are measured where they end. */
static void c11(void) {
  thrd_t thread[THREADS];
  int argument = 41, result;
  start_c11(thread, &argument);
  for (int i = 0; i < THREADS; i++)
    if (thrd_join(thread[i], &result) != thrd_success || result != 42) abort();
  puts("done");
}

static void *go_on_alone(void *unused) {
  (void)unused;
  until_due();
  char *block = mmap(NULL, 30 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(block, 1, 30 * MB);
  until_due();
  measure();
  puts("done");
  exit(0);
}

static void leader_ends(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, go_on_alone, NULL);
  pthread_exit(NULL);
}

static void *use_small(void *unused) {
  volatile char stack[9000];
  for (size_t i = 0; i < sizeof stack; i += 100) stack[i] = 1;
  return stack[100] ? unused : NULL;
}

static void small(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  for (int i = 0; i < 20; i++) {
    if (pthread_create(&thread, &attributes, use_small, NULL)) abort();
    pthread_join(thread, NULL);
  }
  puts("done");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  free(malloc(5000000)); /* so that something is recorded */
  if (!strcmp(what, "large")) large();
  if (!strcmp(what, "brought")) brought();
  if (!strcmp(what, "busy")) busy();
  if (!strcmp(what, "cancelled")) cancelled();
  if (!strcmp(what, "gone")) gone();
  if (!strcmp(what, "c11")) c11();
  if (!strcmp(what, "leader_ends")) leader_ends();
  if (!strcmp(what, "small")) small();
  if (!strcmp(what, "between")) between();
  if (!strcmp(what, "before")) before();
  return 0;
}
/* SPDX-License-Identifier: MIT */
