/* Divides resident memory into parts.
 *
 * The rest is what remains of private memory after the other parts: malloc's free memory, data,
 * small mappings and the recorder's own memory. The blocks are an estimate, so the rest has an
 * interval too. A block that was never written is held but not resident. Where even the low end of
 * what is held exceeds the room for it, `unwritten` says by how much. Where the resident part of
 * large mappings could not be measured, the mappings are in the rest.
 *
 * Each block of glibc's malloc has a header of 8 bytes, and is rounded up to a multiple of 16, at
 * least 32 (malloc_usable_size tells). These bytes are in the rest as well: for small blocks they
 * are much of it, and no memory that malloc could give back.
 *
 * What the process had when its recording began is in the rest too: a forked process has a copy of
 * its parent's blocks, which no record of its trace tells of. `earlier` is the rest at that time. It
 * is an upper bound for what is left of it, since a program may free memory that it had before.
 */
#include "analysis/resident.h"

#include <math.h>

static bool takes_all(const struct row *row, void *unused) {
  (void)row, (void)unused;
  return true;
}

/* What glibc's malloc takes for a block beyond its size. */
static double header_bytes(uint64_t size) {
  const uint64_t header = 8, unit = 16, least = 32;
  uint64_t taken = (size + header + unit - 1) / unit * unit;
  return (double)((taken < least ? least : taken) - size);
}

static bool adds_header(const struct row *row, void *total) {
  *(double *)total += header_bytes(row->size) / row->probability;
  return true;
}

/* ---- mappings ---- */

struct asked {
  const struct samples *samples;
  uint64_t time_ns;
  bool resident; /* count resident bytes; otherwise, where these are not known, mapped bytes */
  bool stacks;   /* count the stacks of threads; otherwise all other mappings */
};

static bool mapped_then(const struct row *row, struct share *share, void *context) {
  const struct asked *asked = context;
  double bytes = asked->resident ? mapped_resident(asked->samples, row, asked->time_ns) : (double)row->size;
  *share = (struct share){.bytes = bytes, .blocks = (double)row->size};
  return row_is_live_at(row, asked->time_ns) && (row->source == TRACE_MAP_STACK) == asked->stacks;
}

/* ---- which moment ---- */

/* How much of the process's private memory blocks, mappings and stacks account for. */
static struct estimate explained(const struct report *report, const struct resident *resident) {
  struct sums held = timeline_live_at(report->samples, resident->time_ns, takes_all, NULL);
  struct estimate bytes = report_bytes(report, &held);
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

/* Private memory that is not in blocks, mappings or stacks, and not the recorder's own. */
static double earlier_bytes(const struct report *report) {
  struct resident start = mapped_at_start(report->samples);
  struct sums held = timeline_live_at(report->samples, start.time_ns, takes_all, NULL);
  return fmax(
      start.private_bytes - start.mapped_private - start.stack_bytes - start.own_bytes - held.bytes.total, 0);
}

/* ---- shared ---- */

struct resident report_resident(const struct report *report) {
  struct resident most = mapped_when_most_was_resident(report->samples),
                  full = mapped_when_nearly_most_was_resident(report->samples, report->recording->peak_ns);
  return is_fuller(report, &full, &most) ? full : most;
}

struct resident_parts resident_parts(const struct report *report, const struct resident *resident) {
  double headers = 0;
  struct resident_parts parts = {
      .held = timeline_live_at(report->samples, resident->time_ns, adds_header, &headers)};
  struct estimate held = report_bytes(report, &parts.held);
  double measured = resident->measured ? resident->mapped_private + resident->stack_bytes : 0;
  double room = resident->private_bytes - measured;
  parts.rest = (struct estimate){.estimate = fmax(room - held.estimate, 0),
                                 .low = fmax(room - held.high, 0),
                                 .high = fmax(room - held.low, 0),
                                 .samples = held.samples};
  parts.unwritten = fmax(held.low - room, 0);
  parts.headers = report->samples->collected ? 0 : fmin(headers, parts.rest.estimate);
  parts.earlier = fmin(earlier_bytes(report), parts.rest.high);
  return parts;
}

wn_status resident_tree(const struct report *report, const struct resident *resident, enum resident_kind kind,
                        enum grouping grouping, struct call_tree *tree) {
  struct samples view = *report->samples; /* with the mappings as rows in place of the blocks */
  struct asked asked = {report->samples, resident->time_ns, resident->measured, kind == RESIDENT_STACKS};
  view.rows = report->samples->mapped.rows;
  view.row_count = report->samples->mapped.count;
  return report_tree(report, &view, grouping == BY_STACK ? BY_FUNCTION : grouping, mapped_then, &asked, tree);
}
/* SPDX-License-Identifier: MIT */
