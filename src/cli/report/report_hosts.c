/* Prints what analysis/report/origins.h finds of machines. */
#include "cli/report/report_text.h"

#include "analysis/report/origins.h"
#include "cli/report/screen.h"
#include "cli/text.h"

enum { ROWS_MOST = EXCESSES_MOST };

/* ---- hosts ---- */

static void print_host(const struct view *view, const struct host_list *list, size_t i) {
  const struct strings *strings = view->report->names->strings;
  const struct host *host = &list->host[i];
  const struct excess *excess = &list->excess[i];
  char bytes[32], margin[16], share[32];
  printf("%10s", text_bytes(bytes, host->bytes.estimate));
  text_pad(stdout, screen_margin(margin, &host->bytes), -7);
  printf("  %8s  ", list->median > 0 ? text_share(share, host->bytes.estimate / list->median) : "");
  text_name(stdout, strings_text(strings, (uint32_t)host->number));
  if (excess->bytes > 0) {
    printf("  most of all ");
    text_name(stdout, strings_text(strings, excess->function.function));
    printf(" +%s", text_bytes(bytes, excess->bytes));
  }
  putchar('\n');
}

static void print_hosts(const struct view *view) {
  struct host_list list;
  char bytes[32], number[64];
  if (host_list_find(view->report, &list)) return;
  if (list.count >= HOSTS_LEAST) {
    printf("\nHOSTS UNLIKE THE OTHERS, whose median is %s\n", text_bytes(bytes, list.median));
    if (list.unusual) puts("     bytes      ±  of usual  host");
    for (size_t i = 0; i < list.unusual && i < ROWS_MOST; i++) print_host(view, &list, i);
    if (list.median <= 0)
      printf("  %s, of which half or more have nothing: none is called unusual\n",
             text_number_of(number, (double)list.count, "host"));
    else
      printf("  %s%s as is usual\n", list.unusual > ROWS_MOST ? "others, and " : "",
             text_number_of(number, (double)(list.count - list.unusual), "host"));
    if (list.absent)
      printf("  %s did not run at that moment\n", text_number_of(number, (double)list.absent, "more host"));
  }
  host_list_destroy(&list);
}

/* ---- releases ---- */

static void print_release(const struct release_list *list, size_t i) {
  const struct release_of_hosts *release = &list->release[i];
  char bytes[32], margin[16], day[32];
  bool known = release->running;
  printf("%10s", known ? text_bytes(bytes, release->mean.bytes.estimate) : "not known");
  text_pad(stdout, known ? screen_margin(margin, &release->mean.bytes) : "", -7);
  printf("  %5zu  %s  ", release->hosts, text_day(day, release->first_ns / 1000000000));
  text_name(stdout, release->name);
  if (release->running < release->hosts) printf("  (%zu ran at that moment)", release->running);
  putchar('\n');
}

static void print_releases(const struct view *view) {
  struct release_list list;
  char number[64];
  if (release_list_find(view->report, &list)) return;
  if (list.count) puts("\nHELD BY A HOST ON AVERAGE\n     bytes      ±  hosts  first day   release");
  for (size_t i = 0; i < list.count && i < ROWS_MOST; i++) print_release(&list, i);
  if (list.count > ROWS_MOST)
    printf("%38s%s\n", "", text_number_of(number, (double)(list.count - ROWS_MOST), "more release"));
  release_list_destroy(&list);
}

/* ---- shared ---- */

void report_print_hosts(const struct view *view) {
  enum grouping grouping = view->options->grouping;
  if (view->report->samples->process_count < 2) return;
  if (grouping == BY_HOST) print_hosts(view);
  if (grouping == BY_RELEASE) print_releases(view);
}
/* SPDX-License-Identifier: MIT */
