/* Blocks signals, and waits for them. */
#include "cli/serve/ending.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* A last answer or loading may take so long after the signal. */
enum { END_SECONDS = 2 };

/* A server writes nothing, so nothing is lost if it ends in the middle of an answer. */
static void ending_end_now(int signal) {
  (void)signal;
  _exit(0);
}

void ending_block(sigset_t *ending) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  sigemptyset(ending);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action;
    bool ignored = !sigaction(signals[i], NULL, &action) && action.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(ending, signals[i]);
  }
  sigprocmask(SIG_BLOCK, ending, NULL);
  signal(SIGPIPE, SIG_IGN); /* a client may go in the middle of an answer */
}

bool ending_wait(const sigset_t *ending, unsigned seconds) {
  struct timespec most = {.tv_sec = seconds};
  int number;
  if (seconds ? sigtimedwait(ending, NULL, &most) < 0 : sigwait(ending, &number) != 0) return false;
  signal(SIGALRM, ending_end_now);
  alarm(END_SECONDS);
  sigprocmask(SIG_UNBLOCK, ending, NULL); /* the second Ctrl-C ends it at once */
  return true;
}
/* SPDX-License-Identifier: MIT */
