/* Numbers the labels of an answer, and writes them. */
#include "page/labels.h"

#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct labels *labels, uint32_t string) {
  return strings_text(labels->names->strings, string);
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

void labels_write(const struct labels *labels, struct json *json) {
  char text[LABEL_TEXT_MOST];
  json_begin(json, "labels", '[');
  for (uint32_t i = 0; i < labels->count; i++) {
    const struct label *label = &labels->tree->labels[labels->used[i]];
    labels_text(labels, labels->used[i], text);
    json_begin(json, NULL, '{');
    json_string(json, "text", text);
    json_string(json, "function", text_of(labels, label->function));
    json_string(json, "module", text_of(labels, label->module));
    json_string(json, "file", text_of(labels, label->file));
    json_integer(json, "line", label->line);
    json_end(json, '}');
  }
  json_end(json, ']');
}

void labels_text(const struct labels *labels, uint32_t label, char text[LABEL_TEXT_MOST]) {
  const struct label *found = &labels->tree->labels[label];
  const char *module = text_of(labels, found->module);
  bool shared = found->function && labels->names->shared && labels->names->shared[found->function];
  call_tree_label(labels->tree, labels->names, label, text, LABEL_TEXT_MOST);
  size_t length = strlen(text), room = LABEL_TEXT_MOST - length;
  if (shared && *module) snprintf(text + length, room, *module == '[' ? " %s" : " [%s]", module);
}
/* SPDX-License-Identifier: MIT */
