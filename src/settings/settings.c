/* Reads and checks the values of settings by the table in settings.def. */
#include "settings/settings.h"

#include "base/check.h"
#include "base/os.h"
#include "base/words.h"
#include "settings/decimal.h"
#include <stdio.h>
#include <string.h>

const struct setting_row setting_rows[SETTINGS] = {
#define SETTING(NAME, scope_, option_, letter_, argument_, variable_, kind_, least_, most_, initial_, help_) \
  [SETTING_##NAME] = {.scope = SETTING_##scope_,                                                             \
                      .option = option_,                                                                     \
                      .letter = letter_,                                                                     \
                      .argument = argument_,                                                                 \
                      .variable = variable_,                                                                 \
                      .kind = SETTING_##kind_,                                                               \
                      .least = least_,                                                                       \
                      .most = most_,                                                                         \
                      .initial = initial_,                                                                   \
                      .help = help_},
#include "settings/settings.def"
};

/* How many bytes of a wrong value a message quotes. */
enum { QUOTED = 64 };

static bool settings_is_within(uint64_t value, const struct setting_row *row) {
  return value >= row->least && value <= row->most;
}

/* A number from 0 to 0.5, or from 0 to 50 with a percent sign; more is a slip. */
static bool settings_read_share(const char *text, double *share) {
  char number[SETTING_NUMBER_MOST + sizeof "e-2"];
  size_t length = strlen(text);
  bool percent = length && text[length - 1] == '%';
  snprintf(number, sizeof number, "%.*s%s", (int)(length - percent), text, percent ? "e-2" : "");
  double read;
  if (!decimal_fraction(number, &read) || read > 0.5) return false;
  *share = read;
  return true;
}

static bool settings_read_value(const struct setting_row *row, struct setting_value *value) {
  bool is_short = strnlen(value->text, SETTING_NUMBER_MOST + 1) <= SETTING_NUMBER_MOST;
  switch (row->kind) {
  case SETTING_NAMED: return settings_is_within(strlen(value->text), row);
  case SETTING_FRACTION:
    return is_short && decimal_fraction(value->text, &value->fraction) && rate_is_valid(value->fraction);
  case SETTING_SHARE: return is_short && settings_read_share(value->text, &value->fraction);
  case SETTING_WHOLE:
    return is_short && decimal_whole(value->text, &value->whole) && settings_is_within(value->whole, row);
  case SETTING_SIZE: return true;
  case SETTING_SWITCH:
    value->whole = !strcmp(value->text, "yes");
    return value->whole || !strcmp(value->text, "no");
  case SETTING_SPACE:
    return is_short && decimal_bytes(value->text, &value->whole) && settings_is_within(value->whole, row);
  }
  return false;
}

/* Describes the values that a setting can have. */
static void settings_describe(char form[64], const struct setting_row *row) {
  unsigned long long least = row->least, most = row->most;
  switch (row->kind) {
  case SETTING_NAMED: snprintf(form, 64, "a file's name of %llu to %llu bytes", least, most); return;
  case SETTING_FRACTION: strcpy(form, "a number from 1e-9 to 1, such as 1e-4, or 0"); return;
  case SETTING_SWITCH: strcpy(form, "yes or no"); return;
  case SETTING_SHARE: strcpy(form, "a part of the processor time up to 50%, such as 1%"); return;
  case SETTING_SPACE: snprintf(form, 64, "a size of at least %llu bytes, such as 64M", least); return;
  case SETTING_SIZE: snprintf(form, 64, "a size of %llu to %llu bytes, such as 512K", least, most); return;
  case SETTING_WHOLE:
    if (row->most == UINT64_MAX)
      strcpy(form, "a whole number");
    else
      snprintf(form, 64, "a whole number from %llu to %llu", least, most);
  }
}

static void settings_complain(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                              const char *prefix, const char *name, char between, const char *text) {
  char form[64];
  settings_describe(form, &setting_rows[setting]);
  snprintf(complaint, SETTING_COMPLAINT_BYTES, "%s%s%c%.*s%s: it must be %s", prefix, name, between, QUOTED,
           *text ? text : "''", strlen(text) > QUOTED ? "..." : "", form);
}

/* ---- shared ---- */

struct settings settings_initial(void) {
  struct settings settings = {0};
  for (enum setting i = 0; i < SETTINGS; i++) {
    settings.of[i].text = setting_rows[i].initial;
    if (setting_rows[i].initial) settings_read_value(&setting_rows[i], &settings.of[i]);
  }
  return settings;
}

bool setting_set(struct settings *settings, enum setting setting, const char *text) {
  struct setting_value value = {.given = true, .text = text};
  if (!settings_read_value(&setting_rows[setting], &value)) return false;
  settings->of[setting] = value;
  return true;
}

/* Relies on SETTING_TRACE being the first row. */
enum setting settings_read(struct settings *settings, char *(*variable)(const char *name)) {
  for (enum setting i = 0; i < SETTINGS; i++) {
    const char *text = setting_rows[i].variable ? variable(setting_rows[i].variable) : NULL;
    if (text && *text && !setting_set(settings, i, text)) return i;
    if (!settings->of[SETTING_TRACE].given) break;
  }
  return SETTINGS;
}

uint64_t settings_seed(const struct settings *settings) {
  uint64_t seed = settings->of[SETTING_SEED].whole;
  if (!settings->of[SETTING_SEED].given) os_random_bytes(&seed, sizeof seed);
  return seed;
}

void setting_complain_of_variable(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                                  const char *text) {
  settings_complain(complaint, setting, "", setting_rows[setting].variable, '=', text);
}

void setting_complain_of_option(char complaint[SETTING_COMPLAINT_BYTES], enum setting setting,
                                const char *text) {
  settings_complain(complaint, setting, "--", setting_rows[setting].option, ' ', text);
}
/* SPDX-License-Identifier: MIT */
