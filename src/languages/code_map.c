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
  uint32_t links;   /* in how many buckets; 0: in none */
  uint32_t next;    /* of a free place */
};

/* Numbers of codes and links count from 1; the free ones are chained by `next`. */
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

/* An address that was asked for. */
struct code_asked {
  uintptr_t address;
  uint64_t last_ns;          /* when it was asked for last */
  uint64_t told_at, made_ns; /* of the function that `place` is of */
  wn_place place;            /* 0: not asked for yet; NO_PLACE: the name cannot be read */
  uint32_t next;             /* in the chain of its page */
  bool known;                /* some function's name was given or told for it */
  bool wanted;               /* its function is known, but no name could be given */
};

#define NO_PLACE UINT32_MAX

/* Numbers count from 1. */
struct code_addresses {
  uint32_t bucket[BUCKETS];
  struct code_asked asked[CODE_ASKED];
  uint32_t count;
  bool wanted; /* one of them is */
};

/* ---- the index ---- */

static uint32_t *code_map_bucket_of(uint32_t buckets[BUCKETS], uintptr_t page) {
  return &buckets[hash_mix(page) % BUCKETS];
}

static void free_code(struct code_tables *tables, uint32_t number) {
  tables->code[number] = (struct code){.next = tables->free_code};
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
      code_map_take_number(&tables->free_code, tables->code[tables->free_code].next, &tables->codes, CODES);
  if (!number) return false;
  tables->code[number] = *code;
  for (; page <= last; page++) {
    uint32_t *bucket = code_map_bucket_of(tables->bucket, page);
    if (*bucket && tables->link[*bucket].code == number) continue; /* two of its pages have one bucket */
    if (!take_covered(tables, bucket, code) || !add_link(tables, bucket, number)) return false;
  }
  return true;
}

/* The function at an address; NULL: none is known. */
static struct code *code_map_find(struct code_tables *tables, uintptr_t address) {
  for (uint32_t at = *code_map_bucket_of(tables->bucket, address >> PAGE_BITS); at;
       at = tables->link[at].next) {
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
  for (uint32_t at = 1; map->addresses && at <= map->addresses->count; at++)
    map->addresses->asked[at].place = 0;
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

/* The place of a function, without an address; its name is at `name`, or if that is NULL, in the
 * file. False: the name cannot be read. */
static bool code_map_describe(const struct code_map *map, const struct code *code, char *name,
                              struct callstack_place *out) {
  if (!name) name = code_map_read_name(map, code);
  if (!name) return false;
  *out = code_name_place(name);
  out->since_ns = code->made_ns;
  return true;
}

/* 0: it cannot be given now. */
static wn_place code_map_place_of(struct code_map *map, const struct code *code, struct code_asked *asked) {
  bool same = asked->told_at == code->told_at && asked->made_ns == code->made_ns;
  if (same && asked->place) return asked->place == NO_PLACE ? 0 : asked->place;
  asked->wanted = true;
  if (lock_must_not_wait(LOCK_RANK_PLACES)) return 0;
  struct callstack_place place;
  wn_place entered = 0;
  if (code_map_describe(map, code, NULL, &place)) {
    place.address = asked->address;
    entered = callstacks_place(map->callstacks, &place);
  }
  asked->place = entered ? entered : NO_PLACE;
  asked->told_at = code->told_at;
  asked->made_ns = code->made_ns;
  asked->known |= entered != 0;
  asked->wanted = !entered;
  return entered;
}

/* FULL. */
static wn_place place_of_all(struct code_map *map) {
  static const struct callstack_place all = {.function = "(code of a runtime that made too many functions)"};
  if (!map->all && !lock_must_not_wait(LOCK_RANK_PLACES)) map->all = callstacks_place(map->callstacks, &all);
  return map->all;
}

/* When this thread has last called code_map_refresh. Its address is the thread's mark in `busy`. */
static _Thread_local uint64_t own;

/* ---- addresses that were asked for ---- */

/* Return addresses, so the function is that of the byte before. */
static uintptr_t code_map_page_of(uintptr_t address) { return (address - 1) >> PAGE_BITS; }

/* Finds an address or adds it. NULL: there is no room for it. */
static struct code_asked *code_map_ask(struct code_map *map, uintptr_t address) {
  struct code_addresses *addresses = map->addresses;
  if (!addresses) map->addresses = addresses = metadata_map(sizeof *addresses);
  if (!addresses) return NULL;
  uint32_t *first = code_map_bucket_of(addresses->bucket, code_map_page_of(address)), at = *first;
  while (at && addresses->asked[at].address != address) at = addresses->asked[at].next;
  if (!at && addresses->count + 1 < CODE_ASKED) {
    at = ++addresses->count;
    addresses->asked[at] = (struct code_asked){.address = address, .next = *first};
    *first = at;
  }
  if (at && addresses->asked[at].last_ns < own) addresses->asked[at].last_ns = own;
  return at ? &addresses->asked[at] : NULL;
}

static void code_map_tell(const struct code_map *map, struct code_asked *asked,
                          struct callstack_place *place) {
  place->address = asked->address;
  asked->known = true;
  asked->wanted = false;
  map->tell(place);
}

/* LATE. Whether a function that is entered now was at an address when that was asked for: without a
 * time, for an address that has no name. */
static bool code_was_there(const struct code *code, const struct code_asked *asked) {
  return code->begin < asked->address && asked->address <= code->end && (!asked->known || code->made_ns) &&
         code->made_ns <= asked->last_ns;
}

/* Tells of the addresses of a function that comes late. */
static void code_map_tell_late(struct code_map *map, const struct code *code, char *name) {
  struct code_addresses *addresses = map->addresses;
  struct callstack_place place = {.function = NULL};
  uintptr_t page = code->begin >> PAGE_BITS, last = (code->end - 1) >> PAGE_BITS;
  if (!addresses || code->end <= code->begin) return;
  for (uintptr_t left = PAGES_MOST; left && page <= last; page++, left--)
    for (uint32_t at = *code_map_bucket_of(addresses->bucket, page); at; at = addresses->asked[at].next) {
      struct code_asked *asked = &addresses->asked[at];
      if (code_map_page_of(asked->address) != page || !code_was_there(code, asked)) continue;
      if (!place.function && !code_map_describe(map, code, name, &place)) return;
      code_map_tell(map, asked, &place);
    }
}

/* Tells of the addresses whose functions' names could not be given; one that cannot be read again is
 * tried no more. */
static void code_map_tell_wanted(struct code_map *map) {
  struct code_addresses *addresses = map->addresses;
  if (!addresses || !addresses->wanted || !map->tables) return;
  for (uint32_t at = 1; at <= addresses->count; at++) {
    struct code_asked *asked = &addresses->asked[at];
    const struct code *code = asked->wanted ? code_map_find(map->tables, asked->address - 1) : NULL;
    struct callstack_place place;
    if (code && code_map_describe(map, code, NULL, &place)) code_map_tell(map, asked, &place);
    asked->wanted = false;
  }
  addresses->wanted = false;
}

/* ---- files ---- */

/* `name`: as for code_map_describe; it is changed. */
static bool code_map_enter(struct code_map *map, const struct code *code, char *name) {
  code_map_tell_late(map, code, name);
  return code_map_add_code(map->tables, code);
}

/* "BEGIN SIZE name". False: there is no room. */
static bool enter_line(struct code_map *map, const char *line, uint64_t at) {
  char *rest, *name;
  uint64_t begin = strtoull(line, &rest, 16), size = *rest == ' ' ? strtoull(rest, &name, 16) : 0;
  if (!begin || !size || *name != ' ' || !name[1] || begin + size < begin) return true;
  return code_map_enter(map, &(struct code){.begin = begin, .end = begin + size, .told_at = 2 * at},
                        name + 1);
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
    return code_map_enter(map,
                          &(struct code){.begin = record->begin,
                                         .end = record->begin + record->load.size,
                                         .made_ns = record->time_ns,
                                         .told_at = 2 * at + CODE_DUMP},
                          NULL);
  bool moves = record->kind == DUMP_MOVE && record->bytes >= sizeof *record;
  const struct code *moved = moves ? code_map_find(map->tables, record->begin) : NULL;
  if (!moved) return true;
  struct code code = *moved;
  code.begin = record->move.to;
  code.end = record->move.to + record->move.size;
  code.made_ns = record->time_ns;
  code.links = 0;
  return code_map_enter(map, &code, NULL);
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
  const struct code *at = map->tables ? code_map_find(map->tables, address - 1) : NULL;
  struct code_asked *noted = map->is_full ? NULL : code_map_ask(map, address), one = {.address = address};
  wn_place found = map->is_full ? place_of_all(map)
                   : at         ? code_map_place_of(map, at, noted ? noted : &one)
                                : 0;
  if (at && noted && noted->wanted) map->addresses->wanted = true;
  code_map_give(map);
  return found;
}

/* ---- shared ---- */

void code_map_begin(struct code_map *map, struct callstacks *callstacks,
                    void (*tell)(const struct callstack_place *place)) {
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
  own = time;
  if ((!now && time < due) || !code_map_take(map)) return;
  if (map->is_copy) return code_map_give(map);
  atomic_store_explicit(&map->due_ns, time + look_each_ns, memory_order_relaxed);
  code_map_tell_wanted(map); /* before other functions are entered */
  for (int i = 0; i < CODE_FILES; i++)
    if (has_changed(&map->file[i])) code_map_read_file(map, &map->file[i]);
  code_map_give(map);
}

void code_map_fork_child(struct code_map *map) {
  map->is_copy = true;
  uintptr_t busy = atomic_load_explicit(&map->busy, memory_order_relaxed);
  if (!busy || busy == (uintptr_t)&own) return; /* a handler that interrupted the tables' user forked */
  map->tables = NULL;
  map->addresses = NULL;
  code_map_give(map);
}
/* SPDX-License-Identifier: MIT */
