/* A file, or a folder of files, that is written as a whole or not at all. */
#include "cli/output.h"

#include "base/error.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary file, or folder with its files, for the signal handler; empty: there is none. */
static char temporary[PATH_MAX], inside[OUTPUT_FILES_MOST][PATH_MAX];

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { ENDING = sizeof ending / sizeof *ending };

static void remove_temporary(void) {
  for (int i = 0; i < OUTPUT_FILES_MOST; i++)
    if (*inside[i]) unlink(inside[i]);
  if (*temporary && unlink(temporary)) rmdir(temporary);
}

static void forget_temporary(void) {
  *temporary = 0;
  for (int i = 0; i < OUTPUT_FILES_MOST; i++) *inside[i] = 0;
}

static void remove_and_end(int number) {
  remove_temporary();
  signal(number, SIG_DFL);
  raise(number);
}

/* A signal that the caller ignores stays ignored. */
static void watch_signals(void (*handler)(int)) {
  for (int i = 0; i < ENDING; i++) {
    struct sigaction now;
    if (!sigaction(ending[i], NULL, &now) && now.sa_handler != SIG_IGN) signal(ending[i], handler);
  }
}

static wn_status cannot(const struct output *output) {
  return error_set(WN_EIO, "cannot write %s: %s", strcmp(output->name, "-") ? output->name : "the output",
                   strerror(errno));
}

/* Sets `temporary` to a pattern beside the target. */
static bool name_beside(const char *name) {
  size_t length = strlen(name);
  while (length > 1 && name[length - 1] == '/') length--; /* of a folder */
  if ((size_t)snprintf(temporary, sizeof temporary, "%.*s.XXXXXX", (int)length, name) < sizeof temporary)
    return true;
  *temporary = 0;
  errno = ENAMETOOLONG;
  return false;
}

static mode_t permissions(mode_t all) {
  mode_t mask = umask(0);
  umask(mask);
  return all & ~mask;
}

static void begin_watching(void) {
  watch_signals(remove_and_end);
  signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error as a full disk is */
}

/* Opens a temporary file beside the target, for the user alone until it is complete. */
static FILE *open_beside(const char *name) {
  if (!name_beside(name)) return NULL;
  begin_watching(); /* before there is anything that a signal could leave */
  int descriptor = mkostemp(temporary, 0);
  if (descriptor < 0) {
    *temporary = 0;
    return NULL;
  }
  return fdopen(descriptor, "w+");
}

/* Opens a file in the temporary folder; `which` is its place in `inside`. */
static FILE *open_inside(int which, const char *name) {
  if ((size_t)snprintf(inside[which], sizeof *inside, "%s/%s", temporary, name) < sizeof *inside)
    return fopen(inside[which], "wxe");
  *inside[which] = 0;
  errno = ENAMETOOLONG;
  return NULL;
}

static bool is_written(FILE *file) { return !fflush(file) && !ferror(file); }

/* Whether a folder can take the name; errno says why it cannot. */
static bool output_is_free(const char *name) {
  DIR *folder = opendir(name);
  int entries = 0;
  if (!folder) return errno == ENOENT;
  while (entries <= 2 && readdir(folder)) entries++;
  closedir(folder);
  if (entries > 2) errno = ENOTEMPTY; /* than . and .. */
  return entries <= 2;
}

static bool output_copy(FILE *from, FILE *to) {
  char bytes[1 << 16];
  rewind(from);
  for (size_t count; (count = fread(bytes, 1, sizeof bytes, from)) > 0;)
    if (fwrite(bytes, 1, count, to) != count) return false;
  return !ferror(from) && !fflush(to);
}

/* Copies what was written to a target that is no regular file. Standard output gets it by a stream
 * of its own, so that a failure is told once. */
static bool output_give(const struct output *output) {
  FILE *target = strcmp(output->name, "-") ? fopen(output->name, "we") : fdopen(dup(1), "w");
  if (!target) return false;
  bool copied = output_copy(output->file, target);
  int error = errno;
  if (!fclose(target)) errno = error;
  return copied;
}

/* ---- shared ---- */

/* A folder may end with slashes; a pattern is named by what stands before its first wildcard. */
bool output_name(const char *trace, const char *extension, char name[FILENAME_MAX]) {
  size_t whole = strcspn(trace, "*?["), tail = strlen(".trace");
  while (whole > 1 && trace[whole - 1] == (trace[whole] ? '.' : '/')) whole--;
  const char *slash = memrchr(trace, '/', whole), *base = slash ? slash + 1 : trace;
  size_t length = whole - (size_t)(base - trace);
  if (!length || (*base == '-' && length == 1) || strspn(base, ".") == length) return false;
  if (length > tail && !strcmp(base + length - tail, ".trace")) length -= tail;
  return (size_t)snprintf(name, FILENAME_MAX, "%.*s%s", (int)length, base, extension) < FILENAME_MAX;
}

wn_status output_open(struct output *output, const char *name) {
  struct stat found;
  bool exists = strcmp(name, "-") != 0 && !stat(name, &found);
  *output = (struct output){.name = name};
  if (exists && S_ISDIR(found.st_mode)) return errno = EISDIR, cannot(output);
  output->whole = strcmp(name, "-") != 0 && (!exists || S_ISREG(found.st_mode));
  output->file = output->whole ? open_beside(name) : tmpfile();
  return output->file ? WN_OK : cannot(output);
}

wn_status output_open_folder(struct output *output, const char *name, const char *const *files) {
  *output = (struct output){.name = name, .whole = true};
  if (!output_is_free(name) || !name_beside(name)) return cannot(output);
  begin_watching(); /* before there is anything that a signal could leave */
  if (!mkdtemp(temporary)) *temporary = 0;
  bool opened = *temporary && !chmod(temporary, permissions(0777));
  for (int i = 0; opened && files[i]; i++)
    opened = (output->folder[output->files++] = open_inside(i, files[i]));
  output->file = *output->folder;
  if (opened) return WN_OK;
  wn_status error = cannot(output);
  output_abandon(output);
  return error;
}

void output_make_private(struct output *output) { output->is_private = true; }

const char *output_temporary(void) { return temporary; }

wn_status output_restart(struct output *output) {
  rewind(output->file);
  return ftruncate(fileno(output->file), 0) ? cannot(output) : WN_OK;
}

wn_status output_finish(struct output *output) {
  if (output->whole && !output->files && !output->is_private) fchmod(fileno(output->file), permissions(0666));
  bool done = is_written(output->file);
  for (int i = 1; done && i < output->files; i++) done = is_written(output->folder[i]);
  done = done && (output->whole ? !rename(temporary, output->name) : output_give(output));
  wn_status error = done ? WN_OK : cannot(output);
  if (done) forget_temporary();
  output_abandon(output);
  return error;
}

void output_abandon(struct output *output) {
  remove_temporary();
  forget_temporary();
  if (output->whole) watch_signals(SIG_DFL);
  for (int i = 1; i < output->files; i++)
    if (output->folder[i]) fclose(output->folder[i]);
  if (output->file) fclose(output->file);
  output->file = NULL;
  output->files = 0;
}
/* SPDX-License-Identifier: MIT */
