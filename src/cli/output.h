/* A file, or a folder of files, that is written as a whole or not at all.
 *
 * What is written goes to a temporary file beside the target, which takes the target's name once it
 * is complete. So an older file stays until then, and a failure, or a signal that ends the command,
 * leaves nothing. A folder is made likewise; the only folder that it replaces is an empty one.
 * Standard output and what is no regular file, such as a pipe, get all bytes at the end. One output
 * at a time. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <winnow/status.h>

enum { OUTPUT_FILES_MOST = 8 };

struct output {
  FILE *file;                      /* of a folder the first one */
  FILE *folder[OUTPUT_FILES_MOST]; /* its files */
  int files;                       /* so many; 0: it is no folder */
  const char *name;                /* "-": standard output */
  bool whole;                      /* a temporary file that takes the name */
  bool is_private;                 /* nobody but the user may read it */
};

/* Writes the name of the output for a trace: in the current folder, with `extension` in the place of
 * .trace. False: the trace is standard input, or the name is too long. */
bool output_name(const char *trace, const char *extension, char name[FILENAME_MAX]);

/* WN_EIO: wn_last_error says why the target cannot be written. */
wn_status output_open(struct output *output, const char *name);

/* Lets nobody but the user read the file that takes the name; others get the permissions that a new
 * file has once they are complete. */
void output_make_private(struct output *output);

/* The name of the temporary file, which is empty for standard output and what is no regular file. */
const char *output_temporary(void);

/* The folder gets the files of these names, which end with NULL. WN_EIO: there is a file of that name,
 * or a folder that is not empty, or none can be made. */
wn_status output_open_folder(struct output *output, const char *name, const char *const *files);

/* Removes what was written so far; not of a folder. */
wn_status output_restart(struct output *output);

/* Completes the target, or gives it up. Either closes the output. */
wn_status output_finish(struct output *output);
void output_abandon(struct output *output);
/* SPDX-License-Identifier: MIT */
