/* Knows runtimes by the names of their files. */
#include "cli/runtimes.h"

#include "base/text.h"
#include "cli/elf_file.h"
#include <string.h>

static const struct runtime {
  const char *file; /* how the name of its file begins */
  bool whole;       /* that is the whole name */
  bool interprets;  /* functions that it has not compiled run by code of that file */
  const char *hint;
} runtimes[] = {
    {"node", true, true,
     "JavaScript's functions have no names yet: node tells them if it is run as "
     "node --perf-basic-prof --interpreted-frames-native-stack."},
    {"libnode.so", false, true,
     "JavaScript's functions have no names yet: node tells them if it is run as "
     "node --perf-basic-prof --interpreted-frames-native-stack."},
    {"libjvm.so", true, false,
     "Java's methods have no names yet: run java with -XX:+PreserveFramePointer, and before it ends let it "
     "tell them: jcmd PID Compiler.perfmap."},
    {"libcoreclr.so", true, false,
     ".NET's methods have no names yet: the runtime tells them if DOTNET_PerfMapEnabled=1 is in its "
     "environment."},
    {"luajit", false, false,
     "Traces of LuaJIT have no names yet: it tells them if it is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS."},
    {"libluajit", false, false,
     "Traces of LuaJIT have no names yet: it tells them if it is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS."},
    {"libjulia", false, false,
     "Julia's functions have no names yet: the runtime tells them if ENABLE_JITPROFILING=1 is in its "
     "environment."},
};

static const struct runtime *runtimes_find(const char *path) {
  const char *name = path_name(path);
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
    if (runtimes[i].whole ? !strcmp(name, runtimes[i].file) : text_begins(name, runtimes[i].file))
      return &runtimes[i];
  return NULL;
}

static void see_v8(const Elf64_Sym *symbol, const char *name, void *found) {
  (void)symbol;
  if (text_begins(name, "_ZN2v8") || text_begins(name, "_ZN4node")) *(bool *)found = true;
}

/* Whether a file is Node's, or uses its library: other programs are called "node", too. */
static bool has_v8(const char *path) {
  struct elf_file file;
  bool found = false;
  if (elf_file_open(path, &file)) elf_file_each_symbol(&file, see_v8, &found);
  elf_file_close(&file);
  return found;
}

static const struct runtime *find_in(const struct trace_reader *reader) {
  const struct runtime *runtime = NULL;
  for (uint32_t number = 1; number <= trace_reader_modules(reader) && !runtime; number++) {
    const char *path = trace_reader_module(reader, number)->path.bytes;
    runtime = runtimes_find(path);
    if (runtime && runtime->interprets && !has_v8(path)) runtime = NULL;
  }
  return runtime;
}

/* ---- shared ---- */

const char *runtime_of_file(const char *path) {
  const struct runtime *runtime = runtimes_find(path);
  return runtime ? runtime->hint : NULL;
}

const char *runtime_of_trace(const struct trace_reader *reader) {
  const struct runtime *runtime = find_in(reader);
  if (!runtime) return NULL;
  bool lacks_names = runtime->interprets;
  for (uint32_t number = 1; number <= trace_reader_nodes(reader); number++) {
    struct trace_node node = trace_reader_node(reader, number);
    if (node.module || trace_is_cut(&node)) continue;
    if (trace_reader_place(reader, 0, node.offset)) return NULL;
    lacks_names = true;
  }
  return lacks_names ? runtime->hint : NULL;
}
/* SPDX-License-Identifier: MIT */
