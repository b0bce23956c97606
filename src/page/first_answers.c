/* The answers that a page shows first. */
#include "page/first_answers.h"

#include "base/error.h"
#include "page/answers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first requests of viewer/src/state/asking.ts, letter by letter; %s: the grouping. By how the
 * page opens, and by section. At the end it asks for the peak as well, whose verdict and colours it
 * has. */
enum { REQUESTS_MOST = 6 };
enum opening { OPENS_AT_PEAK, OPENS_AT_END, OPENS_COMPARING };
static const char *const requests[][FIRST_SECTIONS][REQUESTS_MOST] = {
    [OPENS_AT_PEAK] = {{"view=head\n", "view=totals\n", "view=time\nby=%s\npoints=600\n",
                        "view=flame\nmeasure=held\nby=%s\ndirection=callees\n"},
                       {"view=table\nmeasure=held\nby=%s\n"}},
    [OPENS_AT_END] = {{"view=head\n", "view=totals\n", "view=totals\nwhere=at = end\n",
                       "view=time\nby=%s\npoints=600\n",
                       "view=flame\nmeasure=held\nby=function\ndirection=callees\n",
                       "view=flame\nwhere=at = end\nmeasure=held\nby=%s\ndirection=callees\n"},
                      {"view=table\nwhere=at = end\nmeasure=held\nby=%s\n"}},
    [OPENS_COMPARING] = {{"view=head\n", "view=totals\n", "view=time\nby=%s\npoints=600\n",
                          "view=flame\nmeasure=held\nby=%s\ndirection=callees\nagainst=before\n"},
                         {"view=compare\nmeasure=held\nby=%s\nagainst=before\n"}},
};
static const char names[FIRST_SECTIONS][5] = {"ANSW", "MORE"};

static void put_part(FILE *out, const char *bytes, size_t length) {
  uint32_t head = (uint32_t)length;
  fwrite(&head, sizeof head, 1, out);
  fwrite(bytes, 1, length, out);
}

static wn_status put_answer(FILE *out, struct answers *answers, const char *request) {
  char *answer;
  size_t size;
  wn_status error = answers_ask(answers, request, strlen(request), &answer, &size);
  if (error) return error;
  put_part(out, request, strlen(request));
  put_part(out, answer, size);
  free(answer);
  return WN_OK;
}

/* Makes the section of these requests. */
static wn_status put_section(struct answers *answers, const char *const *wanted, enum grouping grouping,
                             struct container_section *section) {
  wn_status error = WN_OK;
  char *bytes = NULL;
  FILE *out = open_memstream(&bytes, &section->length);
  if (!out) return error_set(WN_ENOMEM, "not enough memory for the answers");
  for (unsigned i = 0; i < REQUESTS_MOST && wanted[i] && !error; i++) {
    char request[128];
    snprintf(request, sizeof request, wanted[i], grouping_name(grouping));
    error = put_answer(out, answers, request);
  }
  if (fclose(out) && !error) error = error_set(WN_ENOMEM, "not enough memory for the answers");
  section->bytes = bytes;
  return error;
}

/* ---- shared ---- */

wn_status first_answers(const struct recording *recording, const struct recording *before, enum when at,
                        enum grouping grouping, struct container_section sections[FIRST_SECTIONS]) {
  enum opening opening = before ? OPENS_COMPARING : at == AT_END ? OPENS_AT_END : OPENS_AT_PEAK;
  struct answers answers;
  wn_status error = WN_OK;
  answers_create(&answers, recording, before);
  for (unsigned i = 0; i < FIRST_SECTIONS; i++) {
    sections[i] = (struct container_section){0};
    memcpy(sections[i].name, names[i], sizeof sections[i].name);
    if (!error) error = put_section(&answers, requests[opening][i], grouping, &sections[i]);
  }
  answers_destroy(&answers);
  if (error) first_answers_free(sections);
  return error;
}

void first_answers_free(struct container_section sections[FIRST_SECTIONS]) {
  for (unsigned i = 0; i < FIRST_SECTIONS; i++) {
    free((void *)(uintptr_t)sections[i].bytes);
    sections[i].bytes = NULL;
  }
}
/* SPDX-License-Identifier: MIT */
