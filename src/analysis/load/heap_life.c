/* Makes a heap's records consistent.
 *
 * A trace may be damaged, or come from a program whose heap counters were wrong. Checksums detect
 * most damage, so what remains are single wrong numbers. But the reports take differences of
 * counters, and one wrong counter would spoil them all. So of the records in order of time only a
 * longest subsequence whose counter never falls is kept, found by patience sorting: the most
 * records that agree with each other. A record whose counter is too high or too low is the only one
 * lost.
 */
#include "analysis/load/heap_life.h"

#include "analysis/load/order.h"
#include "base/array.h"

#include <stdlib.h>

/* No heap counts this far. Differences and sums of smaller counters are exact as doubles. */
#define COUNTER_MOST ((uint64_t)1 << 52)

static bool is_plausible(const struct trace_collection *collection) {
  return collection->minor_words < COUNTER_MOST && collection->promoted_words < COUNTER_MOST &&
         collection->direct_words < COUNTER_MOST && collection->minor_collections < COUNTER_MOST &&
         collection->major_cycles < COUNTER_MOST && collection->heap_words < COUNTER_MOST &&
         collection->live_words < COUNTER_MOST && collection->domains < COUNTER_MOST &&
         collection->ns <= collection->time_ns;
}

static bool is_possible(const struct trace_pause *pause) {
  return pause->kind < TRACE_PAUSES && pause->ns <= pause->time_ns && pause->ns <= pause->total_ns &&
         pause->count && pause->total_ns < COUNTER_MOST;
}

/* ---- the longest subsequence that never falls ---- */

/* ends[i] is the index of the smallest value that ends a subsequence of length i + 1. Returns the
 * first i whose value is larger than `value`, or `count`. */
static size_t heap_life_place_of(const uint64_t *values, const size_t *ends, size_t count, uint64_t value) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (values[ends[middle]] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Writes the indexes of the values of a longest subsequence to `kept`, in order. Returns their
 * number; 0 without memory. */
static size_t keep_rising(const uint64_t *values, size_t count, size_t *kept) {
  size_t *before = malloc((count + 1) * sizeof *before), longest = 0;
  if (!before) return 0;
  for (size_t i = 0; i < count; i++) {
    size_t at = heap_life_place_of(values, kept, longest, values[i]);
    before[i] = at ? kept[at - 1] : SIZE_MAX;
    kept[at] = i;
    if (at == longest) longest++;
  }
  size_t i = longest ? kept[longest - 1] : 0;
  for (size_t at = longest; at > 0; i = before[i]) kept[--at] = i;
  free(before);
  return longest;
}

/* ---- settling ---- */

/* At one time, by their counters: for example a cycle and the collection in which it ended. */
static int heap_life_by_time(const void *a, const void *b) {
  const struct trace_collection *left = a, *right = b;
  int order = order_numbers(left->time_ns, right->time_ns);
  if (!order) order = order_numbers(heap_life_allocated(left), heap_life_allocated(right));
  return order ? order : order_numbers(left->minor_collections, right->minor_collections);
}

static int by_pause_time(const void *a, const void *b) {
  const struct trace_pause *left = a, *right = b;
  int order = order_numbers(left->time_ns, right->time_ns);
  return order ? order : order_numbers(left->total_ns, right->total_ns);
}

/* At one time, beginnings come before ends. */
static int by_domain_time(const void *a, const void *b) {
  const struct trace_domain *left = a, *right = b;
  int order = order_numbers(left->time_ns, right->time_ns);
  return order ? order : order_numbers(left->what, right->what);
}

static bool complete_collections(struct heap_life *life) {
  size_t count = life->collection_count;
  uint64_t *values = malloc((count + 1) * sizeof *values);
  size_t *kept = malloc((count + 1) * sizeof *kept);
  bool done = values && kept;
  if (done && count) {
    qsort(life->collections, count, sizeof *life->collections, heap_life_by_time);
    for (size_t i = 0; i < count; i++) values[i] = heap_life_allocated(&life->collections[i]);
    life->collection_count = keep_rising(values, count, kept);
    for (size_t i = 0; i < life->collection_count; i++) life->collections[i] = life->collections[kept[i]];
    done = life->collection_count > 0;
    life->records.wrong += count - life->collection_count;
  }
  free(values);
  free(kept);
  return done;
}

/* Takes the totals of a kind of pause from the last record that agrees with the others of its kind.
 */
static bool complete_totals(struct heap_life *life, unsigned kind) {
  uint64_t *values = malloc((life->pause_count + 1) * sizeof *values);
  size_t *kept = malloc((life->pause_count + 1) * sizeof *kept),
         *which = malloc((life->pause_count + 1) * sizeof *which);
  size_t count = 0;
  bool done = values && kept && which;
  for (size_t i = 0; i < life->pause_count && done; i++)
    if (life->pauses[i].kind == kind) {
      values[count] = life->pauses[i].total_ns;
      which[count++] = i;
    }
  size_t rising = done && count ? keep_rising(values, count, kept) : 0;
  if (count && !rising) done = false;
  if (rising) {
    const struct trace_pause *last = &life->pauses[which[kept[rising - 1]]];
    life->paused[kind].count = last->count;
    life->paused[kind].total_ns = last->total_ns;
  }
  free(values);
  free(kept);
  free(which);
  return done;
}

static bool complete_pauses(struct heap_life *life) {
  if (life->pause_count) qsort(life->pauses, life->pause_count, sizeof *life->pauses, by_pause_time);
  for (size_t i = 0; i < life->pause_count; i++)
    if (life->pauses[i].ns >= PAUSE_LONG_NS && life->pauses[i].ns > life->longest.ns)
      life->longest = life->pauses[i];
  for (unsigned kind = 0; kind < TRACE_PAUSES; kind++)
    if (!complete_totals(life, kind)) return false;
  return true;
}

/* A domain whose beginning was lost counts as living from the start of the trace. */
static void complete_domains(struct heap_life *life, uint64_t end_ns) {
  uint64_t running = 0;
  if (life->domain_count) qsort(life->domains, life->domain_count, sizeof *life->domains, by_domain_time);
  for (size_t i = 0; i < life->domain_count; i++) {
    const struct trace_domain *domain = &life->domains[i];
    bool begins = domain->what == TRACE_DOMAIN_BEGINS;
    if (begins) {
      life->domains_begun++;
      life->domain_ns += (double)(end_ns - domain->time_ns);
      if (++running > life->domains_most) life->domains_most = running;
    } else {
      life->domain_ns += running ? -(double)(end_ns - domain->time_ns) : (double)domain->time_ns;
      if (running) running--;
    }
  }
}

static int longer_first(const void *a, const void *b) {
  return order_numbers(*(const uint64_t *)b, *(const uint64_t *)a);
}

static int earlier_first(const void *a, const void *b) {
  return order_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static bool complete_cycles(struct heap_life *life) {
  life->cycles = malloc((life->collection_count + 1) * sizeof *life->cycles);
  if (!life->cycles) return false;
  for (size_t i = 0; i < life->collection_count; i++) {
    const struct trace_collection *collection = &life->collections[i];
    if (collection->kind == TRACE_COLLECTION_MAJOR)
      life->cycles[life->cycle_count++] = collection->time_ns - collection->ns;
  }
  qsort(life->cycles, life->cycle_count, sizeof *life->cycles, earlier_first);
  return true;
}

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* ---- shared ---- */

bool heap_life_keep(struct heap_life *life, const struct trace_event *event) {
  switch (event->kind) {
  case TRACE_COLLECTION:
    life->records.collections++;
    if (!is_plausible(&event->collection)) return life->records.wrong++, true;
    if (!array_reserve(&life->collections, &life->collection_capacity, life->collection_count + 1,
                       sizeof *life->collections))
      return false;
    life->collections[life->collection_count++] = event->collection;
    return true;
  case TRACE_PAUSE:
    life->records.pauses++;
    if (!is_possible(&event->pause)) return life->records.wrong++, true;
    if (!array_reserve(&life->pauses, &life->pause_capacity, life->pause_count + 1, sizeof *life->pauses))
      return false;
    life->pauses[life->pause_count++] = event->pause;
    return true;
  case TRACE_DOMAIN:
    life->records.domains++;
    if (event->domain.what > TRACE_DOMAIN_ENDS) return life->records.wrong++, true;
    if (!array_reserve(&life->domains, &life->domain_capacity, life->domain_count + 1, sizeof *life->domains))
      return false;
    life->domains[life->domain_count++] = event->domain;
    return true;
  default: return true;
  }
}

bool heap_life_complete(struct heap_life *life, uint64_t end_ns) {
  complete_domains(life, end_ns);
  return complete_collections(life) && complete_cycles(life) && complete_pauses(life);
}

void heap_life_destroy(struct heap_life *life) {
  free(life->collections);
  free(life->cycles);
  free(life->pauses);
  free(life->domains);
  *life = (struct heap_life){0};
}

struct trace_collection heap_life_total(const struct heap_life *life) {
  if (!life->collection_count) return (struct trace_collection){0};
  const struct trace_collection *first = &life->collections[0];
  struct trace_collection total = life->collections[life->collection_count - 1];
  total.minor_words = difference(total.minor_words, first->minor_words);
  total.promoted_words = difference(total.promoted_words, first->promoted_words);
  total.direct_words = difference(total.direct_words, first->direct_words);
  total.minor_collections = difference(total.minor_collections, first->minor_collections);
  total.major_cycles = difference(total.major_cycles, first->major_cycles);
  return total;
}

bool heap_life_is_whole(const struct heap_life *life, uint64_t end_ns) {
  uint64_t near = end_ns / 50 + 1000000;
  if (!life->collection_count) return false;
  return life->collections[0].time_ns <= near &&
         life->collections[life->collection_count - 1].time_ns >= end_ns - near;
}

struct trace_collection heap_life_largest(const struct heap_life *life) {
  struct trace_collection largest = {0};
  for (size_t i = 0; i < life->collection_count; i++)
    if (life->collections[i].heap_words > largest.heap_words) largest = life->collections[i];
  return largest;
}

uint64_t heap_life_pauses(const struct heap_life *life) {
  uint64_t count = 0;
  for (unsigned kind = 0; kind < TRACE_PAUSES; kind++) count += life->paused[kind].count;
  return count;
}

double heap_life_paused_ns(const struct heap_life *life) {
  double total = 0;
  for (unsigned kind = 0; kind < TRACE_PAUSES; kind++) total += (double)life->paused[kind].total_ns;
  return total;
}

uint64_t heap_life_pause_at(const struct heap_life *life, double share) {
  uint64_t *lengths = malloc((life->pause_count + 1) * sizeof *lengths),
           longer = (uint64_t)(((double)heap_life_pauses(life)) * (1 - share) + 1e-6);
  size_t count = 0;
  if (!lengths) return life->longest.ns;
  for (size_t i = 0; i < life->pause_count; i++)
    if (life->pauses[i].ns >= PAUSE_LONG_NS) lengths[count++] = life->pauses[i].ns;
  qsort(lengths, count, sizeof *lengths, longer_first);
  uint64_t length = longer < count ? lengths[longer] : PAUSE_LONG_NS;
  free(lengths);
  return length;
}

enum next_cycle heap_life_next_cycle(const struct heap_life *life, uint64_t promoted_ns, uint64_t died_ns) {
  size_t next = times_until(life->cycles, life->cycle_count, promoted_ns);
  if (next == life->cycle_count) return NEXT_CYCLE_UNKNOWN;
  uint64_t until = next + 1 < life->cycle_count ? life->cycles[next + 1] : UINT64_MAX;
  return died_ns < until ? NEXT_CYCLE_DEAD : NEXT_CYCLE_ALIVE;
}

size_t times_until(const uint64_t *times, size_t count, uint64_t ns) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (times[middle] <= ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool words_clock_create(struct words_clock *clock, size_t points) {
  *clock =
      (struct words_clock){array_new(points, sizeof *clock->ns), array_new(points, sizeof *clock->words), 0};
  if (clock->ns && clock->words) return true;
  words_clock_destroy(clock);
  return false;
}

void words_clock_add(struct words_clock *clock, uint64_t ns, double words) {
  clock->ns[clock->count] = ns;
  clock->words[clock->count++] = words;
}

void words_clock_destroy(struct words_clock *clock) {
  free(clock->ns);
  free(clock->words);
  *clock = (struct words_clock){0};
}

double words_clock_at(const struct words_clock *clock, uint64_t ns) {
  size_t low = times_until(clock->ns, clock->count, ns);
  if (!low) return clock->count ? clock->words[0] : 0;
  if (low == clock->count) return clock->words[low - 1];
  double share = (double)(ns - clock->ns[low - 1]) / (double)(clock->ns[low] - clock->ns[low - 1]);
  return clock->words[low - 1] + share * (clock->words[low] - clock->words[low - 1]);
}
/* SPDX-License-Identifier: MIT */
