/* Reads a trace into rows.
 *
 * The records of a trace are in the order of chunks, not of time: a block's free may come before
 * its sample. So all records are collected first, then joined by block number, then ordered by
 * time. Records that contradict each other (a second free, a free without a sample) are counted in
 * `unmatched` and left out.
 *
 * DROPPED. Of a block that was born before a time of which the recorder dropped chunks, and of
 * which no later record is left, the free may have been dropped. It counts as freed at the begin of
 * that time if it was younger then than that time is long, and as alive if it was older: half of
 * the blocks that have lived for a time go on to live as long again if ages are as skewed as those
 * of most programs are (a Pareto distribution of index 1). The report says that it is of a part of
 * the run.
 */
#include "analysis/load/samples.h"

#include "analysis/load/rates.h"
#include "analysis/load/strings.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "sources/files/open.h"
#include "sources/memory_bound.h"
#include "sources/reused.h"
#include "sources/source.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- types of blocks ---- */

struct named_type {
  uint64_t type; /* its number in the trace */
  uint32_t name; /* that of its name among the strings */
};

struct typed_block {
  uint64_t block, type;
};

/* Zeroed memory is empty. */
struct block_types {
  struct strings *strings;
  struct named_type *named;
  size_t named_count, named_capacity;
  struct index by_type;       /* of `named`, numbers plus 1 */
  struct typed_block *blocks; /* in the order of blocks */
  size_t count, capacity;
};

static struct named_type *find_block_types(const struct block_types *types, uint64_t type) {
  struct index_walk walk = {.hash = hash_mix(type)};
  uint32_t at;
  while ((at = index_next(&types->by_type, &walk)))
    if (types->named[at - 1].type == type) return &types->named[at - 1];
  return NULL;
}

/* The number of a name; 0 without memory. */
static uint32_t block_types_intern(struct block_types *types, const char *name) {
  if (!types->strings && !(types->strings = strings_create())) return 0;
  return strings_intern(types->strings, *name ? name : "(no name)");
}

/* The name of a type, which may be in a part of the trace that is lost. 0 without memory. */
static uint32_t block_types_name_of(struct block_types *types, uint64_t type) {
  const struct named_type *found = find_block_types(types, type);
  return found ? found->name : block_types_intern(types, "(the name of this type is lost)");
}

static const struct typed_block *block_types_find_block(const struct block_types *types, uint64_t block) {
  size_t low = 0, high = types->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (types->blocks[middle].block < block)
      low = middle + 1;
    else
      high = middle;
  }
  return low < types->count && types->blocks[low].block == block ? &types->blocks[low] : NULL;
}

/* All of these return false without memory. block_types_name: a type has a name. block_types_add: a
 * block has a type; blocks come in ascending order, and the last type of a block counts.
 * block_types_find: `*name` becomes the number of the name of a block's type among the strings; 0:
 * it has none. */
static bool block_types_name(struct block_types *types, const struct trace_type_name *event) {
  struct named_type named = {event->type, block_types_intern(types, event->name.bytes)};
  if (!named.name) return false;
  if (find_block_types(types, event->type)) return true;
  return ARRAY_ADD(types->named, types->named_count, types->named_capacity, named) &&
         index_add(&types->by_type, hash_mix(event->type), (uint32_t)types->named_count);
}

static bool block_types_add(struct block_types *types, uint64_t block, uint64_t type) {
  struct typed_block *last = types->count ? &types->blocks[types->count - 1] : NULL;
  if (last && last->block == block) return last->type = type, true;
  return ARRAY_ADD(types->blocks, types->count, types->capacity, (struct typed_block){block, type});
}

static bool block_types_find(struct block_types *types, uint64_t block, uint32_t *name) {
  const struct typed_block *found = block_types_find_block(types, block);
  *name = found ? block_types_name_of(types, found->type) : 0;
  return !found || *name;
}

static void block_types_destroy(struct block_types *types) {
  strings_free(types->strings);
  free(types->named);
  free(types->by_type.slots);
  free(types->blocks);
}

/* ---- changes ---- */

/* In the order in which changes can happen to a block. */
enum change_kind { RESIZED, PROMOTED, TYPED, FREED };

struct change {
  uint64_t block, time_ns, size, words; /* TYPED: size is the number of the type */
  uint32_t thread, stack;
  uint16_t rate; /* as that of struct row */
  enum change_kind kind;
};

struct loading {
  struct samples *samples;
  struct trace_sample *born;
  struct change *changes;
  size_t born_count, born_capacity, change_count, change_capacity, memory_capacity, thread_capacity,
      row_capacity, rate_capacity, rate_change_capacity, group_capacity;
  bool born_unordered, rows_unordered; /* most traces have all in order, and each look at all takes long */
  uint16_t last_rate;                  /* the index that was found last */
  struct block_types types;
  const struct trace_times *dropped; /* DROPPED; NULL: of several processes */
};

/* The index of a rate, which it gets if it has none. False without memory. */
static bool index_rate(struct loading *loading, double rate, uint16_t *index) {
  struct samples *samples = loading->samples;
  uint16_t i = loading->last_rate;
  if (samples->rates[i] != rate)
    for (i = 0; i < samples->rate_count && samples->rates[i] != rate;) i++;
  if (i == samples->rate_count &&
      (i == UINT16_MAX || !(ARRAY_ADD(samples->rates, samples->rate_count, loading->rate_capacity, rate))))
    return false;
  *index = loading->last_rate = i;
  return true;
}

static bool samples_keep_resize(struct loading *loading, const struct trace_resize *event) {
  struct change change = {.block = event->block,
                          .time_ns = event->time_ns,
                          .size = event->size,
                          .words = event->words,
                          .thread = event->thread,
                          .stack = event->stack};
  return index_rate(loading, event->rate, &change.rate) &&
         (ARRAY_ADD(loading->changes, loading->change_count, loading->change_capacity, change));
}

static bool keep_rate(struct loading *loading, const struct trace_rate *event) {
  struct samples *samples = loading->samples;
  struct rate_change change = {event->time_ns, event->rate,
                               source_process_of(event->thread, source_process_count(samples->source)),
                               event->cause};
  return ARRAY_ADD(samples->rate_changes, samples->rate_change_count, loading->rate_change_capacity, change);
}

static bool keep_thread_name(struct loading *loading, const struct trace_thread_name *event) {
  struct samples *samples = loading->samples;
  char *name = strndup(event->name.bytes, event->name.length);
  if (!name) return false;
  for (size_t i = 0; i < samples->thread_count; i++) {
    struct thread_name *known = &samples->threads[i];
    if (known->thread != event->thread) continue;
    bool later = event->time_ns >= known->time_ns;
    free(later ? known->name : name);
    if (later) *known = (struct thread_name){event->thread, name, event->time_ns};
    return true;
  }
  struct thread_name entry = {event->thread, name, event->time_ns};
  return ARRAY_ADD(samples->threads, samples->thread_count, loading->thread_capacity, entry);
}

static bool keep_change(struct loading *loading, struct change change) {
  return ARRAY_ADD(loading->changes, loading->change_count, loading->change_capacity, change);
}

static int samples_by_block(const void *a, const void *b) {
  const struct trace_sample *left = a, *right = b;
  int order = order_numbers(left->block, right->block);
  return order ? order : order_numbers(left->time_ns, right->time_ns);
}

static bool keep_sample(struct loading *loading, const struct trace_sample *sample) {
  const struct trace_sample *born = loading->born;
  loading->born_unordered |=
      loading->born_count && samples_by_block(&born[loading->born_count - 1], sample) > 0;
  return ARRAY_ADD(loading->born, loading->born_count, loading->born_capacity, *sample);
}

static bool samples_keep_exec(struct samples *samples, const struct trace_text *path) {
  free(samples->became);
  samples->became = path->length ? strdup(path->bytes) : NULL;
  return !path->length || samples->became;
}

static bool samples_keep(struct loading *loading, const struct trace_event *event) {
  struct samples *samples = loading->samples;
  if (event->at.time_ns > samples->end_ns) samples->end_ns = event->at.time_ns;
  switch (event->kind) {
  case TRACE_SAMPLE: return keep_sample(loading, &event->sample);
  case TRACE_FREE:
    return keep_change(loading, (struct change){.block = event->free.block,
                                                .time_ns = event->free.time_ns,
                                                .thread = event->free.thread,
                                                .kind = FREED});
  case TRACE_PROMOTE:
    return keep_change(
        loading,
        (struct change){.block = event->promote.block, .time_ns = event->promote.time_ns, .kind = PROMOTED});
  case TRACE_TYPE:
    return keep_change(loading, (struct change){.block = event->type.block,
                                                .time_ns = event->type.time_ns,
                                                .size = event->type.type,
                                                .kind = TYPED});
  case TRACE_TYPE_NAME: return block_types_name(&loading->types, &event->type_name);
  case TRACE_RESIZE: return samples_keep_resize(loading, &event->resize);
  case TRACE_RATE: return keep_rate(loading, &event->rate);
  case TRACE_MEMORY: {
    struct memory_point point = {
        event->memory.time_ns,
        event->memory.rss_bytes,
        event->memory.private_bytes,
        event->memory.peak_bytes,
        event->memory.complete != 0,
        event->memory.own_bytes,
        event->memory.asked <= UINT8_MAX ? (uint8_t)event->memory.asked : 0,
        event->memory.in_use_bytes,
        event->memory.free_bytes,
        event->memory.cost_ns,
        event->memory.processor_ns,
        source_process_of(event->memory.thread, source_process_count(samples->source))};
    return ARRAY_ADD(samples->memory, samples->memory_count, loading->memory_capacity, point);
  }
  case TRACE_GROUP:
    return ARRAY_ADD(samples->groups, samples->group_count, loading->group_capacity, event->group);
  case TRACE_THREAD_NAME: return keep_thread_name(loading, &event->thread_name);
  case TRACE_END:
    samples->ended = true;
    samples->end = event->end;
    return true;
  case TRACE_EXEC: return samples_keep_exec(samples, &event->exec.path);
  default: return heap_life_keep(&samples->life, event) && mapped_keep(&samples->mapped, event);
  }
}

/* A free comes after all other changes of its block, even if the clocks of two processors disagree.
 */
static int samples_by_block_then_time(const void *a, const void *b) {
  const struct change *left = a, *right = b;
  int order = order_numbers(left->block, right->block);
  if (!order) order = (left->kind == FREED) - (right->kind == FREED);
  return order ? order : order_numbers(left->time_ns, right->time_ns);
}

/* Sorts unless all is in order, as most of a trace's records are. */
static void samples_sort(void *items, size_t count, size_t size, int (*order)(const void *, const void *)) {
  const char *bytes = items;
  size_t i = 1;
  while (i < count && order(bytes + (i - 1) * size, bytes + i * size) <= 0) i++;
  if (i < count) qsort(items, count, size, order);
}

/* Sorts the changes samples_by_block_then_time. A block has few changes, so most of the work is to order them by
 * block. False without memory. */
static bool sort_changes(struct loading *loading) {
  size_t count = loading->change_count;
  struct keyed *keyed = array_new(count, sizeof *keyed);
  for (size_t i = 0; keyed && i < count; i++)
    keyed[i] = (struct keyed){loading->changes[i].block, (uint32_t)i};
  struct change *ordered =
      keyed && count <= UINT32_MAX && order_by_key(keyed, count) ? array_new(count, sizeof *ordered) : NULL;
  for (size_t i = 0; ordered && i < count; i++) ordered[i] = loading->changes[keyed[i].item];
  free(keyed);
  if (!ordered) return false;
  free(loading->changes);
  loading->changes = ordered;
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && ordered[end].block == ordered[begin].block;) end++;
    samples_sort(ordered + begin, end - begin, sizeof *ordered, samples_by_block_then_time);
  }
  return true;
}

static int samples_by_time(const void *a, const void *b) {
  return order_numbers(((const struct memory_point *)a)->time_ns, ((const struct memory_point *)b)->time_ns);
}

static int samples_by_change(const void *a, const void *b) {
  return order_numbers(((const struct rate_change *)a)->time_ns, ((const struct rate_change *)b)->time_ns);
}

static int by_group_time(const void *a, const void *b) {
  return order_numbers(((const struct trace_group *)a)->time_ns, ((const struct trace_group *)b)->time_ns);
}

static struct row first_row(const struct trace_sample *born) {
  return (struct row){.block = born->block,
                      .begin_ns = born->time_ns,
                      .end_ns = STILL_ALIVE,
                      .born_ns = born->time_ns,
                      .died_ns = STILL_ALIVE,
                      .promoted_ns = NEVER,
                      .size = born->size,
                      .call = !born->held_only,
                      .words = born->words,
                      .stack = born->stack,
                      .thread = born->thread,
                      .source = born->source,
                      .area = born->major ? AREA_MAJOR : AREA_MINOR,
                      .first = true,
                      .last = true};
}

static struct row next_row(const struct row *row, const struct change *resize) {
  struct row next = *row;
  next.begin_ns = resize->time_ns > row->begin_ns ? resize->time_ns : row->begin_ns;
  next.size = resize->size;
  next.call = resize->size > row->size; /* OWNER */
  next.words = resize->words > row->words ? resize->words : row->words;
  next.rate = resize->rate;
  if (next.call) next.stack = resize->stack, next.thread = resize->thread;
  next.first = false;
  return next;
}

/* When a block ends whose last record is that of the row: STILL_ALIVE, or DROPPED. */
static uint64_t end_in_dropped(const struct trace_times *dropped, const struct row *row) {
  for (uint32_t i = 0; dropped && i < dropped->count; i++) {
    const struct trace_time_range *range = &dropped->of[i];
    uint64_t age = range->from_ns > row->born_ns ? range->from_ns - row->born_ns : 0;
    if (range->until_ns > row->begin_ns && age < range->until_ns - range->from_ns)
      return row->begin_ns > range->from_ns ? row->begin_ns : range->from_ns;
  }
  return STILL_ALIVE;
}

static bool samples_add_row(struct loading *loading, const struct row *row) {
  struct samples *samples = loading->samples;
  size_t count = samples->row_count;
  loading->rows_unordered |= count && samples_by_begin(&samples->rows[count - 1], row) > 0;
  return ARRAY_ADD(samples->rows, samples->row_count, loading->row_capacity, *row);
}

/* Makes the rows of one block from its sample and its changes. Advances *change past the changes of
 * this block. */
static bool join_block(struct loading *loading, const struct trace_sample *born, size_t *change) {
  struct samples *samples = loading->samples;
  size_t begin = samples->row_count;
  struct row row = first_row(born);
  if (!index_rate(loading, born->rate, &row.rate)) return false;
  for (; *change < loading->change_count && loading->changes[*change].block == born->block; ++*change) {
    const struct change *next = &loading->changes[*change];
    if (next->kind == TYPED) {
      if (!block_types_add(&loading->types, born->block, next->size)) return false;
      continue;
    }
    if (row.end_ns != STILL_ALIVE) { /* a second free, or a resize after a free: a damaged trace */
      samples->unmatched++;
      continue;
    }
    if (next->kind == PROMOTED) {
      if (row.promoted_ns == NEVER && row.area == AREA_MINOR)
        row.promoted_ns = next->time_ns > row.born_ns ? next->time_ns : row.born_ns, samples->promotions++;
      else
        samples->unmatched++;
      continue;
    }
    if (next->kind == FREED) {
      row.end_ns = next->time_ns > row.begin_ns ? next->time_ns : row.begin_ns;
      continue;
    }
    struct row later = next_row(&row, next);
    row.end_ns = later.begin_ns;
    row.last = false;
    if (!samples_add_row(loading, &row)) return false;
    row = later;
    row.end_ns = STILL_ALIVE;
    row.last = true;
  }
  if (row.end_ns == STILL_ALIVE) row.end_ns = end_in_dropped(loading->dropped, &row);
  if (!samples_add_row(loading, &row)) return false;
  double growth = growth_of_sizes(born->grown ? born->previous_size : 0, born->size);
  return grown_finish_block(&samples->grown, samples->rows + begin, samples->row_count - begin, growth,
                            samples->rates);
}

/* Gives each row the type of its block. The samples take the names. */
static bool give_types(struct loading *loading) {
  struct samples *samples = loading->samples;
  if (!loading->types.count) return true;
  samples->row_types = array_new(samples->row_count, sizeof *samples->row_types);
  for (size_t i = 0; samples->row_types && i < samples->row_count; i++)
    if (!block_types_find(&loading->types, samples->rows[i].block, &samples->row_types[i])) return false;
  samples->types = loading->types.strings;
  loading->types.strings = NULL;
  return samples->row_types;
}

/* Gives each stack the functions that were there at its time. */
static bool samples_find_owners(struct loading *loading) {
  struct samples *samples = loading->samples;
  struct reused reused = {.source = NULL};
  bool done = reused_begin(&reused, samples->source);
  for (size_t i = 0; done && reused.is && i < loading->born_count; i++) {
    struct trace_sample *born = &loading->born[i];
    done = reused_find(&reused, born->thread, born->time_ns, &born->stack);
  }
  for (size_t i = 0; done && reused.is && i < loading->change_count; i++) {
    struct change *change = &loading->changes[i];
    done = reused_find(&reused, change->thread, change->time_ns, &change->stack);
  }
  for (size_t i = 0; done && reused.is && i < samples->mapped.count; i++) {
    struct row *row = &samples->mapped.rows[i];
    done = reused_find(&reused, row->thread, row->begin_ns, &row->stack);
  }
  reused_destroy(&reused);
  return done;
}

static bool samples_join(struct loading *loading) {
  struct samples *samples = loading->samples;
  if (source_process_count(samples->source) == 1) /* the times of several are not told apart */
    loading->dropped = &source_damage(samples->source)->dropped;
  if (loading->born_unordered)
    qsort(loading->born, loading->born_count, sizeof *loading->born, samples_by_block);
  if (!sort_changes(loading)) return false;
  size_t change = 0;
  for (size_t i = 0; i < loading->born_count; i++) {
    if (i && loading->born[i].block == loading->born[i - 1].block)
      continue; /* two samples with one block number: a damaged trace */
    for (; change < loading->change_count && loading->changes[change].block < loading->born[i].block;
         change++)
      samples->unmatched++;
    if (!join_block(loading, &loading->born[i], &change)) return false;
    samples->sampled_blocks++;
  }
  samples->unmatched += loading->change_count - change;
  const struct trace_damage *damage = source_damage(samples->source);
  if (damage->thinned || damage->chunks_dropped) samples->unmatched = 0; /* of blocks that were left out */
  free(loading->born);                                                   /* before more memory is needed */
  free(loading->changes);
  loading->born = NULL;
  loading->changes = NULL;
  if (loading->rows_unordered)
    qsort(samples->rows, samples->row_count, sizeof *samples->rows, samples_by_begin);
  if (!give_types(loading)) return false;
  samples_sort(samples->memory, samples->memory_count, sizeof *samples->memory, samples_by_time);
  samples_sort(samples->groups, samples->group_count, sizeof *samples->groups, by_group_time);
  samples_sort(samples->rate_changes, samples->rate_change_count, sizeof *samples->rate_changes,
               samples_by_change);
  return true;
}

/* Where damage hides the kind of heap, collection records show that the heap is a collected one. */
static bool samples_is_collected(const struct samples *samples) {
  enum source_heap heap = source_heap(samples->source);
  return heap == SOURCE_HEAP_COLLECTED || (heap == SOURCE_HEAP_UNKNOWN && samples->life.collection_count);
}

static void complete_row(struct row *row, const struct samples *samples) {
  if (!samples->collected) {
    row->area = AREA_NONE;
    row->promoted_ns = NEVER;
  } else if (row->source == TRACE_SOURCE_CUSTOM || row->source == TRACE_SOURCE_EXTERNAL) {
    row->area = AREA_OUTSIDE;
  }
  if (row->promoted_ns != NEVER)
    row->next_cycle = heap_life_next_cycle(&samples->life, row->promoted_ns, row->died_ns) & 3;
}

/* Completes the rows once all records are known: areas, lives in words, next cycles. */
static bool samples_complete(struct samples *samples) {
  samples->collected = samples_is_collected(samples);
  if (!mapped_complete(&samples->mapped) || !heap_life_complete(&samples->life, samples->end_ns) ||
      !samples_complete_lives(samples))
    return false;
  for (size_t i = 0; i < samples->row_count; i++) complete_row(&samples->rows[i], samples);
  return true;
}

static bool samples_collect(struct loading *loading, samples_progress *progress, void *context) {
  struct source *source = loading->samples->source;
  struct trace_event event;
  for (uint64_t count = 0; source_next(source, &event); count++) {
    if (!samples_keep(loading, &event)) return false;
    if (progress && count % 16384 == 0) progress(source_position(source), context);
  }
  return !source_damage(source)->out_of_memory;
}

/* ---- shared ---- */

bool samples_count_cut(struct samples *samples) {
  uint32_t count = source_stack_count(samples->source);
  bool *cut = calloc((size_t)count + 1, sizeof *cut), done = cut;
  for (uint32_t node = 1; cut && node <= count; node++) { /* callers have smaller numbers */
    struct trace_node found = source_stack(samples->source, node);
    cut[node] = found.parent ? cut[found.parent] : trace_is_cut(&found);
  }
  samples->cut = 0;
  for (size_t i = 0; cut && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    samples->cut += row->first && row->stack <= count && cut[row->stack];
  }
  free(cut);
  return done;
}

wn_status samples_load(const char *path, samples_progress *progress, void *context, struct samples **result) {
  struct source *source;
  memory_bound_begin(memory_bound_file_bytes(path));
  wn_status error = source_open(path, &source);
  return memory_bound_end(error ? error : samples_read(source, path, progress, context, result));
}

wn_status samples_read(struct source *source, const char *name, samples_progress *progress, void *context,
                       struct samples **result) {
  struct samples *samples = calloc(1, sizeof *samples);
  if (!samples) {
    source_close(source);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", name);
  }
  samples->source = source;
  samples->word_bytes = fmax(source_run(source)->word_bytes, 1); /* a damaged trace may have any value here */
  struct loading loading = {.samples = samples};
  bool done =
      (ARRAY_ADD(samples->rates, samples->rate_count, loading.rate_capacity, source_run(source)->rate)) &&
      samples_collect(&loading, progress, context) && samples_find_owners(&loading) &&
      samples_join(&loading) && processes_read(samples) && asleep_find(samples) &&
      samples_complete(samples) && samples_count_cut(samples);
  free(loading.born);
  free(loading.changes);
  block_types_destroy(&loading.types);
  if (!done) {
    samples_free(samples);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", name);
  }
  *result = samples;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
