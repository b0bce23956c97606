/* Strings of OCaml's layout. */
#include "gc/marshal/strings.h"

#include "base/error.h"
#include "gc/api/allocate.h"
#include "gc/domains/debug.h"
#include <string.h>
#include <winnow/marshal.h>

OWN_FRAME wn_ref wn_string_new(wn_domain *domain, const char *text, size_t length) {
  DEBUG_DOMAIN(domain);
  if (!text && length) return error_set(WN_EINVAL, "string: the text is NULL"), (wn_ref){NULL};
  wn_ref block = allocate_block(domain, string_words(length), WN_TAG_RAW, __builtin_frame_address(0));
  FRAME_ENDS;
  if (wn_is_null(block)) return block;
  void *bytes = (void *)*block.slot;
  if (length) memcpy(bytes, text, length);
  string_end(bytes, length);
  return block;
}

size_t wn_string_length(wn_ref string) {
  if (wn_is_null(string) || wn_is_int(*string.slot) || wn_tag(*string.slot) != WN_TAG_RAW) return SIZE_MAX;
  size_t words = wn_words(*string.slot);
  return words ? string_length((const void *)*string.slot, words) : SIZE_MAX;
}
/* SPDX-License-Identifier: MIT */
