/* Divides resident memory into parts.
 *
 * ANSWER: where the allocator told what its blocks take and what it keeps free, both are parts, exactly,
 * and what remains of private memory is data and small mappings. Which share of the blocks are headers
 * and rounding, the samples tell: a block of glibc's malloc has a header of 8 bytes, and is rounded up to
 * a multiple of 16, at least 32. jemalloc and tcmalloc have no headers; how they round is not told apart.
 * The allocator was asked now and then only. At a moment between two answers the nearest one counts:
 * data and small mappings are taken to have been as large as then, and what the blocks take has changed
 * by as much as the samples say. If not all that was held then was resident, how large data was is not
 * known; then blocks are taken from free memory, and go back to it. So the parts add up at each moment,
 * but blocks and free memory are estimates then. Memory that is held, or kept free, but not resident makes the sum too large; by how
 * much, is a part too, a negative one.
 *
 * A collected heap tells the size of its major heap. What the samples do not find there is free. A dead
 * block is garbage for certain from the begin of the cycle on that found it.
 *
 * ARENAS: CPython's small objects lie in arenas that it maps, of which malloc knows nothing. What the samples
 * find in them is in use, as far as it has room there, and the rest is free.
 *
 * Without an answer the rest is what remains of private memory after the blocks, mappings and stacks, and
 * what the recorder needs. The blocks are an estimate, so the rest has an interval too. A block that
 * was never written is held but not resident. Where even the low end of what is held exceeds the room
 * for it, `unwritten` says by how much. Where the resident part of large mappings could not be measured,
 * the mappings are in the rest. Headers are told as those of glibc.
 *
 * What the process had when its recording began is in no block of the trace: a forked process has a copy
 * of its parent's blocks. `earlier` is the rest at that time. It is an upper bound for what is left of
 * it, since a program may free memory that it had before. Where there is an answer, what the blocks take
 * beyond the samples is counted as such, up to that bound.
 */
#include "analysis/report/resident.h"

#include <math.h>

/* ---- blocks ---- */

/* Whether a block lies in an arena of CPython's, which serves only small ones; others that were small at
 * first lie in malloc's heap. */
static bool resident_is_in_arena(const struct row *row) {
  enum { SMALL_MOST = 512 };
  return row->source == TRACE_SOURCE_PYTHON && row->size <= SMALL_MOST;
}

/* What malloc takes for a block beyond its size: glibc's a header too. */
static double resident_header_bytes(const struct row *row) {
  const uint64_t unit = 16, header = resident_is_in_arena(row) ? 0 : 8,
                 least = resident_is_in_arena(row) ? unit : 32;
  uint64_t size = row->size;
  uint64_t taken = (size + header + unit - 1) / unit * unit;
  return (double)((taken < least ? least : taken) - size);
}

/* The blocks at a time. */
struct blocks {
  const struct samples *samples;
  uint64_t time_ns;
  struct sums held;
  struct estimate bytes;
  double headers, garbage, major, pooled; /* major, and pooled: in arenas, with headers */
};

static bool is_major_at(const struct row *row, uint64_t time_ns) {
  return row->promoted_ns <= time_ns || (row->area == AREA_MAJOR && row->born_ns <= time_ns);
}

/* Whether the cycle that found a block dead had begun. */
static bool is_garbage(const struct heap_life *life, const struct row *row, uint64_t time_ns) {
  size_t begun = row->died_ns == STILL_ALIVE ? 0 : times_until(life->cycles, life->cycle_count, row->died_ns);
  return begun && life->cycles[begun - 1] <= time_ns && is_major_at(row, life->cycles[begun - 1]);
}

static bool adds(const struct row *row, void *context) {
  struct blocks *blocks = context;
  const struct samples *samples = blocks->samples;
  double size = (double)row->size / row->probability;
  double header = (samples->collected ? samples->word_bytes : resident_header_bytes(row)) / row->probability;
  blocks->headers += header;
  if (resident_is_in_arena(row)) blocks->pooled += size + header;
  if (samples->collected && is_major_at(row, blocks->time_ns)) blocks->major += size + header;
  if (samples->collected && is_garbage(&samples->life, row, blocks->time_ns)) blocks->garbage += size;
  return true;
}

static struct blocks blocks_at(const struct report *report, uint64_t time_ns) {
  struct blocks blocks = {.samples = report->samples, .time_ns = time_ns};
  blocks.held = timeline_live_at(report->samples, time_ns, adds, &blocks);
  blocks.bytes = report_bytes(report, &blocks.held);
  return blocks;
}

/* ---- mappings ---- */

struct asked {
  const struct samples *samples;
  uint64_t time_ns;
  bool resident; /* count resident bytes; otherwise, where these are not known, mapped bytes */
  bool stacks;   /* count the stacks of threads; otherwise all other mappings */
};

static bool resident_mapped_then(const struct row *row, struct share *share, void *context) {
  const struct asked *asked = context;
  double bytes = asked->resident ? mapped_resident(asked->samples, row, asked->time_ns) : (double)row->size;
  *share = (struct share){.bytes = bytes, .blocks = (double)row->size};
  return row_is_live_at(row, asked->time_ns) && row->source != TRACE_MAP_ARENA &&
         (row->source == TRACE_MAP_STACK) == asked->stacks;
}

/* ---- which moment ---- */

/* How much of the process's private memory blocks, mappings and stacks account for. */
static struct estimate explained(const struct report *report, const struct resident *resident) {
  struct estimate bytes = blocks_at(report, resident->time_ns).bytes;
  double mapped = resident->measured ? resident->mapped_private + resident->stack_bytes : 0;
  bytes.low += mapped;
  bytes.high += mapped;
  return bytes;
}

/* Whether blocks, mappings and stacks certainly account for more memory at one moment than at
 * another. (Memory that malloc keeps after all was freed does not tell what it was for.) Where more
 * is held than is private, some blocks were never written, and the moment is not taken. */
static bool is_fuller(const struct report *report, const struct resident *one, const struct resident *other) {
  struct estimate left = explained(report, one), right = explained(report, other);
  return one->measured == other->measured && left.low > right.high && left.low <= one->private_bytes;
}

/* Whether the process was as large at the end, and malloc had most of that free: then this is to be explained. */
static bool is_mostly_free(const struct resident *end, const struct resident *most) {
  return end->asked && end->free >= 0.5 * (double)end->rss_bytes &&
         (double)end->rss_bytes >= 0.98 * (double)most->rss_bytes;
}

/* Private memory that is not in mappings or stacks, and not the recorder's own. */
static double room_of(const struct resident *resident) {
  double measured = resident->measured ? resident->mapped_private + resident->stack_bytes : 0;
  return resident->private_bytes - measured - resident->own_bytes;
}

static double earlier_bytes(const struct report *report) {
  struct resident start = mapped_at_start(report->samples);
  struct blocks blocks = blocks_at(report, start.time_ns);
  if (start.asked) return fmax(start.in_use - blocks.held.bytes.total - blocks.headers, 0);
  return fmax(room_of(&start) - blocks.held.bytes.total, 0);
}

/* ---- parts ---- */

static struct estimate exactly(double bytes) {
  return (struct estimate){.estimate = bytes, .low = bytes, .high = bytes};
}

static struct estimate resident_within(double bytes, double range, uint64_t samples) {
  return (struct estimate){.estimate = fmax(bytes, 0),
                           .low = fmax(bytes - range, 0),
                           .high = fmax(bytes + range, 0),
                           .samples = samples};
}

/* What remains of a sum of two parts, if the other one is an estimate. */
static struct estimate remains(double sum, const struct estimate *other) {
  return (struct estimate){.estimate = fmax(sum - other->estimate, 0),
                           .low = fmax(sum - other->high, 0),
                           .high = fmax(sum - other->low, 0),
                           .samples = other->samples};
}

/* By how much what the blocks take has changed since a time, as the samples say. */
static double grown_since(const struct report *report, uint64_t time_ns, const struct blocks *now) {
  struct blocks then = blocks_at(report, time_ns);
  return now->bytes.estimate + now->headers - then.bytes.estimate - then.headers;
}

/* ARENAS: adds them to what malloc said. */
static struct resident resident_answer_of(const struct report *report, struct resident answer) {
  if (!answer.asked || !(answer.arena_bytes > 0)) return answer;
  double in_use = fmin(blocks_at(report, answer.time_ns).pooled, answer.arena_bytes);
  answer.in_use += in_use;
  answer.free += answer.arena_bytes - in_use;
  return answer;
}

/* ANSWER: what the allocator held and kept free at the moment of `resident`. Of the answers before and
 * after it, that one counts since which the blocks have changed less. `asked` 0: there is none. */
static struct resident answer_at(const struct report *report, const struct resident *resident,
                                 const struct blocks *now) {
  struct resident answer =
      resident_answer_of(report, mapped_when_asked(report->samples, resident->time_ns, true));
  struct resident after =
      resident_answer_of(report, mapped_when_asked(report->samples, resident->time_ns, false));
  double grown = answer.asked ? grown_since(report, answer.time_ns, now) : INFINITY;
  double later = after.asked ? grown_since(report, after.time_ns, now) : INFINITY;
  if (fabs(later) < fabs(grown)) answer = after, grown = later;
  if (!answer.asked || !resident->measured || answer.time_ns == resident->time_ns) return answer;
  double data = room_of(&answer) - answer.in_use - answer.free, heap = room_of(resident) - data;
  answer.in_use = fmax(answer.in_use + grown, 0);
  if (data < 0) { /* what was not written then may be written now, so it does not tell the heap's size */
    answer.free = fmax(answer.free - grown, 0);
  } else {
    answer.in_use = fmin(answer.in_use, fmax(heap, now->bytes.low));
    answer.free = fmax(heap - answer.in_use, 0);
  }
  return answer;
}

/* ANSWER. `room`: private memory that is not in mappings or stacks, or the recorder's own. */
static void fill_answered(struct resident_parts *parts, const struct blocks *blocks,
                          const struct resident *answer, double room, uint64_t time_ns) {
  double held = blocks->bytes.estimate, headers = answer->asked == TRACE_GLIBC ? blocks->headers : 0;
  double earlier = fmin(fmax(answer->in_use - held - blocks->headers, 0), parts->earlier);
  double of_blocks = answer->in_use - earlier, share = headers > 0 ? headers / (held + headers) : 0;
  double left = room - answer->in_use - answer->free;
  double range = answer->time_ns == time_ns ? 0 : (blocks->bytes.high - blocks->bytes.low) / 2;
  parts->answered = true;
  parts->answered_ns = answer->time_ns;
  parts->part[PART_BLOCKS] = resident_within(of_blocks * (1 - share), range, blocks->bytes.samples);
  parts->part[PART_HEADERS] = exactly(of_blocks * share);
  parts->part[PART_EARLIER] = exactly(earlier);
  parts->part[PART_FREE] = resident_within(answer->free, range, range > 0 ? blocks->bytes.samples : 0);
  parts->part[PART_REST] = exactly(fmax(left, 0));
  parts->part[PART_UNWRITTEN] = exactly(fmin(left, 0));
}

/* The size that a collected heap told last at a time; 0: none. Of several processes it is not one heap's. */
static double heap_bytes(const struct samples *samples, uint64_t time_ns) {
  const struct heap_life *life = &samples->life;
  size_t count = samples->process_count < 2 ? life->collection_count : 0, at = 0;
  while (at + 1 < count && life->collections[at + 1].time_ns <= time_ns) at++;
  return count ? (double)life->collections[at].heap_words * samples->word_bytes : 0;
}

/* Without an answer of malloc. What is left of the room is divided in turn. */
static void fill_estimated(struct resident_parts *parts, const struct report *report,
                           const struct blocks *blocks, double room, uint64_t time_ns) {
  struct estimate bytes = report->query ? blocks->bytes : report_within_peak(report, blocks->bytes);
  struct estimate rest = remains(room, &bytes);
  double heap = heap_bytes(report->samples, time_ns), garbage = fmin(blocks->garbage, bytes.estimate);
  double headers = fmin(blocks->headers, rest.estimate), left = rest.estimate - headers;
  double free = fmin(fmax(heap - blocks->major, 0), left);
  double earlier = fmin(parts->earlier, left - free);
  struct estimate apart = exactly(headers + free + earlier);
  parts->answered = heap > 0;
  parts->answered_ns = time_ns;
  parts->part[PART_BLOCKS] =
      garbage > 0 ? resident_within(bytes.estimate - garbage, (bytes.high - bytes.low) / 2, bytes.samples)
                  : bytes;
  parts->part[PART_GARBAGE] = exactly(garbage);
  parts->part[PART_HEADERS] = exactly(headers);
  parts->part[PART_EARLIER] = exactly(earlier);
  parts->part[PART_FREE] = exactly(free);
  parts->part[PART_REST] = (struct estimate){.estimate = rest.estimate - apart.estimate,
                                             .low = fmax(rest.low - apart.estimate, 0),
                                             .high = fmax(rest.high - apart.estimate, 0),
                                             .samples = rest.samples};
  parts->part[PART_UNWRITTEN] = exactly(-parts->unwritten);
}

/* ---- shared ---- */

struct resident report_resident(const struct report *report) {
  if (report->at != AT_PEAK) return mapped_near(report->samples, report->asked.time_ns);
  struct resident most = mapped_when_most_was_resident(report->samples),
                  full = mapped_when_nearly_most_was_resident(report->samples, report->recording->peak_ns);
  struct resident end = mapped_when_asked(report->samples, report->alive_ns, true);
  if (is_mostly_free(&end, &most)) return mapped_near(report->samples, end.time_ns);
  return is_fuller(report, &full, &most) ? full : most;
}

struct resident_parts resident_parts(const struct report *report, const struct resident *resident) {
  struct blocks blocks = blocks_at(report, resident->time_ns);
  struct resident answer = answer_at(report, resident, &blocks);
  bool measured = resident->measured;
  double whole = room_of(resident) + resident->own_bytes;
  struct resident_parts parts = {.held = blocks.held, .rest = remains(whole, &blocks.bytes)};
  parts.unwritten = fmax(blocks.bytes.low - whole, 0);
  parts.headers = fmin(blocks.headers, parts.rest.estimate);
  parts.earlier = fmin(earlier_bytes(report), parts.rest.high);
  bool is_answered = answer.asked && measured;
  double own = is_answered ? resident->own_bytes : fmin(resident->own_bytes, parts.rest.estimate);
  parts.part[PART_MAPPED] = exactly(measured ? resident->mapped_private + resident->mapped_files : 0);
  parts.part[PART_STACKS] = exactly(measured ? resident->stack_bytes : 0);
  parts.part[PART_FILES] = exactly(resident->files_bytes);
  parts.part[PART_OWN] = exactly(own);
  if (is_answered)
    fill_answered(&parts, &blocks, &answer, whole - own, resident->time_ns);
  else
    fill_estimated(&parts, report, &blocks, whole - own, resident->time_ns);
  return parts;
}

wn_status resident_tree(const struct report *report, const struct resident *resident, enum resident_kind kind,
                        enum grouping grouping, struct call_tree *tree) {
  struct samples view = *report->samples; /* with the mappings as rows in place of the blocks */
  struct asked asked = {report->samples, resident->time_ns, resident->measured, kind == RESIDENT_STACKS};
  view.rows = report->samples->mapped.rows;
  view.row_count = report->samples->mapped.count;
  view.row_types = NULL;
  return report_tree(report, &view, grouping == BY_STACK ? BY_FUNCTION : grouping, resident_mapped_then,
                     &asked, tree);
}
/* SPDX-License-Identifier: MIT */
