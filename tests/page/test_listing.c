/* Source lines of a recording: which files are read, which lines of them are taken, that they go
 * through a container unchanged, and that no answer has others. */
#include "support/test.h"

#include "base/words.h"
#include "packed.h"
#include "page/answers.h"
#include "support/tree_source.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each node of the stacks, from 1 on: its caller, and its place in a language's program. */
struct scene {
  uint32_t caller;
  const char *function, *file;
  uint32_t line;
};

static const struct scene *scenes;

static void scene_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = scenes[node].caller;
  *module = 1;
  *offset = node;
}

static void scene_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  (void)module;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE,
                               .bias = TRACE_LANGUAGE_BASE,
                               .size = 1 << 20,
                               .path = trace_text_of("[scene]")};
}

static bool scene_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context;
  (void)module;
  *out = (struct trace_place){.function = trace_text_of(scenes[offset].function),
                              .file = trace_text_of(scenes[offset].file),
                              .line = scenes[offset].line};
  return true;
}

enum { RECORDED = 1700000000 }; /* seconds since 1970 */

static char folder[64];

/* A recording of a block of 1000 bytes on each node, and its listing from files below the folder. */
static struct recording *record(const struct scene *given, uint32_t nodes) {
  static struct tree_source source = {.node = scene_node, .module = scene_module, .place = scene_place};
  char path[128];
  const char *search[] = {folder, NULL};
  scenes = given;
  snprintf(path, sizeof path, "%s/t.trace", folder);
  struct trace_run run = {.command = trace_text_of("scene"),
                          .rate = 1,
                          .word_bytes = 8,
                          .stack_depth = 100,
                          .wall_ns = RECORDED * 1000000000ull};
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&(struct trace_options){.path = path}, &run, &source, &writer), WN_OK);
  for (uint32_t node = 1; node <= nodes; node++) {
    struct trace_sample sample = {.time_ns = node, .thread = 1, .block = node, .size = 1000, .stack = node};
    sample.words = malloc_words(1000);
    sample.n_samples = 1;
    assert_true(tree_write_sample(writer, &sample));
  }
  trace_writer_close(writer);
  struct recording *recording = NULL;
  struct recording_options options = {.names = {.search = search}, .lines = true};
  assert_int_equal(recording_load(path, &options, &recording), WN_OK);
  return recording;
}

/* Writes lines "line 1 of it" and so on to a file below the folder, as if so many seconds after the
 * recording began. */
static void write_lines(const char *name, uint32_t lines, int seconds) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "we");
  assert_non_null(out);
  for (uint32_t line = 1; line <= lines; line++) fprintf(out, "\tline %u of <b>it</b>\r\n", line);
  fclose(out);
  struct timespec times[2] = {{.tv_sec = RECORDED + seconds}, {.tv_sec = RECORDED + seconds}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The JSON of the answer about a function; the caller frees it. */
static char *source_of(const struct recording *recording, const char *by, const char *of) {
  struct answers answers;
  char request[256], *bytes;
  size_t size;
  answers_create(&answers, recording, NULL);
  snprintf(request, sizeof request, "view=source\nmeasure=allocated\nby=%s\nof=%s\n", by, of);
  assert_int_equal(answers_ask(&answers, request, strlen(request), &bytes, &size), WN_OK);
  answers_destroy(&answers);
  uint32_t length;
  memcpy(&length, bytes, sizeof length);
  char *json = strndup(bytes + 8, length);
  free(bytes);
  return json;
}

static void assert_says(const struct recording *recording, const char *by, const char *of,
                        const char *expected) {
  char *json = source_of(recording, by, of);
  if (!strstr(json, expected)) fail_msg("%s: no '%s' in %s", of, expected, json);
  free(json);
}

static void assert_same(const struct listing *one, const struct listing *other) {
  assert_true(one->given && other->given);
  assert_int_equal(one->file_count, other->file_count);
  assert_int_equal(one->excerpt_count, other->excerpt_count);
  for (size_t i = 0; i < one->excerpt_count; i++) {
    assert_int_equal(one->excerpts[i].first, other->excerpts[i].first);
    assert_int_equal(one->excerpts[i].count, other->excerpts[i].count);
    assert_string_equal(one->excerpts[i].text, other->excerpts[i].text);
  }
}

static void lines_around_places_are_there_and_go_through_a_container(void **state) {
  (void)state;
  static const struct scene nodes[] = {{0, NULL, NULL, 0},
                                       {0, "main", "a.x", 50},
                                       {1, "parse", "a.x", 3},
                                       {2, "grow", "b/deep.x", 20},
                                       {1, "grow", "b/deep.x", 24}};
  write_lines("a.x", 100, -10);
  write_lines("deep.x", 22, -10);
  struct recording *recording = record(nodes, 3);
  const struct listing *listing = &recording->listing;
  assert_int_equal(listing->excerpt_count, 3);
  uint32_t a = listing->files[listing->excerpts[0].file].file;
  const struct excerpt *excerpt = listing_excerpt(listing, a, 55);
  assert_non_null(excerpt);
  assert_true(excerpt->first == 45 && excerpt->count == 11);
  assert_int_equal(strncmp(excerpt_line(excerpt, 50), "\tline 50 of <b>it</b>\n", 22), 0);
  assert_null(listing_excerpt(listing, a, 44));
  assert_true(listing_excerpt(listing, a, 1)->count == 8); /* lines 1 to 8 */
  assert_says(recording, "function", "main", "\"state\": \"there\"");
  assert_says(recording, "function", "main", "\"first\": 45");
  assert_says(recording, "line", "parse (a.x:3)", "\"\\u0009line 8 of <b>it</b>\"],");
  struct packed packed = pack(recording, 0);
  struct recording *read = unpack(&packed);
  assert_same(listing, &read->listing);
  for (uint32_t node = 1; node <= 3; node++) {
    char *before = source_of(recording, "function", nodes[node].function),
         *after = source_of(read, "function", nodes[node].function);
    assert_string_equal(before, after);
    free(before);
    free(after);
  }
  recording_free(recording);
  recording_free(read);
  packed_free(&packed);
}

static void files_that_changed_or_are_not_there_are_said(void **state) {
  (void)state;
  static const struct scene nodes[] = {
      {0, NULL, NULL, 0},           {0, "old", "old.x", 2},   {0, "fresh", "fresh.x", 2},
      {0, "short", "short.x", 9},   {0, "gone", "gone.x", 2}, {0, "binary", "binary.x", 2},
      {0, "folder", "folder.x", 1}, {0, "pipe", "pipe.x", 1}, {0, "empty", "empty.x", 1}};
  char path[128];
  write_lines("old.x", 5, -1);
  write_lines("fresh.x", 5, 1);
  write_lines("short.x", 5, -1);
  write_lines("empty.x", 0, -1);
  snprintf(path, sizeof path, "%s/binary.x", folder);
  FILE *out = fopen(path, "we");
  fwrite("a\n\0b\n", 1, 5, out);
  fclose(out);
  snprintf(path, sizeof path, "%s/folder.x", folder);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/pipe.x", folder);
  mkfifo(path, 0600);
  struct recording *recording = record(nodes, 8);
  static const char *const expected[] = {NULL,    "there", "changed", "changed", "absent",
                                         "unfit", "unfit", "unfit",   "changed"};
  for (uint32_t node = 1; node <= 8; node++) {
    char said[64];
    snprintf(said, sizeof said, "\"state\": \"%s\"", expected[node]);
    assert_says(recording, "function", nodes[node].function, said);
  }
  recording_free(recording);
}

static void a_trace_cannot_name_what_is_no_source(void **state) {
  (void)state;
  static const struct scene nodes[] = {{0, NULL, NULL, 0},         {0, "passwords", "/etc/passwd", 1},
                                       {0, "key", ".ssh/id.x", 1}, {0, "hidden", "a/.netrc", 1},
                                       {0, "above", "../up.x", 1}, {0, "within", "a/../up.x", 1}};
  write_lines("up.x", 5, -1);
  struct recording *recording = record(nodes, 5);
  assert_int_equal(recording->listing.excerpt_count, 0);
  for (uint32_t node = 1; node <= 5; node++)
    assert_says(recording, "function", nodes[node].function, "\"state\": \"unfit\"");
  recording_free(recording);
}

static void lines_and_all_of_them_together_are_bounded(void **state) {
  (void)state;
  enum { FUNCTIONS = 3000 };
  static struct scene nodes[FUNCTIONS + 1];
  static char names[FUNCTIONS][16];
  char path[128];
  snprintf(path, sizeof path, "%s/long.x", folder);
  FILE *out = fopen(path, "we");
  for (int line = 0; line < 12 * FUNCTIONS; line++)
    fprintf(out, "%.*s\n", 99, "ééééééééééééééééééééééééééééééééééééééééééééééééééé");
  for (int i = 0; i < 2000; i++) fputs("é", out);
  fclose(out);
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    snprintf(names[i], sizeof names[i], "f%u", i);
    nodes[i + 1] = (struct scene){0, names[i], "long.x", i ? 12 * i : 12 * FUNCTIONS + 1};
  }
  struct recording *recording = record(nodes, FUNCTIONS);
  size_t bytes = 0;
  for (size_t i = 0; i < recording->listing.excerpt_count; i++)
    bytes += strlen(recording->listing.excerpts[i].text);
  assert_true(bytes > 400000 && bytes < 550000);
  recording_free(recording);
}

static void sections_that_are_not_whole_are_refused(void **state) {
  (void)state;
  static const struct scene nodes[] = {{0, NULL, NULL, 0}, {0, "main", "a.x", 5}};
  /* A file with the string 1; an excerpt of it: 2 lines from 1 on. */
  static const unsigned char whole[] = {1, 2, 0, 1, 0, 2, 2, 5, 'a', '\n', 'b', '\n'};
  static const struct {
    size_t at;
    unsigned char byte;
  } faults[] = {{1, 100}, {2, 9}, {4, 2}, {5, 0}, {6, 3}, {7, 4}, {8, '\n'}, {11, 'c'}};
  write_lines("a.x", 9, -1);
  struct recording *recording = record(nodes, 1), *read;
  struct packed packed = pack(recording, 0);
  struct container_section *lines = NULL;
  for (size_t i = 0; i < packed.count; i++)
    if (!memcmp(packed.sections[i].name, "SRCS", 4)) lines = &packed.sections[i];
  assert_non_null(lines);
  for (size_t i = 0; i <= sizeof faults / sizeof *faults; i++) {
    unsigned char bytes[sizeof whole];
    memcpy(bytes, whole, sizeof whole);
    if (i) bytes[faults[i - 1].at] = faults[i - 1].byte;
    *lines = (struct container_section){.name = "SRCS", .bytes = bytes, .length = sizeof bytes};
    wn_status error = container_read(packed.sections, packed.count, &read);
    if (!error) recording_free(read);
    if (error != (i ? WN_EINVAL : WN_OK)) fail_msg("fault %zu: %d", i, error);
    if (i) assert_non_null(strstr(wn_last_error(), "section SRCS"));
  }
  recording_free(recording);
  packed_free(&packed);
}

static int begin(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "listing_XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(lines_around_places_are_there_and_go_through_a_container),
      TEST(files_that_changed_or_are_not_there_are_said), TEST(a_trace_cannot_name_what_is_no_source),
      TEST(lines_and_all_of_them_together_are_bounded), TEST(sections_that_are_not_whole_are_refused)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
