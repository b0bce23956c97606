/* Converts decimal fractions exactly. Doubling a decimal fraction yields its binary digits one by
 * one: the carry out of the first decimal place is the next binary digit. So an array of decimal
 * digits suffices, without long arithmetic. The cost is about a hundred doublings for a usual rate,
 * and a thousand for the smallest. */
#include "settings/decimal.h"

#include <string.h>

#include <stddef.h>

enum {
  PLACES = 400,     /* after the decimal point */
  SIGNIFICANT = 53, /* binary digits of a double */
  DOUBLINGS_MOST = 997 + SIGNIFICANT,
  EXPONENT_MOST = 10000
};

/* A number below 2: `one`, 0 or 1, before the point, and decimal digits after it. */
struct decimal {
  unsigned char one;
  int places;                  /* how many digits there are; all later ones are 0 */
  unsigned char digit[PLACES]; /* the first is worth a tenth */
};

/* ---- reading ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_digits(const char *text) {
  while (is_digit(*text)) text++;
  return text;
}

/* Reads what follows the digits: nothing, or an exponent, "e" and a whole number. */
static bool read_exponent(const char *text, int *exponent) {
  bool negative = false;
  *exponent = 0;
  if (!*text) return true;
  if (*text != 'e' && *text != 'E') return false;
  text++;
  if (*text == '-' || *text == '+') negative = *text++ == '-';
  if (!is_digit(*text)) return false;
  for (; is_digit(*text); text++)
    if (*exponent < EXPONENT_MOST) *exponent = 10 * *exponent + (*text - '0');
  if (negative) *exponent = -*exponent;
  return !*text;
}

/* Sets the digit that counts 10^power. False: the number would be above 1, or the digit has no
 * place. */
static bool put_digit(struct decimal *decimal, int digit, long power) {
  if (!digit) return true;
  if (power > 0 || power < -PLACES || (!power && digit > 1)) return false;
  if (!power) {
    decimal->one = 1;
    return true;
  }
  decimal->digit[-power - 1] = (unsigned char)digit;
  if (decimal->places < -power) decimal->places = (int)-power;
  return true;
}

static bool read_decimal(const char *text, struct decimal *decimal) {
  const char *point = skip_digits(text), *behind = *point == '.' ? point + 1 : point;
  const char *end = skip_digits(behind);
  int exponent;
  if (end - text == (*point == '.')) return false; /* no digit */
  if (!read_exponent(end, &exponent)) return false;
  long power = point - text - 1 + exponent;
  for (; text < end; text++) {
    if (text == point) continue;
    if (!put_digit(decimal, *text - '0', power--)) return false;
  }
  return !decimal->one || !decimal->places;
}

/* ---- converting ---- */

static unsigned next_binary_digit(struct decimal *decimal) {
  unsigned carry = 0;
  for (int i = decimal->places - 1; i >= 0; i--) {
    unsigned doubled = 2u * decimal->digit[i] + carry;
    carry = doubled >= 10;
    decimal->digit[i] = (unsigned char)(doubled - 10 * carry);
  }
  while (decimal->places && !decimal->digit[decimal->places - 1]) decimal->places--;
  return carry;
}

/* Converts a number between 0 and 1, rounding to the nearest double and ties to even. */
static bool decimal_convert(struct decimal *decimal, double *value) {
  uint64_t bits = 0;
  int doublings = 0;
  for (; !(bits >> SIGNIFICANT); doublings++) {
    if (doublings == DOUBLINGS_MOST) return false;
    bits = 2 * bits + next_binary_digit(decimal);
  }
  bool half = bits & 1, more = decimal->places > 0;
  bits >>= 1;
  if (half && (more || (bits & 1))) bits++;
  double result = (double)bits;
  for (int i = 1; i < doublings; i++) result /= 2;
  *value = result;
  return true;
}

static int decimal_digit_of(char c, unsigned base) {
  int digit = is_digit(c)            ? c - '0'
              : c >= 'a' && c <= 'f' ? c - 'a' + 10
              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                     : -1;
  return digit < (int)base ? digit : -1;
}

/* ---- shared ---- */

bool decimal_fraction(const char *text, double *value) {
  struct decimal decimal = {0};
  if (!read_decimal(text, &decimal)) return false;
  if (decimal.places) return decimal_convert(&decimal, value);
  *value = decimal.one;
  return true;
}

bool decimal_whole(const char *text, uint64_t *value) {
  unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
  uint64_t result = 0;
  if (base == 16) text += 2;
  if (!*text) return false;
  for (; *text; text++) {
    int digit = decimal_digit_of(*text, base);
    if (digit < 0 || __builtin_mul_overflow(result, base, &result) ||
        __builtin_add_overflow(result, (unsigned)digit, &result))
      return false;
  }
  *value = result;
  return true;
}

bool decimal_bytes(const char *text, uint64_t *value) {
  static const char units[] = "KMGT";
  const char *at = text;
  uint64_t result = 0;
  for (; is_digit(*at); at++)
    if (__builtin_mul_overflow(result, 10, &result) ||
        __builtin_add_overflow(result, (unsigned)(*at - '0'), &result))
      return false;
  if (at == text) return false;
  const char *unit = *at ? strchr(units, *at) : NULL;
  if (unit) at++;
  unsigned base = unit && *at == 'i' ? 1024 : 1000;
  if (unit && *at == 'i') at++;
  if (*at == 'B') at++;
  if (*at) return false;
  for (const char *of = units; unit && of <= unit; of++)
    if (__builtin_mul_overflow(result, base, &result)) return false;
  *value = result;
  return true;
}
/* SPDX-License-Identifier: MIT */
