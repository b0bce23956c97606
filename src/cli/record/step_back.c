/* Gives way to other processes. */
#include "cli/record/step_back.h"

#include "base/os.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A tenth of what a process of the usual priority gets beside it. With less (19, or SCHED_IDLE) a
 * compaction takes minutes where all processors are busy, and the trace loses records meanwhile. */
enum { NICE = 10 };

static void step_back_write_text(const char *path, const char *text) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  os_write_all(descriptor, text, strlen(text));
  close(descriptor);
}

void step_back(void) {
  enum { THIS_PROCESS = 1, IDLE_CLASS = 3 << 13 }; /* ioprio_set(2) */
  setpriority(PRIO_PROCESS, 0, NICE);
  syscall(SYS_ioprio_set, THIS_PROCESS, 0, IDLE_CLASS);
  step_back_write_text("/proc/self/oom_score_adj", "1000");
}
/* SPDX-License-Identifier: MIT */
