/* Numbers the labels of an answer, and writes them. */
#include "page/labels.h"

#include "base/error.h"
#include "base/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_before(const struct labels *labels, uint32_t label) {
  return labels->before && label >= labels->before_from;
}
static const struct names *names_for(const struct labels *labels, uint32_t label) {
  return is_before(labels, label) ? labels->before : labels->names;
}
static const struct names *after_for(const struct labels *labels, uint32_t label) {
  return is_before(labels, label) ? labels->names : NULL;
}

/* Puts U+FFFD in the place of each byte that is no UTF-8, as JSON does: a page asks for the text that it was
 * answered. */
static void make_valid(char text[LABEL_TEXT_MOST]) {
  static const char replacement[] = "\xef\xbf\xbd";
  enum { REPLACEMENT = sizeof replacement - 1 };
  uint32_t code;
  for (size_t at = 0, length, left = strlen(text); left; at += length, left -= length) {
    length = utf8_decode(text + at, left, &code);
    if (length) continue;
    size_t room = LABEL_TEXT_MOST - 1 - at, rest = left - 1;
    length = room < REPLACEMENT ? 0 : REPLACEMENT;
    if (rest > room - length) rest = room - length; /* what has no room is cut */
    left = length ? length + rest : 0;
    memmove(text + at + length, text + at + 1, left - length);
    memcpy(text + at, replacement, length);
    text[at + left] = 0;
  }
}

/* `after`: as in label_write. */
static void labels_write_text(const struct call_tree *tree, const struct names *names,
                              const struct names *after, uint32_t label, char text[LABEL_TEXT_MOST]) {
  const struct label *found = &tree->labels[label];
  const char *module = strings_text(names->strings, found->module);
  bool shared = found->function && names->shared && names->shared[found->function];
  call_tree_label(tree, names, label, text, LABEL_TEXT_MOST);
  size_t length = strlen(text), room = LABEL_TEXT_MOST - length;
  if (after && fate_is_foreign(found, names, after))
    snprintf(text + length, room, " [before]");
  else if (shared && *module)
    snprintf(text + length, room, *module == '[' ? " %s" : " [%s]", module);
  make_valid(text);
}

/* ---- shared ---- */

wn_status labels_create(struct labels *labels, const struct call_tree *tree, const struct names *names) {
  *labels = (struct labels){.tree = tree,
                            .names = names,
                            .number = calloc(tree->label_count + 1, sizeof *labels->number),
                            .used = calloc(tree->label_count + 1, sizeof *labels->used)};
  if (labels->number && labels->used) return WN_OK;
  labels_destroy(labels);
  return error_set(WN_ENOMEM, "not enough memory for the answer");
}

void labels_destroy(struct labels *labels) {
  free(labels->number);
  free(labels->used);
  *labels = (struct labels){.tree = NULL};
}

uint32_t labels_number(struct labels *labels, uint32_t label) {
  if (!labels->number[label]) {
    labels->used[labels->count++] = label;
    labels->number[label] = labels->count;
  }
  return labels->number[label] - 1;
}

void labels_join(struct labels *labels, const struct merged_tree *joined, const struct names *before) {
  labels->before = before;
  labels->before_from = joined->after_label_count;
}

void label_write(const struct call_tree *tree, const struct names *names, const struct names *after,
                 uint32_t label, struct json *json) {
  const struct label *of = &tree->labels[label];
  char text[LABEL_TEXT_MOST];
  labels_write_text(tree, names, after, label, text);
  json_begin(json, NULL, '{');
  json_string(json, "text", text);
  json_string(json, "function", strings_text(names->strings, of->function));
  json_string(json, "module", strings_text(names->strings, of->module));
  json_string(json, "file", strings_text(names->strings, of->file ? of->file : of->source));
  json_integer(json, "line", of->line);
  json_end(json, '}');
}

void labels_write(const struct labels *labels, struct json *json) {
  json_begin(json, "labels", '[');
  for (uint32_t i = 0; i < labels->count; i++) {
    uint32_t label = labels->used[i];
    label_write(labels->tree, names_for(labels, label), after_for(labels, label), label, json);
  }
  json_end(json, ']');
}

bool label_has_line(const struct label *label, const struct label *line) {
  return line->line && line->file && (label->function || label->file) &&
         (!label->function || line->function == label->function) &&
         (!label->function || line->module == label->module) && (!label->file || line->file == label->file) &&
         (!label->line || line->line == label->line);
}

void labels_text(const struct labels *labels, uint32_t label, char text[LABEL_TEXT_MOST]) {
  labels_write_text(labels->tree, names_for(labels, label), after_for(labels, label), label, text);
}
/* SPDX-License-Identifier: MIT */
