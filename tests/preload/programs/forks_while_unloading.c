/* forks_while_unloading FOLDER COUNT: forks while another thread opens and closes a library all the
 * time, after each of which Winnow looks its modules through under a lock. Each child allocates in
 * a library that was never seen before. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *allocates(size_t);
static atomic_bool ended;
static char path[2][4096];

static void *open_and_close(void *unused) {
  while (!atomic_load(&ended)) dlclose(dlopen(path[0], RTLD_NOW));
  return unused;
}

int main(int argc, char **argv) {
  int count = atoi(argv[2]), bad = 0;
  for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/libplugin_%c.so", argv[1], 'a' + i);
  if (!dlopen(path[0], RTLD_NOW)) return 2;
  allocates *unseen = (allocates *)dlsym(dlopen(path[1], RTLD_NOW), "plugin_allocates_b");
  pthread_t thread;
  pthread_create(&thread, NULL, open_and_close, NULL);
  for (int i = 0; i < count && !bad; i++) {
    pid_t pid = fork();
    if (!pid) {
      alarm(10);
      free(unseen(100));
      _exit(0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status) bad++;
  }
  atomic_store(&ended, 1);
  pthread_join(thread, NULL);
  printf("%d children failed\n", bad);
  return 0;
}
/* SPDX-License-Identifier: MIT */
