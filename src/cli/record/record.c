/* winnow record: runs a program with libwinnow-malloc preloaded, finishes its traces, and ends as
 * the program did.
 *
 * It starts the program only if the program can be recorded (program.h), and makes the folder of the
 * traces before (folder.h). The options and variables are those of settings/settings.def. After the run
 * it finishes the traces, and prints what was written and what is missing.
 */
#include "cli/record/record.h"

#include "analysis/query/query.h"
#include "base/cgroup.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/program.h"
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the command line ---- */

/* Sets the rate by --every BYTES. */
static bool set_every(struct record *record, const char *text) {
  double bytes, least = (double)setting_rows[SETTING_EVERY].least;
  if (!query_bytes(text, &bytes) || bytes < least || bytes > (double)setting_rows[SETTING_EVERY].most)
    return false;
  snprintf(record->rate, sizeof record->rate, "%.17g", 8 / bytes);
  return setting_set(&record->settings, SETTING_RATE, record->rate) &&
         setting_set(&record->settings, SETTING_EVERY, text);
}

static int record_parse_option(struct record *record, enum setting setting) {
  const char *text = setting_rows[setting].argument ? optarg : "1";
  struct settings *settings = &record->settings;
  if ((setting == SETTING_RATE || setting == SETTING_EVERY) && settings->of[SETTING_RATE].given)
    return fail_usage("record", "--rate and --every set the same value; give only one of them");
  if (setting == SETTING_EVERY ? set_every(record, text) : setting_set(settings, setting, text)) return 0;
  char complaint[SETTING_COMPLAINT_BYTES];
  setting_complain_of_option(complaint, setting, text);
  return fail_usage("record", "%s", complaint);
}

/* The options as getopt needs them. */
struct known {
  struct option options[SETTINGS + 1];
  char letters[2 * SETTINGS + 3];
};

static void record_make_known(struct known *known) {
  struct option *option = known->options;
  char *letters = stpcpy(known->letters, "+:");
  for (const struct setting_row *row = setting_rows; row < setting_rows + SETTINGS; row++) {
    if (!row->option) continue;
    *option++ =
        (struct option){row->option, row->argument ? required_argument : no_argument, NULL, row->letter};
    *letters++ = row->letter;
    if (row->argument) *letters++ = ':';
  }
  *option = (struct option){0};
  *letters = 0;
}

static enum setting setting_of(int letter) {
  enum setting setting = 0;
  while (setting_rows[setting].letter != letter) setting++;
  return setting;
}

static int record_parse(struct record *record, int argc, char **argv) {
  struct known known;
  int option;
  record_make_known(&known);
  record->settings = settings_initial();
  opterr = 0; /* fail_option prints the message */
  while ((option = getopt_long(argc, argv, known.letters, known.options, NULL)) != -1) {
    bool wrong = option == '?' || option == ':';
    int code = wrong ? fail_option("record", option, argv, known.options)
                     : record_parse_option(record, setting_of(option));
    if (code) return code;
  }
  if (optind == argc)
    return fail_usage("record", "which program? usage: winnow record [OPTION...] -- PROGRAM [ARGUMENT...]");
  record->argv = argv + optind;
  return 0;
}

/* ---- running ---- */

/* The program may change its working folder, so it gets the whole path of the folder of the traces. */
static bool complete_output(struct record *record) {
  char folder[PATH_MAX] = "";
  bool whole = *record->output == '/';
  if (!whole && !getcwd(folder, sizeof folder)) return false;
  return snprintf(record->whole_output, sizeof record->whole_output, "%s%s%s/", folder, whole ? "" : "/",
                  record->output) <= SETTING_NAME_MOST;
}

static void default_output(struct record *record) {
  snprintf(record->output, sizeof record->output, "winnow.%.200s.%d.trace", path_name(record->program),
           (int)getpid());
}

static int record_prepare(struct record *record) {
  record->called = record->argv[0];
  if (!program_find(record->argv[0], record->program)) return program_fail_to_find(record->argv);
  if (record->settings.of[SETTING_TRACE].given)
    strcpy(record->output, record->settings.of[SETTING_TRACE].text);
  else
    default_output(record); /* named after the script, not its interpreter */
  for (int i = 0; i < 4 && program_through_env(record->program, &record->argv); i++) {}
  int code = program_check(record->program, &record->allocator);
  if (code) return code;
  if (!record_find_library(record->library))
    return fail_job(WN_LIBRARY " is missing; is winnow installed completely?");
  if (strpbrk(record->library, ": "))
    return fail_job("%s cannot be preloaded, since its path has a blank or a colon; install winnow elsewhere",
                    record->library);
  if (!complete_output(record)) return fail_job("the name of the output is too long");
  return folder_begin(&record->folder, record->output) ? fail_job("%s", wn_last_error()) : 0;
}

/* Notes whether the system killed the program for memory: it ended by SIGKILL, and its control
 * group has counted a kill since that was not one of a compaction. The program begins in the group
 * of this process. */
static void note_kill(struct ending *ending, const struct cgroup *group, const struct cgroup_state *before,
                      uint64_t compactions_killed) {
  struct cgroup_state after;
  int status = ending->wait_status;
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || !cgroup_look(group, &after)) return;
  ending->for_memory = after.kills > before->kills + compactions_killed;
  ending->limit = after.limit;
}

/* ---- shared ---- */

/* By its soname: in src/preload of a build tree, or in the library folder of
 * the installation. */
bool record_find_library(char path[PATH_MAX]) {
  static const char *const places[] = {"/../preload/" WN_LIBRARY, "/" WN_LIBDIR "/" WN_LIBRARY,
                                       "/../lib/" WN_LIBRARY};
  char self[PATH_MAX], candidate[PATH_MAX + 64];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return false;
  self[length] = 0;
  *strrchr(self, '/') = 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(candidate, sizeof candidate, "%s%s", self, places[i]);
    if (realpath(candidate, path)) return true;
  }
  return false;
}

void record_print_options(FILE *out) {
  for (const struct setting_row *row = setting_rows; row < setting_rows + SETTINGS; row++) {
    char names[40];
    if (!row->option) continue;
    snprintf(names, sizeof names, "-%c, --%s %s", row->letter, row->option,
             row->argument ? row->argument : "");
    fprintf(out, "  %-23s%s%s", names, strlen(names) < 23 ? "" : "  ", row->help);
    if (row->argument && row->initial) fprintf(out, "; default %s", row->initial);
    fputc('\n', out);
  }
}

int command_record(int argc, char **argv) {
  static struct record record;
  struct ending ending = {0};
  struct cgroup group;
  struct cgroup_state before;
  int code = record_parse(&record, argc, argv);
  if (!code) code = record_prepare(&record);
  if (code) return code;
  record.supervision.max_bytes = record.settings.of[SETTING_MAX_TRACE].whole;
  cgroup_find(&group, "");
  bool known = cgroup_look(&group, &before);
  code = record_run(&record, &ending);
  if (code) return folder_abandon(&record.folder), code;
  if (known) note_kill(&ending, &group, &before, record.supervision.killed);
  record_result(&record, &ending);
  folder_free(&record.folder);
  supervision_free(&record.supervision);
  return record_pass_status(ending.wait_status);
}
/* SPDX-License-Identifier: MIT */
