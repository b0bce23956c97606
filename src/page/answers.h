/* Answers the questions of the page about one recording. The same code runs in the command, in the
 * server, and, compiled to WebAssembly, in the page.
 *
 * A REQUEST is text: lines `key=value`. viewer/src/engine/answers.ts lists the keys and, for each
 * view, the members of its answer. Members have the names of docs/report-json.md where they are the
 * same thing. An unknown key or value is an error, so that a misspelt question has no wrong answer.
 *
 * An ANSWER is a JSON object and columns (answer.h). Where the question is wrong, the object has the
 * one member `error`: what the command would print.
 *
 * A STATE is a reading of a trace that grows. States are numbered from 1 on, and each answer has the
 * number of its own (answer.h), so that a page shows no two states side by side; 0: the recording
 * does not change. */
#pragma once

#include "analysis/compare/pair.h"

enum { SURVIVAL_MOST = 128 };

/* Of all blocks, for the view `kinds`: the largest one, and how many live for how long. */
struct all_kinds {
  bool known;
  uint64_t largest;
  struct survival survival[SURVIVAL_MOST];
};

/* The last report, its last table and the last pair are kept, since the views of one query share them;
 * and what no query changes. One thread
 * uses it at a time. */
struct answers {
  const struct recording *recording;
  const struct recording *before; /* what it is compared with, or NULL */
  uint32_t state;                 /* STATE; 0 unless its owner sets it */
  char *where;                    /* of the report */
  bool has_report;
  struct report report;
  bool has_table;
  struct table table;
  struct call_paths paths[GROUPINGS];
  struct all_kinds all_kinds;
  char *pair_asked; /* what the pair answers: see prepare_pair */
  bool has_pair;
  struct pair pair;
};

/* `before`: the run with which requests may compare the recording; NULL: none, though two moments of
 * the recording can be compared. Both must outlive it. */
void answers_create(struct answers *answers, const struct recording *recording,
                    const struct recording *before);
void answers_destroy(struct answers *answers);

/* Makes a part of what the answer to a request needs, so that a caller can see between the parts
 * whether the answer is still wanted. True: there may be more parts. False: answers_ask does the
 * rest. */
bool answers_prepare(struct answers *answers, const char *request, size_t length);

/* Answers a request. *bytes are to be freed by the caller. The only error is WN_ENOMEM: a wrong
 * question has an answer too. */
wn_status answers_ask(struct answers *answers, const char *request, size_t length, char **bytes,
                      size_t *size);

/* Answers with what is wrong, in words for people. *bytes are to be freed by the caller. WN_ENOMEM. */
wn_status answers_fail(const struct answers *answers, const char *why, char **bytes, size_t *size);
/* SPDX-License-Identifier: MIT */
