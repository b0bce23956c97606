/* Knows runtimes by the names of their files. */
#include "analysis/report/heap_tool.h"

#include <string.h>

enum { FOUND_MOST = 32 };

/* Why Winnow does not sample them. */
#define PYTHON                                                                                          \
  "Python's objects lie in it unsampled, because of PYTHONMALLOC, -X dev, --python-allocator=no, or a " \
  "version that is not known"

/* A file has this name, or this name and a version behind it. */
static const struct {
  const char *module, *tool;
} tools[] = {{"python3", PYTHON},
             {"libpython3", PYTHON},
             {"node", "node --heapsnapshot-signal looks into JavaScript's heap"},
             {"nodejs", "node --heapsnapshot-signal looks into JavaScript's heap"},
             {"libjvm.so", "jcmd GC.class_histogram looks into Java's heap"},
             {"libcoreclr.so", "dotnet-gcdump looks into .NET's heap"},
             {"ruby", "ObjectSpace looks into Ruby's heap"},
             {"libruby", "ObjectSpace looks into Ruby's heap"},
             {"libruby-", "ObjectSpace looks into Ruby's heap"}};

static const char *tool_of(const char *name) {
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
    size_t length = strlen(tools[i].module);
    if (!strncmp(name, tools[i].module, length) && (!name[length] || strchr(".0123456789", name[length])))
      return tools[i].tool;
  }
  return NULL;
}

const char *heap_tool_of(const struct recording *recording) {
  const struct names *names = &recording->names;
  if (mapped_has_arenas(recording->samples)) return NULL; /* its objects are in the report */
  uint32_t found[FOUND_MOST];                             /* strings that would be such a file */
  size_t count = 0;
  for (uint32_t i = 1; i < names->strings->count && count < FOUND_MOST; i++)
    if (tool_of(strings_text(names->strings, i))) found[count++] = i;
  for (uint32_t node = 1; count && node <= source_stack_count(recording->samples->source); node++) {
    struct frames frames = names_of(names, node);
    for (size_t i = 0; i < frames.count; i++)
      for (size_t k = 0; k < count; k++)
        if (frames.frame[i].module == found[k]) return tool_of(strings_text(names->strings, found[k]));
  }
  return NULL;
}
/* SPDX-License-Identifier: MIT */
