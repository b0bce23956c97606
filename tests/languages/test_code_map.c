/* Names of code that a runtime makes: this process writes the files that a runtime writes. */
#include "support/test.h"

#include "base/os.h"
#include "base/random.h"
#include "callstack/stack.h"
#include "languages/code_map.h"
#include "languages/code_name.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct callstacks *callstacks;
static struct code_map *map;
static char map_path[64], dump_path[64];
static char told[4096]; /* "ADDRESS NAME;" of each that was told */

static void tell(const struct callstack_place *place) {
  size_t length = strlen(told);
  snprintf(told + length, sizeof told - length, "%lx %s;", (unsigned long)place->address, place->function);
}

static int begin(void **state) {
  (void)state;
  snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
  snprintf(dump_path, sizeof dump_path, "/tmp/jit-%d.dump", (int)getpid());
  unlink(map_path);
  unlink(dump_path);
  *told = 0;
  callstacks = callstacks_create(&(struct callstacks_options){.language = "jit"});
  map = calloc(1, sizeof *map);
  code_map_begin(map, callstacks, tell);
  return !callstacks;
}

static int end(void **state) {
  (void)state;
  code_map_fork_child(map); /* forgets the files; its tables stay, as those of a child */
  free(map);
  callstacks_destroy(callstacks);
  unlink(map_path);
  unlink(dump_path);
  return 0;
}

static void write_file(const char *path, int flags, const void *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
  assert_true(file >= 0);
  assert_true(os_write_all(file, bytes, count));
  close(file);
}

static void append(const char *text) { write_file(map_path, O_APPEND, text, strlen(text)); }
static void append_line(uintptr_t begin, size_t size, const char *name) {
  char line[300];
  snprintf(line, sizeof line, "%lx %zx %s\n", (unsigned long)begin, size, name);
  append(line);
}

static const char *text_of(wn_place place, char *buffer, size_t size) {
  struct callstack_place found;
  uint32_t module;
  uint64_t offset;
  callstack_frame(callstacks, FRAME_PLACE | place, &module, &offset);
  assert_true(callstack_place(callstacks, module, offset, &found));
  snprintf(buffer, size, "%s%s%s", found.function, *found.file ? " " : "", found.file);
  return buffer;
}

/* What is at an address that a call returns to; NULL: nothing is known. */
static const char *at(uintptr_t address) {
  static char text[600];
  code_map_refresh(map, true);
  wn_place place = map->code.place(&map->code, address + 1);
  return place ? text_of(place, text, sizeof text) : NULL;
}

static void is_at(uintptr_t address, const char *name) {
  const char *found = at(address);
  assert_non_null(found);
  assert_string_equal(found, name);
}

/* ---- perf's maps ---- */

static void names_are_those_of_the_last_function_at_an_address(void **state) {
  (void)state;
  assert_null(at(0x100010));
  append_line(0x100000, 0x40, "first");
  append("0x0000000000200000 0x0000000000003000 long\n");
  is_at(0x100000, "first");
  is_at(0x10003f, "first");
  assert_null(at(0x100040));
  is_at(0x201234, "long");
  append_line(0x100020, 0x40, "second");
  is_at(0x10001f, "first");
  is_at(0x100020, "second");
  append_line(0x100000, 0x1000, "third");
  is_at(0x10003f, "third");
  append_line(0x201000, 0x10, "within");
  is_at(0x201008, "within");
  is_at(0x201010, "long");
}

static void a_line_counts_when_it_is_whole(void **state) {
  (void)state;
  append("100000 40 be");
  assert_null(at(0x100000));
  append("gun\nnonsense\n 12\n100040 0 empty\nffffffffffffff00 1000 wraps\n100080 40\n");
  is_at(0x100000, "begun");
  assert_null(at(0x100040));
  assert_null(at(0x100080));
  append_line(0x100080, 0x40, "later");
  is_at(0x100080, "later");
}

static void a_map_that_is_written_anew_is_read_anew(void **state) {
  (void)state;
  append_line(0x100000, 0x40, "first");
  append_line(0x300000, 0x40, "gone");
  append_line(0x300040, 0x40, "gone, and never asked for");
  is_at(0x100000, "first");
  is_at(0x300000, "gone");
  static const char longer[] = "100000 40 other\n200000 40 second\n200040 40 third\n";
  write_file(map_path, O_TRUNC, longer, strlen(longer));
  is_at(0x100000, "other");
  is_at(0x200040, "third");
  assert_null(at(0x300000));
  assert_null(at(0x300040));
}

/* The runtime may write between the look at the file and the question. */
static void a_name_of_another_line_is_not_taken(void **state) {
  (void)state;
  append_line(0x100000, 0x40, "first");
  code_map_refresh(map, true);
  static const char other[] = "200000 40 other\n";
  int file = open(map_path, O_WRONLY | O_CLOEXEC);
  assert_true(file >= 0 && os_write_all(file, other, strlen(other)));
  close(file);
  assert_int_equal(map->code.place(&map->code, 0x100001), 0);
}

static void a_child_has_its_parents_functions(void **state) {
  (void)state;
  append_line(0x100000, 0x40, "first");
  code_map_refresh(map, true);
  code_map_fork_child(map);
  append_line(0x200000, 0x40, "of the parent");
  is_at(0x100000, "first");
  assert_null(at(0x200000));
}

static void a_long_line_is_passed_over(void **state) {
  (void)state;
  static char line[200000];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  write_file(map_path, O_APPEND, line, sizeof line);
  append_line(0x100000, 0x40, "behind");
  is_at(0x100000, "behind");
}

static void files_of_others_are_not_believed(void **state) {
  (void)state;
  append_line(0x100000, 0x40, "old");
  const struct timespec long_ago[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  assert_int_equal(utimensat(AT_FDCWD, map_path, long_ago, 0), 0);
  assert_null(at(0x100000));
  assert_int_equal(rename(map_path, dump_path), 0);
  assert_int_equal(symlink(dump_path, map_path), 0);
  append_line(0x100000, 0x40, "elsewhere");
  assert_null(at(0x100000));
  unlink(map_path);
  assert_int_equal(mkfifo(map_path, 0600), 0);
  assert_null(at(0x100000)); /* and nothing waits */
}

static void a_late_name_is_told_once(void **state) {
  (void)state;
  assert_null(at(0x100008));
  assert_null(at(0x100008));
  append_line(0x100000, 0x40, "first");
  is_at(0x100008, "first");
  assert_string_equal(told, "100009 first;");
  append_line(0x100000, 0x40, "second");
  is_at(0x100008, "second");
  assert_string_equal(told, "100009 first;");
}

/* The file is away while an address is asked for, and has another function there when it is back. */
static void a_name_that_cannot_be_read_is_told_later_and_once(void **state) {
  (void)state;
  append_line(0x100000, 0x40, "first");
  append_line(0x200000, 0x40, "apart");
  code_map_refresh(map, true);
  assert_int_equal(rename(map_path, dump_path), 0);
  assert_int_equal(map->code.place(&map->code, 0x100009), 0);
  assert_int_equal(map->code.place(&map->code, 0x200009), 0);
  assert_int_equal(rename(dump_path, map_path), 0);
  append_line(0x100000, 0x40, "second");
  assert_null(at(0x200008));
  is_at(0x100008, "second");
  assert_null(at(0x200008));
  assert_string_equal(told, "100009 first;200009 apart;");
}

/* More addresses than there is room for. */
static void any_number_of_addresses_have_names(void **state) {
  (void)state;
  if (!TINY) skip();
  append_line(0x100000, 2 * CODE_ASKED, "first");
  code_map_refresh(map, true);
  for (uintptr_t i = 1; i < CODE_ASKED + 10; i++)
    assert_int_not_equal(map->code.place(&map->code, 0x100000 + i), 0);
  is_at(0x100000 + CODE_ASKED + 20, "first");
  append_line(0x100000, 2 * CODE_ASKED, "second");
  is_at(0x100000 + CODE_ASKED + 20, "second");
  is_at(0x100000, "second");
}

/* ---- jitdumps ---- */

static void append_record(uint32_t kind, uint64_t time_ns, const uint64_t *words, size_t count,
                          const char *name) {
  unsigned char record[400] = {0};
  size_t bytes = 16 + 8 * count + (name ? strlen(name) + 1 + 8 : 0); /* 8: of code */
  uint32_t head[] = {kind, (uint32_t)bytes};
  memcpy(record, head, sizeof head);
  memcpy(record + 8, &time_ns, sizeof time_ns);
  memcpy(record + 16, words, 8 * count);
  if (name) strcpy((char *)record + 16 + 8 * count, name);
  write_file(dump_path, O_APPEND, record, bytes);
}

static void append_load(uint64_t begin, uint64_t size, uint64_t time_ns, const char *name) {
  append_record(0, time_ns, (const uint64_t[]){0, begin, begin, size, 1}, 5, name);
}

static void begin_dump(uint32_t pid) {
  const uint32_t header[] = {0x4a695444, 1, 40, 62, 0, pid, 0, 0, 0, 0};
  write_file(dump_path, O_TRUNC, header, sizeof header);
  int file = open(dump_path, O_RDONLY | O_CLOEXEC);
  code_map_mapped(map, file);
  close(file);
}

static void functions_of_a_dump_have_names_and_move(void **state) {
  (void)state;
  begin_dump((uint32_t)getpid());
  append_load(0x100000, 0x40, 1, "loaded");
  append_record(2, 1, (const uint64_t[]){0, 0, 0}, 3, NULL);
  append_load(0x100040, 0x40, 1, "next");
  is_at(0x100000, "loaded");
  is_at(0x100040, "next");
  append_record(1, 2, (const uint64_t[]){0, 0x100000, 0x100000, 0x300000, 0x40, 1}, 6, NULL);
  is_at(0x300010, "loaded");
  is_at(0x100000, "loaded"); /* until another is there */
}

static void a_record_counts_when_it_is_whole(void **state) {
  (void)state;
  struct stat whole;
  begin_dump((uint32_t)getpid());
  append_load(0x100000, 0x40, 1, "whole");
  assert_int_equal(stat(dump_path, &whole), 0);
  append_load(0x200000, 0x40, 1, "cut");
  assert_int_equal(truncate(dump_path, whole.st_size + 30), 0);
  is_at(0x100000, "whole");
  assert_null(at(0x200000));
  assert_int_equal(truncate(dump_path, whole.st_size), 0);
  append_load(0x200000, 0x40, 1, "cut");
  is_at(0x200000, "cut");
}

static void a_late_name_is_that_of_the_time(void **state) {
  (void)state;
  begin_dump((uint32_t)getpid());
  append_load(0x500000, 0x40, 1, "elsewhere");
  assert_null(at(0x100008));
  uint64_t asked_ns = os_monotonic_ns();
  append_load(0x100000, 0x40, 5, "then");
  append_load(0x100000, 0x80, asked_ns + 1000000000, "afterwards");
  is_at(0x100008, "afterwards");
  assert_string_equal(told, "100009 then;");
}

/* Two functions come late, which were there one after the other; a third was made later than that was
 * asked for. Another address was asked for before. */
static void functions_that_come_late_are_told(void **state) {
  (void)state;
  begin_dump((uint32_t)getpid());
  append_load(0x100000, 0x40, 1, "old");
  append_load(0x100040, 0x40, 2, "next");
  is_at(0x100048, "next");
  uint64_t made_ns = os_monotonic_ns();
  is_at(0x100008, "old");
  uint64_t asked_ns = os_monotonic_ns();
  append_load(0x100000, 0x80, made_ns, "second");
  append_load(0x100000, 0x80, asked_ns + 1, "third");
  append_load(0x100000, 0x40, asked_ns + 1000000000, "fourth");
  code_map_refresh(map, true);
  assert_string_equal(told, "100009 second;");
  is_at(0x100008, "fourth");
  is_at(0x100048, "third");
  assert_string_equal(told, "100009 second;");
}

/* A place tells the address, and since when the function is there. */
static void places_have_address_and_time(void **state) {
  (void)state;
  struct callstack_place place;
  begin_dump((uint32_t)getpid());
  append_load(0x100000, 0x40, 7, "one");
  code_map_refresh(map, true);
  wn_place number = map->code.place(&map->code, 0x100009), other = map->code.place(&map->code, 0x10000a);
  assert_true(number && other && number != other);
  uint32_t module;
  uint64_t offset;
  callstack_frame(callstacks, FRAME_PLACE | number, &module, &offset);
  assert_true(callstack_place(callstacks, module, offset, &place));
  assert_int_equal(place.address, 0x100009);
  assert_int_equal(place.since_ns, 7);
}

static void a_dump_of_another_process_is_left_alone(void **state) {
  (void)state;
  begin_dump((uint32_t)getpid() + 1);
  append_load(0x100000, 0x40, 1, "loaded");
  assert_null(at(0x100000));
}

/* ---- many functions ---- */

enum { ROOM = 1 << 16, STEPS = 4000 };

static size_t below(struct random *random, size_t most) { return (size_t)(random_bits(random) % most); }

/* Functions over each other, small and large ones, in pages of their own and not. */
static void random_functions_are_found(void **state) {
  (void)state;
  const uintptr_t base = 0x7000000;
  static uint32_t last[ROOM]; /* which step wrote each byte, plus 1 */
  struct random random;
  random_seed(&random, 7, 0, 0);
  memset(last, 0, sizeof last);
  for (uint32_t step = 0; step < STEPS; step++) {
    char name[32], wanted[32];
    size_t begin = below(&random, ROOM - 1), size = 1 + below(&random, step % 7    ? 200
                                                                       : step % 49 ? 6000
                                                                                   : 20000);
    if (begin + size > ROOM) size = ROOM - begin;
    snprintf(name, sizeof name, "f%u", step + 1);
    append_line(base + begin, size, name);
    for (size_t i = begin; i < begin + size; i++) last[i] = step + 1;
    if (step % 16) continue;
    for (int look = 0; look < 64; look++) {
      size_t where = below(&random, ROOM);
      const char *found = at(base + where);
      snprintf(wanted, sizeof wanted, "f%u", last[where]);
      if (last[where]) assert_non_null(found), assert_string_equal(found, wanted);
      if (!last[where]) assert_null(found);
    }
  }
}

/* Threads ask while functions are entered: what one is told is right. */
enum { THREADS = 4, FUNCTIONS = 400 };
static atomic_uint entered, answers;

static void *ask(void *context) {
  struct random random;
  random_seed(&random, (uint64_t)(uintptr_t)context, 0, 0);
  while (atomic_load(&entered) < FUNCTIONS || atomic_load(&answers) < 100) {
    unsigned number = (unsigned)below(&random, FUNCTIONS);
    char text[600], wanted[32];
    code_map_refresh(map, true);
    wn_place place = map->code.place(&map->code, 0x100001 + 64 * number);
    if (!place) continue;
    snprintf(wanted, sizeof wanted, "f%u", number);
    if (!strcmp(text_of(place, text, sizeof text), wanted))
      answers++;
    else
      abort();
  }
  return NULL;
}

static void threads_may_ask_at_once(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  atomic_store(&entered, 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask, (void *)(uintptr_t)i), 0);
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    char name[32];
    snprintf(name, sizeof name, "f%u", i);
    append_line(0x100000 + 64 * i, 64, name);
    atomic_store(&entered, i + 1);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  is_at(0x100000 + 64 * (FUNCTIONS - 1), "f399");
}

/* FULL. An old name might be wrong. */
static void too_many_functions_have_one_name(void **state) {
  (void)state;
  if (!TINY) skip();
  append_line(0x100000, 0x40, "first");
  is_at(0x100000, "first");
  FILE *out = fopen(map_path, "a");
  assert_non_null(out);
  for (unsigned i = 0; i < 1 << 15; i++) fprintf(out, "%x 10 f%u\n", 0x1000000 + 32 * i, i);
  fclose(out);
  const char *all = "(code of a runtime that made too many functions)";
  is_at(0x100000, all);
  is_at(0x1000000, all);
  append_line(0x100000, 0x40, "first");
  is_at(0x100000, all);
}

static void any_bytes_are_survived(void **state) {
  (void)state;
  struct random random;
  random_seed(&random, 11, 0, 0);
  for (int round = 0; round < 300; round++) {
    unsigned char bytes[200];
    uint64_t words[6];
    for (size_t i = 0; i < sizeof bytes; i++)
      bytes[i] = (unsigned char)(round % 2 ? below(&random, 256) : (uint64_t) "0 1af\nx"[below(&random, 7)]);
    write_file(round % 3 ? map_path : dump_path, O_APPEND, bytes, sizeof bytes);
    at(below(&random, 0x2000));
    begin_dump((uint32_t)getpid());
    for (int i = 0; i < 6; i++) words[i] = random_bits(&random) >> below(&random, 64);
    for (uint32_t kind = 0; kind < 4; kind++)
      append_record(kind, words[0], words, below(&random, 7), kind % 2 ? NULL : "f");
    at(below(&random, 0x2000));
  }
}

/* ---- names ---- */

static void name_is(const char *name, const char *function, const char *file, uint32_t line) {
  char text[256];
  snprintf(text, sizeof text, "%s", name);
  struct callstack_place place = code_name_place(text);
  assert_string_equal(place.function, function);
  assert_string_equal(place.file ? place.file : "", file);
  assert_int_equal(place.line, line);
}

static void names_are_taken_apart(void **state) {
  (void)state;
  name_is("JS:*serve /srv/app.js:12:7", "serve", "/srv/app.js", 12);
  name_is("JS:~serve /srv/my app.js:12:7", "serve", "/srv/my app.js", 12);
  name_is("JS:^get size file:///srv/a.mjs:1:20", "get size", "/srv/a.mjs", 1);
  name_is("LazyCompile:~read node:internal/fs:48:14", "read", "node:internal/fs", 48);
  name_is("JS:~ /srv/app.js:1:1", "<anonymous>", "/srv/app.js", 1);
  name_is("Eval:~ :1:1", "<anonymous>", "", 1);
  name_is("JS:~odd", "odd", "", 0);
  name_is("JS:~odd:1:2", "odd", "", 0);
  name_is("JS:", "", "", 0);
  name_is("Builtin:ArrayMap", "Builtin:ArrayMap", "", 0);
  name_is("int A.handle(int)", "A.handle(int)", "", 0);
  name_is("TRACE_12::lib/app.lua:7", "TRACE_12", "lib/app.lua", 7);
  name_is("TRACE_3::(string):1", "TRACE_3", "(string)", 1);
  name_is("TRACE_::x", "TRACE_::x", "", 0);
  name_is("java.lang.Object a.b.C.<init>(int, long)", "a.b.C.<init>(int, long)", "", 0);
  name_is("StubRoutines (1)", "StubRoutines (1)", "", 0);
  name_is("py::run:/srv/a.py", "py::run:/srv/a.py", "", 0);
  name_is("", "", "", 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(names_are_those_of_the_last_function_at_an_address),
      CASE(a_line_counts_when_it_is_whole),
      CASE(a_map_that_is_written_anew_is_read_anew),
      CASE(a_name_of_another_line_is_not_taken),
      CASE(a_child_has_its_parents_functions),
      CASE(a_long_line_is_passed_over),
      CASE(files_of_others_are_not_believed),
      CASE(a_late_name_is_told_once),
      CASE(a_name_that_cannot_be_read_is_told_later_and_once),
      CASE(any_number_of_addresses_have_names),
      CASE(functions_of_a_dump_have_names_and_move),
      CASE(a_record_counts_when_it_is_whole),
      CASE(a_late_name_is_that_of_the_time),
      CASE(functions_that_come_late_are_told),
      CASE(places_have_address_and_time),
      CASE(a_dump_of_another_process_is_left_alone),
      CASE(random_functions_are_found),
      CASE(threads_may_ask_at_once),
      CASE(too_many_functions_have_one_name),
      CASE(any_bytes_are_survived),
      cmocka_unit_test(names_are_taken_apart),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
