/* Numbers as people read them, and progress on a terminal. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "analysis/estimate.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Each writes to the buffer and returns it. */
const char *text_bytes(char buffer[32], double bytes); /* 1.50 GB (powers of 1000), 980 B */
const char *text_count(char buffer[32], double count); /* 12,345 or 3.4 million */
const char *text_number_of(char buffer[64], double count, const char *what); /* 1 block, 12 blocks */
const char *text_time(char buffer[32], uint64_t ns);                         /* 1.83 s, 12.0 ms */
const char *text_range(char buffer[64],
                       const struct estimate *bytes); /* 92.1–101 MB, or "exact" if it is a point */

/* For columns: the interval behind a number, in the number's own unit, so that it needs none:
 * "1.92–2.88"; with a unit where that would be far off. Empty if it is a point. */
const char *text_short_range(char buffer[32], const struct estimate *bytes);
const char *text_share(char buffer[32], double share); /* 66 %, 3.1 % */
const char *text_share_range(char buffer[32], const struct estimate *share);

/* "24,200 blocks (22,100–26,400; 37 samples)", rounded to what the interval allows; "24,190 blocks"
 * if it is a point. */
const char *text_estimated_number(char buffer[160], const struct estimate *count, const char *what);

/* Terminal columns of a text, as text_plain prints it. */
size_t text_columns(const char *text);

/* How many of its first bytes take at most so many columns. */
size_t text_that_fits(const char *text, size_t length, size_t columns);

/* Pads with blanks to `columns` (negative: on the left) and prints. */
void text_pad(FILE *out, const char *text, int columns);

/* How what follows looks, where that is a terminal with colours and NO_COLOR is not set. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_WARNING };
void text_style(FILE *out, enum style style);

/* Prints bytes that anybody may have chosen, such as names in a trace: what would disturb a
 * terminal (sign.h) becomes question marks. text_name: up to a NUL. */
void text_plain(FILE *out, const char *text, size_t length);
void text_name(FILE *out, const char *name);

/* Prints a word as a shell takes it, in quotes where it needs them, and plain as text_plain
 * does. */
void text_word(FILE *out, const char *word);

/* Prints words wrapped at the terminal's width, each line behind `indent` blanks; plain. Words
 * wider than a line are broken. */
void text_paragraph(FILE *out, const char *text, int indent);

/* The same behind a name, which takes `indent` columns at most. */
void text_entry(FILE *out, const char *name, const char *text, int indent);

/* Of the terminal, else $COLUMNS, else 100; at least 40, at most 160. */
int text_width(void);

/* Progress: shown on standard error if it is a terminal and the work takes longer than a second. */
struct progress {
  const char *doing;
  uint64_t began_ns, shown_ns;
};
void progress_begin(struct progress *progress, const char *doing);
void progress_show(double done, void *progress);
void progress_end(struct progress *progress);

#endif
/* SPDX-License-Identifier: MIT */
