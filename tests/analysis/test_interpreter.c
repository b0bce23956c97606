/* What is shown of stacks on which a Python program runs. */
#include "analysis/python_story.h"

#include "analysis/load/call_paths.h"
#include "analysis/load/interpreter.h"
#include "analysis/load/namesakes.h"
#include "analysis/load/wrappers.h"

#define BINARY "python3.12"
#define LOOP   "_PyEval_EvalFrameDefault"

struct loaded {
  struct samples *samples;
  struct names names;
  struct wrappers wrappers;
};

/* One block for each node that `stacks`, which ends at 0, names. */
static void load(struct loaded *loaded, const struct python_node *nodes, const uint32_t *stacks,
                 const struct wrappers_options *options) {
  struct trace_writer *writer = python_story_begin(1e-3, nodes);
  uint64_t block = 0;
  for (; *stacks; stacks++)
    for (int i = 0; i < 40; i++, block++)
      story_alloc(writer, block + 1, block + 1, 64 + 8 * (block % 9), *stacks);
  loaded->samples = story_load(writer);
  story_names(loaded->samples, &loaded->names);
  uint32_t build = strings_intern(loaded->names.strings, "a build");
  for (uint32_t i = 1; i < build; i++)
    if (strstr(strings_text(loaded->names.strings, i), "+0x"))
      assert_true(builds_mark(&loaded->names.builds, loaded->names.strings, i, build));
  assert_int_equal(wrappers_find(loaded->samples, &loaded->names, options, &loaded->wrappers), WN_OK);
  uint32_t count = source_stack_count(loaded->samples->source);
  assert_int_equal(interpreter_set_homes(&loaded->names, count), WN_OK);
  assert_int_equal(namesakes_rename(&loaded->names, count), WN_OK);
}

static void unload(struct loaded *loaded) {
  wrappers_destroy(&loaded->wrappers);
  names_destroy(&loaded->names);
  samples_free(loaded->samples);
}

/* The path that owns what the n-th stack allocated, callers first. */
static const char *path_by(const struct loaded *loaded, size_t n, enum grouping grouping) {
  static char path[1024];
  char label[256];
  uint32_t chain[32];
  size_t count = 0;
  struct call_paths paths;
  assert_int_equal(call_paths_create(loaded->samples, &loaded->names, grouping, NULL, &paths), WN_OK);
  uint32_t stack = loaded->samples->rows[40 * n].stack;
  for (uint32_t at = paths.own_of[stack]; at; at = paths.nodes[at].parent) chain[count++] = at;
  *path = 0;
  while (count--) {
    label_text(paths.labels, paths.nodes[chain[count]].label, grouping, &loaded->names, label, sizeof label);
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", *path ? "; " : "", label);
  }
  call_paths_destroy(&paths);
  return path;
}

static void path_is(const struct python_node *nodes, uint32_t stack, const char *wanted) {
  struct loaded loaded;
  load(&loaded, nodes, (const uint32_t[]){stack, 0}, &(struct wrappers_options){0});
  assert_string_equal(path_by(&loaded, 0, BY_FUNCTION), wanted);
  unload(&loaded);
}

static const struct python_node program[] = {
    {0},
    NATIVE("__libc_start_main", 0, "libc.so.6"),
    NATIVE("main", 1, BINARY),
    NATIVE("Py_RunMain", 2, BINARY),
    NATIVE("PyEval_EvalCode", 3, BINARY),
    NATIVE(LOOP, 4, BINARY),
    PYTHON("<module>", 5, "/src/leak.py", 40),
    PYTHON("run", 6, "/src/leak.py", 30), /* in one native frame */
    NATIVE("list_resize", 7, BINARY),
    NATIVE("PyList_Sort", 7, BINARY),
    NATIVE(LOOP, 9, BINARY),
    PYTHON("key", 10, "/src/leak.py", 12), /* an activation of its own */
    NATIVE("PyUnicode_New", 11, BINARY),
    NATIVE("array_new", 7, "_multiarray.so"),
    NATIVE("npy_new", 13, "_multiarray.so"),
    NATIVE("array_call", 13, "_multiarray.so"),
    NATIVE("PyTuple_New", 15, BINARY),
    NATIVE("pycore_init", 3, BINARY),
    NATIVE("new_keys", 17, BINARY),
    NATIVE("start_thread", 0, "libc.so.6"),
    NATIVE("thread_run", 19, BINARY),
    NATIVE(LOOP, 20, BINARY),
    PYTHON("work", 21, "/src/leak.py", 50),
    NATIVE("io_thread", 19, "libz.so.1"),
    PYTHON("run", 7, "/src/leak.py", 31), /* itself */
    NATIVE("list_resize", 24, BINARY),
};

static void python_lines_own_what_the_interpreter_allocates(void **state) {
  (void)state;
  path_is(program, 8, "__libc_start_main; main; <module> (leak.py); run");
  path_is(program, 12, "__libc_start_main; main; <module> (leak.py); run; key");
  path_is(program, 25, "__libc_start_main; main; <module> (leak.py); run; run");
  path_is(program, 22, "start_thread; work");
}

static void python_lines_own_what_extension_modules_allocate(void **state) {
  (void)state;
  path_is(program, 14, "__libc_start_main; main; <module> (leak.py); run");
  path_is(program, 16, "__libc_start_main; main; <module> (leak.py); run");
}

/* Its main has no name, and the C library starts it in two steps. */
static void a_stripped_python_is_python_itself(void **state) {
  (void)state;
  static const struct python_node nodes[] = {{0},
                                             NATIVE("__libc_start_main_impl", 0, "libc.so.6"),
                                             NATIVE("__libc_start_call_main", 1, "libc.so.6"),
                                             NATIVE("python3.12+0x1234", 2, BINARY),
                                             NATIVE(LOOP, 3, BINARY),
                                             PYTHON("<module>", 4, "/src/leak.py", 40),
                                             PYTHON("main", 5, "/src/leak.py", 30),
                                             PYTHON("run", 6, "/src/leak.py", 20),
                                             NATIVE("py_scanstring", 7, "_json.cpython-312.so"),
                                             NATIVE("deflateInit2_", 8, "libz.so.1"),
                                             NATIVE("python3.12+0x2345", 3, BINARY),
                                             NATIVE("PyList_New", 10, BINARY),
                                             NATIVE("python3.12+0x3456", 11, BINARY),
                                             NATIVE("_interpreters+0x4af7", 3, "_interpreters.so"),
                                             NATIVE(LOOP, 13, BINARY),
                                             PYTHON("<module>", 14, "<script>", 5)};
  path_is(nodes, 9,
          "__libc_start_main_impl; __libc_start_call_main; python3.12+0x1234; <module> (leak.py); main; run");
  path_is(nodes, 15,
          "__libc_start_main_impl; __libc_start_call_main; python3.12+0x1234; <module> (<script>)");
  struct loaded loaded; /* also where it starts, beside a program that runs */
  load(&loaded, nodes, (const uint32_t[]){12, 9, 0}, &(struct wrappers_options){0});
  assert_string_equal(path_by(&loaded, 0, BY_FUNCTION),
                      "__libc_start_main_impl; __libc_start_call_main; python3.12+0x1234; PyList_New");
  unload(&loaded);
}

/* As on another machine, where also the C library's functions have no names. */
static void a_python_without_its_files_is_python_itself(void **state) {
  (void)state;
  static const struct python_node nodes[] = {{0},
                                             NATIVE("python3.12+0x1111", 0, BINARY),
                                             NATIVE("libc+0x2222", 1, "libc.so.6"),
                                             NATIVE("python3.12+0x3333", 2, BINARY),
                                             PYTHON("<module>", 3, "/src/leak.py", 40),
                                             NATIVE("_json+0x4444", 4, "_json.cpython-312.so")},
                                  linked[] = {{0},
                                              NATIVE("game+0x1111", 0, "game"),
                                              NATIVE("libc+0x2222", 1, "libc.so.6"),
                                              NATIVE("python3.12+0x3333", 2, "libpython3.12.so"),
                                              PYTHON("<module>", 3, "<string>", 1),
                                              NATIVE("game+0x4444", 4, "game")};
  path_is(nodes, 5, "python3.12+0x1111; libc+0x2222; <module> (leak.py)");
  path_is(linked, 5, "game+0x1111; libc+0x2222; <module> (<string>); game+0x4444");
}

/* But for what runs the program, too. */
static void stacks_without_python_stay(void **state) {
  (void)state;
  struct loaded loaded;
  load(&loaded, program, (const uint32_t[]){18, 8, 23, 0}, &(struct wrappers_options){0});
  assert_string_equal(path_by(&loaded, 0, BY_FUNCTION), "__libc_start_main; main; pycore_init; new_keys");
  assert_string_equal(path_by(&loaded, 2, BY_FUNCTION), "start_thread; io_thread");
  assert_true(loaded.wrappers.interpreters[INTERPRETER_PYTHON]);
  assert_int_equal(loaded.wrappers.count, 0);
  unload(&loaded);
  load(&loaded, program, (const uint32_t[]){18, 0}, &(struct wrappers_options){0});
  assert_string_equal(path_by(&loaded, 0, BY_FUNCTION),
                      "__libc_start_main; main; Py_RunMain; pycore_init; new_keys");
  assert_false(loaded.wrappers.interpreters[INTERPRETER_PYTHON]);
  unload(&loaded);
}

static void all_is_shown_on_request(void **state) {
  (void)state;
  struct loaded loaded;
  load(&loaded, program, (const uint32_t[]){8, 0}, &(struct wrappers_options){.none = true});
  assert_string_equal(path_by(&loaded, 0, BY_FUNCTION),
                      "__libc_start_main; main; Py_RunMain; PyEval_EvalCode; " LOOP
                      "; <module> (leak.py); run; list_resize");
  unload(&loaded);
}

/* Whose own functions stay, since the interpreter's are known by their names. */
static void a_program_with_an_interpreter_in_it_stays(void **state) {
  (void)state;
  static const struct python_node nodes[] = {{0},
                                             NATIVE("main", 0, "game"),
                                             NATIVE("play", 1, "game"),
                                             NATIVE("PyRun_SimpleString", 2, "game"),
                                             NATIVE(LOOP, 3, "game"),
                                             PYTHON("<module>", 4, "<string>", 1),
                                             NATIVE("_PyObject_Call", 5, "game"),
                                             NATIVE("spawn", 6, "game"),
                                             NATIVE("PyList_New", 7, "game"),
                                             NATIVE("list_of", 5, "libmath.so"),
                                             NATIVE("Py_own", 9, "libmath.so")};
  path_is(nodes, 8, "main; play; <module> (<string>); spawn");
  path_is(nodes, 10, "main; play; <module> (<string>); list_of; Py_own");
}

/* As in a traceback; not those that nothing of the program calls. */
static void functions_that_import_belong_to_the_line_that_imports(void **state) {
  (void)state;
  static const char importing[] = "<frozen importlib._bootstrap>";
  static const struct python_node nodes[] = {{0},
                                             NATIVE("main", 0, BINARY),
                                             NATIVE(LOOP, 1, BINARY),
                                             PYTHON("_find_and_load", 2, importing, 1100),
                                             PYTHON("exec_module", 3, importing, 900),
                                             PYTHON("<module>", 4, "/lib/site.py", 3),
                                             NATIVE(LOOP, 5, BINARY),
                                             PYTHON("_find_and_load", 6, importing, 1100),
                                             NATIVE("read_code", 7, BINARY),
                                             NATIVE(LOOP, 7, BINARY),
                                             PYTHON("<module>", 9, "/lib/json.py", 7),
                                             NATIVE("read_code", 4, BINARY)};
  path_is(nodes, 8, "main; _find_and_load; exec_module; <module> (site.py)");
  path_is(nodes, 10, "main; _find_and_load; exec_module; <module> (site.py); <module> (json.py)");
  path_is(nodes, 11, "main; _find_and_load; exec_module");
}

/* What is installed beside the library is no part of it, nor is a program that the library has. */
static void functions_of_the_library_belong_to_the_line_that_calls_them(void **state) {
  (void)state;
  static const char threads[] = "/usr/lib/python3.11/threading.py",
                    json[] = "/usr/lib/python3.11/json/decoder.py",
                    flask[] = "/venv/lib/python3.11/site-packages/flask/app.py";
  static const struct python_node nodes[] = {{0},
                                             NATIVE("main", 0, BINARY),
                                             NATIVE(LOOP, 1, BINARY),
                                             PYTHON("_bootstrap", 2, threads, 1000),
                                             PYTHON("run", 3, "/src/feed.py", 20),
                                             PYTHON("decode", 4, json, 337),
                                             NATIVE(LOOP, 5, BINARY),
                                             PYTHON("raw_decode", 6, json, 353),
                                             PYTHON("hook", 7, "/src/feed.py", 9),
                                             PYTHON("dispatch", 5, flask, 50),
                                             PYTHON("decode", 9, json, 338),
                                             PYTHON("dumps", 4, "/usr/lib64/python3.13t/json/__init__.py", 9),
                                             PYTHON("store", 11, "/src/lib/python3.11-work/store.py", 3)};
  path_is(nodes, 3, "main; _bootstrap");
  path_is(nodes, 7, "main; _bootstrap; run");
  path_is(nodes, 8, "main; _bootstrap; run; hook");
  path_is(nodes, 10, "main; _bootstrap; run; dispatch");
  path_is(nodes, 11, "main; _bootstrap; run");
  path_is(nodes, 12, "main; _bootstrap; run; store");
}

/* ---- names ---- */

static void functions_of_one_name_are_told_apart_by_their_files(void **state) {
  (void)state;
  static const struct python_node nodes[] = {{0},
                                             NATIVE("main", 0, BINARY),
                                             PYTHON("<module>", 1, "/src/a/__init__.py", 1),
                                             PYTHON("run", 2, "/src/a/__init__.py", 5),
                                             PYTHON("run", 3, "/src/b/__init__.py", 6),
                                             PYTHON("run", 4, "__init__.py", 7),
                                             PYTHON("run", 5, "+__init__.py", 8),
                                             PYTHON("run", 6, "/src/tool.py", 9),
                                             PYTHON("run", 7, "tool.py", 10),
                                             PYTHON("run", 8, "+tool.py", 11),
                                             PYTHON("alone", 9, "/src/tool.py", 12),
                                             PYTHON("<module>", 10, "/v/site-packages/certifi/core.py", 13),
                                             PYTHON("<module>", 11, "/v/site-packages/six.py", 14)};
  struct loaded loaded;
  load(&loaded, nodes, (const uint32_t[]){12, 0}, &(struct wrappers_options){0});
  assert_string_equal(
      path_by(&loaded, 0, BY_FUNCTION),
      "main; <module> (a/__init__.py); run (a/__init__.py); run (b/__init__.py); "
      "run (__init__.py); run (+__init__.py); run (src/tool.py); run (tool.py); run (+tool.py); alone; "
      "<module> (certifi/core.py); <module> (six.py)");
  assert_string_equal(
      path_by(&loaded, 0, BY_LINE),
      "main; <module> (a/__init__.py:1); run (a/__init__.py:5); run (b/__init__.py:6); "
      "run (__init__.py:7); run (+__init__.py:8); run (src/tool.py:9); run (tool.py:10); run (+tool.py:11); "
      "alone (tool.py:12); <module> (certifi/core.py:13); "
      "<module> (six.py:14)");
  unload(&loaded);
}

static void a_name_is_split_where_a_file_stands_behind_it(void **state) {
  (void)state;
  struct namesake_parts parts;
  assert_true(namesake_split("run (a/tool.py)", "/src/a/tool.py", &parts));
  assert_int_equal(parts.name_length, 3);
  assert_int_equal(parts.home_length, 9);
  assert_string_equal(parts.home, "a/tool.py)");
  assert_false(namesake_split("run (atool.py)", "/src/tool.py", &parts));
  assert_false(namesake_split("run", "/src/tool.py", &parts));
  assert_false(namesake_split("tool.py)", "/src/tool.py", &parts));
  assert_false(namesake_split(" (tool.py)", "/src/tool.py", &parts));
  assert_false(namesake_split("run (tool.py)", "", &parts));
}

/* ---- wrappers ---- */

enum { CALLERS = 8 };

/* A function called from many, for blocks of many sizes, of C in an extension and of Python. */
static const char *owner(const char *function, const char *module, const char *const *named) {
  static char callers[CALLERS][16], owner[1024];
  static struct python_node nodes[3 + 4 * CALLERS];
  uint32_t count = 3, stacks[CALLERS + 1] = {0};
  nodes[1] = (struct python_node)NATIVE(LOOP, 0, BINARY);
  nodes[2] = (struct python_node)PYTHON("<module>", 1, "/src/x.py", 1);
  for (uint32_t i = 0; i < CALLERS; i++) {
    snprintf(callers[i], sizeof callers[i], "caller_%u", i);
    nodes[count] = (struct python_node)PYTHON(callers[i], 2, "/src/x.py", 10 + i);
    nodes[count + 1] = (struct python_node)NATIVE(LOOP, count, BINARY);
    nodes[count + 2] = (struct python_node){function, count + 1, module, "/src/x.c", 99};
    nodes[count + 3] = (struct python_node)NATIVE("PyList_New", count + 2, BINARY);
    stacks[i] = count + 3;
    count += 4;
  }
  struct loaded loaded;
  load(&loaded, nodes, stacks, &(struct wrappers_options){.named = named});
  const char *path = path_by(&loaded, 0, BY_FUNCTION), *last = strrchr(path, ' ');
  snprintf(owner, sizeof owner, "%s", last ? last + 1 : path);
  unload(&loaded);
  return owner;
}

static void python_functions_are_wrappers_only_if_the_user_says_so(void **state) {
  (void)state;
  assert_string_equal(owner("alloc_rows", "[python]", NULL), "alloc_rows");
  assert_string_equal(owner("my_malloc", "[python]", NULL), "my_malloc");
  assert_string_equal(owner("alloc_rows", "[python]", (const char *[]){"alloc_rows", NULL}), "caller_0");
  assert_string_equal(owner("buffer_alloc", "_ext.so", NULL), "caller_0");
}

/* The interpreter calls it, but it is no allocator's own for that. */
static void what_python_calls_in_an_extension_is_no_wrapper(void **state) {
  (void)state;
  assert_string_equal(owner("parse_record", "_ext.so", NULL), "parse_record");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(python_lines_own_what_the_interpreter_allocates),
      cmocka_unit_test(python_lines_own_what_extension_modules_allocate),
      cmocka_unit_test(a_stripped_python_is_python_itself),
      cmocka_unit_test(a_python_without_its_files_is_python_itself),
      cmocka_unit_test(stacks_without_python_stay),
      cmocka_unit_test(all_is_shown_on_request),
      cmocka_unit_test(a_program_with_an_interpreter_in_it_stays),
      cmocka_unit_test(functions_that_import_belong_to_the_line_that_imports),
      cmocka_unit_test(functions_of_the_library_belong_to_the_line_that_calls_them),
      cmocka_unit_test(functions_of_one_name_are_told_apart_by_their_files),
      cmocka_unit_test(a_name_is_split_where_a_file_stands_behind_it),
      cmocka_unit_test(python_functions_are_wrappers_only_if_the_user_says_so),
      cmocka_unit_test(what_python_calls_in_an_extension_is_no_wrapper),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
