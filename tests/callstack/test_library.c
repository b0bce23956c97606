/* A large library of the distribution, built without frame pointers: each of its allocations is
 * captured on the way and compared, frame by frame, with the compiler's own unwinder. */
#include "support/test.h"

#include "callstack/capture.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <unwind.h>

enum { FRAMES = 256 };

static struct callstacks *callstacks;
static sqlite3_mem_methods standard;
static unsigned long compared, differing;

struct trace {
  uintptr_t pc[FRAMES];
  size_t count;
};

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *argument) {
  struct trace *trace = argument;
  if (trace->count < FRAMES) trace->pc[trace->count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

static __attribute__((noinline)) void compare_here(void) {
  struct trace expected = {.count = 0};
  const wn_callstack *stack = callstack_keep(callstack_capture(callstacks, FRAMES));
  _Unwind_Backtrace(note, &expected);
  size_t depth = wn_callstack_depth(stack);
  bool same = depth + 1 >= expected.count && depth <= expected.count;
  for (size_t i = 1; i < depth && same; i++) same = wn_callstack_frame(stack, i).pc == expected.pc[i];
  compared++;
  differing += !same;
}

static void *allocate(int bytes) {
  compare_here();
  return standard.xMalloc(bytes);
}
static void *reallocate(void *block, int bytes) {
  compare_here();
  return standard.xRealloc(block, bytes);
}

static void every_allocation_of_a_database_is_unwound_right(void **state) {
  (void)state;
  sqlite3 *database;
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &standard);
  sqlite3_mem_methods ours = standard;
  ours.xMalloc = allocate;
  ours.xRealloc = reallocate;
  assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
  assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
  sqlite3_db_config(database, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
  const char *const statements =
      "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL); CREATE INDEX i ON t(b);"
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300)"
      " INSERT INTO t SELECT x, hex(randomblob(20)), x * 1.5 FROM n;"
      "SELECT count(*), group_concat(b), json_array(a, b) FROM t WHERE b LIKE '%A%' GROUP BY a % 7 ORDER BY "
      "c;"
      "SELECT printf('%d %s %f', a, b, c) FROM t UNION SELECT b FROM t ORDER BY 1; VACUUM; ANALYZE;"
      "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f SELECT b FROM t; SELECT * FROM f WHERE f MATCH "
      "'A* OR B*';"
      "CREATE VIEW v AS SELECT a, row_number() OVER (PARTITION BY a % 3 ORDER BY b) FROM t; SELECT * FROM v;";
  sqlite3_exec(database, statements, NULL, NULL, NULL);
  sqlite3_close(database);
  assert_true(compared > 1000);
  assert_int_equal(differing, 0);
  assert_int_equal(callstacks_counts(callstacks).truncated, 0);
}

int main(void) {
  callstacks = callstacks_create(&(struct callstacks_options){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_of_a_database_is_unwound_right)};
  int failed = RUN_TESTS(tests);
  print_message("%lu captures compared, %u code addresses\n", compared, callstacks_counts(callstacks).frames);
  callstacks_destroy(callstacks);
  return failed;
}
/* SPDX-License-Identifier: MIT */
