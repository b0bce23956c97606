/* Sites. */
#include "retention/sites/sites.h"

#include "analysis/load/call_paths.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"

enum { NAME_MOST = 1000 };

struct finding {
  const struct graph *graph;
  const struct dominators *dominators;
  struct sites *sites;
  const struct recording *recording;
  struct call_paths paths;
  struct index by_number, by_name; /* of the trace's rows, and of the sites */
  uint32_t *top;                   /* by node: its outermost dominator below node 0 */
  uint32_t *named;                 /* by node: the outermost one with a name, itself too; or NODE_ALL */
  double *held_by;                 /* by site and holder: bytes; those of several holders are of node 0 */
};

/* ---- rows ---- */

/* A block has several rows if it grew: the last one counts. */
static bool index_rows(struct finding *of) {
  const struct samples *samples = of->recording->samples;
  for (size_t i = 0; i < samples->row_count && i < UINT32_MAX; i++)
    if (samples->rows[i].last &&
        !index_add(&of->by_number, hash_mix(samples->rows[i].block), (uint32_t)i + 1))
      return false;
  return true;
}

static const struct row *sites_row_of(const struct finding *of, uint64_t number) {
  const struct row *rows = of->recording->samples->rows;
  struct index_walk walk = {.hash = hash_mix(number)};
  uint32_t row;
  while ((row = index_next(&of->by_number, &walk)))
    if (rows[row - 1].block == number) return &rows[row - 1];
  return NULL;
}

static double sites_bytes_of(const struct row *row) {
  return row->source == TRACE_SOURCE_CUSTOM ? (double)row->size : 8 * (double)row->words;
}

/* ---- sites ---- */

/* The number of a site; 0 without memory. */
static uint32_t sites_site_of(struct finding *of, const struct row *row) {
  struct sites *sites = of->sites;
  uint32_t node = of->paths.own_of[call_paths_place(&of->paths, row)], number;
  char name[NAME_MOST];
  label_text(of->paths.labels, of->paths.nodes[node].label, BY_LINE, &of->recording->names, name,
             sizeof name);
  struct index_walk walk = {.hash = hash_bytes(name, strlen(name))};
  while ((number = index_next(&of->by_name, &walk)))
    if (!strcmp(sites->rows[number - 1].name, name)) return number;
  struct site made = {.name = strdup(name), .number = (uint32_t)sites->count + 1};
  if (!made.name || !ARRAY_ADD(sites->rows, sites->count, sites->capacity, made)) return free(made.name), 0;
  return index_add(&of->by_name, walk.hash, made.number) ? made.number : 0;
}

static bool add_samples(struct finding *of) {
  const struct graph *graph = of->graph;
  struct sites *sites = of->sites;
  for (size_t i = 0; i < graph->sample_count; i++) {
    const struct graph_sample *sample = &graph->samples[i];
    const struct row *row = sites_row_of(of, sample->number);
    if (!row || sample->node == NOWHERE || of->dominators->nodes[sample->node].dominator == NOWHERE) continue;
    if (!(sites->of_sample[i] = sites_site_of(of, row))) return false;
    sites->bytes[i] = sites_bytes_of(row) / row->probability;
    sum_add(&sites->rows[sites->of_sample[i] - 1].sum, sites_bytes_of(row), row->probability);
    sites->samples++;
  }
  return true;
}

/* ---- holders ---- */

static void sites_enter(void *context, uint32_t node) {
  struct finding *of = context;
  uint32_t above = of->dominators->nodes[node].dominator;
  of->top[node] = above == NODE_ALL || above == NOWHERE ? node : of->top[above];
  of->named[node] = above == NOWHERE ? NODE_ALL : of->named[above];
  if (!of->named[node] && graph_description(of->graph, node)) of->named[node] = node;
}

static void sites_leave(void *context, uint32_t node) { (void)context, (void)node; }

static void sites_find_holders(struct finding *of) {
  const struct graph *graph = of->graph;
  size_t holders = graph->first_block;
  dominators_walk(of->dominators, &(struct dominators_walk){sites_enter, sites_leave, of});
  for (size_t i = 0; i < graph->sample_count; i++) {
    if (!of->sites->of_sample[i]) continue;
    uint32_t top = of->top[graph->samples[i].node], holder = top < graph->first_block ? top : NODE_ALL;
    of->held_by[(of->sites->of_sample[i] - 1) * holders + holder] += of->sites->bytes[i];
  }
  for (size_t row = 0; row < of->sites->count; row++) {
    const double *bytes = of->held_by + row * holders;
    struct site *site = &of->sites->rows[row];
    for (uint32_t holder = 0; holder < holders; holder++)
      if (bytes[holder] > bytes[site->holder]) site->holder = holder;
    site->holder_share = bytes[site->holder] / site->sum.total;
  }
}

/* What a named block holds of a site. */
struct share {
  uint32_t site, named;
  double bytes;
};

static int by_site_and_name(const void *a, const void *b) {
  const struct share *one = a, *other = b;
  if (one->site != other->site) return one->site < other->site ? -1 : 1;
  return (one->named > other->named) - (one->named < other->named);
}

static bool find_named(struct finding *of) {
  const struct sites *sites = of->sites;
  struct share *shares = array_new(of->graph->sample_count, sizeof *shares);
  size_t count = 0;
  if (!shares) return false;
  for (size_t i = 0; i < of->graph->sample_count; i++) {
    if (!sites->of_sample[i]) continue;
    uint32_t named = of->named[of->graph->samples[i].node];
    if (named) shares[count++] = (struct share){sites->of_sample[i], named, sites->bytes[i]};
  }
  array_sort(shares, count, sizeof *shares, by_site_and_name);
  for (size_t i = 0, next; i < count; i = next) {
    struct site *site = &sites->rows[shares[i].site - 1];
    double bytes = 0;
    for (next = i; next < count && !by_site_and_name(&shares[i], &shares[next]); next++)
      bytes += shares[next].bytes;
    if (2 * bytes <= site->sum.total) continue;
    site->named = shares[i].named;
    site->named_share = bytes / site->sum.total;
  }
  free(shares);
  return true;
}

static int by_bytes_sites(const void *a, const void *b) {
  const struct site *one = a, *other = b;
  if (one->sum.total != other->sum.total) return one->sum.total < other->sum.total ? 1 : -1;
  return strcmp(one->name, other->name);
}

/* Whether the snapshot was taken while this trace was written, by its process. Processes of containers have
 * equal numbers, and a trace may have been replaced by that of the next run. */
static bool is_of_run(const struct samples *samples, const struct graph *graph) {
  const struct trace_run *run = source_run(samples->source);
  const uint64_t slack = 1000000000;
  if (run->pid != graph->process || run->wall_ns > graph->time_ns) return false;
  return !samples->ended || graph->time_ns <= run->wall_ns + samples->end.time_ns + slack;
}

static wn_status sites_join(struct finding *of) {
  const struct recording *recording = of->recording;
  const struct samples *samples = recording->samples;
  struct sites *sites = of->sites;
  if (!is_of_run(samples, of->graph)) return error_set(WN_EINVAL, "it is the trace of another run");
  wn_status status = call_paths_create(samples, &recording->names, BY_LINE, NULL, &of->paths);
  if (status) return status;
  sites->of_sample = calloc(of->graph->sample_count + 1, sizeof *sites->of_sample);
  sites->bytes = calloc(of->graph->sample_count + 1, sizeof *sites->bytes);
  of->top = array_new(of->graph->node_count, sizeof *of->top);
  of->named = array_new(of->graph->node_count, sizeof *of->named);
  if (!sites->of_sample || !sites->bytes || !of->top || !of->named || !index_rows(of) || !add_samples(of))
    return WN_ENOMEM;
  if (!(of->held_by = calloc(sites->count * of->graph->first_block + 1, sizeof *of->held_by)))
    return WN_ENOMEM;
  sites_find_holders(of);
  if (!find_named(of)) return WN_ENOMEM;
  for (size_t i = 0; i < sites->count; i++)
    sites->rows[i].bytes = estimate_of(&sites->rows[i].sum, recording->byte_unit);
  if (sites->count) qsort(sites->rows, sites->count, sizeof *sites->rows, by_bytes_sites);
  return WN_OK;
}

/* ---- shared ---- */

wn_status sites_find(struct sites *sites, const struct graph *graph, const struct dominators *dominators,
                     const char *trace) {
  const struct recording_options options = {.names = {.symbols = true}};
  struct finding of = {.graph = graph, .dominators = dominators, .sites = sites};
  struct recording *recording;
  *sites = (struct sites){0};
  wn_status status = recording_load(trace, &options, &recording);
  if (status) return status;
  of.recording = recording;
  status = sites_join(&of);
  call_paths_destroy(&of.paths);
  recording_free(recording);
  free(of.by_number.slots), free(of.by_name.slots), free(of.top), free(of.named), free(of.held_by);
  return status;
}

void sites_free(struct sites *sites) {
  for (size_t i = 0; i < sites->count; i++) free(sites->rows[i].name);
  free(sites->rows), free(sites->of_sample), free(sites->bytes);
}
/* SPDX-License-Identifier: MIT */
