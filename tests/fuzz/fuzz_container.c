/* Any bytes as the sections of a container: the reader must refuse them or make a recording that
 * answers questions, and must not take memory out of proportion.
 *
 * The input is cut into sections: each is a byte that tells which one, two bytes of its length, and
 * that many bytes. What a section that is missing would say, an empty recording says. */
#include "bound.h"

#include "analysis/report/report.h"
#include "page/answers.h"
#include "page/container.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char names[][5] = {"META", "STRS", "FRAM", "BLDS", "NODE", "KIND", "ROWS", "TIME",
                                "PROC", "HEAP", "MAPS", "SRCS", "ORIG", "RATE", "GRPS", "TYPE"};
enum { SECTIONS = sizeof names / sizeof *names };

/* Sections of an empty recording: all counts are 0, but for one rate; it and the unit are 1. */
static const unsigned char zeros[64], rates[] = {1, [7] = 0xf0, 0x3f, 0},
                                      meta[128] = {[0] = CONTAINER_VERSION, [1] = 1, [8] = 0xf0, [9] = 0x3f};
static const size_t empty_lengths[SECTIONS] = {73, 1, 5, 2, 1, 3, 10, 2, 0, 31, 2, 2, 2, sizeof rates};

static void ask(const struct recording *recording) {
  static const enum grouping groupings[] = {BY_FUNCTION, BY_HOST, BY_RELEASE};
  struct report report;
  struct table table;
  if (report_ask(recording, &(struct question){.at = AT_PEAK}, &report)) return;
  for (size_t i = 0; i < sizeof groupings / sizeof *groupings; i++)
    if (!report_table(&report, MEASURE_HELD, groupings[i], TABLE_SUMS, &table)) table_destroy(&table);
  report_destroy(&report);
}

/* Source lines are in no report. */
static void ask_source(const struct recording *recording) {
  static const char request[] = "view=source\nmeasure=allocated\nby=file\nof=a\n";
  struct answers answers;
  char *bytes;
  size_t size;
  answers_create(&answers, recording, NULL);
  if (!answers_ask(&answers, request, sizeof request - 1, &bytes, &size)) free(bytes);
  answers_destroy(&answers);
}

/* Adds the sections of an empty recording. Of two sections with one name the first counts. */
static size_t add_empty(struct container_section *sections, size_t used) {
  for (size_t i = 0; i < SECTIONS; i++) {
    sections[used] = (struct container_section){.bytes = zeros, .length = empty_lengths[i]};
    if (!strcmp(names[i], "META")) sections[used].bytes = meta;
    if (!strcmp(names[i], "RATE")) sections[used].bytes = rates;
    memcpy(sections[used++].name, names[i], 4);
  }
  return used;
}

/* The constants above agree with the reader. */
static void check_empty(void) {
  static bool checked;
  struct container_section sections[SECTIONS];
  struct recording *recording;
  if (checked) return;
  checked = true;
  if (container_read(sections, add_empty(sections, 0), &recording)) {
    fprintf(stderr, "%s\n", wn_last_error());
    abort();
  }
  recording_free(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  struct container_section sections[2 * SECTIONS];
  check_empty();
  size_t used = 0;
  while (count >= 3 && used < SECTIONS) {
    size_t which = bytes[0] % SECTIONS, length = bytes[1] | (size_t)bytes[2] << 8;
    bytes += 3, count -= 3;
    if (length > count) length = count;
    sections[used].bytes = bytes;
    sections[used].length = length;
    memcpy(sections[used++].name, names[which], 4);
    bytes += length, count -= length;
  }
  used = add_empty(sections, used);
  struct recording *recording;
  if (container_read(sections, used, &recording)) return 0;
  ask(recording);
  ask_source(recording);
  recording_free(recording);
  return 0;
}
/* SPDX-License-Identifier: MIT */
