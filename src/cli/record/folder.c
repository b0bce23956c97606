/* Makes the folder, finishes the traces in it, and removes those that tell nothing. An error of one file
 * leaves that file where it is; the other files are still handled. */
#include "cli/record/folder.h"

#include "base/error.h"
#include "base/os.h"
#include "cli/history_file.h"
#include "cli/runtimes.h"
#include "sources/files/open.h"
#include "trace/chunk_file.h"
#include "trace/control.h"
#include "trace/history.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  PROGRAM_SHARE = 10, /* KEPT */
  SMALL_SHARE = 20,
  /* A reader holds a lock for a moment; so does a child that was forked just before the program ended. */
  ATTEMPTS = 20,
  ATTEMPTS_OTHERS = 3 /* for a trace of another process, which may well be writing it */
};

static const struct timespec pause_for_readers = {.tv_nsec = 5000000};

static bool folder_take_lock(int descriptor, int attempts) {
  for (int i = 0; i < attempts; i++) {
    if (i) nanosleep(&pause_for_readers, NULL);
    if (!flock(descriptor, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return true;
  }
  return false;
}

static char *path_in(const struct folder *folder, const char *name) {
  char *path;
  return asprintf(&path, "%s/%s", folder->path, name) < 0 ? NULL : path;
}

static wn_status fail_to_make(const char *path) {
  return error_set(WN_EIO, "cannot write %s: %s", path, strerror(errno));
}

static int folder_is_visible(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* ---- the beginning ---- */

/* A name that a writer gave: two numbers and the ending. */
static bool is_our_name(const char *name) {
  static const char digits[] = "0123456789";
  size_t pid = strspn(name, digits), time = name[pid] == '.' ? strspn(name + pid + 1, digits) : 0;
  return pid && time && !strcmp(name + pid + 1 + time, CHUNK_FILE_ENDING);
}

/* Whether the first `length` bytes of a name, 0 if there are none, are such a name. */
static bool begins_as_ours(const char *name, size_t length) {
  char trace[NAME_MAX + 1];
  if (!length || length > NAME_MAX) return false;
  memcpy(trace, name, length);
  trace[length] = 0;
  return is_our_name(trace);
}

static bool is_our_control(const char *name) { return begins_as_ours(name, control_name_of(name)); }
static bool is_our_history(const char *name) { return begins_as_ours(name, history_name_of(name)); }

/* A control file is of no use without the process that has its trace locked. */
static wn_status remove_control(const struct folder *folder, const char *name) {
  char *path = path_in(folder, name);
  if (!path) return error_set(WN_ENOMEM, "not enough memory");
  char *end = path + strlen(path) - strlen(name) + control_name_of(name), first = *end;
  *end = 0;
  int trace = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  *end = first;
  if (trace < 0 || folder_take_lock(trace, 1)) unlink(path);
  if (trace >= 0) close(trace);
  free(path);
  return WN_OK;
}

/* A history is of no use without its trace. */
static wn_status remove_left_history(const struct folder *folder, const char *name) {
  char *path = path_in(folder, name);
  if (!path) return error_set(WN_ENOMEM, "not enough memory");
  if (!history_is_one(path)) unlink(path);
  free(path);
  return WN_OK;
}

static wn_status remove_trace(const char *path) {
  wn_status status = chunk_file_check(path);
  if (!status && unlink(path)) status = fail_to_make(path);
  if (!status) history_remove_own(path);
  return status;
}

/* OTHERS' FILES. In the first round nothing is removed. */
static wn_status look_at_old(const struct folder *folder, const char *name, bool remove) {
  if (is_our_control(name)) return remove ? remove_control(folder, name) : WN_OK;
  if (is_our_history(name)) return remove ? remove_left_history(folder, name) : WN_OK;
  if (!is_our_name(name))
    return error_set(WN_EINVAL, "%s is a folder with other files, such as %s; choose another name",
                     folder->path, name);
  char *path = path_in(folder, name);
  wn_status status = !path    ? error_set(WN_ENOMEM, "not enough memory")
                     : remove ? remove_trace(path)
                              : chunk_file_check(path);
  free(path);
  return status;
}

static wn_status folder_empty(const struct folder *folder) {
  struct dirent **entries;
  wn_status status = WN_OK;
  int count = scandir(folder->path, &entries, folder_is_visible, alphasort);
  if (count < 0) return fail_to_make(folder->path);
  for (int remove = 0; remove < 2; remove++)
    for (int i = 0; i < count && !status; i++) status = look_at_old(folder, entries[i]->d_name, remove);
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
  return status;
}

/* The folder is this user's alone, and writable whatever the umask is. */
static bool folder_create(struct folder *folder) {
  folder->exists = !mkdir(folder->path, S_IRWXU) && !chmod(folder->path, S_IRWXU);
  return folder->exists;
}

static wn_status folder_make(struct folder *folder) {
  struct stat found;
  if (folder_create(folder)) return WN_OK;
  if (errno != EEXIST || lstat(folder->path, &found)) return fail_to_make(folder->path);
  if (S_ISDIR(found.st_mode)) return WN_OK;
  wn_status status = remove_trace(folder->path);
  if (status) return status;
  return folder_create(folder) ? WN_OK : fail_to_make(folder->path);
}

static bool folder_is_named(int descriptor, const char *path) {
  struct stat opened, named;
  return !fstat(descriptor, &opened) && !lstat(path, &named) && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

static wn_status lock(struct folder *folder) {
  folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder->lock < 0) return fail_to_make(folder->path);
  if (!folder_take_lock(folder->lock, ATTEMPTS) || !folder_is_named(folder->lock, folder->path))
    return error_set(WN_EBUSY, "%s is being written by another program; choose another name", folder->path);
  return access(folder->path, W_OK | X_OK) ? fail_to_make(folder->path) : WN_OK;
}

/* ---- reading ---- */

static void folder_add(struct folder *folder, const char *name) {
  struct folder_trace *more = realloc(folder->traces, (folder->count + 1) * sizeof *more);
  char *path = more ? path_in(folder, name) : NULL;
  if (more) folder->traces = more;
  if (path) more[folder->count++] = (struct folder_trace){.path = path, .status = WN_EFORMAT};
}

static wn_status folder_list(struct folder *folder) {
  struct dirent **entries;
  int count = scandir(folder->path, &entries, folder_is_visible, alphasort);
  if (count < 0 && (errno == ENOENT || errno == ENOTDIR)) return folder->harm = "was removed", WN_OK;
  if (count < 0) return error_set(WN_EIO, "cannot read %s: %s", folder->path, strerror(errno));
  for (int i = 0; i < count; i++) {
    if (is_our_name(entries[i]->d_name)) folder_add(folder, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return WN_OK;
}

/* Reads who wrote it and when. */
static void read_origin(struct folder_trace *trace, pid_t first) {
  struct source *source;
  if (source_open(trace->path, &source)) return;
  const struct trace_run *run = source_run(source);
  trace->pid = run->pid;
  trace->began_ns = run->monotonic_ns;
  trace->is_first = run->pid == (uint32_t)first && run->parent_pid == (uint32_t)getpid();
  if (run->command.length) trace->program = strndup(run->command.bytes, run->command.length);
  source_close(source);
}

static int by_origin(const void *one, const void *other) {
  const struct folder_trace *a = one, *b = other;
  if (a->is_first != b->is_first) return a->is_first ? -1 : 1;
  if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
  return (a->began_ns > b->began_ns) - (a->began_ns < b->began_ns);
}

/* Whether a process runs, and is no zombie. */
static bool folder_is_alive(uint32_t pid) {
  char path[40], text[512];
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const char *name_end = os_read_file(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
  return name_end && name_end[1] && !strchr("ZX", name_end[2]);
}

/* The totals of a trace whose history has a part of its samples. */
static void count_history(struct folder_trace *trace) {
  struct source *source;
  struct trace_event event;
  if (!history_exists(trace->path) || source_open(trace->path, &source)) return;
  struct trace_totals *totals = &trace->totals;
  totals->changes = true;
  totals->samples = totals->hits = 0;
  while (source_next(source, &event)) {
    if (event.kind != TRACE_SAMPLE) continue;
    totals->samples++;
    totals->hits += event.sample.n_samples;
  }
  source_close(source);
}

static void find_runtime(const struct trace_reader *reader, void *trace) {
  ((struct folder_trace *)trace)->nameless = runtime_of_trace(reader);
}

static void finish_folder(struct folder_trace *trace, const struct trace_finishing *finishing,
                          struct unrecorded *unrecorded) {
  struct trace_finishing with = *finishing;
  with.read = find_runtime;
  with.read_context = trace;
  trace->status = WN_EBUSY;
  for (int i = 0; i < (trace->is_first ? ATTEMPTS : ATTEMPTS_OTHERS) && trace->status == WN_EBUSY; i++) {
    if (i) nanosleep(&pause_for_readers, NULL);
    trace->status = unrecorded_finish(unrecorded, trace->path, &with, &trace->totals);
  }
  trace->after = unrecorded->own;
  if (!trace->status) count_history(trace);
  bool became = !trace->status && trace->totals.end.kind == TRACE_END_EXEC;
  if (became && !trace->is_first) unrecorded_count_own(unrecorded);
  if (became && !trace->is_first && folder_is_alive(trace->pid)) trace->status = WN_EBUSY;
}

/* The process's last program alone may lack its end. Of a program before it that left no trace it is known
 * that it had little resident memory (OVER in preload/process.c). */
static void finish_all(struct folder *folder, const struct trace_finishing *finishing,
                       struct unrecorded *unrecorded) {
  uint64_t resident =
      finishing->resident_before > TRACE_FEW_BYTES ? finishing->resident_before : TRACE_FEW_BYTES;
  for (size_t i = 0; i < folder->count; i++) {
    struct folder_trace *trace = &folder->traces[i];
    bool is_last = trace->is_first && (i + 1 == folder->count || !trace[1].is_first);
    struct trace_finishing with = {.end = is_last ? finishing->end : NULL, .resident_before = resident};
    if (folder->count == 1) with.progress = finishing->progress, with.context = finishing->context;
    if (folder->count > 1 && finishing->progress)
      finishing->progress((double)i / (double)folder->count, finishing->context);
    finish_folder(trace, &with, unrecorded);
    if (trace->totals.resident_bytes > resident) resident = trace->totals.resident_bytes;
    if (trace->status) resident = UINT64_MAX / 2; /* not known */
    const struct folder_trace *before = i ? trace - 1 : NULL;
    trace->continues = before && before->pid == trace->pid && before->is_first == trace->is_first &&
                       before->totals.end.kind == TRACE_END_EXEC;
  }
}

/* ---- choosing ---- */

static bool folder_is_kept(const struct folder_trace *trace) { return trace->path && !trace->status; }

/* Removes a trace, if it is still what was read. */
static void remove_at(struct folder *folder, size_t i) {
  struct folder_trace *trace = &folder->traces[i];
  struct stat found;
  int descriptor = open(trace->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  bool same = descriptor >= 0 && folder_take_lock(descriptor, ATTEMPTS_OTHERS) &&
              folder_is_named(descriptor, trace->path) && !fstat(descriptor, &found) &&
              (uint64_t)found.st_size == trace->totals.file_bytes;
  if (!same) {
    trace->status = WN_EBUSY;
  } else if (!unlink(trace->path)) {
    history_remove(trace->path);
    free(trace->path);
    trace->path = NULL;
  }
  if (descriptor >= 0) close(descriptor);
}

/* The main program of a process: the last one, unless another one allocated clearly more. */
static size_t main_of(const struct folder *folder, size_t from, size_t to) {
  size_t main = to - 1;
  for (size_t i = to; i-- > from;) {
    uint64_t hits = folder->traces[i].totals.hits, most = folder->traces[main].totals.hits;
    if (folder_is_kept(&folder->traces[i]) &&
        (!folder_is_kept(&folder->traces[main]) || hits > 2 * most + TRACE_FEW_HITS))
      main = i;
  }
  return main;
}

/* Whether a trace tells more than its samples. */
static bool is_telling(const struct trace_totals *totals) {
  return trace_is_partial(&totals->damage) || totals->changes ||
         (totals->damage.complete && totals->end.kind == TRACE_END_SIGNAL);
}

/* KEPT: the programs of one process. */
static void thin_process(struct folder *folder, size_t from, size_t to) {
  size_t main = main_of(folder, from, to);
  uint64_t most = folder->traces[main].totals.hits, resident = TRACE_FEW_BYTES * PROGRAM_SHARE;
  for (size_t i = from; i < to; i++)
    if (folder->traces[i].totals.resident_bytes > resident)
      resident = folder->traces[i].totals.resident_bytes;
  for (size_t i = from; i < to; i++) {
    const struct trace_totals *totals = &folder->traces[i].totals;
    bool few = totals->hits < TRACE_FEW_HITS || totals->hits < most / PROGRAM_SHARE;
    if (i != main && folder_is_kept(&folder->traces[i]) && few &&
        totals->resident_bytes < resident / PROGRAM_SHARE && !is_telling(totals))
      remove_at(folder, i);
  }
  if (folder->traces[main].is_first || !folder->traces[folder->main].path) folder->main = main;
}

static void thin_processes(struct folder *folder) {
  for (size_t from = 0, to; from < folder->count; from = to) {
    for (to = from + 1; to < folder->count && folder->traces[to].continues;) to++;
    thin_process(folder, from, to);
  }
}

static bool folder_is_small(const struct folder_trace *trace) {
  const struct trace_totals *totals = &trace->totals;
  return folder_is_kept(trace) && totals->hits < TRACE_FEW_HITS && totals->resident_bytes < TRACE_FEW_BYTES &&
         !is_telling(totals);
}

/* KEPT: processes with little. */
static void remove_small(struct folder *folder) {
  uint64_t all = 0, small = 0;
  size_t others = 0;
  for (size_t i = 0; i < folder->count; i++) {
    const struct folder_trace *trace = &folder->traces[i];
    if (!trace->path) continue;
    all += trace->totals.hits;
    if (folder_is_small(trace))
      small += trace->totals.hits;
    else
      others++;
  }
  bool few = small <= all / SMALL_SHARE;
  for (size_t i = 0; i < folder->count; i++) {
    bool only = !others && !all && i == folder->main;
    if (only || !folder_is_small(&folder->traces[i]) || (!few && folder->traces[i].totals.hits)) continue;
    remove_at(folder, i);
    folder->removed += !folder->traces[i].path;
  }
}

/* A file that was created and has no record; but its process may just have begun. */
static void folder_remove_empty(struct folder *folder) {
  for (size_t i = 0; i < folder->count; i++) {
    struct stat found;
    const struct folder_trace *trace = &folder->traces[i];
    if (trace->status != WN_EFORMAT || lstat(trace->path, &found)) continue;
    if (found.st_size) {
      if (chunk_file_check(trace->path) == WN_EBUSY) folder->traces[i].status = WN_EBUSY;
      continue;
    }
    remove_at(folder, i);
    folder->harm = "was emptied";
  }
}

static void count_kept(struct folder *folder) {
  bool any = false;
  for (size_t i = 0; i < folder->count; i++) {
    const struct folder_trace *trace = &folder->traces[i];
    any &= trace->continues;
    if (!trace->path) continue;
    folder->kept++;
    folder->processes += !any;
    any = true;
    if (!folder->traces[folder->main].path) folder->main = i;
  }
}

/* Removes the files of traces that are not there, or that no process writes any more. */
static void remove_left(const struct folder *folder) {
  struct dirent **entries;
  int count = scandir(folder->path, &entries, folder_is_visible, NULL);
  for (int i = 0; i < count; i++) {
    if (is_our_control(entries[i]->d_name)) remove_control(folder, entries[i]->d_name);
    if (is_our_history(entries[i]->d_name)) remove_left_history(folder, entries[i]->d_name);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

/* As rename, but fails if the name is taken. On file systems without RENAME_NOREPLACE it looks
 * first. */
static bool rename_to_free(const char *from, const char *to) {
  struct stat found;
  if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return lstat(to, &found) && errno == ENOENT && !rename(from, to);
}

/* Puts the file `beside` in the place of the folder, at once where the file system can. If a trace has come
 * meanwhile, the folder is not empty, and stays. */
static bool take_place(const char *beside, const char *folder) {
  if (!renameat2(AT_FDCWD, beside, AT_FDCWD, folder, RENAME_EXCHANGE)) {
    if (!rmdir(beside)) return true;
    renameat2(AT_FDCWD, beside, AT_FDCWD, folder, RENAME_EXCHANGE);
    return false;
  }
  return !rmdir(folder) && rename_to_free(beside, folder);
}

/* Moves the history of a trace, if there is one, to another name of the trace. One that was being
 * written is given up. */
static bool move_history(const char *from, const char *to) {
  char *history = history_path(from, HISTORY_ENDING), *moved = history_path(to, HISTORY_ENDING);
  bool done = history && moved && (!history_exists(from) || rename_to_free(history, moved));
  if (done) history_remove(from);
  free(history);
  free(moved);
  return done;
}

/* The trace's file takes the place of the folder, in which nothing else is. */
static bool move_trace(const struct folder *folder, const struct folder_trace *trace) {
  char *beside;
  if (asprintf(&beside, "%s.%d", folder->path, (int)getpid()) < 0) return false;
  bool moved = rename_to_free(trace->path, beside), done = moved && take_place(beside, folder->path);
  if (moved && !done) rename_to_free(beside, trace->path);
  free(beside);
  return done;
}

/* Makes the only trace the file FILE. */
static void become_file(struct folder *folder) {
  struct folder_trace *trace = &folder->traces[folder->main];
  char *path = strdup(folder->path);
  if (path && move_history(trace->path, path)) {
    folder->exists = !move_trace(folder, trace);
    if (folder->exists) {
      move_history(path, trace->path);
    } else {
      free(trace->path);
      trace->path = path;
      path = NULL;
    }
  }
  free(path);
}

/* ---- shared ---- */

bool folder_is_trace_name(const char *name) { return is_our_name(name); }

wn_status folder_begin(struct folder *folder, const char *output) {
  size_t length = strlen(output);
  *folder = (struct folder){.stays = length > 1 && output[length - 1] == '/', .lock = -1};
  while (length > 1 && output[length - 1] == '/') length--;
  folder->path = strndup(output, length);
  if (!folder->path) return error_set(WN_ENOMEM, "not enough memory");
  wn_status status = folder_make(folder);
  bool made = folder->exists;
  if (!status) status = lock(folder);
  if (!status && !made) status = folder_empty(folder);
  if (!status) history_remove_own(folder->path); /* of a trace FILE that was removed without it */
  folder->exists = !status;
  if (status && status != WN_EBUSY && made) rmdir(folder->path);
  return status;
}

wn_status folder_finish(struct folder *folder, pid_t pid, const struct trace_finishing *finishing,
                        struct unrecorded *unrecorded) {
  wn_status status = folder_list(folder);
  if (status) return status;
  for (size_t i = 0; i < folder->count; i++) read_origin(&folder->traces[i], pid);
  if (folder->count) qsort(folder->traces, folder->count, sizeof *folder->traces, by_origin);
  finish_all(folder, finishing, unrecorded);
  folder_remove_empty(folder);
  thin_processes(folder);
  remove_small(folder);
  count_kept(folder);
  remove_left(folder);
  if (!folder->kept) {
    folder_abandon(folder);
    return error_set(WN_EFORMAT, "%s has no trace", folder->path);
  }
  if (folder->kept == 1 && !folder->stays && folder_is_kept(&folder->traces[folder->main]))
    become_file(folder);
  return WN_OK;
}

void folder_abandon(struct folder *folder) {
  if (!rmdir(folder->path)) folder->exists = false;
}

void folder_free(struct folder *folder) {
  for (size_t i = 0; i < folder->count; i++) {
    free(folder->traces[i].path);
    free(folder->traces[i].program);
  }
  free(folder->traces);
  free(folder->path);
  if (folder->lock >= 0) close(folder->lock);
}
/* SPDX-License-Identifier: MIT */
