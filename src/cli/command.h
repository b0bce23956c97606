/* The commands of `winnow`, and the functions by which they fail. */
#pragma once

#include <stdio.h>

/* Exit codes: 0 for success, EXIT_JOB if the job failed, EXIT_USAGE for wrong usage. `record` exits
 * with the program's own code. */
enum { EXIT_JOB = 1, EXIT_USAGE = 2, EXIT_CANNOT_RUN = 126, EXIT_NO_PROGRAM = 127 };

/* argv[0] is the command's name. */
typedef int command_function(int argc, char **argv);

command_function command_record, command_report, command_html, command_view, command_export, command_diff,
    command_heap, command_info, command_dump, command_compact, command_status, command_start, command_stop,
    command_rate, command_unit, command_serve, command_ship, command_fleet, command_help;

struct command {
  const char *name;
  command_function *run;
  const char *summary;              /* one line */
  const char *usage;                /* the command line, without "winnow " */
  const char *help;                 /* options and examples */
  void (*print_options)(FILE *out); /* prints the options, if `help` does not have them; may be NULL */
};

/* Ends with an entry without a name. */
extern const struct command commands[];

/* Print the options of a command, one per line. */
void record_print_options(FILE *out);
void report_print_options(FILE *out);
void html_print_options(FILE *out);
void view_print_options(FILE *out);
void serve_print_options(FILE *out);
void ship_print_options(FILE *out);
void fleet_print_options(FILE *out);
void export_print_options(FILE *out);
void diff_print_options(FILE *out);

const struct command *command_find(const char *name);

/* The name or path by which the user started this program, such as "winnow". */
const char *command_called(void);

/* Print one line to standard error: "winnow: message" for a failed job, "winnow NAME: message" for
 * wrong usage of the command NAME. Return the exit code. */
int fail_job(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Called directly after getopt_long has returned '?' or ':': prints which option is wrong, and why.
 */
struct option;
int fail_option(const char *command, int option, char **argv, const struct option *known);
/* SPDX-License-Identifier: MIT */
