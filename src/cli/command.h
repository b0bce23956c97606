/* The commands of `winnow`. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdio.h>

/* Exit codes: 0, 1 a job that failed, 2 wrong usage; `record` passes the program's own on. */
enum { EXIT_JOB = 1, EXIT_USAGE = 2 };

/* argv[0] is the command's name. */
typedef int command_function(int argc, char **argv);

command_function command_record, command_report, command_info, command_help;

struct command {
  const char *name;
  command_function *run;
  const char *summary;              /* one line */
  const char *usage;                /* without "winnow " */
  const char *help;                 /* options and examples */
  void (*print_options)(FILE *out); /* the options, where `help` does not have them; may be NULL */
};

/* Ends with an entry without a name. */
extern const struct command commands[];

/* The options of a command, a line each. */
void record_print_options(FILE *out);
void report_print_options(FILE *out);

const struct command *command_find(const char *name);

/* What the user typed to call us: "winnow", or a path. */
const char *command_called(void);

/* Print one line on standard error: "winnow: message" for a failed job, "winnow NAME: message" for
 * a wrong use of the command NAME. Return their exit codes. */
int fail_job(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For getopt_long's '?' and ':', right after it: names the option, and says what is wrong with
 * it. */
struct option;
int fail_option(const char *command, int option, char **argv, const struct option *known);

#endif
/* SPDX-License-Identifier: MIT */
