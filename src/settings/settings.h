/* The settings of a recording: one table, and the one reader of their values.
 *
 * A recording is asked for by the options of `winnow record`, or by environment variables of the
 * program that is to be recorded. The command, the preloaded library and the collected heap read
 * both by this table (settings.def), so that limits and defaults are the same everywhere.
 *
 * A wrong value is an error: the reader names it, and the caller records nothing.
 *
 * The preloaded library reads its variables at the first allocation of the process, before the C
 * library is initialised. So nothing here allocates, takes a lock or looks at the locale. */
#ifndef SETTINGS_SETTINGS_H
#define SETTINGS_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* A recording adds to the trace's name: a process number, a number behind that, and a
   * program's. */
  SETTING_NAME_MOST = PATH_MAX - 25,
  SETTING_NUMBER_MOST = 120, /* bytes of a number's text */
  /* As many programs of one process have traces of their own behind the first, and as many
   * processes of one process number have; those beyond write over the last one. */
  SETTING_EXECS_MOST = 40,
  SETTING_PROCESSES_MOST = 40
};

/* The values of WINNOW_FOLLOW. */
enum {
  SETTING_FOLLOW_NONE,
  SETTING_FOLLOW_FIRST, /* children are recorded too, each to WINNOW_TRACE with its process number added */
  SETTING_FOLLOW_CHILD, /* the same, and this process is such a child */
  SETTING_FOLLOW_UNRECORDED /* this program is not recorded, its children are */
};

enum setting {
#define SETTING(NAME, ...) SETTING_##NAME,
#include "settings/settings.def"
  SETTINGS
};

enum setting_kind { SETTING_NAMED, SETTING_FRACTION, SETTING_WHOLE, SETTING_SIZE };
enum setting_scope { SETTING_RECORDING, SETTING_PROGRAM };

/* The columns are explained in settings.def. */
struct setting_row {
  enum setting_scope scope;
  const char *option;
  char letter;
  const char *argument;
  const char *variable;
  enum setting_kind kind;
  uint64_t least, most;
  const char *initial;
  const char *help;
};

extern const struct setting_row setting_rows[SETTINGS];

struct setting_value {
  bool given;       /* by an option or a variable */
  const char *text; /* as it was written, in memory of the caller's; NULL: neither given nor by default */
  double fraction;  /* of a FRACTION */
  uint64_t whole;   /* of a WHOLE */
};

struct settings {
  struct setting_value of[SETTINGS];
};

/* The defaults. */
struct settings settings_initial(void);

/* Sets one setting. `text` stays the caller's, and must stay there as long as the settings are
 * used. False: the value is wrong, and nothing has changed. A SIZE is any text. */
bool setting_set(struct settings *settings, enum setting setting, const char *text);

/* Sets what the variables say; `variable` is like getenv. An empty variable is as one that is not
 * set. Where WINNOW_TRACE is not set nothing is asked for, and the other variables are not read.
 * Returns the first setting whose variable is wrong, or SETTINGS if none is; those in front of it
 * are set then. */
enum setting settings_read(struct settings *settings, char *(*variable)(const char *name));

/* The seed of this recording: the one given, or else a fresh one from the system. */
uint64_t settings_seed(const struct settings *settings);

/* Says what is wrong with a value: "WINNOW_RATE=abc: it must be a number from 0 to 1, such as
 * 1e-4", or of an option "--rate abc: it must be ...". A long value is cut. */
enum { SETTING_COMPLAINT_BYTES = 200 };
void setting_complain_of_variable(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                                  const char *text);
void setting_complain_of_option(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                                const char *text);

#endif
/* SPDX-License-Identifier: MIT */
