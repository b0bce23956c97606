/* Finds the modules that have an interpreter, then marks the frames in them. Callers have smaller
 * numbers than the nodes that they call. */
#include "analysis/load/interpreter.h"

#include "base/error.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

/* The module of a language's frames. */
static const char *const module_of[INTERPRETERS] = {"[python]", "[perl]", "[jit]"};

/* What stands further out than a node: no frame of the language; functions of its library; others, too. */
enum within { NOTHING, LIBRARY, PROGRAM };

/* Where a file of Python lies; NAMED_SO: in a folder that is named as the library's. */
enum folder { UNSEEN, OTHER, FROZEN, HOME, NAMED_SO };

struct marking {
  const struct samples *samples;
  struct names *names;
  enum interpreter interpreter;
  uint32_t nodes, language; /* language: the module of its frames */
  bool python_itself;       /* EXTENSIONS */
  uint8_t *folder;          /* index: string; an enum folder, of the files of frames */
  bool has_home;            /* HOME: some are in the interpreter's own library */
  bool *runs;               /* index: string; the module has the interpreter */
  uint8_t *within;          /* index: node; an enum within */
  bool *calls;              /* index: node; a frame of the language is further in on some stack */
  bool *begun; /* index: node; a function of python3 is further out, but where the process begins */
};

static uint32_t parent_of(const struct marking *marking, uint32_t node) {
  uint32_t parent = source_stack(marking->samples->source, node).parent;
  return parent < node ? parent : 0;
}

/* The innermost frame; NULL: there is none. */
static struct frame *interpreter_frame_of(const struct marking *marking, uint32_t node) {
  return node && marking->names->count[node] ? &marking->names->frame[marking->names->first[node]] : NULL;
}

static const char *interpreter_text(const struct marking *marking, uint32_t string) {
  return strings_text(marking->names->strings, string);
}

/* Of what a runtime made, scripts have files and methods have arguments; the rest is its own, and
 * so is the library of Node and of Java. */
static bool is_made_of_program(const struct marking *marking, const struct frame *frame) {
  static const char *const libraries[] = {"java.", "javax.", "jdk.", "sun."};
  const char *function = interpreter_text(marking, frame->function);
  if (frame->file) return !text_begins(interpreter_text(marking, frame->file), "node:");
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (text_begins(function, libraries[i])) return false;
  size_t name = strcspn(function, " ("); /* "A.handle(int)", but not "StubRoutines (1)" */
  return function[name] == '(' && memchr(function, '.', name);
}

static bool interpreter_is_of_language(const struct marking *marking, const struct frame *frame) {
  if (!frame || frame->module != marking->language) return false;
  return marking->interpreter != INTERPRETER_JIT || is_made_of_program(marking, frame);
}

/* "python3.12", "libpython3.12.so.1.0" */
static bool is_named_python(const char *module) {
  const char *name = module + (text_begins(module, "lib") ? 3 : 0);
  return text_begins(name, "python") && (!name[6] || (name[6] >= '0' && name[6] <= '9'));
}

/* What stands in the library's folder, "/usr/lib/python3.11/" or "/usr/lib64/python3.13t/"; NULL: the file is
 * in none. `root`: the length of "/usr". */
static const char *in_library(const char *file, size_t *root) {
  static const char *const folders[] = {"/lib/python3.", "/lib64/python3."};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const char *at = strstr(file, folders[i]);
    if (!at) continue;
    *root = (size_t)(at - file);
    at += strlen(folders[i]);
    at += strspn(at, "0123456789");
    at += *at == 't';
    if (*at == '/') return at;
  }
  return NULL;
}

/* HOME. An interpreter has its library below the folder that its own file is below, "/usr". Not so
 * where a program brings both: then no file agrees, and each such folder is the library's. */
static bool is_beside_interpreter(const struct source *source, const char *file, size_t root) {
  for (uint32_t i = 1; i <= source_module_count(source); i++) {
    const char *path = source_module(source, i)->path.bytes;
    if (is_named_python(path_name(path)) && !strncmp(path, file, root) && path[root] == '/') return true;
  }
  return false;
}

/* "<frozen importlib._bootstrap>", "/usr/lib/python3.11/json/decoder.py"; but not what is installed beside the
 * library, in its folder site-packages or dist-packages. */
static enum folder folder_of(const struct marking *marking, const char *file) {
  size_t root;
  const char *within = in_library(file, &root);
  if (!within || strstr(within, "-packages/")) return text_begins(file, "<frozen ") ? FROZEN : OTHER;
  return is_beside_interpreter(marking->samples->source, file, root) ? HOME : NAMED_SO;
}

static void see_files(struct marking *marking) {
  for (uint32_t node = 1; node <= marking->nodes; node++) {
    const struct frame *frame = interpreter_frame_of(marking, node);
    if (!interpreter_is_of_language(marking, frame) || marking->folder[frame->file] != UNSEEN) continue;
    marking->folder[frame->file] = (uint8_t)folder_of(marking, interpreter_text(marking, frame->file));
    marking->has_home |= marking->folder[frame->file] == HOME;
  }
}

static bool interpreter_is_of_library(const struct marking *marking, const struct frame *frame) {
  enum folder folder = marking->folder[frame->file];
  return folder == FROZEN || folder == HOME || (folder == NAMED_SO && !marking->has_home);
}

static void see_stacks(struct marking *marking) {
  for (uint32_t node = 1; node <= marking->nodes; node++) {
    uint32_t parent = parent_of(marking, node);
    const struct frame *caller = interpreter_frame_of(marking, parent);
    uint8_t within = marking->within[parent];
    if (interpreter_is_of_language(marking, caller) && within < PROGRAM)
      within = interpreter_is_of_library(marking, caller) ? LIBRARY : PROGRAM;
    marking->within[node] = within;
    if (caller && interpreter_is_of_language(marking, interpreter_frame_of(marking, node)))
      marking->runs[caller->module] = true;
  }
  for (uint32_t node = marking->nodes; node; node--)
    if (marking->calls[node] || interpreter_is_of_language(marking, interpreter_frame_of(marking, node)))
      marking->calls[parent_of(marking, node)] = true;
  for (uint32_t node = 1; node <= marking->nodes; node++) {
    uint32_t parent = parent_of(marking, node);
    const struct frame *caller = interpreter_frame_of(marking, parent);
    marking->begun[node] =
        marking->begun[parent] ||
        (caller && parent_of(marking, parent) && is_named_python(interpreter_text(marking, caller->module)));
  }
}

/* "perl", "perl5.36.0", "libperl.so.5.36" */
static bool is_named_perl(const char *module) {
  const char *name = module + (text_begins(module, "lib") ? 3 : 0);
  return text_begins(name, "perl") && (!name[4] || name[4] == '5' || text_begins(name + 4, ".so"));
}

/* "node", "libnode.so.108", "libjvm.so"; and code at an address, which is the runtime's where no
 * name was told for it. */
static bool is_of_runtime(const struct marking *marking, const struct frame *frame) {
  static const char *const runtimes[] = {"libnode.", "libv8", "libjvm.", "libcoreclr.", "libjulia"};
  static const char *const programs[] = {"node", "nodejs", "deno", "bun"};
  const char *module = interpreter_text(marking, frame->module);
  if (!*module || frame->module == marking->language) return true;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(module, programs[i])) return true;
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
    if (text_begins(module, runtimes[i])) return true;
  return false;
}

static bool is_of_interpreter(const struct marking *marking, const struct frame *frame) {
  if (marking->interpreter == INTERPRETER_JIT) return is_of_runtime(marking, frame);
  if (!frame->module) return false;
  if (marking->interpreter == INTERPRETER_PERL)
    return is_named_perl(interpreter_text(marking, frame->module));
  if (is_named_python(interpreter_text(marking, frame->module))) return true;
  const char *function = interpreter_text(marking, frame->function);
  return marking->runs[frame->module] && (text_begins(function, "Py") || text_begins(function, "_Py"));
}

/* Whether the frame is the program's main, or the function that a stripped file has in its place. */
static bool interpreter_is_main(const struct marking *marking, uint32_t node, const struct frame *frame) {
  static const char starts[] = "__libc_start_"; /* and this may call another of its kind */
  const struct frame *caller = interpreter_frame_of(marking, parent_of(marking, node));
  const char *function = interpreter_text(marking, frame->function);
  if (frame + 1 < interpreter_frame_of(marking, node) + marking->names->count[node])
    return false; /* inlined there */
  return !strcmp(function, "main") ||
         (caller && text_begins(interpreter_text(marking, caller->function), starts) &&
          !text_begins(function, starts));
}

/* Whether a function of a stripped interpreter has its address for a name. */
static bool is_nameless_python(const struct marking *marking, const struct frame *frame) {
  return builds_of(&marking->names->builds, frame->function) &&
         is_named_python(interpreter_text(marking, frame->module));
}

static bool is_hidden(const struct marking *marking, uint32_t node, const struct frame *frame) {
  uint8_t within = marking->within[node];
  if (interpreter_is_of_language(marking, frame))
    return within == PROGRAM && interpreter_is_of_library(marking, frame);
  bool outermost = marking->interpreter != INTERPRETER_PERL && interpreter_is_main(marking, node, frame);
  if (within && marking->python_itself) return true;
  if (marking->python_itself && !outermost &&
      (is_nameless_python(marking, frame) || (marking->calls[node] && marking->begun[node])))
    return true;
  return (within || (marking->calls[node] && !outermost)) && is_of_interpreter(marking, frame);
}

/* Whether each main that runs Python is Python's own: a program with the interpreter in it has
 * another. Where the files of the program are not at hand, no main is known; then it is where stacks
 * begin. */
static bool is_python_itself(const struct marking *marking) {
  bool found = false, begins = false;
  for (uint32_t node = 1; node <= marking->nodes; node++) {
    const struct frame *frame = interpreter_frame_of(marking, node);
    if (frame) frame += marking->names->count[node] - 1; /* what is inlined there is no main */
    if (!frame || !marking->calls[node] || frame->module == marking->language) continue;
    begins |=
        !parent_of(marking, node) && is_named_python(interpreter_text(marking, frame->module)) &&
        (is_nameless_python(marking, frame) || !strcmp(interpreter_text(marking, frame->function), "_start"));
    if (!interpreter_is_main(marking, node, frame)) continue;
    if (!is_named_python(interpreter_text(marking, frame->module))) return false;
    found = true;
  }
  return found || begins;
}

static bool mark_interpreter(struct marking *marking) {
  bool found = false;
  for (uint32_t node = 1; node <= marking->nodes; node++)
    for (uint32_t i = 0; i < marking->names->count[node]; i++) {
      struct frame *frame = interpreter_frame_of(marking, node) + i;
      if (is_hidden(marking, node, frame)) found = frame->wrapper = frame->between = true;
    }
  return found;
}

/* ---- homes ---- */

struct files {
  struct strings *strings;
  uint32_t *file, *home; /* home: of each file, by its string */
  size_t count;
};

/* A folder's end comes first, so that "x.py" stands beside "a/x.py". */
static int from_the_end(const void *a, const void *b, void *context) {
  const struct strings *strings = context;
  const char *left = strings_text(strings, *(const uint32_t *)a),
             *right = strings_text(strings, *(const uint32_t *)b);
  size_t i = strlen(left), j = strlen(right);
  while (i && j && left[i - 1] == right[j - 1]) i--, j--;
  if (!i || !j) return (i > j) - (i < j);
  if (left[i - 1] == '/' || right[j - 1] == '/') return left[i - 1] == '/' ? -1 : 1;
  return (unsigned char)left[i - 1] < (unsigned char)right[j - 1] ? -1 : 1;
}

/* How many of the last parts of two paths are the same. */
static size_t same_parts(const char *left, const char *right) {
  size_t i = strlen(left), j = strlen(right), parts = 0;
  while (i && j && left[i - 1] == right[j - 1]) parts += left[i - 1] == '/', i--, j--;
  bool whole = (!i || left[i - 1] == '/') && (!j || right[j - 1] == '/');
  return parts + whole;
}

static const char *last_parts(const char *path, size_t parts) {
  const char *at = path + strlen(path);
  while (at > path && (at[-1] != '/' || --parts)) at--;
  return at;
}

/* "…/site-packages/certifi/core.py": what a programmer has installed is known by its package. */
static bool is_of_package(const char *path) {
  const char *within = strstr(path, "-packages/");
  return within && strchr(within + strlen("-packages/"), '/');
}

/* Files with the same end stand together. False without memory. */
static bool name_files(struct files *files) {
  qsort_r(files->file, files->count, sizeof *files->file, from_the_end, files->strings);
  for (size_t i = 0; i < files->count; i++) {
    const char *path = strings_text(files->strings, files->file[i]);
    size_t before = i ? same_parts(path, strings_text(files->strings, files->file[i - 1])) : 0,
           after =
               i + 1 < files->count ? same_parts(path, strings_text(files->strings, files->file[i + 1])) : 0;
    size_t parts = 1 + (before > after ? before : after);
    if (parts == 1 && is_of_package(path)) parts = 2;
    uint32_t home = strings_intern(files->strings, last_parts(path, parts));
    files->home[files->file[i]] = home;
    if (!home && *path) return false;
  }
  return true;
}

/* ---- shared ---- */

bool interpreter_is_language(const struct names *names, uint32_t module) {
  const char *name = strings_text(names->strings, module);
  for (int i = 0; i < INTERPRETERS && *name == '['; i++)
    if (!strcmp(name, module_of[i])) return true;
  return false;
}

static wn_status mark_language(const struct samples *samples, struct names *names,
                               enum interpreter interpreter, bool *found) {
  struct marking marking = {.samples = samples,
                            .names = names,
                            .interpreter = interpreter,
                            .nodes = source_stack_count(samples->source)};
  if (!strings_find(names->strings, module_of[interpreter], &marking.language)) return WN_OK;
  size_t nodes = (size_t)marking.nodes + 1;
  marking.runs = calloc((size_t)names->strings->count + 1, sizeof *marking.runs);
  marking.folder = calloc((size_t)names->strings->count + 1, sizeof *marking.folder);
  marking.within = calloc(nodes, sizeof *marking.within);
  marking.calls = calloc(nodes, sizeof *marking.calls);
  marking.begun = calloc(nodes, sizeof *marking.begun);
  bool done = marking.runs && marking.folder && marking.within && marking.calls && marking.begun;
  if (done) {
    if (interpreter == INTERPRETER_PYTHON) see_files(&marking);
    see_stacks(&marking);
    marking.python_itself = interpreter == INTERPRETER_PYTHON && is_python_itself(&marking);
    *found = mark_interpreter(&marking);
  }
  free(marking.runs);
  free(marking.folder);
  free(marking.within);
  free(marking.calls);
  free(marking.begun);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the wrappers");
}

wn_status interpreter_mark(const struct samples *samples, struct names *names, bool found[INTERPRETERS]) {
  wn_status error = WN_OK;
  for (int i = 0; i < INTERPRETERS && !error; i++) {
    found[i] = false;
    error = mark_language(samples, names, (enum interpreter)i, &found[i]);
  }
  return error;
}

wn_status interpreter_set_homes(struct names *names, uint32_t nodes) {
  size_t strings = names->strings->count;
  struct files files = {names->strings, malloc(strings * sizeof *files.file),
                        calloc(strings, sizeof *files.home), 0};
  bool done = files.file && files.home;
  for (int pass = 0; pass < 2 && done; pass++) {
    for (uint32_t node = 1; node <= nodes; node++)
      for (uint32_t i = 0; i < names->count[node]; i++) {
        struct frame *frame = &names->frame[names->first[node] + i];
        if (!frame->file || !interpreter_is_language(names, frame->module)) continue;
        if (pass) frame->home = files.home[frame->file];
        if (!pass && !files.home[frame->file])
          files.file[files.count++] = frame->file, files.home[frame->file] = UINT32_MAX;
      }
    if (!pass) done = name_files(&files);
  }
  free(files.file);
  free(files.home);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the names");
}
/* SPDX-License-Identifier: MIT */
