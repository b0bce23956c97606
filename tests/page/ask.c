/* Answers requests from standard input about a trace, as `winnow html` and `winnow view` answer them:
 *   ask TRACE [FOLDER] <REQUESTS >ANSWERS
 * With a folder: with lines of the source files below it. Requests are separated by empty lines. Each answer has its length before it, as u32. */
#include "page/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer(struct answers *answers, const char *request, size_t length) {
  char *bytes;
  size_t size;
  if (answers_ask(answers, request, length, &bytes, &size))
    return fprintf(stderr, "%s\n", wn_last_error()), 1;
  fwrite(&(uint32_t){(uint32_t)size}, sizeof(uint32_t), 1, stdout);
  fwrite(bytes, 1, size, stdout);
  fflush(stdout);
  free(bytes);
  return 0;
}

int main(int argc, char **argv) {
  struct recording_options options = {.names.symbols = true, .lines = argc == 3};
  const char *search[] = {argc == 3 ? argv[2] : NULL, NULL};
  struct recording *recording;
  struct answers answers;
  char *line = NULL, *request = NULL;
  size_t capacity = 0, length = 0;
  int failed = 0;
  if (argc != 2 && argc != 3) return fprintf(stderr, "usage: ask TRACE [FOLDER] <REQUESTS >ANSWERS\n"), 2;
  options.names.search = search;
  if (recording_load(argv[1], &options, &recording)) return fprintf(stderr, "%s\n", wn_last_error()), 1;
  answers_create(&answers, recording, 1);
  FILE *out = open_memstream(&request, &length);
  while (out && !failed && getline(&line, &capacity, stdin) > 0) {
    if (*line != '\n') {
      fputs(line, out);
      continue;
    }
    fclose(out);
    failed = answer(&answers, request, length);
    free(request);
    out = open_memstream(&request, &length);
  }
  if (out) fclose(out);
  free(request);
  free(line);
  answers_destroy(&answers);
  recording_free(recording);
  return failed;
}
/* SPDX-License-Identifier: MIT */
