/* What somebody may have meant who names a program that cannot be run: the end of the line that
 * says so. */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

/* Each gives a string to be freed; NULL or empty where nothing is likely. */

/* argv[0] is no program: a shell's command line in one word, a command of the shell itself, or a
 * variable's setting. */
char *hint_for_command_line(char *const *argv);

/* A file that is not executable. */
char *hint_for_file(const char *path);

/* What could run a script that does not say it in its first line, told by its name; NULL if that
 * tells nothing. */
const char *hint_interpreter(const char *path);

#endif
/* SPDX-License-Identifier: MIT */
