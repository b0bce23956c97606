/* Demangling, by libiberty. Names of gfortran's module procedures are taken apart here. */
#include "symbols/linkage.h"

#include "base/text.h"
#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a text consists of suffixes that compilers append: ".cold", ".constprop.0" and the like.
 */
static bool is_suffix(const char *text) {
  static const char *const words[] = {".cold",     ".part", ".isra",       ".constprop",
                                      ".lto_priv", ".llvm", ".localalias", ".__uniq"};
  while (*text) {
    size_t length = 0, digits = strspn(text + 1, "0123456789");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (text_begins(text, words[i])) length = strlen(words[i]);
    if (*text == '.' && digits) length = 1 + digits;
    if (!length || isalnum((unsigned char)text[length])) return false;
    text += length;
  }
  return true;
}

/* A copy of the name without such a suffix, from malloc; NULL if the name has none. */
static char *without_suffix(const char *name) {
  const char *dot = *name ? strchr(name + 1, '.') : NULL;
  return dot && is_suffix(dot) ? strndup(name, (size_t)(dot - name)) : NULL;
}

/* "module::procedure" for gfortran's "__module_MOD_procedure", whose only capitals are these; NULL
 * for any other name. */
static char *module_procedure(const char *name) {
  static const char mark[] = "_MOD_";
  char *text;
  if (strncmp(name, "__", 2) != 0) return NULL;
  size_t bytes = strspn(name + 2, "abcdefghijklmnopqrstuvwxyz0123456789_");
  const char *end = name + 2 + bytes - (bytes > 0); /* at the mark's "_" */
  if (bytes < 2 || !text_begins(end, mark) || !end[sizeof mark - 1]) return NULL;
  return asprintf(&text, "%.*s::%s", (int)(bytes - 1), name + 2, end + sizeof mark - 1) < 0 ? NULL : text;
}

/* ---- shared ---- */

void name_join_brackets(char *name) {
  char *to = name;
  for (const char *from = name; *from; from++) {
    bool operator_sign = to - name >= 9 && !strncmp(to - 9, "operator>", 9);
    if (*from == ' ' && to > name && to[-1] == '>' && from[1] == '>' && !operator_sign) continue;
    *to++ = *from;
  }
  *to = 0;
}

char *name_demangle(const char *linkage) {
  char *whole = without_suffix(linkage);
  const char *name = whole ? whole : linkage;
  char *text = rust_demangle(name, 0);
  if (!text && !strncmp(name, "_Z", 2))
    text = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
  if (!text) text = module_procedure(name);
  if (!text) return whole;
  free(whole);
  name_join_brackets(text);
  return text;
}
/* SPDX-License-Identifier: MIT */
