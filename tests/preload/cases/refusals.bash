# What cannot be recorded is refused in one line, before anything runs; what can go on goes on.

refused() { # PATTERN PROGRAM...; the code is 127 of programs that are not there, 126 of those that cannot run, else 1
  local pattern=$1 code=1
  case $pattern in
    *'no program'*) code=127 ;;
    *'cannot be run'* | *'not executable'* | *'a directory'* | *'cannot read'* | *'names the interpreter'* | *interpreter*) code=126 ;;
  esac
  shift
  rm -f ran trace
  run_as refused "$winnow" record -o trace -- "$@"
  [ "$(cat refused.code)" = $code ] || fail "$*: exit code $(cat refused.code): $(cat refused.err)"
  one_line_of refused.err "^winnow: .*$pattern"
  [ ! -s refused.out ] || fail "$* ran: $(cat refused.out)"
  [ ! -e trace ] || fail "$*: a trace was begun"
}

statically_linked_programs_are_refused() {
  need cc
  echo 'int puts(const char *); int main(void) { return puts("ran") < 0; }' >static.c
  cc -static -o static static.c 2>/dev/null || skip "cannot link statically"
  refused 'statically linked' ./static
  printf '#!%s/static\n' "$PWD" >script
  chmod +x script
  refused 'statically linked' ./script
}

the_dynamic_loader_is_no_program() {
  local loader
  loader=$(ls /lib64/ld-linux-*.so.* 2>/dev/null | head -n 1)
  [ -n "$loader" ] || skip "there is no loader in /lib64"
  refused 'is the dynamic loader; name the program itself' "$loader" /bin/ls
}

programs_that_gain_privileges_are_refused() {
  [ "$(id -u)" = 0 ] || skip "only root can make one"
  cp /bin/ls other
  chown nobody other && chmod 4755 other || skip "cannot make a set-uid program"
  refused 'set-uid' ./other
  chmod 0755 other
  chgrp nogroup other && chmod 2755 other || skip "cannot make a set-gid program"
  refused 'set-gid' ./other
  cp /bin/ls own # set-uid to oneself gains nothing
  chmod 4755 own
  "$winnow" record -q -o trace -- ./own / >/dev/null || fail "set-uid to oneself was refused"
}

programs_of_32_bits_are_refused() {
  need cc
  echo 'int main(void) { return 0; }' >narrow.c
  cc -m32 -o narrow narrow.c 2>/dev/null || skip "no 32-bit compiler"
  refused '32-bit' ./narrow
}

# The header alone decides, so that the case above is tried everywhere.
a_header_of_32_bits_is_enough() {
  cp /bin/ls narrow
  printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
  refused '32-bit' ./narrow
}

missing_programs_are_refused() {
  refused 'no program .nothing-of-that-name' nothing-of-that-name
  refused "no program './nothing': No such file" ./nothing
  echo text >text
  chmod 644 text
  refused './text cannot be run: it is not executable' ./text
  cp /bin/true here
  refused "no program 'here' in the search path; ./here is one" here
  mkdir folder
  refused './folder is a directory, not a program' ./folder
  refused 'no program .folder. in the search path' folder
}

scripts_without_their_interpreter_are_refused() {
  printf '#!/no/such/interpreter -x\necho ran\n' >script
  chmod +x script
  refused '/no/such/interpreter' ./script
}

scripts_are_recorded() {
  printf '#! /bin/bash\necho "ran $1"\n' >script
  chmod +x script
  record --rate 1 -- ./script well >out || fail "ended with $?"
  [ "$(cat out)" = "ran well" ] || fail "$(cat out)"
  opens trace
  [ "$(jq .samples info.json)" -gt 0 ] || fail "nothing recorded"
}

# As execvp and shells do it.
scripts_without_an_interpreter_are_recorded() {
  printf 'echo "ran $1 $# $0"\nexit 3\n' >script
  chmod +x script
  record --rate 1 -- ./script 'a b' c >out
  [ $? = 3 ] || fail "another exit code"
  [ "$(cat out)" = "ran a b 2 ./script" ] || fail "$(cat out)"
  opens trace
  [ "$(jq .samples info.json)" -gt 0 ] || fail "nothing recorded"
  [ "$(figure .trace.command[0] trace)" = /bin/sh ] || fail "$(figure .trace.command trace)"
  : >script
  record -- ./script || fail "an empty script ended with $?"
}

# `#!/usr/bin/env NAME`, the usual first line: it is the interpreter that is recorded.
scripts_are_recorded_through_env() {
  need perl
  printf '#!/usr/bin/env perl\nprint "ran @ARGV\\n"; my @list = map { "text $_" } 1 .. 3000; exit 4;\n' >script
  chmod +x script
  record --rate 1 -- ./script 'a b' c >out
  [ $? = 4 ] || fail "another exit code"
  [ "$(cat out)" = "ran a b c" ] || fail "$(cat out)"
  opens trace
  [ "$(jq .samples info.json)" -gt 3000 ] || [ "$tiny" = 1 ] || fail "only $(jq .samples info.json) samples"
}

own_malloc_source() {
  cat <<'END'
#include <stddef.h>
#include <stdio.h>
static char heap[1 << 20];
static size_t used;
void *malloc(size_t n) { char *p = heap + used; used += (n + 31) / 16 * 16; *(size_t *)p = n; return p + 16; }
void free(void *p) { (void)p; }
void *calloc(size_t a, size_t b) { return malloc(a * b); }
void *realloc(void *p, size_t n) { char *q = malloc(n); for (size_t i = 0; p && i < n; i++) q[i] = ((char *)p)[i]; return q; }
int main(void) { char *p = realloc(malloc(10), 100); p[99] = 1; free(p); return puts("own") < 0; }
END
}

# A malloc that could pass blocks on to the next one is only known at run time. The same program by LD_PRELOAD is as it was.
programs_with_their_own_malloc_go_on_and_it_is_said() {
  need cc
  own_malloc_source >own.c
  printf '#define _GNU_SOURCE\n#include <dlfcn.h>\nvoid *unused(void) { return dlsym(RTLD_NEXT, "malloc"); }\n' >next.c
  cc -fno-builtin -o own own.c next.c || fail "does not compile"
  run_as own "$winnow" record -o trace --rate 1 -- ./own
  [ "$(cat own.code)" = 0 ] && [ "$(cat own.out)" = own ] || fail "$(cat own.code) $(cat own.out)"
  grep -q '^winnow: .*/own brings its own malloc; to record it, link it without; going on unprofiled$' own.err || fail "nothing is said: $(cat own.err)"
  grep -q '^winnow: nothing was recorded: ./own ' own.err || fail "$(cat own.err)"
  [ ! -e trace ] || fail "an empty file is left"
}

# As debugging tools are: every block comes from us in the end.
programs_whose_malloc_calls_the_next_are_recorded() {
  need cc
  cat >passes.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
static void *(*next)(size_t);
void *malloc(size_t n) { if (!next) next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"); return next(n); }
__attribute__((noinline)) void born_here(void) { for (int i = 0; i < 100; i++) { void *volatile p = malloc(50); (void)p; } }
int main(void) { born_here(); return 3; }
END
  cc -fno-builtin -o passes passes.c -ldl || fail "does not compile"
  record --rate 1 -- ./passes
  [ $? = 3 ] || fail "another exit code"
  counted "blocks" "$(of .totals.allocated_blocks born_here)" 100
}

a_limited_address_space_is_no_hindrance() {
  export MALLOC_ARENA_MAX=1 # each arena of glibc reserves 64 MiB for itself, and the program would run out of addresses now and then
  ulimit -v 300000
  same_as_bare 1e-2 "$programs/threads" keys
  same_as_bare 1e-2 "$programs/forks" plain
  same_as_bare 1 "$programs/growing"
  same_as_bare 1 "$programs/random_blocks" 4 8000
  [ "$(figure .trace.samples)" -gt 0 ] || fail "nothing was sampled"
  # Without a region too, each block is followed to its end.
  [ "$tiny" = 1 ] || [ "$(figure .totals.live_at_end_blocks.estimate)" -le 100 ] || fail "deaths were not seen"
}

a_limit_that_the_program_sets_is_no_hindrance() {
  local rate
  for rate in 1 1e-3; do
    same_as_bare $rate "$programs/limits"
    opens trace
    # shellcheck disable=SC2016
    same_as_bare $rate /bin/bash -c 'ulimit -v 3000000; a=(); for i in {1..20000}; do a+=("text $i"); done; echo ${#a[@]}; ulimit -v; ls /; exec /bin/sh -c "ulimit -v"'
  done
  grep -q '^3000000$' recorded.out || fail "$(cat recorded.out)"
}

memory_can_be_locked() {
  local rate mebibytes
  chmod 755 .
  for rate in 1 1e-3; do
    for mebibytes in 1 8 16 40; do same_as_bare $rate "$programs/locks" $mebibytes; done
  done
  grep -q '^both: 0 .* data 1, stack 1, code 1$' bare.out || skip "$(cat bare.out)"
}

sums_are_exact_without_a_region() {
  ulimit -v 2000000
  same_sums sums_by_count "$programs/random_blocks" 1 3000
  same_sums sums_by_count "$programs/growing"
  same_sums sums_by_count "$programs/containers"
}

# Without a region the table of addresses is asked about NULL too. (It has room for these blocks but not in every place.)
freeing_null_disturbs_no_block() {
  ulimit -v 300000
  same_as_bare 1 "$programs/null_frees"
  local left
  left=$(figure .totals.live_at_end_blocks.estimate trace --where 'fn = allocate_many') || exit 1
  [ "$left" = 0 ] || fail "$left blocks were not seen to die"
}

bad() { # EXIT-CODE PATTERN ARGUMENT...
  local code=$1 pattern=$2
  shift 2
  rm -f ran
  run_as bad "$winnow" record "$@"
  [ "$(cat bad.code)" = "$code" ] || fail "record $*: exit code $(cat bad.code), not $code: $(cat bad.err)"
  one_line_of bad.err "^winnow.*$pattern"
  [ ! -e ran ] || fail "record $*: the program ran"
}

bad_options_are_told_in_one_line() {
  bad 2 '--rate 2' --rate 2 -- touch ran
  bad 2 '--rate x' --rate x -- touch ran
  bad 2 '--rate -1' --rate=-1 -- touch ran
  bad 2 '--rate nan' --rate nan -- touch ran
  bad 2 '--rate ' --rate= -- touch ran
  bad 2 '--every 0' --every 0 -- touch ran
  bad 2 '--every 3' --every 3 -- touch ran
  bad 2 '--every many' --every many -- touch ran
  bad 2 '--stack-depth 5000' --stack-depth 5000 -- touch ran
  bad 2 '--stack-depth 1.5' --stack-depth 1.5 -- touch ran
  bad 2 '--seed x' --seed x -- touch ran
  bad 2 'which program' --rate 1
  bad 2 'which program' --
  bad 2 'no-such-option' --no-such-option -- touch ran
  bad 2 "option '-o' needs a value" -o
  bad 1 'cannot write /no/such/folder/trace' -o /no/such/folder/trace -- touch ran
  bad 1 'is a folder with other files' -o . -- touch ran
}

# The loader's list of libraries has no way to write a blank or a colon.
a_library_that_cannot_be_preloaded_is_refused() {
  mkdir -p "with blank/bin" "with blank/lib"
  cp "$winnow" "with blank/bin/winnow"
  local name
  name=$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')
  cp "$library" "with blank/lib/$name"
  winnow="$PWD/with blank/bin/winnow"
  refused 'has a blank or a colon' ls
  mv "with blank/lib/$name" "with blank/lib/libwinnow-malloc.so" # of packages for development, or another version
  refused 'libwinnow-malloc.so.[0-9.]* is missing' ls
}

# Somebody who was left behind by the program, and inherited the trace.
a_trace_that_is_held_open_is_left_as_it_is() {
  run_as held "$winnow" record -o trace --rate 1 -- "$programs/forks" leave
  [ "$(cat held.code)" = 0 ] || fail "ended with $(cat held.code)"
  grep -q '  trace/.*(still being written)$' held.err || fail "$(cat held.err)"
  opens trace
}

a_file_that_is_no_trace_is_not_overwritten() {
  echo 'a letter' >letter
  bad 1 'letter exists and is not a trace' -o letter -- touch ran
  [ "$(cat letter)" = 'a letter' ] || fail "the letter is gone"
  bad 1 '/dev/null is not a file' -o /dev/null -- touch ran
}

# What an earlier run left must not pass for this one's.
an_old_trace_is_emptied_before_the_program_runs() {
  "$winnow" record -q -o trace --rate 1 -- ls / >/dev/null
  printf 'no format \0 that anybody knows\n' >script
  chmod +x script
  run_as again "$winnow" record -o trace -- ./script
  [ "$(cat again.code)" = 126 ] || fail "ended with $(cat again.code)"
  [ ! -s trace ] || fail "the old trace is still there"
}
