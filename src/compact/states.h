/* Which records stay that tell how the process was at a moment: its memory, its mappings, its
 * control group, the rate, its collections and pauses.
 *
 * MOMENTS. The time since the trace began is divided into STATES_PARTS parts, or fewer if more than
 * STATES_MOST records would stay: those of thousands of mappings that change all the time. Of each
 * part those records of memory stay that are the last and the largest, and their times are the
 * moments. Of the other kinds a record stays if it tells the state at a moment: if a moment lies
 * between it and the next record of the same thing. A mapping that no moment saw is left out;
 * pauses and collections stay too if they are the longest of their part; and rates if sampling
 * stops or begins.
 *
 * MEMORY. When STATES_ROOM records are noted, those go that would not stay if the run had ended
 * there, but for the newest of them: others may still be read that stand between those. */
#pragma once

#include "trace/event.h"

enum { STATES_PARTS = 1024, STATES_MOST = 100000, STATES_ROOM = STATES_MOST / 2 * 3 };

/* A record: of what thing, when, how large, and whether it stays. */
struct state {
  uint64_t thing, time_ns, value;
  uint32_t number; /* in the order of reading */
  uint8_t kind;
  bool stays;
};

struct states {
  struct state *items; /* until states_choose was called */
  size_t count, capacity;
  size_t room;    /* 0: STATES_ROOM */
  uint32_t noted; /* all, also those that are gone */
  uint64_t now_ns;
  uint64_t *moments;
  size_t moment_count;
  uint64_t part_ns; /* the length of a part */
  uint64_t *stays;  /* a bit for each that was noted, once states_choose was called */
  uint32_t next;    /* which one states_keep is asked of */
};

/* Notes an event if it is one of a state. False without memory. */
bool states_note(struct states *states, const struct trace_event *event);

/* Chooses, with all of them known. False without memory. */
bool states_choose(struct states *states, uint64_t now_ns);

/* Whether an event is one of a state; then whether it stays. Asked in the order of states_note. */
bool states_have(const struct trace_event *event);
bool states_keep(struct states *states);

void states_destroy(struct states *states);
/* SPDX-License-Identifier: MIT */
