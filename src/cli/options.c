/* The options of the commands that ask about traces. Commands have most options in common, and each
 * option is one row. */
#include "cli/options.h"

#include "cli/command.h"
#include "cli/package.h"
#include "sources/memory_bound.h"
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LETTERLESS = 256 };

/* ---- the options ---- */

static bool is_diff(const struct report_options *options) { return !strcmp(options->command, "diff"); }
static bool is_export(const struct report_options *options) { return !strcmp(options->command, "export"); }

/* Whether rows can be whole stacks. */
static bool has_stacks(const struct report_options *options) {
  return is_export(options) || !strcmp(options->command, "report");
}

/* Reads a moment, such as "peak" or "1.5s". */
static bool options_read_moment(const char *text, struct when_asked *moment) {
  double ns;
  *moment = (struct when_asked){.at = AT_TIME};
  if (!strcmp(text, "peak")) return moment->at = AT_PEAK, true;
  if (!strcmp(text, "end")) return moment->at = AT_END, true;
  if (!query_time(text, &ns) || ns > 1e18) return false;
  moment->ns = (uint64_t)ns;
  return true;
}

/* `winnow diff` takes two moments, too, with a comma between them. */
static int set_at(struct report_options *options, const char *text) {
  char first[64];
  const char *comma = is_diff(options) ? strchr(text, ',') : NULL;
  size_t length = comma ? (size_t)(comma - text) : strlen(text);
  snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : 0, text); /* or no moment */
  options->at_text = text;
  options->moments = comma ? 2 : 1;
  if (!options_read_moment(first, &options->when[0]) ||
      !options_read_moment(comma ? comma + 1 : first, &options->when[1]))
    return fail_usage(options->command,
                      "--at %s: it must be peak, end, or a time with its unit, such as 1.5s", text);
  return 0;
}

static int set_by(struct report_options *options, const char *text) {
  int groupings = has_stacks(options) ? GROUPINGS : BY_STACK;
  options->grouping_given = true;
  for (int i = 0; i < groupings; i++)
    if (!strcmp(text, grouping_name((enum grouping)i))) return options->grouping = (enum grouping)i, 0;
  return fail_usage(options->command, "--by %s: it must be %s", text,
                    has_stacks(options)
                        ? "function, line, file, module, process, host, release, thread, type or stack"
                        : "function, line, file, module, process, host, release, thread or type");
}

static int set_top(struct report_options *options, const char *text) {
  char *end;
  long top = strtol(text, &end, 10);
  if (!*text || *end || top < 1 || top > 1000000)
    return fail_usage(options->command, "--top %s: it must be a number from 1 up", text);
  options->top = (size_t)top;
  return 0;
}

static int add_to(const struct report_options *options, const char *list[REPORT_LIST_MOST + 1],
                  const char *option, const char *value) {
  for (int i = 0; i < REPORT_LIST_MOST; i++)
    if (!list[i]) return list[i] = value, 0;
  return fail_usage(options->command, "%s can be given %d times at most", option, REPORT_LIST_MOST);
}

static int set_search(struct report_options *options, const char *folder) {
  struct stat found;
  if (stat(folder, &found)) return fail_usage(options->command, "--search %s: %s", folder, strerror(errno));
  if (!S_ISDIR(found.st_mode)) return fail_usage(options->command, "--search %s: it is not a folder", folder);
  return add_to(options, options->search, "--search", folder);
}

/* Files are fetched in any case; this option says so where they cannot be. */
static int set_debuginfod(struct report_options *options, const char *unused) {
  (void)unused;
  const char *servers = getenv("DEBUGINFOD_URLS"), *known = package_server(PACKAGE_RELEASE);
  if (servers && *servers) return options->recording.names.debuginfod = true, 0;
  return fail_usage(options->command, "--debuginfod: DEBUGINFOD_URLS is not set; set it to %s",
                    known ? known : "the address of a server");
}

static int set_sort(struct report_options *options, const char *text) {
  int orders = is_diff(options) ? SITES_BY_TOTAL + 1 : SITES_ORDERS;
  for (int i = 0; i < orders; i++)
    if (!strcmp(text, sites_order_name((enum sites_order)i)))
      return options->order = (enum sites_order)i, options->order_given = true, 0;
  return fail_usage(options->command, "--sort %s: it must be %s", text,
                    is_diff(options) ? "self or total" : "self, total, blocks or samples");
}

static int set_wrapper(struct report_options *options, const char *text) {
  return add_to(options, options->wrappers, "--wrapper", text);
}

static int set_output(struct report_options *options, const char *text) {
  if (!*text) return fail_usage(options->command, "--output '': it must be a file's name");
  options->output = text;
  return 0;
}

/* Writes "a, b or c". */
static void write_choice(char text[256], const char *(*name)(int i), int count) {
  size_t length = 0;
  for (int i = 0; i < count && length < 256; i++)
    length += (size_t)snprintf(text + length, 256 - length, "%s%s",
                               !i              ? ""
                               : i + 1 < count ? ", "
                                               : " or ",
                               name(i));
}

static const char *format_name(int i) { return format_kinds[i].name; }
static const char *quantity_word(int i) { return quantity_kinds[i].word; }

static int set_format(struct report_options *options, const char *text) {
  char choice[256];
  for (int i = 0; i < FORMATS; i++)
    if (!strcmp(text, format_name(i))) return options->format = &format_kinds[i], 0;
  if (!strcmp(text, "heapsnapshot") || !strcmp(text, "hprof"))
    return fail_usage(options->command, "--format %s: winnow heap --output NAME.%s SNAPSHOT writes it", text,
                      text);
  write_choice(choice, format_name, FORMATS);
  return fail_usage(options->command, "--format %s: it must be %s", text, choice);
}

static int set_quantity(struct report_options *options, const char *text) {
  char choice[256];
  for (int i = 0; i < QUANTITIES; i++)
    if (!strcmp(text, quantity_word(i))) return options->quantity = (enum quantity)i, 0;
  write_choice(choice, quantity_word, QUANTITIES);
  return fail_usage(options->command, "--quantity %s: it must be %s", text, choice);
}

static int set_max_size(struct report_options *options, const char *text) {
  if (!query_bytes(text, &options->most_bytes) || options->most_bytes < 1e4 || options->most_bytes > 64e6)
    return fail_usage(options->command, "--max-size %s: it must be from 10K to 64M", text);
  return 0;
}

static int set_samples(struct report_options *options, const char *text) {
  double samples;
  if (!strcmp(text, "all")) return options->full = true, 0;
  options->full = false;
  if (!query_bytes(text, &samples) || samples < 1000 || samples > 1e9)
    return fail_usage(options->command, "--samples %s: it must be all, or a number from 1000 to 1G", text);
  options->recording.samples_most = (size_t)samples;
  return 0;
}

static int set_max_memory(struct report_options *options, const char *text) {
  return options_set_memory(options->command, text);
}

static int set_port(struct report_options *options, const char *text) {
  char *end;
  unsigned long port = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || port > 65535)
    return fail_usage(options->command, "--port %s: it must be a number from 0 to 65535", text);
  options->port = (unsigned)port;
  return 0;
}

static int set_listen(struct report_options *options, const char *text) {
  unsigned char address[16];
  if (inet_pton(AF_INET, text, address) != 1 && inet_pton(AF_INET6, text, address) != 1)
    return fail_usage(options->command,
                      "--listen %s: it must be an IP address of this machine, such as 127.0.0.1 or ::1",
                      text);
  options->listen = text;
  return 0;
}

static int add_server(struct report_options *options, const char *url) {
  for (int i = 0; i < SERVERS_MOST; i++)
    if (!options->ship.to[i]) return options->ship.to[i] = url, 0;
  return fail_usage(options->command, "--to can be given %d times at most", SERVERS_MOST);
}

static int set_per(struct report_options *options, const char *text) {
  if (!strcmp(text, "second")) return options->scaling = PER_SECOND, 0;
  if (!strcmp(text, "allocation")) return options->scaling = PER_ALLOCATION, 0;
  if (!strcmp(text, "run")) return options->scaling = PER_RUN, 0;
  if (!strcmp(text, "host")) return options->scaling = PER_HOST, 0;
  return fail_usage(options->command, "--per %s: it must be second, allocation, run or host", text);
}

static int add_limit(struct report_options *options, const char *text) {
  struct limit *limit = &options->limits[options->limit_count];
  if (options->limit_count == REPORT_LIST_MOST)
    return fail_usage(options->command, "--fail-if can be given %d times at most", REPORT_LIST_MOST);
  if (limit_parse(text, limit)) return fail_usage(options->command, "--fail-if %s", wn_last_error());
  options->limit_count++;
  return 0;
}

/* What an option does with its value: it sets a member of the options, or calls a function that
 * returns an exit code, after a message. */
struct setter {
  enum { SET_TRUE, SET_FALSE, SET_TEXT, SET_BY } how;
  size_t member;
  int (*by)(struct report_options *options, const char *text);
};
#define FLAG(of) \
  { .how = SET_TRUE, .member = offsetof(struct report_options, of) }
#define NO_FLAG(of) \
  { .how = SET_FALSE, .member = offsetof(struct report_options, of) }
#define TEXT(of) \
  { .how = SET_TEXT, .member = offsetof(struct report_options, of) }
#define CALL(function) \
  { .how = SET_BY, .by = function }

/* The options. Letter 0: no short form. Argument NULL: no value. A new option needs a row here and an
 * entry in the manual. */
enum {
  FOR_BOTH = FOR_REPORT | FOR_DIFF,
  FOR_PAGE = FOR_HTML | FOR_VIEW,
  FOR_TABLE = FOR_REPORT | FOR_EXPORT,
  FOR_ALL = FOR_BOTH | FOR_PAGE | FOR_EXPORT,
  FOR_EVERY = FOR_ALL | FOR_SERVE | FOR_SHIP
};
static const struct {
  unsigned commands;
  const char *name;
  int letter;
  const char *argument;
  struct setter set;
  const char *help;
} rows[] = {
    {FOR_EXPORT, "format", 'f', "FORMAT", CALL(set_format),
     "the format to write, one of those below; must be given"},
    {FOR_EXPORT, "output", 'o', "FILE", CALL(set_output),
     "the file to write; default: standard output for text; for binary formats and folders\n"
     "the trace's name with another end; -: standard output"},
    {FOR_EXPORT, "quantity", 'q', "WHAT", CALL(set_quantity),
     "held (bytes, default), held-blocks, allocated (bytes) or allocated-blocks"},
    {FOR_HTML, "output", 'o', "FILE", CALL(set_output),
     "the page to write; default: the trace's name with .html in the place of .trace;\n"
     "-: standard output"},
    {FOR_TABLE, "at", 'a', "WHEN", CALL(set_at),
     "peak (default), end, or a time since the start: 1.5s, 200ms"},
    {FOR_DIFF, "at", 'a', "WHEN", CALL(set_at),
     "peak (default), end, or a time since the start: 1.5s; two of them, as\n"
     "10s,20s, for one trace or for the two"},
    {FOR_TABLE, "by", 'b', "WHAT", CALL(set_by),
     "group by function (default), line, file, module, process, host, release, thread, type or stack"},
    {FOR_DIFF, "by", 'b', "WHAT", CALL(set_by),
     "group by function (default), line, file, module, process, host, release, thread or type"},
    {FOR_PAGE, "at", 'a', "WHEN", CALL(set_at),
     "the page opens at: peak (default), end, or a time: 1.5s, 200ms"},
    {FOR_PAGE, "by", 'b', "WHAT", CALL(set_by),
     "the page opens by function (default), line, file, module, process, host, release, thread or type"},
    {FOR_PAGE, "where", 'w', "QUERY", TEXT(where),
     "the page opens with this query: 'fn ~ \"^parse\" and size > 1K and life < 10ms'"},
    {FOR_BOTH | FOR_EXPORT, "where", 'w', "QUERY", TEXT(where),
     "count only some blocks: 'fn ~ \"^parse\" and size > 1K and life < 10ms'"},
    {FOR_REPORT, "sort", 's', "ORDER", CALL(set_sort),
     "self (default): by what functions allocate themselves; total: with all they call;\n"
     "blocks or samples: by how many of their own"},
    {FOR_EXPORT, "sort", 's', "ORDER", CALL(set_sort),
     "the order of rows: self (default), total, blocks or samples"},
    {FOR_DIFF, "sort", 's', "ORDER", CALL(set_sort),
     "compare what functions allocate themselves (self, default), or with all they\n"
     "call (total)"},
    {FOR_DIFF, "per", 'p', "WHAT", CALL(set_per),
     "second or allocation: compare what was allocated as if both runs had taken\n"
     "as long, or had allocated as many bytes; what was held is as it was;\n"
     "host or run: means of a host, or sums; default: means, if there are 5 hosts or\n"
     "more on each side, or more on one than on the other"},
    {FOR_REPORT, "top", 'n', "N", CALL(set_top), "rows in each table; default 10, of at least 1 %"},
    {FOR_EXPORT, "top", 'n', "N", CALL(set_top), "at most so many rows; default: all"},
    {FOR_DIFF, "top", 'n', "N", CALL(set_top), "changes in each table; default 10"},
    {FOR_DIFF, "fail-if", 'f', "LIMIT", CALL(add_limit),
     "exit with code 1 if a total changed by more: 'held > +10M', 'allocated > +5%';\n"
     "may be repeated"},
    {FOR_BOTH, "no-pager", 0, NULL, FLAG(no_pager),
     "print directly; a terminal otherwise gets $PAGER, or less if that is there"},
    {FOR_BOTH, "all", 0, NULL, FLAG(all), "print every table, range and row, in place of the first screen"},
    {FOR_REPORT, "tree", 't', NULL, FLAG(tree), "print the call tree of what was held"},
    {FOR_BOTH, "json", 'j', NULL, FLAG(json), "print one JSON object (docs/report-json.md)"},
    {FOR_HTML, "max-size", 0, "BYTES", CALL(set_max_size),
     "keep only as many samples as fit in so much; default 16M"},
    {FOR_HTML, "full", 0, NULL, FLAG(full), "keep all samples, up to 64M"},
    {FOR_PAGE, "source", 0, NULL, FLAG(recording.lines),
     "show the lines of source files around the code that allocates; the page then is as\n"
     "confidential as they are"},
    {FOR_VIEW, "samples", 0, "N", CALL(set_samples),
     "keep at most so many samples in memory; default 300K; all: keep all of them"},
    {FOR_REPORT | FOR_DIFF | FOR_SHIP, "samples", 0, "N", CALL(set_samples),
     "keep at most so many samples of a trace too large for the memory; default: all"},
    {FOR_EVERY, "max-memory", 0, "BYTES", CALL(set_max_memory),
     "reading the traces may take so much memory; default 512 MiB, and 512 times the\n"
     "size of the files"},
    {FOR_VIEW, "port", 'p', "N", CALL(set_port), "the port of the server; default: any free one"},
    {FOR_VIEW, "listen", 0, "ADDRESS", CALL(set_listen),
     "listen on this IP address; default 127.0.0.1, which only this machine can reach"},
    {FOR_SERVE, "listen", 'l', "WHERE", TEXT(listen),
     "an IP address with a port, or unix:PATH; default 127.0.0.1:6060"},
    {FOR_SERVE, "token-file", 0, "FILE", TEXT(token_file),
     "each request must have the token in the first line of FILE; needed where other\nmachines can reach "
     "WHERE"},
    {FOR_SERVE, "samples", 0, "N", CALL(set_samples),
     "keep at most so many samples of a recording; default 50K; all: keep all of them"},
    {FOR_SHIP, "to", 't', "URL", CALL(add_server),
     "the server, such as https://db.example.org:8443; must be given; of several each host\n"
     "has one"},
    {FOR_SHIP, "once", 0, NULL, FLAG(ship.once), "ship what is complete, and end"},
    {FOR_FLEET, "from", 'f', "URL", TEXT(ship.to[0]), "the server to ask; default http://127.0.0.1:8123"},
    {FOR_FLEET, "service", 's', "NAME", TEXT(ship.service), "only this service; default: all together"},
    {FOR_FLEET, "since", 0, "WHEN", TEXT(ship.since),
     "from then on: so long ago, as 2h or 7d (default 1d), or a time in UTC, as\n2026-11-29T10:30"},
    {FOR_FLEET, "until", 0, "WHEN", TEXT(ship.until), "until then; default: now"},
    {FOR_FLEET, "allocated", 0, NULL, FLAG(ship.allocated),
     "count what was allocated; default: what is held"},
    {FOR_FLEET, "site", 0, "FUNCTION", TEXT(ship.site), "`releases`: only this function"},
    {FOR_FLEET, "top", 'n', "N", CALL(set_top), "rows to print; default 10"},
    {FOR_FLEET, "json", 'j', NULL, FLAG(json), "print one JSON object"},
    {FOR_SHIP | FOR_FLEET, "database", 0, "NAME", TEXT(ship.database),
     "the database of the tables; default winnow"},
    {FOR_SHIP, "service", 0, "NAME", TEXT(ship.service),
     "what the rows call the program; default: its systemd service, else its name"},
    {FOR_SHIP, "release", 0, "TEXT", TEXT(ship.release),
     "what they call its version; default: the first digits of its build-id"},
    {FOR_SHIP | FOR_FLEET, "user", 'u', "NAME", TEXT(ship.user),
     "the user of the database; default: that of the server"},
    {FOR_SHIP | FOR_FLEET, "password-file", 0, "FILE", TEXT(ship.password_file),
     "the password is the first line of FILE, which others must not be able to read"},
    {FOR_SHIP | FOR_FLEET, "ca", 0, "FILE", TEXT(ship.authorities),
     "trust the certificates of FILE; default: those of the system"},
    {FOR_VIEW, "no-open", 0, NULL, FLAG(no_open), "print the page's address, and open no browser"},
    {FOR_ALL, "wrapper", 0, "NAME", CALL(set_wrapper),
     "pass over this function too: it only allocates for its callers; may be repeated"},
    {FOR_ALL, "show-wrappers", 0, NULL, FLAG(recording.wrappers.none),
     "give rows to functions such as xmalloc and operator new"},
    {FOR_EVERY, "no-symbols", 0, NULL, NO_FLAG(recording.names.symbols),
     "addresses only, no look-up of names"},
    {FOR_EVERY, "debuginfod", 0, NULL, CALL(set_debuginfod),
     "fetch missing debug files, or say why not; the default where $DEBUGINFOD_URLS is set"},
    {FOR_EVERY, "no-debuginfod", 0, NULL, NO_FLAG(recording.names.debuginfod),
     "fetch no missing debug files from the servers of $DEBUGINFOD_URLS"},
    {FOR_EVERY, "search", 0, "DIR", CALL(set_search),
     "look for programs, libraries and debug files below DIR too; may be repeated"},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The options as getopt needs them. An option without a letter has LETTERLESS plus the number of
 * its row. */
struct known {
  struct option options[ROWS + 1];
  char letters[2 * ROWS + 2];
};

static void options_make_known(struct known *known, unsigned command) {
  char *letters = known->letters;
  struct option *option = known->options;
  *letters++ = ':';
  for (int i = 0; i < ROWS; i++) {
    int takes = rows[i].argument ? required_argument : no_argument, letter = rows[i].letter;
    if (!(rows[i].commands & command)) continue;
    *option++ = (struct option){rows[i].name, takes, NULL, letter ? letter : LETTERLESS + i};
    if (letter) *letters++ = (char)letter;
    if (letter && rows[i].argument) *letters++ = ':';
  }
  *option = (struct option){0};
  *letters = 0;
}

static int set_option(struct report_options *options, unsigned command, int option) {
  int row = option - LETTERLESS;
  for (int i = 0; i < ROWS; i++)
    if ((rows[i].commands & command) && rows[i].letter == option) row = i;
  const struct setter *set = &rows[row].set;
  void *member = (char *)options + set->member;
  if (set->how == SET_BY) return set->by(options, optarg);
  if (set->how == SET_TEXT)
    *(const char **)member = optarg;
  else
    *(bool *)member = set->how == SET_TRUE;
  return 0;
}

/* A wrong query is told before a large trace is read. A moment that the query sets replaces --at. */
static int check_where(struct report_options *options) {
  struct query *query;
  struct when_asked when;
  if (query_parse(options->where, &query))
    return fail_usage(options->command, "--where: %s", wn_last_error());
  const char *text = query_moment(query, &when.at, &when.ns);
  if (text && !options->at_text) {
    snprintf(options->at_of_query, sizeof options->at_of_query, "%s", text);
    options->at_text = options->at_of_query;
    options->when[0] = options->when[1] = when;
    options->moments = 1;
    text = NULL;
  }
  query_free(query);
  return text ? fail_usage(options->command, "the moment is given twice: by --at, and by 'at' in --where")
              : 0;
}

/* ---- shared ---- */

int options_parse(struct report_options *options, unsigned command, int argc, char **argv) {
  struct known known = {.letters = ""};
  int option;
  options_make_known(&known, command);
  options->command = argv[0];
  options->quantity = QUANTITY_HELD_BYTES;
  options->recording.names.symbols = options->recording.names.debuginfod = true;
  options->recording.names.search = options->search;
  options->recording.wrappers.named = options->wrappers;
  opterr = 0;
  while ((option = getopt_long(argc, argv, known.letters, known.options, NULL)) != -1) {
    bool wrong = option == '?' || option == ':';
    int code =
        wrong ? fail_option(argv[0], option, argv, known.options) : set_option(options, command, option);
    if (code) return code;
  }
  return options->where ? check_where(options) : 0;
}

int options_set_memory(const char *command, const char *text) {
  double bytes;
  if (!query_bytes(text, &bytes) || bytes < 16e6 || bytes > 1e18)
    return fail_usage(command, "--max-memory %s: it must be a size of 16M or more", text);
  memory_bound_set((uint64_t)bytes);
  return 0;
}

void options_print(FILE *out, unsigned command) {
  enum { HELP_COLUMN = 25 };
  for (int i = 0; i < ROWS; i++) {
    char letter[5] = "    ", names[40];
    if (!(rows[i].commands & command)) continue;
    if (rows[i].letter) snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
    snprintf(names, sizeof names, "%s--%s %s", letter, rows[i].name,
             rows[i].argument ? rows[i].argument : "");
    fprintf(out, "  %-*s", HELP_COLUMN - 2, names);
    if (strlen(names) > HELP_COLUMN - 3) fprintf(out, "\n%*s", HELP_COLUMN, "");
    for (const char *line = rows[i].help; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
      fprintf(out, "%*s%.*s\n", line == rows[i].help ? 0 : HELP_COLUMN, "", (int)strcspn(line, "\n"), line);
  }
}
/* SPDX-License-Identifier: MIT */
