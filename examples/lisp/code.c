/* Bodies of compiled functions, outside the heap. */
#include "code.h"

#include <stdlib.h>
#include <string.h>

static void release(void *bytes) {
  void *body;
  memcpy(&body, bytes, sizeof body);
  free(body);
}

static const wn_custom_ops body_ops = {.name = "lisp body", .release = release};

/* Makes the block first: it releases nothing while it holds NULL. */
wn_ref code_create_body(wn_domain *domain, size_t count, struct body **out) {
  size_t each = sizeof(struct instruction) + sizeof(uint32_t) + sizeof(wn_place);
  size_t bytes = sizeof(struct body) + count * each;
  wn_ref owner = wn_alloc_custom(domain, &body_ops, sizeof(struct body *), bytes);
  if (wn_is_null(owner)) return owner;
  struct body *body = calloc(1, bytes);
  if (!body) return (wn_ref){NULL};
  body->count = (uint32_t)count;
  body->lines = (uint32_t *)(body->instructions + count);
  body->places = (_Atomic(wn_place) *)(body->lines + count);
  memcpy(wn_bytes(owner), &body, sizeof body);
  *out = body;
  return owner;
}
/* SPDX-License-Identifier: MIT */
