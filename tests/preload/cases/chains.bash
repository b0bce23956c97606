# Followed children that become other programs by exec: what is left of each child's traces.

followed() { "$winnow" record -f -o trace --rate 1 -- "$@" 2>told.err; }

born() { figure .totals.allocated_blocks.estimate "$1" --where "fn = $2"; } # TRACE FUNCTION

traces() { find . -name 'trace*' -printf '%f\n' | sed -E 's/\.[0-9]+/.P/' | sort | xargs; } # P: a process number

a_followed_child_has_the_trace_of_the_program_that_did_the_work() {
  local child
  export LC_ALL=C # else `true` reads a locale
  followed sh -c '"$0/becomes" execve /bin/true; exit' "$programs"
  [ "$(traces)" = "trace trace.P" ] || fail "$(ls)"
  child=$(ls trace.[0-9]*)
  counted "before the exec" "$(born "$child" born_before)" 500
  ended 'yes: by exec it became /bin/true' "$child"
  grep -q '^winnow: wrote 1 more trace, of a process that the program started: trace.[*]$' told.err || fail "$(cat told.err)"
}

programs_of_a_followed_child_that_did_a_tenth_are_kept() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local child
  followed sh -c '"$0/becomes" execve /usr/bin/env "$0/execs" fails 0 followed; exit' "$programs"
  [ "$(traces)" = "trace trace.P trace.P.exec0" ] || fail "$(ls)"
  child=$(basename trace.[0-9]*.exec0 .exec0)
  counted "of the last" "$(born "$child" born_last)" 2000
  counted "of the first" "$(born "$child.exec0" born_before)" 500
  ended 'yes: exit 5' "$child"
  ended 'yes: by exec it became /usr/bin/env$' "$child.exec0"
  facts "$child.exec0" | grep -q "^then  *$child is the trace of that program\$" || fail "$(facts "$child.exec0")"
  grep -q '^winnow: wrote 2 more traces, of a process that the program started: trace.[*]$' told.err || fail "$(cat told.err)"
  grep -q "  $child  .*execs fails 0 followed$" told.err && grep -q "  $child.exec0  .*becomes execve" told.err || fail "$(cat told.err)"
}

# A copy of its parent, until the exec. What `ls` sees is all that there ever was of traces.
what_a_child_allocates_between_fork_and_exec_has_no_trace_of_its_own() {
  local rate
  for rate in 1 1e-4; do
    rm -f trace*
    "$winnow" record -f -q -o trace --rate $rate -- bash -c 'for i in {1..20}; do ls / >/dev/null; done; ls; exit' >seen
    ! grep -q exec seen || fail "at rate $rate: $(cat seen)"
    [ "$(grep -c '^trace\.[0-9]*$' seen)" = 21 ] || fail "at rate $rate: $(cat seen)"
    [ "$(ls -d trace.[0-9]* | wc -l)" = 21 ] || fail "at rate $rate: $(ls)"
  done
  [ "$tiny" = 1 ] && return
  # Unless it works.
  rm -f trace*
  export LC_ALL=C
  followed bash -c '(for i in {1..4000}; do s+=xxxxxxxxxxxxxxxxxxxx; done; exec /bin/true); exit'
  [ "$(traces)" = "trace trace.P" ] || fail "$(ls)"
  [ "$(figure '.trace.command[0]' trace.[0-9]*)" = bash ] || fail "the work is not there: $(cat told.err)"
}

# It goes on when `record` ends, as daemons do. Nobody joins its traces later.
traces_of_a_living_child_keep_their_names() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  # shellcheck disable=SC2016
  followed sh -c '"$0/becomes" execve /bin/sleep 2 & for i in $(seq 500); do [ ! -s trace.$!.exec1 ] || break; sleep 0.01; done
                  echo $! >number; exit' "$programs"
  local child=trace.$(cat number)
  grep -q "  $child.exec1  *sleep 2 (still being written)$" told.err || fail "$(cat told.err)"
  grep -q "  $child  .*becomes execve" told.err || fail "$(cat told.err)"
  while kill -0 "$(cat number)" 2>/dev/null; do sleep 0.05; done
  counted "before the exec" "$(born "$child" born_before)" 500
  ended 'yes: exit 0' "$child.exec1"
  facts "$child" | grep -q "^then  *$child.exec1 is the trace of that program\$" || fail "$(facts "$child")"
}

what_is_no_trace_of_a_child_is_left_alone() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  "$winnow" record -q -o victim -- ls / >/dev/null
  cp victim before
  # The first program's trace cannot become .exec0, nor the next program's be .exec1.
  # shellcheck disable=SC2016
  followed sh -c 'sh -c "echo letter >trace.\$\$.exec1; ln -s victim trace.\$\$.exec0; ln -s nowhere trace.\$\$.exec3; : >trace.\$\$.exec7
                         head -c 100 victim >trace.\$\$.exec8; echo letter >trace.\$\$.exec01; echo letter >trace.\$\$.execute
                         exec \"\$0/becomes\" execve \"\$0/becomes\" execve \"\$0/execs\" fails 0 followed" "$0"; exit' "$programs"
  cmp victim before || fail "a trace was overwritten through a link"
  [ ! -e nowhere ] || fail "a link was followed"
  ! grep -q unprofiled told.err || fail "$(cat told.err)"
  local child
  child=$(basename trace.[0-9]*.exec01 .exec01)
  [ "$(cat "$child.exec1" "$child.exec01" "$child.execute" | xargs)" = "letter letter letter" ] || fail "$(ls -l)"
  [ -L "$child.exec0" ] && [ -L "$child.exec3" ] || fail "$(ls -l)"
  counted "of the last" "$(born "$child" born_last)" 2000
  local each found=0
  for each in "$child".exec*; do
    [ -L "$each" ] || [ "$("$winnow" report --json "$each" 2>/dev/null | jq -r '.trace.command[1]')" != execve ] || found=$((found + 1))
  done
  [ $found = 2 ] || fail "$found traces of what went before: $(cat told.err)"
}

loops_of_execs_in_a_child_fill_no_disk() {
  # shellcheck disable=SC2016
  "$winnow" record -q -f -o trace --rate 1 -- sh -c '"$0/execs" execve 100 followed; ls trace.*.exec* >most; exit' "$programs" 2>told.err
  [ "$tiny" = 1 ] && [ "$(wc -l <most)" -le 40 ] && return
  [ "$(wc -l <most)" = 40 ] || fail "$(cat most)"
  [ "$(traces)" = "trace trace.P trace.P" ] || fail "$(ls)" # with that of `ls`
  local each found=0
  for each in trace.[0-9]*; do [ "$(born "$each" born_last)" != 2000 ] || found=1; done
  [ $found = 1 ] || fail "the last program has no trace: $(ls)"
}

# Each has the names of its own first trace, and an earlier recording's are told apart.
processes_of_the_same_number_have_chains_of_their_own() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  unshare -pf true 2>/dev/null || skip "there are no namespaces of processes here"
  # shellcheck disable=SC2016
  followed sh -c 'for i in 1 2 3; do unshare -pf "$0/becomes" execve "$0/execs" fails 0 followed; done
                  for i in 1 2 3; do unshare -pf "$0/becomes" execve "$0/execs" fails 0 followed & done; wait; exit' "$programs"
  local each
  for each in trace.1 trace.1-2 trace.1-3 trace.1-4 trace.1-5 trace.1-6; do
    counted "$each" "$(born $each born_last)" 2000
    counted "$each.exec0" "$(born $each.exec0 born_before)" 500
  done
  grep -q '^winnow: wrote 18 more traces, of processes that the program started: trace.[*]$' told.err || fail "$(cat told.err)"
  rm trace.1-3.exec0
  echo letter >trace.1-2.exec0
  # shellcheck disable=SC2016
  followed sh -c 'unshare -pf "$0/ends" return; unshare -pf "$0/becomes" execve "$0/execs" fails 0 followed; exit' "$programs"
  counted "once more" "$(born trace.1 born_in_main)" 1000
  [ ! -e trace.1.exec0 ] || fail "a trace of the earlier recording seems to be of this one"
  counted "once more" "$(born trace.1-2 born_last)" 2000
  [ "$(cat trace.1-2.exec0)" = letter ] || fail "a letter was overwritten"
  counted "beside the letter" "$(born trace.1-2.exec2 born_before)" 500
  counted "of the earlier recording" "$(born trace.1-4.exec0 born_before)" 500
  grep -q '^winnow: wrote 5 more traces, of processes that the program started: trace.[*]$' told.err || fail "$(cat told.err)"
}

# Names are the same where nobody joins them.
children_that_a_library_preloaded_by_hand_follows_have_chains() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  WINNOW_FOLLOW=1 WINNOW_TRACE=$PWD/trace WINNOW_RATE=1 LD_PRELOAD=$library "$programs/spawns" fork \
    "$programs/becomes" execve "$programs/execs" execve 1 followed
  [ $? = 5 ] || fail "another exit code"
  [ "$(traces)" = "trace trace.P trace.P.exec1 trace.P.exec2" ] || fail "$(ls)"
  counted "of the first" "$(born "$(ls trace.[0-9]* | head -n 1)" born_before)" 500
  counted "of the last" "$(born trace.*.exec2 born_last)" 2000
}

children_of_vfork_have_chains() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local how
  for how in vfork spawn; do
    rm -f trace*
    followed "$programs/spawns" $how "$programs/becomes" execve "$programs/execs" fails 0 followed
    [ "$(traces)" = "trace trace.P trace.P.exec0" ] || fail "$how: $(ls)"
    counted "$how" "$(born trace.*.exec0 born_before)" 500
  done
}
