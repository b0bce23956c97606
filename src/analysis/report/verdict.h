/* What a recording most likely shows, in one word: a leak, memory that malloc keeps, a heap that is level.
 * verdict.c has the rules and their error rates. */
#pragma once

#include "analysis/report/report.h"

/* A row of this list: the name in C, the word in JSON, the words for people, and what it says. */
#define VERDICTS(VERDICT)                                                                                  \
  VERDICT(NONE, "none", "", "nothing can be judged: no rate, no lives, or records are missing")            \
  VERDICT(UNDECIDED, "not_decided", "NOT DECIDED", "growth is neither sure nor ruled out")                 \
  VERDICT(LEAK, "leak_likely", "LEAK LIKELY", "functions hold more and more, while others free")           \
  VERDICT(GROWING, "still_growing", "STILL GROWING",                                                       \
          "the same, if it frees little or all at its exit, has just begun, grows late, or old blocks go") \
  VERDICT(KEPT, "freed_not_given_back", "FREED, NOT GIVEN BACK", "most resident memory is free in malloc") \
  VERDICT(UNWRITTEN, "reserved_never_written", "RESERVED, NEVER WRITTEN",                                  \
          "most held bytes are not resident")                                                              \
  VERDICT(MAPPED, "mapped_not_malloc", "MAPPED, NOT MALLOC",                                               \
          "most resident memory is the program's mappings")                                                \
  VERDICT(FEW, "too_few_samples", "TOO FEW SAMPLES", "the held bytes are hardly known")                    \
  VERDICT(BRIEF, "mostly_short_lived", "MOSTLY SHORT-LIVED",                                               \
          "the heap is small beside what goes through it")                                                 \
  VERDICT(LEVEL, "no_leak_seen", "NO LEAK SEEN", "a leak of a tenth of the peak would have been seen")

enum verdict_kind {
#define VERDICT_KIND(NAME, ...) VERDICT_##NAME,
  VERDICTS(VERDICT_KIND)
#undef VERDICT_KIND
      VERDICT_KINDS
};

/* "leak_likely", and "LEAK LIKELY". */
const char *verdict_word(enum verdict_kind kind);
const char *verdict_title(enum verdict_kind kind);

/* A function that the verdict is about. Labels are of the report's names; lines are not known. */
struct culprit {
  struct label function;
  struct label caller;   /* that nearly all of its bytes have in common; a function of 0: there is none */
  struct estimate bytes; /* that it holds, at the end for leaks, and else at the moment of the verdict */
  struct estimate grown; /* LEAK, GROWING: by how much, since the warm-up of the stretch that was judged */
  struct estimate rate;  /* LEAK, GROWING: bytes a second */
  uint64_t since_ns;     /* LEAK, GROWING: it grows since then; 0: from the start of its process */
  uint32_t process;      /* of several: the first of them; else NO_PROCESS */
  uint32_t processes;    /* in so many processes */
};

/* Each has a tenth of the peak, so there are hardly more; people are shown the names of the first
 * ones. */
enum { VERDICT_CULPRITS = 10, VERDICT_NAMED = 2 };
struct verdict {
  enum verdict_kind kind;
  enum verdict_kind
      blocks; /* KEPT, UNWRITTEN, MAPPED: LEAK, GROWING or LEVEL, as malloc's blocks are; else NONE */
  struct culprit culprit[VERDICT_CULPRITS]; /* those that surely grew the most first */
  size_t culprits;
  bool begun;          /* GROWING: in a process that ran for less than a second */
  bool replaced;       /* GROWING: the culprits' old blocks are freed, too (REPLACED in growth.c) */
  bool freed;          /* GROWING: the program frees what all culprits hold as it ends */
  struct estimate net; /* UNDECIDED: by how much all blocks became more since the end of the warm-up */
  double whole;        /* KEPT: resident at time_ns */
  double bytes;        /* KEPT: free; UNWRITTEN: not written; MAPPED: mapped and resident. At least */
  uint64_t time_ns;    /* KEPT, UNWRITTEN, MAPPED: the moment; LEVEL: level since then;
                     * LEAK, GROWING: since_ns of the first culprit */
};

/* WN_ENOMEM. */
wn_status verdict_find(const struct report *report, struct verdict *verdict);
/* SPDX-License-Identifier: MIT */
