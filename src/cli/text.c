/* Formats numbers, pads and wraps text, and shows progress. Numbers have three significant digits;
 * widths are columns of a terminal. */
#include "cli/text.h"

#include "base/os.h"
#include "base/utf8.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* ---- characters ---- */

/* The characters of a text, as a terminal shows them. Names of functions, files and programs can
 * have any bytes, and come from programs that are not trusted. */
struct character {
  size_t bytes;   /* 1 or more */
  size_t columns; /* columns of a terminal that it takes */
  bool shown;     /* false: print '?' instead, since it would control the terminal or is not UTF-8 */
};

/* Where the locale is not UTF-8, wcwidth fails and each character takes one column (ascii.c). */
static size_t terminal_character_columns_of(uint32_t code) {
  int columns = code < 0x80 ? 1 : wcwidth((wchar_t)code);
  return columns < 0 ? 1 : (size_t)columns;
}

/* The first character of a text of `length` bytes, 1 or more. */
static struct character character_at(const char *text, size_t length) {
  uint32_t code;
  size_t bytes = utf8_decode(text, length, &code);
  if (!bytes) return (struct character){.bytes = 1, .columns = 1};
  if (utf8_is_obeyed(code)) return (struct character){.bytes = bytes, .columns = 1};
  return (struct character){.bytes = bytes, .columns = terminal_character_columns_of(code), .shown = true};
}

/* ---- numbers ---- */

static const uint64_t second_ns = 1000000000;

/* Three significant digits, no exponent. */
static void three_digits(char *buffer, size_t size, double value, const char *unit) {
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  snprintf(buffer, size, "%.*f%s", decimals, value, unit);
}

/* The power of 1000 by which a number is scaled. */
static int text_scale_of(double value) {
  int scale = 0;
  for (; value >= 999.5 && scale < 5; value /= 1000) scale++;
  return scale;
}

static const char *const byte_units[] = {" B", " kB", " MB", " GB", " TB", " PB"};

/* Whether a shell takes the word without quotes. */
static bool is_plain_word(const char *word) {
  const char *at = word;
  while (isalnum((unsigned char)*at) || (unsigned char)*at >= 0x80 || (*at && strchr("_./-+,:@%=", *at)))
    at++;
  return *word && !*at;
}

/* ---- paragraphs ---- */

/* Whether a blank stands between a number and its unit. No line is broken there. */
static bool joins(const char *text, const char *blank) {
  static const char *const units[] = {"%", "B", "kB", "MB", "GB", "TB", "PB", "us", "ms", "s", "min", "h"};
  if (*blank != ' ' || blank == text || !isdigit((unsigned char)blank[-1])) return false;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    size_t length = strlen(units[i]);
    if (!strncmp(blank + 1, units[i], length) && !isalnum((unsigned char)blank[1 + length])) return true;
  }
  return false;
}

static size_t text_columns_of(const char *text, size_t length) {
  size_t columns = 0;
  for (size_t at = 0; at < length;) {
    struct character character = character_at(text + at, length - at);
    columns += character.columns;
    at += character.bytes;
  }
  return columns;
}

/* The length of the text up to the first blank at which a line may be broken. */
static size_t unbroken(const char *text) {
  size_t length = strcspn(text, " ");
  while (joins(text, text + length)) length += 1 + strcspn(text + length + 1, " ");
  return length;
}

/* Numbers from a million on are written with words. */
static const char *const count_units[] = {"", "", " million", " billion", " trillion", " quadrillion"};

static bool is_in_words(double count) { return count >= 999999.5; }

/* "557–3,880", or with both ends in the unit of the larger one: "0.95–1.12 million". */
static void count_range(char buffer[72], double low, double high) {
  char from[32], to[32];
  if (is_in_words(high)) {
    int scale = text_scale_of(high);
    three_digits(from, sizeof from, low / pow(1000, scale), "");
    text_count(to, high);
  } else {
    text_count(from, low);
    text_count(to, high);
  }
  snprintf(buffer, 72, "%s–%s", from, to);
}

/* ---- shared ---- */

const char *text_bytes(char buffer[32], double bytes) {
  int scale = text_scale_of(bytes);
  if (!scale)
    snprintf(buffer, 32, "%.0f B", bytes);
  else
    three_digits(buffer, 32, bytes / pow(1000, scale), byte_units[scale]);
  return buffer;
}

const char *text_count(char buffer[32], double count) {
  if (is_in_words(count)) {
    int scale = text_scale_of(count);
    three_digits(buffer, 32, count / pow(1000, scale), count_units[scale]);
  } else if (count >= 999.5) {
    int whole = (int)(count + 0.5);
    snprintf(buffer, 32, "%d,%03d", whole / 1000, whole % 1000);
  } else {
    snprintf(buffer, 32, "%.0f", count);
  }
  return buffer;
}

const char *text_number_of(char buffer[64], double count, const char *what) {
  char number[32];
  text_count(number, count);
  bool hisses = what[0] && what[strlen(what) - 1] == 's'; /* "processes" */
  snprintf(buffer, 64, "%s %s%s", number, what, !strcmp(number, "1") ? "" : hisses ? "es" : "s");
  return buffer;
}

const char *text_day(char buffer[32], uint64_t seconds) {
  time_t time = (time_t)seconds;
  struct tm parts;
  strftime(buffer, 32, "%Y-%m-%d", gmtime_r(&time, &parts));
  return buffer;
}

const char *text_time(char buffer[32], uint64_t ns) {
  double s = (double)ns / (double)second_ns;
  if (!ns) return strcpy(buffer, "0 s");
  if (s >= 7200)
    snprintf(buffer, 32, "%.1f h", s / 3600);
  else if (s >= 120)
    snprintf(buffer, 32, "%.1f min", s / 60);
  else if (s >= 1)
    three_digits(buffer, 32, s, " s");
  else if (s >= 1e-3)
    three_digits(buffer, 32, s * 1e3, " ms");
  else
    three_digits(buffer, 32, s * 1e6, " us");
  return buffer;
}

const char *text_range(char buffer[64], const struct estimate *bytes) {
  char low[24], high[28];
  if (bytes->low == bytes->high) return strcpy(buffer, "exact");
  int scale = text_scale_of(bytes->high);
  double unit = pow(1000, scale);
  three_digits(low, sizeof low, bytes->low / unit, "");
  three_digits(high, sizeof high, bytes->high / unit, byte_units[scale]);
  snprintf(buffer, 64, "%s–%s", low, high);
  return buffer;
}

const char *text_short_range(char buffer[32], const struct estimate *bytes) {
  char low[32], high[32];
  *buffer = 0;
  if (bytes->low == bytes->high) return buffer;
  int scale = text_scale_of(bytes->estimate), far = text_scale_of(bytes->high) > scale + 1;
  if (far) scale = text_scale_of(bytes->high);
  double unit = pow(1000, scale);
  three_digits(low, sizeof low, bytes->low / unit, "");
  three_digits(high, sizeof high, bytes->high / unit, far ? byte_units[scale] : "");
  if (!scale) snprintf(low, sizeof low, "%.0f", bytes->low), snprintf(high, sizeof high, "%.0f", bytes->high);
  snprintf(buffer, 32, "%.12s–%.12s", low, high);
  return buffer;
}

const char *text_change(char buffer[40], double bytes) {
  char size[32];
  text_bytes(size, fabs(bytes));
  snprintf(buffer, 40, "%s%s", bytes < 0 ? "-" : "+", size);
  return strcmp(size, "0 B") ? buffer : strcpy(buffer, "0 B");
}

/* An end of the interval of a change, in a power of 1000: "+1.80", "-310", or "0", also if it
 * rounds to 0. */
static void change_end(char buffer[24], double bytes, int scale) {
  buffer[0] = bytes < 0 ? '-' : '+';
  if (scale)
    three_digits(buffer + 1, 23, fabs(bytes) / pow(1000, scale), "");
  else
    snprintf(buffer + 1, 23, "%.0f", fabs(bytes));
  if (!strpbrk(buffer, "123456789")) strcpy(buffer + (bytes != 0), "0"); /* with its sign, if it has one */
}

/* Both ends in the unit of the larger one. */
const char *text_change_range(char buffer[64], const struct estimate *bytes) {
  char low[24], high[24];
  int scale = text_scale_of(fmax(fabs(bytes->low), fabs(bytes->high)));
  if (bytes->low == bytes->high) return strcpy(buffer, "exact");
  change_end(low, bytes->low, scale);
  change_end(high, bytes->high, scale);
  snprintf(buffer, 64, "%s to %s%s", low, high, byte_units[scale]);
  return buffer;
}

/* At least two significant digits, and all digits before the point. */
static void percent(char *buffer, size_t size, double share, const char *unit) {
  snprintf(buffer, size, "%.*f%s", share < 0.0995 ? 1 : 0, 100 * share, unit);
}

const char *text_rate(char buffer[96], double rate, uint32_t word_bytes) {
  char bytes[32];
  if (rate >= 1) return "1: every block";
  snprintf(buffer, 96, "%g a word of %u bytes: one sample every %s", rate, word_bytes,
           text_bytes(bytes, word_bytes / rate));
  return buffer;
}

/* What is not all is not called so. */
const char *text_share(char buffer[32], double share) {
  if (share >= 0.995 && share < 1 - 1e-9)
    snprintf(buffer, 32, "%.1f %%", floor(1000 * share) / 10);
  else
    percent(buffer, 32, share, " %");
  return buffer;
}

const char *text_share_range(char buffer[32], const struct estimate *share) {
  char low[16], high[16];
  *buffer = 0;
  if (share->high - share->low < 1e-9) return buffer; /* an exact share; its ends may differ by rounding */
  percent(low, sizeof low, share->low, "");
  percent(high, sizeof high, share->high, "");
  if (strcmp(low, high) != 0) snprintf(buffer, 32, "%.12s–%.12s", low, high);
  return buffer;
}

static double three_significant(double number) {
  double unit = number >= 1000 ? pow(10, floor(log10(number)) - 2) : 1;
  return round(number / unit) * unit;
}

const char *text_estimated_number(char buffer[160], const struct estimate *count, const char *what) {
  char number[64], range[72], samples[64];
  if (count->low == count->high) return text_number_of(buffer, count->estimate, what);
  text_number_of(number, three_significant(count->estimate), what);
  count_range(range, three_significant(count->low), three_significant(count->high));
  text_number_of(samples, (double)count->samples, "sample");
  snprintf(buffer, 160, "%s (%.40s; %.40s)", number, range, samples);
  return buffer;
}

const char *text_about(char buffer[64], const struct estimate *count, const char *what) {
  return text_number_of(buffer, three_significant(count->estimate), what);
}

const char *text_short_count(char buffer[32], double count) {
  if (count >= 999500)
    snprintf(buffer, 32, count >= 99.5e6 ? "%.0f M" : "%.1f M", count / 1e6);
  else
    text_count(buffer, three_significant(count));
  return buffer;
}

const char *text_part_of_samples(char buffer[32], double kept) {
  double of = round(1 / kept);
  snprintf(buffer, 32, of >= 2 ? "1 of %.0f samples" : "%.0f of 10 samples",
           of >= 2 ? of : fmin(round(10 * kept), 9));
  return buffer;
}

size_t text_columns(const char *text) { return text_columns_of(text, strlen(text)); }

size_t text_that_fits(const char *text, size_t length, size_t columns) {
  size_t at = 0, taken = 0;
  while (at < length) {
    struct character character = character_at(text + at, length - at);
    if ((taken += character.columns) > columns) break;
    at += character.bytes;
  }
  return at;
}

void text_pad(FILE *out, const char *text, int columns) {
  int blanks = (columns < 0 ? -columns : columns) - (int)text_columns(text);
  if (blanks < 0) blanks = 0;
  if (columns < 0)
    fprintf(out, "%*s%s", blanks, "", text);
  else
    fprintf(out, "%s%*s", text, blanks, "");
}

void text_plain(FILE *out, const char *text, size_t length) {
  for (size_t at = 0; at < length;) {
    struct character character = character_at(text + at, length - at);
    if (character.shown)
      fwrite(text + at, 1, character.bytes, out);
    else
      fputc('?', out);
    at += character.bytes;
  }
}

void text_name(FILE *out, const char *name) { text_plain(out, name, strlen(name)); }

void text_word(FILE *out, const char *word) {
  if (is_plain_word(word)) {
    text_name(out, word);
    return;
  }
  fputc('\'', out);
  for (size_t length; *word; word += length) {
    length = *word == '\'' ? 1 : strcspn(word, "'");
    if (*word == '\'')
      fputs("'\\''", out);
    else
      text_plain(out, word, length);
  }
  fputc('\'', out);
}

void text_file(FILE *out, const char *path) {
  if (path[0] == '-' && path[1]) fputs("./", out); /* "-" alone is standard input */
  text_word(out, path);
}

static bool is_for_file; /* set by text_for_file */
static int pager_width;  /* set by text_for_pager; 0: there is no pager */

void text_for_file(void) { is_for_file = true; }

void text_for_pager(void) { pager_width = text_width(); }

void text_style(FILE *out, enum style style) {
  static const char *const codes[] = {"\033[0m",  "\033[1m",    "\033[2m",
                                      "\033[33m", "\033[1;31m", "\033[1;32m"};
  const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (is_for_file || (none && *none) || !terminal || !strcmp(terminal, "dumb") ||
      !(isatty(out == stderr ? 2 : 1) || (pager_width && out == stdout)))
    return;
  fputs(codes[style], out);
}

enum { WIDTH_LEAST = 40, WIDTH_USUAL = 100, WIDTH_MOST = 160 };

int text_width(void) {
  struct winsize window;
  const char *given = getenv("COLUMNS");
  int columns = given ? atoi(given) : 0;
  if (is_for_file) return WIDTH_USUAL;
  if (pager_width) return pager_width;
  if (!ioctl(1, TIOCGWINSZ, &window) && window.ws_col) columns = window.ws_col;
  if (!columns) return WIDTH_USUAL;
  return columns < WIDTH_LEAST ? WIDTH_LEAST : columns > WIDTH_MOST ? WIDTH_MOST : columns;
}

/* Wraps a text. The first line is indented by `first`, the others by `indent`. Blanks between two
 * words are kept, unless the line is broken there. Returns the number of lines. */
static int wrap(FILE *out, const char *text, int first, int indent) {
  int lines = 1;
  size_t width = (size_t)(text_width() - indent), column = 0;
  for (const char *word; *(word = text + strspn(text, " ")); text = word) {
    size_t blanks = column ? (size_t)(word - text) : (size_t)first;
    size_t length = unbroken(word), columns = text_columns_of(word, length);
    if (column && column + blanks + columns > width) {
      fputc('\n', out);
      lines++;
      blanks = (size_t)indent;
      column = 0;
    }
    if (columns > width) {
      length = text_that_fits(word, length, width);
      columns = text_columns_of(word, length);
    }
    fprintf(out, "%*s", (int)blanks, "");
    text_plain(out, word, length);
    column += columns + (column ? blanks : 0);
    word += length;
  }
  fputc('\n', out);
  return lines;
}

void text_paragraph(FILE *out, const char *text, int indent) { wrap(out, text, indent, indent); }

int text_continue(FILE *out, const char *text, int indent) { return wrap(out, text, 0, indent); }

void text_entry(FILE *out, const char *name, const char *text, int indent) {
  text_pad(out, name, indent);
  wrap(out, text, 0, indent);
}

size_t text_distance(const char *one, const char *other) {
  size_t row[TEXT_DISTANCE_MOST + 1], columns = strnlen(other, TEXT_DISTANCE_MOST);
  for (size_t j = 0; j <= columns; j++) row[j] = j;
  for (size_t i = 0; i < TEXT_DISTANCE_MOST && one[i]; i++) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= columns; j++) {
      size_t least = diagonal + (one[i] != other[j - 1]);
      diagonal = row[j];
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      if (row[j] + 1 < least) least = row[j] + 1;
      row[j] = least;
    }
  }
  return row[columns];
}

void progress_begin(struct progress *progress, const char *doing) {
  *progress = (struct progress){.doing = doing, .began_ns = os_monotonic_ns()};
}

void progress_show(double done, void *context) {
  struct progress *progress = context;
  uint64_t now = os_monotonic_ns();
  if (now - progress->began_ns < second_ns || now - progress->shown_ns < second_ns / 10 || !isatty(2)) return;
  progress->shown_ns = now;
  fprintf(stderr, "\r%s %.0f %%\033[K", progress->doing, done * 100);
}

void progress_end(struct progress *progress) {
  if (progress->shown_ns) fprintf(stderr, "\r\033[K");
  progress->shown_ns = 0;
}
/* SPDX-License-Identifier: MIT */
