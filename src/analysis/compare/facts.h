/* What is said of a recording, once: the list of facts from which the text, the JSON, the page and
 * the comparison are printed. A fact is a number with its interval, or exact; it has a name for
 * programs, a label for people, and a unit.
 *
 * A fact is absent where it does not apply: `promoted_words` of malloc, lives in a file without
 * them. It is unknown where it applies and the trace does not have it. A new fact is a row of the
 * list and a line in facts.c; every printer then has it. */
#pragma once

#include "analysis/compare/pair.h"
#include "analysis/report/resident.h"

enum fact_unit {
  UNIT_BYTES,
  UNIT_BYTES_PER_SECOND,
  UNIT_WORDS, /* of the heap: people read bytes */
  UNIT_COUNT,
  UNIT_SHARE,    /* 0 to 1 */
  UNIT_DURATION, /* ns */
  UNIT_MOMENT,   /* ns since the start of the recording */
  UNIT_NUMBER,
  UNIT_YES
};

/* Groups, in the order of their printing: the name in C, the name in JSON, and the title for people. */
#define FACT_GROUPS(GROUP)                                                      \
  GROUP(TOTALS, "totals", "TOTALS")                                             \
  GROUP(RESIDENT, "resident", "RESIDENT")                                       \
  GROUP(PARTS, "parts", "RESIDENT MEMORY IS MADE OF")                           \
  GROUP(HEAP, "heap", "THE COLLECTED HEAP, BY ITS OWN COUNTS")                  \
  GROUP(SURVIVAL, "survival", "SURVIVAL IN THE COLLECTED HEAP, BY THE SAMPLES") \
  GROUP(PAUSES, "pauses", "PAUSES")                                             \
  GROUP(WHAT_IF, "what_if", "WITH A MINOR HEAP OF ANOTHER SIZE")                \
  GROUP(TRACE, "trace", "THE RECORDING")

/* Group, name, unit, label for people. An empty label: in JSON alone. docs/report-json.md has the
 * meanings. The labels are of malloc; facts_label has those that differ for a collected heap. The facts of
 * PARTS are in the order of enum resident_part_name. */
#define REPORT_FACTS(FACT)                                                         \
  FACT(TOTALS, allocated_bytes, BYTES, "Allocated")                                \
  FACT(TOTALS, allocated_blocks, COUNT, "Calls that allocated")                    \
  FACT(TOTALS, allocated_bytes_per_second, BYTES_PER_SECOND, "Allocated a second") \
  FACT(TOTALS, external_bytes, BYTES, "Outside the heap (external)")               \
  FACT(TOTALS, brief_share, SHARE, "Short-lived, of what was allocated")           \
  FACT(TOTALS, brief_bytes, BYTES, "Short-lived")                                  \
  FACT(TOTALS, brief_ns, DURATION, "Short-lived: less than")                       \
  FACT(TOTALS, peak_bytes, BYTES, "Held at the peak")                              \
  FACT(TOTALS, peak_blocks, COUNT, "Blocks at the peak")                           \
  FACT(TOTALS, peak_at_ns, MOMENT, "Time of the peak")                             \
  FACT(TOTALS, held_bytes, BYTES, "Held then")                                     \
  FACT(TOTALS, held_blocks, COUNT, "Blocks then")                                  \
  FACT(TOTALS, held_at_ns, MOMENT, "Time that was asked for")                      \
  FACT(TOTALS, held_python_bytes, BYTES, "Python's objects")                       \
  FACT(TOTALS, held_native_bytes, BYTES, "Native code's blocks")                   \
  FACT(TOTALS, live_at_end_bytes, BYTES, "Held at the end")                        \
  FACT(TOTALS, live_at_end_blocks, COUNT, "Blocks held at the end")                \
  FACT(TOTALS, alive_bytes, BYTES, "Held as it began to close down")               \
  FACT(TOTALS, alive_blocks, COUNT, "Blocks then")                                 \
  FACT(TOTALS, alive_at_ns, MOMENT, "Time of that")                                \
  FACT(TOTALS, peak_rss_bytes, BYTES, "Resident at most")                          \
  FACT(RESIDENT, at_ns, MOMENT, "Measured at")                                     \
  FACT(RESIDENT, rss_bytes, BYTES, "Resident then")                                \
  FACT(RESIDENT, most_bytes, BYTES, "")                                            \
  FACT(RESIDENT, counted, YES, "")                                                 \
  FACT(RESIDENT, explained, YES, "")                                               \
  FACT(RESIDENT, asked_ns, MOMENT, "The allocator was asked at")                   \
  FACT(RESIDENT, mapped_bytes, BYTES, "Addresses mapped by the program")           \
  FACT(RESIDENT, mapped_private_bytes, BYTES, "Resident of these, private")        \
  FACT(RESIDENT, mapped_file_bytes, BYTES, "Resident of these, files or shared")   \
  FACT(RESIDENT, unwritten_bytes, BYTES, "Held or kept free, not resident")        \
  FACT(RESIDENT, limit_bytes, BYTES, "Limit of the control group")                 \
  FACT(RESIDENT, high_bytes, BYTES, "Slowed down beyond")                          \
  FACT(RESIDENT, pressure_ns, DURATION, "The group waited for memory")             \
  FACT(RESIDENT, kills, COUNT, "Killed for memory in the group")                   \
  FACT(PARTS, blocks, BYTES, "malloc blocks")                                      \
  FACT(PARTS, garbage, BYTES, "garbage")                                           \
  FACT(PARTS, headers, BYTES, "block headers")                                     \
  FACT(PARTS, earlier, BYTES, "from before the recording")                         \
  FACT(PARTS, free, BYTES, "kept free")                                            \
  FACT(PARTS, mapped, BYTES, "mapped by the program")                              \
  FACT(PARTS, stacks, BYTES, "thread stacks")                                      \
  FACT(PARTS, files, BYTES, "code and files")                                      \
  FACT(PARTS, winnow, BYTES, "Winnow's own")                                       \
  FACT(PARTS, rest, BYTES, "data and small mappings")                              \
  FACT(HEAP, first_ns, MOMENT, "Counted from")                                     \
  FACT(HEAP, last_ns, MOMENT, "Counted until")                                     \
  FACT(HEAP, minor_words, WORDS, "Born in the minor heap")                         \
  FACT(HEAP, direct_words, WORDS, "Born in the major heap")                        \
  FACT(HEAP, promoted_words, WORDS, "Promoted")                                    \
  FACT(HEAP, minor_collections, COUNT, "Minor collections")                        \
  FACT(HEAP, major_cycles, COUNT, "Cycles of the major collector")                 \
  FACT(HEAP, live_words, WORDS, "Live, by the last cycle")                         \
  FACT(HEAP, peak_heap_words, WORDS, "Largest major heap")                         \
  FACT(HEAP, peak_at_ns, MOMENT, "Time of that")                                   \
  FACT(HEAP, domains_begun, COUNT, "Domains")                                      \
  FACT(HEAP, domains_most, COUNT, "Domains at once")                               \
  FACT(SURVIVAL, minor_share, SHARE, "Born in the minor heap")                     \
  FACT(SURVIVAL, major_share, SHARE, "Born in the major heap")                     \
  FACT(SURVIVAL, promoted_share, SHARE, "Promoted, of the minor heap")             \
  FACT(SURVIVAL, dead_next_share, SHARE, "Dead at the next cycle, of these")       \
  FACT(PAUSES, count, COUNT, "Pauses")                                             \
  FACT(PAUSES, total_ns, DURATION, "In all")                                       \
  FACT(PAUSES, share, SHARE, "Of the domains' time")                               \
  FACT(PAUSES, median_ns, DURATION, "Half took at most")                           \
  FACT(PAUSES, below_99_ns, DURATION, "99 of 100 took at most")                    \
  FACT(PAUSES, longest_ns, DURATION, "The longest")                                \
  FACT(PAUSES, longest_at_ns, MOMENT, "Time of that")                              \
  FACT(PAUSES, minor_count, COUNT, "Minor collections")                            \
  FACT(PAUSES, minor_ns, DURATION, "In minor collections")                         \
  FACT(PAUSES, slice_count, COUNT, "Slices of marking and sweeping")               \
  FACT(PAUSES, slice_ns, DURATION, "In slices")                                    \
  FACT(PAUSES, stop_count, COUNT, "Waits for another domain")                      \
  FACT(PAUSES, stop_ns, DURATION, "In such waits")                                 \
  FACT(WHAT_IF, interval_words, WORDS, "Allocated between collections")            \
  FACT(WHAT_IF, samples, COUNT, "")                                                \
  FACT(WHAT_IF, kept_half, SHARE, "Less promoted, with half the size")             \
  FACT(WHAT_IF, kept_2, SHARE, "Less promoted, twice as large")                    \
  FACT(WHAT_IF, kept_4, SHARE, "Less promoted, 4 times as large")                  \
  FACT(WHAT_IF, kept_8, SHARE, "Less promoted, 8 times as large")                  \
  FACT(TRACE, rate, NUMBER, "Probability that a word is sampled")                  \
  FACT(TRACE, rate_changes, COUNT, "Changes of the rate")                          \
  FACT(TRACE, asleep_ns, DURATION, "Nothing was sampled for")                      \
  FACT(TRACE, asleep_share, SHARE, "Of the time of all processes")                 \
  FACT(TRACE, cost_ns, DURATION, "Processor time that recording took")             \
  FACT(TRACE, cost_share, SHARE, "Of the program's, this included")                \
  FACT(TRACE, samples, COUNT, "Sampled blocks")                                    \
  FACT(TRACE, kept, SHARE, "Part of the samples that was read")                    \
  FACT(TRACE, growths, COUNT, "Growths by realloc")                                \
  FACT(TRACE, stacks_cut, COUNT, "Callstacks cut (--stack-depth)")                 \
  FACT(TRACE, stacks_lost, COUNT, "Records without their callstack")               \
  FACT(TRACE, lost, COUNT, "Records lost")                                         \
  FACT(TRACE, damaged_chunks, COUNT, "Damaged pieces of the trace")                \
  FACT(TRACE, damaged_bytes, BYTES, "Left out of these")                           \
  FACT(TRACE, times_raised, COUNT, "Events put later: clock set back")             \
  FACT(TRACE, unmatched, COUNT, "Records of unknown blocks")

enum fact_group {
#define FACT_GROUP(NAME, ...) FACTS_##NAME,
  FACT_GROUPS(FACT_GROUP)
#undef FACT_GROUP
      FACT_GROUP_COUNT
};

enum fact_name {
#define FACT_NAME(GROUP, name, ...) FACT_##GROUP##_##name,
  REPORT_FACTS(FACT_NAME)
#undef FACT_NAME
      FACTS
};

enum fact_kind {
  FACT_ABSENT,
  FACT_UNKNOWN,
  FACT_EXACT,    /* low and high are the number */
  FACT_ESTIMATE, /* with its interval and samples */
  FACT_RANGE     /* between low and high, and nothing is known of where */
};

struct fact {
  enum fact_kind kind;
  struct estimate value;
};

struct facts {
  const struct report *report;
  struct resident resident;
  struct resident_parts parts;
  struct fact fact[FACTS];
};

/* Finds all facts of a report, which must outlive them. WN_ENOMEM. */
wn_status facts_find(const struct report *report, struct facts *facts);

/* Those of FACTS_TRACE alone, of a trace. */
void facts_of_trace(const struct samples *samples, struct facts *facts);

/* The constant parts of the list. */
const char *fact_json_name(enum fact_name name);
enum fact_unit fact_unit(enum fact_name name);
enum fact_group fact_group(enum fact_name name);
const char *fact_group_name(enum fact_group group); /* in JSON */
const char *fact_group_title(enum fact_group group);

/* The label for people, in the words of the recording's heap; empty: the fact is for programs. */
const char *facts_label(const struct facts *facts, enum fact_name name);

/* Whether a fact has a number to show. */
static inline bool facts_have(const struct facts *facts, enum fact_name name) {
  return facts->fact[name].kind > FACT_UNKNOWN;
}

/* The number, 0 where it is absent or unknown. */
static inline double facts_number(const struct facts *facts, enum fact_name name) {
  return facts->fact[name].value.estimate;
}

/* The change of a fact between two reports. False: one of them does not have it, or it is a moment, which
 * is no amount. `scale`: as in comparison_options, of the facts that add up over a run: what was
 * allocated, and what a collector did. */
bool facts_change(const struct facts *before, const struct facts *after, enum fact_name name,
                  const struct estimate *scale, struct change *change);
/* SPDX-License-Identifier: MIT */
