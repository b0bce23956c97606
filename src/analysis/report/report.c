/* Answers a question from a recording. Each measure of a table is a function that tells whether a
 * row counts and for what (row_measure). Nothing here changes the recording. */
#include "analysis/report/report.h"

#include "analysis/load/rates.h"
#include "base/array.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run that is shorter than so many ticks of its clock has no rate. */
enum { RATE_TICKS = 100 };
static const double ASLEEP_MOST = 0.05; /* of a run that is judged */

/* ---- which rows count, and for what ---- */

static bool is_of_totals(const struct report *report) {
  return source_limits(report->samples->source)->totals;
}

/* Whether what is held is the mean over the moments of a peak that was searched for. */
static bool is_at_peak(const struct report *report) { return report->at == AT_PEAK && !is_of_totals(report); }

static uint64_t report_life_of(const struct report *report, const struct row *row) {
  return row_life_ns(report->samples, row);
}

static bool report_is_brief(const struct row *row, void *context) {
  const struct report *report = context;
  return row->died_ns != STILL_ALIVE && report_selects(row, context) &&
         report_life_of(report, row) < report->brief_ns;
}

static bool held(const struct row *row, struct share *share, void *context) {
  const struct report *report = context;
  struct span span = row_span(report->samples, row);
  bool is_held =
      is_at_peak(report) ? peak_is_near(&report->peak, &span) : span_has(&span, report->asked.time_ns);
  if (!is_held || !report_selects(row, context)) return false;
  *share = share_block(row);
  if (report->apart && span_has(&span, report->apart_ns)) return false;
  return !is_at_peak(report) || peak_holds(&report->peak, row, &share->weight);
}

static bool allocated(const struct row *row, struct share *share, void *context) {
  *share = share_call(((const struct report *)context)->samples, row);
  return report_selects(row, context);
}

/* All rows that could be promoted belong to their groups, so that a group knows its promoted share.
 */
static bool promoted(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  share->apart = row->promoted_ns == NEVER;
  return row->area == AREA_MINOR && report_selects(row, context);
}

static bool churn(const struct row *row, struct share *share, void *context) {
  return allocated(row, share, context) && report_is_brief(row, context);
}

/* Whether a block is alive at the end (LEFT in processes.h), or was at CLOSING. */
static bool report_is_alive(const struct report *report, const struct row *row) {
  struct span span = row_span(report->samples, row);
  bool apart = report->samples->process_count > 1 && !report->process; /* the ends of processes are not one */
  return apart ? row_is_left(row) : span_has(&span, report->alive_ns);
}

static bool alive(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  return report_is_alive(context, row) && report_selects(row, context);
}

/* TABLE_GROWTH: rows that have ended belong to their groups, as far as they matter for growth. */
static bool alive_or_gone(const struct row *row, struct share *share, void *context) {
  const struct report *report = context;
  *share = share_block(row);
  share->apart = !row_is_live_at(row, report->alive_ns);
  return ages_need(row, (struct stretch){0, report->alive_ns}) && report_selects(row, context);
}

static bool held_or_gone(const struct row *row, struct share *share, void *context) {
  const struct report *report = context;
  if (held(row, share, context)) return true;
  *share = share_block(row);
  share->apart = true;
  return ages_need(row, (struct stretch){0, report->alive_ns}) && report_selects(row, context);
}

static bool lasting(const struct row *row, struct share *share, void *context) {
  *share = share_block(row);
  return row->last && report_life_of(context, row) >= ((const struct report *)context)->long_ns &&
         report_selects(row, context);
}

static const struct {
  row_measure *measure;
  const char *name, *word;
} measures[MEASURES] = {
#define REPORT_MEASURE(NAME, name, json, what) [MEASURE_##NAME] = {name, json, #name},
    REPORT_MEASURES(REPORT_MEASURE)
#undef REPORT_MEASURE
};

/* ---- totals ---- */

static wn_status bind_query(struct report *report, const char *where) {
  if (!where) return WN_OK;
  wn_status error = query_parse(where, &report->query);
  return error ? error : query_bind(report->query, report->samples, report->names);
}

/* Whether an earlier report, about the same recording, selects the same rows, and calls the same lives
 * brief. */
static bool selects_as(const struct report *report, const struct report *earlier) {
  return earlier && earlier->samples == report->samples && earlier->brief_ns == report->brief_ns &&
         earlier->alive_ns == report->alive_ns && earlier->process == report->process &&
         query_same_rows(report->query, earlier->query);
}

/* Takes over what depends on the rows of the query alone. */
static void report_take_over(struct report *report, const struct report *earlier) {
  if (report->selected)
    memcpy(report->selected, earlier->selected, report->samples->row_count * sizeof *report->selected);
  report->peak = earlier->peak;
  report->allocated = earlier->allocated;
  report->live_at_end = earlier->live_at_end;
  report->alive = earlier->alive;
  report->brief = earlier->brief;
  report->generations = earlier->generations;
}

static void report_add_row(struct report *report, const struct row *row) {
  const struct samples *samples = report->samples;
  generations_add(&report->generations, row);
  if (row->probability <= 0) return;
  timeline_add_call(&report->allocated, samples, row);
  if (report_is_brief(row, report)) timeline_add_call(&report->brief, samples, row);
  if (row_is_left(row)) timeline_add_live(&report->live_at_end, row);
  if (report_is_alive(report, row)) timeline_add_live(&report->alive, row);
}

static bool selects_report(const struct report *report, const struct row *row) {
  if (report->process && process_of(report->samples, row->thread) != report->process - 1) return false;
  return !report->query || query_selects(report->query, row);
}

/* Asks the query once for each row, and computes all that needs no moment in the same pass: it is the
 * rows that take the time. */
static wn_status sum_rows(struct report *report) {
  const struct samples *samples = report->samples;
  struct peak_finder finder;
  wn_status error = peak_begin(samples, &finder);
  if (error) return error;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    bool chosen = !report->selected || selects_report(report, row);
    if (report->selected) report->selected[i] = chosen;
    peak_add(&finder, row, chosen);
    if (chosen) report_add_row(report, row);
  }
  return peak_end(&finder, &report->peak);
}

static wn_status select_rows(struct report *report, const struct report *earlier) {
  if (report->process || !query_selects_all(report->query)) {
    report->selected = array_new(report->samples->row_count, sizeof *report->selected);
    if (!report->selected) return error_set(WN_ENOMEM, "not enough memory for the query");
  }
  if (!selects_as(report, earlier)) return sum_rows(report);
  report_take_over(report, earlier);
  return WN_OK;
}

/* TOTALS (sources/source.h): the peak is that of the whole program, as the profile tells it, also
 * of the blocks of a query. Where the profile tells none, what it tells instead is asked for. */
static wn_status resolve_moment_of_totals(struct report *report, enum when *at) {
  const struct source_limits *limits = source_limits(report->samples->source);
  if (*at == AT_TIME)
    return error_set(WN_EINVAL, "such a profile tells nothing of what was held at other moments than %s",
                     limits->no_peak ? "its own" : "the peak and the end");
  if (limits->no_peak) *at = AT_END;
  return WN_OK;
}

static void take_peak_of_totals(struct report *report) {
  uint64_t time_ns = source_limits(report->samples->source)->no_peak ? SOURCE_END : SOURCE_PEAK;
  report->peak = (struct peak){.first_ns = time_ns, .median_ns = time_ns, .last_ns = time_ns};
  for (int k = 0; k < PEAK_PARTS; k++) report->peak.time_ns[k] = time_ns;
  report->peak.live = timeline_live_at(report->samples, time_ns, report_selects, report);
}

static wn_status report_compute(struct report *report, const struct question *question) {
  const struct samples *samples = report->samples;
  uint64_t run_ns = question->lives_by_ns ? question->lives_by_ns : samples->end_ns;
  report->brief_ns = run_ns / 100;
  report->long_ns = run_ns / 2;
  report->alive_ns = question->closing ? report->recording->closing_ns : samples->end_ns;
  if (report->process) {
    report->since_ns = samples->processes[report->process - 1].begin_ns;
    report->alive_ns = recording_closing(report->recording, report->process - 1);
  }
  uint64_t at_ns = question->at_ns;
  if (report->query && !question->apart) query_moment(report->query, &report->at, &at_ns);
  if (report->at == AT_TIME && at_ns > samples->end_ns)
    return error_set(WN_EINVAL, "the time is after the end of the trace");
  wn_status error = is_of_totals(report) ? resolve_moment_of_totals(report, &report->at) : WN_OK;
  if (!error) error = select_rows(report, question->earlier);
  if (error) return error;
  if (is_of_totals(report)) take_peak_of_totals(report);
  report->asked = (struct moment){.time_ns = report->at == AT_PEAK  ? report->peak.median_ns
                                             : report->at == AT_END ? samples->end_ns
                                                                    : at_ns};
  report->asked.live = is_at_peak(report)
                           ? report->peak.live
                           : timeline_live_at(samples, report->asked.time_ns, report_selects, report);
  return WN_OK;
}

/* Sets the weights of what was held at a peak of several moments: a block counts there by the
 * moments at which it was held. */
static wn_status weigh(struct table *table) {
  const struct report *report = table->report;
  const struct samples *samples = report->samples;
  bool is_mean = is_at_peak(report) && report->peak.first_ns != report->peak.last_ns;
  if (table->measure != MEASURE_HELD || !is_mean || table->weights) return WN_OK;
  table->weights = calloc(samples->row_count + 1, sizeof *table->weights);
  if (!table->weights) return error_set(WN_ENOMEM, "not enough memory for the tables");
  for (size_t i = 0; i < samples->row_count; i++) {
    struct share share;
    if (table->tree.node_of_row[i] != NO_NODE && held(&samples->rows[i], &share, (void *)report))
      table->weights[i] = share_weight(&share, &samples->rows[i]);
  }
  return WN_OK;
}

static wn_status add_details(struct table *table, unsigned details) {
  const struct samples *samples = table->report->samples;
  const struct call_tree *tree = &table->tree;
  wn_status error = WN_OK;
  if (details & (TABLE_LIVES | TABLE_WORD_LIVES)) error = weigh(table);
  if (!error && (details & TABLE_LIVES))
    error = lifetimes_create(samples, tree, LIFE_NS, table->weights, &table->lives);
  if (!error && (details & TABLE_WORD_LIVES))
    error = lifetimes_create(samples, tree, LIFE_WORDS, table->weights, &table->word_lives);
  if (!error && (details & TABLE_GROWTH)) error = table_order_resized(table);
  bool has_lines = tree->grouping == BY_FUNCTION || tree->grouping == BY_STACK;
  if (!error && (details & TABLE_LINES) && has_lines) error = table_find_lines(table, &table->lines);
  if (error || table->inside || !(details & (TABLE_FATES | TABLE_GROWTH))) return error;
  table->inside = calloc(tree->node_count, sizeof *table->inside);
  return table->inside ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the tables");
}

static bool shows_all(const struct stack_view *view) { return !view->hidden && !view->begins && !view->fold; }

/* The cached paths of the question, or those of this view alone, which become `own`. */
static wn_status find_paths(const struct report *report, const struct samples *samples,
                            enum grouping grouping, const struct stack_view *view, struct call_paths *own,
                            const struct call_paths **found) {
  bool cached = report->paths && (int)grouping < GROUPINGS && shows_all(view);
  struct call_paths *paths = cached ? &report->paths[grouping] : own;
  *own = (struct call_paths){.nodes = NULL};
  *found = paths;
  return paths->nodes ? WN_OK : call_paths_create(samples, report->names, grouping, view, paths);
}

static wn_status sum_tree(const struct report *report, const struct samples *samples, enum grouping grouping,
                          const struct stack_view *view, row_measure *rows, void *context,
                          struct call_tree *tree) {
  struct call_paths own;
  const struct call_paths *paths;
  wn_status error = find_paths(report, samples, grouping, view, &own, &paths);
  if (!error) error = call_tree_sum(samples, paths, rows, context, tree);
  if (paths == &own) call_paths_destroy(&own);
  return error;
}

static struct stack_view view_of(const struct report *report) {
  return report->query ? query_view(report->query) : (struct stack_view){0};
}

/* ---- shared ---- */

wn_status report_ask(const struct recording *recording, const struct question *question,
                     struct report *report) {
  *report = (struct report){.recording = recording,
                            .samples = recording->samples,
                            .names = &recording->names,
                            .paths = question->paths,
                            .at = question->at,
                            .apart = question->apart,
                            .apart_ns = question->apart_ns,
                            .process = question->process};
  wn_status error = bind_query(report, question->where);
  if (!error) error = report_compute(report, question);
  if (error) report_destroy(report);
  return error;
}

void report_destroy(struct report *report) {
  query_free(report->query);
  free(report->selected);
  report->query = NULL;
  report->selected = NULL;
}

bool report_selects(const struct row *row, void *context) {
  const struct report *report = context;
  return !report->selected || report->selected[row - report->samples->rows];
}

bool report_counts(const struct report *report, enum measure measure, const struct row *row,
                   struct share *share) {
  return row->probability > 0 && measures[measure].measure(row, share, (void *)report) && !share->apart;
}

double share_weight(const struct share *share, const struct row *row) {
  return share->weight.factor > 0 ? share->weight.factor : 1 / row->probability;
}

const char *measure_name(enum measure measure) { return measures[measure].name; }
const char *measure_word(enum measure measure) { return measures[measure].word; }

wn_status report_table(const struct report *report, enum measure measure, enum grouping grouping,
                       unsigned details, struct table *table) {
  if (!report_has_growth(report)) details &= ~(unsigned)TABLE_GROWTH;
  *table = (struct table){.report = report, .measure = measure, .details = details};
  struct stack_view view = view_of(report);
  view.fold = details & TABLE_FOLDED;
  row_measure *rows = measures[measure].measure;
  if (details & TABLE_GROWTH) rows = measure == MEASURE_HELD ? held_or_gone : alive_or_gone;
  wn_status error = sum_tree(report, report->samples, grouping, &view, rows, (void *)report, &table->tree);
  if (!error) error = add_details(table, details);
  if (!error && !(details & TABLE_TREE_ONLY)) error = call_tree_group(&table->tree);
  if (error) table_destroy(table);
  return error;
}

wn_status report_owners(const struct report *report, enum grouping grouping, struct owners *owners) {
  struct stack_view view = view_of(report);
  *owners = (struct owners){.report = report};
  return find_paths(report, report->samples, grouping, &view, &owners->own, &owners->paths);
}

void owners_destroy(struct owners *owners) {
  if (owners->paths == &owners->own) call_paths_destroy(&owners->own);
}

wn_status report_tree(const struct report *report, const struct samples *samples, enum grouping grouping,
                      row_measure *rows, void *context, struct call_tree *tree) {
  struct stack_view all = {.hidden = NULL};
  wn_status error = sum_tree(report, samples, grouping, &all, rows, context, tree);
  if (!error) error = call_tree_group(tree);
  if (error) call_tree_destroy(tree);
  return error;
}

const struct group *table_find_group(const struct table *table, const struct label *function) {
  for (size_t i = 0; i < table->tree.group_count; i++) {
    const struct label *label = table_label(table, &table->tree.groups[i]);
    if (label->function == function->function && label->module == function->module)
      return &table->tree.groups[i];
  }
  return NULL;
}

const struct group *table_largest(const struct table *table) {
  const struct call_tree *tree = &table->tree;
  const struct group *most = NULL;
  for (size_t i = 0; i < tree->group_count; i++)
    if (!most || tree->groups[i].self.bytes.total > most->self.bytes.total) most = &tree->groups[i];
  bool large = most && most->label && 10 * most->self.bytes.total >= tree->nodes[0].total.bytes.total;
  return large ? most : NULL;
}

wn_status table_find_lines(const struct table *table, struct main_lines *lines) {
  struct table by_line;
  wn_status error = report_table(table->report, table->measure, BY_WHOLE_LINE, TABLE_SUMS, &by_line);
  *lines = (struct main_lines){.tree = by_line.tree}; /* which has no details */
  return error ? error : main_lines_find(&table->tree, table->report->samples->row_count, lines);
}

wn_status table_add(struct table *table, unsigned details) {
  unsigned missing = details & ~table->details;
  bool groups = (table->details & TABLE_TREE_ONLY) && !(details & TABLE_TREE_ONLY);
  wn_status error = add_details(table, missing);
  if (!error && groups) error = call_tree_group(&table->tree);
  if (error) return error;
  table->details |= missing & ~(unsigned)TABLE_TREE_ONLY;
  if (groups) table->details &= ~(unsigned)TABLE_TREE_ONLY;
  return WN_OK;
}

void table_destroy(struct table *table) {
  lifetimes_destroy(&table->lives);
  lifetimes_destroy(&table->word_lives);
  main_lines_destroy(&table->lines);
  free(table->weights);
  free(table->inside);
  free(table->resized);
  call_tree_destroy(&table->tree);
}

struct life table_life(struct table *table, const struct group *group, enum extent extent) {
  return lifetimes_median(&table->lives, group, extent);
}

struct life table_word_life(struct table *table, const struct group *group, enum extent extent) {
  return lifetimes_median(&table->word_lives, group, extent);
}

struct generations table_fates(struct table *table, const struct group *group, enum extent extent) {
  return generations_of_group(table->report->samples, &table->tree, group, extent, table->inside);
}

/* The number of a group's label in the tree. */
static uint32_t report_label_of(const struct table *table, const struct group *group) {
  return table->tree.grouping == BY_STACK ? table->tree.nodes[group->label].label : group->label;
}

void table_name(const struct table *table, const struct group *group, char *buffer, size_t size) {
  call_tree_label(&table->tree, table->report->names, report_label_of(table, group), buffer, size);
}

const struct label *table_label(const struct table *table, const struct group *group) {
  return &table->tree.labels[report_label_of(table, group)];
}

const struct label *table_line_label(const struct table *table, const struct group *group) {
  const struct label *label = NULL;
  size_t count;
  if (!table->lines.of) return table_label(table, group);
  const struct call_tree *lines = &table->lines.tree;
  if (table->tree.grouping == BY_STACK) {
    label = &lines->labels[lines->nodes[main_stack(&table->lines, group)].label];
  } else {
    const struct group *line = main_line(&table->lines, group, &count);
    if (line) label = &lines->labels[line->label];
  }
  return label && label->line ? label : table_label(table, group);
}

struct estimate report_bytes(const struct report *report, const struct sums *sums) {
  return estimate_of(&sums->bytes, report->recording->byte_unit);
}

struct estimate report_blocks(const struct report *report, const struct sums *sums) {
  double words = query_least_size(report->query) / report->samples->word_bytes + 1; /* with a header */
  return count_of_large(&sums->blocks, &report->allocated.blocks, report->recording->rate,
                        (uint64_t)fmin(words, 1e18));
}

struct estimate report_per_second(const struct report *report, const struct estimate *total) {
  double seconds = (double)(report->samples->end_ns - asleep_ns(report->samples)) / 1e9;
  if (seconds <= 0) return (struct estimate){.samples = total->samples};
  return (struct estimate){.estimate = total->estimate / seconds,
                           .low = total->low / seconds,
                           .high = total->high / seconds,
                           .samples = total->samples};
}

struct estimate report_share(const struct report *report, const struct sums *part, const struct sums *whole) {
  return share_of(&part->bytes, &whole->bytes, report->recording->byte_unit);
}

struct estimate report_promoted_share(const struct report *report, const struct generations *generations) {
  return report_share(report, &generations->promoted, &generations->minor);
}

struct estimate report_dead_share(const struct report *report, const struct generations *generations) {
  return report_share(report, &generations->dead, &generations->resolved);
}

wn_status report_what_if(const struct report *report, struct what_if *what_if) {
  double unit = report->recording->byte_unit;
  if (what_if_make(report->samples, report_selects, (void *)report, unit, what_if)) return WN_OK;
  return error_set(WN_ENOMEM, "not enough memory for the minor heaps");
}

bool report_peak_is_one(const struct report *report) {
  return report->peak.last_ns - report->peak.first_ns <= report->samples->end_ns / 100;
}

/* Equal sums of equally many samples are of the same blocks. The order of addition may differ. */
bool report_is_same(const struct sums *one, const struct sums *other) {
  const double rounding = 1e-9;
  return one->bytes.samples == other->bytes.samples && one->blocks.samples == other->blocks.samples &&
         fabs(one->bytes.total - other->bytes.total) <= rounding * one->bytes.total &&
         fabs(one->blocks.total - other->blocks.total) <= rounding * one->blocks.total;
}

bool report_held_is_alive(const struct report *report) {
  if (report->samples->process_count > 1) return false;
  if (report_is_same(&report->asked.live, &report->alive)) return true;
  return report->at == AT_PEAK && report->peak.first_ns <= report->alive_ns &&
         report->alive_ns <= report->peak.last_ns;
}

struct estimate report_within_peak(const struct report *report, struct estimate bytes) {
  struct estimate peak = report_bytes(report, &report->peak.live);
  if (bytes.estimate <= peak.estimate) return bytes;
  bytes.estimate = peak.estimate;
  bytes.low = fmin(bytes.low, bytes.estimate);
  bytes.high = fmax(fmin(bytes.high, peak.high), bytes.estimate);
  return bytes;
}

bool report_is_awake(const struct report *report) { return report->samples->asleep_share <= ASLEEP_MOST; }

bool report_has_growth(const struct report *report) {
  return report->samples->process_count < 2 && !source_limits(report->samples->source)->no_lives &&
         report_is_awake(report) && !report->recording->partial;
}

bool report_has_rate(const struct report *report) {
  return report->samples->end_ns > RATE_TICKS * source_limits(report->samples->source)->tick_ns;
}

bool report_is_timed(const struct report *report) {
  const struct source_limits *limits = source_limits(report->samples->source);
  return !limits->totals && report->samples->end_ns >= limits->tick_ns;
}
/* SPDX-License-Identifier: MIT */
