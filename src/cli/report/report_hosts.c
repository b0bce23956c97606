/* Compares the machines of a report (analysis/report/hosts.h).
 *
 * A host counts where the query selects a block of one of its processes, though it may hold none at
 * the moment of the report. A release has all hosts that ran it. */
#include "cli/report/report_hosts.h"

#include "analysis/report/hosts.h"
#include "base/array.h"
#include "cli/report/screen.h"
#include "cli/text.h"
#include <stdlib.h>

enum { ROWS_MOST = 10 };

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

/* What all processes have, or the ones that the query selects, each once; `releases` false: hosts
 * alone. */
static struct origins find_origins(const struct report *report, bool releases, const bool *selected) {
  const struct names *names = report->names;
  struct origins origins = {.items = malloc(names->process_count * sizeof *origins.items)};
  size_t found = 0;
  for (uint32_t i = 0; origins.items && i < names->process_count; i++)
    if (!selected || selected[i])
      origins.items[found++] =
          (struct origin){releases ? names->processes[i].release : 0, names->processes[i].host};
  array_sort(origins.items, found, sizeof *origins.items, by_strings);
  for (size_t i = 0; i < found; i++)
    if (!i || by_strings(&origins.items[i], &origins.items[origins.count - 1]))
      origins.items[origins.count++] = origins.items[i];
  return origins;
}

/* ---- hosts ---- */

static struct sums report_hosts_sums_of(const struct table *table, uint32_t function) {
  for (size_t i = 0; i < table->tree.group_count; i++)
    if (table_label(table, &table->tree.groups[i])->function == function) return table->tree.groups[i].self;
  return (struct sums){0};
}

static void print_host(const struct view *view, const struct host *host, double median) {
  char bytes[32], margin[16], share[32];
  printf("%10s", text_bytes(bytes, host->bytes.estimate));
  text_pad(stdout, screen_margin(margin, &host->bytes), -7);
  printf("  %8s  ", median > 0 ? text_share(share, host->bytes.estimate / median) : "");
  text_name(stdout, strings_text(view->report->names->strings, (uint32_t)host->number));
  putchar('\n');
}

static void print_unusual(const struct view *view, struct host *hosts, size_t count) {
  double median;
  size_t unusual;
  char bytes[32], number[64];
  if (count < HOSTS_LEAST || !hosts_find_unusual(hosts, count, &median, &unusual)) return;
  printf("\nHOSTS UNLIKE THE OTHERS, whose median is %s\n", text_bytes(bytes, median));
  if (unusual) puts("     bytes      ±  of usual  host");
  for (size_t i = 0; i < unusual && i < ROWS_MOST; i++) print_host(view, &hosts[i], median);
  printf("  %s%s as is usual\n", unusual > ROWS_MOST ? "others, and " : "",
         text_number_of(number, (double)(count - unusual), "host"));
}

static void print_hosts(const struct view *view, const struct table *table) {
  bool *selected = find_selected(view->report);
  struct origins origins = {0};
  if (selected) origins = find_origins(view->report, false, selected);
  struct host *hosts = calloc(origins.count + 1, sizeof *hosts);
  for (size_t i = 0; hosts && i < origins.count; i++) {
    struct sums sums = report_hosts_sums_of(table, origins.items[i].host);
    hosts[i] = (struct host){.number = origins.items[i].host, .bytes = report_bytes(view->report, &sums)};
  }
  if (hosts && origins.items) print_unusual(view, hosts, origins.count);
  free(hosts);
  free(origins.items);
  free(selected);
}

/* ---- releases ---- */

static size_t count_hosts(const struct origins *origins, uint32_t release) {
  size_t count = 0;
  for (size_t i = 0; i < origins->count; i++) count += origins->items[i].release == release;
  return count;
}

/* Of what the hosts of a release hold. */
static double sum_squares(const struct table *of_hosts, uint32_t release) {
  double squares = 0;
  for (size_t i = 0; i < of_hosts->tree.group_count; i++) {
    const struct group *group = &of_hosts->tree.groups[i];
    double bytes = group->self.bytes.total;
    if (table_label(of_hosts, group)->function == release) squares += bytes * bytes;
  }
  return squares;
}

static void print_release(const struct table *table, const struct group *group, const struct table *of_hosts,
                          const struct origins *origins) {
  char bytes[32], margin[16], name[REPORT_NAME_MOST];
  uint32_t release = table_label(table, group)->function;
  size_t count = count_hosts(origins, release);
  struct estimate all = report_bytes(table->report, &group->self);
  struct host_mean mean =
      hosts_mean(&all, group->self.bytes.total, sum_squares(of_hosts, release), count ? count : 1);
  table_name(table, group, name, sizeof name);
  printf("%10s", text_bytes(bytes, mean.bytes.estimate));
  text_pad(stdout, screen_margin(margin, &mean.bytes), -7);
  printf("  %5zu  ", count);
  text_name(stdout, name);
  putchar('\n');
}

static void print_releases(const struct view *view, const struct table *table) {
  struct table of_hosts;
  char number[64];
  size_t count = table->tree.group_count;
  struct origins origins = find_origins(view->report, true, NULL);
  if (origins.items && !report_table(view->report, MEASURE_HELD, BY_RELEASE_OF_HOST, TABLE_SUMS, &of_hosts)) {
    puts("\nHELD BY A HOST ON AVERAGE\n     bytes      ±  hosts  release");
    for (size_t i = 0; i < count && i < ROWS_MOST; i++)
      print_release(table, &table->tree.groups[i], &of_hosts, &origins);
    if (count > ROWS_MOST)
      printf("%26s%s\n", "", text_number_of(number, (double)(count - ROWS_MOST), "more release"));
    table_destroy(&of_hosts);
  }
  free(origins.items);
}

/* ---- shared ---- */

void report_print_hosts(const struct view *view) {
  enum grouping grouping = view->options->grouping;
  struct table table;
  if (view->report->samples->process_count < 2 || (grouping != BY_HOST && grouping != BY_RELEASE)) return;
  if (report_table(view->report, MEASURE_HELD, grouping, TABLE_SUMS, &table)) return;
  if (grouping == BY_HOST)
    print_hosts(view, &table);
  else
    print_releases(view, &table);
  table_destroy(&table);
}
/* SPDX-License-Identifier: MIT */
