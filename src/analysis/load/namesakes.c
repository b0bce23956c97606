/* Two passes over the frames: the first finds which names have several homes, the second renames. Paths of one
 * header differ between the units that include it, so homes are names without folders; two files of one name
 * stay one row. Where the home of a function is not known, it keeps its name. Homes of Python's functions tell
 * files apart, with folders where they must (interpreter.h). */
#include "analysis/load/namesakes.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct namesake {
  uint32_t function, module, home; /* numbers of strings; the home that was seen first */
  bool several;
};

struct namesakes {
  struct namesake *list;
  size_t count, capacity;
  struct index by_name;
};

static uint64_t namesakes_hash_of(const struct frame *frame) {
  return hash_combine(frame->function, frame->module);
}

static struct namesake *namesakes_find(struct namesakes *namesakes, const struct frame *frame) {
  struct index_walk walk = {.hash = namesakes_hash_of(frame)};
  for (uint32_t number; (number = index_next(&namesakes->by_name, &walk));) {
    struct namesake *found = &namesakes->list[number - 1];
    if (found->function == frame->function && found->module == frame->module) return found;
  }
  return NULL;
}

static bool namesakes_note(struct namesakes *namesakes, const struct frame *frame) {
  struct namesake *found = namesakes_find(namesakes, frame);
  if (found) {
    found->several = found->several || found->home != frame->home;
    return true;
  }
  struct namesake added = {frame->function, frame->module, frame->home, false};
  return ARRAY_ADD(namesakes->list, namesakes->count, namesakes->capacity, added) &&
         index_add(&namesakes->by_name, namesakes_hash_of(frame), (uint32_t)namesakes->count);
}

/* The code of a Python file outside its functions: each file has it. */
static bool namesakes_is_module(const struct names *names, const struct frame *frame) {
  return !strcmp(strings_text(names->strings, frame->function), "<module>");
}

/* False without memory. */
static bool rename_frame(struct names *names, struct frame *frame) {
  char *text;
  if (asprintf(&text, "%s (%s)", strings_text(names->strings, frame->function),
               strings_text(names->strings, frame->home)) < 0)
    return false;
  frame->function = strings_intern(names->strings, text);
  free(text);
  return frame->function;
}

/* ---- shared ---- */

bool namesake_split(const char *name, const char *file, struct namesake_parts *parts) {
  size_t length = strlen(name), last = strlen(path_name(file)), begin = length - last - 1;
  if (!last || length < last + 4 || name[length - 1] != ')' ||
      memcmp(name + begin, path_name(file), last) != 0)
    return false;
  while (begin > 2 && !text_begins(name + begin - 2, " (")) begin--;
  bool whole = begin == length - last - 1 || name[length - last - 2] == '/';
  if (begin <= 2 || !whole) return false;
  *parts = (struct namesake_parts){name + begin, (int)begin - 2, (int)(length - begin) - 1};
  return true;
}

wn_status namesakes_rename(struct names *names, uint32_t nodes) {
  struct namesakes namesakes = {.count = 0};
  size_t frames = 0;
  bool done = true;
  for (uint32_t node = 1; node <= nodes; node++)
    if (names->first[node] + names->count[node] > frames) frames = names->first[node] + names->count[node];
  for (size_t i = 0; i < frames && done; i++)
    if (names->frame[i].home) done = namesakes_note(&namesakes, &names->frame[i]);
  for (size_t i = 0; i < frames && done; i++) {
    const struct namesake *found = names->frame[i].home ? namesakes_find(&namesakes, &names->frame[i]) : NULL;
    if (found && (found->several || namesakes_is_module(names, &names->frame[i])))
      done = rename_frame(names, &names->frame[i]);
  }
  free(namesakes.list);
  free(namesakes.by_name.slots);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the names");
}
/* SPDX-License-Identifier: MIT */
