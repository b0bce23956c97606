/* A control group of the system's with a limit of memory: a program in it lives within the limit,
 * which is killed there if its heap does not know of the limit. Skipped where no group can be made. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/gc.h>

enum { MEGABYTE = 1 << 20, LIMIT = 64 * MEGABYTE, LIVE = 24 * MEGABYTE, WORDS = 31, YOUNG = 40 };

/* ---- a group ---- */

static char folder[1200];

static bool write_text(const char *name, const char *text) {
  char path[1300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_WRONLY);
  bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  if (file >= 0) close(file);
  return written;
}

/* The path of this process's group in the hierarchy whose line has this begin after its number. */
static bool find_own(const char *begin, char *path, size_t capacity) {
  char line[1024];
  bool found = false;
  FILE *file = fopen("/proc/self/cgroup", "r");
  while (file && !found && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(colon, begin, strlen(begin))) continue;
    line[strcspn(line, "\n")] = 0;
    found = snprintf(path, capacity, "%s", strcmp(colon + strlen(begin), "/") ? colon + strlen(begin) : "") <
            (int)capacity;
  }
  if (file) fclose(file);
  return found;
}

static bool make_in(const char *root, const char *begin, const char *limit_file) {
  char own[800], limit[32];
  if (!find_own(begin, own, sizeof own)) return false;
  snprintf(folder, sizeof folder, "%s%s/winnow-test-%d", root, own, (int)getpid());
  if (mkdir(folder, 0755)) return false;
  snprintf(limit, sizeof limit, "%d", LIMIT);
  if (write_text(limit_file, limit)) return true;
  rmdir(folder);
  return false;
}

/* Swap would let a program live that takes too much: where there is such a limit, there is none. */
static bool make_group(void) {
  if (make_in("/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes")) {
    char limit[32];
    snprintf(limit, sizeof limit, "%d", LIMIT);
    write_text("memory.memsw.limit_in_bytes", limit);
    return true;
  }
  if (!make_in("/sys/fs/cgroup", "::", "memory.max")) return false;
  write_text("memory.swap.max", "0");
  return true;
}

/* ---- a program in it ---- */

static void churn(wn_domain *domain) {
  WN_SCOPE(domain);
  size_t count = LIVE / 8 / (WORDS + 1);
  wn_ref array = wn_alloc(domain, count, 0);
  uint64_t x = 88172645463325252;
  for (size_t i = 0; i < 5 * count; i++) {
    WN_SCOPE(domain);
    for (int young = 0; young < YOUNG; young++) wn_bump(domain, 1, WN_TAG_RAW)[0] = 0;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    wn_set(domain, array, i < count ? i : x % count, wn_alloc(domain, WORDS, 0));
  }
}

/* Without a limit its heap would grow to three times of what is live. */
static int run(const char *text) {
  wn_heap *heap;
  wn_domain *domain;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.space_overhead = 400;
  options.helper_threads = 0;
  options.text = text;
  if (!write_text("cgroup.procs", "0")) return 2;
  if (wn_heap_open(&options, &heap) || wn_domain_attach(heap, &domain)) return 3;
  churn(domain);
  return wn_gc_verify(domain, stderr) || wn_domain_detach(domain) || wn_heap_close(heap);
}

static int run_in_child(const char *text) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) _exit(run(text));
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void a_heap_lives_within_the_limit_of_its_group(void **state) { /* H7e */
  (void)state;
  int without = run_in_child("cgroup=0"), with = run_in_child("");
  rmdir(folder);
  assert_true(WIFSIGNALED(without) && WTERMSIG(without) == SIGKILL);
  assert_int_equal(with, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heap_lives_within_the_limit_of_its_group),
  };
  if (!make_group()) {
    printf("skipped: no control group with a limit of memory can be made here (%s)\n", strerror(errno));
    return 77;
  }
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
