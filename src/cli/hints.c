/* Hints at likely mistakes.
 *
 * A hint is given only where the mistake is likely, since a wrong hint costs the user more time
 * than none. So a word with a blank counts as a command line only if its first word is a program or
 * if it has characters that a shell interprets; a file counts as a script only if its first line or
 * its name says so.
 */
#include "cli/hints.h"

#include "cli/program.h"
#include "cli/text.h"
#include <ctype.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- command lines ---- */

/* Whether a word is a command or keyword of shells that is no program, or that as a program has
 * another effect. */
static bool is_of_shell(const char *word, size_t length) {
  static const char *const words[] = {".",      "alias",  "cd",    "declare", "eval", "exec",
                                      "exit",   "export", "fg",    "for",     "if",   "jobs",
                                      "local",  "read",   "set",   "source",  "trap", "typeset",
                                      "ulimit", "umask",  "unset", "until",   "wait", "while"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == length && !memcmp(words[i], word, length)) return true;
  return false;
}

/* Whether a word begins with "NAME=". */
static bool is_setting(const char *word) {
  size_t length = 0;
  while (isalnum((unsigned char)word[length]) || word[length] == '_') length++;
  return length && !isdigit((unsigned char)*word) && word[length] == '=';
}

static const char blanks[] = " \t";

/* Whether a text is a command line without special characters whose first word is a program. */
static bool is_plain_line(const char *text) {
  char name[256], path[PATH_MAX];
  size_t length = strcspn(text, blanks);
  if (!text[length] || !length || length >= sizeof name || is_setting(text)) return false;
  for (const char *at = text; *at; at++)
    if (!isalnum((unsigned char)*at) && !strchr("_./-+,:@%= ", *at)) return false;
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  return program_find(name, path);
}

static bool is_shell_line(const char *text) {
  char name[256], path[PATH_MAX];
  for (const char *at = text; *at; at++)
    if (iscntrl((unsigned char)*at)) return false; /* the hint could not show it */
  if (strpbrk(text, "|&;<>$`")) return true;
  const char *first = text;
  while (is_setting(first)) {
    first += strcspn(first, blanks);
    first += strspn(first, blanks);
  }
  size_t length = strcspn(first, blanks);
  if (!length || length >= sizeof name || (first == text && !first[length])) return false;
  snprintf(name, sizeof name, "%.*s", (int)length, first);
  return is_of_shell(first, length) || program_find(name, path);
}

/* Writes all arguments as one quoted word, which a shell splits into them again. */
static void write_joined(FILE *out, char *const *argv) {
  char *line = NULL;
  size_t size;
  FILE *words = open_memstream(&line, &size);
  if (!words) return;
  for (size_t i = 0; argv[i]; i++) {
    if (i) fputc(' ', words);
    text_word(words, argv[i]);
  }
  if (!fclose(words)) text_word(out, line);
  free(line);
}

/* ---- files ---- */

static const char *ending_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  return dot ? dot : "";
}

static bool is_elf(const char *path) {
  char begin[SELFMAG] = "";
  FILE *file = fopen(path, "re");
  size_t count = file ? fread(begin, 1, sizeof begin, file) : 0;
  if (file) fclose(file);
  return count == sizeof begin && !memcmp(begin, ELFMAG, SELFMAG);
}

/* ---- shared ---- */

const char *hint_interpreter(const char *path) {
  static const char *const known[][2] = {{".sh", "sh"},      {".bash", "bash"}, {".zsh", "zsh"},
                                         {".py", "python3"}, {".pl", "perl"},   {".rb", "ruby"},
                                         {".js", "node"},    {".lua", "lua"},   {".php", "php"},
                                         {".R", "Rscript"},  {".tcl", "tclsh"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(ending_of(path), known[i][0])) return known[i][1];
  return NULL;
}

char *hint_for_command_line(char *const *argv) {
  char *hint = NULL;
  size_t size;
  FILE *out = open_memstream(&hint, &size);
  if (!out) return NULL;
  const char *name = argv[0];
  if (!argv[1] && is_plain_line(name)) {
    fprintf(out, "give its words as separate arguments: winnow record %s", name);
  } else if (!argv[1] && is_shell_line(name)) {
    fputs("a shell can run a command line, and -f records its programs: winnow record -f sh -c ", out);
    text_word(out, name);
  } else if (is_of_shell(name, strlen(name))) {
    fputs("it is a shell command: sh -c ", out);
    write_joined(out, argv);
  } else if (is_setting(name) && argv[1] && !is_setting(argv[1])) {
    fputs("set variables before winnow: ", out);
    text_plain(out, name, strcspn(name, "=") + 1);
    if (name[strcspn(name, "=") + 1]) text_word(out, name + strcspn(name, "=") + 1);
    fputs(" winnow record ", out);
    text_word(out, argv[1]);
    if (argv[2]) fputs(" ...", out);
  }
  fclose(out);
  return hint;
}

char *hint_for_file(const char *path) {
  char *hint = NULL, words[256];
  size_t size;
  FILE *out = open_memstream(&hint, &size);
  if (!out) return NULL;
  program_interpreter(path, words, sizeof words);
  const char *interpreter = hint_interpreter(path);
  bool elf = is_elf(path), plain = program_is_plain_script(path);
  if (elf || *words) {
    fputs("chmod +x ", out);
    text_word(out, path);
    fputs(elf ? " makes it executable" : " makes it executable, or name its interpreter: ", out);
    text_name(out, words);
  } else if (plain && interpreter) {
    fprintf(out, "name its interpreter: %s", interpreter);
  }
  if (*words || (!elf && plain && interpreter)) {
    fputc(' ', out);
    text_word(out, path);
  }
  fclose(out);
  return hint;
}
/* SPDX-License-Identifier: MIT */
