/* Makes rows of the records of mappings, and accounts for resident memory.
 *
 * The records are in no order of time. So the size changes of each mapping are sorted, and each
 * change ends a row and begins the next. Records of a mapping whose own record was lost are
 * ignored. A touch says how much of a mapping was resident when the process's memory was measured;
 * a mapping without one counts as not resident.
 */
#include "analysis/load/mapped.h"

#include "analysis/load/samples.h"
#include "base/array.h"
#include <stdlib.h>

/* A moment counts as one of (nearly) the largest resident size if at most 1 / ALMOST_ALL (1 /
 * NEARLY_ALL) of that size is missing. */
enum { ALMOST_ALL = 200, NEARLY_ALL = 8, ANY_SIZE = 1 };

/* A measurement explains the largest size that the kernel counted if that size is larger by at most
 * 1 / EXPLAINED. */
enum { EXPLAINED = 5 };

/* A first measurement that is later, and comes after a sample, does not tell what the process had before. */
#define START_NS ((uint64_t)10 * 1000 * 1000)

static int by_mapping(const void *a, const void *b) {
  return order_numbers(((const struct row *)a)->block, ((const struct row *)b)->block);
}

static int by_mapping_and_time(const void *a, const void *b) {
  const struct touch *left = a, *right = b;
  int order = order_numbers(left->mapping, right->mapping);
  return order ? order : order_numbers(left->time_ns, right->time_ns);
}

/* At one time, the end of a mapping comes last. */
static int mapped_by_change(const void *a, const void *b) {
  const struct trace_map_size *left = a, *right = b;
  int order = order_numbers(left->mapping, right->mapping);
  if (!order) order = order_numbers(left->time_ns, right->time_ns);
  return order ? order : (left->bytes == 0) - (right->bytes == 0);
}

static struct row mapped_row_of(const struct trace_map *map) {
  return (struct row){.block = map->mapping,
                      .begin_ns = map->time_ns,
                      .end_ns = STILL_ALIVE,
                      .born_ns = map->time_ns,
                      .died_ns = STILL_ALIVE,
                      .promoted_ns = NEVER,
                      .size = map->bytes,
                      .probability = 1,
                      .stack = map->stack,
                      .thread = map->thread,
                      .source = map->kind,
                      .call = true,
                      .first = true,
                      .last = true};
}

static bool mapped_add_row(struct mapped *mapped, struct row row) {
  if (!array_reserve(&mapped->rows, &mapped->capacity, mapped->count + 1, sizeof row)) return false;
  mapped->rows[mapped->count++] = row;
  return true;
}

/* Ends the row at `at` and appends the row with the new size, unless the mapping ends. Returns the
 * index of the last row of the mapping, or SIZE_MAX without memory. */
static size_t mapped_resize(struct mapped *mapped, size_t at, const struct trace_map_size *size) {
  struct row next = mapped->rows[at];
  uint64_t time = size->time_ns > next.begin_ns ? size->time_ns : next.begin_ns;
  mapped->rows[at].end_ns = time;
  if (!size->bytes) {
    mapped->rows[at].died_ns = time;
    return at;
  }
  mapped->rows[at].last = false;
  next.begin_ns = time;
  next.size = size->bytes;
  next.call = next.first = false;
  return mapped_add_row(mapped, next) ? mapped->count - 1 : SIZE_MAX;
}

/* Applies the size changes to the rows. Changes of a mapping whose record was lost are skipped. */
static bool apply_sizes(struct mapped *mapped) {
  size_t mappings = mapped->count, size = 0;
  for (size_t i = 0; i < mappings; i++) {
    uint64_t mapping = mapped->rows[i].block;
    size_t at = i;
    while (size < mapped->size_count && mapped->sizes[size].mapping < mapping) size++;
    for (; size < mapped->size_count && mapped->sizes[size].mapping == mapping; size++)
      if (mapped->rows[at].end_ns == STILL_ALIVE &&
          (at = mapped_resize(mapped, at, &mapped->sizes[size])) == SIZE_MAX)
        return false;
  }
  return true;
}

/* The number of touches, in their order, up to the last touch of a mapping at or before a time. */
static size_t touches_until(const struct mapped *mapped, uint64_t mapping, uint64_t until_ns) {
  size_t low = 0, high = mapped->touch_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct touch *touch = &mapped->touches[middle];
    if (touch->mapping < mapping || (touch->mapping == mapping && touch->time_ns <= until_ns))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The last touch of a mapping at or before a time; NULL if nothing of it was resident then. */
static const struct touch *last_touch(const struct samples *samples, const struct row *row,
                                      uint64_t time_ns) {
  size_t count = touches_until(&samples->mapped, row->block, time_ns);
  const struct touch *last = count ? &samples->mapped.touches[count - 1] : NULL;
  return last && last->mapping == row->block && last->bytes ? last : NULL;
}

/* Adds a mapping to the sums. If the mapping has shrunk since the touch, private and file pages are
 * assumed to have shrunk in proportion. */
static void mapped_add_resident(struct resident *sum, const struct touch *touch, double resident) {
  double files = resident * (double)touch->files / (double)touch->bytes;
  sum->mapped_files += files;
  sum->mapped_private += resident - files;
}

static uint64_t mapped_apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Of the measurements that miss at most 1 / `part` of the largest resident size, the one nearest to
 * `near_ns`; NULL if nothing was measured. `complete`: only measurements that include mappings
 * count. */
static const struct memory_point *largest(const struct samples *samples, uint64_t part, uint64_t near_ns,
                                          bool complete) {
  const struct memory_point *most = NULL, *next = NULL;
  for (size_t i = 0; i < samples->memory_count; i++) {
    const struct memory_point *point = &samples->memory[i];
    if ((!complete || point->complete) && (!most || point->rss_bytes > most->rss_bytes)) most = point;
  }
  for (size_t i = 0; i < samples->memory_count; i++) {
    const struct memory_point *point = &samples->memory[i];
    if ((complete && !point->complete) || point->rss_bytes < most->rss_bytes - most->rss_bytes / part)
      continue;
    if (!next || mapped_apart(point->time_ns, near_ns) < mapped_apart(next->time_ns, near_ns)) next = point;
  }
  return next;
}

/* Finds the largest resident size. The kernel's count of it is in the end record, and in the last
 * measurement. The latter is used only if no signal ended the program: the recorder also takes a
 * last measurement before an exec, the exec may fail, and a signal may end the program long after
 * that. */
static void mapped_find_most(const struct samples *samples, struct resident *most) {
  bool last = samples->ended && samples->end.kind != TRACE_END_SIGNAL;
  uint64_t counted = samples->ended ? samples->end.peak_bytes : 0;
  for (size_t i = 0; i < samples->memory_count; i++) {
    const struct memory_point *point = &samples->memory[i];
    if (last && point->peak_bytes > counted) counted = point->peak_bytes;
    if (point->peak_bytes > most->most_bytes) most->most_bytes = point->peak_bytes;
    if (point->rss_bytes > most->most_bytes) most->most_bytes = point->rss_bytes;
  }
  most->counted = counted > 0;
  if (counted > most->most_bytes) most->most_bytes = counted;
}

/* Fills in the parts at a measurement. */
static void take_apart(const struct samples *samples, const struct memory_point *point,
                       struct resident *parts) {
  parts->rss_bytes = point->rss_bytes;
  parts->time_ns = point->time_ns;
  double private = (double)point->private_bytes;
  for (size_t i = 0; i < samples->mapped.count; i++) {
    const struct row *row = &samples->mapped.rows[i];
    if (row->begin_ns > parts->time_ns || row->end_ns <= parts->time_ns) continue;
    const struct touch *touch = last_touch(samples, row, parts->time_ns);
    double resident = mapped_resident(samples, row, parts->time_ns);
    if (row->source == TRACE_MAP_STACK) {
      parts->stack_bytes += resident;
      continue;
    }
    if (row->source == TRACE_MAP_ARENA) {
      parts->arena_bytes += resident;
      continue;
    }
    if (touch) mapped_add_resident(parts, touch, resident);
    parts->mapped_bytes += (double)row->size;
  }
  double files = (double)parts->rss_bytes - private;
  parts->private_bytes = private;
  parts->own_bytes = (double)point->own_bytes;
  parts->asked = point->asked;
  parts->in_use = (double)point->in_use_bytes;
  parts->free = (double)point->free_bytes;
  parts->files_bytes = files > parts->mapped_files ? files - parts->mapped_files : 0;
}

static struct resident account(const struct samples *samples, uint64_t part, uint64_t near_ns) {
  struct resident most = {.measured = true};
  mapped_find_most(samples, &most);
  const struct memory_point *point = largest(samples, part, near_ns, samples->mapped.count > 0);
  if (!point) {
    most.measured = false;
    point = largest(samples, part, near_ns, false);
  }
  if (!point) return most;
  take_apart(samples, point, &most);
  most.explained = most.counted && most.most_bytes <= most.rss_bytes + most.rss_bytes / EXPLAINED;
  return most;
}

/* ---- shared ---- */

bool mapped_keep(struct mapped *mapped, const struct trace_event *event) {
  switch (event->kind) {
  case TRACE_MAP: return mapped_add_row(mapped, mapped_row_of(&event->map));
  case TRACE_MAP_SIZE:
    if (!array_reserve(&mapped->sizes, &mapped->size_capacity, mapped->size_count + 1, sizeof *mapped->sizes))
      return false;
    mapped->sizes[mapped->size_count++] = event->map_size;
    return true;
  case TRACE_MAP_TOUCHED:
    if (!array_reserve(&mapped->touches, &mapped->touch_capacity, mapped->touch_count + 1,
                       sizeof *mapped->touches))
      return false;
    mapped->touches[mapped->touch_count++] = (struct touch){.mapping = event->map_touched.mapping,
                                                            .time_ns = event->map_touched.time_ns,
                                                            .bytes = event->map_touched.bytes,
                                                            .files = event->map_touched.files};
    return true;
  default: return true;
  }
}

bool mapped_complete(struct mapped *mapped) {
  if (mapped->count) qsort(mapped->rows, mapped->count, sizeof *mapped->rows, by_mapping);
  if (mapped->size_count) qsort(mapped->sizes, mapped->size_count, sizeof *mapped->sizes, mapped_by_change);
  if (mapped->touch_count)
    qsort(mapped->touches, mapped->touch_count, sizeof *mapped->touches, by_mapping_and_time);
  if (!apply_sizes(mapped)) return false;
  if (mapped->count) qsort(mapped->rows, mapped->count, sizeof *mapped->rows, samples_by_begin);
  free(mapped->sizes);
  mapped->sizes = NULL;
  mapped->size_count = mapped->size_capacity = 0;
  return true;
}

void mapped_destroy(struct mapped *mapped) {
  free(mapped->rows);
  free(mapped->touches);
  free(mapped->sizes);
  *mapped = (struct mapped){0};
}

bool mapped_has_arenas(const struct samples *samples) {
  for (size_t i = 0; i < samples->mapped.count; i++)
    if (samples->mapped.rows[i].source == TRACE_MAP_ARENA) return true;
  return false;
}

double mapped_resident(const struct samples *samples, const struct row *row, uint64_t time_ns) {
  const struct touch *last = last_touch(samples, row, time_ns);
  return last ? (double)(last->bytes < row->size ? last->bytes : row->size) : 0;
}

struct resident mapped_when_most_was_resident(const struct samples *samples) {
  return account(samples, ALMOST_ALL, 0);
}

struct resident mapped_near(const struct samples *samples, uint64_t near_ns) {
  return account(samples, ANY_SIZE, near_ns);
}

struct resident mapped_when_asked(const struct samples *samples, uint64_t near_ns, bool until) {
  struct resident asked = {.measured = true};
  const struct memory_point *found = NULL;
  for (size_t i = 0; i < samples->memory_count && (until || !found); i++) {
    const struct memory_point *point = &samples->memory[i];
    bool there = until ? point->time_ns <= near_ns : point->time_ns >= near_ns;
    if (point->asked && point->complete && there) found = point;
  }
  if (found) take_apart(samples, found, &asked);
  return asked;
}

/* Whether nothing was sampled before a time, as far as all is there that was recorded until then. */
static bool is_before_samples(const struct samples *samples, uint64_t time_ns) {
  bool sampled = samples->row_count && samples->rows[0].begin_ns < time_ns;
  return !sampled && !source_damage(samples->source)->dropped.count;
}

struct resident mapped_at_start(const struct samples *samples) {
  struct resident start = {.measured = true};
  const struct memory_point *first = samples->memory;
  bool one = samples->process_count < 2; /* of several, the others start later */
  if (one && samples->memory_count &&
      (first->time_ns <= START_NS || is_before_samples(samples, first->time_ns)) &&
      (first->complete || !samples->mapped.count))
    take_apart(samples, first, &start);
  return start;
}

struct resident mapped_when_nearly_most_was_resident(const struct samples *samples, uint64_t near_ns) {
  return account(samples, NEARLY_ALL, near_ns);
}
/* SPDX-License-Identifier: MIT */
