/* The sections of a container that are lists of fields. */
#include "page/container_fields.h"

#include "page/container.h"
#include <stdlib.h>

/* ---- a source without events ---- */

static const struct container_source *container_fields_of(const struct source *source) {
  return (const struct container_source *)source;
}

static void free_text(struct trace_text *text) { free((void *)(uintptr_t)text->bytes); }

static void close_source(struct source *source) {
  struct container_source *container = (struct container_source *)source;
  free_text(&container->run.command);
  free_text(&container->run.host);
  free_text(&container->run.heap);
  free_text(&container->run.version);
  free_text(&container->run.writer);
  free_text(&container->run.context);
  free_text(&container->run.title);
  free_text(&container->run.name);
  free_text(&container->note);
  free(container->parents);
  free(container);
}

static const struct trace_run *container_fields_run_of(const struct source *source) {
  return &container_fields_of(source)->run;
}
static enum source_heap heap_of(const struct source *source) { return container_fields_of(source)->heap; }
static const struct trace_damage *container_fields_damage_of(const struct source *source) {
  return &container_fields_of(source)->damage;
}
static const struct source_limits *limits_of(const struct source *source) {
  return &container_fields_of(source)->limits;
}
static uint32_t node_count_of(const struct source *source) { return container_fields_of(source)->node_count; }

static struct trace_node container_fields_node_of(const struct source *source, uint32_t number) {
  return (struct trace_node){.parent = container_fields_of(source)->parents[number]};
}

static const struct source_format format = {.close = close_source,
                                            .run = container_fields_run_of,
                                            .heap = heap_of,
                                            .damage = container_fields_damage_of,
                                            .stack_count = node_count_of,
                                            .stack = container_fields_node_of,
                                            .limits = limits_of};

/* Reading: refuses times that are out of order, or after the end of the trace. The time is the
 * first member of each item. */
static void check_times(struct coding *coding, const void *items, size_t count, size_t stride,
                        uint64_t end_ns) {
  uint64_t before = 0, time;
  for (size_t i = 0; i < count && !coding->writing && !coding_failed(coding); i++) {
    memcpy(&time, (const unsigned char *)items + i * stride, sizeof time);
    if (time < before) coding_fail(coding, "its times are out of order");
    if (time > end_ns) coding_fail(coding, "a time is after the end");
    before = time;
  }
}

/* ---- META ---- */

static void code_run(struct coding *coding, struct trace_run *run) {
  code_text(coding, &run->command);
  code_text(coding, &run->host);
  code_text(coding, &run->heap);
  code_text(coding, &run->version);
  code_text(coding, &run->title);
  code_text(coding, &run->name);
  code_text(coding, &run->writer);
  code_text(coding, &run->context);
  code_u32(coding, &run->pid);
  code_u32(coding, &run->parent_pid);
  code_number(coding, &run->seed, UINT64_MAX);
  code_double(coding, &run->rate);
  code_u32(coding, &run->stack_depth);
  code_u8(coding, &run->word_bytes);
  code_number(coding, &run->wall_ns, UINT64_MAX);
  code_number(coding, &run->monotonic_ns, UINT64_MAX);
}

static void code_limits(struct coding *coding, struct container_source *source) {
  struct source_limits *limits = &source->limits;
  code_bool(coding, &limits->totals);
  code_bool(coding, &limits->no_peak);
  code_bool(coding, &limits->no_total);
  code_bool(coding, &limits->no_end);
  code_bool(coding, &limits->no_blocks);
  code_bool(coding, &limits->no_lives);
  code_bool(coding, &limits->no_threads);
  code_bool(coding, &limits->no_callers);
  code_number(coding, &limits->tick_ns, UINT64_MAX);
  code_bool(coding, &limits->estimated);
  code_text(coding, &source->note);
  if (!coding->writing && !source->note.length) return;
  if (source->note.bytes[source->note.length - 1]) return coding_fail(coding, "a note has no end");
  limits->note = source->note.bytes;
}

static void code_missing_times(struct coding *coding, struct trace_times *times) {
  code_u32(coding, &times->count);
  if (times->count > TRACE_TIMES_MOST) {
    coding_fail(coding, "too many missing times");
    return;
  }
  for (uint32_t i = 0; i < times->count; i++) {
    code_number(coding, &times->of[i].from_ns, UINT64_MAX);
    code_number(coding, &times->of[i].until_ns, UINT64_MAX);
  }
}

static void code_damage(struct coding *coding, struct trace_damage *damage) {
  code_number(coding, &damage->chunks_read, UINT64_MAX);
  code_number(coding, &damage->chunks_damaged, UINT64_MAX);
  code_number(coding, &damage->bytes_skipped, UINT64_MAX);
  code_number(coding, &damage->records_unknown, UINT64_MAX);
  code_number(coding, &damage->records_lost, UINT64_MAX);
  code_number(coding, &damage->stacks_lost, UINT64_MAX);
  code_number(coding, &damage->chunks_dropped, UINT64_MAX);
  code_missing_times(coding, &damage->dropped);
  code_number(coding, &damage->times_raised, UINT64_MAX);
  code_u8(coding, &damage->loss_cause);
  code_bool(coding, &damage->complete);
  code_bool(coding, &damage->thinned);
  code_bool(coding, &damage->lacks_history);
  code_bool(coding, &damage->out_of_memory);
}

static void code_end(struct coding *coding, struct trace_end *end) {
  uint64_t code = zigzag((uint64_t)end->code);
  code_number(coding, &end->time_ns, UINT64_MAX);
  code_u32(coding, &end->thread);
  code_u8(coding, &end->kind);
  code_number(coding, &code, UINT32_MAX);
  code_number(coding, &end->peak_bytes, UINT64_MAX);
  code_u8(coding, &end->cause);
  end->code = (int32_t)unzigzag(code);
}

static void code_counters(struct coding *coding, struct samples *samples) {
  code_bool(coding, &samples->collected);
  code_number(coding, &samples->end_ns, UINT64_MAX);
  code_number(coding, &samples->sampled_blocks, UINT64_MAX);
  code_number(coding, &samples->cut, UINT64_MAX);
  code_number(coding, &samples->promotions, UINT64_MAX);
  code_number(coding, &samples->unmatched, UINT64_MAX);
  code_bool(coding, &samples->ended);
  code_end(coding, &samples->end);
  code_string(coding, &samples->became);
}

/* ---- HEAP ---- */

static void code_collections(struct coding *coding, struct heap_life *life, uint64_t end_ns) {
  CODE_TABLE(coding, life->collections, life->collection_count, 0, DELTA(time_ns), PLAIN(thread), PLAIN(kind),
             PLAIN(ns), DELTA(minor_words), DELTA(promoted_words), DELTA(direct_words),
             DELTA(minor_collections), DELTA(major_cycles), DELTA(heap_words), DELTA(live_words),
             DELTA(domains));
  check_times(coding, life->collections, life->collection_count, sizeof *life->collections, end_ns);
}

static void code_pauses(struct coding *coding, struct heap_life *life, uint64_t end_ns) {
  CODE_TABLE(coding, life->pauses, life->pause_count, 0, DELTA(time_ns), PLAIN(thread), PLAIN(domain),
             PLAIN(kind), PLAIN(ns), DELTA(count), DELTA(total_ns));
  struct trace_pause *items = life->pauses;
  size_t count = life->pause_count;
  check_times(coding, items, count, sizeof *items, end_ns);
  for (size_t i = 0; i < count && !coding_failed(coding); i++)
    if (items[i].kind >= TRACE_PAUSES) coding_fail(coding, "a pause is of no kind");
}

static void code_domains(struct coding *coding, struct heap_life *life, uint64_t end_ns) {
  CODE_TABLE(coding, life->domains, life->domain_count, 0, DELTA(time_ns), PLAIN(thread), PLAIN(domain),
             PLAIN(what));
  check_times(coding, life->domains, life->domain_count, sizeof *life->domains, end_ns);
}

/* What heap_life_complete computed. */
static void code_derived(struct coding *coding, struct heap_life *life) {
  CODE_NUMBERS(coding, life->cycles, life->cycle_count, COLUMN_DELTA);
  for (unsigned kind = 0; kind < TRACE_PAUSES; kind++) {
    code_number(coding, &life->paused[kind].count, UINT64_MAX);
    code_number(coding, &life->paused[kind].total_ns, UINT64_MAX);
  }
  struct trace_pause *longest = &life->longest;
  code_number(coding, &longest->time_ns, UINT64_MAX);
  code_u32(coding, &longest->thread);
  code_number(coding, &longest->domain, UINT64_MAX);
  code_u8(coding, &longest->kind);
  code_number(coding, &longest->ns, UINT64_MAX);
  code_number(coding, &longest->count, UINT64_MAX);
  code_number(coding, &longest->total_ns, UINT64_MAX);
  if (longest->kind >= TRACE_PAUSES) coding_fail(coding, "the longest pause is of no kind");
  code_number(coding, &life->domains_begun, UINT64_MAX);
  code_number(coding, &life->domains_most, UINT64_MAX);
  code_double(coding, &life->domain_ns);
}

/* ---- PROC ---- */

/* LEFT: the time at which blocks end is in the unit of the rows' times. */
static void code_process(struct coding *coding, struct samples *samples, uint32_t index, uint64_t unit_ns) {
  struct process *process = &samples->processes[index];
  uint64_t parent = process->parent == NO_PROCESS ? 0 : (uint64_t)process->parent + 1,
           end = process->end_ns == STILL_ALIVE ? 0 : process->end_ns / unit_ns + 1,
           code = zigzag((uint64_t)process->code);
  code_u32(coding, &process->pid);
  code_number(coding, &parent, UINT32_MAX);
  code_string(coding, &process->name);
  code_string(coding, &process->became);
  code_number(coding, &process->begin_ns, UINT64_MAX);
  code_number(coding, &process->last_ns, UINT64_MAX);
  code_number(coding, &end, UINT64_MAX / unit_ns);
  code_bool(coding, &process->ended);
  code_double(coding, &process->rate);
  code_bool(coding, &process->writing);
  code_u8(coding, &process->end_kind);
  code_number(coding, &code, UINT32_MAX);
  if (coding->writing || coding_failed(coding)) return;
  if (parent > index) coding_fail(coding, "a process began before the one that started it");
  if (!process->name) coding_fail(coding, "a process has no name");
  if (process->begin_ns > process->last_ns || process->last_ns > samples->end_ns ||
      (end && (end - 1) * unit_ns > samples->end_ns))
    coding_fail(coding, "a process has impossible times");
  process->parent = parent ? (uint32_t)parent - 1 : NO_PROCESS;
  process->end_ns = end ? (end - 1) * unit_ns : STILL_ALIVE;
  process->code = (int32_t)unzigzag(code);
}

/* ---- MAPS ---- */

/* Fills in what is the same in all rows of mappings, and checks the rest. */
static void complete_mapping(struct coding *coding, struct row *row, uint64_t end_ns, uint32_t node_count) {
  row->promoted_ns = NEVER;
  row->probability = 1;
  row->call = row->first;
  if (row->stack > node_count) coding_fail(coding, "a mapping has a stack that does not exist");
  if (row->begin_ns > end_ns || row->end_ns < row->begin_ns ||
      (row->end_ns > end_ns && row->end_ns != STILL_ALIVE))
    coding_fail(coding, "a mapping has impossible times");
}

static void code_mappings(struct coding *coding, struct mapped *mapped) {
  CODE_TABLE(coding, mapped->rows, mapped->count, 1, DELTA(block), DELTA(begin_ns), DELTA(end_ns),
             DELTA(born_ns), DELTA(died_ns), PLAIN(size), PLAIN(stack), PLAIN(thread), PLAIN(source));
  struct row *rows = mapped->rows;
  size_t count = mapped->count;
  for (size_t i = 0; i < count && !coding_failed(coding); i++) {
    uint64_t flags = (uint64_t)rows[i].first | (uint64_t)rows[i].last << 1;
    code_number(coding, &flags, 3);
    rows[i].first = flags & 1;
    rows[i].last = flags >> 1;
  }
}

/* ---- shared ---- */

struct container_source *container_source_create(void) {
  struct container_source *source = calloc(1, sizeof *source);
  if (source) source->source.format = &format, source->limits.note = "";
  return source;
}

void code_meta(struct coding *coding, struct container_facts *facts, struct samples *samples) {
  code_number(coding, &facts->version, UINT64_MAX);
  if (!coding_failed(coding) && facts->version != CONTAINER_VERSION)
    coding_fail(coding, "another version of Winnow wrote it");
  code_number(coding, &facts->unit_ns, UINT32_MAX);
  if (!facts->unit_ns) coding_fail(coding, "the unit of time is 0");
  code_double(coding, &facts->kept);
  uint64_t heap = facts->source->heap;
  code_number(coding, &heap, SOURCE_HEAP_COLLECTED);
  facts->source->heap = (enum source_heap)heap;
  code_run(coding, &facts->source->run);
  code_limits(coding, facts->source);
  code_damage(coding, &facts->source->damage);
  code_counters(coding, samples);
}

void code_times(struct coding *coding, struct samples *samples) {
  CODE_TABLE(coding, samples->memory, samples->memory_count, 0, DELTA(time_ns), DELTA(rss_bytes),
             DELTA(private_bytes), DELTA(peak_bytes), FLAG(complete), DELTA(own_bytes), PLAIN(asked),
             DELTA(in_use_bytes), DELTA(free_bytes), DELTA(cost_ns), DELTA(processor_ns));
  check_times(coding, samples->memory, samples->memory_count, sizeof *samples->memory, samples->end_ns);
  CODE_ARRAY(coding, samples->threads, samples->thread_count, 3);
  for (size_t i = 0; i < samples->thread_count && !coding_failed(coding); i++) {
    code_u32(coding, &samples->threads[i].thread);
    code_number(coding, &samples->threads[i].time_ns, UINT64_MAX);
    code_string(coding, &samples->threads[i].name);
    if (!samples->threads[i].name) coding_fail(coding, "a thread has no name");
  }
}

void code_rates(struct coding *coding, struct samples *samples) {
  size_t count = samples->rate_count;
  CODE_ARRAY(coding, samples->rates, count, 8);
  for (size_t i = 0; i < count && !coding_failed(coding); i++) code_double(coding, &samples->rates[i]);
  if (!count || count > UINT16_MAX) coding_fail(coding, "there are no rates, or too many");
  samples->rate_count = (uint16_t)count;
  CODE_ARRAY(coding, samples->rate_changes, samples->rate_change_count, 11);
  for (size_t i = 0; i < samples->rate_change_count && !coding_failed(coding); i++) {
    struct rate_change *change = &samples->rate_changes[i];
    code_number(coding, &change->time_ns, UINT64_MAX);
    code_double(coding, &change->rate);
    code_u32(coding, &change->process);
    code_u8(coding, &change->cause);
  }
  check_times(coding, samples->rate_changes, samples->rate_change_count, sizeof *samples->rate_changes,
              samples->end_ns);
}

void code_groups(struct coding *coding, struct samples *samples) {
  CODE_TABLE(coding, samples->groups, samples->group_count, 0, DELTA(time_ns), PLAIN(thread), DELTA(limit),
             DELTA(high), DELTA(current), DELTA(kills), DELTA(pressure_us));
  if (samples->process_count == 1) code_bool(coding, &samples->processes->writing);
  check_times(coding, samples->groups, samples->group_count, sizeof *samples->groups, samples->end_ns);
}

void code_processes(struct coding *coding, struct samples *samples, uint64_t unit_ns) {
  size_t count = samples->process_count;
  CODE_ARRAY(coding, samples->processes, count, 18);
  if (count > UINT32_MAX - 1) coding_fail(coding, "there are too many processes");
  samples->process_count = coding_failed(coding) ? 0 : (uint32_t)count;
  for (uint32_t i = 0; i < samples->process_count && !coding_failed(coding); i++)
    code_process(coding, samples, i, unit_ns);
}

void code_origins(struct coding *coding, struct samples *samples) {
  for (uint32_t i = 0; i < samples->process_count && !coding_failed(coding); i++) {
    code_string(coding, &samples->processes[i].host);
    code_string(coding, &samples->processes[i].release);
  }
}

void code_heap(struct coding *coding, struct samples *samples) {
  struct heap_life *life = &samples->life;
  code_collections(coding, life, samples->end_ns);
  code_pauses(coding, life, samples->end_ns);
  code_domains(coding, life, samples->end_ns);
  code_number(coding, &life->records.collections, UINT64_MAX);
  code_number(coding, &life->records.pauses, UINT64_MAX);
  code_number(coding, &life->records.domains, UINT64_MAX);
  code_number(coding, &life->records.wrong, UINT64_MAX);
  code_derived(coding, life);
}

void code_maps(struct coding *coding, struct samples *samples, uint32_t node_count) {
  struct mapped *mapped = &samples->mapped;
  code_mappings(coding, mapped);
  for (size_t i = 0; i < mapped->count && !coding_failed(coding) && !coding->writing; i++)
    complete_mapping(coding, &mapped->rows[i], samples->end_ns, node_count);
  CODE_TABLE(coding, mapped->touches, mapped->touch_count, 0, DELTA(mapping), DELTA(time_ns), DELTA(bytes),
             PLAIN(files));
}
/* SPDX-License-Identifier: MIT */
