/* The three formats. */
#include "languages/python_lines.h"

enum { UNIT = 2 }; /* bytes of an instruction */

static int64_t line_of_lnotab(const uint8_t *table, size_t count, int64_t line, int64_t position) {
  int64_t at = 0;
  for (size_t i = 0; i + 1 < count; i += 2) {
    at += table[i];
    if (at > position) break;
    line += (int8_t)table[i + 1];
  }
  return line;
}

enum { WITHOUT_LINE = -128 };

static int64_t line_of_linetable(const uint8_t *table, size_t count, int64_t line, int64_t position) {
  int64_t end = 0;
  for (size_t i = 0; i + 1 < count; i += 2) {
    int8_t distance = (int8_t)table[i + 1];
    end += table[i];
    if (distance != WITHOUT_LINE) line += distance;
    if (end > position) break;
  }
  return line;
}

/* ---- locations ---- */

struct reading {
  const uint8_t *at, *end;
};

static uint32_t read_byte(struct reading *reading) { return reading->at < reading->end ? *reading->at++ : 0; }

/* Six bits in each byte, the lowest first; bit 6 says that more follow. */
static uint32_t python_lines_read_number(struct reading *reading) {
  uint32_t number = 0, byte;
  unsigned shift = 0;
  do {
    byte = read_byte(reading);
    if (shift < 32) number |= (byte & 63) << shift;
    shift += 6;
  } while (byte & 64);
  return number;
}

/* Bit 0 is the sign. */
static int64_t read_signed(struct reading *reading) {
  uint32_t number = python_lines_read_number(reading);
  return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* What an entry's code says; codes below ONE_LINE are of the same line. */
enum { ONE_LINE = 10, LINE_ONLY = 13, LONG = 14, NO_LOCATION = 15 };

/* Reads the rest of an entry. Returns how many lines further it is. */
static int64_t read_entry(struct reading *reading, unsigned code) {
  int64_t distance = 0;
  switch (code) {
  case NO_LOCATION: return 0;
  case LONG:
    distance = read_signed(reading);
    for (int i = 0; i < 3; i++) python_lines_read_number(reading); /* the end's line, the columns */
    return distance;
  case LINE_ONLY: return read_signed(reading);
  case ONE_LINE:
  case ONE_LINE + 1:
  case ONE_LINE + 2:
    read_byte(reading);
    read_byte(reading);
    return code - ONE_LINE;
  default: read_byte(reading); return 0;
  }
}

static int64_t line_of_locations(const uint8_t *table, size_t count, int64_t line, int64_t position) {
  struct reading reading = {table, table + count};
  int64_t end = 0;
  while (reading.at < reading.end && end <= position) {
    uint32_t first = read_byte(&reading);
    line += read_entry(&reading, first >> 3 & 15);
    end += ((first & 7) + 1) * UNIT;
  }
  return line;
}

/* ---- shared ---- */

uint32_t python_line(enum python_lines format, const uint8_t *table, size_t count, int32_t first_line,
                     int64_t position) {
  int64_t line = first_line;
  if (position >= 0) switch (format) {
    case PYTHON_LNOTAB: line = line_of_lnotab(table, count, line, position); break;
    case PYTHON_LINETABLE: line = line_of_linetable(table, count, line, position); break;
    case PYTHON_LOCATIONS: line = line_of_locations(table, count, line, position);
    }
  return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
/* SPDX-License-Identifier: MIT */
