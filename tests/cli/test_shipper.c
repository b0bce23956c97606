/* Each batch is there once, whatever fails. The shipper is told of a made-up recording, and asks a
 * made-up server. All combinations of a few faults are tried, one after the other.
 *
 * A fault is one of these, at any request: it fails before or after the server has done it, or it fails
 * while it is on its way or being executed, so that its reply is lost; and after each of these the
 * shipper may have been killed. What is on its way is executed at a later moment, but has begun to be
 * when http_settle has returned. What is being executed ends at a later moment, well or not. */
#include "support/runs.h"
#include "support/test.h"

#include "base/array.h"
#include "cli/fleet/shipper.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 5000, WINDOWS = 2, RUN = 77, CHOICES_MOST = 200, PENDING_MOST = 16 };
static unsigned faults_most; /* in one run */

/* ---- choices: each run takes other ones than those before, until there are none ---- */

static struct {
  unsigned taken[CHOICES_MOST], of[CHOICES_MOST];
  size_t count, at;
} choices;

static unsigned choose(unsigned of) {
  assert_true(choices.at < CHOICES_MOST);
  if (choices.at == choices.count) {
    choices.taken[choices.count] = 0;
    choices.of[choices.count++] = of;
  }
  assert_int_equal(choices.of[choices.at], of); /* a run repeats what it did before */
  return choices.taken[choices.at++];
}

static bool next_run(void) {
  while (choices.count && choices.taken[choices.count - 1] + 1 == choices.of[choices.count - 1])
    choices.count--;
  if (!choices.count) return false;
  choices.taken[choices.count - 1]++;
  choices.at = 0;
  return true;
}

/* ---- the server ---- */

struct request {
  enum clickhouse_table table;
  unsigned window;
  bool is_executed; /* system.processes has it */
  int life;         /* of one that is pending: so many requests come before it ends */
};

static struct {
  unsigned rows[CLICKHOUSE_TABLES][WINDOWS]; /* how often the rows of a window were inserted */
  struct request pending[PENDING_MOST];
  size_t pending_count;
  unsigned faults;
  char answer[400];
} server;

static bool killed;

static void execute(const struct request *request) {
  server.rows[request->table][request->window]++;
  if (request->table == CLICKHOUSE_SAMPLES)
    assert_true(server.rows[CLICKHOUSE_SITES][request->window]); /* names before what they name */
  if (request->table == CLICKHOUSE_LOADS) assert_true(server.rows[CLICKHOUSE_SAMPLES][request->window]);
}

/* Faults are few, so that there is an end. */
static unsigned choose_fault(unsigned of) {
  unsigned fault = server.faults < faults_most ? choose(of + 1) : 0;
  server.faults += fault > 0;
  return fault;
}

/* Before each request some of those that are pending end, well or not. */
static void go_on(void) {
  size_t left = 0;
  for (size_t i = 0; i < server.pending_count; i++) {
    struct request request = server.pending[i];
    if (request.life-- > 0)
      server.pending[left++] = request;
    else if (choose(2))
      execute(&request);
  }
  server.pending_count = left;
}

enum fault { NONE, NOT_DONE, DONE, ON_ITS_WAY, EXECUTING, FAULTS };

static enum http_outcome fail_it(void) {
  killed = choose(2);
  return HTTP_AGAIN;
}

static enum http_outcome insert(struct request request) {
  enum fault fault = (enum fault)choose_fault(FAULTS - 1);
  if (fault == NONE || fault == DONE) execute(&request);
  if (fault == ON_ITS_WAY || fault == EXECUTING) {
    static const int lives[] = {0, 2, 4, 7};
    request.is_executed = fault == EXECUTING;
    request.life = lives[choose(sizeof lives / sizeof *lives)];
    assert_true(server.pending_count < PENDING_MOST);
    server.pending[server.pending_count++] = request;
  }
  return fault ? fail_it() : HTTP_DONE;
}

/* ---- in the place of http.c ---- */

enum http_outcome http_insert(struct http *http, const char *query, const char *query_id,
                              const struct http_block *block) {
  struct request request = {.table = CLICKHOUSE_TABLES};
  uint64_t window;
  char id[100];
  (void)http;
  memcpy(&window, block->bytes + HTTP_BLOCK_HEAD, sizeof window);
  assert_int_equal(block->size, HTTP_BLOCK_HEAD + sizeof window);
  request.window = (unsigned)(window - FIRST);
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) {
    snprintf(id, sizeof id, "winnow-%016x-%016" PRIx64 "-%s", RUN, window * 10,
             clickhouse_table_name((enum clickhouse_table)i));
    if (!strcmp(id, query_id)) request.table = (enum clickhouse_table)i;
  }
  assert_int_not_equal(request.table, CLICKHOUSE_TABLES);
  snprintf(id, sizeof id, "INSERT INTO %s (names) FORMAT RowBinary", clickhouse_table_name(request.table));
  assert_string_equal(query, id);
  go_on();
  return insert(request);
}

static void answer_batches(enum clickhouse_table table) {
  strcpy(server.answer, "batch\n");
  for (unsigned window = WINDOWS; window-- > 0;) /* in any order */
    if (server.rows[table][window])
      snprintf(server.answer + strlen(server.answer), 40, "%u\n", (FIRST + window) * 10);
}

enum http_outcome http_select(struct http *http, const char *query, const char **answer) {
  unsigned executing = 0;
  (void)http;
  go_on();
  for (size_t i = 0; i < server.pending_count; i++) executing += server.pending[i].is_executed;
  *answer = server.answer;
  if (strstr(query, "FROM loads WHERE host = '\\x27a' AND run = 77 "))
    answer_batches(CLICKHOUSE_LOADS);
  else if (strstr(query, "FROM samples PREWHERE time >= toDateTime(1500") &&
           strstr(query, " WHERE host = '\\x27a' AND run = 77 AND day >= toDate(17"))
    answer_batches(CLICKHOUSE_SAMPLES);
  else if (strstr(query, "FROM system.processes WHERE query_id LIKE 'winnow-000000000000004d-%'"))
    snprintf(server.answer, sizeof server.answer, "%u\n", executing);
  else
    fail_msg("%s", query);
  return choose_fault(1) ? fail_it() : HTTP_DONE;
}

/* LATE */
enum http_outcome http_settle(struct http *http) {
  (void)http;
  go_on();
  for (size_t i = 0; i < server.pending_count; i++) server.pending[i].is_executed = true;
  return choose_fault(1) ? fail_it() : HTTP_DONE;
}

const char *http_complaint(const struct http *http) { return (void)http, "a fault"; }

/* ---- in the place of clickhouse.c: a table has the number of the window as its only row ---- */

struct clickhouse {
  struct clickhouse_told *told;
};

uint64_t clickhouse_first(const struct clickhouse *clickhouse) { return (void)clickhouse, FIRST; }
uint64_t clickhouse_run(const struct clickhouse *clickhouse) { return (void)clickhouse, RUN; }
uint64_t clickhouse_batch(const struct clickhouse *clickhouse, uint64_t window) {
  return (void)clickhouse, window * 10;
}
void clickhouse_write_names(FILE *out, enum clickhouse_table table) { (void)table, fputs("names", out); }
const char *clickhouse_encoding_name(enum clickhouse_encoding encoding) {
  return encoding == CLICKHOUSE_BINARY ? "RowBinary" : "";
}
const char *clickhouse_table_name(enum clickhouse_table table) {
#define TABLE_NAME(TABLE, table) #table,
  static const char *const names[] = {CLICKHOUSE_TABLE_LIST(TABLE_NAME)};
  return names[table];
}

/* Told is which windows have had their names written: one bit each. */
wn_status clickhouse_window(struct clickhouse *clickhouse, uint64_t window,
                            FILE *const streams[CLICKHOUSE_TABLES], size_t *count) {
  size_t bit = (size_t)1 << (window - FIRST);
  bool is_told = clickhouse->told->count & bit;
  for (int i = 0; i < CLICKHOUSE_TABLES; i++)
    if (i >= CLICKHOUSE_SAMPLES || !is_told) fwrite(&window, sizeof window, 1, streams[i]);
  clickhouse->told->count |= bit;
  *count = 1;
  return WN_OK;
}
void clickhouse_forget(struct clickhouse_told *told) { told->count = 0; }

/* ---- the tests ---- */

static void ship_all(void) {
  struct shipper shipper = {.settled = false};
  struct shipper_run run = {.is_new = true};
  struct clickhouse clickhouse = {&shipper.told};
  uint64_t last = FIRST; /* the second window is over after the first try */
  memset(&server, 0, sizeof server);
  for (int tries = 0;; tries++) {
    assert_true(tries < 100);
    killed = false;
    enum http_outcome outcome = shipper_ship(&shipper, &run, &clickhouse, "'a", last);
    if (!outcome && last == FIRST + WINDOWS - 1) break;
    last = FIRST + WINDOWS - 1;
    if (!killed) continue;
    shipper_destroy(&shipper);
    shipper_run_destroy(&run);
    memset(&shipper, 0, sizeof shipper);
  }
  for (int window = 0; window < WINDOWS; window++) {
    assert_int_equal(server.rows[CLICKHOUSE_SAMPLES][window], 1);
    assert_int_equal(server.rows[CLICKHOUSE_LOADS][window], 1);
  }
  while (server.pending_count) go_on(); /* only names may still come */
  for (int window = 0; window < WINDOWS; window++) {
    assert_int_equal(server.rows[CLICKHOUSE_SAMPLES][window], 1);
    assert_int_equal(server.rows[CLICKHOUSE_LOADS][window], 1);
  }
  shipper_destroy(&shipper);
  shipper_run_destroy(&run);
}

static void each_batch_is_there_once_whatever_fails(void **state) {
  (void)state;
  size_t runs = 0;
  faults_most = (unsigned)runs_of(2);
  do ship_all(), runs++;
  while (next_run());
  print_message("%zu runs\n", runs);
  assert_true(runs > (faults_most > 1 ? 10000 : 100));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_batch_is_there_once_whatever_fails)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
