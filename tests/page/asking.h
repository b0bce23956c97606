/* Asks answers, reads what they answer, and makes random queries. */
#ifndef TESTS_PAGE_ASKING_H
#define TESTS_PAGE_ASKING_H

#include "page/answers.h"
#include "page/tales.h"
#include <math.h>
#include <string.h>

/* ---- reading an answer ---- */

struct told {
  char *bytes, *json;
  size_t size;
};

static inline struct told ask(struct answers *answers, const char *request) {
  struct told told;
  assert_int_equal(answers_ask(answers, request, strlen(request), &told.bytes, &told.size), WN_OK);
  uint32_t length = (uint32_t)(told.bytes[0] & 0xff) | (uint32_t)(told.bytes[1] & 0xff) << 8 |
                    (uint32_t)(told.bytes[2] & 0xff) << 16 | (uint32_t)(told.bytes[3] & 0xff) << 24;
  assert_true(8 + length <= told.size);
  told.json = strndup(told.bytes + 8, length);
  return told;
}

static inline void drop(struct told *told) {
  free(told->bytes);
  free(told->json);
}

/* A column of an answer, found by its name in the member `columns`. */
static inline const void *column(const struct told *told, const char *name, size_t *count) {
  char quoted[64];
  unsigned long at, length;
  snprintf(quoted, sizeof quoted, "\"%s\": {", name);
  const char *columns = strstr(told->json, "\"columns\": {"),
             *found = columns ? strstr(columns, quoted) : NULL;
  if (!found) fail_msg("no column %s in %.400s", name, told->json);
  assert_int_equal(sscanf(strstr(found, "\"at\":"), "\"at\": %lu, \"count\": %lu", &at, &length), 2);
  *count = length;
  return told->bytes + 8 + (strlen(told->json) + 7) / 8 * 8 + at;
}

static inline bool is_failure(const struct told *told, const char *said) {
  return strstr(told->json, "\"error\": ") && strstr(told->json, said);
}

/* ---- random questions ---- */

static inline const char *pick(struct tale *tale, const char *const *words, size_t count) {
  return words[tale_draw(tale, count)];
}
#define PICK(tale, ...) \
  pick(tale, (const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))

static inline void random_query(struct tale *tale, char *text, size_t size) {
  *text = 0;
  for (uint64_t terms = tale_draw(tale, 4); terms; terms--)
    snprintf(text + strlen(text), size - strlen(text), "%s%s%s", *text ? " and " : "",
             tale_draw(tale, 5) ? "" : "not ",
             PICK(tale, "fn = parse", "fn ~ alloc", "size > 100", "size <= 1K", "life > 1us", "born > 300ns",
                  "alive = yes", "thread = 1", "module ~ story", "live = 2us", "promoted = yes"));
  if (!tale_draw(tale, 3))
    snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? " and " : "",
             PICK(tale, "hide = parse", "from = parse", "hide ~ std", "from ~ . and hide = main"));
  if (tale_draw(tale, 2))
    snprintf(text + strlen(text), size - strlen(text), "%sat = %s", *text ? " and " : "",
             PICK(tale, "end", "peak", "500ns", "1us"));
}

static inline bool nearly(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-6; }

static inline struct recording *tell(unsigned kind, uint64_t seed) {
  struct recording *recording = tale_tell(kind, seed, 3000);
  assert_non_null(recording);
  return recording;
}

#endif
/* SPDX-License-Identifier: MIT */
