/* descriptors MODE FOLDER: what programs do to file descriptors, folders and limits, while they
 * allocate.
 *   closefrom   closes all, opens its own files at every number, and looks at them afterwards
 *   closeloop   closes all again and again
 *   daemon      becomes one: forks twice, closes all, changes the folder
 *   chroot      changes the root, closes all
 *   umask       changes the umask, makes a file
 *   fsize       limits the size of files to 256 KiB */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 1100, BLOCKS = 60000 };
static void *volatile kept[BLOCKS];

static void allocate(int rounds) {
  for (int round = 0; round < rounds; round++) {
    errno = 77; /* whatever fails for us meanwhile must not be seen */
    for (int i = 0; i < BLOCKS; i++) kept[i] = malloc((size_t)(i % 300 + 1));
    for (int i = 0; i < BLOCKS; i++) free(kept[i]);
    if (errno != 77) printf("errno became %d\n", errno);
  }
}

static void close_all(void) { closefrom(3); }

/* Files of one page at every descriptor that may be had, the number 900 and its neighbours among
 * them. */
static int open_own_files(int *file) {
  int count = 0;
  char name[64], text[4096];
  for (int i = 0; i < FILES; i++) {
    snprintf(name, sizeof name, "own.%d", i);
    int opened = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (opened < 0) break;
    memset(text, 'A' + i % 26, sizeof text);
    if (write(opened, text, sizeof text) != sizeof text) abort();
    file[count++] = opened;
  }
  return count;
}

static int damaged(const int *file, int count) {
  int bad = 0;
  char text[4096];
  for (int i = 0; i < count; i++) {
    struct stat status;
    if (fstat(file[i], &status) || status.st_size != sizeof text || status.st_blocks > 8) {
      bad++;
      continue;
    }
    if (pread(file[i], text, sizeof text, 0) != sizeof text) bad++;
    for (size_t k = 0; k < sizeof text; k++) bad += text[k] != 'A' + i % 26;
  }
  return bad;
}

static void from_close_to_open(void) {
  static int file[FILES];
  allocate(1);
  close_all();
  int count = open_own_files(file);
  allocate(3);
  printf("files %d damaged %d\n", count > 900, damaged(file, count));
}

static void close_again_and_again(void) {
  for (int i = 0; i < 30; i++) {
    close_all();
    int file = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(file, "mine", 4) != 4) abort();
    for (int k = 0; k < 3000; k++) kept[k] = malloc(40);
    struct stat status;
    if (fstat(file, &status) || status.st_size != 4) puts("damaged");
  }
}

static void become_a_daemon(void) {
  allocate(1);
  int status;
  pid_t pid = fork();
  if (pid) {
    waitpid(pid, &status, 0);
    printf("daemon's parent: %d\n", status);
    return;
  }
  setsid();
  pid = fork();
  if (pid) _exit(0);
  if (chdir("/")) abort();
  closefrom(0);
  for (int i = 0; i < 3; i++)
    if (open("/dev/null", O_RDWR) != i) abort();
  allocate(1);
  exit(0);
}

static void change_root(const char *folder) {
  allocate(1);
  if (chroot(folder) || chdir("/")) {
    puts("no chroot");
    return;
  }
  close_all();
  allocate(3);
  puts("another root");
}

static void change_umask(void) {
  umask(0777);
  allocate(2);
  int file = open("masked", O_RDWR | O_CREAT, 0666);
  struct stat status;
  if (fstat(file, &status)) abort();
  printf("mode %o umask %o\n", status.st_mode & 0777, umask(0));
}

static void limit_files(void) {
  const struct rlimit limit = {256 << 10, 256 << 10};
  if (setrlimit(RLIMIT_FSIZE, &limit)) abort();
  allocate(5);
  puts("limited");
}

int main(int argc, char **argv) {
  const char *mode = argv[1];
  if (!strcmp(mode, "closefrom")) from_close_to_open();
  if (!strcmp(mode, "closeloop")) close_again_and_again(), puts("closed 30 times");
  if (!strcmp(mode, "daemon")) become_a_daemon();
  if (!strcmp(mode, "chroot")) change_root(argv[2]);
  if (!strcmp(mode, "umask")) change_umask();
  if (!strcmp(mode, "fsize")) limit_files();
  return argc > 99;
}
/* SPDX-License-Identifier: MIT */
