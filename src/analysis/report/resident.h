/* The parts of a program's resident memory: malloc's blocks, which are estimated; the program's own
 * mappings and the stacks of its threads, which are measured; code and files; and the rest of the
 * private memory. */
#pragma once

#include "analysis/report/report.h"

/* The moment for which a report shows the parts: a measurement near the moment that its question asks for.
 * If that is the peak: that of the largest resident size, or one near the peak of the heap with nearly
 * that size, if blocks and mappings account for more memory then. */
struct resident report_resident(const struct report *report);

/* facts.h has their words. */
enum resident_part_name {
  PART_BLOCKS,
  PART_GARBAGE,
  PART_HEADERS,
  PART_EARLIER,
  PART_FREE,
  PART_MAPPED,
  PART_STACKS,
  PART_FILES,
  PART_OWN,
  PART_REST,
  PART_UNWRITTEN,
  RESIDENT_PARTS
};

/* The parts add up to the resident size; but where the allocator was not asked, only within the range of
 * what the blocks hold. */
struct resident_parts {
  struct estimate part[RESIDENT_PARTS]; /* low and high are equal where it is none; UNWRITTEN is negative */
  bool answered;                        /* the allocator, or the collected heap, told what it keeps free */
  uint64_t answered_ns; /* when: what it held at the moment of the parts follows from that and the samples */
  /* Without such an answer: */
  struct sums held;     /* the blocks held at that time, whatever the query selects */
  struct estimate rest; /* private memory that is not in blocks, mappings or stacks */
  double unwritten;     /* at least so many bytes are held but not resident */
  double headers;       /* about so many bytes of the rest are headers and rounding of blocks */
  double earlier;       /* at most so many bytes of the rest are older than the recording */
};
struct resident_parts resident_parts(const struct report *report, const struct resident *resident);

/* Sums mappings by the functions that mapped them. `bytes` are resident bytes, or mapped bytes if
 * resident ones were not measured; `blocks` are bytes of addresses. BY_STACK is treated as
 * BY_FUNCTION. WN_ENOMEM. */
enum resident_kind { RESIDENT_MAPPINGS, RESIDENT_STACKS };
wn_status resident_tree(const struct report *report, const struct resident *resident, enum resident_kind kind,
                        enum grouping grouping, struct call_tree *tree);
/* SPDX-License-Identifier: MIT */
