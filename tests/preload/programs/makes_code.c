/* A runtime that makes code, and tells its names as V8 and OpenJDK do:
 *   first()  allocates 1000 blocks of 100 bytes
 *   second() is put in its place, and allocates 1000 of 200
 *   late     allocates 1000 of 300, is then told as "int A.late(int)", and allocates 1000 of 400
 * Names are read at most once a millisecond, so two are spent between one and the next.
 * FORK: a child allocates by the code of its parent, too.
 * SILENT: it tells nothing.
 * CANCEL: a thread that was asked to end allocates so; malloc is no place where it may end.
 * FILTER: a file is mapped as executable where system calls that are not needed would kill.
 * DUMP: a jitdump tells of old(), which allocates 1000 of 100; of new(), which takes its place and
 *   allocates 1000 of 200, it tells only afterwards. It leaves the file.
 * HANDLER: a handler forks while a large file is read; the child goes on. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static size_t size;
static void *kept[1000];

__attribute__((noinline)) static void allocate(void) {
  for (int i = 0; i < 1000; i++) kept[i] = malloc(size);
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static bool is_silent;

static void tell(const void *code, const char *name) {
  if (is_silent) return;
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE *out = fopen(path, "a");
  fprintf(out, "%lx %zx %s\n", (unsigned long)code, sizeof calls, name);
  fclose(out);
}

static void run(void *code, size_t bytes) {
  size = bytes;
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  ((void (*)(void (*)(void)))code)(allocate);
}

static unsigned char *code;
static volatile int went_on;

static void *end_later(void *unused) {
  (void)unused;
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  pthread_cancel(pthread_self());
  ((void (*)(void (*)(void)))code)(allocate);
  went_on = 1;
  pthread_testcancel();
  return NULL;
}

static int cancel(void) {
  pthread_t thread;
  void *result;
  tell(code, "JS:~third /srv/app.js:12:1");
  if (pthread_create(&thread, NULL, end_later, NULL) || pthread_join(thread, &result)) return 1;
  return !went_on || result != PTHREAD_CANCELED;
}

static int filter(void) {
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 1, 0),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_geteuid, 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  FILE *self = fopen("/proc/self/exe", "r");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
    return 77;
  tell(code, "JS:~third /srv/app.js:12:1");
  run(code, 600);
  return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(self), 0) == MAP_FAILED;
}

static volatile pid_t forked = -1;
static void fork_once(int number) {
  (void)number;
  if (forked < 0) forked = fork();
}

static int handle(void) {
  char path[64];
  int status = 0;
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE *out = fopen(path, "a");
  for (int i = 0; i < 200000; i++) fprintf(out, "%x 10 f%d\n", 0x1000000 + 32 * i, i);
  fclose(out);
  signal(SIGALRM, fork_once);
  struct itimerval soon = {.it_value = {.tv_usec = 8000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  while (forked < 0) run(code, 600);
  if (!forked) _exit(0);
  waitpid(forked, &status, 0);
  return status;
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void tell_dump(int file, uint64_t made_ns, const char *name) {
  struct {
    uint32_t kind, bytes;
    uint64_t time_ns;
    uint32_t pid, tid;
    uint64_t memory, begin, size, number;
    char name[64];
  } record = {.bytes = sizeof record,
              .time_ns = made_ns,
              .pid = (uint32_t)getpid(),
              .begin = (uintptr_t)code,
              .size = sizeof calls};
  strcpy(record.name, name);
  if (write(file, &record, sizeof record) != sizeof record) abort();
}

/* Both functions have the same callers. */
__attribute__((noinline)) static void call(size_t bytes) {
  size = bytes;
  ((void (*)(void (*)(void)))code)(allocate);
}

static int dump(void) {
  char path[64];
  const uint32_t header[] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0, 0, 0};
  snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || write(file, header, sizeof header) != sizeof header) return 1;
  if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) return 1;
  tell_dump(file, now_ns(), "JS:~old /srv/app.js:3:1");
  uint64_t made_ns = 0;
  for (size_t bytes = 100; bytes <= 200; bytes += 100) {
    made_ns = now_ns();
    call(bytes);
  }
  tell_dump(file, made_ns, "JS:*new /srv/app.js:9:1");
  return 0;
}

int main(int argc, char **argv) {
  code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char path[64];
  is_silent = argc > 1 && !strcmp(argv[1], "SILENT");
  memcpy(code, calls, sizeof calls);
  memcpy(code + 64, calls, sizeof calls);
  if (argc > 1 && !strcmp(argv[1], "DUMP")) return dump();
  run(code, 1); /* before there is a file */
  tell(code, "JS:~first /srv/app.js:3:1");
  run(code, 100);
  tell(code, "JS:*second /srv/app.js:9:1");
  run(code, 200);
  run(code + 64, 300);
  tell(code + 64, "int A.late(int)");
  run(code + 64, 400);
  int failed = 0;
  if (argc > 1 && !strcmp(argv[1], "CANCEL")) failed = cancel();
  if (argc > 1 && !strcmp(argv[1], "FILTER")) failed = filter();
  if (argc > 1 && !strcmp(argv[1], "HANDLER")) failed = handle();
  if (argc > 1 && !strcmp(argv[1], "FORK")) {
    pid_t child = fork();
    if (!child) return run(code, 500), 0;
    waitpid(child, NULL, 0);
  }
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  unlink(path);
  return failed;
}
/* SPDX-License-Identifier: MIT */
