/* What the parts of the JSON report share. */
#ifndef CLI_REPORT_JSON_H
#define CLI_REPORT_JSON_H

#include "cli/json.h"
#include "cli/report.h"

/* The member `heap`: how a collected heap lived. */
void json_heap(struct json *json, const struct report *report);

/* The shares of blocks by birth and fate. */
void json_generations(struct json *json, const struct report *report, const struct generations *generations);

#endif
/* SPDX-License-Identifier: MIT */
