/* The answers that a page shows first. */
#include "page/first_answers.h"

#include "base/error.h"
#include "page/answers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first requests of viewer/src/state/asking.ts, letter by letter; %s: the grouping. */
static const char *const requests[] = {
    "view=head\n",
    "view=totals\n",
    "view=time\npoints=600\n",
    "view=flame\nmeasure=held\nby=%s\ndirection=callees\n",
    "view=table\nmeasure=held\nby=%s\n",
    "view=kinds\nmeasure=held\n",
    NULL,
};
static const char *const compared[] = {
    "view=head\n",
    "view=totals\n",
    "view=time\npoints=600\n",
    "view=flame\nmeasure=held\nby=%s\ndirection=callees\nagainst=before\n",
    "view=compare\nmeasure=held\nby=%s\nagainst=before\n",
    NULL,
};

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

/* ---- shared ---- */

wn_status first_answers(const struct recording *recording, const struct recording *before,
                        enum grouping grouping, char **bytes, size_t *size) {
  struct answers answers;
  wn_status error = WN_OK;
  *bytes = NULL;
  FILE *out = open_memstream(bytes, size);
  if (!out) return error_set(WN_ENOMEM, "not enough memory for the answers");
  answers_create(&answers, recording, before);
  for (const char *const *format = before ? compared : requests; *format && !error; format++) {
    char request[128];
    snprintf(request, sizeof request, *format, grouping_name(grouping));
    error = put_answer(out, &answers, request);
  }
  answers_destroy(&answers);
  if (fclose(out) && !error) error = error_set(WN_ENOMEM, "not enough memory for the answers");
  if (!error) return WN_OK;
  free(*bytes);
  *bytes = NULL;
  return error;
}
/* SPDX-License-Identifier: MIT */
