/* The settings of a recording: their table, and the reader of their values.
 *
 * A user asks for a recording by the options of `winnow record`, or by environment variables of the
 * program to be recorded. The command, the preloaded library and the collected heap read both by
 * one table (settings.def), so that limits and defaults are the same everywhere.
 *
 * A wrong value is an error: the reader names it, and the caller records nothing.
 *
 * The preloaded library reads its variables at the first allocation of the process, before the C
 * library is initialised. So no function here allocates, takes a lock or reads the locale.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* A trace in a folder has a name of at most SETTING_OVER_MOST bytes (FOLDER in trace/chunk_file.h). */
  SETTING_OVER_MOST = 40,
  SETTING_NAME_MOST = PATH_MAX - SETTING_OVER_MOST - 2,
  SETTING_NUMBER_MOST = 120 /* longest text of a number, in bytes */
};

/* The values of WINNOW_FOLLOW. */
enum {
  SETTING_FOLLOW_NONE,
  SETTING_FOLLOW_FIRST,     /* child processes are recorded too; WINNOW_TRACE is a folder */
  SETTING_FOLLOW_CHILD,     /* as FOLLOW_FIRST, in such a child process */
  SETTING_FOLLOW_UNRECORDED /* this program is not recorded, its child processes are */
};

enum setting {
#define SETTING(NAME, ...) SETTING_##NAME,
#include "settings/settings.def"
  SETTINGS
};

enum setting_kind {
  SETTING_NAMED,
  SETTING_FRACTION,
  SETTING_SHARE,
  SETTING_WHOLE,
  SETTING_SIZE,
  SETTING_SWITCH, /* "yes" is 1, "no" 0 */
  SETTING_SPACE
};
enum setting_scope { SETTING_RECORDING, SETTING_PROGRAM };

/* settings.def explains the columns. */
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
  bool given;       /* an option or a variable set it */
  const char *text; /* as the user wrote it, in the caller's memory; NULL: not set, and no default */
  double fraction;  /* for a FRACTION, or a SHARE */
  uint64_t whole;   /* for a WHOLE, a SWITCH or a SPACE */
};

struct settings {
  struct setting_value of[SETTINGS];
};

/* The defaults. */
struct settings settings_initial(void);

/* Sets one setting. `text` remains the caller's and must outlive the settings. False: the value is
 * wrong, and nothing has changed. The text of a SIZE is not checked. */
bool setting_set(struct settings *settings, enum setting setting, const char *text);

/* Sets the settings whose variables are set; `variable` works like getenv. An empty variable counts
 * as not set. If WINNOW_TRACE is not set, no recording is asked for, and the other variables are
 * not read. Returns the first setting whose variable has a wrong value, or SETTINGS; settings
 * before it are set. */
enum setting settings_read(struct settings *settings, char *(*variable)(const char *name));

/* The seed of this recording: the given one, otherwise a fresh one from the system. */
uint64_t settings_seed(const struct settings *settings);

/* Writes what is wrong with a value: for a variable "WINNOW_RATE=abc: it must be a number from 0 to
 * 1, such as 1e-4", for an option "--rate abc: it must be ...". A long value is cut. */
enum { SETTING_COMPLAINT_BYTES = 200 };
void setting_complain_of_variable(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                                  const char *text);
void setting_complain_of_option(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                                const char *text);
/* SPDX-License-Identifier: MIT */
