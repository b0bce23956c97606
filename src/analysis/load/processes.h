/* The processes of a trace, mostly one. A joined source (sources/joined.h) has several; then
 * measurements of memory are summed, and blocks end with their process.
 *
 * LEFT. The kernel frees what a process still has when it ends. So a block that its program never
 * freed ends with its process: sums at a moment, and the peak, have it only until then. For its
 * program it is alive all the same: `died_ns` of its rows stays STILL_ALIVE, it counts as alive at the
 * end, and its life is that until the end of its process. */
#pragma once

#include "sources/source.h"

struct samples;
struct row;

#define NO_PROCESS UINT32_MAX

struct process {
  uint32_t pid;
  uint32_t parent;   /* the process that started it, or that it was before an exec; or NO_PROCESS */
  char *name;        /* what it called itself last; else its program, without the folder */
  char *host;        /* the machine; NULL: not known */
  char *release;     /* of its program (sources/source.h); NULL: not known */
  char *became;      /* what it tried to exec last; NULL: nothing, or unknown */
  uint64_t begin_ns; /* when its recording began */
  uint64_t last_ns;  /* the time of its last event */
  uint64_t end_ns;   /* LEFT: when its blocks end; STILL_ALIVE: not before the end of the trace */
  double rate;       /* at which it sampled first */
  bool ended;        /* its trace has an end record, of this kind and code */
  bool writing;      /* it still writes its trace */
  uint8_t end_kind;  /* enum trace_end_kind */
  uint8_t end_cause; /* enum trace_end_cause */
  int32_t code;
};

/* Fills in the processes of samples once their source is read: from the source, or for one process
 * from its run. If there are several, sums the measurements of memory, each of which is of the
 * process of its thread, and sets the end of the trace. False: not enough memory. */
bool processes_read(struct samples *samples);
void processes_destroy(struct samples *samples);

/* The host and the release of a process become unknown. */
void processes_forget_origin(struct process *process);

/* LEFT: if there are several processes, ends the rows of blocks and mappings that were never
 * freed. A second call changes nothing. */
void processes_end_rows(struct samples *samples);

/* The process of a row's thread: its index. */
uint32_t process_of(const struct samples *samples, uint32_t thread);
/* SPDX-License-Identifier: MIT */
