# What an unsampled call costs, read from the machine code of the library.

# The path's figures, as fast_path.awk prints them.
path_of() {
  local file=$2
  objdump -d --no-show-raw-insn "$file" | awk -v name="<$1>:" '$2 == name {inside = 1} inside {print} /^$/ {inside = 0}' >code
  [ -s code ] || fail "no code of $1"
  awk -f "$here/fast_path.awk" code 2>complaints || fail "awk"
  [ ! -s complaints ] || fail "$1: $(cat complaints): $(cat code)"
}

expect_free() { # SYMBOL MOST-INSTRUCTIONS FILE
  local n branches fs_reads fs_writes loads stores calls locks
  read -r n branches fs_reads fs_writes loads stores calls locks <<<"$(path_of "$1" "$3")"
  [ -n "$locks" ] || fail "$1 could not be read"
  [ "$branches" = 1 ] || fail "$1 has $branches conditional branches: $(cat code)"
  [ "$n" -le "$2" ] || fail "$1 takes $n instructions, more than $2: $(cat code)"
  [ "$fs_reads$fs_writes$loads$stores$calls$locks" = 000000 ] ||
    fail "$1 touches more than the table: $fs_reads $fs_writes $loads $stores $calls $locks: $(cat code)"
}

expect_allocation() { # SYMBOL FILE
  local n branches fs_reads fs_writes loads stores calls locks
  read -r n branches fs_reads fs_writes loads stores calls locks <<<"$(path_of "$1" "$2")"
  [ -n "$locks" ] || fail "$1 could not be read"
  [ "$fs_writes" = 1 ] || fail "$1 writes $fs_writes times to the thread's memory: $(cat code)"
  [ "$fs_reads" = 1 ] || fail "$1 reads the thread's memory $fs_reads times: $(cat code)"
  [ "$branches" = "${3:-1}" ] || fail "$1 has $branches conditional branches: $(cat code)"
  [ "$loads$stores$calls$locks" = 0000 ] || fail "$1 does more: $loads $stores $calls $locks: $(cat code)"
}

unsampled_free_reads_neither_block_nor_thread() {
  need objdump
  expect_free free 6 "$library"
  for symbol in _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvmSt11align_val_t _ZdlPvRKSt9nothrow_t; do
    expect_free $symbol 8 "$library"
  done
}

other_frees_jump_to_the_programs() {
  need objdump
  local n branches fs_reads fs_writes loads stores calls locks
  for symbol in cfree free_sized free_aligned_sized; do
    read -r n branches fs_reads fs_writes loads stores calls locks <<<"$(path_of $symbol "$library")"
    [ "$n" -le 3 ] || fail "$symbol takes $n instructions: $(cat code)"
    [ "$branches$fs_reads$fs_writes$loads$stores$calls$locks" = 0000000 ] || fail "$symbol does more: $(cat code)"
  done
}

unsampled_allocation_subtracts_and_jumps() {
  need objdump
  for symbol in malloc memalign aligned_alloc posix_memalign _Znwm _Znam _ZnwmSt11align_val_t _ZnamRKSt9nothrow_t; do
    expect_allocation $symbol "$library"
  done
  expect_allocation calloc "$library" 2 # one more: does the product overflow?
}

# The two above would notice what they are for.
fast_path_checks_notice_what_they_forbid() {
  need objdump
  local cc=${CC:-cc}
  command -v "$cc" >/dev/null || skip "no compiler"
  cat >bad.c <<'END'
struct real { unsigned long base, span; void (*free)(void *); void *(*malloc)(unsigned long); };
__attribute__((visibility("hidden"))) struct real real = {1, 2, 0, 0};
extern __thread long words_left __attribute__((tls_model("initial-exec")));
__thread long words_left;
void slow(void *);
#define UNSAMPLED(p) __builtin_expect((unsigned long)(p) - real.base >= real.span, 1)
void good(void *p) { if (UNSAMPLED(p)) real.free(p); else slow(p); }
void loads_header(void *p) { if (UNSAMPLED(p) && !(((long *)p)[-1] & 1)) real.free(p); else slow(p); }
void loads_block(void *p) { if (((long *)p)[-1] & 1) real.free(p); else slow(p); }
void reads_thread(void *p) { if (UNSAMPLED((long)p + words_left)) real.free(p); else slow(p); }
void locks(void *p) { if (UNSAMPLED(p)) { __atomic_fetch_add(&real.span, 1, 5); real.free(p); } else slow(p); }
void calls(void *p) { slow(p); if (UNSAMPLED(p)) real.free(p); else slow(p); }
void counts(void *p) { static long n; n++; if (UNSAMPLED(p)) real.free(p); else slow(p); }
END
  "$cc" -O2 -fPIC -shared -o bad.so bad.c || fail "bad.c does not compile"
  expect_free good 6 "$PWD/bad.so"
  for symbol in loads_header loads_block reads_thread locks calls counts; do
    (expect_free $symbol 6 "$PWD/bad.so") 2>/dev/null && fail "$symbol was not noticed"
  done
  return 0
}
