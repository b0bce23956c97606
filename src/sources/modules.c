/* Names files. */
#include "sources/modules.h"

#include "base/code_id.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *module_build_id(const struct trace_module *module, char text[2 * TRACE_BUILD_ID_MAX + 1]) {
  int count = code_id_is(module->build_id, module->build_id_bytes) ? 0 : module->build_id_bytes;
  for (int i = 0; i < count; i++) snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
  text[2 * count] = 0;
  return text;
}

/* Whether a file has a name with a version behind it: python3 is a link to python3.11. */
static bool is_version_of(const char *file, const char *name) {
  size_t own = strlen(name);
  if (!text_begins(file, name)) return false;
  const char *version = file + own + strspn(file + own, ".-");
  return *version && version[strspn(version, ".0123456789")] == 0;
}

uint32_t module_of_program(const struct source *source) {
  const struct trace_text *command = &source_run(source)->command;
  const char *name = command->length ? path_name(command->bytes) : "";
  uint32_t found = 0;
  for (uint32_t i = 1; *name && i <= source_module_count(source); i++) {
    const char *file = path_name(source_module(source, i)->path.bytes);
    if (!strcmp(file, name)) return i;
    if (!found && is_version_of(file, name)) found = i;
  }
  return found;
}

void release_of_program(const struct source *source, char release[RELEASE_DIGITS + 1]) {
  char build_id[2 * TRACE_BUILD_ID_MAX + 1] = "";
  uint32_t module = module_of_program(source);
  if (module) module_build_id(source_module(source, module), build_id);
  snprintf(release, RELEASE_DIGITS + 1, "%.*s", RELEASE_DIGITS, build_id);
}
/* SPDX-License-Identifier: MIT */
