# Followed children that become other programs by exec: what is left of each child's traces in the folder.

followed() { "$winnow" record -f -o trace --rate 1 -- "$@" 2>told.err; }

born() { figure .totals.allocated_blocks.estimate trace --where "fn = $1"; } # FUNCTION: in all traces

a_followed_child_has_the_trace_of_the_program_that_did_the_work() {
  export LC_ALL=C # else `true` reads a locale
  followed sh -c '"$0/becomes" execve /bin/true; exit' "$programs"
  [ "$(traces | wc -l)" = 2 ] || fail "$(ls trace)"
  counted "before the exec" "$(born born_before)" 500
  [ "$tiny" = 1 ] || ended 'yes: by exec it became /bin/true' "$(trace_of born_before)"
  grep -q '^winnow: wrote trace, a folder of 2 traces of 2 processes (' told.err || fail "$(cat told.err)"
}

programs_of_a_followed_child_that_did_a_tenth_are_kept() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  followed sh -c '"$0/becomes" execve /usr/bin/env "$0/execs" fails 0 followed; exit' "$programs"
  [ "$(traces | wc -l)" = 3 ] || fail "$(ls trace)"
  counted "of the last" "$(born born_last)" 2000
  counted "of the first" "$(born born_before)" 500
  ended 'yes: exit 5' "$(trace_of born_last)"
  ended 'yes: by exec it became /usr/bin/env$' "$(trace_of born_before)"
  grep -q '^winnow: wrote trace, a folder of 3 traces of 2 processes (' told.err || fail "$(cat told.err)"
  grep -q '  trace/[0-9.]*trace  .*execs fails 0 followed$' told.err && grep -q '  trace/[0-9.]*trace  .*becomes execve' told.err || fail "$(cat told.err)"
}

# A copy of its parent, until the exec. What `ls` sees is all that there ever was of traces: of 20 children, bash and itself.
what_a_child_allocates_between_fork_and_exec_has_no_trace_of_its_own() {
  local rate
  for rate in 1 1e-4; do
    "$winnow" record -f -q -o trace --rate $rate -- bash -c 'for i in {1..20}; do ls / >/dev/null; done; ls trace; exit' >seen
    [ "$(grep -c '^[0-9]*\.[0-9]*\.trace$' seen)" = 22 ] || fail "at rate $rate: $(cat seen)"
  done
  [ "$tiny" = 1 ] && return
  # Unless it works.
  export LC_ALL=C
  followed bash -c '(for i in {1..4000}; do s+=xxxxxxxxxxxxxxxxxxxx; done; exec /bin/true); exit'
  [ "$(traces | wc -l)" = 2 ] || fail "$(ls trace)"
  local each
  for each in $(traces); do [ "$(figure '.trace.command[0]' "$each")" = bash ] || fail "the work is not there: $(cat told.err)"; done
}

# Nobody can make one file of what is still being written.
traces_of_a_living_child_stay_in_the_folder() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  # shellcheck disable=SC2016
  followed sh -c '"$0/becomes" execve /bin/sleep 2 & until set -- trace/$!.*.trace; [ $# = 2 ]; do sleep 0.01; done
                  echo $! >number; exit' "$programs"
  grep -q '  sleep 2 (still being written)$' told.err || fail "$(cat told.err)"
  grep -q '  .*becomes execve' told.err || fail "$(cat told.err)"
  while kill -0 "$(cat number)" 2>/dev/null; do sleep 0.05; done
  counted "before the exec" "$(born born_before)" 500
  local each found=0
  for each in $(traces); do facts "$each" | grep -q '^command */bin/sleep 2$' && ended 'yes: exit 0' "$each" && found=1; done
  [ $found = 1 ] || fail "no trace of sleep: $(cat told.err)"
}

a_folder_of_other_files_is_left_alone() {
  "$winnow" record -q -o victim -- ls / >/dev/null
  cp victim before
  mkdir trace
  cp victim trace/1.2.trace
  echo letter >trace/letter
  run_as refused "$winnow" record -o trace -- touch ran
  one_line_of refused.err '^winnow: trace is a folder with other files, such as letter; choose another name$'
  rm trace/letter
  ln -s ../victim trace/1.3.trace
  run_as refused "$winnow" record -o trace -- touch ran
  one_line_of refused.err '^winnow: trace/1.3.trace is a symbolic link; choose another name$'
  [ -s trace/1.2.trace ] || fail "a trace is gone though the recording is refused"
  rm trace/1.3.trace
  echo letter >trace/1.4.trace
  run_as refused "$winnow" record -o trace -- touch ran
  one_line_of refused.err '^winnow: trace/1.4.trace exists and is not a trace; choose another name$'
  [ ! -e ran ] && [ "$(cat trace/1.4.trace)" = letter ] && cmp victim before || fail "$(ls -l . trace)"
  rm trace/1.4.trace
  "$winnow" record -q -o trace -- "$programs/ends" return # the old trace alone is no obstacle
  [ -f trace ] || fail "$(ls -l . trace)"
  "$winnow" record -q -o trace/ -- "$programs/ends" return
  [ "$(traces | wc -l)" = 1 ] && [ -d trace ] || fail "a folder was asked for: $(ls -l)"
}

loops_of_execs_in_a_child_fill_no_disk() {
  # shellcheck disable=SC2016
  "$winnow" record -q -f -o trace --rate 1e-3 -- sh -c '"$0/execs" execve 100 followed; ls trace/*.trace >most; exit' "$programs" 2>told.err
  [ "$(wc -l <most)" -le 4 ] || fail "$(cat most)" # the shell's, the last program's, and that of `ls`
  [ "$tiny" = 1 ] || [ "$(figure '.totals.allocated_blocks.estimate > 0' trace --where 'fn = born_last')" = true ] || fail "$(ls trace)"
}

# In each namespace numbers begin again; and an earlier recording's traces are gone.
processes_of_the_same_number_have_traces_of_their_own() {
  unshare -pf true 2>/dev/null || skip "there are no namespaces of processes here"
  # shellcheck disable=SC2016
  followed sh -c 'for i in 1 2 3; do unshare -pf "$0/becomes" execve "$0/execs" fails 0 followed; done
                  for i in 1 2 3; do unshare -pf "$0/becomes" execve "$0/execs" fails 0 followed & done; wait
                  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do unshare -pf "$0/ends" return & done; wait; exit' "$programs"
  ! grep -q unprofiled told.err || fail "$(cat told.err)"
  counted "of the last" "$(born born_last)" 12000
  counted "of the first" "$(born born_before)" 3000
  counted "of twelve at once" "$(born born_in_main)" 12000
  # shellcheck disable=SC2016
  followed sh -c 'unshare -pf "$0/ends" return; exit' "$programs"
  counted "once more" "$(born born_in_main)" 1000
  [ "$(born born_last)" = 0 ] || fail "a trace of the earlier recording seems to be of this one"
}

# The files are the same where no `winnow record` looks after them.
children_that_a_library_preloaded_by_hand_follows_have_traces() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  mkdir trace
  WINNOW_FOLLOW=1 WINNOW_TRACE=$PWD/trace/ WINNOW_RATE=1 LD_PRELOAD=$library "$programs/spawns" fork \
    "$programs/becomes" execve "$programs/execs" execve 1 followed
  [ $? = 5 ] || fail "another exit code"
  [ "$(traces | wc -l)" = 4 ] || fail "$(ls trace)"
  counted "of the first" "$(born born_before)" 500
  counted "of the last" "$(born born_last)" 2000
  WINNOW_FOLLOW=1 WINNOW_TRACE=$PWD/trace LD_PRELOAD=$library "$programs/ends" return 2>told.err
  one_line_of told.err '^winnow: WINNOW_FOLLOW records several programs, so WINNOW_TRACE must be a folder, with a slash at its end; going on unprofiled$'
}

children_of_vfork_have_traces() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local how
  for how in vfork spawn; do
    followed "$programs/spawns" $how "$programs/becomes" execve "$programs/execs" fails 0 followed
    [ "$(traces | wc -l)" = 3 ] || fail "$how: $(ls trace)"
    counted "$how" "$(born born_before)" 500
  done
}

# Few samples are not all that a trace can tell.
traces_of_large_or_killed_programs_are_kept() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  need cc
  printf '%s\n' '#include <string.h>' '#include <sys/mman.h>' 'int main(void) {' \
    'return !memset(mmap(0, 30 << 20, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 30 << 20); }' >large.c
  cc -o large large.c || fail "does not compile"
  "$winnow" record -q -o trace --rate 1 -- "$programs/becomes" execve ./large
  [ "$(traces | wc -l)" = 2 ] || fail "large: $(ls -l trace)"
  # shellcheck disable=SC2016
  "$winnow" record -q -o trace --rate 1e-2 -- "$programs/becomes" execve /bin/sh -c 'kill -SEGV $$' 2>/dev/null
  [ "$(traces | wc -l)" = 2 ] || fail "killed: $(ls -l trace)"
}

# It has ended its trace, and may begin another one at any time.
the_trace_of_a_process_that_became_another_program_stays_while_it_lives() {
  need cc
  echo 'int sleep(unsigned); int main(void) { return sleep(2); }' >sleeps.c
  cc -static -w -o sleeps sleeps.c 2>/dev/null || skip "cannot link statically"
  # shellcheck disable=SC2016
  followed sh -c '(exec "$0/becomes" execve ./sleeps) & until grep -qs sleeps /proc/$!/comm; do :; done; exit' "$programs"
  [ -d trace ] || fail "$(ls -l trace) $(cat told.err)"
  grep -q '; 1 still being written)' told.err || fail "$(cat told.err)"
  counted "before the exec" "$(born born_before)" 500
}

# That of a process with nothing is left out; one single trace is a file.
traces_of_nothing_are_left_out() {
  # shellcheck disable=SC2016
  run_as one "$winnow" record -f -o trace -- sh -c 'for i in 1 2 3 4; do /bin/true; done; "$0" 4 20000 >/dev/null; exit 7' "$programs/random_blocks"
  [ "$(cat one.code)" = 7 ] || fail "ended with $(cat one.code)"
  [ "$tiny" = 1 ] && return
  [ -f trace ] || fail "$(ls -l trace) $(cat one.err)"
  grep -q '^winnow: trace is the trace of .*/random_blocks, which ran in a process that sh started$' one.err || fail "$(cat one.err)"
  grep -q '^winnow: left out [0-9]* traces of processes that allocated next to nothing$' one.err || fail "$(cat one.err)"
  run_as none "$winnow" record -f -o trace -- sh -c '/bin/true; exit'
  [ -f trace ] || fail "one is always kept: $(ls -l trace)"
}
