/* Looks for control files among the mappings of processes, and asks by them. */
#include "cli/recordings.h"

#include "base/array.h"
#include "base/error.h"
#include "base/os.h"
#include "cli/mapped_trace.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_ATTEMPTS = 200 };
static const struct timespec short_pause = {.tv_nsec = 5 * 1000 * 1000};

/* What the mappings of a process say. */
enum mapped_kind {
  MAPPED_NOTHING,
  MAPPED_LIBRARY,
  MAPPED_REMOVED,
  MAPPED_FORBIDDEN,
  MAPPED_CONTROL,
  MAPPED_ANOTHER, /* the file of its parent */
  MAPPED_DENIED,
  MAPPED_GONE
};

struct mapped_control {
  enum mapped_kind kind;
  char path[CONTROL_PATH_MOST];
  ino_t inode;
};

/* One line of /proc/PID/maps: the file's number is the fifth field, its path the rest. */
static void recordings_read_line(char *line, struct mapped_control *found) {
  static const char removed[] = " (deleted)";
  char *path = strchr(line, '/'), *end = path ? strchr(path, '\n') : NULL;
  unsigned long long inode = 0;
  if (!path || !end || sscanf(line, "%*s %*s %*s %*s %llu", &inode) != 1) return;
  *end = 0;
  size_t length = (size_t)(end - path), cut = strlen(removed);
  bool is_removed = length > cut && !strcmp(end - cut, removed);
  if (is_removed) path[length - cut] = 0;
  const char *name = strrchr(path, '/') + 1;
  if (control_name_of(name) && found->kind < MAPPED_CONTROL && strlen(path) < sizeof found->path) {
    found->kind = is_removed ? MAPPED_REMOVED : MAPPED_CONTROL;
    found->inode = (ino_t)inode;
    strcpy(found->path, path);
  } else if (found->kind == MAPPED_NOTHING && !strncmp(name, "libwinnow-malloc", 16)) {
    found->kind = MAPPED_LIBRARY;
  }
}

static struct mapped_control read_mappings(pid_t pid) {
  struct mapped_control found = {.kind = MAPPED_NOTHING};
  char name[40], *line = NULL;
  size_t size = 0;
  snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(name, "re");
  if (!maps)
    return (struct mapped_control){.kind = errno == ENOENT || errno == ESRCH ? MAPPED_GONE : MAPPED_DENIED};
  while (getline(&line, &size, maps) > 0) recordings_read_line(line, &found);
  if (ferror(maps) && found.kind == MAPPED_NOTHING) found.kind = MAPPED_DENIED;
  free(line);
  fclose(maps);
  return found;
}

/* The number of a process in its own namespace: the last one of the line NStgid. */
static uint32_t inner_number(pid_t pid) {
  char name[40], text[4096];
  snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
  if (os_read_file(name, text, sizeof text) <= 0) return 0;
  const char *line = strstr(text, "\nNStgid:"), *end = line ? strchr(line + 1, '\n') : NULL;
  while (end && end > line && !isspace((unsigned char)end[-1])) end--;
  return end ? (uint32_t)strtoul(end, NULL, 10) : 0;
}

static int open_same(const char *path, ino_t inode) {
  struct stat found;
  errno = 0;
  int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor >= 0 && !fstat(descriptor, &found) && found.st_ino == inode && S_ISREG(found.st_mode) &&
      found.st_size >= CONTROL_BYTES)
    return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

static bool recordings_is_control(const struct control_page *page) {
  return !memcmp(page->magic, control_magic, sizeof page->magic) && page->version == CONTROL_VERSION;
}

/* False: it cannot be opened or read; errno is EACCES if this user may not. */
static bool open_control(struct recording_process *process, const struct mapped_control *mapped) {
  char by_root[sizeof mapped->path + 40];
  const char *path = mapped->path;
  process->descriptor = open_same(path, mapped->inode);
  if (process->descriptor < 0) {
    snprintf(by_root, sizeof by_root, "/proc/%d/root%s", (int)process->pid, mapped->path);
    process->descriptor = open_same(path = by_root, mapped->inode);
  }
  if (process->descriptor < 0) return false;
  process->trace = strndup(mapped->path, strlen(mapped->path) - strlen(CONTROL_ENDING));
  process->path = strndup(path, strlen(path) - strlen(CONTROL_ENDING));
  return process->trace && process->path && recordings_read(process);
}

static void close_process(struct recording_process *process) {
  if (process->descriptor >= 0) close(process->descriptor);
  free(process->trace);
  free(process->path);
}

/* Adds a process if it is recorded, and can be asked. Returns what its mappings say. */
static enum mapped_kind add_with_control(struct recordings *found, pid_t pid) {
  struct mapped_control mapped = read_mappings(pid);
  if (mapped.kind != MAPPED_CONTROL) return mapped.kind;
  struct recording_process process = {.pid = pid, .descriptor = -1};
  bool opened = open_control(&process, &mapped) && recordings_is_control(&process.page);
  bool forbidden = !opened && errno == EACCES;
  bool own = opened && process.page.pid == inner_number(pid); /* a child may have its parent's mappings */
  if (own && (ARRAY_ADD(found->items, found->count, found->capacity, process))) return MAPPED_CONTROL;
  close_process(&process);
  return opened ? MAPPED_ANOTHER : forbidden ? MAPPED_FORBIDDEN : MAPPED_REMOVED;
}

static const char *why_not_asked(enum mapped_kind kind, const struct mapped_trace *trace) {
  return trace->is_removed        ? "its trace and its control file were removed"
         : kind == MAPPED_REMOVED ? "its control file was removed or changed"
                                  : "it could not create a control file beside its trace";
}

/* Adds a process that is recorded, but has no control file. */
static bool add_without_control(struct recordings *found, pid_t pid, enum mapped_kind kind) {
  struct mapped_trace trace;
  if (!mapped_trace_find(pid, inner_number(pid), &trace)) return false;
  struct recording_process process = {.pid = pid,
                                      .trace = trace.trace,
                                      .path = trace.path,
                                      .descriptor = -1,
                                      .not_asked = why_not_asked(kind, &trace)};
  process.page.began_ns = trace.began_ns;
  /* A trace that has just begun has its control file a moment later. */
  bool is_late = kind == MAPPED_LIBRARY && add_with_control(found, pid) == MAPPED_CONTROL;
  if (!is_late && ARRAY_ADD(found->items, found->count, found->capacity, process)) return true;
  close_process(&process);
  return is_late;
}

/* Adds a process if it is recorded. Returns what its mappings say. */
static enum mapped_kind recordings_add_process(struct recordings *found, pid_t pid) {
  enum mapped_kind kind = add_with_control(found, pid);
  bool may_record = kind == MAPPED_REMOVED || kind == MAPPED_LIBRARY;
  return may_record && found->with_not_asked && add_without_control(found, pid, kind) ? MAPPED_CONTROL : kind;
}

static int recordings_by_number(const void *a, const void *b) {
  const struct recording_process *one = a, *other = b;
  return (one->pid > other->pid) - (one->pid < other->pid);
}

static wn_status fail_to_find_process(const char *name, enum mapped_kind kind) {
  switch (kind) {
  case MAPPED_GONE: return error_set(WN_EINVAL, "there is no process %s", name);
  case MAPPED_DENIED:
    if (!geteuid())
      return error_set(WN_EINVAL, "the system lets nothing look into process %s, not even root here", name);
    return error_set(WN_EINVAL,
                     "process %s is another user's, or has changed its user since it began; ask as its user, "
                     "or as root",
                     name);
  case MAPPED_REMOVED:
    return error_set(WN_EINVAL,
                     "process %s is recorded, but its control file was removed or changed: nothing can be "
                     "asked of it",
                     name);
  case MAPPED_FORBIDDEN:
    return error_set(WN_EINVAL,
                     "process %s is recorded, but you may not open its control file, which belongs to the "
                     "user that it began as; ask as that user, or as root",
                     name);
  case MAPPED_ANOTHER:
    return error_set(
        WN_EINVAL, "process %s is a child of a recorded one, and not recorded itself; record with -f", name);
  case MAPPED_LIBRARY:
    return error_set(WN_EINVAL,
                     "process %s has Winnow's library, but no control file: it records nothing, has "
                     "allocated nothing yet, or could not create the file beside its trace",
                     name);
  default:
    return error_set(WN_EINVAL,
                     "process %s is not recorded: it runs without Winnow's library; see 'winnow help record'",
                     name);
  }
}

static wn_status find_process(struct recordings *found, const char *name) {
  char *end;
  errno = 0;
  long pid = strtol(name, &end, 10);
  if (errno || *end || pid <= 0 || pid > INT_MAX)
    return error_set(WN_EINVAL, "%.60s is no process number", name);
  enum mapped_kind kind = recordings_add_process(found, (pid_t)pid);
  return kind == MAPPED_CONTROL ? WN_OK : fail_to_find_process(name, kind);
}

/* Whether a recording writes this trace, or one in this folder. */
static bool recordings_is_of(const struct recording_process *process, const struct stat *named) {
  struct stat found;
  char *folder = strdup(process->path), *slash = folder ? strrchr(folder, '/') : NULL;
  bool is_file =
      !stat(process->path, &found) && found.st_dev == named->st_dev && found.st_ino == named->st_ino;
  if (slash) *slash = 0;
  bool is_in = slash && S_ISDIR(named->st_mode) && !stat(slash == folder ? "/" : folder, &found) &&
               found.st_dev == named->st_dev && found.st_ino == named->st_ino;
  free(folder);
  return is_file || is_in;
}

static wn_status find_trace(struct recordings *found, const char *name) {
  struct stat named;
  struct recordings all = {.with_not_asked = found->with_not_asked};
  size_t before = found->count;
  if (stat(name, &named)) return error_set(WN_EINVAL, "cannot open %.400s: %s", name, strerror(errno));
  wn_status error = recordings_find_all(&all);
  for (size_t i = 0; i < all.count; i++) {
    struct recording_process *process = &all.items[i];
    if (!error && recordings_is_of(process, &named)) {
      if (!(ARRAY_ADD(found->items, found->count, found->capacity, *process))) error = WN_ENOMEM;
      if (!error) *process = (struct recording_process){.descriptor = -1};
    }
  }
  recordings_destroy(&all);
  if (error) return error_set(WN_ENOMEM, "not enough memory");
  if (found->count > before) return WN_OK;
  bool may_look = !geteuid() || named.st_uid == geteuid();
  return error_set(WN_EINVAL,
                   may_look
                       ? "%.400s: no process records into it now"
                       : "%.400s is another user's, and so is a process that records into it; ask as that "
                         "user, or as root",
                   name);
}

/* ---- shared ---- */

wn_status recordings_find_all(struct recordings *found) {
  DIR *all = opendir("/proc");
  *found = (struct recordings){.with_not_asked = found->with_not_asked};
  if (!all) return error_set(WN_EIO, "cannot read /proc: %s", strerror(errno));
  for (struct dirent *entry; (entry = readdir(all));)
    if (isdigit((unsigned char)*entry->d_name)) recordings_add_process(found, (pid_t)atoi(entry->d_name));
  closedir(all);
  if (found->count) qsort(found->items, found->count, sizeof *found->items, recordings_by_number);
  return WN_OK;
}

wn_status recordings_find(struct recordings *found, const char *name) {
  return name[strspn(name, "0123456789")] ? find_trace(found, name) : find_process(found, name);
}

void recordings_destroy(struct recordings *found) {
  for (size_t i = 0; i < found->count; i++) close_process(&found->items[i]);
  free(found->items);
  *found = (struct recordings){0};
}

uint64_t recordings_ask(struct recording_process *process, const struct control_sampling *sampling,
                        uint64_t duration_ns) {
  for (int i = 0; flock(process->descriptor, LOCK_EX | LOCK_NB); i++) {
    if (errno != EWOULDBLOCK || i == LOCK_ATTEMPTS) return 0;
    nanosleep(&short_pause, NULL);
  }
  uint64_t number = recordings_read(process) ? process->page.asked + 1 : 0;
  size_t place = offsetof(struct control_page, of) + number % 2 * sizeof(struct control_asked);
  struct control_asked what = {sampling->rate, sampling->budget, duration_ns};
  bool asked = number && os_write_at(process->descriptor, (const void *)&what, sizeof what, place) &&
               /* Pairs with control_claim. */
               os_write_at(process->descriptor, &number, sizeof number, offsetof(struct control_page, asked));
  flock(process->descriptor, LOCK_UN);
  return asked ? number : 0;
}

bool recordings_read(struct recording_process *process) {
  unsigned char bytes[sizeof process->page];
  if (os_read_at(process->descriptor, bytes, sizeof bytes, 0) < sizeof bytes) return false;
  memcpy((void *)&process->page, bytes, sizeof bytes);
  return true;
}

bool recordings_wait(struct recording_process *process, uint64_t number, uint64_t wait_ns) {
  uint64_t end = os_monotonic_ns() + wait_ns;
  while (recordings_read(process) && process->page.done < number) {
    if (os_monotonic_ns() >= end || (kill(process->pid, 0) && errno == ESRCH)) return false;
    nanosleep(&short_pause, NULL);
  }
  return process->page.done >= number;
}
/* SPDX-License-Identifier: MIT */
