/* The language of --where: which blocks count. docs/queries.md describes it for users.
 *
 *   fn ~ "^sqlite3" and size >= 4K and not (life < 10ms or thread = 2)
 */
#ifndef ANALYSIS_QUERY_H
#define ANALYSIS_QUERY_H

#include "analysis/names.h"

struct query;

/* Parses a query. WN_EINVAL: wn_last_error names the column and what was expected there. */
wn_status query_parse(const char *text, struct query **query);

/* Looks the query's functions, files and modules up in the names: once, before query_takes. */
wn_status query_bind(struct query *query, const struct samples *samples, const struct names *names);

/* True if the row's block is one the query asks for. */
bool query_takes(const struct query *query, const struct row *row);

void query_free(struct query *query);

/* Numbers as queries and options write them: 10M (bytes: K, M, G, T are powers of 1000, as in
 * reports, and Ki, Mi, Gi, Ti of 1024), 1.5s (ns, us, ms, s, m, h; a time that is not 0 has its
 * unit). False if the whole text is not such a number. */
bool query_bytes(const char *text, double *bytes);
bool query_time(const char *text, double *ns);

#endif
/* SPDX-License-Identifier: MIT */
