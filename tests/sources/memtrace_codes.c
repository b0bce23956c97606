/* Places of codes. */
#include "sources/memtrace_codes.h"

#include <stdio.h>

enum { MOST = 300, TEXT = 24 };

static size_t places_of(void *context, uint64_t code, const struct writer_place **places) {
  (void)context;
  return codes_places(code, places);
}

/* ---- shared ---- */

size_t codes_places(uint64_t code, const struct writer_place **places) {
  static struct writer_place all[MOST];
  static char files[MOST][TEXT], functions[MOST][TEXT];
  size_t count = code == 1 ? 0 : code == 2 ? MOST : 1 + code % 3;
  for (size_t i = 0; i < count; i++) {
    snprintf(files[i], TEXT, "f%u.ml", (unsigned)((code + i) % 47));
    snprintf(functions[i], TEXT, "M.g%u", (unsigned)((code / 3 + i) % 211));
    all[i] = (struct writer_place){files[i], functions[i], (uint32_t)(code % 5000) + 1,
                                   (uint32_t)(code % 300), (uint32_t)(code % 1200)};
  }
  *places = all;
  return count;
}

void codes_begin(struct memtrace_writer *writer, unsigned version, double rate, uint64_t begin_us) {
  const struct writer_run run = {.rate = rate,
                                 .word_bits = 64,
                                 .executable = CODES_EXECUTABLE,
                                 .host = CODES_HOST,
                                 .parameters = CODES_PARAMETERS,
                                 .context = CODES_CONTEXT,
                                 .pid = CODES_PID,
                                 .begin_us = begin_us};
  memtrace_writer_begin(writer, version, &run, places_of, NULL);
}
/* SPDX-License-Identifier: MIT */
