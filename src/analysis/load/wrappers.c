/* Finds wrappers of allocators.
 *
 * By name. A name is compared without the parts that differ between instances of a template or
 * overload: template arguments, parameters and the return type. wrapper_names.def lists the names.
 * It includes the containers of standard libraries, since the reader of a report will not change
 * those.
 *
 * By shape. A function that only returns malloc's result has four marks in the sample:
 *   1. every stack that it is on ends in it or in a wrapper that it calls: it calls nothing else
 *      that allocates;
 *   2. it calls the allocator from few places;
 *   3. several functions call it;
 *   4. the sizes of its blocks differ, since its callers choose them.
 *
 * A parser's function that allocates a record for what it has read has these marks too, but such a
 * function is what the reader looks for. There are two ways to tell.
 *
 * TINY: its code has at most TINY_BYTES. That is room for a call, a test and a copy, as in vim's
 * vim_strsave (61 bytes on x86-64), and not for a parser. Such a function is a wrapper whatever its
 * name, if many samples say that it calls the allocator from one place and makes no block larger: a
 * function that does manages a container (gcc's df_grow_bb_info, 116 bytes). In 28 recordings of 20
 * programs, among them redis, git, vim, perl, python, clang, cc1plus, jq and openssl, this found
 * seven functions that have names. Each allocates for its callers, or copies a string for them. With
 * 128 bytes it would also find containers that copy themselves (clang's TypeLocBuilder::grow, 103).
 *
 * The name of any other function must contain "alloc". Then two callers and two sizes are enough.
 * Sizes do not count for a name such as myalloc or xmalloc, which says nothing else (saying_of). A
 * function named alloc_node or node_alloc whose blocks have one size makes nodes and is no wrapper.
 * Nor is alloc_node whose nodes end in texts of various sizes, unless it has as many callers and
 * sizes as a function without a name needs.
 *
 * Code without a symbol tells the reader less than its callers do. If only wrappers call a
 * function, it is an internal function of an allocator and needs only the first two marks; but not if one
 * of them is of a library that calls functions of the program, as Rust's runtime calls main. Each
 * wrapper that is found exposes its callers as innermost, so the search repeats until a round finds
 * none. The report names the functions that it passed over.
 *
 * LANGUAGE. A function of a Python or JavaScript program is a wrapper only if the user names it.
 * Its allocations belong to its lines, and its name, "resize" or "alloc_rows", says nothing about
 * an allocator of C. */
#include "analysis/load/wrappers.h"

#include "analysis/load/cxx_name.h"
#include "analysis/load/cxx_plain.h"
#include "analysis/load/names.h"
#include "analysis/load/rust_name.h"
#include "base/error.h"
#include "base/text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 1024, ROUNDS_MOST = 8, SEEN_MOST = 8 };

/* How many callers and sizes a function needs, and how many places it may have, to be a wrapper by
 * its shape. NAMED: with "alloc" in its name. */
enum {
  CALLERS_LEAST = 6,
  SIZES_LEAST = 6,
  PLACES_MOST = 3,
  CALLERS_LEAST_NAMED = 2,
  SIZES_LEAST_NAMED = 2,
  TINY_BYTES = 96,
  SAMPLES_LEAST = 30,   /* of which one in ten would have shown another allocation, if one in ten were */
  NAMELESS_BYTES = 512, /* the code of a function without a name has no more, if that is known */
};

/* A set of up to SEEN_MOST different numbers; more are not counted. */
struct seen {
  uint64_t value[SEEN_MOST];
  uint8_t count;
};

/* What the sample shows about a function. */
struct shape {
  struct seen callers, sizes, places;
  uint64_t samples;
  uint32_t bytes;      /* of its code, where it is not inlined; 0: unknown */
  bool grows;          /* it made a block larger */
  bool calls_others;   /* it is on a stack that ends in another function */
  bool others_call_it; /* a function that is no wrapper calls it, or one that calls back */
  enum { UNKNOWN, CALLS_BACK, CALLS_ITS_OWN } calling; /* of a wrapper */
};

/* The innermost frame of a stack that is no wrapper: the frame that owns the stack. */
struct own {
  uint32_t node;  /* node of the trace; 0: the stack has only wrappers */
  uint32_t frame; /* index among the frames of that node */
};

/* GIVEN: the user named it. */
enum standing { NO_WRAPPER, FOUND, GIVEN };

struct finding {
  const struct samples *samples;
  struct names *names;
  uint32_t nodes;
  struct shape *shapes; /* index: string of the names */
  struct own *owns;     /* index: node */
  bool *calls;          /* index: node; it is further out than the own frame of some stack */
  uint64_t *ends;       /* index: string; samples whose stacks end in that wrapper */
  uint8_t *is;          /* index: string; an enum standing */
};

/* ---- cgo ---- */

/* The functions between Go and the C functions that it calls.
 *
 * For each C function cgo makes a function of Go, "main._Cfunc_strdup", and one of C,
 * "_cgo_0742e3e0f5dd_Cfunc_strdup"; between them runtime.cgocall and runtime.asmcgocall change
 * stacks. None is the user's code. They are wrappers of what the C function allocates, and call
 * paths leave them out wherever they are. */

/* In symbol tables functions of Go's assembly end in ".abi0". */
static bool is_of_assembly(const char *function, const char *name) {
  size_t length = strlen(name);
  return !strncmp(function, name, length) && (!function[length] || !strcmp(function + length, ".abi0"));
}

static bool cgo_is_between(const char *function) {
  if (!strncmp(function, "_cgo_", 5)) return strstr(function, "_Cfunc_") || strstr(function, "_C2func_");
  return is_of_assembly(function, "runtime.cgocall") || is_of_assembly(function, "runtime.asmcgocall") ||
         strstr(function, "._Cfunc_") || strstr(function, "._C2func_") || strstr(function, "._cgo_cmalloc");
}

/* Sets `between` in the names' frames, whose wrappers are known. */
static void cgo_mark(struct names *names, size_t frame_count) {
  for (size_t i = 0; i < frame_count; i++) {
    struct frame *frame = &names->frame[i];
    frame->between = frame->wrapper && cgo_is_between(strings_text(names->strings, frame->function));
  }
}

/* ---- names ---- */

static bool wrappers_word_at(const char *name, size_t at, const char *word) {
  size_t length = strlen(word);
  bool begins = !at || !(isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_');
  return begins && !strncmp(name + at, word, length) &&
         !(isalnum((unsigned char)name[at + length]) || name[at + length] == '_');
}

/* The part of a name after a return type of the form decltype (...). */
static const char *behind_decltype(const char *name) {
  const char *at = strncmp(name, "decltype", 8) ? NULL : strchr(name, '(');
  for (int depth = 0; at && *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (!depth) return at + 1;
  }
  return name;
}

/* Copies a name without template arguments, parameters and the return type. Rust's <Type as
 * Trait>::method becomes Type::method. */
static void reduce(const char *name, char reduced[NAME_MOST]) {
  size_t length = 0;
  int depth = 0;
  bool within_type = false, within_trait = false;
  name = behind_decltype(name);
  for (size_t at = 0; name[at] && length + 1 < NAME_MOST; at++) {
    char c = name[at];
    if (c == '<' && !at) {
      within_type = true;
      continue;
    }
    if (within_type && !depth && !strncmp(name + at, " as ", 4)) within_trait = true;
    if (within_type && !depth && c == '>') {
      within_type = within_trait = false;
      continue;
    }
    if (within_trait) {
      depth += (c == '<') - (c == '>');
      continue;
    }
    bool operator_sign = length >= 8 && !strncmp(reduced + length - 8, "operator", 8) && strchr("<>(", c);
    if (operator_sign) break; /* operator<, operator(): never a wrapper */
    if (c == '(' && !depth && strncmp(name + at, "(anonymous namespace)", 21)) break;
    depth += c == '<';
    if (!depth) reduced[length++] = c;
    depth -= c == '>' && depth;
    if (c == ' ' && !depth && !within_type &&
        !(length >= 9 && wrappers_word_at(reduced, length - 9, "operator")))
      length = 0;
  }
  reduced[length] = 0;
}

static bool wrappers_ends_with(const char *text, size_t length, const char *end) {
  size_t tail = strlen(end);
  return length >= tail && !memcmp(text + length - tail, end, tail);
}

static bool is_method(const char *reduced, const char *type, const char *name) {
  size_t length = strlen(reduced), tail = strlen(name);
  return length > tail + 2 && wrappers_ends_with(reduced, length, name) &&
         !memcmp(reduced + length - tail - 2, "::", 2) &&
         wrappers_ends_with(reduced, length - tail - 2, type);
}

/* Copies a name without the inline namespaces that versions of C++'s standard library have in std.
 */
static void omit_versions(const char *reduced, char plain[NAME_MOST]) {
  size_t library = text_begins(reduced, "std::") ? strlen("std::") : 0;
  memcpy(plain, reduced, library);
  strcpy(plain + library, reduced + library + (library ? cxx_version_bytes(reduced + library) : 0));
}

static bool wrappers_has_no_name(const char *name) { return strstr(name, "+0x") || !strncmp(name, "0x", 2); }

/* What a name says about its function. IT_ALLOCATES: the last part of the name has "alloc" in it
 * and not "dealloc". WHAT: it begins with "alloc", and more follows. NOTHING_ELSE: it ends in "alloc",
 * directly after a lower-case letter. */
enum saying { SAYS_NOTHING, SAYS_WHAT, SAYS_IT_ALLOCATES, SAYS_NOTHING_ELSE };
static enum saying saying_of(const char *name) {
  char reduced[NAME_MOST];
  reduce(name, reduced);
  const char *last = reduced;
  for (const char *at = reduced; *at; at++)
    if (*at == ':') last = at + 1;
  if (!strcasestr(last, "alloc") || strcasestr(last, "dealloc")) return SAYS_NOTHING;
  size_t length = strlen(last), word = strlen("alloc");
  if (!strncasecmp(last, "alloc", word) && last[word] && strcmp(last + word, "ate")) return SAYS_WHAT;
  bool at_end = length > word && wrappers_ends_with(last, length, "alloc");
  return at_end && islower((unsigned char)last[length - word - 1]) ? SAYS_NOTHING_ELSE : SAYS_IT_ALLOCATES;
}

/* Whether gfortran made a procedure that copies what a polymorphic variable has:
 * shapes::__copy_shapes_Big, of the type Big. */
static bool is_copy_of_fortran(const char *name) {
  static const char copy[] = "::__copy_";
  const char *at = strstr(name, copy);
  size_t bytes = at ? (size_t)(at - name) : 0;
  return bytes && !strncmp(at + sizeof copy - 1, name, bytes) && at[sizeof copy - 1 + bytes] == '_';
}

/* Whether a function is within a library of containers (WRAPPERS_WITHIN), or made by a compiler. */
static bool is_in_library(const char *name) {
  static const char *const paths[] = {
#define WRAPPER(name)
#define WRAPPER_METHOD(type, name)
#define WRAPPERS_WITHIN(path) path "::",
#define WRAPPERS_OF_MODULE(file)
#include "analysis/load/wrapper_names.def"
  };
  char reduced[NAME_MOST], plain[NAME_MOST];
  enum rust_owner owner = rust_owner_of(name);
  if (owner != RUST_NOT_SAID) return owner == RUST_LIBRARY;
  if (cgo_is_between(name) || is_copy_of_fortran(name) || text_begins(name, "_gfortran")) return true;
  reduce(name, reduced);
  omit_versions(reduced, plain);
  const char *path = plain + strspn(plain, "&"); /* of a method of a reference */
  if (!strncmp(path, "mut ", 4)) path += 4;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (text_begins(path, paths[i])) return true;
  return false;
}

/* ---- shapes ---- */

static void see(struct seen *seen, uint64_t value) {
  for (unsigned i = 0; i < seen->count; i++)
    if (seen->value[i] == value) return;
  if (seen->count < SEEN_MOST) seen->value[seen->count++] = value;
}

/* Relies on callers having smaller numbers than the nodes that they call. */
static void find_owns(struct finding *finding) {
  for (uint32_t node = 1; node <= finding->nodes; node++) {
    struct frames frames = names_of(finding->names, node);
    uint32_t frame = 0;
    while (frame < frames.count && frames.frame[frame].wrapper) frame++;
    uint32_t parent = source_stack(finding->samples->source, node).parent;
    finding->owns[node] = frame < frames.count ? (struct own){node, frame}
                          : parent < node      ? finding->owns[parent]
                                               : (struct own){0, 0};
  }
}

/* The frame that calls the own frame, without those between languages; NULL if that is the outermost. */
static const struct frame *wrappers_caller_of(const struct finding *finding, struct own own) {
  size_t at = own.frame + 1;
  for (uint32_t node = own.node, parent; node; at = 0, node = parent) {
    struct frames frames = names_of(finding->names, node);
    while (at < frames.count && frames.frame[at].between) at++;
    if (at < frames.count) return frames.frame + at;
    parent = source_stack(finding->samples->source, node).parent;
    if (parent >= node) break;
  }
  return NULL;
}

/* Counts a sample for each wrapper inside the own frame of a stack, but for those between languages: no line
 * of the program calls them. */
static void wrappers_count_ends(struct finding *finding, uint32_t stack, struct own own) {
  for (uint32_t node = stack; node; node = source_stack(finding->samples->source, node).parent) {
    struct frames frames = names_of(finding->names, node);
    size_t count = node == own.node ? own.frame : frames.count;
    for (size_t i = 0; i < count; i++)
      if (!frames.frame[i].between) finding->ends[frames.frame[i].function]++;
    if (node == own.node) return;
  }
}

/* Whether a wrapper may call a function of the program: one of a library of containers calls closures and
 * methods that it was given, and cgo's call the C functions. */
static bool calls_back(struct finding *finding, uint32_t function) {
  struct shape *shape = &finding->shapes[function];
  if (shape->calling == UNKNOWN)
    shape->calling =
        is_in_library(strings_text(finding->names->strings, function)) ? CALLS_BACK : CALLS_ITS_OWN;
  return shape->calling == CALLS_BACK;
}

static void see_row(struct finding *finding, const struct row *row) {
  if (!row->stack || row->stack > finding->nodes) return;
  struct own own = finding->owns[row->stack];
  wrappers_count_ends(finding, row->stack, own);
  if (!own.node) return;
  struct frames frames = names_of(finding->names, own.node);
  struct shape *shape = &finding->shapes[frames.frame[own.frame].function];
  const struct frame *caller = wrappers_caller_of(finding, own);
  see(&shape->callers, caller ? caller->function : UINT64_MAX);
  if (!caller || !caller->wrapper || calls_back(finding, caller->function)) shape->others_call_it = true;
  see(&shape->sizes, row->size);
  const struct frame *frame = frames.frame + own.frame;
  see(&shape->places, frame->line ? (uint64_t)frame->file << 32 | frame->line : frame->place);
  shape->samples++;
  if (frame->bytes > shape->bytes) shape->bytes = frame->bytes;
  if (!row->first) shape->grows = true;
  if (interpreter_is_language(finding->names, frame->module)) shape->calls_others = true; /* LANGUAGE */
  for (size_t i = own.frame + 1; i < frames.count; i++)
    finding->shapes[frames.frame[i].function].calls_others = true;
  finding->calls[source_stack(finding->samples->source, own.node).parent] = true;
}

static void see_callers(struct finding *finding) {
  for (uint32_t node = finding->nodes; node; node--) {
    if (!finding->calls[node]) continue;
    struct frames frames = names_of(finding->names, node);
    for (size_t i = 0; i < frames.count; i++) finding->shapes[frames.frame[i].function].calls_others = true;
    uint32_t parent = source_stack(finding->samples->source, node).parent;
    if (parent < node) finding->calls[parent] = true;
  }
}

/* TINY */
static bool is_tiny(const struct shape *shape) {
  return shape->samples >= SAMPLES_LEAST && shape->bytes && shape->bytes <= TINY_BYTES && !shape->grows &&
         shape->places.count == 1;
}

static bool has_shape(const struct finding *finding, uint32_t function) {
  const struct shape *shape = &finding->shapes[function];
  if (!shape->samples || shape->calls_others || shape->places.count > PLACES_MOST) return false;
  if (!shape->others_call_it) return true;
  const char *name = strings_text(finding->names->strings, function);
  bool chosen = shape->callers.count >= CALLERS_LEAST && shape->sizes.count >= SIZES_LEAST;
  if (wrappers_has_no_name(name)) return chosen && shape->bytes <= NAMELESS_BYTES;
  if (chosen && is_tiny(shape)) return true;
  enum saying saying = saying_of(name);
  if (saying == SAYS_NOTHING || saying == SAYS_WHAT) return saying == SAYS_WHAT && chosen;
  unsigned sizes = saying == SAYS_NOTHING_ELSE ? 1 : SIZES_LEAST_NAMED;
  return shape->callers.count >= CALLERS_LEAST_NAMED && shape->sizes.count >= sizes;
}

/* By its place a call of a function without a name: nameless.h. */
static void wrappers_mark(const struct finding *finding, size_t frame_count) {
  for (size_t i = 0; i < frame_count; i++) {
    struct frame *frame = &finding->names->frame[i];
    enum standing least =
        interpreter_is_language(finding->names, frame->module) ? GIVEN : FOUND; /* LANGUAGE */
    if (finding->is[frame->function] >= least || finding->is[frame->place] >= least) frame->wrapper = true;
  }
}

/* One round of the search by shape. Returns the number of wrappers that it found. */
static size_t find_by_shape(struct finding *finding) {
  uint32_t strings = finding->names->strings->count;
  size_t found = 0;
  memset(finding->shapes, 0, strings * sizeof *finding->shapes);
  memset(finding->calls, 0, ((size_t)finding->nodes + 1) * sizeof *finding->calls);
  memset(finding->ends, 0, strings * sizeof *finding->ends);
  find_owns(finding);
  for (size_t i = 0; i < finding->samples->row_count; i++) see_row(finding, &finding->samples->rows[i]);
  see_callers(finding);
  for (uint32_t function = 0; function < strings; function++)
    if (!finding->is[function] && has_shape(finding, function)) finding->is[function] = FOUND, found++;
  return found;
}

static int by_samples(const void *a, const void *b, void *context) {
  const uint64_t *ends = context;
  uint64_t left = ends[*(const uint32_t *)a], right = ends[*(const uint32_t *)b];
  return (left < right) - (left > right);
}

static bool wrappers_list(const struct finding *finding, struct wrappers *wrappers) {
  uint32_t strings = finding->names->strings->count;
  wrappers->functions = malloc((strings + 1) * sizeof *wrappers->functions);
  if (!wrappers->functions) return false;
  for (uint32_t function = 0; function < strings; function++)
    if (finding->ends[function]) wrappers->functions[wrappers->count++] = function;
  qsort_r(wrappers->functions, wrappers->count, sizeof *wrappers->functions, by_samples, finding->ends);
  return true;
}

/* ---- names in the list, and names that the user gave ---- */

/* Whether the user gave this name: whole, as tables show it, or without template arguments and
 * parameters. */
static bool wrappers_is_named(const char *name, const char *reduced, const char *given) {
  char plain[NAME_MOST];
  return !strcmp(name, given) || !strcmp(reduced, given) ||
         (cxx_name_plain(name, plain, sizeof plain) && !strcmp(plain, given));
}

static wn_status know_names(const struct names *names, const struct wrappers_options *options, uint8_t *is) {
  char reduced[NAME_MOST];
  size_t named = 0;
  for (const char *const *given = options->named; given && *given; given++) named++;
  bool *used = calloc(named + 1, sizeof *used);
  if (!used) return error_set(WN_ENOMEM, "not enough memory for the wrappers");
  for (uint32_t i = 0; i < names->strings->count; i++) {
    const char *name = strings_text(names->strings, i);
    is[i] = wrapper_is_known(name) ? FOUND : NO_WRAPPER;
    if (named) reduce(name, reduced);
    for (size_t j = 0; j < named; j++)
      if (wrappers_is_named(name, reduced, options->named[j])) is[i] = GIVEN, used[j] = true;
  }
  size_t unused = 0;
  while (unused < named && used[unused]) unused++;
  free(used);
  return unused == named ? WN_OK
                         : error_set(WN_EINVAL, "--wrapper %s: no sampled stack has a function of that name",
                                     options->named[unused]);
}

static bool wrappers_prepare(struct finding *finding) {
  size_t strings = finding->names->strings->count, nodes = (size_t)finding->nodes + 1;
  finding->shapes = malloc((strings + 1) * sizeof *finding->shapes);
  finding->owns = calloc(nodes, sizeof *finding->owns);
  finding->calls = malloc(nodes * sizeof *finding->calls);
  finding->ends = malloc((strings + 1) * sizeof *finding->ends);
  finding->is = calloc(strings + 1, sizeof *finding->is);
  return finding->shapes && finding->owns && finding->calls && finding->ends && finding->is;
}

static size_t frames_in(const struct names *names, uint32_t nodes) {
  return nodes ? (size_t)names->first[nodes] + names->count[nodes] : 0;
}

/* ---- names without their class ---- */

/* Valgrind names an inlined method without its class and namespace: "allocate
 * (new_allocator.h:137)". In these files of GNU's C++ library all functions belong to the classes
 * of wrapper_names.def. Only files whose names nobody else uses are listed. */
static bool is_of_container(const char *file) {
  static const char *const files[] = {
      "alloc_traits.h",  "basic_string.h",  "basic_string.tcc",  "deque.tcc",    "hashtable_policy.h",
      "list.tcc",        "new_allocator.h", "shared_ptr_base.h", "std_thread.h", "stl_bvector.h",
      "stl_construct.h", "stl_deque.h",     "stl_list.h",        "stl_map.h",    "stl_multimap.h",
      "stl_multiset.h",  "stl_pair.h",      "stl_set.h",         "stl_tree.h",   "stl_uninitialized.h",
      "stl_vector.h",    "tuple",           "unique_ptr.h",      "vector.tcc"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (!strcmp(path_name(file), files[i])) return true;
  return false;
}

/* Not by name: other functions may be called "append" as well. */
static void mark_containers(const struct samples *samples, struct names *names, size_t frame_count) {
  if (!*source_limits(samples->source)->note) return;
  for (size_t i = 0; i < frame_count; i++) {
    struct frame *frame = &names->frame[i];
    char reduced[NAME_MOST];
    reduce(strings_text(names->strings, frame->function), reduced);
    if (!strstr(reduced, "::") && is_of_container(strings_text(names->strings, frame->file)))
      frame->wrapper = true;
  }
}

/* Runtimes of languages are wrappers whatever their functions are called: most have no names. */
static void mark_runtimes(struct names *names, size_t frame_count) {
  static const char *const modules[] = {
#define WRAPPER(name)
#define WRAPPER_METHOD(type, name)
#define WRAPPERS_WITHIN(path)
#define WRAPPERS_OF_MODULE(file) file,
#include "analysis/load/wrapper_names.def"
  };
  for (size_t i = 0; i < frame_count; i++)
    for (size_t j = 0; j < sizeof modules / sizeof *modules; j++)
      if (text_begins(strings_text(names->strings, names->frame[i].module), modules[j]))
        names->frame[i].wrapper = true;
}

/* ---- shared ---- */

bool wrapper_is_known(const char *name) {
  static const char *const whole[] = {
#define WRAPPER(name) name,
#define WRAPPER_METHOD(type, name)
#define WRAPPERS_WITHIN(path)
#define WRAPPERS_OF_MODULE(file)
#include "analysis/load/wrapper_names.def"
  };
  static const char *const methods[][2] = {
#define WRAPPER(name)
#define WRAPPER_METHOD(type, name) {type, name},
#define WRAPPERS_WITHIN(path)
#define WRAPPERS_OF_MODULE(file)
#include "analysis/load/wrapper_names.def"
  };
  char reduced[NAME_MOST];
  reduce(name, reduced);
  size_t length = strlen(reduced);
  if (wrappers_ends_with(reduced, length, "operator new") ||
      wrappers_ends_with(reduced, length, "operator new[]"))
    return true;
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (!strcmp(reduced, whole[i])) return true;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (is_method(reduced, methods[i][0], methods[i][1])) return true;
  return is_in_library(name);
}

wn_status wrappers_find(const struct samples *samples, struct names *names,
                        const struct wrappers_options *options, struct wrappers *wrappers) {
  *wrappers = (struct wrappers){0};
  if (options->none) return WN_OK;
  struct finding finding = {.samples = samples, .names = names, .nodes = source_stack_count(samples->source)};
  size_t frames = frames_in(names, finding.nodes);
  wn_status error = wrappers_prepare(&finding) ? know_names(names, options, finding.is) : WN_ENOMEM;
  if (!error) {
    wrappers_mark(&finding, frames);
    mark_containers(samples, names, frames);
    mark_runtimes(names, frames);
    cgo_mark(names, frames);
  }
  if (!error) error = interpreter_mark(samples, names, wrappers->interpreters);
  for (int round = 0; !error && round < ROUNDS_MOST && find_by_shape(&finding); round++)
    wrappers_mark(&finding, frames);
  if (!error && !wrappers_list(&finding, wrappers)) error = WN_ENOMEM;
  free(finding.is);
  free(finding.shapes);
  free(finding.owns);
  free(finding.calls);
  free(finding.ends);
  return error == WN_ENOMEM ? error_set(WN_ENOMEM, "not enough memory for the wrappers") : error;
}

void wrappers_destroy(struct wrappers *wrappers) {
  free(wrappers->functions);
  *wrappers = (struct wrappers){0};
}
/* SPDX-License-Identifier: MIT */
