/* From records to rows, moments, call trees and lifetimes, on small traces whose answers are
 * known. */
#include "analysis/story.h"

#include "base/check.h"

#include "analysis/load/peak.h"
#include "analysis/load/reduce.h"
#include "analysis/report/lifetimes.h"
#include "base/random.h"
#include <math.h>
#include <string.h>

static void records_join_in_any_order(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_free(writer, 1, 50); /* before its sample, as another stream may have it */
  story_alloc(writer, 1, 10, 100, 1);
  story_alloc(writer, 2, 20, 64, 2);
  story_resize(writer, 2, 40, 128);
  story_resize(writer, 2, 30, 32);    /* shrinks before it grows */
  story_alloc(writer, 2, 25, 999, 2); /* a number that comes twice */
  story_free(writer, 77, 60);         /* a block that nobody knows */
  story_free(writer, 1, 70);          /* a second free */
  struct samples *samples = story_load(writer);
  assert_int_equal(samples->sampled_blocks, 2);
  assert_int_equal(samples->row_count, 4);
  assert_int_equal(samples->unmatched, 2);
  assert_false(samples->ended);
  const struct row *rows = samples->rows;
  assert_int_equal(rows[0].died_ns, 50);
  const uint64_t begins[] = {20, 30, 40}, sizes[] = {64, 32, 128}, allocated[] = {64, 0, 128};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(rows[i + 1].begin_ns, begins[i]);
    assert_int_equal(rows[i + 1].size, sizes[i]);
    assert_int_equal(row_allocated(&rows[i + 1]), allocated[i]);
    assert_int_equal(rows[i + 1].born_ns, 20);
    assert_int_equal(rows[i + 1].died_ns, STILL_ALIVE);
    assert_int_equal(rows[i + 1].call, i != 1);
    assert_int_equal(rows[i + 1].last, i == 2);
  }
  struct sums all = timeline_allocated(samples, NULL, NULL);
  assert_true(all.bytes.total == 292 && all.bytes.variance == 0 && all.blocks.total == 3);
  samples_free(samples);
}

/* Of a block that was younger than the missing time is long the free is likely in it. */
static void of_what_was_dropped_old_blocks_live_and_young_ones_do_not(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  const uint64_t births[] = {10, 95, 105, 130, 20, 290},
                 ends[] = {STILL_ALIVE, 100, 105, STILL_ALIVE, 500, 300};
  enum { STORIES = sizeof births / sizeof *births };
  for (unsigned i = 0; i < STORIES; i++) story_alloc(writer, i + 1, births[i], 64, 1);
  story_free(writer, 5, 500);
  trace_write_dropped(writer, &(struct trace_dropped){
                                  .time_ns = 600, .chunk = 9, .from_ns = 100, .until_ns = 120, .count = 1});
  trace_write_dropped(
      writer, &(struct trace_dropped){
                  .time_ns = 600, .chunk = 10, .from_ns = 300, .until_ns = 320, .number = 1, .count = 1});
  struct samples *samples = story_load(writer);
  assert_int_equal(samples->row_count, STORIES);
  for (unsigned i = 0; i < STORIES; i++) {
    const struct row *row = &samples->rows[i];
    assert_in_range(row->block, 1, STORIES);
    assert_int_equal(row->died_ns, ends[row->block - 1]);
  }
  samples_free(samples);
}

static void a_block_first_seen_when_it_grew_counts_what_it_grew_to(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1e-3, 0);
  struct trace_sample grown = {
      .time_ns = 5, .thread = 1, .block = 1, .size = 1000, .words = malloc_words(1000)};
  grown.n_samples = 1;
  grown.grown = true;
  grown.previous_size = 400;
  tree_write_sample(writer, &grown);
  struct samples *samples = story_load(writer);
  double p = inclusion_probability(1e-3, malloc_words(1000));
  struct sums all = timeline_allocated(samples, NULL, NULL), live = timeline_live_at(samples, 5, NULL, NULL);
  assert_true(fabs(all.bytes.total - 1000 / p) < 1e-6 && all.blocks.samples == 1);
  assert_true(fabs(live.bytes.total - 1000 / p) < 1e-6 && live.blocks.samples == 1);
  /* If it always became 1/0.4 as large: 400 bytes and 160 and so on before. */
  struct dependence by = grown_bytes(grown_at(&samples->grown, samples->rows[0].grown));
  assert_true(fabs(by.growth - 0.4) < 1e-9 && fabs(by.typical - 1 / 0.6) < 1e-9);
  assert_true(fabs(by.earlier - 400 / 0.6) < 1e-6);
  samples_free(samples);
}

static void of_a_block_known_from_its_birth_nothing_is_missing(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1e-3, 0);
  story_alloc(writer, 1, 5, 100, 1);
  struct trace_resize larger = {
      .time_ns = 6, .thread = 1, .block = 1, .size = 200, .words = malloc_words(200)};
  assert_true(tree_write_resize(writer, &larger));
  struct samples *samples = story_load(writer);
  assert_int_equal(samples->row_count, 2);
  for (int i = 0; i < 2; i++) {
    struct dependence by = grown_bytes(grown_at(&samples->grown, samples->rows[i].grown));
    assert_true(fabs(by.growth - 0.5) < 1e-9 && by.typical == 1 && by.earlier == 0);
  }
  samples_free(samples);
}

static bool allocated_ask(const struct row *row, struct share *share, void *context) {
  *share = share_call(context, row);
  return true;
}

static bool held_ask(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  return row_is_live_at(row, *(const uint64_t *)context);
}

static double self_of(const struct call_tree *tree, uint32_t function, bool blocks) {
  for (size_t i = 0; i < tree->group_count; i++)
    if (tree->labels[tree->groups[i].label].function == function)
      return blocks ? tree->groups[i].self.blocks.total : tree->groups[i].self.bytes.total;
  return 0;
}

/* Blocks that are made larger and smaller by five functions in turn. */
static void no_function_holds_more_than_it_allocated(void **state) {
  (void)state;
  struct random random;
  random_seed(&random, 3, 0, 0);
  struct trace_writer *writer = story_begin(1, 0);
  uint64_t time = 0, calls = 0;
  for (uint64_t block = 1; block <= 50; block++) {
    uint64_t size = 1 + random_bits(&random) % 1000;
    story_alloc(writer, block, ++time, size, 1 + (uint32_t)(block % 5));
    calls++;
    for (int i = 0; i < 10; i++) {
      uint64_t next = 1 + random_bits(&random) % 1000;
      calls += next > size;
      size = next;
      struct trace_resize resize = {.time_ns = ++time, .thread = 1, .block = block, .size = size};
      resize.stack = 1 + (uint32_t)(random_bits(&random) % 5);
      resize.words = malloc_words(1000);
      assert_true(tree_write_resize(writer, &resize));
    }
  }
  struct samples *samples = story_load(writer);
  struct names names;
  struct call_tree allocated, held;
  story_names(samples, &names);
  assert_int_equal(call_tree_build(samples, &names, BY_FUNCTION, NULL, allocated_ask, samples, &allocated),
                   WN_OK);
  assert_true(allocated.nodes[0].total.blocks.total == (double)calls);
  for (uint64_t now = 1; now <= time; now += 7) {
    assert_int_equal(call_tree_build(samples, &names, BY_FUNCTION, NULL, held_ask, &now, &held), WN_OK);
    for (uint32_t label = 1; label < allocated.label_count; label++)
      for (int blocks = 0; blocks < 2; blocks++)
        assert_true(self_of(&held, allocated.labels[label].function, blocks) <=
                    self_of(&allocated, allocated.labels[label].function, blocks));
    call_tree_destroy(&held);
  }
  call_tree_destroy(&allocated);
  names_destroy(&names);
  samples_free(samples);
}

static void moments_include_births_and_exclude_deaths(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 10, 100, 1);
  story_alloc(writer, 2, 20, 50, 1);
  story_free(writer, 1, 20); /* at the instant at which the other is born */
  story_alloc(writer, 3, 30, 60, 1);
  story_free(writer, 3, 40);
  struct samples *samples = story_load(writer);
  const struct {
    uint64_t time;
    double bytes;
  } known[] = {{0, 0}, {9, 0}, {10, 100}, {19, 100}, {20, 50}, {30, 110}, {39, 110}, {40, 50}, {1000, 50}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_true(timeline_live_at(samples, known[i].time, NULL, NULL).bytes.total == known[i].bytes);
  struct peak peak;
  assert_int_equal(peak_find(samples, NULL, NULL, &peak), WN_OK);
  assert_true(peak.first_ns == 30 && peak.last_ns == 30);
  assert_true(peak.live.bytes.total == 110 && peak.live.blocks.total == 2);
  samples_free(samples);
}

static void recursion_counts_once(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 5);
  const uint32_t deepest = TINY ? 201 : 1000; /* a stack must fit into a chunk */
  const uint32_t depths[] = {3, 64, 65, 200, deepest};
  for (uint64_t i = 0; i < 5; i++) story_alloc(writer, i + 1, i + 1, 100, depths[i]);
  struct samples *samples = story_load(writer);
  struct names names;
  story_names(samples, &names);
  for (enum grouping grouping = BY_FUNCTION; grouping <= BY_STACK; grouping++) {
    struct call_tree tree;
    if (grouping == BY_TYPE) continue; /* the trace has none */
    assert_int_equal(call_tree_build(samples, &names, grouping, NULL, everything, NULL, &tree), WN_OK);
    assert_true(tree.nodes[0].total.bytes.total == 500);
    bool merged = grouping == BY_FILE || grouping == BY_MODULE || grouping_is_process(grouping) ||
                  grouping == BY_THREAD; /* all are in one */
    assert_int_equal(tree.group_count, merged ? 1 : 5);
    assert_int_equal(tree.node_count - 1, merged ? 1 : deepest);
    char name[64];
    if (grouping != BY_STACK) {
      assert_true(tree.groups[0].total.bytes.total == 500 && tree.groups[0].total.blocks.total == 5);
      call_tree_label(&tree, &names, tree.groups[0].label, name, sizeof name);
      assert_string_equal(grouping == BY_PROCESS ? name : "story (0)", "story (0)");
      assert_string_equal(grouping == BY_THREAD ? name : "thread 1", "thread 1");
      if (grouping == BY_PROCESS || grouping_is_code(grouping))
        assert_int_equal(strncmp(name, grouping == BY_PROCESS ? "story" : "code", 4), 0);
    }
    double self = 0;
    for (size_t i = 0; i < tree.group_count; i++) self += tree.groups[i].self.bytes.total;
    assert_true(self == 500);
    for (size_t node = 1; node < tree.node_count; node++) assert_true(tree.nodes[node].parent < node);
    call_tree_destroy(&tree);
  }
  names_destroy(&names);
  samples_free(samples);
}

/* ---- types ---- */

static void write_type(struct trace_writer *writer, uint64_t block, uint64_t time, uint64_t type) {
  trace_write_type(writer, &(struct trace_type){.time_ns = time, .thread = 1, .block = block, .type = type});
}

static void write_type_name(struct trace_writer *writer, uint64_t type, const char *name) {
  struct trace_type_name event = {.time_ns = 1, .thread = 1, .type = type, .name = trace_text_of(name)};
  trace_write_type_name(writer, &event);
}

static const char *type_of_block(const struct samples *samples, uint64_t block) {
  const char *found = NULL;
  for (size_t i = 0; i < samples->row_count; i++) {
    const char *name = strings_text(samples->types, samples_type(samples, &samples->rows[i]));
    if (samples->rows[i].block != block) continue;
    assert_true(!found || !strcmp(found, name)); /* each row of a block has the same */
    found = name;
  }
  return found;
}

/* Block 1 has its type before its sample, 2 two of them, 3 one whose name is lost, 4 none, 5 a type
 * of the same name as that of 1, 6 was resized, and 7 has no sample. */
static struct samples *load_typed(void) {
  struct trace_writer *writer = story_begin(1, 0);
  write_type(writer, 1, 11, 40);
  for (uint64_t block = 1; block <= 6; block++) story_alloc(writer, block, 10 * block, 100 * block, 1);
  write_type(writer, 2, 60, UINT64_MAX);
  write_type(writer, 2, 50, 40);
  write_type(writer, 3, 50, 7);
  write_type(writer, 5, 51, 41);
  write_type(writer, 6, 65, UINT64_MAX);
  write_type(writer, 7, 65, 40);
  story_resize(writer, 6, 70, 1000);
  story_free(writer, 5, 80);
  write_type_name(writer, 40, "pair");
  write_type_name(writer, 41, "pair");
  write_type_name(writer, UINT64_MAX, "string");
  write_type_name(writer, 40, "another name");
  return story_load(writer);
}

static void types_join_in_any_order(void **state) {
  (void)state;
  struct samples *samples = load_typed();
  assert_string_equal(type_of_block(samples, 1), "pair");
  assert_string_equal(type_of_block(samples, 2), "string");
  assert_string_equal(type_of_block(samples, 3), "(the name of this type is lost)");
  assert_string_equal(type_of_block(samples, 4), "");
  assert_string_equal(type_of_block(samples, 5), "pair");
  assert_string_equal(type_of_block(samples, 6), "string");
  assert_int_equal(samples->unmatched, 1);
  assert_int_equal(samples_type(samples, NULL), 0);
  samples_free(samples);
}

static const struct group *group_of(const struct call_tree *tree, const struct names *names,
                                    const char *wanted) {
  for (size_t i = 0; i < tree->group_count; i++) {
    char name[64];
    call_tree_label(tree, names, tree->groups[i].label, name, sizeof name);
    if (!strcmp(name, wanted)) return &tree->groups[i];
  }
  fail_msg("no row %s", wanted);
  return NULL;
}

static void rows_by_type_are_the_sums_of_their_blocks(void **state) {
  (void)state;
  struct samples *samples = load_typed();
  struct names names;
  struct call_tree tree;
  story_names(samples, &names);
  assert_int_equal(call_tree_build(samples, &names, BY_TYPE, NULL, everything, NULL, &tree), WN_OK);
  assert_true(group_of(&tree, &names, "pair")->total.bytes.total == 100 + 500);
  assert_true(group_of(&tree, &names, "string")->self.bytes.total == 200 + 600 + 1000);
  assert_true(group_of(&tree, &names, "(the name of this type is lost)")->total.bytes.total == 300);
  assert_true(tree.nodes[0].self.bytes.total == 400);
  assert_true(tree.nodes[0].total.bytes.total == 100 + 200 + 300 + 400 + 500 + 600 + 1000);
  assert_string_equal(label_of_nothing(BY_TYPE), "(type not recorded)");
  call_tree_destroy(&tree);
  names_destroy(&names);
  samples_free(samples);
}

static void thinned_rows_keep_their_types(void **state) {
  static const char *const type_names[] = {"even", "odd"};
  (void)state;
  struct trace_writer *writer = story_begin(0.01, 0);
  for (uint64_t block = 1; block <= 300; block++) {
    story_alloc(writer, block, 10 * block, 100, 1);
    write_type(writer, block, 10 * block, block % 2);
  }
  for (uint64_t type = 0; type < 2; type++) write_type_name(writer, type, type_names[type]);
  struct samples *samples = story_load(writer);
  assert_int_equal(samples_thin(samples, 0.5, 3), WN_OK);
  assert_true(samples->row_count > 50 && samples->row_count < 250);
  for (size_t i = 0; i < samples->row_count; i++)
    assert_string_equal(strings_text(samples->types, samples_type(samples, &samples->rows[i])),
                        type_names[samples->rows[i].block % 2]);
  samples_free(samples);
}

static void a_trace_without_types_has_none(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 10, 100, 1);
  write_type(writer, 2, 10, 1); /* of a block of which the sample is lost */
  struct samples *samples = story_load(writer);
  assert_null(samples->types);
  assert_int_equal(samples_type(samples, &samples->rows[0]), 0);
  samples_free(samples);
}

/* Stacks 1 < 2 < 3 and 1 < 2 < 3 < 4 < 5: 1 to 3 stand on the same ones, and so do 4 and 5. */
static void functions_that_always_call_each_other_are_a_chain(void **state) {
  (void)state;
  for (int with_rows = 0; with_rows < 2; with_rows++) {
    struct trace_writer *writer = story_begin(1, 0);
    story_alloc(writer, 1, 10, 100,
                with_rows ? 2 : 3); /* with rows of its own, 2 is another's caller and allocates */
    story_alloc(writer, 2, 20, 50, 5);
    story_alloc(writer, 3, 30, 100, 3);
    struct samples *samples = story_load(writer);
    struct names names;
    struct call_tree tree;
    story_names(samples, &names);
    assert_int_equal(call_tree_build(samples, &names, BY_FUNCTION, NULL, everything, NULL, &tree), WN_OK);
    size_t innermost, chains[5], count = 0;
    char name[2][64] = {"", ""};
    for (size_t i = 0; i < tree.group_count; i += chains[count++]) {
      chains[count] = call_tree_chain(&tree, i, &innermost);
      if (count < 2) call_tree_label(&tree, &names, tree.groups[innermost].label, name[count], sizeof *name);
    }
    if (with_rows) { /* 1 and 2; 3; 4 and 5 */
      assert_true(count == 3 && chains[0] == 2 && chains[1] == 1 && chains[2] == 2);
      assert_string_equal(name[0], "code+0x20");
      assert_string_equal(name[1], "code+0x30");
    } else {
      assert_true(count == 2 && chains[0] == 3 && chains[1] == 2);
      assert_string_equal(name[0], "code+0x30");
      assert_string_equal(name[1], "code+0x50");
    }
    call_tree_destroy(&tree);
    names_destroy(&names);
    samples_free(samples);
  }
}

/* Two functions with equal sums on different stacks are no chain. */
static void equal_sums_are_no_chain(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  story_alloc(writer, 1, 10, 100, 1);
  story_alloc(writer, 2, 10, 100, 3);
  struct samples *samples = story_load(writer);
  struct names names;
  struct call_tree tree;
  size_t innermost;
  story_names(samples, &names);
  assert_int_equal(call_tree_build(samples, &names, BY_STACK, NULL, everything, NULL, &tree), WN_OK);
  assert_true(tree.group_count == 2 && tree.groups[0].total.bytes.total == tree.groups[1].total.bytes.total);
  assert_int_equal(call_tree_chain(&tree, 0, &innermost), 1);
  call_tree_destroy(&tree);
  names_destroy(&names);
  samples_free(samples);
}

/* The segment tree agrees with asking each moment by itself. */
static void the_curve_is_what_was_live_at_its_moments(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1e-3, 0);
  uint64_t number = 1;
  for (uint64_t block = 1; block <= 300; block++) {
    number = number * 6364136223846793005u + 1442695040888963407u;
    story_alloc(writer, block, number >> 50, 16 + block, 1);
    if (block % 3) story_free(writer, block, (number >> 50) + (number >> 52) % 5000);
  }
  struct samples *samples = story_load(writer);
  struct moment moments[TIMELINE_MOMENTS];
  static const size_t counts[] = {2, 3, 200, TIMELINE_MOMENTS};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct moments_of of = {.count = counts[i]};
    timeline_curve(samples, NULL, NULL, moments, of);
    assert_int_equal(moments[0].time_ns, 0);
    assert_int_equal(moments[counts[i] - 1].time_ns, samples->end_ns);
    for (size_t j = 0; j < counts[i]; j++) {
      struct sums live = timeline_live_at(samples, moments[j].time_ns, NULL, NULL), *found = &moments[j].live;
      assert_int_equal(found->bytes.samples, live.bytes.samples);
      assert_true(fabs(found->bytes.total - live.bytes.total) <= 1e-9 * live.bytes.total);
      assert_true(fabs(found->bytes.variance - live.bytes.variance) <= 1e-9 * live.bytes.variance);
    }
  }
  samples_free(samples);
}

static void thinned_measurements_keep_the_largest(void **state) {
  (void)state;
  struct memory_point all[1000], thin[20];
  struct samples samples = {.memory = all, .memory_count = 1000};
  for (uint64_t i = 0; i < 1000; i++)
    all[i] = (struct memory_point){
        .time_ns = i, .rss_bytes = i == 333 ? 5000 : 100, .private_bytes = i == 777 ? 9000 : 200};
  size_t count = timeline_memory_thinned(&samples, thin, 20);
  bool rss = false, own = false;
  assert_true(count >= 10 && count <= 20);
  for (size_t i = 0; i < count; i++) {
    assert_true(!i || thin[i - 1].time_ns < thin[i].time_ns);
    rss |= thin[i].rss_bytes == 5000;
    own |= thin[i].private_bytes == 9000;
  }
  assert_true(rss && own);
  samples.memory_count = 20;
  assert_int_equal(timeline_memory_thinned(&samples, thin, 20), 20);
  samples.memory_count = 0;
  assert_int_equal(timeline_memory_thinned(&samples, thin, 20), 0);
}

static struct life life_of_all(const struct samples *samples) {
  struct names names;
  struct call_tree tree;
  struct lifetimes lifetimes;
  story_names(samples, &names);
  assert_int_equal(call_tree_build(samples, &names, BY_FUNCTION, NULL, everything, NULL, &tree), WN_OK);
  assert_int_equal(lifetimes_create(samples, &tree, LIFE_NS, NULL, &lifetimes), WN_OK);
  struct life life = lifetimes_median(&lifetimes, &tree.groups[0], EXTENT_TOTAL);
  lifetimes_destroy(&lifetimes);
  call_tree_destroy(&tree);
  names_destroy(&names);
  return life;
}

static void median_lives_are_exact_where_all_died(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  for (uint64_t i = 1; i <= 9; i++) {
    story_alloc(writer, i, 100, 32, 1);
    story_free(writer, i, 100 + 10 * i);
  }
  struct samples *samples = story_load(writer);
  struct life life = life_of_all(samples);
  assert_true(life.known && life.median == 50 && life.low == 50 && life.high == 50);
  assert_int_equal(life.samples, 9);
  samples_free(samples);
}

/* Lives 10, 20 and 30 seen; two blocks alive after 15 and 40: S = 4/5, then 4/5 * 2/3 = 0.53, then
 * 0.53 * 1/2 = 0.27. */
static void living_blocks_make_medians_longer(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  for (uint64_t i = 1; i <= 3; i++) {
    story_alloc(writer, i, 100, 32, 1);
    story_free(writer, i, 100 + 10 * i);
  }
  story_alloc(writer, 4, 125, 32, 1);
  story_alloc(writer, 5, 100, 32, 1);
  story_alloc(writer, 6, 140, 32, 2); /* makes the end, at life 0 */
  struct samples *samples = story_load(writer);
  struct life life = life_of_all(samples);
  assert_true(life.known && life.median == 30);
  samples_free(samples);
}

static void unseen_medians_are_said_to_be_unseen(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  for (uint64_t i = 1; i <= 3; i++) story_alloc(writer, i, 100 * i, 32, 1);
  struct samples *samples = story_load(writer);
  struct life life = life_of_all(samples);
  assert_true(!life.known && life.median == 200 && life.low == 200 && life.high == NO_BOUND);
  samples_free(samples);
}

/* Of equal blocks in a small sample the ends are order statistics, as tables of the sign test have
 * them. */
static void median_lives_have_the_interval_of_the_sign_test(void **state) {
  (void)state;
  const struct {
    uint64_t count, low, high; /* which of the lives; 0: no end */
  } known[] = {{1, 0, 0}, {4, 0, 0}, {5, 1, 5}, {10, 2, 9}, {20, 6, 15}, {100, 41, 60}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    struct trace_writer *writer = story_begin(1e-6, 0);
    for (uint64_t block = 1; block <= known[i].count; block++) {
      story_alloc(writer, block, 100, 32, 1);
      story_free(writer, block, 100 + 10 * block);
    }
    struct samples *samples = story_load(writer);
    struct life life = life_of_all(samples);
    assert_int_equal(life.samples, known[i].count);
    assert_int_equal(life.low, known[i].low ? 10 * known[i].low : NO_BOUND);
    assert_int_equal(life.high, known[i].high ? 10 * known[i].high : NO_BOUND);
    samples_free(samples);
  }
}

static void strings_are_kept_once(void **state) {
  (void)state;
  struct strings *strings = strings_create();
  char text[32];
  assert_non_null(strings);
  assert_int_equal(strings_intern(strings, ""), 0);
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 1; i < 3000; i++) {
      snprintf(text, sizeof text, "string %u", i);
      assert_int_equal(strings_intern(strings, text), i);
      assert_string_equal(strings_text(strings, i), text);
    }
  strings_free(strings);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_join_in_any_order),
      cmocka_unit_test(of_what_was_dropped_old_blocks_live_and_young_ones_do_not),
      cmocka_unit_test(a_block_first_seen_when_it_grew_counts_what_it_grew_to),
      cmocka_unit_test(of_a_block_known_from_its_birth_nothing_is_missing),
      cmocka_unit_test(no_function_holds_more_than_it_allocated),
      cmocka_unit_test(moments_include_births_and_exclude_deaths),
      cmocka_unit_test(recursion_counts_once),
      cmocka_unit_test(types_join_in_any_order),
      cmocka_unit_test(rows_by_type_are_the_sums_of_their_blocks),
      cmocka_unit_test(thinned_rows_keep_their_types),
      cmocka_unit_test(a_trace_without_types_has_none),
      cmocka_unit_test(functions_that_always_call_each_other_are_a_chain),
      cmocka_unit_test(equal_sums_are_no_chain),
      cmocka_unit_test(the_curve_is_what_was_live_at_its_moments),
      cmocka_unit_test(thinned_measurements_keep_the_largest),
      cmocka_unit_test(median_lives_are_exact_where_all_died),
      cmocka_unit_test(living_blocks_make_medians_longer),
      cmocka_unit_test(unseen_medians_are_said_to_be_unseen),
      cmocka_unit_test(median_lives_have_the_interval_of_the_sign_test),
      cmocka_unit_test(strings_are_kept_once),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
