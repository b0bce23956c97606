/* The section of a container with source lines: the files, and the excerpts, each with its text. */
#include "page/container_listing.h"

#include <stdlib.h>

/* Whether a text has so many lines, each with its end. */
static bool has_lines(const char *text, uint32_t count) {
  uint32_t found = 0;
  size_t length = text ? strlen(text) : 0;
  for (size_t i = 0; i < length; i++) found += text[i] == '\n';
  return length && text[length - 1] == '\n' && found == count;
}

static bool container_listing_is_whole(const struct listing *listing, const struct excerpt *excerpt) {
  return excerpt->file < listing->file_count && excerpt->first && excerpt->count &&
         excerpt->count <= UINT32_MAX - excerpt->first && has_lines(excerpt->text, excerpt->count);
}

/* ---- shared ---- */

void code_listing(struct coding *coding, struct listing *listing) {
  CODE_TABLE(coding, listing->files, listing->file_count, 0, DELTA(file), PLAIN(state));
  CODE_TABLE(coding, listing->excerpts, listing->excerpt_count, 1, DELTA(file), DELTA(first), PLAIN(count));
  for (size_t i = 0; i < listing->excerpt_count; i++) code_string(coding, &listing->excerpts[i].text);
}

bool listing_renumber(const struct listing *listing, const struct numbering *numbering,
                      struct listing *renumbered) {
  uint32_t *index = calloc(listing->file_count + 1, sizeof *index);
  *renumbered = (struct listing){.given = true,
                                 .files = calloc(listing->file_count + 1, sizeof *listing->files),
                                 .excerpts = calloc(listing->excerpt_count + 1, sizeof *listing->excerpts)};
  bool done = index && renumbered->files && renumbered->excerpts;
  for (size_t i = 0; done && i < listing->file_count; i++) {
    struct listed_file file = listing->files[i];
    file.file = numbering->string[file.file];
    if (!file.file) continue;
    renumbered->files[renumbered->file_count++] = file;
    index[i] = (uint32_t)renumbered->file_count;
  }
  for (size_t i = 0; done && i < listing->excerpt_count; i++) {
    struct excerpt excerpt = listing->excerpts[i];
    if (!index[excerpt.file]) continue;
    excerpt.file = index[excerpt.file] - 1;
    renumbered->excerpts[renumbered->excerpt_count++] = excerpt;
  }
  free(index);
  return done;
}

void listing_verify(struct coding *coding, const struct listing *listing, uint32_t strings) {
  for (size_t i = 0; i < listing->file_count && !coding_failed(coding); i++)
    if (listing->files[i].file >= strings || listing->files[i].state > LISTED_UNFIT)
      coding_fail(coding, "a file does not exist");
  for (size_t i = 0; i < listing->excerpt_count && !coding_failed(coding); i++)
    if (!container_listing_is_whole(listing, &listing->excerpts[i]))
      coding_fail(coding, "an excerpt is not whole");
}
/* SPDX-License-Identifier: MIT */
