/* Keeps the candidates with the smallest least shares, then a set of their blocks. */
#include "sources/survey.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/words.h"
#include <math.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 1024, EVENTS_OF_PROGRESS = 65536 };

/* ---- records ---- */

/* False: there are too many rates to note this one. */
static bool note_rate(struct survey *survey, double rate) {
  for (unsigned i = 0; i < survey->rate_count; i++)
    if (survey->rates[i] == rate) return true;
  if (survey->rate_count == SURVEY_RATES) return false;
  survey->rates[survey->rate_count++] = rate;
  return true;
}

/* The least share with which a sample's block is in the thinned sample at once. */
static double least_of_sample(const struct survey *survey, const struct trace_sample *sample) {
  uint64_t before = sample->grown ? malloc_words(sample->previous_size) : 0;
  struct first_trial first = {before, sample->words, sample->rate};
  double after = thinning_words_after(survey->seed, sample->block, first);
  return fmin(thinning_first_share(survey->seed, sample->block),
              thinning_later_share(survey->seed, sample->block, sample->rate, after));
}

/* A lower bound of the share with which a block is in the thinned sample after a resize: as if its
 * first word had taken the first sample, and all others had had a trial at each rate. */
static double least_of_resize(struct survey *survey, const struct trace_resize *resize) {
  double least = thinning_first_share(survey->seed, resize->block);
  if (!note_rate(survey, resize->rate)) return least; /* a few blocks enter late */
  for (unsigned i = 0; i < survey->rate_count; i++)
    least = fmin(least, thinning_later_share(survey->seed, resize->block, survey->rates[i],
                                             (double)resize->words - 1));
  return least;
}

/* Whether a record brings a block into the sample; with what block and share. */
static bool brings(struct survey *survey, const struct trace_event *event, struct candidate *candidate) {
  if (event->kind == TRACE_SAMPLE)
    *candidate = (struct candidate){event->sample.block, least_of_sample(survey, &event->sample)};
  else if (event->kind == TRACE_RESIZE)
    *candidate = (struct candidate){event->resize.block, least_of_resize(survey, &event->resize)};
  else
    return false;
  return true;
}

/* ---- candidates ---- */

static void survey_swap(struct candidate *one, struct candidate *other) {
  struct candidate kept = *one;
  *one = *other;
  *other = kept;
}

/* Moves the `wanted` candidates with the smallest least shares to the front (Hoare's quickselect).
 * Least shares are as good as random, so any pivot is a good one. */
static void select_least(struct candidate *all, size_t count, size_t wanted) {
  size_t low = 0, high = count;
  while (high - low > 1) {
    double pivot = all[low + (high - low - 1) / 2].least;
    size_t left = low, right = high - 1;
    for (;;) {
      while (all[left].least < pivot) left++;
      while (all[right].least > pivot) right--;
      if (left >= right) break;
      survey_swap(&all[left++], &all[right--]);
    }
    /* Now those up to `right` are at most the pivot, and those behind it at least. */
    if (wanted <= right)
      high = right + 1;
    else
      low = right + 1;
    if (low >= wanted) break;
  }
}

static double smallest(const struct candidate *all, size_t count) {
  double least = 1;
  for (size_t i = 0; i < count; i++)
    if (all[i].least < least) least = all[i].least;
  return least;
}

/* Leaves as many candidates as the bound allows, and lowers the share to the smallest one that is
 * left out. */
static void survey_cut(struct survey *survey) {
  if (survey->count <= survey->most) return;
  select_least(survey->candidates, survey->count, survey->most);
  survey->share = smallest(survey->candidates + survey->most, survey->count - survey->most);
  survey->count = survey->most;
}

/* Has room for one more candidate: by more memory, up to twice the bound, then by a cut. */
static bool survey_make_room(struct survey *survey) {
  if (survey->count < survey->capacity) return true;
  if (survey->capacity >= 2 * survey->most) return survey_cut(survey), true;
  size_t larger = survey->capacity ? 2 * survey->capacity : FIRST_CAPACITY;
  if (larger > 2 * survey->most) larger = 2 * survey->most;
  struct candidate *moved = realloc(survey->candidates, larger * sizeof *moved);
  if (!moved) return false;
  survey->candidates = moved;
  survey->capacity = larger;
  return true;
}

static bool survey_take(struct survey *survey, const struct trace_event *event) {
  struct candidate candidate;
  if (!brings(survey, event, &candidate)) return true;
  if (event->kind == TRACE_SAMPLE) {
    survey->samples++;
    note_rate(survey, event->sample.rate);
  }
  if (candidate.least >= survey->share) return true;
  if (!survey_make_room(survey)) return false;
  survey->candidates[survey->count++] = candidate;
  return true;
}

/* ---- the set of chosen blocks ---- */

static bool survey_is_chosen(const struct survey *survey, uint64_t block) {
  if (!block) return survey->zero;
  size_t i = hash_mix(block) & survey->slot_mask;
  while (survey->slots[i] && survey->slots[i] != block) i = (i + 1) & survey->slot_mask;
  return survey->slots[i];
}

/* Without room for more the block is left out, as if it had been sampled later. */
static bool survey_choose(struct survey *survey, uint64_t block) {
  if (!block) return survey->zero = true;
  size_t i = hash_mix(block) & survey->slot_mask;
  while (survey->slots[i] && survey->slots[i] != block) i = (i + 1) & survey->slot_mask;
  if (survey->slots[i]) return true;
  if (survey->chosen >= survey->slot_mask - survey->slot_mask / 4) return false;
  survey->slots[i] = block;
  survey->chosen++;
  return true;
}

static bool make_set(struct survey *survey) {
  size_t slots = 16;
  while (slots < 2 * survey->count) slots *= 2;
  survey->slots = calloc(slots, sizeof *survey->slots);
  if (!survey->slots) return false;
  survey->slot_mask = slots - 1;
  for (size_t i = 0; i < survey->count; i++) survey_choose(survey, survey->candidates[i].block);
  return true;
}

/* Makes the choice. Nothing was cut from a source within the bound. */
static bool survey_finish(struct survey *survey) {
  bool done = true;
  if (survey->samples > survey->most) {
    survey_cut(survey);
    done = make_set(survey);
  } else {
    survey->share = 1;
  }
  free(survey->candidates);
  survey->candidates = NULL;
  survey->count = survey->capacity = 0;
  return done;
}

/* ---- shared ---- */

wn_status survey_source(struct survey *survey, struct source *source, size_t most, uint64_t seed,
                        survey_progress *progress, void *context) {
  struct trace_event event;
  *survey = (struct survey){.seed = seed, .most = most, .share = 1};
  bool done = true;
  for (uint64_t i = 0; done && source_next(source, &event); i++) {
    done = survey_take(survey, &event);
    if (progress && i % EVENTS_OF_PROGRESS == 0) progress(source_position(source), context);
  }
  if (done && survey_finish(survey)) return WN_OK;
  survey_destroy(survey);
  return error_set(WN_ENOMEM, "not enough memory to choose among the samples");
}

void survey_destroy(struct survey *survey) {
  free(survey->candidates);
  free(survey->slots);
  survey->candidates = NULL;
  survey->slots = NULL;
}

bool survey_keeps(const struct trace_event *event, void *context) {
  struct survey *survey = context;
  if (survey->share >= 1) return true;
  switch (event->kind) {
  case TRACE_SAMPLE:
    return survey_is_chosen(survey, event->sample.block) ||
           (least_of_sample(survey, &event->sample) < survey->share &&
            survey_choose(survey, event->sample.block));
  case TRACE_RESIZE: return survey_is_chosen(survey, event->resize.block);
  case TRACE_FREE: return survey_is_chosen(survey, event->free.block);
  case TRACE_PROMOTE: return survey_is_chosen(survey, event->promote.block);
  case TRACE_TYPE: return survey_is_chosen(survey, event->type.block);
  default: return true;
  }
}
/* SPDX-License-Identifier: MIT */
