/* A library whose names and lines the test knows: it calls back from a function that is inlined twice. */
#define VISIBLE __attribute__((visibility("default")))
#define INLINE  static inline __attribute__((always_inline))

VISIBLE extern const int subject_inner_line, subject_middle_line, subject_outer_line;
VISIBLE int subject_outer(int (*callback)(void));

/* A symbol without a size, which names none of what follows. */
__asm__(".globl subject_marker\n.type subject_marker, %function\nsubject_marker: ret\n");

const int subject_inner_line = __LINE__ + 1;
INLINE int inner(int (*callback)(void)) { return callback() * 3; }

const int subject_middle_line = __LINE__ + 1;
INLINE int middle(int (*callback)(void)) { return inner(callback) + 5; }

static __attribute__((noinline)) int hidden(int (*callback)(void)) {
  return middle(callback) + 1; /* subject_outer_line is this one's */
}
const int subject_outer_line = __LINE__ - 2;

int subject_outer(int (*callback)(void)) { return hidden(callback) + 2; }
/* SPDX-License-Identifier: MIT */
