/* The file that a trace is read from: as it is named, or "-", standard input. Either may be a
 * pipe. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>

struct input {
  const char *name; /* for messages */
  char path[64];    /* of a copy, or empty: then the name is the path */
  int descriptor;   /* of the copy; -1: none */
};

/* Copies standard input, if that is asked for, or a pipe, to a place without a name. False, and
 * wn_last_error is set, if that fails. */
bool input_open(struct input *input, const char *name);
void input_close(struct input *input);

static inline const char *input_path(const struct input *input) {
  return *input->path ? input->path : input->name;
}

/* wn_last_error, with the input's name instead of the copy's path. */
const char *input_error(const struct input *input, char buffer[512]);

#endif
/* SPDX-License-Identifier: MIT */
