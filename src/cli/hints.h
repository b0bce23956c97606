/* Hints for a user whose program cannot be run: the end of the line that says so. */
#pragma once

/* Each returns a string that the caller frees; NULL or empty if no mistake is likely. */

/* For an argv[0] that is no program: a command line of a shell in one word, a command of the shell
 * itself, or the setting of a variable. */
char *hint_for_command_line(char *const *argv);

/* For a file that is not executable. */
char *hint_for_file(const char *path);

/* The likely interpreter of a script whose first line names none, judged by the ending of its name;
 * NULL if that is not known. */
const char *hint_interpreter(const char *path);
/* SPDX-License-Identifier: MIT */
