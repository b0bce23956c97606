/* The page: one HTML file that shows a recording, without any other file and without a network.
 *
 * The file is the template viewer/page.html, which is compiled in with viewer/engine.wasm, the analysis
 * for browsers. Four markers in it are replaced:
 * <!--winnow:head--> by <meta name="winnow-view" content="ADDRESS">, if the page is to open with
 *   another view than the usual one: the part of its address behind #; and by <meta name="winnow-file"
 *   content="NAME"> and winnow-before, the traces as a command would name them;
 * <!--winnow:text--> by a report as plain text, for those who run no scripts;
 * <!--winnow:engine--> by the engine, in an element of its own, deflated and in base64;
 * <!--winnow:data--> by the data. Each block of the container (container.h) is an element
 *   <script type="application/octet-stream" data-section="ROWS" data-block="0" data-blocks="7"
 *    data-raw="1048576" data-codec="deflate-raw" data-crc="1a2b3c4d">BASE64</script>
 * data-raw is the length when inflated, data-crc the checksum of the inflated bytes in hexadecimal.
 * The codec is deflate-raw or raw. The blocks of a second recording, with which the page compares,
 * have data-run="before" too, and stand before the others.
 *
 * No name of the recording is in the file but in the text, where it is escaped, and in base64; what
 * a user typed is in the address and in the traces' names, where it is escaped. So nothing can break
 * out of its place. */
#pragma once

#include "page/container.h"
#include <stdio.h>

/* Called for each block that was written: the fraction of the rows that are written. */
typedef void html_progress(double done, void *context);

/* What the head of a page says. */
struct html_head {
  const char *address;       /* of the view to open; NULL: the usual one */
  const char *file, *before; /* the traces' names; NULL: not known, or none */
};

struct html_options {
  struct html_head head;
  const char *text; /* the report */
  /* Sections that are no part of the recording. They come first in the file. */
  const struct container_section *extras;
  size_t extra_count;
  struct container_options container;
  html_progress *progress; /* or NULL */
  void *progress_context;
};

/* How many bytes were written, and how many of these for rows. */
struct html_size {
  uint64_t bytes, rows;
};

/* Writes the page. `before`: the recording with which it is compared, or NULL. The errors of the
 * stream are for the caller to see (ferror). WN_ENOMEM; WN_EIO: the stream failed. */
wn_status html_write(FILE *out, const struct recording *recording, const struct recording *before,
                     const struct html_options *options, struct html_size *size);

/* Writes the page without engine and data, for a server that answers its questions: <meta name="winnow-server">
 * is at the first marker, and the policy in the page allows requests to the server. */
void html_write_served(FILE *out, const struct html_head *head, const char *text);

/* Writes a text into HTML, also into an attribute in double quotes. Returns how many bytes it
 * wrote. */
size_t html_put_text(FILE *out, const char *text);

/* The policy (Content-Security-Policy) of that page as a header. The caller frees it. NULL: no
 * memory. */
char *html_served_policy(void);
/* SPDX-License-Identifier: MIT */
