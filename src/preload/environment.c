/* The variables that make a process record itself (settings/settings.def), and the environments of
 * the programs that it executes.
 *
 * Programs change their environment as they like, and pass another one to exec. So the values are
 * copied when the process starts, and environment_make gives these copies to the next program.
 */
#include "preload/environment.h"

#include "settings/settings.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

enum {
  PROGRAM_SETTINGS = 2,                  /* with the scope SETTING_PROGRAM */
  SETTING_BYTES = 24 + SETTING_OVER_MOST /* the name of such a setting, "=" and its value */
};

/* Written by environment_keep, before there is another thread of ours. */
static struct {
  char texts[PATH_MAX + SETTINGS * (SETTING_NUMBER_MOST + 24)]; /* settings, one behind another */
  size_t used;
  const char *settings[SETTINGS]; /* "NAME=value"; NULL: not set */
  char library[PATH_MAX];
  char folder[PATH_MAX]; /* of the trace; empty: not known */
  uid_t user;
} kept;

static bool is_setting_of(const char *setting, const char *name) {
  size_t length = strlen(name);
  return !strncmp(setting, name, length) && setting[length] == '=';
}

static char *environment_find(char *const *environment, const char *name) {
  for (; environment && *environment; environment++)
    if (is_setting_of(*environment, name)) return *environment + strlen(name) + 1;
  return NULL;
}

/* As unsetenv, which is not called here: some programs have an unsetenv of their own. That of a
 * shell does not know the environment yet, since the shell has not read it. */
static void remove_variable(const char *name) {
  char **to = environ;
  for (char **from = environ; from && *from; from++)
    if (!is_setting_of(*from, name)) *to++ = *from;
  if (to) *to = NULL;
}

/* ---- lists of libraries ---- */

/* Finds our entry in a list of libraries: [*begin, *end), without separators. */
static bool find_library(char *list, char **begin, char **end) {
  char *name = list ? strstr(list, "libwinnow-malloc.so") : NULL;
  if (!name) return false;
  *begin = name;
  *end = name + strcspn(name, ": ");
  while (*begin > list && (*begin)[-1] != ':' && (*begin)[-1] != ' ') --*begin;
  return true;
}

/* Removes our entry from a list of libraries, in place. */
static void remove_library(char *list) {
  char *begin, *end;
  if (!find_library(list, &begin, &end)) return;
  if (*end)
    end++;
  else if (begin > list)
    begin--;
  memmove(begin, end, strlen(end) + 1);
}

/* ---- copies ---- */

static const char *keep_environment(const char *name, const char *value) {
  size_t length = strlen(name), bytes = strlen(value) + 1;
  if (length + 1 + bytes > sizeof kept.texts - kept.used) return NULL;
  char *text = kept.texts + kept.used;
  memcpy(text, name, length);
  text[length] = '=';
  memcpy(text + length + 1, value, bytes);
  kept.used += length + 1 + bytes;
  return text;
}

static void keep_library(void) {
  char *list = environment_variable("LD_PRELOAD"), *begin, *end;
  if (!find_library(list, &begin, &end) || (size_t)(end - begin) >= sizeof kept.library) return;
  memcpy(kept.library, begin, (size_t)(end - begin));
  kept.library[end - begin] = 0;
}

static void keep_folder(const char *path) {
  if (!path || *path != '/') return;
  const char *slash = strrchr(path, '/');
  size_t length = slash > path ? (size_t)(slash - path) : 1;
  if (length >= sizeof kept.folder) return;
  memcpy(kept.folder, path, length);
  kept.folder[length] = 0;
}

static const char *trace_path(void) {
  const char *setting = kept.settings[SETTING_TRACE];
  return setting ? strchr(setting, '=') + 1 : NULL;
}

/* Whether the process can open a file with its present rights. */
static bool can_open(const char *path, int flags) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
  if (fd >= 0) syscall(SYS_close, fd);
  return fd >= 0;
}

/* ---- making ---- */

static char *put_setting(char *room, enum setting setting, const char *value) {
  const char *name = setting_rows[setting].variable;
  size_t length = strlen(name);
  memcpy(room, name, length);
  room[length] = '=';
  strcpy(room + length + 1, value);
  return room;
}

static bool environment_is_ours(const char *setting) {
  for (enum setting i = 0; i < SETTINGS; i++)
    if (setting_rows[i].variable && is_setting_of(setting, setting_rows[i].variable)) return true;
  return false;
}

/* Writes "LD_PRELOAD=" and `others`, without or with our library; NULL if the list is empty. */
static char *put_list(char *room, const char *others, bool with_ours) {
  char *list = room + strlen("LD_PRELOAD=");
  memcpy(room, "LD_PRELOAD=", strlen("LD_PRELOAD="));
  strcpy(list, others ? others : "");
  remove_library(list);
  if (with_ours) {
    size_t length = strlen(kept.library);
    bool more = *list;
    memmove(list + length + more, list, strlen(list) + 1);
    memcpy(list, kept.library, length);
    if (more) list[length] = ':';
  }
  return *list ? room : NULL;
}

/* ---- shared ---- */

char *environment_variable(const char *name) { return environment_find(environ, name); }

void environment_keep(void) {
  for (enum setting i = 0; i < SETTINGS; i++) {
    const char *name = setting_rows[i].variable, *value = name ? environment_variable(name) : NULL;
    if (value) kept.settings[i] = keep_environment(name, value);
  }
  keep_library();
  keep_folder(trace_path());
  kept.user = geteuid();
}

void environment_clean(void) {
  for (enum setting i = 0; i < SETTINGS; i++)
    if (setting_rows[i].variable) remove_variable(setting_rows[i].variable);
  char *list = environment_variable("LD_PRELOAD");
  remove_library(list);
  if (list && !*list) remove_variable("LD_PRELOAD");
}

void environment_mark_followers(void) {
  char *value = environment_variable(setting_rows[SETTING_FOLLOW].variable);
  if (value && *value) snprintf(value, strlen(value) + 1, "%d", SETTING_FOLLOW_CHILD);
  remove_variable(setting_rows[SETTING_OVER].variable);
}

bool environment_asks_otherwise(char *const *environment) {
  const char *path = trace_path(),
             *request = environment_find(environment, setting_rows[SETTING_TRACE].variable);
  return request && (!path || strcmp(request, path) != 0);
}

bool environment_is_of_record(void) { return kept.settings[SETTING_PID] != NULL; }

/* After a change of user the library and the trace count as out of reach even if the process can
 * open them now: the capabilities that let the process do so may be gone after the exec. */
bool environment_is_in_reach(void) {
  int saved = errno;
  bool reached = *kept.library && *kept.folder && geteuid() == kept.user &&
                 can_open(kept.library, O_RDONLY) &&
                 !syscall(SYS_faccessat, AT_FDCWD, kept.folder, W_OK | X_OK);
  errno = saved;
  return reached;
}

size_t environment_room(char *const *environment) {
  size_t count = 0;
  const char *others = environment_find(environment, "LD_PRELOAD");
  while (environment && environment[count]) count++;
  return (count + SETTINGS + 2) * sizeof *environment + PROGRAM_SETTINGS * SETTING_BYTES +
         sizeof "LD_PRELOAD=" + strlen(kept.library) + 1 + (others ? strlen(others) : 0);
}

char **environment_make(void *room, char *const *environment, const struct inherited *inherited) {
  char **made = room, **to = made;
  bool recorded = inherited->kind == INHERITED_RECORDED;
  const char *others = environment_find(environment, "LD_PRELOAD"),
             follow[] = {(char)('0' + inherited->follow), 0};
  size_t count = 0;
  while (environment && environment[count]) count++;
  char *text = (char *)(made + count + SETTINGS + 2);
  char *list = put_list(text + PROGRAM_SETTINGS * SETTING_BYTES, others, recorded);
  for (size_t i = 0; i < count; i++) {
    bool is_list = is_setting_of(environment[i], "LD_PRELOAD");
    if (is_list && list) *to++ = list; /* where the caller had it */
    if (is_list) list = NULL;
    if (!is_list && !environment_is_ours(environment[i])) *to++ = environment[i];
  }
  if (list) *to++ = list;
  for (int i = 0; recorded && i < SETTINGS; i++)
    if (setting_rows[i].scope == SETTING_RECORDING && kept.settings[i]) *to++ = (char *)kept.settings[i];
  if (recorded && kept.settings[SETTING_FOLLOW]) *to++ = put_setting(text, SETTING_FOLLOW, follow);
  if (recorded && inherited->over) *to++ = put_setting(text + SETTING_BYTES, SETTING_OVER, inherited->over);
  *to = NULL;
  return made;
}
/* SPDX-License-Identifier: MIT */
