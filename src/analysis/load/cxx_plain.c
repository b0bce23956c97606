/* Copies a name and leaves out
 *   - arguments of templates that are the defaults of C++'s library: the last ones, which are made
 *     of the first, as std::less<K> and std::allocator<std::pair<K const, V>> are in a map of K;
 *   - "basic_" and the argument of a std::basic_string<char> and its like;
 *   - versions: std::__cxx11::, std::__1::, [abi:cxx11];
 *   - the library's class around a lambda that a std::function or a thread calls.
 *
 * Brackets that have no partner, or lie deeper than DEPTH_MOST, are copied as they are. */
#include "analysis/load/cxx_plain.h"

#include "analysis/load/cxx_name.h"
#include "base/text.h"
#include <ctype.h>
#include <string.h>

enum { ARGUMENTS_MOST = 32, DEPTH_MOST = 48, NAME_MOST = 4096 };

struct writer {
  char *text;
  size_t length, size;
};

static void cxx_plain_put(struct writer *to, const char *text, size_t bytes) {
  size_t room = to->size - 1 - to->length;
  if (bytes > room) bytes = room;
  memcpy(to->text + to->length, text, bytes);
  to->length += bytes;
}

/* Finds the arguments between the `<` at `open` and its `>`, whose position it returns; 0: there is
 * none. */
static size_t find_list(const char *name, size_t open, size_t end, struct cxx_part list[ARGUMENTS_MOST],
                        size_t *count) {
  size_t begin = open + 1, whole;
  int depth = 0;
  *count = 0;
  for (size_t at = begin; at < end; at += whole ? whole : 1) {
    if ((whole = cxx_whole_bytes(name, at))) continue;
    bool closes = strchr(")]}", name[at]) || (name[at] == '>' && name[at - 1] != '-');
    if (!depth && (closes || name[at] == ',')) {
      size_t last = at - (name[at - 1] == ' '); /* "> >" */
      if (*count == ARGUMENTS_MOST || (closes && name[at] != '>')) return 0;
      list[(*count)++] = (struct cxx_part){name + begin, last > begin ? last - begin : 0};
      if (closes) return at;
      begin = at + 1 + (name[at + 1] == ' ');
    }
    depth += (strchr("<([{", name[at]) != NULL) - closes;
  }
  return 0;
}

static bool cxx_plain_is_of_word(char character) {
  return character == '_' || character == ':' || isalnum((unsigned char)character);
}

/* Whether a text has a type in it, and not as part of a longer name. */
static bool has_type(const char *text, const char *end, const struct cxx_part *type) {
  while (type->bytes && (text = memmem(text, (size_t)(end - text), type->text, type->bytes))) {
    bool begins = !cxx_plain_is_of_word(text[-1]),
         ends = text + type->bytes == end || !cxx_plain_is_of_word(text[type->bytes]);
    if (begins && ends) return true;
    text++;
  }
  return false;
}

/* Whether an argument is what the library takes if there is none, for a container of `first`. */
static bool is_default(const struct cxx_part *argument, const struct cxx_part *first) {
  static const char *const templates[] = {"allocator<", "char_traits<",    "less<",        "hash<",
                                          "equal_to<",  "default_delete<", "regex_traits<"};
  const char *name = argument->text + strlen("std::"), *end = argument->text + argument->bytes;
  if (!text_begins(argument->text, "std::")) return false;
  name += cxx_version_bytes(name);
  for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
    if (text_begins(name, templates[i])) return has_type(name, end, first);
  return false;
}

/* Puts "string" in place of "basic_string", with `letter` before it, if that is what the text ends
 * in. */
static bool put_usual_word(struct writer *to, const char *letter) {
  static const char basic[] = "basic_";
  size_t word = to->length, bytes = sizeof basic - 1, letters = strlen(letter);
  while (word && to->text[word - 1] != ':') word--;
  if (word < strlen("std::") || to->length <= word + bytes || memcmp(to->text + word, basic, bytes) != 0 ||
      memcmp(to->text + word - strlen("std::"), "std::", strlen("std::")) != 0)
    return false;
  memcpy(to->text + word, letter, letters);
  memmove(to->text + word + letters, to->text + word + bytes, to->length - word - bytes);
  to->length -= bytes - letters;
  return true;
}

static void write_plain(struct writer *to, const char *name, size_t at, size_t end, int depth);

/* Writes a list of arguments. Returns where it ends; 0: there is no list at `open`. */
static size_t write_list(struct writer *to, const char *name, size_t open, size_t end, int depth) {
  struct cxx_part list[ARGUMENTS_MOST];
  size_t count, close = depth < DEPTH_MOST ? find_list(name, open, end, list, &count) : 0;
  if (!close) return 0;
  while (count > 1 && is_default(&list[count - 1], &list[0])) count--;
  const char *letter = text_begins(list[0].text, "wchar_t") ? "w" : "";
  bool usual = count == 1 && (*letter || (list[0].bytes == 4 && text_begins(list[0].text, "char")));
  if (usual && put_usual_word(to, letter)) return close + 1;
  cxx_plain_put(to, "<", 1);
  for (size_t i = 0; i < count; i++) {
    size_t begin = (size_t)(list[i].text - name);
    if (i) cxx_plain_put(to, ", ", 2);
    write_plain(to, name, begin, begin + list[i].bytes, depth + 1);
  }
  cxx_plain_put(to, ">", 1);
  return close + 1;
}

static void write_plain(struct writer *to, const char *name, size_t at, size_t end, int depth) {
  for (size_t next; at < end; at = next) {
    size_t bytes = cxx_whole_bytes(name, at), left_out = 0;
    bool begins = !at || !(isalnum((unsigned char)name[at - 1]) || strchr("_:", name[at - 1]));
    if (!bytes && name[at] == '<' && (next = write_list(to, name, at, end, depth))) continue;
    if (text_begins(name + at, "[abi:"))
      left_out = strcspn(name + at, "]") + 1;
    else if (begins && text_begins(name + at, "std::"))
      bytes = strlen("std::"), left_out = cxx_version_bytes(name + at + bytes);
    else if (!bytes)
      bytes = 1;
    if (bytes > end - at) bytes = end - at;
    cxx_plain_put(to, name + at, bytes);
    next = at + bytes + left_out;
  }
}

/* Where the lambda ends that std::_Function_handler<…, LAMBDA>::_M_invoke or
 * std::thread::_State_impl<…LAMBDA>>>::_M_run calls; sets where it begins. 0: the name is none of
 * these. */
static size_t find_lambda(const char *name, size_t *begin) {
  const char *method = text_begins(name, "std::_Function_handler<")     ? strstr(name, "}>::_M_invoke(")
                       : text_begins(name, "std::thread::_State_impl<") ? strstr(name, "}>>>::_M_run(")
                                                                        : NULL;
  if (!method) return 0;
  *begin = (size_t)(method - name) + 1;
  for (int depth = 0; *begin && (depth || !strchr("<, ", name[*begin - 1])); --*begin)
    depth += (strchr(")>}", name[*begin - 1]) != NULL) - (strchr("(<{", name[*begin - 1]) != NULL);
  return (size_t)(method - name) + 1;
}

/* ---- shared ---- */

bool cxx_name_plain(const char *name, char *buffer, size_t size) {
  static const char call[] = "::operator()";
  struct writer to = {buffer, 0, size};
  size_t begin = 0, lambda = find_lambda(name, &begin), length = strlen(name);
  if (length > NAME_MOST)
    cxx_plain_put(&to, name, length);
  else
    write_plain(&to, name, begin, lambda ? lambda : length, 0);
  if (lambda) cxx_plain_put(&to, call, sizeof call - 1);
  buffer[to.length] = 0;
  return strcmp(buffer, name) != 0;
}
/* SPDX-License-Identifier: MIT */
