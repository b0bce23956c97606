/* What the hosts of each release have on average, and what changed between two of them. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/fleet/answers.h"
#include "cli/fleet/means.h"
#include "cli/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RELEASE_CELLS = 4, CHANGE_CELLS = 4, NOISE_ROWS = 3 };

static const struct release *find_releases(const struct release *releases, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(releases[i].name, name)) return &releases[i];
  return NULL;
}

/* ---- releases ---- */

static void set_release(const struct question_of_fleet *question, const struct release *release,
                        struct estimate mean, char day[32], struct fleet_cell cells[RELEASE_CELLS]) {
  struct fleet_cell set[RELEASE_CELLS] = {
      {.kind = FLEET_BYTES,
       .name = question->kind == WINDOW_HELD ? "per host" : "per host and s",
       .estimate = mean},
      {.kind = FLEET_COUNT, .name = "hosts", .number = (double)release->hosts},
      {.kind = FLEET_WORD, .name = "first day", .text = text_day(day, release->first)},
      {.kind = FLEET_NAME, .name = "release", .text = *release->name ? release->name : "(none)"}};
  memcpy(cells, set, sizeof set);
}

/* The row of the answer that is about a release; `rows`: none is. */
static size_t releases_row_of(const struct question_of_fleet *question, const char *release) {
  size_t row = 0;
  while (row < question->rows && strcmp(field_text(question, row, 0), release) != 0) row++;
  return row;
}

static void tell_releases(const struct question_of_fleet *question, const struct release *releases,
                          size_t count, struct json *json) {
  for (size_t i = 0; i < count; i++) {
    struct fleet_cell cells[RELEASE_CELLS];
    char day[32];
    size_t row = releases_row_of(question, releases[i].name);
    set_release(question, &releases[i], mean_of(question, row, 1, releases[i].hosts).bytes, day, cells);
    if (!i && !json) fleet_print_head(cells, RELEASE_CELLS);
    if (json)
      fleet_write_row(json, cells, RELEASE_CELLS);
    else
      fleet_print_row(cells, RELEASE_CELLS, false);
  }
}

/* " AND site ..." for the site that the user named, in `*condition`, which the caller frees. */
static bool write_condition(const struct question_of_fleet *question, char **condition) {
  size_t size;
  FILE *out = open_memstream(condition, &size);
  if (!out) return false;
  if (question->options->ship.site) {
    fputs(" AND site GLOBAL IN (SELECT site FROM sites_all WHERE name = ", out);
    http_write_text(out, question->options->ship.site);
    fputc(')', out);
  }
  return !fclose(out);
}

static void releases_tell_all(struct question_of_fleet *question, const struct fleet_scope *scope,
                              const struct release *releases, size_t count) {
  const char *site = question->options->ship.site;
  struct json json = {.out = stdout};
  char about[256];
  snprintf(about, sizeof about, "%s on average%s%.150s", kind_word(question), site ? " by " : "",
           site ? site : "");
  if (!question->options->json) {
    scope_print(question, scope, about, false);
    putchar('\n');
    tell_releases(question, releases, count, NULL);
    return;
  }
  scope_write(question, scope, "releases", &json);
  if (site) json_string(&json, "site", site);
  json_begin(&json, "rows", '[');
  tell_releases(question, releases, count, &json);
  json_end(&json, ']');
  json_end(&json, '}');
}

/* ---- diff ---- */

struct changed {
  size_t row; /* of the answer, which has the site's name */
  struct change bytes;
  double chance;
  bool sure;
};

struct comparing {
  struct question_of_fleet *question;
  const struct release *release[2];
  struct change all;
  bool few; /* fewer hosts than HOSTS_LEAST: no change is called sure */
  struct changed *items;
  size_t count, capacity, sure;
};

enum { DIFF_GROUPS = 2, DIFF_NAME = DIFF_GROUPS + MEAN_COLUMNS };

static const char *releases_site_of(const struct comparing *comparing, size_t row) {
  return field_text(comparing->question, row, 1);
}

static struct host_mean mean_at(const struct comparing *comparing, size_t row, int which) {
  return mean_of(comparing->question, row, DIFF_GROUPS, comparing->release[which]->hosts);
}

static bool releases_is_of(const struct comparing *comparing, size_t row, int which) {
  return !strcmp(field_text(comparing->question, row, 0), comparing->release[which]->name);
}

static struct change change_between(const struct host_mean mean[2]) {
  return change_of(mean[0].bytes, mean[1].bytes, &(struct estimate){.estimate = 0});
}

static bool releases_add(struct comparing *comparing, size_t row, const struct host_mean mean[2]) {
  struct changed changed = {
      .row = row, .bytes = change_between(mean), .chance = chance_of_change(&mean[0], &mean[1])};
  return ARRAY_ADD(comparing->items, comparing->count, comparing->capacity, changed);
}

/* Sets `all` from an answer whose rows are the releases. */
static void releases_set_all(struct comparing *comparing) {
  struct host_mean mean[2];
  for (int which = 0; which < 2; which++)
    mean[which] =
        mean_of(comparing->question, releases_row_of(comparing->question, comparing->release[which]->name), 1,
                comparing->release[which]->hosts);
  comparing->all = change_between(mean);
  comparing->few = mean[0].few || mean[1].few;
}

/* Makes a change of each site: rows come by site, and those of one site by release. */
static bool pair_rows(struct comparing *comparing) {
  const struct question_of_fleet *question = comparing->question;
  bool done = true;
  for (size_t i = 0; done && i < question->rows; i++) {
    size_t next = i + 1;
    bool both =
        next < question->rows && !strcmp(releases_site_of(comparing, i), releases_site_of(comparing, next));
    struct host_mean mean[2] = {mean_at(comparing, question->rows, 0), mean_at(comparing, question->rows, 1)};
    for (size_t row = i; row <= i + both; row++)
      for (int which = 0; which < 2; which++)
        if (releases_is_of(comparing, row, which)) mean[which] = mean_at(comparing, row, which);
    done = releases_add(comparing, i, mean);
    i += both;
  }
  return done;
}

/* The sure ones first, then by size. */
static int releases_by_size(const void *one, const void *other) {
  const struct changed *a = one, *b = other;
  double size_a = fabs(a->bytes.difference.estimate), size_b = fabs(b->bytes.difference.estimate);
  if (a->sure != b->sure) return b->sure - a->sure;
  return (size_a < size_b) - (size_a > size_b);
}

static bool find_sure(struct comparing *comparing) {
  double *chances = array_new(comparing->count, sizeof *chances);
  if (!chances) return false;
  for (size_t i = 0; i < comparing->count; i++) chances[i] = comparing->items[i].chance;
  double most = chance_called_sure(chances, comparing->count);
  for (size_t i = 0; i < comparing->count; i++)
    comparing->sure += comparing->items[i].sure = comparing->items[i].chance <= most;
  qsort(comparing->items, comparing->count, sizeof *comparing->items, releases_by_size);
  free(chances);
  return true;
}

static void releases_set_cells(const struct change *bytes, const char *name, const char *module,
                               struct fleet_cell cells[CHANGE_CELLS]) {
  struct fleet_cell set[CHANGE_CELLS] = {
      {.kind = FLEET_CHANGE, .name = "change", .estimate = bytes->difference},
      {.kind = FLEET_BYTES, .name = "before", .estimate = bytes->before},
      {.kind = FLEET_BYTES, .name = "after", .estimate = bytes->after},
      {.kind = FLEET_NAME, .name = "function", .text = name, .beside = module}};
  memcpy(cells, set, sizeof set);
}

static void set_change(const struct comparing *comparing, const struct changed *changed,
                       struct fleet_cell cells[CHANGE_CELLS], char number[40]) {
  const struct question_of_fleet *question = comparing->question;
  const char *name = field_text(question, changed->row, DIFF_NAME);
  releases_set_cells(&changed->bytes, site_name(name, releases_site_of(comparing, changed->row), number),
                     field_text(question, changed->row, DIFF_NAME + 1), cells);
}

static void releases_print_change(const struct comparing *comparing, size_t i) {
  struct fleet_cell cells[CHANGE_CELLS];
  char number[40];
  set_change(comparing, &comparing->items[i], cells, number);
  fleet_print_row(cells, CHANGE_CELLS, !comparing->items[i].sure);
}

static void releases_print_changes(const struct comparing *comparing) {
  size_t shown = rows_wanted(comparing->question, comparing->sure),
         noise = comparing->count - comparing->sure;
  struct fleet_cell cells[CHANGE_CELLS];
  char number[64];
  releases_set_cells(&comparing->all, "in all", NULL, cells);
  fleet_print_head(cells, CHANGE_CELLS);
  fleet_print_row(cells, CHANGE_CELLS, comparing->few || !difference_is_sure(&comparing->all.difference));
  for (size_t i = 0; i < shown; i++) releases_print_change(comparing, i);
  text_style(stdout, STYLE_DIM);
  if (shown < comparing->sure)
    printf("  %s changed (--top %zu)\n",
           text_number_of(number, (double)(comparing->sure - shown), "more function"), comparing->sure);
  if (noise)
    printf("  %s within noise%s\n", text_number_of(number, (double)noise, "function"),
           noise > NOISE_ROWS ? ", the largest:" : ":");
  text_style(stdout, STYLE_PLAIN);
  for (size_t i = 0; i < noise && i < NOISE_ROWS; i++) releases_print_change(comparing, comparing->sure + i);
}

static void print_diff(const struct comparing *comparing, const struct fleet_scope *scope) {
  char about[256], hosts[2][64];
  snprintf(
      about, sizeof about, "%s per host%s, from %.60s (%s) to %.60s (%s)", kind_word(comparing->question),
      comparing->question->kind == WINDOW_HELD ? "" : " and second", comparing->release[0]->name,
      text_number_of(hosts[0], (double)comparing->release[0]->hosts, "host"), comparing->release[1]->name,
      text_number_of(hosts[1], (double)comparing->release[1]->hosts, "host"));
  scope_print(comparing->question, scope, about, false);
  if (comparing->few) {
    text_style(stdout, STYLE_WARNING);
    printf("  fewer than %d hosts with whole records: no change can be told from hosts that differ\n",
           HOSTS_LEAST);
    text_style(stdout, STYLE_PLAIN);
  }
  putchar('\n');
  releases_print_changes(comparing);
}

static void write_diff(const struct comparing *comparing, const struct fleet_scope *scope) {
  struct json json = {.out = stdout};
  scope_write(comparing->question, scope, "diff", &json);
  for (int i = 0; i < 2; i++) {
    json_begin(&json, i ? "after" : "before", '{');
    json_string(&json, "release", comparing->release[i]->name);
    json_integer(&json, "hosts", comparing->release[i]->hosts);
    json_end(&json, '}');
  }
  json_change(&json, "bytes", &comparing->all);
  json_begin(&json, "rows", '[');
  for (size_t i = 0; i < comparing->count; i++) {
    struct fleet_cell cells[CHANGE_CELLS];
    char number[40];
    set_change(comparing, &comparing->items[i], cells, number);
    fleet_write_row(&json, cells, CHANGE_CELLS);
  }
  json_end(&json, ']');
  json_integer(&json, "sure", comparing->sure);
  json_bool(&json, "few_hosts", comparing->few);
  json_end(&json, '}');
}

static int releases_compare(struct comparing *comparing, const struct fleet_scope *scope) {
  char *condition = NULL;
  size_t size;
  FILE *out = open_memstream(&condition, &size);
  if (!out) return fail_job("not enough memory");
  fputs(" AND release IN (", out);
  http_write_text(out, comparing->release[0]->name);
  fputc(',', out);
  http_write_text(out, comparing->release[1]->name);
  fputc(')', out);
  fclose(out);
  int code = means_ask(comparing->question, "release", 1, condition);
  if (!code) releases_set_all(comparing);
  if (!code) code = means_ask(comparing->question, "release, site", DIFF_GROUPS, condition);
  free(condition);
  if (!code && (!pair_rows(comparing) || !find_sure(comparing))) code = fail_job("not enough memory");
  if (code) return code;
  if (comparing->question->options->json)
    write_diff(comparing, scope);
  else
    print_diff(comparing, scope);
  return 0;
}

/* ---- shared ---- */

int fleet_releases(struct question_of_fleet *question) {
  struct fleet_scope scope;
  struct release *releases = NULL;
  char *condition = NULL;
  size_t count = 0;
  int code = scope_find(question, &scope);
  if (!code) code = releases_find(question, &releases, &count);
  if (!code && !write_condition(question, &condition)) code = fail_job("not enough memory");
  if (!code) code = means_ask(question, "release", 1, condition);
  if (!code && !question->rows && question->options->ship.site)
    code = fail_job("no host %s anything by a function %s in that time", kind_word(question),
                    question->options->ship.site);
  if (!code) releases_tell_all(question, &scope, releases, count);
  releases_free(releases, count);
  free(condition);
  return code;
}

int fleet_diff(struct question_of_fleet *question, const char *before, const char *after) {
  struct fleet_scope scope;
  struct release *releases = NULL;
  size_t count = 0;
  const char *missing = NULL;
  int code = scope_find(question, &scope);
  if (!code) code = releases_find(question, &releases, &count);
  struct comparing comparing = {
      .question = question,
      .release = {find_releases(releases, count, before), find_releases(releases, count, after)}};
  if (!comparing.release[1]) missing = after;
  if (!comparing.release[0]) missing = before;
  if (!code && missing)
    code = fail_job("there is no release %s in that time; 'winnow fleet releases' lists them", missing);
  if (!code) code = releases_compare(&comparing, &scope);
  releases_free(releases, count);
  free(comparing.items);
  return code;
}
/* SPDX-License-Identifier: MIT */
