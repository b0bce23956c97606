/* Finds the runtime by the files of the process. */
#include "cli/report/runtime.h"

#include "base/text.h"
#include <stdlib.h>
#include <string.h>

static const struct runtime {
  const char *file; /* how the name of its file begins */
  bool whole;       /* that is the whole name */
  const char *hint;
} runtimes[] = {
    {"node", true,
     "JavaScript's functions have no names yet: node tells them if it is run as "
     "node --perf-basic-prof --interpreted-frames-native-stack."},
    {"libnode.so", false,
     "JavaScript's functions have no names yet: node tells them if it is run as "
     "node --perf-basic-prof --interpreted-frames-native-stack."},
    {"libjvm.so", true,
     "Java's methods have no names yet: run java with -XX:+PreserveFramePointer, and before it ends let it "
     "tell "
     "them: jcmd PID Compiler.perfmap."},
    {"libcoreclr.so", true,
     ".NET's methods have no names yet: the runtime tells them if DOTNET_PerfMapEnabled=1 is in its "
     "environment."},
    {"luajit", false,
     "Traces of LuaJIT have no names yet: it tells them if it is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS."},
    {"libluajit", false,
     "Traces of LuaJIT have no names yet: it tells them if it is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS."},
    {"libjulia", false,
     "Julia's functions have no names yet: the runtime tells them if ENABLE_JITPROFILING=1 is in its "
     "environment."},
};

static const struct runtime *find(struct source *source) {
  for (uint32_t number = 1; number <= source_module_count(source); number++) {
    const char *name = path_name(source_module(source, number)->path.bytes);
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
      if (runtimes[i].whole ? !strcmp(name, runtimes[i].file) : text_begins(name, runtimes[i].file))
        return &runtimes[i];
  }
  return NULL;
}

/* V8's loop for functions that it has not compiled: which of them it runs, no address tells. */
static bool is_loop(const struct names *names, uint32_t node) {
  uint32_t loop;
  return names->count[node] && strings_find(names->strings, "Builtins_InterpreterEntryTrampoline", &loop) &&
         names->frame[names->first[node]].function == loop;
}

/* Whether code in no file, without a name, called for a twentieth of what was allocated. */
static bool lacks_names(const struct samples *samples, const struct names *names) {
  enum { PART = 20 };
  struct source *source = samples->source;
  uint32_t nodes = source_stack_count(source);
  struct trace_place place;
  double lacking = 0, all = 0;
  bool *lacks = calloc((size_t)nodes + 1, sizeof *lacks);
  for (uint32_t number = 1; lacks && number <= nodes; number++) {
    struct trace_node node = source_stack(source, number);
    lacks[number] = lacks[node.parent] || is_loop(names, number) ||
                    (!node.module && !trace_is_cut(&node) && !source_place(source, 0, node.offset, &place));
  }
  for (size_t i = 0; lacks && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    double bytes = (double)row_allocated(row) / row->probability;
    all += bytes;
    if (lacks[row->stack]) lacking += bytes;
  }
  free(lacks);
  return lacking > all / PART;
}

/* ---- shared ---- */

const char *runtime_hint(const struct view *view) {
  const struct samples *samples = view->report->samples;
  if (view->report->recording->wrappers.interpreters[INTERPRETER_JIT]) return NULL;
  const struct runtime *runtime = find(samples->source);
  return runtime && lacks_names(samples, view->report->names) ? runtime->hint : NULL;
}
/* SPDX-License-Identifier: MIT */
