/* Writes the pages. */
#include "cli/scrape/index_page.h"

#include "cli/scrape/profile_kinds.h"
#include "page/html.h"
#include <time.h>

static void put_link(FILE *out, const char *path, pid_t pid, const char *more, const char *token,
                     const char *text) {
  fprintf(out, "<a href=\"%s?pid=%d%s", path, (int)pid, more);
  if (*token) fputs("&amp;", out), html_put_text(out, token);
  fprintf(out, "\">%s</a> ", text);
}

static void put_command(FILE *out, const struct target *target) {
  for (size_t at = 0; at < target->command_length; at += strlen(target->command + at) + 1) {
    if (at) fputc(' ', out);
    html_put_text(out, target->command + at);
  }
}

static void put_state(FILE *out, const struct target *target) {
  char text[32];
  struct tm broken;
  time_t seconds = (time_t)(target->ended_wall_ns / 1000000000);
  if (target->growing) {
    fputs("runs", out);
  } else if (!target->ended_ns) {
    fputs("has ended", out);
  } else {
    localtime_r(&seconds, &broken);
    strftime(text, sizeof text, "%F %T", &broken);
    fprintf(out, "ended %s", text);
  }
}

static void put_recording(FILE *out, const struct target *target, const char *token) {
  fprintf(out, "<tr><td>%d</td><td>", (int)target->pid);
  html_put_text(out, target->service);
  fputs("</td><td>", out);
  put_state(out, target);
  fputs("</td><td>", out);
  put_link(out, "/page", target->pid, "", token, "page");
  if (target_is_served(target)) {
    put_link(out, "/debug/pprof/heap", target->pid, "&amp;debug=1", token, "heap");
    put_link(out, "/debug/pprof/heap", target->pid, "", token, "heap.pb.gz");
  }
  fputs("</td><td><code>", out);
  put_command(out, target);
  fputs("</code></td></tr>\n", out);
}

static void index_page_begin(FILE *out, const char *title) {
  fprintf(out,
          "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n"
          "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em 1em .2em 0;text-align:left}"
          "</style></head>\n<body><h1>%s</h1>\n",
          title, title);
}

/* ---- shared ---- */

void index_write(FILE *out, const struct targets *targets, const char *token) {
  index_page_begin(out, "Recordings");
  fputs("<table><tr><th>pid</th><th>service</th><th>process</th><th>show</th><th>command</th></tr>\n", out);
  for (int growing = 1; growing >= 0; growing--)
    for (size_t i = 0; i < targets->count; i++)
      if (targets->items[i]->growing == growing) put_recording(out, targets->items[i], token);
  fputs("</table>\n", out);
  if (!targets->count) fputs("<p>No process that this server may see is recorded now.</p>\n", out);
  fprintf(out, "<p><a href=\"/metrics%s%s\">metrics</a> <a href=\"/debug/pprof/%s%s\">profiles</a></p>\n",
          *token ? "?" : "", token, *token ? "?" : "", token);
  fputs("</body></html>\n", out);
}

void index_write_profiles(FILE *out, const char *token) {
  index_page_begin(out, "/debug/pprof/");
  fputs("<table><tr><th>Profile</th><th>Description</th></tr>\n", out);
#define PROFILE_KIND(NAME, name, shown, what)                                            \
  fprintf(out, "<tr><td><a href=\"%s?debug=1%s%s\">%s</a></td><td>%s</td></tr>\n", name, \
          *token ? "&amp;" : "", token, name, what);
  PROFILE_KINDS(PROFILE_KIND)
#undef PROFILE_KIND
  fprintf(out,
          "<tr><td><a href=\"cmdline%s%s\">cmdline</a></td><td>The command line of the program.</td></tr>\n"
          "</table>\n<p>Of several recordings one is asked for by pid= or service=: "
          "<a href=\"/%s%s\">all recordings</a></p>\n</body></html>\n",
          *token ? "?" : "", token, *token ? "?" : "", token);
}
/* SPDX-License-Identifier: MIT */
