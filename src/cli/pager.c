/* A pager for what is printed on a terminal. Colours and the terminal's width stay as they are without it. */
#include "cli/text.h"

#include "cli/program.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL: there is none. */
static const char *pager_command(void) {
  static char found[PATH_MAX];
  const char *given = getenv("PAGER"), *terminal = getenv("TERM");
  if (!isatty(1) || !terminal || !strcmp(terminal, "dumb")) return NULL;
  if (given) return *given && strcmp(given, "cat") ? given : NULL;
  return program_find("less", found) ? "less" : NULL;
}

FILE *pager_begin(void) {
  const char *command = pager_command();
  if (!command) return NULL;
  text_for_pager();
  setenv("LESS", "FRX", 0);
  setenv("LESSCHARSET", "utf-8", 0);
  fflush(stdout);
  FILE *pager = popen(command, "we");
  if (!pager) return NULL;
  dup2(fileno(pager), 1);
  return pager;
}

void pager_end(FILE *pager) {
  if (!pager) return;
  fflush(NULL); /* stdout may write through another stream (ascii.c) */
  close(1);
  pclose(pager);
}
/* SPDX-License-Identifier: MIT */
