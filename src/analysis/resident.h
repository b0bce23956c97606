/* The parts of a program's resident memory: malloc's blocks, which are estimated; the program's own
 * mappings and the stacks of its threads, which are measured; code and files; and the rest of the
 * private memory. */
#ifndef ANALYSIS_RESIDENT_H
#define ANALYSIS_RESIDENT_H

#include "analysis/report.h"

/* The moment for which a report shows the parts: a measurement near the moment that its question asks for.
 * If that is the peak: that of the largest resident size, or one near the peak of the heap with nearly
 * that size, if blocks and mappings account for more memory then. */
struct resident report_resident(const struct report *report);

/* A row of this list: the name in C, the name in JSON, the words for people, of malloc's heap and of a
 * collected one; NULL: it has no such part. resident.c chooses the words for the rest. */
#define RESIDENT_PARTS_LIST(PART)                                                                         \
  PART(BLOCKS, "blocks", "held by malloc's blocks", "in the collected heap's blocks")                     \
  PART(GARBAGE, "garbage", NULL, "in its garbage that was found later")                                   \
  PART(HEADERS, "headers", "headers and rounding of these blocks", "headers of these blocks")             \
  PART(EARLIER, "earlier", "what the process had before its recording began", "older than the recording") \
  PART(FREE, "free", "that malloc keeps free", "free in the major heap")                                  \
  PART(MAPPED, "mapped", "mapped by the program itself", "mapped by the program itself")                  \
  PART(STACKS, "stacks", "stacks of threads", "stacks of threads")                                        \
  PART(FILES, "files", "code and files", "code and files")                                                \
  PART(OWN, "winnow", "Winnow's own", "Winnow's own")                                                     \
  PART(REST, "rest", "data and small mappings", "minor heaps, stacks, data and small mappings")           \
  PART(UNWRITTEN, "unwritten", "held or kept free and not resident", "held or kept free and not resident")

enum resident_part_name {
#define RESIDENT_PART(NAME, name, malloc, collected) PART_##NAME,
  RESIDENT_PARTS_LIST(RESIDENT_PART)
#undef RESIDENT_PART
      RESIDENT_PARTS
};

struct resident_part {
  const char *name, *text; /* text NULL: the heap has no such part */
  struct estimate bytes;   /* low and high are equal where it is no estimate; UNWRITTEN is negative */
};

/* The parts add up to the resident size; but where the allocator was not asked, only within the range of
 * what the blocks hold. */
struct resident_parts {
  struct resident_part part[RESIDENT_PARTS]; /* by enum resident_part_name */
  bool told;        /* the allocator, or the collected heap, told what it keeps free */
  uint64_t told_ns; /* when: what it held at the moment of the parts follows from that and the samples */
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

#endif
/* SPDX-License-Identifier: MIT */
