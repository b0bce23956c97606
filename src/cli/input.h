/* The file from which a trace is read: a file by its name, or standard input for "-". Both may be
 * pipes. */
#pragma once

#include <stdbool.h>

struct input {
  const char *name; /* for messages */
  char path[64];    /* path of a copy; empty: the name is the path */
  int descriptor;   /* of the copy; -1: there is no copy */
};

/* Opens an input. Standard input and pipes are copied to an anonymous file. False, with
 * wn_last_error set, if that fails. */
bool input_open(struct input *input, const char *name);
void input_close(struct input *input);

static inline const char *input_path(const struct input *input) {
  return *input->path ? input->path : input->name;
}

/* Whether a process is writing the trace. False for an empty file: the test locks the file for a
 * moment, and a process that is about to write it would find it locked. */
bool input_is_growing(const char *path);

/* wn_last_error, with the input's name instead of the copy's path. */
const char *input_error(const struct input *input, char buffer[512]);

/* Whether both names are of one file. False if one of them is of none. */
bool input_is_same_file(const char *one, const char *other);
/* SPDX-License-Identifier: MIT */
