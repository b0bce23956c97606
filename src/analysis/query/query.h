/* The language of --where, which selects the blocks that count. docs/queries.md describes it for
 * users.
 *
 *   fn ~ "^sqlite3" and size >= 4K and not (life < 10ms or thread = 2)
 */
#pragma once

#include "analysis/load/call_tree.h"

struct query;

/* The moment for which a report says what was held. */
enum when { AT_PEAK, AT_END, AT_TIME };

/* Parses a query. WN_EINVAL: wn_last_error names the column and what was expected there. */
wn_status query_parse(const char *text, struct query **query);

/* Looks up the query's functions, files and modules in the names. Called once, before
 * query_selects. WN_EINVAL: `live` names a time after the end of the trace. WN_ENOMEM. */
wn_status query_bind(struct query *query, const struct samples *samples, const struct names *names);

/* Whether the query selects the row's block. */
bool query_selects(const struct query *query, const struct row *row);

/* False: its conditions on processes, hosts and releases select no block of this process, whatever the
 * blocks are. NULL: no query. */
bool query_may_select(const struct query *query, uint32_t process);

/* Whether it selects all rows, since it has settings alone; and whether two queries select the same
 * rows, since they differ in settings alone. NULL: no query. False says nothing. */
bool query_selects_all(const struct query *query);
bool query_same_rows(const struct query *one, const struct query *other);

/* The moment that the query sets by `at`; *ns is for AT_TIME. Returns the moment as the user wrote
 * it, valid as long as the query is; NULL: the query sets none. */
const char *query_moment(const struct query *query, enum when *when, uint64_t *ns);

/* No block that the query selects was born before this time: what its `born` says. */
uint64_t query_born_from(const struct query *query);

/* No block that the query selects is smaller, in bytes, by its `size`. NULL: no query. */
double query_least_size(const struct query *query);

/* How the query's `hide` and `from` show stacks. Valid as long as the query is. */
struct stack_view query_view(const struct query *query);

void query_free(struct query *query);

/* Parse numbers as queries and options have them. Bytes: 10M, where K, M, G, T are powers of 1000,
 * as in reports, and Ki, Mi, Gi, Ti powers of 1024. Times: 1.5s, with ns, us, ms, s, m or h; only 0
 * needs no unit. False if the text is not such a number. */
bool query_bytes(const char *text, double *bytes);
bool query_time(const char *text, double *ns);
/* SPDX-License-Identifier: MIT */
