/* Numbers and texts in a form for people, and progress on a terminal; and what all of the output can go
 * through: a pager, and a filter where the locale is not UTF-8. */
#pragma once

#include "analysis/load/estimate.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_run;

/* Each writes to the buffer and returns it. */
const char *text_bytes(char buffer[32], double bytes); /* 1.50 GB (powers of 1000), 980 B */
const char *text_count(char buffer[32], double count); /* 12,345 or 3.4 million */
const char *text_number_of(char buffer[64], double count, const char *what); /* 1 block, 12 blocks */
const char *text_time(char buffer[32], uint64_t ns);                         /* 1.83 s, 12.0 ms */
const char *text_day(char buffer[32], uint64_t seconds);               /* 2026-11-30, of UTC; since 1970 */
const char *text_range(char buffer[64], const struct estimate *bytes); /* 92.1–101 MB, or "exact" */

/* For columns: the interval after a number, in the unit of that number and therefore without one:
 * "1.92–2.88". It has its own unit if its end is very far from the number. Empty if the number is
 * exact. */
const char *text_short_range(char buffer[32], const struct estimate *bytes);

/* A difference of bytes, and its interval, both with signs: "+21.1 MB", "-3.20 to +1.80 MB". */
const char *text_change(char buffer[40], double bytes);
const char *text_change_range(char buffer[64], const struct estimate *bytes);
const char *text_rate(char buffer[96], double rate, uint32_t word_bytes); /* of sampling, with its unit */
const char *text_share(char buffer[32], double share);                    /* 66 %, 3.1 % */
const char *text_share_range(char buffer[32], const struct estimate *share);

/* "24,200 blocks (22,100–26,400; 37 samples)", rounded to three digits; "24,190 blocks" if it is
 * exact. */
const char *text_estimated_number(char buffer[160], const struct estimate *count, const char *what);

/* The same without the interval: "24,200 blocks". And for columns: "24,200", "5.4 M". */
const char *text_about(char buffer[64], const struct estimate *count, const char *what);
const char *text_short_count(char buffer[32], double count);

/* "1 of 12 samples" or "7 of 10 samples", for a share below 1. */
const char *text_part_of_samples(char buffer[32], double kept);

/* The number of terminal columns that a text takes as text_plain prints it. */
size_t text_columns(const char *text);

/* The number of bytes at the start of a text that take at most so many columns. */
size_t text_that_fits(const char *text, size_t length, size_t columns);

/* Prints a text, padded with blanks to `columns`; negative: padded on the left. */
void text_pad(FILE *out, const char *text, int columns);

/* Sets the style of the text that follows, if the stream is a terminal with colours and NO_COLOR is
 * not set. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_WARNING, STYLE_ALARM, STYLE_GOOD };
void text_style(FILE *out, enum style style);

/* Prints untrusted bytes, such as names in a trace. What would disturb a terminal (character.h)
 * becomes question marks. text_name prints up to a NUL. */
void text_plain(FILE *out, const char *text, size_t length);
void text_name(FILE *out, const char *name);

/* Prints a word so that a shell reads it as one word, in quotes if necessary, and otherwise as
 * text_plain does. */
void text_word(FILE *out, const char *word);

/* As text_word, for a file that a command of Winnow is given: none looks like an option. */
void text_file(FILE *out, const char *path);

/* Prints a text as text_plain does, wrapped at the terminal's width, each line indented by
 * `indent`. Words wider than a line are broken. */
void text_paragraph(FILE *out, const char *text, int indent);

/* As text_paragraph, on a line that has `indent` columns already. Returns the number of lines. */
int text_continue(FILE *out, const char *text, int indent);

/* As text_paragraph, after a name that takes `indent` columns at most. */
void text_entry(FILE *out, const char *name, const char *text, int indent);

/* The least number of letters that must be put in, left out or replaced to make one word of another, of
 * which the letters behind these do not count. */
enum { TEXT_DISTANCE_MOST = 63 };
size_t text_distance(const char *one, const char *other);

/* From now on standard output is a text for a file: without styles, and 100 columns wide. */
void text_for_file(void);

/* From now on standard output is a pipe to a pager on this terminal: styles and width stay. */
void text_for_pager(void);

/* The width of the terminal, otherwise $COLUMNS, otherwise 100; limited to 40 to 160. */
int text_width(void);

/* Progress, shown on standard error if that is a terminal and the work takes longer than a second.
 */
struct progress {
  const char *doing;
  uint64_t began_ns, shown_ns;
};
void progress_begin(struct progress *progress, const char *doing);
void progress_show(double done, void *progress);
void progress_end(struct progress *progress);

/* If the locale is not UTF-8, makes *stream, stdout or stderr, a stream that writes ASCII: one
 * letter for each of the special characters that reports use, and '?' for any other. Not for JSON,
 * which is always UTF-8. */
void ascii_if_locale_asks(FILE **stream);

/* If standard output is a terminal, sends it from now on through $PAGER, or else through less, which
 * ends by itself if all fits on the screen. Returns what pager_end takes; NULL: there is no pager. */
FILE *pager_begin(void);

/* Waits until the user has read it all. */
void pager_end(FILE *pager);

/* The name by which a report calls a recorded process. Writes the title that the process gave itself,
 * otherwise its arguments as typed; then, in brackets, the name of its first thread if the process
 * changed that. `brief`: without the folder of the program. False, and nothing is written, if the
 * trace has neither. */
bool process_name_write(FILE *out, const struct trace_run *run, bool brief);

/* The length of the title that the process gave itself, without the blanks that pad titles of fixed
 * width. 0: there is none. */
int process_name_title(const struct trace_run *run);
/* SPDX-License-Identifier: MIT */
