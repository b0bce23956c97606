/* Compares the hosts and the releases of a report. */
#include "analysis/report/origins.h"

#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>

/* The strings of a process. */
struct origin {
  uint32_t release, host;
};

struct origins {
  struct origin *items;
  size_t count;
};

/* ---- which there are ---- */

static int by_strings(const void *a, const void *b) {
  const struct origin *one = a, *other = b;
  if (one->release != other->release) return one->release < other->release ? -1 : 1;
  return (one->host > other->host) - (one->host < other->host);
}

static bool *find_selected(const struct report *report) {
  const struct samples *samples = report->samples;
  bool *selected = calloc(samples->process_count, sizeof *selected);
  for (size_t i = 0; selected && i < samples->row_count; i++)
    if (report_selects(&samples->rows[i], (void *)report))
      selected[process_of(samples, samples->rows[i].thread)] = true;
  return selected;
}

/* Those that the query does not exclude by their names, hosts or releases. */
static bool *find_asked(const struct report *report) {
  bool *asked = calloc(report->names->process_count, sizeof *asked);
  for (uint32_t i = 0; asked && i < report->names->process_count; i++)
    asked[i] = query_may_select(report->query, i);
  return asked;
}

/* What the selected processes have, each once; `releases` false: hosts alone. */
static struct origins find_origins(const struct report *report, bool releases, const bool *selected) {
  const struct names *names = report->names;
  struct origins origins = {.items = malloc(names->process_count * sizeof *origins.items)};
  size_t found = 0;
  for (uint32_t i = 0; origins.items && i < names->process_count; i++)
    if (selected[i])
      origins.items[found++] =
          (struct origin){releases ? names->processes[i].release : 0, names->processes[i].host};
  array_sort(origins.items, found, sizeof *origins.items, by_strings);
  for (size_t i = 0; i < found; i++)
    if (!i || by_strings(&origins.items[i], &origins.items[origins.count - 1]))
      origins.items[origins.count++] = origins.items[i];
  return origins;
}

/* ---- which ran ---- */

/* The moments of what is held; none: nothing is, or the recording does not tell when. */
static size_t origins_moments(const struct report *report, const uint64_t **time_ns) {
  bool at_peak = report->at == AT_PEAK;
  *time_ns = at_peak ? report->peak.time_ns : &report->asked.time_ns;
  if (source_limits(report->samples->source)->totals) return 0;
  return !at_peak ? 1 : report->peak.live.bytes.samples ? PEAK_PARTS : 0;
}

static bool ran_at(const struct report *report, uint32_t process, uint64_t time_ns) {
  const struct process *of = &report->samples->processes[process];
  return of->begin_ns <= time_ns && time_ns <= of->end_ns;
}

/* The number of hosts of a release, NULL: of all, that ran at the moment of the report, in a process that is
 * asked for; of a peak, the mean over its moments. */
static size_t count_running(const struct report *report, const bool *asked, const uint32_t *release) {
  const struct names *names = report->names;
  const uint64_t *time_ns;
  size_t moments = origins_moments(report, &time_ns), sum = 0, i = 0;
  bool *running = calloc(names->process_count, sizeof *running);
  if (!running) return 0;
  do {
    for (uint32_t at = 0; at < names->process_count; at++)
      running[at] = asked[at] && (!release || names->processes[at].release == *release) &&
                    (!moments || ran_at(report, at, time_ns[i]));
    struct origins origins = find_origins(report, false, running);
    sum += origins.count;
    free(origins.items);
  } while (++i < moments);
  free(running);
  size_t mean = (sum + i / 2) / i;
  return sum && !mean ? 1 : mean;
}

/* Leaves those that ran at the moment of the report. */
static void keep_running(const struct report *report, bool *selected) {
  const uint64_t *time_ns;
  if (!origins_moments(report, &time_ns)) return;
  for (uint32_t i = 0; i < report->names->process_count; i++)
    selected[i] = selected[i] && ran_at(report, i, report->asked.time_ns);
}

/* ---- squares ---- */

struct squaring {
  const struct table *table;
  enum extent extent;
  struct squares *squares, *own; /* index: label; one more is of the whole; `own`: the sums of one host */
  uint32_t *last;                /* index: label; the row that was added last, plus 1 */
};

static void origins_add(struct squares *own, const struct share *share, double weight) {
  own->bytes += share->bytes * weight;
  own->blocks += share->blocks * weight;
}

static void origins_add_row(struct squaring *squaring, uint32_t row) {
  const struct table *table = squaring->table;
  const struct row *of = &table->report->samples->rows[row];
  uint32_t at = table->tree.node_of_row[row];
  struct share share;
  if (!report_counts(table->report, table->measure, of, &share)) return;
  double weight = share_weight(&share, of);
  origins_add(&squaring->own[table->tree.label_count], &share, weight);
  do {
    uint32_t label = table->tree.nodes[at].label;
    if (squaring->last[label] != row + 1) origins_add(&squaring->own[label], &share, weight);
    squaring->last[label] = row + 1;
    at = table->tree.nodes[at].parent;
  } while (at && squaring->extent == EXTENT_TOTAL);
}

static void end_host(struct squaring *squaring) {
  for (size_t i = 0; i <= squaring->table->tree.label_count; i++) {
    squaring->squares[i].bytes += squaring->own[i].bytes * squaring->own[i].bytes;
    squaring->squares[i].blocks += squaring->own[i].blocks * squaring->own[i].blocks;
    squaring->own[i] = (struct squares){0};
  }
}

static uint32_t origins_host_of(const struct report *report, size_t row) {
  return report->names->processes[process_of(report->samples, report->samples->rows[row].thread)].host;
}

/* The rows in the order of their hosts. `next` has room for each string, and one more, all 0. */
static void order_by_host(const struct report *report, size_t *next, uint32_t *order) {
  size_t count = report->samples->row_count;
  for (size_t i = 0; i < count; i++) next[origins_host_of(report, i) + 1]++;
  for (size_t i = 0; i < report->names->strings->count; i++) next[i + 1] += next[i];
  for (size_t i = 0; i < count; i++) order[next[origins_host_of(report, i)]++] = (uint32_t)i;
}

static void origins_add_hosts(struct squaring *squaring, const uint32_t *order) {
  const struct report *report = squaring->table->report;
  size_t count = report->samples->row_count;
  for (size_t i = 0; i < count; i++) {
    origins_add_row(squaring, order[i]);
    if (i + 1 == count || origins_host_of(report, order[i]) != origins_host_of(report, order[i + 1]))
      end_host(squaring);
  }
}

/* ---- hosts ---- */

static const struct group *origins_group_of(const struct table *table, uint32_t function) {
  for (size_t i = 0; i < table->tree.group_count; i++)
    if (table_label(table, &table->tree.groups[i])->function == function) return &table->tree.groups[i];
  return NULL;
}

struct of_host {
  const struct report *report;
  uint32_t host;
};

static bool held_by_host(const struct row *row, struct share *share, void *context) {
  const struct of_host *of = context;
  uint32_t process = process_of(of->report->samples, row->thread);
  return of->report->names->processes[process].host == of->host &&
         report_counts(of->report, MEASURE_HELD, row, share);
}

static wn_status find_excess(const struct report *report, const struct table *functions, size_t hosts,
                             uint32_t host, struct excess *excess) {
  struct of_host of = {report, host};
  struct call_tree tree;
  wn_status error = report_tree(report, report->samples, BY_FUNCTION, held_by_host, &of, &tree);
  if (error) return error;
  for (size_t i = 0; i < tree.group_count; i++) {
    const struct label *label = &tree.labels[tree.groups[i].label];
    const struct group *all = table_find_group(functions, label);
    double more = tree.groups[i].self.bytes.total - (all ? all->self.bytes.total : 0) / (double)hosts;
    if (more > excess->bytes) *excess = (struct excess){*label, more};
  }
  call_tree_destroy(&tree);
  return WN_OK;
}

/* A host that has less than is usual has nothing in excess. */
static wn_status find_excesses(const struct report *report, struct host_list *list) {
  struct table functions;
  wn_status error =
      list->unusual ? report_table(report, MEASURE_HELD, BY_FUNCTION, TABLE_SUMS, &functions) : WN_OK;
  if (error || !list->unusual) return error;
  for (size_t i = 0; i < list->unusual && i < EXCESSES_MOST && !error; i++)
    if (list->host[i].distance > 0)
      error = find_excess(report, &functions, list->count, (uint32_t)list->host[i].number, &list->excess[i]);
  table_destroy(&functions);
  return error;
}

static wn_status fill_hosts(const struct report *report, const struct origins *origins,
                            struct host_list *list) {
  struct table table;
  wn_status error = report_table(report, MEASURE_HELD, BY_HOST, TABLE_SUMS, &table);
  if (error) return error;
  for (size_t i = 0; i < origins->count; i++) {
    const struct group *group = origins_group_of(&table, origins->items[i].host);
    struct sums sums = group ? group->self : (struct sums){0};
    list->host[i] = (struct host){.number = origins->items[i].host, .bytes = report_bytes(report, &sums)};
  }
  list->count = origins->count;
  table_destroy(&table);
  if (list->count < HOSTS_LEAST) return WN_OK;
  if (!hosts_find_unusual(list->host, list->count, &list->median, &list->unusual))
    return error_set(WN_ENOMEM, "not enough memory to compare hosts");
  return find_excesses(report, list);
}

/* ---- releases ---- */

static int most_first(const void *a, const void *b) {
  const struct release_of_hosts *one = a, *other = b;
  double bytes = one->mean.bytes.estimate, other_bytes = other->mean.bytes.estimate;
  if (bytes != other_bytes) return bytes > other_bytes ? -1 : 1;
  return (one->first_ns > other->first_ns) - (one->first_ns < other->first_ns);
}

static uint64_t origins_first_of(const struct report *report, uint32_t release, const bool *asked) {
  uint64_t first_ns = UINT64_MAX;
  for (uint32_t i = 0; i < report->names->process_count; i++)
    if (asked[i] && report->names->processes[i].release == release &&
        report->samples->processes[i].begin_ns < first_ns)
      first_ns = report->samples->processes[i].begin_ns;
  return source_run(report->samples->source)->wall_ns + first_ns;
}

static void set_means(const struct table *table, const struct squares *squares, struct release_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    struct release_of_hosts *release = &list->release[i];
    const struct group *group = origins_group_of(table, release->number);
    struct sums sums = group ? group->self : (struct sums){0};
    struct estimate all = report_bytes(table->report, &sums);
    release->mean = (struct host_mean){.few = true};
    if (release->running)
      release->mean =
          hosts_mean(&all, sums.bytes.total, group ? squares[group->label].bytes : 0, release->running);
  }
  qsort(list->release, list->count, sizeof *list->release, most_first);
}

/* The origins come by release. */
static void list_releases(const struct report *report, const struct origins *origins, const bool *asked,
                          struct release_list *list) {
  for (size_t i = 0; i < origins->count; i++) {
    uint32_t number = origins->items[i].release;
    if (!list->count || list->release[list->count - 1].number != number)
      list->release[list->count++] = (struct release_of_hosts){
          .number = number,
          .name = strings_text(report->names->strings, number),
          .first_ns = origins_first_of(report, number, asked),
      };
    list->release[list->count - 1].hosts++;
  }
  for (size_t i = 0; i < list->count; i++)
    list->release[i].running = count_running(report, asked, &list->release[i].number);
}

static wn_status find_means(const struct report *report, struct release_list *list) {
  struct table table;
  struct squares *squares = NULL;
  wn_status error = report_table(report, MEASURE_HELD, BY_RELEASE, TABLE_SUMS, &table);
  if (error) return error;
  error = origins_find_squares(&table, EXTENT_SELF, &squares);
  if (!error) set_means(&table, squares, list);
  free(squares);
  table_destroy(&table);
  return error;
}

/* ---- shared ---- */

wn_status origins_find_squares(const struct table *table, enum extent extent, struct squares **squares) {
  const struct report *report = table->report;
  size_t labels = table->tree.label_count + 1;
  uint32_t *order = array_new(report->samples->row_count, sizeof *order);
  size_t *next = calloc((size_t)report->names->strings->count + 1, sizeof *next);
  struct squaring squaring = {table, extent, calloc(labels, sizeof **squares),
                              calloc(labels, sizeof **squares), calloc(labels, sizeof *squaring.last)};
  bool ready = order && next && squaring.squares && squaring.own && squaring.last;
  if (ready) order_by_host(report, next, order), origins_add_hosts(&squaring, order);
  free(order);
  free(next);
  free(squaring.own);
  free(squaring.last);
  *squares = squaring.squares;
  if (ready) return WN_OK;
  free(squaring.squares);
  *squares = NULL;
  return error_set(WN_ENOMEM, "not enough memory to compare hosts");
}

size_t origins_count_hosts(const struct report *report) {
  bool *asked = find_asked(report);
  struct origins origins = {0};
  if (asked) origins = find_origins(report, false, asked);
  free(origins.items);
  free(asked);
  return origins.count;
}

size_t origins_count_running(const struct report *report) {
  bool *asked = find_asked(report);
  size_t count = asked ? count_running(report, asked, NULL) : 0;
  free(asked);
  return count;
}

wn_status host_list_find(const struct report *report, struct host_list *list) {
  bool *selected = find_selected(report);
  struct origins origins = {0}, all = {0};
  if (selected) {
    all = find_origins(report, false, selected);
    keep_running(report, selected);
    origins = find_origins(report, false, selected);
  }
  *list = (struct host_list){.host = calloc(origins.count + 1, sizeof *list->host),
                             .absent = all.count - origins.count};
  free(all.items);
  wn_status error = origins.items && list->host ? fill_hosts(report, &origins, list)
                                                : error_set(WN_ENOMEM, "not enough memory to compare hosts");
  free(origins.items);
  free(selected);
  if (error) host_list_destroy(list);
  return error;
}

void host_list_destroy(struct host_list *list) { free(list->host); }

wn_status release_list_find(const struct report *report, struct release_list *list) {
  bool *asked = find_asked(report);
  struct origins origins = {0};
  if (asked) origins = find_origins(report, true, asked);
  *list = (struct release_list){.release = calloc(origins.count + 1, sizeof *list->release)};
  wn_status error = WN_OK;
  if (origins.items && list->release) {
    list_releases(report, &origins, asked, list);
    error = find_means(report, list);
  } else {
    error = error_set(WN_ENOMEM, "not enough memory to compare releases");
  }
  free(origins.items);
  free(asked);
  if (error) release_list_destroy(list);
  return error;
}

void release_list_destroy(struct release_list *list) { free(list->release); }
/* SPDX-License-Identifier: MIT */
