/* lisp [--domains N] [--memory MEGABYTES] [--frames KIND] [FILE]: runs a file, or reads from
 * standard input. */
#include "builtins.h"
#include "compile.h"
#include "lisp.h"
#include "printer.h"
#include "reader.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <winnow/snapshot.h>
#include <winnow/trace.h>

enum { DOMAINS_MOST = 64 };

/* The text of library.lisp at the time of compilation. */
__asm__(".section .rodata\n"
        "library_begin:\n.incbin \"" LISP_LIBRARY "\"\n"
        "library_end:\n"
        ".previous\n");
extern const char library_begin[], library_end[];

struct settings {
  const char *file;
  unsigned domains;
  size_t megabytes;
  wn_frames frames; /* of profiles */
};

/* ---- texts ---- */

static bool fail_reading(struct vm *vm, const struct reader *reader, const char *name) {
  output_flush(&vm->out, vm->domain);
  fprintf(stderr, "%s:%u: %s\n", name, reader->wrong_line, reader->message);
  return false;
}

/* Runs one form; its value is in ROOT_RESULT. */
static bool run_form(struct vm *vm, wn_ref form, wn_ref name, unsigned line) {
  wn_ref procedure;
  vm->reported = false;
  vm->roots[ROOT_HANDLERS] = vm->roots[ROOT_WINDS] = NIL;
  enum vm_outcome outcome = compile(vm, form, name, line, &procedure);
  if (outcome == VM_DONE) return vm_run(vm, procedure, 0, NULL) == VM_DONE;
  vm_report(vm);
  return false;
}

/* Runs forms until one fails. */
static bool run_text(struct vm *vm, const char *text, size_t length, const char *name) {
  struct reader reader = reader_of(vm, text, length);
  for (;;) {
    WN_SCOPE(vm->domain);
    wn_ref form;
    enum reading reading = read_form(&reader, &form);
    if (reading == READ_WRONG) return fail_reading(vm, &reader, name);
    if (reading == READ_END) return true;
    wn_value string = make_string(vm, name, strlen(name));
    if (!string) return vm_report(vm), false;
    if (!run_form(vm, form, wn_root(vm->domain, string), reader.line)) return false;
  }
}

static bool load_library(struct vm *vm) {
  static struct program program;
  struct lisp *lisp = vm->lisp;
  WN_SCOPE(vm->domain);
  if (!program_begin(vm, &program) || !compile_prepare(vm) || !builtins_define(vm)) {
    vm->roots[ROOT_CONDITION] = vm->roots[ROOT_NO_MEMORY];
    return vm_report(vm), false;
  }
  if (!run_text(vm, library_begin, (size_t)(library_end - library_begin), "library.lisp")) return false;
  lisp->raise = wn_global_new_named(vm->domain, wn_root(vm->domain, vm->roots[ROOT_RAISE]), "raise");
  lisp->library =
      wn_global_new_named(vm->domain, wn_root(vm->domain, vm->roots[ROOT_ENVIRONMENT]), "library");
  return lisp->raise && lisp->library;
}

/* ---- files ---- */

static bool read_whole(const char *name, struct output *text) {
  char piece[4096];
  size_t count;
  FILE *file = fopen(name, "r");
  if (!file) return false;
  while ((count = fread(piece, 1, sizeof piece, file)) > 0) output_bytes(text, piece, count);
  int reason = errno;
  bool good = !ferror(file) && !text->failed;
  fclose(file);
  errno = reason;
  return good;
}

/* Runs one program on one machine. */
static bool run_program(struct vm *vm, const struct output *text, const char *name) {
  struct program program;
  if (!program_begin(vm, &program)) return vm_report(vm), false;
  bool good = run_text(vm, text->data ? text->data : "", text->used, name);
  program_end(vm);
  output_flush(&vm->out, vm->domain);
  return good;
}

/* One of several programs that run at once. Its output is kept until the outputs of those before it
 * are printed. */
struct run {
  struct lisp *lisp;
  const struct output *text;
  const char *name;
  struct output printed;
  wn_join *join;
  bool good;
};

static void run_beside(wn_domain *domain, void *argument) {
  struct run *run = argument;
  struct vm *vm = vm_create(run->lisp, domain);
  if (!vm) return;
  vm->out.kept = true;
  run->good = run_program(vm, run->text, run->name);
  run->printed = vm->out;
  vm->out = (struct output){0};
  vm_destroy(vm);
}

static bool run_in_domains(struct vm *vm, const struct output *text, const char *name, unsigned count) {
  static struct run runs[DOMAINS_MOST];
  bool good = true;
  for (unsigned i = 0; i < count; i++) {
    runs[i] = (struct run){.lisp = vm->lisp, .text = text, .name = name};
    if (wn_domain_spawn(vm->domain, run_beside, &runs[i], &runs[i].join)) {
      fprintf(stderr, "lisp: %s\n", wn_last_error());
      runs[i].join = NULL;
    }
  }
  for (unsigned i = 0; i < count; i++) {
    if (runs[i].join) wn_join_wait(vm->domain, runs[i].join);
    good = good && runs[i].good;
    runs[i].printed.kept = false;
    output_flush(&runs[i].printed, vm->domain);
    output_destroy(&runs[i].printed);
  }
  return good;
}

static bool run_file(struct vm *vm, const struct settings *settings) {
  struct output text = {0};
  bool good = read_whole(settings->file, &text);
  if (!good)
    fprintf(stderr, "lisp: %s cannot be read: %s\n", settings->file, strerror(errno));
  else if (settings->domains == 1)
    good = run_program(vm, &text, settings->file);
  else
    good = run_in_domains(vm, &text, settings->file, settings->domains);
  output_destroy(&text);
  return good;
}

/* ---- standard input ---- */

/* Runs the complete forms of the text, and keeps the rest. False if a form failed; the forms after
 * it were run all the same. */
static bool run_lines(struct vm *vm, struct output *text, bool at_end) {
  bool good = true;
  struct reader reader = reader_of(vm, text->data, text->used);
  for (;;) {
    WN_SCOPE(vm->domain);
    wn_ref form;
    const char *before = reader.at;
    enum reading reading = read_form(&reader, &form);
    if (reading == READ_WRONG && reader.incomplete && !at_end) {
      text->used = (size_t)(reader.end - before);
      memmove(text->data, before, text->used);
      return good;
    }
    if (reading == READ_WRONG) good = fail_reading(vm, &reader, "stdin");
    if (reading != READ_FORM) break;
    wn_value name = make_string(vm, "stdin", 5);
    if (!name || !run_form(vm, form, wn_root(vm->domain, name), reader.line)) {
      good = false;
      continue;
    }
    if (vm->roots[ROOT_RESULT] != NOTHING) {
      print_value(&vm->out, vm->roots[ROOT_RESULT], true);
      output_text(&vm->out, "\n");
    }
    output_flush(&vm->out, vm->domain);
  }
  text->used = 0;
  return good;
}

static bool read_line(struct vm *vm, char *line, int size) {
  wn_blocking_begin(vm->domain);
  bool good = fgets(line, size, stdin) != NULL;
  wn_blocking_end(vm->domain);
  return good;
}

/* True if all went well, or if a user at a terminal saw the errors. */
static bool run_input(struct vm *vm) {
  struct program program;
  struct output text = {0};
  char line[4096];
  bool prompts = isatty(0), good = true;
  if (!program_begin(vm, &program)) return vm_report(vm), false;
  for (;;) {
    if (prompts) fputs(text.used ? "... " : "> ", stdout), fflush(stdout);
    bool more = read_line(vm, line, sizeof line);
    if (more) output_text(&text, line);
    if (text.used && !run_lines(vm, &text, !more)) good = false;
    if (!more) break;
  }
  output_destroy(&text);
  program_end(vm);
  return good || prompts;
}

/* ---- beginning ---- */

/* Limits the memory that the process may map from now on. */
static bool limit_memory(size_t megabytes) {
  long pages = 0;
  struct rlimit limit;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm) return false;
  bool good = fscanf(statm, "%ld", &pages) == 1 && !getrlimit(RLIMIT_AS, &limit);
  fclose(statm);
  if (!good) return false;
  limit.rlim_cur = ((rlim_t)pages << 12) + ((rlim_t)megabytes << 20);
  return !setrlimit(RLIMIT_AS, &limit);
}

static bool run(const struct settings *settings) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  struct lisp lisp;
  wn_domain *domain;
  options.frames = settings->frames;
  if (!lisp_open(&lisp, &options)) return false;
  if (wn_domain_attach(lisp.heap, &domain)) {
    fprintf(stderr, "lisp: %s\n", wn_last_error());
    lisp_close(&lisp);
    return false;
  }
  wn_trace *trace; /* the heap ends it when it is closed */
  if (wn_trace_if_requested(domain, &trace)) fprintf(stderr, "lisp: no trace: %s\n", wn_last_error());
  struct vm *vm = vm_create(&lisp, domain);
  bool good = vm && load_library(vm);
  if (good && settings->megabytes && !limit_memory(settings->megabytes)) {
    fprintf(stderr, "lisp: the memory cannot be limited\n");
    good = false;
  }
  if (good) good = settings->file ? run_file(vm, settings) : run_input(vm);
  if (vm) vm_destroy(vm);
  wn_domain_detach(domain);
  lisp_close(&lisp);
  return good;
}

static bool read_count(const char *text, unsigned long most, unsigned long *count) {
  char *end;
  *count = strtoul(text, &end, 10);
  return *text && !*end && *count >= 1 && *count <= most;
}

static bool read_frames(const char *text, wn_frames *frames) {
  static const char *const names[] = {
      [WN_FRAMES_BOTH] = "both", [WN_FRAMES_NATIVE] = "native", [WN_FRAMES_LANGUAGE] = "lisp"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *frames = (wn_frames)i;
    return true;
  }
  return false;
}

static bool read_option(const char *name, const char *value, struct settings *settings) {
  unsigned long number;
  if (!strcmp(name, "--frames")) return read_frames(value, &settings->frames);
  bool domains = !strcmp(name, "--domains");
  if (!domains && strcmp(name, "--memory") != 0) return false;
  if (!read_count(value, domains ? DOMAINS_MOST : 1 << 20, &number)) return false;
  if (domains)
    settings->domains = (unsigned)number;
  else
    settings->megabytes = number;
  return true;
}

/* False if the arguments are wrong. */
static bool read_arguments(int count, char **arguments, struct settings *settings) {
  int i = 1;
  for (; i + 1 < count && arguments[i][0] == '-'; i += 2)
    if (!read_option(arguments[i], arguments[i + 1], settings)) return false;
  if (i < count && arguments[i][0] != '-') settings->file = arguments[i++];
  return i == count && (settings->file || settings->domains == 1);
}

static void print_usage(FILE *out) {
  fprintf(out,
          "usage: lisp [--domains N] [--memory MEGABYTES] [--frames lisp|native|both] [FILE]; N needs a FILE "
          "and is at most %d\n",
          DOMAINS_MOST);
}

static bool asks_help(int count, char **arguments) {
  return count == 2 && (!strcmp(arguments[1], "--help") || !strcmp(arguments[1], "-h"));
}

int main(int count, char **arguments) {
  struct settings settings = {.domains = 1, .frames = WN_FRAMES_LANGUAGE};
  bool help = asks_help(count, arguments);
  if (!help && !read_arguments(count, arguments, &settings)) {
    print_usage(stderr);
    return 2;
  }
  if (help) print_usage(stdout);
  bool good = help || run(&settings);
  if (!fflush(stdout) && !ferror(stdout)) return good ? 0 : 1;
  fputs("lisp: the output cannot be written\n", stderr);
  return 1;
}
/* SPDX-License-Identifier: MIT */
