/* Reading the data of a message.
 *
 * The reader trusts nothing: it checks each item against the bytes that are left, and the sums
 * against the header as they grow, so that no message makes it take memory that its length does not
 * justify. `owed` counts the items that must still come, each of which has a byte: so blocks that
 * each claim the whole rest of a message are refused at the second one. */
#ifndef GC_MARSHAL_READER_H
#define GC_MARSHAL_READER_H

#include "gc/marshal/format.h"
#include "gc/marshal/pending.h"
#include "gc/marshal/place.h"
#include <winnow/marshal.h>

struct wn_marshal_reader {
  const uint8_t *message, *at, *end;
  unsigned flags;
  struct place place;
  struct pending pending; /* fields whose items come later */
  uint64_t owed;          /* items to come, those of pending fields too */

  /* NUMBERS of format.h: the blocks by number. `objects` is 0 if no numbers are given out. */
  wn_value *numbered;
  uint64_t count, objects;
  wn_value *atoms; /* by tag; 0: none yet. NULL before the first */

  /* SIZES of format.h. */
  uint64_t words_left;       /* of those that the header tells for 64 bits */
  uint64_t more_words32;     /* than words for 64 bits, so far; modulo 2^64 */
  uint64_t sized_words_left; /* BOUND of format.h */

  /* Of the custom block that `read` fills. */
  size_t external_bytes;
  bool is_short; /* `read` wanted more than there is */

  wn_status status;
  bool heap_is_full; /* status is WN_ENOMEM, and collecting may help */
};

/* Builds the value of a message whose data is all there, and stores it in `*slot`, a handle's. The
 * caller reads the header, and has it checked. May collect, before the first block is made and
 * after the last. If it fails and `*heap_is_full` becomes true, the heap has no memory, and the
 * caller may try again when there is more. */
wn_status reader_run(struct wn_domain *domain, const uint8_t *message, const struct message_header *header,
                     unsigned flags, const void *frame, wn_value *slot, bool *heap_is_full);

#endif
/* SPDX-License-Identifier: MIT */
