/* The sections of a container (container.h) that are lists of fields: one function for each, which
 * writes the section or reads it. META comes first: the others need the end of the trace, since no
 * time is after it. And the source (sources/source.h) of a recording that was read. */
#pragma once

#include "analysis/load/recording.h"
#include "page/coding.h"

/* What a source has that was read from a container: the run and the stacks, but no events, modules
 * or places. */
struct container_source {
  struct source source;
  struct trace_run run;
  struct source_limits limits;
  struct trace_text note; /* that of the limits, which ends with a 0 */
  struct trace_damage damage;
  enum source_heap heap;
  uint32_t *parents; /* index: node; [0] is unused */
  uint32_t node_count;
};

/* An empty source; NULL without memory. source_close frees it, and all that it holds. */
struct container_source *container_source_create(void);

/* META. `facts` has what is not in the samples. */
struct container_facts {
  uint64_t version, unit_ns;
  double kept;
  struct container_source *source;
};
void code_meta(struct coding *coding, struct container_facts *facts, struct samples *samples);

/* PROC: several processes. `unit_ns`: that of the rows. */
void code_processes(struct coding *coding, struct samples *samples, uint64_t unit_ns);

/* ORIG: the host and the release of each process. Reading replaces those of samples. */
void code_origins(struct coding *coding, struct samples *samples);
void code_times(struct coding *coding, struct samples *samples);
void code_rates(struct coding *coding, struct samples *samples);
void code_groups(struct coding *coding, struct samples *samples);
void code_heap(struct coding *coding, struct samples *samples);

/* MAPS. Stacks of rows are numbers of the container. */
void code_maps(struct coding *coding, struct samples *samples, uint32_t node_count);
/* SPDX-License-Identifier: MIT */
