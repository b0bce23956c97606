/* Builds as texts, and the names that are addresses in them. */
#include "analysis/load/builds.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char without_id[] = " bytes at path ";

static void write_id(char text[BUILD_MOST], const struct trace_module *module) {
  size_t length = (size_t)snprintf(text, BUILD_MOST, "build-id ");
  for (size_t i = 0; i < module->build_id_bytes; i++)
    length += (size_t)snprintf(text + length, BUILD_MOST - length, "%02x", module->build_id[i]);
}

/* Makes room for a string's build. */
static bool builds_reach(struct builds *builds, uint32_t name) {
  if (name < builds->count) return true;
  size_t larger = (size_t)name + name / 2 + 64;
  uint32_t *moved = realloc(builds->build_of, larger * sizeof *moved);
  if (!moved) return false;
  memset(moved + builds->count, 0, (larger - builds->count) * sizeof *moved);
  builds->build_of = moved;
  builds->count = (uint32_t)larger;
  return true;
}

/* ---- shared ---- */

void builds_destroy(struct builds *builds) {
  free(builds->known);
  free(builds->build_of);
  *builds = (struct builds){0};
}

void build_write(char text[BUILD_MOST], const struct trace_module *module, const struct trace_run *run) {
  if (!module)
    snprintf(text, BUILD_MOST, "process %u of %llu+%llu", run->pid, (unsigned long long)run->wall_ns,
             (unsigned long long)run->monotonic_ns);
  else if (module->build_id_bytes)
    write_id(text, module);
  else
    snprintf(text, BUILD_MOST, "%llu%s%llx", (unsigned long long)module->size, without_id,
             (unsigned long long)hash_bytes(module->path.bytes, module->path.length));
}

bool build_is_sure(const char *build) { return !strstr(build, without_id); }

bool builds_add(struct builds *builds, uint32_t build) {
  if (!build) return false; /* the empty string, which strings_intern returns without memory */
  for (size_t i = 0; i < builds->known_count; i++)
    if (builds->known[i] == build) return true;
  return ARRAY_ADD(builds->known, builds->known_count, builds->known_capacity, build);
}

bool builds_mark(struct builds *builds, struct strings *strings, uint32_t name, uint32_t build) {
  if (!name || !build || !builds_reach(builds, name)) return false;
  uint32_t *of = &builds->build_of[name];
  if (*of && *of != build && !strstr(strings_text(strings, *of), strings_text(strings, build))) {
    char both[2 * BUILD_MOST + 8];
    snprintf(both, sizeof both, "%s and %s", strings_text(strings, *of), strings_text(strings, build));
    build = strings_intern(strings, both);
  } else if (*of) {
    build = *of;
  }
  *of = build;
  return build != 0;
}

bool builds_have(const struct builds *builds, const struct strings *strings, const char *build) {
  uint32_t number;
  if (!strings_find(strings, build, &number)) return false;
  for (size_t i = 0; i < builds->known_count; i++)
    if (builds->known[i] == number) return true;
  return false;
}
/* SPDX-License-Identifier: MIT */
