/* Sorts by radix, from the least significant digit on. A digit that all keys have in common needs no
 * pass. */
#include "analysis/load/order.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, KEY_BITS = 64 };

static size_t order_digit_of(const struct keyed *item, int shift) {
  return item->key >> shift & (DIGITS - 1);
}

/* Copies the items to `to` in the order of one digit. Returns false, and copies nothing, if all have
 * the same digit. */
static bool order_pass(const struct keyed *from, struct keyed *to, size_t count, int shift) {
  size_t begin[DIGITS] = {0}, sum = 0;
  for (size_t i = 0; i < count; i++) begin[order_digit_of(&from[i], shift)]++;
  if (begin[order_digit_of(from, shift)] == count) return false;
  for (size_t digit = 0; digit < DIGITS; digit++) {
    size_t items = begin[digit];
    begin[digit] = sum;
    sum += items;
  }
  for (size_t i = 0; i < count; i++) to[begin[order_digit_of(&from[i], shift)]++] = from[i];
  return true;
}

/* ---- shared ---- */

bool order_by_key(struct keyed *items, size_t count) {
  if (count < 2) return true;
  struct keyed *copy = array_new(count, sizeof *copy), *from = items, *to = copy;
  if (!copy) return false;
  for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
    if (!order_pass(from, to, count, shift)) continue;
    struct keyed *swapped = from;
    from = to;
    to = swapped;
  }
  if (from != items) memcpy(items, from, count * sizeof *items);
  free(copy);
  return true;
}

struct keyed *order_owned(struct keyed *items, size_t count) {
  if (items && order_by_key(items, count)) return items;
  free(items);
  return NULL;
}
/* SPDX-License-Identifier: MIT */
