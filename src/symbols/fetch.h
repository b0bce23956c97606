/* Fetches debug files from the servers in DEBUGINFOD_URLS into debuginfod's own cache, several at
 * once, by the library libdebuginfod, which is loaded when it is first needed. It remembers what no
 * server has (cache_miss_s, 10 minutes), so that this is not asked again and again.
 *
 * SILENCE: a file of which no byte comes for DEBUGINFOD_TIMEOUT seconds, or 5 where that is not
 * set, is given up. If no server has said anything at all in that time, all others are, too.
 *
 * PAUSE: after such a silence, or Ctrl-C, this process asks no server for 10 minutes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FETCH_ID_MOST = 64 };

struct fetch_file {
  unsigned char build_id[FETCH_ID_MOST];
  size_t build_id_bytes;
  /* The result. */
  char *path; /* in debuginfod's cache, or NULL; the caller frees it */
  int error;  /* without a path. ENOENT: no server has the file; ETIMEDOUT: SILENCE; ECANCELED: Ctrl-C */
};

/* Called repeatedly while files come: which fraction of them is there, 0 to 1. */
typedef void fetch_progress(double done, void *context);

/* Notes the servers that DEBUGINFOD_URLS names, and empties the variable of this process, so that
 * libdwfl, which would ask one after the other, asks none. To be called before libdwfl is used. */
void fetch_begin(void);

/* Whether there are servers to ask now. */
bool fetch_has_servers(void);

/* The seconds of SILENCE. */
unsigned fetch_silence(void);

/* Fetches the debug files. Returns when each of them has a path or an error. Meanwhile SIGINT,
 * unless it is ignored or blocked, ends the fetching in place of the process; a second one ends
 * that. What came until then is there. ENOSYS: libdebuginfod cannot be used. One call at a time.
 * `progress` may be NULL. */
void fetch_files(struct fetch_file *files, size_t count, fetch_progress *progress, void *context);
/* SPDX-License-Identifier: MIT */
