/* The command `winnow`: the table of commands, help, and the messages of failures. It dispatches to
 * command_record, command_report, command_info and command_help. */
#include "cli/command.h"

#include "cli/text.h"
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/version.h>

const struct command commands[] = {
    {"record", command_record, "run a program and record where its memory goes",
     "record [OPTION...] [--] PROGRAM [ARGUMENT...]",
     "The program needs no change and runs at nearly full speed. winnow ends as the program does: with its\n"
     "exit code, or by the same signal. It refuses programs that it cannot record: those that are static,\n"
     "32-bit, set-uid, linked with musl, built with a sanitizer, or linked with a malloc of their own.\n"
     "\n"
     "Examples:\n"
     "  winnow record -- ./server --port 8080\n"
     "  winnow record -o run.trace --rate 1e-3 -- sqlite3 test.db '.read script.sql'\n",
     record_print_options},
    {"report", command_report, "say where the memory went", "report [OPTION...] FILE...",
     "Numbers are estimates from a sample; the range after each holds the true value in 95 of 100 cases.\n"
     "FILE can be a pipe, or - for standard input. Several traces, a folder with traces, or a pattern such\n"
     "as 'build.trace*' make one report of all their processes. A terminal gets colours, unless NO_COLOR\n"
     "is set.\n"
     "\n"
     "Examples:\n"
     "  winnow report run.trace\n"
     "  winnow report --by process traces/\n"
     "  winnow report --at end --by line run.trace\n"
     "  winnow report --sort total --wrapper my_alloc run.trace\n"
     "  winnow report --where 'module = libxml2.so.2 and alive = yes' --tree run.trace\n",
     report_print_options},
    {"html", command_html, "write a page that shows where the memory went", "html [OPTION...] [BEFORE] FILE",
     "The page is one file for any browser; it needs no network, and can be sent to others. It has the\n"
     "names of functions and source files, the command line, and no source text unless --source asks for\n"
     "it. Whatever the page opens with, it answers all questions. FILE and BEFORE can be folders with\n"
     "traces, or patterns such as 'build.trace*': then the page shows all their processes together.\n"
     "\n"
     "Examples:\n"
     "  winnow html run.trace\n"
     "  winnow html before.trace after.trace    # what changed\n"
     "  winnow html -o page.html --where 'module = libxml2.so.2' --search build run.trace\n",
     html_print_options},
    {"view", command_view, "show where the memory goes in a browser, while the program runs too",
     "view [OPTION...] [BEFORE] FILE",
     "The page is that of 'winnow html', but winnow answers its questions, and\n"
     "follows the trace of a running program. FILE can be a folder or a pattern, too. Only users who have\n"
     "the printed address see it. Ctrl-C ends it.\n"
     "\n"
     "Examples:\n"
     "  winnow view run.trace\n"
     "  winnow view --no-open --port 8080 run.trace\n",
     view_print_options},
    {"serve", command_serve, "serve profiles and metrics of running programs to scrapers",
     "serve [OPTION...] [PID|TRACE|FOLDER...]",
     "/debug/pprof/heap, allocs and delta_heap are for pprof and what scrapes Go's programs, /metrics is\n"
     "for Prometheus, / for a browser. Without an argument all recordings are served that you may see,\n"
     "also those that begin later. Of several, pid= asks for one and service= for those of a name. The\n"
     "recorded programs do nothing for it. Ctrl-C ends it.\n"
     "\n"
     "Examples:\n"
     "  winnow serve & go tool pprof http://127.0.0.1:6060/debug/pprof/heap\n"
     "  winnow serve --listen unix:/run/winnow.sock /var/lib/winnow/app\n"
     "  winnow serve --listen 0.0.0.0:6060 --token-file /etc/winnow.token\n",
     serve_print_options},
    {"ship", command_ship, "send what recordings tell to ClickHouse, from many machines",
     "ship [OPTION...] --to URL [PID|TRACE|FOLDER...]",
     "Every five minutes what each recording held, allocated and freed goes to the tables of the database,\n"
     "each row once, whatever is killed or cannot be reached; 'winnow fleet' makes the tables and asks\n"
     "them. Without an argument all recordings are shipped that you may see, also those that begin later.\n"
     "Ctrl-C ends it.\n"
     "\n"
     "Examples:\n"
     "  winnow ship --to http://127.0.0.1:8123 --once run.trace\n"
     "  winnow ship --to https://db.example.org:8443 --user ship --password-file /etc/winnow.password\n",
     ship_print_options},
    {"fleet", command_fleet, "ask what many machines hold, from ClickHouse",
     "fleet ACTION [OPTION...] [ARGUMENT...]",
     "The numbers are estimates with the ranges of 'winnow report', summed over the machines that ship.\n"
     "What 'init' and 'roll' print is for clickhouse-client. docs/fleet.md tells how to begin.\n"
     "\n"
     "Examples:\n"
     "  winnow fleet init | clickhouse-client --multiquery\n"
     "  winnow fleet top --service api\n"
     "  winnow fleet releases --service api --site cache_insert --since 30d\n"
     "  winnow fleet diff --service api 1.4.1 1.4.2\n"
     "  winnow fleet hosts --json\n",
     fleet_print_options},
    {"export", command_export, "write what a report says for other programs",
     "export --format FORMAT [OPTION...] FILE...",
     "The numbers are estimates, and add up to those of 'winnow report' with the same options.\n"
     "Several traces, a folder or a pattern are exported as one, as 'winnow report' shows them.\n"
     "\n"
     "Examples:\n"
     "  winnow export -f pprof run.trace && go tool pprof -http=: run.pb.gz\n"
     "  winnow export -f folded --quantity allocated run.trace | flamegraph.pl >run.svg\n"
     "  winnow export -f speedscope --at end -o run.speedscope.json run.trace\n"
     "  winnow export -f csv --by line --where 'size > 1M' run.trace\n",
     export_print_options},
    {"diff", command_diff, "compare two runs, or two moments of one",
     "diff [OPTION...] BEFORE AFTER\n       winnow diff --at MOMENT,MOMENT [OPTION...] FILE",
     "Each difference has its 95 % range. A change is listed if its range has no 0; differences within\n"
     "noise come last. Names match code in both traces; (new) and (gone) have samples on one side only.\n"
     "Each side can be a folder with traces, or a pattern.\n"
     "\n"
     "Examples:\n"
     "  winnow diff old.trace new.trace\n"
     "  winnow diff --at 10s,20s run.trace\n"
     "  winnow diff --per second --fail-if 'held > +10M' --fail-if 'allocated > +5%' old.trace new.trace\n",
     diff_print_options},
    {"heap", command_heap, "say what holds the blocks of a collected heap",
     "heap [OPTION...] FILE [AFTER [AFTER2]]",
     "      --path NAME        print the paths from the roots to the blocks of this type, or name, or\n"
     "                         both, such as 'variable log'\n"
     "      --dominators       print more of what the roots hold, as a tree\n"
     "      --trace FILE       where the trace is that recorded the heap; default: where it was\n"
     "  -n, --top N            print so many rows of each table; default 10\n"
     "  -j, --json             print a JSON object\n"
     "  -o, --output FILE      write FILE for other programs: x.heapsnapshot for Chromium's DevTools\n"
     "                         (Memory, Load profile), x.hprof for VisualVM and Eclipse MAT\n"
     "\n"
     "FILE is a snapshot that a program of winnow's collected heap writes by wn_heap_snapshot. Its numbers\n"
     "are exact. Of several snapshots of one program, what grew from each to the next.\n"
     "\n"
     "Examples:\n"
     "  winnow heap now.heap\n"
     "  winnow heap --path 'variable log' now.heap\n"
     "  winnow heap first.heap second.heap third.heap\n",
     NULL},
    {"info", command_info, "show what a trace is and how complete it is", "info [OPTION...] FILE...",
     "  -j, --json             print a JSON object, or an array for several traces\n"
     "      --max-memory BYTES reading a trace may take so much memory; default 512 MiB, and 512 times its\n"
     "                         size\n"
     "\n"
     "FILE can be a pipe, - for standard input, a folder with traces, or a pattern. Several traces, such\n"
     "as record --follow-children writes, have one line each, largest first: which program it is of, and\n"
     "how much that allocated.\n",
     NULL},
    {"dump", command_dump, "print the events of a trace as text, or copy one that grows",
     "dump [OPTION...] PID|FILE...",
     "  -o, --output FILE      write a trace of this moment, while the program goes on, and print nothing\n"
     "  -l, --loop TIME        with -o: again after every TIME, such as 1h, until the program ends. FILE\n"
     "                         then has %t for the time, %n for a number, or %p for the process\n"
     "      --max-memory BYTES reading the trace may take so much memory; default 512 MiB, and 512 times\n"
     "                         its size\n"
     "\n"
     "One event a line, in the order of the trace, with its frames as they are in the trace: no names are\n"
     "looked up. A Memtrace file gives the text of Memtrace's own dump tool. FILE can be a pipe, - for\n"
     "standard input, a folder with traces, or a pattern; each of several traces has its name before it.\n"
     "PID is a process that is recorded. With -o there may be several of them, or a folder of their\n"
     "traces; the name of -o then has %p or %n.\n"
     "\n"
     "Examples:\n"
     "  winnow dump run.trace | grep ' memory '\n"
     "  winnow dump -o now.trace $(pidof server) && winnow report now.trace\n"
     "  winnow dump --loop 1h -o 'server-%t.trace' server.trace\n",
     NULL},
    {"compact", command_compact, "make traces fit a bound", "compact [OPTION...] PID|TRACE...",
     "  -m, --max-trace SIZE   a trace and its history may take so much disk space; default\n"
     "                         $WINNOW_MAX_TRACE, or 64M\n"
     "  -q, --quiet            say nothing when all goes well\n"
     "\n"
     "Old parts of a trace move to a history beside it, TRACE.history, with fewer samples; what is\n"
     "estimated from them stays right, with wider ranges. All commands read the history with its trace.\n"
     "The program may go on writing: then the trace is compacted when it takes an eighth of SIZE,\n"
     "otherwise if it takes more than SIZE. TRACE can be a folder with traces, or a pattern. 'winnow\n"
     "record --max-trace' does this by itself.\n"
     "\n"
     "Examples:\n"
     "  winnow compact server.trace\n"
     "  winnow compact -q --max-trace 256M /var/lib/winnow/app    # called by a timer\n",
     NULL},
    {"status", command_status, "list the processes that are recorded now",
     "status [OPTION...] [PID|TRACE...]",
     "  -j, --json             print a JSON array\n"
     "\n"
     "Of each process: how long it has been recorded, the rate, which is the probability of a sample for\n"
     "each word of 8 bytes, how many samples there are, what it holds with the 95 % range, the size of its\n"
     "trace, the part of its processor time that recording took, and how many records are lost. Without a\n"
     "process or a trace: of all of them that you may see.\n",
     NULL},
    {"start", command_start, "let a recorded process sample", "start [OPTION...] PID|TRACE...",
     "  -r, --rate LAMBDA      at this rate; default: as the recording was to begin\n"
     "  -b, --budget SHARE     processor time that recording may take, such as 1%: the rate follows\n"
     "  -d, --duration TIME    for so many seconds, or a time such as 5m; then it samples nothing\n"
     "  -q, --quiet            say nothing when all goes well\n"
     "\n"
     "The process must have been started by 'winnow record', or with the library preloaded. TRACE can be a\n"
     "folder of traces. The process notices when one of its threads has allocated 512 KiB, at the latest.\n"
     "\n"
     "Examples:\n"
     "  winnow record --asleep -o server.trace -- ./server    # costs next to nothing\n"
     "  winnow start -d 30 server.trace\n",
     NULL},
    {"stop", command_stop, "let a recorded process sample nothing", "stop [OPTION...] PID|TRACE...",
     "  -q, --quiet            say nothing when all goes well\n"
     "\n"
     "Blocks that are sampled already are followed to their end. 'winnow start' goes on.\n",
     NULL},
    {"rate", command_rate, "change the rate at which a recorded process samples",
     "rate [OPTION...] PID|TRACE... LAMBDA",
     "  -b, --budget SHARE     in place of LAMBDA: processor time that recording may take, such as 1%\n"
     "  -q, --quiet            say nothing when all goes well\n"
     "\n"
     "LAMBDA is the probability of a sample for each word of 8 bytes: 1e-9 to 1, or 0. Numbers of reports\n"
     "stay right: each sample counts by the rate at which it was taken.\n",
     NULL},
    {"unit", command_unit, "let systemd record a service", "unit [OPTION...] NAME|FILE",
     "  -o, --output FILE      write the drop-in to this file; default: standard output\n"
     "  -t, --traces FOLDER    the folder of the traces; default: /var/lib/winnow/NAME, which systemd\n"
     "                         makes\n"
     "  -r, --rate LAMBDA      sample at this rate\n"
     "  -b, --budget SHARE     processor time that recording may take: the rate follows; default 1%\n"
     "  -m, --max-trace SIZE   each trace may take so much disk space; default 64M\n"
     "  -a, --asleep           sample nothing until 'winnow start'\n"
     "  -f, --follow-children  record the processes that the service starts, too\n"
     "\n"
     "Reads the unit as systemctl shows it, or the file of a service without its drop-ins, and says in a\n"
     "line each what in it prevents recording, or needs attention. What prevents it leaves nothing\n"
     "written.\n"
     "\n"
     "Examples:\n"
     "  winnow unit -o /etc/systemd/system/app.service.d/winnow.conf app\n"
     "  winnow unit --asleep ./app.service\n",
     NULL},
    {"help", command_help, "explain a command", "help [COMMAND]", "", NULL},
    {0},
};

static const char *called = "winnow"; /* set by main */

/* Prints one line; control characters in names become question marks. */
static int vfail(int code, const char *prefix, const char *format, va_list arguments) {
  char text[8192];
  fflush(stdout);
  int length = vsnprintf(text, sizeof text, format, arguments);
  fprintf(stderr, "winnow%s: ", prefix);
  text_plain(stderr, text, length < 0 ? 0 : strlen(text));
  fputc('\n', stderr);
  return code;
}

/* The number of long options that begin with the word, after its "--". */
static size_t count_beginning(const struct option *known, const char *word) {
  size_t count = 0, length = strlen(word);
  for (; known->name; known++) count += length > 2 && !strncmp(known->name, word + 2, length - 2);
  return count;
}

/* Whether an argument is the long option at which getopt stopped; false if that is a letter. */
static bool is_for(const struct option *known, const char *argument) {
  size_t length = strcspn(argument, "=");
  if (strncmp(argument, "--", 2) != 0) return false;
  for (; known->name; known++)
    if (known->val == optopt && !strncmp(known->name, argument + 2, length - 2)) return true;
  return false;
}

/* The option that was meant, if one or two letters are wrong and others are right; else NULL. */
static const char *nearest_option(const struct option *known, const char *word) {
  const char *nearest = NULL, *name = word + strspn(word, "-");
  size_t least = strlen(name) < 3 ? strlen(name) : 3;
  for (; known->name; known++)
    if (text_distance(name, known->name) < least)
      least = text_distance(name, known->name), nearest = known->name;
  return nearest;
}

static void print_overview(FILE *out) {
  fputs("winnow: where a program's memory goes\n\nUsage: winnow COMMAND [OPTION...] [ARGUMENT...]\n\n", out);
  for (const struct command *command = commands; command->name; command++)
    fprintf(out, "  %-8s %s\n", command->name, command->summary);
  fputs("\n'winnow help COMMAND' tells more. Start with:  winnow record -- PROGRAM\n", out);
}

/* ---- help ---- */

/* Text wider than HELP_COLUMNS is wrapped. That of an option begins behind OPTION_COLUMNS. */
enum { HELP_COLUMNS = 100, OPTION_COLUMNS = 25 };

static size_t main_line_length(const char *line) { return strcspn(line, "\n") + 1; }

static bool main_goes_on(const char *line, int indent) {
  return indent ? strspn(line, " ") >= (size_t)indent : *line && *line != ' ' && *line != '\n';
}

static void print_wrapped(const char *text, const char *end, int indent) {
  size_t column = (size_t)indent;
  bool begun = false;
  fwrite(text, 1, (size_t)indent, stdout);
  for (text += indent; text < end; text += strspn(text, " \n")) {
    size_t word = strcspn(text, " \n");
    if (begun && column + 1 + word > HELP_COLUMNS) {
      printf("\n%*s", indent, "");
      column = (size_t)indent;
    } else if (begun) {
      putchar(' ');
      column++;
    }
    fwrite(text, 1, word, stdout);
    column += word, text += word, begun = true;
  }
  putchar('\n');
}

/* Prints the option or the paragraph at the begin of a text, or the one line. Returns what follows. */
static const char *print_paragraph(const char *text) {
  bool option = !strncmp(text, "  -", 3) || !strncmp(text, "      --", 8), wide = false;
  int indent = option ? OPTION_COLUMNS : 0;
  const char *end = text;
  do {
    wide = wide || main_line_length(end) > HELP_COLUMNS + 1;
    end += main_line_length(end);
  } while ((option || main_goes_on(text, 0)) && *end && main_goes_on(end, indent));
  if (wide)
    print_wrapped(text, end, indent);
  else
    fwrite(text, 1, (size_t)(end - text), stdout);
  return end;
}

static void write_help(const struct command *command, FILE *out) {
  fprintf(out, "winnow %s: %s\n\nUsage: winnow %s\n", command->name, command->summary, command->usage);
  if (command->print_options) {
    fputc('\n', out);
    command->print_options(out);
  }
  if (*command->help) fprintf(out, "\n%s", command->help);
}

static void print_help(const struct command *command) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return write_help(command, stdout);
  write_help(command, out);
  if (fclose(out)) return write_help(command, stdout);
  for (const char *at = text; *at;) at = print_paragraph(at);
  free(text);
}

/* ---- shared ---- */

int fail_job(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int code = vfail(EXIT_JOB, "", format, arguments);
  va_end(arguments);
  return code;
}

int fail_usage(const char *name, const char *format, ...) {
  char prefix[32];
  snprintf(prefix, sizeof prefix, " %s", name);
  va_list arguments;
  va_start(arguments, format);
  int code = vfail(EXIT_USAGE, prefix, format, arguments);
  va_end(arguments);
  return code;
}

int fail_option(const char *name, int option, char **argv, const struct option *known) {
  char letter[] = {'-', (char)optopt, 0}, word[64];
  const char *what = option == ':' ? "needs a value" : "is not known";
  bool is_long = !optopt || is_for(known, argv[optind - 1]);
  snprintf(word, sizeof word, "%.*s", (int)strcspn(argv[optind - 1], "="), argv[optind - 1]);
  if (option == '?' && is_long && optopt) what = "takes no value";
  if (option == '?' && !optopt && count_beginning(known, word) > 1) what = "is ambiguous";
  const char *nearest = option == '?' && !optopt && is_long ? nearest_option(known, word) : NULL;
  if (nearest && count_beginning(known, word) < 2)
    return fail_usage(name, "option '%s' %s; did you mean '--%s'?", word, what, nearest);
  return fail_usage(name, "option '%s' %s; see 'winnow help %s'", is_long ? word : letter, what, name);
}

const char *command_called(void) { return called; }

const struct command *command_find(const char *name) {
  for (const struct command *command = commands; command->name; command++)
    if (!strcmp(command->name, name)) return command;
  return NULL;
}

static const char *nearest_command(const char *name) {
  const char *nearest = NULL;
  size_t least = 3; /* two letters may be wrong */
  for (const struct command *command = commands; command->name; command++)
    if (text_distance(name, command->name) < least)
      least = text_distance(name, command->name), nearest = command->name;
  return nearest;
}

static int fail_command(const char *name) {
  const char *nearest = nearest_command(name);
  fputs("winnow: there is no command '", stderr);
  text_name(stderr, name);
  if (nearest)
    fprintf(stderr, "'; did you mean 'winnow %s'?\n", nearest);
  else if (!access(name, R_OK))
    fputs("'; it is a file: 'winnow report' reads traces, 'winnow record --' runs programs\n", stderr);
  else
    fputs("'; see 'winnow help'\n", stderr);
  return EXIT_USAGE;
}

int command_help(int argc, char **argv) {
  if (argc < 2) {
    print_overview(stdout);
    return 0;
  }
  const struct command *command = command_find(argv[1]);
  if (!command) return fail_command(argv[1]);
  print_help(command);
  return 0;
}

/* Whether the user asks for help by an option. For `record`, only options before the program's name
 * count. */
static bool asks_help(const char *name, int argc, char **argv) {
  bool record = !strcmp(name, "record");
  for (int i = 2; i < argc && (!record || argv[i][0] == '-'); i++) {
    if (!strcmp(argv[i], "--")) return false;
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return true;
  }
  return false;
}

static int print_version(void) {
  printf("winnow %s\n", wn_version_text());
  return 0;
}

static int main_run(int argc, char **argv) {
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) return print_version();
  const struct command *command = command_find(name);
  if (!command) return fail_command(name);
  if (!asks_help(name, argc, argv)) return command->run(argc - 1, argv + 1);
  print_help(command);
  return 0;
}

int main(int argc, char **argv) {
  if (argc && *argv[0]) called = argv[0];
  setlocale(LC_CTYPE, "");
  if (argc < 2) {
    fputs("winnow: where a program's memory goes\n\n"
          "  winnow record -- PROGRAM [ARGUMENT...]   runs a program and records it\n"
          "  winnow report FILE.trace                 prints where its memory went\n\n"
          "'winnow help' lists all commands.\n",
          stderr);
    return EXIT_USAGE;
  }
  int code = main_run(argc, argv);
  if (fflush(stdout) || ferror(stdout)) return fail_job("cannot write the output");
  return code;
}
/* SPDX-License-Identifier: MIT */
