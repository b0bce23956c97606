/* A library whose names and lines the test knows: it calls back from a function that is inlined
 * twice. */
#define VISIBLE __attribute__((visibility("default")))
#define INLINE  static inline __attribute__((always_inline))

VISIBLE extern const int subject_inner_line, subject_middle_line, subject_outer_line;
VISIBLE int subject_outer(int (*callback)(void));

/* A symbol without a size, which names none of what follows. */
__asm__(".globl subject_marker\n.type subject_marker, %function\nsubject_marker: ret\n");

/* A symbol inside another, which has a weaker second name. */
__asm__(
    ".globl subject_around, subject_inside\n.weak subject_alias\n"
    ".type subject_around, %function\n.type subject_alias, %function\n.type subject_inside, %function\n"
    "subject_alias: subject_around: .fill 4, 1, 0x90\nsubject_inside: .fill 4, 1, 0x90\n.fill 8, 1, 0x90\n"
    ".size subject_inside, 4\n.size subject_around, 16\n.size subject_alias, 16\n");

/* It is no frame, nor is what it calls; the line is its caller's. */
INLINE __attribute__((artificial)) int transparent(int (*callback)(void)) { return callback() * 3; }
INLINE __attribute__((artificial)) int transparent_too(int (*callback)(void)) {
  return transparent(callback);
}

const int subject_inner_line = __LINE__ + 1;
INLINE int inner(int (*callback)(void)) { return transparent_too(callback); }

const int subject_middle_line = __LINE__ + 1;
INLINE int middle(int (*callback)(void)) { return inner(callback) + 5; }

static __attribute__((noinline)) int hidden(int (*callback)(void)) {
  return middle(callback) + 1; /* subject_outer_line is this one's */
}
const int subject_outer_line = __LINE__ - 2;

int subject_outer(int (*callback)(void)) { return hidden(callback) + 2; }
/* SPDX-License-Identifier: MIT */
