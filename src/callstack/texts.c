/* Texts that are kept. */
#include "callstack/texts.h"

#include "base/check.h"
#include "base/metadata.h"
#include <string.h>

enum { BLOCK_BYTES = 16384 };

struct text_block {
  struct text_block *next;
  size_t used;
  char text[BLOCK_BYTES - 2 * sizeof(size_t)];
};

const char *texts_copy(struct texts *texts, const char *text, size_t length) {
  ASSERT(length < TEXT_BYTES_MOST);
  struct text_block *block = texts->blocks;
  if (!block || block->used + length + 1 > sizeof block->text) {
    block = metadata_map(sizeof *block);
    if (!block) return NULL;
    block->next = texts->blocks;
    texts->blocks = block;
  }
  char *copy = block->text + block->used;
  memcpy(copy, text, length);
  copy[length] = 0;
  block->used += length + 1;
  return copy;
}

void texts_destroy(struct texts *texts) {
  for (struct text_block *block = texts->blocks, *next; block; block = next) {
    next = block->next;
    metadata_unmap(block, sizeof *block);
  }
  texts->blocks = NULL;
}
/* SPDX-License-Identifier: MIT */
