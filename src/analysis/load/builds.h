/* Builds: they tell which code a name means that is an address. Code without a name is called by
 * its address in its file, such as "libfoo+0x1234"; in another build of the file that is other
 * code. So each name that is an address has a build, and two recordings mean the same code by it
 * only if the builds are equal.
 *
 * A build is a text: the build-id of the file. A file without one has its size instead, and a hash
 * of its path, since a page does not tell paths. Two recordings with one path and size are taken to
 * have one file, and build_is_sure tells that this is not certain. Addresses outside of files are
 * those of one process, so their build is the process. Builds are numbers of strings, as names
 * are. */
#pragma once

#include "analysis/load/strings.h"
#include "sources/source.h"

enum { BUILD_MOST = 128 };

/* All zeros: no build, and no name is an address. */
struct builds {
  uint32_t *known; /* the builds of all files of the recording, and of its process */
  size_t known_count, known_capacity;
  uint32_t *build_of; /* by string: the build of an address; 0: the string is none */
  uint32_t count;     /* strings from this number on are no addresses */
};
void builds_destroy(struct builds *builds);

/* Writes the build of a file, or with `module` NULL that of a process. */
void build_write(char text[BUILD_MOST], const struct trace_module *module, const struct trace_run *run);

/* Whether equal builds of this text are the same code for certain. */
bool build_is_sure(const char *build);

/* Adds a build of the recording unless it is there. False: not enough memory. */
bool builds_add(struct builds *builds, uint32_t build);

/* Notes that the string `name` is an address in a build. If it is one in another build too, its
 * build becomes both. False: not enough memory. */
bool builds_mark(struct builds *builds, struct strings *strings, uint32_t name, uint32_t build);

/* The build of a name that is an address; 0: it is none. */
static inline uint32_t builds_of(const struct builds *builds, uint32_t name) {
  return name < builds->count ? builds->build_of[name] : 0;
}

/* Whether a recording has a build of this text. `strings`: of the recording. */
bool builds_have(const struct builds *builds, const struct strings *strings, const char *build);
/* SPDX-License-Identifier: MIT */
