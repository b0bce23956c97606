/* Scripts, made at random from a seed. README.md says what a script must not do, since the two
 * heaps may then differ; each rule is kept by one function here, which names it. */
#include "differential/script.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { YOUNG_MOST = 256, OPERATIONS = 60, SPACES = 23 /* fields and places that each block has */ };

/* What a register probably holds. */
enum holds { HOLDS_NOTHING, HOLDS_BLOCK, HOLDS_LEAF, HOLDS_BIGARRAY, HOLDS_WEAK, HOLDS_ANYTHING };

struct script {
  FILE *out;
  uint64_t random;
  int next_young, next_old, next_finaliser, next_place, quiets;
  bool has_majors;     /* and domains; else finalisers run in a known order, and may do anything */
  bool has_collecting; /* callbacks and finalisers; else finalisers allocate */
  bool in_body, in_domain, in_child;
  enum holds holds[REGISTERS];
};

static uint64_t draw(struct script *s) {
  uint64_t z = s->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static int below(struct script *s, int n) { return (int)(draw(s) % (uint64_t)n); }
static bool one_in(struct script *s, int n) { return !below(s, n); }

static void __attribute__((format(printf, 2, 3))) line(struct script *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(s->out, format, arguments);
  va_end(arguments);
  fputc('\n', s->out);
}

static int any_register(struct script *s) { return below(s, REGISTERS); }

/* One that holds this, if there is one. */
static int register_with(struct script *s, enum holds what) {
  int first = any_register(s);
  for (int i = 0; i < REGISTERS; i++)
    if (s->holds[(first + i) % REGISTERS] == what) return (first + i) % REGISTERS;
  return -1;
}

/* Words that no other block of the script has; 0 if there are none left. */
static int fresh_words(struct script *s, bool is_young) {
  if (is_young) return s->next_young <= YOUNG_MOST ? s->next_young++ : 0;
  return s->next_old < MOST_WORDS ? s->next_old++ : 0;
}

/* ---- what callbacks will do ---- */

static bool collects(enum action action) { return action == DO_MINOR || action == DO_FULL; }

/* RULE domains: no callback collects in a domain.
 * RULE raises: a birth that OCaml tells before the block is there (`is_early`) neither
 * raises nor collects. */
static void plan(struct script *s, enum kind kind, int id, bool is_early) {
  static const enum action actions[] = {DO_REFUSE, DO_ALLOCATE, DO_MINOR,   DO_FULL, DO_RAISE,
                                        DO_RAISE,  DO_REFUSE,   DO_DISCARD, DO_STOP};
  enum action action = actions[below(s, sizeof actions / sizeof *actions)];
  if ((s->in_domain || !s->has_collecting) && collects(action)) action = DO_RAISE;
  if (kind == KIND_BIRTH && is_early && (action == DO_RAISE || collects(action))) action = DO_REFUSE;
  line(s, "plan %d %d %d", kind, id, action);
}

/* RULE groups: of the callbacks of a group none raises or collects. */
static void plan_of_group(struct script *s, int id) {
  static const enum action actions[] = {DO_REFUSE, DO_ALLOCATE, DO_STOP, DO_DISCARD};
  line(s, "plan %d %d %d", KIND_BIRTH, id, actions[below(s, 4)]);
}

/* ---- allocation ---- */

static void allocate_group(struct script *s) {
  int r = any_register(s), least = one_in(s, 2) ? LEAST_WORDS : LEAST_WORDS + 3;
  if (one_in(s, 3)) plan_of_group(s, least + below(s, 3));
  line(s, "group %d %d 0", r, least);
  for (int i = 0; i < 3; i++) s->holds[(r + i) % REGISTERS] = HOLDS_BLOCK;
}

static void allocate(struct script *s) {
  static const char *const names[] = {"alloc", "alloc", "alloc", "raw", "floats", "bigarray", "weak", "weak"};
  static const enum holds holds[] = {HOLDS_BLOCK, HOLDS_BLOCK,    HOLDS_BLOCK, HOLDS_LEAF,
                                     HOLDS_LEAF,  HOLDS_BIGARRAY, HOLDS_WEAK,  HOLDS_WEAK};
  int which = below(s, s->in_domain ? 6 : 8);
  int r = any_register(s), words = fresh_words(s, s->in_domain || below(s, 4));
  if (!words) return;
  for (enum kind kind = KIND_BIRTH; kind < KINDS; kind++)
    if (one_in(s, 6)) plan(s, kind, words, which == 4 || which >= 6);
  line(s, "%s %d %d %d", names[which], r, words, below(s, 240));
  s->holds[r] = holds[which];
}

/* ---- stores ---- */

static void store(struct script *s) {
  int block = register_with(s, HOLDS_BLOCK), r = any_register(s);
  switch (below(s, 9)) {
  case 0: line(s, "store %d %d %d", r, below(s, SPACES), below(s, 1000)); return;
  case 1:
    line(s, "integer %d %d", r, below(s, 1000));
    s->holds[r] = HOLDS_NOTHING;
    return;
  case 2:
    if (block < 0) return;
    line(s, "load %d %d %d", r, block, below(s, SPACES));
    s->holds[r] = HOLDS_ANYTHING;
    return;
  case 3:
    if (block < 0) return;
    line(s, "copy %d %d", r, block);
    s->holds[r] = s->holds[block];
    return;
  default:
    if (block >= 0) line(s, "link %d %d %d", block, below(s, SPACES), any_register(s));
  }
}

/* ---- weak blocks ---- */

static void set_key(struct script *s, int weak) {
  int leaf = register_with(s, HOLDS_LEAF), r = one_in(s, 2) && leaf >= 0 ? leaf : any_register(s);
  line(s, "key %d %d %d", weak, below(s, SPACES - 2), r);
}

/* Only where it is known what is dead: see README.md. */
static void read_weak(struct script *s, int weak) {
  int r = any_register(s);
  if (one_in(s, 4))
    line(s, "getdata %d %d", weak, r);
  else
    line(s, "%s %d %d %d", one_in(s, 3) ? "copykey" : "get", weak, below(s, SPACES - 2), r);
  s->holds[r] = HOLDS_ANYTHING;
}

static void use_weak(struct script *s) {
  int weak = register_with(s, HOLDS_WEAK);
  if (weak < 0 || s->in_domain) return;
  switch (below(s, 10)) {
  case 0: line(s, "unkey %d %d", weak, below(s, SPACES - 2)); return;
  case 1:
  case 2: line(s, "data %d %d", weak, any_register(s)); return;
  case 3: line(s, "undata %d", weak); return;
  case 4:
    line(s, "blit %d %d %d %d %d", weak, below(s, 8), register_with(s, HOLDS_WEAK), below(s, 8),
         below(s, 14));
    return;
  case 5:
  case 6: read_weak(s, weak); return;
  default: set_key(s, weak);
  }
}

/* ---- collections and finalisers ---- */

/* RULE finalisers: where it is not known which cycle finds a value dead, finalisers do
 * nothing, or raise. Nor do they allocate where a callback may collect: what a finaliser allocates is
 * not sampled if it runs in a callback, and which one does is not promised. */
static void finalise(struct script *s) {
  static const enum action actions[] = {DO_NOTHING, DO_NOTHING, DO_RAISE, DO_REFUSE, DO_ALLOCATE, DO_FULL};
  enum action action = actions[below(s, s->has_majors ? 3 : 6)];
  if (action == (s->has_collecting ? DO_ALLOCATE : DO_FULL)) action = DO_NOTHING;
  int r = any_register(s), id = action == DO_ALLOCATE ? fresh_words(s, true) : s->next_finaliser++;
  if (s->next_place == REGISTERS && action == DO_REFUSE) action = DO_NOTHING;
  if (!id || (s->in_domain && action != DO_NOTHING)) return;
  line(s, "%s %d %d %d %d", one_in(s, 2) ? "first" : "last", r, id, action,
       action == DO_REFUSE ? s->next_place++ : 0);
}

static void collect(struct script *s) {
  static const char *const names[] = {"minor", "minor", "minor", "full", "compact", "major", "slice 1000"};
  line(s, "%s", names[below(s, s->has_majors ? 7 : 5)]);
}

static void quiet(struct script *s) {
  line(s, "quiet %d", s->quiets++);
  if (one_in(s, 4)) line(s, "discard %d", below(s, SLOTS));
}

static void take(struct script *s) {
  int r = any_register(s);
  if (!s->next_place) return;
  line(s, "take %d %d", r, below(s, s->next_place));
  s->holds[r] = HOLDS_ANYTHING;
}

/* ---- profiles ---- */

static void use_profile(struct script *s) {
  switch (below(s, 4)) {
  case 0:
    if (one_in(s, 2)) line(s, "stop");
    return;
  case 1: line(s, "discard %d", below(s, SLOTS)); return;
  default: line(s, "start %d", below(s, SLOTS));
  }
}

static void marshal(struct script *s) {
  int r = any_register(s), block = register_with(s, HOLDS_BLOCK);
  if (s->in_domain) return;
  line(s, "marshal %d %d", r, block < 0 || one_in(s, 4) ? any_register(s) : block);
  s->holds[r] = HOLDS_ANYTHING;
}

/* ---- scripts ---- */

static void operations(struct script *s, int count);

static void thread(struct script *s) {
  line(s, "thread");
  s->in_body = true;
  operations(s, 1 + below(s, 15));
  s->in_body = false;
  line(s, "end");
}

static void domain(struct script *s) {
  enum holds before[REGISTERS];
  if (!s->has_majors) return;
  line(s, "domain");
  for (int r = 0; r < REGISTERS; r++) {
    before[r] = s->holds[r];
    s->holds[r] = HOLDS_NOTHING;
  }
  s->in_body = s->in_domain = true;
  operations(s, 1 + below(s, 12));
  s->in_body = s->in_domain = false;
  line(s, "end");
  for (int r = 0; r < REGISTERS; r++)
    if (s->holds[r] == HOLDS_NOTHING) s->holds[r] = before[r];
}

/* RULE forks: OCaml does not fork where a domain was. What a child does, its parent does not see. */
static void child(struct script *s) {
  enum holds before[REGISTERS];
  if (s->has_majors || s->in_child) return;
  memcpy(before, s->holds, sizeof before);
  line(s, "fork");
  s->in_child = true;
  operations(s, 1 + below(s, 30));
  s->in_child = false;
  line(s, "end");
  memcpy(s->holds, before, sizeof before);
}

static void operation(struct script *s) {
  int n = below(s, 100);
  if (n < 28) return allocate(s);
  if (n < 32) return allocate_group(s);
  if (n < 50) return store(s);
  if (n < 60) return use_weak(s);
  if (n < 67) return finalise(s);
  if (n < 71) return marshal(s);
  if (n < 80) return use_profile(s);
  if (s->in_domain) return;
  if (n < 91) return collect(s);
  if (n < 93) return take(s);
  if (s->in_body) return;
  if (n < 95) return thread(s);
  if (n < 96) return domain(s);
  if (n < 97) return child(s);
  quiet(s);
}

static void operations(struct script *s, int count) {
  while (count--) operation(s);
}

void script_generate(FILE *out, uint64_t seed) {
  struct script s = {.out = out,
                     .random = seed * 0x2545f4914f6cdd1du,
                     .next_young = GROUP_WORDS,
                     .next_old = YOUNG_MOST + 1,
                     .next_finaliser = 1};
  line(&s, "script %llu", (unsigned long long)seed);
  s.has_majors = one_in(&s, 3);
  s.has_collecting = one_in(&s, 2);
  line(&s, "ordered %d", !s.has_majors);
  line(&s, "start 0");
  operations(&s, 10 + below(&s, 2 * OPERATIONS));
  line(&s, "end");
}
/* SPDX-License-Identifier: MIT */
