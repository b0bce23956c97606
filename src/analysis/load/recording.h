/* A loaded trace: its rows, their names, and which functions are wrappers. Any number of reports
 * (report.h) can be made from one recording, also at the same time: none changes it.
 *
 * CLOSING. Many a program that exits frees what it has: destructors of its containers run, an
 * interpreter takes itself down. Then nothing is alive at the end, neither its caches nor what it
 * leaked into a list all the time. So where a program has ended itself, or was ended by a signal,
 * and frees more than half of what it held within the last CLOSING_PART of its run, it began to
 * close down at its peak, if that is in this part, or else when it last held nearly as much as in
 * this part's largest moment, or a good part of that if it seems to have gone on with its work
 * then. But it did not if it goes on to allocate as before. In all other recordings, and in those
 * of several processes, this moment is the end. What was alive then is asked for instead of what
 * was alive at the end. Each of several processes has such a moment of its own.
 *
 * BATCHES: a program that in the last half of its run freed as much at least three times, and held it
 * again, works so. It closes down after it last held half of what it held between two batches.
 *
 * SLOWLY: an interpreter may take longer to free a large list. So the last half of the run counts
 * if the program frees in all of it, and hardly allocates. */
#pragma once

#include "analysis/load/listing.h"
#include "analysis/load/wrappers.h"
#include "sources/files/joined.h"

/* Called repeatedly while a trace is loaded. */
typedef names_progress recording_progress;

struct recording_options {
  struct names_options names;
  struct wrappers_options wrappers;
  bool lines;                   /* read source files too: listing.h */
  size_t samples_most;          /* recording_load keeps about so many samples at most; 0: all */
  recording_progress *progress; /* or NULL */
  void *progress_context;
};

/* Does not change once it is loaded. */
struct recording {
  struct samples *samples;
  struct names names;
  struct wrappers wrappers; /* the wrappers at the ends of stacks, which reports pass over */
  struct listing listing;   /* source lines, if they were asked for */
  double rate; /* of its samples; if they have several, the inverse of the mean distance of two, by words */
  double byte_unit; /* the `unit` of estimate_of for bytes */
  bool partial; /* records are missing: all totals are lower bounds, and intervals do not apply to the run */
  bool without_ranges; /* partial, or estimates of another tool: no interval holds the truth for sure */
  double kept;         /* the share of the trace's samples that are in the recording; 1: all of them */
  uint64_t peak_ns;    /* when all blocks together held the most; of the peak's moments the median */
  uint64_t closing_ns; /* CLOSING */
};

/* Loads a trace. If it has more samples than wanted, it is read twice (sources/survey.h) and thinned
 * (reduce.h); then the memory that it takes depends on their number alone, and on what is not sampled:
 * stacks, measurements, mappings, collections. Of a trace that grows, two readings with the same
 * share keep the same blocks. On an error wn_last_error says what is wrong with the trace, or with
 * the options (WN_EINVAL). */
wn_status recording_load(const char *path, const struct recording_options *options,
                         struct recording **recording);

/* As recording_load, from the parts that are selected (joined_examine), as one recording. A single
 * part counts as selected. `name` is for messages. */
wn_status recording_load_joined(const struct joined_part *parts, size_t count, const char *name,
                                const struct recording_options *options, struct recording **recording);

/* As recording_load, from an open source, whose samples are all kept. Takes ownership of the source,
 * even on an error. `name` is for messages. */
wn_status recording_read(struct source *source, const char *name, const struct recording_options *options,
                         struct recording **recording);
void recording_free(struct recording *recording);

/* CLOSING of a process, by its number; the last moment at which it had what it left (LEFT in
 * processes.h) if it did not close down. */
uint64_t recording_closing(const struct recording *recording, uint32_t process);

/* Whether two recordings are of one process from the same start to the same end: copies of one trace.
 * A recording that does not know when its process started is the same as no other. */
bool recording_is_same(const struct recording *one, const struct recording *other);

/* Sets what follows from the samples and the names, once they are there: rate, byte_unit, partial,
 * peak_ns, closing_ns, and which names are shared. */
void recording_describe(struct recording *recording);
/* SPDX-License-Identifier: MIT */
