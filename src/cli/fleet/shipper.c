/* Asks what the server has, and inserts the rest. */
#include "cli/fleet/shipper.h"

#include "base/array.h"
#include "base/os.h"
#include <ctype.h>
#include <inttypes.h>

#define WINDOWS_A_DAY (86400 / WINDOW_SECONDS)

/* A run on its way. */
struct shipping {
  struct shipper *shipper;
  struct shipper_run *run;
  struct clickhouse *clickhouse;
  const char *host;
  uint64_t first, last; /* the windows that are due */
};

static enum http_outcome shipper_complain(struct shipper *shipper, enum http_outcome outcome,
                                          const char *text) {
  shipper->complaint = text;
  return outcome;
}

static enum http_outcome told_by(struct shipper *shipper, enum http_outcome outcome) {
  return outcome ? shipper_complain(shipper, outcome, http_complaint(shipper->http)) : HTTP_DONE;
}

static enum http_outcome lack_memory(struct shipper *shipper) {
  return shipper_complain(shipper, HTTP_AGAIN, "not enough memory");
}

/* ---- batches ---- */

static int shipper_compare(const void *one, const void *other) {
  const uint64_t *a = one, *b = other;
  return *a < *b ? -1 : *a > *b;
}

static bool shipper_has(const struct shipper_batches *batches, uint64_t batch) {
  size_t place = array_place(batches->items, batches->count, batch);
  return place < batches->count && batches->items[place] == batch;
}

/* Reads a column of numbers under its name. Something that is no such answer says nothing about what
 * the server has. */
static enum http_outcome read_batches(struct shipper *shipper, const char *answer,
                                      struct shipper_batches *batches) {
  static const char name[] = "batch\n";
  const char *at = answer + sizeof name - 1;
  bool good = !strncmp(answer, name, sizeof name - 1);
  batches->count = 0;
  while (good && *at) {
    char *end;
    uint64_t batch = strtoull(at, &end, 10);
    good = isdigit((unsigned char)*at) && *end == '\n';
    if (good && !ARRAY_ADD(batches->items, batches->count, batches->capacity, batch))
      return lack_memory(shipper);
    at = end + 1;
  }
  if (!good) return shipper_complain(shipper, HTTP_AGAIN, "its answer is not one of ClickHouse");
  array_sort(batches->items, batches->count, sizeof *batches->items, shipper_compare);
  return HTTP_DONE;
}

/* ---- asking ---- */

/* Asks the query that a stream was written to. */
static enum http_outcome shipper_ask(struct shipper *shipper, FILE *out, char **query, const char **answer) {
  bool written = out && !fclose(out);
  enum http_outcome outcome =
      written ? told_by(shipper, http_select(shipper->http, *query, answer)) : lack_memory(shipper);
  free(*query);
  return outcome;
}

static enum http_outcome ask_batches(const struct shipping *shipping, enum clickhouse_table table,
                                     struct shipper_batches *batches) {
  const char *answer;
  char *query = NULL;
  size_t size;
  FILE *out = open_memstream(&query, &size);
  if (out) {
    fprintf(out, "SELECT DISTINCT batch FROM %s", clickhouse_table_name(table));
    if (table == CLICKHOUSE_SAMPLES) /* the server reads other columns only where the times are met */
      fprintf(out, " PREWHERE time >= toDateTime(%" PRIu64 ") AND time <= toDateTime(%" PRIu64 ")",
              shipping->first * WINDOW_SECONDS, shipping->last * WINDOW_SECONDS);
    fputs(" WHERE host = ", out);
    http_write_text(out, shipping->host);
    fprintf(out, " AND run = %" PRIu64, clickhouse_run(shipping->clickhouse));
    if (table == CLICKHOUSE_SAMPLES)
      fprintf(out, " AND day >= toDate(%" PRIu64 ") AND day <= toDate(%" PRIu64 ")",
              shipping->first / WINDOWS_A_DAY, shipping->last / WINDOWS_A_DAY);
    fputs(" FORMAT TabSeparatedWithNames", out);
  }
  enum http_outcome outcome = shipper_ask(shipping->shipper, out, &query, &answer);
  return outcome ? outcome : read_batches(shipping->shipper, answer, batches);
}

/* Step 1b. */
static enum http_outcome ask_processes(const struct shipping *shipping) {
  const char *answer;
  char *query = NULL;
  size_t size;
  FILE *out = open_memstream(&query, &size);
  if (out)
    fprintf(out, "SELECT count() FROM system.processes WHERE query_id LIKE 'winnow-%016" PRIx64 "-%%'",
            clickhouse_run(shipping->clickhouse));
  enum http_outcome outcome = shipper_ask(shipping->shipper, out, &query, &answer);
  if (outcome || !strcmp(answer, "0\n")) return outcome;
  return shipper_complain(shipping->shipper, HTTP_AGAIN, "it still executes an earlier insertion");
}

/* Leaves out what is loaded at the begin and the end of what is due. */
static void shipper_shrink(struct shipping *shipping) {
  const struct shipper_batches *loaded = &shipping->run->loaded;
  while (shipping->first <= shipping->last &&
         shipper_has(loaded, clickhouse_batch(shipping->clickhouse, shipping->first)))
    shipping->first++;
  while (shipping->first < shipping->last &&
         shipper_has(loaded, clickhouse_batch(shipping->clickhouse, shipping->last)))
    shipping->last--;
}

/* Step 1. */
static enum http_outcome learn(struct shipping *shipping) {
  struct shipper *shipper = shipping->shipper;
  struct shipper_run *run = shipping->run;
  run->loaded.count = run->sent.count = 0;
  if (run->is_new) return HTTP_DONE;
  enum http_outcome outcome = ask_batches(shipping, CLICKHOUSE_LOADS, &run->loaded);
  if (outcome) return outcome;
  shipper_shrink(shipping);
  if (shipping->first > shipping->last) return HTTP_DONE;
  if (!shipper->settled && (outcome = told_by(shipper, http_settle(shipper->http)))) return outcome;
  shipper->settled = true;
  outcome = ask_processes(shipping);
  if (!outcome) outcome = ask_batches(shipping, CLICKHOUSE_LOADS, &run->loaded);
  if (!outcome) outcome = ask_batches(shipping, CLICKHOUSE_SAMPLES, &run->sent);
  return outcome;
}

/* ---- inserting ---- */

static enum http_outcome shipper_insert(const struct shipping *shipping, enum clickhouse_table table,
                                        uint64_t batch, const struct http_block *block) {
  struct shipper *shipper = shipping->shipper;
  char id[96], *query = NULL;
  size_t size;
  FILE *out = open_memstream(&query, &size);
  snprintf(id, sizeof id, "winnow-%016" PRIx64 "-%016" PRIx64 "-%s", clickhouse_run(shipping->clickhouse),
           batch, clickhouse_table_name(table));
  if (out) {
    fprintf(out, "INSERT INTO %s (", clickhouse_table_name(table));
    clickhouse_write_names(out, table);
    fprintf(out, ") FORMAT %s", clickhouse_encoding_name(CLICKHOUSE_BINARY));
  }
  bool written = out && !fclose(out);
  enum http_outcome outcome =
      written ? told_by(shipper, http_insert(shipper->http, query, id, block)) : lack_memory(shipper);
  free(query);
  return outcome;
}

static void free_blocks(struct http_block blocks[CLICKHOUSE_TABLES]) {
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) free(blocks[i].bytes);
}

/* Writes the blocks of a window. False without memory. */
static bool shipper_write_blocks(struct clickhouse *clickhouse, uint64_t window,
                                 struct http_block blocks[CLICKHOUSE_TABLES], size_t *rows) {
  static const char head[HTTP_BLOCK_HEAD];
  FILE *streams[CLICKHOUSE_TABLES];
  bool good = true;
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) {
    streams[i] = open_memstream(&blocks[i].bytes, &blocks[i].size);
    good = good && streams[i] && fwrite(head, sizeof head, 1, streams[i]) == 1;
  }
  good = good && !clickhouse_window(clickhouse, window, streams, rows);
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) {
    bool failed = streams[i] && ferror(streams[i]);
    if (streams[i] && (fclose(streams[i]) || failed)) good = false;
  }
  return good;
}

/* Steps 2 and 3. */
static enum http_outcome insert_blocks(const struct shipping *shipping, uint64_t batch,
                                       const struct http_block blocks[CLICKHOUSE_TABLES]) {
  bool sent = shipper_has(&shipping->run->sent, batch);
  enum http_outcome outcome = HTTP_DONE;
  for (enum clickhouse_table table = 0; table < CLICKHOUSE_TABLES && !outcome; table++) {
    if (blocks[table].size <= HTTP_BLOCK_HEAD || (table == CLICKHOUSE_SAMPLES && sent)) continue;
    if (blocks[table].size > INT32_MAX)
      return shipper_complain(shipping->shipper, HTTP_WRONG, "a window has too many rows");
    outcome = shipper_insert(shipping, table, batch, &blocks[table]);
  }
  return outcome;
}

static enum http_outcome ship_window(const struct shipping *shipping, uint64_t window, uint64_t batch) {
  struct http_block blocks[CLICKHOUSE_TABLES] = {{NULL, 0}};
  struct shipper *shipper = shipping->shipper;
  size_t rows = 0;
  enum http_outcome outcome = shipper_write_blocks(shipping->clickhouse, window, blocks, &rows)
                                  ? insert_blocks(shipping, batch, blocks)
                                  : lack_memory(shipper);
  free_blocks(blocks);
  if (outcome) return outcome;
  shipper->windows++;
  shipper->rows += rows;
  return HTTP_DONE;
}

static enum http_outcome ship_windows(struct shipping *shipping) {
  struct shipper_run *run = shipping->run;
  for (uint64_t window = shipping->first; window <= shipping->last; window++) {
    uint64_t batch = clickhouse_batch(shipping->clickhouse, window);
    enum http_outcome outcome =
        shipper_has(&run->loaded, batch) ? HTTP_DONE : ship_window(shipping, window, batch);
    if (outcome) return outcome;
    run->next = window + 1;
  }
  return HTTP_DONE;
}

/* Names have the day on which they were last seen. */
static void forget_names_of_yesterday(struct shipper *shipper) {
  uint64_t day = os_wall_ns() / (86400 * UINT64_C(1000000000));
  if (day != shipper->told_day) clickhouse_forget(&shipper->told);
  shipper->told_day = day;
}

/* ---- shared ---- */

void shipper_destroy(struct shipper *shipper) { clickhouse_forget(&shipper->told); }

void shipper_run_destroy(struct shipper_run *run) {
  free(run->loaded.items);
  free(run->sent.items);
  *run = (struct shipper_run){.known = false};
}

enum http_outcome shipper_ship(struct shipper *shipper, struct shipper_run *run,
                               struct clickhouse *clickhouse, const char *host, uint64_t last) {
  uint64_t first = clickhouse_first(clickhouse);
  struct shipping shipping = {shipper, run, clickhouse, host, first > run->next ? first : run->next, last};
  if (shipping.first > last) return HTTP_DONE;
  forget_names_of_yesterday(shipper);
  enum http_outcome outcome = run->known ? HTTP_DONE : learn(&shipping);
  if (!outcome) run->known = true;
  if (!outcome) outcome = ship_windows(&shipping);
  if (!outcome) {
    run->next = last + 1;
    return HTTP_DONE;
  }
  run->known = run->is_new = shipper->settled = false;
  clickhouse_forget(&shipper->told);
  return outcome;
}
/* SPDX-License-Identifier: MIT */
