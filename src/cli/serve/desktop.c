/* Opens addresses by xdg-open, without a shell.
 *
 * The child is in a session of its own, so that Ctrl-C ends the server and not a browser that
 * xdg-open has started. Nothing waits for it: it may run as long as the browser. Its arguments are
 * visible to other users of the machine; with --no-open it is not. */
#include "cli/serve/desktop.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool desktop_is_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value;
}

static void desktop_start(const char *address) {
  char *arguments[] = {"xdg-open", (char *)address, NULL};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  sigset_t none, all;
  pid_t child;
  sigemptyset(&none);
  sigfillset(&all);
  if (posix_spawnattr_init(&attributes)) return;
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  if (!posix_spawn_file_actions_init(&files)) {
    for (int fd = 0; fd < 3; fd++)
      posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    (void)posix_spawnp(&child, *arguments, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
  }
  posix_spawnattr_destroy(&attributes);
}

/* ---- shared ---- */

void desktop_open(const char *address) {
  if (isatty(1) && (desktop_is_set("DISPLAY") || desktop_is_set("WAYLAND_DISPLAY"))) desktop_start(address);
}
/* SPDX-License-Identifier: MIT */
