/* The analysis as a WebAssembly module for the page: the page hands over the sections of a
 * container (page/container.h), then asks (page/answers.h).
 *
 * Order of calls: engine_take for memory into which the page copies a section, engine_section for
 * each section, engine_open once, then any number of times engine_prepare while it returns 1, or
 * not at all, and engine_ask. A page that compares opens the recording before first, with
 * engine_open_before. Addresses are those of the module's memory. One worker uses one instance. */
#include "page/answers.h"
#include "page/container.h"
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

enum { SECTIONS_MOST = 64 };

static struct container_section sections[SECTIONS_MOST];
static size_t section_count;
static struct recording *recording, *before;
static struct answers answers;
static char *answer;
static size_t answer_size;

/* Takes memory; 0: there is none. */
void *EXPORT(engine_take)(size_t bytes) { return malloc(bytes ? bytes : 1); }

/* Adds a section: its name, four bytes, and its raw bytes, from engine_take; both now belong to the
 * module. */
void EXPORT(engine_section)(char *name, void *bytes, size_t length) {
  if (section_count < SECTIONS_MOST) {
    struct container_section *section = &sections[section_count++];
    memcpy(section->name, name, sizeof section->name);
    section->bytes = bytes;
    section->length = length;
  }
  free(name);
}

/* Reads the sections that were added. */
static wn_status open_sections(struct recording **opened) {
  wn_status error = container_read(sections, section_count, opened);
  for (size_t i = 0; i < section_count; i++) free((void *)sections[i].bytes);
  section_count = 0;
  return error;
}

/* Read the recording, and the one before. 0, or 1 after an error: engine_error tells which. */
int EXPORT(engine_open_before)(void) { return open_sections(&before) != WN_OK; }
int EXPORT(engine_open)(void) {
  if (open_sections(&recording)) return 1;
  answers_create(&answers, recording, before);
  return 0;
}

/* The last error as text, with a 0 at its end. */
const char *EXPORT(engine_error)(void) { return wn_last_error(); }

/* Makes a part of what the answer to the request, whose bytes are from engine_take, needs. 1:
 * there may be more parts. */
int EXPORT(engine_prepare)(char *request, size_t length) {
  bool made = answers_prepare(&answers, request, length);
  free(request);
  return made;
}

/* Answers the request, whose bytes are from engine_take. Returns the answer, valid until the next
 * call; 0 if memory is exhausted. */
const char *EXPORT(engine_ask)(char *request, size_t length) {
  free(answer);
  answer = NULL;
  if (answers_ask(&answers, request, length, &answer, &answer_size)) answer = NULL;
  free(request);
  return answer;
}

/* The size of the last answer. */
size_t EXPORT(engine_size)(void) { return answer_size; }
/* SPDX-License-Identifier: MIT */
