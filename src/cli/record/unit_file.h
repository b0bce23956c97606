/* The settings of a systemd service, as far as recording depends on them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Name in C, name in the unit, and whether its assignments add to each other. */
#define UNIT_SETTINGS(SETTING)                                \
  SETTING(EXEC_START, "ExecStart", true)                      \
  SETTING(USER, "User", false)                                \
  SETTING(DYNAMIC_USER, "DynamicUser", false)                 \
  SETTING(ENVIRONMENT, "Environment", true)                   \
  SETTING(ROOT_DIRECTORY, "RootDirectory", false)             \
  SETTING(ROOT_IMAGE, "RootImage", false)                     \
  SETTING(PRIVATE_TMP, "PrivateTmp", false)                   \
  SETTING(PROTECT_HOME, "ProtectHome", false)                 \
  SETTING(PROTECT_SYSTEM, "ProtectSystem", false)             \
  SETTING(TEMPORARY_FILE_SYSTEM, "TemporaryFileSystem", true) \
  SETTING(INACCESSIBLE_PATHS, "InaccessiblePaths", true)      \
  SETTING(READ_WRITE_PATHS, "ReadWritePaths", true)           \
  SETTING(SYSTEM_CALL_FILTER, "SystemCallFilter", true)       \
  SETTING(NO_NEW_PRIVILEGES, "NoNewPrivileges", false)        \
  SETTING(LIMIT_AS, "LimitAS", false)                         \
  SETTING(LIMIT_FSIZE, "LimitFSIZE", false)                   \
  SETTING(MEMORY_MAX, "MemoryMax", false)                     \
  SETTING(MEMORY_HIGH, "MemoryHigh", false)

enum unit_setting {
#define UNIT_SETTING(NAME, name, adds) UNIT_##NAME,
  UNIT_SETTINGS(UNIT_SETTING)
#undef UNIT_SETTING
      UNIT_SETTINGS_COUNT
};

/* What adds is lines. NULL: it is not set, or to nothing. */
struct unit {
  char *of[UNIT_SETTINGS_COUNT];
};

/* Reads a unit file, or several after each other, as `systemctl cat` prints them; what Winnow's own drop-in
 * sets is left out. False: not enough memory. */
bool unit_read(struct unit *unit, FILE *in);
void unit_free(struct unit *unit);

/* Whether a setting that is yes or no is yes. */
bool unit_says_yes(const struct unit *unit, enum unit_setting setting);

/* Whether one of the paths of a setting is this path, or a folder above it. */
bool unit_covers(const struct unit *unit, enum unit_setting setting, const char *path);

/* Whether a path is this folder, or below it. */
bool unit_is_below(const char *path, const char *folder);
/* SPDX-License-Identifier: MIT */
