# Programs that become other programs by exec, and what cannot be recorded of those and of children.

# The signal mask is kept by exec.
the_program_behind_a_chain_of_execs_is_recorded() {
  local how
  for how in execve empty own null thread handler fexecve path execveat fails; do
    rm -rf trace*
    run_as chain "$winnow" record -o trace --rate 1 -- "$programs/execs" $how 3
    [ "$(cat chain.code)" = 5 ] || fail "$how: ended with $(cat chain.code): $(cat chain.err)"
    [ "$(ls -d trace*)" = trace ] || [ "$tiny" = 1 ] || fail "$how: $(ls -d trace*)"
    opens trace
    [ "$tiny" = 1 ] || ended 'yes: exit 5'
    counted "$how: blocks" "$(of .totals.allocated_blocks born_last)" 2000
    [ "$tiny" = 1 ] || counted "$how: blocks on the way" "$(of .totals.allocated_blocks born_on_the_way)" 5
  done
  same_as_bare 1 "$programs/execs" execve 20
  # A thread with a small stack has no room for a large environment.
  # shellcheck disable=SC2046
  run_as large env $(seq -f N%g=1 20000) "$winnow" record -q -o trace --rate 1 -- "$programs/execs" thread 2
  [ "$(cat large.code)" = 5 ] || fail "with a large environment: $(cat large.code)"
}

what_a_process_became_is_told() {
  printf '#!/bin/sh\nexec "%s" return\n' "$programs/ends" >wrapper
  chmod +x wrapper
  run_as told "$winnow" record -o trace --rate 1 -- ./wrapper
  [ "$(cat told.code)" = 4 ] || fail "another exit code"
  if [ -d trace ]; then
    grep -Eq '^winnow: wrote trace, a folder of 2 traces of 1 process \(' told.err || fail "$(cat told.err)"
  else
    grep -Eq '^winnow: ./wrapper became .*/ends by exec; trace is the trace of .*/ends$' told.err || fail "$(cat told.err)"
  fi
  counted "behind the wrapper" "$(of .totals.allocated_blocks born_in_main)" 1000
  for command in "env" "nohup" "nice" "setsid -w" "stdbuf -oL"; do
    # shellcheck disable=SC2086
    run_as told "$winnow" record -o trace --rate 1 -- $command "$programs/ends" return
    [ "$(cat told.code)" = 4 ] || fail "$command: another exit code: $(cat told.err)"
    counted "$command" "$(of .totals.allocated_blocks born_in_main)" 1000
  done
}

# What is rare may fall into either program.
a_few_samples_do_not_make_a_wrapper_the_program() {
  local seed
  for seed in 1 2 3 4 5 6 7 8; do
    record --seed $seed -- env ls / >/dev/null || fail "ended with $?"
    [ "$(figure '.trace.command[0]')" = ls ] || fail "seed $seed: the trace is of $(figure .trace.command)"
    [ "$(ls -d trace*)" = trace ] || fail "seed $seed: $(ls -d trace*)"
  done
}

# Kept: of programs that allocated a tenth at least of what the program allocated that did the work.
programs_that_did_little_leave_no_trace() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  run_as most "$winnow" record -o trace --rate 1 -- "$programs/becomes" execve "$programs/execs" fails 0
  grep -q '^winnow: wrote trace, a folder of 2 traces of 1 process (' most.err || fail "$(cat most.err)"
  counted "blocks of the second" "$(of .totals.allocated_blocks born_last)" 2000
  counted "blocks of the first" "$(of .totals.allocated_blocks born_before)" 500
  ended 'yes: by exec it became .*/execs$' "$(trace_of born_before)"
  run_as most "$winnow" record -o trace --rate 1 -- "$programs/becomes" execve /bin/true
  [ -f trace ] || fail "$(ls -l trace)"
  grep -Eq '^winnow: .*/becomes became /bin/true by exec; trace is the trace of .*/becomes, which allocated more$' most.err || fail "$(cat most.err)"
  counted "blocks of the first" "$(of .totals.allocated_blocks born_before)" 500
}

# `sh` becomes `sleep`, which allocates more since it reads a locale.
becomes_sleep() { # SECONDS
  LC_ALL=C.UTF-8 "$winnow" record -o trace --rate 1 -- sh -c "exec sleep $1" 2>first.err &
  first=$!
  until [ "$(ls trace 2>/dev/null | grep -c '\.trace$')" = 2 ]; do
    kill -0 $first 2>/dev/null || fail "ended at once: $(cat first.err)"
    sleep 0.01
  done
}

a_second_recording_leaves_a_live_one_alone() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local first written
  becomes_sleep 2
  written=$(stat -c %i trace/*.trace)
  run_as second "$winnow" record -o trace --rate 1 -- "$programs/ends" return
  [ "$(cat second.code)" = 1 ] || fail "another exit code: $(cat second.err)"
  one_line_of second.err '^winnow: trace is being written by another program; choose another name$'
  [ "$(stat -c %i trace/*.trace)" = "$written" ] || fail "the trace of the first recording is gone: $(ls trace)"
  wait $first || fail "the first recording failed: $(cat first.err)"
  opens trace
  run_as third "$winnow" record -o trace --rate 1 -- "$programs/ends" return
  [ "$(cat third.code)" = 4 ] || fail "the output stays reserved: $(cat third.err)"
  ended 'yes: exit 4'
  # A program outlives its recording: now it alone tells that the traces are in use.
  becomes_sleep 2
  kill -KILL "$first"
  wait "$first" 2>/dev/null
  written=$(stat -c %i trace/*.trace)
  run_as second "$winnow" record -o trace --rate 1 -- "$programs/ends" return
  [ "$(cat second.code)" = 1 ] || fail "another exit code: $(cat second.err)"
  one_line_of second.err '^winnow: trace/.*trace is being written by another program; choose another name$'
  [ "$(stat -c %i trace/*.trace)" = "$written" ] || fail "a live trace was touched: $(ls -l trace)"
}

# Each exec in a child of vfork needs 160 kB for them, in the memory of the parent.
large_environments_leave_nothing_in_the_parent_of_vforks() {
  # shellcheck disable=SC2046
  run_as large env $(seq -f N%g=1 20000) "$winnow" record -q -f -o trace -- "$programs/spawns" vforks /bin/true
  [ "$(cat large.code)" = 0 ] || fail "ended with $(cat large.code): $(cat large.err)"
  [ "$(cat large.out)" -lt 1000 ] || fail "$(cat large.out) KiB stay behind"
}

loops_of_execs_fill_no_disk() {
  local most=0 now
  "$winnow" record -q -o trace --rate 1e-3 -- "$programs/execs" execve 200 &
  while kill -0 $! 2>/dev/null; do
    now=$(ls trace 2>/dev/null | wc -l)
    [ "$now" -gt "$most" ] && most=$now
  done
  wait $!
  [ $? = 5 ] || fail "ended with $?"
  [ "$most" -le 3 ] || fail "$most files"
  [ -f trace ] || fail "$(ls trace)"
  ended 'yes: exit 5'
}

# A program that asks for a trace of its own gets that one.
a_request_of_the_programs_own_counts() {
  record --rate 1 -- env WINNOW_TRACE="$PWD/own" WINNOW_RATE=1 LD_PRELOAD="$library" "$programs/ends" return
  [ $? = 4 ] || fail "another exit code"
  counted "blocks of its own trace" "$(figure .totals.allocated_blocks.estimate own --where 'fn = born_in_main')" 1000
  ended 'yes: by exec it became'
}

# What does not reach the library or the trace any more goes on without a word.
a_process_that_changed_its_user_or_root_is_not_disturbed() {
  [ "$(id -u)" = 0 ] || skip "only root can"
  need setpriv
  chmod 700 .
  run_as other "$winnow" record -o trace --rate 1 -- setpriv --reuid=65534 --clear-groups /bin/echo well
  [ "$(cat other.code)" = 0 ] && [ "$(cat other.out)" = well ] || fail "$(cat other.code) $(cat other.err)"
  sed 1d other.err >more
  one_line_of more '^winnow: /bin/echo, which setpriv became by exec, was not recorded: it runs as another user or with another root directory$'
  run_as other "$winnow" record -f -q -o trace --rate 1 -- sh -c 'setpriv --reuid=65534 --clear-groups /bin/echo well; exit'
  [ "$(cat other.out)" = well ] && [ ! -s other.err ] || fail "$(cat other.err)"
}

# Programs that cannot take the library; the compiler decides which there are.
make_odd_programs() {
  need cc
  cat >odd.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) { void *volatile block = malloc(100); free(block); puts("ran"); return 6; }
END
  odd=()
  cc -static -o static odd.c 2>/dev/null && odd+=("static is statically linked")
  cc -m32 -o narrow odd.c 2>/dev/null && odd+=("narrow is a 32-bit program")
  command -v musl-gcc >/dev/null && musl-gcc -o musl odd.c 2>/dev/null && odd+=("musl uses the C library musl")
  local compiler kind name
  for compiler in cc clang; do
    command -v $compiler >/dev/null || continue
    for kind in address:Address thread:Thread leak:Leak memory:Memory; do
      name=$compiler-${kind%:*}
      $compiler -fsanitize=${kind%:*} -o $name odd.c 2>/dev/null && odd+=("$name is built with ${kind#*:}Sanitizer")
    done
  done
  for kind in address:Address thread:Thread leak:Leak; do # linked with the runtime itself
    name=inside-${kind%:*}
    cc -fsanitize=${kind%:*} -static-lib${kind:0:1}san -o $name odd.c 2>/dev/null || continue
    odd+=("$name is built with ${kind#*:}Sanitizer")
    strip -o stripped-$name $name 2>/dev/null && odd+=("stripped-$name is built with ${kind#*:}Sanitizer")
  done
  [ ${#odd[@]} -gt 0 ] || skip "the compiler makes no program that cannot be recorded"
}

programs_that_cannot_take_the_library_are_refused() {
  make_odd_programs
  local each
  for each in "${odd[@]}"; do
    refused "./$each" ./"${each%% *}"
    printf '#!%s/%s\n' "$PWD" "${each%% *}" >script
    chmod +x script
    refused "/$each" ./script
  done
}

# As wrappers do: the process was recorded up to there, and the rest runs as ever.
what_a_process_becomes_and_cannot_be_recorded_runs_unharmed() {
  make_odd_programs
  local each name
  for each in "${odd[@]}"; do
    name=${each%% *}
    run_as bare env ./"$name"
    run_as recorded "$winnow" record -o trace --rate 1 -- env ./"$name"
    same_parts "$name"
    grep -q "^winnow: ./$name, which env became by exec, was not recorded: it ${each#* }\$" recorded.err || fail "$(cat recorded.err)"
    opens trace
  done
}

# All but what we say of it is the same.
same_parts() {
  local part
  grep -v '^winnow: \|^ \|^==[0-9]*==' recorded.err | sed 's/tid=[0-9]*//' >recorded.err2
  grep -v '^ \|^==[0-9]*==' bare.err | sed 's/tid=[0-9]*//' >bare.err2
  for part in code out err2; do
    diff bare.$part recorded.$part >difference || fail "$1: $part differs: $(head -n 20 difference)"
  done
}

# By fork, vfork, posix_spawn and the shell; and it is told how many there were.
children_that_cannot_be_recorded_run_unharmed_and_are_counted() {
  make_odd_programs
  local each name how
  for each in "${odd[@]}"; do
    name=${each%% *}
    for how in fork vfork spawn; do
      rm -rf trace*
      run_as bare "$programs/spawns" $how ./"$name"
      run_as recorded "$winnow" record -f -o trace --rate 1 -- "$programs/spawns" $how ./"$name"
      sed -i '/^ *allocated  *95 %/,$d' recorded.err # the table
      same_parts "$how $name"
      [ "$(cat recorded.code)" = 6 ] || [ "$(cat bare.code)" = "$(cat recorded.code)" ] || fail "$how $name: $(cat recorded.err)"
    done
    # shellcheck disable=SC2016
    run_as counted "$winnow" record -f -o trace -- sh -c 'for i in 1 2 3; do ./$0; done; /bin/true' "$name"
    grep -Eq "^winnow: 3 processes were not recorded: ./$each \(3\)\$" counted.err || fail "$name: $(cat counted.err)"
    # shellcheck disable=SC2016
    run_as counted "$winnow" record -f -o trace -- sh -c 'sh -c "./$0; exec /bin/true"; exit' "$name"
    grep -Eq "^winnow: 1 process was not recorded: ./$each\$" counted.err || fail "$name, before an exec: $(cat counted.err)"
  done
}

# They say nothing by themselves, and what they start is followed.
children_with_their_own_malloc_are_counted() {
  need cc
  own_malloc_source | sed 's|return puts("own") < 0;|execl(e, e, "return", NULL);|; s|int main(void) {|extern int execl(const char *, ...); int main(int c, char **v) { char *e = v[1];|' >own.c
  cc -w -fno-builtin -o own own.c || fail "does not compile"
  # shellcheck disable=SC2016
  run_as own "$winnow" record -f -o trace --rate 1 -- sh -c './own "$0"; ./own "$0"; exit 7' "$programs/ends"
  [ "$(cat own.code)" = 7 ] || fail "$(cat own.code) $(cat own.err)"
  grep -q '^winnow: 2 processes were not recorded: ./own brings its own malloc (2)$' own.err || fail "$(cat own.err)"
  ! grep -q unprofiled own.err || fail "$(cat own.err)"
  counted "of what these became" "$(of .totals.allocated_blocks born_in_main)" 2000
}

# Nobody tells the traces of one process apart then.
a_library_that_is_preloaded_by_hand_follows_children_alone() {
  WINNOW_TRACE=$PWD/trace WINNOW_RATE=1 LD_PRELOAD=$library "$programs/execs" execve 1
  [ $? = 5 ] || fail "another exit code"
  rm -f trace.control # the program that the process became knows nothing of it
  [ "$(ls -d trace*)" = trace ] || fail "$(ls -d trace*)"
  ended 'yes: by exec it became /proc/self/exe'
  rm trace
  mkdir trace
  WINNOW_FOLLOW=1 WINNOW_TRACE=$PWD/trace/ WINNOW_RATE=1 LD_PRELOAD=$library "$programs/spawns" fork "$programs/ends" return
  [ $? = 4 ] || fail "another exit code"
  counted "of the child" "$(of .totals.allocated_blocks born_in_main)" 1000
}

# The first process is followed as without -f, and its children have their own traces.
chains_are_recorded_where_children_are_followed() {
  printf '#!/bin/sh\n"%s" return\nexec env "%s" return\n' "$programs/ends" "$programs/ends" >wrapper
  chmod +x wrapper
  run_as chain "$winnow" record -f -o trace --rate 1 -- ./wrapper
  [ "$(cat chain.code)" = 4 ] || fail "$(cat chain.err)"
  counted "behind the wrapper, and of the child" "$(of .totals.allocated_blocks born_in_main)" 2000
  # Also with an environment of the child's own.
  record -f --rate 1 -- sh -c 'env -i "$0" return; exit' "$programs/ends"
  counted "with its own environment" "$(of .totals.allocated_blocks born_in_main)" 1000
}

# What they start is followed all the same, if that harms nobody.
children_of_static_programs_are_followed() {
  need cc
  cat >starts.c <<'END'
#include <unistd.h>
int main(int argc, char **argv) { return execv(argv[1], argv + 1); }
END
  cc -static -o starts starts.c 2>/dev/null || skip "cannot link statically"
  record -f --rate 1 -- sh -c './starts "$0" return; exit' "$programs/ends"
  [ $? = 4 ] || fail "another exit code"
  counted "of what the static program became" "$(of .totals.allocated_blocks born_in_main)" 1000
}

# The loader runs the program, whose name and code are not the loader's.
programs_that_the_loader_starts_are_recorded_by_their_names() {
  local loader each found=0
  loader=$(ls /lib64/ld-linux-*.so.* 2>/dev/null | head -n 1)
  [ -n "$loader" ] || skip "there is no loader in /lib64"
  run_as child "$winnow" record -f -o trace --rate 1 -- sh -c "$loader --inhibit-cache '$programs/ends' return; exit \$?"
  [ "$(cat child.code)" = 4 ] || fail "ended with $(cat child.code): $(cat child.err)"
  grep -q 'not recorded' child.err && fail "$(cat child.err)"
  for each in $(traces); do
    [ "$(figure '.trace.command | join(" ")' "$each")" = "$programs/ends return" ] && found=1
  done
  [ $found = 1 ] || fail "no trace has the program's name: $(cat child.err)"
  record --rate 1 -- sh -c "exec $loader '$programs/ends' return"
  [ $? = 4 ] || fail "another exit code"
  [ "$(figure .totals.allocated_blocks.estimate trace --where 'module = ends and fn = born_in_main')" -gt 0 ] || fail "no blocks of ends"
}

workers_are_told_apart_by_their_titles() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  run_as titles env COLUMNS=160 "$winnow" record -f -o trace --rate 1 -- "$programs/titles" with room
  [ "$(cat titles.code)" = 0 ] || fail "$(cat titles.err)"
  grep -Eq '  trace/[0-9.]+trace +titles: worker /of the first pool$' titles.err || fail "$(cat titles.err)"
  grep -Eq '  trace/[0-9.]+trace +titles with room \[second pool\]$' titles.err || fail "$(cat titles.err)"
  local each
  for each in $(traces); do "$winnow" info "$each"; done >infos
  grep -q '^called *titles: worker /of the first pool$' infos || fail "$(cat infos)"
  for each in $(traces); do COLUMNS=160 "$winnow" report --all "$each"; done >reports
  grep -q '^titles: worker /of the first pool   ' reports || fail "$(cat reports)"
  local titles
  titles=$(for each in $(traces); do figure '.trace.title + "/" + .trace.thread_name' "$each"; done | sort | xargs -d '\n')
  [ "$titles" = "/second pool titles: worker /of the first pool /" ] || fail "$titles"
}

processes_that_are_left_behind_are_told() {
  run_as left "$winnow" record -o trace -- sh -c 'sleep 2 & exit 0' </dev/null
  grep -q '^winnow: sh left 1 process running (\(sleep\|sh\)); it is not in its trace, and --follow-children records it too$' left.err ||
    fail "$(cat left.err)"
  run_as left "$winnow" record -q -o trace -- sh -c 'sleep 1 & exit 0' </dev/null
  [ ! -s left.err ] || fail "not quiet: $(cat left.err)"
  run_as left "$winnow" record -o trace -- sh -c 'sleep 0.01 & wait'
  ! grep -q running left.err || fail "it has ended: $(cat left.err)"
  need perl
  # shellcheck disable=SC2016
  run_as left "$winnow" record -o trace -- perl -MPOSIX -e 'exit if fork; POSIX::setsid(); close STDERR; close STDOUT; sleep 2'
  grep -q '^winnow: perl left 1 process running (perl)' left.err || fail "$(cat left.err)"
}

processes_left_in_a_container_are_told() { # init belongs to the session of what runs there
  local flags
  for flags in -pf -rpf none; do unshare $flags --mount-proc true 2>/dev/null && break; done
  [ $flags != none ] || skip "no namespaces of processes here"
  # shellcheck disable=SC2016
  run_as left unshare $flags --mount-proc sh -c 'sh -c "\"\$@\"; true" sh "$@"; true' sh \
    "$winnow" record -o trace -- sh -c 'sleep 2 & exit 0' </dev/null
  grep -q '^winnow: sh left 1 process running' left.err || fail "$(cat left.err)"
}

allocators_under_other_names_are_told() {
  need cc
  echo 'void *je_malloc(unsigned long n) { (void)n; return 0; } int main(void) { return je_malloc(3) != 0; }' >inner.c
  cc -o inner inner.c || fail "does not compile"
  run_as inner "$winnow" record -o trace -- ./inner
  grep -q '^winnow: ./inner has another allocator linked in besides malloc (je_malloc); its blocks are not in this trace$' inner.err ||
    fail "$(cat inner.err)"
}

hidden_and_exported_allocators_are_refused() {
  need cc
  own_malloc_source >own.c
  cc -fno-builtin -o own own.c || fail "does not compile"
  refused './own brings its own malloc' ./own
  cc -fno-builtin -fvisibility=hidden -o hidden own.c -Wl,--exclude-libs,ALL || fail "does not compile"
  refused './hidden brings its own malloc' ./hidden
  strip own
  refused './own brings its own malloc' ./own
  local archive
  for archive in jemalloc mimalloc; do
    archive=$(cc -print-file-name=lib$archive.a)
    [ -e "$archive" ] || continue
    echo 'int puts(const char *); void *malloc(unsigned long); int main(void) { return !malloc(10) || puts("ran") < 0; }' >uses.c
    cc -o uses uses.c -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lm -lpthread -ldl -lstdc++ 2>/dev/null || continue
    refused './uses brings its own malloc' ./uses
  done
}
