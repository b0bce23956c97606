/* The program that is to be recorded: found, and refused where it cannot be recorded. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Finds a program as execvp does. */
bool program_find(const char *name, char path[PATH_MAX]);

/* Fails for the program that was not found, argv[0]. */
int program_fail_to_find(char *const *argv);

/* A script that names its interpreter through env is started as env would start it: env would
 * execute the interpreter, which then is a program that the recorded one executed, and those are
 * left alone. False if nothing was changed. */
bool program_through_env(char path[PATH_MAX], char ***argv);

/* Fails, in one line, if it cannot be recorded. `allocator` becomes the name of a function by which
 * it may allocate past malloc, or NULL. */
int program_check(const char *path, const char **allocator);

/* What the system does not know how to run and a shell would: text without an interpreter's
 * name. */
bool program_is_plain_script(const char *path);

/* What a script's first line says, as far as it is one line of text: "/usr/bin/python3 -u" of "#!
 * /usr/bin/python3 -u", or "python3 -u" where /usr/bin/env is to find it. Empty if it is no such
 * script. */
void program_interpreter(const char *path, char *words, size_t size);

#endif
/* SPDX-License-Identifier: MIT */
