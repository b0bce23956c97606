# How a program ends, and how its trace knows: by itself, by what `winnow record` saw, or by exec.

ended() { # PATTERN [TRACE]
  facts "${2:-trace}" | grep -Eq "^ended *$1" || fail "not '$1': $(facts "${2:-trace}" | grep ended)"
}

# How the program ends, what its code is, and what the trace knows of it.
ends_are_passed_on_and_traces_open() {
  local how code said
  while read -r how code said; do
    run_as ended "$winnow" record -q -o trace --rate 1 -- "$programs/ends" "$how"
    [ "$(cat ended.code)" = "$code" ] || fail "$how: ended with $(cat ended.code), not $code: $(cat ended.err)"
    opens trace
    ended "$said"
    [ "$(jq .complete info.json)" = true ] || fail "$how: not complete"
    counted "$how: blocks" "$(of .totals.allocated_blocks born_in_main)" 1000
  done <<'END'
return 4 yes: exit 4
exit 5 yes: exit 5
_exit 6 yes: left by _exit\(6\)
quick_exit 7 yes: left by _exit\(7\)
abort 134 yes: signal 6 \(Aborted\)
kill 137 yes: signal 9 \(Killed\)
segv 139 yes: signal 11 \(Segmentation fault\)
term 143 yes: signal 15 \(Terminated\)
END
  "$winnow" report --all trace | grep -q ', signal 15 (Terminated)' || fail "the report does not say it"
}

# Without `winnow record` nobody adds anything.
an_unknown_end_is_not_guessed() {
  WINNOW_TRACE=$PWD/trace WINNOW_RATE=1 LD_PRELOAD=$library "$programs/ends" _exit
  [ $? = 6 ] || fail "another exit code"
  ended 'no: killed, left by _exit, or still running'
}

# FILE is the trace of the last program, or of the first one if that has clearly allocated more.
exec_is_an_end_and_it_is_said() {
  local how before
  for how in execve execv execvp execvpe execl execlp execle execveat handler fexecve; do
    same_as_bare 1 "$programs/becomes" $how /bin/echo one two
    [ "$(cat recorded.out)" = "one two" ] || fail "$how: $(cat recorded.out)"
    before=$(trace_of born_before)
    [ "$tiny" = 1 ] && before=$(traces | head -n 1)
    opens $before
    [ "$how" = fexecve ] || ended 'yes: by exec it became /bin/echo$' $before
    [ "$how" != fexecve ] || ended 'yes: it became another program by exec' $before
    counted "$how: blocks" "$(figure .totals.allocated_blocks.estimate $before --where 'fn = born_before')" 500
  done
  "$winnow" report --all $before | grep -q ', became another program' || fail "the report does not say it"
}

# A failed exec is no end, and what follows is recorded.
an_exec_that_fails_is_not_the_end() {
  local how
  for how in execve execv execvp execvpe execl execlp execle fexecve execveat handler syscall; do
    same_as_bare 1 "$programs/becomes" $how /no/such/program x y
    opens trace
    ended 'yes: exit 9'
    counted "$how: blocks" "$(of .totals.allocated_blocks born_after)" 500
    run_as killed "$winnow" record -o trace --rate 1 -- "$programs/becomes" $how /no/such/program-kill x y
    [ "$(cat killed.code)" = 137 ] || fail "$how: ended with $(cat killed.code)"
    grep -q became killed.err && fail "$how: $(cat killed.err)"
    ended 'yes: signal 9'
    opens trace
  done
}

# Its own child shares its memory, and is another process.
an_exec_after_vfork_is_not_the_end() {
  same_as_bare 1 "$programs/becomes" vfork /bin/echo one two
  ended 'yes: exit 9'
  same_as_bare 1 "$programs/becomes" vfork /no/such/program
  ended 'yes: exit 9'
  counted "blocks" "$(of .totals.allocated_blocks born_after)" 500
}

# Nobody tells of an exec by the bare system call; the exit code is known.
a_bare_exec_is_not_taken_for_an_exit() {
  same_as_bare 1 "$programs/becomes" syscall /bin/echo one two
  ended 'yes: left by _exit\(0\)'
}

in_one_line() { "$winnow" report --all "${1:-trace}" | tr '\n' ' '; }

# What is written behind the last call of malloc is resident too.
the_most_resident_is_known_however_it_ends() {
  need jq
  local how
  for how in return _exit _Exit vfork abort kill; do
    run_as ended "$winnow" record -q -o trace --rate 1 -- "$programs/late_pages" $how
    opens trace
    [ "$(figure .totals.peak_rss_bytes)" -ge 67108864 ] && [ "$(jq .totals.peak_rss_bytes report.json)" -lt 90000000 ] ||
      fail "$how: $(jq -c .resident report.json)"
    ! in_one_line | grep -q 'not written' || fail "$how: $("$winnow" report --all trace)"
    in_one_line | grep -Eq 'Resident at most +[67][0-9.]+ MB' || fail "$how: $("$winnow" report --all trace)"
    case $how in
    abort | kill) ;; # measured by nobody but the kernel
    *) [ "$(jq .resident.explained report.json)" = true ] && [ "$(jq .resident.unwritten_bytes report.json)" = null ] ||
      fail "$how: $(jq -c .resident report.json)" ;;
    esac
  done
}

# The kernel counts the most, and does not say what it was.
what_was_not_measured_is_not_explained() {
  need jq
  record --rate 1 -- "$programs/late_pages" kill
  [ "$(figure '.resident | [.explained, .counted, (.parts | length)] | join(" ")')" = 'false true 0' ] || fail "$(jq -c .resident report.json)"
  in_one_line | grep -Eq 'Resident at most +[67][0-9.]+ MB +by the kernel.s count; what it was made of is not known .*Resident then +[0-9.]+ [kM]B' ||
    fail "$("$winnow" report --all trace)"
  ! in_one_line | grep -Eq 'malloc blocks|not written' || fail "$("$winnow" report --all trace)"
  WINNOW_TRACE=$PWD/alone WINNOW_RATE=1 LD_PRELOAD=$library "$programs/late_pages" kill
  [ "$(figure .resident.counted alone)" = false ] && [ "$(jq .resident.explained report.json)" = false ] || fail "$(jq -c .resident report.json)"
  in_one_line alone | grep -Eq 'Resident at most +[0-9.]+ MB' || fail "$("$winnow" report --all alone)"
}

# The kernel counts children that were waited for with their parent.
a_child_is_not_taken_for_the_program() {
  need jq
  run_as ended "$winnow" record -q -o trace --rate 1 -- "$programs/late_pages" child
  [ "$(figure .totals.peak_rss_bytes)" -lt 32000000 ] && [ "$(jq .resident.counted report.json)" = false ] || fail "$(jq -c .resident report.json)"
  ! in_one_line | grep -q 'RESERVED' || fail "$("$winnow" report --all trace)"
}

a_handler_with_a_full_stack_may_leave() {
  same_as_bare 1 "$programs/late_pages" handler
  [ "$(cat bare.code)" = 6 ] || fail "the program ends with $(cat bare.code) by itself"
  opens trace
  ended 'yes: left by _exit\(6\)'
}

# Their filters may allow nothing but the end.
children_that_are_not_recorded_leave_without_a_system_call() {
  local rate
  for rate in $rates; do same_as_bare "$rate" "$programs/filtered"; done
}
