/* Forks in signal handlers that interrupt the allocator: forks_in_handler COUNT [THREADS]. So many
 * threads allocate meanwhile, so that the handler may interrupt a thread that waits for one of them;
 * then each child returns from its handler and goes on allocating. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t forks, failures, is_child, threads, failed_status;
static atomic_bool ended;

/* Armed again by the handler itself, so that the program goes on however slow a fork is. */
static void arm(void) {
  struct itimerval soon = {.it_value.tv_usec = 300};
  setitimer(ITIMER_REAL, &soon, NULL);
}

static void handler(int number) {
  (void)number;
  pid_t child = fork();
  int status = 0;
  if (!child && !threads) _exit(0);
  if (!child) {
    is_child = 1;
    signal(SIGALRM, SIG_DFL);
    alarm(10);
  }
  if (child > 0 && waitpid(child, &status, 0) == child) {
    forks++;
    if (status) {
      failed_status = status;
      failures++;
    }
    arm();
  }
}

static void allocate_large(void) {
  void *one = malloc(40000), *other = malloc(60000);
  free(one);
  free(other);
}

static void *allocate(void *unused) {
  while (!atomic_load(&ended)) allocate_large();
  return unused;
}

int main(int argc, char **argv) {
  int wanted = atoi(argv[1]);
  threads = argc > 2 ? atoi(argv[2]) : 0;
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  pthread_t thread[16];
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, allocate, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  struct itimerval off = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  arm();
  while (forks < wanted && !failures) {
    allocate_large();
    if (is_child) _exit(0);
  }
  setitimer(ITIMER_REAL, &off, NULL);
  atomic_store(&ended, 1);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  if (failures)
    printf("a child failed: %s %d\n", WIFSIGNALED(failed_status) ? "signal" : "exit status",
           WIFSIGNALED(failed_status) ? WTERMSIG(failed_status) : WEXITSTATUS(failed_status));
  else
    puts("survived");
  return 0;
}
/* SPDX-License-Identifier: MIT */
