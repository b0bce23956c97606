/* Finding the control groups of the process, and reading their files. */
#include "base/cgroup.h"

#include "base/metadata.h"
#include "base/os.h"
#include <stdio.h>
#include <string.h>

enum { HEADROOM = 16, MOUNTS_BYTES = 1 << 20, FILE_BYTES = 4096, SHORT_BYTES = 512 };

static const uint64_t NONE = UINT64_MAX;
static const uint64_t HUGE_LIMIT = UINT64_C(1) << 60; /* version 1 has a number near 2^63 for none */

/* ---- texts ---- */

/* A part of a text, without an end of its own. */
struct span {
  const char *at;
  size_t length;
};

/* Takes the text up to `end`, and leaves what follows it. An empty text has only empty parts. */
static struct span cgroup_take(struct span *text, char end) {
  const char *found = text->length ? memchr(text->at, end, text->length) : NULL;
  struct span part = {text->at, found ? (size_t)(found - text->at) : text->length};
  size_t taken = part.length + (found != NULL);
  text->at += taken;
  text->length -= taken;
  return part;
}

static bool is(struct span span, const char *text) {
  return span.length == strlen(text) && !memcmp(span.at, text, span.length);
}

/* Whether a list with commas has the word. */
static bool lists(struct span list, const char *word) {
  while (list.length)
    if (is(cgroup_take(&list, ','), word)) return true;
  return false;
}

/* The kernel writes blanks, tabs, line ends and backslashes of mountinfo as \ooo. */
static size_t cgroup_unescape(struct span from, char *to, size_t capacity) {
  size_t length = 0;
  for (size_t i = 0; i < from.length && length + 1 < capacity; i++) {
    char c = from.at[i];
    if (c == '\\' && i + 3 < from.length) {
      c = (char)((from.at[i + 1] - '0') << 6 | (from.at[i + 2] - '0') << 3 | (from.at[i + 3] - '0'));
      i += 3;
    }
    to[length++] = c;
  }
  to[length] = 0;
  return length;
}

/* The number that a text begins with. False if there is none, or one of more than 64 bits. */
static bool read_digits(struct span text, uint64_t *number) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text.length && text.at[i] >= '0' && text.at[i] <= '9'; i++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(text.at[i] - '0'), &value))
      return false;
  *number = value;
  return i > 0;
}

/* ---- where the group is ---- */

/* The process's line of /proc/self/cgroup: "4:cpu,memory:/path", or "0::/path" of version 2, whose
 * groups have a limit of memory only where no hierarchy of version 1 has it. */
static bool find_line(struct span text, bool *is_v1, struct span *path) {
  bool found = false;
  while (text.length) {
    struct span line = cgroup_take(&text, '\n');
    struct span number = cgroup_take(&line, ':'), controllers = cgroup_take(&line, ':');
    bool has_memory = lists(controllers, "memory");
    if (!has_memory && !(is(number, "0") && !controllers.length)) continue;
    *is_v1 = has_memory;
    *path = line;
    found = true;
    if (has_memory) break;
  }
  return found && path->length && path->at[0] == '/';
}

struct mount {
  struct span root, point, type, options; /* options: of the file system */
};

/* "36 35 98:0 /root /point rw,noatime shared:1 - type source options" */
static struct mount read_mount(struct span line) {
  struct mount mount;
  for (int i = 0; i < 3; i++) cgroup_take(&line, ' ');
  mount.root = cgroup_take(&line, ' ');
  mount.point = cgroup_take(&line, ' ');
  while (line.length && !is(cgroup_take(&line, ' '), "-")) {}
  mount.type = cgroup_take(&line, ' ');
  cgroup_take(&line, ' ');
  mount.options = line;
  return mount;
}

/* The folder of the group, if this mount shows it: the path of the group goes on from the root of
 * the mount. */
static bool make_path(struct cgroup *cgroup, const char *root, const struct mount *mount, struct span path) {
  char shown[CGROUP_PATH_MOST], point[CGROUP_PATH_MOST];
  size_t length = cgroup_unescape(mount->root, shown, sizeof shown);
  if (length == 1) length = 0; /* "/" */
  if (path.length < length || memcmp(path.at, shown, length)) return false;
  if (path.length > length && path.at[length] != '/') return false;
  cgroup_unescape(mount->point, point, sizeof point);
  size_t begin = path.length - length == 1 ? path.length : length; /* no "/" at the end */
  int written = snprintf(cgroup->path, sizeof cgroup->path, "%s%s%.*s", root, point,
                         (int)(path.length - begin), path.at + begin);
  cgroup->mounted = (uint16_t)(strlen(root) + strlen(point));
  return written > 0 && (size_t)written < sizeof cgroup->path;
}

static bool find_folder(struct cgroup *cgroup, const char *root, struct span mounts, struct span path) {
  while (mounts.length) {
    struct mount mount = read_mount(cgroup_take(&mounts, '\n'));
    bool fits = cgroup->is_v1 ? is(mount.type, "cgroup") && lists(mount.options, "memory")
                              : is(mount.type, "cgroup2");
    if (fits && make_path(cgroup, root, &mount, path)) return true;
  }
  *cgroup->path = 0;
  return false;
}

/* ---- the files of a group ---- */

static long read_file_of(const struct cgroup *cgroup, size_t level, const char *name, char *text,
                         size_t capacity) {
  char path[CGROUP_PATH_MOST + 64];
  snprintf(path, sizeof path, "%.*s/%s", (int)level, cgroup->path, name);
  return os_read_file(path, text, capacity);
}

/* NONE if there is no such file, or no number in it ("max"). */
static uint64_t cgroup_number_of(const struct cgroup *cgroup, size_t level, const char *name) {
  char text[32];
  uint64_t number;
  long length = read_file_of(cgroup, level, name, text, sizeof text);
  return length > 0 && read_digits((struct span){text, (size_t)length}, &number) ? number : NONE;
}

/* A limit by its own file; NONE if there is none. */
static uint64_t cgroup_most_of(const struct cgroup *cgroup, size_t level) {
  uint64_t most = cgroup_number_of(cgroup, level, cgroup->is_v1 ? "memory.limit_in_bytes" : "memory.max");
  return most >= HUGE_LIMIT ? NONE : most;
}

static uint64_t high_of(const struct cgroup *cgroup, size_t level) {
  uint64_t high = cgroup->is_v1 ? NONE : cgroup_number_of(cgroup, level, "memory.high");
  return high >= HUGE_LIMIT ? NONE : high;
}

static uint64_t usage_of(const struct cgroup *cgroup, size_t level) {
  return cgroup_number_of(cgroup, level, cgroup->is_v1 ? "memory.usage_in_bytes" : "memory.current");
}

/* ALLOWED. NONE if there is no limit. */
static uint64_t allowed_to(const struct cgroup *cgroup, size_t level) {
  uint64_t high = high_of(cgroup, level), most = cgroup_most_of(cgroup, level);
  if (most != NONE) most -= most / HEADROOM;
  return high < most ? high : most;
}

/* The number behind a word at the begin of a line; 0 if there is none. */
static uint64_t number_in_line(struct span text, const char *word) {
  uint64_t number = 0;
  while (text.length) {
    struct span line = cgroup_take(&text, '\n');
    if (is(cgroup_take(&line, ' '), word) && read_digits(line, &number)) return number;
  }
  return 0;
}

/* 0 if it cannot be read. */
static uint64_t inactive_of(const struct cgroup *cgroup, size_t level) {
  char text[FILE_BYTES];
  long length = read_file_of(cgroup, level, "memory.stat", text, sizeof text);
  return number_in_line((struct span){text, length > 0 ? (size_t)length : 0},
                        cgroup->is_v1 ? "total_inactive_file" : "inactive_file");
}

/* 0 if it cannot be read. */
static uint64_t kills_of(const struct cgroup *cgroup, size_t level) {
  char text[SHORT_BYTES];
  long length =
      read_file_of(cgroup, level, cgroup->is_v1 ? "memory.oom_control" : "memory.events", text, sizeof text);
  return number_in_line((struct span){text, length > 0 ? (size_t)length : 0}, "oom_kill");
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"; 0 if it cannot be read. */
static uint64_t pressure_of(const struct cgroup *cgroup, size_t level) {
  static const char total[] = "total=";
  char text[SHORT_BYTES];
  uint64_t us = 0;
  long length = cgroup->is_v1 ? 0 : read_file_of(cgroup, level, "memory.pressure", text, sizeof text);
  struct span rest = {text, length > 0 ? (size_t)length : 0}, line = cgroup_take(&rest, '\n');
  if (!is(cgroup_take(&line, ' '), "some")) return 0;
  while (line.length) {
    struct span part = cgroup_take(&line, ' ');
    if (part.length < sizeof total || memcmp(part.at, total, sizeof total - 1) != 0) continue;
    part.at += sizeof total - 1, part.length -= sizeof total - 1;
    return read_digits(part, &us) ? us : 0;
  }
  return 0;
}

/* WORKING SET. NONE if it cannot be read. */
static uint64_t used_by(const struct cgroup *cgroup, size_t level) {
  uint64_t usage = usage_of(cgroup, level);
  uint64_t inactive = usage == NONE ? 0 : inactive_of(cgroup, level);
  return usage - (inactive < usage ? inactive : usage);
}

/* The group above; 0: none is mounted. */
static size_t level_above(const struct cgroup *cgroup, size_t level) {
  if (level <= cgroup->mounted) return 0;
  while (--level > cgroup->mounted && cgroup->path[level] != '/') {}
  return level;
}

/* The groups with a limit, the process's own first. */
static void find_levels(struct cgroup *cgroup) {
  for (size_t level = strlen(cgroup->path); level && cgroup->count < CGROUP_LEVELS_MOST;
       level = level_above(cgroup, level))
    if (allowed_to(cgroup, level) != NONE) cgroup->levels[cgroup->count++] = (uint16_t)level;
}

/* ---- shared ---- */

void cgroup_find(struct cgroup *cgroup, const char *root) {
  char name[CGROUP_PATH_MOST], groups[FILE_BYTES];
  struct span path;
  *cgroup = (struct cgroup){.count = 0};
  snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
  long length = os_read_file(name, groups, sizeof groups);
  if (length <= 0 || !find_line((struct span){groups, (size_t)length}, &cgroup->is_v1, &path)) return;
  char *mounts = metadata_map(MOUNTS_BYTES);
  if (!mounts) return;
  snprintf(name, sizeof name, "%s/proc/self/mountinfo", root);
  length = os_read_file(name, mounts, MOUNTS_BYTES);
  if (length > 0 && find_folder(cgroup, root, (struct span){mounts, (size_t)length}, path))
    find_levels(cgroup);
  metadata_unmap(mounts, MOUNTS_BYTES);
}

/* A group without files of memory is counted in the one above. */
bool cgroup_look(const struct cgroup *cgroup, struct cgroup_state *state) {
  size_t own = strlen(cgroup->path), limiting;
  uint64_t limit = NONE, high = NONE, current = NONE;
  while (own && (current = usage_of(cgroup, own)) == NONE) own = level_above(cgroup, own);
  *state = (struct cgroup_state){.limit = 0};
  if (!own) return false;
  limiting = own;
  for (size_t level = own; level; level = level_above(cgroup, level)) {
    uint64_t most = cgroup_most_of(cgroup, level), slowed = high_of(cgroup, level);
    if (most < limit) limit = most, limiting = level;
    if (slowed < high) high = slowed;
  }
  if (limiting != own) current = usage_of(cgroup, limiting);
  *state = (struct cgroup_state){.limit = limit == NONE ? 0 : limit,
                                 .high = high == NONE ? 0 : high,
                                 .current = current == NONE ? 0 : current,
                                 .kills = kills_of(cgroup, own),
                                 .pressure_us = pressure_of(cgroup, own)};
  return true;
}

bool cgroup_read(const struct cgroup *cgroup, struct cgroup_room *room) {
  bool found = false;
  for (unsigned i = 0; i < cgroup->count; i++) {
    uint64_t allowed = allowed_to(cgroup, cgroup->levels[i]), used = used_by(cgroup, cgroup->levels[i]);
    if (allowed == NONE || used == NONE) continue;
    int64_t left = (int64_t)(allowed - used);
    if (found && left >= room->left) continue;
    *room = (struct cgroup_room){allowed, left};
    found = true;
  }
  return found;
}
/* SPDX-License-Identifier: MIT */
