#include "record/requested.h"

#include "base/error.h"
#include "settings/settings.h"
#include <stdlib.h>

static wn_memprof_options options_of(const struct settings *settings, uint64_t seed) {
  return (wn_memprof_options){settings->of[SETTING_RATE].fraction, settings->of[SETTING_DEPTH].whole, seed};
}

/* ---- shared ---- */

wn_memprof_options recording_usual(void) {
  const struct settings initial = settings_initial();
  return options_of(&initial, 0);
}

wn_status recording_requested(const char **path, wn_memprof_options *options) {
  struct settings settings = settings_initial();
  *path = NULL;
  enum setting wrong = settings_read(&settings, secure_getenv);
  if (wrong < SETTINGS) {
    char complaint[SETTING_COMPLAINT_BYTES];
    setting_complain_of_variable(complaint, wrong, secure_getenv(setting_rows[wrong].variable));
    return error_set(WN_EINVAL, "%s", complaint);
  }
  /* `winnow record --follow-children` leaves its variables in the environment of all processes.
   * WINNOW_TRACE then names the trace of a malloc heap. This process must not write over that file:
   * the process that wrote it may have ended, or may be this one before an exec. */
  if (!settings.of[SETTING_TRACE].text || settings.of[SETTING_FOLLOW].whole != SETTING_FOLLOW_NONE)
    return WN_OK;
  *path = settings.of[SETTING_TRACE].text;
  const struct setting_value *of = settings.of;
  if (of[SETTING_RATE].given) options->sampling_rate = of[SETTING_RATE].fraction;
  if (of[SETTING_DEPTH].given) options->callstack_size = of[SETTING_DEPTH].whole;
  if (of[SETTING_SEED].given || !options->seed) options->seed = settings_seed(&settings);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
