/* Finishes, chooses, removes and renames the traces of one process. An error of one file leaves
 * that file under its name; the other files are still handled. */
#include "cli/chain.h"

#include "base/error.h"
#include "cli/text.h"
#include "sources/source.h"
#include "trace/chunk.h"
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
  KEPT_SHARE = 10, /* a trace is kept if its program allocated at least one part in so many of the main one */
  ATTEMPTS = 20
};

static char *name_of(const char *output, size_t number) {
  char *path;
  return asprintf(&path, "%s.exec%zu", output, number) < 0 ? NULL : path;
}

/* Opens a file if it is a trace or empty; otherwise returns -1. */
static int open_trace(const char *path, int flags) {
  unsigned char begin[sizeof chunk_magic];
  int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  ssize_t length = fd >= 0 ? read(fd, begin, sizeof begin) : -1;
  if (!length || (length == (ssize_t)sizeof begin && !memcmp(begin, chunk_magic, sizeof begin))) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

static bool is_trace(const char *path) {
  int fd = open_trace(path, O_RDONLY);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* ---- traces of an earlier run ---- */

static const struct timespec pause_for_readers = {.tv_nsec = 5000000};

/* Whether a program writes this trace. A reader locks it only for a moment. */
static bool is_written(int fd) {
  for (int i = 0; i < ATTEMPTS; i++) {
    if (i) nanosleep(&pause_for_readers, NULL);
    if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return false;
  }
  return true;
}

/* Removes a file of this user; OTHERS' FILES. The caller has it open, and has its lock or knows
 * that it was free. */
static void remove_file(const char *path, int fd) {
  struct stat opened, named;
  bool same = !fstat(fd, &opened) && !lstat(path, &named) && opened.st_dev == named.st_dev &&
              opened.st_ino == named.st_ino;
  if (same && S_ISREG(opened.st_mode) && opened.st_uid == geteuid()) unlink(path);
}

static wn_status look_at_old(const char *path, bool remove) {
  int fd = open_trace(path, O_RDWR);
  if (fd < 0) return WN_OK;
  bool written = is_written(fd);
  if (remove && !written) remove_file(path, fd);
  close(fd);
  return written ? error_set(WN_EBUSY, "%s is being written by another program; choose another name", path)
                 : WN_OK;
}

/* ---- choosing ---- */

/* Finishes a trace. A child that was forked just before the program ended holds the lock of the
 * trace until the child closes the file, so a busy trace is tried again. */
static wn_status finish(struct unrecorded *unrecorded, const char *path, int attempts,
                        const struct trace_finishing *finishing, struct trace_totals *totals) {
  wn_status status = WN_EBUSY;
  for (int i = 0; i < attempts && status == WN_EBUSY; i++) {
    if (i) nanosleep(&pause_for_readers, NULL);
    status = unrecorded_finish(unrecorded, path, finishing, totals);
  }
  return status;
}

/* Removes a trace that was created and has no record. */
static bool remove_if_empty(const char *path) {
  struct stat found;
  int fd = open_trace(path, O_RDWR);
  bool empty = fd >= 0 && !fstat(fd, &found) && !found.st_size && !flock(fd, LOCK_EX | LOCK_NB);
  if (empty) remove_file(path, fd);
  if (fd >= 0) close(fd);
  return empty;
}

static void read_link(struct exec_chain *chain, const char *file, size_t number, int attempts,
                      const struct trace_finishing *finishing, struct unrecorded *unrecorded) {
  struct chain_link *link = &chain->links[chain->count++];
  link->path = number ? name_of(file, number) : strdup(file);
  link->status = link->path ? finish(unrecorded, link->path, attempts, finishing, &link->totals) : WN_ENOMEM;
  chain->after = unrecorded->own;
  if (link->status && link->path && number && remove_if_empty(link->path)) {
    free(link->path);
    link->path = NULL;
  }
}

/* The largest resident size of the programs so far; where one is not known, a number that no later
 * size exceeds. */
static uint64_t resident_before(const struct exec_chain *chain) {
  uint64_t most = 0;
  for (size_t i = 0; i < chain->count; i++) {
    const struct chain_link *link = &chain->links[i];
    uint64_t bytes =
        link->status || !link->totals.resident_bytes ? UINT64_MAX / 2 : link->totals.resident_bytes;
    if (bytes > most) most = bytes;
  }
  return most;
}

/* Reads the traces in order. Only the last one may lack its end record. */
static void read_links(struct exec_chain *chain, const char *output, const struct trace_finishing *finishing,
                       struct unrecorded *unrecorded) {
  struct trace_finishing without = *finishing, with = *finishing;
  without.end = NULL;
  for (bool last = false; !last;) {
    size_t number = chain->count;
    char *next = name_of(output, number + 1);
    last = number + 1 == EXEC_CHAIN_MOST || !next || !is_trace(next);
    free(next);
    uint64_t before = resident_before(chain);
    if (before > with.resident_before) with.resident_before = before;
    read_link(chain, output, number, ATTEMPTS, last ? &with : &without, unrecorded);
  }
}

/* Chooses the main program: the last one, unless another one allocated clearly more. */
static void choose(struct exec_chain *chain) {
  chain->main = chain->count - 1;
  for (size_t i = chain->count; i-- > 0;) {
    uint64_t hits = chain->links[i].totals.hits, most = chain->links[chain->main].totals.hits;
    if (chain_has(chain, i) && (!chain_has(chain, chain->main) || hits > 2 * most + TRACE_FEW_HITS))
      chain->main = i;
  }
}

static bool is_worth_keeping(uint64_t hits, uint64_t most) {
  return hits >= TRACE_FEW_HITS && hits >= most / KEPT_SHARE;
}

/* ---- names ---- */

static void remove_link(struct chain_link *link) {
  int fd = open_trace(link->path, O_RDWR);
  if (fd < 0) return;
  bool removed = !flock(fd, LOCK_EX | LOCK_NB);
  if (removed) remove_file(link->path, fd);
  close(fd);
  if (!removed) return;
  free(link->path);
  link->path = NULL;
}

/* As rename, but fails if the name is taken. On file systems without RENAME_NOREPLACE it looks
 * first. */
static bool rename_to_free(const char *from, const char *to) {
  struct stat found;
  if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return lstat(to, &found) && errno == ENOENT && !rename(from, to);
}

static bool move_link(struct chain_link *link, char *path) {
  bool moved = path && rename_to_free(link->path, path);
  free(moved ? link->path : path);
  if (moved) link->path = path;
  return moved;
}

/* Renames the first program's trace to number 0, or the first free number, so that the main
 * program's trace can become FILE. */
static void move_aside(struct chain_link *first, const char *file) {
  if (first->status && remove_if_empty(first->path)) {
    free(first->path);
    first->path = NULL;
  } else if (is_trace(first->path)) {
    for (size_t i = 0; i < EXEC_CHAIN_MOST && !move_link(first, name_of(file, i)); i++) {}
  }
}

static void tidy(struct exec_chain *chain, const char *file) {
  uint64_t most = chain->links[chain->main].totals.hits;
  for (size_t i = 0; i < chain->count; i++)
    if (chain_has(chain, i) && i != chain->main && !is_worth_keeping(chain->links[i].totals.hits, most))
      remove_link(&chain->links[i]);
  struct chain_link *first = &chain->links[0], *main = &chain->links[chain->main];
  if (!strcmp(main->path, file)) return;
  if (first->path && !strcmp(first->path, file)) move_aside(first, file);
  move_link(main, strdup(file));
}

static void set_names(struct exec_chain *chain, const char *first) {
  for (size_t i = 0; i < chain->count; i++) {
    const char *became = i ? chain->links[i - 1].totals.became : first;
    chain->links[i].name = became && *became ? became : NULL;
  }
}

/* ---- the next trace ---- */

/* The name of the first trace of a process: without ".exec" and a number. */
static char *first_of(const char *path) {
  char *first = strdup(path), *last = NULL;
  for (char *at = first; at && (at = strstr(at, ".exec")); at++) last = at;
  if (last && last[5] && !last[5 + strspn(last + 5, "0123456789")]) *last = 0;
  return first;
}

/* The time at which a trace began, by the monotonic clock; 0: it is not a trace of this process. */
static uint64_t began_as(const char *path, uint32_t pid) {
  struct source *source;
  if (!is_trace(path) || source_open(path, &source)) return 0;
  const struct trace_run *run = source_run(source);
  uint64_t began = run->pid == pid ? run->monotonic_ns : 0;
  source_close(source);
  return began;
}

/* ---- shared ---- */

wn_status chain_begin(const char *output) {
  wn_status status = WN_OK;
  for (int remove = 0; remove < 2;
       remove++) /* in the first round all are checked, in the second they are removed */
    for (size_t i = 0; i < EXEC_CHAIN_MOST && !status; i++) {
      char *path = name_of(output, i);
      if (path) status = look_at_old(path, remove);
      free(path);
    }
  return status;
}

wn_status chain_finish(struct exec_chain *chain, const char *output, const char *first,
                       const struct trace_finishing *finishing, struct unrecorded *unrecorded) {
  *chain = (struct exec_chain){0};
  read_links(chain, output, finishing, unrecorded);
  if (chain->links[0].status && chain->count == 1) return chain->links[0].status;
  set_names(chain, first);
  choose(chain);
  if (!chain_has(chain, chain->main)) return chain->links[0].status;
  tidy(chain, output);
  return WN_OK;
}

void chain_join(struct exec_chain *chain, const char *file, uint64_t numbers, struct unrecorded *unrecorded) {
  static const struct trace_finishing nothing_more;
  bool written = false;
  *chain = (struct exec_chain){0};
  for (size_t number = 0; number < EXEC_CHAIN_MOST; number++) {
    if (!(numbers >> number & 1)) continue;
    read_link(chain, file, number, 1, &nothing_more, unrecorded);
    written |= chain->links[chain->count - 1].status == WN_EBUSY;
  }
  set_names(chain, NULL);
  choose(chain);
  if (!written && chain_has(chain, chain->main)) tidy(chain, file);
}

void chain_remove_old(const char *file, size_t number) {
  char *path = name_of(file, number);
  if (path) look_at_old(path, true);
  free(path);
}

char *chain_next(const char *path, const struct trace_run *run, uint64_t end_ns) {
  char *first = first_of(path), *next = NULL;
  uint64_t next_began = UINT64_MAX, ended = run->monotonic_ns + end_ns;
  for (size_t i = 0; first && i <= EXEC_CHAIN_MOST; i++) {
    char *candidate = i < EXEC_CHAIN_MOST ? name_of(first, i) : strdup(first);
    uint64_t began = candidate ? began_as(candidate, run->pid) : 0;
    if (began >= ended && began < next_began) {
      free(next);
      next = candidate;
      next_began = began;
    } else {
      free(candidate);
    }
  }
  free(first);
  return next;
}

static void write_name(const char *name) {
  if (name)
    text_name(stderr, name);
  else
    fputs("another program", stderr);
}

/* Prints that the last program became one that was not recorded, if it did. */
static void say_what_came_after(const struct exec_chain *chain) {
  const struct chain_link *last = &chain->links[chain->count - 1];
  if (!last->totals.damage.complete || last->totals.end.kind != TRACE_END_EXEC) return;
  fputs("winnow: ", stderr);
  write_name(*last->totals.became ? last->totals.became : NULL);
  fputs(", which ", stderr);
  write_name(last->name);
  fputs(" became by exec, was not recorded", stderr);
  if (chain->after.reason != IMAGE_GOOD) {
    bool same = !strcmp(chain->after.path, last->totals.became);
    fputs(": ", stderr);
    write_name(same ? "it" : chain->after.path);
    fprintf(stderr, " %s", image_reason(chain->after.reason));
  }
  fputc('\n', stderr);
}

void chain_say(const struct exec_chain *chain) {
  const struct chain_link *links = chain->links, *main = &links[chain->main];
  if (chain->count > 1) {
    fputs("winnow: ", stderr);
    write_name(links[0].name);
    fputs(" became ", stderr);
    write_name(chain->main ? main->name : links[chain->count - 1].name);
    fputs(" by exec; ", stderr);
    text_name(stderr, main->path);
    fputs(" is the trace of ", stderr);
    write_name(main->name);
    if (chain->main + 1 < chain->count) fputs(", which allocated more", stderr);
    for (size_t i = 0; i < chain->count; i++) {
      if (i == chain->main || !chain_has(chain, i)) continue;
      fputs(", ", stderr);
      text_name(stderr, links[i].path);
      fputs(" that of ", stderr);
      write_name(links[i].name);
    }
    fputc('\n', stderr);
  }
  say_what_came_after(chain);
}

void chain_free(struct exec_chain *chain) {
  for (size_t i = 0; i < chain->count; i++) free(chain->links[i].path);
}
/* SPDX-License-Identifier: MIT */
