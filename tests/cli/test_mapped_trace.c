/* The trace that a process writes is found among all that the process maps. */
#include "support/test.h"

#include "cli/mapped_trace.h"
#include "trace/fixture.h"
#include "trace/writer.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 300, MAPPED_BYTES = 1, NO_NAMESPACES = 77 };

static char folder[] = "/tmp/test_mapped_trace.XXXXXX", path[64];

/* Maps a file that is no trace. Later mappings have lower addresses, and so come first in the list. */
static void *map_file(const char *name) {
  int descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  assert_true(descriptor >= 0);
  assert_int_equal(ftruncate(descriptor, MAPPED_BYTES), 0);
  void *mapped = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  assert_true(mapped != MAP_FAILED);
  close(descriptor);
  return mapped;
}

static bool find(struct mapped_trace *found) { return mapped_trace_find(getpid(), fixture_run().pid, found); }

static void check(const char *trace, bool is_removed) {
  struct mapped_trace found;
  if (!find(&found)) fail_msg("%s is not found", trace);
  assert_string_equal(found.trace, trace);
  assert_int_equal(found.is_removed, is_removed);
  if (!is_removed) assert_string_equal(found.path, trace);
  free(found.trace);
  free(found.path);
}

static void a_trace_is_found_also_if_it_was_removed(void **state) {
  (void)state;
  struct mapped_trace found;
  assert_false(find(&found));
  struct trace_writer *writer = fixture_open(path, 0);
  check(path, false);
  assert_false(mapped_trace_find(getpid(), fixture_run().pid + 1, &found));
  assert_int_equal(unlink(path), 0);
  check(path, true);
  trace_writer_close(writer);
}

static void a_trace_is_found_behind_many_files(void **state) {
  (void)state;
  char name[80];
  void *mapped[FILES];
  struct trace_writer *writer = fixture_open(path, 0);
  for (int i = 0; i < FILES; i++) {
    snprintf(name, sizeof name, "%s/%d", folder, i);
    mapped[i] = map_file(name);
    unlink(name);
  }
  check(path, false);
  unlink(path);
  check(path, true);
  for (int i = 0; i < FILES; i++) munmap(mapped[i], MAPPED_BYTES);
  trace_writer_close(writer);
}

static void write_file(const char *name, const char *text) {
  int descriptor = open(name, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0 || write(descriptor, text, strlen(text)) < 0) _exit(NO_NAMESPACES);
  close(descriptor);
}

/* File systems of this process alone. */
static void enter_namespace(void) {
  char map[40];
  snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
  if (!geteuid() && !unshare(CLONE_NEWNS)) return;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) _exit(NO_NAMESPACES);
  write_file("/proc/self/uid_map", map);
}

static ino_t number_of(const char *name) {
  struct stat found;
  assert_int_equal(stat(name, &found), 0);
  return found.st_ino;
}

static void map_two_of_one_number(void) {
  static const char one[] = "/tmp/one.trace", other[] = "/mnt/other";
  enter_namespace();
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", "/tmp", "tmpfs", 0, NULL) ||
      mount("none", "/mnt", "tmpfs", 0, NULL))
    _exit(NO_NAMESPACES);
  struct trace_writer *writer = fixture_open(one, 0);
  map_file(other);
  if (number_of(one) != number_of(other)) _exit(NO_NAMESPACES);
  check(one, false);
  /* A descriptor of the other one is not the trace's. */
  assert_true(open(other, O_RDONLY | O_CLOEXEC) >= 0);
  assert_int_equal(unlink(one), 0);
  check(one, true);
  trace_writer_close(writer);
  _exit(0);
}

/* The list of mappings can have another device than the file's status. */
static void map_one_in_an_overlay(void) {
  static const char one[] = "/mnt/all/one.trace";
  enter_namespace();
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", "/mnt", "tmpfs", 0, NULL) ||
      mkdir("/mnt/lower", 0700) || mkdir("/mnt/upper", 0700) || mkdir("/mnt/work", 0700) ||
      mkdir("/mnt/all", 0700) ||
      mount("none", "/mnt/all", "overlay", 0, "lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work"))
    _exit(NO_NAMESPACES);
  struct trace_writer *writer = fixture_open(one, 0);
  check(one, false);
  assert_int_equal(unlink(one), 0);
  check(one, true);
  trace_writer_close(writer);
  _exit(0);
}

static void run_in_child(void run(void)) {
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) run();
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == NO_NAMESPACES) skip();
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* Files of two file systems can have one number. */
static void a_file_of_the_same_number_is_not_the_trace(void **state) {
  (void)state;
  run_in_child(map_two_of_one_number);
}

static void a_trace_in_an_overlay_is_found(void **state) {
  (void)state;
  run_in_child(map_one_in_an_overlay);
}

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/program.trace", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trace_is_found_also_if_it_was_removed),
      cmocka_unit_test(a_trace_is_found_behind_many_files),
      cmocka_unit_test(a_file_of_the_same_number_is_not_the_trace),
      cmocka_unit_test(a_trace_in_an_overlay_is_found),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
/* SPDX-License-Identifier: MIT */
