/* Random traces of several kinds, for tests of what becomes of a recording. A tale has its seed. */
#ifndef TESTS_PAGE_TALES_H
#define TESTS_PAGE_TALES_H

#include "analysis/named_story.h"
#include "support/test.h"

#include "analysis/load/recording.h"
#include "base/random.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What a tale has. */
enum {
  TALE_RESIZES = 1,   /* realloc makes blocks larger and smaller; some are first sampled then */
  TALE_COLLECTED = 2, /* a collected heap, with promotions, collections, pauses and domains */
  TALE_MAPPED = 4,    /* mappings of the program's own, and their touches */
  TALE_LOST = 8,      /* records that were lost, and some that contradict others */
  TALE_EXACT = 16,    /* rate 1 */
  TALE_KILLED = 32,   /* no end */
  TALE_DAMAGED = 64,  /* some bytes of the file are wrong */
  TALE_EMPTY = 128,   /* no blocks */
  TALES = 256,
  TALE_RATES = TALE_RESIZES | TALE_MAPPED /* with both, the rate changes */
};

static const struct named_node tale_nodes[] = {{0},
                                               {"main", 0},
                                               {"parse", 1},
                                               {"std::vector<int, std::allocator<int> >::push_back", 2},
                                               {"xmalloc", 2},
                                               {"parse", 2},
                                               {"operator new(unsigned long)", 3},
                                               {"xmalloc", 1},
                                               {"cache_add", 1},
                                               {"</script><img onerror=alert(1)>", 8},
                                               {"my_alloc", 8},
                                               {"my_alloc", 9},
                                               {"never_used", 11},
                                               {"parse", 5}};
enum { TALE_STACKS = 14 };

struct tale {
  struct trace_writer *writer;
  unsigned kind;
  struct random random;
  uint64_t time;
};

static inline uint64_t tale_draw(struct tale *tale, uint64_t below) {
  return random_bits(&tale->random) % below;
}

/* A size: small ones are frequent, and few are equal. */
static inline uint64_t tale_size(struct tale *tale) {
  return tale_draw(tale, 3) ? 16 * (1 + tale_draw(tale, 20)) : 1 + tale_draw(tale, 300000);
}

/* 0: that of the run. */
static inline double tale_rate(struct tale *tale) {
  bool varies = (tale->kind & TALE_RATES) == TALE_RATES && !tale_draw(tale, 3);
  return varies ? 1 / (double)(1 + tale_draw(tale, 5000)) : 0;
}

static inline void tale_block(struct tale *tale, uint64_t block) {
  struct trace_sample sample = {.time_ns = tale->time,
                                .thread = (uint32_t)tale_draw(tale, 4),
                                .block = block,
                                .size = tale_size(tale),
                                .n_samples = 1,
                                .stack = (uint32_t)tale_draw(tale, TALE_STACKS)};
  bool collected = tale->kind & TALE_COLLECTED;
  if (sample.stack == 12) sample.stack = 0;
  sample.rate = tale_rate(tale);
  sample.words = malloc_words(sample.size) + (tale_draw(tale, 8) ? 0 : 3);
  sample.major = collected && !tale_draw(tale, 5);
  sample.source = collected && !sample.major && !tale_draw(tale, 9) ? TRACE_SOURCE_CUSTOM : 0;
  if (tale->kind & TALE_RESIZES && !tale_draw(tale, 6) && sample.size > 2) {
    sample.grown = true;
    sample.previous_size = 1 + tale_draw(tale, sample.size - 1);
  }
  assert_true(tree_write_sample(tale->writer, &sample));
  struct trace_type type = {.time_ns = tale->time, .thread = 1, .block = block, .type = block % 7};
  if (collected && block % 5) trace_write_type(tale->writer, &type);
}

/* One of them has no name. */
static inline void tale_types(struct tale *tale) {
  for (uint64_t type = 0; type < 6; type++) {
    struct trace_type_name event = {.time_ns = 1, .thread = 1, .type = type};
    event.name = trace_text_of(tale_nodes[1 + type].function);
    trace_write_type_name(tale->writer, &event);
  }
}

static inline void tale_resize(struct tale *tale, uint64_t block) {
  struct trace_resize resize = {.time_ns = tale->time,
                                .thread = (uint32_t)tale_draw(tale, 4),
                                .block = block,
                                .size = tale_size(tale),
                                .stack = 1 + (uint32_t)tale_draw(tale, 11)};
  resize.words = malloc_words(resize.size);
  resize.rate = tale_rate(tale);
  tree_write_resize(tale->writer, &resize);
}

/* A change of some block so far; not always a possible one. */
static inline void tale_change(struct tale *tale, uint64_t blocks) {
  uint64_t block = 1 + tale_draw(tale, blocks), what = tale_draw(tale, 4);
  if (what == 0 && tale->kind & TALE_RESIZES) tale_resize(tale, block);
  if (what == 1 && tale->kind & TALE_COLLECTED)
    trace_write_promote(tale->writer,
                        &(struct trace_promote){.time_ns = tale->time, .thread = 1, .block = block});
  if (what > 1)
    trace_write_free(tale->writer, &(struct trace_free){.time_ns = tale->time, .thread = 2, .block = block});
}

static inline void tale_heap(struct tale *tale, uint64_t step) {
  struct trace_collection event = {.time_ns = tale->time, .thread = 1, .ns = 1000, .domains = 2};
  event.kind = step % 5 ? TRACE_COLLECTION_MINOR : TRACE_COLLECTION_MAJOR;
  event.minor_words = step * 5000;
  event.promoted_words = step * 900;
  event.direct_words = step * 50;
  event.minor_collections = step;
  event.major_cycles = step / 5;
  event.heap_words = 100000 + tale_draw(tale, 10000);
  event.live_words = step * 10;
  trace_write_collection(tale->writer, &event);
  struct trace_pause pause = {.time_ns = tale->time, .thread = 1, .domain = step % 2, .count = step};
  pause.kind = (uint8_t)(step % TRACE_PAUSES);
  pause.ns = 100 + tale_draw(tale, 300000);
  pause.total_ns = step * 300100;
  trace_write_pause(tale->writer, &pause);
  if (step < 4)
    trace_write_domain(tale->writer,
                       &(struct trace_domain){.time_ns = tale->time, .domain = step, .what = step > 2});
}

static inline void tale_map(struct tale *tale, uint64_t step) {
  struct trace_map map = {.time_ns = tale->time, .thread = 1, .mapping = step + 7, .bytes = 4096 * step};
  map.stack = 1 + (uint32_t)tale_draw(tale, 11);
  map.kind = (uint8_t)tale_draw(tale, TRACE_MAP_KINDS);
  tree_write_map(tale->writer, &map);
  trace_write_map_touched(tale->writer, &(struct trace_map_touched){.time_ns = tale->time + 10,
                                                                    .thread = 1,
                                                                    .mapping = step + 7,
                                                                    .bytes = 2048 * step,
                                                                    .files = 1024 * (step % 2)});
  if (step % 3 == 0)
    trace_write_map_size(tale->writer, &(struct trace_map_size){.time_ns = tale->time + 20,
                                                                .mapping = 7 + tale_draw(tale, step + 1),
                                                                .bytes = 4096 * tale_draw(tale, 4)});
}

static inline void tale_step(struct tale *tale, uint64_t block) {
  tale->time += tale_draw(tale, 3000) + (tale_draw(tale, 4) ? 0 : 100000);
  tale_block(tale, block);
  for (uint64_t i = tale_draw(tale, 4); i; i--) {
    tale->time += tale_draw(tale, 2000);
    tale_change(tale, block);
  }
  if (block % 16 == 0 && tale->kind & TALE_COLLECTED) tale_heap(tale, block / 16);
  if (block % 32 == 0 && tale->kind & TALE_MAPPED) tale_map(tale, block / 32);
  if (block % 40 == 0 && (tale->kind & TALE_RATES) == TALE_RATES)
    trace_write_rate(tale->writer,
                     &(struct trace_rate){.time_ns = tale->time, .rate = block % 80 ? 0 : 0.01});
  if (block % 64 == 0)
    trace_write_memory(tale->writer, &(struct trace_memory){.time_ns = tale->time,
                                                            .thread = 1,
                                                            .rss_bytes = 1000000 + tale_draw(tale, 1000000),
                                                            .private_bytes = 800000,
                                                            .complete = tale->kind & TALE_MAPPED ? 1 : 0,
                                                            .own_bytes = 5000,
                                                            .asked = TRACE_GLIBC,
                                                            .in_use_bytes = 300000 + block,
                                                            .free_bytes = 100000});
  if (block % 96 == 0 && tale->kind & TALE_KILLED)
    trace_write_group(tale->writer, &(struct trace_group){.time_ns = tale->time,
                                                          .thread = 1,
                                                          .limit = 4000000 - 1000 * block,
                                                          .high = block,
                                                          .current = 1000000,
                                                          .kills = block / 200,
                                                          .pressure_us = 3 * block});
  if (block == 100 && tale->kind & TALE_LOST)
    trace_write_loss(tale->writer, &(struct trace_loss){.time_ns = tale->time,
                                                        .reason = TRACE_LOSS_SPACE,
                                                        .count = 5,
                                                        .cause = TRACE_CAUSE_DISK});
}

static inline void tale_open(struct tale *tale) {
  static struct tree_source source;
  static const char command[] = "/bin/te</script>st\0--op\x02tion\0\xff";
  named_nodes = tale_nodes;
  source = (struct tree_source){.node = named_node, .module = named_module, .place = named_place};
  struct trace_options options = {.path = story_path()};
  struct trace_run run = {.command = {.bytes = command, .length = sizeof command},
                          .host = trace_text_of("host"),
                          .heap = trace_text_of(tale->kind & TALE_COLLECTED ? "winnow" : "malloc"),
                          .pid = 77,
                          .seed = 0x123456789abcdef0u,
                          .rate = tale->kind & TALE_EXACT ? 1 : 1e-3,
                          .word_bytes = 8,
                          .stack_depth = 1024,
                          .wall_ns = 1700000000000000000u};
  assert_int_equal(tree_writer_open(&options, &run, &source, &tale->writer), WN_OK);
  for (uint32_t thread = 0; thread < 3; thread++) {
    struct trace_thread_name name = {.time_ns = thread, .thread = thread};
    name.name = trace_text_of(thread ? "worker" : "</script><b>");
    trace_write_thread_name(tale->writer, &name);
  }
}

static inline void tale_damage(struct tale *tale) {
  int file = open(story_path(), O_RDWR | O_CLOEXEC);
  struct stat status;
  assert_true(file >= 0 && !fstat(file, &status));
  for (int i = 0; i < 3; i++) {
    off_t at = 100 + (off_t)tale_draw(tale, (uint64_t)status.st_size - 100);
    assert_int_equal(pwrite(file, "\x55", 1, at), 1);
  }
  close(file);
}

/* The recording of a tale of so many blocks. NULL: the damage left nothing. */
static inline struct recording *tale_tell(unsigned kind, uint64_t seed, uint64_t blocks) {
  struct tale tale = {.kind = kind};
  random_seed(&tale.random, seed, kind, 0);
  tale_open(&tale);
  if (kind & TALE_COLLECTED && !(kind & TALE_EMPTY)) tale_types(&tale);
  for (uint64_t block = 1; block <= blocks && !(kind & TALE_EMPTY); block++) tale_step(&tale, block);
  if (!(kind & TALE_KILLED))
    trace_write_end(tale.writer, &(struct trace_end){.time_ns = tale.time + 1000,
                                                     .kind = TRACE_END_EXIT,
                                                     .code = -3,
                                                     .peak_bytes = 3000000});
  trace_writer_close(tale.writer);
  if (kind & TALE_DAMAGED) tale_damage(&tale);
  struct recording *recording = NULL;
  struct recording_options plain = {.names = {.symbols = false}};
  wn_status error = recording_load(story_path(), &plain, &recording);
  assert_true(!error || kind & TALE_DAMAGED);
  unlink(story_path());
  return recording;
}

#endif
/* SPDX-License-Identifier: MIT */
