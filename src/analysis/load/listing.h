/* A listing: the lines of source files around the code that allocated the most, for people who read
 * a recording where the files are not. Only a recording that was loaded with the option `lines` has
 * one: source text is often confidential.
 *
 * CHOICE. A place is a line of a file that a frame has. Places are taken in the order of their share
 * of the allocated bytes plus their share of bytes times lives, callees included, and each with
 * LISTING_AROUND lines on both sides. Lines that two places share are there once. Bounds: the text
 * of all lines, the places, the length of a line (the rest of it is cut), the size of a file.
 *
 * FILES. A file is read under the name that the debugging information gives, else below the
 * folders: under that name, then without its first folder, without its second, and so on. Only
 * regular files without NUL bytes are read. A trace names programs, and the files of a language
 * itself, and may come from a stranger, so that it could have keys and passwords put into a page.
 * So only files are read that lie below the folders that the user gives, or below the current one
 * if there are none; a link that leads elsewhere counts as what it leads to. A name of the trace
 * itself must have an extension, and none of its folders may be hidden or "..".
 *
 * AGE. A file that was written after the recording began, or after the program that has its code,
 * may have other lines than the program that ran. It is listed, and is said to have changed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

enum { LISTING_AROUND = 5 };

enum listed {
  LISTED,
  LISTED_CHANGED, /* newer than the recording or the program, or too short */
  LISTED_ABSENT,  /* not on this machine, or not readable */
  LISTED_UNFIT    /* not read: no regular file, no text, too large, in no folder, or not named as source is */
};

/* A file in which a chosen place is. */
struct listed_file {
  uint32_t file; /* a string of the names */
  uint8_t state; /* enum listed */
};

/* Consecutive lines of a file. */
struct excerpt {
  uint32_t file;         /* an index of the listing's files */
  uint32_t first, count; /* lines, from 1 on */
  char *text;            /* each line with '\n' at its end */
};

struct listing {
  bool given; /* lines were asked for */
  struct listed_file *files;
  struct excerpt *excerpts; /* ordered by file, then by line */
  size_t file_count, excerpt_count;
};

/* Reads the listing of a recording whose rows and names are there. `search`: folders, ended by
 * NULL; or NULL, or none: the current one. False: not enough memory. */
bool listing_read(struct recording *recording, const char *const *search);

void listing_destroy(struct listing *listing);

/* The file of a listing; NULL: no chosen place is in it. */
const struct listed_file *listing_file(const struct listing *listing, uint32_t file);

/* The excerpt that has a line; NULL: the listing does not have it. */
const struct excerpt *listing_excerpt(const struct listing *listing, uint32_t file, uint32_t line);

/* The beginning of a line that the excerpt has. It ends with '\n'. */
const char *excerpt_line(const struct excerpt *excerpt, uint32_t line);
/* SPDX-License-Identifier: MIT */
