/* Buffers for text. */
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct output *output, size_t count) {
  if (output->capacity - output->used > count) return true;
  size_t capacity = 2 * output->capacity + count + 256;
  char *data = realloc(output->data, capacity);
  if (!data) return output->failed = true, false;
  output->data = data;
  output->capacity = capacity;
  return true;
}

void output_bytes(struct output *output, const char *bytes, size_t count) {
  if (!count || !make_room(output, count)) return;
  memcpy(output->data + output->used, bytes, count);
  output->used += count;
}

void output_text(struct output *output, const char *text) { output_bytes(output, text, strlen(text)); }

void output_format(struct output *output, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  output_text(output, text);
}

void output_destroy(struct output *output) {
  free(output->data);
  *output = (struct output){.kept = output->kept};
}

void output_flush(struct output *output, wn_domain *domain) {
  if (output->kept || !output->used) return;
  wn_blocking_begin(domain);
  fwrite(output->data, 1, output->used, stdout);
  fflush(stdout);
  wn_blocking_end(domain);
  output->used = 0;
}
/* SPDX-License-Identifier: MIT */
