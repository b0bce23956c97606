/* Profiles of blocks that are read from messages. */
#include "memprof/host.h"
#include "tracker.h"

#include <math.h>
#include <stdlib.h>
#include <winnow/marshal.h>

/* Births by source; words are trials. */
struct births {
  struct tracked all;
  long blocks[3], samples[3], trials[3];
};

static void *note(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct births *births = context;
  (void)domain;
  births->blocks[allocation->source]++;
  births->samples[allocation->source] += (long)allocation->n_samples;
  births->trials[allocation->source] += (long)allocation->trials;
  return births;
}
static void *note_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  ((struct births *)context)->all.allocs_minor++;
  return note(domain, allocation, context);
}
static void *note_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  ((struct births *)context)->all.allocs_major++;
  return note(domain, allocation, context);
}
static void *note_promotion(wn_domain *domain, void *minor, void *context) {
  (void)domain;
  ((struct births *)context)->all.promotes++;
  return minor;
}
static void note_minor_death(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata;
  ((struct births *)context)->all.deallocs_minor++;
}
static void note_major_death(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata;
  ((struct births *)context)->all.deallocs_major++;
}

/* The profile begins when the messages were made. */
static void births_open(struct births *births) {
  *births = (struct births){0};
  tracked_open_heap(&births->all);
  births->all.tracker = (wn_tracker){.alloc_minor = note_minor,
                                     .alloc_major = note_major,
                                     .promote = note_promotion,
                                     .dealloc_minor = note_minor_death,
                                     .dealloc_major = note_major_death,
                                     .context = births};
}

struct message {
  void *bytes;
  size_t size;
};

static struct message message_of_list(wn_domain *domain, long length, size_t words) {
  struct message message;
  WN_SCOPE(domain);
  assert_int_equal(
      wn_marshal_write(domain, make_list(domain, length, words), 0, &message.bytes, &message.size), WN_OK);
  return message;
}

static void read_and_drop(wn_domain *domain, struct message message) {
  wn_ref value;
  WN_SCOPE(domain);
  assert_int_equal(wn_marshal_read(domain, message.bytes, message.size, 0, &value, NULL), WN_OK);
}

/* Lists of `length` blocks: of one young message, or of an old one. */
static void count_at_rate_one(long length, size_t words) {
  struct births births;
  births_open(&births);
  wn_domain *domain = births.all.of.domain;
  struct message message = message_of_list(domain, length, words);
  tracked_start(&births.all, 1);
  double before = wn_gc_allocated_bytes(domain);
  read_and_drop(domain, message);
  assert_int_equal(births.all.allocs_minor + births.all.allocs_major, 0); /* callbacks wait for a safepoint */
  wn_poll(domain);
  bool young = length * (long)(words + 1) <= (long)WN_MAX_YOUNG_WORDS;
  assert_int_equal(births.all.allocs_minor, young ? length : 0);
  assert_int_equal(births.all.allocs_major, young ? 0 : length);
  assert_int_equal(births.blocks[WN_SOURCE_MARSHAL], length);
  assert_int_equal(births.blocks[WN_SOURCE_NORMAL], 0);
  assert_int_equal(births.trials[WN_SOURCE_MARSHAL], length * (long)(words + 1));
  assert_int_equal(births.samples[WN_SOURCE_MARSHAL], births.trials[WN_SOURCE_MARSHAL]);
  assert_int_equal(8 * births.samples[WN_SOURCE_MARSHAL], (long)(wn_gc_allocated_bytes(domain) - before));
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(births.all.deallocs_minor + births.all.deallocs_major, length);
  assert_int_equal(births.all.deallocs_minor, young ? length : 0);
  tracked_check(&births.all);
  tracked_close(&births.all);
  free(message.bytes);
}

static void at_rate_one_each_block_that_is_read_is_told_with_its_source(void **state) { /* M13 */
  (void)state;
  for (long length = 1; length < 200; length += 1 + length / 10) count_at_rate_one(length, 2);
  count_at_rate_one(100, 300);
  count_at_rate_one(2, 300000);
  count_at_rate_one(BIRTHS_MOST, 1);
}

/* However many blocks a message has, no more than a fixed number of their births wait. */
static void births_of_a_message_are_lost_beyond_a_bound(void **state) { /* M25b */
  enum { LENGTH = BIRTHS_MOST + BIRTHS_MOST / 2 };
  struct births births;
  (void)state;
  births_open(&births);
  wn_domain *domain = births.all.of.domain;
  struct message message = message_of_list(domain, LENGTH, 1);
  tracked_start(&births.all, 1);
  for (int round = 1; round < 3; round++) {
    read_and_drop(domain, message);
    wn_memprof_count waiting = counts_of(births.all.profile);
    assert_int_equal(waiting.allocs_major, round * BIRTHS_MOST);
    assert_int_equal(waiting.lost, round * (LENGTH - BIRTHS_MOST));
    wn_poll(domain);
    assert_int_equal(births.blocks[WN_SOURCE_MARSHAL], round * BIRTHS_MOST);
  }
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(births.all.deallocs_major, 2 * BIRTHS_MOST);
  tracked_check(&births.all);
  tracked_close(&births.all);
  free(message.bytes);
}

static void check_sum(double samples, double trials, double rate) {
  assert_true(fabs(samples - trials * rate) <= 5.7 * sqrt(trials * rate * (1 - rate)) + 0.5);
}

static void words_that_are_read_are_sampled_at_the_rate(void **state) { /* M13 */
  static const struct {
    double rate;
    long length, rounds;
  } settings[] = {{0.01, 60, 2000}, {0.3, 60, 300}, {0.01, 5000, 30}, {0.3, 5000, 5}, {0.001, 100000, 3}};
  (void)state;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    struct births births;
    births_open(&births);
    wn_domain *domain = births.all.of.domain;
    struct message message = message_of_list(domain, settings[i].length, 3);
    tracked_start(&births.all, settings[i].rate);
    for (long round = 0; round < settings[i].rounds; round++) {
      read_and_drop(domain, message);
      wn_poll(domain);
    }
    long words = settings[i].length * settings[i].rounds * 4;
    check_sum((double)births.samples[WN_SOURCE_MARSHAL], (double)words, settings[i].rate);
    assert_int_equal(births.blocks[WN_SOURCE_NORMAL], 0);
    tracked_check(&births.all);
    tracked_close(&births.all);
    free(message.bytes);
  }
}

/* Of the block and of its memory outside, which is as old as the block. */
static void memory_outside_of_a_block_that_is_read_is_custom(void **state) { /* M13 */
  static const size_t lengths[] = {800};
  struct births births;
  struct message message;
  (void)state;
  births_open(&births);
  wn_domain *domain = births.all.of.domain;
  {
    WN_SCOPE(domain);
    wn_ref array = wn_bigarray_new(domain, WN_BIGARRAY_FLOAT64, false, 1, lengths);
    assert_int_equal(wn_marshal_write(domain, array, 0, &message.bytes, &message.size), WN_OK);
  }
  tracked_start(&births.all, 1);
  read_and_drop(domain, message);
  wn_poll(domain);
  assert_int_equal(births.all.allocs_minor, 2);
  assert_int_equal(births.all.allocs_major, 0);
  assert_int_equal(births.blocks[WN_SOURCE_MARSHAL], 1);
  assert_int_equal(births.blocks[WN_SOURCE_CUSTOM], 1);
  assert_int_equal(births.samples[WN_SOURCE_CUSTOM], 800);
  assert_int_equal(births.samples[WN_SOURCE_MARSHAL], 1 + 2 + 4 + 1);
  tracked_close(&births.all);
  free(message.bytes);
}

/* The blocks of a message that turns out to be wrong were made, and die. */
static void blocks_of_a_wrong_message_are_told(void **state) { /* M13 */
  struct births births;
  (void)state;
  births_open(&births);
  wn_domain *domain = births.all.of.domain;
  struct message young = message_of_list(domain, 50, 2), old = message_of_list(domain, 4000, 2);
  tracked_start(&births.all, 1);
  for (int i = 0; i < 2; i++) {
    struct message *message = i ? &old : &young;
    wn_ref value;
    ((unsigned char *)message->bytes)[message->size - 1] = 0x1f; /* no code */
    assert_int_equal(wn_marshal_read(domain, message->bytes, message->size, 0, &value, NULL), WN_EFORMAT);
  }
  wn_poll(domain);
  assert_int_equal(births.all.allocs_minor, 50);
  assert_int_equal(births.all.allocs_major, 4000);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(births.all.deallocs_minor, 50);
  assert_int_equal(births.all.deallocs_major, 4000);
  tracked_check(&births.all);
  tracked_close(&births.all);
  free(young.bytes);
  free(old.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(at_rate_one_each_block_that_is_read_is_told_with_its_source),
      cmocka_unit_test(births_of_a_message_are_lost_beyond_a_bound),
      cmocka_unit_test(words_that_are_read_are_sampled_at_the_rate),
      cmocka_unit_test(memory_outside_of_a_block_that_is_read_is_custom),
      cmocka_unit_test(blocks_of_a_wrong_message_are_told),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
