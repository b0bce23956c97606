/* winnow heap: what holds the blocks of a collected heap, from snapshots of it. */
#include "cli/command.h"
#include "cli/heap/heap_text.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/text.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_DEFAULT = 10, FILES_MOST = 3, LETTER_PATH = 256, LETTER_TRACE, LETTER_DOMINATORS };

struct options {
  const char *path, *trace, *output;
  size_t top;
  bool json, dominators;
};

static int parse_top(const char *text, size_t *top) {
  char *end;
  long number = strtol(text, &end, 10);
  if (number < 1 || number > 1000000 || *end)
    return fail_usage("heap", "--top %s: a number from 1 on is needed", text);
  *top = (size_t)number;
  return 0;
}

static int heap_parse(struct options *options, int argc, char **argv) {
  static const struct option known[] = {{"path", required_argument, NULL, LETTER_PATH},
                                        {"trace", required_argument, NULL, LETTER_TRACE},
                                        {"dominators", no_argument, NULL, LETTER_DOMINATORS},
                                        {"top", required_argument, NULL, 'n'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"output", required_argument, NULL, 'o'},
                                        {0}};
  int option, code;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":n:jo:", known, NULL)) != -1) switch (option) {
    case 'o': options->output = optarg; break;
    case LETTER_TRACE: options->trace = optarg; break;
    case LETTER_PATH: options->path = optarg; break;
    case LETTER_DOMINATORS: options->dominators = true; break;
    case 'j': options->json = true; break;
    case 'n':
      if ((code = parse_top(optarg, &options->top))) return code;
      break;
    default: return fail_option("heap", option, argv, known);
    }
  return 0;
}

static int print_dominators(const struct heap_file *file, size_t top) {
  bool left_out;
  heap_print_head(file);
  return heap_print_holders(file, top, true, &left_out);
}

/* The name says in which form. */
static int write_output(const struct heap_file *file, const char *name) {
  const char *end = strrchr(name, '.');
  struct output output;
  wn_status status = output_open(&output, name);
  if (status) return fail_job("%s", wn_last_error());
  status = (end && !strcmp(end, ".hprof") ? heap_put_hprof : heap_put_devtools)(&file->graph, output.file);
  if (status) return output_abandon(&output), fail_job("%s: %s", file->name, wn_last_error());
  return output_finish(&output) ? fail_job("%s", wn_last_error()) : 0;
}

static int heap_print(const struct options *options, struct heap_file *file) {
  int code = options->output ? 0 : heap_join(file, options->trace);
  if (code) return code;
  if ((options->output || options->path) && !graph_search(&file->graph))
    return fail_job("%s: no memory for its paths", file->name);
  if (options->output) return write_output(file, options->output);
  if (options->json) return heap_print_json(file);
  ascii_if_locale_asks(&stdout);
  if (options->dominators) return print_dominators(file, options->top);
  return options->path ? heap_print_paths(file, options->path, options->top)
                       : heap_print_screen(file, options->top);
}

/* Each of these prints something else, and of one snapshot. */
static int heap_check(const struct options *options, size_t count) {
  const char *given[4];
  size_t number = 0;
  if (options->output) given[number++] = "--output";
  if (options->json) given[number++] = "--json";
  if (options->path) given[number++] = "--path";
  if (options->dominators) given[number++] = "--dominators";
  if (number > 1) return fail_usage("heap", "%s and %s exclude each other", given[0], given[1]);
  if (!number && options->trace) given[number++] = "--trace";
  return count > 1 && number ? fail_usage("heap", "%s is of one snapshot", given[0]) : 0;
}

int command_heap(int argc, char **argv) {
  struct options options = {.top = TOP_DEFAULT};
  struct heap_file file = {0};
  int code = heap_parse(&options, argc, argv);
  size_t count = (size_t)(argc - optind);
  if (code) return code;
  if (!count)
    return fail_usage("heap", "which snapshot? usage: winnow heap [OPTION...] FILE [AFTER [AFTER2]]");
  if (count > FILES_MOST) return fail_usage("heap", "three snapshots at most can be compared");
  code = heap_check(&options, count);
  if (!code && options.output && input_is_same_file(argv[optind], options.output))
    code = fail_usage("heap", "%s is the snapshot; give the output another name", options.output);
  if (code) return code;
  if (count > 1) {
    ascii_if_locale_asks(&stdout);
    return heap_print_growth(argv + optind, count, options.top);
  }
  code = heap_open(&file, argv[optind]);
  if (!code) code = heap_print(&options, &file);
  heap_close(&file);
  return code;
}
/* SPDX-License-Identifier: MIT */
