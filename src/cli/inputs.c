/* Expands folders and patterns, in the order of names. */
#include "cli/inputs.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "cli/history_file.h"
#include "sources/files/open.h"
#include "trace/control.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static wn_status inputs_no_memory(void) {
  return error_set(WN_ENOMEM, "not enough memory for the list of traces");
}

static bool is_folder(const char *name) {
  struct stat found;
  return !stat(name, &found) && S_ISDIR(found.st_mode);
}

static bool is_pattern(const char *name) {
  struct stat found;
  return strpbrk(name, "*?[") && strcmp(name, "-") != 0 && stat(name, &found);
}

/* A file that cannot be opened may be a trace: the user is told that it is left out. */
static bool is_trace(const char *path) {
  struct stat found;
  return !stat(path, &found) && S_ISREG(found.st_mode) &&
         (source_is_trace(path) || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS));
}

/* The arrays grow alike; if one cannot, the others may have more room than is known. */
static bool inputs_make_room(struct inputs *inputs) {
  size_t wanted = inputs->count + 1, parts = inputs->capacity, opened = parts, names = parts;
  if (!array_reserve(&inputs->parts, &parts, wanted, sizeof *inputs->parts) ||
      !array_reserve(&inputs->inputs, &opened, wanted, sizeof *inputs->inputs) ||
      !array_reserve(&inputs->names, &names, wanted, sizeof *inputs->names))
    return false;
  inputs->capacity = parts;
  return true;
}

/* Adds a file, and takes its name. */
static wn_status inputs_add(struct inputs *inputs, char *name) {
  if (!name || !inputs_make_room(inputs)) return free(name), inputs_no_memory();
  inputs->names[inputs->count] = name;
  if (!input_open(&inputs->inputs[inputs->count], name)) return free(name), WN_EIO;
  inputs->count++;
  return WN_OK;
}

static int inputs_is_visible(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool is_awaited(const char *folder) {
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool awaited = descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
  if (descriptor >= 0) close(descriptor);
  return awaited;
}

static wn_status add_found(struct inputs *inputs, char *name, int depth);

/* Adds the traces in a folder, and in those `depth` levels below. */
static wn_status add_folder(struct inputs *inputs, const char *folder, int depth) {
  struct dirent **entries;
  size_t length = strlen(folder);
  wn_status error = WN_OK;
  int count = scandir(folder, &entries, inputs_is_visible, alphasort);
  if (count < 0) return error_set(WN_EIO, "%s: the folder cannot be read", folder);
  inputs->awaited |= is_awaited(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  for (int i = 0; i < count; i++) {
    char *name;
    const char *between = length == 1 && *folder == '/' ? "" : "/";
    if (asprintf(&name, "%.*s%s%s", (int)length, folder, between, entries[i]->d_name) < 0) name = NULL;
    if (!error)
      error = add_found(inputs, name, depth - 1);
    else
      free(name);
    free(entries[i]);
  }
  free(entries);
  return error;
}

/* Adds what a folder has or a pattern matches, if it is a trace or a folder of them. Takes the name. */
static wn_status add_found(struct inputs *inputs, char *name, int depth) {
  wn_status error = WN_OK;
  if (!name) return inputs_no_memory();
  if (history_is_one(name)) return free(name), WN_OK; /* it is read with its trace */
  if (is_trace(name)) return inputs_add(inputs, name);
  if (!is_folder(name))
    inputs->passed_over += !control_name_of(name);
  else if (depth >= 0)
    error = add_folder(inputs, name, depth);
  free(name);
  return error;
}

static wn_status add_named_folder(struct inputs *inputs, const char *folder) {
  size_t before = inputs->count;
  wn_status error = add_folder(inputs, folder, 1);
  if (error || inputs->count > before) return error;
  return error_set(WN_EINVAL, inputs->awaited ? "%s: no trace in it yet" : "%s: no file in it is a trace",
                   folder);
}

static wn_status add_pattern(struct inputs *inputs, const char *pattern) {
  glob_t found;
  size_t before = inputs->count;
  wn_status error = WN_OK;
  if (!glob(pattern, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc && !error; i++)
      error = add_found(inputs, strdup(found.gl_pathv[i]), 0);
    globfree(&found);
  }
  if (!error && inputs->count == before)
    error = error_set(WN_EINVAL, "%s: no file of such a name is a trace", pattern);
  return error;
}

/* Once all names are known: their addresses do not change any more. */
static void fill_parts(struct inputs *inputs) {
  for (size_t i = 0; i < inputs->count; i++) {
    struct input *input = &inputs->inputs[i];
    inputs->parts[i] = (struct joined_part){
        .path = input_path(input), .name = input->name, .writing = input_is_growing(input_path(input))};
  }
}

/* ---- shared ---- */

wn_status inputs_open(struct inputs *inputs, const char *const *arguments, size_t count) {
  *inputs = (struct inputs){.several = count > 1};
  wn_status error = WN_OK;
  for (size_t i = 0; i < count && !error; i++) {
    inputs->several = inputs->several || inputs_has_several(arguments[i]);
    error = is_folder(arguments[i])    ? add_named_folder(inputs, arguments[i])
            : is_pattern(arguments[i]) ? add_pattern(inputs, arguments[i])
                                       : inputs_add(inputs, strdup(arguments[i]));
  }
  if (error)
    inputs_close(inputs);
  else
    fill_parts(inputs);
  return error;
}

void inputs_close(struct inputs *inputs) {
  for (size_t i = 0; i < inputs->count; i++) {
    input_close(&inputs->inputs[i]);
    free(inputs->names[i]);
  }
  free(inputs->names);
  free(inputs->inputs);
  free(inputs->parts);
  *inputs = (struct inputs){.parts = NULL};
}

void inputs_trim(char **arguments, int count) {
  for (int i = 0; i < count; i++)
    for (size_t length = strlen(arguments[i]); length > 1 && arguments[i][length - 1] == '/';)
      arguments[i][--length] = 0;
}

bool inputs_has_several(const char *name) { return is_folder(name) || is_pattern(name); }

uint64_t inputs_stamp(const struct inputs *inputs) {
  uint64_t stamp = inputs->count;
  for (size_t i = 0; i < inputs->count; i++)
    stamp = hash_combine(hash_combine(stamp, hash_bytes(inputs->names[i], strlen(inputs->names[i]))),
                         source_stamp(inputs->parts[i].path));
  return stamp ? stamp : 1;
}

bool inputs_are_growing(const struct inputs *inputs) {
  if (inputs->awaited) return true;
  for (size_t i = 0; i < inputs->count; i++)
    if (inputs->parts[i].writing) return true;
  return false;
}
/* SPDX-License-Identifier: MIT */
