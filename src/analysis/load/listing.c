/* Looks lines of a listing up. */
#include "analysis/load/listing.h"

#include <stdlib.h>
#include <string.h>

void listing_destroy(struct listing *listing) {
  for (size_t i = 0; i < listing->excerpt_count; i++) free(listing->excerpts[i].text);
  free(listing->excerpts);
  free(listing->files);
  *listing = (struct listing){.given = false};
}

const struct listed_file *listing_file(const struct listing *listing, uint32_t file) {
  for (size_t i = 0; i < listing->file_count; i++)
    if (listing->files[i].file == file) return &listing->files[i];
  return NULL;
}

const struct excerpt *listing_excerpt(const struct listing *listing, uint32_t file, uint32_t line) {
  for (size_t i = 0; i < listing->excerpt_count; i++) {
    const struct excerpt *excerpt = &listing->excerpts[i];
    if (listing->files[excerpt->file].file == file && line >= excerpt->first &&
        line - excerpt->first < excerpt->count)
      return excerpt;
  }
  return NULL;
}

const char *excerpt_line(const struct excerpt *excerpt, uint32_t line) {
  const char *at = excerpt->text;
  for (uint32_t i = excerpt->first; i < line; i++) at = strchr(at, '\n') + 1;
  return at;
}
/* SPDX-License-Identifier: MIT */
