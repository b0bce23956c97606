/* The container: a loaded recording (analysis/load/recording.h) as compact bytes, and read back. All
 * questions about the recording that was read have the answers of the original.
 *
 * SECTIONS. A container is a set of sections, each with a name of four letters, in any order. A
 * reader skips the sections that it does not know; a field that is added later stands in a section
 * of its own. Numbers are varints and arrays are columns (coding.h); texts have their length before
 * them.
 *   META  the version of the container; UNIT (below); the run, the kind of heap, what its source does
 *         not tell (struct source_limits), damage, the end record, counters, the share of samples that were kept
 *   STRS  the strings of names, in the order of their numbers; only those in use
 *   FRAM  the distinct frames; the distinct lists of frames, one list for each code address; the
 *         wrappers, and the hint about names
 *   BLDS  the builds of all files (analysis/load/builds.h); which strings are addresses, and of which build
 *   NODE  for each node of the stacks: its distance to its caller's node, and its list of frames
 *   KIND  the distinct kinds of row, stacks and threads, the most frequent first
 *   ROWS  the rows
 *   TIME  measurements of memory, names of threads
 *   RATE  the rates that trials had, and the times at which the rate changed
 *   GRPS  what the memory control group reported, if it did, and of a single process whether it
 *   still wrote
 *         the trace; else absent
 *   PROC  the processes, if there are several; else absent
 *   ORIG  the host and the release of each process
 *   HEAP  collections, pauses and domains of a collected heap, as heap_life_complete left them
 *   MAPS  the program's own mappings as rows, and their touches
 *   TYPE  the names of types, and for each row the number of its block's, if the trace has types;
 *         else absent
 *   SRCS  source lines (analysis/load/listing.h): the files and the excerpts; absent unless asked for
 *
 * NODES. Only nodes that rows use, and their callers, are stored. They and the strings get new
 * numbers in the old order. So callers have smaller numbers than what they call, and whatever is
 * ordered by number keeps its order.
 *
 * KINDS. All of a row that depends neither on when, where nor on which thread is its kind: its
 * size, whether it begins with a call, its words and its growth. A trace has few kinds, so a row
 * has the rank of its kind, and likewise the ranks of its stack and of its thread. A row in ROWS is
 * a number in each of eight columns, each column with its length in bytes before it:
 *   begin     the time since the begin of the row before
 *   life      the time from its begin to its end, plus 1; 0: still alive, or never freed before the end
 *             of its process, which PROC has
 *   block     the block's number less the expected one, zigzag. The expected one follows that of
 *             the last new block, either of all or of the same thread: a flag before the columns
 *   kind, stack, thread: ranks in KIND
 *   flags     area, next cycle, first, last, source: flags_of in container_rows.c
 *   promoted  the time from the block's birth to its promotion, plus 1; 0: never
 * Probabilities, dependences and lives in words are not stored. The reader computes them again with
 * the code that computed them first (grown_finish_block, samples_complete_lives), from the same
 * numbers in the same order, so they are equal to the last bit. Block numbers are stored, since the
 * parts of a heap's peak depend on them (analysis/load/peak.c).
 *
 * UNIT. Up to CONTAINER_EXACT_ROWS rows, times are in nanoseconds. Above that, the times of rows
 * are rounded down to microseconds: nanoseconds would be a fifth of the file. All times of rows are
 * rounded alike. So no row ends before it begins, and the end of a row is the begin of the next row
 * of its block. All other times stay exact. Of what a report says, rounding moves times and lives
 * by less than a microsecond. The parts of the peak stay as they are (BIRTH_UNIT_NS in
 * analysis/load/peak.c). recording_round (analysis/load/reduce.h) rounds a recording in the same way.
 *
 * BLOCKS. The bytes of a section are cut into blocks of at most CONTAINER_BLOCK_BYTES. Each block
 * is stored alone: deflated (RFC 1951, without a header) or, if that is not smaller, as it is. The
 * checksum is the CRC-32 of zlib and gzip over the bytes as they were before. The caller of
 * container_write says where blocks go. The caller of container_read inflates them, checks them,
 * and joins those of a section. So the reader needs no zlib; in a page, the browser inflates.
 *
 * SIZES, deflated, with the names (measured with `winnow record --rate` and `winnow html`): gcc
 * compiling C, 40,000 rows, 0.34 MB; g++ compiling C++, 549,000 rows, 1.30 MB; sqlite, 268,000
 * rows, 0.34 MB. A made-up trace of a million rows and 200,000 nodes, in which times, sizes, stacks
 * and threads do not depend on each other, has 7.5 MB, of which 2.0 are stacks, 1.8 ends, 1.6
 * begins and 0.9 kinds of the rows; that is a tenth more than the entropy of these numbers.
 *
 * DAMAGE. container_read accepts any bytes. It checks each number before use, and takes memory in
 * proportion to the input: at most some fifty times its length. */
#pragma once

#include "analysis/load/recording.h"

enum {
  CONTAINER_VERSION = 9,
  CONTAINER_BLOCK_BYTES = 1 << 20,
  CONTAINER_EXACT_ROWS = 100000,
  CONTAINER_UNIT_NS = 1000
};

/* A block, ready to be stored. The bytes are valid until the sink returns. */
struct container_block {
  char section[5];
  uint32_t index;    /* within its section, from 0 on */
  uint32_t count;    /* of the section's blocks */
  size_t raw_length; /* before it was deflated */
  const void *stored;
  size_t stored_length;
  uint32_t crc; /* of the raw bytes */
  bool deflated;
};

/* Takes one block. An error ends the writing, and container_write returns it. */
typedef wn_status container_sink(const struct container_block *block, void *context);

struct container_options {
  uint64_t unit_ns; /* UNIT; 0: 1, or CONTAINER_UNIT_NS with more than CONTAINER_EXACT_ROWS rows */
};

/* Writes a recording. WN_ENOMEM, or the error of the sink. */
wn_status container_write(const struct recording *recording, const struct container_options *options,
                          container_sink *sink, void *context);

/* Writes bytes as one more section, for what is no part of a recording. */
wn_status container_write_section(const char name[4], const void *bytes, size_t length, container_sink *sink,
                                  void *context);

/* A whole section: its blocks inflated and joined. */
struct container_section {
  char name[4];
  const void *bytes;
  size_t length;
};

/* Reads a recording; free it with recording_free. The sections are needed only during the call. Of
 * two sections with one name the first counts. WN_EINVAL: the bytes are no container, or damaged;
 * wn_last_error names the section and the fault. WN_ENOMEM. */
wn_status container_read(const struct container_section *sections, size_t count,
                         struct recording **recording);
/* SPDX-License-Identifier: MIT */
