# Descriptors, folders and limits: the program's files are never touched by us, whatever becomes of the trace.

descriptors_of_the_program_are_never_written() {
  ulimit -n 1024
  for rate in 1 1e-2; do same_as_bare $rate "$programs/descriptors" closefrom; done
  grep -q "files 1 damaged 0" recorded.out || fail "$(cat recorded.out)"
  record --rate 1 -- "$programs/descriptors" closefrom >/dev/null
  opens trace
  ulimit -n 256 # ours cannot keep away from the small numbers
  for rate in 1 1e-2; do same_as_bare $rate "$programs/descriptors" closefrom; done
  grep -q "damaged 0" recorded.out || fail "$(cat recorded.out)"
}

the_trace_goes_on_after_descriptors_are_closed() {
  same_as_bare 1 "$programs/descriptors" closeloop
  record --rate 1 -- "$programs/descriptors" closeloop >/dev/null
  opens trace
  counted "blocks" "$(figure .totals.allocated_blocks.estimate trace --where 'fn ~ close_again')" 90000
}

daemons_are_left_alone() {
  same_as_bare 1 "$programs/descriptors" daemon
  opens trace
}

a_changed_root_does_no_harm() {
  [ "$(id -u)" = 0 ] || skip "only root changes the root"
  mkdir root
  same_as_bare 1 "$programs/descriptors" chroot "$PWD/root"
  [ -z "$(ls -A root)" ] || fail "something was made in the new root"
  opens trace
}

the_umask_is_the_programs() {
  umask 022
  same_as_bare 1 "$programs/descriptors" umask
  rm -f masked trace
  record --rate 1 -- "$programs/descriptors" umask >out
  [ "$(stat -c %a trace)" = 600 ] || fail "the trace has mode $(stat -c %a trace)"
}

# Whatever the umask allows. A mask that forbids more is obeyed.
traces_are_private() {
  local masked mode
  for masked in 000:600 022:600 0277:400; do
    rm -rf t
    umask "${masked%:*}"
    "$winnow" record -q -f --rate 1 -o t -- sh -c 'ls / >/dev/null; exit' || fail "ended with $?"
    umask 022
    [ "$(stat -c %a t)" = 700 ] || fail "umask ${masked%:*}: a folder of mode $(stat -c %a t)"
    for mode in $(stat -c %a t/*); do [ "$mode" = "${masked#*:}" ] || fail "umask ${masked%:*}: mode $mode"; done
  done
  rm -rf t
  umask 000
  WINNOW_TRACE=$PWD/t LD_PRELOAD=$library "$programs/ends" return
  [ "$(stat -c %a t)" = 600 ] || fail "by hand: mode $(stat -c %a t)"
  chmod 666 t
  "$winnow" record -q -o t -- true || fail "ended with $?"
  [ "$(stat -c %a t)" = 600 ] || fail "over an older trace: mode $(stat -c %a t)"
}

# Somebody who guesses a trace's name gets nothing overwritten by us.
no_link_is_followed_to_a_trace() {
  "$winnow" record -q -o victim -- ls / >/dev/null
  cp victim before
  ln -s victim symbolic
  ln -s nowhere dangling
  ln victim hard
  local name
  for name in symbolic dangling; do
    run_as refused "$winnow" record -o $name -- touch ran
    [ "$(cat refused.code)" = 1 ] || fail "$name: exit code $(cat refused.code)"
    one_line_of refused.err "^winnow: $name is a symbolic link; choose another name"
    WINNOW_TRACE=$PWD/$name LD_PRELOAD=$library "$programs/ends" return 2>err
    one_line_of err "^winnow: cannot record: .*$name is a symbolic link.*; going on unprofiled"
  done
  run_as refused "$winnow" record -o hard -- touch ran
  one_line_of refused.err '^winnow: hard has other names too'
  [ ! -e nowhere ] && [ ! -e ran ] || fail "something was made"
  cmp victim before || fail "a trace was overwritten through a link"
}


another_users_trace_is_not_overwritten() {
  [ "$(id -u)" = 0 ] || skip "only root can give files away"
  "$winnow" record -q -o t -- ls / >/dev/null
  chown 12345 t
  run_as refused "$winnow" record -o t -- touch ran
  [ "$(cat refused.code)" = 1 ] && [ ! -e ran ] || fail "exit code $(cat refused.code)"
  one_line_of refused.err '^winnow: t belongs to another user; choose another name'
}

# As long as the processes live: what a killed one leaves is no more.
traces_take_little_space() {
  [ "$(getconf PAGESIZE)" = 4096 ] || skip "pages are large"
  fallocate -l 4096 probe 2>/dev/null || skip "this file system cannot reserve"
  cat >spy <<'END'
#!/bin/sh
for i in 1 2 3 4 5; do ( : ) ; done
/bin/true
du -k t/* | awk '{ print $1 }' | sort -n | tail -n 1 >most
du -ck t/* | tail -n 1 | awk '{ print $1 }' >all
echo t/* | wc -w >count
exit
END
  "$winnow" record -q -f -o t -- sh ./spy || fail "ended with $?"
  [ "$(cat count)" -ge 8 ] || fail "only $(cat count) traces"
  [ "$(cat most)" -le 8 ] || fail "one takes $(cat most) kB"
  [ "$(cat all)" -le $((8 * $(cat count))) ] || fail "$(cat count) traces take $(cat all) kB"
}

a_limit_of_file_sizes_kills_nobody() {
  same_as_bare 1 "$programs/descriptors" fsize
  record --rate 1 -- "$programs/descriptors" fsize >/dev/null || fail "ended with $?"
  opens trace
  [ "$tiny" = 1 ] || [ "$(jq .lost info.json)" -gt 0 ] || fail "a trace of $(stat -c %s trace) bytes lost nothing"
  [ "$(stat -c %s trace)" -le 4194304 ] || fail "the trace has $(stat -c %s trace) bytes"
  [ "$tiny" = 1 ] && return
  "$winnow" record -o trace --rate 1 -- "$programs/descriptors" fsize >/dev/null 2>said || fail "ended with $?"
  grep -q '^winnow: the limit on the size of files was reached, so the trace is incomplete; raise the limit (ulimit -f)' said || fail "$(cat said)"
  [ "$(figure .trace.lost_because)" = 'file size' ] || fail "$(jq .trace report.json)"
}

# The command refuses where the trace cannot be begun; it does so before the program runs.
a_folder_that_cannot_be_written_is_refused() {
  [ -d /proc/self ] || skip "no /proc"
  run_as refused "$winnow" record -o /proc/self/trace -- touch ran
  [ "$(cat refused.code)" = 1 ] || fail "exit code $(cat refused.code)"
  one_line_of refused.err 'cannot write /proc/self/trace'
  [ ! -e ran ] || fail "the program ran"
}

# The library by hand, where nobody looked beforehand.
# What record tells to type next can be typed, wherever winnow stands and whatever the trace is called.
the_next_command_can_be_typed() {
  local name
  for name in here.trace "it's a blank.trace" "folder/trace" "$work/whole.trace"; do
    mkdir -p folder
    "$winnow" record -o "$name" -- true 2>said
    grep -q "^winnow: wrote $name (" said || fail "$name: $(cat said)"
    sh -c "$(sed 's/.*; now: //' said)" >report || fail "$(cat said)"
    grep -q '^true  .*, exit 0' report || fail "$name: $(cat report)"
  done
  PATH=$(dirname "$winnow"):$PATH winnow record -o last -- true 2>said
  grep -q 'now: winnow report last$' said || fail "$(cat said)"
}

without_a_trace_the_program_goes_on() {
  for path in /proc/nowhere/trace "$PWD" /dev/null ""; do
    WINNOW_TRACE=$path LD_PRELOAD=$library "$programs/ends" return 2>err
    [ $? = 4 ] || fail "'$path': ended with $?"
    [ -z "$path" ] || one_line_of err '^winnow: .*going on unprofiled$'
  done
}

# The program cuts the trace itself, so that the moment is known; threads of it write records all the while.
a_trace_that_another_process_cuts_ends_with_a_line() {
  local rate what
  for rate in 1 1e-3; do
    for what in empty shorter; do
      run_as cut "$winnow" record -o trace --rate $rate -- "$programs/cuts" trace $what
      [ "$(cat cut.code) $(cat cut.out)" = "0 alive" ] || fail "$what, rate $rate: $(cat cut.code) $(cat cut.out cut.err)"
      [ "$(grep -c '^winnow: .*/trace/.*trace was made shorter by another process; recording ends here$' cut.err)" = 1 ] || fail "$(cat cut.err)"
      if [ $what = empty ]; then
        grep -q '^winnow: nothing is left of the trace: trace was emptied by another process$' cut.err || fail "$(cat cut.err)"
        [ ! -e trace ] || fail "an empty file is left"
      else
        grep -q '^winnow: wrote trace' cut.err || fail "$(cat cut.err)"
        "$winnow" info trace >/dev/null || fail "what is left cannot be read"
      fi
    done
  done
}

# The program removes it itself, so that the moment is known.
a_trace_that_is_removed_is_said_to_be() {
  run_as gone "$winnow" record -o trace -- rm -r trace
  [ "$(cat gone.code)" = 0 ] || fail "ended with $(cat gone.code): $(cat gone.err)"
  one_line_of gone.err '^winnow: nothing is left of the trace: trace was removed by another process$'
}

# The command itself cannot open the trace again to complete it.
a_trace_that_cannot_be_completed_is_not_called_nothing() {
  run_as few bash -c "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; exec '$winnow' record -o trace --rate 1 -- '$programs/growing'"
  one_line_of few.err '^winnow: the trace is written, but could not be checked: cannot read trace: Too many open files$'
  opens trace
  for most in 5 6 7; do
    rm -r trace
    run_as few bash -c "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n $most; exec '$winnow' record -o trace --rate 1 -- '$programs/growing'"
    ! grep -q ' 0 samples\|are missing' few.err || fail "$most descriptors: $(cat few.err)"
    opens trace
  done
}
