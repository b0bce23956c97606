/* Forbids itself system calls, and then allocates:  confined strict | again | few | most | all |
 * inherited
 *
 * strict: read, write, _exit and sigreturn are left; again: the same, and what it allocates then
 * has room only where blocks of before were; few: what malloc and the exit need; most: all but
 * those of a question to malloc, and of the clock of the process; all: all are allowed, by a
 * filter; inherited: as `most`, and what allocates is the program that the process becomes then.
 * Each call that is not allowed kills the process. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEPT = 500, ROUNDS = 200, MEDIUM = 40, MEDIUM_BYTES = 50000, SMALL = 2000, SMALL_BYTES = 1000 };

static void *kept[KEPT], *medium[MEDIUM], *small[SMALL], *volatile last;

static int filter(const char *how) {
  int few = !strcmp(how, "few"), most = !strcmp(how, "most") || !strcmp(how, "inherited");
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_STMT(BPF_ST, 3),
      BPF_STMT(BPF_LD | BPF_MEM, 3),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, few ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_filter most_code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mincore, 2, 0),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (most) program = (struct sock_fprog){sizeof most_code / sizeof *most_code, most_code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((noinline)) void before(void) {
  for (int i = 0; i < KEPT; i++) kept[i] = malloc(64 + i * 8);
}

/* Takes longer than the time between two measurements of the recorder. */
__attribute__((noinline)) void within(int grows) {
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < KEPT; i++) {
      if (grows && round == ROUNDS / 2) kept[i] = realloc(kept[i], 3000);
      void *volatile block = malloc(64 + i * 8);
      free(block);
    }
  for (int i = 0; i < KEPT; i++) free(kept[i]);
}

static void allocate_all(int less) {
  for (int i = 0; i < MEDIUM; i++) medium[i] = malloc(MEDIUM_BYTES - less);
  for (int i = 0; i < SMALL; i++) small[i] = malloc(SMALL_BYTES - less);
}

static void free_all(void) {
  for (int i = 0; i < MEDIUM; i++) free(medium[i]);
  for (int i = 0; i < SMALL; i++) free(small[i]);
}

/* malloc gives free memory behind the last block back to the system; that block stays. */
static void make_ready(void) {
  allocate_all(0);
  last = malloc(SMALL_BYTES);
  free_all();
  allocate_all(0);
}

static void use_again(void) {
  for (int round = 0; round < 3; round++) {
    free_all();
    allocate_all(round * 8);
  }
  free_all();
}

int main(int count, char **arguments) {
  static char line[100];
  const char *how = count > 1 ? arguments[1] : "all";
  int again = !strcmp(how, "again"), strict = again || !strcmp(how, "strict");
  if (!strcmp(how, "inherited") && count == 2) {
    if (filter(how)) return 8;
    execl("/proc/self/exe", "confined", how, "now", NULL);
    return 9;
  }
  before();
  if (again) make_ready();
  free(malloc(60 << 10)); /* what malloc needs later it has now */
  if (count == 2 && (strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) : filter(how))) return 8;
  if (again)
    use_again();
  else
    within(!strict);
  int length = snprintf(line, sizeof line, "%s: done\n", how);
  write(1, line, (size_t)length);
  if (strict) syscall(SYS_exit, 0);
  return 0;
}
/* SPDX-License-Identifier: MIT */
