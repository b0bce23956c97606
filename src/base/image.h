/* Whether a program's file can take a preloaded library, told before it is executed. */
#pragma once

#include <stdbool.h>

/* Why not. The numbers stand in traces, so they never change. */
enum image_kind {
  IMAGE_GOOD = 0,
  IMAGE_UNREADABLE = 1,        /* image.error says why */
  IMAGE_UNKNOWN = 2,           /* in no format that is known here */
  IMAGE_STATIC = 3,            /* no dynamic loader that would load the library */
  IMAGE_PRIVILEGED = 4,        /* set-uid, set-gid or capabilities: the loader ignores it */
  IMAGE_NARROW = 5,            /* 32 bits */
  IMAGE_FOREIGN = 6,           /* for another processor */
  IMAGE_MUSL = 7,              /* another C library, which lacks functions that ours needs */
  IMAGE_ADDRESS_SANITIZER = 8, /* a malloc of its own that must come first */
  IMAGE_LEAK_SANITIZER = 9,
  IMAGE_MEMORY_SANITIZER = 10,
  IMAGE_THREAD_SANITIZER = 11,
  IMAGE_OWN_MALLOC = 12, /* the program defines malloc, so a library's is never called */
  /* Not of the file: the process that executes it has another user or root than when it started. */
  IMAGE_OUT_OF_REACH = 13,
  IMAGE_KINDS
};

enum { IMAGE_NAME_MOST = 256 };

struct image {
  enum image_kind kind;
  int error;                      /* errno of IMAGE_UNREADABLE */
  const char *path;               /* of the file that decides: as given, or an interpreter's */
  const char *script;             /* names this interpreter in its first line; NULL: none */
  bool loader;                    /* good, but only runs the program that its arguments name */
  char names[2][IMAGE_NAME_MOST]; /* where interpreters' paths stand */
};

/* Examines a file as execve finds it, relative to `folder` (or AT_FDCWD); an empty path means the
 * descriptor `folder` itself. Scripts are judged by their interpreter, and those that name none by
 * /bin/sh. `path` must live as long as the result. Async-signal-safe, needs about 4 KiB of stack,
 * keeps errno. */
void image_examine(int folder, const char *path, struct image *image);

/* "is statically linked", to stand behind the program's name. */
const char *image_reason(enum image_kind kind);

/* Whether a library that is preloaded all the same would disturb the program: error lines, or a
 * start that fails. */
bool image_is_harmed(enum image_kind kind);
/* SPDX-License-Identifier: MIT */
