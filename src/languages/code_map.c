/* Reads the files, and finds functions by addresses. */
#include "languages/code_map.h"

#include "base/hash.h"
#include "base/lock.h"
#include "base/metadata.h"
#include "base/os.h"
#include "base/text.h"
#include "languages/code_name.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  PAGE_BITS = 12,
  BUCKETS = TINY ? 1 << 4 : 1 << 16,
  CODES = TINY ? 1 << 14 : 1 << 18,
  LINKS = 2 * CODES,
  TEXT_MOST = 4096, /* of a line with a name */
  PAGES_MOST = 1 << 12,
  CHAIN_MOST = TINY ? CODES : 1 << 12,
  WINDOW = 1 << 16,
  DUMP_NAME_AT = 56 /* in a record of a function */
};
static const uint64_t look_each_ns = 1000 * 1000, older_ns = 1000 * 1000 * 1000;

/* A function, or a free place for one. */
struct code {
  uintptr_t begin, end;
  uint64_t made_ns; /* by the monotonic clock; 0: the file does not tell */
  uint64_t told_at; /* twice the offset of its line or record, and 1 more in the CODE_DUMP */
  wn_place place;   /* 0: not asked for yet; NO_PLACE: its name cannot be read */
  uint32_t links;   /* in how many buckets; 0: in none */
};

#define NO_PLACE UINT32_MAX

/* Numbers of codes and links count from 1; the free ones are chained by `next` and by `place`. */
struct link {
  uint32_t code, next;
};

struct code_tables {
  uint32_t bucket[BUCKETS];
  struct code code[CODES];
  struct link link[LINKS];
  uint32_t codes, links, free_code, free_link; /* codes, links: that were ever in use */
  char window[WINDOW];
};

/* ---- the index ---- */

static uint32_t *code_map_bucket_of(struct code_tables *tables, uintptr_t page) {
  return &tables->bucket[hash_mix(page) % BUCKETS];
}

static void free_code(struct code_tables *tables, uint32_t number) {
  tables->code[number] = (struct code){.place = tables->free_code};
  tables->free_code = number;
}

/* Takes the link at `*at` out of its chain. */
static void code_map_take_out(struct code_tables *tables, uint32_t *at) {
  struct link *link = &tables->link[*at];
  uint32_t number = *at;
  *at = link->next;
  if (!--tables->code[link->code].links) free_code(tables, link->code);
  *link = (struct link){.next = tables->free_link};
  tables->free_link = number;
}

/* False: the chain is too long for those who wait meanwhile. */
static bool take_covered(struct code_tables *tables, uint32_t *at, const struct code *by) {
  for (int passed = 0; *at; passed++) {
    const struct code *code = &tables->code[tables->link[*at].code];
    if (passed == CHAIN_MOST) return false;
    if (by->begin <= code->begin && code->end <= by->end)
      code_map_take_out(tables, at);
    else
      at = &tables->link[*at].next;
  }
  return true;
}

/* A number that is free, or 0. */
static uint32_t code_map_take_number(uint32_t *unused, uint32_t next, uint32_t *used, uint32_t most) {
  uint32_t number = *unused;
  if (number) return *unused = next, number;
  return *used + 1 < most ? ++*used : 0;
}

static bool add_link(struct code_tables *tables, uint32_t *bucket, uint32_t code) {
  uint32_t number =
      code_map_take_number(&tables->free_link, tables->link[tables->free_link].next, &tables->links, LINKS);
  if (!number) return false;
  tables->link[number] = (struct link){code, *bucket};
  *bucket = number;
  tables->code[code].links++;
  return true;
}

/* False: there is no room. What the runtime puts at known addresses later could not be told then,
 * so nothing is named any more. */
static bool code_map_add_code(struct code_tables *tables, const struct code *code) {
  uintptr_t page = code->begin >> PAGE_BITS, last = (code->end - 1) >> PAGE_BITS;
  if (code->end <= code->begin || code->end >> 63) return true;
  if (last - page >= PAGES_MOST) last = page + PAGES_MOST - 1;
  uint32_t number =
      code_map_take_number(&tables->free_code, tables->code[tables->free_code].place, &tables->codes, CODES);
  if (!number) return false;
  tables->code[number] = *code;
  for (; page <= last; page++) {
    uint32_t *bucket = code_map_bucket_of(tables, page);
    if (*bucket && tables->link[*bucket].code == number) continue; /* two of its pages have one bucket */
    if (!take_covered(tables, bucket, code) || !add_link(tables, bucket, number)) return false;
  }
  return true;
}

/* The function at an address; NULL: none is known. */
static struct code *code_map_find(struct code_tables *tables, uintptr_t address) {
  for (uint32_t at = *code_map_bucket_of(tables, address >> PAGE_BITS); at; at = tables->link[at].next) {
    struct code *code = &tables->code[tables->link[at].code];
    if (code->begin <= address && address < code->end) return code;
  }
  return NULL;
}

/* Forgets all functions; the files will be read anew. */
static void code_map_forget(struct code_map *map) {
  struct code_tables *tables = map->tables;
  memset(tables->bucket, 0, sizeof tables->bucket);
  tables->codes = tables->links = tables->free_code = tables->free_link = 0;
  for (int i = 0; i < CODE_FILES; i++) map->file[i].read = 0;
  for (uint32_t at = 0; at < map->noted_count; at++) map->noted[at].begin = 0;
}

static void code_map_give_up(struct code_map *map) {
  map->is_full = true;
  metadata_unmap(map->tables, sizeof *map->tables);
  map->tables = NULL;
  for (int i = 0; i < CODE_FILES; i++) map->file[i].path[0] = 0;
}

/* ---- names ---- */

static int code_map_open_file(const struct code_file *file) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  return file->path[0] ? (int)syscall(SYS_openat, AT_FDCWD, file->path, flags) : -1;
}

/* What a function is called, in `text`; NULL: its line is not there any more. */
static char *code_map_name_in(char *text, const struct code *code) {
  char *rest;
  if (code->told_at & 1) return text;
  if (strtoull(text, &rest, 16) != code->begin) return NULL;
  rest += strspn(rest, " ");
  rest += strcspn(rest, " ");
  return *rest ? rest + 1 : NULL;
}

/* The name ends at a line's end, or at a zero byte. It stands in the window. NULL: it cannot be read. */
static char *code_map_read_name(const struct code_map *map, const struct code *code) {
  char *text = map->tables->window;
  const struct code_file *file = &map->file[code->told_at & 1];
  uint64_t at = (code->told_at >> 1) + (code->told_at & 1 ? DUMP_NAME_AT : 0);
  struct stat state;
  int descriptor = code_map_open_file(file);
  if (descriptor < 0) return NULL;
  bool same = !fstat(descriptor, &state) && state.st_ino == file->inode;
  size_t length = same ? os_read_at(descriptor, text, TEXT_MOST, at) : 0;
  syscall(SYS_close, descriptor);
  text[length] = 0;
  text[strcspn(text, "\n")] = 0;
  char *name = code_map_name_in(text, code);
  return name && *name ? name : NULL;
}

static wn_place code_map_place_of(struct code_map *map, struct code *code) {
  if (code->place || lock_must_not_wait(LOCK_RANK_PLACES)) return code->place;
  char *name = code_map_read_name(map, code);
  struct callstack_place place = name ? code_name_place(name) : (struct callstack_place){.line = 0};
  wn_place entered = name ? callstacks_place(map->callstacks, &place) : 0;
  code->place = entered ? entered : NO_PLACE;
  return entered;
}

/* FULL. */
static wn_place place_of_all(struct code_map *map) {
  static const struct callstack_place all = {.function = "(code of a runtime that made too many functions)"};
  if (!map->all && !lock_must_not_wait(LOCK_RANK_PLACES)) map->all = callstacks_place(map->callstacks, &all);
  return map->all;
}

/* ---- addresses without a name ---- */

/* The first one that is not below an address. */
static uint32_t noted_from(const struct code_map *map, uintptr_t address) {
  uint32_t from = 0, to = map->noted_count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (map->noted[middle].address < address)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static void name_noted_by(struct code_map *map, struct code_noted *noted, const struct code *code) {
  noted->told_at = code->told_at;
  noted->begin = code->begin;
  map->named = true;
}

/* `code`: a function that is known, but whose name cannot be read now; or NULL. */
static void code_map_note(struct code_map *map, uintptr_t address, const struct code *code) {
  uint32_t at = noted_from(map, address), count = map->noted_count;
  if (count == CODE_NOTED || (at < count && map->noted[at].address == address)) return;
  memmove(&map->noted[at + 1], &map->noted[at], (count - at) * sizeof *map->noted);
  map->noted[at] = (struct code_noted){.address = address, .asked_ns = os_monotonic_ns()};
  map->noted_count++;
  if (code && code->place != NO_PLACE) name_noted_by(map, &map->noted[at], code);
}

/* A function that was there when an address in it was asked for gives it a name, until a later one
 * does. */
static void name_noted(struct code_map *map, const struct code *code) {
  for (uint32_t at = noted_from(map, code->begin + 1); at < map->noted_count; at++) {
    struct code_noted *noted = &map->noted[at];
    if (noted->address > code->end) return;
    if (code->made_ns <= noted->asked_ns) name_noted_by(map, noted, code);
  }
}

/* Those that are told make room for others. */
static void tell_late_names(struct code_map *map) {
  uint32_t left = 0;
  if (!map->named || !map->tables) return;
  for (uint32_t at = 0; at < map->noted_count; at++) {
    const struct code_noted *noted = &map->noted[at];
    struct code code = {.begin = noted->begin, .told_at = noted->told_at};
    char *name = code.begin ? code_map_read_name(map, &code) : NULL;
    if (name) {
      struct callstack_place place = code_name_place(name);
      map->tell(noted->address, &place);
    } else {
      map->noted[left++] = *noted;
    }
  }
  map->noted_count = left;
  map->named = false;
}

/* ---- files ---- */

static bool code_map_enter(struct code_map *map, const struct code *code) {
  name_noted(map, code);
  return code_map_add_code(map->tables, code);
}

/* "BEGIN SIZE name". False: there is no room. */
static bool enter_line(struct code_map *map, const char *line, uint64_t at) {
  char *rest, *name;
  uint64_t begin = strtoull(line, &rest, 16), size = *rest == ' ' ? strtoull(rest, &name, 16) : 0;
  if (!begin || !size || *name != ' ' || !name[1] || begin + size < begin) return true;
  return code_map_enter(map, &(struct code){.begin = begin, .end = begin + size, .told_at = 2 * at});
}

/* Enters the whole lines from file->read on. */
static bool read_map(struct code_map *map, struct code_file *file, int descriptor) {
  char *window = map->tables->window;
  for (;;) {
    size_t length = os_read_at(descriptor, window, WINDOW - 1, file->read), used = 0;
    for (char *end; (end = memchr(window + used, '\n', length - used)); used = (size_t)(end + 1 - window)) {
      *end = 0;
      if (!enter_line(map, window + used, file->read + used)) return false;
    }
    if (!used && length == WINDOW - 1) used = length; /* no line is so long */
    if (!used) return true;
    file->read += used;
  }
}

/* The records of a jitdump, as far as they are used
 * (linux/tools/perf/Documentation/jitdump-specification.txt). */
struct dump_header {
  uint32_t magic, version, bytes, machine, padding, pid;
  uint64_t begin_ns, flags;
};
struct dump_record {
  uint32_t kind, bytes;
  uint64_t time_ns;
  uint32_t pid, tid;
  uint64_t memory, begin; /* of a MOVE: where it was */
  union {
    struct {
      uint64_t size, number;
    } load;
    struct {
      uint64_t to, size, number;
    } move;
  };
};
enum { DUMP_MAGIC = 0x4a695444, DUMP_LOAD = 0, DUMP_MOVE = 1, DUMP_RECORD_LEAST = 16, DUMP_OTHER_CLOCK = 1 };

static bool enter_record(struct code_map *map, const struct dump_record *record, uint64_t at) {
  if (record->kind == DUMP_LOAD && record->bytes > DUMP_NAME_AT)
    return code_map_enter(map, &(struct code){.begin = record->begin,
                                              .end = record->begin + record->load.size,
                                              .made_ns = record->time_ns,
                                              .told_at = 2 * at + CODE_DUMP});
  bool moves = record->kind == DUMP_MOVE && record->bytes >= sizeof *record;
  const struct code *moved = moves ? code_map_find(map->tables, record->begin) : NULL;
  if (!moved) return true;
  struct code code = *moved;
  code.begin = record->move.to;
  code.end = record->move.to + record->move.size;
  code.made_ns = record->time_ns;
  code.links = 0;
  return code_map_enter(map, &code);
}

/* Enters the whole records from file->read on. */
static bool read_dump(struct code_map *map, struct code_file *file, int descriptor, uint64_t bytes) {
  struct dump_header header;
  struct dump_record record = {.kind = 0};
  if (os_read_at(descriptor, &header, sizeof header, 0) < sizeof header) return true;
  if (header.magic != DUMP_MAGIC || header.pid != (uint32_t)map->pid || header.bytes < sizeof header ||
      header.bytes > bytes) {
    file->path[0] = 0;
    return true;
  }
  if (!file->read) file->read = header.bytes;
  for (; os_read_at(descriptor, &record, sizeof record, file->read) >= DUMP_RECORD_LEAST;
       file->read += record.bytes) {
    if (record.bytes < DUMP_RECORD_LEAST || record.bytes > bytes - file->read) break; /* not whole yet */
    if (header.flags & DUMP_OTHER_CLOCK) record.time_ns = 0;
    if (!enter_record(map, &record, file->read)) return false;
  }
  return true;
}

/* Whether what was read of the file is still there. */
static bool code_map_goes_on(const struct code_file *file, int descriptor, const struct stat *state) {
  unsigned char last[sizeof file->last];
  size_t length = file->read < sizeof last ? (size_t)file->read : sizeof last;
  return state->st_ino == file->inode && (uint64_t)state->st_size >= file->read &&
         os_read_at(descriptor, last, length, file->read - length) == length &&
         !memcmp(last, file->last, length);
}

static uint64_t touched(const struct stat *state) {
  return (uint64_t)state->st_mtim.tv_sec * 1000000000 + (uint64_t)state->st_mtim.tv_nsec;
}

static bool is_believed(const struct code_map *map, const struct stat *state) {
  return S_ISREG(state->st_mode) && (state->st_uid == map->user || !state->st_uid) &&
         touched(state) + older_ns >= map->begin_ns;
}

/* Enters what a file has got. */
static void code_map_read_file(struct code_map *map, struct code_file *file) {
  struct stat state;
  int descriptor = code_map_open_file(file);
  if (descriptor < 0) return;
  bool wanted = !fstat(descriptor, &state) && is_believed(map, &state);
  if (wanted && !map->tables) map->tables = metadata_map(sizeof *map->tables);
  bool room = true;
  if (wanted && map->tables) {
    if (file->read && !code_map_goes_on(file, descriptor, &state)) code_map_forget(map);
    file->inode = state.st_ino;
    file->touched_ns = touched(&state);
    room = file == &map->file[CODE_MAP] ? read_map(map, file, descriptor)
                                        : read_dump(map, file, descriptor, (uint64_t)state.st_size);
    size_t length = file->read < sizeof file->last ? (size_t)file->read : sizeof file->last;
    os_read_at(descriptor, file->last, length, file->read - length);
  }
  syscall(SYS_close, descriptor);
  if (!room) code_map_give_up(map);
}

/* Whether a file has changed since it was read. */
static bool has_changed(const struct code_file *file) {
  struct stat state;
  if (!file->path[0] || fstatat(AT_FDCWD, file->path, &state, AT_SYMLINK_NOFOLLOW)) return false;
  return state.st_ino != file->inode || (uint64_t)state.st_size != file->read ||
         touched(&state) != file->touched_ns;
}

static _Thread_local char own; /* whose address is the thread's mark in `busy` */

static bool code_map_take(struct code_map *map) {
  uintptr_t free = 0;
  return code_map_begun(map) &&
         atomic_compare_exchange_strong_explicit(&map->busy, &free, (uintptr_t)&own, memory_order_acquire,
                                                 memory_order_relaxed);
}

static void code_map_give(struct code_map *map) {
  atomic_store_explicit(&map->busy, 0, memory_order_release);
}

static wn_place code_map_place(const struct callstack_code *code, uintptr_t address) {
  struct code_map *map = (struct code_map *)(uintptr_t)code;
  if (!code_map_take(map)) return 0;
  struct code *at = map->tables ? code_map_find(map->tables, address - 1) : NULL;
  wn_place found = map->is_full                  ? place_of_all(map)
                   : at && at->place != NO_PLACE ? code_map_place_of(map, at)
                                                 : 0;
  if (!found) code_map_note(map, address, at);
  code_map_give(map);
  return found;
}

/* ---- shared ---- */

void code_map_begin(struct code_map *map, struct callstacks *callstacks,
                    void (*tell)(uintptr_t address, const struct callstack_place *place)) {
  map->code.place = code_map_place;
  map->tell = tell;
  map->begin_ns = os_wall_ns();
  map->pid = getpid();
  map->user = geteuid();
  snprintf(map->file[CODE_MAP].path, sizeof map->file[CODE_MAP].path, "/tmp/perf-%d.map", map->pid);
  map->callstacks = callstacks;
  atomic_store_explicit(&map->begun, true, memory_order_release);
}

void code_map_mapped(struct code_map *map, int descriptor) {
  char link[32], path[CODE_PATH_MOST], name[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0 || (size_t)length >= sizeof path - 1) return;
  path[length] = 0;
  snprintf(name, sizeof name, "jit-%d.dump", map->pid);
  if (strcmp(path_name(path), name) || !code_map_take(map)) return;
  memcpy(map->file[CODE_DUMP].path, path, sizeof path);
  code_map_give(map);
}

void code_map_refresh(struct code_map *map, bool now) {
  uint64_t time = os_monotonic_ns(), due = atomic_load_explicit(&map->due_ns, memory_order_relaxed);
  if ((!now && time < due) || !code_map_take(map)) return;
  if (map->is_copy) return code_map_give(map);
  atomic_store_explicit(&map->due_ns, time + look_each_ns, memory_order_relaxed);
  for (int i = 0; i < CODE_FILES; i++)
    if (has_changed(&map->file[i])) code_map_read_file(map, &map->file[i]);
  tell_late_names(map);
  code_map_give(map);
}

void code_map_fork_child(struct code_map *map) {
  map->is_copy = true;
  uintptr_t busy = atomic_load_explicit(&map->busy, memory_order_relaxed);
  if (!busy || busy == (uintptr_t)&own) return; /* a handler that interrupted the tables' user forked */
  map->tables = NULL;
  code_map_give(map);
}
/* SPDX-License-Identifier: MIT */
