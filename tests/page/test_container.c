/* A recording that went through a container answers every question as it did before; and no bytes
 * harm the reader. */
#include "support/runs.h"
#include "tales.h"

#include "analysis/compare/pair.h"
#include "analysis/load/memory_limit.h"
#include "analysis/load/reduce.h"
#include "analysis/python_story.h"
#include "export/report_json.h"
#include "packed.h"
#include "sources/processes.h"

/* ---- equal recordings ---- */

static void assert_same_rows(const struct samples *one, const struct samples *other) {
  assert_int_equal(one->row_count, other->row_count);
  for (size_t i = 0; i < one->row_count; i++) {
    const struct row *a = &one->rows[i], *b = &other->rows[i];
    assert_true(a->block == b->block && a->begin_ns == b->begin_ns && a->end_ns == b->end_ns);
    assert_true(a->born_ns == b->born_ns && a->died_ns == b->died_ns && a->size == b->size);
    assert_true(a->call == b->call && a->words == b->words);
    assert_memory_equal(&a->probability, &b->probability, sizeof a->probability);
    assert_int_equal(a->grown != 0, b->grown != 0);
    if (a->grown)
      assert_memory_equal(grown_at(&one->grown, a->grown), grown_at(&other->grown, b->grown),
                          sizeof(struct grown));
    assert_memory_equal(&one->life_words[i], &other->life_words[i], sizeof *one->life_words);
    assert_true(a->thread == b->thread && a->promoted_ns == b->promoted_ns && a->source == b->source);
    assert_true(a->area == b->area && a->next_cycle == b->next_cycle);
    assert_true(a->first == b->first && a->last == b->last);
    assert_int_equal(one->types != NULL, other->types != NULL);
    if (one->types)
      assert_string_equal(strings_text(one->types, samples_type(one, a)),
                          strings_text(other->types, samples_type(other, b)));
  }
}

/* The JSON of a report; the caller frees it. */
static char *json_of(const struct recording *recording, const struct question *question,
                     enum grouping grouping) {
  struct report report;
  char *text = NULL;
  size_t size;
  assert_int_equal(report_ask(recording, question, &report), WN_OK);
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  struct report_json_options options = {
      .grouping = grouping, .top = 50, .at = "somewhen", .where = question->where};
  assert_int_equal(report_write_json(out, &report, &options), WN_OK);
  fclose(out);
  report_destroy(&report);
  return text;
}

static void assert_same_answer(const struct recording *one, const struct recording *other,
                               const struct question *question, enum grouping grouping) {
  char *left = json_of(one, question, grouping), *right = json_of(other, question, grouping);
  assert_string_equal(left, right);
  free(left);
  free(right);
}

static void assert_same_answers(const struct recording *one, const struct recording *other) {
  static const char *const queries[] = {NULL,
                                        "fn ~ parse or file = one.x",
                                        "size >= 100 and not life < 10us",
                                        "thread = worker and born > 1ms",
                                        "alive = no and life_bytes < 1M",
                                        "hide ~ alloc and from = parse",
                                        "module ~ story and (promoted = yes or size > 1k)"};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    struct question question = {.where = queries[i], .at = i % 2 ? AT_END : AT_PEAK};
    assert_same_answer(one, other, &question, (enum grouping)(i % GROUPINGS));
    question.at = AT_TIME;
    question.at_ns = one->samples->end_ns / (i + 1);
    assert_same_answer(one, other, &question, (enum grouping)((i + 2) % GROUPINGS));
  }
  struct question of_type = {.where = "type = parse or type ~ lost"};
  if (one->samples->types) assert_same_answer(one, other, &of_type, BY_TYPE);
}

static void check_tale(unsigned kind, uint64_t seed, uint64_t blocks) {
  struct recording *recording = tale_tell(kind, seed, blocks);
  if (!recording) return;
  struct packed packed = pack(recording, 0);
  struct recording *read = unpack(&packed);
  assert_same_rows(recording->samples, read->samples);
  assert_same_answers(recording, read);
  recording_free(recording);
  recording_free(read);
  packed_free(&packed);
}

static void every_kind_of_recording_answers_as_before(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < TALES; kind += 1 + kind % 3) check_tale(kind, kind, 300);
}

static void an_empty_recording_can_be_stored(void **state) {
  (void)state;
  check_tale(TALE_EMPTY, 1, 0);
  check_tale(TALE_EMPTY | TALE_COLLECTED | TALE_KILLED, 1, 0);
}

static void a_large_recording_needs_several_blocks(void **state) {
  (void)state;
  check_tale(TALE_RESIZES, 3, 30000);
}

static void a_thinned_recording_can_be_stored(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 8; kind++) {
    struct recording *recording = tale_tell(kind, 5, 300);
    assert_int_equal(recording_thin(recording, 0.3, 7), WN_OK);
    struct packed packed = pack(recording, 0);
    struct recording *read = unpack(&packed);
    assert_true(read->kept == recording->kept && read->kept < 1 && read->rate == recording->rate);
    assert_same_rows(recording->samples, read->samples);
    assert_same_answers(recording, read);
    recording_free(recording);
    recording_free(read);
    packed_free(&packed);
  }
}

/* ---- builds ---- */

static void module_of_build(void *context, uint32_t module, struct trace_module *out) {
  story_module(context, module, out);
  out->build_id_bytes = 20;
  memset(out->build_id, (int)story_repeat, out->build_id_bytes);
}

/* Opens a trace of a file without symbols, of a build. */
static struct trace_writer *open_build(uint32_t build) {
  struct tree_source source = {.context = &story_repeat, .node = story_node, .module = module_of_build};
  struct trace_options options = {.path = story_path()};
  struct trace_run run = {.command = trace_text_of("story"), .rate = 0.01, .word_bytes = 8, .stack_depth = 9};
  struct trace_writer *writer;
  story_repeat = build; /* also the number of functions */
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  return writer;
}

/* Six functions allocate. */
static struct recording *record_build(uint32_t build) {
  struct trace_writer *writer = open_build(build);
  struct recording *recording;
  for (uint64_t i = 1; i <= 60; i++) story_alloc(writer, i, i * 1000, 64, 1 + (uint32_t)i % 6);
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &(struct recording_options){0}, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

static struct recording *through_container(const struct recording *recording) {
  struct packed packed = pack(recording, 0);
  struct recording *read = unpack(&packed);
  packed_free(&packed);
  return read;
}

/* ---- languages ---- */

/* What is between Python or Go and C is hidden in the page as in the report. */
static void frames_between_languages_stay_hidden(void **state) {
  (void)state;
  static const struct python_node nodes[] = {{0},
                                             NATIVE("main.main", 0, "shop"),
                                             NATIVE("runtime.cgocall", 1, "shop"),
                                             NATIVE("read_row", 2, "shop"),
                                             NATIVE("Py_RunMain", 3, "python3.12"),
                                             PYTHON("<module>", 4, "/src/shop.py", 3),
                                             NATIVE("_PyEval_EvalFrameDefault", 5, "python3.12"),
                                             PYTHON("run", 6, "/src/shop.py", 7),
                                             NATIVE("PyUnicode_New", 7, "python3.12")};
  struct trace_writer *writer = python_story_begin(0.01, nodes);
  struct recording *recording;
  for (uint64_t i = 1; i <= 60; i++) story_alloc(writer, i, i * 1000, 64, i % 2 ? 8 : 6);
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &(struct recording_options){0}, &recording), WN_OK);
  unlink(story_path());
  struct recording *read = through_container(recording);
  for (int grouping = 0; grouping < GROUPINGS; grouping++)
    assert_same_answer(recording, read, &(struct question){.at = AT_END}, (enum grouping)grouping);
  char *json = json_of(read, &(struct question){.at = AT_END}, BY_FUNCTION);
  assert_non_null(strstr(json, "\"<module> (shop.py)\""));
  assert_null(strstr(json, "Py"));
  assert_null(strstr(json, "cgocall"));
  free(json);
  recording_free(recording);
  recording_free(read);
}

/* By it the page knows that a program without an end was not killed. */
static void a_process_that_still_writes_is_known(void **state) {
  (void)state;
  for (int writes = 0; writes < 2; writes++) {
    struct trace_writer *writer = open_build(6);
    trace_write_group(writer, &(struct trace_group){.time_ns = 1000, .thread = 1, .limit = 64000000});
    trace_write_memory(writer,
                       &(struct trace_memory){.time_ns = 2000, .thread = 1, .private_bytes = 63000000});
    trace_writer_close(writer);
    struct recording *one;
    struct joined_part part = {.path = story_path(), .writing = writes, .selected = true};
    assert_int_equal(recording_load_joined(&part, 1, "made", &(struct recording_options){0}, &one), WN_OK);
    struct recording *read = through_container(one);
    assert_int_equal(probably_killed_for_memory(one->samples), !writes);
    assert_int_equal(probably_killed_for_memory(read->samples), !writes);
    recording_free(read);
    recording_free(one);
    unlink(story_path());
  }
}

static void expect_comparison(const struct recording *before, const struct recording *after, bool matched) {
  struct question question = {.at = AT_END};
  struct pair pair;
  struct compared_tables tables;
  char note[COMPARISON_NOTE_MOST];
  assert_int_equal(pair_of_runs(before, &question, after, &question, PER_RUN, &pair), WN_OK);
  assert_int_equal(pair_compare(&pair, MEASURE_ALLOCATED, BY_FUNCTION, EXTENT_SELF, &tables), WN_OK);
  assert_true(tables.comparison.count >= 6);
  for (size_t i = 0; i < tables.comparison.count; i++) {
    const struct compared *row = &tables.comparison.rows[i];
    assert_true((row->before && row->after) == matched && row->moved == !matched);
    assert_true(compared_is_address(&tables.comparison, row));
  }
  comparison_note(&tables.comparison, note);
  assert_true(!*note == matched);
  compared_tables_destroy(&tables);
  pair_destroy(&pair);
}

static void addresses_keep_their_builds(void **state) {
  (void)state;
  struct recording *one = record_build(6), *other = record_build(7), *stored = through_container(one),
                   *other_stored = through_container(other), *again = through_container(stored);
  expect_comparison(stored, other_stored, false);
  expect_comparison(one, other_stored, false);
  expect_comparison(stored, one, true);
  expect_comparison(again, stored, true);
  recording_free(one);
  recording_free(other);
  recording_free(stored);
  recording_free(other_stored);
  recording_free(again);
}

/* ---- times in microseconds ---- */

static void rounded_times_are_ordered(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct recording *recording = tale_tell(seed % 2 ? TALE_RESIZES : TALE_COLLECTED, seed, 1000);
    struct packed packed = pack(recording, 1000);
    struct recording *read = unpack(&packed);
    for (size_t i = 0; i < read->samples->row_count; i++) {
      const struct row *row = &read->samples->rows[i], *exact = &recording->samples->rows[i];
      assert_true(row->begin_ns == exact->begin_ns / 1000 * 1000 && row->end_ns >= row->begin_ns);
      assert_true(row->end_ns == STILL_ALIVE ? exact->end_ns == STILL_ALIVE
                                             : row->end_ns == exact->end_ns / 1000 * 1000);
      assert_true(row->died_ns >= row->born_ns && row->promoted_ns >= row->born_ns);
      assert_true(!i || row->begin_ns >= row[-1].begin_ns);
    }
    recording_free(recording);
    recording_free(read);
    packed_free(&packed);
  }
}

static void a_rounded_recording_answers_as_its_container(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 8; kind++) {
    struct recording *recording = tale_tell(kind, 6, 300);
    struct packed packed = pack(recording, 1000);
    struct recording *read = unpack(&packed);
    assert_int_equal(recording_round(recording, 1000), WN_OK);
    assert_same_rows(recording->samples, read->samples);
    assert_same_answers(recording, read);
    recording_free(recording);
    recording_free(read);
    packed_free(&packed);
  }
}

/* ---- several processes ---- */

/* Two that end while the third one runs. */
static struct recording *tell_of_processes(void) {
  static struct made_process made[3];
  struct joined_part parts[3];
  struct recording *recording;
  for (uint32_t i = 0; i < 3; i++) {
    make_process(&made[i], 10 + i, 9 + i, 5000 * i);
    if (i == 2) made[i].end_ns += 40000;
    write_process(&made[i]);
    parts[i] = (struct joined_part){.path = made[i].path, .name = made[i].path};
  }
  assert_int_equal(joined_examine(parts, 3), WN_OK);
  assert_int_equal(recording_load_joined(parts, 3, "made", &(struct recording_options){0}, &recording),
                   WN_OK);
  for (int i = 0; i < 3; i++) unlink(made[i].path);
  return recording;
}

static void assert_same_processes(const struct samples *one, const struct samples *other) {
  assert_int_equal(one->process_count, other->process_count);
  for (uint32_t i = 0; i < one->process_count; i++) {
    const struct process *a = &one->processes[i], *b = &other->processes[i];
    assert_string_equal(a->name, b->name);
    assert_true(a->pid == b->pid && a->parent == b->parent && a->begin_ns == b->begin_ns);
    assert_true(a->last_ns == b->last_ns && a->end_ns == b->end_ns && a->ended == b->ended);
  }
}

static void processes_can_be_stored(void **state) {
  (void)state;
  static const char *const queries[] = {"process = 11", "process ~ made and alive = yes",
                                        "not process = \"made (12)\""};
  for (uint64_t unit = 1; unit <= 1000; unit *= 1000) {
    struct recording *recording = tell_of_processes();
    struct packed packed = pack(recording, unit);
    struct recording *read = unpack(&packed);
    if (unit > 1) assert_int_equal(recording_round(recording, unit), WN_OK);
    assert_same_processes(recording->samples, read->samples);
    assert_true(recording->samples->processes[0].end_ns < recording->samples->end_ns);
    assert_same_rows(recording->samples, read->samples);
    assert_same_answers(recording, read);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
      assert_same_answer(recording, read, &(struct question){.where = queries[i]}, BY_PROCESS);
    recording_free(recording);
    recording_free(read);
    packed_free(&packed);
  }
}

/* ---- profiles of other tools ---- */

static struct recording *load_profile(void) {
  static const char profile[] =
      "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"bklt\":true,\"tu\":\"instrs\",\"cmd\":\"./a\",\"pps\":["
      "{\"tb\":800,\"tbk\":8,\"gb\":700,\"gbk\":7,\"eb\":10,\"ebk\":1,\"fs\":[2,1]},"
      "{\"tb\":90,\"tbk\":3,\"gb\":30,\"gbk\":1,\"eb\":60,\"ebk\":2,\"fs\":[1]}],"
      "\"ftbl\":[\"[root]\",\"0x1: parse (one.x:1)\",\"0x2: read_all (one.x:7)\"]}";
  struct recording_options options = {.names = {.symbols = false}};
  struct recording *recording;
  FILE *file = fopen(story_path(), "w");
  assert_non_null(file);
  fputs(profile, file);
  fclose(file);
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

static void a_profile_of_totals_keeps_what_it_does_not_tell(void **state) {
  (void)state;
  struct recording *recording = load_profile(), *read = through_container(recording);
  const struct source_limits *had = source_limits(recording->samples->source),
                             *has = source_limits(read->samples->source);
  assert_true(has->totals && has->no_lives && has->no_threads && !has->no_peak && !has->no_end);
  assert_string_equal(has->note, had->note);
  assert_same_rows(recording->samples, read->samples);
  for (int at = AT_PEAK; at <= AT_END; at++)
    assert_same_answer(recording, read, &(struct question){.at = (enum when)at, .where = "fn ~ read"},
                       BY_LINE);
  recording_free(recording);
  recording_free(read);
}

/* ---- damage ---- */

/* Asks for all that the bytes of a container can reach. */
static void ask_everything(const struct recording *recording) {
  char *text = json_of(recording, &(struct question){.where = NULL}, BY_FUNCTION);
  free(text);
  const struct source_limits *limits = source_limits(recording->samples->source);
  const char *where = limits->totals || limits->no_threads ? "fn ~ parse" : "fn ~ parse and thread = 1";
  free(json_of(recording, &(struct question){.where = where, .at = AT_END}, BY_STACK));
  free(json_of(recording, &(struct question){.where = NULL}, BY_TYPE));
}

static void try_to_read(const struct packed *packed, size_t *good) {
  struct recording *recording = NULL;
  wn_status error = container_read(packed->sections, packed->count, &recording);
  assert_true(error == WN_OK || error == WN_EINVAL);
  if (error) {
    assert_non_null(strstr(wn_last_error(), "section "));
    return;
  }
  ++*good;
  ask_everything(recording);
  recording_free(recording);
}

static void mutate(struct tale *tale, unsigned char *bytes, size_t *length) {
  for (uint64_t i = 1 + tale_draw(tale, 3); i && *length; i--) {
    size_t at = tale_draw(tale, 4) ? tale_draw(tale, *length) : tale_draw(tale, *length < 20 ? *length : 20);
    switch (tale_draw(tale, 5)) {
    case 0: bytes[at] = (unsigned char)tale_draw(tale, 256); break;
    case 1: bytes[at] ^= (unsigned char)(1u << tale_draw(tale, 8)); break;
    case 2: bytes[at] = 0xff; break;
    case 3: *length = at; break;
    default: memmove(bytes + at, bytes + at + 1, *length - at - 1), --*length;
    }
  }
}

/* Takes ownership of the recording. */
static size_t damage(struct tale *tale, struct recording *recording) {
  struct packed packed = pack(recording, 0);
  size_t good = 0;
  for (int run = 0; run < runs_of(1500); run++) {
    size_t which = tale_draw(tale, packed.count), length = packed.sections[which].length;
    unsigned char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    memcpy(bytes, packed.bytes[which], length);
    struct packed mutant = packed;
    mutate(tale, bytes, &mutant.sections[which].length);
    /* A copy of the right length, so that AddressSanitizer sees a read behind it. */
    unsigned char *exact = malloc(mutant.sections[which].length + !mutant.sections[which].length);
    assert_non_null(exact);
    memcpy(exact, bytes, mutant.sections[which].length);
    mutant.sections[which].bytes = exact;
    try_to_read(&mutant, &good);
    free(bytes);
    free(exact);
  }
  recording_free(recording);
  packed_free(&packed);
  return good;
}

static void damaged_bytes_are_refused_or_read(void **state) {
  (void)state;
  struct tale tale = {0};
  random_seed(&tale.random, 9, 0, 0);
  size_t good = damage(&tale, load_profile());
  for (unsigned kind = 0; kind < 4; kind++) good += damage(&tale, tale_tell(kind * 2 + 5, kind, 40));
  assert_true(good > 0 && good < 5 * (size_t)runs_of(1500));
}

static void a_type_that_is_not_there_is_refused(void **state) {
  (void)state;
  struct recording *recording = tale_tell(TALE_COLLECTED, 1, 50), *read;
  struct samples *samples = recording->samples;
  samples->row_types[samples->row_count - 1] = samples->types->count;
  struct packed packed = pack(recording, 0);
  assert_int_equal(container_read(packed.sections, packed.count, &read), WN_EINVAL);
  assert_string_equal(wn_last_error(), "section TYPE: a row has a type that is not there");
  recording_free(recording);
  packed_free(&packed);
}

static void a_missing_section_is_named(void **state) {
  (void)state;
  struct recording *recording = tale_tell(TALE_MAPPED, 1, 50), *read;
  struct packed packed = pack(recording, 0);
  for (size_t i = 0; i < packed.count; i++) {
    struct packed fewer = packed;
    fewer.sections[i].name[0] = 'x';
    char expected[64];
    snprintf(expected, sizeof expected, "section %.4s: it is missing", packed.sections[i].name);
    assert_int_equal(container_read(fewer.sections, fewer.count, &read), WN_EINVAL);
    assert_string_equal(wn_last_error(), expected);
  }
  recording_free(recording);
  packed_free(&packed);
}

static wn_status full(const struct container_block *block, void *context) {
  int *room = context;
  (void)block;
  return (*room)-- ? WN_OK : WN_EIO;
}

static void an_error_of_the_sink_ends_the_writing(void **state) {
  (void)state;
  struct recording *recording = tale_tell(TALE_MAPPED, 1, 50);
  for (int room = 0; room < 10; room++) {
    int left = room;
    assert_int_equal(container_write(recording, &(struct container_options){0}, full, &left), WN_EIO);
  }
  recording_free(recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_recording_answers_as_before),
                                     cmocka_unit_test(an_empty_recording_can_be_stored),
                                     cmocka_unit_test(a_large_recording_needs_several_blocks),
                                     cmocka_unit_test(a_thinned_recording_can_be_stored),
                                     cmocka_unit_test(frames_between_languages_stay_hidden),
                                     cmocka_unit_test(addresses_keep_their_builds),
                                     cmocka_unit_test(a_process_that_still_writes_is_known),
                                     cmocka_unit_test(rounded_times_are_ordered),
                                     cmocka_unit_test(a_rounded_recording_answers_as_its_container),
                                     cmocka_unit_test(processes_can_be_stored),
                                     cmocka_unit_test(a_profile_of_totals_keeps_what_it_does_not_tell),
                                     cmocka_unit_test(damaged_bytes_are_refused_or_read),
                                     cmocka_unit_test(a_type_that_is_not_there_is_refused),
                                     cmocka_unit_test(a_missing_section_is_named),
                                     cmocka_unit_test(an_error_of_the_sink_ends_the_writing)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
