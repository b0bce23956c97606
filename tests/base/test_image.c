/* Which files can take a preloaded library; the compilers' programs are in tests/preload. */
#include "support/test.h"

#include "base/image.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64], other[64];

static void write_file(const char *name, const void *bytes, size_t count) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  assert_int_equal(write(fd, bytes, count), count);
  close(fd);
}

static struct image examine(const char *name) {
  static struct image image;
  errno = 77;
  image_examine(AT_FDCWD, name, &image);
  assert_int_equal(errno, 77);
  return image;
}

static void programs_and_scripts_are_told_apart(void **state) {
  (void)state;
  char script[128];
  assert_int_equal(examine("/bin/sh").kind, IMAGE_GOOD);
  assert_int_equal(examine("/no/such/file").kind, IMAGE_UNREADABLE);
  assert_int_equal(examine("/no/such/file").error, ENOENT);
  assert_int_equal(examine("/tmp").kind, IMAGE_UNREADABLE);
  snprintf(script, sizeof script, "#! /bin/sh -e\n");
  write_file(path, script, strlen(script));
  assert_int_equal(examine(path).kind, IMAGE_GOOD);
  assert_string_equal(examine(path).path, "/bin/sh");
  snprintf(script, sizeof script, "#!/no/such/file\n");
  write_file(path, script, strlen(script));
  assert_int_equal(examine(path).kind, IMAGE_UNREADABLE);
  assert_string_equal(examine(path).script, path);
  write_file(path, "echo\n", 5);
  assert_int_equal(examine(path).kind, IMAGE_GOOD);
  write_file(path, "a\0b", 3);
  assert_int_equal(examine(path).kind, IMAGE_UNKNOWN);
  unlink(path);
}

static void scripts_that_name_each_other_end(void **state) {
  (void)state;
  char line[128];
  snprintf(line, sizeof line, "#!%s\n", other);
  write_file(path, line, strlen(line));
  snprintf(line, sizeof line, "#!%s\n", path);
  write_file(other, line, strlen(line));
  assert_int_equal(examine(path).kind, IMAGE_UNKNOWN);
  unlink(path);
  unlink(other);
}

static void descriptors_and_folders_are_followed(void **state) {
  (void)state;
  struct image image;
  int flags[] = {O_RDONLY, O_PATH};
  for (int i = 0; i < 2; i++) {
    int fd = open("/bin/sh", flags[i]);
    image_examine(fd, "", &image);
    assert_int_equal(image.kind, IMAGE_GOOD);
    close(fd);
  }
  int folder = open("/bin", O_RDONLY | O_DIRECTORY);
  image_examine(folder, "sh", &image);
  assert_int_equal(image.kind, IMAGE_GOOD);
  close(folder);
}

/* A header may say anything. */
static void broken_programs_do_no_harm(void **state) {
  (void)state;
  enum { MOST = 1 << 16, TIMES = 3000, HEADERS = 1024 };
  static unsigned char whole[MOST], broken[MOST];
  int fd = open("/proc/self/exe", O_RDONLY);
  ssize_t count = read(fd, whole, sizeof whole);
  close(fd);
  assert_true(count > HEADERS);
  struct random random;
  random_seed(&random, 1, 2, 3);
  for (int i = 0; i < TIMES; i++) {
    memcpy(broken, whole, (size_t)count);
    uint64_t bits = random_bits(&random), where = i % 3 ? HEADERS : (uint64_t)count;
    for (unsigned j = 0; j < 1 + bits % 8; j++)
      broken[random_bits(&random) % where] = (unsigned char)random_bits(&random);
    size_t length = i % 5 ? (size_t)count : (size_t)(random_bits(&random) % (uint64_t)count);
    write_file(path, broken, length);
    assert_in_range(examine(path).kind, IMAGE_GOOD, IMAGE_KINDS - 1);
  }
  unlink(path);
}

static void each_reason_has_words(void **state) {
  (void)state;
  for (int kind = IMAGE_UNREADABLE; kind <= IMAGE_KINDS; kind++)
    assert_true(strlen(image_reason((enum image_kind)kind)) > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_and_scripts_are_told_apart),
      cmocka_unit_test(scripts_that_name_each_other_end),
      cmocka_unit_test(descriptors_and_folders_are_followed),
      cmocka_unit_test(broken_programs_do_no_harm),
      cmocka_unit_test(each_reason_has_words),
  };
  snprintf(path, sizeof path, "/tmp/test_image_%d", (int)getpid());
  snprintf(other, sizeof other, "/tmp/test_image_%d.other", (int)getpid());
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
