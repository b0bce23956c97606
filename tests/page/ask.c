/* Answers requests from standard input about a trace, as `winnow html` and `winnow view` answer them:
 *   ask [-s FOLDER] TRACE [BEFORE] <REQUESTS >ANSWERS
 * -s: with lines of the source files below the folder. Requests are separated by empty lines. Each
 * answer has its length before it, as u32. */
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
  const char *search[] = {NULL, NULL};
  struct recording_options options = {.names = {.symbols = true, .search = search}};
  struct recording *recording, *before = NULL;
  struct answers answers;
  char *line = NULL, *request = NULL;
  size_t capacity = 0, length = 0;
  int failed = 0;
  if (argc > 2 && !strcmp(argv[1], "-s")) {
    search[0] = argv[2];
    options.lines = true;
    argc -= 2;
    argv += 2;
  }
  if (argc < 2 || argc > 3)
    return fprintf(stderr, "usage: ask [-s FOLDER] TRACE [BEFORE] <REQUESTS >ANSWERS\n"), 2;
  if (recording_load(argv[1], &options, &recording)) return fprintf(stderr, "%s\n", wn_last_error()), 1;
  if (argc > 2 && recording_load(argv[2], &options, &before))
    return fprintf(stderr, "%s\n", wn_last_error()), 1;
  answers_create(&answers, recording, before);
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
  recording_free(before);
  return failed;
}
/* SPDX-License-Identifier: MIT */
