/* Finds out whether a file is a trace, and what its chunks are like. */
#ifndef TRACE_SEARCH_H
#define TRACE_SEARCH_H

#include "trace/chunk.h"
#include <winnow/status.h>

/* Checksums of segments may be tried over so many times the bytes that there are. */
enum { SEGMENT_WORK = 4 };

struct search {
  const char *path;
  int descriptor;
  uint64_t size;
  bool refused;      /* it is there, and cannot be opened */
  bool exhausted;    /* it cannot be known: this process has no descriptor or memory left to open it */
  bool header_known; /* of what was found */
  bool begun;        /* a chunk with our magic was seen, however damaged */
  uint16_t newer;    /* the version of a chunk that is too new; 0: none seen */
};

/* The descriptor, to be closed by the caller, and the size of the file at `search->path`. Sets
 * wn_last_error. */
wn_status search_open(struct search *search);

/* Finds the first good chunk; its header says what the others must say too. Without one, a segment
 * tells as much as it can (search->header_known). Sets wn_last_error, which says what file it is
 * instead. */
wn_status search_chunk(struct search *search, struct chunk_header *found);

#endif
/* SPDX-License-Identifier: MIT */
