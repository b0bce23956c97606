/* The list of kinds. */
#include "gc/marshal/kinds.h"

#include "base/error.h"
#include "gc/marshal/format.h"
#include <stdlib.h>

static const struct marshal_kind *const own_kinds[] = {&boxed_kinds[0], &boxed_kinds[1], &boxed_kinds[2],
                                                       &bigarray_kind};
enum { OWN_KINDS = sizeof own_kinds / sizeof *own_kinds };

static bool kinds_has_name(const struct marshal_kind *kind, const char *name, size_t length) {
  return !strncmp(kind->ops->name, name, length) && !kind->ops->name[length];
}

static const struct marshal_kind *first(const struct wn_heap *heap) {
  return atomic_load_explicit(&heap->marshal_kinds, memory_order_acquire);
}

const struct marshal_kind *kind_of_ops(const struct wn_heap *heap, const wn_custom_ops *ops) {
  for (size_t i = 0; i < OWN_KINDS; i++)
    if (own_kinds[i]->ops == ops) return own_kinds[i];
  const struct marshal_kind *kind = first(heap);
  while (kind && kind->ops != ops) kind = kind->next;
  return kind;
}

const struct marshal_kind *kind_named(const struct wn_heap *heap, const char *name, size_t length) {
  for (size_t i = 0; i < OWN_KINDS; i++)
    if (kinds_has_name(own_kinds[i], name, length)) return own_kinds[i];
  const struct marshal_kind *kind = first(heap);
  while (kind && !kinds_has_name(kind, name, length)) kind = kind->next;
  return kind;
}

/* ---- public ---- */

wn_status wn_marshal_register(wn_heap *heap, const wn_custom_ops *ops, const wn_marshal_ops *marshal) {
  if (!heap || !ops || !marshal || !ops->name || !marshal->write || !marshal->read)
    return error_set(WN_EINVAL, "marshal register: an argument, or a member of one, is NULL");
  size_t length = strlen(ops->name);
  if (!length || length > NAME_MOST)
    return error_set(WN_EINVAL, "marshal register: the name has %zu bytes; it may have 1 to %d", length,
                     NAME_MOST);
  struct marshal_kind *kind = malloc(sizeof *kind);
  if (!kind) return error_set(WN_ENOMEM, "marshal register: no memory");
  *kind = (struct marshal_kind){.next = atomic_load(&heap->marshal_kinds), .ops = ops, .marshal = marshal};
  do { /* another thread may have registered the name meanwhile */
    if (!kind_named(heap, ops->name, length)) continue;
    free(kind);
    return error_set(WN_EINVAL, "marshal register: the name '%s' is registered", ops->name);
  } while (!atomic_compare_exchange_weak(&heap->marshal_kinds, &kind->next, kind));
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
