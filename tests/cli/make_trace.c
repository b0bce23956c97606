/* Writes the traces that the tests of the command read: make_trace KIND FILE.
 *   plain      a small program: names with quotes, control characters and bytes that are not UTF-8
 *   exact      the same at rate 1
 *   none, exact_none, zero_none    no sample at all, at a rate between, of 1 and of 0
 *   one        one sample
 *   bare       the first of each ten samples has no callstack
 *   killed, killed_none  without an end record
 *   killed_for_memory  at a limit of 64 MB, below its peak; slowed down once, and another of its group was killed
 *   killed_at_no_limit  the same, without a limit
 *   killed_probably  without an end record, but with private memory of 58 MB at the limit of 64 MB
 *   killed_with_room  the same with 57 MB, while the group's usage and the resident size are at the
 *   limit
 *   four       four functions grow to the end, the last one the most
 *   four_peak  the same, and in the middle ten large blocks live for a while, which make the peak
 *   emptied    less and less is held, but for a few blocks that came in two steps
 *   shrunk, exact_shrunk  short-lived blocks that realloc makes smaller, at a place of its own
 *   slept      nothing is sampled in the last four fifths of the run, in which most is freed and 40 MB are
 *              resident
 *   level      as large all the time, with ever new blocks
 *   level_freed  the same, and at the end most is freed
 *   collected  a collected heap's: each second young block is promoted, and each second of these is dead at once
 *   exact_collected  the same at rate 1
 *   collected_none, collected_one  what it told in a run of that many milliseconds, a sample in each
 *   named      functions, files, a module and a title with long names, and with what terminals obey; with
 *              mappings of the program's own
 *   named_larger  the same, and once its mappings were not measured it was more than twice as large
 *   hostile    a command line, thread, function, file and module that would break out of an HTML page
 *   python     a program in Python, with an extension module
 *   odd        functions with what the formats of exports use themselves: semicolons, quotes, line feeds
 *   build_1, build_2  the same program and library without symbols, of two builds
 *   host_NAME_BUILD N [DAYS]  of that machine and that build of the program, which holds N blocks of 1000
 *              bytes in the end; at rate 1; it begins so many days after the others
 *   many N     N samples, for speed
 *   slow N     N samples, one each ten seconds, from 2023-11-14 22:13:20 on */
#include "base/hash.h"
#include "base/words.h"
#include "support/tree_source.h"
#include "trace/finish.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 400 };

static void node(void *context, uint32_t number, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = number / 2;
  *module = number % 2 + 1;
  *offset = number * 16;
}

static void module(void *context, uint32_t number, struct trace_module *out) {
  (void)context;
  static const char *const paths[] = {"/nowhere/od\"d\x01\xff.so", "/nowhere/b\\in"};
  *out = (struct trace_module){.base = number * 0x100000u, .bias = number * 0x100000u, .size = 0x10000};
  out->path = trace_text_of(paths[number - 1]);
}

static uint8_t build; /* of the kind build_N: N */

static void module_of_build(void *context, uint32_t number, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){.base = number * 0x100000u, .bias = number * 0x100000u, .size = 0x10000};
  out->path = trace_text_of(number == 1 ? "/nowhere/prog" : "/nowhere/libprog.so");
  out->build_id_bytes = 20;
  memset(out->build_id, build + 16 * (int)number, out->build_id_bytes);
}

/* ---- long and odd names ---- */

enum { NAMED_NODES = 40 };

static void named_node(void *context, uint32_t number, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = number < 4 ? number - 1 : number / 2;
  *module = 1;
  *offset = number;
}

static void named_module(void *context, uint32_t number, struct trace_module *out) {
  (void)context, (void)number;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE, .size = 4096};
  out->path = trace_text_of("[a module of a language\x1b[7m whose name is long, too, and of one_word_that_is_"
                            "longer_than_a_narrow_terminal]");
}

/* What is no UTF-8, what a terminal obeys, what turns its direction, what it shows in two
 * columns. */
static bool named_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  static _Thread_local char function[512];
  static const char *const formats[] = {
      "a_function_whose_name_has_no_blank_and_is_longer_than_any_narrow_terminal_%u",
      "std::vector<zoo::animal, std::allocator<zoo::animal> > zoo::keeper<%u, lion>::feed(zoo::food const&)",
      "red\x1b[31m\xc2\x9b"
      "31m\x07_%u",
      "bad\xff\xfe\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80_%u\xe2\x80",
      "turned\xe2\x80\xae_%u",
      "\xe5\x8a\xa8\xe7\x89\xa9\xe5\x9b\xad\xe9\xa5\xb2\xe5\x85\xbb\xe5\x91\x98_%u_of_"
      "\xe5\x8a\xa8\xe7\x89\xa9\xe5\x9b\xad\xe9\xa5\xb2\xe5\x85\xbb\xe5\x91\x98\xe5\x8a\xa8\xe7\x89\xa9\xe5"
      "\x9b\xad",
      "short_%u"};
  (void)context, (void)module;
  if (offset == 1)
    strcpy(function, "main");
  else
    snprintf(function, sizeof function, formats[offset % 7], (unsigned)offset);
  *out = (struct trace_place){.function = trace_text_of(function), .line = (uint32_t)offset};
  out->file =
      trace_text_of("/nowhere/a/folder/with\xff/a\x1b[7m/long/name/and_a_file_with_a_name_of_one_word.cc");
  return true;
}

/* ---- a program in Python ---- */

enum { PYTHON_NODES = 15, PYTHON_ENDS = 6 };
static const struct {
  uint32_t caller;
  const char *module, *function, *file;
  uint32_t line;
} python[PYTHON_NODES] = {{.caller = 0},
                          {0, "python3.12", "main", "", 0},
                          {1, "python3.12", "Py_RunMain", "", 0},
                          {2, "python3.12", "_PyEval_EvalFrameDefault", "", 0},
                          {3, "[python]", "<module>", "/srv/app/__main__.py", 40},
                          {4, "[python]", "run", "/srv/app/__main__.py", 31},
                          {5, "[python]", "remember", "/srv/app/cache.py", 12},
                          {6, "python3.12", "list_resize", "", 0}, /* an end */
                          {5, "[python]", "run", "/srv/app/worker.py", 7},
                          {8, "python3.12", "PyUnicode_New", "", 0}, /* an end */
                          {8, "_multiarray.so", "array_new", "array.c", 99},
                          {10, "_multiarray.so", "alloc_cache", "alloc.c", 5}, /* an end */
                          {6, "python3.12", "PyObject_Malloc", "", 0},         /* an end */
                          {2, "python3.12", "pycore_init", "", 0},             /* an end */
                          {4, "python3.12", "PyDict_New", "", 0}};             /* an end */

static void python_node(void *context, uint32_t number, uint32_t *parent, uint32_t *module,
                        uint64_t *offset) {
  static const uint32_t ends[PYTHON_ENDS] = {7, 9, 11, 12, 13, 14};
  (void)context;
  if (number >= PYTHON_NODES) number = ends[number % PYTHON_ENDS];
  *parent = python[number].caller;
  *offset = number;
  *module = 1;
  while (strcmp(python[*module].module, python[number].module) != 0) ++*module;
}

/* Also those of C are a language's, so that the trace has their names. */
static void python_module(void *context, uint32_t number, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){
      .base = TRACE_LANGUAGE_BASE, .size = 4096, .path = trace_text_of(python[number].module)};
}

static bool python_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context, (void)module;
  *out = (struct trace_place){.function = trace_text_of(python[offset].function),
                              .file = trace_text_of(python[offset].file),
                              .line = python[offset].line};
  return true;
}

/* ---- names that are HTML ---- */

#define BREAKS_OUT "</script></pre></noscript><img src=x onerror=alert(1)>"

static void hostile_module(void *context, uint32_t number, struct trace_module *out) {
  (void)context, (void)number;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE, .size = 4096};
  out->path = trace_text_of("[" BREAKS_OUT "]");
}

static bool hostile_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context, (void)module;
  *out = (struct trace_place){.function = trace_text_of(offset % 2 ? BREAKS_OUT : "plain"),
                              .file = trace_text_of("/a/" BREAKS_OUT ".cc"),
                              .line = (uint32_t)offset};
  return true;
}

/* ---- names that formats of exports divide ---- */

static bool odd_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  static const char *const names[] = {"a;b",          "ends in 12.5", "new\nline",   "say \"x\", please",
                                      "tab\there",    " 7",           "=1+1",        "\xce\xa9\xe2\x89\x88",
                                      "\xff\x1b[31m", "12",           "back\\slash", "carriage\r"};
  (void)context, (void)module;
  *out = (struct trace_place){.function = trace_text_of(names[offset % (sizeof names / sizeof *names)]),
                              .file = trace_text_of("/a;b/\"c\",\nd.cc"),
                              .line = (uint32_t)offset};
  return true;
}

static void write_named(struct trace_writer *writer) {
  for (uint64_t i = 1; i <= 8; i++) {
    struct trace_map map = {.time_ns = i, .thread = 1, .stack = (uint32_t)(30 + i), .mapping = i};
    map.kind = i > 5 ? TRACE_MAP_STACK : TRACE_MAP_ANONYMOUS;
    map.bytes = i << 20;
    if (!tree_write_map(writer, &map)) exit(1);
    trace_write_map_touched(
        writer, &(struct trace_map_touched){.time_ns = 500000, .thread = 1, .mapping = i, .bytes = i << 20});
  }
  trace_write_memory(
      writer,
      &(struct trace_memory){
          .time_ns = 500001, .thread = 1, .rss_bytes = 40000000, .private_bytes = 35000000, .complete = 1});
  trace_write_title(
      writer, &(struct trace_title){
                  .time_ns = 600000,
                  .thread = 1,
                  .title = trace_text_of(
                      "server: working\x1b]0;\x07\xff for_a_customer_whose_name_is_longer_than_a_line_is")});
}

static uint64_t step_ns = 1000; /* between two samples */

static void write_samples(struct trace_writer *writer, uint64_t count, uint32_t nodes, bool level,
                          bool bare) {
  for (uint64_t i = 1; i <= count; i++) {
    struct trace_sample sample = {.time_ns = i * step_ns, .thread = 1 + (uint32_t)(i % 3), .block = i};
    sample.size = 16 + i % 1000;
    sample.words = malloc_words(sample.size);
    sample.n_samples = 1;
    sample.stack = bare && i % 10 == 1 ? 0 : 1 + (uint32_t)(i * 7 % (nodes - 1));
    if (!tree_write_sample(writer, &sample)) exit(1);
    if (level && i > 100)
      trace_write_free(writer, &(struct trace_free){.time_ns = i * step_ns, .thread = 1, .block = i - 100});
    if (!level && i % 4 == 0)
      trace_write_free(writer,
                       &(struct trace_free){.time_ns = i * step_ns + 500, .thread = 1, .block = i / 2});
  }
}

static void write_large(struct trace_writer *writer, uint64_t first, uint64_t time_ns, size_t size) {
  for (uint64_t i = first; i < first + 10; i++) {
    struct trace_sample sample = {.time_ns = time_ns, .thread = 1, .block = i, .size = size, .stack = 300};
    sample.words = malloc_words(sample.size);
    sample.n_samples = 1;
    if (!tree_write_sample(writer, &sample)) exit(1);
  }
}

static void write_four(struct trace_writer *writer, uint64_t count, bool has_peak) {
  for (uint64_t i = 1; i <= count; i++) {
    if (has_peak && i == count / 2) write_large(writer, count + 1, i * 1000, count * 700);
    for (uint64_t large = count + 1; has_peak && i == count / 2 + 10 && large <= count + 10; large++)
      trace_write_free(writer, &(struct trace_free){.time_ns = i * 1000, .thread = 1, .block = large});
    uint32_t which = (uint32_t)(i % 4);
    struct trace_sample sample = {.time_ns = i * 1000, .thread = 1, .block = i, .stack = 1 + which};
    sample.size = 1000 + 500 * which;
    sample.words = malloc_words(sample.size);
    sample.n_samples = 1;
    if (!tree_write_sample(writer, &sample)) exit(1);
  }
}

static void write_emptied(struct trace_writer *writer, uint64_t count) {
  enum { BLOCKS = 200 };
  for (uint64_t i = 1; i <= count; i++) {
    bool steps = i == count / 2 || i == count * 9 / 10;
    struct trace_sample sample = {.time_ns = i * 1000, .thread = 1, .block = i, .size = 10000, .stack = 300};
    if (steps) sample.size = 200000, sample.stack = 100;
    sample.words = malloc_words(sample.size);
    sample.n_samples = 1;
    if ((i <= BLOCKS || steps) && !tree_write_sample(writer, &sample)) exit(1);
    if (i > BLOCKS && i % 4 == 0)
      trace_write_free(writer, &(struct trace_free){.time_ns = i * 1000, .thread = 1, .block = i / 4});
  }
}

static void write_shrunk(struct trace_writer *writer) {
  for (uint64_t i = 1; i <= 200; i++) {
    struct trace_sample sample = {.time_ns = i * 1000, .thread = 1, .block = i, .size = 800, .stack = 300};
    struct trace_resize resize = {
        .time_ns = i * 1000 + 10, .thread = 1, .block = i, .size = 80, .stack = 200};
    sample.words = resize.words = malloc_words(sample.size);
    sample.n_samples = 1;
    if (!tree_write_sample(writer, &sample) || !tree_write_resize(writer, &resize)) exit(1);
    trace_write_free(writer, &(struct trace_free){.time_ns = i * 1000 + 20, .thread = 1, .block = i});
  }
}

/* All are live at the same moments, whatever their number. */
static void write_host(struct trace_writer *writer, uint64_t count) {
  for (uint64_t i = 1; i <= count; i++) {
    struct trace_sample sample = {.time_ns = i, .thread = 1, .block = i, .size = 1000, .n_samples = 1};
    sample.words = malloc_words(sample.size);
    sample.stack = 1 + (uint32_t)(i % 4);
    if (!tree_write_sample(writer, &sample)) exit(1);
  }
}

/* A collection each millisecond, and a cycle each 200. */
static void write_heap(struct trace_writer *writer, uint64_t ms) {
  struct trace_collection now = {.time_ns = ms * 1000000, .thread = 1, .ns = ms ? 500000 : 0, .domains = 2};
  now.kind = ms ? TRACE_COLLECTION_MINOR : TRACE_COLLECTION_NONE;
  now.minor_words = 1000 * ms;
  now.promoted_words = 500 * ms;
  now.direct_words = 100 * ms;
  now.minor_collections = ms;
  now.major_cycles = ms / 200;
  now.heap_words = 100000 + ms;
  now.live_words = ms < 200 ? 0 : 50000;
  if (!trace_write_collection(writer, &now)) exit(1);
  if (ms % 200 || !ms) return;
  now.kind = TRACE_COLLECTION_MAJOR;
  now.ns = 100000000;
  trace_write_collection(writer, &now);
}

static void write_pause(struct trace_writer *writer, uint64_t ms) {
  struct trace_pause pause = {.time_ns = ms * 1000000, .thread = 1, .domain = ms % 2, .count = ms};
  pause.kind = TRACE_PAUSE_MINOR;
  pause.ns = ms == 777 ? 5000000 : 500000;
  pause.total_ns = ms * 500000 + (ms >= 777 ? 4500000 : 0);
  if (!trace_write_pause(writer, &pause)) exit(1);
}

static void write_domain(struct trace_writer *writer, uint64_t number, uint64_t time, uint8_t what) {
  trace_write_domain(writer, &(struct trace_domain){.time_ns = time, .domain = number, .what = what});
}

/* Block i is born in millisecond i; each tenth is born in the major heap. A promoted one dies 50 ms
 * later, if it is even among its kind, and else lives on. */
static void write_collected(struct trace_writer *writer, uint64_t count) {
  write_domain(writer, 0, 0, TRACE_DOMAIN_BEGINS);
  if (count > 1) write_domain(writer, 1, 0, TRACE_DOMAIN_BEGINS);
  write_heap(writer, 0);
  for (uint64_t i = 1; i <= count; i++) {
    struct trace_sample sample = {.time_ns = i * 1000000 - 500000, .thread = 1, .block = i, .n_samples = 1};
    sample.size = i % 10 ? 800 : 80000;
    sample.words = malloc_words(sample.size);
    sample.stack = 1 + (uint32_t)(i * 7 % (NODES - 1));
    sample.major = i % 10 == 0;
    if (!tree_write_sample(writer, &sample)) exit(1);
    uint64_t after = i * 1000000;
    if (i % 2 && !sample.major)
      trace_write_free(writer, &(struct trace_free){.time_ns = after, .thread = 1, .block = i});
    if (i % 2 == 0 && !sample.major)
      trace_write_promote(writer, &(struct trace_promote){.time_ns = after, .thread = 1, .block = i});
    if (i % 4 == 0 && !sample.major)
      trace_write_free(writer, &(struct trace_free){.time_ns = after + 200000000, .thread = 1, .block = i});
    write_heap(writer, i);
    write_pause(writer, i);
  }
  if (count > 1) write_domain(writer, 1, 500000000, TRACE_DOMAIN_ENDS);
  struct trace_collection end = {
      .time_ns = 1300000000, .thread = 1, .kind = TRACE_COLLECTION_NONE, .heap_words = 100000, .domains = 1};
  if (!count) trace_write_collection(writer, &end);
}

/* Some blocks are freed after the last birth: less is held at the end than at the peak. */
static void write_kill(struct trace_writer *writer, const char *kind, uint64_t count) {
  bool by_files = !strcmp(kind, "killed_with_room"), unseen = by_files || !strcmp(kind, "killed_probably");
  uint64_t limit = strstr(kind, "no_limit") ? 0 : 64000000;
  for (uint64_t i = count / 4; i <= count / 2; i++)
    trace_write_free(writer,
                     &(struct trace_free){.time_ns = count * 1000 + 100, .thread = 1, .block = i * 2 - 1});
  struct trace_group group = {
      .time_ns = 1000, .thread = 1, .limit = 2 * limit, .kills = 3, .pressure_us = 500};
  trace_write_group(writer, &group);
  group.time_ns = 500000;
  group.limit = limit;
  group.high = limit / 2;
  group.current = by_files ? limit : 60000000;
  group.kills = 4;
  group.pressure_us = 2500;
  trace_write_group(writer, &group);
  trace_write_memory(writer, &(struct trace_memory){.time_ns = 500001,
                                                    .rss_bytes = by_files ? limit : 61000000,
                                                    .private_bytes = by_files ? 57000000
                                                                     : unseen ? 58000000
                                                                              : 0});
  if (unseen) return;
  trace_write_end(writer, &(struct trace_end){.time_ns = 2000000 + count * 1000,
                                              .kind = TRACE_END_SIGNAL,
                                              .code = 9,
                                              .cause = TRACE_END_FOR_MEMORY});
}

static uint64_t count_of(const char *kind, const char *given) {
  if (given) return strtoull(given, NULL, 10);
  return strstr(kind, "none") ? 0 : strstr(kind, "one") ? 1 : !strcmp(kind, "slept") ? 500 : 1000;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  static const char command[] = "/bin/pro\"gram\0--op\x02tion\0\xff";
  const char *kind = argv[1];
  bool collected = strstr(kind, "collected"), is_host = !strncmp(kind, "host_", 5);
  char host[64] = "host";
  if (is_host) snprintf(host, sizeof host, "%.*s", (int)strcspn(kind + 5, "_"), kind + 5);
  bool named = strstr(kind, "named"), hostile = !strcmp(kind, "hostile"), odd = !strcmp(kind, "odd");
  struct tree_source source = {.node = node, .module = module};
  if (named) source = (struct tree_source){.node = named_node, .module = named_module, .place = named_place};
  if (hostile)
    source = (struct tree_source){.node = named_node, .module = hostile_module, .place = hostile_place};
  if (!strcmp(kind, "python"))
    source = (struct tree_source){.node = python_node, .module = python_module, .place = python_place};
  if (odd) source = (struct tree_source){.node = named_node, .module = named_module, .place = odd_place};
  if (!strncmp(kind, "build_", 6) || is_host) {
    build = (uint8_t)atoi(strrchr(kind, '_') + 1);
    source.module = module_of_build;
  }
  uint64_t count = count_of(kind, argv[3]), days = is_host && argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
  if (!strcmp(kind, "slow")) step_ns = 10000000000;
  uint64_t run_ns = (hash_bytes(kind, strlen(kind)) >> 16) + count; /* each kind and count is another run */
  struct trace_options options = {.path = argv[2]};
  struct trace_run run = {
      .command = hostile   ? trace_text_of(BREAKS_OUT)
                 : is_host ? trace_text_of("/nowhere/prog")
                           : (struct trace_text){command, sizeof command},
      .host = trace_text_of(host),
      .heap = trace_text_of(collected ? "winnow" : "malloc"),
      .version = trace_text_of("0.1.0"),
      .pid = 1,
      .rate = strstr(kind, "exact") || is_host ? 1
              : strstr(kind, "zero")           ? 0
                                               : 1e-3,
      .stack_depth = 512,
      .word_bytes = 8,
      .wall_ns = 1700000000000000000u + days * 86400000000000u,
      .monotonic_ns = run_ns,
  };
  struct trace_writer *writer;
  if (tree_writer_open(&options, &run, &source, &writer)) return puts(wn_last_error()), 1;
  trace_write_thread_name(
      writer, &(struct trace_thread_name){
                  .time_ns = 1, .thread = 1, .name = trace_text_of(hostile ? BREAKS_OUT : "main")});
  if (collected)
    write_collected(writer, count);
  else if (strstr(kind, "shrunk"))
    write_shrunk(writer);
  else if (!strncmp(kind, "four", 4))
    write_four(writer, count, !strcmp(kind, "four_peak"));
  else if (!strcmp(kind, "emptied"))
    write_emptied(writer, count);
  else if (is_host)
    write_host(writer, count);
  else
    write_samples(writer, count, named || hostile || odd ? NAMED_NODES : NODES, strstr(kind, "level"),
                  strstr(kind, "bare"));
  if (!strcmp(kind, "level_freed"))
    for (uint64_t i = count - 99; i <= count - 40; i++)
      trace_write_free(writer, &(struct trace_free){.time_ns = count * 1000 + 10, .thread = 1, .block = i});
  if (named)
    write_named(writer);
  else
    trace_write_memory(writer, &(struct trace_memory){.time_ns = 500000, .rss_bytes = 12000000});
  if (!strcmp(kind, "slept")) {
    trace_write_rate(writer, &(struct trace_rate){.time_ns = 500000});
    for (uint64_t i = 300; i < 500; i++)
      trace_write_free(writer, &(struct trace_free){.time_ns = 600000, .thread = 1, .block = i});
    trace_write_memory(writer, &(struct trace_memory){.time_ns = 2400000, .rss_bytes = 40000000});
  }
  if (!strcmp(kind, "named_larger"))
    trace_write_memory(writer, &(struct trace_memory){.time_ns = 600000, .rss_bytes = 90000000});
  if (!strncmp(kind, "killed_", 7) && !strstr(kind, "none")) write_kill(writer, kind, count);
  if (is_host) count = step_ns = 1000;
  bool is_short = !strncmp(kind, "four", 4) || !strcmp(kind, "emptied");
  uint64_t end_ns = collected ? 1300000000 : (is_short ? 0 : 2000000) + count * step_ns;
  if (strncmp(kind, "killed", 6) != 0)
    trace_write_end(writer, &(struct trace_end){.time_ns = end_ns, .kind = TRACE_END_EXIT});
  trace_writer_close(writer);
  struct trace_totals totals;
  return trace_finish(argv[2], &totals) != WN_OK;
}
/* SPDX-License-Identifier: MIT */
