/* Answers requests, each from the state that the traces have now. */
#include "cli/scrape/answer.h"

#include "base/array.h"
#include "base/os.h"
#include "cli/scrape/metrics.h"
#include "cli/scrape/targets.h"
#include "page/first_answers.h"
#include "page/html.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <winnow/version.h>

enum {
  OK = 200,
  BAD_REQUEST = 400,
  NOT_FOUND = 404,
  GONE = 410,
  FAILED = 500,
  BUSY = 503,
  BYTES_MOST = 16 << 20,
  METRICS_MS = 4000, /* scrapers wait for 10 s; a recording whose turn does not come has its last state */
};

static const char plain[] = "text/plain; charset=utf-8", page[] = "text/html; charset=utf-8";

/* The profiles below /debug/pprof/: the name in C, that in the path, the sample type that readers
 * show first, and what it is. All have the same sample types. */
#define PROFILE_KINDS(PROFILE)                                                                               \
  PROFILE(ALLOCS, "allocs", "alloc_space", "A sampling of all past memory allocations.")                     \
  PROFILE(DELTA, "delta_heap", "inuse_space",                                                                \
          "The same as heap; of allocations those since this client (client=) asked last. Its first answer " \
          "is empty.")                                                                                       \
  PROFILE(HEAP, "heap", "inuse_space",                                                                       \
          "A sampling of memory allocations of live objects; with seconds=N of all allocations those of "    \
          "the last N "                                                                                      \
          "seconds.")

/* ---- bodies ---- */

static FILE *begin_answer(struct answer *answer, const char *type) {
  *answer = (struct answer){.status = OK, .type = type};
  return open_memstream(&answer->bytes, &answer->size);
}

static bool end_answer(FILE *out, struct answer *answer, wn_status error) {
  if (!out) return false;
  if (!fclose(out) && !error && answer->size <= BYTES_MOST) return true;
  free(answer->bytes);
  if (error) return answer_refuse(answer, FAILED, "%s", wn_last_error());
  return answer_refuse(answer, FAILED, "the answer is too large");
}

/* ---- which recordings ---- */

struct chosen {
  struct target *items[SERVED_MOST];
  size_t count, asked_for; /* those behind the ones that are asked for: ENDED */
  struct read_so_far {
    uint64_t next_ns; /* 0: nothing was read for this answer */
    bool last;
  } read[SERVED_MOST]; /* of each: where the cursor of a client goes when it has its answer */
};

static bool refuse_gone(const struct target *target, struct answer *answer) {
  char when[40] = "before this server began";
  time_t seconds = (time_t)(target->ended_wall_ns / 1000000000);
  struct tm broken;
  if (target->ended_ns && localtime_r(&seconds, &broken)) strftime(when, sizeof when, "at %F %T", &broken);
  return answer_refuse(answer, GONE, "process %d (%s) ended %s; its trace is %s", (int)target->pid,
                       target->service, when, target->path);
}

static bool refuse_several(const struct chosen *chosen, struct answer *answer) {
  enum { NAMED = 20 };
  FILE *out = begin_answer(answer, plain);
  if (!out) return false;
  fprintf(out, "There are %zu recordings. Ask for one by pid=, or for those of one name by service=:\n",
          chosen->count);
  for (size_t i = 0; i < chosen->count && i < NAMED; i++)
    fprintf(out, "  pid=%d  service=%s\n", (int)chosen->items[i]->pid, chosen->items[i]->service);
  bool done = end_answer(out, answer, WN_OK);
  answer->status = BAD_REQUEST;
  return done;
}

/* In how many seconds those that are chosen can be loaded; 0: now. */
static unsigned answer_rest_of(const struct chosen *chosen) {
  unsigned most = 0;
  for (size_t i = 0; i < chosen->asked_for; i++) {
    unsigned seconds = target_rest_seconds(chosen->items[i]);
    if (seconds > most) most = seconds;
  }
  return most;
}

/* Ends an answer about recordings, some of which may not be loaded now. */
static bool answer_end_of(const struct chosen *chosen, FILE *out, struct answer *answer, wn_status error) {
  bool done = end_answer(out, answer, error);
  unsigned seconds = error == WN_EBUSY ? answer_rest_of(chosen) : 0;
  if (seconds) answer->status = BUSY, answer->retry_seconds = seconds;
  return done;
}

/* Chooses the recordings that are asked for: of those that are served the ones that grow, if any
 * does, since a process that has ended holds nothing. False: there are none, or several where one
 * was meant; the answer says so. */
static bool answer_choose(const struct targets *targets, const struct ask *ask, bool one,
                          struct chosen *chosen, struct answer *answer, bool *done) {
  const struct target *gone = NULL;
  bool growing = false;
  chosen->count = 0;
  for (size_t i = 0; i < targets->count; i++) {
    struct target *target = targets->items[i];
    if (!targets_match(target, ask)) continue;
    bool served = target_is_served(target) || (ask->what == ASK_PAGE && ask->pid);
    if (!served) gone = target;
    if (!served || (growing && !target->growing)) continue;
    if (target->growing && !growing) chosen->count = 0;
    growing = target->growing;
    chosen->items[chosen->count++] = target;
  }
  chosen->asked_for = chosen->count;
  if (chosen->count > 1 && (one || (!ask->pid && !*ask->service)))
    return *done = refuse_several(chosen, answer), false;
  if (chosen->count) return true;
  *done = gone ? refuse_gone(gone, answer)
               : answer_refuse(answer, NOT_FOUND, "no such recording: the path / lists those that there are");
  return false;
}

/* ---- profiles ---- */

static const struct {
  enum ask_what what;
  const char *name, *shown;
} kinds[] = {
#define PROFILE_KIND(NAME, name, shown, what) {ASK_##NAME, name, shown},
    PROFILE_KINDS(PROFILE_KIND)
#undef PROFILE_KIND
};

/* ENDED. Processes of a service that ended are left out while others run. But what they did since a
 * client asked last is new to it: the answer has their last states, once. One that cannot be read is
 * in a later answer. */
static void add_ended(const struct targets *targets, const struct ask *ask, struct chosen *chosen) {
  if (ask->what != ASK_DELTA || !*ask->service || !chosen->items[0]->growing) return;
  for (size_t i = 0; i < targets->count; i++) {
    struct target *target = targets->items[i];
    const struct cursor *cursor = cursors_find(&target->cursors, ask->client);
    if (targets_match(target, ask) && target_is_served(target) && !target->growing && cursor && !cursor->last)
      chosen->items[chosen->count++] = target;
  }
}

static wn_status merge_window(const struct target *target, uint64_t since_ns, struct ledger *ledger) {
  struct ledger window = {.values = NULL};
  wn_status error = target_window(target, since_ns, &window);
  if (!error) error = ledger_merge(ledger, &window);
  ledger_destroy(&window);
  return error;
}

/* Adds what one of the chosen recordings allocated in the time that is asked for. *duration_ns
 * becomes that time if it is longer. */
static wn_status add_window(struct targets *targets, struct chosen *chosen, size_t i, const struct ask *ask,
                            struct ledger *ledger, uint64_t *duration_ns) {
  struct target *target = chosen->items[i];
  bool has_ended = i >= chosen->asked_for;
  wn_status error = target_load(target, targets_options(targets));
  bool whole = !error && target_is_whole(target);
  if (has_ended && !whole) return WN_OK;
  if (error) return error;
  const struct cursor *cursor = cursors_find(&target->cursors, ask->client);
  uint64_t now_ns = target_now_ns(target), length = ask->seconds * UINT64_C(1000000000),
           next_ns = target->recording->samples->end_ns + 1, since_ns = now_ns > length ? now_ns - length : 0;
  if (ask->what == ASK_DELTA) since_ns = cursor ? cursor->next_ns : next_ns;
  if (now_ns > since_ns && now_ns - since_ns > *duration_ns) *duration_ns = now_ns - since_ns;
  chosen->read[i] = (struct read_so_far){next_ns, whole};
  return cursor || ask->what != ASK_DELTA ? merge_window(target, since_ns, ledger) : WN_OK;
}

static wn_status answer_collect(struct targets *targets, struct chosen *chosen, const struct ask *ask,
                                struct ledger *ledger, uint64_t *duration_ns) {
  bool window = ask->seconds || ask->what == ASK_DELTA;
  wn_status error = WN_OK;
  for (size_t i = 0; i < chosen->asked_for && window && !error; i++) /* before any is loaded in vain */
    if (target_rest_seconds(chosen->items[i]))
      error = target_load(chosen->items[i], targets_options(targets));
  for (size_t i = 0; i < chosen->count && !error; i++) {
    struct target *target = chosen->items[i];
    if (window) {
      error = add_window(targets, chosen, i, ask, ledger, duration_ns);
    } else {
      error = target_update_ledger(target, targets_options(targets));
      if (!error) error = ledger_merge(ledger, &target->ledger);
    }
    targets_tidy(targets);
  }
  return error;
}

static void move_cursors(const struct chosen *chosen, const struct ask *ask) {
  for (size_t i = 0; i < chosen->count; i++) {
    const struct read_so_far *read = &chosen->read[i];
    if (read->next_ns) cursors_move(&chosen->items[i]->cursors, ask->client, read->next_ns, read->last);
  }
}

static bool answer_profile(struct targets *targets, const struct ask *ask, struct answer *answer) {
  struct chosen chosen = {.count = 0};
  struct ledger ledger;
  struct ledger_head head = {.wall_ns = os_wall_ns()};
  char comment[256];
  bool done;
  if (!answer_choose(targets, ask, false, &chosen, answer, &done)) return done;
  add_ended(targets, ask, &chosen);
  wn_status error = ledger_create(&ledger);
  if (!error) error = answer_collect(targets, &chosen, ask, &ledger, &head.duration_ns);
  FILE *out = begin_answer(answer, ask->text ? plain : "application/octet-stream");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].what == ask->what)
      answer->name = ask->text ? NULL : kinds[i].name, head.shown = kinds[i].shown;
  snprintf(comment, sizeof comment,
           "%s, %s %d; written by winnow %s. The values are estimates from a sample, and not to be scaled.",
           chosen.items[0]->service, chosen.count > 1 ? "processes from" : "process",
           (int)chosen.items[0]->pid, wn_version_text());
  head.comment = comment;
  head.period = chosen.items[0]->period;
  if (out && !error) error = ask->text ? ledger_write_text(out, &ledger) : ledger_write(out, &ledger, &head);
  ledger_destroy(&ledger);
  done = answer_end_of(&chosen, out, answer, error);
  if (done && answer->status == OK && ask->what == ASK_DELTA && !ask->look) move_cursors(&chosen, ask);
  return done;
}

static bool answer_command(const struct targets *targets, const struct ask *ask, struct answer *answer) {
  struct chosen chosen;
  bool done;
  if (!answer_choose(targets, ask, true, &chosen, answer, &done)) return done;
  const struct target *target = chosen.items[0];
  FILE *out = begin_answer(answer, plain);
  size_t length = target->command_length;
  if (out && length) fwrite(target->command, 1, length - !target->command[length - 1], out);
  return end_answer(out, answer, WN_OK);
}

/* ---- symbols ---- */

static int in_order(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Reads addresses. The caller frees them; NULL without memory. */
static uint64_t *read_addresses(const char *words, size_t *count) {
  uint64_t *addresses = NULL;
  size_t capacity = 0;
  char *end;
  if (!array_reserve(&addresses, &capacity, 1, sizeof *addresses)) return NULL;
  for (const char *at = words; at && *at; at = *end ? end + 1 : end) {
    uint64_t address = strtoull(at, &end, 16);
    if (address && !(ARRAY_ADD(addresses, *count, capacity, address))) break;
  }
  qsort(addresses, *count, sizeof *addresses, in_order);
  return addresses;
}

/* Names addresses that profiles had. Pprof asks so for those of text, and does not say of which
 * process. */
static bool answer_symbols(const struct targets *targets, const struct ask *ask, struct answer *answer) {
  size_t count = 0;
  uint64_t *addresses = read_addresses(ask->words, &count);
  FILE *out = addresses ? begin_answer(answer, plain) : NULL;
  wn_status error = WN_OK;
  if (out) fputs("num_symbols: 1\n", out); /* some are known */
  for (size_t i = 0; i < targets->count && out && !error; i++)
    if (targets->items[i]->ledger_stamp)
      error = ledger_write_symbols(out, &targets->items[i]->ledger, addresses, count);
  free(addresses);
  return end_answer(out, answer, error);
}

/* ---- metrics ---- */

static int least_recent_first(const void *a, const void *b) {
  const struct target *const *left = a, *const *right = b;
  return ((*left)->used_ns > (*right)->used_ns) - ((*left)->used_ns < (*right)->used_ns);
}

/* Chooses what grows, and what the user named; of one service and pid one. */
static void choose_measured(const struct targets *targets, const struct ask *ask, struct chosen *chosen) {
  chosen->count = 0;
  for (size_t i = 0; i < targets->count; i++) {
    struct target *target = targets->items[i];
    bool counts = targets_match(target, ask) && (target->growing || target->named);
    for (size_t k = 0; k < chosen->count && counts; k++)
      counts =
          chosen->items[k]->pid != target->pid || strcmp(chosen->items[k]->service, target->service) != 0;
    if (counts) chosen->items[chosen->count++] = target;
  }
}

static bool answer_metrics(struct targets *targets, const struct ask *ask, struct answer *answer) {
  struct chosen chosen;
  struct metrics metrics[SERVED_MOST];
  size_t count = 0;
  uint64_t begin_ns = os_monotonic_ns();
  choose_measured(targets, ask, &chosen);
  qsort(chosen.items, chosen.count, sizeof *chosen.items, least_recent_first);
  for (size_t i = 0; i < chosen.count; i++) {
    struct target *target = chosen.items[i];
    if ((os_monotonic_ns() - begin_ns) / 1000000 < METRICS_MS)
      (void)target_update_meters(target, targets_options(targets));
    targets_tidy(targets);
    if (target->meters_stamp)
      metrics[count++] = (struct metrics){.service = target->service,
                                          .pid = target->pid,
                                          .meters = &target->meters,
                                          .writing = target->growing,
                                          .cost = target->cost,
                                          .rate = target->rate,
                                          .lost_records = target->lost_records};
  }
  FILE *out = begin_answer(answer, "text/plain; version=0.0.4; charset=utf-8");
  if (out) metrics_write(out, metrics, count);
  return end_answer(out, answer, WN_OK);
}

/* ---- the pages from which the others are linked: static HTML, with escaped names ---- */

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

/* `token`: see answer_make. */
static void index_write(FILE *out, const struct targets *targets, const char *token) {
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

static void index_write_profiles(FILE *out, const char *token) {
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

/* ---- pages ---- */

static wn_status answer_write_page(FILE *out, const struct target *target) {
  struct container_section first[FIRST_SECTIONS];
  struct html_size size;
  char text[512];
  snprintf(text, sizeof text, "This page needs scripts. As text: winnow report %s", target->path);
  wn_status error = first_answers(target->recording, NULL, AT_PEAK, BY_FUNCTION, first);
  if (error) return error;
  struct html_options options = {
      .head = {.file = target->path}, .text = text, .extras = first, .extra_count = FIRST_SECTIONS};
  options.container.unit_ns = 1;
  error = html_write(out, target->recording, NULL, &options, &size);
  first_answers_free(first);
  return error;
}

static bool answer_page(struct targets *targets, const struct ask *ask, struct answer *answer) {
  struct chosen chosen;
  bool done;
  if (!answer_choose(targets, ask, true, &chosen, answer, &done)) return done;
  wn_status error = target_load(chosen.items[0], targets_options(targets));
  FILE *out = begin_answer(answer, page);
  if (out && !error) error = answer_write_page(out, chosen.items[0]);
  return answer_end_of(&chosen, out, answer, error);
}

static bool answer_index(const struct targets *targets, const struct ask *ask, const char *token,
                         struct answer *answer) {
  FILE *out = begin_answer(answer, page);
  if (!out) return false;
  if (ask->what == ASK_INDEX)
    index_write(out, targets, token);
  else
    index_write_profiles(out, token);
  return end_answer(out, answer, WN_OK);
}

/* ---- shared ---- */

bool answer_refuse(struct answer *answer, unsigned status, const char *format, ...) {
  va_list arguments;
  FILE *out = begin_answer(answer, plain);
  if (!out) return false;
  answer->status = status;
  va_start(arguments, format);
  vfprintf(out, format, arguments);
  va_end(arguments);
  fputc('\n', out);
  return !fclose(out);
}

bool answer_make(struct targets *targets, const struct ask *ask, const char *token, struct answer *answer) {
  targets_look(targets, ask);
  switch (ask->what) {
  case ASK_INDEX:
  case ASK_PROFILES: return answer_index(targets, ask, token, answer);
  case ASK_METRICS: return answer_metrics(targets, ask, answer);
  case ASK_PAGE: return answer_page(targets, ask, answer);
  case ASK_HEAP:
  case ASK_ALLOCS:
  case ASK_DELTA: return answer_profile(targets, ask, answer);
  case ASK_CMDLINE: return answer_command(targets, ask, answer);
  case ASK_SYMBOL: return answer_symbols(targets, ask, answer);
  case ASK_NOTHING: break;
  }
  return answer_refuse(answer, NOT_FOUND, "Unknown profile");
}
/* SPDX-License-Identifier: MIT */
