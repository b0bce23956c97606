/* Any bytes as a request about a small recording: each has an answer, whose parts lie within it.
 *
 * So that requests are often nearly right, the input is read as pieces: a byte below 128 stands for a
 * word of the list below, and one above for itself less 128, as a character. */
#include "bound.h"

#include "page/answers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"\n",
                                    "view=head\n",
                                    "view=totals\n",
                                    "view=time\n",
                                    "view=flame\n",
                                    "view=table\n",
                                    "view=kinds\n",
                                    "view=details\n",
                                    "where=",
                                    "measure=",
                                    "held\n",
                                    "alive\n",
                                    "allocated\n",
                                    "churn\n",
                                    "lasting\n",
                                    "promoted\n",
                                    "by=",
                                    "function\n",
                                    "line\n",
                                    "file\n",
                                    "module\n",
                                    "direction=",
                                    "callers\n",
                                    "callees\n",
                                    "of=",
                                    "focus=",
                                    "fold=yes\n",
                                    "points=",
                                    "600\n",
                                    "99999\n",
                                    "main",
                                    "parse",
                                    "\t",
                                    "/",
                                    "(no callstack)",
                                    "fn",
                                    "file",
                                    "module",
                                    "thread",
                                    "type",
                                    "size",
                                    "life",
                                    "life_bytes",
                                    "born",
                                    "died",
                                    "alive",
                                    "live",
                                    "at",
                                    "hide",
                                    "from",
                                    "heap",
                                    "promoted",
                                    "source",
                                    " ~ ",
                                    " = ",
                                    " != ",
                                    " < ",
                                    " >= ",
                                    " and ",
                                    " or ",
                                    "not ",
                                    "(",
                                    ")",
                                    "\"",
                                    "\"^a.*\"",
                                    "\"(\"",
                                    "1K",
                                    "10ms",
                                    "peak",
                                    "end",
                                    "never",
                                    "1e308",
                                    "-1",
                                    "0",
                                    ",",
                                    " ",
                                    "rest",
                                    "\\",
                                    "callers of ",
                                    "[libc]"};
enum { WORDS = sizeof words / sizeof *words, REQUEST_MOST = 2000, BLOCKS = 64, NODES = 12 };

/* ---- a recording ---- */

static size_t at;

static void close_made(struct source *source) { (void)source; }

static bool next(struct source *source, struct trace_event *event) {
  (void)source;
  if (at == 2 * BLOCKS) return false;
  uint64_t block = at / 2 + 1, size = (uint64_t)1 << block % 20;
  *event = (struct trace_event){.kind = at % 2 ? TRACE_FREE : TRACE_SAMPLE};
  if (at++ % 2)
    event->free = (struct trace_free){.time_ns = block * (block % 3 ? 1000 : 900000), .block = block};
  else
    event->sample = (struct trace_sample){.time_ns = block * 1000,
                                          .thread = (uint32_t)block % 3,
                                          .block = block,
                                          .size = size,
                                          .words = size / 8 + 2,
                                          .n_samples = 1,
                                          .stack = (uint32_t)(block % (NODES + 1))};
  return true;
}

static const struct trace_run *run(const struct source *source) {
  static struct trace_run run = {.rate = 1e-3, .word_bytes = 8, .pid = 7};
  (void)source;
  run.command = run.host = run.heap = run.version = run.title = run.name = trace_text_of("");
  return &run;
}

static enum source_heap heap(const struct source *source) { return (void)source, SOURCE_HEAP_COLLECTED; }

static const struct trace_damage *damage(const struct source *source) {
  static const struct trace_damage complete = {.complete = true};
  return (void)source, &complete;
}

static uint32_t stack_count(const struct source *source) { return (void)source, NODES; }

static struct trace_node stack(const struct source *source, uint32_t number) {
  (void)source;
  return (struct trace_node){.parent = number / 2, .module = 1, .offset = number % 5 + 1};
}

static uint32_t module_count(const struct source *source) { return (void)source, 1; }

static const struct trace_module *module(const struct source *source, uint32_t number) {
  static struct trace_module language = {.base = TRACE_LANGUAGE_BASE};
  (void)source, (void)number;
  language.path = trace_text_of("[libc]");
  return &language;
}

static bool place(const struct source *source, uint32_t of, uint64_t offset, struct trace_place *out) {
  static const char *const names[] = {"main", "parse", "xmalloc", "a \"b\"\n", "rest"};
  (void)source, (void)of;
  *out = (struct trace_place){
      .function = trace_text_of(names[offset % 5]), .file = trace_text_of("a.c"), .line = (uint32_t)offset};
  return true;
}

static const struct source_format format = {.close = close_made,
                                            .next = next,
                                            .run = run,
                                            .heap = heap,
                                            .damage = damage,
                                            .stack_count = stack_count,
                                            .stack = stack,
                                            .module_count = module_count,
                                            .module = module,
                                            .place = place};

static struct answers *made_up(void) {
  static struct source source = {.format = &format};
  static struct answers answers;
  static struct recording *recording;
  struct recording_options options = {.names.symbols = false};
  if (recording) return &answers;
  if (recording_read(&source, "made up", &options, &recording)) abort();
  answers_create(&answers, recording, NULL);
  return &answers;
}

/* ---- requests ---- */

/* The JSON, which a newline ends, lies within the answer. */
static void check(const char *answer, size_t size) {
  uint32_t length;
  if (size < 11) abort();
  memcpy(&length, answer, sizeof length);
  if (length < 3 || length > size - 8 || memcmp(answer + 8, "{", 1) != 0 ||
      memcmp(answer + 8 + length - 2, "}\n", 2) != 0)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  char request[REQUEST_MOST], *answer;
  size_t length = 0, size;
  for (size_t i = 0; i < count; i++) {
    const char *word = words[bytes[i] % WORDS];
    char character[2] = {(char)(bytes[i] - 128), 0};
    const char *piece = bytes[i] < 128 ? word : character;
    size_t more = bytes[i] < 128 ? strlen(word) : 1;
    if (length + more > sizeof request) break;
    memcpy(request + length, piece, more);
    length += more;
  }
  if (answers_ask(made_up(), request, length, &answer, &size)) abort();
  check(answer, size);
  free(answer);
  return 0;
}
/* SPDX-License-Identifier: MIT */
