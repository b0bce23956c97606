/* Finds the program that is to be recorded, and refuses it if it cannot be recorded. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Finds a program as execvp does. False: there is none. */
bool program_find(const char *name, char path[PATH_MAX]);

/* Fails because program_find did not find argv[0], with a hint if one is likely. Returns the exit
 * code. */
int program_fail_to_find(char *const *argv);

/* Replaces a script whose first line names its interpreter through env by that interpreter with the
 * script as argument. Otherwise env would be the recorded program, and the interpreter one that it
 * executed. False: nothing was changed. */
bool program_through_env(char path[PATH_MAX], char ***argv);

/* Fails, with one line, if the program cannot be recorded. *allocator becomes the name of an
 * allocator besides malloc that is linked into the program, or NULL. Returns 0 or the exit code. */
int program_check(const char *path, const char **allocator);

/* Whether a file is a text that does not name an interpreter. The system cannot run it, but a shell
 * can. */
bool program_is_plain_script(const char *path);

/* Writes the command that runs a script, by its first line: "/usr/bin/python3 -u" for "#!
 * /usr/bin/python3 -u", and "python3 -u" if /usr/bin/env has to find it. Empty if the file is no
 * such script, or if the line cannot be shown safely. */
void program_interpreter(const char *path, char *words, size_t size);
/* SPDX-License-Identifier: MIT */
