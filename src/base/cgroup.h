/* The control groups that limit the memory of the process: how much more the process may take, and what they
 * report of themselves.
 *
 * The system tells where the process's group is: /proc/self/cgroup has its path in the hierarchy,
 * and /proc/self/mountinfo where the hierarchy is mounted, and which part of it. A group of version
 * 2 has the files memory.max, memory.high and memory.current, one of version 1
 * memory.limit_in_bytes and memory.usage_in_bytes; where a limit is "max", or a huge number, there
 * is none. A limit of a group holds for all groups below it together, so each group from the
 * process's own up to the mounted one counts.
 *
 * ALLOWED. A process beyond memory.high is slowed down, and one beyond memory.max is killed. So
 * what a group may use is memory.high, or memory.max less a HEADROOM-th of it, if that is less.
 *
 * WORKING SET. What a group uses is its usage without the file pages that it has not touched for
 * long (inactive_file of memory.stat): the system takes these back before it kills.
 *
 * Nothing here fails: what cannot be found or read is no limit. Files are read by system calls
 * alone, and no lock is taken. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CGROUP_PATH_MOST = 1024, CGROUP_LEVELS_MOST = 16 };

/* Zero: no group has a limit. */
struct cgroup {
  char path[CGROUP_PATH_MOST];         /* of the folder of the process's own group; empty: none was found */
  uint16_t mounted;                    /* so much of it is the mounted group, the highest that can be read */
  uint16_t levels[CGROUP_LEVELS_MOST]; /* the groups with a limit: so much of `path` is a folder */
  unsigned count;                      /* of levels */
  bool is_v1;
};

/* Of the group that leaves least. */
struct cgroup_room {
  uint64_t allowed; /* bytes: ALLOWED */
  int64_t left;     /* bytes that the group may still take; below 0: it has too many */
};

/* Of the process's group. What cannot be read is 0. */
struct cgroup_state {
  uint64_t limit;   /* the least that kills, of the group and of all above it; 0: there is none */
  uint64_t high;    /* likewise the least that slows down (memory.high) */
  uint64_t current; /* used by the group that has `limit`, file pages included; without a limit by its own */
  uint64_t kills;   /* so many processes of the group were killed for memory */
  uint64_t pressure_us; /* for so long in all some of its processes waited for memory; version 2 alone */
};

/* Finds the groups that have a limit now; cgroup_read reads only these. `root` is put in front of all
 * paths: it is "" but in tests. */
void cgroup_find(struct cgroup *cgroup, const char *root);

/* Reads what the group and those above it report now. False: the group cannot be read. Takes about 2 KiB of
 * stack. */
bool cgroup_look(const struct cgroup *cgroup, struct cgroup_state *state);

/* Reads limits and usage. False: no group has a limit that can be read. */
bool cgroup_read(const struct cgroup *cgroup, struct cgroup_room *room);
/* SPDX-License-Identifier: MIT */
