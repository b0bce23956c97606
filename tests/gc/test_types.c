/* What sampled blocks are: the tag and the name of custom blocks in callbacks, and in a trace the
 * type that the language gives a block, against what the program made. */
#include "base/check.h"
#include "base/random.h"
#include "support/runs.h"
#include "support/test.h"
#include "trace/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/gc.h>
#include <winnow/marshal.h>
#include <winnow/memprof.h>
#include <winnow/trace.h>
#include <winnow/weak.h>

/* ---- the language ----
 *
 * An object's first field leads to its class, a block with the tag CLASS whose first field is the
 * number of the type. So type_of reads a block to which the object leads, which dies with it. The
 * number is the object's size, so that the size of a sample says what its type must be. */

enum { CLASS = 7, OBJECT = 1, CLASS_WORDS = 3, TYPE_CLASS = 5, TYPE_OTHER = 6, LARGE = 300, STEPS = 3000 };

static wn_heap *heap;
static unsigned hook_calls;
static wn_global *kept[16];

static unsigned type_of(wn_value block, void *context) {
  (void)context;
  __atomic_fetch_add(&hook_calls, 1, __ATOMIC_RELAXED);
  if (wn_tag(block) == CLASS) return TYPE_CLASS;
  if (wn_tag(block) != OBJECT) return TYPE_OTHER;
  wn_value class = wn_field_of(block, 0);
  if (wn_is_int(class) || wn_tag(class) != CLASS) return WN_TYPES_MOST;
  return (unsigned)wn_to_int(wn_field_of(class, 0));
}

/* Of three types one has no name. */
static const char *type_name(unsigned type, void *context) {
  static _Thread_local char name[32];
  (void)context;
  if (type == TYPE_CLASS) return "class";
  if (type == TYPE_OTHER) return "other";
  snprintf(name, sizeof name, "object of %u", type);
  return type % 3 ? name : NULL;
}

/* Names of tags, of a language that has no type_of. */
static bool names_tags;

static const char *tag_name(unsigned tag, void *context) {
  (void)context;
  assert_true(tag != WN_TAG_CUSTOM && tag != WN_TAG_WEAK);
  return tag == OBJECT ? "object" : tag == WN_TAG_RAW ? "string" : tag == CLASS ? "" : NULL;
}

/* What a block of this size and source must be called: sizes of raw blocks are 1 modulo 4, of
 * doubles 2, of custom blocks 3; of classes and weak blocks there is one size each. */
enum { WEAK_WORDS = 44, DOUBLE_WORDS = 1, OUTSIDE_WORDS = 16000 /* a multiple of 8 */ };
static bool is_raw(size_t words) { return words > 4 && words % 4 == 1; }
static bool is_doubles(size_t words) { return words > 4 && words % 4 == 2; }
static bool is_custom(size_t words) { return words > 4 && words % 4 == 3; }

static unsigned tag_of(size_t words, unsigned source) {
  if (source == WN_SOURCE_CUSTOM || is_custom(words)) return WN_TAG_CUSTOM;
  if (words == DOUBLE_WORDS) return WN_TAG_DOUBLE;
  if (words == CLASS_WORDS) return CLASS;
  if (words == WEAK_WORDS) return WN_TAG_WEAK;
  return is_raw(words) ? WN_TAG_RAW : is_doubles(words) ? WN_TAG_DOUBLE_ARRAY : OBJECT;
}

/* Of two kinds, by their sizes; memory outside is of blocks of either. */
static const char *custom_name(size_t words) { return words % 8 == 3 ? "file" : "socket"; }

static const char *expected(bool typed, size_t words, unsigned source, char text[32]) {
  unsigned tag = tag_of(words, source);
  if (tag == WN_TAG_CUSTOM) return custom_name(words);
  if (tag == WN_TAG_WEAK) return "weak block";
  if (typed && tag == CLASS) return "class";
  if (typed && tag != OBJECT) return "other";
  if (names_tags && (tag == OBJECT || tag == WN_TAG_RAW)) return tag_name(tag, NULL);
  if (tag == WN_TAG_RAW) return "bytes";
  if (tag == WN_TAG_DOUBLE) return "double";
  if (tag == WN_TAG_DOUBLE_ARRAY) return "array of doubles";
  if (!typed)
    snprintf(text, 32, "tag %u", tag);
  else
    snprintf(text, 32, words % 3 ? "object of %zu" : "type %zu", words);
  return text;
}

/* ---- the program ---- */

static bool write_bytes(const void *bytes, size_t size, wn_marshal_writer *to) {
  wn_marshal_put_bytes(to, bytes, size);
  return true;
}
static bool read_bytes(void *bytes, size_t size, wn_marshal_reader *from) {
  return size < 4096 && wn_marshal_get_bytes(from, bytes, size);
}
static const wn_custom_ops file = {"file", NULL}, socket_ops = {"socket", NULL};
static const wn_marshal_ops custom_marshal = {.write = write_bytes, .read = read_bytes};

static wn_ref make_object(wn_domain *domain, size_t words) {
  wn_ref class = wn_alloc(domain, CLASS_WORDS, CLASS);
  wn_set_int(domain, class, 0, (intptr_t)words);
  wn_ref object = wn_alloc(domain, words, OBJECT);
  wn_set(domain, object, 0, class);
  return object;
}

/* A block of a random kind and size, young or large. */
static wn_ref make(wn_domain *domain, struct random *random) {
  size_t words = 8 + random_bits(random) % 60 + (random_bits(random) % 8 ? 0 : LARGE);
  if (words == WEAK_WORDS) return wn_ephemeron_new(domain, WEAK_WORDS - 1);
  switch (words % 4) {
  case 1: return wn_alloc(domain, words, WN_TAG_RAW);
  case 2: return wn_alloc(domain, words, WN_TAG_DOUBLE_ARRAY);
  case 3:
    return wn_alloc_custom(domain, words % 8 == 3 ? &file : &socket_ops, (words - 2) * 8,
                           random_bits(random) % 3 ? 0 : 8 * (OUTSIDE_WORDS + words % 8));
  default: return random_bits(random) % 4 ? make_object(domain, words) : wn_alloc(domain, 1, WN_TAG_DOUBLE);
  }
}

static void copy_by_marshalling(wn_domain *domain, wn_ref value) {
  void *bytes;
  size_t size;
  wn_ref copy;
  if (wn_tag(*value.slot) == WN_TAG_WEAK) return;
  assert_int_equal(wn_marshal_write(domain, value, 0, &bytes, &size), WN_OK);
  wn_alloc_custom(domain, &socket_ops, (15 - 2) * 8, 0); /* so that the last kind is another one */
  assert_int_equal(wn_marshal_read(domain, bytes, size, 0, &copy, NULL), WN_OK);
  wn_assign(value, copy);
  free(bytes);
}

static void step(wn_domain *domain, struct random *random, unsigned first, unsigned count) {
  WN_SCOPE(domain);
  wn_ref made = make(domain, random);
  uint64_t what = random_bits(random) % 64;
  if (what < 16) copy_by_marshalling(domain, made);
  if (what % 3 == 0) wn_global_set(domain, kept[first + random_bits(random) % count], made);
  if (what == 60) assert_int_equal(wn_gc_minor(domain), WN_OK);
  if (what == 61) wn_gc_major_slice(domain, 1000);
  if (what == 62 && random_bits(random) % 8 == 0) assert_int_equal(wn_gc_compact(domain), WN_OK);
}

static int helper_threads = -1;

static wn_domain *open_heap(bool typed) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_domain *domain;
  options.text = "";
  options.parameters.minor_heap_size = 2048;
  options.helper_threads = helper_threads;
  if (typed) options.hooks.type_of = type_of, options.hooks.type_name = type_name;
  if (names_tags) options.hooks.type_name = tag_name;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  assert_int_equal(wn_marshal_register(heap, &file, &custom_marshal), WN_OK);
  assert_int_equal(wn_marshal_register(heap, &socket_ops, &custom_marshal), WN_OK);
  WN_SCOPE(domain);
  for (size_t i = 0; i < 16; i++) kept[i] = wn_global_new(domain, wn_root(domain, wn_int(0)));
  return domain;
}

static void close_heap(wn_domain *domain) {
  for (size_t i = 0; i < 16; i++) wn_global_free(domain, kept[i]);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* ---- traces ---- */

struct traced {
  uint64_t block, type, size;
  uint8_t source;
  bool typed, freed;
};
enum { TRACED_MOST = 1 << 18, TYPES_MOST = 1 << 17 };
static struct traced traced[TRACED_MOST];
static char *type_names[TYPES_MOST];
static char path[4096];

static wn_trace *start_trace(wn_domain *domain, double rate) {
  wn_memprof_options options = {.sampling_rate = rate, .callstack_size = 4, .seed = 3};
  wn_trace *trace;
  assert_int_equal(wn_trace_start(domain, path, &options, &trace), WN_OK);
  return trace;
}

static void take_event(const struct trace_event *event, size_t *types) {
  if (event->kind == TRACE_SAMPLE) {
    struct traced *of = &traced[event->sample.block % TRACED_MOST];
    assert_int_equal(of->block, 0);
    *of = (struct traced){
        .block = event->sample.block, .size = event->sample.size, .source = event->sample.source};
  } else if (event->kind == TRACE_TYPE_NAME) {
    assert_in_range(event->type_name.type, 0, TYPES_MOST - 1);
    free(type_names[event->type_name.type]);
    type_names[event->type_name.type] = strdup(event->type_name.name.bytes);
  } else if (event->kind == TRACE_TYPE) {
    struct traced *of = &traced[event->type.block % TRACED_MOST];
    assert_int_equal(of->block, event->type.block);
    assert_false(of->typed); /* each block has one */
    of->typed = true;
    of->type = event->type.type;
    ++*types;
  } else if (event->kind == TRACE_FREE) {
    traced[event->free.block % TRACED_MOST].freed = true;
  }
}

/* All samples of the trace, and what they are. The records of a block may be in several chunks: so
 * all samples are read first. */
static size_t read_trace(void) {
  size_t types = 0;
  memset(traced, 0, sizeof traced);
  for (int round = 0; round < 2; round++) {
    struct trace_reader *reader;
    struct trace_event event;
    assert_int_equal(trace_reader_open(path, &reader), WN_OK);
    while (trace_reader_next(reader, &event))
      if ((event.kind == TRACE_SAMPLE) == !round) take_event(&event, &types);
    assert_int_equal(trace_reader_damage(reader)->chunks_damaged, 0);
    trace_reader_close(reader);
  }
  unlink(path);
  return types;
}

static void forget_names(void) {
  for (size_t i = 0; i < TYPES_MOST; i++) free(type_names[i]), type_names[i] = NULL;
}

/* Returns how many samples there are. */
static size_t check_trace(bool typed) {
  size_t types = read_trace(), samples = 0;
  unsigned seen[3] = {0}; /* of each source */
  for (size_t i = 0; i < TRACED_MOST; i++) {
    const struct traced *of = &traced[i];
    char text[32];
    if (!of->block) continue;
    samples++;
    assert_true(of->typed);
    seen[of->source]++;
    assert_non_null(type_names[of->type]);
    assert_string_equal(type_names[of->type], expected(typed, of->size / 8, of->source, text));
  }
  assert_int_equal(samples, types);
  assert_true(seen[WN_SOURCE_NORMAL] && seen[WN_SOURCE_MARSHAL] && seen[WN_SOURCE_CUSTOM]);
  forget_names();
  return samples;
}

static void trace_a_program(bool typed, uint64_t seed) {
  wn_domain *domain = open_heap(typed);
  struct random random;
  random_seed(&random, seed, 0, 0);
  hook_calls = 0;
  wn_trace *trace = start_trace(domain, 1);
  for (int i = 0; i < STEPS; i++) step(domain, &random, 0, 16);
  assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
  close_heap(domain);
  assert_int_equal(hook_calls > 0, typed);
  assert_true(check_trace(typed) > STEPS);
}

static void each_block_has_the_type_that_the_language_tells(void **state) {
  (void)state;
  for (int run = 0; run < runs_of(4); run++) trace_a_program(true, (uint64_t)run);
}

static void without_a_language_a_type_is_the_tag(void **state) {
  (void)state;
  for (int run = 0; run < runs_of(2); run++) trace_a_program(false, (uint64_t)run);
}

static void a_language_without_type_of_names_tags(void **state) {
  (void)state;
  names_tags = true;
  trace_a_program(false, 3);
  names_tags = false;
}

/* No collection has come, and none comes with the end. */
static void the_end_of_a_trace_asks_for_the_types_that_are_left(void **state) {
  (void)state;
  wn_domain *domain = open_heap(true);
  wn_trace *trace = start_trace(domain, 1);
  {
    WN_SCOPE(domain);
    make_object(domain, 8);
    make_object(domain, LARGE);
    hook_calls = 0;
    assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
    assert_int_equal(hook_calls, 4);
  }
  assert_int_equal(read_trace(), 4);
  for (size_t i = 0; i < TRACED_MOST; i++) assert_true(!traced[i].block || traced[i].typed);
  forget_names();
  close_heap(domain);
}

/* ---- several domains ---- */

struct half {
  unsigned first;
  uint64_t seed;
};

static void run_half(wn_domain *domain, void *argument) {
  const struct half *half = argument;
  struct random random;
  random_seed(&random, half->seed, 0, 0);
  for (int i = 0; i < STEPS; i++) step(domain, &random, half->first, 8);
}

/* The second domain joins the trace, and ends before it. */
static void domains_share_a_trace(void **state) {
  (void)state;
  for (int run = 0; run < runs_of(2); run++) {
    wn_domain *domain = open_heap(true);
    wn_trace *trace = start_trace(domain, 1);
    struct half one = {0, (uint64_t)run}, other = {8, (uint64_t)run + 100};
    wn_join *join;
    assert_int_equal(wn_domain_spawn(domain, run_half, &other, &join), WN_OK);
    run_half(domain, &one);
    assert_int_equal(wn_join_wait(domain, join), WN_OK);
    assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
    close_heap(domain);
    assert_true(check_trace(true) > 2 * STEPS);
  }
}

enum { OLD_BLOCKS = 3 };

static void make_old(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  (void)argument;
  for (int i = 0; i < OLD_BLOCKS; i++) wn_alloc(domain, LARGE + 1, WN_TAG_RAW);
}

/* Such a domain would need no collection to end. */
static void a_domain_that_made_only_old_blocks_has_their_types_asked_when_it_ends(void **state) {
  (void)state;
  wn_domain *domain = open_heap(true);
  wn_trace *trace = start_trace(domain, 1);
  wn_join *join;
  hook_calls = 0;
  assert_int_equal(wn_domain_spawn(domain, make_old, NULL, &join), WN_OK);
  assert_int_equal(wn_join_wait(domain, join), WN_OK);
  assert_int_equal(hook_calls, OLD_BLOCKS);
  assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
  close_heap(domain);
  assert_int_equal(read_trace(), OLD_BLOCKS);
  forget_names();
}

/* The child leaves the trace to its parent, and asks the language for nothing. ThreadSanitizer lets
 * it have no other threads. */
static void a_child_of_a_fork_asks_nothing(void **state) {
  (void)state;
  helper_threads = 0;
  wn_domain *domain = open_heap(true);
  helper_threads = -1;
  wn_trace *trace = start_trace(domain, 1);
  struct random random;
  random_seed(&random, 1, 0, 0);
  for (int i = 0; i < STEPS; i++) step(domain, &random, 0, 16);
  {
    WN_SCOPE(domain);
    make_object(domain, 8);
  }
  hook_calls = 0;
  pid_t child = fork();
  if (!child) {
    wn_gc_minor(domain);
    _exit(hook_calls != 0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
  assert_true(hook_calls > 0);
  close_heap(domain);
  check_trace(true);
}

/* ---- names ---- */

static unsigned raw_type; /* what the language says of the next block */
static unsigned raw_type_of(wn_value block, void *context) { return (void)block, (void)context, raw_type; }

/* A trace of one block of this type. */
static void check_name(unsigned type, const char *(*name)(unsigned, void *), const char *expected_name) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_domain *domain;
  options.text = "";
  options.hooks.type_of = raw_type_of;
  options.hooks.type_name = name;
  raw_type = type;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  wn_trace *trace = start_trace(domain, 1);
  {
    WN_SCOPE(domain);
    wn_alloc(domain, 8, OBJECT);
    assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
  }
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
  assert_int_equal(read_trace(), 1);
  for (size_t i = 0; i < TRACED_MOST; i++)
    if (traced[i].block) assert_string_equal(type_names[traced[i].type], expected_name);
  forget_names();
}

static const char *empty_name(unsigned type, void *context) { return (void)type, (void)context, ""; }

static void types_without_a_name_have_their_number(void **state) {
  (void)state;
  check_name(0, NULL, "type 0");
  check_name(WN_TYPES_MOST - 1, NULL, "type 65535");
  check_name(7, empty_name, "type 7");
  check_name(WN_TYPES_MOST, type_name, "(type out of range)");
  check_name(UINT32_MAX, type_name, "(type out of range)");
  check_name(8, type_name, "object of 8");
}

/* More names of custom blocks than a trace tells apart. */
static void many_kinds_of_custom_blocks_have_a_name_in_common(void **state) {
  enum { KINDS = 300, APART = 255 };
  static wn_custom_ops kinds[KINDS];
  static char names[KINDS][24];
  (void)state;
  wn_domain *domain = open_heap(true);
  wn_trace *trace = start_trace(domain, 1);
  for (int i = 0; i < KINDS; i++) {
    WN_SCOPE(domain);
    snprintf(names[i], sizeof names[i], "kind %d", i);
    kinds[i].name = i ? names[i] : NULL;
    wn_alloc_custom(domain, &kinds[i], (size_t)i * 8, 0);
  }
  assert_int_equal(wn_trace_stop(domain, trace), WN_OK);
  close_heap(domain);
  assert_int_equal(read_trace(), KINDS);
  for (size_t i = 0; i < TRACED_MOST; i++) {
    size_t kind = traced[i].size / 8 - 2;
    if (!traced[i].block) continue;
    const char *name = !kind ? "custom block" : kind <= APART ? names[kind] : "other custom blocks";
    assert_string_equal(type_names[traced[i].type], name);
  }
  forget_names();
}

/* ---- callbacks ---- */

static unsigned births, wrong_births, customs;

static bool has_name(const wn_allocation *allocation) {
  return allocation->custom_name && !strcmp(allocation->custom_name, custom_name(allocation->size));
}

static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  bool outside = allocation->source == WN_SOURCE_CUSTOM;
  unsigned tag = tag_of(allocation->size, allocation->source);
  bool right =
      allocation->tag == tag && (tag == WN_TAG_CUSTOM ? has_name(allocation) : !allocation->custom_name);
  __atomic_fetch_add(&births, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&customs, tag == WN_TAG_CUSTOM && !outside, __ATOMIC_RELAXED);
  __atomic_fetch_add(&wrong_births, !right, __ATOMIC_RELAXED);
  return context;
}

static void callbacks_get_the_tag_and_the_name_of_custom_blocks(void **state) {
  (void)state;
  wn_domain *domain = open_heap(true);
  wn_memprof_options options = {.sampling_rate = 1, .seed = 2};
  wn_tracker tracker = {.alloc_minor = born, .alloc_major = born, .resize = NULL, .context = &births};
  wn_profile *profile;
  struct random random;
  random_seed(&random, 7, 0, 0);
  births = wrong_births = customs = hook_calls = 0;
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, &profile), WN_OK);
  for (int i = 0; i < STEPS; i++) step(domain, &random, 0, 16);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  close_heap(domain);
  assert_true(births > STEPS && customs > STEPS / 16);
  assert_int_equal(wrong_births, 0);
  assert_int_equal(hook_calls, 0); /* only a trace asks */
}

int main(void) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/winnow-types-%d", folder ? folder : "/tmp", (int)getpid());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_block_has_the_type_that_the_language_tells),
      cmocka_unit_test(without_a_language_a_type_is_the_tag),
      cmocka_unit_test(a_language_without_type_of_names_tags),
      cmocka_unit_test(the_end_of_a_trace_asks_for_the_types_that_are_left),
      cmocka_unit_test(domains_share_a_trace),
      cmocka_unit_test(a_domain_that_made_only_old_blocks_has_their_types_asked_when_it_ends),
      cmocka_unit_test(a_child_of_a_fork_asks_nothing),
      cmocka_unit_test(types_without_a_name_have_their_number),
      cmocka_unit_test(many_kinds_of_custom_blocks_have_a_name_in_common),
      cmocka_unit_test(callbacks_get_the_tag_and_the_name_of_custom_blocks),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
