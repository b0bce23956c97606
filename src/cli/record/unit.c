/* winnow unit: writes a drop-in by which systemd records a service, and says what in the unit is in the way.
 *
 * The traces go to a folder that systemd makes for the service (StateDirectory), which its user may write
 * whatever else the unit forbids, unless the caller names another one. Each start of the service writes
 * another file there. What prevents recording, or the service from starting, has a line of its own, and
 * then no drop-in is written; what only needs attention has one, too. */
#include "base/error.h"
#include "base/image.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/record/record.h"
#include "cli/text.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum { NAME_MOST = 256, TMPFS = 0x01021994 };

/* ---- unit files ---- */

/* The settings of a systemd service, as far as recording depends on them: name in C, name in the unit,
 * and whether its assignments add to each other. */
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

static const struct {
  const char *name;
  bool adds;
} settings[UNIT_SETTINGS_COUNT] = {
#define UNIT_SETTING(NAME, name, adds) {name, adds},
    UNIT_SETTINGS(UNIT_SETTING)
#undef UNIT_SETTING
};

/* Without the blanks around it. */
static char *unit_file_trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t length = strlen(text);
  while (length && isspace((unsigned char)text[length - 1])) length--;
  text[length] = 0;
  return text;
}

/* An empty value takes back what was set before. */
static bool assign(struct unit *unit, char *line) {
  char *equals = strchr(line, '='), *joined = NULL;
  if (!equals) return true;
  *equals = 0;
  const char *name = unit_file_trim(line), *value = unit_file_trim(equals + 1);
  size_t i = 0;
  while (i < UNIT_SETTINGS_COUNT && strcmp(settings[i].name, name) != 0) i++;
  if (i == UNIT_SETTINGS_COUNT) return true;
  const char *before = settings[i].adds && *value ? unit->of[i] : NULL;
  if (*value && asprintf(&joined, "%s%s%s", before ? before : "", before ? "\n" : "", value) < 0)
    return false;
  free(unit->of[i]);
  unit->of[i] = joined;
  return true;
}

static bool unit_file_ends_with(const char *text, const char *end) {
  size_t length = strlen(text), behind = strlen(end);
  return length >= behind && !strcmp(text + length - behind, end);
}

/* Appends a line without its end to what was begun. Returns whether it goes on. */
static bool unit_file_join(char *whole, size_t *length, const char *line) {
  size_t count = strcspn(line, "\n");
  bool goes_on = count && line[count - 1] == '\\';
  memcpy(whole + *length, line, count);
  *length += count;
  if (goes_on) whole[*length - 1] = ' ';
  whole[*length] = 0;
  return goes_on;
}

/* Reads a unit file, or several after each other, as `systemctl cat` prints them; what Winnow's own drop-in
 * sets is left out. False: not enough memory. */
static bool unit_read(struct unit *unit, FILE *in) {
  char *line = NULL, *whole = NULL;
  size_t size = 0, length = 0;
  bool service = false, own = false, read = true;
  while (read && getline(&line, &size, in) > 0) {
    const char *begin = line + strspn(line, " \t");
    if (*begin == '#' || *begin == ';') {
      char *comment = unit_file_trim(line);
      if (!strncmp(comment, "# /", 3)) own = unit_file_ends_with(comment, "/winnow.conf");
      continue;
    }
    char *larger = realloc(whole, length + strlen(line) + 1);
    if (!(read = larger)) break;
    whole = larger;
    if (unit_file_join(whole, &length, line)) continue;
    char *text = unit_file_trim(whole);
    length = 0;
    if (*text == '[')
      service = !strcmp(text, "[Service]");
    else if (service && !own)
      read = assign(unit, text);
  }
  free(line);
  free(whole);
  return read;
}

static void unit_free(struct unit *unit) {
  for (size_t i = 0; i < UNIT_SETTINGS_COUNT; i++) free(unit->of[i]);
}

/* Whether a setting that is yes or no is yes. */
static bool unit_says_yes(const struct unit *unit, enum unit_setting setting) {
  static const char *const yes[] = {"1", "yes", "y", "true", "t", "on"};
  for (size_t i = 0; unit->of[setting] && i < sizeof yes / sizeof *yes; i++)
    if (!strcasecmp(unit->of[setting], yes[i])) return true;
  return false;
}

/* Whether a path is this folder, or below it. */
static bool unit_is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  while (length && folder[length - 1] == '/') length--;
  return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

/* Before a path may stand - and +, and behind it a colon and options. */
/* Whether one of the paths of a setting is this path, or a folder above it. */
static bool unit_covers(const struct unit *unit, enum unit_setting setting, const char *path) {
  char folder[4096];
  const char *at = unit->of[setting] ? unit->of[setting] : "";
  while (*(at += strspn(at, " \t\n"))) {
    size_t length = strcspn(at, " \t\n");
    const char *begin = at + strspn(at, "-+\"");
    snprintf(folder, sizeof folder, "%.*s", (int)(at + length - begin), begin);
    folder[strcspn(folder, ":\"")] = 0;
    if (*folder == '/' && unit_is_below(path, folder)) return true;
    at += length;
  }
  return false;
}

/* ---- the unit ---- */

struct plan {
  char name[NAME_MOST + 8]; /* "app.service" */
  char library[PATH_MAX];
  const char *folder; /* of the traces; NULL: the one that systemd makes */
  const char *output;
  struct settings settings; /* of the recording */
  struct unit unit;
  unsigned obstacles;
};

static const char *value(const struct plan *plan, enum unit_setting setting) {
  return plan->unit.of[setting] ? plan->unit.of[setting] : "";
}

/* The name of a unit, by which it is told from a path, has no other characters. */
static bool unit_is_name(const char *text) {
  size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.@\\-");
  return length && !text[length] && length < NAME_MAX && *text != '-';
}

static bool ends_as_service(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && !strcmp(dot, ".service");
}

static int read_stream(struct plan *plan, FILE *in, const char *from) {
  return unit_read(&plan->unit, in) ? 0 : fail_job("%s: not enough memory", from);
}

static int unit_read_file(struct plan *plan, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  FILE *in = fopen(path, "re");
  if (!in) return fail_job("cannot read %s: %s", path, strerror(errno));
  int code = unit_is_name(name) && ends_as_service(name) && strlen(name) < NAME_MOST
                 ? read_stream(plan, in, path)
                 : fail_job("%s: the file of a service has a name such as app.service", path);
  snprintf(plan->name, sizeof plan->name, "%.*s", NAME_MOST, name);
  fclose(in);
  return code;
}

/* Asks systemd. */
static int read_installed(struct plan *plan, const char *name) {
  char command[NAME_MOST + 64];
  if (!unit_is_name(name) || strlen(name) >= NAME_MOST)
    return fail_usage("unit", "%s: it must be the name of a service, such as app, or the path of its file",
                      name);
  snprintf(plan->name, sizeof plan->name, "%s%s", name, ends_as_service(name) ? "" : ".service");
  snprintf(command, sizeof command, "systemctl cat -- '%s' 2>/dev/null", plan->name);
  FILE *in = popen(command, "re");
  if (!in) return fail_job("cannot run systemctl: %s", strerror(errno));
  int code = read_stream(plan, in, plan->name);
  if (pclose(in) && !code)
    code = fail_job("systemctl knows no %s here; give the path of its file", plan->name);
  return code;
}

/* ---- what is in the way ---- */

static void unit_say(struct plan *plan, bool prevents, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void unit_say(struct plan *plan, bool prevents, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  plan->obstacles += prevents;
  fprintf(stderr, "winnow: %s: %s ", plan->name, prevents ? "prevented by" : "note:");
  text_name(stderr, text);
  fputc('\n', stderr);
}

/* The program of a command line; empty if systemd makes its name. Signs before it say how it is run. */
static void unit_program_of(const char *line, char path[PATH_MAX]) {
  const char *begin = line + strspn(line, "@-:+!|");
  bool quoted = *begin == '"' || *begin == '\'';
  const char end[] = {quoted ? *begin : ' ', quoted ? 0 : '\t', quoted ? 0 : '\n', 0};
  begin += quoted;
  snprintf(path, PATH_MAX, "%.*s", (int)strcspn(begin, end), begin);
  if (strpbrk(path, "%$")) *path = 0;
}

/* Whether the service, which is not root's, gains privileges by the file: then the loader preloads nothing. */
static bool unit_gains_privileges(const struct plan *plan, const char *path) {
  struct stat found;
  bool is_roots = !*value(plan, UNIT_USER) || !strcmp(value(plan, UNIT_USER), "root");
  if (unit_says_yes(&plan->unit, UNIT_NO_NEW_PRIVILEGES) || stat(path, &found)) return false;
  if (is_roots && !unit_says_yes(&plan->unit, UNIT_DYNAMIC_USER)) return false;
  return found.st_mode & (S_ISUID | S_ISGID) || getxattr(path, "security.capability", NULL, 0) > 0;
}

static void check_program(struct plan *plan, const char *line) {
  char program[PATH_MAX], path[2 * PATH_MAX];
  struct image image;
  unit_program_of(line, program);
  if (*program == '/')
    snprintf(path, sizeof path, "%s%s", value(plan, UNIT_ROOT_DIRECTORY), program);
  else if (!*program || *value(plan, UNIT_ROOT_DIRECTORY) || !program_find(program, path))
    *path = 0;
  if (!*path || *value(plan, UNIT_ROOT_IMAGE)) {
    unit_say(plan, false,
             "ExecStart=%.*s: the program is not known here; it must not be static, nor linked with musl",
             (int)strcspn(line, "\n"), line);
    return;
  }
  image_examine(AT_FDCWD, path, &image);
  if (image.kind == IMAGE_UNREADABLE)
    unit_say(plan, false, "ExecStart=%s cannot be examined: %s", program, strerror(image.error));
  else if (unit_gains_privileges(plan, path))
    unit_say(plan, true, "ExecStart=: %s gains privileges when it starts, unless NoNewPrivileges=yes", path);
  else if (image.kind != IMAGE_GOOD && image.kind != IMAGE_PRIVILEGED)
    unit_say(plan, true, "ExecStart=: %s %s", image.path, image_reason(image.kind));
  else if (image.script && !plan->settings.of[SETTING_FOLLOW].whole)
    unit_say(plan, false,
             "ExecStart=%s is a script: give --follow-children to record the programs that it starts",
             program);
}

static void check_programs(struct plan *plan) {
  const char *line = value(plan, UNIT_EXEC_START);
  if (!*line) unit_say(plan, true, "ExecStart=: there is none in this file");
  for (; *line; line += strcspn(line, "\n"), line += *line == '\n') check_program(plan, line);
}

/* `what` is the library or the folder of the traces, which the service must see. */
static void check_path(struct plan *plan, const char *what, const char *path) {
  const struct unit *unit = &plan->unit;
  const char *home = value(plan, UNIT_PROTECT_HOME);
  bool tmp = unit_is_below(path, "/tmp") || unit_is_below(path, "/var/tmp"),
       homes =
           unit_is_below(path, "/home") || unit_is_below(path, "/root") || unit_is_below(path, "/run/user");
  bool dynamic = unit_says_yes(unit, UNIT_DYNAMIC_USER);
  if (tmp && (dynamic || unit_says_yes(unit, UNIT_PRIVATE_TMP)))
    unit_say(plan, true, "%s=: the service has a /tmp of its own, and not %s %s",
             dynamic ? "DynamicUser" : "PrivateTmp", what, path);
  if (homes && (unit_says_yes(unit, UNIT_PROTECT_HOME) || !strcmp(home, "tmpfs")))
    unit_say(plan, true, "ProtectHome=%s: the service does not see %s %s", home, what, path);
  if (unit_covers(unit, UNIT_TEMPORARY_FILE_SYSTEM, path))
    unit_say(plan, true, "TemporaryFileSystem=: it hides %s %s", what, path);
  if (unit_covers(unit, UNIT_INACCESSIBLE_PATHS, path))
    unit_say(plan, true, "InaccessiblePaths=: it hides %s %s", what, path);
}

/* A folder that the caller named. */
static void check_folder(struct plan *plan) {
  check_path(plan, "the folder", plan->folder);
  if (unit_says_yes(&plan->unit, UNIT_DYNAMIC_USER))
    unit_say(plan, true,
             "DynamicUser=: its user, another one each time, may not write %s; leave out --traces",
             plan->folder);
  else if (*value(plan, UNIT_USER))
    unit_say(plan, false, "User=%s must be able to write the folder: install -d -m 700 -o %s %s",
             value(plan, UNIT_USER), value(plan, UNIT_USER), plan->folder);
  else
    unit_say(plan, false, "the folder must be there: install -d -m 700 %s", plan->folder);
}

/* Whether the folder of the traces, or the nearest one above it, is memory. */
static bool is_on_tmpfs(const char *folder) {
  char path[PATH_MAX];
  struct statfs found;
  snprintf(path, sizeof path, "%s", folder);
  while (statfs(path, &found)) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = 0;
  }
  return found.f_type == TMPFS;
}

static void unit_check_limits(struct plan *plan) {
  const char *filter = value(plan, UNIT_SYSTEM_CALL_FILTER), *most = value(plan, UNIT_MEMORY_MAX);
  if (*filter && *filter != '~' && !strstr(filter, "@system-service"))
    unit_say(
        plan, false,
        "SystemCallFilter=: recording needs the calls of @basic-io, @file-system, @process, @signal, ioctl, "
        "flock and madvise; @system-service has all of them");
  if (*value(plan, UNIT_LIMIT_AS) && strcmp(value(plan, UNIT_LIMIT_AS), "infinity") != 0)
    unit_say(plan, false,
             "LimitAS=%s: no addresses can be reserved for sampled blocks, so each free costs a little more",
             value(plan, UNIT_LIMIT_AS));
  if (*value(plan, UNIT_LIMIT_FSIZE) && strcmp(value(plan, UNIT_LIMIT_FSIZE), "infinity") != 0)
    unit_say(plan, false, "LimitFSIZE=%s: a trace ends when it is so large", value(plan, UNIT_LIMIT_FSIZE));
  if (!*most) most = value(plan, UNIT_MEMORY_HIGH);
  if (*most && strcmp(most, "infinity") != 0 && is_on_tmpfs(plan->folder ? plan->folder : "/var/lib"))
    unit_say(plan, false, "%s=%s: the traces are on a tmpfs, and count against it; choose a folder on a disk",
             *value(plan, UNIT_MEMORY_MAX) ? "MemoryMax" : "MemoryHigh", most);
}

static bool has_root(const struct plan *plan) {
  return *value(plan, UNIT_ROOT_DIRECTORY) || *value(plan, UNIT_ROOT_IMAGE);
}

static void unit_check(struct plan *plan) {
  check_programs(plan);
  if (has_root(plan))
    unit_say(plan, false,
             "%s=: the library is bound into it; the C library there must not be older than the one here",
             *value(plan, UNIT_ROOT_DIRECTORY) ? "RootDirectory" : "RootImage");
  else
    check_path(plan, "the library", plan->library);
  if (plan->folder) check_folder(plan);
  if (strstr(value(plan, UNIT_ENVIRONMENT), "LD_PRELOAD="))
    unit_say(plan, false,
             "Environment=: the unit sets LD_PRELOAD, which the drop-in replaces; join the two by a colon");
  unit_check_limits(plan);
}

/* ---- the drop-in ---- */

/* In quotes, as systemd reads a value with any characters. */
static void unit_write_quoted(FILE *out, const char *name, const char *text, const char *end) {
  fprintf(out, "Environment=\"%s=", name);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    if (*text == '%') fputc('%', out);
    fputc(*text, out);
  }
  fprintf(out, "%s\"\n", end);
}

static void write_drop_in(const struct plan *plan, FILE *out) {
  int length = (int)(strrchr(plan->name, '.') - plan->name);
  bool is_dynamic = unit_says_yes(&plan->unit, UNIT_DYNAMIC_USER);
  fprintf(out,
          "# Records %s with Winnow: each start of the service writes a trace.\n"
          "# /etc/systemd/system/%s.d/winnow.conf; then: systemctl daemon-reload && systemctl restart %s\n"
          "# Before old records go, a timer can thin them out (docs/production.md): winnow compact -q -m %s ",
          plan->name, plan->name, plan->name, plan->settings.of[SETTING_MAX_TRACE].text);
  if (plan->folder)
    fprintf(out, "%s\n[Service]\n", plan->folder);
  else
    fprintf(out, "/var/lib/winnow/%.*s\n[Service]\n", length, plan->name);
  if (has_root(plan)) fprintf(out, "BindReadOnlyPaths=%s\n", plan->library);
  unit_write_quoted(out, "LD_PRELOAD", plan->library, "");
  if (plan->folder) {
    bool has_slash = plan->folder[strlen(plan->folder) - 1] == '/';
    if (*value(plan, UNIT_PROTECT_SYSTEM) || *value(plan, UNIT_PROTECT_HOME) || is_dynamic)
      fprintf(out, "ReadWritePaths=%s\n", plan->folder);
    unit_write_quoted(out, setting_rows[SETTING_TRACE].variable, plan->folder, has_slash ? "" : "/");
  } else {
    fprintf(out, "StateDirectory=winnow/%.*s\nEnvironment=\"%s=%%S/winnow/%.*s/\"\n", length, plan->name,
            setting_rows[SETTING_TRACE].variable, length, plan->name);
  }
  for (enum setting i = 0; i < SETTINGS; i++)
    if (i != SETTING_TRACE && setting_rows[i].variable && plan->settings.of[i].given)
      unit_write_quoted(out, setting_rows[i].variable, plan->settings.of[i].text, "");
}

/* Of a folder such as /etc/systemd/system/app.service.d, which may not be there yet. */
static void make_folder_of(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (!slash || slash == path) return;
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  mkdir(folder, 0755); /* if that fails, so does what follows, which says why */
}

static int unit_write_out(const struct plan *plan) {
  struct output output;
  if (plan->output) make_folder_of(plan->output);
  if (output_open(&output, plan->output ? plan->output : "-")) return fail_job("%s", wn_last_error());
  write_drop_in(plan, output.file);
  if (output_finish(&output)) return fail_job("%s", wn_last_error());
  if (plan->output)
    fprintf(stderr, "winnow: next: systemctl daemon-reload && systemctl restart %s\n", plan->name);
  return 0;
}

/* ---- the command line ---- */

static const struct option known[] = {{"output", required_argument, NULL, 'o'},
                                      {"traces", required_argument, NULL, 't'},
                                      {"rate", required_argument, NULL, 'r'},
                                      {"budget", required_argument, NULL, 'b'},
                                      {"max-trace", required_argument, NULL, 'm'},
                                      {"asleep", no_argument, NULL, 'a'},
                                      {"follow-children", no_argument, NULL, 'f'},
                                      {"python-allocator", required_argument, NULL, 'p'},
                                      {0}};

static int unit_set(struct plan *plan, enum setting setting, const char *text) {
  char complaint[SETTING_COMPLAINT_BYTES];
  if (setting_set(&plan->settings, setting, text)) return 0;
  setting_complain_of_option(complaint, setting, text);
  return fail_usage("unit", "%s", complaint);
}

static int unit_parse_option(struct plan *plan, int option, char **argv) {
  switch (option) {
  case 'o': plan->output = optarg; return 0;
  case 't':
    plan->folder = optarg;
    return *optarg == '/' && !strpbrk(optarg, " \t\n\"\\%") && strlen(optarg) < SETTING_NAME_MOST
               ? 0
               : fail_usage("unit", "--traces %s: it must be the whole path of a folder, without blanks",
                            optarg);
  case 'r': return unit_set(plan, SETTING_RATE, optarg);
  case 'b': return unit_set(plan, SETTING_BUDGET, optarg);
  case 'm': return unit_set(plan, SETTING_MAX_TRACE, optarg);
  case 'p': return unit_set(plan, SETTING_PYTHON_ALLOCATOR, optarg);
  case 'a': return unit_set(plan, SETTING_ASLEEP, "1");
  case 'f': return unit_set(plan, SETTING_FOLLOW, "1");
  default: return fail_option("unit", option, argv, known);
  }
}

static int unit_parse(struct plan *plan, int argc, char **argv) {
  int option, code = 0;
  plan->settings = settings_initial();
  opterr = 0;
  while (!code && (option = getopt_long(argc, argv, ":o:t:r:b:m:af", known, NULL)) != -1)
    code = unit_parse_option(plan, option, argv);
  if (!code && (optind + 1 != argc || !*argv[optind]))
    code = fail_usage("unit", "which service? usage: winnow unit [OPTION...] NAME|FILE");
  if (!code && !plan->settings.of[SETTING_RATE].given && !plan->settings.of[SETTING_BUDGET].given)
    code = unit_set(plan, SETTING_BUDGET, "1%");
  if (!code && !plan->settings.of[SETTING_MAX_TRACE].given) code = unit_set(plan, SETTING_MAX_TRACE, "64M");
  return code;
}

/* ---- shared ---- */

int command_unit(int argc, char **argv) {
  static struct plan plan;
  int code = unit_parse(&plan, argc, argv);
  if (!code && !record_find_library(plan.library))
    code = fail_job("the library is missing; is winnow installed completely?");
  if (!code)
    code =
        strchr(argv[optind], '/') ? unit_read_file(&plan, argv[optind]) : read_installed(&plan, argv[optind]);
  if (!code) unit_check(&plan);
  if (!code)
    code = plan.obstacles ? fail_job("%s cannot be recorded so; nothing is written", plan.name)
                          : unit_write_out(&plan);
  unit_free(&plan.unit);
  return code;
}
/* SPDX-License-Identifier: MIT */
