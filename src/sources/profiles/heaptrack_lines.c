/* Reads lines and numbers. */
#include "sources/profiles/heaptrack_lines.h"

#include <string.h>

static bool heaptrack_lines_fail(struct heaptrack_lines *lines, const char *fault) {
  if (!lines->fault) lines->fault = fault;
  return false;
}

static int heaptrack_lines_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the rest of a line. What is longer than the longest is a fault, or left out if it tells
 * nothing. */
static bool read_rest(struct heaptrack_lines *lines, bool tells) {
  size_t count = 0;
  int c;
  while ((c = inflated_byte(lines->file)) >= 0 && c != '\n')
    if (count < HEAPTRACK_LINE_MOST)
      lines->line[count++] = (char)c;
    else if (tells)
      return heaptrack_lines_fail(lines, "is too long");
  lines->line[count] = 0;
  lines->at = lines->line + (count && *lines->line == ' ');
  lines->length = count - (size_t)(lines->at - lines->line);
  return c >= 0 || heaptrack_lines_fail(lines, "is cut");
}

/* A text with its length before it may have any bytes. */
static bool read_sized_text(struct heaptrack_lines *lines) {
  uint64_t length = 0;
  int c = inflated_byte(lines->file);
  if (c == ' ') c = inflated_byte(lines->file);
  for (; heaptrack_lines_digit(c) >= 0 && length <= HEAPTRACK_LINE_MOST; c = inflated_byte(lines->file))
    length = 16 * length + (uint64_t)heaptrack_lines_digit(c);
  if (length > HEAPTRACK_LINE_MOST) return heaptrack_lines_fail(lines, "is too long");
  if (c != ' ' && (c != '\n' || length))
    return heaptrack_lines_fail(lines, c < 0 ? "is cut" : "has no length of its text");
  lines->at = lines->line;
  lines->length = (size_t)length;
  if (inflated_read(lines->file, lines->line, length) < length) return heaptrack_lines_fail(lines, "is cut");
  lines->line[length] = 0;
  return c == '\n' || inflated_byte(lines->file) == '\n' ||
         heaptrack_lines_fail(lines, "has a text of another length");
}

/* ---- shared ---- */

bool heaptrack_next(struct heaptrack_lines *lines) {
  int c = inflated_byte(lines->file);
  if (c < 0 || lines->fault) return false;
  lines->number++;
  lines->kind = (char)c;
  lines->length = 0;
  *lines->line = 0;
  lines->at = lines->line;
  if (c == '\n') return lines->kind = '#', true;
  if (c == 's' && lines->version >= 3) return read_sized_text(lines);
  return read_rest(lines, strchr("sita+-cv", c) != NULL);
}

bool heaptrack_number(struct heaptrack_lines *lines, uint64_t *number) {
  const char *begin = lines->at;
  *number = 0;
  for (; heaptrack_lines_digit(*lines->at) >= 0; lines->at++) {
    if (lines->at - begin >= 16) return heaptrack_lines_fail(lines, "has a number above 2^64");
    *number = *number << 4 | (uint64_t)heaptrack_lines_digit(*lines->at);
  }
  bool any = lines->at > begin;
  if (*lines->at && *lines->at != ' ') return heaptrack_lines_fail(lines, "has a number with other signs");
  while (*lines->at == ' ') lines->at++;
  return any;
}

bool heaptrack_numbers(struct heaptrack_lines *lines, uint64_t *numbers, int count) {
  for (int i = 0; i < count; i++)
    if (!heaptrack_number(lines, &numbers[i])) return heaptrack_lines_fail(lines, "has too few numbers");
  return true;
}
/* SPDX-License-Identifier: MIT */
